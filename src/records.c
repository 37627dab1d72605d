// SPDX-License-Identifier: MIT
#include "records.h"

#include <inttypes.h>
#include <string.h>

enum { HEAD_BYTES = ROPE2D_DIGEST_BYTES + 8 };

rope2d_record *rope2d_record_find(rope2d_record *list, const rope2d_digest *key) {
    while (list && (list->is_bad || memcmp(&list->key, key, sizeof(*key)) != 0))
        list = list->next;
    return list;
}

static rope2d_status allocate(const rope2d_host *host, uint64_t size, rope2d_blob *blob) {
    blob->bytes = rope2d_allocate(host, size, 1);
    if (!blob->bytes)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "cache: no memory for %" PRIu64 " bytes", size);
    blob->size = size;
    return ROPE2D_OK;
}

rope2d_status rope2d_record_add(const rope2d_host *host, rope2d_record **list, const rope2d_digest *key,
                                const void *bytes, uint64_t size) {
    rope2d_blob whole = {NULL, 0};
    ROPE2D_TRY(allocate(host, rope2d_sum(sizeof(rope2d_record), size), &whole)); // a driver may say any size
    rope2d_record *record = (void *)whole.bytes;
    *record = (rope2d_record){*list, *key, whole.bytes + sizeof(*record), size, false};
    if (bytes)
        memcpy(record->bytes, bytes, (size_t)size);
    *list = record;
    return ROPE2D_OK;
}

void rope2d_record_remove(const rope2d_host *host, rope2d_record **list, rope2d_record *record) {
    while (*list != record)
        list = &(*list)->next;
    *list = record->next;
    rope2d_release(host, record, sizeof(*record) + record->size, 1);
}

rope2d_status rope2d_records_write(const rope2d_host *host, const rope2d_record *list, rope2d_blob *part) {
    uint64_t size = 0;
    for (const rope2d_record *record = list; record; record = record->next)
        size += record->is_bad ? 0 : HEAD_BYTES + record->size;
    if (size == 0)
        return ROPE2D_OK;
    ROPE2D_TRY(allocate(host, size, part));
    unsigned char *at = part->bytes;
    for (const rope2d_record *record = list; record; record = record->next) {
        if (record->is_bad)
            continue;
        memcpy(at, record->key.bytes, ROPE2D_DIGEST_BYTES);
        rope2d_write_64(at + ROPE2D_DIGEST_BYTES, record->size);
        memcpy(at + HEAD_BYTES, record->bytes, (size_t)record->size);
        at += HEAD_BYTES + record->size;
    }
    return ROPE2D_OK;
}

// Of what begins at `at`, with its head; 0 where it is cut off or empty.
static uint64_t size_of(const unsigned char *at, uint64_t left) {
    if (left <= HEAD_BYTES)
        return 0;
    const uint64_t size = rope2d_read_64(at + ROPE2D_DIGEST_BYTES);
    return size == 0 || size > left - HEAD_BYTES ? 0 : HEAD_BYTES + size;
}

rope2d_status rope2d_records_read(const rope2d_host *host, rope2d_record **list, const unsigned char *part,
                                  uint64_t size) {
    rope2d_status status = ROPE2D_OK;
    rope2d_record **new = list;
    while (*new)
        new = &(*new)->next;
    rope2d_record **end = new;
    for (uint32_t count = 0; size > 0 && status == ROPE2D_OK; count++) {
        const uint64_t record = size_of(part, size);
        rope2d_digest key;
        if (record == 0 || count == ROPE2D_MOST_RECORDS) {
            status = rope2d_fail(host, ROPE2D_ERROR_CACHE, "cache: cut off, or more than 4096 records");
            break;
        }
        memcpy(key.bytes, part, sizeof(key.bytes));
        if (!rope2d_record_find(*list, &key)) {
            status = rope2d_record_add(host, end, &key, part + HEAD_BYTES, record - HEAD_BYTES);
            end = *end ? &(*end)->next : end;
        }
        part += record;
        size -= record;
    }
    while (status != ROPE2D_OK && *new)
        rope2d_record_remove(host, new, *new);
    return status;
}

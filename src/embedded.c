// SPDX-License-Identifier: MIT
#include "embedded.h"

#include "unpack.h"

#include <string.h>

static const struct rope2d_embedded *find(const struct rope2d_embedded *list, const char *name) {
    for (const struct rope2d_embedded *entry = list; entry->name != NULL; entry++) {
        if (strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

static bool read_stream(const struct rope2d_embedded *entry, unsigned char *bytes, size_t before) {
    if (entry->kind != ROPE2D_EMBEDDED_PLAIN)
        return rope2d_unpack(entry->data, entry->data_size, bytes, before, entry->stream_size);
    memcpy(bytes + before, entry->data, entry->stream_size);
    return true;
}

static bool finish(const struct rope2d_embedded *entry, const unsigned char *stream, void *data) {
    if (entry->kind == ROPE2D_EMBEDDED_SPIRV)
        return rope2d_unpack_spirv(stream, entry->stream_size, data, entry->size / sizeof(uint32_t));
    memcpy(data, stream, entry->size); // memory comes zeroed, and so with its NUL
    return true;
}

static rope2d_status make(const rope2d_host *host, const struct rope2d_embedded *entry,
                          const unsigned char *stream, rope2d_kernel_bytes *kernel) {
    kernel->data = rope2d_allocate(host, entry->size + 1, 1);
    kernel->capacity = entry->size + 1;
    kernel->size = entry->size;
    if (kernel->data == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "%s: no memory for a kernel of %zu bytes",
                           entry->name, entry->size);
    if (!finish(entry, stream, kernel->data))
        return rope2d_fail(host, ROPE2D_ERROR_COMPILE, "%s: damaged in this build", entry->name);
    return ROPE2D_OK;
}

static rope2d_status create(const rope2d_host *host, const struct rope2d_embedded *list,
                            const struct rope2d_embedded *entry, unsigned char *stream,
                            rope2d_kernel_bytes *kernel, rope2d_kernel_bytes *first) {
    const size_t before = entry == list ? 0 : list->stream_size;
    if ((before > 0 && !read_stream(list, stream, 0)) || !read_stream(entry, stream, before))
        return rope2d_fail(host, ROPE2D_ERROR_COMPILE, "%s: damaged in this build", entry->name);
    ROPE2D_TRY(make(host, entry, stream + before, kernel));
    return first != NULL ? make(host, list, stream, first) : ROPE2D_OK;
}

rope2d_status rope2d_embedded_create(const rope2d_host *host, const struct rope2d_embedded *list,
                                     const char *name, rope2d_kernel_bytes *kernel,
                                     rope2d_kernel_bytes *first) {
    memset(kernel, 0, sizeof(*kernel));
    const struct rope2d_embedded *entry = find(list, name);
    if (entry == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_COMPILE, "%s: this build has no such kernel", name);
    const size_t size = list->stream_size + entry->stream_size;
    unsigned char *stream = rope2d_allocate(host, size, 1);
    if (stream == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "%s: no memory for %zu bytes", name, size);
    const rope2d_status status = create(host, list, entry, stream, kernel, first);
    rope2d_release(host, stream, size, 1);
    return status;
}

void rope2d_embedded_destroy(const rope2d_host *host, rope2d_kernel_bytes *kernel) {
    rope2d_release(host, kernel->data, kernel->capacity, 1);
    memset(kernel, 0, sizeof(*kernel));
}

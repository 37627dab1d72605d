// SPDX-License-Identifier: MIT
#include "merge.h"

#include <inttypes.h>
#include <string.h>

#define FIRST_CAPACITY 32u
#define MAX_KEYS       0x40000000u // 2 slots to a key must still be counted in 32 bits

typedef struct bits {
    uint32_t words[ROPE2D_MAX_AXES];
} bits;

static bits take_bits(const rope2d_merge *merge, const float *key) {
    bits taken = {{0}};
    memcpy(taken.words, key, merge->width * sizeof(*key));
    for (uint32_t i = 0; i < merge->width; i++) {
        if (taken.words[i] == 0x80000000u)
            taken.words[i] = 0;
    }
    return taken;
}

static uint64_t hash(const bits *key) {
    uint64_t mixed = UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < ROPE2D_MAX_AXES; i++) {
        mixed = (mixed ^ key->words[i]) * UINT64_C(0xff51afd7ed558ccd);
        mixed ^= mixed >> 32;
    }
    return mixed;
}

// The slot that holds the key, or the empty one where it belongs. There is always an empty one.
static uint32_t find_slot(const rope2d_merge *merge, const bits *key) {
    uint32_t mask = merge->slot_count - 1;
    uint32_t slot = (uint32_t)hash(key) & mask;
    for (; merge->slots[slot] != 0; slot = (slot + 1) & mask) {
        const float *there = merge->keys + (size_t)(merge->slots[slot] - 1) * merge->width;
        if (memcmp(there, key->words, merge->width * sizeof(*there)) == 0)
            break;
    }
    return slot;
}

static rope2d_status grow(rope2d_merge *merge, const rope2d_host *host) {
    if (merge->capacity >= MAX_KEYS)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT, "more than %u distinct coordinates; that is the limit",
                           MAX_KEYS);
    rope2d_merge grown = {.width = merge->width, .count = merge->count};
    grown.capacity = merge->capacity == 0 ? FIRST_CAPACITY : 2 * merge->capacity;
    grown.slot_count = 2 * grown.capacity;
    uint64_t floats = (uint64_t)grown.capacity * grown.width;
    grown.keys = rope2d_allocate(host, floats, sizeof(*grown.keys));
    grown.slots = rope2d_allocate(host, grown.slot_count, sizeof(*grown.slots));
    if (grown.keys == NULL || grown.slots == NULL) {
        rope2d_merge_destroy(&grown, host);
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %" PRIu32 " distinct coordinates",
                           2 * merge->capacity);
    }
    if (merge->count > 0)
        memcpy(grown.keys, merge->keys, (size_t)merge->count * merge->width * sizeof(*grown.keys));
    for (uint32_t number = 0; number < grown.count; number++) {
        bits key = take_bits(&grown, grown.keys + (size_t)number * grown.width);
        uint32_t slot = find_slot(&grown, &key);
        if (grown.slots[slot] == 0) // appended keys may be equal
            grown.slots[slot] = number + 1;
    }
    rope2d_merge_destroy(merge, host);
    *merge = grown;
    return ROPE2D_OK;
}

static uint32_t push(rope2d_merge *merge, const bits *key) {
    memcpy(merge->keys + (size_t)merge->count * merge->width, key->words, merge->width * sizeof(float));
    return merge->count++;
}

rope2d_status rope2d_merge_add(rope2d_merge *merge, const rope2d_host *host, const float *key,
                               int32_t *number) {
    if (merge->count == merge->capacity) {
        int32_t there = rope2d_merge_find(merge, key);
        if (there >= 0) {
            *number = there;
            return ROPE2D_OK;
        }
        ROPE2D_TRY(grow(merge, host));
    }
    bits taken = take_bits(merge, key);
    uint32_t slot = find_slot(merge, &taken);
    if (merge->slots[slot] == 0)
        merge->slots[slot] = push(merge, &taken) + 1;
    *number = (int32_t)(merge->slots[slot] - 1);
    return ROPE2D_OK;
}

rope2d_status rope2d_merge_append(rope2d_merge *merge, const rope2d_host *host, const float *key) {
    if (merge->count == merge->capacity)
        ROPE2D_TRY(grow(merge, host));
    bits taken = take_bits(merge, key);
    uint32_t slot = find_slot(merge, &taken);
    uint32_t number = push(merge, &taken);
    if (merge->slots[slot] == 0)
        merge->slots[slot] = number + 1;
    return ROPE2D_OK;
}

int32_t rope2d_merge_find(const rope2d_merge *merge, const float *key) {
    if (merge->slot_count == 0)
        return -1;
    bits taken = take_bits(merge, key);
    return (int32_t)merge->slots[find_slot(merge, &taken)] - 1;
}

void rope2d_merge_destroy(rope2d_merge *merge, const rope2d_host *host) {
    rope2d_release(host, merge->keys, (uint64_t)merge->capacity * merge->width, sizeof(*merge->keys));
    rope2d_release(host, merge->slots, merge->slot_count, sizeof(*merge->slots));
    memset(merge, 0, sizeof(*merge));
}

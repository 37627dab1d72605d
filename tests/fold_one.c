// SPDX-License-Identifier: MIT
//
// fold_one IN OUT VALUE...: folds a module of SPIR-V with constants of these values, as the library does.
// Before, each allocation fails once, and the module is cut off at each word: both must be refused, and leave
// nothing.
#include "internal.h"
#include "vulkan/fold.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_WORDS = 1 << 16, MOST_VALUES = 8 };

static uint32_t requests, fail_at, live;

static void *allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    if (++requests == fail_at)
        return NULL;
    live++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    live--;
    free(memory);
}

int main(int argc, char **argv) {
    static uint32_t words[MOST_WORDS];
    const rope2d_host host = {.struct_size = sizeof(host), .allocate = allocate, .release = release};
    uint32_t values[MOST_VALUES], *folded = NULL;
    uint64_t bytes = 0;
    if (argc < 3 || argc > 3 + MOST_VALUES)
        return 2;
    FILE *file = fopen(argv[1], "rb");
    const size_t count = file != NULL ? fread(words, sizeof(*words), MOST_WORDS, file) : 0;
    if (file != NULL)
        fclose(file);
    const uint32_t value_count = (uint32_t)(argc - 3);
    for (uint32_t i = 0; i < value_count; i++)
        values[i] = (uint32_t)strtoul(argv[3 + i], NULL, 0);
    for (size_t cut = 0; cut < count; cut++) {
        const uint32_t before = live;
        const rope2d_status status =
            rope2d_vulkan_fold(&host, words, cut, values, value_count, &folded, &bytes);
        if (status == ROPE2D_OK) // where a function ends, what follows is no part of the module
            rope2d_release(&host, folded, cut, sizeof(*folded));
        if ((status != ROPE2D_OK && (status != ROPE2D_ERROR_COMPILE || folded != NULL)) || live != before)
            return 3;
    }
    rope2d_status status = ROPE2D_ERROR_HOST_MEMORY;
    for (fail_at = 1; status == ROPE2D_ERROR_HOST_MEMORY; fail_at++) {
        requests = 0;
        status = rope2d_vulkan_fold(&host, words, count, values, value_count, &folded, &bytes);
        if (status != ROPE2D_OK && live != 0)
            return 4;
    }
    file = fopen(argv[2], "wb");
    if (status != ROPE2D_OK || fail_at < 5 || file == NULL)
        return 5;
    const bool is_written = fwrite(folded, 1, (size_t)bytes, file) == bytes;
    rope2d_release(&host, folded, count, sizeof(*folded));
    return fclose(file) == 0 && is_written && live == 0 ? 0 : 6;
}

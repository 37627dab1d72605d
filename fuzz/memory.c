// SPDX-License-Identifier: MIT
#include "memory.h"

#include "target.h"

#include <string.h>

enum { MOST_BYTES = 64 << 20, HEADER = 64 };

static void *take(void *user, size_t size, size_t alignment) {
    struct memory *memory = user;
    FUZZ_PROMISE(alignment > 0 && alignment <= HEADER && (alignment & (alignment - 1)) == 0);
    if (++memory->requests == memory->fail_at || size > MOST_BYTES - memory->bytes)
        return NULL;
    // The block ends where its memory does, as far as the alignment lets it.
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    void *block = NULL;
    if (alignment <= 16)
        block = malloc(size ? size : 1);
    else
        block = aligned_alloc(alignment, rounded ? rounded : alignment);
    if (!block)
        return NULL;
    memset(block, 0xa5, size);
    memory->live++;
    memory->bytes += size;
    return block;
}

static void give(void *user, void *block, size_t size) {
    struct memory *memory = user;
    FUZZ_PROMISE(block && memory->live > 0 && memory->bytes >= size);
    memory->live--;
    memory->bytes -= size;
    free(block);
}

static void hear(void *user, rope2d_log_level level, const char *text) {
    struct memory *memory = user;
    FUZZ_PROMISE(text && level >= ROPE2D_LOG_ERROR && level <= ROPE2D_LOG_INFO);
    memory->lines += strlen(text) > 0;
    memory->is_loud |= level == ROPE2D_LOG_ERROR;
}

static void run_all(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data) {
    (void)user;
    for (uint32_t i = tasks; i > 0; i--)
        task(data, i - 1);
}

rope2d_host memory_host(struct memory *memory) {
    return (rope2d_host){.struct_size = sizeof(rope2d_host),
                         .user = memory,
                         .allocate = take,
                         .release = give,
                         .log = hear,
                         .parallel_for = run_all,
                         .threads = 3};
}

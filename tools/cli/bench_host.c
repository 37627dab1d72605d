// SPDX-License-Identifier: MIT
//
// Counts what the library allocates, since a record must not.
#include <stdatomic.h>
#include <stdlib.h>

#include "bench_engine.h"
#include "message.h"

static atomic_ullong allocations;

static void *allocate(void *user, size_t size, size_t alignment) {
    void *memory = NULL;
    (void)user;
    atomic_fetch_add(&allocations, 1);
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static void release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    free(memory);
}

static void log_line(void *user, rope2d_log_level level, const char *text) {
    message_host.log(user, level, text);
}

const rope2d_host bench_host = {
    .struct_size = sizeof(rope2d_host),
    .allocate = allocate,
    .release = release,
    .log = log_line,
};

uint64_t bench_allocations(void) {
    return atomic_load(&allocations);
}

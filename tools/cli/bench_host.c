// SPDX-License-Identifier: MIT
//
// Counts what the library allocates, since a record must not.
#include <stdatomic.h>
#include <stdlib.h>

#include "bench_engine.h"
#include "message.h"
#include "../verify/folder.h"

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

// Drivers keep what they have compiled on disk.
bool bench_hide_driver_caches(char *folder) {
    static const char *const variables[] = {"POCL_CACHE_DIR", "MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR",
                                            "__GL_SHADER_DISK_CACHE_PATH", "AMD_SHADER_DISK_CACHE_PATH"};
    if (!folder_make_own(folder))
        return false;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i)
        setenv(variables[i], folder, 1);
    return true;
}

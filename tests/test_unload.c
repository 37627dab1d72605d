// SPDX-License-Identifier: MIT
//
// Loads the shared library a thousand times, rotates on the CPU, and on a GPU's API every hundredth time, and
// unloads it: it is gone from memory each time, and leaves no thread behind.
#include "rope2d/rope2d.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 1000, EVERY = 100, TOKENS = 64, HEADS = 2, HEAD_DIM = 8, PAIRS = HEAD_DIM / 2 };

struct library {
    void *handle;
    rope2d_status (*device_create)(const rope2d_device_params *, rope2d_device **);
    void (*device_destroy)(rope2d_device *);
    rope2d_status (*positions_create)(rope2d_device *, const rope2d_positions_params *, rope2d_positions **);
    void (*positions_destroy)(rope2d_positions *);
    rope2d_status (*plan_create)(rope2d_device *, const rope2d_plan_params *, rope2d_plan **);
    void (*plan_destroy)(rope2d_plan *);
    rope2d_status (*apply)(const rope2d_plan *, const rope2d_positions *, const rope2d_apply_params *);
};

static int find(void *handle, const char *name, void *function) {
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

static int load(struct library *library, const char *path) {
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library->handle != NULL &&
           find(library->handle, "rope2d_device_create", &library->device_create) &&
           find(library->handle, "rope2d_device_destroy", &library->device_destroy) &&
           find(library->handle, "rope2d_positions_create", &library->positions_create) &&
           find(library->handle, "rope2d_positions_destroy", &library->positions_destroy) &&
           find(library->handle, "rope2d_plan_create", &library->plan_create) &&
           find(library->handle, "rope2d_plan_destroy", &library->plan_destroy) &&
           find(library->handle, "rope2d_apply", &library->apply);
}

// Ones turned by (t, 0): the first pair of token 0 stays, that of token 1 does not.
static rope2d_status rotate(const struct library *library, rope2d_backend backend) {
    static const float freqs[PAIRS] = {1, 0.5f, 0.25f, 0.125f};
    static float q[TOKENS][HEADS][HEAD_DIM], at[TOKENS];
    rope2d_device *device = NULL;
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    for (int t = 0; t < TOKENS; t++) {
        at[t] = (float)t;
        for (int i = 0; i < HEADS * HEAD_DIM; i++)
            q[t][i / HEAD_DIM][i % HEAD_DIM] = 1;
    }
    rope2d_spec spec = {sizeof(spec), .head_dim = HEAD_DIM, .axes = 1, .freqs = freqs};
    rope2d_device_params where = {sizeof(where), .backend = backend};
    rope2d_positions_params line = {sizeof(line), &spec, .tokens = TOKENS, .coordinates = at};
    rope2d_plan_params types = {sizeof(types), &spec, .in = ROPE2D_F32, .out = ROPE2D_F32};
    rope2d_tensor tensor = {.heads = HEADS};
    tensor.in.base = q;
    tensor.in.size = sizeof(q);
    tensor.in.batch_stride = (int64_t)TOKENS * HEADS * HEAD_DIM;
    tensor.in.token_stride = (int64_t)HEADS * HEAD_DIM;
    tensor.in.head_stride = HEAD_DIM;
    rope2d_apply_params params = {sizeof(params), .batch = 1, .tokens = TOKENS, .tensor_count = 1,
                                  .tensors = &tensor};
    rope2d_status status = library->device_create(&where, &device);
    if (status == ROPE2D_OK)
        status = library->positions_create(device, &line, &positions);
    if (status == ROPE2D_OK)
        status = library->plan_create(device, &types, &plan);
    if (status == ROPE2D_OK)
        status = library->apply(plan, positions, &params);
    library->plan_destroy(plan);
    library->positions_destroy(positions);
    library->device_destroy(device);
    if (status == ROPE2D_OK && (q[0][0][0] != 1 || q[1][0][0] >= 0)) // cos 1 - sin 1
        status = ROPE2D_STATUS_COUNT;
    return status;
}

static size_t count_threads(void) {
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL)
        return 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    unsigned passed = 0, failed = 0, skipped = 0;
    size_t threads = 0;
    for (int round = 0; round < ROUNDS && failed == 0 && argc == 2; round++) {
        struct library library = {0};
        if (!load(&library, argv[1])) {
            printf("FAIL round %d: %s\n", round, dlerror());
            failed++;
            break;
        }
        rope2d_status status = rotate(&library, ROPE2D_BACKEND_CPU);
        failed += status != ROPE2D_OK;
        for (int i = ROPE2D_BACKEND_VULKAN; i < ROPE2D_BACKEND_COUNT && round % EVERY == EVERY - 1; i++) {
            rope2d_status other = rotate(&library, (rope2d_backend)i);
            if (other == ROPE2D_ERROR_BACKEND_MISSING || other == ROPE2D_ERROR_DEVICE_INDEX)
                skipped++;
            else if (other == ROPE2D_OK)
                passed++;
            else
                failed++;
        }
        (void)dlclose(library.handle);
        void *still = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
        if (round == 0)
            threads = count_threads(); // OpenMP's own stay, as does its runtime
        // Drivers keep threads as they like.
        const int grew = round < EVERY - 1 && count_threads() > threads;
        if (still != NULL || grew || failed > 0) {
            printf("FAIL round %d: status %d%s%s\n", round, (int)status,
                   still != NULL ? ", still loaded" : "", grew ? ", more threads than after the first" : "");
            failed += failed == 0;
        } else {
            passed++;
        }
    }
    printf("%u passed, %u failed, %u skipped\n", passed, failed + (argc != 2), skipped);
    return failed > 0 || passed == 0;
}

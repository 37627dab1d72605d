// SPDX-License-Identifier: MIT
//
// A Vulkan driver that fails at each call in turn: every failure has its status and its line in the log,
// nothing leaks, and what failed for a moment works the next time.
#include "vulkan_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_DIM = 16, PAIRS = HEAD_DIM / 2, TOKENS = 6, HEADS = 2, COUNT = TOKENS * HEADS * HEAD_DIM };

// VkResults, and what they are to become.
struct fault {
    int32_t result;
    const char *name;
    rope2d_status status;
};

static const struct fault faults[] = {
    {-1, "VK_ERROR_OUT_OF_HOST_MEMORY", ROPE2D_ERROR_HOST_MEMORY},
    {-2, "VK_ERROR_OUT_OF_DEVICE_MEMORY", ROPE2D_ERROR_DEVICE_MEMORY},
    {-4, "VK_ERROR_DEVICE_LOST", ROPE2D_ERROR_DEVICE_LOST},
};

static tally counts;
static struct shim *shim;
static unsigned points; // calls that failed

// The caller's memory, counted. One thread.
struct memory {
    captured_log log; // first, so that its own callback finds it
    int64_t live;
};

static void *allocate(void *user, size_t size, size_t alignment) {
    struct memory *memory = user;
    void *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    memory->live += block != NULL;
    return block;
}

static void release(void *user, void *block, size_t size) {
    (void)size;
    struct memory *memory = user;
    memory->live--;
    free(block);
}

// Everything that a use of the library makes.
struct scene {
    struct memory memory;
    rope2d_device *device;
    rope2d_positions *positions;
    rope2d_plan *plan;
    float in[2][COUNT];
    uint32_t out[2][COUNT]; // the bits of floats
    bool is_applied;        // it came as far as apply
    bool is_deferred;       // it is not to apply
};

static rope2d_status apply(struct scene *scene) {
    rope2d_tensor tensors[2];
    memset(scene->out, 0, sizeof(scene->out));
    for (int i = 0; i < 2; i++) {
        tensors[i].heads = HEADS;
        tensors[i].in =
            rope2d_view_contiguous(scene->in[i], ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM);
        tensors[i].out = tensors[i].in;
        tensors[i].out.base = scene->out[i];
    }
    rope2d_apply_params params = {
        .struct_size = sizeof(params), .batch = 1, .tokens = TOKENS, .tensor_count = 2, .tensors = tensors};
    return rope2d_apply(scene->plan, scene->positions, &params);
}

static rope2d_status run(struct scene *scene, rope2d_backend backend, rope2d_table table) {
    float freqs[2 * PAIRS] = {0};
    float coordinates[2 * TOKENS];
    for (int i = 0; i < PAIRS; i++)
        freqs[i % 2 * PAIRS + i] = 1.0f / (float)(1 + i);
    for (int i = 0; i < 2 * TOKENS; i++)
        coordinates[i] = (float)(i / 3);
    for (int i = 0; i < COUNT; i++) {
        scene->in[0][i] = 0.25f * (float)(i % 17) - 2.0f;
        scene->in[1][i] = 0.125f * (float)(i % 23) + 1.0f;
    }
    rope2d_host host = captured_host(&scene->memory.log);
    host.user = &scene->memory;
    host.allocate = allocate;
    host.release = release;
    rope2d_device_params device = {.struct_size = sizeof(device), .backend = backend, .host = &host};
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .freqs = freqs};
    rope2d_positions_params positions = {.struct_size = sizeof(positions),
                                         .spec = &spec,
                                         .table = table,
                                         .tokens = TOKENS,
                                         .coordinates = coordinates};
    rope2d_plan_params plan = {
        .struct_size = sizeof(plan), .spec = &spec, .table = table, .flags = ROPE2D_PLAN_NO_SELF_TEST};
    rope2d_status status = rope2d_device_create(&device, &scene->device);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(scene->device, &positions, &scene->positions);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(scene->device, &plan, &scene->plan);
    if (status == ROPE2D_OK && !scene->is_deferred) {
        scene->is_applied = true;
        status = apply(scene);
    }
    return status;
}

static void clear(struct scene *scene) {
    rope2d_plan_destroy(scene->plan);
    rope2d_positions_destroy(scene->positions);
    rope2d_device_destroy(scene->device);
}

// Failures of these are not the library's: without a list of extensions it does without them.
static bool is_tolerated(const char *call) {
    return strcmp(call, "vkEnumerateInstanceExtensionProperties") == 0 ||
           strcmp(call, "vkEnumerateDeviceExtensionProperties") == 0;
}

// Fails the n-th call. False when there is no n-th.
static bool fail_at(uint64_t n, const struct fault *fault, rope2d_table table, const struct scene *expected) {
    static struct scene scene;
    memset(&scene, 0, sizeof(scene));
    shim->calls = 0;
    shim->failed = NULL;
    shim->faults = 0;
    shim->fail_at = n;
    shim->fail_with = fault->result;
    rope2d_status status = run(&scene, ROPE2D_BACKEND_VULKAN, table);
    const char *call = shim->failed;
    points += call != NULL;
    if (call == NULL) {
        tally_check(&counts, status == ROPE2D_OK, "no call fails: %s", rope2d_status_name(status));
    } else if (is_tolerated(call)) {
        tally_check(&counts, status == ROPE2D_OK, "call %u, %s: %s", (unsigned)n, call,
                    rope2d_status_name(status));
    } else {
        tally_check(&counts, status == fault->status, "call %u, %s with %s: %s", (unsigned)n, call,
                    fault->name, rope2d_status_name(status));
        tally_check(
            &counts, strstr(scene.memory.log.text, call) && strstr(scene.memory.log.text, fault->name),
            "call %u, %s with %s is logged as: %s", (unsigned)n, call, fault->name, scene.memory.log.text);
        if (scene.is_applied)
            status = apply(&scene);
    }
    if (scene.is_applied)
        tally_check(&counts, status == ROPE2D_OK && memcmp(scene.out, expected->out, sizeof(scene.out)) == 0,
                    "after call %u, %s: %s, or the bits differ", (unsigned)n, call ? call : "none",
                    rope2d_status_name(status));
    clear(&scene);
    tally_check(&counts, shim->live == 0 && shim->faults == 0 && scene.memory.live == 0,
                "call %u, %s: %d objects and %d blocks are left, %u faults", (unsigned)n,
                call ? call : "none", (int)shim->live, (int)scene.memory.live, (unsigned)shim->faults);
    shim->live = 0;
    shim->fail_at = 0;
    return call != NULL;
}

static void fail_each(const struct fault *fault, rope2d_table table, enum shim_memory memory) {
    static struct scene expected;
    memset(&expected, 0, sizeof(expected));
    rope2d_status status = run(&expected, ROPE2D_BACKEND_CPU, ROPE2D_TABLE_BUFFER);
    clear(&expected);
    tally_check(&counts, status == ROPE2D_OK, "the CPU: %s", rope2d_status_name(status));
    shim->memory = memory;
    // Builds with sanitizers are slow, and ask for fewer: every call of the first fault, some of the others.
    const char *quick = getenv("ROPE2D_QUICK");
    uint64_t step = quick != NULL && strcmp(quick, "1") == 0 && fault != faults ? 5 : 1;
    uint64_t n = 1;
    while (fail_at(n, fault, table, &expected))
        n += step;
    tally_check(&counts, n > 35, "only %u calls were seen", (unsigned)n);
    shim->memory = SHIM_MEMORY_REAL;
}

// A device that was lost stays so: whatever needs it says that, each time anew; a new one has the right bits.
static bool lose_at(const char *call, uint64_t n, rope2d_table table, const struct scene *expected) {
    static struct scene scene;
    const float freqs[2 * PAIRS] = {1};
    const rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .freqs = freqs};
    const rope2d_plan_params tested = {.struct_size = sizeof(tested), .spec = &spec};
    rope2d_plan *plan = NULL;
    memset(&scene, 0, sizeof(scene));
    shim->calls = 0;
    shim->failed = NULL;
    shim->fail_in = call;
    shim->fail_at = n;
    shim->fail_with = faults[2].result;
    shim->stays_lost = true;
    rope2d_status status = run(&scene, ROPE2D_BACKEND_VULKAN, table);
    const bool is_lost = shim->failed != NULL;
    points += is_lost;
    for (int again = 0; is_lost && again < 3; again++) {
        tally_check(&counts,
                    status == ROPE2D_ERROR_DEVICE_LOST &&
                        strstr(scene.memory.log.text, "VK_ERROR_DEVICE_LOST") != NULL,
                    "lost in %s %u, and used %d times more: %s: %s", call, (unsigned)n, again,
                    rope2d_status_name(status), scene.memory.log.text);
        scene.memory.log.text[0] = 0;
        status =
            scene.is_applied && again == 0 ? apply(&scene) : rope2d_plan_create(scene.device, &tested, &plan);
    }
    tally_check(&counts, plan == NULL && memcmp(scene.in, expected->in, sizeof(scene.in)) == 0,
                "lost in %s %u: a plan that was tested, or other inputs", call, (unsigned)n);
    clear(&scene);
    shim->stays_lost = false;
    shim->fail_in = NULL;
    shim->fail_at = 0;
    if (is_lost) {
        memset(&scene, 0, sizeof(scene));
        status = run(&scene, ROPE2D_BACKEND_VULKAN, table);
        tally_check(&counts, status == ROPE2D_OK && memcmp(scene.out, expected->out, sizeof(scene.out)) == 0,
                    "a device after the lost one: %s, or other bits", rope2d_status_name(status));
        clear(&scene);
    }
    tally_check(&counts, shim->live == 0 && shim->faults == 0 && scene.memory.live == 0,
                "lost in %s %u: %d objects and %d blocks are left, %u faults", call, (unsigned)n,
                (int)shim->live, (int)scene.memory.live, (unsigned)shim->faults);
    shim->live = 0;
    return is_lost;
}

// One dispatch in place: whichever of its calls fails, and be it the last, both tensors stay as they were.
static void fail_in_place(const struct fault *fault, enum shim_memory memory) {
    static struct scene scene;
    uint32_t tried = 0, late = 0;
    bool is_failed = true;
    for (uint64_t n = 1; is_failed; n++) {
        memset(&scene, 0, sizeof(scene));
        scene.is_deferred = true;
        shim->memory = memory;
        rope2d_status status = run(&scene, ROPE2D_BACKEND_VULKAN, ROPE2D_TABLE_BUFFER);
        rope2d_tensor tensors[2] = {{.heads = HEADS}, {.heads = HEADS}};
        for (int i = 0; i < 2; i++)
            tensors[i].in = rope2d_view_contiguous(scene.out[i], ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS,
                                                   HEADS, HEAD_DIM);
        memcpy(scene.out, scene.in, sizeof(scene.in));
        const rope2d_apply_params params = {.struct_size = sizeof(params),
                                            .batch = 1,
                                            .tokens = TOKENS,
                                            .tensor_count = 2,
                                            .tensors = tensors};
        uint64_t dispatches = 0;
        if (status == ROPE2D_OK)
            status = rope2d_plan_dispatches(scene.plan, scene.positions, &params, &dispatches);
        shim->calls = 0;
        shim->failed = NULL;
        shim->fail_at = n;
        shim->fail_with = fault->result;
        if (status == ROPE2D_OK)
            status = rope2d_apply(scene.plan, scene.positions, &params);
        shim->fail_at = 0;
        shim->memory = SHIM_MEMORY_REAL;
        is_failed = shim->failed != NULL;
        tried += is_failed;
        points += is_failed;
        late += is_failed && strncmp(shim->failed, "vkWait", 6) == 0;
        tally_check(&counts,
                    dispatches == 1 && (is_failed ? status == fault->status &&
                                                        memcmp(scene.out, scene.in, sizeof(scene.in)) == 0
                                                  : status == ROPE2D_OK),
                    "in place, call %u, %s: %s, or the input is lost", (unsigned)n,
                    is_failed ? shim->failed : "none", rope2d_status_name(status));
        clear(&scene);
    }
    tally_check(&counts, tried > 8 && late > 0, "in place: %u calls, %u of them wait", (unsigned)tried,
                (unsigned)late);
}

static void lose_each(rope2d_table table, enum shim_memory memory) {
    static const char *const calls[] = {"vkQueueSubmit", "vkWaitForFences"};
    static struct scene expected;
    memset(&expected, 0, sizeof(expected));
    const rope2d_status status = run(&expected, ROPE2D_BACKEND_CPU, ROPE2D_TABLE_BUFFER);
    clear(&expected);
    tally_check(&counts, status == ROPE2D_OK, "the CPU: %s", rope2d_status_name(status));
    shim->memory = memory;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        uint64_t n = 1;
        while (lose_at(calls[i], n, table, &expected))
            n++;
        tally_check(&counts, n > 1, "%s was never called", calls[i]);
    }
    shim->memory = SHIM_MEMORY_REAL;
}

// A plan of f16 whose n-th pipeline the driver refuses, 0: none; returns whether it converts by the device.
static bool refuse(uint32_t index, uint64_t n, rope2d_status wanted) {
    static const float freqs[32] = {1, 0.5f, 0.25f};
    static captured_log log;
    const rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = 64, .axes = 1, .freqs = freqs};
    const rope2d_plan_params params = {
        .struct_size = sizeof(params), .spec = &spec, .in = ROPE2D_F16, .out = ROPE2D_F16};
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    rope2d_device *device = NULL;
    rope2d_plan *plan = NULL;
    memset(&log, 0, sizeof(log));
    rope2d_status status = vulkan_open(index, 0, NULL, &log, &device);
    shim->calls = 0;
    shim->failed = NULL;
    shim->fail_in = "vkCreateComputePipelines";
    shim->fail_at = n;
    shim->fail_with = -1000012000; // VK_ERROR_INVALID_SHADER_NV
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(device, &params, &plan);
    shim->fail_in = NULL;
    shim->fail_at = 0;
    if (plan)
        rope2d_plan_get_info(plan, &info);
    const bool is_native = strstr(info.kernel, "_native") != NULL;
    tally_check(&counts,
                status == wanted && (shim->failed != NULL) == (n > 0) &&
                    (wanted != ROPE2D_OK || info.exactness == ROPE2D_EXACT ||
                     info.exactness == ROPE2D_EXACT_NORMAL) &&
                    (n == 0 || strstr(log.text, "vkCreateComputePipelines")),
                "pipeline %u refused: %s: %s", (unsigned)n, rope2d_status_name(status), log.text);
    tally_check(&counts, n != 2 || strstr(log.text, "refused: integers take their place"), "refused: %s",
                log.text);
    rope2d_plan_destroy(plan);
    rope2d_device_destroy(device);
    tally_check(&counts, shim->live == 0, "pipeline %u refused: %d objects are left", (unsigned)n,
                (int)shim->live);
    return is_native;
}

// The second pipeline is the one that converts by the device, where it can.
static void refuse_each(uint32_t devices) {
    uint32_t tried = 0;
    for (uint32_t i = 0; i < devices; i++) {
        if (!refuse(i, 0, ROPE2D_OK))
            continue;
        refuse(i, 1, ROPE2D_ERROR_DRIVER);
        tally_check(&counts, !refuse(i, 2, ROPE2D_OK), "a pipeline that was refused");
        tried++;
    }
    counts.skipped += tried == 0;
}

// A loader without a driver says so with VK_ERROR_INCOMPATIBLE_DRIVER: that is a machine without devices.
static void no_driver(void) {
    struct scene scene = {0};
    uint32_t count = 7;
    for (uint64_t n = 1; n < 8; n++) {
        shim->calls = 0;
        shim->failed = NULL;
        shim->fail_at = n;
        shim->fail_with = -9;
        rope2d_status status = rope2d_enumerate(ROPE2D_BACKEND_VULKAN, NULL, &count, NULL);
        if (shim->failed == NULL || strcmp(shim->failed, "vkCreateInstance") != 0)
            continue;
        tally_check(&counts, status == ROPE2D_OK && count == 0, "no driver: %s, %u devices",
                    rope2d_status_name(status), (unsigned)count);
        shim->calls = 0;
        status = run(&scene, ROPE2D_BACKEND_VULKAN, ROPE2D_TABLE_BUFFER);
        clear(&scene);
        tally_check(&counts, status == ROPE2D_ERROR_DEVICE_INDEX, "no driver: %s",
                    rope2d_status_name(status));
        break;
    }
    tally_check(&counts, count == 0 && shim->live == 0, "no driver was tried");
    shim->fail_at = 0;
}

int main(void) {
    shim = vulkan_shim_open();
    tally_check(&counts, shim != NULL, "no shim: ROPE2D_TEST_SHIM");
    const uint32_t devices = shim != NULL ? vulkan_count(&counts) : 0;
    if (devices > 0) {
        shim->live = 0;
        no_driver();
        fail_each(&faults[0], ROPE2D_TABLE_BUFFER, SHIM_MEMORY_REAL);
        fail_each(&faults[1], ROPE2D_TABLE_TEXTURE, SHIM_MEMORY_DISCRETE_INCOHERENT);
        fail_each(&faults[2], ROPE2D_TABLE_TEXTURE, SHIM_MEMORY_UNIFIED_INCOHERENT);
        fail_in_place(&faults[1], SHIM_MEMORY_DISCRETE_INCOHERENT);
        fail_in_place(&faults[2], SHIM_MEMORY_UNIFIED_INCOHERENT);
        lose_each(ROPE2D_TABLE_TEXTURE, SHIM_MEMORY_DISCRETE);
        refuse_each(devices);
        printf("%u calls of the driver failed in turn\n", points);
    }
    return tally_finish(&counts);
}

// SPDX-License-Identifier: MIT
//
// The library inside a program that owns Vulkan and links volk: adoption, bindings and recording, against
// what the CPU makes of the same bytes.
#include "vulkan_watch.h"

#include <stdlib.h>
#include <string.h>

static uint64_t driver_allocations;
static uint64_t driver_frees;
static uint64_t locks;
static bool is_locked;

// ------------------------------------------------------------------------------------------------- callbacks

static VKAPI_ATTR void *VKAPI_CALL driver_allocate(void *user, size_t size, size_t alignment,
                                                   VkSystemAllocationScope scope) {
    (void)user;
    (void)scope;
    size_t multiple = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    driver_allocations++;
    return aligned_alloc(multiple, (size + multiple - 1) / multiple * multiple);
}

static VKAPI_ATTR void VKAPI_CALL driver_free(void *user, void *memory) {
    (void)user;
    if (memory != NULL)
        driver_frees++;
    free(memory);
}

// Nobody asks for it: the drivers at hand only allocate and free.
static VKAPI_ATTR void *VKAPI_CALL driver_reallocate(void *user, void *old, size_t size, size_t alignment,
                                                     VkSystemAllocationScope scope) {
    (void)alignment;
    (void)scope;
    (void)user;
    return realloc(old, size);
}

static void lock_queue(void *user, VkQueue queue) {
    const owner *own = user;
    tally_check(&counts, queue == own->queue && !is_locked, "the queue is locked once");
    is_locked = true;
    locks++;
}

static void unlock_queue(void *user, VkQueue queue) {
    const owner *own = user;
    tally_check(&counts, queue == own->queue && is_locked, "the queue was locked");
    is_locked = false;
}

// Records twice, into a command buffer that is reset, with nothing allocated, and compares every byte.
static void run_layout(const owner *own, rope2d_device *device, const layout *l) {
    static unsigned char expected[2][BYTES];
    owner_buffer in = {0}, out = {0};
    scene made = {.device = device};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    if (!owner_buffer_create(own, BYTES, &in) || !owner_buffer_create(own, BYTES, &out) ||
        make_scene(&made, l->in, l->out, l->table, ROPE2D_PLAN_NO_SELF_TEST) != ROPE2D_OK) {
        tally_check(&counts, false, "no memory for a layout");
        return;
    }
    make_params(l, &in, &out, tensors, &params);
    rope2d_status status = rope2d_vulkan_binding_create(made.plan, made.positions, &params, &binding);
    tally_check(&counts, status == ROPE2D_OK, "binding: %s %s", rope2d_status_name(status), logged.text);
    fill(in.mapped, l->in);
    memset(out.mapped, GUARD, BYTES);
    memcpy(expected[0], in.mapped, BYTES);
    memcpy(expected[1], out.mapped, BYTES);
    run_cpu(l, expected[0], expected[1]);
    for (int round = 0; round < 2 && status == ROPE2D_OK; round++) {
        fill(in.mapped, l->in);
        memset(out.mapped, GUARD, BYTES);
        tally_check(&counts, owner_begin(own), "begin");
        const uint64_t before = watch_host_counts().allocations;
        const uint64_t driver_before = driver_allocations;
        const uint64_t locks_before = locks;
        tally_check(&counts, rope2d_vulkan_record(binding, own->commands) == ROPE2D_OK, "record");
        tally_check(&counts, watch_host_counts().allocations == before && driver_allocations == driver_before,
                    "record allocates");
        tally_check(&counts, locks == locks_before, "record locks the queue");
        owner_barrier(own);
        tally_check(&counts, owner_run(own), "run");
        tally_check(&counts, memcmp(in.mapped, expected[0], BYTES) == 0, "inputs differ from the CPU's");
        tally_check(&counts, memcmp(out.mapped, expected[1], BYTES) == 0, "outputs differ from the CPU's");
    }
    rope2d_vulkan_binding_destroy(binding);
    clear_scene(&made);
    owner_buffer_destroy(own, &in);
    owner_buffer_destroy(own, &out);
}

// -------------------------------------------------------------------------------------------------- adoption

static rope2d_vulkan_device_params adopting(owner *own, const rope2d_host *host,
                                            const VkAllocationCallbacks *allocation, bool with_queue) {
    rope2d_vulkan_device_params params = scene_adopting(own, host, with_queue);
    params.lock_queue = with_queue ? lock_queue : NULL;
    params.unlock_queue = with_queue ? unlock_queue : NULL;
    params.queue_user = own;
    params.allocation = allocation;
    return params;
}

static void check_bad_adoption(rope2d_vulkan_device_params good) {
    rope2d_device *device = NULL;
    rope2d_vulkan_device_params bad = good;
    expect(rope2d_vulkan_device_adopt(NULL, &device), ROPE2D_ERROR_NULL, "params");
    expect(rope2d_vulkan_device_adopt(&good, NULL), ROPE2D_ERROR_NULL, "device");
    bad.struct_size--;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_STRUCT_SIZE, "struct_size");
    bad = good;
    bad.device = NULL;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_NULL, "device");
    bad = good;
    bad.unlock_queue = NULL;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_NULL, "unlock_queue");
    bad = good;
    bad.flags = 1u << 20;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_ENUM, "flags");
    bad = good;
    bad.queue_family = 1000;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_DEVICE_INDEX, "queue_family");
    bad = good;
    const VkAllocationCallbacks nothing = {NULL, NULL, NULL, NULL, NULL, NULL};
    bad.allocation = &nothing;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_NULL, "allocation");
    bad = good;
    bad.api_version = 3;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_ENUM, "api_version");
    bad = good;
    bad.has_shader_float16 = 2;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_ENUM, "has_shader_float16");
    bad.has_shader_float16 = 0;
    bad.has_shader_int64 = 2;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_ENUM, "has_shader_int64");
    bad.has_shader_int64 = 0;
    bad.has_pipeline_robustness = 2;
    expect(rope2d_vulkan_device_adopt(&bad, &device), ROPE2D_ERROR_ENUM, "has_pipeline_robustness");
    tally_check(&counts, device == NULL, "a failed adoption leaves a device");
}

// What a binding refuses; and that a refused update leaves the binding as it was.
static void check_bad_bindings(const owner *own, rope2d_device *device) {
    const layout l = {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, true, 64, HEAD_DIM, 0, TOKENS};
    owner_buffer buffer = {0};
    scene made = {.device = device};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    if (!owner_buffer_create(own, BYTES, &buffer) ||
        make_scene(&made, l.in, l.out, l.table, ROPE2D_PLAN_NO_SELF_TEST) != ROPE2D_OK)
        return;
    make_params(&l, &buffer, &buffer, tensors, &params);
    expect(rope2d_vulkan_binding_create(made.plan, made.positions, &params, &binding), ROPE2D_OK, "binding");
    const uint32_t dispatches = rope2d_vulkan_binding_dispatches(binding);
    tally_check(&counts, dispatches == 1 || dispatches == 2, "%u dispatches", dispatches);
    tensors[1].in.buffer = VK_NULL_HANDLE;
    expect(rope2d_vulkan_binding_update(binding, &params), ROPE2D_ERROR_NULL, "buffer");
    tensors[1].in = tensors[0].in;
    expect(rope2d_vulkan_binding_update(binding, &params), ROPE2D_ERROR_OVERLAP, "overlap");
    make_params(&l, &buffer, &buffer, tensors, &params);
    // The last element is there, the other half of its word is not.
    tensors[1].in.offset += 2;
    tensors[1].in.size = tensors[1].in.offset + 2ull * HEADS * HEAD_DIM * TOKENS;
    expect(rope2d_vulkan_binding_update(binding, &params), ROPE2D_ERROR_TENSOR_SIZE, "last word");
    tally_check(&counts, strstr(logged.text, "in whole words of 4 bytes") != NULL, "%s", logged.text);
    make_params(&l, &buffer, &buffer, tensors, &params);
    params.first_token = 1;
    expect(rope2d_vulkan_binding_update(binding, &params), ROPE2D_ERROR_TOKENS, "tokens");
    tally_check(&counts, rope2d_vulkan_binding_dispatches(binding) == dispatches,
                "a refusal changed a binding");
    params.first_token = 0;
    params.tokens = 0;
    expect(rope2d_vulkan_binding_update(binding, &params), ROPE2D_OK, "no tokens");
    tally_check(&counts, rope2d_vulkan_binding_dispatches(binding) == 0, "no tokens, yet dispatches");
    expect(rope2d_vulkan_record(binding, NULL), ROPE2D_ERROR_NULL, "commands");
    expect(rope2d_vulkan_record(NULL, own->commands), ROPE2D_ERROR_NULL, "binding");
    rope2d_vulkan_binding_destroy(binding);
    clear_scene(&made);
    owner_buffer_destroy(own, &buffer);
}

// Row numbers that a kernel of the caller's could have written: other tokens', none at all, and past the
// bound.
enum { ROW_BOUND = 5, ROW_OFFSET = 256 };

static void fill_rows(const int32_t *from, int32_t *rows, float coordinates[TOKENS][2]) {
    for (int t = 0; t < TOKENS; t++) {
        for (int a = 0; a < 2; a++) {
            const int32_t row = from[2 * ((5 * t + 3) % TOKENS) + a];
            rows[2 * t + a] = t == 0 ? -1 : t == 1 ? INT32_MAX : row;
            // Row r of either axis has coordinate r here. No rotation is the rotation by 0 of normal numbers.
            const int32_t bounded = t == 1 || row >= ROW_BOUND ? ROW_BOUND - 1 : row;
            coordinates[t][a] = t == 0 ? 0 : (float)bounded;
        }
    }
}

static void check_bad_rows(rope2d_vulkan_binding *binding, const rope2d_vulkan_binding_params *good) {
    rope2d_vulkan_binding_params bad = *good;
    bad.row_offset = ROW_OFFSET + 2;
    expect(rope2d_vulkan_binding_update(binding, &bad), ROPE2D_ERROR_TENSOR_ALIGNMENT, "row_offset");
    bad = *good;
    bad.row_size = ROW_OFFSET + sizeof(int32_t[TOKENS][2]) - 1;
    expect(rope2d_vulkan_binding_update(binding, &bad), ROPE2D_ERROR_TENSOR_SIZE, "row_size");
    bad = *good;
    bad.row_tokens = 0;
    expect(rope2d_vulkan_binding_update(binding, &bad), ROPE2D_ERROR_LIMIT, "row_tokens");
    bad.row_tokens = UINT64_MAX / 2;
    expect(rope2d_vulkan_binding_update(binding, &bad), ROPE2D_ERROR_LIMIT, "row_tokens");
    bad.row_tokens = TOKENS - 1;
    expect(rope2d_vulkan_binding_update(binding, &bad), ROPE2D_ERROR_TOKENS, "tokens");
    bad = *good;
    bad.row_batch = 2;
    bad.row_size = BYTES;
    expect(rope2d_vulkan_binding_update(binding, &bad), ROPE2D_ERROR_BATCH, "row_batch");
    tally_check(&counts, strstr(logged.text, "; params.row_batch is 2") != NULL, "%s", logged.text);
    bad = *good;
    bad.row_bound = TOKENS + 1;
    expect(rope2d_vulkan_binding_update(binding, &bad), ROPE2D_ERROR_ROW, "row_bound");
    bad = *good;
    bad.row_size = 2 * BYTES;
    expect(rope2d_vulkan_binding_update(binding, &bad), ROPE2D_ERROR_TENSOR_SIZE, "row_size");
    bad = *good;
    bad.rows = VK_NULL_HANDLE;
    expect(rope2d_vulkan_binding_update(binding, &bad), ROPE2D_ERROR_ROW, "rows is VK_NULL_HANDLE");
}

// Row numbers beside the output in one buffer, and in it: in its last byte, too.
static void check_rows_in_output(rope2d_vulkan_binding *binding, const rope2d_vulkan_binding_params *good) {
    rope2d_vulkan_tensor tensor = good->tensors[0];
    rope2d_vulkan_binding_params near = *good;
    tensor.in.offset = 16 * ROW_OFFSET;
    near.tensors = &tensor;
    near.tensor_count = 1;
    near.rows = tensor.in.buffer;
    near.row_size = BYTES;
    near.row_tokens = ROW_OFFSET / sizeof(int32_t[2]);
    near.tokens = near.row_tokens;
    near.row_offset = 15 * ROW_OFFSET;
    expect(rope2d_vulkan_binding_update(binding, &near), ROPE2D_OK, "rows beside the output");
    near.row_offset = 16 * ROW_OFFSET;
    expect(rope2d_vulkan_binding_update(binding, &near), ROPE2D_ERROR_OVERLAP, "params.rows");
    near.row_offset = 15 * ROW_OFFSET;
    near.row_tokens++;
    expect(rope2d_vulkan_binding_update(binding, &near), ROPE2D_ERROR_OVERLAP, "params.rows");
    near.rows = good->rows;
    tensor.in.size = 2 * BYTES;
    expect(rope2d_vulkan_binding_update(binding, &near), ROPE2D_ERROR_TENSOR_SIZE, "tensors[0].in.size");
    expect(rope2d_vulkan_binding_update(binding, good), ROPE2D_OK, "rows");
}

static void check_rows(const owner *own, rope2d_device *device, rope2d_table table) {
    static unsigned char expected[BYTES];
    const layout l = {ROPE2D_F32, ROPE2D_F32, table, true, 64, HEAD_DIM, 0, TOKENS};
    owner_buffer in = {0}, rows = {0};
    scene made = {.device = device};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    float saved[TOKENS][2], moved[TOKENS][2];
    if (!owner_buffer_create(own, BYTES, &in) || !owner_buffer_create(own, BYTES, &rows) ||
        make_scene(&made, l.in, l.out, l.table, ROPE2D_PLAN_NO_SELF_TEST) != ROPE2D_OK) {
        tally_check(&counts, false, "no memory for rows");
        return;
    }
    make_params(&l, &in, &in, tensors, &params);
    params.rows = rows.handle;
    params.row_size = ROW_OFFSET + sizeof(int32_t[TOKENS][2]);
    params.row_offset = ROW_OFFSET;
    params.row_bound = ROW_BOUND;
    params.row_tokens = TOKENS;
    expect(rope2d_vulkan_binding_create(made.plan, made.positions, &params, &binding), ROPE2D_OK, "rows");
    check_bad_rows(binding, &params);
    check_rows_in_output(binding, &params);
    fill_rows(rope2d_positions_host_rows(made.positions), (int32_t *)(void *)(rows.mapped + ROW_OFFSET),
              moved);
    fill(in.mapped, l.in);
    memcpy(expected, in.mapped, BYTES);
    memcpy(saved, grid, sizeof(grid));
    memcpy(grid, moved, sizeof(grid));
    run_cpu(&l, expected, NULL);
    memcpy(grid, saved, sizeof(grid));
    tally_check(&counts, owner_begin(own), "begin");
    tally_check(&counts, rope2d_vulkan_record(binding, own->commands) == ROPE2D_OK, "record");
    owner_barrier(own);
    tally_check(&counts, owner_run(own), "run");
    tally_check(&counts, memcmp(in.mapped, expected, BYTES) == 0, "the caller's rows: differs from the CPU");
    rope2d_vulkan_binding_destroy(binding);
    clear_scene(&made);
    owner_buffer_destroy(own, &rows);
    owner_buffer_destroy(own, &in);
}

static void check_apply(rope2d_device *device, bool with_queue) {
    scene made = {.device = device};
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    const rope2d_apply_params nothing = {.struct_size = sizeof(nothing)};
    const uint64_t before = locks;
    if (make_scene(&made, ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, 0) != ROPE2D_OK)
        return;
    expect(rope2d_plan_get_info(made.plan, &info), ROPE2D_OK, "plan info");
    tally_check(&counts, (info.exactness == ROPE2D_UNTESTED) == !with_queue, "exactness is %d",
                (int)info.exactness);
    tally_check(&counts, (locks > before) == with_queue, "%llu locks", (unsigned long long)(locks - before));
    expect(rope2d_apply(made.plan, made.positions, &nothing),
           with_queue ? ROPE2D_OK : ROPE2D_ERROR_UNSUPPORTED, "apply");
    clear_scene(&made);
}

// Kernels of a folder that is not there; the environment names it, for an adoption has no such field.
static void check_folder(const rope2d_vulkan_device_params *params) {
#ifndef _WIN32
    static const float freqs[] = {1, 1, 1, 1};
    const rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = 8, .axes = 1, .freqs = freqs};
    const rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &spec};
    rope2d_device *device = NULL;
    rope2d_plan *plan = NULL;
    setenv("ROPE2D_SHADERS", "/nowhere", 1);
    rope2d_status status = rope2d_vulkan_device_adopt(params, &device);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(device, &types, &plan);
    unsetenv("ROPE2D_SHADERS");
    tally_check(&counts, status == ROPE2D_ERROR_COMPILE || status == ROPE2D_ERROR_UNSUPPORTED,
                "kernels of a folder that is not there: %s", rope2d_status_name(status));
    rope2d_device_destroy(device);
#else
    (void)params;
#endif
}

static void run_device(owner *own, const rope2d_host *host, bool with_queue, uint32_t flags) {
    static const layout layouts[] = {
        {ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, true, 4, HEAD_DIM, 0, TOKENS},
        {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_AUTO, true, 2, HEAD_DIM + 1, 3, TOKENS - 5},
        {ROPE2D_BF16, ROPE2D_F32, ROPE2D_TABLE_BUFFER, false, 512, HEAD_DIM, 1, TOKENS - 1},
        {ROPE2D_F32, ROPE2D_BF16, ROPE2D_TABLE_TEXTURE, false, 36, HEAD_DIM + 4, 0, 1},
    };
    const VkAllocationCallbacks allocation = {
        .pfnAllocation = driver_allocate, .pfnReallocation = driver_reallocate, .pfnFree = driver_free};
    rope2d_device *device = NULL;
    are_apart = (flags & ROPE2D_DEVICE_MINIMUM_LIMITS) != 0;
    rope2d_vulkan_device_params params = adopting(own, host, &allocation, with_queue);
    params.flags = flags;
    if (with_queue) {
        check_bad_adoption(params);
        check_folder(&params);
    }
    const uint64_t before = locks;
    driver_allocations = 0;
    driver_frees = 0;
    expect(rope2d_vulkan_device_adopt(&params, &device), ROPE2D_OK, "adopt");
    tally_check(&counts, locks == before, "adoption submits");
    if (device == NULL)
        return;
    check_apply(device, with_queue);
    check_bad_bindings(own, device);
    check_rows(own, device, ROPE2D_TABLE_BUFFER);
    if (with_queue)
        check_rows(own, device, ROPE2D_TABLE_TEXTURE);
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (with_queue || layouts[i].table != ROPE2D_TABLE_TEXTURE)
            run_layout(own, device, &layouts[i]);
    rope2d_device_destroy(device);
    tally_check(&counts, driver_allocations == driver_frees, "%llu allocations of the driver, %llu freed",
                (unsigned long long)driver_allocations, (unsigned long long)driver_frees);
    tally_check(&counts, vkDeviceWaitIdle(own->device) == VK_SUCCESS, "the caller's device is gone");
}

static void check_device(owner *own, uint32_t index) {
    (void)index;
    const rope2d_host host = watch_host();
    run_device(own, &host, false, 0);
    run_device(own, &host, true, 0);
    run_device(own, &host, true, ROPE2D_DEVICE_MINIMUM_LIMITS);
}

int main(void) {
    return scene_run(NULL, check_device);
}

// SPDX-License-Identifier: MIT
//
// Device memory: the caller's, in two steps, with nothing allocated behind its back; and ours, of which small
// things share a little.
#include "vulkan_watch.h"

#include <string.h>

enum { SMALL_OFFSET = 2 * ROPE2D_VULKAN_SMALL_ALIGNMENT, MANY = 40 };

static uint64_t memory_allocations;

static VKAPI_ATTR VkResult VKAPI_CALL watch_vkAllocateMemory(VkDevice device,
                                                             const VkMemoryAllocateInfo *info,
                                                             const VkAllocationCallbacks *callbacks,
                                                             VkDeviceMemory *memory) {
    memory_allocations++;
    return vkAllocateMemory(device, info, callbacks, memory);
}

// ----------------------------------------------------------------------------------------------- the caller

static rope2d_device *adopt(const owner *own, const owner_buffer *small) {
    rope2d_host host = captured_host(&logged);
    rope2d_device *device = NULL;
    rope2d_vulkan_device_params params = scene_adopting(own, &host, false);
    params.get_instance_proc_addr = watch_loader;
    if (small != NULL) {
        params.small.buffer = small->handle;
        params.small.offset = SMALL_OFFSET;
        params.small.size = small->size - SMALL_OFFSET;
        params.small.mapped = small->mapped + SMALL_OFFSET;
    }
    expect(rope2d_vulkan_device_adopt(&params, &device), ROPE2D_OK, "adopt");
    if (small != NULL) {
        rope2d_device *none = NULL;
        params.small.offset++;
        expect(rope2d_vulkan_device_adopt(&params, &none), ROPE2D_ERROR_TENSOR_ALIGNMENT, "small.offset");
        params.small.offset--;
        params.small.mapped = NULL;
        expect(rope2d_vulkan_device_adopt(&params, &none), ROPE2D_ERROR_NULL, "small.mapped");
        params.small.mapped = small->mapped + SMALL_OFFSET;
        params.small.size = UINT64_MAX;
        expect(rope2d_vulkan_device_adopt(&params, &none), ROPE2D_ERROR_TENSOR_SIZE, "small.size");
        params.small.size = ROPE2D_VULKAN_SMALL_ALIGNMENT - 1;
        expect(rope2d_vulkan_device_adopt(&params, &none), ROPE2D_ERROR_LIMIT, "small.size");
        params.small.size = small->size - SMALL_OFFSET;
        params.small.buffer = VK_NULL_HANDLE;
        expect(rope2d_vulkan_device_adopt(&params, &none), ROPE2D_ERROR_NULL, "small.buffer");
    }
    return device;
}

static bool small_create(const owner *own, uint64_t dispatches, owner_buffer *small) {
    return owner_buffer_create_for(
        own, SMALL_OFFSET + ROPE2D_VULKAN_PLAN_BYTES + dispatches * ROPE2D_VULKAN_DISPATCH_BYTES,
        VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, small);
}

// Memory for prepared positions, each thing behind a gap.
typedef struct room {
    rope2d_vulkan_positions_needs needs;
    owner_buffer table;
    owner_buffer rows;
    owner_buffer staging;
    VkDeviceMemory image;
    rope2d_vulkan_positions_places places;
} room;

static bool make_place(const owner *own, const rope2d_vulkan_need *need, bool is_mapped, owner_buffer *buffer,
                       rope2d_vulkan_place *place) {
    if (!owner_buffer_create_for(own, need->alignment + need->size, need->usage, buffer))
        return false;
    const rope2d_vulkan_place made = {
        .buffer = buffer->handle,
        .offset = need->alignment,
        .size = need->size,
        .mapped = is_mapped ? buffer->mapped + need->alignment : NULL,
    };
    *place = made;
    return true;
}

static bool make_image_place(const owner *own, room *made) {
    const rope2d_vulkan_need *need = &made->needs.table;
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = need->alignment + need->size};
    while (!(need->memory_types & 1u << info.memoryTypeIndex))
        info.memoryTypeIndex++;
    made->places.table.offset = need->alignment;
    made->places.table.size = need->size;
    if (vkAllocateMemory(own->device, &info, NULL, &made->image) != VK_SUCCESS)
        return false;
    made->places.table.memory = made->image;
    return true;
}

static bool room_create(const owner *own, const rope2d_positions *positions, bool is_mapped, room *made) {
    memset(made, 0, sizeof(*made));
    made->needs.struct_size = sizeof(made->needs);
    made->places.struct_size = sizeof(made->places);
    expect(rope2d_vulkan_positions_get_needs(positions, &made->needs), ROPE2D_OK, "needs");
    const bool is_image = made->needs.table.usage == 0;
    bool is_good = make_place(own, &made->needs.rows, is_mapped, &made->rows, &made->places.rows);
    if (is_image)
        is_good = is_good && make_image_place(own, made);
    else
        is_good =
            is_good && make_place(own, &made->needs.table, is_mapped, &made->table, &made->places.table);
    if (is_image || !is_mapped)
        is_good =
            is_good && make_place(own, &made->needs.staging, true, &made->staging, &made->places.staging);
    return tally_check(&counts, is_good, "no memory for positions");
}

static void room_destroy(const owner *own, room *made) {
    owner_buffer_destroy(own, &made->table);
    owner_buffer_destroy(own, &made->rows);
    owner_buffer_destroy(own, &made->staging);
    vkFreeMemory(own->device, made->image, NULL);
}

// ------------------------------------------------------------------------------------------- in the caller's

static void check_bad_places(rope2d_positions *positions, const rope2d_vulkan_positions_places *good) {
    rope2d_vulkan_positions_places bad = *good;
    expect(rope2d_vulkan_positions_place(NULL, good), ROPE2D_ERROR_NULL, "positions");
    expect(rope2d_vulkan_positions_place(positions, NULL), ROPE2D_ERROR_NULL, "places");
    bad.struct_size--;
    expect(rope2d_vulkan_positions_place(positions, &bad), ROPE2D_ERROR_STRUCT_SIZE, "struct_size");
    bad = *good;
    bad.rows.offset += 4;
    expect(rope2d_vulkan_positions_place(positions, &bad), ROPE2D_ERROR_TENSOR_ALIGNMENT, "rows.offset");
    bad = *good;
    bad.table.size--;
    expect(rope2d_vulkan_positions_place(positions, &bad), ROPE2D_ERROR_TENSOR_SIZE, "table.size");
    bad = *good;
    bad.table.buffer = VK_NULL_HANDLE;
    bad.table.memory = VK_NULL_HANDLE;
    expect(rope2d_vulkan_positions_place(positions, &bad), ROPE2D_ERROR_NULL, "table");
    bad = *good;
    bad.rows.memory = (VkDeviceMemory)good->rows.buffer;
    expect(rope2d_vulkan_positions_place(positions, &bad), ROPE2D_ERROR_MISMATCH, "rows.memory");
    bad = *good;
    bad.rows.size = UINT64_MAX;
    expect(rope2d_vulkan_positions_place(positions, &bad), ROPE2D_ERROR_TENSOR_SIZE, "rows.size");
    if (good->staging.buffer == VK_NULL_HANDLE)
        return;
    bad = *good;
    bad.staging.mapped = NULL;
    expect(rope2d_vulkan_positions_place(positions, &bad), ROPE2D_ERROR_NULL, "staging.mapped");
    bad = *good;
    bad.staging.size--;
    expect(rope2d_vulkan_positions_place(positions, &bad), ROPE2D_ERROR_TENSOR_SIZE, "staging.size");
}

// What is not placed yet serves nobody.
static void check_unplaced(const scene *made, const rope2d_vulkan_binding_params *params,
                           VkCommandBuffer commands) {
    rope2d_vulkan_binding *binding = NULL;
    rope2d_vulkan_table table = {.struct_size = sizeof(table)};
    expect(rope2d_vulkan_binding_create(made->plan, made->positions, params, &binding),
           ROPE2D_ERROR_UNSUPPORTED, "binding of what is not placed");
    expect(rope2d_vulkan_positions_get_table(made->positions, &table), ROPE2D_ERROR_UNSUPPORTED,
           "table of what is not placed");
    expect(rope2d_vulkan_positions_record_upload(made->positions, commands), ROPE2D_ERROR_UNSUPPORTED,
           "upload of what is not placed");
}

// Uploads and rotates in one submission, and nothing is allocated from adoption to destruction.
static void run_given(const owner *own, const layout *l, bool is_mapped) {
    static unsigned char expected[2][BYTES];
    const rope2d_positions_params positions = positions_params(l->table);
    owner_buffer in = {0}, out = {0}, small = {0};
    room memory = {0};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    tally_check(&counts,
                small_create(own, 2, &small) && owner_buffer_create(own, BYTES, &in) &&
                    owner_buffer_create(own, BYTES, &out),
                "no memory for tensors");
    memory_allocations = 0;
    scene made = {.device = adopt(own, &small)};
    expect(make_plan(&made, l->in, l->out, l->table, 0), ROPE2D_OK, "plan");
    expect(rope2d_vulkan_positions_prepare(made.device, NULL, &made.positions), ROPE2D_ERROR_NULL, "params");
    tally_check(&counts, strstr(logged.text, "\nparams is NULL\n") != NULL, "%s", logged.text);
    expect(rope2d_vulkan_positions_prepare(made.device, &positions, &made.positions), ROPE2D_OK, "prepare");
    make_params(l, &in, &out, tensors, &params);
    fill(in.mapped, l->in);
    memset(out.mapped, GUARD, BYTES);
    memcpy(expected[0], in.mapped, BYTES);
    memcpy(expected[1], out.mapped, BYTES);
    run_cpu(l, expected[0], expected[1]);
    check_unplaced(&made, &params, own->commands);
    if (room_create(own, made.positions, is_mapped, &memory)) {
        check_bad_places(made.positions, &memory.places);
        expect(rope2d_vulkan_positions_place(made.positions, &memory.places), ROPE2D_OK, "place");
        expect(rope2d_vulkan_positions_place(made.positions, &memory.places), ROPE2D_ERROR_MISMATCH, "twice");
        expect(rope2d_vulkan_binding_create(made.plan, made.positions, &params, &binding), ROPE2D_OK,
               "binding");
        tally_check(&counts, owner_begin(own), "begin"); // what is never submitted
        expect(rope2d_vulkan_positions_record_upload(made.positions, own->commands), ROPE2D_OK, "upload");
        tally_check(&counts, vkEndCommandBuffer(own->commands) == VK_SUCCESS && owner_begin(own), "begin");
        expect(rope2d_vulkan_positions_record_upload(made.positions, own->commands), ROPE2D_OK, "upload");
        expect(rope2d_vulkan_record(binding, own->commands), ROPE2D_OK, "record");
        owner_barrier(own);
        tally_check(&counts, owner_run(own), "run");
        tally_check(&counts, memcmp(in.mapped, expected[0], BYTES) == 0, "inputs differ from the CPU's");
        tally_check(&counts, memcmp(out.mapped, expected[1], BYTES) == 0, "outputs differ from the CPU's");
    }
    rope2d_vulkan_binding_destroy(binding);
    clear_scene(&made);
    rope2d_device_destroy(made.device);
    tally_check(&counts, memory_allocations == 0, "%llu allocations of device memory",
                (unsigned long long)memory_allocations);
    room_destroy(own, &memory);
    owner_buffer_destroy(own, &in);
    owner_buffer_destroy(own, &out);
    owner_buffer_destroy(own, &small);
}

// A binding that finds no room fails, and takes what another gave back.
static void check_full(const owner *own) {
    enum { MOST = ROPE2D_VULKAN_PLAN_BYTES / ROPE2D_VULKAN_DISPATCH_BYTES + 1 }; // a plan may take less
    const layout l = {ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, true, 0, HEAD_DIM, 0, TOKENS};
    owner_buffer in = {0}, small = {0};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *bindings[MOST + 1] = {NULL};
    uint32_t count = 0;
    rope2d_status status = ROPE2D_OK;
    tally_check(&counts, small_create(own, 1, &small) && owner_buffer_create(own, BYTES, &in), "no memory");
    scene made = {.device = adopt(own, &small)};
    if (make_scene(&made, l.in, l.out, l.table, 0) == ROPE2D_OK) {
        make_params(&l, &in, &in, tensors, &params);
        params.tensor_count = 1;
        while (status == ROPE2D_OK && count <= MOST) {
            status = rope2d_vulkan_binding_create(made.plan, made.positions, &params, &bindings[count]);
            count += status == ROPE2D_OK;
        }
        expect(status, ROPE2D_ERROR_DEVICE_MEMORY, "a binding without room");
        if (tally_check(&counts, count > 0, "not even one binding")) {
            rope2d_vulkan_binding_destroy(bindings[0]);
            expect(rope2d_vulkan_binding_create(made.plan, made.positions, &params, &bindings[0]), ROPE2D_OK,
                   "a binding in another's room");
        }
    }
    for (uint32_t i = 0; i < count; i++)
        rope2d_vulkan_binding_destroy(bindings[i]);
    clear_scene(&made);
    rope2d_device_destroy(made.device);
    owner_buffer_destroy(own, &in);
    owner_buffer_destroy(own, &small);
}

// ------------------------------------------------------------------------------------------------- in ours

static void check_shared(const owner *own) {
    const layout l = {ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, true, 0, HEAD_DIM, 0, TOKENS};
    const rope2d_positions_params params = positions_params(l.table);
    owner_buffer in = {0};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params binding;
    rope2d_positions *positions[MANY] = {NULL};
    rope2d_vulkan_binding *bindings[MANY] = {NULL};
    const uint64_t before = memory_allocations;
    scene made = {.device = adopt(own, NULL)};
    tally_check(&counts, owner_buffer_create(own, BYTES, &in), "no memory for tensors");
    make_params(&l, &in, &in, tensors, &binding);
    expect(make_plan(&made, l.in, l.out, l.table, 0), ROPE2D_OK, "plan");
    for (int i = 0; i < MANY; i++) {
        expect(rope2d_positions_create(made.device, &params, &positions[i]), ROPE2D_OK, "positions");
        expect(rope2d_vulkan_binding_create(made.plan, positions[i], &binding, &bindings[i]), ROPE2D_OK,
               "binding");
    }
    tally_check(&counts, memory_allocations - before <= 2,
                "%llu allocations of device memory for %d positions",
                (unsigned long long)(memory_allocations - before), MANY);
    expect(rope2d_vulkan_positions_place(positions[0], NULL), ROPE2D_ERROR_NULL, "places");
    rope2d_vulkan_positions_needs needs = {.struct_size = sizeof(needs)};
    expect(rope2d_vulkan_positions_get_needs(positions[0], &needs), ROPE2D_ERROR_MISMATCH, "not prepared");
    for (int i = 0; i < MANY; i++) {
        rope2d_vulkan_binding_destroy(bindings[i]);
        rope2d_positions_destroy(positions[i]);
    }
    clear_scene(&made);
    rope2d_device_destroy(made.device);
    owner_buffer_destroy(own, &in);
}

static void run_device(owner *own, uint32_t index) {
    static const layout layouts[] = {
        {ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, true, 4, HEAD_DIM, 0, TOKENS},
        {ROPE2D_F16, ROPE2D_F32, ROPE2D_TABLE_TEXTURE, false, 512, HEAD_DIM, 1, TOKENS - 1},
    };
    (void)index;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        run_given(own, &layouts[i], true);
        run_given(own, &layouts[i], false);
    }
    check_full(own);
    check_shared(own);
}

int main(void) {
    static const watch_entry seen[] = {WATCHED(vkAllocateMemory), {NULL, NULL}};
    watch_entries = seen;
    return scene_run(NULL, run_device);
}

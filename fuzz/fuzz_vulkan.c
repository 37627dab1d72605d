// SPDX-License-Identifier: MIT
//
// rope2d_vulkan.h: adoption, positions in the caller's memory, bindings, recordings and retiring with structs
// that hold anything, on a driver that computes nothing; and rope2d.h's calls on the same device. Handles are
// the caller's to get right: they are NULL or sound.
#include "calls.h"
#include "memory.h"
#include "mock_vulkan.h"
#include "structs.h"
#include "target.h"

#include "rope2d/rope2d_vulkan.h"

#include <string.h>

enum { BUFFERS = 4, MOST_BINDINGS = 6 };

struct scene {
    struct reader *reader;
    rope2d_device *device;
    rope2d_plan *plan;
    rope2d_positions *positions;
    uint32_t head_dim;
    struct mock_object *buffers[BUFFERS];
};

static struct mock_object *buffer_of(struct scene *scene) {
    const uint32_t at = reader_below(scene->reader, BUFFERS + 1);
    return at < BUFFERS ? scene->buffers[at] : NULL;
}

static VkBuffer handle(const struct mock_object *buffer) {
    return MOCK_VK_HANDLE(VkBuffer, buffer);
}

// The size is at most the buffer's, as the header asks.
static rope2d_vulkan_view view(struct scene *scene, const rope2d_view *like) {
    const uint8_t kind = reader_byte(scene->reader);
    const struct mock_object *buffer = buffer_of(scene);
    rope2d_vulkan_view made;
    memset(&made, 0, sizeof made);
    made.buffer = handle(buffer);
    made.size = buffer ? (kind & 1 ? reader_number(scene->reader) % (buffer->size + 1) : buffer->size) : 0;
    made.offset = kind & 2 ? reader_number(scene->reader) * 2 : 0;
    made.batch_stride = kind & 4 ? (int64_t)reader_number(scene->reader) : like->batch_stride;
    made.token_stride = kind & 4 ? (int64_t)reader_number(scene->reader) : like->token_stride;
    made.head_stride = kind & 8 ? (int64_t)reader_number(scene->reader) : like->head_stride;
    return made;
}

static rope2d_vulkan_binding_params binding_params(struct scene *scene) {
    struct reader *reader = scene->reader;
    rope2d_vulkan_binding_params params;
    memset(&params, 0, sizeof params);
    params.struct_size = reader_struct_size(reader, sizeof params);
    params.batch = reader_one_in(reader, 8) ? (uint32_t)reader_number(reader) : 1;
    params.first_token = reader_one_in(reader, 8) ? reader_number(reader) : 0;
    params.tokens = reader_one_in(reader, 8) ? reader_number(reader) : reader_below(reader, 8) + 1;
    params.tensor_count =
        reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : reader_below(reader, 4) + 1;
    rope2d_vulkan_tensor *tensors = params.tensor_count <= ROPE2D_MAX_TENSORS
                                        ? reader_block_or_null(reader, params.tensor_count * sizeof *tensors)
                                        : NULL;
    for (uint32_t i = 0; tensors && i < params.tensor_count; i++) {
        memset(&tensors[i], 0, sizeof tensors[i]);
        tensors[i].heads =
            reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : reader_below(reader, 3);
        const rope2d_view like = rope2d_view_contiguous(NULL, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, params.batch,
                                                        params.tokens, tensors[i].heads, scene->head_dim);
        tensors[i].in = view(scene, &like);
        if (reader_byte(reader) & 1)
            tensors[i].out = view(scene, &like);
    }
    params.tensors = tensors;
    if (!reader_one_in(reader, 4))
        return params;
    const struct mock_object *rows = buffer_of(scene);
    params.rows = handle(rows);
    params.row_size =
        rows ? (reader_byte(reader) & 1 ? rows->size : reader_number(reader) % (rows->size + 1)) : 0;
    params.row_offset = reader_number(reader) * (reader_byte(reader) & 1 ? mock.alignment : 1);
    params.row_bound = (uint32_t)reader_number(reader);
    params.row_batch = (uint32_t)reader_number(reader);
    params.row_tokens = reader_number(reader);
    return params;
}

static void record(struct scene *scene, const rope2d_vulkan_binding *binding) {
    struct reader *reader = scene->reader;
    const rope2d_vulkan_range range = {reader_number(reader), reader_number(reader), reader_number(reader)};
    const VkCommandBuffer commands = reader_one_in(reader, 32) ? NULL : mock_vk_commands();
    const uint32_t count = rope2d_vulkan_binding_dispatches(binding);
    (void)rope2d_vulkan_record(binding, commands);
    (void)rope2d_vulkan_record_range(binding, commands, reader_byte(reader) & 1 ? &range : NULL);
    for (uint32_t i = 0; i < 3; i++) {
        rope2d_vulkan_dispatch dispatch = {.struct_size = reader_struct_size(reader, sizeof dispatch)};
        const uint32_t index = i < 2 ? i : (uint32_t)reader_number(reader);
        const rope2d_status status = rope2d_vulkan_binding_dispatch(
            binding, reader_byte(reader) & 1 ? &range : NULL, index, &dispatch);
        FUZZ_PROMISE(status != ROPE2D_OK ||
                     (index < count && dispatch.push_bytes <= sizeof dispatch.push_words));
    }
}

static void bind(struct scene *scene) {
    struct reader *reader = scene->reader;
    rope2d_vulkan_binding *binding = NULL;
    rope2d_vulkan_binding_params params = binding_params(scene);
    const rope2d_status status =
        rope2d_vulkan_binding_create(scene->plan, scene->positions, &params, &binding);
    FUZZ_PROMISE((status == ROPE2D_OK) == (binding != NULL));
    record(scene, binding);
    if (reader_byte(reader) & 1) {
        params = binding_params(scene);
        (void)rope2d_vulkan_binding_update(binding, &params);
        record(scene, binding);
    }
    if (reader_byte(reader) & 1)
        rope2d_vulkan_binding_destroy(binding);
    else
        rope2d_vulkan_binding_retire(binding, reader_number(reader));
    (void)rope2d_vulkan_device_passed(scene->device, reader_number(reader));
}

// ---------------------------------------------------------------------------------------------- positions

static rope2d_vulkan_place place(struct scene *scene, const rope2d_vulkan_need *need) {
    struct reader *reader = scene->reader;
    const uint8_t kind = reader_byte(reader);
    rope2d_vulkan_place made;
    memset(&made, 0, sizeof made);
    struct mock_object *buffer = kind < 32 ? NULL : scene->buffers[kind % BUFFERS];
    if (!buffer)
        return made;
    if (need->usage)
        made.buffer = handle(buffer);
    else
        made.memory = MOCK_VK_HANDLE(VkDeviceMemory, buffer->memory);
    made.offset = kind & 4 ? reader_number(reader) % (buffer->size + 1) : 0;
    made.size = buffer->size - made.offset;
    if (kind & 8)
        made.mapped = buffer->memory->bytes + made.offset;
    return made;
}

static void prepare(struct scene *scene, const rope2d_positions_params *params) {
    struct reader *reader = scene->reader;
    rope2d_vulkan_positions_needs needs;
    rope2d_vulkan_positions_places places;
    memset(&needs, 0, sizeof needs);
    memset(&places, 0, sizeof places);
    const rope2d_status status = rope2d_vulkan_positions_prepare(scene->device, params, &scene->positions);
    FUZZ_PROMISE((status == ROPE2D_OK) == (scene->positions != NULL));
    needs.struct_size = reader_struct_size(reader, sizeof needs);
    if (rope2d_vulkan_positions_get_needs(scene->positions, &needs) != ROPE2D_OK)
        return;
    places.struct_size = reader_struct_size(reader, sizeof places);
    for (unsigned i = 0; i < 2; i++) {
        places.table = place(scene, &needs.table);
        places.rows = place(scene, &needs.rows);
        places.staging = place(scene, &needs.staging);
        (void)rope2d_vulkan_positions_place(scene->positions, &places);
        (void)rope2d_vulkan_positions_record_upload(scene->positions, mock_vk_commands());
    }
}

static void make_parts(struct scene *scene) {
    struct reader *reader = scene->reader;
    for (size_t i = 0; i < BUFFERS; i++)
        scene->buffers[i] = mock_vk_buffer((reader_byte(reader) + 1) * 64u);
    const rope2d_spec spec = structs_spec(reader);
    const rope2d_positions_params where = structs_positions(reader, &spec, NULL);
    const rope2d_plan_params what = structs_plan(reader, &spec);
    rope2d_vulkan_table table = {.struct_size = reader_struct_size(reader, sizeof table)};
    scene->head_dim = spec.head_dim;
    if (reader_byte(reader) & 1)
        prepare(scene, &where);
    else
        (void)rope2d_positions_create(scene->device, &where, &scene->positions);
    (void)rope2d_plan_create(scene->device, &what, &scene->plan);
    (void)rope2d_vulkan_positions_get_table(scene->positions, &table);
}

static void leave(struct scene *scene) {
    if (reader_byte(scene->reader) & 1) {
        rope2d_vulkan_plan_retire(scene->plan, 1);
        rope2d_vulkan_positions_retire(scene->positions, 2);
    } else {
        rope2d_plan_destroy(scene->plan);
        rope2d_positions_destroy(scene->positions);
    }
}

// ------------------------------------------------------------------------------------------------ devices

static void lock(void *user, VkQueue queue) {
    FUZZ_PROMISE(queue == mock_vk_queue() && ++*(int *)user == 1);
}

static void unlock(void *user, VkQueue queue) {
    FUZZ_PROMISE(queue == mock_vk_queue() && --*(int *)user == 0);
}

static rope2d_device *adopt(struct reader *reader, const rope2d_host *host, int *locks,
                            struct mock_object *small) {
    const uint8_t kind = reader_byte(reader);
    rope2d_device *device = NULL;
    rope2d_vulkan_device_params params;
    memset(&params, 0, sizeof params);
    params.struct_size = reader_struct_size(reader, sizeof params);
    params.get_instance_proc_addr = reader_one_in(reader, 64) ? NULL : mock_vk_get_instance_proc_addr;
    params.instance = reader_one_in(reader, 64) ? NULL : mock_vk_instance();
    params.physical_device = reader_one_in(reader, 64) ? NULL : mock_vk_physical();
    params.device = reader_one_in(reader, 64) ? NULL : mock_vk_device();
    params.api_version = kind & 1                   ? VK_API_VERSION_1_1
                         : reader_one_in(reader, 8) ? (uint32_t)reader_number(reader)
                                                    : 0;
    params.flags = reader_one_in(reader, 8) ? (uint32_t)reader_number(reader) : 0;
    params.host = host;
    params.queue = kind & 2 ? mock_vk_queue() : NULL;
    params.queue_family = reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : 1;
    params.lock_queue = kind & 4 ? lock : NULL;
    params.unlock_queue = kind & 4 && !reader_one_in(reader, 16) ? unlock : NULL;
    params.queue_user = locks;
    params.has_push_descriptors = kind & 8 ? (uint32_t)reader_number(reader) : 0;
    params.has_shader_float16 = kind >> 5 & 1;
    if (kind & 16 && small) {
        params.small.buffer = handle(small);
        params.small.offset = reader_one_in(reader, 4) ? reader_number(reader) % small->size : 0;
        params.small.size = small->size - params.small.offset;
        params.small.mapped = reader_one_in(reader, 16) ? NULL : small->memory->bytes + params.small.offset;
    }
    params.dispatch_bytes = reader_one_in(reader, 4) ? reader_number(reader) : 0;
    const rope2d_status status = rope2d_vulkan_device_adopt(&params, &device);
    FUZZ_PROMISE((status == ROPE2D_OK) == (device != NULL));
    return device;
}

static void choose_driver(struct reader *reader, uint8_t kind, struct memory *memory) {
    const uint8_t more = reader_byte(reader);
    if (kind & 1)
        mock.fail_at = reader_number(reader);
    if (kind & 2)
        memory->fail_at = reader_number(reader);
    mock.has_textures = !(kind & 4);
    mock.is_unified = !(kind & 8);
    mock.is_coherent = !(kind & 16);
    mock.storage_buffers = more & 1 ? 4 : 4 + more % 16;
    mock.alignment = more & 2 ? 256 : 1u << (more / 4 % 8 + 2 > 8 ? 8 : more / 4 % 8 + 2);
    mock.group_size = more & 32 ? 128 : 1024;
    mock.buffer_range = kind & 32 ? 1u << (12 + reader_below(reader, 12)) : 1 << 24;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reader reader;
    struct memory memory = {0};
    int locks = 0;
    reader_begin(&reader, data, size);
    mock_check_devices();
    mock_begin();
    const rope2d_host host = memory_host(&memory);
    const uint8_t kind = reader_byte(&reader);
    choose_driver(&reader, kind, &memory);
    struct mock_object *small = mock_vk_buffer(reader_one_in(&reader, 4) ? 4096 : 1 << 17);
    struct scene scene = {.reader = &reader};
    scene.device = kind & 64 ? calls_device(&reader, ROPE2D_BACKEND_VULKAN, &host)
                             : adopt(&reader, &host, &locks, small);
    if (kind & 128) {
        calls_run(&reader, scene.device, &memory);
    } else if (scene.device) {
        make_parts(&scene);
        for (unsigned i = 0; i < MOST_BINDINGS && !reader_is_empty(&reader); i++)
            bind(&scene);
        leave(&scene);
    }
    rope2d_device_destroy(scene.device);
    for (size_t i = 0; i < BUFFERS; i++) {
        mock_vk_free(scene.buffers[i] ? scene.buffers[i]->memory : NULL);
        mock_vk_free(scene.buffers[i]);
    }
    mock_vk_free(small->memory);
    mock_vk_free(small);
    reader_end(&reader);
    FUZZ_PROMISE(locks == 0 && memory.live == 0 && mock.live == 0 && mock.bytes == 0);
    return 0;
}

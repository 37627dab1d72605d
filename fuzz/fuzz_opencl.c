// SPDX-License-Identifier: MIT
//
// rope2d_opencl.h: adoption, bindings and enqueues with structs that hold anything, on a driver that computes
// nothing; and rope2d.h's calls on the same device. Handles are the caller's to get right: they are NULL or
// sound, but may be of another context.
#include "calls.h"
#include "memory.h"
#include "mock_opencl.h"
#include "structs.h"
#include "target.h"

#include "rope2d/rope2d_opencl.h"

#include <string.h>

enum { BUFFERS = 4, MOST_BINDINGS = 6 };

struct scene {
    struct reader *reader;
    rope2d_device *device;
    rope2d_plan *plan;
    rope2d_positions *positions;
    uint32_t head_dim;
    cl_mem buffers[BUFFERS];
    uint64_t pointer_bytes;
    void *pointer; // 16-byte aligned
};

static cl_mem memory_of(struct scene *scene) {
    const uint32_t at = reader_below(scene->reader, BUFFERS + 1);
    return at < BUFFERS ? scene->buffers[at] : NULL;
}

static rope2d_opencl_view view(struct scene *scene, const rope2d_view *like) {
    const uint8_t kind = reader_byte(scene->reader);
    rope2d_opencl_view made;
    memset(&made, 0, sizeof made);
    made.offset = kind & 1 ? reader_number(scene->reader) * 2 : 0;
    made.batch_stride = kind & 2 ? (int64_t)reader_number(scene->reader) : like->batch_stride;
    made.token_stride = kind & 2 ? (int64_t)reader_number(scene->reader) : like->token_stride;
    made.head_stride = kind & 4 ? (int64_t)reader_number(scene->reader) : like->head_stride;
    made.memory = kind < 224 ? memory_of(scene) : NULL;
    if (kind >= 216) {
        made.pointer = (unsigned char *)scene->pointer + kind % 2 * 16;
        made.size = scene->pointer_bytes - kind % 2 * 16;
    }
    return made;
}

static rope2d_opencl_binding_params binding_params(struct scene *scene) {
    struct reader *reader = scene->reader;
    rope2d_opencl_binding_params params;
    memset(&params, 0, sizeof params);
    params.struct_size = reader_struct_size(reader, sizeof params);
    params.batch = reader_one_in(reader, 8) ? (uint32_t)reader_number(reader) : 1;
    params.tokens = reader_one_in(reader, 8) ? reader_number(reader) : reader_below(reader, 8) + 1;
    params.tensor_count =
        reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : reader_below(reader, 4) + 1;
    rope2d_opencl_tensor *tensors =
        params.tensor_count < 16 ? reader_block_or_null(reader, params.tensor_count * sizeof *tensors) : NULL;
    for (uint32_t i = 0; tensors && i < params.tensor_count; i++) {
        memset(&tensors[i], 0, sizeof tensors[i]);
        tensors[i].heads =
            reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : reader_below(reader, 3) + 1;
        const rope2d_view like = rope2d_view_contiguous(NULL, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, params.batch,
                                                        params.tokens, tensors[i].heads, scene->head_dim);
        tensors[i].in = view(scene, &like);
        if (reader_byte(reader) & 1)
            tensors[i].out = view(scene, &like);
    }
    params.tensors = tensors;
    if (!tensors && params.tensor_count >= 16)
        params.tensor_count = 16;
    if (!reader_one_in(reader, 4))
        return params;
    params.rows = memory_of(scene);
    params.row_bound = (uint32_t)reader_number(reader);
    params.row_batch = (uint32_t)reader_number(reader);
    params.row_tokens = reader_number(reader);
    return params;
}

static void bind(struct scene *scene) {
    struct reader *reader = scene->reader;
    rope2d_opencl_binding *binding = NULL;
    const rope2d_opencl_binding_params params = binding_params(scene);
    const rope2d_status status =
        rope2d_opencl_binding_create(scene->plan, scene->positions, &params, &binding);
    FUZZ_PROMISE((status == ROPE2D_OK) == (binding != NULL));
    for (unsigned i = 0; i < 3 && binding; i++) {
        rope2d_opencl_dispatch dispatch = {.struct_size = reader_struct_size(reader, sizeof dispatch)};
        const uint64_t first = reader_number(reader), tokens = i == 0 ? params.tokens : reader_number(reader);
        (void)rope2d_opencl_binding_dispatch(binding, first, tokens, &dispatch);
        cl_event event = NULL, events[2] = {(cl_event)(void *)scene,
                                            reader_byte(reader) & 1 ? (cl_event)(void *)scene : NULL};
        (void)rope2d_opencl_enqueue(binding, reader_one_in(reader, 16) ? NULL : mock_cl_queue(false), first,
                                    tokens, reader_below(reader, 3), reader_byte(reader) & 1 ? events : NULL,
                                    &event);
        mock_cl_event_end(event);
    }
    rope2d_opencl_binding_destroy(binding);
}

static void make_parts(struct scene *scene) {
    struct reader *reader = scene->reader;
    const rope2d_spec spec = structs_spec(reader);
    const rope2d_positions_params where = structs_positions(reader, &spec, NULL);
    const rope2d_plan_params what = structs_plan(reader, &spec);
    rope2d_opencl_table table = {.struct_size = reader_struct_size(reader, sizeof table)};
    scene->head_dim = spec.head_dim;
    (void)rope2d_positions_create(scene->device, &where, &scene->positions);
    (void)rope2d_plan_create(scene->device, &what, &scene->plan);
    (void)rope2d_opencl_positions_get_table(scene->positions, &table);
    for (size_t i = 0; i < BUFFERS; i++) {
        static const cl_mem_flags flags[] = {CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY,
                                             CL_MEM_READ_WRITE};
        const size_t size = (reader_byte(reader) + 1) * 64u;
        if (i == 3)
            scene->buffers[i] = mock_cl_part(scene->buffers[0], reader_number(reader) * 4, size / 2);
        else
            scene->buffers[i] = mock_cl_buffer(mock_cl_context(reader_one_in(reader, 16)),
                                               flags[reader_one_in(reader, 8) ? i : 0], size);
    }
}

static void leave(struct scene *scene) {
    rope2d_plan_destroy(scene->plan);
    rope2d_positions_destroy(scene->positions);
    for (size_t i = 0; i < BUFFERS; i++)
        mock_cl_release(scene->buffers[i]);
}

static rope2d_device *adopt(struct reader *reader, const rope2d_host *host) {
    rope2d_device *device = NULL;
    rope2d_opencl_device_params params;
    memset(&params, 0, sizeof params);
    params.struct_size = reader_struct_size(reader, sizeof params);
    params.context = reader_one_in(reader, 32) ? NULL : mock_cl_context(false);
    params.device = reader_one_in(reader, 32) ? NULL : mock_cl_device();
    params.flags = reader_one_in(reader, 8) ? (uint32_t)reader_number(reader) : 0;
    params.host = host;
    params.queue = reader_one_in(reader, 2) ? mock_cl_queue(reader_one_in(reader, 8)) : NULL;
    params.dispatch_bytes = reader_one_in(reader, 4) ? reader_number(reader) : 0;
    const rope2d_status status = rope2d_opencl_device_adopt(&params, &device);
    FUZZ_PROMISE((status == ROPE2D_OK) == (device != NULL));
    return device;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reader reader;
    struct memory memory = {0};
    reader_begin(&reader, data, size);
    mock_check_devices();
    mock_begin();
    const rope2d_host host = memory_host(&memory);
    const uint8_t kind = reader_byte(&reader);
    if (kind & 1)
        mock.fail_at = reader_number(&reader);
    if (kind & 2)
        memory.fail_at = reader_number(&reader);
    mock.has_textures = !(kind & 4);
    mock.is_unified = !(kind & 8);
    mock.group_size = kind & 16 ? 1u << reader_below(&reader, 11) : 256;
    mock.buffer_range = kind & 32 ? 1u << (6 + reader_below(&reader, 18)) : 1 << 24;
    struct scene scene = {.reader = &reader};
    scene.device = kind & 64 ? calls_device(&reader, ROPE2D_BACKEND_OPENCL, &host) : adopt(&reader, &host);
    scene.pointer_bytes = 4096;
    scene.pointer = aligned_alloc(16, scene.pointer_bytes);
    if (kind & 128) {
        calls_run(&reader, scene.device, &memory);
    } else if (scene.device) {
        make_parts(&scene);
        for (unsigned i = 0; i < MOST_BINDINGS && !reader_is_empty(&reader); i++)
            bind(&scene);
    }
    leave(&scene);
    rope2d_device_destroy(scene.device);
    free(scene.pointer);
    reader_end(&reader);
    FUZZ_PROMISE(memory.live == 0 && mock.live == 0 && mock.bytes == 0);
    return 0;
}

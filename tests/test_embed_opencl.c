// SPDX-License-Identifier: MIT
//
// rope2d_opencl.h as a program that owns OpenCL uses it, on every OpenCL device of this machine: the bits are
// the CPU's, an enqueue takes no memory of ours, and what was adopted is left as it was.
#include "opencl_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------ one case

typedef struct example {
    rope2d_element type;
    rope2d_table table;
    bool odd; // begins at an odd element
    bool in_place;
    bool sub;     // in is a sub-buffer
    bool ordered; // queue
} example;

static objects make(program *own, rope2d_device *device, const example *what) {
    return program_make(own, device, what->type, device == own->cpu ? ROPE2D_TABLE_AUTO : what->table);
}

static rope2d_tensor host_tensor(const example *what, void *base, uint64_t bytes) {
    rope2d_tensor tensor = {.heads = HEADS};
    tensor.in = rope2d_view_contiguous(base, what->type, ROPE2D_LAYOUT_BNHD, BATCH, TOKENS, HEADS, DIM);
    tensor.in.size = bytes;
    tensor.in.offset = (what->odd ? LEAD : 0) * (uint64_t)rope2d_element_size(what->type);
    return tensor;
}

static rope2d_opencl_view device_view(const rope2d_view *view, cl_mem memory) {
    return (rope2d_opencl_view){.memory = memory,
                                .offset = view->offset,
                                .batch_stride = view->batch_stride,
                                .token_stride = view->token_stride,
                                .head_stride = view->head_stride};
}

// Tokens 0 to 20 with the positions from token 5 on, as rope2d_apply does on the CPU; the bytes beside them
// stay.
static void compare(program *own, const example *what) {
    enum { FIRST = 5, COUNT = 20 };
    static unsigned char input[4 * (ELEMENTS + 2 * LEAD)], expected[sizeof(input)], found[sizeof(input)];
    const enum counter_type types[] = {COUNTER_F32, COUNTER_F16, COUNTER_BF16};
    const size_t bytes = rope2d_element_size(what->type) * (size_t)(ELEMENTS + 2 * LEAD);
    const cl_buffer_region half = {4096, bytes};
    objects mine, reference;
    counter_fill(input, types[what->type], COUNTER_UNIFORM, 7, 1, 0, ELEMENTS + 2 * LEAD);
    mine = make(own, own->device, what);
    reference = make(own, own->cpu, what);
    rope2d_tensor tensor = host_tensor(what, input, bytes);
    memset(expected, 0xa5, bytes);
    if (what->in_place)
        memcpy(expected, input, bytes);
    rope2d_tensor on_cpu = tensor;
    on_cpu.out = tensor.in;
    on_cpu.out.base = expected;
    rope2d_apply_params apply = {.struct_size = sizeof(apply),
                                 .batch = BATCH,
                                 .first_token = FIRST,
                                 .tokens = COUNT,
                                 .tensor_count = 1};
    apply.tensors = &on_cpu;
    IS(ROPE2D_OK, rope2d_apply(reference.plan, reference.positions, &apply));

    cl_command_queue queue = what->ordered ? own->ordered : own->unordered;
    cl_mem parent = clCreateBuffer(own->context, CL_MEM_READ_WRITE, bytes + 4096, NULL, NULL);
    cl_mem in = what->sub ? clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, NULL) : parent;
    cl_mem out = clCreateBuffer(own->context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    rope2d_opencl_tensor bound = {.heads = HEADS, .in = device_view(&tensor.in, in)};
    if (!what->in_place)
        bound.out = device_view(&tensor.in, out);
    rope2d_opencl_binding_params params = {.struct_size = sizeof(params),
                                           .batch = BATCH,
                                           .tokens = TOKENS,
                                           .tensor_count = 1,
                                           .tensors = &bound};
    rope2d_opencl_binding *binding = NULL;
    IS(ROPE2D_OK, rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));

    cl_event events[3] = {NULL, NULL, NULL}, rotated = NULL;
    memset(found, 0xa5, bytes);
    clEnqueueWriteBuffer(queue, in, CL_FALSE, 0, bytes, input, 0, NULL, &events[0]);
    clEnqueueWriteBuffer(queue, out, CL_FALSE, 0, bytes, found, 0, NULL, &events[1]);
    const long before = allocations;
    IS(ROPE2D_OK, rope2d_opencl_enqueue(binding, queue, FIRST, COUNT, 2, events, &rotated));
    CHECK(allocations == before);
    if (CHECK(rotated))
        clEnqueueReadBuffer(queue, what->in_place ? in : out, CL_TRUE, 0, bytes, found, 1, &rotated, NULL);
    CHECK(memcmp(found, expected, bytes) == 0);
    for (int i = 0; i < 2; i++)
        clReleaseEvent(events[i]);
    if (rotated)
        clReleaseEvent(rotated);
    rope2d_opencl_binding_destroy(binding);
    clReleaseMemObject(out);
    if (what->sub)
        clReleaseMemObject(in);
    clReleaseMemObject(parent);
    program_unmake(&mine);
    program_unmake(&reference);
}

static void compare_all(program *own, bool textures) {
    for (unsigned i = 0; i < 12; i++) {
        example what = {(rope2d_element)(i % 3),
                        i % 2 ? ROPE2D_TABLE_TEXTURE : ROPE2D_TABLE_BUFFER,
                        i % 4 == 1,
                        i / 3 % 2 == 1,
                        i % 5 == 2,
                        i / 6 == 0};
        if ((what.table == ROPE2D_TABLE_TEXTURE && !textures) || (!what.ordered && !own->unordered))
            counts.skipped++;
        else
            compare(own, &what);
    }
}

// ---------------------------------------------------------------------------- rows, refusals, dispatches

// Rows of the caller's: those past the bound are clamped to its last, negative ones do not rotate.
static void check_rows(program *own, const objects *mine, const rope2d_opencl_binding_params *given,
                       cl_mem memory) {
    static float found[ELEMENTS], input[ELEMENTS];
    static int32_t rows[TOKENS][2];
    rope2d_opencl_binding_params params = *given;
    rope2d_opencl_binding *binding = NULL;
    const float *table = rope2d_positions_host_table(mine->positions);
    for (int t = 0; t < TOKENS; t++)
        rows[t][0] = rows[t][1] = t == 0 ? -1 : t == 1 ? INT32_MAX : 2;
    for (int i = 0; i < ELEMENTS; i++)
        input[i] = 1.0f;
    params.rows = clCreateBuffer(own->context, CL_MEM_COPY_HOST_PTR, sizeof(rows), rows, NULL);
    params.row_tokens = TOKENS;
    params.row_bound = 4;
    IS(ROPE2D_OK, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    clEnqueueWriteBuffer(own->ordered, memory, CL_TRUE, 0, sizeof(input), input, 0, NULL, NULL);
    IS(ROPE2D_OK, rope2d_opencl_enqueue(binding, own->ordered, 0, TOKENS, 0, NULL, NULL));
    clEnqueueReadBuffer(own->ordered, memory, CL_TRUE, 0, sizeof(found), found, 0, NULL, NULL);
    CHECK(found[0] == 1.0f);
    for (int t = 1; t < 3; t++) { // pair 0: cos - sin of the row
        const float *entry = table + 2 * (size_t)PAIRS * (t == 1 ? 3 : 2);
        CHECK(found[(size_t)t * HEADS * DIM] == entry[0] - entry[1]);
    }
    rope2d_opencl_binding_destroy(binding);
    params.row_tokens = TOKENS + 1;
    IS(ROPE2D_ERROR_TENSOR_SIZE,
       rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    CHECK(strstr(own->log.text, "the size of params.rows is 280; 72 row numbers need 288"));
    params.row_tokens = 0;
    IS(ROPE2D_ERROR_LIMIT, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    CHECK(
        strstr(own->log.text, "params.row_tokens is 0 for a row_batch of 1 and 2 row numbers each: from 1"));
    params.row_tokens = TOKENS / 3;
    params.row_batch = 3;
    IS(ROPE2D_ERROR_BATCH, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    CHECK(strstr(own->log.text, "params.batch is 2; params.row_batch is 3"));
    params.row_batch = 0;
    params.row_tokens = TOKENS;
    params.row_bound = TOKENS + 1;
    IS(ROPE2D_ERROR_ROW, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    CHECK(strstr(own->log.text, "params.row_bound is "));
    clReleaseMemObject(params.rows);
    params.rows = NULL;
    IS(ROPE2D_ERROR_ROW, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    CHECK(strstr(own->log.text, "params.rows is NULL"));
}

// Row numbers beside the output in one buffer, and in it: by its own name, and as a part of the buffer.
static void check_rows_in_output(program *own, const objects *mine, rope2d_opencl_binding_params params,
                                 cl_mem memory) {
    const cl_buffer_region parts[2] = {{8192, 4096}, {4096, 4096}};
    rope2d_opencl_binding *binding = NULL;
    rope2d_opencl_tensor tensor = params.tensors[0];
    params.tensors = &tensor;
    params.batch = 1;
    params.tokens = 8;
    params.row_tokens = 8;
    tensor.in = tensor.out = (rope2d_opencl_view){
        .memory = memory, .offset = 4096, .token_stride = HEADS * DIM, .head_stride = DIM};
    CHECK(4096 + params.tokens * HEADS * DIM * sizeof(float) <= 8192);
    for (int i = 0; i < 2; i++) {
        params.rows = clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &parts[i], NULL);
        IS(i == 0 ? ROPE2D_OK : ROPE2D_ERROR_OVERLAP,
           rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
        rope2d_opencl_binding_destroy(binding);
        clReleaseMemObject(params.rows);
    }
    params.rows = memory;
    IS(ROPE2D_OK, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    rope2d_opencl_binding_destroy(binding);
    tensor.in.offset = tensor.out.offset = 8 * 2 * sizeof(int32_t) - sizeof(float);
    IS(ROPE2D_ERROR_OVERLAP, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    CHECK(strstr(own->log.text, "params.rows, 64 bytes"));
}

static void check_waits(program *own, rope2d_opencl_binding *binding) {
    const cl_event none = NULL;
    IS(ROPE2D_ERROR_NULL, rope2d_opencl_enqueue(binding, own->ordered, 0, 1, 1, NULL, NULL));
    IS(ROPE2D_ERROR_NULL, rope2d_opencl_enqueue(binding, own->ordered, 0, 1, 0, &none, NULL));
    IS(ROPE2D_ERROR_NULL, rope2d_opencl_enqueue(binding, own->ordered, 0, 1, 1, &none, NULL));
}

// A queue of another context: the message says so where the driver does.
static void check_foreign_queue(program *own, rope2d_opencl_binding *binding) {
    cl_context other = clCreateContext(NULL, 1, &own->id, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(other, own->id, 0, NULL);
    IS(ROPE2D_ERROR_MISMATCH, rope2d_opencl_enqueue(binding, queue, 0, 1, 0, NULL, NULL));
    CHECK(strstr(own->log.text, "queue is of another context than the device"));
    clReleaseCommandQueue(queue);
    clReleaseContext(other);
}

static void check_refusals(program *own, const objects *mine, rope2d_opencl_binding_params params,
                           cl_mem memory) {
    const cl_buffer_region regions[2] = {{0, 8192}, {4096, 8192}};
    rope2d_opencl_binding *binding = NULL;
    rope2d_opencl_tensor tensor = params.tensors[0];
    params.tensors = &tensor;
    tensor.in.offset = 4;
    IS(ROPE2D_ERROR_TENSOR_SIZE,
       rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    tensor.in.offset = 2;
    params.tokens = TOKENS - 1;
    IS(ROPE2D_ERROR_TENSOR_ALIGNMENT,
       rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    params.batch = 1;
    params.tokens = 4;
    tensor.in = tensor.out = (rope2d_opencl_view){.token_stride = HEADS * DIM, .head_stride = DIM};
    tensor.in.memory = clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &regions[0], NULL);
    tensor.out.memory = clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &regions[1], NULL);
    IS(ROPE2D_OK, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    IS(ROPE2D_ERROR_TOKENS, rope2d_opencl_enqueue(binding, own->ordered, 0, 5, 0, NULL, NULL));
    IS(ROPE2D_ERROR_TOKENS, rope2d_opencl_enqueue(binding, own->ordered, TOKENS - 3, 4, 0, NULL, NULL));
    IS(ROPE2D_ERROR_NULL, rope2d_opencl_enqueue(binding, NULL, 0, 4, 0, NULL, NULL));
    check_waits(own, binding);
    check_foreign_queue(own, binding);
    rope2d_opencl_dispatch dispatch = {.struct_size = sizeof(dispatch)};
    IS(ROPE2D_OK, rope2d_opencl_binding_dispatch(binding, 0, 4, &dispatch));
    CHECK(dispatch.kernel && dispatch.local_size > 0 && dispatch.global_size % dispatch.local_size == 0);
    rope2d_opencl_binding_destroy(binding);
    params.tokens = 10; // 4,800 bytes: the two now meet
    IS(ROPE2D_ERROR_OVERLAP, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    params.tensor_count = ROPE2D_OPENCL_MAX_TENSORS + 1;
    IS(ROPE2D_ERROR_LIMIT, rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
    CHECK(binding == NULL);
    clReleaseMemObject(tensor.in.memory);
    clReleaseMemObject(tensor.out.memory);
}

// Memory that the device's kernels cannot use: read only, write only, an image, another context's.
static void check_foreign(program *own, const objects *mine, rope2d_opencl_binding_params params) {
    enum { BYTES = ELEMENTS * sizeof(float) };
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 64, .image_height = 64};
    rope2d_opencl_binding *binding = NULL;
    rope2d_opencl_tensor tensor = params.tensors[0];
    cl_context other = clCreateContext(NULL, 1, &own->id, NULL, NULL, NULL);
    cl_mem memory[4] = {clCreateBuffer(own->context, CL_MEM_READ_ONLY, BYTES, NULL, NULL),
                        clCreateBuffer(own->context, CL_MEM_WRITE_ONLY, BYTES, NULL, NULL),
                        clCreateBuffer(other, CL_MEM_READ_WRITE, BYTES, NULL, NULL),
                        clCreateImage(own->context, CL_MEM_READ_WRITE, &format, &shape, NULL, NULL)};
    params.tensors = &tensor;
    for (int i = 0; i < 4; i++) {
        if (!memory[i]) // not every device has images
            continue;
        tensor.in.memory = memory[i];
        IS(ROPE2D_ERROR_MISMATCH,
           rope2d_opencl_binding_create(mine->plan, mine->positions, &params, &binding));
        CHECK(strstr(own->log.text, "tensors[0].in.memory"));
        clReleaseMemObject(memory[i]);
    }
    clReleaseContext(other);
}

static void check_binding(program *own) {
    const example what = {.type = ROPE2D_F32, .table = ROPE2D_TABLE_BUFFER};
    objects mine;
    mine = make(own, own->device, &what);
    cl_mem memory = clCreateBuffer(own->context, CL_MEM_READ_WRITE, ELEMENTS * sizeof(float), NULL, NULL);
    rope2d_tensor host = host_tensor(&what, NULL, 0);
    rope2d_opencl_tensor tensor = {.heads = HEADS, .in = device_view(&host.in, memory)};
    rope2d_opencl_binding_params params = {.struct_size = sizeof(params),
                                           .batch = BATCH,
                                           .tokens = TOKENS,
                                           .tensor_count = 1,
                                           .tensors = &tensor};
    check_rows(own, &mine, &params, memory);
    check_rows_in_output(own, &mine, params, memory);
    check_refusals(own, &mine, params, memory);
    check_foreign(own, &mine, params);
    clReleaseMemObject(memory);
    program_unmake(&mine);
}

// --------------------------------------------------------------------------------------------------- devices

static void check_without_queue(program *own, const rope2d_opencl_device_params *params) {
    const example what = {.type = ROPE2D_F32};
    rope2d_device_info info = {.struct_size = sizeof(info)};
    rope2d_plan_info plan = {.struct_size = sizeof(plan)};
    rope2d_apply_params apply = {.struct_size = sizeof(apply)};
    objects mine;
    IS(ROPE2D_OK, rope2d_opencl_device_adopt(params, &own->device));
    if (!own->device)
        return;
    rope2d_device_get_info(own->device, &info);
    mine = make(own, own->device, &what);
    CHECK(rope2d_plan_get_info(mine.plan, &plan) == ROPE2D_OK && plan.exactness == ROPE2D_UNTESTED);
    IS(ROPE2D_ERROR_UNSUPPORTED, rope2d_apply(mine.plan, mine.positions, &apply));
    program_unmake(&mine);
    compare_all(own, info.has_textures != 0);
    check_binding(own);
    rope2d_device_destroy(own->device);
}

static void check_with_queue(program *own, rope2d_opencl_device_params params) {
    const example what = {.type = ROPE2D_F16};
    rope2d_plan_info plan = {.struct_size = sizeof(plan)};
    objects mine;
    if (own->unordered) {
        params.queue = own->unordered;
        IS(ROPE2D_ERROR_UNSUPPORTED, rope2d_opencl_device_adopt(&params, &own->device));
    }
    params.queue = own->ordered;
    IS(ROPE2D_OK, rope2d_opencl_device_adopt(&params, &own->device));
    if (!own->device)
        return;
    mine = make(own, own->device, &what);
    CHECK(rope2d_plan_get_info(mine.plan, &plan) == ROPE2D_OK && plan.exactness == ROPE2D_EXACT);
    program_unmake(&mine);
    rope2d_device_destroy(own->device);
}

static void check_device(cl_device_id id) {
    static program made_here;
    program *own = &made_here;
    if (!program_start(own, id))
        return;
    rope2d_opencl_device_params params = {
        .struct_size = sizeof(params), .context = own->context, .device = id, .host = &own->host};
    const cl_uint before = program_references(own);
    check_without_queue(own, &params);
    check_with_queue(own, params);
    CHECK(program_references_settle(own, before));
    params.context = NULL;
    IS(ROPE2D_ERROR_NULL, rope2d_opencl_device_adopt(&params, &own->device));
    printf("%s: %u references left\n", own->name, (unsigned)program_references(own));
    program_stop(own);
}

int main(void) {
    return program_each(check_device);
}

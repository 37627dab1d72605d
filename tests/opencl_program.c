// SPDX-License-Identifier: MIT
#include "opencl_program.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

tally counts;
long allocations;

static void *count_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    allocations++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    free(memory);
}

cl_uint program_references(const program *own) {
    cl_uint context = 0, queue = 0;
    clGetContextInfo(own->context, CL_CONTEXT_REFERENCE_COUNT, sizeof(context), &context, NULL);
    clGetCommandQueueInfo(own->ordered, CL_QUEUE_REFERENCE_COUNT, sizeof(queue), &queue, NULL);
    return 1000 * queue + context;
}

bool program_references_settle(const program *own, cl_uint wanted) {
    for (int tenths = 0; tenths < 300 && program_references(own) != wanted; tenths++) {
        const struct timespec tenth = {0, 100000000};
        clFinish(own->ordered);
        nanosleep(&tenth, NULL);
    }
    return program_references(own) == wanted;
}

bool program_start(program *own, cl_device_id id) {
    cl_command_queue_properties able = 0;
    memset(own, 0, sizeof(*own));
    own->id = id;
    own->host = captured_host(&own->log);
    own->host.allocate = count_allocate;
    own->host.release = count_release;
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof(own->name) - 1, own->name, NULL);
    clGetDeviceInfo(id, CL_DEVICE_QUEUE_PROPERTIES, sizeof(able), &able, NULL);
    own->context = clCreateContext(NULL, 1, &id, NULL, NULL, NULL);
    own->ordered = clCreateCommandQueue(own->context, id, 0, NULL);
    if (able & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        own->unordered = clCreateCommandQueue(own->context, id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    for (int i = 0; i < PAIRS; i++)
        own->freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (int t = 0; t < TOKENS; t++) {
        own->yx[t][0] = (float)(t / 7);
        own->yx[t][1] = (float)(t % 7);
    }
    own->spec = (rope2d_spec){
        .struct_size = sizeof(own->spec),
        .head_dim = DIM,
        .rotary_dim = 2 * PAIRS,
        .axes = 2,
        .pairing = ROPE2D_PAIRING_HALF,
        .freqs = &own->freqs[0][0],
    };
    rope2d_device_params cpu = {.struct_size = sizeof(cpu), .host = &own->host};
    IS(ROPE2D_OK, rope2d_device_create(&cpu, &own->cpu));
    return CHECK(own->context && own->ordered && own->cpu);
}

void program_stop(program *own) {
    rope2d_device_destroy(own->cpu);
    if (own->unordered)
        clReleaseCommandQueue(own->unordered);
    clReleaseCommandQueue(own->ordered);
    clReleaseContext(own->context);
}

enum { MOST_PLATFORMS = 8, MOST_DEVICES = 16 };

int program_each(void (*check)(cl_device_id id)) {
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_device_id ids[MOST_DEVICES];
    cl_uint platform_count = 0, count = 0;
    if (clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != CL_SUCCESS)
        platform_count = 0;
    for (cl_uint p = 0; p < platform_count && p < MOST_PLATFORMS; p++) {
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &count) != CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < count && i < MOST_DEVICES; i++)
            check(ids[i]);
    }
    if (counts.passed + counts.failed == 0)
        counts.skipped++;
    return tally_finish(&counts);
}

objects program_make(program *own, rope2d_device *device, rope2d_element type, rope2d_table table) {
    const rope2d_plan_params plan = {
        .struct_size = sizeof(plan), .spec = &own->spec, .in = type, .out = type, .table = table};
    const rope2d_positions_params positions = {.struct_size = sizeof(positions),
                                               .spec = &own->spec,
                                               .table = table,
                                               .tokens = TOKENS,
                                               .coordinates = &own->yx[0][0]};
    objects made = {NULL, NULL};
    IS(ROPE2D_OK, rope2d_plan_create(device, &plan, &made.plan));
    IS(ROPE2D_OK, rope2d_positions_create(device, &positions, &made.positions));
    return made;
}

void program_unmake(objects *made) {
    rope2d_plan_destroy(made->plan);
    rope2d_positions_destroy(made->positions);
    memset(made, 0, sizeof(*made));
}

void program_rotate_on_cpu(program *own, rope2d_element type, void *values) {
    objects made = program_make(own, own->cpu, type, ROPE2D_TABLE_AUTO);
    const rope2d_tensor tensor = {
        .heads = HEADS,
        .in = rope2d_view_contiguous(values, type, ROPE2D_LAYOUT_BNHD, BATCH, TOKENS, HEADS, DIM)};
    const rope2d_apply_params apply = {.struct_size = sizeof(apply),
                                       .batch = BATCH,
                                       .tokens = TOKENS,
                                       .tensor_count = 1,
                                       .tensors = &tensor};
    IS(ROPE2D_OK, rope2d_apply(made.plan, made.positions, &apply));
    program_unmake(&made);
}

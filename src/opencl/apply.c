// SPDX-License-Identifier: MIT
#include "opencl.h"

#include <string.h>

#define STAGING_BYTES  ((uint64_t)256 << 20) // of all tensors of a piece
#define SMALL_BYTES    ((uint64_t)256 << 10) // of a tensor
#define TILE_TOKENS    16                    // of a work-item that has tokens whole
#define MEMORY_DIVISOR 4                     // of the device's memory that one apply may take

// ------------------------------------------------------------------------------------ what one apply has

typedef struct apply_state {
    const rope2d_cl_device *device;
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    const rope2d_cl_plan *programs;
    cl_kernel kernels[2]; // single, vector; made at the first use
    rope2d_cl_staging in[R_MAX_DISPATCH_TENSORS];
    rope2d_cl_staging out[R_MAX_DISPATCH_TENSORS]; // nothing where a tensor is rotated in place
} apply_state;

static void state_destroy(apply_state *state) {
    const rope2d_cl_device *device = state->device;
    for (int i = 0; i < 2; i++) {
        if (state->kernels[i])
            device->cl.ReleaseKernel(state->kernels[i]);
    }
    for (int i = 0; i < R_MAX_DISPATCH_TENSORS; i++) {
        rope2d_cl_staging_destroy(device, &state->in[i]);
        rope2d_cl_staging_destroy(device, &state->out[i]);
    }
    // Nothing of this apply is left in the queue, and its memory is the device's again.
    device->cl.Finish(device->queue);
}

uint32_t rope2d_cl_group_size(const rope2d_plan *plan, bool vector) {
    const rope2d_cl_plan *programs = plan->impl;
    return (uint32_t)(vector ? programs->vector.group_size : programs->single.group_size);
}

rope2d_stage_limits rope2d_cl_limits(const rope2d_plan *plan) {
    const rope2d_device_info *info = &plan->device->info;
    rope2d_stage_limits limits = {
        .buffer_bytes = info->max_buffer_range < SIZE_MAX ? info->max_buffer_range : SIZE_MAX,
        .slots = plan->tensors_per_dispatch,
        .group_size = rope2d_cl_group_size(plan, false),
        .vector_group = rope2d_cl_group_size(plan, true),
        .tile_tokens = ((const rope2d_cl_plan *)plan->impl)->takes_tokens ? TILE_TOKENS : 0,
        .offset_alignment = 16,
    };
    limits.keeps_order = rope2d_cl_keeps_order(plan->device);
    limits.token_slots = limits.keeps_order ? 2 : 0;
    if (limits.keeps_order && limits.vector_group < R_LANES_TOGETHER)
        limits.vector_group = 0;
    // OpenCL has no limit; kernels count in 32 bits.
    const uint32_t size = limits.group_size > limits.vector_group ? limits.group_size : limits.vector_group;
    limits.max_groups = INT32_MAX / (size > 0 ? size : 1);
    return limits;
}

static rope2d_stage_limits stage_limits(const rope2d_plan *plan) {
    rope2d_stage_limits limits = rope2d_cl_limits(plan);
    limits.total_bytes = plan->device->info.memory_bytes / MEMORY_DIVISOR;
    if (limits.total_bytes > STAGING_BYTES)
        limits.total_bytes = STAGING_BYTES;
    return limits;
}

// --------------------------------------------------------------------------------------------- one piece

// What is small is copied while its buffer is made: no command, and nothing to wait for.
static rope2d_status fill_small(apply_state *state, const rope2d_piece *piece, uint32_t i) {
    const rope2d_cl_device *device = state->device;
    const uint64_t bytes = piece->tensors[i].in.bytes;
    rope2d_cl_staging *in = &state->in[i];
    void *copy = rope2d_allocate(device->cl.host, bytes, 1);
    if (!copy)
        return rope2d_fail(device->cl.host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %zu bytes",
                           (size_t)bytes);
    rope2d_stage_in(state->plan, piece, i, copy);
    rope2d_cl_staging_destroy(device, in);
    const rope2d_status status = rope2d_cl_buffer_create(device, CL_MEM_READ_WRITE, bytes, copy, &in->memory);
    in->bytes = status == ROPE2D_OK ? bytes : 0;
    rope2d_release(device->cl.host, copy, bytes, 1);
    return status;
}

static rope2d_status fill_staging(apply_state *state, const rope2d_piece *piece) {
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        const rope2d_stage_tensor *tensor = &piece->tensors[i];
        const bool is_small = tensor->in.bytes <= SMALL_BYTES;
        ROPE2D_TRY(is_small ? fill_small(state, piece, i)
                            : rope2d_cl_staging_reserve(state->device, &state->in[i], tensor->in.bytes));
        if (!tensor->tensor->in_place)
            ROPE2D_TRY(rope2d_cl_staging_reserve(state->device, &state->out[i], tensor->out.bytes));
        if (is_small)
            continue;
        ROPE2D_TRY(rope2d_cl_staging_map(state->device, &state->in[i], CL_MAP_WRITE_INVALIDATE_REGION,
                                         tensor->in.bytes));
        rope2d_stage_in(state->plan, piece, i, state->in[i].mapped);
        ROPE2D_TRY(rope2d_cl_staging_unmap(state->device, &state->in[i]));
    }
    return ROPE2D_OK;
}

static rope2d_cl_staging *result_of(apply_state *state, const rope2d_piece *piece, uint32_t i) {
    return piece->tensors[i].tensor->in_place ? &state->in[i] : &state->out[i];
}

// All are mapped before one is copied: a driver that fails leaves the caller's tensors as they were. What
// fails after that changes nothing of the result.
static rope2d_status drain_staging(apply_state *state, const rope2d_piece *piece) {
    for (uint32_t i = 0; i < piece->tensor_count; i++)
        ROPE2D_TRY(rope2d_cl_staging_map(state->device, result_of(state, piece, i), CL_MAP_READ,
                                         piece->tensors[i].out.bytes));
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        rope2d_stage_out(state->plan, piece, i, result_of(state, piece, i)->mapped);
        rope2d_cl_staging_leave(state->device, result_of(state, piece, i));
    }
    return ROPE2D_OK;
}

static void write_shape(const apply_state *state, const rope2d_cl_window *window, const rope2d_work *work,
                        const rope2d_piece *piece, uint32_t *words) {
    rope2d_shape_write(words, state->plan, state->positions, work, piece, 0, window->fold);
    if (!window->is_whole) {
        words[R_ROW_FIRST] = (uint32_t)piece->token_first * words[R_ROW_AXES];
        words[R_ROW_BATCH_STRIDE] = 0;
        words[R_TABLE_ROWS] = window->table_rows;
    }
}

static rope2d_status run_kernel(apply_state *state, const rope2d_cl_window *window, const rope2d_work *work,
                                const rope2d_piece *piece) {
    const rope2d_cl *cl = &state->device->cl;
    rope2d_status status = ROPE2D_OK;
    const rope2d_cl_variant *variant = piece->vector ? &state->programs->vector : &state->programs->single;
    cl_kernel *kernel = &state->kernels[piece->vector ? 1 : 0];
    if (!*kernel)
        OWN(rope2d_cl_kernel_create(state->plan, piece->vector, kernel));
    uint32_t words[R_SHAPE_WORDS];
    write_shape(state, window, work, piece, words);
    CL(SetKernelArg, *kernel, 0, sizeof(words), words);
    CL(SetKernelArg, *kernel, 1, sizeof(cl_mem), &variant->units);
    CL(SetKernelArg, *kernel, 2, sizeof(cl_mem), &window->rows);
    CL(SetKernelArg, *kernel, 3, sizeof(cl_mem), &window->table);
    for (cl_uint i = 0; i < R_MAX_DISPATCH_TENSORS; i++) {
        cl_uint used = i < piece->tensor_count ? i : 0; // what is not used must be valid all the same
        const cl_mem *in = &state->in[used].memory;
        const cl_mem *out = piece->tensors[used].tensor->in_place ? in : &state->out[used].memory;
        CL(SetKernelArg, *kernel, 4 + 2 * i, sizeof(cl_mem), in);
        CL(SetKernelArg, *kernel, 5 + 2 * i, sizeof(cl_mem), out);
    }
    const size_t local = piece->group_size;
    const size_t global = (size_t)piece->groups[0] * piece->groups[1] * local;
    CL(EnqueueNDRangeKernel, state->device->queue, *kernel, 1, NULL, &global, &local, 0, NULL, NULL);
fail:
    return status;
}

static rope2d_status run_pieces(apply_state *state, const rope2d_cl_window *window, const rope2d_work *work) {
    rope2d_stage_limits limits = stage_limits(state->plan);
    rope2d_cutter cutter;
    rope2d_piece piece;
    bool more = false;
    rope2d_cutter_begin(&cutter, state->plan, work, &limits);
    ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
    while (more) {
        ROPE2D_TRY(fill_staging(state, &piece));
        ROPE2D_TRY(run_kernel(state, window, work, &piece));
        ROPE2D_TRY(drain_staging(state, &piece));
        ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
    }
    return ROPE2D_OK;
}

// -------------------------------------------------------------------- positions too large for the device

// The work of one window after the other: a range of tokens, of one batch element unless all share their
// positions.
typedef struct window_walk {
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    const rope2d_work *work;
    uint64_t most_tokens;
    uint32_t batch;
    uint64_t token;
    rope2d_work part; // begins with the tokens of the window
    rope2d_checked_tensor tensors[ROPE2D_MAX_TENSORS];
} window_walk;

static rope2d_status walk_begin(window_walk *walk, const rope2d_plan *plan, const rope2d_positions *positions,
                                const rope2d_work *work) {
    memset(walk, 0, sizeof(*walk));
    walk->plan = plan;
    walk->positions = positions;
    walk->work = work;
    walk->most_tokens = rope2d_cl_window_tokens(positions);
    if (walk->most_tokens == 0)
        return rope2d_fail(
            &plan->device->host, ROPE2D_ERROR_LIMIT,
            "positions: %u table entries of one token, but the device's buffers have %llu bytes",
            (unsigned)positions->table_columns, (unsigned long long)plan->device->info.max_buffer_range);
    return ROPE2D_OK;
}

static unsigned char *advance(const rope2d_span *span, const window_walk *walk, rope2d_element element) {
    return span->first +
           ((int64_t)walk->batch * span->batch_stride + (int64_t)walk->token * span->token_stride) *
               (int64_t)rope2d_element_size(element);
}

static bool walk_next(window_walk *walk) {
    const rope2d_work *work = walk->work;
    bool shared = walk->positions->batch == 1;
    walk->token += walk->part.tokens;
    if (walk->token == work->tokens) {
        walk->token = 0;
        walk->batch += shared ? work->batch : 1;
    }
    if (walk->batch == work->batch)
        return false;
    for (uint32_t i = 0; i < work->tensor_count; i++) {
        walk->tensors[i] = work->tensors[i];
        walk->tensors[i].in.first = advance(&work->tensors[i].in, walk, walk->plan->in);
        walk->tensors[i].out.first = advance(&work->tensors[i].out, walk, walk->plan->out);
    }
    walk->part = *work;
    walk->part.batch = shared ? work->batch : 1;
    walk->part.first_token = work->first_token + walk->token;
    walk->part.tokens = work->tokens - walk->token;
    if (walk->part.tokens > walk->most_tokens)
        walk->part.tokens = walk->most_tokens;
    walk->part.tensors = walk->tensors;
    return true;
}

static rope2d_status run_windows(apply_state *state, const rope2d_work *work) {
    window_walk walk;
    ROPE2D_TRY(walk_begin(&walk, state->plan, state->positions, work));
    while (walk_next(&walk)) {
        rope2d_cl_window window;
        memset(&window, 0, sizeof(window));
        rope2d_status status = rope2d_cl_window_create(state->positions, walk.batch, walk.part.first_token,
                                                       walk.part.tokens, &window);
        if (status == ROPE2D_OK)
            status = run_pieces(state, &window, &walk.part);
        rope2d_cl_window_destroy(state->device, &window);
        if (status != ROPE2D_OK)
            return status;
    }
    return ROPE2D_OK;
}

// --------------------------------------------------------------------------------------- the two entries

rope2d_status rope2d_opencl_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                                  const rope2d_work *work) {
    const rope2d_cl_window *whole = rope2d_cl_window_whole(positions);
    rope2d_status status;
    apply_state state;
    memset(&state, 0, sizeof(state));
    state.device = plan->device->impl;
    state.plan = plan;
    state.positions = positions;
    state.programs = plan->impl;
    status = whole ? run_pieces(&state, whole, work) : run_windows(&state, work);
    state_destroy(&state);
    return status;
}

static rope2d_status count_pieces(const rope2d_plan *plan, const rope2d_work *work, uint64_t *dispatches) {
    rope2d_stage_limits limits = stage_limits(plan);
    rope2d_cutter cutter;
    rope2d_piece piece;
    bool more = false;
    rope2d_cutter_begin(&cutter, plan, work, &limits);
    ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
    while (more) {
        (*dispatches)++;
        ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_opencl_dispatches(const rope2d_plan *plan, const rope2d_positions *positions,
                                       const rope2d_work *work, uint64_t *dispatches) {
    window_walk walk;
    *dispatches = 0;
    if (rope2d_cl_window_whole(positions))
        return count_pieces(plan, work, dispatches);
    ROPE2D_TRY(walk_begin(&walk, plan, positions, work));
    while (walk_next(&walk))
        ROPE2D_TRY(count_pieces(plan, &walk.part, dispatches));
    return ROPE2D_OK;
}

// SPDX-License-Identifier: MIT
//
// How the invocations of a dispatch share a piece: by single units or by vectors, heads and tokens of each,
// and the workgroups that they make.
#include "stage.h"

// Heads of all its tokens that an invocation of a software device takes, while this many workgroups are left.
#define ENOUGH_ROUNDS 64u
#define ENOUGH_GROUPS 16u
// Where lanes do not keep order, what one has of all its tokens: 32 pages. The next lanes have what lies
// beside; of more pages it is waited for, as if the processor fetched no more of them ahead.
#define NEAR_BYTES  (128u * 1024)
#define LEAST_STEPS 4u

static bool is_aligned(const rope2d_stage_side *side, uint32_t run) {
    const uint32_t all = side->first | side->batch_stride | side->token_stride | side->head_stride;
    return all % run == 0 && side->offset % 16 == 0;
}

static bool suits_vectors(const rope2d_piece *piece, const rope2d_plan *plan,
                          const rope2d_stage_limits *limits) {
    const rope2d_units *units = rope2d_plan_vectors(plan);
    const uint32_t run = (units->flags & R_EIGHT_FLAG) != 0 && plan->in != ROPE2D_F32 ? 8 : 4;
    if (units->count > 0 && limits->tile_tokens > 0)
        return true;
    if (units->count == 0 || units->count > limits->vector_group)
        return false;
    for (uint32_t i = 0; i < piece->tensor_count; i++)
        if (!is_aligned(&piece->tensors[i].in, run) || !is_aligned(&piece->tensors[i].out, run))
            return false;
    return true;
}

// A unit of fours has 16 bytes in 16-bit types where others have 32, and two heads make as many (of one head
// alone, 16). Measured for 16 x 88 on NVIDIA's devices: lo and hi apart are a fifth faster in OpenCL, where
// finding a lane's place is dear, and slower in Vulkan; of lone eights, which have 16 bytes as well, slower.
uint32_t rope2d_plan_lane_heads(const rope2d_plan *plan) {
    const bool halves = plan->in != ROPE2D_F32 && plan->out != ROPE2D_F32;
    return halves && plan->device->info.backend == ROPE2D_BACKEND_OPENCL &&
                   (rope2d_plan_vectors(plan)->flags & R_EIGHT_FLAG) == 0
               ? 2
               : 1;
}

uint64_t rope2d_piece_groups(const rope2d_piece *piece, const rope2d_plan *plan, uint32_t tensor) {
    if (piece->vector && piece->whole_tokens && tensor > 0)
        return 0;
    if (piece->vector && piece->tile_tokens > 0)
        return rope2d_product(rope2d_piece_tiles(piece), piece->batch);
    const rope2d_units *units = piece->vector ? rope2d_plan_vectors(plan) : &plan->pattern.single;
    const uint32_t lane_heads = piece->vector ? rope2d_plan_lane_heads(plan) : 1;
    const uint64_t heads = ((uint64_t)piece->tensors[tensor].tensor->heads + lane_heads - 1) / lane_heads;
    const uint64_t runs = rope2d_product(rope2d_product(piece->batch, piece->tokens), heads);
    const uint64_t lanes = rope2d_product(runs, units->count);
    return lanes / piece->group_size + (lanes % piece->group_size != 0);
}

// What an invocation finds out about its place is worth several tokens of few heads, while enough workgroups
// are left for every core.
static void share_lanes(rope2d_piece *piece, const rope2d_plan *plan, const rope2d_stage_limits *limits) {
    uint64_t groups = 0;
    uint64_t heads = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        const rope2d_checked_tensor *tensor = piece->tensors[i].tensor;
        groups = rope2d_sum(groups, rope2d_piece_groups(piece, plan, i));
        heads = rope2d_sum(heads, tensor->heads);
        bytes += (uint64_t)tensor->heads * plan->pattern.head_dim *
                 (rope2d_element_size(plan->in) + (tensor->in_place ? 0 : rope2d_element_size(plan->out)));
    }
    while (piece->lane_tokens * heads < ENOUGH_ROUNDS * piece->tensor_count && groups >= 2 * ENOUGH_GROUPS &&
           (limits->keeps_order || 2 * piece->lane_tokens * bytes <= NEAR_BYTES)) {
        piece->lane_tokens *= 2;
        groups /= 2;
    }
}

// Lanes that stand together take units of several heads where one has too few for them, so that what they
// load and store is in one place and not in those of several tokens.
static uint32_t find_step(const rope2d_piece *piece, uint32_t units) {
    uint32_t step = R_LANES_TOGETHER / units;
    if (step * units != R_LANES_TOGETHER)
        return 1;
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        if (piece->tensors[i].tensor->heads % step != 0 ||
            piece->tensors[i].tensor->heads < LEAST_STEPS * step)
            return 1;
    }
    return step;
}

void rope2d_piece_choose(rope2d_piece *piece, const rope2d_plan *plan, const rope2d_stage_limits *limits) {
    const rope2d_units *units = rope2d_plan_vectors(plan);
    piece->vector = suits_vectors(piece, plan, limits);
    piece->tile_tokens = 0;
    piece->whole_tokens = false;
    if (!piece->vector || (limits->tile_tokens == 0 && limits->token_slots == 0))
        return;
    piece->whole_tokens = limits->tile_tokens > 0 || piece->tensor_count <= limits->token_slots;
    piece->head_step = limits->keeps_order ? find_step(piece, units->count) : 1;
    piece->tile_tokens = limits->tile_tokens > 0 ? limits->tile_tokens
                                                 : limits->vector_group / (units->count * piece->head_step);
    piece->lane_tokens = 1;
    if (limits->token_slots > 0)
        share_lanes(piece, plan, limits);
}

// Spreads workgroups over x and y. False when there are too many, or when a lane's number, those past the
// last tensor's included, would not fit 32 bits.
bool rope2d_piece_count(rope2d_piece *piece, const rope2d_plan *plan, const rope2d_stage_limits *limits) {
    const uint32_t most = limits->max_groups;
    const uint32_t size = piece->vector ? limits->vector_group : limits->group_size;
    uint64_t groups = 0;
    piece->group_size = size;
    for (uint32_t i = 0; i < piece->tensor_count; i++)
        groups = rope2d_sum(groups, rope2d_piece_groups(piece, plan, i));
    if (groups > (uint64_t)UINT32_MAX / size)
        return false;
    const uint64_t y = (groups + most - 1) / most;
    if (y > most)
        return false;
    const uint64_t x = (groups + y - 1) / y;
    if (x * y > (uint64_t)UINT32_MAX / size)
        return false;
    piece->groups[0] = (uint32_t)x;
    piece->groups[1] = (uint32_t)y;
    return true;
}

// Fewer tokens need no more workgroups, so that what fitted still fits.
void rope2d_piece_narrow(rope2d_piece *piece, const rope2d_plan *plan, const rope2d_stage_limits *limits,
                         uint32_t skip, uint32_t tokens) {
    piece->token_first += skip;
    piece->tokens = tokens;
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        piece->tensors[i].in.first += skip * piece->tensors[i].in.token_stride;
        piece->tensors[i].out.first += skip * piece->tensors[i].out.token_stride;
    }
    rope2d_piece_count(piece, plan, limits);
}

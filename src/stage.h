// SPDX-License-Identifier: MIT
//
// Host tensors in a GPU's memory: cuts an apply into pieces that fit the device, lays each tensor out in a
// staging buffer, copies rows of head_dim elements in and out, and writes the words of shaders/shape.h.
// Shared by Vulkan and OpenCL. Only elements are copied, never the gaps between them, which may belong to
// another thread.
#ifndef ROPE2D_STAGE_H
#define ROPE2D_STAGE_H

#include "../shaders/shape.h"
#include "internal.h"

typedef struct rope2d_stage_limits {
    uint64_t buffer_bytes; // largest buffer that a kernel can reach
    uint64_t total_bytes;  // all staging of a piece
    uint32_t slots;        // tensors of one dispatch, 1 to R_MAX_DISPATCH_TENSORS
    uint32_t group_size;   // invocations of a workgroup that takes single units
    uint32_t vector_group; // and of one that takes vector units; 0: none does
    uint32_t tile_tokens;  // not 0: an invocation has as many tokens whole, of all tensors, however they lie
    uint32_t token_slots; // not 0: kernels have R_TOKENS_FLAG or R_ORDER_FLAG: an invocation may have several
                          // tokens, and of so many tensors all
    bool keeps_order;     // kernels have R_ORDER_FLAG
    uint32_t max_groups;  // in x and in y
    uint32_t offset_alignment; // bytes between tensors that share one buffer
    // Row numbers that a kernel can reach, and between the positions of two batch elements (0: shared): a
    // piece of several batch elements reaches over all that lie between. 0: no limit below 2^32.
    uint64_t row_range;
    uint64_t row_batch_stride;
    bool direct; // no staging: tensors are rotated where they lie, at addresses that count from aligned ones
} rope2d_stage_limits;

// A tensor of a piece. Its layout keeps the caller's strides and the parity of its first element where that
// is not wasteful, so that what the caller has is what the kernel sees; otherwise it is packed.
typedef struct rope2d_stage_side {
    uint64_t bytes;  // of staging, a multiple of 4
    uint64_t offset; // of staging, a multiple of offset_alignment, when all share one buffer; direct: an
                     // address
    uint32_t first;  // element of batch 0, token 0, head 0, channel 0
    uint32_t batch_stride; // elements
    uint32_t token_stride;
    uint32_t head_stride;
} rope2d_stage_side;

typedef struct rope2d_stage_tensor {
    const rope2d_checked_tensor *tensor;
    rope2d_stage_side in;
    rope2d_stage_side out; // the same as in when in place
} rope2d_stage_tensor;

// One dispatch's worth: a range of tensors, batch elements and tokens.
typedef struct rope2d_piece {
    uint32_t tensor_count;
    rope2d_stage_tensor tensors[R_MAX_DISPATCH_TENSORS];
    uint32_t batch_first;
    uint32_t batch;
    uint64_t token_first; // of the work's tokens
    uint32_t tokens;
    bool vector;          // every tensor of the piece suits vector units
    uint32_t tile_tokens; // of vectors, as shaders/shape.h has it; 0: no tiles, and so none of these three
    bool whole_tokens;    // a workgroup has those of all tensors, and the first tensor counts them
    uint32_t lane_tokens;
    uint32_t head_step;
    uint64_t bytes;      // of staging, all tensors
    uint32_t group_size; // invocations of a workgroup
    uint32_t groups[2];  // workgroups in x and y
} rope2d_piece;

// vectors.c: the plan's vector units; their count is 0 where it has none.
const rope2d_units *rope2d_plan_vectors(const rope2d_plan *plan);
// stage_lanes.c: heads of a token that an invocation of its vectors has, 1 or 2; not those of tiles.
uint32_t rope2d_plan_lane_heads(const rope2d_plan *plan);

// Cuts one after the other: begin, then next until *more is false. Needs no memory.
typedef struct rope2d_cutter {
    const rope2d_plan *plan;
    const rope2d_work *work;
    rope2d_stage_limits limits;
    uint32_t tensor;       // first of the group that shares dispatches
    uint32_t tensor_count; // of that group; 0: not chosen yet
    uint32_t batch;
    uint64_t token;
} rope2d_cutter;
void rope2d_cutter_begin(rope2d_cutter *cutter, const rope2d_plan *plan, const rope2d_work *work,
                         const rope2d_stage_limits *limits);
// Fails with ROPE2D_ERROR_LIMIT when one token of one tensor does not fit.
rope2d_status rope2d_cutter_next(rope2d_cutter *cutter, rope2d_piece *piece, bool *more);

// Leaves of a piece `tokens` of its tokens, from its token `skip` on: at least one, and no more than it has.
void rope2d_piece_narrow(rope2d_piece *piece, const rope2d_plan *plan, const rope2d_stage_limits *limits,
                         uint32_t skip, uint32_t tokens);

// How many of a piece's batch elements, and where that is one of its tokens, a dispatch may take by the
// device's dispatch_bytes: at least one of each. A cutter keeps to it by itself.
void rope2d_piece_bound(const rope2d_piece *piece, const rope2d_plan *plan, uint32_t *batch,
                        uint32_t *tokens);

// stage_lanes.c: for pieces that are made without a cutter, whether to take vectors, and how, from the layout
// of the tensors and all tokens; then, for any number of tokens, the workgroups. False: there are too many.
void rope2d_piece_choose(rope2d_piece *piece, const rope2d_plan *plan, const rope2d_stage_limits *limits);
static inline uint64_t rope2d_piece_tiles(const rope2d_piece *piece) {
    const uint32_t tokens = piece->tile_tokens * piece->lane_tokens;
    return ((uint64_t)piece->tokens + tokens - 1) / tokens;
}
bool rope2d_piece_count(rope2d_piece *piece, const rope2d_plan *plan, const rope2d_stage_limits *limits);
// Of a piece that has been counted, or has tiles, those of a tensor. Saturates.
uint64_t rope2d_piece_groups(const rope2d_piece *piece, const rope2d_plan *plan, uint32_t tensor);

// Copies a tensor's elements into staging memory of side->bytes bytes, and back. In staging, what is no
// element stays as it was.
void rope2d_stage_in(const rope2d_plan *plan, const rope2d_piece *piece, uint32_t tensor, void *staging);
void rope2d_stage_out(const rope2d_plan *plan, const rope2d_piece *piece, uint32_t tensor,
                      const void *staging);

// Writes the R_SHAPE_WORDS words of the dispatch of a piece that has been counted. row_base: row numbers
// before the bound range; table_fold: log2 of the texture's width.
void rope2d_shape_write(uint32_t *words, const rope2d_plan *plan, const rope2d_positions *positions,
                        const rope2d_work *work, const rope2d_piece *piece, uint64_t row_base,
                        uint32_t table_fold);

#endif

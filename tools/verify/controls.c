// SPDX-License-Identifier: MIT
#include "controls.h"

#include <math.h>
#include <string.h>

static void swap_axes(struct harness_work *work, unsigned char *const *blocks) {
    (void)blocks;
    size_t count = (size_t)work->spec.spec.freq_heads * work->spec.pairs;
    for (size_t i = 0; i < count; ++i) {
        float other = work->spec.freqs[i];
        work->spec.freqs[i] = work->spec.freqs[count + i];
        work->spec.freqs[count + i] = other;
    }
}

static void pair_otherwise(struct harness_work *work, unsigned char *const *blocks) {
    (void)blocks;
    rope2d_spec *spec = &work->spec.spec;
    spec->pairing = spec->pairing == ROPE2D_PAIRING_HALF ? ROPE2D_PAIRING_INTERLEAVED : ROPE2D_PAIRING_HALF;
}

static void turn_back(struct harness_work *work, unsigned char *const *blocks) {
    (void)blocks;
    work->spec.spec.direction = ROPE2D_INVERSE;
}

static void shift_positions(struct harness_work *work, unsigned char *const *blocks) {
    (void)blocks;
    struct harness_positions *positions = &work->positions[0];
    for (size_t i = 0; i < positions->tokens * work->spec.spec.axes; ++i)
        positions->coordinates[i] += 1.0f;
}

static void rotate_the_prefix(struct harness_work *work, unsigned char *const *blocks) {
    (void)blocks;
    work->positions[0].unrotated_count = 0;
}

static void form_angles_in_fp32(struct harness_work *work, unsigned char *const *blocks) {
    (void)blocks;
    work->spec.spec.angles = ROPE2D_ANGLES_FP32;
}

// The first byte of the last head of the last token, which an ulp is in.
static unsigned char *last_head(const struct harness_work *work, const struct harness_side *side,
                                uint32_t tensor, unsigned char *const *blocks) {
    const struct harness_tensor *last = &work->tensors[tensor];
    return blocks[side->block] +
           harness_side_at(work, side, work->batch - 1, last->tokens - 1, last->heads - 1);
}

static void change_one_input(struct harness_work *work, unsigned char *const *blocks) {
    *last_head(work, &work->tensors[1].in, 1, blocks) ^= 4;
}

static bool change_one_bit(struct harness_device *portable, struct harness_work *work,
                           unsigned char *const *blocks) {
    (void)portable;
    *last_head(work, &work->tensors[1].out, 1, blocks) ^= 1;
    return true;
}

// A byte beside the tensor, written once.
static bool write_beside(struct harness_device *portable, struct harness_work *work,
                         unsigned char *const *blocks) {
    (void)portable;
    const struct harness_side *side = &work->tensors[0].out;
    size_t head = harness_side_at(work, side, 0, 0, 0);
    blocks[side->block][head + work->spec.spec.head_dim * work->blocks[side->block].element_size] ^= 0x80;
    return true;
}

// One axis for each pair: the entry of a token and pair, and what a fused multiply-add makes of it. The table
// is the library's own; a spec of the case "half" turns pair i by axis i % 2.
struct fused {
    const float *table;
    const int32_t *rows;
    uint32_t axes, pairs;
};

static void contract_head(const struct harness_work *work, const struct fused *fused, const float *in,
                          float *out, uint64_t token) {
    for (uint32_t i = 0; i < work->spec.pairs; ++i) {
        int32_t row = fused->rows[token * fused->axes + i % fused->axes];
        const float *entry = &fused->table[2 * ((size_t)row * fused->pairs + i)];
        float a = in[work->spec.lo[i]], b = in[work->spec.hi[i]];
        out[work->spec.lo[i]] = fmaf(entry[0], a, -(entry[1] * b));
        out[work->spec.hi[i]] = fmaf(entry[1], a, entry[0] * b);
    }
}

static void contract_all(const struct harness_work *work, const struct fused *fused,
                         unsigned char *const *blocks) {
    float in[ROPE2D_MAX_HEAD_DIM], out[ROPE2D_MAX_HEAD_DIM];
    size_t bytes = work->spec.spec.head_dim * sizeof(float);
    for (uint32_t i = 0; i < work->tensor_count; ++i) {
        const struct harness_tensor *tensor = &work->tensors[i];
        for (uint64_t t = 0; t < tensor->tokens; ++t)
            for (uint32_t h = 0; h < tensor->heads; ++h) {
                memcpy(in,
                       work->blocks[tensor->in.block].memory + harness_side_at(work, &tensor->in, 0, t, h),
                       bytes);
                memcpy(out, in, bytes);
                contract_head(work, fused, in, out, t);
                memcpy(blocks[tensor->out.block] + harness_side_at(work, &tensor->out, 0, t, h), out, bytes);
            }
    }
}

static bool contract(struct harness_device *portable, struct harness_work *work,
                     unsigned char *const *blocks) {
    rope2d_positions *positions = NULL;
    rope2d_positions_params params =
        harness_positions_params(&work->positions[0], &work->spec, ROPE2D_TABLE_BUFFER);
    if (rope2d_positions_create(portable->device, &params, &positions))
        return false;
    struct fused fused = {rope2d_positions_host_table(positions), rope2d_positions_host_rows(positions),
                          work->spec.spec.axes, work->spec.pairs};
    contract_all(work, &fused, blocks);
    rope2d_positions_destroy(positions);
    return true;
}

const struct verify_control verify_controls[] = {
    {.name = "fused multiply-add", .on = "half", .after = contract, .by_program = true},
    {.name = "swapped axes", .on = "interleaved", .before = swap_axes, .by_bound = true, .by_program = true},
    {.name = "wrong pairing", .on = "half", .before = pair_otherwise, .by_bound = true},
    {.name = "wrong sign", .on = "half", .before = turn_back, .by_bound = true},
    {.name = "positions from 1",
     .on = "interleaved",
     .before = shift_positions,
     .by_bound = true,
     .by_program = true},
    {.name = "rotated prefix",
     .on = "unrotated_prefix",
     .before = rotate_the_prefix,
     .by_bound = true,
     .by_program = true},
    {.name = "angles in fp32", .on = "far", .before = form_angles_in_fp32, .by_bound = true},
    {.name = "another input", .on = "even_gaps", .before = change_one_input, .by_program = true},
    {.name = "one other bit", .on = "even_gaps", .after = change_one_bit, .by_program = true},
    {.name = "written beside", .on = "even_gaps", .after = write_beside, .by_guards = true},
    {0},
};

// SPDX-License-Identifier: MIT
// What kernels do with their words, in C, for test_stage.c: the element that a lane has, not its rotation.
#include "stage_kernel.h"

#include <stdlib.h>
#include <string.h>

uint32_t element_get(const void *from, uint64_t at, uint32_t size) {
    uint32_t bits = 0;
    memcpy(&bits, (const unsigned char *)from + at * size, size); // little-endian: the low bits
    return bits;
}

void element_put(void *to, uint64_t at, uint32_t size, uint32_t bits) {
    memcpy((unsigned char *)to + at * size, &bits, size);
}

// Not the same when done twice, or for another token.
uint32_t element_turn(uint32_t bits, uint64_t row) {
    return bits * 3 + 1 + (uint32_t)row;
}

static uint32_t find_tensor(const uint32_t *w, uint32_t lane) {
    uint32_t k = 0;
    while (k + 1 < w[R_TENSOR_COUNT] &&
           lane >= w[R_RANGE_TENSORS + (k + 1) * R_RANGE_TENSOR_WORDS + R_LANE_FIRST])
        k++;
    return k;
}

// All channels of a head.
static bool rotate_head(const struct dispatch *d, uint32_t k, uint32_t batch, uint32_t token, uint32_t head) {
    const uint32_t *w = d->words;
    const uint32_t *t = w + R_TENSORS + k * R_TENSOR_WORDS;
    const uint32_t *r = w + R_RANGE_TENSORS + k * R_RANGE_TENSOR_WORDS;
    const rope2d_stage_tensor *s = &d->piece->tensors[k];
    const uint32_t in_size = rope2d_element_size(d->e->plan.in);
    const uint32_t out_size = rope2d_element_size(d->e->plan.out);
    const uint64_t row = d->e->row_base + w[R_ROW_FIRST] + (uint64_t)batch * w[R_ROW_BATCH_STRIDE] +
                         (uint64_t)token * w[R_ROW_AXES];
    for (uint32_t c = 0; c < d->e->plan.pattern.head_dim; c++) {
        const uint64_t in = (uint64_t)r[R_IN_FIRST] + (uint64_t)batch * t[R_IN_BATCH_STRIDE] +
                            (uint64_t)token * t[R_IN_TOKEN_STRIDE] + (uint64_t)head * t[R_IN_HEAD_STRIDE] + c;
        const uint64_t out = (uint64_t)r[R_OUT_FIRST] + (uint64_t)batch * t[R_OUT_BATCH_STRIDE] +
                             (uint64_t)token * t[R_OUT_TOKEN_STRIDE] + (uint64_t)head * t[R_OUT_HEAD_STRIDE] +
                             c;
        if ((in + 1) * in_size > s->in.bytes || (out + 1) * out_size > s->out.bytes)
            return false;
        element_put(d->staging + s->out.offset, out, out_size,
                    element_turn(element_get(d->staging + s->in.offset, in, in_size), row));
    }
    return true;
}

static bool invoke(struct dispatch *d, uint32_t lane) {
    const uint32_t *w = d->words;
    const uint32_t k = find_tensor(w, lane);
    const uint32_t *t = w + R_TENSORS + k * R_TENSOR_WORDS;
    const uint32_t *r = w + R_RANGE_TENSORS + k * R_RANGE_TENSOR_WORDS;
    if (lane - r[R_LANE_FIRST] >= r[R_LANES])
        return true;
    uint32_t item = lane - r[R_LANE_FIRST];
    const uint32_t unit = item % w[R_UNITS];
    const uint32_t head = item / w[R_UNITS] % t[R_HEADS];
    const uint32_t token = item / w[R_UNITS] / t[R_HEADS] % w[R_TOKENS];
    const uint32_t batch = item / w[R_UNITS] / t[R_HEADS] / w[R_TOKENS];
    if (batch >= w[R_BATCH] || lane >= d->seen_count || d->seen[lane]++ != 0)
        return false;
    return unit != 0 || rotate_head(d, k, batch, token, head);
}

// As shaders/vector.h divides.
static uint32_t divide(uint32_t n, uint32_t magic, uint32_t shifts) {
    const uint32_t high = (uint32_t)(((uint64_t)n * magic) >> 32);
    return (high + ((n - high) >> (shifts & 1))) >> ((shifts >> 1) & 31);
}

// A lane that has tokens whole.
static bool invoke_tile(struct dispatch *d, uint32_t group, uint32_t k) {
    const uint32_t *w = d->words;
    const uint32_t *t = w + R_TENSORS + k * R_TENSOR_WORDS;
    const uint32_t *r = w + R_RANGE_TENSORS;
    const uint32_t item = group - r[R_LANE_FIRST];
    if (item >= r[R_LANES])
        return true;
    const uint32_t tile = divide(item, t[R_SPAN_MAGIC], t[R_SHIFTS] >> 8);
    const uint32_t batch = item - tile * t[R_SPAN];
    bool good = tile == item / t[R_SPAN] && batch < w[R_BATCH];
    for (uint32_t i = 0; good && i < w[R_TILE_TOKENS]; i++) {
        const uint32_t token = tile * w[R_TILE_TOKENS] + i;
        for (uint32_t head = 0; good && token < w[R_TOKENS] && head < t[R_HEADS]; head++)
            good = rotate_head(d, k, batch, token, head);
    }
    return good;
}

static bool invoke_vector(struct dispatch *d, uint32_t group, uint32_t local) {
    const uint32_t *w = d->words;
    const uint32_t k = find_tensor(w, group);
    const uint32_t *t = w + R_TENSORS + k * R_TENSOR_WORDS;
    const uint32_t *r = w + R_RANGE_TENSORS + k * R_RANGE_TENSOR_WORDS;
    const uint32_t item = group - r[R_LANE_FIRST];
    const uint32_t place = item * d->e->limits.vector_group + local;
    const uint32_t run = divide(place, w[R_UNIT_MAGIC], w[R_UNIT_SHIFTS]);
    const uint32_t token = divide(run, t[R_SPAN_MAGIC], t[R_SHIFTS] >> 8);
    const uint32_t rest = run - token * t[R_SPAN];
    const uint32_t batch = divide(rest, t[R_HEADS_MAGIC], t[R_SHIFTS]);
    const uint32_t count = rope2d_plan_lane_heads(&d->e->plan); // heads of a lane, and lanes of a token's
    const uint32_t lanes = (t[R_HEADS] + count - 1) / count;
    if (run != place / w[R_UNITS] || token != run / t[R_SPAN] || batch != rest / lanes)
        return false;
    if (item >= r[R_LANES] || token >= w[R_TOKENS])
        return true;
    bool good = batch < w[R_BATCH];
    for (uint32_t i = 0; good && place % w[R_UNITS] == 0 && i < count; i++) {
        const uint32_t head = rest % lanes * count + i;
        good = head >= t[R_HEADS] || rotate_head(d, k, batch, token, head);
    }
    return good;
}

// A token's lane has all tensors; the first counts them.
static bool invoke_all(struct dispatch *d, uint32_t group, uint32_t local) {
    bool good = true;
    if (d->e->limits.tile_tokens == 0)
        return invoke_vector(d, group, local);
    for (uint32_t k = 0; good && k < d->words[R_TENSOR_COUNT]; k++)
        good = invoke_tile(d, group, k);
    return good;
}

// What they write is compared in the end: an element that no group rotates is not as expected.
bool dispatch_groups(struct dispatch *d) {
    bool good = true;
    for (uint32_t group = 0; good && group < d->piece->groups[0] * d->piece->groups[1]; group++)
        for (uint32_t local = 0; good && local < d->e->limits.vector_group; local++)
            good = invoke_all(d, group, local);
    return good;
}

bool dispatch_lanes(struct dispatch *d) {
    const uint64_t size = d->e->limits.group_size;
    uint64_t lanes = 0;
    bool good = true;
    if (size == 0)
        return false;
    d->seen_count = (uint64_t)d->piece->groups[0] * d->piece->groups[1] * size;
    d->seen = calloc(d->seen_count, 1);
    for (uint64_t y = 0; d->seen && good && y < d->piece->groups[1]; y++)
        for (uint64_t x = 0; good && x < d->piece->groups[0]; x++)
            for (uint64_t i = 0; good && i < size; i++)
                good = invoke(d, (uint32_t)((y * d->words[R_GROUPS_X] + x) * size + i));
    for (uint32_t i = 0; d->seen && i < d->piece->tensor_count; i++) {
        const uint32_t *t = d->words + R_RANGE_TENSORS + i * R_RANGE_TENSOR_WORDS;
        good &= t[R_LANE_FIRST] % size == 0;
        lanes += t[R_LANES];
        for (uint32_t lane = 0; good && lane < t[R_LANES]; lane++)
            good = d->seen[t[R_LANE_FIRST] + lane] == 1;
    }
    good &= d->seen && lanes > 0;
    free(d->seen);
    return good;
}

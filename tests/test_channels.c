// SPDX-License-Identifier: MIT
// What no vector kernel takes on the CPU, against the portable path, bit by bit: random pairs of channels
// that lie anywhere, one and two angles, tokens that turn in part, every pair of types. And which plans go
// channel by channel.
#include "check.h"
#include "counter.h"
#include "cpu/isa.h"
#include "internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS      400
#define MAX_DIM    520
#define MAX_PAIRS  (MAX_DIM / 2)
#define AXES       3
#define TOKENS     6
#define HEADS      3
#define LIST       5
#define GAP        3 // elements between heads, which nobody may write
#define STRIDE     (MAX_DIM + GAP)
#define ELEMENTS   ((size_t)TOKENS * HEADS * STRIDE)
#define MOST_BYTES (ELEMENTS * sizeof(float))

static uint64_t seed, drawn;
static unsigned char input[MOST_BYTES], outputs[2][MOST_BYTES];

static uint32_t below(uint32_t bound) {
    return counter_below(counter_word(seed, 1, drawn++), bound);
}

struct scene {
    rope2d_spec spec;
    float freqs[AXES * HEADS * MAX_PAIRS], freqs_hi[AXES * HEADS * MAX_PAIRS];
    uint32_t channels[MAX_DIM];
    float list[LIST];
    int32_t rows[TOKENS * AXES];
    rope2d_element in, out;
    bool in_place;
};

// Neighbours or any channels are pairs; some are left over.
static void draw_spec(struct scene *s) {
    const uint32_t dim = below(4) ? 8 * (1 + below(16)) : 8 * (1 + below(MAX_DIM / 8));
    const bool is_shuffled = below(3) != 0;
    const uint32_t pairs = below(dim / 2 + 1);
    for (uint32_t i = 0; i < dim; i++) // neighbours, the second one first
        s->channels[i] = i < dim / 2 ? 2 * i + 1 : 2 * i - dim;
    for (uint32_t i = dim; i > 1 && is_shuffled; i--) {
        const uint32_t j = below(i), kept = s->channels[j];
        s->channels[j] = s->channels[i - 1];
        s->channels[i - 1] = kept;
    }
    for (uint32_t i = 0; i < sizeof(s->freqs) / sizeof(s->freqs[0]); i++) {
        s->freqs[i] = (float)below(1000) / 300;
        s->freqs_hi[i] = (float)below(1000) / 300;
    }
    s->spec = (rope2d_spec){.struct_size = sizeof(s->spec),
                            .head_dim = dim,
                            .axes = AXES,
                            .pairing = ROPE2D_PAIRING_EXPLICIT,
                            .pairs = pairs,
                            .pair_lo = s->channels,
                            .pair_hi = s->channels + dim / 2,
                            .freq_heads = below(3) ? 1 : HEADS,
                            .freqs = s->freqs,
                            .freqs_hi = below(2) ? s->freqs_hi : NULL};
    // Each pair by one axis, as a rule, so that tokens can turn in part.
    const uint32_t heads = s->spec.freq_heads;
    for (uint32_t axis = 0; axis < AXES && below(4) != 0; axis++)
        for (uint32_t i = 0; i < heads * pairs; i++)
            if (i % pairs % AXES != axis)
                s->freqs[axis * heads * pairs + i] = s->freqs_hi[axis * heads * pairs + i] = 0;
}

static void draw(struct scene *s) {
    drawn = 0;
    draw_spec(s);
    s->in = (rope2d_element)below(3);
    s->out = (rope2d_element)below(3);
    s->in_place = s->in == s->out && below(2) != 0;
    for (uint32_t i = 0; i < LIST; i++)
        s->list[i] = (float)below(100) - 50;
    for (uint32_t i = 0; i < TOKENS * AXES; i++)
        s->rows[i] = below(4) ? (int32_t)below(LIST) : -1;
    counter_fill(input, (enum counter_type)s->in, below(2) ? COUNTER_FINITE : COUNTER_SPECIAL, seed, 2, 0,
                 ELEMENTS);
}

static rope2d_status make_positions(const struct scene *s, rope2d_device *device, bool is_axial,
                                    rope2d_positions **positions) {
    rope2d_positions_params where = {
        .struct_size = sizeof(where), .spec = &s->spec, .tokens = TOKENS, .rows = s->rows};
    float dense[LIST * AXES];
    for (uint32_t i = 0; i < LIST * AXES; i++)
        dense[i] = s->list[i % LIST];
    for (uint32_t axis = 0; axis < (is_axial ? AXES : 1); axis++) {
        where.list_counts[axis] = LIST;
        where.lists[axis] = is_axial ? s->list : dense;
    }
    return rope2d_positions_create(device, &where, positions);
}

// By a device's own way; the kernel's name says which.
static bool rotate(const struct scene *s, rope2d_device *device, unsigned char *output, char kernel[64]) {
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    const rope2d_plan_params types = {.struct_size = sizeof(types),
                                      .spec = &s->spec,
                                      .in = s->in,
                                      .out = s->out,
                                      .flags = ROPE2D_PLAN_NO_SELF_TEST};
    const uint32_t dim = s->spec.head_dim;
    rope2d_view in = rope2d_view_contiguous(input, s->in, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, dim);
    in.head_stride = dim + GAP;
    in.token_stride = HEADS * in.head_stride;
    in.size = MOST_BYTES;
    rope2d_view out = in;
    out.base = output;
    memset(output, 0x5a, MOST_BYTES);
    if (s->in_place) {
        memcpy(output, input, MOST_BYTES);
        in.base = output;
        out = (rope2d_view){0};
    }
    const rope2d_tensor tensor = {HEADS, in, out};
    const rope2d_apply_params all = {
        .struct_size = sizeof(all), .batch = 1, .tokens = TOKENS, .tensor_count = 1, .tensors = &tensor};
    bool good = rope2d_plan_create(device, &types, &plan) == ROPE2D_OK;
    good = good && make_positions(s, device, plan->pattern.is_axial, &positions) == ROPE2D_OK &&
           rope2d_apply(plan, positions, &all) == ROPE2D_OK;
    if (good)
        memcpy(kernel, plan->kernel, sizeof(plan->kernel));
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    return good;
}

static bool is_nan(rope2d_element element, uint32_t bits) {
    static const uint32_t infinities[] = {0x7f800000u, 0x7c00u, 0x7f80u};
    return (bits & (element == ROPE2D_F32 ? 0x7fffffffu : 0x7fffu)) > infinities[element];
}

// The first element that differs, -1: none. Of two NaNs a processor may keep either.
static long compare(rope2d_element element) {
    const size_t size = rope2d_element_size(element);
    for (size_t i = 0; i < MOST_BYTES / size; i++) {
        uint32_t bits[2] = {0, 0}; // little-endian, as everything that has these kernels
        for (int side = 0; side < 2; side++)
            memcpy(&bits[side], outputs[side] + i * size, size);
        if (bits[0] != bits[1] && !(is_nan(element, bits[0]) && is_nan(element, bits[1])))
            return (long)i;
    }
    return -1;
}

static bool has_channels(uint32_t head_dim) {
    const rope2d_isa isa = rope2d_isa_find();
    return (isa == ROPE2D_ISA_AVX2 || isa == ROPE2D_ISA_AVX512) && head_dim % 8 == 0 && head_dim <= 512;
}

static void test_random(rope2d_device *device, rope2d_device *portable) {
    static struct scene s;
    uint32_t taken = 0;
    for (seed = 1; seed <= SEEDS; seed++) {
        char kernels[2][64] = {"", ""};
        draw(&s);
        const bool good =
            rotate(&s, device, outputs[0], kernels[0]) && rotate(&s, portable, outputs[1], kernels[1]);
        const long at = good ? compare(s.out) : 0;
        CHECK(good && at < 0,
              "seed %" PRIu64 ": head_dim %u, %u pairs, types %d and %d, in place %d, %s: element %ld", seed,
              s.spec.head_dim, s.spec.pairs, (int)s.in, (int)s.out, s.in_place, kernels[0], at);
        CHECK(strncmp(kernels[1], "portable_", 9) == 0, "seed %" PRIu64 ": %s", seed, kernels[1]);
        taken += strncmp(kernels[0], "channels_", 9) == 0;
    }
    CHECK(!has_channels(8) || taken > SEEDS / 2, "only %u of %u went channel by channel", taken, SEEDS);
}

static void test_choice(rope2d_device *device) {
    static const float freqs[2 * MAX_PAIRS] = {1};
    static const struct choice {
        uint32_t head_dim, axes, factored;
        bool has_two;
    } choices[] = {
        {64, 1, 0, true}, {512, 1, 0, true}, {520, 1, 0, true}, {12, 1, 0, true}, {64, 2, 1, true}};
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        const struct choice *c = &choices[i];
        const rope2d_spec spec = {.struct_size = sizeof(spec),
                                  .head_dim = c->head_dim,
                                  .axes = c->axes,
                                  .freqs = freqs,
                                  .freqs_hi = freqs,
                                  .factored = c->factored};
        const rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &spec};
        rope2d_plan *plan = NULL;
        const char *name =
            has_channels(c->head_dim) && !c->factored ? "channels_f32_f32" : "portable_f32_f32";
        const bool is_made = rope2d_plan_create(device, &types, &plan) == ROPE2D_OK;
        CHECK(is_made && strcmp(plan->kernel, name) == 0, "%u channels, factored %u: %s, not %s", c->head_dim,
              c->factored, plan ? plan->kernel : "none", name);
        rope2d_plan_destroy(plan);
    }
}

int main(void) {
    rope2d_device_params params = {.struct_size = sizeof(params)};
    rope2d_device *device = NULL, *portable = NULL;
    bool good = rope2d_device_create(&params, &device) == ROPE2D_OK;
    params.flags = ROPE2D_DEVICE_PORTABLE;
    good = good && rope2d_device_create(&params, &portable) == ROPE2D_OK;
    if (CHECK(good, "no CPU")) {
        test_random(device, portable);
        test_choice(device);
    }
    rope2d_device_destroy(device);
    rope2d_device_destroy(portable);
    return check_finish();
}

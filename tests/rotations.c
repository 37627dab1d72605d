// SPDX-License-Identifier: MIT
#include "rotations.h"

#include "check.h"
#include "counter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_log(void *user, rope2d_log_level level, const char *text) {
    (void)user;
    (void)level;
    printf("  log: %s\n", text);
}

rope2d_device *rotations_open(void) {
    rope2d_host host = {sizeof(host), .log = print_log};
    rope2d_device_params params = {sizeof(params), .backend = ROPE2D_BACKEND_CPU, .host = &host};
    rope2d_device *device = NULL;
    rope2d_status status = rope2d_device_create(&params, &device);
    if (status != ROPE2D_OK)
        CHECK(false, "no CPU: %s", rope2d_status_name(status));
    return device;
}

int rotations_finish(rope2d_device *device) {
    rope2d_device_destroy(device);
    return check_finish();
}

double dot(const float *a, const float *b, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

double norm(const float *a, uint32_t count) {
    return sqrt(dot(a, a, count));
}

// ------------------------------------------------------------------------------------------- random specs

static uint64_t seed_now, drawn;

static uint32_t below(uint32_t bound) {
    return counter_below(counter_word(seed_now, 1, drawn++), bound);
}

static double uniform(void) {
    return counter_uniform(counter_word(seed_now, 1, drawn++));
}

// Segments of equal length: axis a has the pairs a * n to (a + 1) * n - 1.
static void pair_channels(random_spec *random) {
    const rope2d_spec *spec = &random->spec;
    uint32_t begin = spec->rotary_begin, pairs = random->pairs, length = pairs / spec->axes;
    for (uint32_t i = 0; i < pairs; i++) {
        uint32_t segment = i / length * length;
        switch (spec->pairing) {
        case ROPE2D_PAIRING_HALF:
            random->lo[i] = begin + i;
            random->hi[i] = begin + pairs + i;
            break;
        case ROPE2D_PAIRING_SEGMENT_HALF:
            random->lo[i] = begin + segment + i;
            random->hi[i] = begin + segment + length + i;
            break;
        case ROPE2D_PAIRING_EXPLICIT: // from the outside to the middle, every second pair swapped
            random->lo[i] = i % 2 ? spec->head_dim - 1 - i : i;
            random->hi[i] = i % 2 ? i : spec->head_dim - 1 - i;
            break;
        default:
            random->lo[i] = begin + 2 * i;
            random->hi[i] = begin + 2 * i + 1;
        }
    }
}

static void fill_frequencies(random_spec *random) {
    uint32_t axes = random->spec.axes, pairs = random->pairs, length = pairs / axes;
    for (uint32_t i = 0; i < pairs; i++) {
        uint32_t axis = i / length;
        // Up to 10 percent off the geometric progression, so that no two axes are alike.
        double magnitude = pow(ROTATION_RANGE, -(double)(i % length) / (length - 1)) * (1 + 0.1 * uniform());
        for (uint32_t a = 0; a < axes; a++) {
            double part = a == axis ? 1 : 0;
            if (random->is_dense) // mostly along one axis: directions of a level stay independent
                part = (a == axis ? 2 : 0.5 * uniform()) / 2;
            random->freqs[a * pairs + i] = (float)(magnitude * part);
        }
    }
}

void random_spec_fill(random_spec *random, uint32_t axes, uint64_t seed) {
    memset(random, 0, sizeof(*random));
    seed_now = seed * 8 + axes;
    drawn = 0;
    rope2d_spec *spec = &random->spec;
    uint32_t length = 3 + below(ROTATION_MAX_PAIRS / ROPE2D_MAX_AXES - 2); // pairs of an axis, 3 to 12
    random->pairs = axes * length;
    random->is_dense = below(2);
    spec->struct_size = sizeof(*spec);
    spec->axes = axes;
    spec->pairing = (rope2d_pairing)below(ROPE2D_PAIRING_COUNT);
    uint32_t before = below(4), after = below(4);
    spec->head_dim = before + 2 * random->pairs + after;
    if (spec->pairing == ROPE2D_PAIRING_EXPLICIT) {
        spec->pairs = random->pairs;
        spec->pair_lo = random->lo;
        spec->pair_hi = random->hi;
    } else {
        spec->rotary_begin = before;
        spec->rotary_dim = 2 * random->pairs;
    }
    spec->freqs = random->freqs;
    pair_channels(random);
    fill_frequencies(random);
}

void random_spec_describe(const random_spec *random, char *text, size_t size) {
    static const char *const pairings[] = {"interleaved", "half", "segment half", "explicit"};
    snprintf(text, size, "%u axes, %s, %u pairs in %u channels from %u on, %s", random->spec.axes,
             pairings[random->spec.pairing], random->pairs, random->spec.head_dim, random->spec.rotary_begin,
             random->is_dense ? "dense" : "axial");
}

// ------------------------------------------------------------------------------------------------- rotation

bool rotate(rope2d_device *device, const rope2d_spec *spec, const float *coordinates, uint64_t tokens,
            const float *in, float *out) {
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    rope2d_positions_params where = {sizeof(where), spec, .tokens = tokens, .coordinates = coordinates};
    rope2d_status status = rope2d_positions_create(device, &where, &positions);
    if (status != ROPE2D_OK)
        goto done;
    rope2d_plan_params types = {sizeof(types), spec, .in = ROPE2D_F32, .out = ROPE2D_F32};
    types.flags = ROPE2D_PLAN_NO_SELF_TEST;
    status = rope2d_plan_create(device, &types, &plan);
    if (status != ROPE2D_OK)
        goto done;
    rope2d_tensor tensor = {.heads = 1};
    // Never written through an input view.
    tensor.in =
        rope2d_view_contiguous((float *)in, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, tokens, 1, spec->head_dim);
    tensor.out = rope2d_view_contiguous(out, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, tokens, 1, spec->head_dim);
    rope2d_apply_params params = {sizeof(params), .batch = 1, .tokens = tokens, .tensor_count = 1,
                                  .tensors = &tensor};
    status = rope2d_apply(plan, positions, &params);
done:
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    if (status != ROPE2D_OK)
        CHECK(false, "rotate: %s", rope2d_status_name(status));
    return status == ROPE2D_OK;
}

// SPDX-License-Identifier: MIT
#include "compare.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void note(struct difference *difference, uint64_t index) {
    if (!difference->count++)
        difference->first = index;
}

struct difference compare_recorded(const float *values, const float *recorded, uint64_t count,
                                   double tolerance) {
    struct difference found = {0};
    for (uint64_t i = 0; i < count; ++i) {
        if (values[i] == recorded[i] || (isnan(values[i]) && isnan(recorded[i])))
            continue;
        double distance = fabs((double)values[i] - (double)recorded[i]);
        if (isnan(distance))
            distance = INFINITY;
        if (distance > found.largest)
            found.largest = distance;
        if (distance > tolerance)
            note(&found, i);
    }
    return found;
}

static uint32_t element_bits(const void *values, rope2d_element element, uint64_t index) {
    if (element != ROPE2D_F32)
        return ((const uint16_t *)values)[index];
    uint32_t bits;
    memcpy(&bits, (const uint32_t *)values + index, sizeof bits);
    return bits;
}

static bool bits_are_nan(uint32_t bits, rope2d_element element) {
    static const uint32_t infinities[] = {0x7f800000, 0x7c00, 0x7f80};
    uint32_t magnitude = bits & (element == ROPE2D_F32 ? 0x7fffffffu : 0x7fffu);
    return magnitude > infinities[element];
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Two inputs, two products and the sum can each lose less than FLT_MIN. In 16 bits only a rounding boundary
// could show that, and f16 has subnormals of its own, which integer arithmetic makes: nothing is allowed.
static bool is_flushed(uint32_t a, uint32_t b, rope2d_element element) {
    if (element == ROPE2D_F16)
        return false;
    unsigned shift = element == ROPE2D_BF16 ? 16 : 0;
    return fabs((double)float_of(a << shift) - (double)float_of(b << shift)) <= 5 * (double)FLT_MIN;
}

struct difference compare_bits(const void *values, const void *reference, rope2d_element element,
                               uint64_t count, rope2d_exactness exactness) {
    struct difference found = {0};
    if (memcmp(values, reference, (size_t)count * rope2d_element_size(element)) == 0)
        return found;
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t a = element_bits(values, element, i), b = element_bits(reference, element, i);
        if (a == b || (bits_are_nan(a, element) && bits_are_nan(b, element)))
            continue;
        if (exactness == ROPE2D_EXACT_NORMAL && is_flushed(a, b, element))
            continue;
        note(&found, i);
    }
    return found;
}

struct place {
    uint64_t batch, token, head, channel;
};

static struct place place_of(const struct job_tensor *tensor, uint64_t index) {
    struct place place = {.channel = index % tensor->head_dim};
    index /= tensor->head_dim;
    uint64_t heads_first = tensor->layout == ROPE2D_LAYOUT_BHND;
    uint64_t inner = heads_first ? tensor->tokens : tensor->heads;
    uint64_t outer = heads_first ? tensor->heads : tensor->tokens;
    place.batch = index / inner / outer;
    place.head = heads_first ? index / inner % outer : index % inner;
    place.token = heads_first ? index % inner : index / inner % outer;
    return place;
}

void compare_place(const struct job_tensor *tensor, const char *name, uint64_t index, char *text,
                   size_t size) {
    struct place place = place_of(tensor, index);
    snprintf(text, size, "%s[batch %" PRIu64 ", token %" PRIu64 ", head %" PRIu64 ", channel %" PRIu64 "]",
             name, place.batch, place.token, place.head, place.channel);
}

static bool token_is_rotated(const struct job_positions *positions, uint64_t token) {
    for (uint32_t i = 0; i < positions->unrotated_count; ++i)
        if (token >= positions->unrotated[i].begin && token < positions->unrotated[i].end)
            return false;
    return true;
}

static void mark_pairs(const rope2d_spec *spec, bool *is_paired) {
    for (uint32_t i = 0; spec->pairing != ROPE2D_PAIRING_EXPLICIT && i < spec->rotary_dim; ++i)
        is_paired[spec->rotary_begin + i] = true;
    for (uint32_t i = 0; spec->pairing == ROPE2D_PAIRING_EXPLICIT && i < spec->pairs; ++i)
        is_paired[spec->pair_lo[i]] = is_paired[spec->pair_hi[i]] = true;
}

struct difference compare_copied(const struct job *job, size_t which, const float *values) {
    const struct job_tensor *tensor = &job->tensors[which];
    const struct job_positions *positions = &job->positions[job->positions[which].coordinates ? which : 0];
    bool is_paired[ROPE2D_MAX_HEAD_DIM] = {false};
    struct difference found = {0};
    mark_pairs(&job->spec, is_paired);
    for (uint64_t i = 0; i < tensor->count; ++i) {
        struct place place = place_of(tensor, i);
        if (is_paired[place.channel] && token_is_rotated(positions, place.token))
            continue;
        if (element_bits(values, ROPE2D_F32, i) != element_bits(tensor->data, ROPE2D_F32, i))
            note(&found, i);
    }
    return found;
}

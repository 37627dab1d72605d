// SPDX-License-Identifier: MIT
#include "work.h"

#include <stdlib.h>
#include <string.h>

#define LIST_COUNT      6u
#define STREAM_POSITION 1000 // streams of the counter; tensors have those below
#define STREAM_ROW      1100
#define STREAM_WEIGHT   1200

// What a coordinate is: `i` of `n` along an axis.
static float coordinate(const struct harness_case *what, uint64_t i, uint64_t n, uint64_t word) {
    switch (what->coordinates) {
    case HARNESS_CENTERS:
        return (float)(2.0 * ((double)i + 0.5) / (double)n - 1.0);
    case HARNESS_FRACTIONS:
        if (word % 8 == 0)
            return word % 16 == 0 ? 0.0f : -0.0f;
        return counter_scaled(word % 3 == 0 ? (word & 0xf) << 60 : word, 5);
    case HARNESS_FAR:
        return (float)(4096 + 977 * i);
    case HARNESS_GRID:
        break;
    }
    return (float)i;
}

static void fill_coordinates(struct harness_positions *positions, const struct harness_case *what,
                             uint32_t axes, uint64_t seed, uint32_t group) {
    float *at = positions->coordinates;
    uint64_t height = what->height > 0 ? what->height : 1;
    uint64_t width = what->width > 0 ? what->width : 1;
    for (uint32_t b = 0; b < positions->batch; b++)
        for (uint64_t t = 0; t < positions->tokens; t++) {
            uint64_t i =
                t >= what->prefix ? t - what->prefix : t + 1; // what does not rotate has coordinates too
            const uint64_t along[ROPE2D_MAX_AXES] = {i / width, i % width, i % 4, i * 3 % 7};
            for (uint32_t axis = 0; axis < axes; axis++, at++) {
                uint64_t word = counter_word(seed, STREAM_POSITION + group,
                                             (b * positions->tokens + t) * ROPE2D_MAX_AXES + axis);
                if (what->given != NULL && t < positions->tokens - 3 * group)
                    *at = what->given[t * axes + axis];
                else
                    *at = coordinate(what, along[axis] + 3 * b + 5 * group, height + width, word);
            }
        }
}

static bool fill_unrotated(struct harness_positions *positions, const struct harness_case *what) {
    positions->unrotated = calloc(what->unrotated_count + 1, sizeof(rope2d_range));
    if (positions->unrotated == NULL)
        return false;
    if (what->prefix > 0)
        positions->unrotated[positions->unrotated_count++] = (rope2d_range){0, what->prefix};
    for (uint32_t i = 0; i < what->unrotated_count; i++)
        positions->unrotated[positions->unrotated_count++] = what->unrotated[i];
    return true;
}

static float weight(uint64_t seed, uint64_t index) {
    return 1.0f + 0.75f * counter_uniform(counter_word(seed, STREAM_WEIGHT, index));
}

static bool fill_magnitudes(struct harness_positions *positions, uint32_t pairs, uint64_t seed) {
    size_t count = (size_t)(positions->batch * positions->tokens * pairs);
    positions->magnitudes = calloc(count + 1, sizeof(float));
    for (size_t i = 0; positions->magnitudes != NULL && i < count; i++)
        positions->magnitudes[i] = weight(seed, i);
    return positions->magnitudes != NULL;
}

static bool make_lists(struct harness_positions *positions, uint32_t axes, bool dense, uint64_t seed) {
    for (uint32_t list = 0; list < (dense ? 1 : axes); list++) {
        uint32_t width = dense ? axes : 1;
        positions->list_counts[list] = LIST_COUNT + list;
        positions->lists[list] = calloc((size_t)(LIST_COUNT + list) * width, sizeof(float));
        if (positions->lists[list] == NULL)
            return false;
        for (uint32_t i = 0; i < (LIST_COUNT + list) * width; i++)
            positions->lists[list][i] = counter_scaled(counter_word(seed, STREAM_ROW + 1 + list, i), 4);
    }
    return true;
}

// Draws rows, and says the same by coordinates and ranges. Every fifth token does not rotate.
static bool make_rows(struct harness_positions *positions, const struct harness_spec *spec, bool dense,
                      bool partly, uint64_t seed) {
    uint32_t axes = spec->spec.axes;
    uint32_t width = dense ? 1 : axes;
    uint64_t tokens = positions->tokens;
    free(positions->unrotated);
    positions->unrotated = calloc(tokens + 1, sizeof(rope2d_range));
    positions->rows = calloc(positions->batch * tokens * width + 1, sizeof(int32_t));
    positions->unrotated_count = 0;
    if (positions->unrotated == NULL || positions->rows == NULL || !make_lists(positions, axes, dense, seed))
        return false;
    for (uint64_t t = 0; t < tokens; t += 5)
        positions->unrotated[positions->unrotated_count++] = (rope2d_range){t, t + 1};
    for (uint64_t token = 0; token < positions->batch * tokens; token++) {
        for (uint32_t axis = 0; axis < axes; axis++) {
            uint32_t list = dense ? 0 : axis;
            uint64_t word = counter_word(seed, STREAM_ROW, token * ROPE2D_MAX_AXES + list);
            uint32_t row = counter_below(word, positions->list_counts[list]);
            positions->coordinates[token * axes + axis] =
                positions->lists[list][dense ? row * axes + axis : row];
            positions->rows[token * width + list] =
                token % tokens % 5 == 0 ? -1 - (int32_t)list : (int32_t)row;
            if (partly && token % tokens % 5 != 0 && token % tokens % (axes + 1) == axis) {
                positions->rows[token * width + list] = -1;
                positions->coordinates[token * axes + axis] = 0; // what the oracle turns by
            }
        }
    }
    return true;
}

bool harness_positions_make(struct harness_positions *positions, const struct harness_case *what,
                            const struct harness_spec *spec, uint64_t seed, uint32_t group) {
    bool dense = harness_structure_of(what)->frequencies == HARNESS_DENSE && !spec->spec.factored;
    bool magnitudes = (what->flags & HARNESS_MAGNITUDES) != 0;
    memset(positions, 0, sizeof(*positions));
    positions->batch = (what->flags & HARNESS_BATCH_POSITIONS) != 0 ? what->batch : 1;
    // More tokens than the apply takes, where it does not begin with the first; keys have more of them.
    positions->tokens = what->first_token + (uint64_t)what->prefix + (uint64_t)what->height * what->width +
                        3 * group + (what->first_token > 0 ? 2 : 0);
    positions->coordinates =
        calloc(positions->batch * positions->tokens * spec->spec.axes + 1, sizeof(float));
    if (positions->coordinates == NULL || !fill_unrotated(positions, what))
        return false;
    fill_coordinates(positions, what, spec->spec.axes, seed, group);
    if (magnitudes && !fill_magnitudes(positions, spec->pairs, seed + group))
        return false;
    return (what->flags & HARNESS_ROWS) == 0 ||
           make_rows(positions, spec, dense, (what->flags & HARNESS_PARTLY) != 0, seed + group);
}

void harness_positions_free(struct harness_positions *positions) {
    free(positions->coordinates);
    free(positions->magnitudes);
    free(positions->unrotated);
    free(positions->rows);
    for (uint32_t i = 0; i < ROPE2D_MAX_AXES; i++)
        free(positions->lists[i]);
    memset(positions, 0, sizeof(*positions));
}

rope2d_positions_params harness_positions_params(const struct harness_positions *positions,
                                                 const struct harness_spec *spec, rope2d_table table) {
    rope2d_positions_params params = {.struct_size = sizeof(params),
                                      .spec = &spec->spec,
                                      .table = table,
                                      .tokens = positions->tokens,
                                      .batch = positions->batch};
    if (positions->rows != NULL) {
        params.rows = positions->rows;
        for (uint32_t i = 0; i < ROPE2D_MAX_AXES; i++) {
            params.lists[i] = positions->lists[i];
            params.list_counts[i] = positions->list_counts[i];
        }
        return params;
    }
    params.coordinates = positions->coordinates;
    params.magnitudes = positions->magnitudes;
    params.unrotated = positions->unrotated_count > 0 ? positions->unrotated : NULL;
    params.unrotated_count = positions->unrotated_count;
    return params;
}

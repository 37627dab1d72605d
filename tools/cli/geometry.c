// SPDX-License-Identifier: MIT
#include "geometry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "elementary.h"
#include "message.h"
#include "options.h"

float *frequencies_from_base(double base, uint32_t axes, uint32_t pairs) {
    float *freqs = calloc((size_t)axes * pairs + 1, sizeof *freqs);
    uint32_t own = pairs / axes;
    for (uint32_t axis = 0; freqs && axis < axes; ++axis) {
        for (uint32_t j = 0; j < own; ++j) {
            double exponent = -(double)(axes * j) / (double)pairs;
            freqs[(size_t)axis * pairs + axis * own + j] = (float)rope2d_pow(base, exponent);
        }
    }
    return freqs;
}

float *coordinates_of_grid(uint32_t height, uint32_t width, bool x_first, uint64_t tokens,
                           const rope2d_range *unrotated, uint32_t unrotated_count) {
    if (tokens > SIZE_MAX / (2 * sizeof(float)) - 1)
        return NULL;
    float *coordinates = calloc((size_t)tokens * 2 + 1, sizeof *coordinates);
    uint64_t patch = 0, patches = (uint64_t)height * width;
    uint32_t range = 0;
    for (uint64_t token = 0; coordinates && token < tokens && patch < patches; ++token) {
        while (range < unrotated_count && token >= unrotated[range].end)
            ++range;
        if (range < unrotated_count && token >= unrotated[range].begin)
            continue;
        uint64_t row = patch / width, column = patch % width;
        coordinates[2 * token + x_first] = (float)row;
        coordinates[2 * token + !x_first] = (float)column;
        ++patch;
    }
    return coordinates;
}

float *coordinates_of_merged_grid(uint32_t height, uint32_t width, uint32_t merge) {
    float *coordinates = calloc((size_t)height * width * 2 + 1, sizeof *coordinates);
    float *at = coordinates;
    uint32_t across = width / merge;
    for (uint32_t block = 0; coordinates && block < height / merge * across; ++block) {
        for (uint32_t inner = 0; inner < merge * merge; ++inner) {
            uint32_t row = block / across * merge + inner / merge;
            uint32_t column = block % across * merge + inner % merge;
            *at++ = (float)row;
            *at++ = (float)column;
        }
    }
    return coordinates;
}

float *coordinates_from_array(const char *option, const char *path, const struct npy_array *array) {
    enum { LARGEST = 1 << 24 }; // every integer up to it is one of fp32
    float *coordinates = calloc((size_t)array->header.count + 1, sizeof *coordinates);
    for (uint64_t i = 0; coordinates && i < array->header.count; ++i) {
        if (array->header.type == NPY_F32) {
            coordinates[i] = ((const float *)array->data)[i];
            continue;
        }
        int64_t value = array->header.type == NPY_I32 ? ((const int32_t *)array->data)[i]
                                                      : ((const int64_t *)array->data)[i];
        if (value < -LARGEST || value > LARGEST) {
            message("%s %s: element %" PRIu64 " is %" PRId64
                    ": integers must be from -%d to %d to be exact in fp32",
                    option, path, i, value, LARGEST, LARGEST);
            free(coordinates);
            return NULL;
        }
        coordinates[i] = (float)value;
    }
    return coordinates;
}

static bool parse_range(const char *text, size_t length, uint64_t minimum, uint64_t tokens,
                        rope2d_range *range) {
    char copy[64] = "";
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    char *colon = strchr(copy, ':');
    if (!colon)
        return false;
    *colon = '\0';
    return parse_count(copy, minimum, tokens, &range->begin) &&
           parse_count(colon + 1, range->begin, tokens, &range->end);
}

int ranges_parse(const char *option, const char *text, uint64_t tokens, rope2d_range **ranges,
                 uint32_t *count) {
    uint64_t last = 0;
    *count = 0;
    *ranges = calloc(strlen(text) / 2 + 1, sizeof **ranges); // a range takes at least four characters
    if (!*ranges) {
        message("no memory for the ranges of %s", option);
        return STATUS_DEVICE;
    }
    for (;;) {
        size_t length = strcspn(text, ",");
        rope2d_range *range = &(*ranges)[*count];
        if (!parse_range(text, length, last, tokens, range)) {
            message("%s %.*s: must be BEGIN:END, from %" PRIu64 " on and at most the %" PRIu64 " tokens",
                    option, (int)length, text, last, tokens);
            return STATUS_USAGE;
        }
        last = range->end;
        ++*count;
        text += length;
        if (!*text++)
            return STATUS_OK;
    }
}

uint64_t ranges_rest(const rope2d_range *ranges, uint32_t count, uint64_t tokens) {
    for (uint32_t i = 0; i < count; ++i)
        tokens -= ranges[i].end - ranges[i].begin;
    return tokens;
}

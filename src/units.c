// SPDX-License-Identifier: MIT
//
// The units of shaders/shape.h: what one invocation of a kernel handles. Wide units exist only where they
// cover the whole head; a kernel then has no other kind.
#include "../shaders/shape.h"
#include "spec.h"

static uint32_t unit_word(uint32_t lo, uint32_t hi) {
    return lo | hi << 12;
}

static uint32_t unit_axis(uint32_t axis, uint32_t pair) {
    return axis << (24 + 2 * pair);
}

// Four pairs from `first` on: two runs of four channels, or one of eight, that begin where vectors do.
static bool is_run(const rope2d_pattern *pattern, uint32_t first) {
    const uint16_t *lo = pattern->lo + first;
    const uint16_t *hi = pattern->hi + first;
    uint32_t step = hi[0] == lo[0] + 1 ? 2 : 1;
    if (lo[0] % (4 * step) != 0 || (step == 1 && hi[0] % 4 != 0))
        return false;
    for (uint32_t i = 1; i < 4; i++) {
        if (lo[i] != lo[0] + step * i || hi[i] != hi[0] + step * i)
            return false;
    }
    return true;
}

static bool wide_covers(const rope2d_pattern *pattern, const uint8_t *rotated) {
    if (pattern->pairs % 4 != 0 || pattern->head_dim % 4 != 0)
        return false;
    for (uint32_t i = 0; i < pattern->pairs; i += 4) {
        if (!is_run(pattern, i))
            return false;
    }
    for (uint32_t channel = 0; channel < pattern->head_dim; channel++) {
        if (rotated[channel] != rotated[channel - channel % 4])
            return false;
    }
    return true;
}

static rope2d_status allocate_units(rope2d_units *units, uint32_t count, uint32_t pairs,
                                    const rope2d_host *host) {
    units->words = rope2d_allocate(host, count, sizeof(*units->words));
    if (units->words == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %u units of spec", (unsigned)count);
    units->count = count;
    units->pairs = pairs;
    return ROPE2D_OK;
}

// Units of `size` pairs or passing channels.
static void fill_units(rope2d_units *units, const rope2d_pattern *pattern, const uint8_t *rotated,
                       uint32_t size) {
    uint32_t unit = 0;
    for (uint32_t i = 0; i < pattern->pairs; i += size, unit++) {
        uint32_t word = unit_word(pattern->lo[i], pattern->hi[i]);
        for (uint32_t j = 0; j < size; j++)
            word |= unit_axis(pattern->axis[i + j], j);
        units->words[unit] = word;
    }
    for (uint32_t channel = 0; channel < pattern->head_dim; channel += size) {
        if (!rotated[channel])
            units->words[unit++] = unit_word(channel, 0);
    }
}

uint32_t rope2d_pattern_flags(const rope2d_pattern *pattern) {
    return (pattern->angles == 2 ? R_TWO_ANGLES_FLAG : 0) |
           (pattern->freq_heads > 1 ? R_HEAD_TABLE_FLAG : 0) | (pattern->factors > 0 ? R_FACTORED_FLAG : 0);
}

rope2d_status rope2d_units_create(rope2d_pattern *pattern, const rope2d_host *host) {
    uint8_t rotated[ROPE2D_MAX_HEAD_DIM] = {0};
    for (uint32_t i = 0; i < pattern->pairs; i++) {
        rotated[pattern->lo[i]] = 1;
        rotated[pattern->hi[i]] = 1;
    }
    uint32_t units = pattern->head_dim - pattern->pairs;
    ROPE2D_TRY(allocate_units(&pattern->single, units, pattern->pairs, host));
    fill_units(&pattern->single, pattern, rotated, 1);
    pattern->single.flags = rope2d_pattern_flags(pattern);
    for (uint32_t i = 0; i < ROPE2D_VECTOR_KINDS; i++)
        ROPE2D_TRY(
            rope2d_vector_units_create(&pattern->vector[i], pattern, rotated, (rope2d_vector_kind)i, host));
    if (!wide_covers(pattern, rotated))
        return ROPE2D_OK;
    ROPE2D_TRY(allocate_units(&pattern->wide, units / 4, pattern->pairs / 4, host));
    fill_units(&pattern->wide, pattern, rotated, 4);
    return ROPE2D_OK;
}

void rope2d_units_destroy(rope2d_pattern *pattern, const rope2d_host *host) {
    for (uint32_t i = 0; i < ROPE2D_VECTOR_KINDS; i++)
        rope2d_vector_units_destroy(&pattern->vector[i], host);
    rope2d_release(host, pattern->single.words, pattern->single.count, sizeof(*pattern->single.words));
    rope2d_release(host, pattern->wide.words, pattern->wide.count, sizeof(*pattern->wide.words));
}

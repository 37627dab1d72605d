// SPDX-License-Identifier: MIT
//
// The vector units of shaders/shape.h. They exist only where they cover the whole head; a kernel then has no
// other kind.
#include "../shaders/shape.h"
#include "spec.h"
#include "stage.h"

#include <string.h>

#define MOST_LONE 32u // units with a run each

typedef struct shape {
    const rope2d_pattern *pattern;
    const uint8_t *rotated; // [head_dim]
    uint32_t run;           // channels: 4 or 8
    bool interleaved;
    bool beside;
    bool lone; // a run to a unit
    uint32_t pair_runs;
    uint32_t passing_runs;
} shape;

static uint32_t run_pairs(const shape *s) {
    return s->interleaved ? s->run / 2 : s->run;
}

// The pairs from `first` on are the los and his of two runs, or one run that holds both.
static bool is_run(const shape *s, uint32_t first) {
    const uint16_t *lo = s->pattern->lo + first;
    const uint16_t *hi = s->pattern->hi + first;
    const uint32_t step = s->interleaved ? 2 : 1;
    if (lo[0] % s->run != 0 || (s->interleaved ? hi[0] != lo[0] + 1 : hi[0] % s->run != 0))
        return false;
    for (uint32_t i = 0; i < run_pairs(s); i++)
        if (lo[i] != lo[0] + step * i || hi[i] != hi[0] + step * i)
            return false;
    return true;
}

// Counts the runs; false where the head is not made of them.
static bool measure(shape *s) {
    const rope2d_pattern *pattern = s->pattern;
    s->interleaved = pattern->pairs > 0 && pattern->hi[0] == pattern->lo[0] + 1;
    if (pattern->head_dim % s->run != 0 || pattern->pairs % run_pairs(s) != 0)
        return false;
    for (uint32_t i = 0; i < pattern->pairs; i += run_pairs(s))
        if (!is_run(s, i))
            return false;
    for (uint32_t channel = 0; channel < pattern->head_dim; channel++)
        if (s->rotated[channel] != s->rotated[channel - channel % s->run])
            return false;
    s->pair_runs = pattern->pairs / run_pairs(s);
    s->passing_runs = (pattern->head_dim - 2 * pattern->pairs) / s->run;
    return true;
}

static void write_unit(uint32_t *words, uint32_t a, uint32_t b) {
    words[0] = a | b << 12;
    words[1] = 0;
}

static void write_pairs(uint32_t *words, const shape *s, uint32_t a_pair, uint32_t b_pair) {
    const uint32_t side = s->run / 4; // duos of a unit's first half
    words[1] = a_pair | b_pair << 12;
    for (uint32_t i = 0; i < 2 * side; i++) {
        const uint8_t *axis = s->pattern->axis + (i < side ? a_pair + 2 * i : b_pair + 2 * (i - side));
        words[0] |= (uint32_t)axis[0] << (24 + 2 * i);
        words[1] |= (uint32_t)axis[1] << (24 + 2 * i);
    }
}

// A unit takes its first run from one half of all runs and its second from the other, so that each half is
// read in the order of its bytes; or, where asked for, interleaved ones side by side, which mostly one axis
// turns. Of an odd number of runs one is alone, or, where asked for, each.
static void fill_pairs(const shape *s, uint32_t *words, uint32_t units) {
    const rope2d_pattern *pattern = s->pattern;
    for (uint32_t unit = 0; unit < units; unit++) {
        uint32_t a_pair = unit * run_pairs(s);
        uint32_t b_pair = a_pair + s->run / 2;
        if (s->interleaved) {
            const uint32_t a_run = s->beside ? 2 * unit : unit;
            const uint32_t b_run = a_run + (s->lone ? 0 : s->beside ? 1 : units);
            a_pair = a_run * run_pairs(s);
            b_pair = (b_run < s->pair_runs ? b_run : a_run) * run_pairs(s);
            write_unit(words + 2 * unit, pattern->lo[a_pair], pattern->lo[b_pair]);
        } else {
            write_unit(words + 2 * unit, pattern->lo[a_pair], pattern->hi[a_pair]);
        }
        write_pairs(words + 2 * unit, s, a_pair, b_pair);
    }
}

static void fill_passing(const shape *s, uint32_t *words, uint32_t units) {
    uint32_t seen = 0;
    for (uint32_t channel = 0; channel < s->pattern->head_dim; channel += s->run) {
        if (s->rotated[channel])
            continue;
        if (seen < units)
            write_unit(words + 2 * seen, channel, channel);
        else // replaces the second run
            words[2 * (seen - units)] = R_UNIT_LO(words[2 * (seen - units)]) | channel << 12;
        seen++;
    }
}

static uint32_t find_flags(const shape *s, const rope2d_units *units) {
    uint32_t flags = R_ONE_AXIS_FLAG | rope2d_pattern_flags(s->pattern);
    flags |= s->interleaved ? R_INTERLEAVED_FLAG : 0;
    flags |= s->run == 8 ? R_EIGHT_FLAG | R_RUN_AXIS_FLAG : 0;
    for (uint32_t unit = 0; unit < units->count; unit++) {
        const uint32_t word = units->words[2 * unit];
        if (R_UNIT_LO(word) == R_UNIT_HI(word))
            flags |= s->lone ? R_ONE_RUN_FLAG : R_LONE_FLAG;
        for (uint32_t i = 0; i < s->run / 2 && unit < units->pairs; i++) {
            if (R_UNIT_AXIS(units->words[2 * unit + 1], i) != R_UNIT_AXIS(word, i))
                flags |= R_PAIR_AXIS_FLAG;
            if (R_UNIT_AXIS(word, i) != R_UNIT_AXIS(word, 0))
                flags &= ~R_ONE_AXIS_FLAG;
            if (i % 2 == 1 && R_UNIT_AXIS(word, i) != R_UNIT_AXIS(word, i - 1))
                flags &= ~R_RUN_AXIS_FLAG;
        }
    }
    return flags & R_PAIR_AXIS_FLAG ? flags & ~(R_ONE_AXIS_FLAG | R_RUN_AXIS_FLAG) : flags;
}

rope2d_status rope2d_vector_units_create(rope2d_units *units, const rope2d_pattern *pattern,
                                         const uint8_t *rotated, rope2d_vector_kind kind,
                                         const rope2d_host *host) {
    shape s = {.pattern = pattern, .rotated = rotated};
    s.run = kind == ROPE2D_FOURS || kind == ROPE2D_NEAR_FOURS ? 4 : 8;
    s.beside = kind == ROPE2D_NEAR_EIGHTS || kind == ROPE2D_NEAR_FOURS;
    s.lone = kind == ROPE2D_LONE_EIGHTS;
    if (!measure(&s))
        return ROPE2D_OK;
    const uint32_t unit_runs = s.lone ? 1 : 2;
    const uint32_t pairs = s.interleaved ? (s.pair_runs + unit_runs - 1) / unit_runs : s.pair_runs;
    // Of four they are for lanes that together have what comes next: measured where these are whole groups.
    if (kind == ROPE2D_NEAR_FOURS && (!s.interleaved || pairs % R_LANES_TOGETHER != 0))
        return ROPE2D_OK;
    const uint32_t passing = (s.passing_runs + unit_runs - 1) / unit_runs;
    // In the place of units of which one has half as many channels as the others; where these are many, that
    // is little.
    if (s.lone && (!s.interleaved || pairs % 2 == 0 || passing > pairs || pairs + passing > MOST_LONE))
        return ROPE2D_OK;
    units->words = rope2d_allocate(host, pairs + passing, 2 * sizeof(*units->words));
    if (units->words == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %u units of spec",
                           (unsigned)(pairs + passing));
    units->count = pairs + passing;
    units->pairs = pairs;
    fill_pairs(&s, units->words, pairs);
    fill_passing(&s, units->words + 2 * (size_t)pairs, passing);
    units->flags = find_flags(&s, units);
    return ROPE2D_OK;
}

const rope2d_units *rope2d_plan_vectors(const rope2d_plan *plan) {
    const bool halves = plan->in != ROPE2D_F32 && plan->out != ROPE2D_F32;
    const bool is_one = plan->in == plan->out;
    uint32_t kind = is_one && plan->device->has_near_runs ? ROPE2D_NEAR_FOURS : ROPE2D_FOURS;
    if (halves || (is_one && plan->device->has_long_runs))
        kind = plan->device->has_long_runs ? ROPE2D_NEAR_EIGHTS : ROPE2D_EIGHTS;
    // Two to a unit would leave one over. Vulkan's GPUs take each alone, and OpenCL's fours, of two heads
    // each (stage_lanes.c): 4 to 12 % less time on NVIDIA's.
    const rope2d_device_info *info = &plan->device->info;
    if (kind == ROPE2D_EIGHTS && !info->is_software && plan->pattern.vector[ROPE2D_LONE_EIGHTS].count > 0)
        kind = info->backend == ROPE2D_BACKEND_VULKAN ? ROPE2D_LONE_EIGHTS : ROPE2D_FOURS;
    return &plan->pattern.vector[plan->pattern.vector[kind].count > 0 ? kind : ROPE2D_FOURS];
}

void rope2d_vector_units_destroy(rope2d_units *units, const rope2d_host *host) {
    rope2d_release(host, units->words, units->count, 2 * sizeof(*units->words));
}

// SPDX-License-Identifier: MIT
#include "selftest.h"

#define R_IN         (memory->in_type)
#define R_OUT        (memory->out_type)
#define R_WIDE       (memory->wide)
#define R_TWO_ANGLES (memory->two_angles)
#define R_FACTORED   (R_SHAPE(R_FACTORS) > 0)
#include "../shaders/prelude_c.h"

#include "../shaders/core.h"
#undef uint
#undef precise

// Of the first set, about; a head of 4,096 channels and several heads take more.
#define PROBE_ELEMENTS 4096
#define PROBE_ROWS     64

// Every table entry belongs to a class, and so do the inputs that it turns.
typedef enum entry_class {
    CANCELLING, // the two products nearly cancel, and their rounding errors are left: shows contraction
    TIE,        // the sum rounds to halfway between two 16-bit numbers: shows a conversion fused with it
    OVERFLOWING,
    GENERIC, // shows any wrong rounding
    TINY     // subnormal products; the second set
} entry_class;

static uint64_t mix_long(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t z = ((uint64_t)a << 32 | b) + (uint64_t)(c + 1u) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t mix(uint32_t a, uint32_t b, uint32_t c) {
    return (uint32_t)(mix_long(a, b, c) >> 32);
}

// A number in [1, 2) with 24 random bits, either sign.
static float random_float(uint32_t random) {
    return r_from_bits(0x3f800000u | (random & 0x807fffffu));
}

// Small numbers that belong to an entry: integers of 8 bits, which every element type can hold.
typedef struct factors {
    entry_class kind;
    float lo;
    float hi;
} factors;

static factors entry_factors(uint32_t row, uint32_t column, uint32_t normal_rows) {
    static const entry_class classes[16] = {CANCELLING, TIE,     OVERFLOWING, CANCELLING, //
                                            TIE,        GENERIC, OVERFLOWING, CANCELLING, //
                                            TIE,        GENERIC, OVERFLOWING, CANCELLING, //
                                            TIE,        GENERIC, OVERFLOWING, CANCELLING};
    // In turn and not at random: each has its share of any table, however small.
    const uint32_t turn = (row + 3 * column + column / 16) % 16;
    const uint32_t random = mix(row, column, 1);
    return (factors){
        .kind = row >= normal_rows ? TINY : classes[turn],
        .lo = (float)(128 + (random & 127)),
        .hi = (float)(128 + ((random >> 7) & 127)),
    };
}

static r_entry make_entry(const rope2d_plan *plan, uint32_t row, uint32_t column, uint32_t normal_rows) {
    const factors f = entry_factors(row, column, normal_rows);
    const float c = 0.5f * random_float(mix(row, column, 2));
    const float s = 0.5f * random_float(mix(row, column, 3));
    switch (f.kind) {
    case CANCELLING: // c * lo and s * hi are the same product but for the rounding of c and s
        return (r_entry){c * f.hi * 0x1p-8f, c * f.lo * 0x1p-8f};
    case TIE: // times an odd number of 8 bits: one bit more than the output's 11 or 8
        if (plan->out != ROPE2D_F32)
            return (r_entry){plan->out == ROPE2D_F16 ? 1.0625f : 1.5f, 1.0f};
        return (r_entry){c, s};
    case OVERFLOWING:
        return (r_entry){1.5f, 1.5f};
    case TINY:
        return plan->in == ROPE2D_F16 ? (r_entry){c * 0x1p-118f, s * 0x1p-118f} : (r_entry){c, s};
    case GENERIC:
    default:
        return (r_entry){c, s};
    }
}

// What the factors of axes past the first do to the first one's entry: nothing in half of the rows, so that
// the product has that entry's class; anything in the others, so that every rounding of a product shows.
static r_entry make_factor(uint32_t row, uint32_t column) {
    if (row % 2 == 0)
        return (r_entry){1.0f, 0.0f};
    return (r_entry){random_float(mix(row, column, 8)), random_float(mix(row, column, 9))};
}

static void fill_table(const rope2d_probe *probe, const rope2d_plan *plan) {
    const rope2d_positions *positions = &probe->positions;
    const uint32_t parts = plan->pattern.factors == 0 ? 1 : plan->pattern.factors;
    for (uint32_t row = 0; row < positions->table_rows; row++)
        for (uint32_t column = 0; column < positions->table_columns; column++) {
            const r_entry entry = column < positions->table_columns / parts
                                      ? make_entry(plan, row, column, probe->rows)
                                      : make_factor(row, column);
            float *at = positions->table + 2 * ((size_t)row * positions->table_columns + column);
            at[0] = entry.x;
            at[1] = entry.y;
        }
}

// One token of the second set does not rotate, and of the first some do not, or in part: each axis has a
// token where it stays, and the others mostly turn.
static void fill_rows(const rope2d_probe *probe) {
    const rope2d_positions *positions = &probe->positions;
    const uint32_t axes = positions->pattern.row_axes;
    for (uint32_t token = 0, at = 0; token < positions->tokens; token++) {
        const bool is_normal = token < probe->tokens;
        const uint32_t rows = is_normal ? probe->rows : positions->table_rows - probe->rows;
        for (uint32_t axis = 0; axis < axes; axis++, at++) {
            const uint32_t random = mix(token, axis, 4);
            const bool stays = is_normal ? random % 32 == 7 || token == axis + 1 : token == probe->tokens + 1;
            positions->rows[at] =
                stays ? -1 : (int32_t)((random >> 8) % rows + (is_normal ? 0 : probe->rows));
        }
    }
}

static rope2d_status create(rope2d_probe *probe, const rope2d_plan *plan, uint64_t tokens, uint32_t rows) {
    const rope2d_host *host = &plan->device->host;
    const uint32_t parts = plan->pattern.factors == 0 ? 1 : plan->pattern.factors;
    const uint32_t columns = parts * plan->pattern.pairs * plan->pattern.angles *
                             (plan->pattern.freq_heads > 1 ? probe->heads : 1);
    rope2d_positions *positions = &probe->positions;
    positions->device = plan->device;
    positions->pattern = plan->pattern; // borrowed
    positions->table_kind = plan->table_kind;
    positions->tokens = tokens;
    positions->batch = 1;
    positions->is_axial = plan->pattern.is_axial;
    positions->table_rows = rows;
    positions->table_columns = columns > 0 ? columns : parts;
    positions->table_entries = (uint64_t)positions->table_rows * positions->table_columns;
    positions->row_count = positions->tokens * plan->pattern.row_axes;
    positions->table = rope2d_allocate(host, positions->table_entries, 2 * sizeof(float));
    positions->rows = rope2d_allocate(host, positions->row_count, sizeof(int32_t));
    if (!positions->table || !positions->rows)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for the self-test");
    return ROPE2D_OK;
}

rope2d_status rope2d_probe_create(rope2d_probe *probe, const rope2d_plan *plan) {
    const uint32_t fitting = PROBE_ELEMENTS / (plan->test_heads * plan->pattern.head_dim) + 2;
    const uint32_t least = plan->pattern.row_axes + 2; // one for each axis, and two that turn
    const uint32_t tokens = fitting > least ? fitting : least;
    const uint32_t rows = tokens < PROBE_ROWS ? tokens : PROBE_ROWS;
    *probe = (rope2d_probe){.tokens = tokens, .rows = rows, .heads = plan->test_heads};
    // A subnormal product or result costs a processor more than a hundred others.
    ROPE2D_TRY(create(probe, plan, tokens + tokens / 8 + 2, rows + rows / 8 + 2));
    fill_table(probe, plan);
    fill_rows(probe);
    return ROPE2D_OK;
}

// What takes every f16 to halves of an ulp, to either side of them, below the normal numbers and past the
// largest; the last two pairs make sums whose own rounding must come before the conversion's.
static const r_entry edges[ROPE2D_EDGE_ROWS] = {
    {1.0f, 0.0f},       {0x1.8p0f, 0.0f},        {0x1.7ffffep0f, 0.0f}, {0x1.800002p0f, 0.0f},
    {0x1.8p-14f, 0.0f}, {0x1.7ffffep-12f, 0.0f}, {1.0f, 0x1.002p-11f},  {0x1.333334p-1f, 0x1.99999ap-1f}};

rope2d_status rope2d_edges_create(rope2d_probe *probe, const rope2d_plan *plan) {
    const uint32_t axes = plan->pattern.row_axes;
    const uint32_t parts = plan->pattern.factors == 0 ? 1 : plan->pattern.factors;
    const uint32_t tokens = (ROPE2D_EDGE_PAIRS + plan->pattern.pairs - 1) / plan->pattern.pairs;
    *probe = (rope2d_probe){.tokens = tokens + tokens % 2, .heads = 2};
    const uint64_t all = probe->tokens + probe->tokens / 2;
    ROPE2D_TRY(create(probe, plan, all * ROPE2D_EDGE_ROWS / 2, ROPE2D_EDGE_ROWS));
    probe->positions.batch = ROPE2D_EDGE_ROWS / 2;
    probe->positions.tokens = all;
    rope2d_positions *positions = &probe->positions;
    float *entry = positions->table;
    for (uint32_t row = 0; row < ROPE2D_EDGE_ROWS; row++)
        for (uint32_t column = 0; column < positions->table_columns; column++, entry += 2) {
            const bool is_factor = column >= positions->table_columns / parts;
            entry[0] = edges[is_factor ? 0 : row].x;
            entry[1] = edges[is_factor ? 0 : row].y;
        }
    int32_t *at = positions->rows;
    for (int32_t row = 0; row < ROPE2D_EDGE_ROWS; row++) {
        const uint32_t count = (row % 2 == 0 ? probe->tokens : probe->tokens / 2) * axes;
        for (uint32_t i = 0; i < count; i++)
            *at++ = row;
    }
    return ROPE2D_OK;
}

uint32_t rope2d_edge(const rope2d_plan *plan, uint32_t half) {
    half %= ROPE2D_EDGE_PAIRS;
    return plan->in == ROPE2D_F16 ? half : r_convert(R_F16, (uint32_t)plan->in, half);
}

void rope2d_probe_destroy(rope2d_probe *probe) {
    rope2d_positions *positions = &probe->positions;
    if (!positions->device)
        return;
    const rope2d_host *host = &positions->device->host;
    rope2d_release(host, positions->table, positions->table_entries, 2 * sizeof(float));
    rope2d_release(host, positions->rows, positions->row_count, sizeof(int32_t));
}

static uint32_t narrow(const rope2d_plan *plan, float value) {
    return r_narrow((uint32_t)plan->in, r_bits(value));
}

// Any number: most near 1, some that are subnormal as binary16, a few special.
static float generic(uint32_t random) {
    static const uint32_t specials[8] = {0x00000000u, 0x80000000u, 0x00000000u, 0x80000000u,
                                         0x7f800000u, 0xff800000u, 0x7fc00000u, 0x80000000u};
    const float value = random_float(random);
    if (random % 32 == 3)
        return r_from_bits(specials[(random >> 5) % 8]);
    return (random >> 8) % 4 == 0 ? value * 0x1p-18f : value;
}

static uint32_t tiny(const rope2d_plan *plan, uint32_t random) {
    if (plan->in == ROPE2D_F16)
        return narrow(plan, random_float(random) * 0x1p-9f);
    const uint32_t bits = random & 0x80ffffffu; // subnormal or in the first normal binade
    return plan->in == ROPE2D_BF16 ? bits >> 16 : bits;
}

// A number that the table turns into one halfway between two outputs, and what the other product adds.
static float tie(const rope2d_plan *plan, uint32_t random, float *rest) {
    const uint32_t numerator = plan->out == ROPE2D_F16 ? 17 : 3;
    const uint32_t most = plan->out == ROPE2D_F16 ? 56 : 21;
    const uint32_t odd = 129 + 2 * (random % most);
    // Nearest even goes down from 1 modulo 4; the other product pulls the other way, from below half an ulp.
    *rest = numerator * odd % 4 == 1 ? -0x1p-12f : 0x1p-12f;
    return (float)odd * 0x1p6f;
}

void rope2d_probe_pair(const rope2d_probe *probe, const rope2d_plan *plan, uint32_t token, uint32_t head,
                       uint32_t pair, uint32_t *lo, uint32_t *hi) {
    const rope2d_positions *positions = &probe->positions;
    const rope2d_pattern *pattern = &plan->pattern;
    const uint64_t both = mix_long(token, head * pattern->pairs + pair, 5);
    const uint32_t random = (uint32_t)both, more = (uint32_t)(both >> 32);
    const bool for_hi = (more & 1) != 0; // the output that the inputs are made for
    const int32_t row = positions->rows[(uint64_t)token * pattern->row_axes + pattern->axis[pair]];
    const uint32_t column = (pattern->freq_heads > 1 ? head * pattern->pairs * pattern->angles : 0) +
                            pair * pattern->angles + (for_hi ? pattern->angles - 1 : 0);
    const factors f = entry_factors(row < 0 ? 0 : (uint32_t)row, column, probe->rows);
    const float sign = (more & 2) != 0 ? -1.0f : 1.0f;
    const bool to_f16 = plan->out == ROPE2D_F16;
    if (token >= probe->tokens) {
        *lo = tiny(plan, random);
        *hi = tiny(plan, more);
    } else if (f.kind == CANCELLING) {
        *lo = narrow(plan, (for_hi ? -f.hi : f.lo) * sign * 0x1p6f);
        *hi = narrow(plan, (for_hi ? f.lo : f.hi) * sign * 0x1p6f);
    } else if (f.kind == TIE && plan->out != ROPE2D_F32) {
        float rest;
        const float odd = tie(plan, random, &rest);
        *lo = narrow(plan, for_hi ? -sign * rest : sign * odd);
        *hi = narrow(plan, for_hi ? sign * odd : sign * rest);
    } else if (f.kind == OVERFLOWING && (to_f16 || plan->in != ROPE2D_F16)) {
        *lo = narrow(plan, sign * (float)(176 + random % 80) * (to_f16 ? 0x1p8f : 0x1p120f));
        *hi = narrow(plan, random_float(more));
    } else {
        *lo = narrow(plan, generic(random));
        *hi = narrow(plan, generic(more));
    }
}

uint32_t rope2d_probe_channel(const rope2d_plan *plan, uint32_t token, uint32_t head, uint32_t channel) {
    return narrow(plan, generic(mix(token, head * plan->pattern.head_dim + channel, 7)));
}

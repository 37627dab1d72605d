// SPDX-License-Identifier: MIT
// Builders of coordinates: rules against the formulas of their sources in long double, orders against a sort
// by what they say, sequences against values written out and against M-RoPE as its source counts; refusals.
#include "check.h"
#include "last_line.h"
#include "counter.h"
#include "rope2d/rope2d_presets.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOKENS 4096

static struct last_line logged;
static const rope2d_host host = {.struct_size = sizeof(host), .user = &logged, .log = last_line_keep};

static void verdict(bool good, const char *name, double detail) {
    CHECK(good, "%-40s %g %s", name, detail, logged.text);
}

static double distance(float is, long double wants) { // in ulp of fp32; near 0, of 2^-24
    int exponent = 0;
    (void)frexpl(wants, &exponent);
    exponent = exponent < -20 ? -20 : exponent;
    return (double)(fabsl((long double)is - wants) / ldexpl(1, exponent - 24));
}

// ------------------------------------------------------------------------------------------- rules

static long double place(const rope2d_axis *axis, int i, int n, int rows, int columns) {
    long double scale = axis->scale == 0 ? 1 : axis->scale, reference = axis->reference,
                offset = axis->offset;
    long double m = n, start, end;
    switch (axis->rule) {
    case ROPE2D_RULE_FRACTION:
        return (i + offset) / n * reference; // EVA-02: arange(n) / n * pt_seq_len
    case ROPE2D_RULE_CENTRED:                // Qwen-Image: cat(-(n - n // 2) .. -1, 0 .. n // 2 - 1)
        return i < n - n / 2 ? -(n - n / 2) + i : i - (n - n / 2);
    case ROPE2D_RULE_UNIT:
        return n == 1 ? -1 : -1 + 2.0L * i / (n - 1); // linspace(-1, 1, n)
    case ROPE2D_RULE_PATCH:                           // DINOv3: coords = arange(0.5, n) / m; 2 coords - 1
        m = axis->normalise == ROPE2D_NORMALISE_MAX ? fmax(rows, columns) : m;
        m = axis->normalise == ROPE2D_NORMALISE_MIN ? fmin(rows, columns) : m;
        return 2 * ((i + 0.5L) / m) - 1;
    case ROPE2D_RULE_EXTENT:
        return i * scale / reference * 2 - 1; // LTX-Video: grid * 2 - 1
    case ROPE2D_RULE_MIDDLE:                  // LTX-2: patch boundaries, clamped, their middle as a fraction
        start = fmaxl(i * scale + offset, 0);
        end = fmaxl((i + 1) * scale + offset, 0);
        return (start + end) / 2 / reference * 2 - 1;
    case ROPE2D_RULE_CROP:
        return axis->begin + i * ((long double)axis->end - axis->begin) / n;
    case ROPE2D_RULE_AREA: // Mochi: linspace(-n s / 2, n s / 2, n + 1), middles of neighbours
        scale = sqrtl(reference * reference / ((long double)rows * columns));
        start = -n * scale / 2 + i * scale;
        end = -n * scale / 2 + (i + 1) * scale;
        return (start + end) / 2;
    default:
        return (i + offset) * scale;
    }
}

static void try_rules(void) {
    static const rope2d_axis axes[] = {
        {.rule = ROPE2D_RULE_INDEX},
        {.rule = ROPE2D_RULE_INDEX, .offset = 1},
        {.rule = ROPE2D_RULE_INDEX, .offset = -3, .scale = 0.37},
        {.rule = ROPE2D_RULE_FRACTION, .reference = 16},
        {.rule = ROPE2D_RULE_FRACTION, .offset = 1, .reference = 14},
        {.rule = ROPE2D_RULE_CENTRED},
        {.rule = ROPE2D_RULE_UNIT},
        {.rule = ROPE2D_RULE_PATCH},
        {.rule = ROPE2D_RULE_PATCH, .normalise = ROPE2D_NORMALISE_MAX},
        {.rule = ROPE2D_RULE_PATCH, .normalise = ROPE2D_NORMALISE_MIN},
        {.rule = ROPE2D_RULE_EXTENT, .scale = 32, .reference = 2048},
        {.rule = ROPE2D_RULE_EXTENT, .scale = 0.32, .reference = 20},
        {.rule = ROPE2D_RULE_MIDDLE, .scale = 8.0 / 24, .offset = -7.0 / 24, .reference = 20},
        {.rule = ROPE2D_RULE_CROP, .begin = 4, .end = 27},
        {.rule = ROPE2D_RULE_AREA, .reference = 192},
    };
    for (size_t a = 0; a < sizeof(axes) / sizeof(*axes); a++)
        for (int n = 1; n < 40; n++) {
            float is[40];
            rope2d_axis axis = axes[a];
            axis.counter = ROPE2D_COUNT_ROW;
            double worst = 0;
            if (rope2d_axis_coordinates(&axis, (uint32_t)n, (uint32_t)n, 24, &host, is) != ROPE2D_OK)
                worst = INFINITY;
            for (int i = 0; i < n && worst < 1; i++)
                worst = fmax(worst, distance(is[i], place(&axis, i, n, n, 24)));
            verdict(worst <= 0.5001, "rule", (double)a);
        }
}

// Cut towards zero, and PyTorch's linspace: its values for 7 numbers, as recorded in
// tests/golden/timm_rotary_pixel.
static void try_special_rules(void) {
    const rope2d_axis seconds = {.counter = ROPE2D_COUNT_FRAME, .scale = 1.3, .is_whole = 1};
    const rope2d_axis torch = {.counter = ROPE2D_COUNT_ROW, .rule = ROPE2D_RULE_UNIT, .is_fp32 = 1};
    const rope2d_axis nothing = {.counter = ROPE2D_COUNT_NOTHING, .offset = 5};
    static const float cut[] = {0, 1, 2, 3, 5, 6, 7};
    static const float recorded[] = {-1,
                                     -0.6666666269302368F,
                                     -0.3333333134651184F,
                                     -2.9802322387695312e-08F,
                                     0.3333333134651184F,
                                     0.6666666269302368F,
                                     1};
    float is[7];
    (void)rope2d_axis_coordinates(&seconds, 7, 1, 1, &host, is);
    verdict(memcmp(is, cut, sizeof(is)) == 0, "whole seconds", is[4]);
    (void)rope2d_axis_coordinates(&torch, 7, 7, 7, &host, is);
    verdict(memcmp(is, recorded, sizeof(is)) == 0, "linspace in fp32", is[3]);
    (void)rope2d_axis_coordinates(&nothing, 7, 1, 1, &host, is);
    verdict(is[0] == 0 && is[6] == 0, "counting nothing", is[0]);
}

// ------------------------------------------------------------------------------------------ orders

struct key {
    uint64_t parts[6];
    uint64_t raster;
};

static int compare_keys(const void *a, const void *b) {
    const struct key *left = a, *right = b;
    for (int i = 0; i < 6; i++)
        if (left->parts[i] != right->parts[i])
            return left->parts[i] < right->parts[i] ? -1 : 1;
    return 0;
}

static struct key key_of(const rope2d_segment *grid, uint64_t raster) {
    uint64_t y = raster / grid->columns, x = raster % grid->columns, m = grid->merge, w = m * grid->window;
    switch (grid->order) {
    case ROPE2D_ORDER_COLUMNS:
        return (struct key){{x, y}, raster};
    case ROPE2D_ORDER_BLOCKS:
        return (struct key){{y / m, x / m, y, x}, raster};
    case ROPE2D_ORDER_WINDOWS:
        return (struct key){{y / w, x / w, y / m, x / m, y, x}, raster};
    default:
        return (struct key){{y, x}, raster};
    }
}

static void try_order(rope2d_segment grid) {
    static float coordinates[MAX_TOKENS * 2];
    static uint64_t order[MAX_TOKENS], ends[MAX_TOKENS + 1];
    static struct key keys[MAX_TOKENS];
    grid.axis[0].counter = ROPE2D_COUNT_ROW;
    grid.axis[1].counter = ROPE2D_COUNT_COLUMN;
    rope2d_tokens tokens = {.struct_size = sizeof(tokens),
                            .tokens = MAX_TOKENS,
                            .runs = MAX_TOKENS,
                            .coordinates = coordinates,
                            .order = order,
                            .run_ends = ends};
    uint64_t count = (uint64_t)grid.rows * grid.columns;
    bool good = rope2d_sequence(&grid, 1, 2, &host, &tokens) == ROPE2D_OK && tokens.tokens == count;
    for (uint64_t i = 0; i < count; i++)
        keys[i] = key_of(&grid, i);
    qsort(keys, count, sizeof(*keys), compare_keys);
    uint64_t runs = count != 0;
    for (uint64_t i = 0; i < count && good; i++) {
        good = order[i] == keys[i].raster && coordinates[2 * i] == (float)(keys[i].raster / grid.columns) &&
               coordinates[2 * i + 1] == (float)(keys[i].raster % grid.columns);
        bool is_new = grid.order == ROPE2D_ORDER_WINDOWS && i != 0 &&
                      (keys[i].parts[0] != keys[i - 1].parts[0] || keys[i].parts[1] != keys[i - 1].parts[1]);
        if (is_new)
            good = good && ends[runs++] == i;
    }
    verdict(good && tokens.runs == runs && (count == 0 || (ends[0] == 0 && ends[runs] == count)), "order",
            grid.order);
}

static void try_orders(void) {
    for (uint32_t merge = 1; merge <= 3; merge++)
        for (uint32_t rows = 0; rows <= 8; rows++)
            for (uint32_t columns = 1; columns <= 8; columns += 2)
                for (int order = 0; order < ROPE2D_ORDER_COUNT; order++)
                    try_order((rope2d_segment){.rows = rows * merge,
                                               .columns = columns * merge,
                                               .order = (rope2d_order)order,
                                               .merge = merge,
                                               .window = 1 + rows % 4});
}

// --------------------------------------------------------------------------------------- sequences

// A prefix, two images of different sizes packed, and what follows: written out.
static void try_packed(void) {
    const rope2d_axis row = {.counter = ROPE2D_COUNT_ROW}, column = {.counter = ROPE2D_COUNT_COLUMN};
    const rope2d_segment segments[] = {
        {.kind = ROPE2D_SEGMENT_STILL, .tokens = 1},
        {.kind = ROPE2D_SEGMENT_STILL, .tokens = 2},
        {.rows = 1, .columns = 2, .axis = {row, column}, .repeat = 2},
        {.frames = 2, .rows = 2, .columns = 1, .axis = {row, column}, .origin = {10, 0}},
        {.kind = ROPE2D_SEGMENT_LINE, .tokens = 2, .origin = {-1, 5}, .step = {0.5, 0}},
        {.kind = ROPE2D_SEGMENT_STILL, .tokens = 1},
    };
    static const float wants[][2] = {{0, 0},  {0, 0},  {0, 0},  {0, 0},  {0, 1},  {0, 0},     {0, 1},
                                     {10, 0}, {11, 0}, {10, 0}, {11, 0}, {-1, 5}, {-0.5F, 5}, {0, 0}};
    static const uint64_t ends[] = {0, 1, 3, 5, 7, 9, 11, 13, 14},
                          order[] = {0, 0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 0, 1, 0};
    float coordinates[14][2];
    uint64_t is_ends[9], is_order[14];
    rope2d_range ranges[2];
    rope2d_tokens tokens = {.struct_size = sizeof(tokens)};
    rope2d_status status = rope2d_sequence(segments, 6, 2, &host, &tokens);
    verdict(status == ROPE2D_OK && tokens.tokens == 14 && tokens.unrotated_count == 2 && tokens.runs == 8,
            "counts", (double)tokens.tokens);
    tokens.coordinates = coordinates[0];
    tokens.order = is_order;
    tokens.unrotated = ranges;
    tokens.run_ends = is_ends;
    status = rope2d_sequence(segments, 6, 2, &host, &tokens);
    verdict(status == ROPE2D_OK && memcmp(coordinates, wants, sizeof(wants)) == 0, "packed images", status);
    verdict(memcmp(is_ends, ends, sizeof(ends)) == 0, "run ends", (double)is_ends[1]);
    verdict(memcmp(is_order, order, sizeof(order)) == 0, "numbers", (double)is_order[0]);
    verdict(ranges[0].begin == 0 && ranges[0].end == 3 && ranges[1].begin == 13 && ranges[1].end == 14,
            "unrotated ranges", (double)ranges[0].end);
}

// M-RoPE as Qwen2-VL's get_rope_index counts: one past the largest so far, then t, h, w of the merged grid.
static void try_mrope(uint64_t seed) {
    static float is[MAX_TOKENS][3], wants[MAX_TOKENS][3];
    rope2d_preset *preset = NULL;
    const rope2d_preset_params params = {.struct_size = sizeof(params), .name = "qwen2-vl"};
    verdict(rope2d_preset_create(&params, &host, &preset) == ROPE2D_OK, "qwen2-vl", 0);
    rope2d_item items[6] = {{.kind = ROPE2D_ITEM_TEXT}};
    size_t n = 0;
    float next = 0;
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t a = counter_below(counter_word(seed, 0, 3 * i), 4),
                 h = 1 + counter_below(counter_word(seed, 0, 3 * i + 1), 5),
                 w = 1 + counter_below(counter_word(seed, 0, 3 * i + 2), 5);
        if (i % 2 == 0) {
            items[i] = (rope2d_item){.kind = ROPE2D_ITEM_TEXT, .tokens = a};
            for (uint32_t t = 0; t < a; t++, n++, next++)
                wants[n][0] = wants[n][1] = wants[n][2] = next;
            continue;
        }
        items[i] =
            (rope2d_item){.frames = a, .rows = 2 * h, .columns = 2 * w, .frame_step = a == 2 ? 2.5 : 0};
        float largest = next - 1;
        for (uint32_t t = 0; t < (a == 0 ? 1 : a); t++)
            for (uint32_t y = 0; y < h; y++)
                for (uint32_t x = 0; x < w; x++, n++) {
                    wants[n][0] = next + (a == 2 ? floorf(2.5F * (float)t) : (float)t);
                    wants[n][1] = next + (float)y;
                    wants[n][2] = next + (float)x;
                    for (int axis = 0; axis < 3; axis++)
                        largest = fmaxf(largest, wants[n][axis]);
                }
        next = largest + 1;
    }
    const rope2d_prompt prompt = {.struct_size = sizeof(prompt), .items = items, .item_count = 6};
    rope2d_tokens tokens = {.struct_size = sizeof(tokens), .tokens = MAX_TOKENS, .coordinates = is[0]};
    rope2d_status status = rope2d_preset_positions(preset, &prompt, &host, &tokens);
    verdict(status == ROPE2D_OK && tokens.tokens == n && memcmp(is, wants, n * sizeof(*is)) == 0, "M-RoPE",
            (double)seed);
    rope2d_preset_destroy(preset);
}

static void try_keypoints(void) {
    const float keypoints[] = {0, 0, 640, 480, 320, 240, 160, 120};
    static const float wants[] = {-1, -0.75F, 1, 0.75F, 0, 0, -0.5F, -0.375F};
    float is[8];
    rope2d_status status = rope2d_keypoints(keypoints, 4, 640, 480, &host, is);
    verdict(status == ROPE2D_OK && memcmp(is, wants, sizeof(is)) == 0, "keypoints", is[0]);
}

// ---------------------------------------------------------------------------------------- refusals

static void refuses(rope2d_status is, rope2d_status wants, const char *name) {
    if (is != wants)
        printf("     %s, not %s\n", rope2d_status_name(is), rope2d_status_name(wants));
    verdict(is == wants && logged.text[0] != '\0', name, is);
    logged.text[0] = '\0';
}

static void refuses_segment(rope2d_segment segment, rope2d_status wants, const char *name) {
    rope2d_tokens tokens = {.struct_size = sizeof(tokens), .tokens = 77};
    logged.text[0] = '\0';
    refuses(rope2d_sequence(&segment, 1, 2, &host, &tokens), wants, name);
    verdict(tokens.tokens == 77, "a refused call changes nothing", (double)tokens.tokens);
}

static void refuses_axis(rope2d_axis axis, rope2d_status wants, const char *name) {
    float is[4];
    logged.text[0] = '\0';
    refuses(rope2d_axis_coordinates(&axis, 4, 4, 4, &host, is), wants, name);
    refuses_segment((rope2d_segment){.rows = 4, .columns = 4, .axis = {{0}, axis}}, wants, name);
}

static void try_refusals(void) {
    const rope2d_segment grid = {.rows = 2, .columns = 2};
    const rope2d_axis axis = {0};
    float some[8];
    uint64_t ends[1];
    rope2d_range range;
    rope2d_tokens tokens = {.struct_size = sizeof(tokens)};
    logged.text[0] = '\0';
    refuses(rope2d_sequence(&grid, 1, 2, &host, NULL), ROPE2D_ERROR_NULL, "no tokens");
    refuses(rope2d_sequence(NULL, 1, 2, &host, &tokens), ROPE2D_ERROR_NULL, "no segments");
    refuses(rope2d_sequence(&grid, 1, 0, &host, &tokens), ROPE2D_ERROR_AXES, "axes 0");
    refuses(rope2d_sequence(&grid, 1, 5, &host, &tokens), ROPE2D_ERROR_AXES, "axes 5");
    tokens.struct_size = 4;
    refuses(rope2d_sequence(&grid, 1, 2, &host, &tokens), ROPE2D_ERROR_STRUCT_SIZE, "size of tokens");
    tokens = (rope2d_tokens){.struct_size = sizeof(tokens), .tokens = 3, .coordinates = some};
    refuses(rope2d_sequence(&grid, 1, 2, &host, &tokens), ROPE2D_ERROR_TOKENS, "room for 3 of 4");
    tokens = (rope2d_tokens){.struct_size = sizeof(tokens), .run_ends = ends};
    refuses(rope2d_sequence(&grid, 1, 2, &host, &tokens), ROPE2D_ERROR_TOKENS, "no room for runs");
    const rope2d_segment still = {.kind = ROPE2D_SEGMENT_STILL, .tokens = 1};
    tokens = (rope2d_tokens){.struct_size = sizeof(tokens), .unrotated = &range};
    refuses(rope2d_sequence(&still, 1, 2, &host, &tokens), ROPE2D_ERROR_TOKENS, "no room for ranges");
    refuses_segment((rope2d_segment){.kind = ROPE2D_SEGMENT_COUNT}, ROPE2D_ERROR_ENUM, "unknown kind");
    refuses_segment((rope2d_segment){.order = ROPE2D_ORDER_COUNT}, ROPE2D_ERROR_ENUM, "unknown order");
    refuses_segment((rope2d_segment){.origin = {NAN}}, ROPE2D_ERROR_COORDINATE, "origin NaN");
    refuses_segment((rope2d_segment){.kind = ROPE2D_SEGMENT_LINE, .step = {0, INFINITY}},
                    ROPE2D_ERROR_COORDINATE, "step infinite");
    refuses_segment((rope2d_segment){.rows = 3, .columns = 4, .order = ROPE2D_ORDER_BLOCKS},
                    ROPE2D_ERROR_TOKENS, "blocks that do not fit");
    refuses_segment((rope2d_segment){.rows = 4, .columns = 4, .order = ROPE2D_ORDER_WINDOWS},
                    ROPE2D_ERROR_TOKENS, "windows without a side");
    refuses_segment((rope2d_segment){.rows = 65536, .columns = 65536}, ROPE2D_ERROR_TOKENS, "2^32 tokens");
    refuses_segment(
        (rope2d_segment){
            .rows = 0xffffffff, .columns = 0xffffffff, .frames = 0xffffffff, .repeat = 0xffffffff},
        ROPE2D_ERROR_TOKENS, "2^128 tokens");
    refuses_segment((rope2d_segment){.kind = ROPE2D_SEGMENT_STILL, .tokens = UINT64_MAX}, ROPE2D_ERROR_TOKENS,
                    "2^64 - 1 tokens");
    refuses_axis((rope2d_axis){.counter = ROPE2D_COUNTER_COUNT}, ROPE2D_ERROR_ENUM, "unknown counter");
    refuses_axis((rope2d_axis){.rule = ROPE2D_RULE_COUNT}, ROPE2D_ERROR_ENUM, "unknown rule");
    refuses_axis((rope2d_axis){.normalise = ROPE2D_NORMALISE_COUNT}, ROPE2D_ERROR_ENUM, "unknown normalise");
    refuses_axis((rope2d_axis){.offset = NAN}, ROPE2D_ERROR_COORDINATE, "offset NaN");
    refuses_axis((rope2d_axis){.rule = ROPE2D_RULE_CROP, .end = INFINITY}, ROPE2D_ERROR_COORDINATE,
                 "end infinite");
    refuses_axis((rope2d_axis){.rule = ROPE2D_RULE_FRACTION}, ROPE2D_ERROR_COORDINATE, "no reference");
    refuses_axis((rope2d_axis){.rule = ROPE2D_RULE_AREA, .reference = -1}, ROPE2D_ERROR_COORDINATE,
                 "reference negative");
    refuses(rope2d_axis_coordinates(NULL, 1, 1, 1, &host, some), ROPE2D_ERROR_NULL, "no axis");
    refuses(rope2d_axis_coordinates(&axis, 1, 1, 1, &host, NULL), ROPE2D_ERROR_NULL, "no coordinates");
    const rope2d_axis area = {.counter = ROPE2D_COUNT_ROW, .rule = ROPE2D_RULE_AREA, .reference = 1};
    refuses(rope2d_axis_coordinates(&area, 1, 1, 0, &host, some), ROPE2D_ERROR_TOKENS, "an area of 0");
    refuses(rope2d_keypoints(NULL, 1, 2, 2, &host, some), ROPE2D_ERROR_NULL, "no keypoints");
    refuses(rope2d_keypoints(some, 1, 0, 2, &host, some), ROPE2D_ERROR_COORDINATE, "width 0");
    some[0] = NAN;
    refuses(rope2d_keypoints(some, 1, 2, 2, &host, some), ROPE2D_ERROR_COORDINATE, "keypoint NaN");
}

int main(void) {
    try_rules();
    try_special_rules();
    try_orders();
    try_packed();
    for (uint64_t seed = 1; seed <= 50; seed++)
        try_mrope(seed);
    try_keypoints();
    try_refusals();
    return check_finish();
}

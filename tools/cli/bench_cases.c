// SPDX-License-Identifier: MIT
#include "bench_cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options.h"

const struct bench_tower bench_towers[BENCH_TOWERS] = {
    {"qwen2vl", "Qwen2-VL", 16, 80, 2, {20, 20}, BENCH_AXIAL},
    {"sam2", "SAM 2", 1, 256, 2, {64, 64}, BENCH_AXIAL},
    {"dinov3", "DINOv3", 12, 64, 2, {16, 16}, BENCH_AXIAL},
    {"flux", "Flux", 24, 128, 3, {8, 28, 28}, BENCH_AXIAL},
    {"llama4", "Llama 4", 16, 88, 2, {22, 22}, BENCH_AXIAL},
    {"wan", "Wan 2.1", 12, 128, 3, {22, 21, 21}, BENCH_AXIAL},
    {"mixed", "RoPE-ViT mixed", 12, 64, 2, {32, 32}, BENCH_MIXED},
    {"factored", "RoPE-ViT mixed, factored", 12, 64, 2, {32, 32}, BENCH_FACTORED},
    {"angles", "two angles to a pair", 12, 64, 2, {16, 16}, BENCH_ANGLES},
};
const char *const bench_tower_names[] = {"qwen2vl", "sam2",  "dinov3",   "flux",   "llama4",
                                         "wan",     "mixed", "factored", "angles", NULL};
const char *const bench_element_names[] = {"f32", "f16", "bf16", NULL};
const char *const bench_place_names[] = {"no", "yes", NULL};
const char *const bench_table_names[] = {"buffer", "texture", NULL};
const char *const bench_pairing_names[] = {"interleaved", "half", NULL};

enum { LONGEST_ENTRY = 24 };

// The entry that `text` begins with, without its comma; returns how long it is with it.
static size_t take_entry(const char *text, char entry[LONGEST_ENTRY]) {
    size_t length = strcspn(text, ",");
    snprintf(entry, LONGEST_ENTRY, "%.*s", (int)length, text);
    return length + (text[length] == ',' && text[length + 1]);
}

static int complain(const char *option, const char *text, const char *entry, const char *const *names) {
    char all[160] = "";
    for (size_t i = 0; names[i]; ++i)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s, ", names[i]);
    const char *nearest = nearest_word(entry, names);
    message("--%s %s: must be all, or of %sseparated by commas%s%s%s", option, text, all,
            nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return STATUS_USAGE;
}

int bench_parse_words(const char *option, const char *text, const char *const *names, uint32_t *mask) {
    uint32_t found = 0;
    for (const char *at = text; *at;) {
        char entry[LONGEST_ENTRY];
        at += take_entry(at, entry);
        int index = word_index(entry, names);
        if (strcmp(entry, "all") == 0) {
            for (unsigned i = 0; names[i]; ++i)
                found |= 1u << i;
        } else if (index >= 0) {
            found |= 1u << index;
        } else {
            return complain(option, text, entry, names);
        }
        if (*at == ',')
            return complain(option, text, "", names);
    }
    *mask = found;
    return STATUS_OK;
}

int bench_parse_numbers(const char *option, const char *text, uint64_t most, uint64_t *numbers,
                        size_t *count) {
    size_t found = 0;
    for (const char *at = text; *at;) {
        char entry[LONGEST_ENTRY];
        uint64_t number;
        at += take_entry(at, entry);
        if (found == BENCH_LIST || *at == ',' || !parse_count(entry, 1, most, &number)) {
            message("--%s %s: must be at most %d numbers from 1 to %" PRIu64 " with commas between", option,
                    text, BENCH_LIST, most);
            return STATUS_USAGE;
        }
        numbers[found++] = number;
    }
    *count = found;
    return STATUS_OK;
}

uint64_t bench_bytes(const struct bench_case *what) {
    return BENCH_TENSORS * what->tokens * what->tower->heads * what->tower->head_dim *
           rope2d_element_size(what->element);
}

uint64_t bench_columns_of(uint64_t tokens) {
    uint64_t columns = 1;
    while (columns * columns < tokens)
        columns *= 2;
    return columns;
}

uint64_t bench_table_floats(const struct bench_case *what) {
    uint64_t most = bench_columns_of(what->tokens) * what->tower->head_dim, floats = 1024;
    if (what->tower->form == BENCH_MIXED)
        most = what->tokens * what->tower->heads * what->tower->head_dim;
    else if (what->tower->heads > 1)
        return 0;
    while (floats * 2 <= most)
        floats *= 2;
    return floats;
}

static uint64_t word_at(uint64_t index) {
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// Eight binades, the largest of them [1, 2), with random signs and significands: sums of products stay
// normal.
static uint32_t f32_of(uint32_t bits) {
    return (bits & 0x807fffffu) | (120u + (bits >> 23 & 7u)) << 23;
}

static uint16_t f16_of(uint32_t bits) {
    return (uint16_t)((bits & 0x83ffu) | (8u + (bits >> 10 & 7u)) << 10);
}

static uint16_t bf16_of(uint32_t bits) {
    return (uint16_t)((bits & 0x807fu) | (120u + (bits >> 7 & 7u)) << 7);
}

// A prime number: what is put a period away from its place is in another channel.
enum { PERIOD = 1048573 };

// Made once, since making them takes longer than copying them.
static const unsigned char *period_of(rope2d_element element) {
    static uint32_t periods[ROPE2D_ELEMENT_COUNT][PERIOD];
    static bool is_made[ROPE2D_ELEMENT_COUNT];
    uint32_t *wide = periods[element];
    uint16_t *narrow = (uint16_t *)wide;
    for (uint64_t i = 0; !is_made[element] && i < PERIOD; ++i) {
        uint32_t bits = (uint32_t)(word_at(i) >> 20);
        if (element == ROPE2D_F32)
            wide[i] = f32_of(bits);
        else
            narrow[i] = element == ROPE2D_F16 ? f16_of(bits) : bf16_of(bits);
    }
    is_made[element] = true;
    return (const unsigned char *)wide;
}

void bench_fill(void *data, rope2d_element element, uint64_t first, uint64_t count) {
    const unsigned char *period = period_of(element);
    uint32_t size = rope2d_element_size(element);
    for (uint64_t at = 0, part; at < count; at += part) {
        uint64_t from = (first + at) % PERIOD;
        part = PERIOD - from < count - at ? PERIOD - from : count - at;
        memcpy((unsigned char *)data + at * size, period + from * size, (size_t)(part * size));
    }
}

// As such models begin: each head has the axes turned by an angle of its own.
static void fill_learned(const struct bench_tower *tower, struct bench_spec *spec) {
    uint32_t pairs = tower->head_dim / 2;
    spec->spec.freq_heads = tower->heads;
    spec->spec.factored = tower->form == BENCH_FACTORED;
    for (uint32_t axis = 0; axis < tower->axes; ++axis)
        for (uint32_t head = 0; head < tower->heads; ++head)
            for (uint32_t i = 0; i < pairs; ++i)
                spec->freqs[(axis * tower->heads + head) * pairs + i] =
                    (float)(pow(10.0, -2.0 * i / pairs) *
                            (axis == 0 ? cos(0.5 + (double)head) : sin(0.5 + (double)head)));
}

void bench_spec_fill(const struct bench_tower *tower, rope2d_pairing pairing, struct bench_spec *spec) {
    uint32_t pairs = tower->head_dim / 2, first = 0;
    memset(spec, 0, sizeof *spec);
    spec->spec = (rope2d_spec){
        .struct_size = sizeof spec->spec,
        .head_dim = tower->head_dim,
        .axes = tower->axes,
        .pairing = pairing,
        .freqs = spec->freqs,
        .angles = ROPE2D_ANGLES_FP32,
    };
    if (tower->form == BENCH_MIXED || tower->form == BENCH_FACTORED) {
        fill_learned(tower, spec);
        return;
    }
    for (uint32_t axis = 0; axis < tower->axes; ++axis) {
        uint32_t own = tower->axis_pairs[axis];
        for (uint32_t i = 0; i < own; ++i)
            spec->freqs[axis * pairs + first + i] = (float)pow(10000.0, -(double)i / own);
        first += own;
    }
    if (tower->form != BENCH_ANGLES)
        return;
    for (uint32_t i = 0; i < tower->axes * pairs; ++i)
        spec->freqs_hi[i] = 0.75f * spec->freqs[i];
    spec->spec.freqs_hi = spec->freqs_hi;
}

float *bench_coordinates(const struct bench_tower *tower, uint64_t tokens) {
    float *coordinates = malloc((size_t)tokens * tower->axes * sizeof *coordinates);
    uint64_t columns = bench_columns_of(tokens);
    for (uint64_t token = 0; coordinates && token < tokens; ++token) {
        float *at = coordinates + token * tower->axes;
        at[0] = 0; // of an image the one frame, where the tower counts frames
        at[tower->axes - 2] = (float)(token / columns);
        at[tower->axes - 1] = (float)(token % columns);
    }
    return coordinates;
}

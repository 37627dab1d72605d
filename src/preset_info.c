// SPDX-License-Identifier: MIT
//
// Presets listed, found by name, and put into words.
#include "internal.h"
#include "presets.h"

#include <string.h>

// Words in the order of their enumeration.
static const char pairing_words[] = "interleaved: (2i, 2i + 1)\0"
                                    "half-split: (i, i + R/2)\0"
                                    "half-split inside each axis' segment\0"
                                    "explicit";

static const char division_words[] =
    "runs of pairs, in the order of the axes\0"
    "pair i turns with axis i mod axes\0"
    "i mod 3 = 1: y, = 2: x, within their sections; everything else t\0"
    "i mod 3 = 0: t, = 1: y, = 2: x, within their sections; the rest does not turn\0"
    "y and x alternate over their sections, then t\0"
    "every pair turns with every axis";

static const char law_words[] =
    "B^(-2j/d), j the number of the pair within its axis, d the axis' channels\0"
    "B^(-2i/R), i the number of the pair, R the rotated channels\0"
    "B^(-2(A j + a)/R) for pair j of axis a of A, R the rotated channels\0"
    "2 pi / B^(2j/d), j the number of the pair within its axis, d the axis' channels\0"
    "pi 2^(j (log2 m - 1) / (n - 1)), j of n pairs of an axis, m the maximum\0"
    "pi (1 + j (m/2 - 1) / (n - 1)), j of n pairs of an axis, m the maximum\0"
    "pi/2 B^(j/(n - 1)) over the channels of all heads, axes alternating; pairs left over come first and "
    "stand\0"
    "channel c of an axis' n pairs: B^(-(c mod n)/n), so that lo and hi have angles of their own\0"
    "learned";

static const char rule_words[] = "index\0"
                                 "index / size * reference\0"
                                 "index - (size - size/2): centred, negative first\0"
                                 "from -1 to 1, both included\0"
                                 "2 (index + 1/2) / size - 1\0"
                                 "2 (index * scale / reference) - 1\0"
                                 "2 (middle of the patch / reference) - 1\0"
                                 "a centred crop of a square of reference x reference\0"
                                 "(index + 1/2 - size/2) * reference / sqrt(rows * columns)";

static const char text_words[] = "\0"
                                 "does not turn\0"
                                 "every coordinate counts on from one past the largest so far, as do images\0"
                                 "the first coordinate counts; images stand after the last token of text\0"
                                 "the last coordinate counts\0"
                                 "every coordinate counts from half the longer side of the largest image";

static const char fp32_words[] = "frequencies by powers in fp32, angles in fp32\0"
                                 "\0"
                                 "angles in fp32\0"
                                 "periods rounded to bfloat16, angles in fp32\0"
                                 "frequencies and positions by linspace in fp32, angles in fp32\0"
                                 "frequencies multiplied up step by step in fp32, angles in fp32";

static const char *place_words(const preset_row *row) {
    if ((row->places & PLACE_UNKNOWN) != 0)
        return "the caller's";
    if (strcmp(row->axes, "t") == 0)
        return "index of the token";
    if (row->space.rule == ROPE2D_RULE_INDEX && row->space.offset == 1)
        return "index + 1";
    if (row->space.rule == ROPE2D_RULE_FRACTION && row->space.offset == 1)
        return "(index + 1) / size * reference";
    return rope2d_text_at(rule_words, row->space.rule);
}

const preset_row *rope2d_preset_find(const char *name) {
    for (uint32_t i = 0; i < rope2d_preset_row_count; i++)
        if (strcmp(rope2d_preset_row_name(&rope2d_preset_rows[i]), name) == 0)
            return &rope2d_preset_rows[i];
    return NULL;
}

static unsigned lower(char c) {
    return c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A' + 'a') : (unsigned char)c;
}

enum { LONGEST = 48 };

// Letters to insert, remove or change; case does not count.
static uint32_t edits(const char *a, const char *b) {
    uint32_t row[LONGEST + 1];
    uint32_t width = 0;
    for (; width < LONGEST && b[width] != 0; width++)
        row[width] = width;
    row[width] = width;
    uint32_t i = 0;
    for (; i < LONGEST && a[i] != 0; i++) {
        uint32_t diagonal = row[0];
        row[0] = i + 1;
        for (uint32_t j = 0; j < width; j++) {
            uint32_t change = diagonal + (lower(a[i]) != lower(b[j]));
            diagonal = row[j + 1];
            uint32_t shorter = (row[j] < diagonal ? row[j] : diagonal) + 1;
            row[j + 1] = change < shorter ? change : shorter;
        }
    }
    return row[width];
}

rope2d_status rope2d_preset_unknown(const rope2d_host *host, const char *field, const char *name) {
    const char *nearest = rope2d_preset_name(0);
    for (uint32_t i = 1; i < rope2d_preset_row_count; i++)
        if (edits(name, rope2d_preset_name(i)) < edits(name, nearest))
            nearest = rope2d_preset_name(i);
    // As many edits as letters: the two have nothing in common.
    if (edits(name, nearest) >= strlen(name))
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "%s is '%.64s': no such preset; there are %u, such as %s",
                           field, name, rope2d_preset_row_count, rope2d_preset_name(0));
    return rope2d_fail(host, ROPE2D_ERROR_ENUM, "%s is '%.64s': no such preset; did you mean %s?", field,
                       name, nearest);
}

uint32_t rope2d_preset_count(void) {
    return rope2d_preset_row_count;
}

const char *rope2d_preset_name(uint32_t index) {
    return index < rope2d_preset_row_count ? rope2d_preset_row_name(&rope2d_preset_rows[index]) : NULL;
}

rope2d_status rope2d_preset_get_info(const char *name, const rope2d_host *host, rope2d_preset_info *info) {
    ROPE2D_TRY(rope2d_host_check(host));
    if (name == NULL || info == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "%s is NULL", name == NULL ? "name" : "info");
    ROPE2D_TRY(rope2d_check_struct_size(host, "info", info->struct_size, sizeof *info));
    const preset_row *row = rope2d_preset_find(name);
    if (row == NULL)
        return rope2d_preset_unknown(host, "name", name);
    const char *texts[5] = {rope2d_preset_row_name(row)}; // title, source, golden cases, note
    for (uint32_t i = 1; i < 5; i++)
        texts[i] = texts[i - 1] + strlen(texts[i - 1]) + 1;
    *info = (rope2d_preset_info){
        .struct_size = sizeof *info,
        .name = texts[0],
        .title = texts[1],
        .pairing = rope2d_text_at(pairing_words, row->pairing),
        .axes = row->axes,
        .division = row->law == PRESET_CHANNELS ? rope2d_text_at(division_words, DIVISION_ALTERNATING)
                                                : rope2d_text_at(division_words, row->division),
        .frequencies = rope2d_text_at(law_words, row->law),
        .positions = place_words(row),
        .text = rope2d_text_at(text_words, row->text),
        .source = rope2d_preset_source(texts[2]),
        .golden = texts[3],
        .model_fp32 = rope2d_text_at(fp32_words, row->fp32),
        .note = texts[4],
        .head_dim = row->head_dim,
        .rotary_dim = row->rotary != 0 ? row->rotary : row->head_dim,
        .heads = row->heads,
        .is_learned = row->law == PRESET_LEARNED,
        .base = row->base,
    };
    return ROPE2D_OK;
}

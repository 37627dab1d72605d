// SPDX-License-Identifier: MIT
//
// A row of the table of presets: presets_tmpl.h holds one for each model, and nothing else.
#ifndef ROPE2D_PRESET_ROWS_H
#define ROPE2D_PRESET_ROWS_H

#include "rope2d/rope2d_presets.h"

// Which axis turns pair i.
typedef enum preset_division {
    DIVISION_RUNS = 0,    // contiguous runs of pairs, in the order of the axes
    DIVISION_ALTERNATING, // pair i turns with axis i mod axes
    DIVISION_MODULO,      // axes t, y, x: i mod 3 = 1 y, = 2 x within their sections, everything else t
    DIVISION_MODULO_REST, // the same, but what lies past every section does not turn (ggml)
    DIVISION_SPACE_FIRST, // axes t, y, x: y and x alternate over their sections, then t (ERNIE)
    DIVISION_DENSE,       // every pair with every axis
    DIVISION_COUNT
} preset_division;

// Frequencies. B is the base, d the channels of the pair's axis, j the pair's number within its axis, R the
// rotated channels, i the pair's number among them, n the pairs of the axis, A the axes.
typedef enum preset_law {
    PRESET_AXIS = 0,   // B^(-2j / d)
    PRESET_WHOLE,      // B^(-2i / R)
    PRESET_PHASE,      // B^(-2(A j + a) / R) for axis a
    PRESET_PERIOD,     // 2 pi / B^(2j / d), or 2 pi over periods from min to max
    PRESET_OCTAVES,    // pi 2^(j (log2(m) - 1) / (n - 1))
    PRESET_LINEAR,     // pi (1 + j (m / 2 - 1) / (n - 1))
    PRESET_CHANNELS,   // pi/2 B^(j / (n - 1)) over the channels of all heads, pairs that do not turn first
    PRESET_TWO_ANGLES, // channel c of an axis: B^(-(c mod n) / n), so that lo and hi have angles of their own
    PRESET_LEARNED,    // the caller's
    PRESET_LAW_COUNT
} preset_law;

// What ROPE2D_PRESET_MODEL_FP32 does besides angles in fp32.
typedef enum preset_fp32 {
    FP32_POWERS = 0, // 1 / pow in fp32, as most code under PyTorch
    FP32_NOTHING,    // the model forms frequencies and angles in double
    FP32_ANGLES,     // frequencies in double or given, angles in fp32
    FP32_BF16,       // periods rounded to bfloat16
    FP32_LINSPACE,   // exponents or multiples by torch.linspace in fp32; positions too
    FP32_STEPS,      // theta multiplied up from pair to pair in fp32
    FP32_COUNT
} preset_fp32;

typedef enum preset_text {
    TEXT_NONE = 0,
    TEXT_STILL,  // text does not turn
    TEXT_ALL,    // every coordinate counts on from one past the largest so far (M-RoPE, 1D)
    TEXT_FIRST,  // the first coordinate counts, and images stand after the last token of text
    TEXT_LAST,   // the last coordinate counts
    TEXT_BESIDE, // every coordinate counts from half the longer side of the largest image
    TEXT_COUNT
} preset_text;

// Small types, since there are many rows. Offset and scale are in parts of one: offset / parts.
typedef struct preset_place {
    uint8_t rule;  // rope2d_rule
    uint8_t parts; // 0: 1
    int8_t offset;
    uint8_t scale;
    uint16_t reference;
} preset_place;

enum {
    PLACE_UNKNOWN = 1 << 0,     // coordinates are the caller's
    PLACE_IMAGE_ON_T = 1 << 1,  // image number k adds k to t
    PLACE_WHOLE_FRAMES = 1 << 2 // frame numbers times frame_step are cut to integers
};

typedef struct preset_row {
    float base;
    uint16_t texts; // where the name is: rope2d_preset_row_name
    uint16_t head_dim;
    uint16_t rotary;          // 0: head_dim
    preset_place space, time; // rows and columns; frames
    uint8_t heads;            // heads with frequencies of their own; 0: shared
    char axes[ROPE2D_MAX_AXES + 1];
    uint8_t pairs[ROPE2D_MAX_AXES];   // of each axis; all 0: equal
    uint8_t stretch[ROPE2D_MAX_AXES]; // NTK factor of each axis; 0: 1
    uint8_t pairing;                  // rope2d_pairing
    uint8_t division;                 // preset_division
    uint8_t law;                      // preset_law
    uint8_t fp32;                     // preset_fp32
    uint8_t order;                    // rope2d_order
    uint8_t merge, window, cell;      // cell: patches of a side that make one token; 0: 1
    uint8_t text;                     // preset_text
    uint8_t first;                    // TEXT_FIRST: number of the first token
    uint8_t places;                   // PLACE_*
} preset_row;

extern const preset_row rope2d_preset_rows[];
extern const uint32_t rope2d_preset_row_count;

// Behind the name's 0 follow title, source, golden cases (their folders) and a note, each behind the 0 of the
// one before.
const char *rope2d_preset_row_name(const preset_row *row);
// Of a source there: itself, or what its number stands for.
const char *rope2d_preset_source(const char *source);

const preset_row *rope2d_preset_find(const char *name); // NULL: no such preset
// Fails, and suggests the nearest name where one is near.
rope2d_status rope2d_preset_unknown(const rope2d_host *host, const char *field, const char *name);

#endif

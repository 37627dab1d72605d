// SPDX-License-Identifier: MIT
//
// The rotary embeddings of published models by name, laws that scale frequencies for longer or larger inputs,
// and the coordinates of tokens.
//
//     rope2d_preset_create(&(rope2d_preset_params){.struct_size = sizeof(rope2d_preset_params),
//                                                  .name = "dinov3"}, NULL, &preset);
//     rope2d_spec spec = rope2d_preset_spec(preset);
//     rope2d_preset_positions(preset, &prompt, NULL, &tokens); // once to count, once to fill
//
// Frequencies are the model's formula in double, by arithmetic that gives the same bits on every machine,
// rounded once to fp32. Coordinates are the model's formula in double, rounded once to fp32.
//
// Everything here runs on the host, needs no device and keeps no state. Thread-safety: every function may be
// called from any number of threads at once; a preset is immutable.
#ifndef ROPE2D_PRESETS_H
#define ROPE2D_PRESETS_H

#include "rope2d.h"

#ifdef __cplusplus
extern "C" {
#endif

// --------------------------------------------------------------------------------------------------------------
// scaling laws

// Below, s is factor, d the axis' channels, B the base, f(j) = B^(-2j/d) the plain frequency of pair j.
typedef enum rope2d_law {
    ROPE2D_LAW_NONE = 0,   // f(j)
    ROPE2D_LAW_LINEAR = 1, // f(j) / s: "position interpolation" (Chen et al., arXiv 2306.15595)
    ROPE2D_LAW_NTK = 2,    // B' = B s^(d / (d - 2)) (bloc97; arXiv 2309.00071)
    // B' = B (s L/L0 - (s - 1))^(d / (d - 2)) where L > L0: "dynamic NTK", as transformers' rope_type
    // "dynamic"
    ROPE2D_LAW_DYNAMIC = 3,
    // NTK-by-parts: f(j) where the wavelength is short, f(j) / s where it is long, a ramp between, and the
    // attention factor 0.1 ln(s) + 1 (Peng et al., arXiv 2309.00071), as transformers' rope_type "yarn"
    ROPE2D_LAW_YARN = 4,
    // f(j) where the wavelength is below L0 / high, f(j) / s above L0 / low, interpolated between (LLaMA 3.1)
    ROPE2D_LAW_LLAMA3 = 5,
    ROPE2D_LAW_COUNT
} rope2d_law;

typedef struct rope2d_scaling {
    rope2d_law law;
    double base;             // another base; 0: the model's
    double factor;           // s, at least 1; needed by every law but NONE
    double original_length;  // L0: the tokens or the side of the grid trained with. DYNAMIC, YARN, LLAMA3
    double length;           // L: what it is now. DYNAMIC
    double beta_fast;        // YARN: turns within L0 above which a pair keeps its frequency; 0: 32
    double beta_slow;        // YARN: turns below which it is divided; 0: 1
    double attention_factor; // YARN: m of the spec; 0: 0.1 ln(s) + 1
    double low_factor;       // LLAMA3; 0: 1
    double high_factor;      // LLAMA3; 0: 4
} rope2d_scaling;

// Frequencies of one axis: frequencies[channels / 2], radians per unit of position, and the factor m that cos
// and sin take (1 but for YARN). `scaling` may be NULL. `attention_factor` may be NULL. Errors: channels odd
// or 0 (HEAD_DIM), a base that is not above 1 or a factor below 1 or a length that is missing (FREQUENCY), an
// unknown law (ENUM).
ROPE2D_API rope2d_status rope2d_frequencies(double base, uint32_t channels, const rope2d_scaling *scaling,
                                            const rope2d_host *host, float *frequencies,
                                            float *attention_factor);

// xPos (Sun et al., arXiv 2212.10554): m = ((2i + 0.4 d) / (1.4 d))^((p - centre) / scale_base) for pair i of
// d / 2 and position p, its reciprocal for keys: magnitudes[tokens][channels / 2] for
// rope2d_positions_params. scale_base 0: 512. Errors as above; a position that is NaN or infinite is
// ROPE2D_ERROR_COORDINATE; a result that fp32 cannot hold is ROPE2D_ERROR_MAGNITUDE.
ROPE2D_API rope2d_status rope2d_xpos(const float *positions, uint64_t tokens, uint32_t channels,
                                     double centre, double scale_base, uint32_t is_key,
                                     const rope2d_host *host, float *magnitudes);

// --------------------------------------------------------------------------------------------------------------
// coordinates of tokens

// What a coordinate counts.
typedef enum rope2d_counter {
    ROPE2D_COUNT_NOTHING = 0, // 0 for every token of a grid
    ROPE2D_COUNT_FRAME = 1,
    ROPE2D_COUNT_ROW = 2,
    ROPE2D_COUNT_COLUMN = 3,
    ROPE2D_COUNTER_COUNT
} rope2d_counter;

// From the number i of n (of frames, rows or columns) to the coordinate, in double and rounded once.
typedef enum rope2d_rule {
    ROPE2D_RULE_INDEX = 0,    // (i + offset) * scale
    ROPE2D_RULE_FRACTION = 1, // (i + offset) / n * reference: the grid trained with (EVA-02, timm, SAM 3)
    ROPE2D_RULE_CENTRED = 2,  // i - (n - n / 2): negative, then from 0 (Qwen-Image)
    ROPE2D_RULE_UNIT = 3, // n numbers from -1 to 1, both included; -1 for n = 1 (timm and lucidrains "pixel")
    ROPE2D_RULE_PATCH = 4,  // 2 (i + 1/2) / m - 1, m by normalise (DINOv3)
    ROPE2D_RULE_EXTENT = 5, // 2 (i * scale / reference) - 1 (LTX-Video)
    // 2 c / reference - 1, c the middle between max(i scale + offset, 0) and the same of i + 1 (LTX-2)
    ROPE2D_RULE_MIDDLE = 6,
    ROPE2D_RULE_CROP = 7, // begin + i (end - begin) / n: a crop of a larger grid (HunyuanDiT, CogVideoX)
    ROPE2D_RULE_AREA = 8, // (i + 1/2 - n/2) reference / sqrt(rows * columns): centred, same area (Mochi)
    ROPE2D_RULE_COUNT
} rope2d_rule;

typedef enum rope2d_normalise {
    ROPE2D_NORMALISE_SEPARATE = 0, // rows by the rows, columns by the columns
    ROPE2D_NORMALISE_MAX = 1,      // both by the longer side
    ROPE2D_NORMALISE_MIN = 2,      // both by the shorter side
    ROPE2D_NORMALISE_COUNT
} rope2d_normalise;

typedef struct rope2d_axis {
    rope2d_counter counter;
    rope2d_rule rule;
    double offset;
    double scale;     // 0: 1
    double reference; // FRACTION, EXTENT, MIDDLE, AREA: above 0
    double begin;     // CROP
    double end;       // CROP
    rope2d_normalise normalise;
    uint32_t is_whole; // 1: INDEX cut to an integer, towards zero (Qwen2.5-VL's seconds)
    uint32_t is_fp32; // 1: UNIT as torch.linspace computes it in fp32 (up to 1 ulp, and not always symmetric)
} rope2d_axis;

// Coordinates of all n frames, rows or columns: coordinates[n]. `rows` and `columns` are the grid's (PATCH,
// AREA).
ROPE2D_API rope2d_status rope2d_axis_coordinates(const rope2d_axis *axis, uint32_t n, uint32_t rows,
                                                 uint32_t columns, const rope2d_host *host,
                                                 float *coordinates);

// In which order the tokens of a frame come; frames come one after another.
typedef enum rope2d_order {
    ROPE2D_ORDER_ROWS = 0,    // row by row
    ROPE2D_ORDER_COLUMNS = 1, // column by column
    ROPE2D_ORDER_BLOCKS = 2,  // blocks of merge x merge, row by row inside and outside (Qwen2-VL)
    ROPE2D_ORDER_WINDOWS = 3, // windows of window x window blocks, cut at the borders (Qwen2.5-VL)
    ROPE2D_ORDER_COUNT
} rope2d_order;

typedef enum rope2d_segment_kind {
    ROPE2D_SEGMENT_GRID = 0,  // frames x rows x columns of an image or a video
    ROPE2D_SEGMENT_LINE = 1,  // `tokens` tokens from origin on, by step
    ROPE2D_SEGMENT_STILL = 2, // `tokens` tokens that are not rotated: CLS, registers, padding. Coordinates 0
    ROPE2D_SEGMENT_COUNT
} rope2d_segment_kind;

// A run of tokens of a sequence.
typedef struct rope2d_segment {
    rope2d_segment_kind kind;
    uint64_t tokens;    // LINE, STILL
    uint32_t frames;    // GRID; 0: 1
    uint32_t rows;      // GRID; 0 is legal: no tokens
    uint32_t columns;   // GRID
    uint32_t repeat;    // GRID: so many times with the same coordinates (SAM 2's keys); 0: 1
    rope2d_order order; // GRID
    uint32_t merge;     // BLOCKS, WINDOWS: side of a block, which divides rows and columns; 0: 2
    uint32_t window;    // WINDOWS: side in blocks; needed
    rope2d_axis axis[ROPE2D_MAX_AXES]; // GRID: one for each coordinate
    double origin[ROPE2D_MAX_AXES];    // added to each coordinate (LINE: where it begins)
    double step[ROPE2D_MAX_AXES];      // LINE: from token to token
    uint32_t follows; // 1: origin counts from one past the largest coordinate so far (M-RoPE)
} rope2d_segment;

// Where results go. Call once with NULL arrays: the counts are filled. Then with arrays of at least these
// sizes, the counts saying how large they are (smaller: ROPE2D_ERROR_TOKENS). The arrays are the caller's.
typedef struct rope2d_tokens {
    size_t struct_size;
    uint64_t tokens;
    uint32_t unrotated_count;
    uint64_t runs;      // stretches that attend within themselves: frames or windows of grids, other segments
    float *coordinates; // [tokens][axes]
    uint64_t *order;    // [tokens] number of the token in its segment, grids counted row by row
    rope2d_range *unrotated; // [unrotated_count] ascending, apart
    uint64_t *run_ends;      // [runs + 1] 0, then the end of each run: "cumulative sequence lengths"
} rope2d_tokens;

// Coordinates of a sequence: images packed one after another (NaViT), text before and after, prefixes.
// Errors: axes 0 or above ROPE2D_MAX_AXES (AXES), a block that does not divide the grid, a window that is
// missing, or more than 2^31 tokens (TOKENS), an unknown rule, order or kind (ENUM), a number that is NaN,
// infinite, or not above 0 where it must be (COORDINATE).
ROPE2D_API rope2d_status rope2d_sequence(const rope2d_segment *segments, uint32_t segment_count,
                                         uint32_t axes, const rope2d_host *host, rope2d_tokens *tokens);

// LightGlue: (keypoint - size / 2) / (max(width, height) / 2): keypoints[count][2] (x, y) in pixels to
// coordinates[count][2]. In place is legal. (cvg/LightGlue; transformers' normalize_keypoints.)
ROPE2D_API rope2d_status rope2d_keypoints(const float *keypoints, uint64_t count, double width, double height,
                                          const rope2d_host *host, float *coordinates);

// --------------------------------------------------------------------------------------------------------------
// presets

typedef struct rope2d_preset rope2d_preset;

enum {
    // The order of operations of the model's own code where it matters: frequencies by fp32 powers and fp32
    // linspace, bf16-rounded periods (DINOv3), theta multiplied up step by step (ggml), angles in fp32.
    // docs/presets.md says by how much each differs.
    ROPE2D_PRESET_MODEL_FP32 = 1 << 0
};

// Static texts; they live as long as the program.
typedef struct rope2d_preset_info {
    size_t struct_size;
    const char *name;        // "qwen2-vl-vision"
    const char *title;       // which model
    const char *pairing;     // in words
    const char *axes;        // a letter a coordinate, in their order: t frame, y row, x column, l text
    const char *division;    // which pairs turn with which axis, in words
    const char *frequencies; // the formula
    const char *positions;   // the formula of rows and columns
    const char *text;        // how tokens of text are placed; "" where the model has none
    const char *source;      // repository, file, and commit where known
    const char *golden;     // names of the cases of tests/golden that prove it, apart by spaces; "": unproven
    const char *model_fp32; // what ROPE2D_PRESET_MODEL_FP32 changes; "": nothing
    const char *note;       // what else is to know; may be ""
    uint32_t head_dim;
    uint32_t rotary_dim;
    uint32_t heads;      // heads with frequencies of their own; 0: shared
    uint32_t is_learned; // 1: frequencies come from the caller
    double base;         // 0 where the formula has none
} rope2d_preset_info;

ROPE2D_API uint32_t rope2d_preset_count(void);
// The name of preset `index`; NULL past the last. Static text.
ROPE2D_API const char *rope2d_preset_name(uint32_t index);
// An unknown name is ROPE2D_ERROR_ENUM; the log line suggests the nearest.
ROPE2D_API rope2d_status rope2d_preset_get_info(const char *name, const rope2d_host *host,
                                                rope2d_preset_info *info);

typedef struct rope2d_preset_params {
    size_t struct_size;
    const char *name;
    uint32_t flags;                       // ROPE2D_PRESET_*
    uint32_t head_dim;                    // 0: the model's
    uint32_t rotary_dim;                  // 0: the model's, or with another head_dim the same part of it
    uint32_t axis_pairs[ROPE2D_MAX_AXES]; // pairs of each axis; all 0: the model's, or the same parts
    uint32_t heads;                       // where heads have frequencies of their own; 0: the model's
    double base;                          // 0: the model's
    double min_period;                    // DINOv3: with max_period, periods between them instead of the base
    double max_period;
    double max_frequency; // "pixel" presets: timm's max_res, lucidrains' max_freq; 0: the library's default
    const float *learned; // learned presets need it: [axes][heads][pairs], copied
    rope2d_scaling scaling[ROPE2D_MAX_AXES]; // of each axis. Laws other than LINEAR need powers of a base
} rope2d_preset_params;

// Makes a preset, which the caller owns and destroys after the last use of its spec. `host` may be NULL; what
// it points to must outlive the preset.
ROPE2D_API rope2d_status rope2d_preset_create(const rope2d_preset_params *params, const rope2d_host *host,
                                              rope2d_preset **preset);
ROPE2D_API void rope2d_preset_destroy(rope2d_preset *preset); // NULL is legal

// The spec, a copy that the caller may change; the arrays it points to are the preset's. NULL gives zeros.
ROPE2D_API rope2d_spec rope2d_preset_spec(const rope2d_preset *preset);

typedef enum rope2d_item_kind {
    ROPE2D_ITEM_IMAGE = 0, // an image, or with frames above 1 a video
    ROPE2D_ITEM_TEXT = 1,
    ROPE2D_ITEM_STILL = 2, // tokens that the model does not rotate: CLS, registers, padding
    ROPE2D_ITEM_COUNT
} rope2d_item_kind;

// A part of what a model is given, in the order in which it comes.
typedef struct rope2d_item {
    rope2d_item_kind kind;
    uint64_t tokens; // TEXT, STILL
    uint32_t frames; // IMAGE; 0: 1
    uint32_t rows; // IMAGE: patches, or for video models latents. Language models with M-RoPE: patches of the
    uint32_t columns;  // vision tower, before merging
    uint32_t repeat;   // IMAGE: times that its coordinates repeat (SAM 2's keys); 0: 1
    double frame_step; // IMAGE: units of time between frames; 0: the model's. Cosmos: 24 / frames per second
    double offset[ROPE2D_MAX_AXES]; // added to its coordinates (FLUX reference images, Qwen2-VL decoding)
} rope2d_item;

// Zeros mean the model's own.
typedef struct rope2d_prompt {
    size_t struct_size;
    const rope2d_item *items; // [item_count]
    uint32_t item_count;
    rope2d_normalise normalise;     // DINOv3
    uint32_t merge;                 // side of a merged block
    uint32_t window;                // WINDOWS: side in merged blocks
    double offset[ROPE2D_MAX_AXES]; // of the rule, where has_offset is 1
    uint32_t has_offset;
    double scale[ROPE2D_MAX_AXES];     // of the rule
    double reference[ROPE2D_MAX_AXES]; // of the rule: the grid trained with, the extent, the crop's base
} rope2d_prompt;

// The coordinates of a model's tokens: as rope2d_sequence. Errors also: text for a model that has none, or
// coordinates that only the caller knows (learned keypoints) (UNSUPPORTED).
ROPE2D_API rope2d_status rope2d_preset_positions(const rope2d_preset *preset, const rope2d_prompt *prompt,
                                                 const rope2d_host *host, rope2d_tokens *tokens);

#ifdef __cplusplus
}
#endif

#endif

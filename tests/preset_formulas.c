// SPDX-License-Identifier: MIT
#include "preset_formulas.h"

#include <math.h>

#define PI 3.141592653589793238462643383279502884L

static long double power(long double base, long double exponent) {
    return 1 / powl(base, exponent);
}

static uint32_t column_of(const struct formula_sizes *sizes, uint32_t token) {
    return token % sizes->columns;
}

static uint32_t row_of(const struct formula_sizes *sizes, uint32_t token) {
    return token / sizes->columns % sizes->rows;
}

static uint32_t frame_of(const struct formula_sizes *sizes, uint32_t token) {
    return token / sizes->columns / sizes->rows;
}

// ------------------------------------------------------------------------------------------ images

// facebookresearch/perception_models, Rope2D: RotaryEmbedding(dim / 2) on columns, then on rows, each + 1
static struct formula_pair perception_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){2 * i, 2 * i + 1, i / 16, power(10000, 2.0L * (i % 16) / 32)};
}

static int perception_place(const struct formula_sizes *sizes, uint32_t token, long double *at) {
    if (token < sizes->still)
        return 0;
    at[0] = 1 + column_of(sizes, token - sizes->still);
    at[1] = 1 + row_of(sizes, token - sizes->still);
    return 1;
}

// transformers, Sam3ViTRotaryEmbedding: arange(0, dim, 4) / dim, positions times scale = 24 / size
static int sam3_place(const struct formula_sizes *sizes, uint32_t token, long double *at) {
    at[0] = column_of(sizes, token) * (24.0L / sizes->columns);
    at[1] = row_of(sizes, token) * (24.0L / sizes->rows);
    return 1;
}

// transformers, Gemma4: halves of the head for x and y, rotate_half inside each; spatial_dim = 36
static struct formula_pair gemma4_pair(uint32_t head, uint32_t i) {
    (void)head;
    uint32_t axis = i / 18, j = i % 18;
    return (struct formula_pair){36 * axis + j, 36 * axis + j + 18, (int)axis, power(100, 2.0L * j / 36)};
}

static int xy_place(const struct formula_sizes *sizes, uint32_t token, long double *at) {
    at[0] = column_of(sizes, token);
    at[1] = row_of(sizes, token);
    return 1;
}

// Kimi-K2.5, Rope2DPosEmbRepeated: x_cis and y_cis stacked last; in transformers applied to halves
static struct formula_pair kimi_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){i, i + 36, i % 2, power(10000, 4.0L * (i / 2) / 72)};
}

// transformers, EfficientLoFTR: emb[0::2] = i * inv_freq, emb[1::2] = j * inv_freq over 256 channels; cumsum
// from 1
static struct formula_pair loftr_pair(uint32_t head, uint32_t i) {
    uint32_t all = 16 * head + i;
    return (struct formula_pair){2 * i, 2 * i + 1, all % 2, power(10000, 4.0L * (all / 2) / 256)};
}

static int loftr_place(const struct formula_sizes *sizes, uint32_t token, long double *at) {
    at[0] = row_of(sizes, token) + 1;
    at[1] = column_of(sizes, token) + 1;
    return 1;
}

// ------------------------------------------------------------------------------------------- video

// diffusers, LTX2AudioVideoRotaryPosEmbed, "split": theta^linspace(0, 1, 4096 // 6) pi / 2; pairs left over
// first
static struct formula_pair ltx2_pair(uint32_t head, uint32_t i) {
    uint32_t all = 64 * head + i;
    if (all < 2)
        return (struct formula_pair){i, i + 64, -1, 0};
    return (struct formula_pair){i, i + 64, (int)((all - 2) % 3),
                                 PI / 2 * powl(10000, (all - 2) / 3 / 681.0L)};
}

static int ltx2_place(const struct formula_sizes *sizes, uint32_t token, long double *at) {
    long double f = frame_of(sizes, token);
    long double begin = fmaxl(f * 8 + 1 - 8, 0) / 24, end = fmaxl((f + 1) * 8 + 1 - 8, 0) / 24;
    at[0] = (begin + end) / 2 / 20 * 2 - 1;
    at[1] = (row_of(sizes, token) + 0.5L) * 32 / 2048 * 2 - 1;
    at[2] = (column_of(sizes, token) + 0.5L) * 32 / 2048 * 2 - 1;
    return 1;
}

static int video_place(const struct formula_sizes *sizes, uint32_t token, long double *at) {
    at[0] = frame_of(sizes, token);
    at[1] = row_of(sizes, token);
    at[2] = column_of(sizes, token);
    return 1;
}

// diffusers, CosmosRotaryPosEmbed: h and w have 128 // 6 * 2 channels, t the rest and base 10000 * 2^(44 /
// 42)
static struct formula_pair cosmos_pair(uint32_t head, uint32_t i) {
    (void)head;
    if (i < 22)
        return (struct formula_pair){i, i + 64, 0, power(10000 * powl(2, 44.0L / 42), 2.0L * i / 44)};
    return (struct formula_pair){i, i + 64, 1 + (int)(i - 22) / 21,
                                 power(10000, 2.0L * ((i - 22) % 21) / 42)};
}

// diffusers, MiniMaxH3RotaryPosEmbed: 16 frequencies shared by t, h, w; rotate_half over 96 channels
static struct formula_pair minimax_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){i, i + 48, (int)i / 16, power(10000, 2.0L * (i % 16) / 32)};
}

// ---------------------------------------------------------------------------------------- language

// text, then an image of the merged grid
static int mrope_place(const struct formula_sizes *sizes, uint32_t token, long double *at) {
    if (token < sizes->text) {
        at[0] = at[1] = at[2] = token;
        return 1;
    }
    const struct formula_sizes merged = {.rows = sizes->rows / 2, .columns = sizes->columns / 2};
    (void)video_place(&merged, token - sizes->text, at);
    for (int a = 0; a < 3; a++)
        at[a] += sizes->text;
    return 1;
}

// transformers, Qwen3_5: apply_interleaved_mrope with sections 11, 11, 10 over 64 of 256 channels
static struct formula_pair qwen35_pair(uint32_t head, uint32_t i) {
    (void)head;
    int axis = i % 3 == 1 && i < 33 ? 1 : i % 3 == 2 && i < 30 ? 2 : 0;
    return (struct formula_pair){i, i + 32, axis, power(10000000, 2.0L * i / 64)};
}

// transformers, Glm4v text: sections 8, 12, 12 in runs, adjacent channels, half of the head
static struct formula_pair glm4v_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){2 * i, 2 * i + 1, i < 8 ? 0 : i < 20 ? 1 : 2, power(10000, 2.0L * i / 64)};
}

// transformers, Ernie4_5_VLMoeTextRotaryEmbedding: h takes even, w odd frequencies of the first 44, t the
// last 20
static struct formula_pair ernie_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){2 * i, 2 * i + 1,
                                 i >= 44      ? 0
                                 : i % 2 == 0 ? 1
                                              : 2,
                                 power(500000, 2.0L * i / 128)};
}

static int text_place(const struct formula_sizes *sizes, uint32_t token, long double *at) {
    (void)sizes;
    at[0] = token;
    return 1;
}

// meta-llama, precompute_freqs_cis: adjacent channels as complex numbers
static struct formula_pair llama_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){2 * i, 2 * i + 1, 0, power(10000, 2.0L * i / 128)};
}

static struct formula_pair llama3_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){2 * i, 2 * i + 1, 0, power(500000, 2.0L * i / 128)};
}

// transformers, gptj: rotate_every_two over the first 64 channels
static struct formula_pair gptj_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){2 * i, 2 * i + 1, 0, power(10000, 2.0L * i / 64)};
}

static struct formula_pair neox_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){i, i + 64, 0, power(10000, 2.0L * i / 128)};
}

static struct formula_pair gemma_pair(uint32_t head, uint32_t i) {
    (void)head;
    return (struct formula_pair){i, i + 128, 0, power(10000, 2.0L * i / 256)};
}

const struct formula preset_formulas[] = {
    {"perception-encoder",
     64,
     32,
     1,
     2,
     {.still = 1, .rows = 3, .columns = 5},
     perception_pair,
     perception_place},
    {"sam-3", 64, 32, 1, 2, {.rows = 3, .columns = 72}, perception_pair, sam3_place},
    {"gemma-4-vision", 72, 36, 1, 2, {.rows = 3, .columns = 5}, gemma4_pair, xy_place},
    {"kimi-k2.5", 72, 36, 1, 2, {.rows = 3, .columns = 5}, kimi_pair, xy_place},
    {"efficient-loftr", 32, 16, 8, 2, {.rows = 3, .columns = 5}, loftr_pair, loftr_place},
    {"ltx-2", 128, 64, 32, 3, {.frames = 3, .rows = 2, .columns = 3}, ltx2_pair, ltx2_place},
    {"cosmos", 128, 64, 1, 3, {.frames = 3, .rows = 2, .columns = 3}, cosmos_pair, video_place},
    {"minimax-h3", 128, 48, 1, 3, {.frames = 3, .rows = 2, .columns = 3}, minimax_pair, video_place},
    {"qwen3.5", 256, 32, 1, 3, {.text = 3, .rows = 4, .columns = 6}, qwen35_pair, mrope_place},
    {"glm-4v", 128, 32, 1, 3, {.text = 3, .rows = 4, .columns = 6}, glm4v_pair, mrope_place},
    {"ernie-4.5-vl", 128, 64, 1, 3, {.text = 3, .rows = 4, .columns = 6}, ernie_pair, mrope_place},
    {"llama", 128, 64, 1, 1, {.text = 9}, llama_pair, text_place},
    {"llama-3", 128, 64, 1, 1, {.text = 9}, llama3_pair, text_place},
    {"gpt-j", 256, 32, 1, 1, {.text = 9}, gptj_pair, text_place},
    {"gpt-neox", 128, 64, 1, 1, {.text = 9}, neox_pair, text_place},
    {"gemma", 256, 128, 1, 1, {.text = 9}, gemma_pair, text_place},
};
const size_t preset_formula_count = sizeof(preset_formulas) / sizeof(*preset_formulas);

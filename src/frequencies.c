// SPDX-License-Identifier: MIT
//
// The frequencies of presets: the model's formula in double, rounded once, or with ROPE2D_PRESET_MODEL_FP32
// the model's own order of operations.
#include "preset_shape.h"

#include "elementary.h"
#include "places.h"
#include "scaling.h"

#include <string.h>

#define PI 3.14159265358979323846

// -------------------------------------------------------------------------------------- which axis

static uint32_t in_runs(const preset_shape *shape, uint32_t pair, uint32_t *number) {
    uint32_t axis = 0;
    for (; axis < shape->axes && pair >= shape->axis_pairs[axis]; axis++)
        pair -= shape->axis_pairs[axis];
    *number = pair;
    return axis;
}

static uint32_t modulo(const preset_shape *shape, uint32_t pair, uint32_t *number) {
    *number = pair / 3;
    uint32_t axis = pair % 3;
    if (pair < 3 * shape->axis_pairs[axis])
        return axis;
    return shape->row->division == DIVISION_MODULO_REST ? shape->axes : 0;
}

static uint32_t space_first(const preset_shape *shape, uint32_t pair, uint32_t *number) {
    uint32_t space = shape->axis_pairs[1] + shape->axis_pairs[2];
    *number = pair < space ? pair / 2 : pair - space;
    return pair < space ? 1 + pair % 2 : 0;
}

uint32_t rope2d_preset_axis(const preset_shape *shape, uint32_t pair, uint32_t *number) {
    if (shape->row->law == PRESET_CHANNELS) {
        uint32_t still = shape->all_pairs % shape->axes; // these come first
        *number = pair < still ? 0 : (pair - still) / shape->axes;
        return pair < still ? shape->axes : (pair - still) % shape->axes;
    }
    switch (shape->row->division) {
    case DIVISION_ALTERNATING:
        *number = pair / shape->axes;
        return pair % shape->axes;
    case DIVISION_MODULO:
    case DIVISION_MODULO_REST:
        return modulo(shape, pair, number);
    case DIVISION_SPACE_FIRST:
        return space_first(shape, pair, number);
    default:
        return in_runs(shape, pair, number);
    }
}

// ---------------------------------------------------------------------------------------- formulas

static float to_bf16(float x) { // to nearest even; finite
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fffU + (bits >> 16 & 1)) & 0xffff0000U;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double part(uint32_t i, uint32_t n) { // i / (n - 1): from 0 to 1
    return n < 2 ? 0 : i / (n - 1.0);
}

// 1 / base^exponent with every step in fp32.
static double inverse_power_fp32(double base, float exponent) {
    float power = (float)rope2d_pow((float)base, exponent);
    return 1.0F / power;
}

// base^(-2 pair / channels) by multiplying up in fp32 from the axis' first pair, `stride` pairs a step.
static double stepped(double base, uint32_t pair, uint32_t stride, uint32_t channels) {
    float theta = (float)rope2d_pow(base, -2.0 * (pair % stride) / channels);
    float scale = (float)rope2d_pow((float)base, -2.0F * (float)stride / (float)channels);
    for (uint32_t i = 0; i < pair / stride; i++)
        theta *= scale;
    return theta;
}

static double power_law(const preset_shape *shape, uint32_t axis, uint32_t pair, uint32_t channels) {
    const rope2d_scaling *scaling = &shape->scaling[axis];
    double base = scaling->base != 0 ? scaling->base : shape->base;
    double stretch = shape->row->stretch[axis];
    if (stretch != 0 && stretch != 1)
        base *= rope2d_pow(stretch, channels / (channels - 2.0));
    base = rope2d_scaled_base(scaling, base, channels);
    double frequency;
    if (shape->is_fp32 && shape->row->fp32 == FP32_POWERS)
        frequency = inverse_power_fp32(base, (float)(2 * pair) / (float)channels);
    else if (shape->is_fp32 && shape->row->fp32 == FP32_STEPS)
        frequency = stepped(base, pair, shape->row->law == PRESET_PHASE ? shape->axes : 1, channels);
    else
        frequency = rope2d_pow(base, -2.0 * pair / channels);
    return rope2d_scaled_frequency(scaling, frequency, pair, base, channels);
}

static double period_law(const preset_shape *shape, uint32_t number, uint32_t pairs) {
    double period = rope2d_pow(shape->base, (double)number / pairs);
    if (shape->max_period != 0) {
        double ratio = shape->max_period / shape->min_period;
        period = rope2d_pow(ratio, part(number, pairs)) / ratio * shape->max_period;
    }
    if (shape->is_fp32 && shape->row->fp32 == FP32_BF16)
        period = to_bf16((float)period);
    return 2 * PI / period;
}

static double octaves_law(const preset_shape *shape, uint32_t number, uint32_t pairs) {
    double octaves = rope2d_ln(shape->base) / rope2d_ln(2) - 1;
    if (!shape->is_fp32)
        return PI * rope2d_exp2(part(number, pairs) * octaves);
    return (float)rope2d_exp2(rope2d_linspace_fp32(0, (float)octaves, number, pairs)) * (float)PI;
}

static double linear_law(const preset_shape *shape, uint32_t number, uint32_t pairs) {
    if (!shape->is_fp32)
        return PI * (1 + part(number, pairs) * (shape->base / 2 - 1));
    return rope2d_linspace_fp32(1, (float)(shape->base / 2), number, pairs) * (float)PI;
}

static double channels_law(const preset_shape *shape, uint32_t number) {
    uint32_t pairs = shape->all_pairs / shape->axes;
    if (!shape->is_fp32 || shape->row->fp32 != FP32_LINSPACE)
        return PI / 2 * rope2d_pow(shape->base, part(number, pairs));
    return (float)rope2d_pow(shape->base, rope2d_linspace_fp32(0, 1, number, pairs)) * (float)(PI / 2);
}

// Channel `channel` of the axis' segment.
static double two_angles_law(const preset_shape *shape, uint32_t channel, uint32_t pairs) {
    uint32_t step = channel % pairs;
    if (shape->is_fp32)
        return inverse_power_fp32(shape->base, (float)step / (float)pairs);
    return rope2d_pow(shape->base, -(double)step / pairs);
}

// `member` is 0 for the angle of lo, 1 for that of hi.
static double frequency(const preset_shape *shape, uint32_t axis, uint32_t pair, uint32_t number,
                        uint32_t member) {
    uint32_t pairs = shape->axis_pairs[axis];
    double result = 0;
    switch (shape->row->law) {
    case PRESET_WHOLE:
        return power_law(shape, axis, pair, shape->rotary);
    case PRESET_PHASE:
        return power_law(shape, axis, shape->axes * number + axis, shape->rotary);
    case PRESET_PERIOD:
        result = period_law(shape, number, pairs);
        break;
    case PRESET_OCTAVES:
        result = octaves_law(shape, number, pairs);
        break;
    case PRESET_LINEAR:
        result = linear_law(shape, number, pairs);
        break;
    case PRESET_CHANNELS:
        result = channels_law(shape, number);
        break;
    case PRESET_TWO_ANGLES:
        result = two_angles_law(shape, 2 * number + member, pairs);
        break;
    default:
        return power_law(shape, axis, number, 2 * pairs);
    }
    return shape->scaling[axis].law == ROPE2D_LAW_LINEAR ? result / shape->scaling[axis].factor : result;
}

void rope2d_preset_frequencies(const preset_shape *shape, float *freqs, float *freqs_hi) {
    uint32_t row = shape->heads * shape->pairs; // of one axis
    for (uint32_t pair = 0; pair < row; pair++) {
        uint32_t number = 0;
        uint32_t axis = rope2d_preset_axis(shape, pair, &number);
        for (uint32_t a = 0; a < shape->axes; a++) {
            size_t at = (size_t)a * row + pair;
            freqs[at] = a == axis ? (float)frequency(shape, axis, pair, number, 0) : 0;
            if (freqs_hi != NULL)
                freqs_hi[at] = a == axis ? (float)frequency(shape, axis, pair, number, 1) : 0;
        }
    }
}

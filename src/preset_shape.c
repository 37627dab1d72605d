// SPDX-License-Identifier: MIT
//
// Puts the caller's numbers into a row of the table of presets, and refuses those that do not fit.
#include "preset_shape.h"

#include "scaling.h"

#include <string.h>

static bool is_positive(double x) {
    return x > 0 && x - x == 0;
}

static rope2d_status choose_channels(const rope2d_preset_params *params, const rope2d_host *host,
                                     preset_shape *shape) {
    const preset_row *row = shape->row;
    shape->head_dim = params->head_dim != 0 ? params->head_dim : row->head_dim;
    if (shape->head_dim > ROPE2D_MAX_HEAD_DIM)
        return rope2d_fail(host, ROPE2D_ERROR_HEAD_DIM, "params.head_dim is %u; at most %u", shape->head_dim,
                           ROPE2D_MAX_HEAD_DIM);
    if (params->rotary_dim % 2 != 0 || params->rotary_dim > shape->head_dim)
        return rope2d_fail(host, ROPE2D_ERROR_ROTARY_RANGE,
                           "params.rotary_dim is %u; must be even and at most head_dim, %u",
                           params->rotary_dim, shape->head_dim);
    uint32_t part = row->rotary != 0 ? row->rotary : row->head_dim;
    shape->rotary = params->rotary_dim != 0 ? params->rotary_dim : shape->head_dim * part / row->head_dim;
    bool is_part = params->rotary_dim != 0 || shape->head_dim * part % row->head_dim == 0;
    if (!is_part || shape->rotary % 2 != 0 || shape->rotary == 0 || shape->rotary > shape->head_dim)
        return rope2d_fail(
            host, ROPE2D_ERROR_ROTARY_RANGE,
            "params.rotary_dim: %s rotates %u of %u channels, which leaves no even number of %u: "
            "set it, at most params.head_dim",
            rope2d_preset_row_name(row), part, row->head_dim, shape->head_dim);
    shape->pairs = shape->rotary / 2;
    return ROPE2D_OK;
}

static rope2d_status choose_heads(const rope2d_preset_params *params, const rope2d_host *host,
                                  preset_shape *shape) {
    const preset_row *row = shape->row;
    if (params->heads != 0 && row->heads == 0 && row->law != PRESET_LEARNED)
        return rope2d_fail(host, ROPE2D_ERROR_HEADS, "params.heads is %u: %s shares its frequencies",
                           params->heads, rope2d_preset_row_name(row));
    uint32_t heads = params->heads != 0 ? params->heads : row->heads;
    shape->heads = heads == 0 ? 1 : heads;
    if (shape->heads > 65536)
        return rope2d_fail(host, ROPE2D_ERROR_HEADS, "params.heads is %u; at most 65536", shape->heads);
    shape->all_pairs = row->law == PRESET_LEARNED ? shape->pairs : shape->pairs * shape->heads;
    return ROPE2D_OK;
}

// Whether the axes of the row have numbers of pairs of their own that must add up.
static bool has_parts(const preset_row *row) {
    return row->law != PRESET_CHANNELS && row->division != DIVISION_DENSE;
}

static rope2d_status choose_axes(const rope2d_preset_params *params, const rope2d_host *host,
                                 preset_shape *shape) {
    const preset_row *row = shape->row;
    uint32_t given = 0, known = 0, sum = 0;
    for (uint32_t a = 0; a < ROPE2D_MAX_AXES; a++) {
        if (a >= shape->axes && params->axis_pairs[a] != 0)
            return rope2d_fail(host, ROPE2D_ERROR_AXES, "params.axis_pairs[%u] is %u: %s has %u axes", a,
                               params->axis_pairs[a], rope2d_preset_row_name(row), shape->axes);
        if (params->axis_pairs[a] > ROPE2D_MAX_HEAD_DIM)
            return rope2d_fail(host, ROPE2D_ERROR_AXES, "params.axis_pairs[%u] is %u: more than a head has",
                               a, params->axis_pairs[a]);
        given += params->axis_pairs[a];
        known += row->pairs[a];
    }
    if (given != 0 && (!has_parts(row) || row->division == DIVISION_ALTERNATING))
        return rope2d_fail(host, ROPE2D_ERROR_AXES,
                           "params.axis_pairs: the axes of %s share the pairs evenly",
                           rope2d_preset_row_name(row));
    for (uint32_t a = 0; a < shape->axes; a++) {
        uint64_t scaled =
            known == 0 ? shape->all_pairs / shape->axes : (uint64_t)row->pairs[a] * shape->all_pairs / known;
        shape->axis_pairs[a] = given != 0 ? params->axis_pairs[a] : (uint32_t)scaled;
        sum += shape->axis_pairs[a];
    }
    if (has_parts(row) && sum != shape->all_pairs)
        return rope2d_fail(
            host, ROPE2D_ERROR_AXES,
            "params.axis_pairs: the axes of %s have %u pairs together, the head has %u: set them",
            rope2d_preset_row_name(row), sum, shape->all_pairs);
    return ROPE2D_OK;
}

static rope2d_status choose_base(const rope2d_preset_params *params, const rope2d_host *host,
                                 preset_shape *shape) {
    const preset_row *row = shape->row;
    bool is_pixel = row->law == PRESET_OCTAVES || row->law == PRESET_LINEAR;
    double given = is_pixel ? params->max_frequency : params->base;
    const char *name = is_pixel ? "max_frequency" : "base";
    if ((is_pixel ? params->base : params->max_frequency) != 0 || (given != 0 && row->law == PRESET_LEARNED))
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "params.%s: the formula of %s has none",
                           is_pixel || row->law == PRESET_LEARNED ? "base" : "max_frequency",
                           rope2d_preset_row_name(row));
    shape->base = given != 0 ? given : row->base;
    if (row->law != PRESET_LEARNED && (!is_positive(shape->base) || shape->base <= 1))
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "params.%s is %g; must be above 1 and finite", name,
                           shape->base);
    shape->min_period = params->min_period;
    shape->max_period = params->max_period;
    if (params->min_period == 0 && params->max_period == 0)
        return ROPE2D_OK;
    if (row->law != PRESET_PERIOD)
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "params.min_period: the formula of %s has none",
                           rope2d_preset_row_name(row));
    if (!is_positive(params->min_period) || !is_positive(params->max_period) ||
        params->max_period <= params->min_period)
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY,
                           "params.min_period is %g, max_period is %g; must be above 0 and ascending",
                           params->min_period, params->max_period);
    return ROPE2D_OK;
}

static uint32_t law_channels(const preset_shape *shape, uint32_t axis) {
    bool is_whole = shape->row->law == PRESET_WHOLE || shape->row->law == PRESET_PHASE;
    return is_whole ? shape->rotary : 2 * shape->axis_pairs[axis];
}

static rope2d_status choose_scaling(const rope2d_preset_params *params, const rope2d_host *host,
                                    preset_shape *shape) {
    const preset_row *row = shape->row;
    bool is_power = row->law == PRESET_AXIS || row->law == PRESET_WHOLE || row->law == PRESET_PHASE;
    for (uint32_t a = 0; a < ROPE2D_MAX_AXES; a++) {
        const rope2d_scaling *scaling = &params->scaling[a];
        if (a >= shape->axes && scaling->law != ROPE2D_LAW_NONE)
            return rope2d_fail(host, ROPE2D_ERROR_AXES, "params.scaling[%u]: %s has %u axes", a,
                               rope2d_preset_row_name(row), shape->axes);
        ROPE2D_TRY(rope2d_scaling_check(scaling, a < shape->axes ? law_channels(shape, a) : 0, host));
        bool has_base = scaling->law > ROPE2D_LAW_LINEAR || scaling->base != 0;
        if (has_base && !is_power)
            return rope2d_fail(host, ROPE2D_ERROR_UNSUPPORTED,
                               "params.scaling[%u]: the frequencies of %s are no powers of a base", a,
                               rope2d_preset_row_name(row));
        if (scaling->base != 0 && scaling->base <= 1)
            return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "params.scaling[%u].base is %g; must be above 1",
                               a, scaling->base);
        shape->scaling[a] = rope2d_scaling_defaults(scaling);
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_preset_shape(const rope2d_preset_params *params, const rope2d_host *host,
                                  preset_shape *shape) {
    memset(shape, 0, sizeof *shape);
    if (params->name == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "params.name is NULL");
    shape->row = rope2d_preset_find(params->name);
    if (shape->row == NULL)
        return rope2d_preset_unknown(host, "params.name", params->name);
    if ((params->flags & ~(uint32_t)ROPE2D_PRESET_MODEL_FP32) != 0)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "params.flags is 0x%x: unknown bits", params->flags);
    shape->is_fp32 = (params->flags & ROPE2D_PRESET_MODEL_FP32) != 0;
    shape->axes = (uint32_t)strlen(shape->row->axes);
    ROPE2D_TRY(choose_channels(params, host, shape));
    ROPE2D_TRY(choose_heads(params, host, shape));
    ROPE2D_TRY(choose_axes(params, host, shape));
    ROPE2D_TRY(choose_base(params, host, shape));
    return choose_scaling(params, host, shape);
}

// SPDX-License-Identifier: MIT
//
// Presets as objects: created from a row and the caller's numbers, read as a spec.
#include "preset_shape.h"

#include <string.h>

static rope2d_status allocate(rope2d_preset *preset) {
    const preset_shape *shape = &preset->shape;
    uint64_t count = (uint64_t)shape->axes * shape->heads * shape->pairs;
    preset->freqs = rope2d_allocate(&preset->host, count, sizeof(float));
    bool has_hi = shape->row->law == PRESET_TWO_ANGLES;
    if (has_hi)
        preset->freqs_hi = rope2d_allocate(&preset->host, count, sizeof(float));
    if (preset->freqs == NULL || (has_hi && preset->freqs_hi == NULL))
        return rope2d_fail(&preset->host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %llu frequencies of %s",
                           (unsigned long long)count, rope2d_preset_row_name(shape->row));
    return ROPE2D_OK;
}

static rope2d_status fill(rope2d_preset *preset, const rope2d_preset_params *params) {
    const preset_shape *shape = &preset->shape;
    bool is_learned = shape->row->law == PRESET_LEARNED;
    if (is_learned != (params->learned != NULL))
        return rope2d_fail(&preset->host, ROPE2D_ERROR_FREQUENCY,
                           "params.learned is %s: the frequencies of %s are %s", is_learned ? "NULL" : "set",
                           rope2d_preset_row_name(shape->row), is_learned ? "learned" : "a formula");
    if (!is_learned) {
        rope2d_preset_frequencies(shape, preset->freqs, preset->freqs_hi);
        return ROPE2D_OK;
    }
    size_t row = (size_t)shape->heads * shape->pairs;
    for (uint32_t a = 0; a < shape->axes; a++)
        for (size_t i = 0; i < row; i++) {
            float learned = params->learned[a * row + i];
            bool is_scaled = shape->scaling[a].law == ROPE2D_LAW_LINEAR;
            preset->freqs[a * row + i] = is_scaled ? (float)(learned / shape->scaling[a].factor) : learned;
        }
    return ROPE2D_OK;
}

// YaRN's factor is one number of the spec, so that axes with it must agree.
static rope2d_status choose_magnitude(rope2d_preset *preset) {
    const preset_shape *shape = &preset->shape;
    double magnitude = 0;
    for (uint32_t a = 0; a < shape->axes; a++) {
        if (shape->scaling[a].law != ROPE2D_LAW_YARN)
            continue;
        double own = shape->scaling[a].attention_factor;
        if (magnitude != 0 && own != magnitude)
            return rope2d_fail(&preset->host, ROPE2D_ERROR_MAGNITUDE,
                               "params.scaling[%u].attention_factor is %g, another axis' %g: a spec has one",
                               a, own, magnitude);
        magnitude = own;
    }
    preset->spec.magnitude = (float)magnitude;
    return ROPE2D_OK;
}

static void write_spec(rope2d_preset *preset) {
    const preset_shape *shape = &preset->shape;
    rope2d_spec *spec = &preset->spec;
    spec->struct_size = sizeof *spec;
    spec->head_dim = shape->head_dim;
    spec->rotary_dim = shape->rotary;
    spec->axes = shape->axes;
    spec->pairing = shape->row->pairing;
    if (spec->pairing == ROPE2D_PAIRING_SEGMENT_HALF)
        memcpy(spec->segment_pairs, shape->axis_pairs, sizeof spec->segment_pairs);
    spec->pairs = shape->pairs;
    spec->freq_heads = shape->heads;
    spec->freqs = preset->freqs;
    spec->freqs_hi = preset->freqs_hi;
    bool is_fp32 = shape->is_fp32 && shape->row->fp32 != FP32_NOTHING;
    spec->angles = is_fp32 ? ROPE2D_ANGLES_FP32 : ROPE2D_ANGLES_DOUBLE;
}

static rope2d_status build(rope2d_preset *preset, const rope2d_preset_params *params) {
    ROPE2D_TRY(rope2d_preset_shape(params, &preset->host, &preset->shape));
    ROPE2D_TRY(allocate(preset));
    ROPE2D_TRY(fill(preset, params));
    write_spec(preset);
    ROPE2D_TRY(choose_magnitude(preset));
    return rope2d_spec_check(&preset->spec, &preset->host);
}

rope2d_status rope2d_preset_create(const rope2d_preset_params *params, const rope2d_host *host,
                                   rope2d_preset **preset) {
    if (preset != NULL)
        *preset = NULL;
    ROPE2D_TRY(rope2d_host_check(host));
    if (params == NULL || preset == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "%s is NULL", params == NULL ? "params" : "preset");
    ROPE2D_TRY(rope2d_check_struct_size(host, "params", params->struct_size, sizeof *params));
    rope2d_host resolved = rope2d_host_resolve(host);
    rope2d_preset *made = rope2d_allocate(&resolved, 1, sizeof *made);
    if (made == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for a preset");
    made->host = resolved;
    rope2d_control control = rope2d_control_enter();
    rope2d_status status = build(made, params);
    rope2d_control_leave(control);
    if (status != ROPE2D_OK)
        rope2d_preset_destroy(made);
    else
        *preset = made;
    return status;
}

void rope2d_preset_destroy(rope2d_preset *preset) {
    if (preset == NULL)
        return;
    rope2d_host host = preset->host;
    uint64_t count = (uint64_t)preset->shape.axes * preset->shape.heads * preset->shape.pairs;
    rope2d_release(&host, preset->freqs, count, sizeof(float));
    rope2d_release(&host, preset->freqs_hi, count, sizeof(float));
    rope2d_release(&host, preset, 1, sizeof *preset);
}

rope2d_spec rope2d_preset_spec(const rope2d_preset *preset) {
    rope2d_spec nothing = {0};
    return preset == NULL ? nothing : preset->spec;
}

// SPDX-License-Identifier: MIT
//
// Frequencies of one axis, and the laws that scale them for longer or larger inputs. In double, by our own
// powers and logarithms.
#include "scaling.h"

#include "elementary.h"

#include <float.h>

#define PI 3.14159265358979323846

static bool is_finite(double x) {
    return x - x == 0;
}

static double floor_of(double x) {
    // Arguments are channel numbers, far below 2^31; larger ones are their own floor for what follows.
    if (x >= 1e9 || x <= -1e9)
        return x;
    double whole = (double)(int64_t)x;
    return whole > x ? whole - 1 : whole;
}

static rope2d_status check_numbers(const rope2d_host *host, const rope2d_scaling *scaling) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"base", scaling->base},
        {"factor", scaling->factor},
        {"original_length", scaling->original_length},
        {"length", scaling->length},
        {"beta_fast", scaling->beta_fast},
        {"beta_slow", scaling->beta_slow},
        {"attention_factor", scaling->attention_factor},
        {"low_factor", scaling->low_factor},
        {"high_factor", scaling->high_factor},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!is_finite(numbers[i].value) || numbers[i].value < 0)
            return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY,
                               "scaling.%s is %g; must be 0 or above and finite", numbers[i].name,
                               numbers[i].value);
    return ROPE2D_OK;
}

rope2d_status rope2d_scaling_check(const rope2d_scaling *scaling, uint32_t channels,
                                   const rope2d_host *host) {
    if ((uint32_t)scaling->law >= ROPE2D_LAW_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "scaling.law is %d: no such law", (int)scaling->law);
    ROPE2D_TRY(check_numbers(host, scaling));
    if (scaling->law == ROPE2D_LAW_NONE)
        return ROPE2D_OK;
    if (scaling->factor < 1)
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "scaling.factor is %g; must be at least 1",
                           scaling->factor);
    if ((scaling->law == ROPE2D_LAW_NTK || scaling->law == ROPE2D_LAW_DYNAMIC) && channels <= 2)
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "scaling.law needs more than %u channels of an axis",
                           channels);
    bool needs_original = scaling->law == ROPE2D_LAW_DYNAMIC || scaling->law == ROPE2D_LAW_YARN ||
                          scaling->law == ROPE2D_LAW_LLAMA3;
    if (needs_original && scaling->original_length == 0)
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "scaling.original_length is 0: this law needs it");
    if (scaling->law == ROPE2D_LAW_DYNAMIC && scaling->length == 0)
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "scaling.length is 0: the dynamic law needs it");
    rope2d_scaling own = rope2d_scaling_defaults(scaling);
    if (own.law == ROPE2D_LAW_YARN && own.beta_fast <= own.beta_slow)
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY,
                           "scaling.beta_fast is %g; must be above beta_slow, %g", own.beta_fast,
                           own.beta_slow);
    if (own.law == ROPE2D_LAW_LLAMA3 && own.high_factor <= own.low_factor)
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY,
                           "scaling.high_factor is %g; must be above low_factor, %g", own.high_factor,
                           own.low_factor);
    return ROPE2D_OK;
}

rope2d_scaling rope2d_scaling_defaults(const rope2d_scaling *scaling) {
    rope2d_scaling own = *scaling;
    own.beta_fast = own.beta_fast == 0 ? 32 : own.beta_fast;
    own.beta_slow = own.beta_slow == 0 ? 1 : own.beta_slow;
    own.low_factor = own.low_factor == 0 ? 1 : own.low_factor;
    own.high_factor = own.high_factor == 0 ? 4 : own.high_factor;
    if (own.law == ROPE2D_LAW_YARN && own.attention_factor == 0)
        own.attention_factor = 0.1 * rope2d_ln(own.factor) + 1;
    return own;
}

double rope2d_scaled_base(const rope2d_scaling *scaling, double base, uint32_t channels) {
    double stretch = 1;
    if (scaling->law == ROPE2D_LAW_NTK)
        stretch = scaling->factor;
    if (scaling->law == ROPE2D_LAW_DYNAMIC && scaling->length > scaling->original_length)
        stretch = scaling->factor * scaling->length / scaling->original_length - (scaling->factor - 1);
    return stretch == 1 ? base : base * rope2d_pow(stretch, (double)channels / (channels - 2.0));
}

// The pair whose wavelength fits `turns` times into the original length: d ln(L0 / (2 pi turns)) / (2 ln B).
static double yarn_pair(const rope2d_scaling *own, double turns, double base, uint32_t channels) {
    return channels * rope2d_ln(own->original_length / (turns * 2 * PI)) / (2 * rope2d_ln(base));
}

static double yarn(const rope2d_scaling *own, double frequency, double pair, double base, uint32_t channels) {
    double low = floor_of(yarn_pair(own, own->beta_fast, base, channels));
    double high = -floor_of(-yarn_pair(own, own->beta_slow, base, channels));
    low = low < 0 ? 0 : low;
    high = high > channels - 1.0 ? channels - 1.0 : high;
    if (low == high)
        high += 0.001; // as the published code does, so that the ramp has a width
    double ramp = (pair - low) / (high - low);
    ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
    return frequency / own->factor * ramp + frequency * (1 - ramp);
}

static double llama3(const rope2d_scaling *own, double frequency) {
    double wavelength = 2 * PI / frequency;
    if (wavelength < own->original_length / own->high_factor)
        return frequency;
    if (wavelength > own->original_length / own->low_factor)
        return frequency / own->factor;
    double smooth =
        (own->original_length / wavelength - own->low_factor) / (own->high_factor - own->low_factor);
    return (1 - smooth) * frequency / own->factor + smooth * frequency;
}

double rope2d_scaled_frequency(const rope2d_scaling *own, double frequency, double pair, double base,
                               uint32_t channels) {
    switch (own->law) {
    case ROPE2D_LAW_LINEAR:
        return frequency / own->factor;
    case ROPE2D_LAW_YARN:
        return yarn(own, frequency, pair, base, channels);
    case ROPE2D_LAW_LLAMA3:
        return llama3(own, frequency);
    default:
        return frequency;
    }
}

rope2d_status rope2d_frequencies(double base, uint32_t channels, const rope2d_scaling *scaling,
                                 const rope2d_host *host, float *frequencies, float *attention_factor) {
    ROPE2D_TRY(rope2d_host_check(host));
    if (frequencies == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "frequencies is NULL");
    if (channels == 0 || channels % 2 != 0 || channels > ROPE2D_MAX_HEAD_DIM)
        return rope2d_fail(host, ROPE2D_ERROR_HEAD_DIM, "channels is %u; must be even, 2 to %u", channels,
                           ROPE2D_MAX_HEAD_DIM);
    const rope2d_scaling none = {.law = ROPE2D_LAW_NONE};
    scaling = scaling == NULL ? &none : scaling;
    rope2d_control control = rope2d_control_enter();
    rope2d_status status = rope2d_scaling_check(scaling, channels, host);
    rope2d_scaling own = rope2d_scaling_defaults(scaling);
    base = own.base != 0 ? own.base : base;
    if (status == ROPE2D_OK && (!is_finite(base) || base <= 1))
        status = rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "base is %g; must be above 1 and finite", base);
    if (status == ROPE2D_OK) {
        base = rope2d_scaled_base(&own, base, channels);
        if (!is_finite(base))
            status = rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "scaling.factor is %g: the base overflows",
                                 own.factor);
    }
    for (uint32_t j = 0; status == ROPE2D_OK && j < channels / 2; j++) {
        double plain = rope2d_pow(base, -2.0 * j / channels);
        frequencies[j] = (float)rope2d_scaled_frequency(&own, plain, j, base, channels);
    }
    if (status == ROPE2D_OK && attention_factor != NULL)
        *attention_factor = own.law == ROPE2D_LAW_YARN ? (float)own.attention_factor : 1;
    rope2d_control_leave(control);
    return status;
}

static double xpos_magnitude(uint32_t pair, uint32_t channels, double power) {
    return rope2d_pow((2.0 * pair + 0.4 * channels) / (1.4 * channels), power);
}

rope2d_status rope2d_xpos(const float *positions, uint64_t tokens, uint32_t channels, double centre,
                          double scale_base, uint32_t is_key, const rope2d_host *host, float *magnitudes) {
    ROPE2D_TRY(rope2d_host_check(host));
    if (tokens != 0 && (positions == NULL || magnitudes == NULL))
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "positions or magnitudes is NULL");
    if (channels == 0 || channels % 2 != 0 || channels > ROPE2D_MAX_HEAD_DIM)
        return rope2d_fail(host, ROPE2D_ERROR_HEAD_DIM, "channels is %u; must be even, 2 to %u", channels,
                           ROPE2D_MAX_HEAD_DIM);
    scale_base = scale_base == 0 ? 512 : scale_base;
    if (!is_finite(centre) || !is_finite(scale_base) || scale_base <= 0)
        return rope2d_fail(host, ROPE2D_ERROR_COORDINATE,
                           "centre is %g, scale_base %g; must be finite, above 0", centre, scale_base);
    for (uint64_t t = 0; t < tokens; t++)
        if (!is_finite(positions[t]))
            return rope2d_fail(host, ROPE2D_ERROR_COORDINATE, "positions[%llu] is NaN or infinite",
                               (unsigned long long)t);
    rope2d_control control = rope2d_control_enter();
    rope2d_status status = ROPE2D_OK;
    // Pair 0 has the smallest scale, hence the extremes of m: nothing is written when they do not fit.
    for (uint64_t t = 0; status == ROPE2D_OK && t < tokens; t++) {
        double m = xpos_magnitude(0, channels, (positions[t] - centre) / scale_base);
        if (!(m <= FLT_MAX) || m < FLT_MIN || 1 / m > FLT_MAX)
            status = rope2d_fail(host, ROPE2D_ERROR_MAGNITUDE, "positions[%llu] is %g: m is %g, beyond fp32",
                                 (unsigned long long)t, positions[t], m);
    }
    for (uint32_t i = 0; status == ROPE2D_OK && i < channels / 2; i++)
        for (uint64_t t = 0; t < tokens; t++) {
            double power = (positions[t] - centre) / scale_base;
            magnitudes[t * (channels / 2) + i] = (float)xpos_magnitude(i, channels, is_key ? -power : power);
        }
    rope2d_control_leave(control);
    return status;
}

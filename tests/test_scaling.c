// SPDX-License-Identifier: MIT
// The scaling laws and xPos against the formulas of their sources, evaluated in the host's long double and by
// its libm: each number within half an ulp and a little; and what they refuse.
#include "check.h"
#include "last_line.h"
#include "rope2d/rope2d_presets.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PI        3.141592653589793238462643383279502884L
#define MAX_PAIRS 2048

static struct last_line logged;
static const rope2d_host host = {.struct_size = sizeof(host), .user = &logged, .log = last_line_keep};

static void verdict(bool good, const char *name, double detail) {
    CHECK(good, "%-40s %g %s", name, detail, logged.text);
}

// Distance in ulp of fp32.
static double distance(float is, long double wants) {
    int exponent = 0;
    (void)frexpl(wants, &exponent);
    long double ulp = ldexpl(1, exponent - 24);
    return (double)(fabsl((long double)is - wants) / ulp);
}

// ------------------------------------------------------------ the laws as their sources write them

static long double plain(long double base, unsigned j, unsigned d) {
    return 1 / powl(base, 2.0L * j / d);
}

// transformers, _compute_dynamic_ntk_parameters
static long double dynamic(const rope2d_scaling *law, long double base, unsigned j, unsigned d) {
    long double s = law->factor, length = fmaxl(law->length, law->original_length);
    long double stretched =
        base * powl(s * length / law->original_length - (s - 1), (long double)d / (d - 2.0L));
    return plain(stretched, j, d);
}

// transformers, _compute_yarn_parameters
static long double correction(long double turns, long double base, unsigned d, long double length) {
    return d * logl(length / (turns * 2 * PI)) / (2 * logl(base));
}

static long double yarn(const rope2d_scaling *law, long double base, unsigned j, unsigned d) {
    long double fast = law->beta_fast == 0 ? 32 : law->beta_fast,
                slow = law->beta_slow == 0 ? 1 : law->beta_slow;
    long double low = fmaxl(floorl(correction(fast, base, d, law->original_length)), 0);
    long double high = fminl(ceill(correction(slow, base, d, law->original_length)), d - 1.0L);
    if (low == high)
        high += 0.001L;
    long double ramp = fminl(fmaxl((j - low) / (high - low), 0), 1);
    long double kept = 1 - ramp; // "extrapolation factor"
    long double interpolated = 1 / (law->factor * powl(base, 2.0L * j / d));
    return interpolated * (1 - kept) + plain(base, j, d) * kept;
}

// meta-llama/llama3, apply_scaling
static long double llama3(const rope2d_scaling *law, long double base, unsigned j, unsigned d) {
    long double low = law->low_factor == 0 ? 1 : law->low_factor,
                high = law->high_factor == 0 ? 4 : law->high_factor;
    long double f = plain(base, j, d), wavelength = 2 * PI / f, length = law->original_length;
    if (wavelength < length / high)
        return f;
    if (wavelength > length / low)
        return f / law->factor;
    long double smooth = (length / wavelength - low) / (high - low);
    return (1 - smooth) * f / law->factor + smooth * f;
}

static long double expected(const rope2d_scaling *law, long double base, unsigned j, unsigned d) {
    base = law->base != 0 ? law->base : base;
    switch (law->law) {
    case ROPE2D_LAW_LINEAR:
        return plain(base, j, d) / law->factor;
    case ROPE2D_LAW_NTK:
        return plain(base * powl(law->factor, (long double)d / (d - 2.0L)), j, d);
    case ROPE2D_LAW_DYNAMIC:
        return dynamic(law, base, j, d);
    case ROPE2D_LAW_YARN:
        return yarn(law, base, j, d);
    case ROPE2D_LAW_LLAMA3:
        return llama3(law, base, j, d);
    default:
        return plain(base, j, d);
    }
}

struct sample {
    const char *name;
    double base;
    uint32_t channels;
    rope2d_scaling law;
};

static const struct sample samples[] = {
    {"plain 10000", 10000, 128, {.law = ROPE2D_LAW_NONE}},
    {"plain 100, small", 100, 2, {.law = ROPE2D_LAW_NONE}},
    {"another base", 10000, 64, {.base = 500000}},
    {"largest head", 5000000, 4096, {.law = ROPE2D_LAW_NONE}},
    {"linear", 10000, 128, {.law = ROPE2D_LAW_LINEAR, .factor = 4}},
    {"linear, fraction", 10000, 40, {.law = ROPE2D_LAW_LINEAR, .factor = 1.7}},
    {"ntk", 10000, 128, {.law = ROPE2D_LAW_NTK, .factor = 8}},
    {"ntk, cosmos' time axis", 10000, 44, {.law = ROPE2D_LAW_NTK, .factor = 2}},
    {"dynamic",
     10000,
     128,
     {.law = ROPE2D_LAW_DYNAMIC, .factor = 2, .original_length = 2048, .length = 5000}},
    {"dynamic, within",
     10000,
     128,
     {.law = ROPE2D_LAW_DYNAMIC, .factor = 2, .original_length = 2048, .length = 100}},
    {"yarn", 10000, 128, {.law = ROPE2D_LAW_YARN, .factor = 16, .original_length = 4096}},
    {"yarn, Qwen2.5", 1000000, 128, {.law = ROPE2D_LAW_YARN, .factor = 4, .original_length = 32768}},
    {"yarn, betas",
     10000,
     96,
     {.law = ROPE2D_LAW_YARN, .factor = 3, .original_length = 1000, .beta_fast = 20, .beta_slow = 2}},
    {"yarn, an image axis", 100, 32, {.law = ROPE2D_LAW_YARN, .factor = 2, .original_length = 14}},
    {"yarn, no ramp", 10000, 2, {.law = ROPE2D_LAW_YARN, .factor = 2, .original_length = 3}},
    {"llama 3.1", 500000, 128, {.law = ROPE2D_LAW_LLAMA3, .factor = 8, .original_length = 8192}},
    {"llama 3.2",
     500000,
     64,
     {.law = ROPE2D_LAW_LLAMA3, .factor = 32, .original_length = 8192, .low_factor = 1, .high_factor = 4}},
};

static void try_sample(const struct sample *sample) {
    static float frequencies[MAX_PAIRS];
    float attention = 0;
    logged.text[0] = '\0';
    rope2d_status status =
        rope2d_frequencies(sample->base, sample->channels, &sample->law, &host, frequencies, &attention);
    double worst = status == ROPE2D_OK ? 0 : INFINITY;
    for (uint32_t j = 0; status == ROPE2D_OK && j < sample->channels / 2; j++)
        worst =
            fmax(worst, distance(frequencies[j], expected(&sample->law, sample->base, j, sample->channels)));
    verdict(worst <= 0.50001, sample->name, worst);
    bool is_yarn = sample->law.law == ROPE2D_LAW_YARN;
    long double wants = is_yarn ? 0.1L * logl(sample->law.factor) + 1 : 1;
    verdict(distance(attention, wants) <= 0.50001, sample->name, attention);
}

// A wrong law must not pass: the check above tells each from every other.
static void try_wrong_laws(void) {
    static float frequencies[64];
    rope2d_scaling law = {.factor = 4, .original_length = 2048, .length = 9000};
    for (int is = ROPE2D_LAW_NONE; is < ROPE2D_LAW_COUNT; is++) {
        law.law = (rope2d_law)is;
        (void)rope2d_frequencies(10000, 128, &law, &host, frequencies, NULL);
        for (int other = ROPE2D_LAW_NONE; other < ROPE2D_LAW_COUNT; other++) {
            double worst = 0;
            law.law = (rope2d_law)other;
            for (unsigned j = 0; j < 64; j++)
                worst = fmax(worst, distance(frequencies[j], expected(&law, 10000, j, 128)));
            verdict(is == other ? worst <= 0.50001 : worst > 1000, "laws told apart", worst);
        }
    }
}

static void try_xpos(void) {
    enum { TOKENS = 9, CHANNELS = 32 };
    float positions[TOKENS], magnitudes[2][TOKENS * CHANNELS / 2];
    for (int t = 0; t < TOKENS; t++)
        positions[t] = (float)(t * 37.5);
    double worst = 0;
    for (uint32_t is_key = 0; is_key < 2; is_key++) {
        rope2d_status status =
            rope2d_xpos(positions, TOKENS, CHANNELS, 4, 0, is_key, &host, magnitudes[is_key]);
        verdict(status == ROPE2D_OK, "xpos", status);
        for (int t = 0; t < TOKENS; t++)
            for (int i = 0; i < CHANNELS / 2; i++) {
                // lucidrains/rotary-embedding-torch, get_scale
                long double scale = (2.0L * i + 0.4L * CHANNELS) / (1.4L * CHANNELS);
                long double wants = powl(scale, (positions[t] - 4.0L) / 512);
                wants = is_key ? 1 / wants : wants;
                worst = fmax(worst, distance(magnitudes[is_key][t * CHANNELS / 2 + i], wants));
            }
    }
    verdict(worst <= 0.50001, "xpos", worst);
    // q . k scales with the difference of the positions alone
    float product = magnitudes[0][CHANNELS / 2] * magnitudes[1][0];
    float again = magnitudes[0][8 * CHANNELS / 2] * magnitudes[1][7 * CHANNELS / 2];
    verdict(fabsf(product - again) < 1e-6F, "xpos is relative", product - again);
}

static void refuses(rope2d_status is, rope2d_status wants, const char *name) {
    bool has_line = logged.text[0] != '\0';
    if (is != wants)
        printf("     %s, not %s\n", rope2d_status_name(is), rope2d_status_name(wants));
    verdict(is == wants && has_line, name, is);
    logged.text[0] = '\0';
}

static void refuses_law(rope2d_scaling law, rope2d_status wants, const char *name) {
    float frequencies[32] = {-1};
    logged.text[0] = '\0';
    refuses(rope2d_frequencies(10000, 64, &law, &host, frequencies, NULL), wants, name);
    verdict(frequencies[0] == -1, "a refused call writes nothing", frequencies[0]);
}

static void try_refusals(void) {
    float some[32] = {0};
    const float infinite[1] = {INFINITY}, far[1] = {1e30F}, zero[1] = {0};
    logged.text[0] = '\0';
    refuses(rope2d_frequencies(10000, 64, NULL, &host, NULL, NULL), ROPE2D_ERROR_NULL, "no frequencies");
    refuses(rope2d_frequencies(10000, 0, NULL, &host, some, NULL), ROPE2D_ERROR_HEAD_DIM, "channels 0");
    refuses(rope2d_frequencies(10000, 63, NULL, &host, some, NULL), ROPE2D_ERROR_HEAD_DIM, "channels odd");
    refuses(rope2d_frequencies(10000, 4098, NULL, &host, some, NULL), ROPE2D_ERROR_HEAD_DIM, "channels many");
    refuses(rope2d_frequencies(1, 64, NULL, &host, some, NULL), ROPE2D_ERROR_FREQUENCY, "base 1");
    refuses(rope2d_frequencies(NAN, 64, NULL, &host, some, NULL), ROPE2D_ERROR_FREQUENCY, "base NaN");
    refuses(rope2d_frequencies(INFINITY, 64, NULL, &host, some, NULL), ROPE2D_ERROR_FREQUENCY,
            "base infinite");
    refuses_law((rope2d_scaling){.law = ROPE2D_LAW_COUNT}, ROPE2D_ERROR_ENUM, "unknown law");
    refuses_law((rope2d_scaling){.law = (rope2d_law)-1}, ROPE2D_ERROR_ENUM, "negative law");
    refuses_law((rope2d_scaling){.law = ROPE2D_LAW_LINEAR}, ROPE2D_ERROR_FREQUENCY, "no factor");
    refuses_law((rope2d_scaling){.law = ROPE2D_LAW_LINEAR, .factor = 0.5}, ROPE2D_ERROR_FREQUENCY,
                "factor below 1");
    refuses_law((rope2d_scaling){.law = ROPE2D_LAW_LINEAR, .factor = NAN}, ROPE2D_ERROR_FREQUENCY,
                "factor NaN");
    refuses_law((rope2d_scaling){.law = ROPE2D_LAW_NTK, .factor = DBL_MAX}, ROPE2D_ERROR_FREQUENCY,
                "base overflows");
    refuses_law((rope2d_scaling){.law = ROPE2D_LAW_YARN, .factor = 2}, ROPE2D_ERROR_FREQUENCY,
                "no original length");
    refuses_law((rope2d_scaling){.law = ROPE2D_LAW_DYNAMIC, .factor = 2, .original_length = 9},
                ROPE2D_ERROR_FREQUENCY, "no length");
    refuses_law(
        (rope2d_scaling){
            .law = ROPE2D_LAW_YARN, .factor = 2, .original_length = 9, .beta_fast = 1, .beta_slow = 2},
        ROPE2D_ERROR_FREQUENCY, "betas swapped");
    refuses_law(
        (rope2d_scaling){.law = ROPE2D_LAW_LLAMA3, .factor = 2, .original_length = 9, .low_factor = 5},
        ROPE2D_ERROR_FREQUENCY, "factors swapped");
    const rope2d_scaling ntk = {.law = ROPE2D_LAW_NTK, .factor = 2};
    refuses(rope2d_frequencies(10000, 2, &ntk, &host, some, NULL), ROPE2D_ERROR_FREQUENCY, "ntk of one pair");
    refuses(rope2d_xpos(NULL, 1, 4, 0, 0, 0, &host, some), ROPE2D_ERROR_NULL, "xpos without positions");
    refuses(rope2d_xpos(zero, 1, 3, 0, 0, 0, &host, some), ROPE2D_ERROR_HEAD_DIM, "xpos of odd channels");
    refuses(rope2d_xpos(zero, 1, 4, NAN, 0, 0, &host, some), ROPE2D_ERROR_COORDINATE, "xpos around NaN");
    refuses(rope2d_xpos(zero, 1, 4, 0, -1, 0, &host, some), ROPE2D_ERROR_COORDINATE,
            "xpos of negative scale");
    refuses(rope2d_xpos(infinite, 1, 4, 0, 0, 0, &host, some), ROPE2D_ERROR_COORDINATE, "xpos at infinity");
    refuses(rope2d_xpos(far, 1, 4, 0, 0, 1, &host, some), ROPE2D_ERROR_MAGNITUDE, "xpos far away");
    const rope2d_host bad = {.struct_size = 1};
    logged.text[0] = 'x';
    refuses(rope2d_frequencies(10000, 64, NULL, &bad, some, NULL), ROPE2D_ERROR_STRUCT_SIZE, "bad host");
}

int main(void) {
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
        try_sample(&samples[i]);
    try_wrong_laws();
    try_xpos();
    try_refusals();
    return check_finish();
}

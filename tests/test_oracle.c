// SPDX-License-Identifier: MIT
// The oracle against numbers that it did not make: the recorded outputs of models, and arithmetic done by
// hand.
#include "check.h"
#include "counter.h"
#include "oracle.h"

#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void check_encode(enum oracle_type type, double value, uint32_t bits) {
    char detail[128];
    uint32_t got = oracle_encode(type, value);
    (void)snprintf(detail, sizeof(detail), "type %d, %a: %08" PRIx32 ", expected %08" PRIx32, (int)type,
                   value, got, bits);
    CHECK_DETAIL(got == bits, "encode", got == bits ? "" : detail);
}

static void check_numbers(void) {
    size_t wrong = 0;
    for (uint32_t bits = 0; bits < 65536; bits++)
        for (int type = ORACLE_F16; type <= ORACLE_BF16; type++) {
            double value = oracle_decode((enum oracle_type)type, bits);
            wrong += !isnan(value) && oracle_encode((enum oracle_type)type, value) != bits;
        }
    CHECK_DETAIL(wrong == 0, "16-bit round trips", wrong == 0 ? "" : "differ");
    check_encode(ORACLE_F16, 65504, 0x7bff);
    check_encode(ORACLE_F16, 65519.99, 0x7bff);
    check_encode(ORACLE_F16, -65520, 0xfc00);
    check_encode(ORACLE_F16, 0x1p-24, 0x0001);
    check_encode(ORACLE_F16, 0x1p-25, 0x0000);
    check_encode(ORACLE_F16, 0x1.8p-24, 0x0002);
    check_encode(ORACLE_F16, 0x1.000001p-25, 0x0001);
    check_encode(ORACLE_F16, 0x1.ffcp-15, 0x0400);
    check_encode(ORACLE_F16, 1 + 0x1p-11, 0x3c00);
    check_encode(ORACLE_F16, 1 + 0x3p-11, 0x3c02);
    check_encode(ORACLE_BF16, 1 + 0x1p-8, 0x3f80);
    check_encode(ORACLE_BF16, -1 - 0x3p-8, 0xbf82);
    check_encode(ORACLE_BF16, 0x1.fep127, 0x7f7f);
    check_encode(ORACLE_BF16, 0x1.ffp127, 0x7f80);
    check_encode(ORACLE_F32, 0x1.fffffep127, 0x7f7fffff);
    check_encode(ORACLE_F32, 0x1.ffffffp127, 0x7f800000);
    check_encode(ORACLE_F32, -0.0, 0x80000000);
    check_encode(ORACLE_F32, 0x1p-149, 0x00000001);
    check_encode(ORACLE_F32, 1 + 0x1p-24, 0x3f800000);
    check_encode(ORACLE_F32, 1 + 0x3p-24, 0x3f800002);
    (void)fesetround(FE_UPWARD);
    check_encode(ORACLE_F32, 1 + 0x1p-40, 0x3f800000);
    (void)fesetround(FE_TONEAREST);
    CHECK_DETAIL(oracle_ulp(ORACLE_F32, 1) == 0x1p-23 && oracle_ulp(ORACLE_F32, 0) == 0x1p-149 &&
                     oracle_ulp(ORACLE_F16, 0x1p-20) == 0x1p-24 && oracle_ulp(ORACLE_BF16, -3) == 0x1p-6,
                 "ulp", "");
}

// One pair of channels 0 and 1 turned by one radian; channel 2 passes through.
static struct oracle_value turn(enum oracle_direction direction, double magnitude, size_t tables, double lo,
                                double hi, size_t channel) {
    static const int32_t pair_lo[] = {0};
    static const int32_t pair_hi[] = {1};
    static const float freqs[] = {1.0f, 2.0f};
    static const float coordinates[] = {1.0f};
    const struct oracle_rotation rotation = {.tokens = 1,
                                             .position_batches = 1,
                                             .head_dim = 3,
                                             .axes = 1,
                                             .pairs = 1,
                                             .freq_heads = 1,
                                             .tables = tables,
                                             .pair_lo = pair_lo,
                                             .pair_hi = pair_hi,
                                             .freqs = freqs,
                                             .coordinates = coordinates,
                                             .magnitude = magnitude,
                                             .direction = direction};
    struct oracle_value outputs[3] = {{0}};
    double inputs[] = {lo, hi, 7};
    struct oracle *oracle = oracle_create(&rotation);
    if (oracle == NULL)
        return (struct oracle_value){.value = (double)NAN, .unit = -1};
    oracle_rotate(oracle, 0, 0, 0, inputs, outputs);
    oracle_destroy(oracle);
    return outputs[channel];
}

#define COS1 0.54030230586813971740
#define SIN1 0.84147098480789650665
#define COS2 (-0.41614683654714238700)
#define SIN2 0.90929742682568169540

static void check_turn(const char *name, struct oracle_value got, double expected) {
    CHECK_DETAIL(fabs(got.value - expected) <= 1e-15, name,
                 fabs(got.value - expected) <= 1e-15 ? "" : "differs");
}

static void check_directions(void) {
    check_turn("forward lo", turn(ORACLE_FORWARD, 2, 1, 3, 5, 0), 2 * (3 * COS1 - 5 * SIN1));
    check_turn("forward hi", turn(ORACLE_FORWARD, 2, 1, 3, 5, 1), 2 * (3 * SIN1 + 5 * COS1));
    check_turn("inverse lo", turn(ORACLE_INVERSE, 2, 1, 3, 5, 0), 0.5 * (3 * COS1 + 5 * SIN1));
    check_turn("inverse hi", turn(ORACLE_INVERSE, 2, 1, 3, 5, 1), 0.5 * (5 * COS1 - 3 * SIN1));
    check_turn("transpose lo", turn(ORACLE_TRANSPOSE, 2, 1, 3, 5, 0), 2 * (3 * COS1 + 5 * SIN1));
    check_turn("two angles lo", turn(ORACLE_FORWARD, 1, 2, 3, 5, 0), 3 * COS1 - 5 * SIN1);
    check_turn("two angles hi", turn(ORACLE_FORWARD, 1, 2, 3, 5, 1), 3 * SIN2 + 5 * COS2);
    check_turn("two angles transposed lo", turn(ORACLE_TRANSPOSE, 1, 2, 3, 5, 0), 3 * COS1 + 5 * SIN2);
    check_turn("two angles transposed hi", turn(ORACLE_TRANSPOSE, 1, 2, 3, 5, 1), 5 * COS2 - 3 * SIN1);
    CHECK_DETAIL(turn(ORACLE_INVERSE, 1, 2, 3, 5, 0).unit < 0, "inverse of two angles is refused", "");
    CHECK_DETAIL(turn(ORACLE_INVERSE, 0, 1, 3, 5, 0).unit < 0, "inverse of nothing is refused", "");
    CHECK_DETAIL(turn(ORACLE_FORWARD, 0, 1, 3, 5, 0).value == 0, "magnitude zero", "");
    CHECK_DETAIL(turn(ORACLE_FORWARD, 1, 1, 3, 5, 2).copied, "a channel outside passes", "");
}

static void check_errors(void) {
    struct oracle_value one = turn(ORACLE_FORWARD, 1, 1, 3, 5, 0);
    uint32_t near = oracle_encode(ORACLE_F32, one.value);
    CHECK_DETAIL(one.unit == 0x1p-21, "unit of |3 cos 1| + |5 sin 1|", "");
    CHECK_DETAIL(oracle_error(&one, ORACLE_F32, near) <= 0.5, "nearest is within half a unit", "");
    CHECK_DETAIL(oracle_error(&one, ORACLE_F32, near + 8) > ORACLE_LIMIT, "eight steps away is outside", "");
    CHECK_DETAIL(oracle_error(&one, ORACLE_BF16, oracle_encode(ORACLE_BF16, one.value)) == 0, "nearest bf16",
                 "");
    CHECK_DETAIL(oracle_error(&one, ORACLE_BF16, oracle_encode(ORACLE_BF16, one.value) + 1) > 100,
                 "next bf16", "");
    CHECK_DETAIL(oracle_error(&one, ORACLE_F32, 0x7fc00000) > ORACLE_LIMIT, "NaN for a number", "");
    CHECK_DETAIL(oracle_error(&one, ORACLE_F16, 0xfc00) > ORACLE_LIMIT, "infinity for a number", "");
    struct oracle_value far = turn(ORACLE_FORWARD, 1, 1, 80000, 0, 1);
    CHECK_DETAIL(oracle_error(&far, ORACLE_F16, 0x7c00) == 0, "f16 overflows", "");
    CHECK_DETAIL(oracle_error(&far, ORACLE_F16, 0xfc00) > ORACLE_LIMIT, "f16 overflows to the other side",
                 "");
    CHECK_DETAIL(oracle_error(&far, ORACLE_F16, 0x7bff) > ORACLE_LIMIT, "f16 does not saturate", "");
    struct oracle_value infinite = turn(ORACLE_FORWARD, 1, 1, (double)INFINITY, 1, 0);
    CHECK_DETAIL(oracle_error(&infinite, ORACLE_F32, 0x7f800000) == 0 && isinf(infinite.value),
                 "infinity stays", "");
    struct oracle_value undefined = turn(ORACLE_FORWARD, 1, 1, (double)INFINITY, (double)INFINITY, 0);
    CHECK_DETAIL(oracle_error(&undefined, ORACLE_F32, 0xffffffff) == 0, "infinity less infinity", "");
    CHECK_DETAIL(oracle_error(&undefined, ORACLE_F32, 0) > ORACLE_LIMIT, "a number for NaN", "");
    struct oracle_value copied = turn(ORACLE_FORWARD, 1, 1, 3, 5, 2);
    CHECK_DETAIL(oracle_error(&copied, ORACLE_F16, 0x4700) == 0, "copy", "");
    CHECK_DETAIL(oracle_error(&copied, ORACLE_F16, 0x4701) > ORACLE_LIMIT, "changed copy", "");
}

// Rounded to fp32, 4097 * 4097 loses its last bit and the sum is zero; in double it is one.
static void check_angle_modes(void) {
    static const int32_t channels[] = {0, 1};
    static const float freqs[] = {1.0f, 4097.0f, 0.0f};
    static const float coordinates[] = {-16785408.0f, 4097.0f, INFINITY};
    struct oracle_rotation rotation = {.tokens = 1,
                                       .position_batches = 1,
                                       .head_dim = 2,
                                       .axes = 3,
                                       .pairs = 1,
                                       .freq_heads = 1,
                                       .tables = 1,
                                       .pair_lo = channels,
                                       .pair_hi = channels + 1,
                                       .freqs = freqs,
                                       .coordinates = coordinates,
                                       .magnitude = 1};
    for (int mode = ORACLE_ANGLE_DOUBLE; mode <= ORACLE_ANGLE_FP32; mode++) {
        double inputs[] = {3, 5};
        struct oracle_value outputs[2] = {{0}};
        rotation.angle = (enum oracle_angle)mode;
        struct oracle *oracle = oracle_create(&rotation);
        if (oracle != NULL)
            oracle_rotate(oracle, 0, 0, 0, inputs, outputs);
        oracle_destroy(oracle);
        if (mode == ORACLE_ANGLE_FP32)
            check_turn("angle in fp32", outputs[0], 3);
        else
            check_turn("angle in double", outputs[0], 3 * COS1 - 5 * SIN1);
    }
}

// Batches with positions of their own, frequencies of heads, magnitudes of tokens and pairs, and a token that
// stays, with every index written out.
static void check_indices(void) {
    enum { BATCHES = 2, TOKENS = 3, HEADS = 2, PAIRS = 2, DIM = 5 };
    static const int32_t lo[PAIRS] = {4, 0};
    static const int32_t hi[PAIRS] = {1, 3};
    static const float freqs[HEADS][PAIRS] = {{0.5f, 0.25f}, {1.5f, 3.0f}};
    static const float coordinates[BATCHES][TOKENS] = {{1, 2, 3}, {5, 7, 11}};
    static const float magnitudes[BATCHES][TOKENS][PAIRS] = {{{1, 2}, {3, 4}, {5, 6}},
                                                             {{7, 8}, {9, 10}, {11, 12}}};
    static const struct oracle_range unrotated[] = {{0, 0}, {1, 2}};
    const struct oracle_rotation rotation = {.tokens = TOKENS,
                                             .position_batches = BATCHES,
                                             .head_dim = DIM,
                                             .axes = 1,
                                             .pairs = PAIRS,
                                             .freq_heads = HEADS,
                                             .tables = 1,
                                             .pair_lo = lo,
                                             .pair_hi = hi,
                                             .freqs = &freqs[0][0],
                                             .coordinates = &coordinates[0][0],
                                             .unrotated = unrotated,
                                             .unrotated_count = 2,
                                             .magnitude = 0.5,
                                             .magnitudes = &magnitudes[0][0][0]};
    const double x[DIM] = {2, 3, 5, 7, 11};
    double worst = 0;
    struct oracle *oracle = oracle_create(&rotation);
    CHECK_DETAIL(oracle != NULL, "batches, heads and magnitudes", "");
    for (size_t at = 0; oracle != NULL && at < BATCHES * TOKENS * HEADS * PAIRS; at++) {
        struct oracle_value y[DIM];
        size_t batch = at / (TOKENS * HEADS * PAIRS);
        size_t token = at / (HEADS * PAIRS) % TOKENS;
        size_t head = at / PAIRS % HEADS;
        size_t pair = at % PAIRS;
        double angle = token == 1 ? 0 : (double)coordinates[batch][token] * (double)freqs[head][pair];
        double m = token == 1 ? 1 : 0.5 * (double)magnitudes[batch][token][pair];
        oracle_rotate(oracle, batch, token, head, x, y);
        double expected_lo = m * (cos(angle) * x[lo[pair]] - sin(angle) * x[hi[pair]]);
        double expected_hi = m * (sin(angle) * x[lo[pair]] + cos(angle) * x[hi[pair]]);
        worst = fmax(worst, fabs(y[lo[pair]].value - expected_lo));
        worst = fmax(worst, fabs(y[hi[pair]].value - expected_hi));
        worst = fmax(worst, fabs(y[2].value - x[2]));
        CHECK_DETAIL(y[2].copied && y[0].copied == (token == 1), "what is copied", "");
    }
    CHECK_DETAIL(worst < 1e-12, "every index", worst < 1e-12 ? "" : "differs");
    oracle_destroy(oracle);
}

// Steps of fp32 arithmetic as the library promises them must stay within the limit, and a table that is off
// by a few units must not.
static void check_limit(void) {
    static const int32_t channels[] = {0, 1};
    static const float freqs[] = {1.0f};
    double worst = 0;
    double worst_of_bad = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        float coordinate = counter_scaled(counter_word(7, 0, i), 6);
        float a = counter_bell(counter_word(7, 1, i));
        float b = counter_bell(counter_word(7, 2, i));
        const struct oracle_rotation rotation = {.tokens = 1,
                                                 .position_batches = 1,
                                                 .head_dim = 2,
                                                 .axes = 1,
                                                 .pairs = 1,
                                                 .freq_heads = 1,
                                                 .tables = 1,
                                                 .pair_lo = channels,
                                                 .pair_hi = channels + 1,
                                                 .freqs = freqs,
                                                 .coordinates = &coordinate,
                                                 .magnitude = 1};
        double inputs[] = {(double)a, (double)b};
        struct oracle_value outputs[2] = {{0}};
        struct oracle *oracle = oracle_create(&rotation);
        if (oracle != NULL)
            oracle_rotate(oracle, 0, 0, 0, inputs, outputs);
        oracle_destroy(oracle);
        volatile float first = (float)cos((double)coordinate) * a;
        volatile float second = (float)sin((double)coordinate) * b;
        volatile float bad = (float)(cos((double)coordinate) * (1 + 0x1p-20)) * a;
        uint32_t good_bits = oracle_encode(ORACLE_F32, (double)(first - second));
        uint32_t bad_bits = oracle_encode(ORACLE_F32, (double)(bad - second));
        worst = fmax(worst, oracle_error(&outputs[0], ORACLE_F32, good_bits));
        worst_of_bad = fmax(worst_of_bad, oracle_error(&outputs[0], ORACLE_F32, bad_bits));
    }
    char detail[96];
    (void)snprintf(detail, sizeof(detail), "largest error %.3f units, with a bad table %.3f", worst,
                   worst_of_bad);
    CHECK_DETAIL(worst > 1 && worst <= ORACLE_LIMIT && worst_of_bad > ORACLE_LIMIT, "limit", detail);
}

int main(void) {
    printf("cosine and sine from %s\n", oracle_has_mpfr() ? "MPFR" : "the host's long double");
    check_numbers();
    check_directions();
    check_angle_modes();
    check_indices();
    check_limit();
    check_errors();
    return check_finish();
}

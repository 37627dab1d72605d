// SPDX-License-Identifier: MIT
// The oracle against numbers that it did not make: the recorded outputs of models, and arithmetic done by
// hand.
#include "golden.h"
#include "oracle.h"

#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Every output that was recorded in fp32 agrees with fp32 angles this closely; absolute, values reach
// about 5.
#define FP32_LIMIT   4e-6
#define MAX_HEAD_DIM 512

static int passed, failed;

static void verdict(bool good, const char *name, const char *detail) {
    if (good)
        passed++;
    else
        failed++;
    if (!good || detail[0] != '\0')
        printf("%s %-28s %s\n", good ? "ok  " : "FAIL", name, detail);
}

static struct oracle *oracle_of(const struct golden_case *golden, const struct golden_tensor *tensor,
                                enum oracle_angle angle, const int32_t *lo, const int32_t *hi) {
    struct oracle_range ranges[16];
    for (size_t i = 0; i < tensor->unrotated_count && i < 16; i++)
        ranges[i] = (struct oracle_range){tensor->unrotated[i][0], tensor->unrotated[i][1]};
    const struct oracle_rotation rotation = {
        .tokens = tensor->tokens,
        .position_batches = 1,
        .head_dim = golden->head_dim,
        .axes = golden->axes,
        .pairs = golden->pairs,
        .freq_heads = golden->freq_heads,
        .tables = golden->tables,
        .pair_lo = lo,
        .pair_hi = hi,
        .freqs = golden->freqs,
        .coordinates = tensor->coordinates,
        .unrotated = ranges,
        .unrotated_count = tensor->unrotated_count,
        .magnitude = 1,
        .angle = angle,
    };
    return oracle_create(&rotation);
}

struct difference {
    double exact;   // of the oracle's value from the recorded output
    double rounded; // the same after rounding to fp32
    double largest; // magnitude of the recorded outputs
    size_t changed; // copied elements whose bits differ
};

static void compare_head(const struct oracle *oracle, const struct golden_tensor *tensor, size_t batch,
                         size_t token, size_t head, size_t head_dim, struct difference *difference) {
    double inputs[MAX_HEAD_DIM] = {0};
    struct oracle_value outputs[MAX_HEAD_DIM];
    size_t start = batch * tensor->batch_stride + token * tensor->token_stride + head * tensor->head_stride;
    for (size_t i = 0; i < head_dim; i++)
        inputs[i] = oracle_decode(ORACLE_F32, oracle_load(ORACLE_F32, tensor->input.data, start + i));
    oracle_rotate(oracle, batch, token, head, inputs, outputs);
    for (size_t i = 0; i < head_dim; i++) {
        uint32_t bits = oracle_load(ORACLE_F32, tensor->output.data, start + i);
        double recorded = oracle_decode(ORACLE_F32, bits);
        double rounded = oracle_decode(ORACLE_F32, oracle_encode(ORACLE_F32, outputs[i].value));
        if (outputs[i].copied && bits != oracle_load(ORACLE_F32, tensor->input.data, start + i))
            difference->changed++;
        difference->exact = fmax(difference->exact, fabs(outputs[i].value - recorded));
        difference->rounded = fmax(difference->rounded, fabs(rounded - recorded));
        difference->largest = fmax(difference->largest, fabs(recorded));
    }
}

static bool compare_tensor(const struct golden_case *golden, const struct golden_tensor *tensor,
                           enum oracle_angle angle, bool swapped, struct difference *difference) {
    const int32_t *lo = swapped ? golden->pair_hi : golden->pair_lo;
    const int32_t *hi = swapped ? golden->pair_lo : golden->pair_hi;
    struct oracle *oracle = oracle_of(golden, tensor, angle, lo, hi);
    if (oracle == NULL)
        return false;
    for (size_t batch = 0; batch < tensor->batch; batch++)
        for (size_t token = 0; token < tensor->tokens; token++)
            for (size_t head = 0; head < tensor->heads; head++)
                compare_head(oracle, tensor, batch, token, head, golden->head_dim, difference);
    oracle_destroy(oracle);
    return true;
}

static bool compare_case(const struct golden_case *golden, enum oracle_angle angle, bool swapped,
                         struct difference *difference) {
    *difference = (struct difference){0};
    return golden->head_dim <= MAX_HEAD_DIM && golden->q.unrotated_count <= 16 &&
           golden->k.unrotated_count <= 16 &&
           compare_tensor(golden, &golden->q, angle, swapped, difference) &&
           compare_tensor(golden, &golden->k, angle, swapped, difference);
}

static void check_case(const struct golden_case *golden) {
    char detail[256];
    struct difference in_double;
    struct difference in_fp32;
    struct difference wrong;
    double limit = golden->recorded_in_bf16 ? golden->tolerance : FP32_LIMIT;
    if (!compare_case(golden, ORACLE_ANGLE_DOUBLE, false, &in_double) ||
        !compare_case(golden, ORACLE_ANGLE_FP32, false, &in_fp32) ||
        !compare_case(golden, ORACLE_ANGLE_FP32, true, &wrong)) {
        verdict(false, golden->name, "the oracle refuses it");
        return;
    }
    (void)snprintf(
        detail, sizeof(detail),
        "double %.2e (of %g)  fp32 angles %.2e, rounded %.2e, relative %.2e (of %g)  copies changed %zu",
        in_double.exact, golden->tolerance, in_fp32.exact, in_fp32.rounded, in_fp32.rounded / in_fp32.largest,
        limit, in_double.changed + in_fp32.changed);
    verdict(in_double.exact <= golden->tolerance && in_fp32.rounded <= limit && in_fp32.exact <= limit &&
                in_double.changed + in_fp32.changed == 0,
            golden->name, detail);
    // Exchanging lo and hi turns the other way, which must be far from what the model returned.
    verdict(wrong.exact > 0.5, golden->name, wrong.exact > 0.5 ? "" : "turning the wrong way goes unnoticed");
}

static void check_golden(const char *root) {
    size_t count = 0;
    char(*names)[GOLDEN_NAME_SIZE] = golden_list(root, &count);
    for (size_t i = 0; i < count; i++) {
        char path[4096];
        char error[GOLDEN_ERROR_SIZE];
        struct golden_case golden;
        (void)snprintf(path, sizeof(path), "%s/%s", root, names[i]);
        if (golden_load(path, &golden, error))
            check_case(&golden);
        else
            verdict(false, names[i], error);
        golden_free(&golden);
    }
    free(names);
    verdict(count == 45, "number of golden cases", count == 45 ? "" : "is not 45");
}

static void check_encode(enum oracle_type type, double value, uint32_t bits) {
    char detail[128];
    uint32_t got = oracle_encode(type, value);
    (void)snprintf(detail, sizeof(detail), "type %d, %a: %08" PRIx32 ", expected %08" PRIx32, (int)type,
                   value, got, bits);
    verdict(got == bits, "encode", got == bits ? "" : detail);
}

static void check_numbers(void) {
    size_t wrong = 0;
    for (uint32_t bits = 0; bits < 65536; bits++)
        for (int type = ORACLE_F16; type <= ORACLE_BF16; type++) {
            double value = oracle_decode((enum oracle_type)type, bits);
            wrong += !isnan(value) && oracle_encode((enum oracle_type)type, value) != bits;
        }
    verdict(wrong == 0, "16-bit round trips", wrong == 0 ? "" : "differ");
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
    verdict(oracle_ulp(ORACLE_F32, 1) == 0x1p-23 && oracle_ulp(ORACLE_F32, 0) == 0x1p-149 &&
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
    verdict(fabs(got.value - expected) <= 1e-15, name, fabs(got.value - expected) <= 1e-15 ? "" : "differs");
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
    verdict(turn(ORACLE_INVERSE, 1, 2, 3, 5, 0).unit < 0, "inverse of two angles is refused", "");
    verdict(turn(ORACLE_INVERSE, 0, 1, 3, 5, 0).unit < 0, "inverse of nothing is refused", "");
    verdict(turn(ORACLE_FORWARD, 0, 1, 3, 5, 0).value == 0, "magnitude zero", "");
    verdict(turn(ORACLE_FORWARD, 1, 1, 3, 5, 2).copied, "a channel outside passes", "");
}

static void check_errors(void) {
    struct oracle_value one = turn(ORACLE_FORWARD, 1, 1, 3, 5, 0);
    uint32_t near = oracle_encode(ORACLE_F32, one.value);
    verdict(one.unit == 0x1p-21, "unit of |3 cos 1| + |5 sin 1|", "");
    verdict(oracle_error(&one, ORACLE_F32, near) <= 0.5, "nearest is within half a unit", "");
    verdict(oracle_error(&one, ORACLE_F32, near + 8) > ORACLE_LIMIT, "eight steps away is outside", "");
    verdict(oracle_error(&one, ORACLE_BF16, oracle_encode(ORACLE_BF16, one.value)) == 0, "nearest bf16", "");
    verdict(oracle_error(&one, ORACLE_BF16, oracle_encode(ORACLE_BF16, one.value) + 1) > 100, "next bf16",
            "");
    verdict(oracle_error(&one, ORACLE_F32, 0x7fc00000) > ORACLE_LIMIT, "NaN for a number", "");
    verdict(oracle_error(&one, ORACLE_F16, 0xfc00) > ORACLE_LIMIT, "infinity for a number", "");
    struct oracle_value far = turn(ORACLE_FORWARD, 1, 1, 80000, 0, 1);
    verdict(oracle_error(&far, ORACLE_F16, 0x7c00) == 0, "f16 overflows", "");
    verdict(oracle_error(&far, ORACLE_F16, 0xfc00) > ORACLE_LIMIT, "f16 overflows to the other side", "");
    verdict(oracle_error(&far, ORACLE_F16, 0x7bff) > ORACLE_LIMIT, "f16 does not saturate", "");
    struct oracle_value infinite = turn(ORACLE_FORWARD, 1, 1, (double)INFINITY, 1, 0);
    verdict(oracle_error(&infinite, ORACLE_F32, 0x7f800000) == 0 && isinf(infinite.value), "infinity stays",
            "");
    struct oracle_value undefined = turn(ORACLE_FORWARD, 1, 1, (double)INFINITY, (double)INFINITY, 0);
    verdict(oracle_error(&undefined, ORACLE_F32, 0xffffffff) == 0, "infinity less infinity", "");
    verdict(oracle_error(&undefined, ORACLE_F32, 0) > ORACLE_LIMIT, "a number for NaN", "");
    struct oracle_value copied = turn(ORACLE_FORWARD, 1, 1, 3, 5, 2);
    verdict(oracle_error(&copied, ORACLE_F16, 0x4700) == 0, "copy", "");
    verdict(oracle_error(&copied, ORACLE_F16, 0x4701) > ORACLE_LIMIT, "changed copy", "");
}

int main(int argc, char **argv) {
    const char *root = argc > 1 ? argv[1] : getenv("ROPE2D_GOLDEN");
    printf("cosine and sine from %s\n", oracle_has_mpfr() ? "MPFR" : "the host's long double");
    check_numbers();
    check_directions();
    check_errors();
    check_golden(root != NULL ? root : "tests/golden");
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}

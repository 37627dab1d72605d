// SPDX-License-Identifier: MIT
// The oracle against numbers that it did not make: the recorded outputs of models.
#include "check.h"
#include "golden.h"
#include "oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Every output that was recorded in fp32 agrees with fp32 angles this closely; absolute, values reach
// about 5.
#define FP32_LIMIT   4e-6
#define MAX_HEAD_DIM 512

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
        CHECK_DETAIL(false, golden->name, "the oracle refuses it");
        return;
    }
    (void)snprintf(
        detail, sizeof(detail),
        "double %.2e (of %g)  fp32 angles %.2e, rounded %.2e, relative %.2e (of %g)  copies changed %zu",
        in_double.exact, golden->tolerance, in_fp32.exact, in_fp32.rounded, in_fp32.rounded / in_fp32.largest,
        limit, in_double.changed + in_fp32.changed);
    CHECK_DETAIL(in_double.exact <= golden->tolerance && in_fp32.rounded <= limit && in_fp32.exact <= limit &&
                     in_double.changed + in_fp32.changed == 0,
                 golden->name, detail);
    // Exchanging lo and hi turns the other way, which must be far from what the model returned.
    CHECK_DETAIL(wrong.exact > 0.5, golden->name,
                 wrong.exact > 0.5 ? "" : "turning the wrong way goes unnoticed");
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
            CHECK_DETAIL(false, names[i], error);
        golden_free(&golden);
    }
    free(names);
    CHECK_DETAIL(count == 45, "number of golden cases", count == 45 ? "" : "is not 45");
}

int main(int argc, char **argv) {
    const char *root = argc > 1 ? argv[1] : getenv("ROPE2D_GOLDEN");
    check_golden(root != NULL ? root : "tests/golden");
    return check_finish();
}

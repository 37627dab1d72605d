// SPDX-License-Identifier: MIT
// Every golden case on every device, table in a buffer and in a texture, angles formed in fp32: close to what
// the model returned, and equal to the portable path. The case's own word for its pairing is used where the
// library has one, its list of channels otherwise.
#include "golden.h"
#include "harness/devices.h"
#include "harness/run.h"
#include "oracle_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES      45
#define FP32_LIMIT 4e-6 // absolute, of values up to about 5

struct suite {
    struct harness_report report;
    struct harness_device portable;
    struct harness_devices found;
    struct harness_device devices[HARNESS_MAX_DEVICES];
    unsigned long ran[HARNESS_MAX_DEVICES];
    double worst;
};

static rope2d_spec spec_of(const struct golden_case *golden) {
    rope2d_spec spec = {.struct_size = sizeof(spec),
                        .head_dim = (uint32_t)golden->head_dim,
                        .rotary_dim = (uint32_t)golden->rotary_dim,
                        .axes = (uint32_t)golden->axes,
                        .pairs = (uint32_t)golden->pairs,
                        .freq_heads = (uint32_t)golden->freq_heads,
                        .freqs = golden->freqs,
                        .angles = ROPE2D_ANGLES_FP32};
    bool standard = golden->pairs * 2 == golden->rotary_dim;
    if (golden->tables == 2)
        spec.freqs_hi = golden->freqs + golden->axes * golden->freq_heads * golden->pairs;
    if (standard && strcmp(golden->pair_rule, "interleaved") == 0) {
        spec.pairing = ROPE2D_PAIRING_INTERLEAVED;
    } else if (standard && strcmp(golden->pair_rule, "half") == 0) {
        spec.pairing = ROPE2D_PAIRING_HALF;
    } else if (strcmp(golden->pair_rule, "segment_half[D/2,D/2]") == 0) {
        spec.pairing = ROPE2D_PAIRING_SEGMENT_HALF;
    } else {
        spec.pairing = ROPE2D_PAIRING_EXPLICIT;
        spec.pair_lo = (const uint32_t *)golden->pair_lo;
        spec.pair_hi = (const uint32_t *)golden->pair_hi;
    }
    return spec;
}

static rope2d_view view_of(const struct golden_tensor *tensor, void *data) {
    return (rope2d_view){.base = data,
                         .size = tensor->input.elements * sizeof(float),
                         .batch_stride = (int64_t)tensor->batch_stride,
                         .token_stride = (int64_t)tensor->token_stride,
                         .head_stride = (int64_t)tensor->head_stride};
}

static rope2d_status positions_of(struct harness_device *device, const struct golden_tensor *tensor,
                                  const rope2d_spec *spec, rope2d_table table, rope2d_positions **positions) {
    rope2d_range ranges[HARNESS_MAX_RANGES] = {{0, 0}};
    rope2d_positions_params params = {.struct_size = sizeof(params),
                                      .spec = spec,
                                      .table = table,
                                      .tokens = tensor->tokens,
                                      .coordinates = tensor->coordinates,
                                      .unrotated = ranges,
                                      .unrotated_count = (uint32_t)tensor->unrotated_count};
    if (tensor->unrotated_count > HARNESS_MAX_RANGES)
        return ROPE2D_ERROR_LIMIT;
    for (size_t i = 0; i < tensor->unrotated_count; i++)
        ranges[i] = (rope2d_range){tensor->unrotated[i][0], tensor->unrotated[i][1]};
    return rope2d_positions_create(device->device, &params, positions);
}

// Rotates q, or k, into `out`.
static rope2d_status rotate(struct harness_device *device, const struct golden_tensor *tensor,
                            const rope2d_spec *spec, rope2d_table table, const rope2d_plan *plan,
                            float *out) {
    rope2d_positions *positions = NULL;
    rope2d_status status = positions_of(device, tensor, spec, table, &positions);
    if (status == ROPE2D_OK) {
        rope2d_tensor sides = {.heads = (uint32_t)tensor->heads,
                               .in = view_of(tensor, tensor->input.data),
                               .out = view_of(tensor, out)};
        rope2d_apply_params params = {.struct_size = sizeof(params),
                                      .batch = (uint32_t)tensor->batch,
                                      .tokens = tensor->tokens,
                                      .tensor_count = 1,
                                      .tensors = &sides};
        status = rope2d_apply(plan, positions, &params);
    }
    rope2d_positions_destroy(positions);
    return status;
}

struct result {
    float *q, *k;
    rope2d_plan_info info;
};

static void free_result(struct result *result) {
    free(result->q);
    free(result->k);
    memset(result, 0, sizeof(*result));
}

static rope2d_status run(struct harness_device *device, const struct golden_case *golden,
                         const rope2d_spec *spec, rope2d_table table, struct result *result) {
    rope2d_plan *plan = NULL;
    rope2d_plan_params params = {
        .struct_size = sizeof(params), .spec = spec, .in = ROPE2D_F32, .out = ROPE2D_F32, .table = table};
    result->info.struct_size = sizeof(result->info);
    result->q = calloc(golden->q.input.elements, sizeof(float));
    result->k = calloc(golden->k.input.elements, sizeof(float));
    if (result->q == NULL || result->k == NULL)
        return ROPE2D_ERROR_HOST_MEMORY;
    harness_log_clear(&device->log);
    rope2d_status status = rope2d_plan_create(device->device, &params, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_plan_get_info(plan, &result->info);
    if (status == ROPE2D_OK)
        status = rotate(device, &golden->q, spec, table, plan, result->q);
    if (status == ROPE2D_OK)
        status = rotate(device, &golden->k, spec, table, plan, result->k);
    rope2d_plan_destroy(plan);
    return status;
}

static double distance(const struct golden_tensor *tensor, const float *values) {
    double worst = 0;
    for (size_t i = 0; i < tensor->output.elements; i++) {
        double difference = fabs((double)values[i] -
                                 oracle_decode(ORACLE_F32, oracle_load(ORACLE_F32, tensor->output.data, i)));
        if (!(difference <= worst)) // a NaN is far away, too
            worst = isnan(difference) ? (double)INFINITY : difference;
    }
    return worst;
}

// Golden values are normal or zero, so that a device that flushes subnormals has equal bits as well.
static bool equal(const struct golden_case *golden, const struct result *a, const struct result *b) {
    return memcmp(a->q, b->q, golden->q.input.elements * sizeof(float)) == 0 &&
           memcmp(a->k, b->k, golden->k.input.elements * sizeof(float)) == 0;
}

static void check_on(struct suite *suite, const struct golden_case *golden, const struct result *portable,
                     uint32_t index, rope2d_table table) {
    struct harness_device *device = &suite->devices[index];
    const char *table_name = table == ROPE2D_TABLE_TEXTURE ? "texture" : "buffer";
    rope2d_spec spec = spec_of(golden);
    struct result result = {0};
    double limit = golden->recorded_in_bf16 ? golden->tolerance : FP32_LIMIT;
    rope2d_status status = run(device, golden, &spec, table, &result);
    suite->ran[index]++;
    if (status != ROPE2D_OK) {
        harness_fail(&suite->report, "%s on %s, %s: %s\n%s", golden->name, device->info.name, table_name,
                     rope2d_status_name(status), device->log.text);
    } else {
        double worst = fmax(distance(&golden->q, result.q), distance(&golden->k, result.k));
        bool same = equal(golden, portable, &result) || result.info.exactness == ROPE2D_INEXACT;
        harness_check(&suite->report, worst <= limit && same,
                      "%s on %s, %s: %g from the recorded output (%g allowed), bits %s", golden->name,
                      device->info.name, table_name, worst, limit, same ? "equal" : "differ");
        if (!golden->recorded_in_bf16)
            suite->worst = fmax(suite->worst, worst);
    }
    free_result(&result);
}

static void check_case(struct suite *suite, const char *folder, const char *name) {
    char path[4096];
    char error[GOLDEN_ERROR_SIZE];
    struct golden_case golden;
    struct result portable = {0};
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!golden_load(path, &golden, error)) {
        harness_fail(&suite->report, "%s: %s", name, error);
        golden_free(&golden);
        return;
    }
    rope2d_spec spec = spec_of(&golden);
    rope2d_status status = run(&suite->portable, &golden, &spec, ROPE2D_TABLE_BUFFER, &portable);
    if (status != ROPE2D_OK)
        harness_fail(&suite->report, "%s, portable path: %s\n%s", name, rope2d_status_name(status),
                     suite->portable.log.text);
    for (uint32_t i = 0; status == ROPE2D_OK && i < suite->found.count; i++) {
        check_on(suite, &golden, &portable, i, ROPE2D_TABLE_BUFFER);
        if (suite->devices[i].info.has_textures)
            check_on(suite, &golden, &portable, i, ROPE2D_TABLE_TEXTURE);
    }
    free_result(&portable);
    golden_free(&golden);
}

static bool open_all(struct suite *suite, const char *wanted) {
    harness_devices_find(&suite->found, wanted, &suite->report);
    rope2d_status status =
        harness_device_open(&suite->portable, ROPE2D_BACKEND_CPU, 0, ROPE2D_DEVICE_PORTABLE, false);
    for (uint32_t i = 0; i < suite->found.count && status == ROPE2D_OK; i++)
        status = harness_device_open(&suite->devices[i], suite->found.infos[i].backend,
                                     suite->found.infos[i].index, 0, false);
    if (status != ROPE2D_OK)
        harness_fail(&suite->report, "a device does not open: %s", rope2d_status_name(status));
    return status == ROPE2D_OK;
}

static void close_all(struct suite *suite) {
    for (uint32_t i = 0; i < suite->found.count; i++) {
        if (suite->ran[i] == 0)
            harness_fail(&suite->report, "nothing ran on %s", suite->found.infos[i].name);
        harness_device_close(&suite->devices[i]);
    }
    harness_device_close(&suite->portable);
}

int main(int argc, char **argv) {
    static struct suite suite;
    const char *folder = getenv("ROPE2D_GOLDEN");
    size_t count = 0;
    if (folder == NULL)
        folder = "tests/golden";
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        (void)fputs("usage: test_golden [all|BACKEND|BACKEND:INDEX]\n", stderr);
        return 2;
    }
    char(*names)[GOLDEN_NAME_SIZE] = golden_list(folder, &count);
    harness_check(&suite.report, count == CASES, "%s holds %zu cases, not %d", folder, count, CASES);
    if (open_all(&suite, argc == 2 ? argv[1] : "all"))
        for (size_t i = 0; i < count; i++)
            check_case(&suite, folder, names[i]);
    close_all(&suite);
    free(names);
    printf("fp32 cases are at most %.2e from the recorded outputs, of %.0e\n", suite.worst, FP32_LIMIT);
    return harness_finish(&suite.report);
}

// SPDX-License-Identifier: MIT
#include "check_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static const char *const tensor_names[JOB_TENSORS] = {"q", "k"};

bool rotated_allocate(const struct golden_case *golden, struct rotated *rotated) {
    bool is_there = true;
    for (size_t i = 0; i < JOB_TENSORS; ++i) {
        uint64_t bytes = job_output_bytes(&golden->job.tensors[i]);
        rotated->outputs[i] = malloc((size_t)bytes + 1);
        is_there &= rotated->outputs[i] != NULL;
        // An element that is not written must not look like one that was.
        if (rotated->outputs[i])
            memset(rotated->outputs[i], 0xa5, (size_t)bytes);
    }
    return is_there;
}

void rotated_free(struct rotated *rotated) {
    for (size_t i = 0; i < JOB_TENSORS; ++i) {
        free(rotated->outputs[i]);
        rotated->outputs[i] = NULL;
    }
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Both values with their bits, at the first place that is wrong.
static void describe(struct outcome *outcome, const struct golden_case *golden, size_t which,
                     const struct difference *found, float got, float expected, const char *from) {
    char place[96];
    compare_place(&golden->job.tensors[which], tensor_names[which], found->first, place, sizeof place);
    outcome->verdict = VERDICT_FAILED;
    snprintf(outcome->text, sizeof outcome->text,
             "%" PRIu64 " of %" PRIu64 " differ from %s; first %s: %.9g (%08" PRIx32 "), not %.9g (%08" PRIx32
             ")",
             found->count, golden->job.tensors[which].count, from, place, (double)got, bits_of(got),
             (double)expected, bits_of(expected));
}

static void judge_tensor(const struct golden_case *golden, size_t which, const float *values,
                         const float *reference, struct outcome *outcome) {
    const struct job_tensor *tensor = &golden->job.tensors[which];
    const float *recorded = golden->recorded[which].data, *input = tensor->data;
    struct difference found = compare_recorded(values, recorded, tensor->count, golden->tolerance);
    if (found.largest > outcome->largest)
        outcome->largest = found.largest;
    if (found.count) {
        describe(outcome, golden, which, &found, values[found.first], recorded[found.first],
                 "what was recorded");
        return;
    }
    found = compare_copied(&golden->job, which, values);
    if (found.count) {
        describe(outcome, golden, which, &found, values[found.first], input[found.first],
                 "the input that must stay");
        return;
    }
    rope2d_exactness exactness = outcome->info.exactness;
    if (!reference || (exactness != ROPE2D_EXACT && exactness != ROPE2D_EXACT_NORMAL))
        return;
    found = compare_bits(values, reference, ROPE2D_F32, tensor->count, exactness);
    if (found.count)
        describe(outcome, golden, which, &found, values[found.first], reference[found.first], "the CPU");
}

static void judge(const struct golden_case *golden, const struct rotated *rotated,
                  const struct rotated *reference, struct outcome *outcome) {
    for (size_t i = 0; i < JOB_TENSORS && outcome->verdict == VERDICT_PASSED; ++i)
        judge_tensor(golden, i, rotated->outputs[i], reference ? reference->outputs[i] : NULL, outcome);
    if (outcome->verdict != VERDICT_PASSED)
        return;
    const char *bits = "";
    if (reference && outcome->info.exactness == ROPE2D_EXACT)
        bits = ", bits equal the CPU's";
    else if (reference && outcome->info.exactness == ROPE2D_EXACT_NORMAL)
        bits = ", bits equal the CPU's on normal values";
    else if (reference)
        bits = ", bits not compared: the device is not exact";
    snprintf(outcome->text, sizeof outcome->text, "within %.2g of %.2g%s", outcome->largest,
             golden->tolerance, bits);
}

static void fail(struct outcome *outcome, rope2d_status status) {
    bool cannot = status == ROPE2D_ERROR_UNSUPPORTED;
    outcome->status = status;
    outcome->verdict = cannot ? VERDICT_SKIPPED : VERDICT_BROKEN;
    snprintf(outcome->text, sizeof outcome->text, "%s", rope2d_status_name(status));
}

void check_case(const struct golden_case *golden, rope2d_device *device, rope2d_table table,
                const struct rotated *reference, struct rotated *keep, struct outcome *outcome) {
    struct prepared_job prepared = {0};
    struct rotated rotated = {{NULL}};
    *outcome = (struct outcome){.verdict = VERDICT_PASSED};
    rope2d_status status = rotated_allocate(golden, &rotated) ? ROPE2D_OK : ROPE2D_ERROR_HOST_MEMORY;
    if (!status)
        status = job_prepare(&golden->job, device, table, &prepared);
    if (!status) {
        outcome->info = prepared.info;
        void *outputs[JOB_TENSORS] = {rotated.outputs[0], rotated.outputs[1]};
        status = job_run(&prepared, outputs, false);
    }
    if (status)
        fail(outcome, status);
    else
        judge(golden, &rotated, reference, outcome);
    job_release(&prepared);
    if (keep && !status)
        *keep = rotated;
    else
        rotated_free(&rotated);
}

void check_rotated(const struct golden_case *golden, const struct rotated *rotated,
                   const struct rotated *reference, rope2d_exactness exactness, struct outcome *outcome) {
    *outcome = (struct outcome){.verdict = VERDICT_PASSED, .info = {.exactness = exactness}};
    judge(golden, rotated, reference, outcome);
}

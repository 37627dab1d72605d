// SPDX-License-Identifier: MIT
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tests/harness/digest.h"
#include "../cli/check_case.h"
#include "../cli/compare.h"
#include "exchange.h"
#include "interrupt.h"
#include "program.h"
#include "result_json.h"

// Of all outputs as they lie in memory, NaNs made the same.
static void hash_outputs(const struct golden_case *golden, const struct rotated *rotated, char hex[65]) {
    rope2d_sha256 sha;
    rope2d_sha256_begin(&sha);
    for (size_t i = 0; i < JOB_TENSORS; ++i)
        for (uint64_t j = 0; j < golden->job.tensors[i].count; ++j) {
            float value = rotated->outputs[i][j];
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            bits = value == value ? bits : 0x7fc00000u;
            const unsigned char bytes[4] = {(unsigned char)bits, (unsigned char)(bits >> 8),
                                            (unsigned char)(bits >> 16), (unsigned char)(bits >> 24)};
            rope2d_sha256_add(&sha, bytes, sizeof bytes);
        }
    digest_end(&sha, hex);
}

static bool equal_bits(const struct golden_case *golden, const struct rotated *a, const struct rotated *b) {
    for (size_t i = 0; i < JOB_TENSORS; ++i)
        if (compare_bits(a->outputs[i], b->outputs[i], ROPE2D_F32, golden->job.tensors[i].count, ROPE2D_EXACT)
                .count)
            return false;
    return true;
}

// `unequal` tells of a run that gave other bits than the first; empty where there was none.
static void conclude(const struct golden_case *golden, const struct outcome *outcome,
                     const struct rotated *rotated, const struct rotated *reference, const char *unequal,
                     cJSON *result) {
    static const char *const words[] = {"passed", "failed", "unsupported", "failed"};
    char hash[65];
    bool is_same = rotated->outputs[0] && reference->outputs[0] && equal_bits(golden, rotated, reference);
    if (rotated->outputs[0]) {
        hash_outputs(golden, rotated, hash);
        cJSON_AddStringToObject(result, "sha256", hash);
    }
    cJSON_AddStringToObject(result, "tier",
                            outcome->verdict == VERDICT_SKIPPED  ? "unsupported"
                            : outcome->verdict != VERDICT_PASSED ? "none"
                            : is_same                            ? "bit-exact"
                                                                 : "bounded");
    cJSON_AddStringToObject(result, "verdict",
                            outcome->status == ROPE2D_ERROR_DEVICE_LOST ? "lost"
                            : *unequal                                  ? "non-repeatable"
                                                                        : words[outcome->verdict]);
    cJSON_AddStringToObject(result, "text", *unequal ? unequal : outcome->text);
}

static bool read_output(const char *folder, uint32_t which, const struct golden_case *golden, float *output,
                        struct child_end *end) {
    struct npy_array array;
    const struct npy_header *wanted = &golden->inputs[which].header;
    if (!exchange_read_array(folder, which, wanted->shape, wanted->dims, &array, end->text, sizeof end->text))
        return false;
    memcpy(output, array.data, (size_t)array.header.bytes);
    npy_free(&array);
    return true;
}

// What is wrong stands in `end`, whose status is 0 only when nothing is.
static void run_program(const struct golden_run *run, const struct golden_case *golden,
                        struct rotated *rotated, struct child_end *end) {
    char out[FOLDER_PATH_SIZE];
    *end = (struct child_end){.fate = CHILD_DONE, .status = -1, .text = "no temporary folder, or no memory"};
    char *folder = folder_whole_path(run->folder); // a program may go to a folder of its own first
    if (!folder || !rotated_allocate(golden, rotated) || !folder_make_own(out)) {
        free(folder);
        return;
    }
    program_run(run->command, folder, out, run->seconds, end);
    free(folder);
    for (uint32_t i = 0; i < JOB_TENSORS && !end->status; ++i)
        if (!read_output(out, i, golden, rotated->outputs[i], end))
            end->status = -1;
    folder_remove(out);
}

// One run. False where a program gave nothing to judge, of which `end` tells.
static bool rotate(const struct golden_run *run, const struct golden_case *golden,
                   const struct rotated *reference, struct rotated *rotated, struct outcome *outcome,
                   struct child_end *end) {
    end->status = 0;
    if (!run->command) {
        check_case(golden, run->device, run->table, reference, rotated, outcome);
        return true;
    }
    run_program(run, golden, rotated, end);
    if (!end->status)
        check_rotated(golden, rotated, reference, ROPE2D_INEXACT, outcome);
    return !end->status;
}

// Runs again and again until the bits are others, of which `text` then tells.
static void repeat(const struct golden_run *run, const struct golden_case *golden,
                   const struct rotated *reference, const struct rotated *first, char *text, size_t size) {
    char expected[65], hash[65];
    hash_outputs(golden, first, expected);
    *text = '\0';
    for (uint32_t i = 1;
         i < run->repeat && !*text && !interrupt_came() && (!run->run_ended || run->run_ended(run->user));
         ++i) {
        struct rotated again = {{NULL}};
        struct outcome outcome;
        struct child_end end;
        const char *wrong = NULL;
        if (!rotate(run, golden, reference, &again, &outcome, &end)) {
            wrong = end.text;
        } else if (!again.outputs[0]) {
            wrong = outcome.text;
        } else {
            hash_outputs(golden, &again, hash);
            if (strcmp(hash, expected) != 0)
                wrong = "other bits than the first";
        }
        if (wrong)
            snprintf(text, size, "run %u of %u: %.200s", i + 1, run->repeat, wrong);
        rotated_free(&again);
    }
}

static void name_end(cJSON *result, const struct child_end *end) {
    cJSON_AddStringToObject(result, "verdict",
                            end->fate == CHILD_HUNG      ? "hung"
                            : end->fate == CHILD_CRASHED ? "crashed"
                                                         : "failed");
    cJSON_AddStringToObject(result, "text", end->text);
}

static void execute(const struct golden_run *run, const struct golden_case *golden, cJSON *result) {
    struct rotated reference = {{NULL}}, rotated = {{NULL}};
    struct outcome outcome;
    struct child_end end;
    char unequal[256] = "";
    check_case(golden, run->portable, ROPE2D_TABLE_BUFFER, NULL, &reference, &outcome);
    if (outcome.verdict != VERDICT_PASSED) {
        conclude(golden, &outcome, &rotated, &reference, "", result);
    } else if (!rotate(run, golden, &reference, &rotated, &outcome, &end)) {
        name_end(result, &end);
    } else {
        if (outcome.verdict == VERDICT_PASSED)
            repeat(run, golden, &reference, &rotated, unequal, sizeof unequal);
        conclude(golden, &outcome, &rotated, &reference, unequal, result);
    }
    rotated_free(&rotated);
    rotated_free(&reference);
}

void golden_execute(const struct golden_run *run, cJSON *result) {
    struct golden_case golden;
    if (golden_case_read(run->folder, &golden)) {
        cJSON_AddStringToObject(result, "verdict", "failed");
        cJSON_AddStringToObject(result, "text", "the folder is no case that can be read");
    } else {
        golden.job.spec.angles = ROPE2D_ANGLES_FP32; // as most models do
        execute(run, &golden, result);
    }
    golden_case_free(&golden);
}

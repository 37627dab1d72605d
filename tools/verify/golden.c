// SPDX-License-Identifier: MIT
#include "golden.h"

#include <stdio.h>
#include <string.h>

#include "../../tests/harness/digest.h"
#include "../cli/check_case.h"
#include "../cli/compare.h"
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

static void conclude(const struct golden_case *golden, const struct outcome *outcome,
                     const struct rotated *rotated, const struct rotated *reference, cJSON *result) {
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
                            outcome->status == ROPE2D_ERROR_DEVICE_LOST ? "lost" : words[outcome->verdict]);
    cJSON_AddStringToObject(result, "text", outcome->text);
}

static bool read_output(const char *folder, const char *name, const struct job_tensor *tensor,
                        float *output) {
    char path[FOLDER_PATH_SIZE];
    struct npy_array array = {0};
    struct npy_request request = {"out", path, NPY_F32, false};
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= FOLDER_PATH_SIZE || npy_read(&request, &array))
        return false;
    bool good = array.header.count == tensor->count;
    if (good)
        memcpy(output, array.data, (size_t)array.header.bytes);
    npy_free(&array);
    return good;
}

// True when there are outputs to judge; otherwise the result has its verdict.
static bool run_program(const struct golden_run *run, const struct golden_case *golden,
                        struct rotated *rotated, cJSON *result) {
    char out[FOLDER_PATH_SIZE];
    struct child_end end = {.fate = CHILD_DONE, .status = -1, .text = "no temporary folder, or no memory"};
    bool is_there = rotated_allocate(golden, rotated) && folder_make_own(out);
    if (is_there) {
        program_run(run->command, run->folder, out, run->seconds, &end);
        if (!end.status && (!read_output(out, "q_out.npy", &golden->job.tensors[0], rotated->outputs[0]) ||
                            !read_output(out, "k_out.npy", &golden->job.tensors[1], rotated->outputs[1]))) {
            end.status = -1;
            snprintf(end.text, sizeof end.text,
                     "q_out.npy or k_out.npy is not there, or not of the input's size");
        }
        folder_remove(out);
    }
    if (!end.status)
        return true;
    cJSON_AddStringToObject(result, "verdict",
                            end.fate == CHILD_HUNG      ? "hung"
                            : end.fate == CHILD_CRASHED ? "crashed"
                                                        : "failed");
    cJSON_AddStringToObject(result, "text", end.text);
    return false;
}

static void execute(const struct golden_run *run, const struct golden_case *golden, cJSON *result) {
    struct rotated reference = {{NULL}}, rotated = {{NULL}};
    struct outcome outcome;
    check_case(golden, run->portable, ROPE2D_TABLE_BUFFER, NULL, &reference, &outcome);
    if (outcome.verdict == VERDICT_PASSED && run->command) {
        if (run_program(run, golden, &rotated, result)) {
            check_rotated(golden, &rotated, &reference, ROPE2D_INEXACT, &outcome);
            conclude(golden, &outcome, &rotated, &reference, result);
        }
    } else {
        if (outcome.verdict == VERDICT_PASSED)
            check_case(golden, run->device, run->table, &reference, &rotated, &outcome);
        conclude(golden, &outcome, &rotated, &reference, result);
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

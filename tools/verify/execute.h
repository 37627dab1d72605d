// SPDX-License-Identifier: MIT
//
// Runs one task on a device and says everything about it that a report has.
#ifndef ROPE2D_VERIFY_EXECUTE_H
#define ROPE2D_VERIFY_EXECUTE_H

#include <cjson/cJSON.h>

#include "../../tests/harness/run.h"
#include "../../tests/harness/verdict.h"
#include "matrix.h"

struct verify_bench {
    uint64_t seed;
    uint32_t repeat;               // times that each case is run
    const char *command;           // the program that is the device; NULL: none
    double seconds;                // that it may take
    bool (*run_ended)(void *user); // one of several of a case; false to stop; NULL: not asked
    void *user;
    struct harness_device portable;
    struct harness_device device;
    struct harness_device clamped; // the same device, its limits clamped; opened when it is needed

    // What the last task was compared with: tasks of one case follow one another.
    const struct harness_case *what;
    struct harness_types types;
    bool has_work;
    struct harness_work work;
    struct harness_truth truth;
};

// The verdicts, as the report has them.
#define VERDICT_PASSED         "passed"
#define VERDICT_FAILED         "failed"
#define VERDICT_UNSUPPORTED    "unsupported"
#define VERDICT_NON_REPEATABLE "non-repeatable"
#define VERDICT_LOST           "lost"
#define VERDICT_CRASHED        "crashed"
#define VERDICT_HUNG           "hung"
#define VERDICT_NONE           "no verdict"

// With a command only the portable path is opened.
rope2d_status verify_bench_open(struct verify_bench *bench, rope2d_backend backend, uint32_t index);
void verify_bench_close(struct verify_bench *bench);

// NULL when memory runs out; cJSON_Delete takes it. docs/verify.schema.json describes it.
cJSON *verify_execute(struct verify_bench *bench, const struct verify_task *task);

#endif

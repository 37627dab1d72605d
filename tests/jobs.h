// SPDX-License-Identifier: MIT
//
// What the tests of single backends share: small jobs that cover the kernel's variants, run on any device,
// and counted checks.
#ifndef TEST_JOBS_H
#define TEST_JOBS_H

#include "rope2d/rope2d.h"

#include <stdbool.h>

// ---------------------------------------------------------------------------------------------- counting

typedef struct tally {
    unsigned passed;
    unsigned failed;
    unsigned skipped;
} tally;

// Counts a check and prints the ones that fail.
bool tally_check(tally *counts, bool holds, const char *format, ...);
// Prints the last line and returns the exit status: a run in which nothing was executed fails.
int tally_finish(const tally *counts);

// -------------------------------------------------------------------------------------------------- logs

typedef struct captured_log {
    char text[16384]; // everything that was logged, a line each; cut when it is full
    bool print;       // to stderr as well
} captured_log;

rope2d_host captured_host(captured_log *log);

// ------------------------------------------------------------------------------------------------- devices

enum { OPENCL_MAX_DEVICES = 16 };

// A device, or a failed check and NULL.
rope2d_device *opencl_test_device(tally *counts, rope2d_backend backend, uint32_t index, uint32_t flags,
                                  const char *folder, captured_log *log);
// How many OpenCL devices there are; fills infos[OPENCL_MAX_DEVICES].
uint32_t opencl_test_list(tally *counts, rope2d_device_info *infos);
// A failed check for each OpenCL device that ROPE2D_REQUIRE_DEVICES names and that is missing; else a skip.
void opencl_test_required(tally *counts, const rope2d_device_info *infos, uint32_t count);
bool text_contains(const char *text, const char *word); // whatever the case

// -------------------------------------------------------------------------------------------------- jobs

enum { JOB_TENSORS = 2, JOB_MAX_PAIRS = 32, JOB_MAX_HEADS = 3, JOB_MAX_AXES = 2 };

// What the kernel's text tells apart.
typedef enum job_shape {
    JOB_INTERLEAVED, // axial, wide units
    JOB_HALF,        // axial, wide units, channels that pass through
    JOB_FOURS,       // axial, four pairs past the last eight
    JOB_ODD,         // axial, odd beginning: single units alone
    JOB_TWO_ANGLES,
    JOB_PER_HEAD, // dense, a frequency of its own for each head
    JOB_SHAPE_COUNT
} job_shape;

typedef enum job_layout {
    JOB_TIGHT,    // contiguous
    JOB_GAPS,     // odd strides and offsets
    JOB_IN_PLACE, // tight, and rotated where it lies; needs equal types
    JOB_FUSED,    // q and k in one memory, in place; needs equal types
    JOB_LAYOUT_COUNT
} job_layout;

typedef struct test_job {
    job_shape shape;
    job_layout layout;
    rope2d_element in;
    rope2d_element out;
    rope2d_table table;
    bool own_positions; // each batch element has its own
    uint32_t batch;
    uint64_t tokens;
} test_job;

void job_name(const test_job *job, char *text, size_t size);

// What a job writes: every byte of the memory that its outputs lie in, gaps and guards too.
typedef struct job_result {
    unsigned char *bytes;
    size_t size;
    rope2d_exactness exactness;
    uint64_t dispatches;
    bool is_torn; // an apply of one dispatch failed, and wrote all the same
} job_result;

// What plans and positions of a job are made from.
typedef struct job_spec {
    rope2d_spec spec;
    float freqs[JOB_MAX_AXES * JOB_MAX_HEADS * JOB_MAX_PAIRS];
    float freqs_hi[JOB_MAX_AXES * JOB_MAX_HEADS * JOB_MAX_PAIRS];
} job_spec;

void job_make_spec(const test_job *job, job_spec *made);
rope2d_plan_params job_plan_params(const test_job *job, const job_spec *made, uint32_t plan_flags);

// Plan flags as in rope2d_plan_params. The first status that is not OK ends the job. Release the result in
// any case.
rope2d_status job_run(const test_job *job, rope2d_device *device, uint32_t plan_flags, job_result *result);
// The same with positions that are grown from those of half the tokens.
rope2d_status job_run_grown(const test_job *job, rope2d_device *device, uint32_t plan_flags,
                            job_result *result);
void job_release(job_result *result);

// Whether two results are equal: bit for bit, but that a NaN is a NaN. Tells the first byte that differs.
bool job_equal(const test_job *job, const job_result *a, const job_result *b, size_t *where);

#endif

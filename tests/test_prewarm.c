// SPDX-License-Identifier: MIT
//
// Plans without a hitch: what is not compiled is said not to be ready, what was prewarmed is there at once,
// and nothing but a new structure, type or kind of table asks the compiler again. `test_prewarm vulkan SHIM`.
#include "compile_count.h"
#include "jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 3, NO_COMPILE = ROPE2D_PLAN_NO_COMPILE, NO_TEST = ROPE2D_PLAN_NO_SELF_TEST };

static tally counts;

// One of each structure that the kernels tell apart, of different types.
static const test_job jobs[] = {
    {.shape = JOB_HALF, .batch = 2, .tokens = 9},
    {.shape = JOB_INTERLEAVED, .in = ROPE2D_F16, .out = ROPE2D_F16, .batch = 1, .tokens = 5},
    {.shape = JOB_ODD, .in = ROPE2D_BF16, .out = ROPE2D_F32, .batch = 1, .tokens = 7},
    {.shape = JOB_TWO_ANGLES, .batch = 1, .tokens = 4},
};
enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };

static job_result portable[JOBS]; // of the CPU
static job_result expected[JOBS]; // of the device under test: the CPU's bits, unless it flushes subnormals

static void check_equal(rope2d_device *device, unsigned which, uint32_t flags, rope2d_status status) {
    job_result found;
    size_t where = 0;
    const long before = compile_count();
    const rope2d_status got = job_run(&jobs[which], device, flags, &found);
    tally_check(&counts, got == status, "job %u, flags %u: %s, expected %s", which, (unsigned)flags,
                rope2d_status_name(got), rope2d_status_name(status));
    if (flags & NO_COMPILE)
        tally_check(&counts, compile_count() == before, "job %u: %ld were compiled that must not be", which,
                    compile_count() - before);
    if (got == ROPE2D_OK)
        tally_check(&counts, job_equal(&jobs[which], &expected[which], &found, &where),
                    "job %u, flags %u: other bits at byte %zu", which, (unsigned)flags, where);
    job_release(&found);
}

static void make_list(job_spec *specs, rope2d_plan_params *list, uint32_t flags) {
    for (unsigned i = 0; i < JOBS; i++) {
        job_make_spec(&jobs[i], &specs[i]);
        list[i] = job_plan_params(&jobs[i], &specs[i], flags);
    }
}

// ------------------------------------------------------------------------------------------- without a
// prewarm

static void check_not_ready(rope2d_device *device) {
    job_spec made;
    rope2d_plan *plan = NULL, *twin = (void *)1;
    job_make_spec(&jobs[0], &made);
    rope2d_plan_params params = job_plan_params(&jobs[0], &made, NO_COMPILE);
    check_equal(device, 0, NO_COMPILE, ROPE2D_NOT_READY);
    tally_check(&counts, rope2d_plan_create(device, &params, &twin) == ROPE2D_NOT_READY && !twin,
                "what is not ready is not NULL");
    // While one lives, its twin is there at once; after both, neither is.
    params.flags = NO_TEST;
    tally_check(&counts, rope2d_plan_create(device, &params, &plan) == ROPE2D_OK, "a plan of its own");
    check_equal(device, 0, NO_COMPILE, ROPE2D_OK);
    const long before = compile_count();
    check_equal(device, 0, NO_TEST, ROPE2D_OK);
    tally_check(&counts, compile_count() == before, "a twin was compiled again");
    rope2d_plan_destroy(plan);
    check_equal(device, 0, NO_COMPILE, ROPE2D_NOT_READY);
}

static void check_wrong_lists(rope2d_device *device) {
    job_spec specs[JOBS];
    rope2d_plan_params list[JOBS];
    make_list(specs, list, NO_TEST);
    list[JOBS - 1].in = ROPE2D_ELEMENT_COUNT;
    tally_check(&counts, rope2d_prewarm(device, list, JOBS) == ROPE2D_ERROR_ENUM, "a wrong last entry");
    for (unsigned i = 0; i < JOBS; i++)
        check_equal(device, i, NO_COMPILE, ROPE2D_NOT_READY);
    tally_check(&counts, rope2d_prewarm(device, NULL, 1) == ROPE2D_ERROR_NULL, "a list that is NULL");
    tally_check(&counts, rope2d_prewarm(NULL, list, 1) == ROPE2D_ERROR_NULL, "no device");
    tally_check(&counts, rope2d_prewarm(device, NULL, 0) == ROPE2D_OK, "an empty list");
}

// ---------------------------------------------------------------------------------------------- with one

static void check_prewarmed(rope2d_device *device) {
    job_spec specs[JOBS];
    rope2d_plan_params list[JOBS];
    const long before = compile_count();
    make_list(specs, list, 0);
    tally_check(&counts, rope2d_prewarm(device, list, JOBS) == ROPE2D_OK, "prewarm");
    tally_check(&counts, compile_count() >= before + JOBS, "prewarming compiled %ld",
                compile_count() - before);
    for (unsigned i = 0; i < JOBS; i++) {
        job_result found;
        check_equal(device, i, NO_COMPILE, ROPE2D_OK);
        rope2d_status status = job_run(&jobs[i], device, NO_COMPILE, &found);
        tally_check(&counts, status == ROPE2D_OK && found.exactness == expected[i].exactness,
                    "job %u: %s, prewarming tested it, but it is %u", i, rope2d_status_name(status),
                    (unsigned)found.exactness);
        job_release(&found);
        status = job_run(&jobs[i], device, NO_COMPILE | NO_TEST, &found);
        tally_check(&counts, status == ROPE2D_OK && found.exactness == ROPE2D_UNTESTED,
                    "job %u: %s, untested by request, but it is %u", i, rope2d_status_name(status),
                    (unsigned)found.exactness);
        job_release(&found);
    }
    const long after = compile_count();
    tally_check(&counts, rope2d_prewarm(device, list, JOBS) == ROPE2D_OK && compile_count() == after,
                "a second prewarming compiled %ld", compile_count() - after);
}

// Sizes, batches, layouts and positions of their own: none makes a pipeline.
static void check_sizes(rope2d_device *device) {
    const long before = compile_count();
    for (uint64_t tokens = 0; tokens < 40; tokens++) {
        test_job job = jobs[tokens % JOBS];
        job_result found;
        job.tokens = tokens * tokens;
        job.batch = 1 + (uint32_t)tokens % 3;
        job.own_positions = tokens % 2 == 1;
        job.layout = tokens % 5 == 0 ? JOB_GAPS : JOB_TIGHT;
        const rope2d_status status = job_run(&job, device, NO_COMPILE, &found);
        tally_check(&counts, status == ROPE2D_OK, "%u tokens: %s", (unsigned)job.tokens,
                    rope2d_status_name(status));
        job_release(&found);
    }
    tally_check(&counts, compile_count() == before, "40 sizes compiled %ld", compile_count() - before);
}

// ------------------------------------------------------------------------------------------------ threads

typedef struct thread_work {
    rope2d_device *device;
    unsigned first;
    bool right;
} thread_work;

static void *run_thread(void *argument) {
    thread_work *work = argument;
    work->right = true;
    for (unsigned i = 0; i < ROUNDS * JOBS; i++) {
        const unsigned which = (work->first + i) % JOBS;
        job_result found;
        size_t where = 0;
        const rope2d_status status =
            job_run(&jobs[which], work->device, i % 2 == 0 ? NO_TEST : NO_COMPILE | NO_TEST, &found);
        const bool equal = status == ROPE2D_OK && job_equal(&jobs[which], &expected[which], &found, &where);
        if (!equal && !(status == ROPE2D_NOT_READY && i % 2 == 1))
            work->right = false;
        job_release(&found);
    }
    return NULL;
}

static void check_threads(rope2d_device *device) {
    pthread_t threads[THREADS];
    thread_work work[THREADS];
    unsigned started = 0;
    for (; started < THREADS; started++) {
        work[started] = (thread_work){device, started, false};
        if (pthread_create(&threads[started], NULL, run_thread, &work[started]) != 0)
            break;
    }
    tally_check(&counts, started == THREADS, "%u threads", started);
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        tally_check(&counts, work[i].right, "thread %u: an error, or other bits", i);
    }
    for (unsigned i = 0; i < JOBS; i++)
        check_equal(device, i, NO_COMPILE, ROPE2D_NOT_READY);
}

// -------------------------------------------------------------------------------------------------- devices

static rope2d_device *open_device(rope2d_backend backend, uint32_t index) {
    static captured_log log;
    return opencl_test_device(&counts, backend, index, 0, NULL, &log);
}

// On a device of its own, which is gone before anything is counted.
static bool answer(rope2d_backend backend, uint32_t index) {
    rope2d_device *device = open_device(backend, index);
    for (unsigned i = 0; i < JOBS && device; i++) {
        size_t where = 0;
        const rope2d_status status = job_run(&jobs[i], device, 0, &expected[i]);
        const bool flushes = expected[i].exactness == ROPE2D_EXACT_NORMAL;
        tally_check(&counts,
                    status == ROPE2D_OK &&
                        (flushes || (expected[i].exactness == ROPE2D_EXACT &&
                                     job_equal(&jobs[i], &portable[i], &expected[i], &where))),
                    "job %u: %s, exactness %u, differs from the CPU at byte %zu", i,
                    rope2d_status_name(status), (unsigned)expected[i].exactness, where);
    }
    rope2d_device_destroy(device);
    return device != NULL;
}

static void check_device(rope2d_backend backend, uint32_t index) {
    const bool answers = answer(backend, index);
    rope2d_device *device = answers ? open_device(backend, index) : NULL;
    if (!device)
        return;
    check_not_ready(device);
    check_wrong_lists(device);
    check_threads(device);
    check_prewarmed(device);
    check_sizes(device);
    rope2d_device_destroy(device); // and what was kept
    for (unsigned i = 0; i < JOBS; i++)
        job_release(&expected[i]);
}

static void check_cpu(rope2d_device *cpu) {
    for (unsigned i = 0; i < JOBS; i++) {
        test_job job = jobs[i];
        tally_check(&counts, job_run(&job, cpu, NO_COMPILE, &portable[i]) == ROPE2D_OK,
                    "job %u: a CPU is always ready", i);
    }
}

int main(int argc, char **argv) {
    const bool is_vulkan = argc > 1 && strcmp(argv[1], "vulkan") == 0;
    const rope2d_backend backend = is_vulkan ? ROPE2D_BACKEND_VULKAN : ROPE2D_BACKEND_OPENCL;
    uint32_t count = 0;
    if (argc < 3 || !compile_count_open(backend, argv[2])) {
        printf("the shim cannot be opened\n");
        return 1;
    }
    rope2d_device *cpu = open_device(ROPE2D_BACKEND_CPU, 0);
    if (cpu)
        check_cpu(cpu);
    if (rope2d_enumerate(backend, NULL, &count, NULL) != ROPE2D_OK || count == 0)
        counts.skipped++; // that devices are there is what other tests demand
    for (uint32_t i = 0; cpu && i < count; i++)
        check_device(backend, i);
    for (unsigned i = 0; i < JOBS; i++)
        job_release(&portable[i]);
    rope2d_device_destroy(cpu);
    return tally_finish(&counts);
}

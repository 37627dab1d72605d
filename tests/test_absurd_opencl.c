// SPDX-License-Identifier: MIT
//
// OpenCL drivers that report what cannot be, each thing that they are asked in turn: nothing, more than
// anything, no bytes at all, texts without an end or of SIZE_MAX bytes, lists without end. Each time an error
// with its line in the log, or the bits of an honest driver; never a crash, and nothing left over. Takes the
// path of opencl_shim.
#include "opencl_faults.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { MOST_QUESTIONS = 64 };

static tally counts;
static opencl_shim_begin_fn *begin;
static opencl_shim_counts_fn *read_counts;
static opencl_shim_lie_fn *lie;
static opencl_shim_asked_fn *asked;
static unsigned refused, rotated;

// Lists without end are more than a machine need have.
static void *(*plain_allocate)(void *user, size_t size, size_t alignment);
static void *allocate(void *user, size_t size, size_t alignment) {
    return size < (size_t)1 << 30 ? plain_allocate(user, size, alignment) : NULL;
}

static rope2d_status rotate(const test_job *job, counting_host *counting, job_result *result) {
    rope2d_host host = faults_host(counting);
    rope2d_device *device = NULL;
    rope2d_device_info info = {.struct_size = sizeof(info)};
    uint32_t count = 1;
    plain_allocate = host.allocate;
    host.allocate = allocate;
    const rope2d_device_params params = {
        .struct_size = sizeof(params), .backend = ROPE2D_BACKEND_OPENCL, .host = &host};
    memset(result, 0, sizeof(*result));
    (void)rope2d_enumerate(ROPE2D_BACKEND_OPENCL, &host, &count, &info);
    tally_check(&counts,
                memchr(info.name, 0, sizeof(info.name)) && memchr(info.driver, 0, sizeof(info.driver)),
                "names end");
    rope2d_status status = rope2d_device_create(&params, &device);
    if (status == ROPE2D_OK)
        status = job_run(job, device, ROPE2D_PLAN_NO_SELF_TEST, result);
    rope2d_device_destroy(device);
    return status;
}

static void try(const test_job *job, long question, int how, const job_result *right) {
    counting_host host = {.fail_at = 0};
    job_result found;
    long calls = 0, alive = 0, misused = 0;
    size_t where = 0;
    begin(0, 0);
    lie(question, how);
    const rope2d_status status = rotate(job, &host, &found);
    lie(0, 0);
    read_counts(&calls, &alive, &misused);
    if (status == ROPE2D_OK) {
        const bool is_right = job_equal(job, right, &found, &where);
        rotated++;
        tally_check(&counts, is_right, "question 0x%lx, lie %d: byte %zu is wrong", (unsigned long)question,
                    how, where);
    } else {
        refused++;
        tally_check(&counts, host.lines > 0, "question 0x%lx, lie %d: %s without a word",
                    (unsigned long)question, how, rope2d_status_name(status));
    }
    tally_check(&counts, host.alive == 0 && alive == 0 && misused == 0,
                "question 0x%lx, lie %d: %ld blocks, %ld objects, %ld released twice",
                (unsigned long)question, how, host.alive, alive, misused);
    job_release(&found);
}

static void try_all(const test_job *job) {
    const char *quick = getenv("ROPE2D_QUICK");
    const bool is_quick = quick != NULL && strcmp(quick, "1") == 0;
    long questions[MOST_QUESTIONS];
    counting_host host = {.fail_at = 0};
    job_result right;
    begin(0, 0);
    lie(0, 0);
    tally_check(&counts, rotate(job, &host, &right) == ROPE2D_OK, "nothing is wrong, and nothing rotates");
    const long count = asked(questions, MOST_QUESTIONS);
    tally_check(&counts, count > 20 && count < MOST_QUESTIONS, "%ld questions were asked", count);
    for (long i = 0; i < count && i < MOST_QUESTIONS; i++)
        for (int how = 1; how < OPENCL_SHIM_LIES; how++)
            if (!is_quick || how == 1 + (int)(i % (OPENCL_SHIM_LIES - 1)))
                try(job, questions[i], how, &right);
    printf("%ld questions, %u lies: %u refused, %u rotated all the same\n", count, refused + rotated, refused,
           rotated);
    job_release(&right);
}

static void find(void *shim, const char *name, void *function, size_t size) {
    void *found = dlsym(shim, name);
    tally_check(&counts, found != NULL, "the shim has no %s", name);
    memcpy(function, &found, size);
}

int main(int argc, char **argv) {
    static const test_job job = {.shape = JOB_HALF, .table = ROPE2D_TABLE_BUFFER, .batch = 2, .tokens = 9};
    static rope2d_device_info infos[OPENCL_MAX_DEVICES];
    void *shim = argc > 1 && faults_open(argv[1]) ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!tally_check(&counts, shim != NULL, "the shim cannot be opened"))
        return tally_finish(&counts);
    find(shim, "opencl_shim_begin", &begin, sizeof(begin));
    find(shim, "opencl_shim_counts", &read_counts, sizeof(read_counts));
    find(shim, "opencl_shim_lie", &lie, sizeof(lie));
    find(shim, "opencl_shim_asked", &asked, sizeof(asked));
    if (counts.failed > 0)
        return tally_finish(&counts);
    const uint32_t count = opencl_test_list(&counts, infos);
    if (count == 0)
        opencl_test_required(&counts, infos, count);
    else
        try_all(&job);
    return tally_finish(&counts);
}

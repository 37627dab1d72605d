// SPDX-License-Identifier: MIT
#include "opencl_faults.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

static opencl_shim_begin_fn *begin;
static opencl_shim_counts_fn *read_counts;
static opencl_shim_failed_fn *failed_call;
static opencl_shim_stay_fn *stay;
static unsigned long points;

unsigned long faults_points(void) {
    return points;
}

// ---------------------------------------------------------------------------------------- a host that counts

static void *count_allocate(void *user, size_t size, size_t alignment) {
    counting_host *host = user;
    if (++host->requests == host->fail_at)
        return NULL;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    host->alive += memory != NULL;
    return memory;
}

static void count_release(void *user, void *memory, size_t size) {
    counting_host *host = user;
    (void)size;
    host->alive--;
    free(memory);
}

static void count_log(void *user, rope2d_log_level level, const char *text) {
    counting_host *host = user;
    if (level != ROPE2D_LOG_ERROR)
        return;
    host->lines++;
    snprintf(host->last, sizeof(host->last), "%s", text);
}

rope2d_host faults_host(counting_host *counting) {
    rope2d_host host = {.struct_size = sizeof(host),
                        .user = counting,
                        .allocate = count_allocate,
                        .release = count_release,
                        .log = count_log,
                        .threads = 1};
    return host;
}

static rope2d_status live(const life *way, counting_host *counting, job_result *result) {
    const rope2d_host host = faults_host(counting);
    memset(result, 0, sizeof(*result));
    return way->live(way, &host, result);
}

// ------------------------------------------------------------------------------------------------ failures

static void check_left_over(tally *counts, const counting_host *host, const char *what, long number) {
    long calls = 0, alive = 0, misused = 0;
    read_counts(&calls, &alive, &misused);
    tally_check(counts, alive == 0 && misused == 0, "%s %ld (%s): %ld objects left, %ld released twice", what,
                number, failed_call(), alive, misused);
    tally_check(counts, host->alive == 0, "%s %ld (%s): %ld blocks of host memory left", what, number,
                failed_call(), host->alive);
}

// A failure that leaves nothing wrong: of a platform that is not asked again, and of what ends an object's
// life.
static bool may_succeed(const char *call) {
    return strcmp(call, "clGetDeviceIDs") == 0 || strncmp(call, "clRelease", 9) == 0 ||
           strcmp(call, "clFinish") == 0;
}

// What was read of it is there; the device itself may be lost.
static bool is_read(const char *call, const job_result *found) {
    return strcmp(call, "clEnqueueUnmapMemObject") == 0 && found->bytes != NULL;
}

static rope2d_status expected_status(int code, const char *call) {
    if (strcmp(call, "clBuildProgram") == 0 && code == CL_BUILD_PROGRAM_FAILURE)
        return ROPE2D_ERROR_COMPILE;
    switch (code) {
    case CL_OUT_OF_HOST_MEMORY:
        return ROPE2D_ERROR_HOST_MEMORY;
    case CL_OUT_OF_RESOURCES:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        return ROPE2D_ERROR_DEVICE_MEMORY;
    case CL_DEVICE_NOT_AVAILABLE:
        return ROPE2D_ERROR_DEVICE_LOST;
    case CL_BUILD_PROGRAM_FAILURE:
        return ROPE2D_ERROR_COMPILE;
    default:
        return ROPE2D_ERROR_DRIVER;
    }
}

static void check_failure(tally *counts, const life *way, long number, int code, const job_result *right) {
    counting_host host = {.fail_at = 0};
    job_result found;
    size_t where = 0;
    begin(number, code);
    rope2d_status status = live(way, &host, &found);
    const char *call = failed_call();
    points += call[0] != 0;
    if (status == ROPE2D_OK) {
        bool equal = job_equal(&way->job, right, &found, &where);
        tally_check(counts, (may_succeed(call) || is_read(call, &found) || way->spare) && equal,
                    "call %ld (%s, %d): no error, byte %zu", number, call, code, where);
    } else {
        bool known = status == expected_status(code, call) || may_succeed(call);
        tally_check(counts, known && host.lines > 0, "call %ld (%s, %d): %s, %u lines", number, call, code,
                    rope2d_status_name(status), host.lines);
        tally_check(counts, may_succeed(call) || strstr(host.last, call),
                    "call %ld (%s, %d): the log says \"%s\"", number, call, code, host.last);
    }
    tally_check(counts, !found.is_torn, "call %ld (%s, %d): host memory was written to", number, call, code);
    if (status != ROPE2D_OK && way->retries)
        tally_check(counts, job_equal(&way->job, right, &found, &where),
                    "call %ld (%s, %d): the second time byte %zu is wrong", number, call, code, where);
    check_left_over(counts, &host, "call", number);
    job_release(&found);
}

static void check_out_of_memory(tally *counts, const life *way, long number, const job_result *right) {
    counting_host host = {.fail_at = number};
    job_result found;
    size_t where = 0;
    begin(0, 0);
    rope2d_status status = live(way, &host, &found);
    points += host.requests >= number;
    tally_check(counts,
                (status == ROPE2D_ERROR_HOST_MEMORY && host.lines > 0) || (status == ROPE2D_OK && way->spare),
                "request %ld: %s, %u lines", number, rope2d_status_name(status), host.lines);
    if (way->retries)
        tally_check(counts, job_equal(&way->job, right, &found, &where),
                    "request %ld: the second time byte %zu is wrong", number, where);
    check_left_over(counts, &host, "request", number);
    job_release(&found);
}

void faults_check_life(tally *counts, const life *way, const int *codes, unsigned code_count) {
    const char *quick = getenv("ROPE2D_QUICK");
    const long step = quick != NULL && strcmp(quick, "1") == 0 ? 3 : 1;
    counting_host host = {.fail_at = 0};
    job_result right;
    long calls = 0, alive = 0, misused = 0;
    begin(0, 0);
    rope2d_status status = live(way, &host, &right);
    read_counts(&calls, &alive, &misused);
    if (tally_check(counts, status == ROPE2D_OK && calls > 20, "no failure: %s: %s",
                    rope2d_status_name(status), host.last)) {
        check_left_over(counts, &host, "no failure", 0);
        printf("%ld calls, %ld requests of memory\n", calls, host.requests);
        for (long number = 1; number <= calls; number += step) {
            for (unsigned i = 0; i < code_count; i++)
                check_failure(counts, way, number, codes[i], &right);
        }
        for (long number = 1; number <= host.requests; number += step)
            check_out_of_memory(counts, way, number, &right);
    }
    job_release(&right);
}

// Everything that a device which fails at the call `number` is asked for afterwards. False: it was another
// kind of call.
static bool lose(tally *counts, const life *way, long number, int code, const job_result *right) {
    counting_host counting = {.fail_at = 0};
    const rope2d_host host = faults_host(&counting);
    const rope2d_device_params params = {
        .struct_size = sizeof(params), .backend = ROPE2D_BACKEND_OPENCL, .host = &host};
    rope2d_device *device = NULL;
    job_result found;
    size_t where = 0;
    begin(number, code);
    stay();
    rope2d_status status = rope2d_device_create(&params, &device);
    for (int again = 0; status == ROPE2D_OK && again < 4; again++) {
        const unsigned lines = counting.lines;
        counting.last[0] = 0;
        const rope2d_status one = job_run(&way->job, device, way->plan_flags, &found);
        const bool queued = strncmp(failed_call(), "clEnqueue", 9) == 0;
        const bool is_late = again == 0 && one == ROPE2D_OK && is_read(failed_call(), &found);
        tally_check(counts,
                    !queued || is_late ||
                        (one == expected_status(code, failed_call()) && counting.lines > lines &&
                         strstr(counting.last, "Enqueue")),
                    "lost at call %ld (%s, %d), %d times more: %s, \"%s\"", number, failed_call(), code,
                    again, rope2d_status_name(one), counting.last);
        job_release(&found);
        if (!queued)
            break;
    }
    const bool was_queued = strncmp(failed_call(), "clEnqueue", 9) == 0;
    points += was_queued;
    rope2d_device_destroy(device);
    check_left_over(counts, &counting, "lost at call", number);
    begin(0, 0);
    if (was_queued) {
        status = live(way, &counting, &found);
        tally_check(counts, status == ROPE2D_OK && job_equal(&way->job, right, &found, &where),
                    "a device after the lost one: %s, byte %zu", rope2d_status_name(status), where);
        job_release(&found);
    }
    return was_queued;
}

void faults_check_lost(tally *counts, const life *way, const int *codes, unsigned code_count) {
    counting_host host = {.fail_at = 0};
    job_result right;
    long calls = 0, alive = 0, misused = 0, queued = 0;
    begin(0, 0);
    const rope2d_status status = live(way, &host, &right);
    read_counts(&calls, &alive, &misused);
    const char *quick = getenv("ROPE2D_QUICK");
    const long most = quick != NULL && strcmp(quick, "1") == 0 ? 6 : calls;
    // From the end, where most is enqueued.
    for (long number = calls; status == ROPE2D_OK && number > 0 && queued < most; number--) {
        if (!lose(counts, way, number, codes[0], &right))
            continue;
        queued++;
        for (unsigned i = 1; i < code_count; i++)
            (void)lose(counts, way, number, codes[i], &right);
    }
    tally_check(counts, queued > 2, "%ld calls of %ld enqueue", queued, calls);
    job_release(&right);
}

bool faults_open(const char *path) {
    void *shim = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found[4] = {NULL, NULL, NULL, NULL};
    if (shim) {
        found[0] = dlsym(shim, "opencl_shim_begin");
        found[1] = dlsym(shim, "opencl_shim_counts");
        found[2] = dlsym(shim, "opencl_shim_failed");
        found[3] = dlsym(shim, "opencl_shim_stay");
    }
    memcpy(&begin, &found[0], sizeof(begin));
    memcpy(&read_counts, &found[1], sizeof(read_counts));
    memcpy(&failed_call, &found[2], sizeof(failed_call));
    memcpy(&stay, &found[3], sizeof(stay));
    setenv("ROPE2D_OPENCL_LOADER", path, 1);
    return found[0] && found[1] && found[2] && found[3];
}

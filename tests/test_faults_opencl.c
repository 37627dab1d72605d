// SPDX-License-Identifier: MIT
//
// A driver that fails at each call in turn, and a host that is out of memory at each request in turn: always
// a status and a line in the log, never a crash, nothing left over. Takes the path of opencl_shim.
#include "jobs.h"
#include "opencl_shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

static tally counts;

static opencl_shim_begin_fn *begin;
static opencl_shim_counts_fn *read_counts;
static opencl_shim_failed_fn *failed_call;

// ---------------------------------------------------------------------------------------- a host that counts

typedef struct counting_host {
    long requests;
    long fail_at; // 0: never
    long alive;
    unsigned lines; // of the log
    char last[512];
} counting_host;

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
    (void)level;
    host->lines++;
    snprintf(host->last, sizeof(host->last), "%s", text);
}

// -------------------------------------------------------------------------------------------------- one life

typedef struct life {
    test_job job;
    uint32_t plan_flags;
} life;

static rope2d_status live(const life *way, counting_host *counting, job_result *result) {
    rope2d_host host = {.struct_size = sizeof(host),
                        .user = counting,
                        .allocate = count_allocate,
                        .release = count_release,
                        .log = count_log,
                        .threads = 1};
    const rope2d_device_params params = {
        .struct_size = sizeof(params), .backend = ROPE2D_BACKEND_OPENCL, .index = 0, .host = &host};
    rope2d_device *device = NULL;
    memset(result, 0, sizeof(*result));
    rope2d_status status = rope2d_device_create(&params, &device);
    if (status == ROPE2D_OK)
        status = job_run(&way->job, device, way->plan_flags, result);
    rope2d_device_destroy(device);
    return status;
}

static void check_left_over(const counting_host *host, const char *what, long number) {
    long calls = 0, alive = 0, misused = 0;
    read_counts(&calls, &alive, &misused);
    tally_check(&counts, alive == 0 && misused == 0, "%s %ld (%s): %ld objects left, %ld released twice",
                what, number, failed_call(), alive, misused);
    tally_check(&counts, host->alive == 0, "%s %ld (%s): %ld blocks of host memory left", what, number,
                failed_call(), host->alive);
}

// A failure that leaves nothing wrong: of a platform that is not asked again, and of what ends an object's
// life.
static bool may_succeed(const char *call) {
    return strcmp(call, "clGetDeviceIDs") == 0 || strncmp(call, "clRelease", 9) == 0 ||
           strcmp(call, "clFinish") == 0;
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

static void check_failure(const life *way, long number, int code, const job_result *right) {
    counting_host host = {.fail_at = 0};
    job_result found;
    size_t where = 0;
    begin(number, code);
    rope2d_status status = live(way, &host, &found);
    const char *call = failed_call();
    if (status == ROPE2D_OK) {
        bool equal = job_equal(&way->job, right, &found, &where);
        tally_check(&counts, may_succeed(call) && equal, "call %ld (%s, %d): no error, byte %zu", number,
                    call, code, where);
    } else {
        bool known = status == expected_status(code, call) || may_succeed(call);
        tally_check(&counts, known && host.lines > 0, "call %ld (%s, %d): %s, %u lines", number, call, code,
                    rope2d_status_name(status), host.lines);
        tally_check(&counts, may_succeed(call) || strstr(host.last, call + 2),
                    "call %ld (%s, %d): the log says \"%s\"", number, call, code, host.last);
    }
    check_left_over(&host, "call", number);
    job_release(&found);
}

static void check_out_of_memory(const life *way, long number) {
    counting_host host = {.fail_at = number};
    job_result found;
    begin(0, 0);
    rope2d_status status = live(way, &host, &found);
    tally_check(&counts, status == ROPE2D_ERROR_HOST_MEMORY && host.lines > 0, "request %ld: %s, %u lines",
                number, rope2d_status_name(status), host.lines);
    check_left_over(&host, "request", number);
    job_release(&found);
}

static void check_life(const life *way, const int *codes, unsigned code_count) {
    counting_host host = {.fail_at = 0};
    job_result right;
    long calls = 0, alive = 0, misused = 0;
    begin(0, 0);
    rope2d_status status = live(way, &host, &right);
    read_counts(&calls, &alive, &misused);
    if (tally_check(&counts, status == ROPE2D_OK && calls > 20, "no failure: %s: %s",
                    rope2d_status_name(status), host.last)) {
        check_left_over(&host, "no failure", 0);
        printf("%ld calls, %ld requests of memory\n", calls, host.requests);
        for (long number = 1; number <= calls; number++) {
            for (unsigned i = 0; i < code_count; i++)
                check_failure(way, number, codes[i], &right);
        }
        for (long number = 1; number <= host.requests; number++)
            check_out_of_memory(way, number);
    }
    job_release(&right);
}

// -------------------------------------------------------------------------------------- all of them

static bool open_shim(const char *path) {
    void *shim = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found[3] = {NULL, NULL, NULL};
    if (shim) {
        found[0] = dlsym(shim, "opencl_shim_begin");
        found[1] = dlsym(shim, "opencl_shim_counts");
        found[2] = dlsym(shim, "opencl_shim_failed");
    }
    memcpy(&begin, &found[0], sizeof(begin));
    memcpy(&read_counts, &found[1], sizeof(read_counts));
    memcpy(&failed_call, &found[2], sizeof(failed_call));
    return found[0] && found[1] && found[2];
}

int main(int argc, char **argv) {
    static const int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES,      CL_DEVICE_NOT_AVAILABLE,
                                CL_INVALID_VALUE,      CL_BUILD_PROGRAM_FAILURE, -9999};
    static const life ways[] = {
        {{.shape = JOB_HALF, .table = ROPE2D_TABLE_BUFFER, .batch = 2, .tokens = 9},
         ROPE2D_PLAN_NO_SELF_TEST},
        {{.shape = JOB_ODD,
          .layout = JOB_FUSED,
          .in = ROPE2D_F16,
          .out = ROPE2D_F16,
          .batch = 1,
          .tokens = 3},
         ROPE2D_PLAN_NO_SELF_TEST},
    };
    static const life textured = {{.shape = JOB_ODD, .table = ROPE2D_TABLE_TEXTURE, .batch = 1, .tokens = 3},
                                  ROPE2D_PLAN_NO_SELF_TEST};
    static const life tested = {{.shape = JOB_HALF, .batch = 1, .tokens = 3}, 0};
    static rope2d_device_info infos[OPENCL_MAX_DEVICES];
    if (argc < 2 || !open_shim(argv[1])) {
        printf("%s cannot be opened\n", argc < 2 ? "the shim" : argv[1]);
        return 1;
    }
    setenv("ROPE2D_OPENCL_LOADER", argv[1], 1);
    begin(0, 0);
    uint32_t count = opencl_test_list(&counts, infos);
    if (count == 0) {
        opencl_test_required(&counts, infos, count);
        return tally_finish(&counts);
    }
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        check_life(&ways[i], codes, i == 0 ? sizeof(codes) / sizeof(codes[0]) : 1);
    if (infos[0].has_textures)
        check_life(&textured, codes, 1);
    else
        counts.skipped++;
    check_life(&tested, &codes[1], 1);
    return tally_finish(&counts);
}

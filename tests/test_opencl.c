// SPDX-License-Identifier: MIT
//
// The OpenCL backend against the CPU's, bit by bit, on every OpenCL device of this machine. `test_opencl
// small` runs what Oclgrind, which interprets kernels and knows no threads, gets through in half a minute.
#include "internal.h"
#include "jobs.h"
#include "opencl/opencl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 3 };

static tally counts;

// ------------------------------------------------------------------------------------------ errors and
// versions

static void check_error(cl_int code, const char *name, rope2d_status status) {
    captured_log log = {"", false};
    const rope2d_host host = captured_host(&log);
    const rope2d_cl cl = {.host = &host};
    char line[160];
    (void)snprintf(line, sizeof(line), "OpenCL: clSomething: %s (%d)\n", name, (int)code);
    tally_check(&counts, rope2d_cl_failed(&cl, "clSomething", code) == status && strcmp(log.text, line) == 0,
                "%d: %s", (int)code, log.text);
}

static void check_texts(void) {
    check_error(CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND", ROPE2D_ERROR_DEVICE_LOST);
    check_error(CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", ROPE2D_ERROR_HOST_MEMORY);
    check_error(CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS", ROPE2D_ERROR_DRIVER);
    check_error(CL_INVALID_LINKER_OPTIONS, "CL_INVALID_LINKER_OPTIONS", ROPE2D_ERROR_COMPILE);
    static const struct {
        const char *text;
        uint32_t version;
    } versions[] = {
        {"OpenCL 1.2 pocl", 102},
        {"OpenCL 3.0", 300},
        {"OpenCL 2.1 ", 201},
        {"OpenCL 1.1", 101},
        {"OpenCL 3", 0},
        {"OpenCL 99999999999999999999.2", 0},
        {"OpenCL -1.2", 0},
        {"OpenCL 1.-1", 199},
        {"opencl 1.2", 0},
        {"OpenCL 1.4294967296", 199},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
        tally_check(&counts, rope2d_cl_version(versions[i].text) == versions[i].version, "\"%s\" is %u",
                    versions[i].text, (unsigned)rope2d_cl_version(versions[i].text));
    check_error(-1001, "an error that OpenCL does not name", ROPE2D_ERROR_DRIVER);
}

// ---------------------------------------------------------------------------------------------- the list

static void check_info(const rope2d_device_info *listed) {
    captured_log log = {"", false};
    rope2d_device_info info;
    rope2d_device *device = opencl_test_device(&counts, ROPE2D_BACKEND_OPENCL, listed->index, 0, NULL, &log);
    if (!device)
        return;
    memset(&info, 0, sizeof(info));
    info.struct_size = sizeof(info);
    tally_check(&counts, rope2d_device_get_info(device, &info) == ROPE2D_OK, "get_info");
    tally_check(&counts,
                strcmp(info.name, listed->name) == 0 && strcmp(info.driver, listed->driver) == 0 &&
                    info.index == listed->index && info.max_buffer_range == listed->max_buffer_range &&
                    info.max_texture_width == listed->max_texture_width &&
                    info.has_textures == listed->has_textures &&
                    info.max_group_size == listed->max_group_size,
                "%s: the list and the device differ", listed->name);
    tally_check(&counts,
                info.name[0] && info.vendor[0] && info.driver[0] && strncmp(info.api, "OpenCL ", 7) == 0,
                "%s: a name is missing", listed->name);
    tally_check(&counts,
                info.max_buffer_range >= (uint64_t)1 << 20 && info.memory_bytes >= info.max_buffer_range,
                "%s: limits", listed->name);
    rope2d_device_destroy(device);
}

static void check_wrong_index(uint32_t count) {
    captured_log log = {"", false};
    rope2d_host host = captured_host(&log);
    rope2d_device_params params;
    rope2d_device *device = NULL;
    memset(&params, 0, sizeof(params));
    params.struct_size = sizeof(params);
    params.backend = ROPE2D_BACKEND_OPENCL;
    params.index = count;
    params.host = &host;
    tally_check(&counts, rope2d_device_create(&params, &device) == ROPE2D_ERROR_DEVICE_INDEX && !device,
                "index %u of %u devices", (unsigned)count, (unsigned)count);
    tally_check(&counts, strstr(log.text, "index") != NULL, "a wrong index says \"%s\"", log.text);
}

static void check_missing_loader(void) {
    captured_log log = {"", false};
    rope2d_host host = captured_host(&log);
    uint32_t count = 0;
    setenv("ROPE2D_OPENCL_LOADER", "/nowhere/libOpenCL.so", 1);
    rope2d_status status = rope2d_enumerate(ROPE2D_BACKEND_OPENCL, &host, &count, NULL);
    unsetenv("ROPE2D_OPENCL_LOADER");
    tally_check(&counts, status == ROPE2D_ERROR_BACKEND_MISSING && strstr(log.text, "/nowhere/libOpenCL.so"),
                "a loader that is not there: %s: %s", rope2d_status_name(status), log.text);
}

// -------------------------------------------------------------------------------------------- equal bits

typedef rope2d_status job_run_fn(const test_job *job, rope2d_device *device, uint32_t plan_flags,
                                 job_result *result);

static void compare_with(job_run_fn *run, const test_job *job, rope2d_device *cpu, rope2d_device *device,
                         captured_log *log) {
    struct test_job on_cpu = *job;
    job_result expected, found;
    char name[160];
    size_t where = 0;
    on_cpu.table = ROPE2D_TABLE_AUTO;
    job_name(job, name, sizeof(name));
    log->text[0] = 0;
    rope2d_status reference = job_run(&on_cpu, cpu, ROPE2D_PLAN_NO_SELF_TEST, &expected);
    rope2d_status status = run(job, device, ROPE2D_PLAN_NO_SELF_TEST, &found);
    if (tally_check(&counts, reference == ROPE2D_OK && status == ROPE2D_OK, "%s: %s: %s, the CPU %s: %s",
                    device->info.name, name, rope2d_status_name(status), rope2d_status_name(reference),
                    log->text)) {
        bool equal = job_equal(job, &expected, &found, &where);
        tally_check(&counts, equal, "%s: %s: differs from the CPU at byte %zu", device->info.driver, name,
                    where);
    }
    job_release(&expected);
    job_release(&found);
}

static void compare(const test_job *job, rope2d_device *cpu, rope2d_device *device, captured_log *log) {
    compare_with(job_run, job, cpu, device, log);
}

static void compare_layouts(test_job *job, rope2d_device *cpu, rope2d_device *device, captured_log *log) {
    for (int layout = 0; layout < JOB_LAYOUT_COUNT; layout++) {
        job->layout = (job_layout)layout;
        if (job->in != job->out && (job->layout == JOB_IN_PLACE || job->layout == JOB_FUSED))
            continue;
        compare(job, cpu, device, log);
    }
}

// Every pair of types and kind of table, in every layout; a kernel's two variants are what the layouts take.
static void compare_types(rope2d_device *cpu, rope2d_device *device, captured_log *log) {
    for (unsigned variant = 0; variant < 2 * 3 * 3; variant++) {
        rope2d_table table = variant % 2 == 0 ? ROPE2D_TABLE_BUFFER : ROPE2D_TABLE_TEXTURE;
        test_job job = {JOB_INTERLEAVED,
                        JOB_TIGHT,
                        (rope2d_element)(variant / 2 % 3),
                        (rope2d_element)(variant / 6),
                        table,
                        false,
                        2,
                        35};
        if (table == ROPE2D_TABLE_TEXTURE && !device->info.has_textures)
            counts.skipped++;
        else
            compare_layouts(&job, cpu, device, log);
    }
}

static void compare_shapes(rope2d_device *cpu, rope2d_device *device, captured_log *log) {
    for (int shape = 0; shape < JOB_SHAPE_COUNT; shape++) {
        test_job job = {(job_shape)shape,    JOB_TIGHT, ROPE2D_F32, ROPE2D_F32,
                        ROPE2D_TABLE_BUFFER, false,     2,          35};
        compare_layouts(&job, cpu, device, log);
        job.own_positions = true;
        job.in = job.out = ROPE2D_F16;
        job.table = device->info.has_textures ? ROPE2D_TABLE_TEXTURE : ROPE2D_TABLE_BUFFER;
        compare_layouts(&job, cpu, device, log);
        compare_with(job_run_grown, &job, cpu, device, log);
        job.table = ROPE2D_TABLE_BUFFER;
        job.own_positions = false;
        compare_with(job_run_grown, &job, cpu, device, log);
    }
    test_job fours = {.shape = JOB_FOURS, .in = ROPE2D_BF16, .out = ROPE2D_BF16, .batch = 2, .tokens = 35};
    compare_layouts(&fours, cpu, device, log);
    for (uint64_t tokens = 0; tokens < 3; tokens++) {
        test_job job = {JOB_HALF, JOB_TIGHT, ROPE2D_F32, ROPE2D_BF16, ROPE2D_TABLE_AUTO, true, 1, tokens};
        compare(&job, cpu, device, log);
    }
}

// ------------------------------------------------------------------------------------- a device's limits

// Limits far below any device's: tensors in many pieces, textures folded, positions in windows.
static void compare_tiny(rope2d_device *cpu, rope2d_device *device, captured_log *log) {
    const rope2d_device_info saved = device->info;
    static const uint64_t ranges[] = {8192, 3000};
    for (unsigned i = 0; i < 2; i++) {
        device->info.max_buffer_range = ranges[i];
        device->info.max_texture_width = device->info.max_texture_width > 0 ? 8 : 0;
        compare_shapes(cpu, device, log);
    }
    test_job job = {JOB_PER_HEAD, JOB_TIGHT, ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, true, 2, 35};
    job_result result;
    tally_check(&counts,
                job_run(&job, device, ROPE2D_PLAN_NO_SELF_TEST, &result) == ROPE2D_OK &&
                    result.dispatches > 4,
                "%s: %llu dispatches where buffers have %llu bytes", device->info.name,
                (unsigned long long)result.dispatches, (unsigned long long)device->info.max_buffer_range);
    job_release(&result);
    log->text[0] = 0;
    device->info.max_buffer_range = 64;
    tally_check(&counts,
                job_run(&job, device, ROPE2D_PLAN_NO_SELF_TEST, &result) == ROPE2D_ERROR_LIMIT &&
                    log->text[0],
                "%s: buffers of 64 bytes are no error", device->info.name);
    job_release(&result);
    device->info = saved;
    tally_check(
        &counts,
        job_run(&job, device, ROPE2D_PLAN_NO_SELF_TEST, &result) == ROPE2D_OK && result.dispatches == 1,
        "%s: %llu dispatches for two tensors", device->info.name, (unsigned long long)result.dispatches);
    job_release(&result);
}

static void compare_minimum(uint32_t index, rope2d_device *cpu) {
    captured_log log = {"", false};
    rope2d_device *device =
        opencl_test_device(&counts, ROPE2D_BACKEND_OPENCL, index, ROPE2D_DEVICE_MINIMUM_LIMITS, NULL, &log);
    if (!device)
        return;
    tally_check(&counts,
                device->info.max_buffer_range <= (uint64_t)128 << 20 &&
                    device->info.max_texture_width <= 8192,
                "%s: limits are not clamped", device->info.name);
    compare_shapes(cpu, device, &log);
    rope2d_device_destroy(device);
}

// ----------------------------------------------------------------------------------------------- threads

typedef struct thread_job {
    rope2d_device *device;
    const job_result *expected;
    test_job job;
    bool equal;
} thread_job;

static void *run_thread(void *argument) {
    thread_job *thread = argument;
    thread->equal = true;
    for (int round = 0; round < ROUNDS; round++) {
        job_result found;
        size_t where = 0;
        rope2d_status status = job_run(&thread->job, thread->device, ROPE2D_PLAN_NO_SELF_TEST, &found);
        if (status != ROPE2D_OK || !job_equal(&thread->job, thread->expected, &found, &where))
            thread->equal = false;
        job_release(&found);
    }
    return NULL;
}

static void compare_threads(rope2d_device *cpu, rope2d_device *device) {
    test_job job = {JOB_HALF, JOB_GAPS, ROPE2D_BF16, ROPE2D_F16, ROPE2D_TABLE_AUTO, false, 2, 35};
    thread_job threads[THREADS];
    pthread_t ids[THREADS];
    job_result expected;
    int started = 0;
    tally_check(&counts, job_run(&job, cpu, ROPE2D_PLAN_NO_SELF_TEST, &expected) == ROPE2D_OK,
                "the CPU's result");
    for (; started < THREADS; started++) {
        threads[started] = (thread_job){device, &expected, job, false};
        if (pthread_create(&ids[started], NULL, run_thread, &threads[started]) != 0)
            break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
        tally_check(&counts, threads[i].equal, "%s: thread %d of %d differs", device->info.name, i, started);
    }
    job_release(&expected);
}

static void check_exactness(rope2d_device *device, captured_log *log) {
    job_result result;
    for (unsigned variant = 0; variant < 6; variant++) {
        test_job job = {.shape = JOB_HALF, .batch = 2, .tokens = 35};
        job.in = job.out = (rope2d_element)(variant / 2);
        job.table =
            variant % 2 == 0 || !device->info.has_textures ? ROPE2D_TABLE_BUFFER : ROPE2D_TABLE_TEXTURE;
        rope2d_status status = job_run(&job, device, 0, &result);
        tally_check(&counts, status == ROPE2D_OK && result.exactness == ROPE2D_EXACT,
                    "%s: the self-test says %u: %s", device->info.driver, (unsigned)result.exactness,
                    log->text);
        job_release(&result);
    }
}

// ----------------------------------------------------------------------------------------------- devices

static void test_device(const rope2d_device_info *info, rope2d_device *cpu, bool small) {
    captured_log log = {"", false};
    unsigned failed = counts.failed;
    rope2d_device *device = opencl_test_device(&counts, ROPE2D_BACKEND_OPENCL, info->index, 0, NULL, &log);
    if (!device)
        return;
    if (small) {
        compare_shapes(cpu, device, &log);
    } else {
        check_info(info);
        compare_types(cpu, device, &log);
        compare_shapes(cpu, device, &log);
        compare_tiny(cpu, device, &log);
        compare_threads(cpu, device);
        check_exactness(device, &log);
        compare_minimum(info->index, cpu);
    }
    rope2d_device_destroy(device);
    printf("%s, %s: %s\n", info->name, info->driver, counts.failed == failed ? "equal" : "FAILED");
}

// What Oclgrind says of reads and writes out of bounds, races, and wrong calls of the API: nothing.
static void check_oclgrind(const char *path) {
    char text[2048];
    FILE *file = fopen(path, "rb");
    if (!tally_check(&counts, file != NULL, "%s: Oclgrind has not opened its log", path))
        return;
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    tally_check(&counts, text[0] == 0, "Oclgrind: %s", text);
    fclose(file);
}

int main(int argc, char **argv) {
    static rope2d_device_info infos[OPENCL_MAX_DEVICES];
    bool small = argc > 1 && strcmp(argv[1], "small") == 0;
    captured_log log = {"", false};
    uint32_t count = opencl_test_list(&counts, infos);
    rope2d_device *cpu = opencl_test_device(&counts, ROPE2D_BACKEND_CPU, 0, 0, NULL, &log);
    if (!small) {
        check_texts();
        opencl_test_required(&counts, infos, count);
        check_missing_loader();
        if (count > 0)
            check_wrong_index(count);
    }
    for (uint32_t i = 0; cpu && i < count; i++)
        test_device(&infos[i], cpu, small);
    rope2d_device_destroy(cpu);
    const char *oclgrind = getenv("OCLGRIND_LOG");
    const char *required = getenv("ROPE2D_REQUIRE_DEVICES");
    if (small && count == 0 && required && text_contains(required, "oclgrind"))
        tally_check(&counts, false, "oclgrind is required and not there");
    else if (small && count == 0)
        counts.skipped++;
    else if (small && oclgrind)
        check_oclgrind(oclgrind);
    return tally_finish(&counts);
}

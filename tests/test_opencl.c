// SPDX-License-Identifier: MIT
//
// The OpenCL backend against the CPU's, bit by bit, on every OpenCL device of this machine. `test_opencl
// small` runs the few jobs that an interpreter of kernels, such as Oclgrind, gets through in a minute.
#include "internal.h"
#include "opencl_common.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEVICES = 16, THREADS = 4, ROUNDS = 3 };

static tally counts;

static rope2d_device *make_device(rope2d_backend backend, uint32_t index, uint32_t flags, const char *folder,
                                  captured_log *log) {
    rope2d_host host = captured_host(log);
    rope2d_device_params params;
    rope2d_device *device = NULL;
    memset(&params, 0, sizeof(params));
    params.struct_size = sizeof(params);
    params.backend = backend;
    params.index = index;
    params.flags = flags;
    params.host = &host;
    params.shader_folder = folder;
    rope2d_status status = rope2d_device_create(&params, &device);
    tally_check(&counts, status == ROPE2D_OK, "device %u of backend %u: %s: %s", (unsigned)index,
                (unsigned)backend, rope2d_status_name(status), log->text);
    return device;
}

// ------------------------------------------------------------------------------------------------------ the
// list

static uint32_t list_devices(rope2d_device_info *infos) {
    captured_log log = {"", false};
    rope2d_host host = captured_host(&log);
    uint32_t count = MAX_DEVICES, again = 0;
    for (uint32_t i = 0; i < MAX_DEVICES; i++)
        infos[i].struct_size = sizeof(infos[i]);
    rope2d_status status = rope2d_enumerate(ROPE2D_BACKEND_OPENCL, &host, &count, infos);
    if (status == ROPE2D_ERROR_BACKEND_MISSING) {
        printf("no OpenCL here: %s", log.text);
        return 0;
    }
    tally_check(&counts, status == ROPE2D_OK, "enumerate: %s: %s", rope2d_status_name(status), log.text);
    status = rope2d_enumerate(ROPE2D_BACKEND_OPENCL, &host, &again, NULL);
    tally_check(&counts, status == ROPE2D_OK && again == count, "enumerate: %u devices, then %u",
                (unsigned)count, (unsigned)again);
    return count < MAX_DEVICES ? count : MAX_DEVICES;
}

static void check_info(const rope2d_device_info *listed) {
    captured_log log = {"", false};
    rope2d_device_info info;
    rope2d_device *device = make_device(ROPE2D_BACKEND_OPENCL, listed->index, 0, NULL, &log);
    if (!device)
        return;
    memset(&info, 0, sizeof(info));
    info.struct_size = sizeof(info);
    tally_check(&counts, rope2d_device_get_info(device, &info) == ROPE2D_OK, "get_info");
    tally_check(&counts, memcmp(&info, listed, sizeof(info)) == 0, "%s: the list and the device differ",
                listed->name);
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

// ------------------------------------------------------------------------------------------------------
// equal bits

static void compare(const test_job *job, rope2d_device *cpu, rope2d_device *device, captured_log *log) {
    struct test_job on_cpu = *job;
    job_result expected, found;
    char name[160];
    size_t where = 0;
    on_cpu.table = ROPE2D_TABLE_AUTO;
    job_name(job, name, sizeof(name));
    log->text[0] = 0;
    rope2d_status reference = job_run(&on_cpu, cpu, ROPE2D_PLAN_NO_SELF_TEST, &expected);
    rope2d_status status = job_run(job, device, ROPE2D_PLAN_NO_SELF_TEST, &found);
    if (tally_check(&counts, reference == ROPE2D_OK && status == ROPE2D_OK, "%s: %s: %s, the CPU %s: %s",
                    device->info.name, name, rope2d_status_name(status), rope2d_status_name(reference),
                    log->text))
        tally_check(&counts, job_equal(job, &expected, &found, &where),
                    "%s: %s: differs from the CPU at byte %zu", device->info.driver, name, where);
    job_release(&expected);
    job_release(&found);
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
    }
    for (uint64_t tokens = 0; tokens < 3; tokens++) {
        test_job job = {JOB_HALF, JOB_TIGHT, ROPE2D_F32, ROPE2D_BF16, ROPE2D_TABLE_AUTO, true, 1, tokens};
        compare(&job, cpu, device, log);
    }
}

// ----------------------------------------------------------------------------------------------- a device's
// limits

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
        make_device(ROPE2D_BACKEND_OPENCL, index, ROPE2D_DEVICE_MINIMUM_LIMITS, NULL, &log);
    if (!device)
        return;
    tally_check(&counts,
                device->info.max_buffer_range <= (uint64_t)128 << 20 &&
                    device->info.max_texture_width <= 8192,
                "%s: limits are not clamped", device->info.name);
    compare_shapes(cpu, device, &log);
    rope2d_device_destroy(device);
}

// ---------------------------------------------------------------------------------------------------------
// threads

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

// -------------------------------------------------------------------------------------------------- edited
// kernels

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (file && text)
        text[fread(text, 1, (1 << 16) - 1, file)] = 0;
    if (file)
        fclose(file);
    return text;
}

static bool write_text(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

// A copy of the kernels, in `file` with the first `from` replaced by `to`; a folder whose name has a space.
static bool copy_kernels(char *folder, size_t size, const char *file, const char *from, const char *to) {
    static const char *const names[] = {"rope2d.cl", "core.h", "shape.h"};
    const char *root = getenv("ROPE2D_SOURCE_ROOT"), *temporary = getenv("TMPDIR");
    snprintf(folder, size, "%s/rope2d kernels XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return false;
    bool copied = true;
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/shaders/%s", root ? root : ".", names[i]);
        char *text = read_text(path), *found = text ? strstr(text, from) : NULL;
        char *edited = calloc(1, (1 << 16) + 256);
        copied = copied && text && text[0] && edited;
        if (copied && strcmp(names[i], file) == 0) {
            copied = found != NULL;
            if (copied)
                snprintf(edited, (1 << 16) + 256, "%.*s%s%s", (int)(found - text), text, to,
                         found + strlen(from));
        } else if (copied) {
            snprintf(edited, (1 << 16) + 256, "%s", text);
        }
        copied = copied && write_text(folder, names[i], edited);
        free(text);
        free(edited);
    }
    return copied;
}

static void remove_kernels(const char *folder) {
    static const char *const names[] = {"rope2d.cl", "core.h", "shape.h"};
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        remove(path);
    }
    rmdir(folder);
}

// What a job gives with edited kernels. The status is the plan's.
static rope2d_status run_edited(uint32_t index, const test_job *job, const char *file, const char *from,
                                const char *to, captured_log *log, job_result *result) {
    char folder[256];
    rope2d_status status = ROPE2D_ERROR_DRIVER;
    memset(result, 0, sizeof(*result));
    bool copied = copy_kernels(folder, sizeof(folder), file, from, to);
    if (tally_check(&counts, copied, "\"%s\" of %s cannot be edited in %s", from, file, folder)) {
        rope2d_device *device = make_device(ROPE2D_BACKEND_OPENCL, index, 0, folder, log);
        if (device)
            status = job_run(job, device, 0, result);
        rope2d_device_destroy(device);
    }
    remove_kernels(folder);
    return status;
}

static const test_job edited_job = {JOB_INTERLEAVED,     JOB_TIGHT, ROPE2D_F32, ROPE2D_F32,
                                    ROPE2D_TABLE_BUFFER, false,     2,          35};

static void check_folder(uint32_t index, const job_result *expected) {
    captured_log log = {"", false};
    job_result found;
    size_t where = 0;
    rope2d_status status = run_edited(index, &edited_job, "core.h", "R_FN uint", "R_FN uint", &log, &found);
    (void)where;
    tally_check(&counts, status == ROPE2D_OK && job_equal(&edited_job, expected, &found, &where),
                "kernels from a folder: %s: %s", rope2d_status_name(status), log.text);
    job_release(&found);

    memset(&log, 0, sizeof(log));
    status = run_edited(index, &edited_job, "core.h", "float turned = a - b;", "float turned = nonsense - b;",
                        &log, &found);
    tally_check(&counts,
                status == ROPE2D_ERROR_COMPILE && strstr(log.text, "nonsense") && strstr(log.text, "core.h:"),
                "a kernel that does not compile: %s: %s", rope2d_status_name(status), log.text);
    job_release(&found);

    memset(&log, 0, sizeof(log));
    rope2d_device *device = make_device(ROPE2D_BACKEND_OPENCL, index, 0, "/nowhere", &log);
    if (device) {
        status = job_run(&edited_job, device, 0, &found);
        tally_check(&counts, status == ROPE2D_ERROR_COMPILE && strstr(log.text, "/nowhere/rope2d.cl"),
                    "a folder that is not there: %s: %s", rope2d_status_name(status), log.text);
        job_release(&found);
    }
    rope2d_device_destroy(device);
}

// ----------------------------------------------------------------------------------------------------- the
// controls

static bool contains(const char *text, const char *word) {
    size_t length = strlen(word);
    for (; *text; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

// A kernel that fuses multiplications and additions must be caught, by its bits and by the self-test. PoCL
// fuses as soon as it may.
static void check_contraction(const rope2d_device_info *info, const job_result *expected) {
    captured_log log = {"", false};
    job_result found;
    size_t where = 0;
    if (!contains(info->driver, "pocl")) {
        counts.skipped++;
        return;
    }
    rope2d_status status =
        run_edited(info->index, &edited_job, "rope2d.cl", "#pragma OPENCL FP_CONTRACT OFF", "", &log, &found);
    tally_check(&counts, status == ROPE2D_OK && !job_equal(&edited_job, expected, &found, &where),
                "%s: contraction has not changed a bit", info->driver);
    tally_check(&counts, found.exactness == ROPE2D_INEXACT, "%s: the self-test calls a kernel that fuses %u",
                info->driver, (unsigned)found.exactness);
    job_release(&found);
}

static void check_wrong_kernels(const rope2d_device_info *info, const job_result *expected) {
    static const struct {
        const char *from, *to;
    } faults[] = {
        {"float turned = a - b;", "float turned = a + b;"}, // the sign of lo
        {"R_UNIT_AXIS(word, i)", "(1u - R_UNIT_AXIS(word, i))"},
        {"(f + 0x7fffu + ((f >> 16) & 1u)) >> 16", "f >> 16"}, // bf16 toward zero
        {"rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)", "rest - 0x38000000u"},
    };
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        captured_log log = {"", false};
        test_job job = edited_job;
        job_result found, right = {NULL, 0, ROPE2D_UNTESTED, 0};
        job.out = i == 2 ? ROPE2D_BF16 : i == 3 ? ROPE2D_F16 : ROPE2D_F32;
        (void)right;
        rope2d_status status =
            run_edited(info->index, &job, "core.h", faults[i].from, faults[i].to, &log, &found);
        size_t where = 0;
        if (job.out == ROPE2D_F32)
            tally_check(&counts, status == ROPE2D_OK && !job_equal(&job, expected, &found, &where),
                        "%s: \"%s\" has not changed a bit", info->driver, faults[i].to);
        tally_check(&counts, status == ROPE2D_OK && found.exactness == ROPE2D_INEXACT,
                    "%s: the self-test calls \"%s\" %u: %s", info->driver, faults[i].to,
                    (unsigned)found.exactness, log.text);
        job_release(&found);
    }
}

static void check_exactness(rope2d_device *device, captured_log *log) {
    job_result result;
    for (unsigned variant = 0; variant < 6; variant++) {
        test_job job = edited_job;
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

// ---------------------------------------------------------------------------------------------------------
// devices

static void test_edited(const rope2d_device_info *info, rope2d_device *cpu) {
    struct test_job on_cpu = edited_job;
    job_result expected;
    on_cpu.table = ROPE2D_TABLE_AUTO;
    if (tally_check(&counts, job_run(&on_cpu, cpu, 0, &expected) == ROPE2D_OK, "the CPU's result")) {
        check_folder(info->index, &expected);
        check_contraction(info, &expected);
        check_wrong_kernels(info, &expected);
    }
    job_release(&expected);
}

static void test_device(const rope2d_device_info *info, rope2d_device *cpu, bool small) {
    captured_log log = {"", false};
    unsigned failed = counts.failed;
    rope2d_device *device = make_device(ROPE2D_BACKEND_OPENCL, info->index, 0, NULL, &log);
    if (!device)
        return;
    if (small) {
        test_job job = {JOB_ODD, JOB_GAPS, ROPE2D_BF16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, true, 1, 4};
        compare(&job, cpu, device, &log);
        job.shape = JOB_HALF;
        job.layout = JOB_TIGHT;
        job.table = device->info.has_textures ? ROPE2D_TABLE_TEXTURE : ROPE2D_TABLE_BUFFER;
        compare(&job, cpu, device, &log);
        job.in = job.out;
        job.layout = JOB_FUSED;
        compare(&job, cpu, device, &log);
    } else {
        check_info(info);
        compare_types(cpu, device, &log);
        compare_shapes(cpu, device, &log);
        compare_tiny(cpu, device, &log);
        compare_threads(cpu, device);
        check_exactness(device, &log);
        compare_minimum(info->index, cpu);
        test_edited(info, cpu);
    }
    rope2d_device_destroy(device);
    printf("%s, %s: %s\n", info->name, info->driver, counts.failed == failed ? "equal" : "FAILED");
}

// The names in ROPE2D_REQUIRE_DEVICES that are OpenCL's.
static void check_required(const rope2d_device_info *infos, uint32_t count) {
    static const char *const names[] = {"pocl", "rusticl"};
    const char *required = getenv("ROPE2D_REQUIRE_DEVICES");
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool found = false;
        for (uint32_t d = 0; d < count; d++)
            found = found || contains(infos[d].driver, names[i]);
        if (found)
            continue;
        if (required && contains(required, names[i]))
            tally_check(&counts, false, "%s is required and not there", names[i]);
        else
            counts.skipped++;
    }
}

int main(int argc, char **argv) {
    static rope2d_device_info infos[MAX_DEVICES];
    bool small = argc > 1 && strcmp(argv[1], "small") == 0;
    captured_log log = {"", false};
    uint32_t count = list_devices(infos);
    rope2d_device *cpu = make_device(ROPE2D_BACKEND_CPU, 0, 0, NULL, &log);
    if (!small) {
        check_required(infos, count);
        check_missing_loader();
        if (count > 0)
            check_wrong_index(count);
    }
    for (uint32_t i = 0; cpu && i < count; i++)
        test_device(&infos[i], cpu, small);
    rope2d_device_destroy(cpu);
    return tally_finish(&counts);
}

// SPDX-License-Identifier: MIT
//
// The Vulkan backend against the CPU's bits: on every device, as if it had other memory than it has, with
// kernels compiled at run time, and from several threads.
#include "config.h"
#include "scratch.h"
#include "vulkan/device.h"
#include "vulkan_open.h"
#include "vulkan_shaders.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 3 };

static tally counts;
static struct shim *shim;
static rope2d_device *cpu;

static const struct test_job jobs[] = {
    {JOB_INTERLEAVED, JOB_TIGHT, ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, false, 2, 33},
    {JOB_HALF, JOB_IN_PLACE, ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_TEXTURE, true, 2, 17},
    {JOB_ODD, JOB_GAPS, ROPE2D_BF16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, false, 1, 21},
    {JOB_TWO_ANGLES, JOB_FUSED, ROPE2D_BF16, ROPE2D_BF16, ROPE2D_TABLE_TEXTURE, false, 2, 9},
    {JOB_PER_HEAD, JOB_GAPS, ROPE2D_F32, ROPE2D_BF16, ROPE2D_TABLE_TEXTURE, true, 3, 13},
};
enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };

// The portable path's result. The CPU has no textures.
static rope2d_status run_cpu(const test_job *job, job_result *expected) {
    test_job same = *job;
    same.table = ROPE2D_TABLE_BUFFER;
    return job_run(&same, cpu, 0, expected);
}

// What a device answers as it is. The CPU's bits where the device says that it is exact; one that flushes
// subnormals is compared with itself here, and in test_backends with the CPU.
static job_result answers[JOBS];

static void expect(rope2d_device *device) {
    for (int i = 0; i < JOBS; i++) {
        job_result portable = {0};
        size_t where = 0;
        rope2d_status status = job_run(&jobs[i], device, 0, &answers[i]);
        tally_check(&counts, status == ROPE2D_OK, "job %d: %s", i, rope2d_status_name(status));
        status = run_cpu(&jobs[i], &portable);
        tally_check(&counts, status == ROPE2D_OK, "job %d on the CPU: %s", i, rope2d_status_name(status));
        if (answers[i].exactness == ROPE2D_EXACT)
            tally_check(&counts, job_equal(&jobs[i], &portable, &answers[i], &where),
                        "job %d: byte %zu is not the CPU's", i, where);
        else
            tally_check(&counts, answers[i].exactness == ROPE2D_EXACT_NORMAL, "job %d: exactness is %d", i,
                        (int)answers[i].exactness);
        job_release(&portable);
    }
}

static void compare(int number, rope2d_device *device, const char *how) {
    const test_job *job = &jobs[number];
    char name[256];
    job_result result = {0};
    size_t where = 0;
    job_name(job, name, sizeof(name));
    rope2d_status status = job_run(job, device, ROPE2D_PLAN_NO_SELF_TEST, &result);
    if (tally_check(&counts, status == ROPE2D_OK, "%s, %s: %s", name, how, rope2d_status_name(status)))
        tally_check(&counts, job_equal(job, &answers[number], &result, &where), "%s, %s: byte %zu differs",
                    name, how, where);
    job_release(&result);
}

// Builds with sanitizers are slow, and ask for fewer.
static bool is_quick(void) {
    const char *quick = getenv("ROPE2D_QUICK");
    return quick != NULL && strcmp(quick, "1") == 0;
}

static void compare_all(rope2d_device *device, const char *how) {
    for (int i = 0; i < (is_quick() ? 2 : JOBS); i++)
        compare(i, device, how);
}

static rope2d_device *open_device(uint32_t index, uint32_t flags, const char *folder) {
    captured_log *log = calloc(1, sizeof(*log)); // lives as long as the device
    rope2d_device *device = NULL;
    rope2d_status status = vulkan_open(index, flags, folder, log, &device);
    tally_check(&counts, status == ROPE2D_OK, "device %u: %s: %s", (unsigned)index,
                rope2d_status_name(status), log ? log->text : "");
    if (device == NULL)
        free(log);
    return device;
}

static void close_device(rope2d_device *device) {
    void *log = device != NULL ? device->host.user : NULL;
    rope2d_device_destroy(device);
    free(log);
}

// ------------------------------------------------------------------------------------------------- memory

// What the device's memory is decides whether tensors are copied on the device, and which way. A device whose
// memory is the host's can show any; a GPU with memory of its own has only that.
static void each_memory(uint32_t index, bool is_software) {
    static const struct {
        const char *name;
        bool copies;
    } kinds[SHIM_MEMORY_COUNT] = {
        [SHIM_MEMORY_REAL] = {"its own memory", false},
        [SHIM_MEMORY_DISCRETE] = {"discrete memory", true},
        [SHIM_MEMORY_DISCRETE_INCOHERENT] = {"discrete memory, not coherent", true},
        [SHIM_MEMORY_WINDOW] = {"a window onto the device's memory", true},
        [SHIM_MEMORY_SMALL_WINDOW] = {"a small window onto the device's memory", true},
        [SHIM_MEMORY_UNIFIED_INCOHERENT] = {"unified memory, not coherent", false},
    };
    counts.skipped += !is_software;
    for (int kind = 0; kind < (is_software ? SHIM_MEMORY_COUNT : 1); kind++) {
        shim->memory = (enum shim_memory)kind;
        shim->copies = 0;
        shim->faults = 0;
        rope2d_device *device = open_device(index, 0, NULL);
        if (device != NULL)
            compare_all(device, kinds[kind].name);
        close_device(device);
        tally_check(&counts, !is_software || (shim->copies > 0) == kinds[kind].copies, "%s: %u copies",
                    kinds[kind].name, (unsigned)shim->copies);
        tally_check(&counts, shim->faults == 0 && shim->live == 0, "%s: %u faults, %d objects left",
                    kinds[kind].name, (unsigned)shim->faults, (int)shim->live);
    }
    shim->memory = SHIM_MEMORY_REAL;
}

// Staging memory so small that every tensor is cut.
static void small_arena(uint32_t index) {
    rope2d_device *device = open_device(index, ROPE2D_DEVICE_MINIMUM_LIMITS, NULL);
    if (device == NULL)
        return;
    rope2d_vulkan_of(device)->arena_bytes = 4096;
    compare_all(device, "pieces of 4 KiB");
    job_result result = {0};
    job_run(&jobs[0], device, ROPE2D_PLAN_NO_SELF_TEST, &result);
    tally_check(&counts, result.dispatches > 2, "pieces of 4 KiB: %u dispatches",
                (unsigned)result.dispatches);
    job_release(&result);
    close_device(device);
}

// Buffers and textures so small that no table fits whole: it comes in windows of tokens.
static void small_table(uint32_t index) {
    rope2d_device *device = open_device(index, 0, NULL);
    if (device == NULL)
        return;
    const rope2d_device_info saved = device->info;
    device->info.max_buffer_range = 3000;
    device->info.max_texture_width = 8;
    device->info.max_texture_height = 8;
    compare_all(device, "windows of the table");
    for (int kind = ROPE2D_TABLE_BUFFER; kind <= ROPE2D_TABLE_TEXTURE; kind++) {
        test_job job = {JOB_PER_HEAD, JOB_TIGHT, ROPE2D_F32, ROPE2D_F32, (rope2d_table)kind, true, 2, 35};
        job_result result = {0};
        tally_check(&counts,
                    job_run(&job, device, ROPE2D_PLAN_NO_SELF_TEST, &result) == ROPE2D_OK &&
                        result.dispatches > 4,
                    "windows of the table: %u dispatches", (unsigned)result.dispatches);
        job_release(&result);
        device->info.max_buffer_range = 64;
        device->info.max_texture_width = 1;
        device->info.max_texture_height = 2;
        tally_check(&counts, job_run(&job, device, ROPE2D_PLAN_NO_SELF_TEST, &result) == ROPE2D_ERROR_LIMIT,
                    "a row that fits nowhere is no error");
        job_release(&result);
        device->info = saved;
        device->info.max_buffer_range = 3000;
        device->info.max_texture_width = 8;
        device->info.max_texture_height = 8;
    }
    device->info = saved;
    close_device(device);
}

// ------------------------------------------------------------------------------------------------ threads

struct worker {
    pthread_t thread;
    rope2d_device *device;
    job_result results[ROUNDS];
    rope2d_status status;
    int job;
};

static void *work(void *data) {
    struct worker *worker = data;
    for (int i = 0; i < ROUNDS && worker->status == ROPE2D_OK; i++)
        worker->status =
            job_run(&jobs[worker->job], worker->device, ROPE2D_PLAN_NO_SELF_TEST, &worker->results[i]);
    return NULL;
}

static void several_threads(uint32_t index) {
    struct worker workers[THREADS] = {0};
    rope2d_device *device = open_device(index, 0, NULL);
    if (device == NULL)
        return;
    for (int i = 0; i < THREADS; i++) {
        workers[i].device = device;
        workers[i].job = i % JOBS;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        size_t where = 0;
        pthread_join(workers[i].thread, NULL);
        for (int round = 0; round < ROUNDS; round++) {
            tally_check(&counts,
                        workers[i].status == ROPE2D_OK &&
                            job_equal(&jobs[workers[i].job], &answers[workers[i].job],
                                      &workers[i].results[round], &where),
                        "thread %d: %s, byte %zu", i, rope2d_status_name(workers[i].status), where);
            job_release(&workers[i].results[round]);
        }
    }
    close_device(device);
}

// --------------------------------------------------------------------------------------- kernels from disk

static void expect_log(rope2d_device *device, rope2d_status wanted, const char *word, const char *how) {
    job_result result = {0};
    captured_log *log = device->host.user;
    rope2d_status status = job_run(&jobs[0], device, ROPE2D_PLAN_NO_SELF_TEST, &result);
    tally_check(&counts, status == wanted, "%s: %s", how, rope2d_status_name(status));
    tally_check(&counts, strstr(log->text, word) != NULL, "%s: the log does not have '%s': %s", how, word,
                log->text);
    job_release(&result);
    close_device(device);
}

// An edit that changes the result is seen; one that does not compile is told with its file and line.
static void edited_shaders(uint32_t index, const char *folder) {
    job_result edited = {0};
    size_t where = 0;
    rope2d_device *device = open_device(index, 0, folder);
    if (vulkan_shaders_copy(folder, "    precise float turned = a - b;",
                            "    precise float turned = a + b;\n") &&
        device != NULL) {
        rope2d_status status = job_run(&jobs[0], device, ROPE2D_PLAN_NO_SELF_TEST, &edited);
        tally_check(&counts, status == ROPE2D_OK && !job_equal(&jobs[0], &answers[0], &edited, &where),
                    "an edited kernel: %s, or nothing changed", rope2d_status_name(status));
    } else {
        tally_check(&counts, false, "an edited kernel could not be tried");
    }
    job_release(&edited);
    close_device(device);

    vulkan_shaders_copy(folder, "    precise float turned = a - b;",
                        "    precise float turned = a - nothing;\n");
    device = open_device(index, 0, folder);
    if (device != NULL)
        expect_log(device, ROPE2D_ERROR_COMPILE, "arithmetic.h:", "a kernel that does not compile");
    vulkan_shaders_copy(folder, "#include \"core.h\"", "#include \"missing.h\"\n");
    device = open_device(index, 0, folder);
    if (device != NULL)
        expect_log(device, ROPE2D_ERROR_COMPILE, "missing.h", "an include that is not there");
}

// A device's own conversions of f16 are used where they are exact, and integers elsewhere.
static void expect_conversions(uint32_t index, const char *folder, const char *how, bool may_be_native) {
    static const float freqs[32] = {1, 0.5f, 0.25f};
    const rope2d_spec spec = {.struct_size = sizeof(spec),
                              .head_dim = 64,
                              .axes = 1,
                              .pairing = ROPE2D_PAIRING_HALF,
                              .freqs = freqs};
    const rope2d_plan_params params = {
        .struct_size = sizeof(params), .spec = &spec, .in = ROPE2D_F16, .out = ROPE2D_F16};
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    rope2d_plan *plan = NULL;
    rope2d_device *device = open_device(index, 0, folder);
    if (device == NULL)
        return;
    rope2d_status status = rope2d_plan_create(device, &params, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_plan_get_info(plan, &info);
    const bool is_exact = info.exactness == ROPE2D_EXACT || info.exactness == ROPE2D_EXACT_NORMAL;
    const bool is_native = strstr(info.kernel, "_native") != NULL;
    tally_check(&counts, status == ROPE2D_OK && is_exact && (may_be_native || !is_native),
                "%s: %s, kernel %s, exactness %d", how, rope2d_status_name(status), info.kernel,
                (int)info.exactness);
    rope2d_plan_destroy(plan);
    close_device(device);
}

static void wrong_conversions(uint32_t index, const char *folder) {
    vulkan_shaders_copy(folder, NULL, NULL);
    expect_conversions(index, folder, "conversions as they are", true);
    // lavapipe rounds by integers all the same, unless it is told not to.
    vulkan_shaders_copy(folder, "#define R_PACKS_HALVES",
                        "#define R_PACKS_HALVES R_HAS_FLAG(R_CONVERTS_FLAG)\n");
    expect_conversions(index, folder, "rounding by the device", true);
    vulkan_shaders_copy(folder, "#define R_PACKS_HALVES",
                        "#define R_PACKS_HALVES R_HAS_FLAG(R_CONVERTS_FLAG)\n"
                        "#undef R_PACK_HALVES\n"
                        "#define R_PACK_HALVES(v) "
                        "packFloat2x16(f16vec2(uintBitsToFloat(floatBitsToUint(v) & 0xffffe000u)))\n");
    expect_conversions(index, folder, "rounding toward zero", false);
    vulkan_shaders_copy(folder, "#define R_UNPACK_HALVES",
                        "#define R_UNPACK_HALVES(w) "
                        "vec2(unpackFloat2x16((w & 0x7c007c00u) == 0u ? 0u : w))\n");
    expect_conversions(index, folder, "subnormals that are flushed", false);
}

static void runtime_compile(uint32_t index) {
    char folder[SCRATCH_PATH];
    if (!ROPE2D_HAVE_SHADERC) {
        captured_log log = {"", false};
        rope2d_device *device = NULL;
        rope2d_status status = vulkan_open(index, ROPE2D_DEVICE_RUNTIME_COMPILE, NULL, &log, &device);
        tally_check(&counts, status == ROPE2D_ERROR_UNSUPPORTED && strstr(log.text, "shaderc"),
                    "without shaderc: %s: %s", rope2d_status_name(status), log.text);
        rope2d_device_destroy(device);
        return;
    }
    rope2d_device *device = open_device(index, ROPE2D_DEVICE_RUNTIME_COMPILE, NULL);
    if (device != NULL)
        compare_all(device, "compiled at run time");
    close_device(device);
    if (!tally_check(&counts, scratch_make(folder) && vulkan_shaders_copy(folder, NULL, NULL), "no folder"))
        return;
    device = open_device(index, 0, folder);
    if (device != NULL)
        compare_all(device, "compiled from a folder");
    close_device(device);
    edited_shaders(index, folder);
    wrong_conversions(index, folder);
    vulkan_shaders_remove(folder);
    device = open_device(index, 0, folder);
    if (device != NULL)
        expect_log(device, ROPE2D_ERROR_COMPILE, folder, "a folder that is not there");
}

// --------------------------------------------------------------------------------------------- wrong asking

static void wrong_index(uint32_t count) {
    captured_log log = {"", false};
    rope2d_device *device = NULL;
    rope2d_status status = vulkan_open(count, 0, NULL, &log, &device);
    char words[64];
    snprintf(words, sizeof(words), "index is %u; Vulkan has %u", (unsigned)count, (unsigned)count);
    tally_check(&counts, status == ROPE2D_ERROR_DEVICE_INDEX && strstr(log.text, words), "index %u: %s: %s",
                (unsigned)count, rope2d_status_name(status), log.text);
    rope2d_device_destroy(device);
}

static void no_loader(void) {
    captured_log log = {"", false};
    rope2d_host host = captured_host(&log);
    uint32_t count = 3;
    setenv("ROPE2D_VULKAN_LOADER", "no-such-loader.so", 1);
    rope2d_status status = rope2d_enumerate(ROPE2D_BACKEND_VULKAN, &host, &count, NULL);
    tally_check(&counts,
                status == ROPE2D_ERROR_BACKEND_MISSING && count == 0 && strstr(log.text, "no-such-loader.so"),
                "no loader: %s: %s", rope2d_status_name(status), log.text);
}

static void check_info(uint32_t index) {
    rope2d_device *device = open_device(index, ROPE2D_DEVICE_MINIMUM_LIMITS, NULL);
    if (device == NULL)
        return;
    const rope2d_device_info *info = &device->info;
    tally_check(&counts, info->name[0] && info->vendor[0] && info->driver[0], "device %u has no name",
                (unsigned)index);
    tally_check(&counts, strncmp(info->api, "Vulkan 1.", 9) == 0, "api: %s", info->api);
    tally_check(&counts,
                info->max_buffer_range <= 128 << 20 && info->max_storage_buffers == 4 &&
                    info->max_group_size <= 128 && info->max_groups <= 65535 &&
                    info->max_texture_width <= 4096 && info->max_texture_height <= 4096 &&
                    info->buffer_offset_alignment >= 256,
                "%s: its limits are above the minimum", info->name);
    for (uint32_t texture = 0; texture < 2; texture++)
        tally_check(&counts, rope2d_vulkan_of(device)->layouts[texture].slots == 1,
                    "%s: more slots than four storage buffers have", info->name);
    // Staged tensors lie in one buffer, so one slot is enough for both.
    compare_all(device, "minimum limits");
    job_result result = {0};
    job_run(&jobs[0], device, ROPE2D_PLAN_NO_SELF_TEST, &result);
    tally_check(&counts, result.dispatches == 1, "%s: %u dispatches for two tensors", info->name,
                (unsigned)result.dispatches);
    job_release(&result);
    close_device(device);
}

int main(void) {
    shim = vulkan_shim_open();
    rope2d_device_params params = {.struct_size = sizeof(params)};
    tally_check(&counts, shim != NULL, "no shim: ROPE2D_TEST_SHIM");
    tally_check(&counts, rope2d_device_create(&params, &cpu) == ROPE2D_OK, "no CPU");
    uint32_t count = shim != NULL ? vulkan_count(&counts) : 0;
    for (uint32_t i = 0; i < count; i++) {
        rope2d_device *device = open_device(i, 0, NULL);
        if (device == NULL)
            continue;
        expect(device);
        const bool is_software = device->info.is_software != 0;
        close_device(device);
        check_info(i);
        each_memory(i, is_software);
        small_arena(i);
        small_table(i);
        several_threads(i);
        runtime_compile(i);
        for (int job = 0; job < JOBS; job++)
            job_release(&answers[job]);
    }
    if (count > 0)
        wrong_index(count);
    no_loader();
    rope2d_device_destroy(cpu);
    return tally_finish(&counts);
}

// SPDX-License-Identifier: MIT
//
// Caches on devices: what was compiled once is not compiled again, and whatever is wrong with a cache or its
// folder costs a warning and nothing else. `test_cache_devices vulkan SHIM`.
#include "cache.h"
#include "compile_count.h"
#include "jobs.h"
#include "scratch.h"
#include "vulkan_shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

enum { JOBS = 3, KEPT = 1000, CHILDREN = 2 };

static tally counts;
static captured_log memory_of_lines;
static rope2d_backend backend;
static struct shim *vulkan; // NULL: OpenCL

static const test_job jobs[JOBS] = {
    {.shape = JOB_HALF, .batch = 2, .tokens = 9},
    {.shape = JOB_INTERLEAVED, .in = ROPE2D_F16, .out = ROPE2D_F16, .batch = 1, .tokens = 5},
    {.shape = JOB_ODD, .in = ROPE2D_BF16, .out = ROPE2D_F32, .batch = 1, .tokens = 7},
};
static job_result portable[JOBS]; // of the CPU
static job_result expected[JOBS]; // of the device under test: the CPU's bits, unless it flushes subnormals

static rope2d_device *open_device(rope2d_backend which, uint32_t index, const char *folder) {
    captured_log *log = &memory_of_lines;
    rope2d_host host = captured_host(log);
    rope2d_device_params params = {.struct_size = sizeof(params),
                                   .backend = which,
                                   .index = index,
                                   .host = &host,
                                   .cache_folder = folder};
    rope2d_device *device = NULL;
    log->text[0] = 0;
    const rope2d_status status = rope2d_device_create(&params, &device);
    tally_check(&counts, status == ROPE2D_OK, "device %u: %s: %s", (unsigned)index,
                rope2d_status_name(status), log->text);
    return device;
}

// What a device makes of the jobs without any cache.
static void answer(uint32_t index) {
    rope2d_device *device = open_device(backend, index, NULL);
    for (unsigned i = 0; device && i < JOBS; i++) {
        size_t where = 0;
        job_release(&expected[i]);
        const rope2d_status status = job_run(&jobs[i], device, 0, &expected[i]);
        const bool flushes = expected[i].exactness == ROPE2D_EXACT_NORMAL;
        tally_check(&counts,
                    status == ROPE2D_OK &&
                        (flushes || (expected[i].exactness == ROPE2D_EXACT &&
                                     job_equal(&jobs[i], &portable[i], &expected[i], &where))),
                    "job %u: %s, exactness %u, byte %zu", i, rope2d_status_name(status),
                    (unsigned)expected[i].exactness, where);
    }
    rope2d_device_destroy(device);
}

// Rotates on the device; how many times it compiled.
static long run_jobs(rope2d_device *device, const char *what) {
    const long before = compile_count();
    for (unsigned i = 0; device && i < JOBS; i++) {
        job_result found;
        size_t where = 0;
        const rope2d_status status = job_run(&jobs[i], device, ROPE2D_PLAN_NO_SELF_TEST, &found);
        tally_check(&counts, status == ROPE2D_OK && job_equal(&jobs[i], &expected[i], &found, &where),
                    "%s: job %u: %s, byte %zu", what, i, rope2d_status_name(status), where);
        job_release(&found);
    }
    return compile_count() - before;
}

// Keeps the programs alive, so that their binaries can be asked for.
static void prewarm(rope2d_device *device) {
    job_spec specs[JOBS];
    rope2d_plan_params list[JOBS];
    for (unsigned i = 0; i < JOBS; i++) {
        job_make_spec(&jobs[i], &specs[i]);
        list[i] = job_plan_params(&jobs[i], &specs[i], ROPE2D_PLAN_NO_SELF_TEST);
    }
    const rope2d_status status = rope2d_prewarm(device, list, JOBS);
    tally_check(&counts, status == ROPE2D_OK, "prewarm: %s", rope2d_status_name(status));
}

// Opens a device with the folder, runs it, and says whether it was warm.
static void check_run(uint32_t index, const char *folder, bool warm, const char *warning, const char *what) {
    const uint64_t given = vulkan ? vulkan->given : 0;
    rope2d_device *device = open_device(backend, index, folder);
    const long compiled = run_jobs(device, what);
    const bool was_warm = vulkan ? vulkan->given > given : compiled == 0;
    tally_check(&counts, was_warm == warm, "%s: %ld compiled, %u bytes given", what, compiled,
                vulkan ? (unsigned)(vulkan->given - given) : 0);
    if (warning)
        tally_check(&counts, strstr(memory_of_lines.text, warning) && strstr(memory_of_lines.text, folder),
                    "%s: no \"%s\" and \"%s\" in: %s", what, warning, folder, memory_of_lines.text);
    else
        tally_check(&counts, !strstr(memory_of_lines.text, "cache"), "%s: %s", what, memory_of_lines.text);
    rope2d_device_destroy(device);
}

// ---------------------------------------------------------------------------------------------------- bytes

static rope2d_blob get_bytes(rope2d_device *device) {
    rope2d_blob blob = {NULL, 0};
    uint64_t size = 0;
    tally_check(&counts, rope2d_device_get_cache(device, NULL, &size) == ROPE2D_OK && size > 0, "a size");
    blob.bytes = calloc(1, (size_t)size + 1);
    blob.size = size;
    uint64_t less = size - 1;
    tally_check(&counts,
                rope2d_device_get_cache(device, blob.bytes, &less) == ROPE2D_ERROR_LIMIT && less == size &&
                    blob.bytes[0] == 0,
                "room for one byte less");
    tally_check(&counts, rope2d_device_get_cache(device, blob.bytes, &size) == ROPE2D_OK && size == blob.size,
                "the bytes");
    return blob;
}

static void refuse(rope2d_device *device, const unsigned char *bytes, uint64_t size, const char *what,
                   unsigned number) {
    memory_of_lines.text[0] = 0;
    const rope2d_status status = rope2d_device_set_cache(device, bytes, size);
    tally_check(&counts, status == ROPE2D_ERROR_CACHE && memory_of_lines.text[0], "%s %u: %s: %s", what,
                number, rope2d_status_name(status), memory_of_lines.text);
}

static void refuse_damaged(rope2d_device *device, const rope2d_blob *blob) {
    const uint64_t step = blob->size < 4000 ? 1 : blob->size / 997;
    unsigned char *copy = malloc((size_t)blob->size);
    for (uint64_t size = 1; size < blob->size; size += size < 200 ? 1 : step)
        refuse(device, blob->bytes, size, "cut off after", (unsigned)size);
    for (uint64_t i = 0; copy && i < blob->size; i += i < 100 ? 1 : blob->size / 50) {
        memcpy(copy, blob->bytes, (size_t)blob->size);
        copy[i] ^= 0x40;
        refuse(device, copy, blob->size, "another byte", (unsigned)i);
    }
    free(copy);
}

// The right key and the right check, by somebody who knows how they are made; the driver's part is not right.
static rope2d_blob forge(const rope2d_blob *blob, const rope2d_blob *part) {
    const rope2d_host host = rope2d_host_resolve(NULL);
    rope2d_digest key;
    rope2d_blob forged = {NULL, 0};
    memcpy(key.bytes, blob->bytes + 16, sizeof(key.bytes));
    rope2d_cache_pack(&host, backend, &key, part, &forged);
    return forged;
}

static void refuse_forged(uint32_t index, const rope2d_blob *blob) {
    const rope2d_host host = rope2d_host_resolve(NULL);
    const uint64_t size = blob->size - ROPE2D_CACHE_HEADER_BYTES;
    rope2d_blob part = {malloc((size_t)size), size};
    rope2d_device *device = open_device(backend, index, NULL);
    // The key and length of the first record, and a header of Vulkan's in it, spoilt byte by byte.
    for (unsigned i = 0; device && i < 72; i++) {
        memcpy(part.bytes, blob->bytes + ROPE2D_CACHE_HEADER_BYTES, (size_t)size);
        part.bytes[i] ^= 0x80;
        rope2d_blob forged = forge(blob, &part);
        const bool is_checked = i >= 32 && i < (vulkan ? 72 : 40);
        if (is_checked)
            refuse(device, forged.bytes, forged.size, "forged byte", i);
        rope2d_blob_release(&host, &forged);
    }
    part.size = 20;
    rope2d_blob forged = forge(blob, &part);
    refuse(device, forged.bytes, forged.size, "forged length", 20);
    rope2d_blob_release(&host, &forged);
    run_jobs(device, "after refusals");
    // Mesa's Rusticl 22.3 ends the process where a binary is none.
    rope2d_device_info info = {.struct_size = sizeof(info)};
    const bool panics = rope2d_device_get_info(device, &info) == ROPE2D_OK && strstr(info.driver, "rusticl");
    rope2d_device_destroy(device);
    counts.skipped += panics;
    if (!vulkan && !panics) { // binaries that are none
        const uint64_t head = 40;
        part.size = head + 100;
        memcpy(part.bytes, blob->bytes + ROPE2D_CACHE_HEADER_BYTES, (size_t)head);
        rope2d_write_64(part.bytes + 32, 100);
        memset(part.bytes + head, 0x7f, 100);
        forged = forge(blob, &part);
        device = open_device(backend, index, NULL);
        tally_check(&counts, rope2d_device_set_cache(device, forged.bytes, forged.size) == ROPE2D_OK,
                    "a forged binary: %s", memory_of_lines.text);
        tally_check(&counts,
                    run_jobs(device, "a forged binary") > 0 &&
                        strstr(memory_of_lines.text, "does not take a binary"),
                    "a forged binary: %s", memory_of_lines.text);
        rope2d_device_destroy(device);
        rope2d_blob_release(&host, &forged);
    }
    free(part.bytes);
}

static void check_bytes(uint32_t index, rope2d_blob *blob) {
    rope2d_device *device = open_device(backend, index, NULL);
    if (!device)
        return;
    prewarm(device);
    *blob = get_bytes(device);
    rope2d_device_destroy(device);
    device = open_device(backend, index, NULL);
    refuse_damaged(device, blob);
    const uint64_t given = vulkan ? vulkan->given : 0;
    tally_check(&counts, rope2d_device_set_cache(device, blob->bytes, blob->size) == ROPE2D_OK,
                "what was got: %s", memory_of_lines.text);
    const long compiled = run_jobs(device, "warm");
    tally_check(&counts, vulkan ? vulkan->given == given + KEPT && vulkan->merged > 0 : compiled == 0,
                "warm: %ld compiled", compiled);
    tally_check(&counts, rope2d_device_set_cache(device, NULL, 0) == ROPE2D_OK, "nothing to take");
    tally_check(&counts, rope2d_device_set_cache(device, NULL, 9) == ROPE2D_ERROR_NULL, "NULL to take");
    tally_check(&counts, rope2d_device_get_cache(device, NULL, NULL) == ROPE2D_ERROR_NULL, "NULL to fill");
    rope2d_device_destroy(device);
    refuse_forged(index, blob);
}

// ------------------------------------------------------------------------------------------------- folders

static void check_folder(uint32_t index) {
    char folder[SCRATCH_PATH], file[SCRATCH_PATH];
    struct stat info;
    if (!tally_check(&counts, scratch_make(folder), "no folder"))
        return;
    check_run(index, folder, false, NULL, "an empty folder");
    tally_check(&counts,
                scratch_count(folder, file) == 1 && stat(file, &info) == 0 && (info.st_mode & 0777) == 0600,
                "one file of ours: %d, %s", scratch_count(folder, file), file);
    check_run(index, folder, true, NULL, "a full folder");
    struct stat then;
    tally_check(&counts, stat(file, &then) == 0 && then.st_ino == info.st_ino,
                "a file that has all is not written again");
    rope2d_blob whole = scratch_read(file);
    for (unsigned i = 0; i < 4; i++) { // cut off, another byte, older, of no use at all
        rope2d_blob bad = {malloc((size_t)whole.size), whole.size};
        memcpy(bad.bytes, whole.bytes, (size_t)whole.size);
        if (i == 0)
            bad.size /= 2;
        else
            bad.bytes[i == 1 ? whole.size - 1 : i == 2 ? 8 : 0] ^= 1;
        scratch_write(file, &bad);
        check_run(index, folder, false, "made anew", "a bad file");
        check_run(index, folder, true, NULL, "a file made anew");
        free(bad.bytes);
    }
    tally_check(&counts, chmod(file, 0622) == 0, "chmod");
    check_run(index, folder, false, "somebody else", "a file that others can write");
    check_run(index, folder, true, NULL, "a file made anew");
    free(whole.bytes);
    scratch_remove(folder);
}

// A link to a file of ours, in place of the cache: neither followed nor written through.
static void check_link(uint32_t index) {
    char folder[SCRATCH_PATH], file[SCRATCH_PATH], other[SCRATCH_PATH + 8];
    scratch_make(folder);
    check_run(index, folder, false, NULL, "an empty folder");
    scratch_count(folder, file);
    snprintf(other, sizeof(other), "%s.other", file);
    tally_check(&counts, rename(file, other) == 0 && symlink(other, file) == 0, "a link");
    rope2d_blob before = scratch_read(other);
    check_run(index, folder, false, "cannot be read", "a link");
    rope2d_blob after = scratch_read(other);
    tally_check(&counts, before.size == after.size && memcmp(before.bytes, after.bytes, before.size) == 0,
                "written through a link");
    check_run(index, folder, true, NULL, "in place of a link");
    free(before.bytes);
    free(after.bytes);
    scratch_remove(folder);
}

static void check_useless_folders(uint32_t index) {
    char folder[SCRATCH_PATH], missing[SCRATCH_PATH + 8], file[SCRATCH_PATH];
    struct rlimit limit, small;
    scratch_make(folder);
    snprintf(missing, sizeof(missing), "%s/none", folder);
    check_run(index, missing, false, "cannot be written", "a folder that is not there");
    rope2d_device_destroy(open_device(backend, index, missing));
    tally_check(&counts, strstr(memory_of_lines.text, "is no folder"), "the warning comes at once: %s",
                memory_of_lines.text);
    check_run(index, "/proc/self", false, "cannot be written", "a folder that nobody can write to");
    if (geteuid() != 0) {
        chmod(folder, 0500);
        check_run(index, folder, false, "cannot be written", "a folder without permission");
        chmod(folder, 0700);
    }
    // A disk that is full after 32 bytes, before the header ends.
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 32;
    signal(SIGXFSZ, SIG_IGN);
    rope2d_device *device = open_device(backend, index, folder);
    setrlimit(RLIMIT_FSIZE, &small);
    rope2d_cache_store(device); // by itself, lest the drivers' own files meet the limit
    setrlimit(RLIMIT_FSIZE, &limit);
    tally_check(&counts,
                strstr(memory_of_lines.text, "cannot be written") && scratch_count(folder, file) == 0,
                "a full disk: %s", memory_of_lines.text);
    run_jobs(device, "a full disk");
    rope2d_device_destroy(device);
    scratch_remove(folder);
}

// ---------------------------------------------------------------------------------------- two processes

static void check_processes(uint32_t index, char **argv) {
    char folder[SCRATCH_PATH], file[SCRATCH_PATH], number[16];
    pid_t children[CHILDREN];
    scratch_make(folder);
    snprintf(number, sizeof(number), "%u", (unsigned)index);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            execl("/proc/self/exe", argv[0], argv[1], argv[2], number, folder, (char *)NULL);
            _exit(9);
        }
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status = 1;
        tally_check(&counts,
                    waitpid(children[i], &status, 0) == children[i] && WIFEXITED(status) &&
                        WEXITSTATUS(status) == 0,
                    "process %d of %d: %d", i, CHILDREN, status);
    }
    tally_check(&counts, scratch_count(folder, file) == 1, "%d files", scratch_count(folder, file));
    check_run(index, folder, true, NULL, "after two processes");
    scratch_remove(folder);
}

// ---------------------------------------------------------------------------------------------- devices

static void check_devices(uint32_t count, char **argv) {
    rope2d_blob first = {NULL, 0};
    for (uint32_t i = 0; i < count; i++) {
        rope2d_blob blob = {NULL, 0};
        answer(i);
        check_bytes(i, &blob);
        check_folder(i);
        check_useless_folders(i);
        if (i == 0) {
            check_link(i);
            check_processes(i, argv);
            first = blob;
            continue;
        }
        rope2d_device *device = open_device(backend, i, NULL);
        if (device)
            refuse(device, first.bytes, first.size, "of another device", i);
        rope2d_device_destroy(device);
        free(blob.bytes);
    }
    free(first.bytes);
}

static bool open_cpu(void) {
    uint64_t size = 77;
    rope2d_device *cpu = open_device(ROPE2D_BACKEND_CPU, 0, "/nowhere");
    for (unsigned i = 0; cpu && i < JOBS; i++)
        job_run(&jobs[i], cpu, ROPE2D_PLAN_NO_SELF_TEST, &portable[i]);
    tally_check(&counts, cpu && rope2d_device_get_cache(cpu, NULL, &size) == ROPE2D_OK && size == 0,
                "a CPU has no cache");
    tally_check(&counts, cpu && rope2d_device_set_cache(cpu, "x", 1) == ROPE2D_ERROR_CACHE,
                "a CPU takes no cache");
    rope2d_device_destroy(cpu);
    return cpu != NULL;
}

int main(int argc, char **argv) {
    uint32_t count = 0;
    if (argc < 3)
        return 1;
    backend = strcmp(argv[1], "vulkan") == 0 ? ROPE2D_BACKEND_VULKAN : ROPE2D_BACKEND_OPENCL;
    if (!compile_count_open(backend, argv[2])) {
        printf("the shim cannot be opened\n");
        return 1;
    }
    vulkan = compile_count_vulkan();
    if (vulkan)
        vulkan->kept = KEPT;
    if (!open_cpu())
        return 1;
    if (argc > 4) { // a child
        answer((uint32_t)atoi(argv[3]));
        for (int round = 0; round < 3; round++) {
            rope2d_device *device = open_device(backend, (uint32_t)atoi(argv[3]), argv[4]);
            run_jobs(device, "a child");
            rope2d_device_destroy(device);
        }
    } else if (rope2d_enumerate(backend, NULL, &count, NULL) != ROPE2D_OK || count == 0) {
        counts.skipped++; // that devices are there is what other tests demand
    } else {
        check_devices(count, argv);
    }
    if (vulkan)
        tally_check(&counts, vulkan->faults == 0 && vulkan->live == 0, "%d faults, %d objects left",
                    (int)vulkan->faults, (int)vulkan->live);
    for (unsigned i = 0; i < JOBS; i++) {
        job_release(&expected[i]);
        job_release(&portable[i]);
    }
    return tally_finish(&counts);
}

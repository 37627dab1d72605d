// SPDX-License-Identifier: MIT
//
// Machines without a GPU: no loader, a library that is none, and a loader without drivers. Each says what it
// lacks, in enumerating and in making a device, and the CPU rotates all the same.
//
//     test_no_devices vulkan | opencl
#include "jobs.h"
#include "scratch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tally counts;

static rope2d_status open_one(rope2d_backend backend, captured_log *log, rope2d_device **device) {
    const rope2d_host host = captured_host(log);
    const rope2d_device_params params = {.struct_size = sizeof(params), .backend = backend, .host = &host};
    memset(log, 0, sizeof(*log));
    return rope2d_device_create(&params, device);
}

static bool rotate_on_cpu(job_result *result) {
    static captured_log log;
    const test_job job = {.shape = JOB_ODD, .layout = JOB_GAPS, .batch = 2, .tokens = 9};
    rope2d_device *device = NULL;
    rope2d_status status = open_one(ROPE2D_BACKEND_CPU, &log, &device);
    memset(result, 0, sizeof(*result));
    if (status == ROPE2D_OK)
        status = job_run(&job, device, 0, result);
    rope2d_device_destroy(device);
    return status == ROPE2D_OK;
}

// With what the environment says now.
static void check(rope2d_backend backend, const char *what, rope2d_status listed, rope2d_status made,
                  const char *word, const job_result *right) {
    static captured_log log;
    const test_job job = {.shape = JOB_ODD, .layout = JOB_GAPS, .batch = 2, .tokens = 9};
    const rope2d_host host = captured_host(&log);
    rope2d_device *device = NULL;
    uint32_t count = 7;
    size_t where = 0;
    job_result found;
    memset(&log, 0, sizeof(log));
    rope2d_status status = rope2d_enumerate(backend, &host, &count, NULL);
    tally_check(&counts, status == listed && count == 0 && (status == ROPE2D_OK || strstr(log.text, word)),
                "%s, listing: %s, %" PRIu32 " devices: %s", what, rope2d_status_name(status), count,
                log.text);
    status = open_one(backend, &log, &device);
    tally_check(&counts, status == made && device == NULL && strstr(log.text, word), "%s, opening: %s: %s",
                what, rope2d_status_name(status), log.text);
    const bool is_done = rotate_on_cpu(&found);
    tally_check(&counts, is_done && job_equal(&job, right, &found, &where), "%s, the CPU: byte %zu", what,
                where);
    job_release(&found);
}

int main(int argc, char **argv) {
    char folder[SCRATCH_PATH];
    job_result right;
    const bool is_vulkan = argc > 1 && strcmp(argv[1], "vulkan") == 0;
    const rope2d_backend backend = is_vulkan ? ROPE2D_BACKEND_VULKAN : ROPE2D_BACKEND_OPENCL;
    const char *loader = is_vulkan ? "ROPE2D_VULKAN_LOADER" : "ROPE2D_OPENCL_LOADER";
    if (!tally_check(&counts, rotate_on_cpu(&right) && scratch_make(folder), "the CPU, and a folder"))
        return tally_finish(&counts);
    setenv(loader, "no-such-loader.so", 1);
    check(backend, "no loader", ROPE2D_ERROR_BACKEND_MISSING, ROPE2D_ERROR_BACKEND_MISSING,
          "no-such-loader.so", &right);
    setenv(loader, "libm.so.6", 1);
    check(backend, "no function", ROPE2D_ERROR_BACKEND_MISSING, ROPE2D_ERROR_BACKEND_MISSING,
          is_vulkan ? "vkGetInstanceProcAddr" : "has no function cl", &right);
    unsetenv(loader);
    // Last: once a loader has listed its drivers, it may keep the list.
    setenv("OCL_ICD_VENDORS", folder, 1);
    unsetenv("OCL_ICD_FILENAMES");
    setenv("VK_DRIVER_FILES", "/nonexistent/driver.json", 1);
    setenv("VK_ICD_FILENAMES", "/nonexistent/driver.json", 1);
    unsetenv("VK_ADD_DRIVER_FILES");
    check(backend, "no driver", ROPE2D_OK, ROPE2D_ERROR_DEVICE_INDEX, "index", &right);
    job_release(&right);
    scratch_remove(folder);
    return tally_finish(&counts);
}

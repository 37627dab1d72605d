// SPDX-License-Identifier: MIT
#include "jobs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rope2d_device *opencl_test_device(tally *counts, rope2d_backend backend, uint32_t index, uint32_t flags,
                                  const char *folder, captured_log *log) {
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
    tally_check(counts, status == ROPE2D_OK, "device %u of backend %u: %s: %s", (unsigned)index,
                (unsigned)backend, rope2d_status_name(status), log->text);
    return device;
}

uint32_t opencl_test_list(tally *counts, rope2d_device_info *infos) {
    captured_log log = {"", false};
    rope2d_host host = captured_host(&log);
    uint32_t count = OPENCL_MAX_DEVICES, again = 0;
    for (uint32_t i = 0; i < OPENCL_MAX_DEVICES; i++)
        infos[i].struct_size = sizeof(infos[i]);
    rope2d_status status = rope2d_enumerate(ROPE2D_BACKEND_OPENCL, &host, &count, infos);
    if (status == ROPE2D_ERROR_BACKEND_MISSING) {
        printf("no OpenCL here: %s", log.text);
        return 0;
    }
    tally_check(counts, status == ROPE2D_OK, "enumerate: %s: %s", rope2d_status_name(status), log.text);
    status = rope2d_enumerate(ROPE2D_BACKEND_OPENCL, &host, &again, NULL);
    tally_check(counts, status == ROPE2D_OK && again == count, "enumerate: %u devices, then %u",
                (unsigned)count, (unsigned)again);
    return count < OPENCL_MAX_DEVICES ? count : OPENCL_MAX_DEVICES;
}

bool text_contains(const char *text, const char *word) {
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

// The names in ROPE2D_REQUIRE_DEVICES that are OpenCL's.
void opencl_test_required(tally *counts, const rope2d_device_info *infos, uint32_t count) {
    static const char *const names[] = {"pocl", "rusticl"};
    const char *required = getenv("ROPE2D_REQUIRE_DEVICES");
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool found = false;
        for (uint32_t d = 0; d < count; d++)
            found = found || text_contains(infos[d].driver, names[i]);
        if (found)
            continue;
        if (required && text_contains(required, names[i]))
            tally_check(counts, false, "%s is required and not there", names[i]);
        else
            counts->skipped++;
    }
}

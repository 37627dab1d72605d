// SPDX-License-Identifier: MIT
#include "devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const backend_names[ROPE2D_BACKEND_COUNT] = {"cpu", "vulkan", "opencl"};

const char *harness_backend_name(rope2d_backend backend) {
    return backend_names[backend];
}

bool harness_backend_from_name(const char *name, size_t length, rope2d_backend *backend) {
    for (int i = 0; i < ROPE2D_BACKEND_COUNT; i++)
        if (strlen(backend_names[i]) == length && strncmp(backend_names[i], name, length) == 0) {
            *backend = (rope2d_backend)i;
            return true;
        }
    return false;
}

static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool begins(const char *text, const char *part, size_t length) {
    size_t same = 0;
    while (same < length && text[same] != '\0' && lower(text[same]) == lower(part[same]))
        same++;
    return same == length;
}

static bool contains(const char *text, const char *part, size_t length) {
    for (; *text != '\0'; text++)
        if (begins(text, part, length))
            return true;
    return false;
}

// An entry of ROPE2D_REQUIRE_DEVICES: part of a name, and the backend it belongs to, if it says so. Rusticl's
// device bears llvmpipe's name, so the names of the software devices say it too.
struct entry {
    const char *part;
    size_t length;
    bool of_backend;
    rope2d_backend backend;
};

static struct entry read_entry(const char *text, size_t length) {
    static const struct {
        const char *name;
        rope2d_backend backend;
    } known[] = {{"llvmpipe", ROPE2D_BACKEND_VULKAN},
                 {"swiftshader", ROPE2D_BACKEND_VULKAN},
                 {"pocl", ROPE2D_BACKEND_OPENCL},
                 {"rusticl", ROPE2D_BACKEND_OPENCL}};
    struct entry entry = {text, length, false, ROPE2D_BACKEND_CPU};
    const char *colon = memchr(text, ':', length);
    size_t before = colon != NULL ? (size_t)(colon - text) : length;
    entry.of_backend = harness_backend_from_name(text, before, &entry.backend);
    if (entry.of_backend && colon != NULL) {
        entry.part = colon + 1;
        entry.length = length - before - 1;
    }
    for (size_t i = 0; !entry.of_backend && i < sizeof(known) / sizeof(known[0]); i++)
        if (strlen(known[i].name) == length && begins(text, known[i].name, length)) {
            entry.of_backend = true;
            entry.backend = known[i].backend;
        }
    return entry;
}

static bool satisfies(const rope2d_device_info *info, const struct entry *entry) {
    if (entry->of_backend && entry->backend != info->backend)
        return false;
    return contains(harness_backend_name(info->backend), entry->part, entry->length) ||
           contains(info->name, entry->part, entry->length) ||
           contains(info->vendor, entry->part, entry->length) ||
           contains(info->driver, entry->part, entry->length);
}

// All devices of a backend; what is wrong goes to the report when the backend was asked for.
static uint32_t list(rope2d_backend backend, rope2d_device_info *infos, struct harness_report *report) {
    struct harness_log log = {{0}};
    rope2d_host host = harness_host(&log);
    uint32_t count = HARNESS_MAX_DEVICES;
    for (uint32_t i = 0; i < count; i++)
        infos[i].struct_size = sizeof(infos[i]);
    rope2d_status status = rope2d_enumerate(backend, &host, &count, infos);
    const char *name = harness_backend_name(backend);
    if (status == ROPE2D_OK && count == 0 && report != NULL)
        harness_skip(report, "%s: no device", name);
    if (status == ROPE2D_ERROR_BACKEND_MISSING && report != NULL)
        harness_skip(report, "%s: not built in, or no loader\n%s", name, log.text);
    else if (status != ROPE2D_OK && report != NULL)
        harness_fail(report, "%s: enumerate: %s\n%s", name, rope2d_status_name(status), log.text);
    if (status != ROPE2D_OK)
        return 0;
    return count < HARNESS_MAX_DEVICES ? count : HARNESS_MAX_DEVICES;
}

static bool parse(const char *wanted, bool *of_backend, rope2d_backend *backend, long *index) {
    const char *colon = strchr(wanted, ':');
    *index = -1;
    *of_backend = strcmp(wanted, "all") != 0;
    if (!*of_backend)
        return true;
    if (colon != NULL) {
        char *end;
        *index = strtol(colon + 1, &end, 10);
        if (end == colon + 1 || *end != '\0' || *index < 0)
            return false;
    }
    return harness_backend_from_name(wanted, colon != NULL ? (size_t)(colon - wanted) : strlen(wanted),
                                     backend);
}

static bool elsewhere(const struct entry *entry, rope2d_backend but) {
    for (int i = 0; i < ROPE2D_BACKEND_COUNT; i++) {
        rope2d_device_info infos[HARNESS_MAX_DEVICES] = {{0}};
        uint32_t count = i == (int)but ? 0 : list((rope2d_backend)i, infos, NULL);
        for (uint32_t j = 0; j < count; j++)
            if (satisfies(&infos[j], entry))
                return true;
    }
    return false;
}

// This program answers for an entry unless that belongs to another backend.
static void require(struct harness_devices *devices, bool of_backend, rope2d_backend backend,
                    struct harness_report *report) {
    const char *text = getenv("ROPE2D_REQUIRE_DEVICES");
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");
        struct entry entry = read_entry(text, length);
        bool found = length == 0;
        for (uint32_t i = 0; i < devices->count; i++)
            if (length != 0 && satisfies(&devices->infos[i], &entry))
                found = devices->required[i] = true;
        bool foreign = of_backend && entry.of_backend && entry.backend != backend;
        // It interprets kernels, too slowly for the harness: `test_opencl small` answers for it.
        foreign = foreign || (length == strlen("oclgrind") && begins(text, "oclgrind", length));
        if (!found && !foreign && !(of_backend && !entry.of_backend && elsewhere(&entry, backend)))
            harness_fail(report, "no device is '%.*s', which ROPE2D_REQUIRE_DEVICES names", (int)length,
                         text);
        text += length;
        text += *text == ',';
    }
}

void harness_devices_find(struct harness_devices *devices, const char *wanted,
                          struct harness_report *report) {
    bool of_backend;
    rope2d_backend backend = ROPE2D_BACKEND_CPU;
    long index;
    memset(devices, 0, sizeof(*devices));
    if (!parse(wanted, &of_backend, &backend, &index)) {
        harness_fail(report, "--device '%s' is none of all, cpu, vulkan, opencl, or one of these and :INDEX",
                     wanted);
        return;
    }
    for (int i = 0; i < ROPE2D_BACKEND_COUNT; i++) {
        rope2d_device_info infos[HARNESS_MAX_DEVICES] = {{0}};
        if (of_backend && i != (int)backend)
            continue;
        uint32_t count = list((rope2d_backend)i, infos, report);
        for (uint32_t j = 0; j < count && devices->count < HARNESS_MAX_DEVICES; j++)
            if (index < 0 || infos[j].index == (uint32_t)index)
                devices->infos[devices->count++] = infos[j];
        if (index >= 0 && devices->count == 0)
            harness_fail(report, "there is no device %s", wanted);
    }
    if (index < 0)
        require(devices, of_backend, backend, report);
}

bool harness_quick(void) {
    const char *quick = getenv("ROPE2D_QUICK");
    return quick != NULL && strcmp(quick, "1") == 0;
}

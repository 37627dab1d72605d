// SPDX-License-Identifier: MIT
#include "facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tests/harness/digest.h"
#include "../../tests/oracle.h"
#include "../cli/device_choice.h"
#include "config.h"
#include "embedded.h"
#include "internal.h"
#include "text_file.h"

#ifndef _WIN32
#include <sys/utsname.h>
#endif

static void add_number(cJSON *object, const char *key, uint64_t value) {
    // As text: a double, which JSON's numbers become, would round what is above 2^53.
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    cJSON_AddRawToObject(object, key, text);
}

static void add_limits(cJSON *facts, const rope2d_device_info *info) {
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"max_buffer_range", info->max_buffer_range},
        {"max_texture_width", info->max_texture_width},
        {"max_texture_height", info->max_texture_height},
        {"max_storage_buffers", info->max_storage_buffers},
        {"max_group_size", info->max_group_size},
        {"max_groups", info->max_groups},
        {"buffer_offset_alignment", info->buffer_offset_alignment},
        {"memory_bytes", info->memory_bytes},
    };
    cJSON *limits = cJSON_AddObjectToObject(facts, "limits");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        add_number(limits, numbers[i].key, numbers[i].value);
}

cJSON *facts_of(const rope2d_device *device) {
    rope2d_device_info info = {.struct_size = sizeof info};
    char name[32];
    cJSON *facts = cJSON_CreateObject();
    if (rope2d_device_get_info(device, &info))
        return facts;
    snprintf(name, sizeof name, "%s:%" PRIu32, backend_names[info.backend], info.index);
    cJSON_AddStringToObject(facts, "device", name);
    cJSON_AddStringToObject(facts, "name", info.name);
    cJSON_AddStringToObject(facts, "vendor", info.vendor);
    cJSON_AddStringToObject(facts, "driver", info.driver);
    cJSON_AddStringToObject(facts, "api", info.api);
    add_number(facts, "vendor_id", info.vendor_id);
    add_number(facts, "device_id", info.device_id);
    cJSON_AddBoolToObject(facts, "is_software", info.is_software != 0);
    cJSON_AddBoolToObject(facts, "has_textures", info.has_textures != 0);
    add_limits(facts, &info);
    if (info.backend == ROPE2D_BACKEND_VULKAN)
        facts_add_vulkan(facts, device);
    if (info.backend == ROPE2D_BACKEND_OPENCL)
        facts_add_opencl(facts, device);
    return facts;
}

cJSON *facts_of_program(const char *command) {
    cJSON *facts = cJSON_CreateObject();
    cJSON_AddStringToObject(facts, "device", "exec:0");
    cJSON_AddStringToObject(facts, "name", command);
    cJSON_AddStringToObject(facts, "vendor", "");
    cJSON_AddStringToObject(facts, "driver", "");
    cJSON_AddStringToObject(facts, "api", "a program");
    return facts;
}

static void add_source(cJSON *list, const char *kind, const char *name, const rope2d_kernel_bytes *kernel) {
    rope2d_sha256 sha;
    char hex[65];
    rope2d_sha256_begin(&sha);
    rope2d_sha256_add(&sha, kernel->data, kernel->size);
    digest_end(&sha, hex);
    cJSON *source = cJSON_CreateObject();
    cJSON_AddStringToObject(source, "kind", kind);
    cJSON_AddStringToObject(source, "name", name);
    cJSON_AddStringToObject(source, "sha256", hex);
    cJSON_AddItemToArray(list, source);
}

// As a driver gets them, not as they are packed.
static void add_sources(cJSON *list, const char *kind, const struct rope2d_embedded *embedded) {
    const rope2d_host host = rope2d_host_resolve(NULL);
    for (const struct rope2d_embedded *one = embedded; one->name; ++one) {
        rope2d_kernel_bytes kernel = {0};
        if (!rope2d_embedded_create(&host, embedded, one->name, &kernel, NULL))
            add_source(list, kind, one->name, &kernel);
        rope2d_embedded_destroy(&host, &kernel);
    }
}

// Kernels that ROPE2D_SHADERS names are used instead of those that are embedded.
static void add_folder(cJSON *list) {
    static const char *const names[] = {"rope2d.comp",  "rope2d.cl",       "rope2d_cl.h",  "core.h",
                                        "vector.h",     "tiles.h",         "turns.h",      "words.h",
                                        "token.h",      "token_element.h", "token_head.h", "shape.h",
                                        "arithmetic.h", "element.h"};
    const char *folder = rope2d_environment("ROPE2D_SHADERS");
    for (size_t i = 0; folder && *folder && i < sizeof names / sizeof *names; ++i) {
        char path[1024];
        char *text = NULL;
        snprintf(path, sizeof path, "%.900s/%s", folder, names[i]);
        if (text_file_is_there(path) && !text_file_read(path, &text)) {
            const rope2d_kernel_bytes kernel = {.data = text, .size = strlen(text)};
            add_source(list, "file", path, &kernel);
        }
        text_file_free(text);
    }
}

cJSON *facts_of_sources(void) {
    cJSON *list = cJSON_CreateArray();
    add_folder(list);
#if ROPE2D_HAVE_VULKAN
    add_sources(list, "spirv", rope2d_embedded_spirv);
#endif
#if ROPE2D_HAVE_SHADERC
    add_sources(list, "glsl", rope2d_embedded_glsl);
#endif
#if ROPE2D_HAVE_OPENCL
    add_sources(list, "opencl", rope2d_embedded_opencl);
#endif
    (void)add_sources;
    return list;
}

static const char compiler[] =
#if defined(__clang__)
    "clang " __clang_version__;
#elif defined(__GNUC__)
    "gcc " __VERSION__;
#else
    "another";
#endif

cJSON *facts_of_build(void) {
    cJSON *build = cJSON_CreateObject();
    cJSON_AddStringToObject(build, "version", ROPE2D_VERSION);
    cJSON_AddStringToObject(build, "compiler", compiler);
    cJSON_AddStringToObject(build, "shader_compiler", VERIFY_GLSLC);
    cJSON_AddStringToObject(build, "oracle", oracle_has_mpfr() ? "MPFR" : "long double");
#ifdef _WIN32
    cJSON_AddStringToObject(build, "system", "Windows");
#else
    struct utsname name;
    char text[256] = "unknown";
    if (uname(&name) >= 0)
        snprintf(text, sizeof text, "%.60s %.100s %.60s", name.sysname, name.release, name.machine);
    cJSON_AddStringToObject(build, "system", text);
#endif
    return build;
}

// SPDX-License-Identifier: MIT
// The life of devices and plans on the CPU: what is refused, with which status; every callback of the host.
#include "backend.h"
#include "check.h"
#include "config.h"
#include "internal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
    int lines;
    char last[256];
    size_t bytes; // allocated and not released
    int failing;  // the allocation that fails, counted down; 0: none
};

static void *allocate(void *user, size_t size, size_t alignment) {
    struct record *record = user;
    if (record->failing > 0 && --record->failing == 0)
        return NULL;
    record->bytes += size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t size) {
    struct record *record = user;
    record->bytes -= size;
    free(memory);
}

static void record_log(void *user, rope2d_log_level level, const char *text) {
    struct record *record = user;
    (void)level;
    record->lines++;
    (void)snprintf(record->last, sizeof(record->last), "%s", text);
}

static struct record record;
static const rope2d_host host = {.struct_size = sizeof(host),
                                 .user = &record,
                                 .allocate = allocate,
                                 .release = release,
                                 .log = record_log};

static void expect(rope2d_status status, rope2d_status expected, const char *word, const char *name) {
    const bool good = status == expected && (word == NULL || strstr(record.last, word) != NULL);
    CHECK(good, "%s: %s, expected %s: %s", name, rope2d_status_name(status), rope2d_status_name(expected),
          record.last);
    record.lines = 0;
    record.last[0] = '\0';
}

#if !ROPE2D_HAVE_VULKAN || !ROPE2D_HAVE_OPENCL
static void expect_missing(rope2d_backend backend, const char *option) {
    const rope2d_device_params params = {.struct_size = sizeof(params), .backend = backend, .host = &host};
    rope2d_device *device = NULL;
    expect(rope2d_device_create(&params, &device), ROPE2D_ERROR_BACKEND_MISSING, option, "a device of it");
    expect(device == NULL && record.bytes == 0 ? ROPE2D_OK : ROPE2D_STATUS_COUNT, ROPE2D_OK, NULL,
           "a backend that is not there leaves nothing");
}
#endif

static void test_enumerate(void) {
    rope2d_device_info infos[2] = {{.struct_size = sizeof(infos[0])}, {.struct_size = sizeof(infos[0])}};
    uint32_t count = 2;
    expect(rope2d_enumerate(ROPE2D_BACKEND_CPU, &host, &count, infos), ROPE2D_OK, NULL, "enumerate");
    expect(count == 1 && infos[0].name[0] != '\0' && infos[0].is_software && infos[0].memory_bytes > 0
               ? ROPE2D_OK
               : ROPE2D_STATUS_COUNT,
           ROPE2D_OK, NULL, "one CPU with a name and memory");
    count = 7;
    expect(rope2d_enumerate((rope2d_backend)9, &host, &count, infos), ROPE2D_ERROR_ENUM, "backend is 9",
           "unknown backend");
    expect(count == 0 ? ROPE2D_OK : ROPE2D_STATUS_COUNT, ROPE2D_OK, NULL, "a failure counts none");
    expect(rope2d_enumerate(ROPE2D_BACKEND_CPU, &host, NULL, infos), ROPE2D_ERROR_NULL, "count",
           "NULL count");
    count = 2;
    infos[1].struct_size = 3;
    expect(rope2d_enumerate(ROPE2D_BACKEND_CPU, &host, &count, infos), ROPE2D_ERROR_STRUCT_SIZE, "infos[1]",
           "struct_size of an info");
#if !ROPE2D_HAVE_VULKAN
    expect(rope2d_enumerate(ROPE2D_BACKEND_VULKAN, &host, &count, NULL), ROPE2D_ERROR_BACKEND_MISSING,
           "-Dvulkan=enabled", "no Vulkan");
    expect_missing(ROPE2D_BACKEND_VULKAN, "-Dvulkan=enabled");
#endif
#if !ROPE2D_HAVE_OPENCL
    expect(rope2d_enumerate(ROPE2D_BACKEND_OPENCL, &host, &count, NULL), ROPE2D_ERROR_BACKEND_MISSING,
           "-Dopencl=enabled", "no OpenCL");
    expect_missing(ROPE2D_BACKEND_OPENCL, "-Dopencl=enabled");
#endif
}

static void test_create(void) {
    rope2d_device *device = (rope2d_device *)&record;
    rope2d_device_params params = {.struct_size = sizeof(params), .host = &host};
    params.index = 1;
    expect(rope2d_device_create(&params, &device), ROPE2D_ERROR_DEVICE_INDEX, "index is 1", "second CPU");
    expect(device == NULL ? ROPE2D_OK : ROPE2D_STATUS_COUNT, ROPE2D_OK, NULL, "a failure gives NULL");
    params.index = 0;
    params.flags = 1u << 30;
    expect(rope2d_device_create(&params, &device), ROPE2D_ERROR_ENUM, "flags is 0x40000000", "unknown flag");
    params.flags = 0;
    params.backend = ROPE2D_BACKEND_COUNT;
    expect(rope2d_device_create(&params, &device), ROPE2D_ERROR_ENUM, "backend is 3", "unknown backend");
    params.backend = ROPE2D_BACKEND_CPU;
    params.struct_size--;
    expect(rope2d_device_create(&params, &device), ROPE2D_ERROR_STRUCT_SIZE, NULL, "struct_size");
    params.struct_size++;
    expect(rope2d_device_create(&params, NULL), ROPE2D_ERROR_NULL, "device is NULL", "NULL result");
    expect(rope2d_device_create(NULL, &device), ROPE2D_ERROR_NULL, NULL, "NULL params");
    params.shader_folder = "somewhere";
    for (int i = 1; i <= 2; i++) {
        record.failing = i;
        expect(rope2d_device_create(&params, &device), ROPE2D_ERROR_HOST_MEMORY, "memory", "no memory");
    }
    rope2d_device_destroy(NULL);
}

static void set_variable(const char *name, const char *value) {
#ifdef _WIN32
    _putenv_s(name, value != NULL ? value : ""); // which an empty value removes
#else
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
#endif
}

static void set_shaders(const char *folder) {
    set_variable("ROPE2D_SHADERS", folder);
}

// A lesser instruction set by name or by flag; names that are none, or more than there is, change nothing.
static void test_instruction_set(void) {
    static const struct {
        const char *word;
        uint32_t flags;
        bool is_portable;
    } cases[] = {
        {"portable", 0, true}, {"avx9", ROPE2D_DEVICE_PORTABLE, true}, {"avx9", 0, false}, {"", 0, false}};
    rope2d_device_info best = {.struct_size = sizeof(best)};
    rope2d_device_params params = {.struct_size = sizeof(params)};
    for (size_t i = 0; i <= sizeof(cases) / sizeof(cases[0]); i++) {
        rope2d_device *device = NULL;
        rope2d_device_info info = {.struct_size = sizeof(info)};
        set_variable("ROPE2D_CPU", i == 0 ? NULL : cases[i - 1].word);
        params.flags = i == 0 ? 0 : cases[i - 1].flags;
        if (rope2d_device_create(&params, &device) == ROPE2D_OK)
            (void)rope2d_device_get_info(device, i == 0 ? &best : &info);
        rope2d_device_destroy(device);
        const char *expected = i > 0 && cases[i - 1].is_portable ? "rope2d, portable C" : best.driver;
        CHECK(i == 0 ? best.driver[0] != 0 : strcmp(info.driver, expected) == 0, "case %d: %s and not %s",
              (int)i, info.driver, expected);
    }
    set_variable("ROPE2D_CPU", NULL);
}

static void check_folder(const rope2d_device *device, const char *expected, const char *what) {
    const char *folder = device != NULL ? device->shader_folder : "no device";
    const bool same = expected == NULL || folder == NULL ? expected == folder : strcmp(expected, folder) == 0;
    const bool compiles = device != NULL && (device->flags & ROPE2D_DEVICE_RUNTIME_COMPILE) != 0;
    expect(same && compiles == (expected != NULL) ? ROPE2D_OK : ROPE2D_STATUS_COUNT, ROPE2D_OK, NULL, what);
}

// Kernels come from the folder of the params, else from that of the environment; an empty one is none.
static void test_shader_folder(void) {
    static const struct {
        const char *environment;
        const char *params;
        const char *expected;
    } cases[] = {{NULL, NULL, NULL}, {"there", NULL, "there"}, {"there", "here", "here"},
                 {"", NULL, NULL},   {NULL, "here", "here"},   {"there", "", NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const rope2d_device_params params = {
            .struct_size = sizeof(params), .host = &host, .shader_folder = cases[i].params};
        rope2d_device *device = NULL;
        set_shaders(cases[i].environment);
        expect(rope2d_device_create(&params, &device), ROPE2D_OK, NULL, "a device with a shader folder");
        check_folder(device, cases[i].expected, "ROPE2D_SHADERS");
        rope2d_device_destroy(device);
    }
    set_shaders(NULL);
}

static rope2d_status adopt_cpu(rope2d_device *device, const void *params) {
    return device->ops->device_create(device, params);
}

// An adopted device has no such field, and hears the environment alone.
static void test_adopted_shader_folder(void) {
    const rope2d_device_params params = {.struct_size = sizeof(params), .host = &host};
    const char *const folders[] = {"there", "", NULL};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        rope2d_device *device = NULL;
        set_shaders(folders[i]);
        expect(rope2d_device_adopt(ROPE2D_BACKEND_CPU, &host, adopt_cpu, &params, &device), ROPE2D_OK, NULL,
               "an adopted device");
        check_folder(device, i == 0 ? folders[i] : NULL, "ROPE2D_SHADERS of an adopted device");
        rope2d_device_destroy(device);
    }
    set_shaders(NULL);
}

static void test_plan(rope2d_device *device) {
    static const float freqs[4] = {1, 1, 1, 1};
    const rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = 8, .axes = 1, .freqs = freqs};
    rope2d_plan_params params = {.struct_size = sizeof(params), .spec = &spec};
    rope2d_plan *plan = NULL;
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    params.in = ROPE2D_ELEMENT_COUNT;
    expect(rope2d_plan_create(device, &params, &plan), ROPE2D_ERROR_ENUM, "params.in is 3",
           "unknown input type");
    params.in = ROPE2D_F16;
    params.out = (rope2d_element)-1;
    expect(rope2d_plan_create(device, &params, &plan), ROPE2D_ERROR_ENUM,
           "params.out is -1; the last known is 2", "unknown output type");
    params.out = ROPE2D_BF16;
    params.table = ROPE2D_TABLE_TEXTURE;
    expect(rope2d_plan_create(device, &params, &plan), ROPE2D_ERROR_UNSUPPORTED, "texture",
           "texture on a CPU");
    params.table = ROPE2D_TABLE_COUNT;
    expect(rope2d_plan_create(device, &params, &plan), ROPE2D_ERROR_ENUM, "params.table is 3",
           "unknown table");
    params.table = ROPE2D_TABLE_AUTO;
    params.flags = 4;
    expect(rope2d_plan_create(device, &params, &plan), ROPE2D_ERROR_ENUM, "params.flags is 0x4",
           "unknown flag");
    params.flags = 0;
    params.spec = NULL;
    expect(rope2d_plan_create(device, &params, &plan), ROPE2D_ERROR_NULL, "params.spec", "NULL spec");
    params.spec = &spec;
    expect(rope2d_plan_create(NULL, &params, &plan), ROPE2D_ERROR_NULL, NULL, "NULL device");
    expect(rope2d_plan_create(device, &params, NULL), ROPE2D_ERROR_NULL, "plan is NULL", "NULL plan");
    expect(rope2d_plan_create(device, NULL, &plan), ROPE2D_ERROR_NULL, "params is NULL", "NULL params");
    rope2d_status status = ROPE2D_ERROR_HOST_MEMORY;
    int failures = 0;
    while (status == ROPE2D_ERROR_HOST_MEMORY && failures < 100) {
        record.failing = ++failures;
        status = rope2d_plan_create(device, &params, &plan);
        record.failing = 0;
    }
    expect(failures > 6 ? status : ROPE2D_STATUS_COUNT, ROPE2D_OK, NULL,
           "every allocation of a plan failed once");
    expect(rope2d_plan_get_info(plan, &info), ROPE2D_OK, NULL, "info");
    expect(info.exactness == ROPE2D_EXACT && info.table == ROPE2D_TABLE_BUFFER && info.in == ROPE2D_F16 &&
                   info.out == ROPE2D_BF16 && strstr(info.kernel, "_f16_bf16") != NULL &&
                   info.tensors_per_dispatch == ROPE2D_MAX_TENSORS
               ? ROPE2D_OK
               : ROPE2D_STATUS_COUNT,
           ROPE2D_OK, NULL, "what the info says");
    expect(rope2d_plan_get_info(plan, NULL), ROPE2D_ERROR_NULL, "info is NULL", "NULL info");
    expect(rope2d_plan_get_info(NULL, &info), ROPE2D_ERROR_NULL, NULL, "info of NULL");
    info.struct_size = 1;
    expect(rope2d_plan_get_info(plan, &info), ROPE2D_ERROR_STRUCT_SIZE, "struct_size is 1",
           "struct_size of info");
    rope2d_plan_destroy(plan);
    rope2d_plan_destroy(NULL);
    params.flags = ROPE2D_PLAN_NO_SELF_TEST;
    info.struct_size = sizeof(info);
    expect(rope2d_plan_create(device, &params, &plan), ROPE2D_OK, NULL, "plan without self-test");
    (void)rope2d_plan_get_info(plan, &info);
    expect(info.exactness == ROPE2D_UNTESTED ? ROPE2D_OK : ROPE2D_STATUS_COUNT, ROPE2D_OK, NULL, "untested");
    rope2d_plan_destroy(plan);
}

int main(void) {
    const rope2d_device_params params = {.struct_size = sizeof(params), .host = &host};
    rope2d_device *device = NULL;
    rope2d_device_info info = {.struct_size = sizeof(info)};
    test_enumerate();
    test_shader_folder();
    test_adopted_shader_folder();
    test_instruction_set();
    test_create();
    expect(rope2d_device_create(&params, &device), ROPE2D_OK, NULL, "create");
    if (device) {
        expect(rope2d_device_get_info(device, &info), ROPE2D_OK, NULL, "info");
        expect(rope2d_device_get_info(device, NULL), ROPE2D_ERROR_NULL, "info is NULL", "NULL info");
        expect(rope2d_device_get_info(NULL, &info), ROPE2D_ERROR_NULL, NULL, "info of NULL");
        info.struct_size = 0;
        expect(rope2d_device_get_info(device, &info), ROPE2D_ERROR_STRUCT_SIZE, "struct_size is 0",
               "struct_size");
        test_plan(device);
    }
    rope2d_device_destroy(device);
    expect(record.bytes == 0 ? ROPE2D_OK : ROPE2D_STATUS_COUNT, ROPE2D_OK, NULL, "everything was released");
    return check_finish();
}

// SPDX-License-Identifier: MIT
// The kernels inside the library are those of the build folder; without memory there are none, and no leak.
#include "check.h"
#include "config.h"
#include "embedded.h"
#include "fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool opens(struct fake_device *fake, const struct rope2d_embedded *list, const char *name,
                  rope2d_kernel_bytes *kernel) {
    return CHECK(rope2d_embedded_create(&fake->device.host, list, name, kernel, NULL) == ROPE2D_OK, "%s: %s",
                 name, fake->line);
}

static void test_memory(const struct rope2d_embedded *list) {
    for (uint64_t fail_at = 1; fail_at <= 2; fail_at++) {
        struct fake_device fake;
        fake_device_init(&fake);
        fake.fail_at = fail_at;
        rope2d_kernel_bytes kernel;
        rope2d_status status = rope2d_embedded_create(&fake.device.host, list, list[1].name, &kernel, NULL);
        rope2d_embedded_destroy(&fake.device.host, &kernel);
        CHECK(status == ROPE2D_ERROR_HOST_MEMORY && fake.live == 0 && fake.faults == 0,
              "%s without memory at request %d", list[1].name, (int)fail_at);
    }
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_kernel_bytes kernel;
    CHECK(rope2d_embedded_create(&fake.device.host, list, "no such", &kernel, NULL) == ROPE2D_ERROR_COMPILE &&
              fake_device_logged(&fake, 0, "no such") && fake.live == 0,
          "a name that is none");
}

#if ROPE2D_HAVE_VULKAN
// Whether the file in the folder of shaders holds the kernel.
static bool is_file(const char *name, const rope2d_kernel_bytes *kernel) {
    char path[1024];
    const char *root = getenv("ROPE2D_BUILD_ROOT");
    (void)snprintf(path, sizeof(path), "%s/shaders/%s.spv", root != NULL ? root : ".", name);
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(kernel->size + 1);
    bool is_same = file != NULL && bytes != NULL && fread(bytes, 1, kernel->size + 1, file) == kernel->size &&
                   memcmp(bytes, kernel->data, kernel->size) == 0;
    free(bytes);
    if (file != NULL)
        (void)fclose(file);
    return is_same;
}

static void test_spirv(void) {
    for (const struct rope2d_embedded *entry = rope2d_embedded_spirv; entry->name != NULL; entry++) {
        struct fake_device fake;
        fake_device_init(&fake);
        rope2d_kernel_bytes kernel;
        if (opens(&fake, rope2d_embedded_spirv, entry->name, &kernel))
            CHECK(is_file(entry->name, &kernel), "%s is the file", entry->name);
        rope2d_embedded_destroy(&fake.device.host, &kernel);
        CHECK(fake.live == 0 && fake.faults == 0, "%s releases its memory", entry->name);
    }
    test_memory(rope2d_embedded_spirv);
}
#endif

#if ROPE2D_HAVE_OPENCL
static bool has_only_licences(const char *text) {
    bool is_good = strstr(text, "// SPDX-License-Identifier: MIT\n") != NULL && strstr(text, "/*") == NULL;
    for (const char *at = strstr(text, "//"); at != NULL; at = strstr(at + 2, "//"))
        is_good = is_good && strncmp(at, "// SPDX-", 8) == 0;
    return is_good;
}

static void test_opencl(void) {
    static const char *const holds[][2] = {{"rope2d.cl", "kernel void rope2d("},
                                           {"rope2d_cl.h", "rope2d_widen("}};
    for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++) {
        const char *name = holds[i][0];
        struct fake_device fake;
        fake_device_init(&fake);
        rope2d_kernel_bytes kernel;
        if (opens(&fake, rope2d_embedded_opencl, name, &kernel)) {
            CHECK(strlen(kernel.data) == kernel.size, "%s ends where it says", name);
            CHECK(strstr(kernel.data, holds[i][1]) != NULL && strstr(kernel.data, "r_turn_lo(") != NULL,
                  "%s holds its own text and what it includes", name);
            CHECK(has_only_licences(kernel.data), "%s: of comments only licence lines are left", name);
        }
        rope2d_embedded_destroy(&fake.device.host, &kernel);
        CHECK(fake.live == 0 && fake.faults == 0, "%s releases its memory", name);
    }
    test_memory(rope2d_embedded_opencl);
}
#endif

int main(void) {
#if ROPE2D_HAVE_VULKAN
    test_spirv();
#endif
#if ROPE2D_HAVE_OPENCL
    test_opencl();
#endif
    return check_finish();
}

// SPDX-License-Identifier: MIT
//
// chosen_kernels vulkan|opencl SHIM [minimum]: what plans of the bench's towers have a GPU's driver compile,
// of every type, pairing and kind of table. A line for each kernel: whether it takes vectors and its
// constants in Vulkan, or its options in OpenCL. The driver is a software device's, whose shim says that it
// is a GPU; nothing runs. Minimum: of a device at its API's minimum limits.
#include "../tools/cli/bench_cases.h"
#include "as_gpu.h"
#include "compile_count.h"
#include "jobs.h"
#include "opencl_shim.h"
#include "vulkan_shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PLANS = 512, NONE = 77 };

static opencl_shim_options_fn *options_of;
static rope2d_plan *plans[MOST_PLANS];
static size_t plan_count;

static bool find(void *library, const char *name, void *function, size_t size) {
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(function, &found, size);
    return found != NULL;
}

static bool open_shim(rope2d_backend backend, const char *path) {
    if (!as_gpu(backend, path))
        return false;
    struct shim *vulkan = compile_count_vulkan();
    if (vulkan) {
        vulkan->is_hollow = true;
        return true;
    }
    if (!find(dlopen(path, RTLD_NOW | RTLD_LOCAL), "opencl_shim_options", &options_of, sizeof(options_of)))
        return false;
    (void)options_of(0);
    return true;
}

// The single kernel is compiled before the vectors' one.
static void print_chosen(long kernels, const char *of) {
    const struct shim *vulkan = compile_count_vulkan();
    for (int before = (int)kernels - 1; before >= 0; before--) {
        if (vulkan) {
            const uint32_t *c = vulkan->constants[(vulkan->pipelines + 1 - (uint64_t)before) % 2];
            printf("%d %u %u %u %u\t%s\n", kernels == 2 && before == 0, c[0], c[1], c[2], c[3], of);
        } else {
            printf("%s\t%s\n", options_of(before), of);
        }
    }
}

static bool choose(rope2d_device *device, const struct bench_tower *tower, rope2d_pairing pairing,
                   rope2d_plan_params params) {
    struct bench_spec spec;
    char of[64];
    bench_spec_fill(tower, pairing, &spec);
    params.spec = &spec.spec;
    if (plan_count == MOST_PLANS)
        return false;
    const long before = compile_count();
    const rope2d_status status = rope2d_plan_create(device, &params, &plans[plan_count++]);
    snprintf(of, sizeof(of), "%s, %s", tower->name, pairing == ROPE2D_PAIRING_HALF ? "half" : "interleaved");
    if (status != ROPE2D_OK)
        fprintf(stderr, "%s: %s\n", of, rope2d_status_name(status));
    else
        print_chosen(compile_count() - before, of);
    return status == ROPE2D_OK;
}

static bool choose_all(rope2d_device *device, bool has_textures) {
    static const rope2d_pairing pairings[] = {ROPE2D_PAIRING_HALF, ROPE2D_PAIRING_INTERLEAVED};
    rope2d_plan_params params = {.struct_size = sizeof(params), .flags = ROPE2D_PLAN_NO_SELF_TEST};
    bool is_good = true;
    for (size_t tower = 0; bench_tower_names[tower]; tower++)
        for (int pairing = 0; pairing < 2; pairing++)
            for (int types = 0; types < ROPE2D_ELEMENT_COUNT * ROPE2D_ELEMENT_COUNT; types++)
                for (int texture = 0; texture <= has_textures; texture++) {
                    params.in = (rope2d_element)(types / ROPE2D_ELEMENT_COUNT);
                    params.out = (rope2d_element)(types % ROPE2D_ELEMENT_COUNT);
                    params.table = texture ? ROPE2D_TABLE_TEXTURE : ROPE2D_TABLE_BUFFER;
                    is_good = choose(device, &bench_towers[tower], pairings[pairing], params) && is_good;
                }
    return is_good;
}

int main(int argc, char **argv) {
    static captured_log log;
    const bool is_vulkan = argc > 2 && strcmp(argv[1], "vulkan") == 0;
    const rope2d_backend backend = is_vulkan ? ROPE2D_BACKEND_VULKAN : ROPE2D_BACKEND_OPENCL;
    if (argc < 3 || argc > 4 || !open_shim(backend, argv[2]))
        return 2;
    const rope2d_host host = captured_host(&log);
    const rope2d_device_params params = {.struct_size = sizeof(params),
                                         .backend = backend,
                                         .flags = argc == 4 ? ROPE2D_DEVICE_MINIMUM_LIMITS : 0,
                                         .host = &host};
    rope2d_device *device = NULL;
    if (rope2d_device_create(&params, &device) != ROPE2D_OK) {
        fprintf(stderr, "no device: %s\n", log.text);
        return NONE;
    }
    rope2d_device_info info = {.struct_size = sizeof(info)};
    const bool is_good = rope2d_device_get_info(device, &info) == ROPE2D_OK && !info.is_software &&
                         choose_all(device, info.has_textures);
    while (plan_count > 0)
        rope2d_plan_destroy(plans[--plan_count]);
    rope2d_device_destroy(device);
    return is_good ? 0 : 1;
}

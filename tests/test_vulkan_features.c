// SPDX-License-Identifier: MIT
//
// Features that a device's owner enables and names: what they change, and that bits stay.
#include "vulkan_watch.h"

#include <string.h>

static bool is_native(const rope2d_plan *plan) {
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    expect(rope2d_plan_get_info(plan, &info), ROPE2D_OK, "plan info");
    return strstr(info.kernel, "_native") != NULL;
}

static uint32_t has_int64; // shaderInt64 is enabled, and said to be

// Whether a plan of f16 is the device's own conversions; and what is recorded while it is there.
static bool converts(const owner *own, const rope2d_host *host, uint32_t has_float16, bool with_queue,
                     uint32_t flags, uint32_t plan_flags) {
    const layout l = {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, true, 64, HEAD_DIM, 0, TOKENS};
    rope2d_vulkan_device_params params = scene_adopting(own, host, with_queue);
    scene made = {0};
    bool native = false;
    params.flags = flags;
    params.has_shader_float16 = has_float16;
    params.has_shader_int64 = has_int64;
    are_apart = (flags & ROPE2D_DEVICE_MINIMUM_LIMITS) != 0;
    expect(rope2d_vulkan_device_adopt(&params, &made.device), ROPE2D_OK, "adopt");
    if (made.device != NULL && make_scene(&made, l.in, l.out, l.table, plan_flags) == ROPE2D_OK) {
        native = is_native(made.plan);
        scene_rotate(own, made.device, &l);
    }
    clear_scene(&made);
    rope2d_device_destroy(made.device);
    return native;
}

// Of the same device, where the library made it.
static bool converts_alone(uint32_t index) {
    const rope2d_device_params params = {
        .struct_size = sizeof(params), .backend = ROPE2D_BACKEND_VULKAN, .index = index};
    scene made = {0};
    bool native = false;
    expect(rope2d_device_create(&params, &made.device), ROPE2D_OK, "device");
    if (made.device != NULL && make_plan(&made, ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, 0) == ROPE2D_OK)
        native = is_native(made.plan);
    clear_scene(&made);
    rope2d_device_destroy(made.device);
    return native;
}

// ---------------------------------------------------------------------------------------------------
// shaderFloat16

static void check_float16(owner *own, uint32_t index, const rope2d_host *host) {
    static const char *const name = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME;
    VkPhysicalDeviceShaderFloat16Int8FeaturesKHR float16 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES_KHR};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &float16};
    if (owner_has_extension(own, index, name))
        vkGetPhysicalDeviceFeatures2(own->physical, &features);
    if (!float16.shaderFloat16) {
        counts.skipped++;
        return;
    }
    split_axes();
    float16.shaderInt8 = VK_FALSE;
    const VkPhysicalDeviceFeatures2 enabled = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                               .pNext = &float16,
                                               .features = {.shaderInt64 = features.features.shaderInt64}};
    owner_close(own);
    own->extensions = &name;
    own->extension_count = 1;
    own->features = &enabled;
    if (tally_check(&counts, owner_open(own, index), "a device with shaderFloat16")) {
        const bool alone = converts_alone(index);
        tally_check(&counts, converts(own, host, 1, true, 0, 0) == alone, "shaderFloat16 changes nothing");
        has_int64 = enabled.features.shaderInt64;
        tally_check(&counts, converts(own, host, 1, true, 0, 0) == alone,
                    "shaderInt64 changes shaderFloat16");
        tally_check(&counts, !converts(own, host, 0, true, 0, 0), "shaderFloat16 that nobody enabled");
        tally_check(&counts, !converts(own, host, 1, false, 0, 0), "unproven, without a queue");
        tally_check(&counts, !converts(own, host, 1, true, 0, ROPE2D_PLAN_NO_SELF_TEST), "unproven");
        tally_check(&counts, !converts(own, host, 1, true, ROPE2D_DEVICE_MINIMUM_LIMITS, 0),
                    "minimum limits");
    }
    has_int64 = 0;
    own->extension_count = 0;
    own->features = NULL;
    fill_spec();
}

// ---------------------------------------------------------------------------------------------------
// pipelineRobustness

// On a device that checks every access, said and not said to have the feature.
static void check_robustness(owner *own, uint32_t index, const rope2d_host *host) {
    static const char *const name = VK_EXT_PIPELINE_ROBUSTNESS_EXTENSION_NAME;
    static const rope2d_element types[] = {ROPE2D_F32, ROPE2D_F16, ROPE2D_BF16};
    VkPhysicalDevicePipelineRobustnessFeaturesEXT robustness = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &robustness};
    if (owner_has_extension(own, index, name))
        vkGetPhysicalDeviceFeatures2(own->physical, &features);
    if (!robustness.pipelineRobustness) {
        counts.skipped++;
        return;
    }
    const VkPhysicalDeviceFeatures2 enabled = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &robustness,
        .features = {.robustBufferAccess = features.features.robustBufferAccess}};
    owner_close(own);
    own->extensions = &name;
    own->extension_count = 1;
    own->features = &enabled;
    split_axes();
    if (tally_check(&counts, owner_open(own, index), "a device with pipelineRobustness")) {
        for (uint32_t i = 0; i < 2 * sizeof(types) / sizeof(types[0]); i++) {
            const layout l = {types[i / 2], types[i / 2], ROPE2D_TABLE_BUFFER, true, 64, HEAD_DIM, 0, TOKENS};
            rope2d_vulkan_device_params params = scene_adopting(own, host, true);
            rope2d_device *device = NULL;
            params.has_pipeline_robustness = i % 2;
            expect(rope2d_vulkan_device_adopt(&params, &device), ROPE2D_OK, "adopt");
            if (device != NULL)
                scene_rotate(own, device, &l);
            rope2d_device_destroy(device);
        }
    }
    own->extension_count = 0;
    own->features = NULL;
    fill_spec();
}

static void check_device(owner *own, uint32_t index) {
    const rope2d_host host = watch_host();
    check_float16(own, index, &host);
    check_robustness(own, index, &host);
}

int main(void) {
    return scene_run(NULL, check_device);
}

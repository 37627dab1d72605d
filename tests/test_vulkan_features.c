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

// Asks for a feature of an extension, where the device has it.
static void ask(const owner *own, uint32_t index, const char *name, VkPhysicalDeviceFeatures2 *features) {
    if (owner_has_extension(own, index, name))
        vkGetPhysicalDeviceFeatures2(own->physical, features);
}

// The owner's device anew, with an extension and features, and a pattern that makes vector units.
static bool reopen(owner *own, uint32_t index, const char *const *name,
                   const VkPhysicalDeviceFeatures2 *enabled) {
    owner_close(own);
    own->extensions = name;
    own->extension_count = 1;
    own->features = enabled;
    split_axes();
    return tally_check(&counts, owner_open(own, index), "a device with %s", *name);
}

static void forget(owner *own) {
    own->extension_count = 0;
    own->features = NULL;
    fill_spec();
}

// ---------------------------------------------------------------------------------------------------
// shaderFloat16

static void check_float16(owner *own, uint32_t index, const rope2d_host *host) {
    static const char *const name = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME;
    VkPhysicalDeviceShaderFloat16Int8FeaturesKHR float16 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES_KHR};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &float16};
    ask(own, index, name, &features);
    if (!float16.shaderFloat16) {
        counts.skipped++;
        return;
    }
    float16.shaderInt8 = VK_FALSE;
    const VkPhysicalDeviceFeatures2 enabled = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                               .pNext = &float16,
                                               .features = {.shaderInt64 = features.features.shaderInt64}};
    if (reopen(own, index, &name, &enabled)) {
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
    forget(own);
}

// ---------------------------------------------------------------------------------------------------
// pipelineRobustness

static uint32_t unchecked; // pipelines that were asked for without bounds checks
static uint32_t pipelines; // all

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *allocation,
                                                       VkPipeline *made) {
    const VkPipelineRobustnessCreateInfoEXT *asked = infos->pNext;
    pipelines += count;
    unchecked += asked != NULL && asked->sType == VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT &&
                 asked->storageBuffers == VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT;
    return vkCreateComputePipelines(device, cache, count, infos, allocation, made);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char *name) {
    if (strcmp(name, "vkCreateComputePipelines") == 0)
        return (PFN_vkVoidFunction)create_pipelines;
    return vkGetDeviceProcAddr(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_address(VkInstance instance, const char *name) {
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)device_address;
    return vkGetInstanceProcAddr(instance, name);
}

// Rotates one type, with a device that is said to have the feature, or not.
static void rotate_unchecked(const owner *own, const rope2d_host *host, rope2d_element type, bool has,
                             uint32_t flags) {
    const layout l = {type, type, ROPE2D_TABLE_BUFFER, true, 64, HEAD_DIM, 0, TOKENS};
    const bool expected = has && (flags & ROPE2D_DEVICE_MINIMUM_LIMITS) == 0;
    rope2d_vulkan_device_params params = scene_adopting(own, host, true);
    rope2d_device *device = NULL;
    params.get_instance_proc_addr = instance_address;
    params.has_pipeline_robustness = has;
    params.flags = flags;
    are_apart = flags != 0;
    unchecked = 0;
    pipelines = 0;
    expect(rope2d_vulkan_device_adopt(&params, &device), ROPE2D_OK, "adopt");
    if (device != NULL)
        scene_rotate(own, device, &l);
    rope2d_device_destroy(device);
    tally_check(&counts, pipelines > 0 && unchecked == (expected ? pipelines : 0),
                "%u of %u pipelines are unchecked", (unsigned)unchecked, (unsigned)pipelines);
}

// On a device that checks every access.
static void check_robustness(owner *own, uint32_t index, const rope2d_host *host) {
    static const char *const name = VK_EXT_PIPELINE_ROBUSTNESS_EXTENSION_NAME;
    static const rope2d_element types[] = {ROPE2D_F32, ROPE2D_F16, ROPE2D_BF16};
    VkPhysicalDevicePipelineRobustnessFeaturesEXT robustness = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &robustness};
    ask(own, index, name, &features);
    if (!robustness.pipelineRobustness) {
        counts.skipped++;
        return;
    }
    const VkPhysicalDeviceFeatures2 enabled = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &robustness,
        .features = {.robustBufferAccess = features.features.robustBufferAccess}};
    if (reopen(own, index, &name, &enabled)) {
        for (uint32_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
            rotate_unchecked(own, host, types[i], false, 0);
            rotate_unchecked(own, host, types[i], true, 0);
        }
        rotate_unchecked(own, host, ROPE2D_F32, true, ROPE2D_DEVICE_MINIMUM_LIMITS);
        are_apart = false;
    }
    forget(own);
}

static void check_device(owner *own, uint32_t index) {
    const rope2d_host host = watch_host();
    check_float16(own, index, &host);
    check_robustness(own, index, &host);
}

int main(void) {
    return scene_run(NULL, check_device);
}

// SPDX-License-Identifier: MIT
#include "facts.h"

#include "config.h"

#if ROPE2D_HAVE_VULKAN
#include <stdio.h>

#include "vulkan/device.h"

static const char *independence_name(VkShaderFloatControlsIndependence independence) {
    switch (independence) {
    case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY:
        return "32 bit only";
    case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL:
        return "all";
    default:
        return "none";
    }
}

static void add_float_controls(cJSON *facts, const VkPhysicalDeviceFloatControlsProperties *controls) {
    const struct {
        const char *key;
        VkBool32 value;
    } flags[] = {
        {"signed_zero_inf_nan_preserve_f32", controls->shaderSignedZeroInfNanPreserveFloat32},
        {"denorm_preserve_f32", controls->shaderDenormPreserveFloat32},
        {"denorm_flush_to_zero_f32", controls->shaderDenormFlushToZeroFloat32},
        {"rounding_mode_rte_f32", controls->shaderRoundingModeRTEFloat32},
        {"rounding_mode_rtz_f32", controls->shaderRoundingModeRTZFloat32},
        {"signed_zero_inf_nan_preserve_f16", controls->shaderSignedZeroInfNanPreserveFloat16},
        {"denorm_preserve_f16", controls->shaderDenormPreserveFloat16},
        {"rounding_mode_rte_f16", controls->shaderRoundingModeRTEFloat16},
    };
    cJSON *object = cJSON_AddObjectToObject(facts, "float_controls");
    cJSON_AddStringToObject(object, "denorm_behavior_independence",
                            independence_name(controls->denormBehaviorIndependence));
    cJSON_AddStringToObject(object, "rounding_mode_independence",
                            independence_name(controls->roundingModeIndependence));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i)
        cJSON_AddBoolToObject(object, flags[i].key, flags[i].value != VK_FALSE);
}

static void add_version(cJSON *facts, const char *key, uint32_t version) {
    char text[64];
    snprintf(text, sizeof text, "%u.%u.%u (0x%08x)", VK_API_VERSION_MAJOR(version),
             VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version), version);
    cJSON_AddStringToObject(facts, key, text);
}

static void add_format(cJSON *facts, const struct vulkan_device *vulkan) {
    VkFormatProperties format = {0};
    char text[32];
    vulkan->instance.vkGetPhysicalDeviceFormatProperties(vulkan->physical, VK_FORMAT_R32G32B32A32_SFLOAT,
                                                         &format);
    snprintf(text, sizeof text, "0x%x", format.optimalTilingFeatures);
    cJSON_AddStringToObject(facts, "r32g32b32a32_sfloat_features", text);
}

void facts_add_vulkan(cJSON *facts, const rope2d_device *device) {
    const struct vulkan_device *vulkan = rope2d_vulkan_of(device);
    VkPhysicalDeviceProperties properties = {0};
    vulkan->instance.vkGetPhysicalDeviceProperties(vulkan->physical, &properties);
    add_version(facts, "api_version", properties.apiVersion);
    add_version(facts, "driver_version", properties.driverVersion);
    add_format(facts, vulkan);
    cJSON_AddStringToObject(facts, "float_modes_enabled",
                            "none: core Vulkan 1.0, NoContraction on every product and sum");
    if (!vulkan->instance.vkGetPhysicalDeviceProperties2 || properties.apiVersion < VK_API_VERSION_1_2)
        return;
    VkPhysicalDeviceFloatControlsProperties controls = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
                                               .pNext = &controls};
    VkPhysicalDeviceProperties2 properties2 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                               .pNext = &driver};
    char text[64];
    vulkan->instance.vkGetPhysicalDeviceProperties2(vulkan->physical, &properties2);
    cJSON_AddNumberToObject(facts, "driver_id", driver.driverID);
    cJSON_AddStringToObject(facts, "driver_name", driver.driverName);
    cJSON_AddStringToObject(facts, "driver_info", driver.driverInfo);
    snprintf(text, sizeof text, "%u.%u.%u.%u", driver.conformanceVersion.major,
             driver.conformanceVersion.minor, driver.conformanceVersion.subminor,
             driver.conformanceVersion.patch);
    cJSON_AddStringToObject(facts, "conformance_version", text);
    add_float_controls(facts, &controls);
}
#else
void facts_add_vulkan(cJSON *facts, const rope2d_device *device) {
    (void)facts;
    (void)device;
}
#endif

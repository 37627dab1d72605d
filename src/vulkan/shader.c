// SPDX-License-Identifier: MIT
#include "shader.h"

#include "../embedded.h"
#include "compile.h"
#include "fold.h"

#include <string.h>

static bool compiles_now(const rope2d_device *owner) {
    return (owner->flags & ROPE2D_DEVICE_RUNTIME_COMPILE) != 0;
}

static rope2d_status create_module(struct vulkan_device *device, const void *words, size_t bytes,
                                   VkShaderModule *module) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = bytes,
        .pCode = words,
    };
    VK_CREATE(*module, device->vk, vkCreateShaderModule, device->handle, &info, device->allocation, module);
    return ROPE2D_OK;

fail:
    return status;
}

static rope2d_status unpack(struct vulkan_device *device) {
    rope2d_kernel_bytes *kernels = device->kernels;
    if (kernels[0].data != NULL)
        return ROPE2D_OK;
    const rope2d_status status = rope2d_embedded_create(&device->owner->host, rope2d_embedded_spirv,
                                                        "rope2d_vector", &kernels[1], &kernels[0]);
    if (status != ROPE2D_OK)
        rope2d_vulkan_shaders_destroy(device);
    return status;
}

static rope2d_digest key_of(const struct vulkan_variant *variant) {
    rope2d_digest key = {{0}};
    memcpy(key.bytes, variant, sizeof(*variant)); // all of it words
    return key;
}

// Adds the module in front.
static rope2d_status make(struct vulkan_device *device, const struct vulkan_variant *variant,
                          const rope2d_digest *key) {
    const rope2d_device *owner = device->owner;
    uint32_t *compiled = NULL, *folded = NULL;
    uint64_t bytes = 0, folded_bytes = 0;
    const bool compiles = compiles_now(owner);
    rope2d_status status = compiles ? rope2d_vulkan_compile(&owner->host, owner->shader_folder,
                                                            variant->is_vector != 0, &compiled, &bytes)
                                    : unpack(device);
    ROPE2D_TRY(status);
    const uint32_t *words = compiled;
    if (!compiles) {
        words = device->kernels[variant->is_vector].data;
        bytes = device->kernels[variant->is_vector].size;
    }
    const uint64_t count = bytes / sizeof(*words);
    status = rope2d_vulkan_fold(&owner->host, words, count, variant->values, VULKAN_VARIANT_VALUES, &folded,
                                &folded_bytes);
    if (status == ROPE2D_OK) {
        status = rope2d_record_add(&owner->host, &device->modules, key, folded, folded_bytes);
        rope2d_release(&owner->host, folded, count, sizeof(*folded));
    }
    rope2d_release(&owner->host, compiled, bytes, 1);
    return status;
}

void rope2d_vulkan_shaders_destroy(struct vulkan_device *device) {
    const rope2d_host *host = &device->owner->host;
    for (int i = 0; i < 2; i++)
        rope2d_embedded_destroy(host, &device->kernels[i]);
    while (device->modules != NULL)
        rope2d_record_remove(host, &device->modules, device->modules);
}

rope2d_status rope2d_vulkan_shader_create(struct vulkan_device *device, const struct vulkan_variant *variant,
                                          VkShaderModule *module) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_digest key = key_of(variant);
    *module = VK_NULL_HANDLE;
    rope2d_lock_take(&device->kernel_lock);
    rope2d_record *kept = rope2d_record_find(device->modules, &key);
    if (kept == NULL) {
        status = make(device, variant, &key);
        kept = status == ROPE2D_OK ? device->modules : NULL;
    }
    if (kept != NULL)
        status = create_module(device, kept->bytes, (size_t)kept->size, module);
    if (kept != NULL && compiles_now(device->owner)) // whose sources may change
        rope2d_record_remove(&device->owner->host, &device->modules, kept);
    rope2d_lock_give(&device->kernel_lock);
    return status;
}

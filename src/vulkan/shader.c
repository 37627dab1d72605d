// SPDX-License-Identifier: MIT
#include "shader.h"

#include "../embedded.h"
#include "compile.h"
#include "fold.h"

static rope2d_status create_module(struct vulkan_device *device, const void *words, uint64_t bytes,
                                   VkShaderModule *module) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = (size_t)bytes,
        .pCode = words,
    };
    VK_CREATE(*module, device->vk, vkCreateShaderModule, device->handle, &info, device->allocation, module);
    return ROPE2D_OK;

fail:
    return status;
}

static rope2d_status create_folded(struct vulkan_device *device, const struct vulkan_variant *variant,
                                   const uint32_t *words, uint64_t bytes, VkShaderModule *module) {
    const rope2d_host *host = &device->owner->host;
    const uint64_t count = bytes / sizeof(*words);
    uint32_t *folded = NULL;
    uint64_t folded_bytes = 0;
    ROPE2D_TRY(rope2d_vulkan_fold(host, words, count, variant->values, VULKAN_VARIANT_VALUES, &folded,
                                  &folded_bytes));
    const rope2d_status status = create_module(device, folded, folded_bytes, module);
    rope2d_release(host, folded, count, sizeof(*folded));
    return status;
}

static rope2d_status create_embedded(struct vulkan_device *device, const struct vulkan_variant *variant,
                                     VkShaderModule *module) {
    rope2d_kernel_bytes *kernels = device->kernels;
    rope2d_status status = ROPE2D_OK;
    rope2d_lock_take(&device->kernel_lock);
    if (kernels[0].data == NULL)
        status = rope2d_embedded_create(&device->owner->host, rope2d_embedded_spirv, "rope2d_vector",
                                        &kernels[1], &kernels[0]);
    if (status != ROPE2D_OK)
        rope2d_vulkan_shaders_destroy(device);
    rope2d_lock_give(&device->kernel_lock);
    ROPE2D_TRY(status);
    const rope2d_kernel_bytes *kernel = &kernels[variant->is_vector];
    return create_folded(device, variant, kernel->data, kernel->size, module);
}

void rope2d_vulkan_shaders_destroy(struct vulkan_device *device) {
    for (int i = 0; i < 2; i++)
        rope2d_embedded_destroy(&device->owner->host, &device->kernels[i]);
}

rope2d_status rope2d_vulkan_shader_create(struct vulkan_device *device, const struct vulkan_variant *variant,
                                          VkShaderModule *module) {
    const rope2d_device *owner = device->owner;
    *module = VK_NULL_HANDLE;
    if (!(owner->flags & ROPE2D_DEVICE_RUNTIME_COMPILE))
        return create_embedded(device, variant, module);
    uint32_t *words = NULL;
    uint64_t bytes = 0;
    rope2d_status status =
        rope2d_vulkan_compile(&owner->host, owner->shader_folder, variant->is_vector, &words, &bytes);
    if (status == ROPE2D_OK)
        status = create_folded(device, variant, words, bytes, module);
    rope2d_release(&owner->host, words, bytes, 1);
    return status;
}

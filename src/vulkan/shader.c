// SPDX-License-Identifier: MIT
#include "shader.h"

#include "../embedded.h"
#include "compile.h"

const char *rope2d_vulkan_shader_name(uint32_t is_texture, uint32_t slots) {
    static const char *const names[2][3] = {
        {"rope2d_buffer_1", "rope2d_buffer_2", "rope2d_buffer_4"},
        {"rope2d_texture_1", "rope2d_texture_2", "rope2d_texture_4"},
    };
    return names[is_texture][slots / 2];
}

static rope2d_status create_module(struct vulkan_device *device, const void *words, uint64_t bytes,
                                   VkShaderModule *module) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = (size_t)bytes,
        .pCode = words,
    };
    VK_CREATE(device->vk.vkCreateShaderModule(device->handle, &info, device->allocation, module), *module);
    return ROPE2D_OK;

fail:
    return status;
}

static rope2d_status create_embedded(struct vulkan_device *device, const char *name, VkShaderModule *module) {
    const rope2d_host *host = &device->owner->host;
    rope2d_kernel_bytes kernel;
    rope2d_status status = rope2d_embedded_create(host, rope2d_embedded_spirv, name, &kernel);
    if (status == ROPE2D_OK)
        status = create_module(device, kernel.data, kernel.size, module);
    rope2d_embedded_destroy(host, &kernel);
    return status;
}

rope2d_status rope2d_vulkan_shader_create(struct vulkan_device *device, uint32_t is_texture, uint32_t slots,
                                          VkShaderModule *module) {
    const rope2d_device *owner = device->owner;
    *module = VK_NULL_HANDLE;
    if (!(owner->flags & ROPE2D_DEVICE_RUNTIME_COMPILE))
        return create_embedded(device, rope2d_vulkan_shader_name(is_texture, slots), module);
    uint32_t *words = NULL;
    uint64_t bytes = 0;
    rope2d_status status =
        rope2d_vulkan_compile(&owner->host, owner->shader_folder, is_texture, slots, &words, &bytes);
    if (status == ROPE2D_OK)
        status = create_module(device, words, bytes, module);
    rope2d_release(&owner->host, words, bytes, 1);
    return status;
}

// SPDX-License-Identifier: MIT
#include "shader.h"

#include "../embedded.h"
#include "compile.h"
#include "fold.h"
#include "fold_state.h"

#include <string.h>

// A key of words; of zeros none is, since a group is not empty.
_Static_assert(sizeof(struct vulkan_variant) <= ROPE2D_DIGEST_BYTES, "a variant is a key");

static bool compiles_now(const rope2d_device *owner) {
    return (owner->flags & ROPE2D_DEVICE_RUNTIME_COMPILE) != 0;
}

static rope2d_status create_module(struct vulkan_device *device, const rope2d_record *record,
                                   VkShaderModule *module) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = (size_t)record->size,
        .pCode = (const void *)record->bytes,
    };
    VK_CREATE(*module, device->vk, vkCreateShaderModule, device->handle, &info, device->allocation, module);
    return ROPE2D_OK;

fail:
    return status;
}

static void kernels_destroy(struct vulkan_device *device) {
    for (int i = 0; i < 2; i++)
        rope2d_embedded_destroy(&device->owner->host, &device->kernels[i]);
}

static rope2d_status unpack(struct vulkan_device *device) {
    rope2d_kernel_bytes *kernels = device->kernels;
    if (kernels[0].data != NULL)
        return ROPE2D_OK;
    const rope2d_status status = rope2d_embedded_create(&device->owner->host, rope2d_embedded_spirv,
                                                        "rope2d_vector", &kernels[1], &kernels[0]);
    if (status != ROPE2D_OK)
        kernels_destroy(device);
    return status;
}

static rope2d_digest key_of(const struct vulkan_variant *variant) {
    rope2d_digest key = {{0}};
    memcpy(key.bytes, variant, sizeof(*variant)); // all of it words
    return key;
}

// Puts the module in front of the list.
static rope2d_status make(struct vulkan_device *device, const struct vulkan_variant *variant,
                          rope2d_record **list) {
    const rope2d_device *owner = device->owner;
    uint32_t *compiled = NULL, *folded = NULL;
    uint64_t bytes = 0, folded_bytes = 0;
    const rope2d_digest key = key_of(variant);
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
        status = rope2d_record_add(&owner->host, list, &key, folded, folded_bytes);
        rope2d_release(&owner->host, folded, count, sizeof(*folded));
    }
    rope2d_release(&owner->host, compiled, bytes, 1);
    return status;
}

void rope2d_vulkan_shaders_destroy(struct vulkan_device *device) {
    kernels_destroy(device);
    while (device->modules != NULL)
        rope2d_record_remove(&device->owner->host, &device->modules, device->modules);
}

static bool is_module(const rope2d_record *record) {
    return record->size >= SPIRV_HEADER_WORDS * sizeof(uint32_t) && record->size % sizeof(uint32_t) == 0 &&
           *(const uint32_t *)(const void *)record->bytes == SPIRV_MAGIC;
}

static rope2d_status create_embedded(struct vulkan_device *device, const struct vulkan_variant *variant,
                                     VkShaderModule *module) {
    const rope2d_digest key = key_of(variant);
    rope2d_record *found = rope2d_record_find(device->modules, &key);
    if (found != NULL) {
        if (is_module(found) && create_module(device, found, module) == ROPE2D_OK)
            return ROPE2D_OK;
        found->is_bad = true; // a cache's: or every start would meet it again
    }
    ROPE2D_TRY(make(device, variant, &device->modules));
    return create_module(device, device->modules, module);
}

// What is compiled now is not kept: its sources may change.
static rope2d_status create_compiled(struct vulkan_device *device, const struct vulkan_variant *variant,
                                     VkShaderModule *module) {
    rope2d_record *made = NULL;
    ROPE2D_TRY(make(device, variant, &made));
    const rope2d_status status = create_module(device, made, module);
    rope2d_record_remove(&device->owner->host, &made, made);
    return status;
}

rope2d_status rope2d_vulkan_shader_create(struct vulkan_device *device, const struct vulkan_variant *variant,
                                          VkShaderModule *module) {
    *module = VK_NULL_HANDLE;
    if (compiles_now(device->owner))
        return create_compiled(device, variant, module);
    rope2d_lock_take(&device->kernel_lock);
    const rope2d_status status = create_embedded(device, variant, module);
    rope2d_lock_give(&device->kernel_lock);
    return status;
}

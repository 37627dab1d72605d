// SPDX-License-Identifier: MIT
#include "pipeline.h"

#include "shader.h"
#include "upload.h"

#include "../cpu/isa.h"
#include "../stage.h"

#include <stdio.h>
#include <string.h>

#define UNITS_BYTES   (ROPE2D_MAX_HEAD_DIM * sizeof(uint32_t))
#define MOST_SLOTS    2
#define MOST_BINDINGS (4 + 2 * MOST_SLOTS)
#define SMALL_GROUP   32 // SwiftShader's vectors are of four

// Rows, a table that is a buffer, and an input and an output for each slot are storage buffers. Two slots
// take q and k; a kernel with more is slower on software devices, which run what other slots need in vain.
static uint32_t count_slots(uint32_t storage_buffers, uint32_t is_texture) {
    const uint32_t fixed = is_texture ? 1 : 2;
    return fixed + 2 * MOST_SLOTS <= storage_buffers ? MOST_SLOTS : 1;
}

static VkDescriptorType binding_type(uint32_t binding, uint32_t is_texture) {
    if (binding < 2)
        return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    if (binding == 3 && is_texture)
        return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

rope2d_status rope2d_vulkan_layout_create(struct vulkan_device *device, uint32_t is_texture) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    struct vulkan_layout *layout = &device->layouts[is_texture];
    VkDescriptorSetLayoutBinding bindings[MOST_BINDINGS];
    layout->slots = count_slots(device->owner->info.max_storage_buffers, is_texture);
    uint32_t count = 4 + 2 * layout->slots;
    for (uint32_t i = 0; i < count; i++) {
        VkDescriptorSetLayoutBinding binding = {
            .binding = i,
            .descriptorType = binding_type(i, is_texture),
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
        bindings[i] = binding;
    }
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = device->pushes ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR : 0,
        .bindingCount = count,
        .pBindings = bindings,
    };
    VK_CREATE(layout->set, device->vk, vkCreateDescriptorSetLayout, device->handle, &set, device->allocation,
              &layout->set);
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, R_RANGE_WORDS * sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &layout->set,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VK_CREATE(layout->pipeline, device->vk, vkCreatePipelineLayout, device->handle, &pipeline,
              device->allocation, &layout->pipeline);
    return ROPE2D_OK;

fail:
    return status;
}

void rope2d_vulkan_layout_destroy(struct vulkan_device *device, uint32_t is_texture) {
    struct vulkan_layout *layout = &device->layouts[is_texture];
    if (layout->pipeline != VK_NULL_HANDLE)
        device->vk.vkDestroyPipelineLayout(device->handle, layout->pipeline, device->allocation);
    if (layout->set != VK_NULL_HANDLE)
        device->vk.vkDestroyDescriptorSetLayout(device->handle, layout->set, device->allocation);
}

static rope2d_status create_pipeline(const rope2d_plan *plan, VkShaderModule module,
                                     const struct vulkan_variant *variant, VkPipeline *pipeline) {
    rope2d_status status = ROPE2D_OK;
    struct vulkan_device *device = rope2d_vulkan_of(plan->device);
    const rope2d_host *host = &plan->device->host;
    uint32_t is_texture = plan->table_kind == ROPE2D_TABLE_TEXTURE;
    VkSpecializationMapEntry entries[VULKAN_VARIANT_VALUES];
    for (uint32_t i = 0; i < VULKAN_VARIANT_VALUES; i++) {
        VkSpecializationMapEntry entry = {i, i * (uint32_t)sizeof(uint32_t), sizeof(uint32_t)};
        entries[i] = entry;
    }
    VkSpecializationInfo constants = {VULKAN_VARIANT_VALUES, entries, sizeof(variant->values),
                                      variant->values};
    // NVIDIA's driver checks each load and store of a storage buffer unless this can be asked for: what
    // kernels may reach was checked on the host.
    static const VkPipelineRobustnessCreateInfoEXT unchecked = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
        .storageBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT,
        .uniformBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT,
        .vertexInputs = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT,
        .images = VK_PIPELINE_ROBUSTNESS_IMAGE_BEHAVIOR_DISABLED_EXT,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .pNext = device->has_robustness ? &unchecked : NULL,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
                .pSpecializationInfo = &constants,
            },
        .layout = device->layouts[is_texture].pipeline,
        .basePipelineIndex = -1,
    };
    VK_CREATE(*pipeline, device->vk, vkCreateComputePipelines, device->handle, device->pipeline_cache, 1,
              &info, device->allocation, pipeline);
    return ROPE2D_OK;

fail:
    return status;
}

// SwiftShader's lanes have more tokens where workgroups are small: whole tokens and whole vectors, so that no
// lane is without.
uint32_t rope2d_vulkan_vector_group(const rope2d_plan *plan) {
    const uint32_t most = rope2d_vulkan_of(plan->device)->vector_group;
    const uint32_t units = rope2d_plan_vectors(plan)->count;
    uint32_t group = units;
    if (!plan->device->has_long_runs || units == 0)
        return most;
    while (group < SMALL_GROUP || group % 4 != 0)
        group += units;
    return group < most ? group : most;
}

static uint32_t llvmpipe_flags(const struct vulkan_device *device) {
    if (!device->has_int64)
        return R_ORDER_FLAG;
    return R_ORDER_FLAG | R_LONG_FLAG | (rope2d_isa_forwards_wide() ? R_LONG_STORES_FLAG : 0);
}

static struct vulkan_variant make_variant(const rope2d_plan *plan, bool is_vector, bool converts,
                                          const rope2d_units *units) {
    const struct vulkan_device *device = rope2d_vulkan_of(plan->device);
    const uint32_t is_texture = plan->table_kind == ROPE2D_TABLE_TEXTURE;
    uint32_t flags = units->flags;
    flags |= is_texture ? R_TEXTURE_FLAG : 0;
    flags |= device->layouts[is_texture].slots > 1 ? R_TWO_SLOTS_FLAG : 0;
    flags |= converts ? R_CONVERTS_FLAG : 0;
    if (is_vector && device->owner->info.is_software)
        flags |= rope2d_vulkan_keeps_order(&device->owner->info) ? llvmpipe_flags(device)
                                                                 : R_TOKENS_FLAG | R_SLOW_SHIFTS_FLAG;
    const struct vulkan_variant variant = {is_vector,
                                           {is_vector ? rope2d_vulkan_vector_group(plan) : device->group_size,
                                            (uint32_t)plan->in, (uint32_t)plan->out, flags}};
    return variant;
}

static rope2d_status create_kernel(const rope2d_plan *plan, bool is_vector, bool converts,
                                   const rope2d_units *units, struct vulkan_kernel *kernel) {
    struct vulkan_device *device = rope2d_vulkan_of(plan->device);
    const struct vulkan_variant variant = make_variant(plan, is_vector, converts, units);
    const uint64_t words = (is_vector ? 2 : 1) * (uint64_t)units->count;
    VkShaderModule module = VK_NULL_HANDLE;
    ROPE2D_TRY(rope2d_vulkan_shader_create(device, &variant, &module));
    const rope2d_status status = create_pipeline(plan, module, &variant, &kernel->pipeline);
    device->vk.vkDestroyShaderModule(device->handle, module, device->allocation);
    ROPE2D_TRY(status);
    return rope2d_vulkan_upload_buffer(device, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, units->words,
                                       words * sizeof(uint32_t), UNITS_BYTES, &kernel->units);
}

static void kernel_destroy(struct vulkan_device *device, struct vulkan_kernel *kernel) {
    if (kernel->pipeline != VK_NULL_HANDLE)
        device->vk.vkDestroyPipeline(device->handle, kernel->pipeline, device->allocation);
    rope2d_vulkan_buffer_destroy(device, &kernel->units);
    kernel->pipeline = VK_NULL_HANDLE;
}

static rope2d_status make_vector(rope2d_plan *plan, bool converts, void *unused) {
    struct vulkan_plan *vulkan = plan->impl;
    (void)unused;
    kernel_destroy(rope2d_vulkan_of(plan->device), &vulkan->vector);
    return create_kernel(plan, true, converts, rope2d_plan_vectors(plan), &vulkan->vector);
}

rope2d_status rope2d_vulkan_plan_create(rope2d_plan *plan) {
    const rope2d_host *host = &plan->device->host;
    const rope2d_units *vectors = rope2d_plan_vectors(plan);
    struct vulkan_device *device = rope2d_vulkan_of(plan->device);
    struct vulkan_plan *vulkan = rope2d_allocate(host, 1, sizeof(*vulkan));
    if (vulkan == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for a plan");
    plan->impl = vulkan;
    const bool has_vectors = vectors->count > 0 && vectors->count <= device->vector_group;
    plan->tensors_per_dispatch = R_MAX_DISPATCH_TENSORS;
    snprintf(plan->kernel, sizeof(plan->kernel), "rope2d_%s_%s_%s_%s", has_vectors ? "vector" : "single",
             plan->table_kind == ROPE2D_TABLE_TEXTURE ? "texture" : "buffer", rope2d_element_word(plan->in),
             rope2d_element_word(plan->out));
    ROPE2D_TRY(create_kernel(plan, false, false, &plan->pattern.single, &vulkan->single));
    return has_vectors ? rope2d_make_vector(plan, make_vector, NULL) : ROPE2D_OK;
}

void rope2d_vulkan_plan_destroy(rope2d_plan *plan) {
    struct vulkan_plan *vulkan = plan->impl;
    if (vulkan == NULL)
        return;
    kernel_destroy(rope2d_vulkan_of(plan->device), &vulkan->single);
    kernel_destroy(rope2d_vulkan_of(plan->device), &vulkan->vector);
    rope2d_release(&plan->device->host, vulkan, 1, sizeof(*vulkan));
    plan->impl = NULL;
}

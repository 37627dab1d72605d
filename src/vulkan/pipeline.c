// SPDX-License-Identifier: MIT
#include "pipeline.h"

#include "shader.h"
#include "upload.h"

#include "../../shaders/shape.h"

#include <stdio.h>

#define UNITS_BYTES   (ROPE2D_MAX_HEAD_DIM * sizeof(uint32_t))
#define MOST_BINDINGS (4 + 2 * R_MAX_DISPATCH_TENSORS)

// Rows, a table that is a buffer, and an input and an output for each slot are storage buffers.
static uint32_t count_slots(uint32_t storage_buffers, uint32_t is_texture) {
    uint32_t fixed = is_texture ? 1 : 2;
    uint32_t slots = R_MAX_DISPATCH_TENSORS;
    while (slots > 1 && fixed + 2 * slots > storage_buffers)
        slots /= 2;
    return slots;
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
    VK_CREATE(device->vk.vkCreateDescriptorSetLayout(device->handle, &set, device->allocation, &layout->set),
              layout->set);
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, R_RANGE_WORDS * sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &layout->set,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VK_CREATE(
        device->vk.vkCreatePipelineLayout(device->handle, &pipeline, device->allocation, &layout->pipeline),
        layout->pipeline);
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

static rope2d_status create_pipeline(const rope2d_plan *plan, VkShaderModule module, uint32_t is_wide,
                                     VkPipeline *pipeline) {
    rope2d_status status = ROPE2D_OK;
    struct vulkan_device *device = rope2d_vulkan_of(plan->device);
    const rope2d_host *host = &plan->device->host;
    uint32_t is_texture = plan->table_kind == ROPE2D_TABLE_TEXTURE;
    // The constants of shaders/rope2d.comp, in the order of their numbers.
    const uint32_t values[] = {device->group_size,        (uint32_t)plan->in,
                               (uint32_t)plan->out,       is_wide,
                               plan->pattern.angles == 2, plan->pattern.factors > 0};
    VkSpecializationMapEntry entries[6];
    for (uint32_t i = 0; i < 6; i++) {
        VkSpecializationMapEntry entry = {i, i * (uint32_t)sizeof(uint32_t), sizeof(uint32_t)};
        entries[i] = entry;
    }
    VkSpecializationInfo constants = {6, entries, sizeof(values), values};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
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
    VK_CREATE(device->vk.vkCreateComputePipelines(device->handle, device->pipeline_cache, 1, &info,
                                                  device->allocation, pipeline),
              *pipeline);
    return ROPE2D_OK;

fail:
    return status;
}

static rope2d_status create_kernel(const rope2d_plan *plan, VkShaderModule module, const rope2d_units *units,
                                   uint32_t is_wide, struct vulkan_kernel *kernel) {
    ROPE2D_TRY(create_pipeline(plan, module, is_wide, &kernel->pipeline));
    return rope2d_vulkan_upload_buffer(rope2d_vulkan_of(plan->device), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                                       units->words, units->count * sizeof(uint32_t), UNITS_BYTES,
                                       &kernel->units);
}

static rope2d_status create_kernels(const rope2d_plan *plan, VkShaderModule module,
                                    struct vulkan_plan *vulkan) {
    ROPE2D_TRY(create_kernel(plan, module, &plan->pattern.single, 0, &vulkan->single));
    if (plan->pattern.wide.count == 0)
        return ROPE2D_OK;
    return create_kernel(plan, module, &plan->pattern.wide, 1, &vulkan->wide);
}

rope2d_status rope2d_vulkan_plan_create(rope2d_plan *plan) {
    static const char *const elements[ROPE2D_ELEMENT_COUNT] = {"f32", "f16", "bf16"};
    const rope2d_host *host = &plan->device->host;
    struct vulkan_device *device = rope2d_vulkan_of(plan->device);
    struct vulkan_plan *vulkan = rope2d_allocate(host, 1, sizeof(*vulkan));
    if (vulkan == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for a plan");
    plan->impl = vulkan;
    uint32_t is_texture = plan->table_kind == ROPE2D_TABLE_TEXTURE;
    uint32_t slots = device->layouts[is_texture].slots;
    plan->tensors_per_dispatch = R_MAX_DISPATCH_TENSORS;
    snprintf(plan->kernel, sizeof(plan->kernel), "%s_%s_%s", rope2d_vulkan_shader_name(is_texture, slots),
             elements[plan->in], elements[plan->out]);
    VkShaderModule module = VK_NULL_HANDLE;
    ROPE2D_TRY(rope2d_vulkan_shader_create(device, is_texture, slots, &module));
    rope2d_status status = create_kernels(plan, module, vulkan);
    device->vk.vkDestroyShaderModule(device->handle, module, device->allocation);
    return status;
}

static void kernel_destroy(struct vulkan_device *device, struct vulkan_kernel *kernel) {
    if (kernel->pipeline != VK_NULL_HANDLE)
        device->vk.vkDestroyPipeline(device->handle, kernel->pipeline, device->allocation);
    rope2d_vulkan_buffer_destroy(device, &kernel->units);
}

void rope2d_vulkan_plan_destroy(rope2d_plan *plan) {
    struct vulkan_plan *vulkan = plan->impl;
    if (vulkan == NULL)
        return;
    kernel_destroy(rope2d_vulkan_of(plan->device), &vulkan->single);
    kernel_destroy(rope2d_vulkan_of(plan->device), &vulkan->wide);
    rope2d_release(&plan->device->host, vulkan, 1, sizeof(*vulkan));
    plan->impl = NULL;
}

// SPDX-License-Identifier: MIT
//
// Copies and scales in Vulkan: the driver's copy, and a kernel in every shape that a search may choose from.
#include <stdio.h>
#include <string.h>

#include "bench_vulkan.h"
#include "embedded.h"
#include "message.h"

extern const struct rope2d_unpacked bench_spirv[]; // bench_4, bench_8, bench_16

static const uint32_t item_counts[VULKAN_ITEMS] = {1, 4, 16}, group_sizes[VULKAN_GROUPS] = {64, 256};

struct shape {
    uint32_t width, items, group; // indices
};

// Those of the first size of groups come first: a quick search stops after them.
static struct shape shape_of(uint32_t variant) {
    return (struct shape){variant % VULKAN_WIDTHS, variant / VULKAN_WIDTHS % VULKAN_ITEMS,
                          variant / VULKAN_WIDTHS / VULKAN_ITEMS};
}

struct sizes {
    uint32_t count, groups_x;
    float factor;
};

static uint32_t group_size(const struct vulkan *vulkan, uint32_t index) {
    uint32_t most = vulkan->limits.maxComputeWorkGroupInvocations;
    return group_sizes[index] < most ? group_sizes[index] : most;
}

static int create_layouts(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    VkDescriptorSetLayoutBinding bindings[2];
    for (uint32_t i = 0; i < 2; ++i)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 1,
                                                     VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 2,
                                           .pBindings = bindings};
    int result =
        vulkan_check(engine, vkCreateDescriptorSetLayout(vulkan->handle, &set, NULL, &vulkan->set_layout),
                     "vkCreateDescriptorSetLayout");
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct sizes)};
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &vulkan->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    if (!result)
        result = vulkan_check(engine, vkCreatePipelineLayout(vulkan->handle, &layout, NULL, &vulkan->layout),
                              "vkCreatePipelineLayout");
    return result;
}

static int create_pipeline(struct bench_engine *engine, VkShaderModule module, uint32_t scale,
                           uint32_t variant) {
    struct vulkan *vulkan = engine->impl;
    struct shape shape = shape_of(variant);
    uint32_t constants[] = {group_size(vulkan, shape.group), item_counts[shape.items], scale};
    VkSpecializationMapEntry entries[3];
    for (uint32_t i = 0; i < 3; ++i)
        entries[i] = (VkSpecializationMapEntry){i, i * (uint32_t)sizeof *constants, sizeof *constants};
    VkSpecializationInfo special = {3, entries, sizeof constants, constants};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
                .pSpecializationInfo = &special,
            },
        .layout = vulkan->layout,
    };
    return vulkan_check(engine,
                        vkCreateComputePipelines(vulkan->handle, VK_NULL_HANDLE, 1, &info, NULL,
                                                 &vulkan->pipelines[scale][variant]),
                        "vkCreateComputePipelines");
}

static int create_width(struct bench_engine *engine, uint32_t width) {
    struct vulkan *vulkan = engine->impl;
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = bench_spirv[width].size,
        .pCode = bench_spirv[width].data,
    };
    VkShaderModule module = VK_NULL_HANDLE;
    int result = vulkan_check(engine, vkCreateShaderModule(vulkan->handle, &info, NULL, &module),
                              "vkCreateShaderModule");
    for (uint32_t variant = 0; variant < bench_vulkan_variants(engine, BENCH_COPY) && !result; ++variant)
        for (uint32_t scale = 0; scale < 2 && !result && shape_of(variant).width == width; ++scale)
            result = create_pipeline(engine, module, scale, variant);
    vkDestroyShaderModule(vulkan->handle, module, NULL);
    return result;
}

int bench_vulkan_kernels_create(struct bench_engine *engine) {
    int result = create_layouts(engine);
    for (uint32_t width = 0; width < VULKAN_WIDTHS && !result; ++width)
        result = create_width(engine, width);
    return result;
}

void bench_vulkan_kernels_destroy(struct vulkan *vulkan) {
    for (uint32_t i = 0; i < 2 * VULKAN_SHAPES; ++i)
        vkDestroyPipeline(vulkan->handle, vulkan->pipelines[i / VULKAN_SHAPES][i % VULKAN_SHAPES], NULL);
    vkDestroyPipelineLayout(vulkan->handle, vulkan->layout, NULL);
    vkDestroyDescriptorSetLayout(vulkan->handle, vulkan->set_layout, NULL);
}

static void write_descriptor(const struct vulkan *vulkan, uint32_t set) {
    VkDescriptorBufferInfo buffers[BENCH_BUFFERS];
    for (int i = 0; i < BENCH_BUFFERS; ++i)
        buffers[i] = (VkDescriptorBufferInfo){bench_vulkan_buffer(vulkan, set, i), 0, vulkan->chunk};
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = vulkan->descriptors[set],
        .descriptorCount = BENCH_BUFFERS,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
        .pBufferInfo = buffers,
    };
    vkUpdateDescriptorSets(vulkan->handle, 1, &write, 0, NULL);
}

int bench_vulkan_descriptors_create(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, engine->sets * BENCH_BUFFERS};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = engine->sets,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    int result =
        vulkan_check(engine, vkCreateDescriptorPool(vulkan->handle, &pool, NULL, &vulkan->descriptor_pool),
                     "vkCreateDescriptorPool");
    for (uint32_t i = 0; i < engine->sets && !result; ++i) {
        VkDescriptorSetAllocateInfo info = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = vulkan->descriptor_pool,
            .descriptorSetCount = 1,
            .pSetLayouts = &vulkan->set_layout,
        };
        result =
            vulkan_check(engine, vkAllocateDescriptorSets(vulkan->handle, &info, &vulkan->descriptors[i]),
                         "vkAllocateDescriptorSets");
        if (!result)
            write_descriptor(vulkan, i);
    }
    return result;
}

uint32_t bench_vulkan_variants(const struct bench_engine *engine, enum bench_move move) {
    uint32_t groups = engine->is_quick ? 1 : VULKAN_GROUPS;
    return move == BENCH_DRIVER_COPY ? 1 : VULKAN_WIDTHS * VULKAN_ITEMS * groups;
}

void bench_vulkan_variant_name(const struct bench_engine *engine, enum bench_move move, uint32_t variant,
                               char *name, size_t size) {
    struct shape shape = shape_of(variant);
    if (move == BENCH_DRIVER_COPY)
        snprintf(name, size, "vkCmdCopyBuffer");
    else
        snprintf(name, size, "%u x %u bytes a lane, %u lanes a group", item_counts[shape.items],
                 4u << shape.width, group_size(engine->impl, shape.group));
}

static void dispatch(const struct vulkan *vulkan, struct shape shape, uint64_t bytes) {
    uint32_t words = (uint32_t)(bytes >> (2 + shape.width));
    uint32_t each = group_size(vulkan, shape.group) * item_counts[shape.items];
    uint32_t groups = words / each + (words % each != 0), most = vulkan->limits.maxComputeWorkGroupCount[0];
    uint32_t rows = groups / most + (groups % most != 0);
    struct sizes sizes = {words, groups < most ? groups : most, -1.0f};
    vkCmdPushConstants(vulkan->commands, vulkan->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof sizes,
                       &sizes);
    vkCmdDispatch(vulkan->commands, sizes.groups_x, rows, 1);
}

int bench_vulkan_move(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      struct bench_sample *sample) {
    struct vulkan *vulkan = engine->impl;
    int result = bench_vulkan_begin(engine);
    if (result)
        return result;
    if (move == BENCH_DRIVER_COPY) {
        VkBufferCopy region = {0, 0, engine->bytes};
        vkCmdCopyBuffer(vulkan->commands, bench_vulkan_buffer(vulkan, set, BENCH_IN),
                        bench_vulkan_buffer(vulkan, set, BENCH_OUT), 1, &region);
        return bench_vulkan_submit(engine, sample);
    }
    vkCmdBindPipeline(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                      vulkan->pipelines[move == BENCH_SCALE][variant]);
    for (uint64_t at = 0; at < engine->bytes; at += vulkan->chunk) {
        uint64_t left = engine->bytes - at;
        uint32_t offsets[] = {(uint32_t)at, (uint32_t)at};
        vkCmdBindDescriptorSets(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE, vulkan->layout, 0, 1,
                                &vulkan->descriptors[set], 2, offsets);
        dispatch(vulkan, shape_of(variant), left < vulkan->chunk ? left : vulkan->chunk);
    }
    return bench_vulkan_submit(engine, sample);
}

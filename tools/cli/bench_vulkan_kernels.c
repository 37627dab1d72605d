// SPDX-License-Identifier: MIT
//
// Copies and scales in Vulkan: the driver's copy, and a kernel in every shape that a search may choose from.
#include <stdio.h>
#include <string.h>

#include "bench_vulkan.h"
#include "embedded.h"
#include "message.h"
#include "progress.h"

extern const struct rope2d_unpacked bench_spirv[]; // [kind][width], as meson.build lists them

enum { BUSY_SHAPE = 2, MOST_BUSY_RUNS = 1000 }; // 16 bytes a lane
static const double BUSY_SECONDS = 2e-3;

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
    uint32_t count, groups_x, mask;
    float factor, other;
};

// How many of the shapes are tried.
static uint32_t shapes_of(const struct bench_engine *engine) {
    return VULKAN_WIDTHS * VULKAN_ITEMS * (engine->is_quick ? 1 : VULKAN_GROUPS);
}

static uint32_t group_size(const struct vulkan *vulkan, uint32_t index) {
    uint32_t most = vulkan->limits.maxComputeWorkGroupInvocations;
    return group_sizes[index] < most ? group_sizes[index] : most;
}

static int create_layouts(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    VkDescriptorSetLayoutBinding bindings[BENCH_BUFFERS + 1];
    for (uint32_t i = 0; i < BENCH_BUFFERS + 1; ++i)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            i,
            i < BENCH_BUFFERS ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = BENCH_BUFFERS + 1,
                                           .pBindings = bindings};
    int result =
        vulkan_check(engine, vkCreateDescriptorSetLayout(vulkan->handle, &set, NULL, &vulkan->set_layout),
                     "vkCreateDescriptorSetLayout");
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, VULKAN_CONSTANT_BYTES};
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

int bench_vulkan_make_pipeline(struct bench_engine *engine, const struct rope2d_unpacked *spirv,
                               const uint32_t *constants, uint32_t count, VkPipeline *pipeline) {
    struct vulkan *vulkan = engine->impl;
    VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = spirv->size,
        .pCode = spirv->data,
    };
    VkShaderModule module = VK_NULL_HANDLE;
    VkSpecializationMapEntry entries[VULKAN_MOST_CONSTANTS];
    for (uint32_t i = 0; i < count; ++i)
        entries[i] = (VkSpecializationMapEntry){i, i * (uint32_t)sizeof *constants, sizeof *constants};
    VkSpecializationInfo special = {count, entries, count * sizeof *constants, constants};
    int result = vulkan_check(engine, vkCreateShaderModule(vulkan->handle, &code, NULL, &module),
                              "vkCreateShaderModule");
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
    if (!result)
        result = vulkan_check(
            engine, vkCreateComputePipelines(vulkan->handle, VK_NULL_HANDLE, 1, &info, NULL, pipeline),
            "vkCreateComputePipelines");
    vkDestroyShaderModule(vulkan->handle, module, NULL);
    return result;
}

static int find_pipeline(struct bench_engine *engine, uint32_t kind, uint32_t variant, VkPipeline *found) {
    struct vulkan *vulkan = engine->impl;
    VkPipeline *pipeline = &vulkan->pipelines[kind][variant];
    struct shape shape = shape_of(variant);
    const uint32_t constants[] = {group_size(vulkan, shape.group), item_counts[shape.items]};
    int result = STATUS_OK;
    if (!*pipeline)
        result = bench_vulkan_make_pipeline(engine, &bench_spirv[kind * VULKAN_WIDTHS + shape.width],
                                            constants, 2, pipeline);
    *found = *pipeline;
    return result;
}

int bench_vulkan_kernels_create(struct bench_engine *engine) {
    return create_layouts(engine);
}

void bench_vulkan_kernels_destroy(struct vulkan *vulkan) {
    for (uint32_t i = 0; i < BENCH_KINDS_COUNT * VULKAN_SHAPES; ++i)
        vkDestroyPipeline(vulkan->handle, vulkan->pipelines[i / VULKAN_SHAPES][i % VULKAN_SHAPES], NULL);
    const VkPipeline *turns = &vulkan->turns[0][0][0][0];
    for (size_t i = 0; i < sizeof vulkan->turns / sizeof *turns; ++i)
        vkDestroyPipeline(vulkan->handle, turns[i], NULL);
    vkDestroyPipelineLayout(vulkan->handle, vulkan->layout, NULL);
    vkDestroyDescriptorSetLayout(vulkan->handle, vulkan->set_layout, NULL);
}

static void write_descriptor(const struct vulkan *vulkan, uint32_t set, bool in_place) {
    VkDescriptorSet descriptor = vulkan->descriptors[2 * set + in_place];
    VkBuffer from = bench_vulkan_buffer(vulkan, set, BENCH_IN), to = in_place ? from : VK_NULL_HANDLE;
    if (!in_place)
        to = bench_vulkan_buffer(vulkan, set, BENCH_OUT);
    VkDescriptorBufferInfo buffers[] = {
        {from, 0, vulkan->chunk}, {to, 0, vulkan->chunk}, {vulkan->table.buffer, 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet writes[2];
    for (uint32_t i = 0; i < 2; ++i)
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = descriptor,
            .dstBinding = i ? BENCH_BUFFERS : 0,
            .descriptorCount = i ? 1 : BENCH_BUFFERS,
            .descriptorType =
                i ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
            .pBufferInfo = &buffers[i ? BENCH_BUFFERS : 0],
        };
    vkUpdateDescriptorSets(vulkan->handle, 2, writes, 0, NULL);
}

int bench_vulkan_descriptors_create(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    uint32_t count = 2 * engine->sets; // in place and not
    VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, count * BENCH_BUFFERS},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count},
    };
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = count,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    int result =
        vulkan_check(engine, vkCreateDescriptorPool(vulkan->handle, &pool, NULL, &vulkan->descriptor_pool),
                     "vkCreateDescriptorPool");
    for (uint32_t i = 0; i < count && !result; ++i) {
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
            write_descriptor(vulkan, i / 2, i % 2 == 1);
    }
    return result;
}

uint32_t bench_vulkan_variants(const struct bench_engine *engine, enum bench_move move) {
    return bench_is_turn(move) ? bench_vulkan_turn_variants(engine)
                               : bench_kind_variants(engine, move, shapes_of(engine));
}

void bench_vulkan_variant_name(const struct bench_engine *engine, enum bench_move move, uint32_t variant,
                               char *name, size_t size) {
    struct shape shape = shape_of(variant % shapes_of(engine));
    if (move == BENCH_DRIVER_COPY)
        snprintf(name, size, "vkCmdCopyBuffer");
    else if (bench_is_turn(move))
        bench_vulkan_turn_name(engine, variant, name, size);
    else
        snprintf(name, size, "%u x %u bytes a lane, %u lanes a group%s", item_counts[shape.items],
                 4u << shape.width, group_size(engine->impl, shape.group),
                 variant < shapes_of(engine) ? "" : ", converter");
}

// Entries of the table: of the numbers of a lane's load, at most four.
static uint32_t mask_of(const struct bench_engine *engine, struct shape shape) {
    uint32_t numbers = (1u << shape.width) * (engine->what->element == ROPE2D_F32 ? 1 : 2);
    return (uint32_t)(engine->table_floats / (numbers < 4 ? numbers : 4)) - 1;
}

static void dispatch(const struct bench_engine *engine, enum bench_move move, struct shape shape,
                     uint64_t bytes) {
    const struct vulkan *vulkan = engine->impl;
    uint32_t tensors = bench_reads_table(engine, move) ? BENCH_TENSORS : 1;
    uint32_t words = (uint32_t)(bytes / tensors >> (2 + shape.width));
    uint32_t each = group_size(vulkan, shape.group) * item_counts[shape.items];
    uint32_t groups = words / each + (words % each != 0), most = vulkan->limits.maxComputeWorkGroupCount[0];
    uint32_t rows = groups / most + (groups % most != 0);
    struct sizes sizes = {words, groups < most ? groups : most, mask_of(engine, shape),
                          bench_is_limit(move) ? (float)BENCH_FACTOR : -1.0f, (float)BENCH_OTHER};
    vkCmdPushConstants(vulkan->commands, vulkan->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof sizes,
                       &sizes);
    vkCmdDispatch(vulkan->commands, sizes.groups_x, rows, 1);
}

int bench_vulkan_record_bare(struct bench_engine *engine, double *seconds) {
    struct vulkan *vulkan = engine->impl;
    const uint32_t offsets[] = {0, 0};
    VkPipeline pipeline = VK_NULL_HANDLE;
    int result = find_pipeline(engine, BENCH_KIND_COPY, 0, &pipeline);
    if (result)
        return result;
    double begin = seconds_now();
    vkCmdBindPipeline(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE, vulkan->layout, 0, 1,
                            vulkan->descriptors, 2, offsets);
    dispatch(engine, BENCH_COPY, shape_of(0), vulkan->chunk);
    *seconds = seconds_now() - begin;
    return STATUS_OK;
}

static void record_chunks(struct bench_engine *engine, enum bench_move move, struct shape shape,
                          uint32_t set) {
    struct vulkan *vulkan = engine->impl;
    for (uint64_t at = 0; at < engine->bytes; at += vulkan->chunk) {
        uint64_t left = engine->bytes - at;
        uint32_t offsets[] = {(uint32_t)at, (uint32_t)at};
        vkCmdBindDescriptorSets(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE, vulkan->layout, 0, 1,
                                &vulkan->descriptors[2 * set + bench_is_in_place(move)], 2, offsets);
        dispatch(engine, move, shape, left < vulkan->chunk ? left : vulkan->chunk);
    }
}

int bench_vulkan_move(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      struct bench_sample *sample) {
    struct vulkan *vulkan = engine->impl;
    uint32_t shape = move == BENCH_DRIVER_COPY ? 0 : variant % shapes_of(engine);
    VkPipeline pipeline = VK_NULL_HANDLE;
    int result = STATUS_OK;
    if (bench_is_turn(move))
        result = bench_vulkan_turn_pipeline(engine, move, variant, &pipeline);
    else if (move != BENCH_DRIVER_COPY)
        result = find_pipeline(engine, bench_kind_of(engine, move, variant != shape), shape, &pipeline);
    if (!result)
        result = bench_vulkan_begin(engine);
    if (result)
        return result;
    if (move == BENCH_DRIVER_COPY) {
        VkBufferCopy region = {0, 0, engine->bytes};
        vkCmdCopyBuffer(vulkan->commands, bench_vulkan_buffer(vulkan, set, BENCH_IN),
                        bench_vulkan_buffer(vulkan, set, BENCH_OUT), 1, &region);
        return bench_vulkan_submit(engine, sample);
    }
    vkCmdBindPipeline(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    if (bench_is_turn(move))
        bench_vulkan_turn(engine, move, variant, set);
    else
        record_chunks(engine, move, shape_of(shape), set);
    return bench_vulkan_submit(engine, sample);
}

int bench_vulkan_busy(struct bench_engine *engine, uint32_t set) {
    struct vulkan *vulkan = engine->impl;
    struct bench_sample sample = {0};
    VkPipeline pipeline = VK_NULL_HANDLE;
    if (engine->info.is_software)
        return STATUS_OK;
    int result = find_pipeline(engine, bench_kind_of(engine, BENCH_SCALE, false), BUSY_SHAPE, &pipeline);
    if (!result)
        result = bench_vulkan_begin(engine);
    if (result)
        return result;
    vkCmdBindPipeline(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    for (uint32_t i = 0; i <= vulkan->busy_runs; ++i) {
        record_chunks(engine, BENCH_SCALE, shape_of(BUSY_SHAPE), set);
        bench_vulkan_barrier(vulkan->commands);
    }
    result = bench_vulkan_submit(engine, &sample);
    double taken = sample.device > 0 ? sample.device : sample.host;
    double runs = taken > 0 ? (vulkan->busy_runs + 1) * BUSY_SECONDS / taken : 0;
    vulkan->busy_runs = runs < MOST_BUSY_RUNS ? (uint32_t)runs : MOST_BUSY_RUNS;
    return result;
}

// SPDX-License-Identifier: MIT
//
// Buffers in the device's own memory, filled and read through one that the host sees.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "bench_turn_grid.h"
#include "bench_vulkan.h"
#include "message.h"

static const uint64_t STAGING_BYTES = (uint64_t)8 << 20;

static uint32_t find_type(const struct vulkan *vulkan, uint32_t allowed, VkMemoryPropertyFlags wanted) {
    for (uint32_t i = 0; i < vulkan->memory_types.memoryTypeCount; ++i)
        if (allowed >> i & 1 && (vulkan->memory_types.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    return 0;
}

void bench_vulkan_memory_free(const struct vulkan *vulkan, struct vulkan_memory *memory) {
    vkDestroyBuffer(vulkan->handle, memory->buffer, NULL);
    vkFreeMemory(vulkan->handle, memory->memory, NULL);
    *memory = (struct vulkan_memory){0};
}

static int allocate(struct bench_engine *engine, uint64_t bytes, VkMemoryPropertyFlags wanted,
                    struct vulkan_memory *memory) {
    const struct vulkan *vulkan = engine->impl;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    VkMemoryRequirements needs;
    int result =
        vulkan_check(engine, vkCreateBuffer(vulkan->handle, &info, NULL, &memory->buffer), "vkCreateBuffer");
    if (result)
        return result;
    vkGetBufferMemoryRequirements(vulkan->handle, memory->buffer, &needs);
    VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = find_type(vulkan, needs.memoryTypeBits, wanted),
    };
    result = vulkan_check(engine, vkAllocateMemory(vulkan->handle, &allocation, NULL, &memory->memory),
                          "vkAllocateMemory");
    if (!result)
        result = vulkan_check(engine, vkBindBufferMemory(vulkan->handle, memory->buffer, memory->memory, 0),
                              "vkBindBufferMemory");
    return result;
}

int bench_vulkan_staging_create(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    int result = allocate(engine, STAGING_BYTES,
                          VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                          &vulkan->staging);
    if (!result)
        result = vulkan_check(
            engine, vkMapMemory(vulkan->handle, vulkan->staging.memory, 0, VK_WHOLE_SIZE, 0, &vulkan->mapped),
            "vkMapMemory");
    return result;
}

// What a kernel reaches at once, in whole lines; the buffers are whole chunks.
static uint64_t choose_chunk(const struct bench_engine *engine) {
    const struct vulkan *vulkan = engine->impl;
    uint64_t reach = vulkan->limits.maxStorageBufferRange / 4096 * 4096;
    return engine->bytes < reach ? engine->bytes : reach;
}

static int copy(struct bench_engine *engine, VkBuffer from, VkBuffer to, VkBufferCopy region) {
    struct vulkan *vulkan = engine->impl;
    struct bench_sample sample;
    int result = bench_vulkan_begin(engine);
    if (result)
        return result;
    vkCmdCopyBuffer(vulkan->commands, from, to, 1, &region);
    return bench_vulkan_submit(engine, &sample);
}

static int write_buffer(struct bench_engine *engine, VkBuffer to, uint64_t offset, uint64_t bytes,
                        const void *data) {
    struct vulkan *vulkan = engine->impl;
    int result = STATUS_OK;
    for (uint64_t at = 0; at < bytes && !result; at += STAGING_BYTES) {
        uint64_t part = bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES;
        memcpy(vulkan->mapped, (const char *)data + at, (size_t)part);
        result = copy(engine, vulkan->staging.buffer, to, (VkBufferCopy){0, offset + at, part});
    }
    return result;
}

static int write_turns(struct bench_engine *engine, uint64_t of_table, uint64_t of_rows) {
    struct vulkan *vulkan = engine->impl;
    const uint64_t bytes = (of_table + of_rows) * sizeof(float);
    float *table = malloc((size_t)bytes);
    if (!table) {
        message("no memory for a table of %" PRIu64 " bytes", bytes);
        return STATUS_DEVICE;
    }
    bench_turn_table(engine->what, engine->what->tower->head_dim, table);
    bench_turn_rows(engine->what, (uint32_t *)(void *)(table + of_table));
    int result =
        write_buffer(engine, vulkan->table.buffer, vulkan->turn_floats * sizeof(float), bytes, table);
    free(table);
    return result;
}

// Of limits, and behind it that of turns and their rows. Something is bound even where nothing reads it.
static int create_table(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    const struct bench_case *what = engine->what;
    const uint64_t of_table = bench_columns_of(what->tokens) * what->tower->head_dim;
    const uint64_t of_rows = what->tokens * what->tower->axes;
    vulkan->has_turns = what->tower->form == BENCH_AXIAL && engine->bytes <= vulkan->chunk;
    vulkan->turn_floats = engine->table_floats ? engine->table_floats : 64;
    const uint64_t bytes = vulkan->turn_floats * sizeof(float);
    const uint64_t of_turns = vulkan->has_turns ? (of_table + of_rows) * sizeof(float) : 0;
    int result = allocate(engine, bytes + of_turns, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &vulkan->table);
    float *staged = vulkan->mapped;
    for (uint64_t at = 0; at < bytes && !result; at += STAGING_BYTES) {
        uint64_t part = bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES;
        for (uint64_t i = 0; i < part / sizeof *staged; ++i)
            staged[i] = (float)BENCH_FACTOR;
        result = copy(engine, vulkan->staging.buffer, vulkan->table.buffer, (VkBufferCopy){0, at, part});
    }
    return result || !vulkan->has_turns ? result : write_turns(engine, of_table, of_rows);
}

bool bench_vulkan_is_own(const struct bench_engine *engine, VkBuffer buffer) {
    const struct vulkan *vulkan = engine->impl;
    for (uint32_t i = 0; i < engine->sets * BENCH_BUFFERS; ++i)
        if (vulkan->sets[i].buffer == buffer)
            return true;
    return false;
}

int bench_vulkan_memory_create(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    uint32_t count = engine->sets * BENCH_BUFFERS;
    vulkan->chunk = choose_chunk(engine);
    uint64_t bytes = (engine->bytes + vulkan->chunk - 1) / vulkan->chunk * vulkan->chunk;
    vulkan->sets = calloc(count, sizeof *vulkan->sets);
    vulkan->busy_runs = 0;
    vulkan->descriptors = calloc((size_t)engine->sets * 2, sizeof *vulkan->descriptors);
    if (!vulkan->sets || !vulkan->descriptors) {
        message("no memory for %u buffers", count);
        return STATUS_DEVICE;
    }
    int result = STATUS_OK;
    for (uint32_t i = 0; i < count && !result; ++i)
        result = allocate(engine, bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &vulkan->sets[i]);
    if (!result)
        result = create_table(engine);
    return result ? result : bench_vulkan_descriptors_create(engine);
}

void bench_vulkan_memory_destroy(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    vkDestroyDescriptorPool(vulkan->handle, vulkan->descriptor_pool, NULL);
    vulkan->descriptor_pool = VK_NULL_HANDLE;
    for (uint32_t i = 0; vulkan->sets && i < engine->sets * BENCH_BUFFERS; ++i)
        bench_vulkan_memory_free(vulkan, &vulkan->sets[i]);
    bench_vulkan_memory_free(vulkan, &vulkan->table);
    free(vulkan->sets);
    free(vulkan->descriptors);
    vulkan->sets = NULL;
    vulkan->descriptors = NULL;
}

VkBuffer bench_vulkan_buffer(const struct vulkan *vulkan, uint32_t set, int buffer) {
    return vulkan->sets[set * BENCH_BUFFERS + (uint32_t)buffer].buffer;
}

int bench_vulkan_write(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                       const void *data) {
    return write_buffer(engine, bench_vulkan_buffer(engine->impl, set, buffer), offset, bytes, data);
}

int bench_vulkan_read(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                      void *data) {
    struct vulkan *vulkan = engine->impl;
    int result = STATUS_OK;
    for (uint64_t at = 0; at < bytes && !result; at += STAGING_BYTES) {
        uint64_t part = bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES;
        result = copy(engine, bench_vulkan_buffer(vulkan, set, buffer), vulkan->staging.buffer,
                      (VkBufferCopy){offset + at, 0, part});
        if (!result)
            memcpy((char *)data + at, vulkan->mapped, (size_t)part);
    }
    return result;
}

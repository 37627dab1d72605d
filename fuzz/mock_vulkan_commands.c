// SPDX-License-Identifier: MIT
//
// Pipelines, descriptors and commands, of which nothing is kept but how many live.
#include "mock_vulkan.h"

#include "target.h"

#include <string.h>

enum { MOST_SETS = 64, TEXEL = 16 };

struct VkCommandBuffer_T {
    int unused;
};
static struct VkCommandBuffer_T commands;

VkCommandBuffer mock_vk_commands(void) {
    return &commands;
}

// Functions that make one object of an info which is only read, and those that end it.
#define MAKES(name, type, info_type, check)                                                                  \
    static VkResult VKAPI_CALL make_##name(VkDevice device, const info_type *info,                           \
                                           const VkAllocationCallbacks *callbacks, type *made) {             \
        (void)device, (void)callbacks;                                                                       \
        FUZZ_PROMISE(check);                                                                                 \
        if (mock_fails())                                                                                    \
            return VK_ERROR_OUT_OF_HOST_MEMORY;                                                              \
        *made = MOCK_VK_HANDLE(type, mock_vk_make());                                                        \
        return VK_SUCCESS;                                                                                   \
    }                                                                                                        \
    static void VKAPI_CALL end_##name(VkDevice device, type handle,                                          \
                                      const VkAllocationCallbacks *callbacks) {                              \
        (void)device, (void)callbacks;                                                                       \
        mock_vk_free(MOCK_VK_OBJECT(handle));                                                                \
    }

MAKES(view, VkImageView, VkImageViewCreateInfo, MOCK_VK_OBJECT(info->image)->memory)
MAKES(sampler, VkSampler, VkSamplerCreateInfo, info->magFilter == VK_FILTER_NEAREST)
MAKES(set_layout, VkDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, info->bindingCount > 0)
MAKES(layout, VkPipelineLayout, VkPipelineLayoutCreateInfo, info->setLayoutCount > 0)
MAKES(pool, VkDescriptorPool, VkDescriptorPoolCreateInfo, info->maxSets > 0 && info->poolSizeCount > 0)
MAKES(command_pool, VkCommandPool, VkCommandPoolCreateInfo, info->queueFamilyIndex < MOCK_QUEUE_FAMILIES)
MAKES(fence, VkFence, VkFenceCreateInfo, info->sType == VK_STRUCTURE_TYPE_FENCE_CREATE_INFO)

// As drivers do, it reads what it is given.
static VkResult VKAPI_CALL make_cache(VkDevice device, const VkPipelineCacheCreateInfo *info,
                                      const VkAllocationCallbacks *callbacks, VkPipelineCache *made) {
    (void)device, (void)callbacks;
    FUZZ_PROMISE((info->initialDataSize == 0) == (info->pInitialData == NULL));
    mock_read(info->pInitialData, info->initialDataSize);
    if (mock_fails())
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *made = MOCK_VK_HANDLE(VkPipelineCache, mock_vk_make());
    return VK_SUCCESS;
}

static void VKAPI_CALL end_cache(VkDevice device, VkPipelineCache cache,
                                 const VkAllocationCallbacks *callbacks) {
    (void)device, (void)callbacks;
    mock_vk_free(MOCK_VK_OBJECT(cache));
}

static VkResult VKAPI_CALL get_cache(VkDevice device, VkPipelineCache cache, size_t *size, void *data) {
    static const unsigned char own[48] = {32, 0, 0, 0, 1, 0, 0, 0, 0x34, 0x12};
    (void)device, (void)cache;
    if (mock_fails())
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (data && *size < sizeof own)
        return VK_INCOMPLETE;
    if (data)
        memcpy(data, own, sizeof own);
    *size = sizeof own;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL merge_caches(VkDevice device, VkPipelineCache to, uint32_t count,
                                        const VkPipelineCache *from) {
    (void)device;
    FUZZ_PROMISE(to && count == 1 && from[0]);
    return mock_fails() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult VKAPI_CALL make_shader(VkDevice device, const VkShaderModuleCreateInfo *info,
                                       const VkAllocationCallbacks *callbacks, VkShaderModule *made) {
    (void)device, (void)callbacks;
    FUZZ_PROMISE(info->codeSize >= 20 && info->codeSize % 4 == 0 && info->pCode[0] == 0x07230203);
    mock_read(info->pCode, info->codeSize);
    if (mock_fails())
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *made = MOCK_VK_HANDLE(VkShaderModule, mock_vk_make());
    return VK_SUCCESS;
}

static void VKAPI_CALL end_shader(VkDevice device, VkShaderModule handle,
                                  const VkAllocationCallbacks *callbacks) {
    (void)device, (void)callbacks;
    mock_vk_free(MOCK_VK_OBJECT(handle));
}

static VkResult VKAPI_CALL make_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                          const VkComputePipelineCreateInfo *infos,
                                          const VkAllocationCallbacks *callbacks, VkPipeline *made) {
    (void)device, (void)cache, (void)callbacks;
    FUZZ_PROMISE(count == 1 && infos[0].layout && infos[0].stage.module);
    const VkSpecializationInfo *constants = infos[0].stage.pSpecializationInfo;
    for (uint32_t i = 0; constants && i < constants->mapEntryCount; i++)
        FUZZ_PROMISE(constants->pMapEntries[i].offset + constants->pMapEntries[i].size <=
                     constants->dataSize);
    if (mock_fails())
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    made[0] = MOCK_VK_HANDLE(VkPipeline, mock_vk_make());
    return VK_SUCCESS;
}

static void VKAPI_CALL end_pipeline(VkDevice device, VkPipeline handle,
                                    const VkAllocationCallbacks *callbacks) {
    (void)device, (void)callbacks;
    mock_vk_free(MOCK_VK_OBJECT(handle));
}

// ------------------------------------------------------------------------------------------- descriptors

static VkResult VKAPI_CALL allocate_sets(VkDevice device, const VkDescriptorSetAllocateInfo *info,
                                         VkDescriptorSet *sets) {
    static struct mock_object set; // one for all: they end with their pool
    (void)device;
    FUZZ_PROMISE(info->descriptorPool);
    if (mock_fails())
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
        FUZZ_PROMISE(info->pSetLayouts[i]);
        sets[i] = MOCK_VK_HANDLE(VkDescriptorSet, &set);
    }
    return VK_SUCCESS;
}

static void check_write(const VkWriteDescriptorSet *write) {
    for (uint32_t i = 0; i < write->descriptorCount; i++) {
        if (write->pImageInfo && !write->pBufferInfo) {
            FUZZ_PROMISE(write->pImageInfo[i].imageView);
            continue;
        }
        const VkDescriptorBufferInfo *info = &write->pBufferInfo[i];
        const struct mock_object *buffer = MOCK_VK_OBJECT(info->buffer);
        FUZZ_PROMISE(buffer && info->offset < buffer->size && info->offset % mock.alignment == 0);
        FUZZ_PROMISE(info->range == VK_WHOLE_SIZE ||
                     (info->range > 0 && info->range <= buffer->size - info->offset));
        FUZZ_PROMISE(info->range == VK_WHOLE_SIZE ||
                     write->descriptorType != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER ||
                     info->range <= mock.buffer_range);
    }
}

static void VKAPI_CALL update_sets(VkDevice device, uint32_t count, const VkWriteDescriptorSet *writes,
                                   uint32_t copies, const VkCopyDescriptorSet *copied) {
    (void)device, (void)copied;
    FUZZ_PROMISE(copies == 0);
    for (uint32_t i = 0; i < count; i++)
        check_write(&writes[i]);
}

static void VKAPI_CALL push_set(VkCommandBuffer to, VkPipelineBindPoint point, VkPipelineLayout layout,
                                uint32_t set, uint32_t count, const VkWriteDescriptorSet *writes) {
    FUZZ_PROMISE(to && point == VK_PIPELINE_BIND_POINT_COMPUTE && layout && set == 0);
    for (uint32_t i = 0; i < count; i++)
        check_write(&writes[i]);
}

// ---------------------------------------------------------------------------------------------- commands

static VkResult VKAPI_CALL allocate_commands(VkDevice device, const VkCommandBufferAllocateInfo *info,
                                             VkCommandBuffer *made) {
    (void)device;
    if (mock_fails())
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        made[i] = &commands;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL begin(VkCommandBuffer to, const VkCommandBufferBeginInfo *info) {
    FUZZ_PROMISE(to && info);
    return mock_fails() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult VKAPI_CALL end(VkCommandBuffer to) {
    FUZZ_PROMISE(to);
    return mock_fails() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
    (void)fence;
    FUZZ_PROMISE(queue == mock_vk_queue() && count == 1 && infos[0].commandBufferCount == 1);
    return mock_fails() ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

static VkResult VKAPI_CALL wait_idle(VkQueue queue) {
    FUZZ_PROMISE(queue == mock_vk_queue());
    return mock_fails() ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

static VkResult VKAPI_CALL reset_fences(VkDevice device, uint32_t count, const VkFence *fences) {
    (void)device;
    FUZZ_PROMISE(count > 0 && fences[0]);
    return mock_fails() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult VKAPI_CALL wait_fences(VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all,
                                       uint64_t time) {
    (void)device, (void)all, (void)time;
    FUZZ_PROMISE(count > 0 && fences[0]);
    return mock_fails() ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

static void VKAPI_CALL bind_pipeline(VkCommandBuffer to, VkPipelineBindPoint point, VkPipeline pipeline) {
    FUZZ_PROMISE(to && point == VK_PIPELINE_BIND_POINT_COMPUTE && pipeline);
}

static void VKAPI_CALL bind_sets(VkCommandBuffer to, VkPipelineBindPoint point, VkPipelineLayout layout,
                                 uint32_t first, uint32_t count, const VkDescriptorSet *sets,
                                 uint32_t offset_count, const uint32_t *offsets) {
    (void)first, (void)offset_count, (void)offsets;
    FUZZ_PROMISE(to && point == VK_PIPELINE_BIND_POINT_COMPUTE && layout && count == 1 && sets[0]);
}

static void VKAPI_CALL push_constants(VkCommandBuffer to, VkPipelineLayout layout, VkShaderStageFlags stages,
                                      uint32_t offset, uint32_t size, const void *values) {
    FUZZ_PROMISE(to && layout && stages && offset + size <= 128);
    mock_read(values, size);
}

static void VKAPI_CALL dispatch(VkCommandBuffer to, uint32_t x, uint32_t y, uint32_t z) {
    FUZZ_PROMISE(to && x > 0 && y > 0 && z > 0 && x <= mock.most_groups && y <= mock.most_groups &&
                 z <= 65535);
}

static void VKAPI_CALL copy_buffer(VkCommandBuffer to, VkBuffer from_buffer, VkBuffer to_buffer,
                                   uint32_t count, const VkBufferCopy *regions) {
    const struct mock_object *source = MOCK_VK_OBJECT(from_buffer), *target = MOCK_VK_OBJECT(to_buffer);
    FUZZ_PROMISE(to && source && target);
    for (uint32_t i = 0; i < count; i++) {
        FUZZ_PROMISE(regions[i].size > 0 && regions[i].srcOffset <= source->size &&
                     regions[i].size <= source->size - regions[i].srcOffset);
        FUZZ_PROMISE(regions[i].dstOffset <= target->size &&
                     regions[i].size <= target->size - regions[i].dstOffset);
    }
}

static void VKAPI_CALL copy_to_image(VkCommandBuffer to, VkBuffer buffer, VkImage image, VkImageLayout layout,
                                     uint32_t count, const VkBufferImageCopy *regions) {
    const struct mock_object *source = MOCK_VK_OBJECT(buffer), *target = MOCK_VK_OBJECT(image);
    (void)layout;
    FUZZ_PROMISE(to && source && target->memory);
    for (uint32_t i = 0; i < count; i++) {
        const VkBufferImageCopy *region = &regions[i];
        const uint64_t bytes = (uint64_t)region->imageExtent.width * region->imageExtent.height * TEXEL;
        FUZZ_PROMISE((uint32_t)region->imageOffset.x + region->imageExtent.width <= target->width &&
                     (uint32_t)region->imageOffset.y + region->imageExtent.height <= target->height);
        FUZZ_PROMISE(region->bufferOffset <= source->size && bytes <= source->size - region->bufferOffset);
    }
}

static void VKAPI_CALL barrier(VkCommandBuffer to, VkPipelineStageFlags before, VkPipelineStageFlags after,
                               VkDependencyFlags flags, uint32_t memory_count,
                               const VkMemoryBarrier *memories, uint32_t buffer_count,
                               const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                               const VkImageMemoryBarrier *images) {
    (void)flags, (void)memories, (void)buffers;
    FUZZ_PROMISE(to && before && after && memory_count + buffer_count + image_count > 0);
    for (uint32_t i = 0; i < image_count; i++)
        FUZZ_PROMISE(images[i].image);
}

#define ENTRY(name, own)                                                                                     \
    { "vk" #name, (PFN_vkVoidFunction)(void (*)(void))(own) }
PFN_vkVoidFunction mock_vk_find_command(const char *name) {
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } entries[] = {
        ENTRY(CreateImageView, make_view),
        ENTRY(DestroyImageView, end_view),
        ENTRY(CreateSampler, make_sampler),
        ENTRY(DestroySampler, end_sampler),
        ENTRY(CreateDescriptorSetLayout, make_set_layout),
        ENTRY(DestroyDescriptorSetLayout, end_set_layout),
        ENTRY(CreatePipelineLayout, make_layout),
        ENTRY(DestroyPipelineLayout, end_layout),
        ENTRY(CreateDescriptorPool, make_pool),
        ENTRY(DestroyDescriptorPool, end_pool),
        ENTRY(CreateCommandPool, make_command_pool),
        ENTRY(DestroyCommandPool, end_command_pool),
        ENTRY(CreateFence, make_fence),
        ENTRY(DestroyFence, end_fence),
        ENTRY(CreatePipelineCache, make_cache),
        ENTRY(DestroyPipelineCache, end_cache),
        ENTRY(GetPipelineCacheData, get_cache),
        ENTRY(MergePipelineCaches, merge_caches),
        ENTRY(CreateShaderModule, make_shader),
        ENTRY(DestroyShaderModule, end_shader),
        ENTRY(CreateComputePipelines, make_pipelines),
        ENTRY(DestroyPipeline, end_pipeline),
        ENTRY(AllocateDescriptorSets, allocate_sets),
        ENTRY(UpdateDescriptorSets, update_sets),
        ENTRY(CmdPushDescriptorSetKHR, push_set),
        ENTRY(AllocateCommandBuffers, allocate_commands),
        ENTRY(BeginCommandBuffer, begin),
        ENTRY(EndCommandBuffer, end),
        ENTRY(QueueSubmit, submit),
        ENTRY(QueueWaitIdle, wait_idle),
        ENTRY(ResetFences, reset_fences),
        ENTRY(WaitForFences, wait_fences),
        ENTRY(CmdBindPipeline, bind_pipeline),
        ENTRY(CmdBindDescriptorSets, bind_sets),
        ENTRY(CmdPushConstants, push_constants),
        ENTRY(CmdDispatch, dispatch),
        ENTRY(CmdCopyBuffer, copy_buffer),
        ENTRY(CmdCopyBufferToImage, copy_to_image),
        ENTRY(CmdPipelineBarrier, barrier),
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strcmp(name, entries[i].name) == 0)
            return entries[i].function;
    return NULL;
}

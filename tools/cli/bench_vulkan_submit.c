// SPDX-License-Identifier: MIT
#include "bench_vulkan.h"
#include "message.h"
#include "progress.h"

int bench_vulkan_begin(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    int result = vulkan_check(engine, vkBeginCommandBuffer(vulkan->commands, &info), "vkBeginCommandBuffer");
    if (!result && vulkan->queries) {
        vkCmdResetQueryPool(vulkan->commands, vulkan->queries, 0, 2);
        vkCmdWriteTimestamp(vulkan->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, vulkan->queries, 0);
    }
    return result;
}

// Everything written is there for whoever comes next, the host included.
void bench_vulkan_barrier(VkCommandBuffer commands) {
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                         VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
                             VK_PIPELINE_STAGE_HOST_BIT,
                         0, 1, &barrier, 0, NULL, 0, NULL);
}

static double device_seconds(const struct vulkan *vulkan) {
    uint64_t ticks[2];
    if (!vulkan->queries ||
        vkGetQueryPoolResults(vulkan->handle, vulkan->queries, 0, 2, sizeof ticks, ticks, sizeof *ticks,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT) != VK_SUCCESS)
        return 0;
    return (double)((ticks[1] - ticks[0]) & vulkan->tick_mask) * vulkan->tick;
}

int bench_vulkan_submit(struct bench_engine *engine, struct bench_sample *sample) {
    struct vulkan *vulkan = engine->impl;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &vulkan->commands};
    bench_vulkan_barrier(vulkan->commands);
    if (vulkan->queries)
        vkCmdWriteTimestamp(vulkan->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, vulkan->queries, 1);
    int result = vulkan_check(engine, vkEndCommandBuffer(vulkan->commands), "vkEndCommandBuffer");
    if (result)
        return result;
    double begin = seconds_now();
    result = vulkan_check(engine, vkQueueSubmit(vulkan->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    if (!result)
        result = vulkan_check(engine, vkQueueWaitIdle(vulkan->queue), "vkQueueWaitIdle");
    sample->host = seconds_now() - begin;
    sample->device = result ? 0 : device_seconds(vulkan);
    return result;
}

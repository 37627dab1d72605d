// SPDX-License-Identifier: MIT
//
// Host tensors rotated in pieces: staged into a lane's arena, rotated by one dispatch, read back.
#include "apply.h"

#include "../stage.h"
#include "descriptors.h"
#include "lane.h"
#include "pipeline.h"
#include "table.h"
#include "window.h"

#include <string.h>

struct job {
    struct vulkan_device *device;
    struct vulkan_lane *lane;
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    const rope2d_work *work;
    const rope2d_piece *piece;
};

static void begin_cutting(rope2d_cutter *cutter, const rope2d_plan *plan, const rope2d_positions *positions,
                          const rope2d_work *work) {
    rope2d_stage_limits limits = rope2d_vulkan_limits(plan, positions);
    limits.total_bytes = rope2d_vulkan_of(plan->device)->arena_bytes;
    if (limits.total_bytes > limits.buffer_bytes)
        limits.total_bytes = limits.buffer_bytes;
    limits.slots = plan->tensors_per_dispatch;
    rope2d_cutter_begin(cutter, plan, work, &limits);
}

// Every tensor lies in the arena, so every slot gets all of it: as many tensors share a dispatch as the shape
// has room for, however few storage buffers the device binds.
static void share_arena(rope2d_piece *piece, const rope2d_plan *plan) {
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        rope2d_stage_tensor *tensor = &piece->tensors[i];
        tensor->in.first += (uint32_t)(tensor->in.offset / rope2d_element_size(plan->in));
        tensor->out.first += (uint32_t)(tensor->out.offset / rope2d_element_size(plan->out));
    }
}

static void bind(const struct job *job, const struct vulkan_kernel *kernel,
                 const struct vulkan_window *window, uint32_t is_texture) {
    struct vulkan_lane *lane = job->lane;
    VkDescriptorBufferInfo arena = {lane->arena.handle, 0, job->piece->bytes};
    const VkDescriptorBufferInfo slots[2] = {arena, arena};
    VkDescriptorBufferInfo shape = {lane->shape.handle, lane->shape.offset, lane->shape.size};
    rope2d_vulkan_descriptors_fill(job->device, is_texture, &shape, &kernel->units, job->positions->impl,
                                   window, slots, 1, &lane->written);
    rope2d_vulkan_descriptors_write(job->device, lane->sets[is_texture], &lane->written);
}

static void barrier(const struct job *job, const struct vulkan_buffer *buffer,
                    VkPipelineStageFlags from_stage, VkAccessFlags from, VkPipelineStageFlags to_stage,
                    VkAccessFlags to) {
    VkBufferMemoryBarrier info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = from,
        .dstAccessMask = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = buffer->handle,
        .size = VK_WHOLE_SIZE,
    };
    job->device->vk.vkCmdPipelineBarrier(job->lane->commands, from_stage, to_stage, 0, 0, NULL, 1, &info, 0,
                                         NULL);
}

// Between the mirror and the arena, where tensors lie at the same offsets.
static void record_copy(const struct job *job, const struct vulkan_buffer *from,
                        const struct vulkan_buffer *to, bool of_outputs) {
    VkBufferCopy regions[R_MAX_DISPATCH_TENSORS];
    for (uint32_t i = 0; i < job->piece->tensor_count; i++) {
        const rope2d_stage_tensor *tensor = &job->piece->tensors[i];
        const rope2d_stage_side *side = of_outputs ? &tensor->out : &tensor->in;
        VkBufferCopy region = {side->offset, side->offset, side->bytes};
        regions[i] = region;
    }
    job->device->vk.vkCmdCopyBuffer(job->lane->commands, from->handle, to->handle, job->piece->tensor_count,
                                    regions);
}

static void record_upload(const struct job *job) {
    const struct vulkan_lane *lane = job->lane;
    if (lane->arena.mapped != NULL)
        return; // written by the host, which submitting makes visible
    record_copy(job, &lane->mirror, &lane->arena, false);
    barrier(job, &lane->arena, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

static void record_download(const struct job *job) {
    const struct vulkan_lane *lane = job->lane;
    if (lane->mirror.handle == VK_NULL_HANDLE) {
        barrier(job, &lane->arena, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        return;
    }
    barrier(job, &lane->arena, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    record_copy(job, &lane->arena, &lane->mirror, true);
    barrier(job, &lane->mirror, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

static void record_dispatch(const struct job *job, const struct vulkan_kernel *kernel, uint32_t is_texture,
                            const uint32_t *words) {
    const struct VolkDeviceTable *vk = &job->device->vk;
    const struct vulkan_lane *lane = job->lane;
    VkPipelineLayout layout = job->device->layouts[is_texture].pipeline;
    vk->vkCmdBindPipeline(lane->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    rope2d_vulkan_descriptors_bind(job->device, lane->commands, layout, lane->sets[is_texture],
                                   &lane->written);
    vk->vkCmdPushConstants(lane->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           R_RANGE_WORDS * sizeof(*words), words);
    vk->vkCmdDispatch(lane->commands, job->piece->groups[0], job->piece->groups[1], 1);
}

static rope2d_status dispatch(const struct job *job) {
    const struct vulkan_plan *pipelines = job->plan->impl;
    const struct vulkan_positions *table = job->positions->impl;
    const struct vulkan_kernel *kernel = job->piece->vector ? &pipelines->vector : &pipelines->single;
    uint32_t is_texture = job->plan->table_kind == ROPE2D_TABLE_TEXTURE;
    struct vulkan_window window = rope2d_vulkan_row_window(job->positions, job->work, job->piece);
    rope2d_piece shared = *job->piece;
    share_arena(&shared, job->plan);
    uint32_t words[R_SHAPE_WORDS];
    rope2d_shape_write(words, job->plan, job->positions, job->work, &shared, window.first, table->fold);
    memcpy(job->lane->shape.mapped, words, sizeof(words));
    ROPE2D_TRY(rope2d_vulkan_buffer_flush(job->device, &job->lane->shape));
    bind(job, kernel, &window, is_texture);
    ROPE2D_TRY(rope2d_vulkan_lane_begin(job->device, job->lane));
    record_upload(job);
    record_dispatch(job, kernel, is_texture, words);
    record_download(job);
    return rope2d_vulkan_lane_run(job->device, job->lane);
}

static rope2d_status run_piece(const struct job *job) {
    const rope2d_piece *piece = job->piece;
    struct vulkan_lane *lane = job->lane;
    ROPE2D_TRY(rope2d_vulkan_lane_reserve(job->device, lane, piece->bytes));
    const struct vulkan_buffer *to = lane->arena.mapped != NULL ? &lane->arena : &lane->mirror;
    for (uint32_t i = 0; i < piece->tensor_count; i++)
        rope2d_stage_in(job->plan, piece, i, (unsigned char *)to->mapped + piece->tensors[i].in.offset);
    ROPE2D_TRY(rope2d_vulkan_buffer_flush(job->device, to));
    ROPE2D_TRY(dispatch(job));
    const struct vulkan_buffer *from = lane->mirror.handle != VK_NULL_HANDLE ? &lane->mirror : &lane->arena;
    ROPE2D_TRY(rope2d_vulkan_buffer_invalidate(job->device, from));
    for (uint32_t i = 0; i < piece->tensor_count; i++)
        rope2d_stage_out(job->plan, piece, i,
                         (const unsigned char *)from->mapped + piece->tensors[i].out.offset);
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                                  const rope2d_work *work) {
    rope2d_piece piece;
    rope2d_cutter cutter;
    bool more = false;
    struct job job = {rope2d_vulkan_of(plan->device), NULL, plan, positions, work, &piece};
    if (positions->impl == NULL)
        return rope2d_vulkan_window_apply(plan, positions, work);
    if (!rope2d_vulkan_is_placed(positions->impl))
        return rope2d_vulkan_not_placed(positions);
    begin_cutting(&cutter, plan, positions, work);
    ROPE2D_TRY(rope2d_vulkan_lane_take(job.device, &job.lane));
    rope2d_status status = rope2d_cutter_next(&cutter, &piece, &more);
    while (status == ROPE2D_OK && more) {
        status = run_piece(&job);
        if (status == ROPE2D_OK)
            status = rope2d_cutter_next(&cutter, &piece, &more);
    }
    rope2d_vulkan_lane_give(job.device, job.lane, status == ROPE2D_OK);
    return status;
}

rope2d_status rope2d_vulkan_dispatches(const rope2d_plan *plan, const rope2d_positions *positions,
                                       const rope2d_work *work, uint64_t *dispatches) {
    rope2d_piece piece;
    rope2d_cutter cutter;
    bool more = false;
    uint64_t count = 0;
    if (positions->impl == NULL)
        return rope2d_vulkan_window_dispatches(plan, positions, work, dispatches);
    begin_cutting(&cutter, plan, positions, work);
    ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
    while (more) {
        count++;
        ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
    }
    *dispatches = count;
    return ROPE2D_OK;
}

// SPDX-License-Identifier: MIT
//
// Host tensors rotated in pieces: staged into a lane's arena, rotated by one dispatch, read back.
#include "apply.h"

#include "../stage.h"
#include "lane.h"
#include "pipeline.h"
#include "table.h"
#include "window.h"

struct job {
    struct vulkan_device *device;
    struct vulkan_lane *lane;
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    const rope2d_work *work;
    const rope2d_piece *piece;
};

// Row numbers that a dispatch can reach: a window of the rows' buffer.
struct window {
    uint64_t first; // row number at its beginning, as the driver aligns it
    uint64_t count;
};

static struct window row_window(const rope2d_positions *positions, const rope2d_work *work,
                                const rope2d_piece *piece) {
    uint64_t axes = positions->pattern.row_axes;
    uint64_t step = positions->device->info.buffer_offset_alignment / sizeof(int32_t);
    uint64_t token = work->first_token + piece->token_first;
    uint64_t batch_first = positions->batch > 1 ? piece->batch_first : 0;
    uint64_t batch_last = positions->batch > 1 ? batch_first + piece->batch - 1 : 0;
    struct window window;
    window.first = (batch_first * positions->tokens + token) * axes / step * step;
    window.count = (batch_last * positions->tokens + token + piece->tokens) * axes - window.first;
    return window;
}

static void begin_cutting(rope2d_cutter *cutter, const rope2d_plan *plan, const rope2d_positions *positions,
                          const rope2d_work *work) {
    const rope2d_device_info *info = &plan->device->info;
    const struct vulkan_device *device = rope2d_vulkan_of(plan->device);
    rope2d_stage_limits limits = {
        .buffer_bytes = info->max_buffer_range,
        .total_bytes = device->arena_bytes,
        .slots = plan->tensors_per_dispatch,
        .group_size = device->group_size,
        .max_groups = info->max_groups,
        .offset_alignment = info->buffer_offset_alignment,
        // A window may begin up to an alignment before its first row.
        .row_range = (info->max_buffer_range - info->buffer_offset_alignment) / sizeof(int32_t),
        .row_batch_stride = positions->batch > 1 ? positions->tokens * positions->pattern.row_axes : 0,
    };
    rope2d_cutter_begin(cutter, plan, work, &limits);
}

static void describe_buffer(VkDescriptorBufferInfo *info, const struct vulkan_buffer *buffer, uint64_t offset,
                            uint64_t range) {
    info->buffer = buffer->handle;
    info->offset = offset;
    info->range = range;
}

// Fills the lane's set. Slots without a tensor get the first tensor's buffers: a module's bindings must all
// be there.
static void bind(const struct job *job, const struct vulkan_kernel *kernel, const struct window *window,
                 uint32_t is_texture) {
    const struct vulkan_positions *table = job->positions->impl;
    struct vulkan_lane *lane = job->lane;
    uint32_t count = 4 + 2 * job->device->layouts[is_texture].slots;
    VkDescriptorBufferInfo buffers[4 + 2 * R_MAX_DISPATCH_TENSORS] = {0};
    VkWriteDescriptorSet writes[4 + 2 * R_MAX_DISPATCH_TENSORS];
    VkDescriptorImageInfo image = {job->device->sampler, table->image.view,
                                   VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    describe_buffer(&buffers[0], &lane->shape, 0, lane->shape.size);
    describe_buffer(&buffers[1], &kernel->units, 0, kernel->units.size);
    describe_buffer(&buffers[2], &table->rows, window->first * sizeof(int32_t),
                    window->count * sizeof(int32_t));
    describe_buffer(&buffers[3], &table->table, 0, table->table.size);
    for (uint32_t i = 4; i < count; i += 2) {
        uint32_t slot = (i - 4) / 2 < job->piece->tensor_count ? (i - 4) / 2 : 0;
        const rope2d_stage_tensor *tensor = &job->piece->tensors[slot];
        describe_buffer(&buffers[i], &lane->arena, tensor->in.offset, tensor->in.bytes);
        describe_buffer(&buffers[i + 1], &lane->arena, tensor->out.offset, tensor->out.bytes);
    }
    for (uint32_t i = 0; i < count; i++) {
        VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = lane->sets[is_texture],
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = i < 2 ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &buffers[i],
        };
        if (i == 3 && is_texture) {
            write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
            write.pImageInfo = &image;
        }
        writes[i] = write;
    }
    job->device->vk.vkUpdateDescriptorSets(job->device->handle, count, writes, 0, NULL);
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

static void record_dispatch(const struct job *job, const struct vulkan_kernel *kernel, uint32_t is_texture) {
    const struct VolkDeviceTable *vk = &job->device->vk;
    const struct vulkan_lane *lane = job->lane;
    vk->vkCmdBindPipeline(lane->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    vk->vkCmdBindDescriptorSets(lane->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                job->device->layouts[is_texture].pipeline, 0, 1, &lane->sets[is_texture], 0,
                                NULL);
    vk->vkCmdDispatch(lane->commands, job->piece->groups[0], job->piece->groups[1], 1);
}

static rope2d_status dispatch(const struct job *job) {
    const struct vulkan_plan *pipelines = job->plan->impl;
    const struct vulkan_positions *table = job->positions->impl;
    const struct vulkan_kernel *kernel = job->piece->wide ? &pipelines->wide : &pipelines->single;
    uint32_t is_texture = job->plan->table_kind == ROPE2D_TABLE_TEXTURE;
    struct window window = row_window(job->positions, job->work, job->piece);
    rope2d_shape_write(job->lane->shape.mapped, job->plan, job->positions, job->work, job->piece,
                       window.first, table->fold, job->device->group_size);
    ROPE2D_TRY(rope2d_vulkan_buffer_flush(job->device, &job->lane->shape));
    bind(job, kernel, &window, is_texture);
    ROPE2D_TRY(rope2d_vulkan_lane_begin(job->device, job->lane));
    record_upload(job);
    record_dispatch(job, kernel, is_texture);
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

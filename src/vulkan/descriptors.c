// SPDX-License-Identifier: MIT
#include "descriptors.h"

struct vulkan_window rope2d_vulkan_row_window(const rope2d_positions *positions, const rope2d_work *work,
                                              const rope2d_piece *piece) {
    uint64_t axes = positions->pattern.row_axes;
    uint64_t step = positions->device->info.buffer_offset_alignment / sizeof(int32_t);
    uint64_t token = work->first_token + piece->token_first;
    uint64_t batch_first = positions->batch > 1 ? piece->batch_first : 0;
    uint64_t batch_last = positions->batch > 1 ? batch_first + piece->batch - 1 : 0;
    struct vulkan_window window;
    window.first = (batch_first * positions->tokens + token) * axes / step * step;
    window.count = (batch_last * positions->tokens + token + piece->tokens) * axes - window.first;
    return window;
}

rope2d_stage_limits rope2d_vulkan_limits(const rope2d_plan *plan, const rope2d_positions *positions) {
    const rope2d_device_info *info = &plan->device->info;
    const uint32_t slots =
        rope2d_vulkan_of(plan->device)->layouts[plan->table_kind == ROPE2D_TABLE_TEXTURE].slots;
    rope2d_stage_limits limits = {
        .buffer_bytes = info->max_buffer_range,
        .slots = slots,
        .group_size = rope2d_vulkan_of(plan->device)->group_size,
        .vector_group = rope2d_vulkan_vector_group(plan),
        .token_slots = info->is_software ? slots : 0,
        .keeps_order = rope2d_vulkan_keeps_order(info),
        .max_groups = info->max_groups,
        .offset_alignment = info->buffer_offset_alignment > 16 ? info->buffer_offset_alignment : 16,
        // A window may begin up to an alignment before its first row.
        .row_range = (info->max_buffer_range - info->buffer_offset_alignment) / sizeof(int32_t),
        .row_batch_stride = positions->batch > 1 ? positions->tokens * positions->pattern.row_axes : 0,
    };
    return limits;
}

static void describe_buffer(VkDescriptorBufferInfo *info, const struct vulkan_buffer *buffer, uint64_t offset,
                            uint64_t range) {
    info->buffer = buffer->handle;
    info->offset = buffer->offset + offset;
    info->range = range;
}

// Slots without a tensor get the first tensor's buffers: a module's bindings must all be there.
void rope2d_vulkan_descriptors_fill(const struct vulkan_device *device, uint32_t is_texture,
                                    const VkDescriptorBufferInfo *shape, const struct vulkan_buffer *units,
                                    const struct vulkan_positions *positions,
                                    const struct vulkan_window *window, const VkDescriptorBufferInfo *tensors,
                                    uint32_t tensor_count, struct vulkan_descriptors *descriptors) {
    const uint32_t count = 4 + 2 * device->layouts[is_texture].slots;
    VkDescriptorBufferInfo *buffers = descriptors->buffers;
    const VkDescriptorImageInfo image = {device->sampler, positions->image.view,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    descriptors->image = image;
    descriptors->count = count;
    buffers[0] = *shape;
    describe_buffer(&buffers[1], units, 0, units->size);
    describe_buffer(&buffers[2], &positions->rows, window->first * sizeof(int32_t),
                    window->count * sizeof(int32_t));
    describe_buffer(&buffers[3], &positions->table, 0, positions->table.size);
    for (uint32_t i = 4; i < count; i++)
        buffers[i] = tensors[(i - 4) / 2 < tensor_count ? i - 4 : i % 2];
    for (uint32_t i = 0; i < count; i++) {
        VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = i < 2 ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &buffers[i],
        };
        if (i == 3 && is_texture) {
            write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
            write.pBufferInfo = NULL;
            write.pImageInfo = &descriptors->image;
        }
        descriptors->writes[i] = write;
    }
}

void rope2d_vulkan_descriptors_write(const struct vulkan_device *device, VkDescriptorSet set,
                                     struct vulkan_descriptors *descriptors) {
    if (device->pushes)
        return;
    for (uint32_t i = 0; i < descriptors->count; i++)
        descriptors->writes[i].dstSet = set;
    device->vk.vkUpdateDescriptorSets(device->handle, descriptors->count, descriptors->writes, 0, NULL);
}

void rope2d_vulkan_descriptors_bind(const struct vulkan_device *device, VkCommandBuffer commands,
                                    VkPipelineLayout layout, VkDescriptorSet set,
                                    const struct vulkan_descriptors *descriptors) {
    if (device->pushes)
        device->vk.vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0,
                                             descriptors->count, descriptors->writes);
    else
        device->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0,
                                           NULL);
}

// SPDX-License-Identifier: MIT
#include "gpu.h"

#include <string.h>

gpu_pass gpu_pass_make(const gpu *own, const uint32_t *code, size_t bytes, uint32_t buffers,
                       uint32_t push_bytes) {
    gpu_pass made = {.buffers = buffers, .push_bytes = push_bytes};
    VkDescriptorSetLayoutBinding bindings[GPU_MAX_BUFFERS];
    for (uint32_t i = 0; i < buffers; i++) {
        const VkDescriptorSetLayoutBinding binding = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                      VK_SHADER_STAGE_COMPUTE_BIT, NULL};
        bindings[i] = binding;
    }
    const VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                 .bindingCount = buffers,
                                                 .pBindings = bindings};
    gpu_must(vkCreateDescriptorSetLayout(own->device, &set, NULL, &made.set), "vkCreateDescriptorSetLayout");
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &made.set,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    gpu_must(vkCreatePipelineLayout(own->device, &layout, NULL, &made.layout), "vkCreatePipelineLayout");
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = code};
    VkShaderModule module = VK_NULL_HANDLE;
    gpu_must(vkCreateShaderModule(own->device, &module_info, NULL, &module), "vkCreateShaderModule");
    const VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = made.layout};
    gpu_must(vkCreateComputePipelines(own->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &made.pipeline),
             "vkCreateComputePipelines");
    vkDestroyShaderModule(own->device, module, NULL);
    return made;
}

void gpu_pass_free(const gpu *own, gpu_pass *pass) {
    vkDestroyPipeline(own->device, pass->pipeline, NULL);
    vkDestroyPipelineLayout(own->device, pass->layout, NULL);
    vkDestroyDescriptorSetLayout(own->device, pass->set, NULL);
    memset(pass, 0, sizeof(*pass));
}

VkDescriptorSet gpu_set_make(const gpu *own, const gpu_pass *pass, const VkDescriptorBufferInfo *buffers) {
    VkDescriptorSet made = VK_NULL_HANDLE;
    const VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = own->sets,
                                              .descriptorSetCount = 1,
                                              .pSetLayouts = &pass->set};
    gpu_must(vkAllocateDescriptorSets(own->device, &info, &made), "vkAllocateDescriptorSets");
    for (uint32_t i = 0; i < pass->buffers; i++) {
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = made,
                                            .dstBinding = i,
                                            .descriptorCount = 1,
                                            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .pBufferInfo = &buffers[i]};
        vkUpdateDescriptorSets(own->device, 1, &write, 0, NULL);
    }
    return made;
}

VkCommandBuffer gpu_commands_make(const gpu *own) {
    VkCommandBuffer made = NULL;
    const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = own->commands,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    gpu_must(vkAllocateCommandBuffers(own->device, &info, &made), "vkAllocateCommandBuffers");
    return made;
}

void gpu_begin(VkCommandBuffer commands) {
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    gpu_must(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

void gpu_run(VkCommandBuffer commands, const gpu_pass *pass, VkDescriptorSet set, const void *push,
             uint32_t groups) {
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->layout, 0, 1, &set, 0, NULL);
    vkCmdPushConstants(commands, pass->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, pass->push_bytes, push);
    vkCmdDispatch(commands, groups, 1, 1);
}

void gpu_barrier(VkCommandBuffer commands) {
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                                      VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                         NULL, 0, NULL);
}

void gpu_submit(const gpu *own, VkCommandBuffer commands, VkFence fence) {
    gpu_must(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    gpu_must(vkQueueSubmit(own->queue, 1, &info, fence), "vkQueueSubmit");
}

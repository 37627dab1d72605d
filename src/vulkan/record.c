// SPDX-License-Identifier: MIT
#include "binding.h"

rope2d_status rope2d_vulkan_record(const rope2d_vulkan_binding *binding, VkCommandBuffer commands) {
    if (binding == NULL)
        return ROPE2D_ERROR_NULL;
    if (commands == NULL)
        return rope2d_fail(&binding->plan->device->host, ROPE2D_ERROR_NULL, "commands is NULL");
    const struct VolkDeviceTable *vk = &binding->device->vk;
    VkPipeline bound = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < binding->count; i++) {
        const struct vulkan_dispatch *dispatch = &binding->sets.dispatches[i];
        if (dispatch->pipeline != bound)
            vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch->pipeline);
        bound = dispatch->pipeline;
        vk->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, binding->layout, 0, 1,
                                    &dispatch->set, 0, NULL);
        vk->vkCmdDispatch(commands, dispatch->groups[0], dispatch->groups[1], 1);
    }
    return ROPE2D_OK;
}

// SPDX-License-Identifier: MIT
//
// Memory of one device that another imports by an opaque file descriptor: for rope2d the imported buffer is a
// buffer like any other.
#include "vulkan_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const extension = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
static const VkExternalMemoryHandleTypeFlagBits kind = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

// NULL, or what the device cannot do.
static const char *obstacle(VkPhysicalDevice physical) {
    static VkExtensionProperties known[512];
    uint32_t count = sizeof(known) / sizeof(*known);
    bool is_known = false;
    vkEnumerateDeviceExtensionProperties(physical, NULL, &count, known);
    for (uint32_t i = 0; i < count; i++)
        is_known = is_known || strcmp(known[i].extensionName, extension) == 0;
    if (!is_known)
        return "no VK_KHR_external_memory_fd";
    const VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
        .handleType = kind,
    };
    const VkExternalMemoryFeatureFlags wanted =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    VkExternalBufferProperties found = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vkGetPhysicalDeviceExternalBufferProperties(physical, &info, &found);
    if ((found.externalMemoryProperties.externalMemoryFeatures & wanted) != wanted)
        return "storage buffers are not exported and imported";
    return NULL;
}

// A buffer on memory that is exported, or with an `fd` imported, which then belongs to the driver.
static bool shared_buffer_create(const owner *own, int fd, owner_buffer *buffer) {
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = kind};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = &external,
                                     .size = BYTES,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkMemoryRequirements needs;
    memset(buffer, 0, sizeof(*buffer));
    if (vkCreateBuffer(own->device, &info, NULL, &buffer->handle) != VK_SUCCESS)
        return false;
    vkGetBufferMemoryRequirements(own->device, buffer->handle, &needs);
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = buffer->handle};
    const VkExportMemoryAllocateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .pNext = &dedicated, .handleTypes = kind};
    const VkImportMemoryFdInfoKHR imported = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                              .pNext = &dedicated,
                                              .handleType = kind,
                                              .fd = fd};
    const VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = fd < 0 ? (const void *)&exported : (const void *)&imported,
        .allocationSize = needs.size,
        .memoryTypeIndex = owner_memory_type(own, needs.memoryTypeBits),
    };
    void *mapped = NULL;
    if (vkAllocateMemory(own->device, &memory, NULL, &buffer->memory) != VK_SUCCESS ||
        vkBindBufferMemory(own->device, buffer->handle, buffer->memory, 0) != VK_SUCCESS ||
        vkMapMemory(own->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &mapped) != VK_SUCCESS)
        return false;
    buffer->mapped = mapped;
    buffer->size = BYTES;
    return true;
}

// Takes a buffer over from another device, or gives it to one.
static void hand_over(const owner *own, const owner_buffer *buffer, bool is_taken) {
    const VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = is_taken ? 0 : VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = is_taken ? VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT : 0,
        .srcQueueFamilyIndex = is_taken ? VK_QUEUE_FAMILY_EXTERNAL : own->family,
        .dstQueueFamilyIndex = is_taken ? own->family : VK_QUEUE_FAMILY_EXTERNAL,
        .buffer = buffer->handle,
        .size = VK_WHOLE_SIZE,
    };
    vkCmdPipelineBarrier(
        own->commands, is_taken ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT : VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        is_taken ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL, 1,
        &barrier, 0, NULL);
}

static void rotate_imported(const owner *own, const owner_buffer *imported, const layout *l) {
    scene made = {0};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    const rope2d_vulkan_device_params ours = scene_adopting(own, NULL, false);
    make_params(l, imported, imported, tensors, &params);
    tally_check(&counts, rope2d_vulkan_device_adopt(&ours, &made.device) == ROPE2D_OK, "adopt");
    if (made.device != NULL &&
        make_scene(&made, l->in, l->out, l->table, ROPE2D_PLAN_NO_SELF_TEST) == ROPE2D_OK)
        tally_check(&counts,
                    rope2d_vulkan_binding_create(made.plan, made.positions, &params, &binding) == ROPE2D_OK,
                    "binding");
    tally_check(&counts, owner_begin(own), "begin");
    hand_over(own, imported, true);
    tally_check(&counts, rope2d_vulkan_record(binding, own->commands) == ROPE2D_OK, "record");
    hand_over(own, imported, false);
    tally_check(&counts, owner_run(own), "run");
    rope2d_vulkan_binding_destroy(binding);
    clear_scene(&made);
    rope2d_device_destroy(made.device);
}

// The first device writes q and k and reads what the second has made of them.
static void check_device(const owner *first, const owner *second) {
    static unsigned char expected[BYTES];
    const layout l = {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, true, 2, HEAD_DIM + 1, 3, TOKENS - 5};
    owner_buffer exported = {0}, imported = {0};
    int fd = -1;
    tally_check(&counts, shared_buffer_create(first, -1, &exported), "a buffer to export");
    const VkMemoryGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .memory = exported.memory, .handleType = kind};
    if (exported.mapped != NULL &&
        tally_check(&counts, vkGetMemoryFdKHR(first->device, &get, &fd) == VK_SUCCESS && fd >= 0, "an fd") &&
        tally_check(&counts, shared_buffer_create(second, fd, &imported), "a buffer to import")) {
        fill(exported.mapped, l.in);
        memcpy(expected, exported.mapped, BYTES);
        run_cpu(&l, expected, NULL);
        rotate_imported(second, &imported, &l);
        tally_check(&counts, owner_begin(first), "begin");
        hand_over(first, &exported, true);
        owner_barrier(first);
        tally_check(&counts, owner_run(first), "take it back");
        tally_check(&counts, memcmp(exported.mapped, expected, BYTES) == 0, "not the CPU's bits");
    }
    owner_buffer_destroy(second, &imported);
    owner_buffer_destroy(first, &exported);
}

int main(void) {
    owner own;
    if (!scene_owner(&own)) {
        owner_destroy(&own);
        return tally_finish(&counts);
    }
    own.extensions = &extension;
    own.extension_count = 1;
    for (uint32_t i = 0; i < own.physical_count; i++) {
        const char *missing = obstacle(own.physicals[i]);
        owner second = own;
        if (missing != NULL) {
            printf("device %u: %s\n", i, missing);
            counts.skipped++;
            continue;
        }
        if (tally_check(&counts, owner_open(&own, i) && owner_open(&second, i), "device %u", i)) {
            volkLoadInstance(own.instance); // functions for both devices
            check_device(&own, &second);
        }
        owner_close(&second);
        owner_close(&own);
    }
    owner_destroy(&own);
    return tally_finish(&counts);
}

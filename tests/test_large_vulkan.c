// SPDX-License-Identifier: MIT
//
// Tensors beyond byte 2^32 of a caller's Vulkan buffer. No software device has such buffers: this stands
// between the library and the driver, and takes 2^32 from each descriptor's offset, so that a small buffer
// is the last part of one above 4 GiB. An offset that lost its upper bits is seen.
#include "vulkan_scene.h"

#include <string.h>

static const uint64_t boundary = (uint64_t)1 << 32;

static PFN_vkUpdateDescriptorSets real_update;
static PFN_vkGetBufferMemoryRequirements real_requirements;
static PFN_vkGetDeviceProcAddr real_get;
static VkBuffer far_buffer;
static unsigned moved, lost;

enum { MOST_WRITES = 16, MOST_INFOS = 64 };

static VKAPI_ATTR void VKAPI_CALL update(VkDevice device, uint32_t count, const VkWriteDescriptorSet *writes,
                                         uint32_t copies, const VkCopyDescriptorSet *copied) {
    VkWriteDescriptorSet changed[MOST_WRITES];
    VkDescriptorBufferInfo infos[MOST_INFOS];
    uint32_t used = 0;
    if (count > MOST_WRITES) {
        lost++;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        changed[i] = writes[i];
        if (writes[i].pBufferInfo == NULL || used + writes[i].descriptorCount > MOST_INFOS)
            continue;
        changed[i].pBufferInfo = &infos[used];
        for (uint32_t j = 0; j < writes[i].descriptorCount; j++, used++) {
            infos[used] = writes[i].pBufferInfo[j];
            if (infos[used].buffer != far_buffer)
                continue;
            moved++;
            if (infos[used].offset >= boundary)
                infos[used].offset -= boundary;
            else
                lost++;
        }
    }
    real_update(device, count, changed, copies, copied);
}

static VKAPI_ATTR void VKAPI_CALL requirements(VkDevice device, VkBuffer buffer,
                                               VkMemoryRequirements *needs) {
    real_requirements(device, buffer, needs);
    if (buffer == far_buffer)
        needs->size += boundary;
}

static PFN_vkVoidFunction replaced(const char *name, PFN_vkVoidFunction found);

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name) {
    return replaced(name, real_get(device, name));
}

static PFN_vkVoidFunction replaced(const char *name, PFN_vkVoidFunction found) {
    if (strcmp(name, "vkUpdateDescriptorSets") == 0) {
        real_update = (PFN_vkUpdateDescriptorSets)found;
        return (PFN_vkVoidFunction)update;
    }
    if (strcmp(name, "vkGetBufferMemoryRequirements") == 0) {
        real_requirements = (PFN_vkGetBufferMemoryRequirements)found;
        return (PFN_vkVoidFunction)requirements;
    }
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_get = (PFN_vkGetDeviceProcAddr)found;
        return (PFN_vkVoidFunction)get_device;
    }
    return found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *name) {
    return replaced(name, vkGetInstanceProcAddr(instance, name));
}

static void rotate(const owner *own, rope2d_device *device, const layout *l) {
    static unsigned char expected[BYTES];
    owner_buffer buffer = {0};
    scene made = {.device = device};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    if (!tally_check(&counts, owner_buffer_create(own, BYTES, &buffer), "no memory for tensors"))
        return;
    expect(make_scene(&made, l->in, l->out, l->table, ROPE2D_PLAN_NO_SELF_TEST), ROPE2D_OK, "plan");
    make_params(l, &buffer, &buffer, tensors, &params);
    for (int i = 0; i < 2; i++) {
        tensors[i].in.size += boundary;
        tensors[i].in.offset += boundary;
    }
    fill(buffer.mapped, l->in);
    memcpy(expected, buffer.mapped, BYTES);
    run_cpu(l, expected, NULL);
    far_buffer = buffer.handle;
    moved = lost = 0;
    expect(rope2d_vulkan_binding_create(made.plan, made.positions, &params, &binding), ROPE2D_OK, "binding");
    tally_check(&counts, owner_begin(own), "begin");
    expect(rope2d_vulkan_record(binding, own->commands), ROPE2D_OK, "record");
    owner_barrier(own);
    tally_check(&counts, owner_run(own), "run");
    tally_check(&counts, moved > 0 && lost == 0, "%u of %u offsets lost their upper bits", lost, moved);
    tally_check(&counts, memcmp(buffer.mapped, expected, BYTES) == 0, "not the CPU's bits");
    rope2d_vulkan_binding_destroy(binding);
    far_buffer = VK_NULL_HANDLE;
    clear_scene(&made);
    owner_buffer_destroy(own, &buffer);
}

static void check(owner *own, uint32_t index) {
    const rope2d_host host = captured_host(&logged);
    rope2d_vulkan_device_params adopting = scene_adopting(own, &host, true);
    rope2d_device *device = NULL;
    (void)index;
    adopting.get_instance_proc_addr = get_instance;
    fill_spec();
    expect(rope2d_vulkan_device_adopt(&adopting, &device), ROPE2D_OK, "adopt");
    for (int type = 0; type < 3 && device != NULL; type++)
        for (uint64_t odd = 0; odd < 2; odd++) {
            const layout l = {.in = (rope2d_element)type,
                              .out = (rope2d_element)type,
                              .in_place = true,
                              .offset = 4096 + 4 * odd,
                              .head_stride = HEAD_DIM,
                              .tokens = TOKENS};
            rotate(own, device, &l);
        }
    rope2d_device_destroy(device);
}

int main(void) {
    return scene_run(NULL, check);
}

// SPDX-License-Identifier: MIT
//
// Objects that wait until the caller says that the device is done with them.
#include "binding.h"

static void retire(struct vulkan_device *device, struct rope2d_retired *node, uint64_t value,
                   void (*destroy)(void *object), void *object) {
    node->value = value;
    node->destroy = destroy;
    node->object = object;
    rope2d_lock_take(&device->retire_lock);
    node->next = device->retired;
    device->retired = node;
    rope2d_lock_give(&device->retire_lock);
}

static void destroy_binding(void *object) {
    rope2d_vulkan_binding_destroy(object);
}

static void destroy_positions(void *object) {
    rope2d_positions_destroy(object);
}

static void destroy_plan(void *object) {
    rope2d_plan_destroy(object);
}

void rope2d_vulkan_binding_retire(rope2d_vulkan_binding *binding, uint64_t value) {
    if (binding != NULL)
        retire(binding->device, &binding->retired, value, destroy_binding, binding);
}

void rope2d_vulkan_positions_retire(rope2d_positions *positions, uint64_t value) {
    if (positions == NULL)
        return;
    if (positions->device->backend == ROPE2D_BACKEND_VULKAN)
        retire(rope2d_vulkan_of(positions->device), &positions->retired, value, destroy_positions, positions);
    else
        rope2d_positions_destroy(positions);
}

void rope2d_vulkan_plan_retire(rope2d_plan *plan, uint64_t value) {
    if (plan == NULL)
        return;
    if (plan->device->backend == ROPE2D_BACKEND_VULKAN)
        retire(rope2d_vulkan_of(plan->device), &plan->retired, value, destroy_plan, plan);
    else
        rope2d_plan_destroy(plan);
}

// Takes what has passed off the list, so that nothing is destroyed under the lock.
static struct rope2d_retired *take_passed(struct vulkan_device *vulkan, uint64_t value) {
    struct rope2d_retired *passed = NULL;
    rope2d_lock_take(&vulkan->retire_lock);
    for (struct rope2d_retired **link = &vulkan->retired; *link != NULL;) {
        struct rope2d_retired *node = *link;
        if (node->value > value) {
            link = &node->next;
            continue;
        }
        *link = node->next;
        node->next = passed;
        passed = node;
    }
    rope2d_lock_give(&vulkan->retire_lock);
    return passed;
}

static void destroy_all(struct rope2d_retired *node) {
    while (node != NULL) {
        struct rope2d_retired *next = node->next;
        node->destroy(node->object);
        node = next;
    }
}

rope2d_status rope2d_vulkan_device_passed(rope2d_device *device, uint64_t value) {
    if (device == NULL)
        return ROPE2D_ERROR_NULL;
    if (device->backend != ROPE2D_BACKEND_VULKAN)
        return rope2d_fail(&device->host, ROPE2D_ERROR_MISMATCH, "device is %s, which is no Vulkan device",
                           device->info.name);
    destroy_all(take_passed(rope2d_vulkan_of(device), value));
    return ROPE2D_OK;
}

void rope2d_vulkan_drain(rope2d_device *device) {
    struct vulkan_device *vulkan = rope2d_vulkan_of(device);
    if (vulkan != NULL)
        destroy_all(vulkan->retired);
    if (vulkan != NULL)
        vulkan->retired = NULL;
}

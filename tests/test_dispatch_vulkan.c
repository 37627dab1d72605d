// SPDX-License-Identifier: MIT
//
// dispatch_bytes of a Vulkan owner's device: a recording of small dispatches has the CPU's bits, all of it
// and in ranges, and as many dispatches as the bytes say.
#include "vulkan_scene.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t token_bytes = (uint64_t)HEADS * HEAD_DIM * 2 * 2; // f16, read and written

// Synchronization validation compares descriptors, which begin at multiples of 256 bytes, as tokens do then.
enum { STRIDE = 128, SOME_TOKENS = 20 };

static rope2d_device *adopt(const owner *own, uint64_t bound) {
    rope2d_vulkan_device_params params = scene_adopting(own, NULL, true);
    params.dispatch_bytes = bound;
    rope2d_device *device = NULL;
    const rope2d_status status = rope2d_vulkan_device_adopt(&params, &device);
    tally_check(&counts, status == ROPE2D_OK, "adopt: %s", rope2d_status_name(status));
    return device;
}

// Records all, or two ranges that meet inside a dispatch.
static void run(const owner *own, const layout *l, const owner_buffer *memory, const scene *made,
                const rope2d_vulkan_range *ranges, uint32_t range_count, uint64_t bound,
                uint32_t *dispatches) {
    static unsigned char wanted[BYTES];
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    make_params(l, memory, memory, tensors, &params);
    fill(memory->mapped, l->in);
    memcpy(wanted, memory->mapped, BYTES);
    rope2d_status status = rope2d_vulkan_binding_create(made->plan, made->positions, &params, &binding);
    *dispatches = rope2d_vulkan_binding_dispatches(binding);
    tally_check(&counts, owner_begin(own), "begin");
    for (uint32_t i = 0; i < range_count && status == ROPE2D_OK; i++) {
        if (i > 0)
            owner_barrier(own); // both are in one dispatch's descriptors
        run_cpu_range(l, &ranges[i], wanted, wanted);
        status = rope2d_vulkan_record_range(binding, own->commands, &ranges[i]);
    }
    owner_barrier(own);
    tally_check(&counts, owner_run(own) && status == ROPE2D_OK && memcmp(memory->mapped, wanted, BYTES) == 0,
                "%" PRIu64 " bytes, %u ranges: %s, or other bits", bound, range_count,
                rope2d_status_name(status));
    rope2d_vulkan_binding_destroy(binding);
}

static void run_bound(const owner *own, const owner_buffer *memory, uint64_t bound, uint64_t tokens,
                      bool together) {
    static const layout l = {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, true, 0, STRIDE, 0, SOME_TOKENS};
    static const rope2d_vulkan_range all[1] = {{0, 0, SOME_TOKENS}};
    static const rope2d_vulkan_range two[2] = {{0, 0, 11}, {11, 11, SOME_TOKENS - 11}};
    scene made = {.device = adopt(own, bound)};
    uint32_t dispatches = 0;
    if (make_scene(&made, l.in, l.out, l.table, ROPE2D_PLAN_NO_SELF_TEST) == ROPE2D_OK) {
        // q and k go together where the device binds enough and one token of both fits.
        const uint64_t wanted = (together ? 1 : 2) * ((SOME_TOKENS + tokens - 1) / tokens);
        run(own, &l, memory, &made, two, 2, bound, &dispatches);
        run(own, &l, memory, &made, all, 1, bound, &dispatches);
        tally_check(&counts, dispatches == wanted, "%" PRIu64 " bytes: %u dispatches, not %" PRIu64, bound,
                    dispatches, wanted);
    }
    clear_scene(&made);
    rope2d_device_destroy(made.device);
}

// Whether a dispatch has room for q and k.
static bool has_room(const owner *own) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(own->physical, &properties);
    return properties.limits.maxPerStageDescriptorStorageBuffers >=
           2 + 4; // rows, the table, and each read and written
}

static void check_device(owner *own, uint32_t index) {
    owner_buffer memory = {0};
    const bool room = has_room(own);
    const uint64_t both = room ? 2 * token_bytes : token_bytes;
    if (tally_check(&counts, owner_buffer_create(own, BYTES, &memory), "device %u", index)) {
        run_bound(own, &memory, 1, 1, false);
        run_bound(own, &memory, 5 * both, 5, room);
        run_bound(own, &memory, 13 * both - 1, 12, room);
        run_bound(own, &memory, 0, SOME_TOKENS, room);
    }
    owner_buffer_destroy(own, &memory);
}

int main(void) {
    return scene_run(NULL, check_device);
}

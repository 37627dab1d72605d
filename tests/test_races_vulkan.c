// SPDX-License-Identifier: MIT
// Eight threads of a Vulkan owner make bindings from one plan and record them at once, each into a command
// buffer of its own; what the device makes of them is what the CPU makes.
#include "crowd.h"
#include "vulkan_scene.h"

#include <pthread.h>
#include <string.h>

enum { ROUNDS = 8 };

static const layout shape = {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, true, 0, HEAD_DIM, 0, TOKENS};
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct crowd_data {
    owner own;
    scene made;
    unsigned char expected[BYTES];
} crowd_data;

static bool open_commands(owner *mine) {
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = mine->family,
    };
    mine->pool = VK_NULL_HANDLE;
    if (vkCreateCommandPool(mine->device, &pool, NULL, &mine->pool) != VK_SUCCESS)
        return false;
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = mine->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    return vkAllocateCommandBuffers(mine->device, &commands, &mine->commands) == VK_SUCCESS;
}

static bool record_rounds(const owner *mine, const crowd_data *data, const owner_buffer *memory,
                          const rope2d_vulkan_binding *binding) {
    bool is_good = true;
    for (int round = 0; round < ROUNDS && is_good; round++) {
        fill(memory->mapped, shape.in);
        is_good = owner_begin(mine) && rope2d_vulkan_record(binding, mine->commands) == ROPE2D_OK;
        owner_barrier(mine);
        (void)pthread_mutex_lock(&queue_lock);
        is_good = owner_run(mine) && is_good;
        (void)pthread_mutex_unlock(&queue_lock);
        is_good = is_good && memcmp(memory->mapped, data->expected, BYTES) == 0;
    }
    return is_good;
}

static bool record(void *user, int member) {
    const crowd_data *data = user;
    owner mine = data->own;
    owner_buffer memory = {0};
    rope2d_vulkan_binding *binding = NULL;
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    (void)member;
    bool is_good = open_commands(&mine) && owner_buffer_create(&mine, BYTES, &memory);
    if (is_good) {
        make_params(&shape, &memory, &memory, tensors, &params);
        is_good = rope2d_vulkan_binding_create(data->made.plan, data->made.positions, &params, &binding) ==
                      ROPE2D_OK &&
                  record_rounds(&mine, data, &memory, binding);
    }
    rope2d_vulkan_binding_destroy(binding);
    owner_buffer_destroy(&mine, &memory);
    vkDestroyCommandPool(mine.device, mine.pool, NULL);
    return is_good;
}

// The queue is shared: its users take the lock themselves, and the library needs it only before they begin.
static void run_device(crowd_data *data) {
    const rope2d_vulkan_device_params params = scene_adopting(&data->own, NULL, true);
    const rope2d_status status = rope2d_vulkan_device_adopt(&params, &data->made.device);
    if (tally_check(&counts, status == ROPE2D_OK, "adopt: %s", rope2d_status_name(status)) &&
        make_scene(&data->made, shape.in, shape.out, shape.table, ROPE2D_PLAN_NO_SELF_TEST) == ROPE2D_OK)
        tally_check(&counts, crowd_run(record, data) == CROWD, "eight threads record");
    clear_scene(&data->made);
    rope2d_device_destroy(data->made.device);
    data->made.device = NULL;
}

int main(void) {
    static crowd_data data;
    fill_spec();
    fill(data.expected, shape.in);
    run_cpu(&shape, data.expected, data.expected);
    if (!owner_create(&data.own))
        counts.skipped++;
    for (uint32_t i = 0; i < data.own.physical_count; i++) {
        if (tally_check(&counts, owner_open(&data.own, i), "open device %u", i))
            run_device(&data);
        owner_close(&data.own);
    }
    owner_destroy(&data.own);
    return tally_finish(&counts);
}

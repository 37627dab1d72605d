// SPDX-License-Identifier: MIT
//
// An engine that links volk itself, and this library beside it: as a program with the static library, as one
// with the shared library, and as a module that exports volk's names. Both are called in turn; volk's global
// functions stay the engine's.
#include "../vulkan_scene.h"

#include <stdlib.h>
#include <string.h>

// What volk's globals point to.
typedef struct pointers {
    PFN_vkGetInstanceProcAddr get;
    PFN_vkCreateInstance create_instance;
    PFN_vkCreateDevice create_device;
    PFN_vkCreateBuffer create_buffer;
    PFN_vkAllocateMemory allocate;
    PFN_vkCreateComputePipelines create_pipelines;
    PFN_vkCmdDispatch dispatch;
    PFN_vkQueueSubmit submit;
    VkInstance instance;
    uint32_t version;
} pointers;

static pointers look(void) {
    pointers seen;
    memset(&seen, 0, sizeof(seen));
    seen.get = vkGetInstanceProcAddr;
    seen.create_instance = vkCreateInstance;
    seen.create_device = vkCreateDevice;
    seen.create_buffer = vkCreateBuffer;
    seen.allocate = vkAllocateMemory;
    seen.create_pipelines = vkCreateComputePipelines;
    seen.dispatch = vkCmdDispatch;
    seen.submit = vkQueueSubmit;
    seen.instance = volkGetLoadedInstance();
    seen.version = volkGetInstanceVersion();
    return seen;
}

static bool is_same(const pointers *before) {
    const pointers now = look();
    return memcmp(before, &now, sizeof(now)) == 0;
}

// On a device of the library's own, through a loader that it opens itself.
static void rotate_alone(uint32_t index) {
    const test_job job = {JOB_HALF, JOB_IN_PLACE, ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, false, 2, 35};
    const rope2d_host host = captured_host(&logged);
    rope2d_device *devices[2] = {NULL, NULL};
    job_result results[2] = {{0}, {0}};
    size_t where = 0;
    const rope2d_device_params params[2] = {
        {.struct_size = sizeof(*params), .backend = ROPE2D_BACKEND_VULKAN, .index = index, .host = &host},
        {.struct_size = sizeof(*params), .host = &host},
    };
    for (int i = 0; i < 2; i++) {
        rope2d_status status = rope2d_device_create(&params[i], &devices[i]);
        if (status == ROPE2D_OK)
            status = job_run(&job, devices[i], ROPE2D_PLAN_NO_SELF_TEST, &results[i]);
        tally_check(&counts, status == ROPE2D_OK, "a device of the library's own: %s %s",
                    rope2d_status_name(status), logged.text);
    }
    tally_check(&counts,
                results[0].bytes != NULL && results[1].bytes != NULL &&
                    job_equal(&job, &results[0], &results[1], &where),
                "byte %zu is not the CPU's", where);
    for (int i = 0; i < 2; i++) {
        job_release(&results[i]);
        rope2d_device_destroy(devices[i]);
    }
}

static void run_device(owner *own, uint32_t index) {
    static const layout l = {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, true, 2, HEAD_DIM, 0, TOKENS};
    const pointers before = look();
    rope2d_device *device = NULL;
    const rope2d_vulkan_device_params params = scene_adopting(own, NULL, true);
    tally_check(&counts, rope2d_vulkan_device_adopt(&params, &device) == ROPE2D_OK, "adopt");
    tally_check(&counts, is_same(&before), "adoption changed volk's globals");
    if (device != NULL)
        scene_rotate(own, device, &l);
    rotate_alone(index);
    tally_check(&counts, is_same(&before), "rotating changed volk's globals");
    if (device != NULL)
        scene_rotate(own, device, &l); // what was closed meanwhile was not the engine's
    rope2d_device_destroy(device);
    tally_check(&counts, is_same(&before), "the end of a device changed volk's globals");
    tally_check(&counts, vkDeviceWaitIdle(own->device) == VK_SUCCESS, "the engine's device is gone");
}

int engine_main(void); // module_host.c calls it

int engine_main(void) {
    return scene_run(NULL, run_device);
}

#ifndef TEST_IS_MODULE
int main(void) {
    return engine_main();
}
#endif

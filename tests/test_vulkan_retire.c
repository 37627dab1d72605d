// SPDX-License-Identifier: MIT
//
// Objects handed over while command buffers that use them are pending: they go when the caller says so, and
// not before. The validation layer knows what is pending.
#include "vulkan_watch.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 20 };

// What the library made and has not destroyed.
static struct {
    pthread_mutex_t lock;
    int64_t pools;
    int64_t buffers;
    int64_t pipelines;
} live = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void change(int64_t *count, int64_t by) {
    pthread_mutex_lock(&live.lock);
    *count += by;
    pthread_mutex_unlock(&live.lock);
}

// ------------------------------------------------------------------------------------------------ a loader
// Parameters and types cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)

#define COUNTED(create, create_info, destroy, type, count)                                                   \
    static VKAPI_ATTR VkResult VKAPI_CALL watch_##create(                                                    \
        VkDevice device, const create_info *info, const VkAllocationCallbacks *callbacks, type *object) {    \
        change(&live.count, 1);                                                                              \
        return create(device, info, callbacks, object);                                                      \
    }                                                                                                        \
    static VKAPI_ATTR void VKAPI_CALL watch_##destroy(VkDevice device, type object,                          \
                                                      const VkAllocationCallbacks *callbacks) {              \
        change(&live.count, -1);                                                                             \
        destroy(device, object, callbacks);                                                                  \
    }

COUNTED(vkCreateDescriptorPool, VkDescriptorPoolCreateInfo, vkDestroyDescriptorPool, VkDescriptorPool, pools)
COUNTED(vkCreateBuffer, VkBufferCreateInfo, vkDestroyBuffer, VkBuffer, buffers)

// NOLINTEND(bugprone-macro-parentheses)

static VKAPI_ATTR VkResult VKAPI_CALL watch_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache,
                                                                     uint32_t count,
                                                                     const VkComputePipelineCreateInfo *infos,
                                                                     const VkAllocationCallbacks *callbacks,
                                                                     VkPipeline *pipelines) {
    change(&live.pipelines, count);
    return vkCreateComputePipelines(device, cache, count, infos, callbacks, pipelines);
}

static VKAPI_ATTR void VKAPI_CALL watch_vkDestroyPipeline(VkDevice device, VkPipeline pipeline,
                                                          const VkAllocationCallbacks *callbacks) {
    change(&live.pipelines, -1);
    vkDestroyPipeline(device, pipeline, callbacks);
}

static const watch_entry counted[] = {
    WATCHED(vkCreateDescriptorPool),
    WATCHED(vkDestroyDescriptorPool),
    WATCHED(vkCreateBuffer),
    WATCHED(vkDestroyBuffer),
    WATCHED(vkCreateComputePipelines),
    WATCHED(vkDestroyPipeline),
    {NULL, NULL},
};

// --------------------------------------------------------------------------------------------------- flights

static rope2d_device *adopt(const owner *own) {
    const rope2d_host host = watch_host();
    rope2d_device *device = NULL;
    rope2d_vulkan_device_params params = scene_adopting(own, &host, false);
    params.get_instance_proc_addr = watch_loader;
    expect(rope2d_vulkan_device_adopt(&params, &device), ROPE2D_OK, "adopt");
    return device;
}

static rope2d_vulkan_binding *bind(const scene *made, const layout *l, const owner_buffer *buffer) {
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    make_params(l, buffer, buffer, tensors, &params);
    expect(rope2d_vulkan_binding_create(made->plan, made->positions, &params, &binding), ROPE2D_OK,
           "binding");
    return binding;
}

static bool submit(const owner *own) {
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &own->commands,
    };
    return vkEndCommandBuffer(own->commands) == VK_SUCCESS &&
           vkQueueSubmit(own->queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS;
}

// Everything is retired while the rotation is pending, and rotates nevertheless.
static void check_pending(const owner *own, rope2d_device *device, const layout *l) {
    static unsigned char expected[BYTES];
    owner_buffer buffer = {0};
    scene made = {.device = device};
    if (!tally_check(&counts, owner_buffer_create(own, BYTES, &buffer), "no memory for a tensor") ||
        make_scene(&made, l->in, l->out, l->table, 0) != ROPE2D_OK)
        return;
    rope2d_vulkan_binding *binding = bind(&made, l, &buffer);
    fill(buffer.mapped, l->in);
    memcpy(expected, buffer.mapped, BYTES);
    run_cpu(l, expected, NULL);
    tally_check(&counts, owner_begin(own), "begin");
    expect(rope2d_vulkan_record(binding, own->commands), ROPE2D_OK, "record");
    owner_barrier(own);
    tally_check(&counts, submit(own), "submit");
    const int64_t pools = live.pools, buffers = live.buffers, pipelines = live.pipelines;
    rope2d_vulkan_plan_retire(made.plan, 8);
    rope2d_vulkan_positions_retire(made.positions, 7);
    rope2d_vulkan_binding_retire(binding, 7);
    expect(rope2d_vulkan_device_passed(device, 6), ROPE2D_OK, "passed");
    tally_check(&counts, live.pools == pools && live.buffers == buffers && live.pipelines == pipelines,
                "what is pending was destroyed");
    tally_check(&counts, vkQueueWaitIdle(own->queue) == VK_SUCCESS, "wait");
    tally_check(&counts, memcmp(buffer.mapped, expected, BYTES) == 0, "the rotation differs from the CPU's");
    expect(rope2d_vulkan_device_passed(device, 7), ROPE2D_OK, "passed");
    tally_check(&counts, live.pools == pools - 1 && live.buffers < buffers && live.pipelines == pipelines,
                "binding and positions alone should have gone");
    expect(rope2d_vulkan_device_passed(device, UINT64_MAX), ROPE2D_OK, "passed");
    tally_check(&counts, live.pipelines < pipelines, "the plan should have gone");
    owner_buffer_destroy(own, &buffer);
}

// --------------------------------------------------------------------------------------------------- threads

typedef struct flight {
    const scene *made;
    const layout *l;
    const owner_buffer *buffer;
    rope2d_device *device;
} flight;

static void *run_flight(void *data) {
    const flight *f = data;
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    make_params(f->l, f->buffer, f->buffer, tensors, &params);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        rope2d_vulkan_binding *binding = NULL;
        if (rope2d_vulkan_binding_create(f->made->plan, f->made->positions, &params, &binding) != ROPE2D_OK)
            return data;
        rope2d_vulkan_binding_retire(binding, i);
        rope2d_vulkan_device_passed(f->device, i / 2);
    }
    return NULL;
}

static void check_threads(const owner *own, rope2d_device *device, const layout *l) {
    owner_buffer buffer = {0};
    scene made = {.device = device};
    pthread_t threads[THREADS];
    const flight f = {&made, l, &buffer, device};
    if (!tally_check(&counts, owner_buffer_create(own, BYTES, &buffer), "no memory for a tensor") ||
        make_scene(&made, l->in, l->out, l->table, 0) != ROPE2D_OK)
        return;
    const int64_t pools = live.pools;
    for (int i = 0; i < THREADS; i++)
        tally_check(&counts, pthread_create(&threads[i], NULL, run_flight, (void *)&f) == 0, "thread");
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        tally_check(&counts, failed == NULL, "thread %d cannot bind", i);
    }
    tally_check(&counts, live.pools == pools + THREADS * ROUNDS / 2, "%d bindings are left",
                (int)(live.pools - pools));
    expect(rope2d_vulkan_device_passed(device, ROUNDS), ROPE2D_OK, "passed");
    tally_check(&counts, live.pools == pools, "%d bindings are left", (int)(live.pools - pools));
    // Left to the device: all three.
    rope2d_vulkan_binding_retire(bind(&made, l, &buffer), 1);
    rope2d_vulkan_plan_retire(made.plan, 1);
    rope2d_vulkan_positions_retire(made.positions, 1);
    rope2d_vulkan_binding_retire(NULL, 1);
    rope2d_vulkan_plan_retire(NULL, 1);
    rope2d_vulkan_positions_retire(NULL, 1);
    owner_buffer_destroy(own, &buffer);
}

// What is of the CPU, where only a Vulkan device's will do.
static void check_not_vulkan(scene *made) {
    const rope2d_vulkan_binding_params none = {.struct_size = sizeof(none)};
    rope2d_vulkan_positions_needs needs = {.struct_size = sizeof(needs)};
    const rope2d_positions_params params = {.struct_size = sizeof(params)};
    rope2d_vulkan_binding *binding = NULL;
    rope2d_positions *positions = NULL;
    expect(rope2d_vulkan_positions_get_needs(made->positions, &needs), ROPE2D_ERROR_MISMATCH, "positions");
    expect(rope2d_vulkan_positions_get_needs(made->positions, NULL), ROPE2D_ERROR_NULL, "needs");
    expect(rope2d_vulkan_positions_record_upload(made->positions, VK_NULL_HANDLE), ROPE2D_ERROR_NULL,
           "upload");
    expect(rope2d_vulkan_positions_prepare(made->device, &params, &positions), ROPE2D_ERROR_MISMATCH,
           "device");
    expect(rope2d_vulkan_positions_prepare(NULL, &params, &positions), ROPE2D_ERROR_NULL, "no device");
    expect(rope2d_vulkan_binding_create(made->plan, made->positions, &none, &binding), ROPE2D_ERROR_MISMATCH,
           "plan");
    expect(rope2d_vulkan_binding_create(made->plan, NULL, &none, &binding), ROPE2D_ERROR_NULL,
           "no positions");
    expect(rope2d_vulkan_binding_create(made->plan, made->positions, &none, NULL), ROPE2D_ERROR_NULL,
           "nowhere");
    tally_check(&counts, binding == NULL && positions == NULL, "the CPU has objects of Vulkan");
}

static void check_portable(const layout *l) {
    const rope2d_device_params params = {.struct_size = sizeof(params)};
    scene made = {0};
    expect(rope2d_device_create(&params, &made.device), ROPE2D_OK, "the CPU");
    expect(rope2d_vulkan_device_passed(made.device, 1), ROPE2D_ERROR_MISMATCH, "no Vulkan device");
    expect(rope2d_vulkan_device_passed(NULL, 1), ROPE2D_ERROR_NULL, "device");
    if (make_scene(&made, l->in, l->out, l->table, ROPE2D_PLAN_NO_SELF_TEST) == ROPE2D_OK) {
        check_not_vulkan(&made);
        rope2d_vulkan_plan_retire(made.plan, 1);
        rope2d_vulkan_positions_retire(made.positions, 1);
    }
    rope2d_device_destroy(made.device);
}

static const layout whole = {ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, true, 4, HEAD_DIM, 0, TOKENS};

static void check_device(owner *own, uint32_t index) {
    if (index == 0)
        check_portable(&whole);
    rope2d_device *device = adopt(own);
    check_pending(own, device, &whole);
    check_threads(own, device, &whole);
    rope2d_device_destroy(device);
    const int64_t blocks = watch_host_counts().blocks;
    tally_check(&counts, live.pools == 0 && live.buffers == 0 && live.pipelines == 0 && blocks == 0,
                "%d pools, %d buffers, %d pipelines and %d blocks are left", (int)live.pools,
                (int)live.buffers, (int)live.pipelines, (int)blocks);
}

int main(void) {
    watch_entries = counted;
    return scene_run(NULL, check_device);
}

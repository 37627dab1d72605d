// SPDX-License-Identifier: MIT
//
// What an adopted device calls, as the loader that it was given sees it: adoption compiles, submits and
// allocates nothing; without a queue nothing is ever submitted; the caller's pipeline cache is used for every
// pipeline, and neither read, written nor destroyed.
#include "vulkan_watch.h"

#include <string.h>

// Calls since the device was adopted.
static struct {
    unsigned submits;
    unsigned allocations;
    unsigned pipelines;
    unsigned modules;
    unsigned caches;           // made by the library
    unsigned caches_destroyed; // other than VK_NULL_HANDLE
    unsigned looks;            // into a cache
    VkPipelineCache used;      // by the last pipeline
} calls;

static VKAPI_ATTR VkResult VKAPI_CALL see_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos,
                                                 VkFence fence) {
    calls.submits++;
    return vkQueueSubmit(queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL see_allocation(VkDevice device, const VkMemoryAllocateInfo *info,
                                                     const VkAllocationCallbacks *callbacks,
                                                     VkDeviceMemory *memory) {
    calls.allocations++;
    return vkAllocateMemory(device, info, callbacks, memory);
}

static VKAPI_ATTR VkResult VKAPI_CALL see_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                    const VkComputePipelineCreateInfo *infos,
                                                    const VkAllocationCallbacks *callbacks,
                                                    VkPipeline *pipelines) {
    calls.pipelines += count;
    calls.used = cache;
    return vkCreateComputePipelines(device, cache, count, infos, callbacks, pipelines);
}

static VKAPI_ATTR VkResult VKAPI_CALL see_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                                 const VkAllocationCallbacks *callbacks,
                                                 VkShaderModule *module) {
    calls.modules++;
    return vkCreateShaderModule(device, info, callbacks, module);
}

static VKAPI_ATTR VkResult VKAPI_CALL see_cache(VkDevice device, const VkPipelineCacheCreateInfo *info,
                                                const VkAllocationCallbacks *callbacks,
                                                VkPipelineCache *cache) {
    calls.caches++;
    return vkCreatePipelineCache(device, info, callbacks, cache);
}

static VKAPI_ATTR void VKAPI_CALL see_cache_go(VkDevice device, VkPipelineCache cache,
                                               const VkAllocationCallbacks *callbacks) {
    calls.caches_destroyed += cache != VK_NULL_HANDLE;
    vkDestroyPipelineCache(device, cache, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL see_look(VkDevice device, VkPipelineCache cache, size_t *size,
                                               void *data) {
    calls.looks++;
    return vkGetPipelineCacheData(device, cache, size, data);
}

static const watch_entry seen[] = {
    {"vkQueueSubmit", (PFN_vkVoidFunction)see_submit},
    {"vkAllocateMemory", (PFN_vkVoidFunction)see_allocation},
    {"vkCreateComputePipelines", (PFN_vkVoidFunction)see_pipelines},
    {"vkCreateShaderModule", (PFN_vkVoidFunction)see_module},
    {"vkCreatePipelineCache", (PFN_vkVoidFunction)see_cache},
    {"vkDestroyPipelineCache", (PFN_vkVoidFunction)see_cache_go},
    {"vkGetPipelineCacheData", (PFN_vkVoidFunction)see_look},
    {NULL, NULL},
};

static void check_cache(rope2d_device *device, VkPipelineCache theirs) {
    static unsigned char bytes[8] = {1};
    uint64_t size = 0;
    const rope2d_status wanted = theirs != VK_NULL_HANDLE ? ROPE2D_ERROR_UNSUPPORTED : ROPE2D_OK;
    expect(rope2d_device_get_cache(device, NULL, &size), wanted, "the cache's bytes");
    tally_check(&counts, (size > 0) == (theirs == VK_NULL_HANDLE), "%llu bytes", (unsigned long long)size);
    tally_check(&counts, rope2d_device_set_cache(device, bytes, sizeof(bytes)) != ROPE2D_OK,
                "bytes that are no cache are taken");
}

static void run_device(const owner *own, bool with_queue, VkPipelineCache theirs) {
    // A plan, its self-test where there is a queue, positions, and a recording that the owner submits.
    static const layout l = {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_BUFFER, true, 0, HEAD_DIM, 0, TOKENS};
    rope2d_device *device = NULL;
    const rope2d_host host = captured_host(&logged);
    rope2d_vulkan_device_params params = scene_adopting(own, &host, with_queue);
    params.get_instance_proc_addr = watch_loader;
    params.pipeline_cache = theirs;
    memset(&calls, 0, sizeof(calls));
    expect(rope2d_vulkan_device_adopt(&params, &device), ROPE2D_OK, "adopt");
    tally_check(&counts,
                calls.submits == 0 && calls.pipelines == 0 && calls.modules == 0 && calls.allocations == 0,
                "adoption makes %u submissions, %u pipelines, %u shader modules and %u allocations",
                calls.submits, calls.pipelines, calls.modules, calls.allocations);
    if (device == NULL)
        return;
    scene_rotate(own, device, &l);
    tally_check(&counts, calls.pipelines > 0, "a plan without a pipeline");
    tally_check(&counts, (calls.submits > 0) == with_queue, "%u submissions", calls.submits);
    tally_check(&counts, theirs == VK_NULL_HANDLE ? calls.used != VK_NULL_HANDLE : calls.used == theirs,
                "a pipeline with another cache");
    check_cache(device, theirs);
    rope2d_device_destroy(device);
    const bool is_ours = theirs == VK_NULL_HANDLE;
    tally_check(&counts,
                calls.caches == is_ours && calls.caches_destroyed == is_ours && (is_ours || calls.looks == 0),
                "%u caches were made, %u destroyed, and looked into %u times", calls.caches,
                calls.caches_destroyed, calls.looks);
}

static void check_device(owner *own, uint32_t index) {
    (void)index;
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache theirs = VK_NULL_HANDLE;
    size_t size = 0;
    tally_check(&counts, vkCreatePipelineCache(own->device, &info, NULL, &theirs) == VK_SUCCESS, "a cache");
    for (int i = 0; i < 4; i++)
        run_device(own, i % 2 != 0, i / 2 != 0 ? theirs : VK_NULL_HANDLE);
    tally_check(&counts, vkGetPipelineCacheData(own->device, theirs, &size, NULL) == VK_SUCCESS && size > 0,
                "the caller's cache is gone");
    vkDestroyPipelineCache(own->device, theirs, NULL);
}

int main(void) {
    watch_entries = seen;
    return scene_run(NULL, check_device);
}

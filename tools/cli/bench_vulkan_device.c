// SPDX-License-Identifier: MIT
#define VOLK_IMPLEMENTATION
#include "bench_vulkan.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "library.h"
#include "message.h"
#include "progress.h"
#include "rope2d/rope2d_vulkan.h"

enum { MOST_DEVICES = 32, MOST_FAMILIES = 16, MOST_EXTENSIONS = 512 };

int vulkan_check(const struct bench_engine *engine, VkResult result, const char *call) {
    if (result == VK_SUCCESS)
        return STATUS_OK;
    message("%s: %s failed (%d)", engine->choice->name, call, (int)result);
    return STATUS_DEVICE;
}

// The driver's time in pipelines is told apart by standing between the library and the driver.
static PFN_vkCreateComputePipelines drivers_pipelines;
static PFN_vkUpdateDescriptorSets drivers_update;
static PFN_vkGetDeviceProcAddr drivers_device_address;
static PFN_vkQueueSubmit drivers_submit;
static PFN_vkWaitForFences drivers_wait;
static PFN_vkBeginCommandBuffer drivers_begin;
static double compile_seconds, run_seconds, repeat_seconds;
static bool is_twice;
static uint32_t compiled;
// The engine whose library is in work, and what its descriptors reach besides the engine's own buffers.
static const struct bench_engine *bound_by;
static uint64_t bound_bytes;

static VKAPI_ATTR VkResult VKAPI_CALL timed_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                      const VkComputePipelineCreateInfo *infos,
                                                      const VkAllocationCallbacks *allocation,
                                                      VkPipeline *pipelines) {
    double begin = seconds_now();
    VkResult result = drivers_pipelines(device, cache, count, infos, allocation, pipelines);
    compile_seconds += seconds_now() - begin;
    compiled += count;
    return result;
}

static VkResult submit_and_wait(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence,
                                double *seconds) {
    double begin = seconds_now();
    VkResult result = drivers_submit(queue, count, infos, fence);
    if (result == VK_SUCCESS && is_twice)
        result = vkQueueWaitIdle(queue);
    *seconds = seconds_now() - begin;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL timed_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos,
                                                   VkFence fence) {
    double first = 0, last = 0;
    VkResult result = is_twice ? submit_and_wait(queue, count, infos, VK_NULL_HANDLE, &first) : VK_SUCCESS;
    if (result == VK_SUCCESS)
        result = submit_and_wait(queue, count, infos, fence, &last);
    run_seconds += !is_twice ? last : first > last ? first - last : 0;
    repeat_seconds += is_twice ? last : 0;
    return result;
}

// What is submitted again is no command buffer for one time.
static VKAPI_ATTR VkResult VKAPI_CALL own_begin(VkCommandBuffer commands,
                                                const VkCommandBufferBeginInfo *info) {
    VkCommandBufferBeginInfo own = *info;
    if (is_twice)
        own.flags &= ~(VkCommandBufferUsageFlags)VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    return drivers_begin(commands, &own);
}

static VKAPI_ATTR VkResult VKAPI_CALL timed_wait(VkDevice device, uint32_t count, const VkFence *fences,
                                                 VkBool32 all, uint64_t timeout) {
    double begin = seconds_now();
    VkResult result = drivers_wait(device, count, fences, all, timeout);
    run_seconds += is_twice ? 0 : seconds_now() - begin;
    return result;
}

// Units are bound whole, with room for heads of any size: what is read of them is at most a word for each
// pair.
static uint64_t read_of(const VkWriteDescriptorSet *write, uint64_t range) {
    bool is_units = write->descriptorType == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER &&
                    range == ROPE2D_MAX_HEAD_DIM * sizeof(uint32_t);
    return is_units ? bound_by->what->tower->head_dim / 2 * sizeof(uint32_t) : range;
}

static VKAPI_ATTR void VKAPI_CALL counted_update(VkDevice device, uint32_t write_count,
                                                 const VkWriteDescriptorSet *writes, uint32_t copy_count,
                                                 const VkCopyDescriptorSet *copies) {
    for (uint32_t i = 0; bound_by && i < write_count; ++i)
        for (uint32_t j = 0; writes[i].pBufferInfo && j < writes[i].descriptorCount; ++j)
            if (!bench_vulkan_is_own(bound_by, writes[i].pBufferInfo[j].buffer))
                bound_bytes += read_of(&writes[i], writes[i].pBufferInfo[j].range);
    drivers_update(device, write_count, writes, copy_count, copies);
}

uint64_t bench_vulkan_take_bound(struct bench_engine *engine) {
    uint64_t taken = bound_bytes;
    bound_by = engine;
    bound_bytes = 0;
    return taken;
}

// Functions of one type as another: what loaders do.
static PFN_vkVoidFunction as_function(const void *function) {
    PFN_vkVoidFunction result;
    memcpy(&result, function, sizeof result);
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char *name) {
    const PFN_vkCreateComputePipelines pipelines = timed_pipelines;
    const PFN_vkUpdateDescriptorSets update = counted_update;
    const PFN_vkQueueSubmit submit = timed_submit;
    const PFN_vkWaitForFences wait = timed_wait;
    const PFN_vkBeginCommandBuffer begin = own_begin;
    const struct {
        const char *name;
        void *drivers;
        const void *own;
    } between[] = {
        {"vkCreateComputePipelines", &drivers_pipelines, &pipelines},
        {"vkUpdateDescriptorSets", &drivers_update, &update},
        {"vkQueueSubmit", &drivers_submit, &submit},
        {"vkWaitForFences", &drivers_wait, &wait},
        {"vkBeginCommandBuffer", &drivers_begin, &begin},
    };
    PFN_vkVoidFunction found = drivers_device_address(device, name);
    for (size_t i = 0; i < sizeof between / sizeof *between; ++i)
        if (strcmp(name, between[i].name) == 0) {
            memcpy(between[i].drivers, &found, sizeof found);
            return as_function(between[i].own);
        }
    return found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_address(VkInstance instance, const char *name) {
    PFN_vkVoidFunction found = vkGetInstanceProcAddr(instance, name);
    if (strcmp(name, "vkGetDeviceProcAddr") != 0)
        return found;
    PFN_vkGetDeviceProcAddr own = device_address;
    memcpy(&drivers_device_address, &found, sizeof found);
    return as_function(&own);
}

double bench_vulkan_compile_seconds(const struct bench_engine *engine) {
    (void)engine;
    return compile_seconds;
}

double bench_vulkan_run_seconds(const struct bench_engine *engine) {
    (void)engine;
    return run_seconds;
}

void bench_vulkan_run_twice(const struct bench_engine *engine) {
    (void)engine;
    is_twice = true;
}

double bench_vulkan_repeat_seconds(const struct bench_engine *engine) {
    (void)engine;
    return repeat_seconds;
}

uint32_t bench_vulkan_compiled(const struct bench_engine *engine) {
    (void)engine;
    return compiled;
}

static int load(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    PFN_vkGetInstanceProcAddr address = NULL;
    const char *named = rope2d_environment("ROPE2D_VULKAN_LOADER"); // the library takes it, too
    vulkan->library = rope2d_library_open(named && *named ? named : "libvulkan.so.1");
    if (vulkan->library)
        rope2d_library_find(vulkan->library, "vkGetInstanceProcAddr", &address, sizeof address);
    if (!address) {
        message("%s: Vulkan's loader cannot be opened", engine->choice->name);
        return STATUS_DEVICE;
    }
    volkInitializeCustom(address);
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "rope2d bench",
                                     .apiVersion = VK_API_VERSION_1_0};
    if (volkGetInstanceVersion() >= VK_API_VERSION_1_1)
        application.apiVersion = VK_API_VERSION_1_1; // it tells whether there is shaderFloat16
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    int result = vulkan_check(engine, vkCreateInstance(&info, NULL, &vulkan->instance), "vkCreateInstance");
    if (!result)
        volkLoadInstanceOnly(vulkan->instance);
    return result;
}

// A family that computes; UINT32_MAX when there is none.
static uint32_t find_family(VkPhysicalDevice physical, uint32_t *timestamp_bits) {
    VkQueueFamilyProperties families[MOST_FAMILIES];
    uint32_t count = MOST_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; ++i) {
        *timestamp_bits = families[i].timestampValidBits;
        if (families[i].queueCount > 0 && families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)
            return i;
    }
    return UINT32_MAX;
}

// Devices that compute are numbered as rope2d_enumerate numbers them.
static int pick(struct bench_engine *engine, uint32_t *timestamp_bits) {
    struct vulkan *vulkan = engine->impl;
    VkPhysicalDevice list[MOST_DEVICES];
    uint32_t count = MOST_DEVICES, index = engine->choice->info.index;
    VkResult found = vkEnumeratePhysicalDevices(vulkan->instance, &count, list);
    for (uint32_t i = 0; found >= VK_SUCCESS && i < count; ++i) {
        vulkan->family = find_family(list[i], timestamp_bits);
        if (vulkan->family == UINT32_MAX || index-- > 0)
            continue;
        vulkan->physical = list[i];
        return STATUS_OK;
    }
    message("%s: is not there any more", engine->choice->name);
    return STATUS_DEVICE;
}

static bool has_extension(VkPhysicalDevice physical, const char *name) {
    VkExtensionProperties *list = calloc(MOST_EXTENSIONS, sizeof *list);
    uint32_t count = MOST_EXTENSIONS;
    bool found = false;
    if (list && vkEnumerateDeviceExtensionProperties(physical, NULL, &count, list) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count && !found; ++i)
            found = strcmp(list[i].extensionName, name) == 0;
    free(list);
    return found;
}

// What engines would enable for the library: conversions of f16 by the device, 64-bit words, and pipelines
// whose accesses the driver does not check. The baselines are compiled so as well.
struct features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceShaderFloat16Int8FeaturesKHR float16;
    VkPhysicalDevicePipelineRobustnessFeaturesEXT robustness;
};

static void ask_features(VkPhysicalDevice physical, struct features *features) {
    VkPhysicalDeviceProperties properties;
    *features = (struct features){
        .core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .float16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES_KHR,
        .robustness.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT,
    };
    vkGetPhysicalDeviceProperties(physical, &properties);
    if (!vkGetPhysicalDeviceFeatures2 || properties.apiVersion < VK_API_VERSION_1_1) {
        vkGetPhysicalDeviceFeatures(physical, &features->core.features);
        return;
    }
    if (has_extension(physical, VK_EXT_PIPELINE_ROBUSTNESS_EXTENSION_NAME))
        features->core.pNext = &features->robustness;
    if (has_extension(physical, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME)) {
        features->float16.pNext = features->core.pNext;
        features->core.pNext = &features->float16;
    }
    vkGetPhysicalDeviceFeatures2(physical, &features->core);
    features->float16.shaderInt8 = VK_FALSE;
}

static int create_device(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    const char *extensions[2];
    uint32_t count = 0;
    struct features found;
    ask_features(vulkan->physical, &found);
    const VkPhysicalDeviceFeatures enabled = {.shaderInt64 = found.core.features.shaderInt64};
    vulkan->has_int64 = enabled.shaderInt64 != VK_FALSE;
    vulkan->has_float16 = found.float16.shaderFloat16 != VK_FALSE;
    vulkan->has_robustness = found.robustness.pipelineRobustness != VK_FALSE;
    found.float16.pNext = vulkan->has_robustness ? &found.robustness : NULL;
    if (vulkan->has_float16)
        extensions[count++] = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME;
    if (vulkan->has_robustness)
        extensions[count++] = VK_EXT_PIPELINE_ROBUSTNESS_EXTENSION_NAME;
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = vulkan->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = vulkan->has_float16 ? &found.float16 : found.float16.pNext,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
        .pEnabledFeatures = &enabled,
    };
    VkResult made = vkCreateDevice(vulkan->physical, &info, NULL, &vulkan->handle);
    if (made != VK_SUCCESS) {
        vulkan->handle = NULL;
        return vulkan_check(engine, made, "vkCreateDevice");
    }
    volkLoadDevice(vulkan->handle);
    vkGetDeviceQueue(vulkan->handle, vulkan->family, 0, &vulkan->queue);
    return STATUS_OK;
}

static int create_commands(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = vulkan->family,
    };
    int result = vulkan_check(engine, vkCreateCommandPool(vulkan->handle, &pool, NULL, &vulkan->pool),
                              "vkCreateCommandPool");
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = vulkan->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    if (!result)
        result = vulkan_check(engine, vkAllocateCommandBuffers(vulkan->handle, &commands, &vulkan->commands),
                              "vkAllocateCommandBuffers");
    if (!result && !engine->keeps_cache)
        result = vulkan_check(engine, vkCreatePipelineCache(vulkan->handle, &cache, NULL, &vulkan->cache),
                              "vkCreatePipelineCache");
    return result;
}

static int create_queries(struct bench_engine *engine, uint32_t timestamp_bits) {
    struct vulkan *vulkan = engine->impl;
    VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                     .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                     .queryCount = 2};
    vulkan->tick = 1e-9 * (double)vulkan->limits.timestampPeriod;
    vulkan->tick_mask = timestamp_bits >= 64 ? UINT64_MAX : ((uint64_t)1 << timestamp_bits) - 1;
    if (!timestamp_bits)
        return STATUS_OK;
    return vulkan_check(engine, vkCreateQueryPool(vulkan->handle, &queries, NULL, &vulkan->queries),
                        "vkCreateQueryPool");
}

rope2d_status bench_vulkan_make_device(struct bench_engine *engine, rope2d_device **device) {
    struct vulkan *vulkan = engine->impl;
    rope2d_vulkan_device_params params = {
        .struct_size = sizeof params,
        .get_instance_proc_addr = instance_address,
        .instance = vulkan->instance,
        .physical_device = vulkan->physical,
        .device = vulkan->handle,
        .host = &bench_host,
        .queue = vulkan->queue,
        .queue_family = vulkan->family,
        .pipeline_cache = vulkan->cache,
        .has_shader_float16 = vulkan->has_float16,
        .has_shader_int64 = vulkan->has_int64,
        .has_pipeline_robustness = vulkan->has_robustness,
        .dispatch_bytes = UINT64_MAX, // nothing is cut for a watchdog
    };
    return rope2d_vulkan_device_adopt(&params, device);
}

int bench_vulkan_open(struct bench_engine *engine) {
    struct vulkan *vulkan = calloc(1, sizeof *vulkan);
    uint32_t timestamp_bits = 0;
    engine->impl = vulkan;
    if (!vulkan) {
        message("no memory for a device");
        return STATUS_DEVICE;
    }
    int result = load(engine);
    if (!result)
        result = pick(engine, &timestamp_bits);
    if (!result)
        result = create_device(engine);
    if (result)
        return result;
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(vulkan->physical, &properties);
    vulkan->limits = properties.limits;
    vkGetPhysicalDeviceMemoryProperties(vulkan->physical, &vulkan->memory_types);
    result = create_commands(engine);
    if (!result)
        result = create_queries(engine, timestamp_bits);
    if (!result)
        result = bench_vulkan_staging_create(engine);
    if (!result)
        result = bench_vulkan_kernels_create(engine);
    if (result)
        return result;
    rope2d_status status = bench_vulkan_make_device(engine, &engine->device);
    return status ? message_status(status, engine->choice->name) : STATUS_OK;
}

void bench_vulkan_close(struct bench_engine *engine) {
    struct vulkan *vulkan = engine->impl;
    bound_by = NULL;
    if (!vulkan)
        return;
    rope2d_device_destroy(engine->device);
    if (vulkan->handle) {
        bench_vulkan_kernels_destroy(vulkan);
        bench_vulkan_memory_free(vulkan, &vulkan->staging);
        vkDestroyPipelineCache(vulkan->handle, vulkan->cache, NULL);
        vkDestroyQueryPool(vulkan->handle, vulkan->queries, NULL);
        vkDestroyCommandPool(vulkan->handle, vulkan->pool, NULL);
        vkDestroyDevice(vulkan->handle, NULL);
    }
    if (vulkan->instance)
        vkDestroyInstance(vulkan->instance, NULL);
    rope2d_library_close(vulkan->library);
    free(vulkan);
}

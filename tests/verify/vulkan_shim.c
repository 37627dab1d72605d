// SPDX-License-Identifier: MIT
// A loader of Vulkan whose driver's compiler fails on one kernel: all but a few calls are the system's.
// Load it with ROPE2D_VULKAN_LOADER. ROPE2D_SHIM is what happens, and when:
//
//     pipeline-crash:HASH   pipeline-hang:HASH     a pipeline is made of code of this hash
//     log-pipelines                                the hash of each pipeline's code is printed on stderr
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MODULES = 4096 };

// The code of a shader module: by its handle, the latest first, since handles are used again.
static struct {
    VkShaderModule module;
    unsigned long hash;
} made[MOST_MODULES];
static unsigned long made_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Of the latest device: a process of verify makes but one.
static PFN_vkGetInstanceProcAddr real_get;
static PFN_vkGetDeviceProcAddr real_get_device;
static PFN_vkCreateShaderModule real_create_module;
static PFN_vkCreateComputePipelines real_create_pipelines;

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks,
                                                    VkShaderModule *module) {
    const VkResult result = real_create_module(device, info, callbacks, module);
    unsigned long hash = 5381;
    for (size_t i = 0; i < info->codeSize / sizeof(*info->pCode); i++)
        hash = (hash * 33 + info->pCode[i]) & 0xffffffffUL;
    (void)pthread_mutex_lock(&lock);
    if (result == VK_SUCCESS) {
        made[made_count % MOST_MODULES].module = *module;
        made[made_count++ % MOST_MODULES].hash = hash;
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static unsigned long hash_of(VkShaderModule module) {
    unsigned long hash = 0;
    (void)pthread_mutex_lock(&lock);
    for (unsigned long i = made_count; i > 0 && made_count - i < MOST_MODULES && hash == 0; i--)
        if (made[(i - 1) % MOST_MODULES].module == module)
            hash = made[(i - 1) % MOST_MODULES].hash;
    (void)pthread_mutex_unlock(&lock);
    return hash;
}

static int is_asked(const char *what, unsigned long hash) {
    const char *text = getenv("ROPE2D_SHIM");
    const size_t length = strlen(what);
    return text != NULL && strncmp(text, what, length) == 0 && strtoul(text + length, NULL, 10) == hash;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *callbacks,
                                                       VkPipeline *pipelines) {
    const char *text = getenv("ROPE2D_SHIM");
    for (uint32_t i = 0; i < count; i++) {
        const unsigned long hash = hash_of(infos[i].stage.module);
        if (text != NULL && strcmp(text, "log-pipelines") == 0)
            (void)fprintf(stderr, "%lu\n", hash);
        if (is_asked("pipeline-crash:", hash))
            abort(); // some drivers catch SIGSEGV
        while (is_asked("pipeline-hang:", hash))
            (void)sleep(1);
    }
    return real_create_pipelines(device, cache, count, infos, callbacks, pipelines);
}

static PFN_vkVoidFunction get_device(VkDevice device, const char *name);

// What stands in the real one's place, which is kept; a pointer to a function is no pointer to an object.
static PFN_vkVoidFunction wrap(const char *name, PFN_vkVoidFunction real) {
    if (real == NULL)
        return NULL;
    if (strcmp(name, "vkCreateShaderModule") == 0) {
        real_create_module = (PFN_vkCreateShaderModule)real;
        return (PFN_vkVoidFunction)create_module;
    }
    if (strcmp(name, "vkCreateComputePipelines") == 0) {
        real_create_pipelines = (PFN_vkCreateComputePipelines)real;
        return (PFN_vkVoidFunction)create_pipelines;
    }
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_get_device = (PFN_vkGetDeviceProcAddr)real;
        return (PFN_vkVoidFunction)get_device;
    }
    return real;
}

static PFN_vkVoidFunction get_device(VkDevice device, const char *name) {
    return wrap(name, real_get_device(device, name));
}

__attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vkGetInstanceProcAddr(VkInstance instance, const char *name) {
    if (real_get == NULL) {
        void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        void *found = library != NULL ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
        memcpy(&real_get, &found, sizeof(real_get));
    }
    return real_get != NULL ? wrap(name, real_get(instance, name)) : NULL;
}

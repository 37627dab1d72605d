// SPDX-License-Identifier: MIT
//
// What a driver makes of Vulkan kernels, without running them: compiles each variant of a module, and prints
// what VK_KHR_pipeline_executable_properties says of it, and the machine code, as JSON lines. For
// tools/compile, which knows what to ask. A driver that cannot is status 77; anything may crash it.
#include "compile_vulkan.h"

#include "config.h"

#include <stdio.h>

#if ROPE2D_HAVE_VULKAN
#define VK_NO_PROTOTYPES
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <volk.h>

#include "stage.h"
#include "vulkan/fold.h"

static VkDevice device;
static VkPipelineLayout layouts[2];

static void need(VkResult result, const char *what) {
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "verify-worker: %s: %d\n", what, (int)result);
    exit(77);
}

static void create_device(void) {
    static const char *const extensions[] = {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME};
    const float priority = 1;
    uint32_t count = 1;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkInstance instance = VK_NULL_HANDLE;
    need(volkInitialize(), "no Vulkan loader");
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    need(vkCreateInstance(&info, NULL, &instance), "vkCreateInstance");
    volkLoadInstance(instance);
    const VkResult listed = vkEnumeratePhysicalDevices(instance, &count, &physical);
    need(listed == VK_INCOMPLETE ? VK_SUCCESS : listed, "vkEnumeratePhysicalDevices");
    need(count == 1 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, "no device");
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        .pipelineExecutableInfo = VK_TRUE};
    const VkDeviceCreateInfo made = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = 1,
                                     .ppEnabledExtensionNames = extensions};
    need(vkCreateDevice(physical, &made, NULL, &device), "vkCreateDevice");
    volkLoadDevice(device);
}

// As src/vulkan/pipeline.c makes them.
static void create_layout(uint32_t is_texture) {
    VkDescriptorSetLayoutBinding bindings[8];
    for (uint32_t i = 0; i < 8; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = i < 2                  ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                              : i == 3 && is_texture ? VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
                                                     : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo info = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                  .bindingCount = 8,
                                                  .pBindings = bindings};
    VkDescriptorSetLayout set = VK_NULL_HANDLE;
    need(vkCreateDescriptorSetLayout(device, &info, NULL, &set), "vkCreateDescriptorSetLayout");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, R_RANGE_WORDS * sizeof(uint32_t)};
    const VkPipelineLayoutCreateInfo made = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &set,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &range};
    need(vkCreatePipelineLayout(device, &made, NULL, &layouts[is_texture]), "vkCreatePipelineLayout");
}

static uint32_t *read_words(const char *path, uint64_t *count) {
    uint32_t *words = calloc(1, 1u << 20);
    FILE *file = fopen(path, "rb");
    if (file == NULL || words == NULL) {
        fprintf(stderr, "verify-worker: cannot read %s\n", path);
        exit(1);
    }
    *count = fread(words, 4, 1u << 18, file);
    (void)fclose(file); // it was only read
    return words;
}

static VkPipeline compile(const uint32_t *words, uint64_t count, const uint32_t values[4]) {
    const rope2d_host host = rope2d_host_resolve(NULL);
    uint32_t *folded = NULL;
    uint64_t bytes = 0;
    if (rope2d_vulkan_fold(&host, words, count, values, 4, &folded, &bytes) != ROPE2D_OK)
        exit(1);
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = (size_t)bytes, .pCode = folded};
    VkShaderModule module = VK_NULL_HANDLE;
    need(vkCreateShaderModule(device, &info, NULL, &module), "vkCreateShaderModule");
    rope2d_release(&host, folded, count, 4);
    VkSpecializationMapEntry entries[4];
    for (uint32_t i = 0; i < 4; i++)
        entries[i] = (VkSpecializationMapEntry){i, 4 * i, 4};
    const VkSpecializationInfo constants = {4, entries, 16, values};
    const VkComputePipelineCreateInfo made = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                 VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = layouts[(values[3] & R_TEXTURE_FLAG) != 0]};
    VkPipeline pipeline = VK_NULL_HANDLE;
    need(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &made, NULL, &pipeline),
         "vkCreateComputePipelines");
    vkDestroyShaderModule(device, module, NULL);
    return pipeline;
}

static void add_statistics(VkPipeline pipeline, cJSON *line) {
    VkPipelineExecutableStatisticKHR statistics[32];
    uint32_t count = 32;
    for (uint32_t i = 0; i < count; i++)
        statistics[i] =
            (VkPipelineExecutableStatisticKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    const VkPipelineExecutableInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                              .pipeline = pipeline};
    need(vkGetPipelineExecutableStatisticsKHR(device, &info, &count, statistics), "no statistics");
    for (uint32_t i = 0; i < count; i++)
        cJSON_AddNumberToObject(line, statistics[i].name, (double)statistics[i].value.u64);
}

static void add_code(VkPipeline pipeline, cJSON *line) {
    VkPipelineExecutableInternalRepresentationKHR texts[8];
    uint32_t count = 8;
    for (uint32_t i = 0; i < count; i++)
        texts[i] = (VkPipelineExecutableInternalRepresentationKHR){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR};
    const VkPipelineExecutableInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                              .pipeline = pipeline};
    need(vkGetPipelineExecutableInternalRepresentationsKHR(device, &info, &count, texts), "no machine code");
    for (uint32_t i = 0; i < count; i++)
        texts[i].pData = calloc(1, texts[i].dataSize + 1);
    need(vkGetPipelineExecutableInternalRepresentationsKHR(device, &info, &count, texts), "no machine code");
    for (uint32_t i = 0; i < count; i++) {
        if (texts[i].pData && strcmp(texts[i].name, "Assembly") == 0)
            cJSON_AddStringToObject(line, "code", texts[i].pData);
        free(texts[i].pData);
    }
}

static void print_variant(const char *name, VkPipeline pipeline) {
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "variant", name);
    add_statistics(pipeline, line);
    add_code(pipeline, line);
    char *text = cJSON_PrintUnformatted(line);
    printf("%s\n", text ? text : "");
    cJSON_free(text);
    cJSON_Delete(line);
}

// Four numbers with colons between them.
static int parse_values(const char *text, uint32_t values[4]) {
    for (int i = 0; i < 4; i++) {
        char *end = NULL;
        values[i] = (uint32_t)strtoul(text, &end, 10);
        if (end == text || *end != (i < 3 ? ':' : '\0'))
            return 0;
        text = end + 1;
    }
    return 1;
}

int compile_vulkan_main(int argc, char **argv) {
    uint64_t count = 0;
    if (argc < 1)
        return 1;
    uint32_t *words = read_words(argv[0], &count);
    create_device();
    create_layout(0);
    create_layout(1);
    for (int i = 1; i < argc; i++) {
        uint32_t values[4];
        if (!parse_values(argv[i], values))
            return 1;
        VkPipeline pipeline = compile(words, count, values);
        print_variant(argv[i], pipeline);
        vkDestroyPipeline(device, pipeline, NULL);
    }
    free(words);
    return 0;
}

#else

int compile_vulkan_main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    fprintf(stderr, "verify-worker: built without Vulkan\n");
    return 77;
}

#endif

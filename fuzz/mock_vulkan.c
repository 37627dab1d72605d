// SPDX-License-Identifier: MIT
#include "mock_vulkan.h"

#include "target.h"

#include <string.h>

enum { TEXEL = 16, MEMORY_TYPES = 3 };

struct VkInstance_T {
    int unused;
};
struct VkPhysicalDevice_T {
    int unused;
};
struct VkDevice_T {
    int unused;
};
struct VkQueue_T {
    int unused;
};

static struct VkInstance_T instance;
static struct VkPhysicalDevice_T physical;
static struct VkDevice_T device;
static struct VkQueue_T queue;

VkInstance mock_vk_instance(void) {
    return &instance;
}

VkPhysicalDevice mock_vk_physical(void) {
    return &physical;
}

VkDevice mock_vk_device(void) {
    return &device;
}

VkQueue mock_vk_queue(void) {
    return &queue;
}

// ----------------------------------------------------------------------------------------------- objects

struct mock_object *mock_vk_make(void) {
    struct mock_object *object = calloc(1, sizeof *object);
    FUZZ_PROMISE(object);
    mock.live++;
    return object;
}

struct mock_object *mock_vk_of(uint64_t handle) {
    struct mock_object *object;
    const uintptr_t address = (uintptr_t)handle;
    memcpy(&object, &address, sizeof object);
    return object;
}

struct mock_object *mock_vk_memory(uint64_t size) {
    if (size == 0 || size > MOCK_MOST_BYTES - mock.bytes)
        return NULL;
    struct mock_object *object = mock_vk_make();
    object->size = size;
    object->bytes = aligned_alloc(64, (size_t)(size + 63) / 64 * 64);
    FUZZ_PROMISE(object->bytes);
    memset(object->bytes, 0xa5, (size_t)size);
    mock.bytes += size;
    return object;
}

struct mock_object *mock_vk_buffer(uint64_t size) {
    struct mock_object *memory = mock_vk_memory(size);
    struct mock_object *buffer = memory ? mock_vk_make() : NULL;
    if (buffer) {
        buffer->size = size;
        buffer->memory = memory;
    }
    return buffer;
}

void mock_vk_free(struct mock_object *object) {
    if (!object)
        return;
    FUZZ_PROMISE(mock.live > 0);
    mock.live--;
    if (object->bytes) {
        FUZZ_PROMISE(mock.bytes >= object->size);
        mock.bytes -= object->size;
        free(object->bytes);
    }
    free(object);
}

// --------------------------------------------------------------------------------- instance and physical

static VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                           const VkAllocationCallbacks *callbacks, VkInstance *made) {
    (void)callbacks;
    FUZZ_PROMISE(info->pApplicationInfo && made);
    if (mock_fails())
        return VK_ERROR_INITIALIZATION_FAILED;
    mock.live++;
    *made = &instance;
    return VK_SUCCESS;
}

static void VKAPI_CALL destroy_instance(VkInstance own, const VkAllocationCallbacks *callbacks) {
    (void)callbacks;
    FUZZ_PROMISE(own == &instance);
    mock.live--;
}

static VkResult VKAPI_CALL enumerate_version(uint32_t *version) {
    *version = VK_API_VERSION_1_1;
    return mock_fails() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult VKAPI_CALL enumerate_instance_extensions(const char *layer, uint32_t *count,
                                                         VkExtensionProperties *list) {
    (void)layer, (void)list;
    *count = 0;
    return mock_fails() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult VKAPI_CALL enumerate_device_extensions(VkPhysicalDevice own, const char *layer,
                                                       uint32_t *count, VkExtensionProperties *list) {
    FUZZ_PROMISE(own == &physical && !layer);
    if (list && *count > 0) {
        memset(list, 0, sizeof *list);
        strcpy(list->extensionName, "VK_KHR_driver_properties");
    }
    *count = 1;
    return mock_fails() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult VKAPI_CALL enumerate_physical(VkInstance own, uint32_t *count, VkPhysicalDevice *list) {
    FUZZ_PROMISE(own == &instance);
    if (mock_fails())
        return VK_ERROR_INITIALIZATION_FAILED;
    if (list && *count > 0)
        list[0] = &physical;
    *count = 1;
    return VK_SUCCESS;
}

static void VKAPI_CALL get_properties(VkPhysicalDevice own, VkPhysicalDeviceProperties *properties) {
    VkPhysicalDeviceLimits *limits = &properties->limits;
    FUZZ_PROMISE(own == &physical);
    memset(properties, 0, sizeof *properties);
    properties->apiVersion = VK_API_VERSION_1_1;
    properties->vendorID = 0x1234;
    properties->deviceType =
        mock.is_unified ? VK_PHYSICAL_DEVICE_TYPE_CPU : VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    memset(properties->deviceName, 'x', sizeof properties->deviceName - 1); // as long as it may be
    limits->maxStorageBufferRange = (uint32_t)mock.buffer_range;
    limits->maxUniformBufferRange = 65536;
    limits->maxImageDimension2D = 4096;
    limits->maxPerStageDescriptorStorageBuffers = limits->maxDescriptorSetStorageBuffers =
        mock.storage_buffers;
    limits->maxPerStageResources = 128;
    limits->maxComputeWorkGroupInvocations = limits->maxComputeWorkGroupSize[0] = mock.group_size;
    limits->maxComputeWorkGroupCount[0] = limits->maxComputeWorkGroupCount[1] = mock.most_groups;
    limits->minStorageBufferOffsetAlignment = limits->minUniformBufferOffsetAlignment = mock.alignment;
    limits->minTexelBufferOffsetAlignment = mock.alignment;
    limits->nonCoherentAtomSize = 64;
    limits->maxPushConstantsSize = 128;
}

static void VKAPI_CALL get_properties_2(VkPhysicalDevice own, VkPhysicalDeviceProperties2 *properties) {
    for (VkBaseOutStructure *next = properties->pNext; next; next = next->pNext) {
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
            VkPhysicalDeviceDriverProperties *driver = (void *)next;
            memset(driver->driverName, '<', sizeof driver->driverName - 1);
            memset(driver->driverInfo, '>', sizeof driver->driverInfo - 1);
        }
    }
    get_properties(own, &properties->properties);
}

static void VKAPI_CALL get_families(VkPhysicalDevice own, uint32_t *count, VkQueueFamilyProperties *list) {
    FUZZ_PROMISE(own == &physical);
    for (uint32_t i = 0; list && i < *count && i < MOCK_QUEUE_FAMILIES; i++)
        list[i] = (VkQueueFamilyProperties){.queueFlags = i ? VK_QUEUE_COMPUTE_BIT : VK_QUEUE_TRANSFER_BIT,
                                            .queueCount = 1};
    *count = MOCK_QUEUE_FAMILIES;
}

static void VKAPI_CALL get_memory_properties(VkPhysicalDevice own, VkPhysicalDeviceMemoryProperties *memory) {
    const VkMemoryPropertyFlags seen =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    FUZZ_PROMISE(own == &physical);
    memset(memory, 0, sizeof *memory);
    memory->memoryHeapCount = 2;
    memory->memoryHeaps[0] = (VkMemoryHeap){1 << 28, mock.has_local ? VK_MEMORY_HEAP_DEVICE_LOCAL_BIT : 0};
    memory->memoryHeaps[1] = (VkMemoryHeap){1 << 28, 0};
    memory->memoryTypeCount = MEMORY_TYPES;
    memory->memoryTypes[0] = (VkMemoryType){mock.has_local ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : 0, 0};
    memory->memoryTypes[1] = (VkMemoryType){
        mock.is_coherent ? seen : VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
        1};
    memory->memoryTypes[2] =
        (VkMemoryType){seen | (mock.is_unified ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : 0), 0};
}

static void VKAPI_CALL get_format(VkPhysicalDevice own, VkFormat format, VkFormatProperties *properties) {
    FUZZ_PROMISE(own == &physical && format == VK_FORMAT_R32G32B32A32_SFLOAT);
    *properties = (VkFormatProperties){.optimalTilingFeatures =
                                           mock.has_textures ? VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT : 0};
}

static VkResult VKAPI_CALL create_device(VkPhysicalDevice own, const VkDeviceCreateInfo *info,
                                         const VkAllocationCallbacks *callbacks, VkDevice *made) {
    (void)callbacks;
    FUZZ_PROMISE(own == &physical && info->queueCreateInfoCount == 1);
    if (mock_fails())
        return VK_ERROR_INITIALIZATION_FAILED;
    mock.live++;
    *made = &device;
    return VK_SUCCESS;
}

static void VKAPI_CALL destroy_device(VkDevice own, const VkAllocationCallbacks *callbacks) {
    (void)callbacks;
    FUZZ_PROMISE(own == &device);
    mock.live--;
}

static void VKAPI_CALL get_queue(VkDevice own, uint32_t family, uint32_t index, VkQueue *found) {
    FUZZ_PROMISE(own == &device && family < MOCK_QUEUE_FAMILIES && index == 0);
    *found = &queue;
}

// ------------------------------------------------------------------------------------------------ memory

static VkResult VKAPI_CALL allocate_memory(VkDevice own, const VkMemoryAllocateInfo *info,
                                           const VkAllocationCallbacks *callbacks, VkDeviceMemory *made) {
    (void)own, (void)callbacks;
    FUZZ_PROMISE(info->memoryTypeIndex < MEMORY_TYPES && info->allocationSize > 0);
    struct mock_object *object = mock_fails() ? NULL : mock_vk_memory(info->allocationSize);
    *made = MOCK_VK_HANDLE(VkDeviceMemory, object);
    return object ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void VKAPI_CALL free_memory(VkDevice own, VkDeviceMemory memory,
                                   const VkAllocationCallbacks *callbacks) {
    (void)own, (void)callbacks;
    mock_vk_free(MOCK_VK_OBJECT(memory));
}

static VkResult VKAPI_CALL map_memory(VkDevice own, VkDeviceMemory memory, VkDeviceSize offset,
                                      VkDeviceSize size, VkMemoryMapFlags flags, void **mapped) {
    const struct mock_object *object = MOCK_VK_OBJECT(memory);
    (void)own, (void)flags;
    FUZZ_PROMISE(offset < object->size && (size == VK_WHOLE_SIZE || size <= object->size - offset));
    if (mock_fails())
        return VK_ERROR_MEMORY_MAP_FAILED;
    *mapped = object->bytes + offset;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL touch_ranges(VkDevice own, uint32_t count, const VkMappedMemoryRange *ranges) {
    (void)own;
    for (uint32_t i = 0; i < count; i++) {
        const struct mock_object *object = MOCK_VK_OBJECT(ranges[i].memory);
        FUZZ_PROMISE(ranges[i].offset % 64 == 0 && ranges[i].offset < object->size);
        FUZZ_PROMISE(ranges[i].size == VK_WHOLE_SIZE || ranges[i].size <= object->size - ranges[i].offset);
    }
    return mock_fails() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult VKAPI_CALL create_buffer(VkDevice own, const VkBufferCreateInfo *info,
                                         const VkAllocationCallbacks *callbacks, VkBuffer *made) {
    (void)own, (void)callbacks;
    FUZZ_PROMISE(info->size > 0 && info->usage != 0);
    if (mock_fails())
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct mock_object *object = mock_vk_make();
    object->size = info->size;
    *made = MOCK_VK_HANDLE(VkBuffer, object);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL create_image(VkDevice own, const VkImageCreateInfo *info,
                                        const VkAllocationCallbacks *callbacks, VkImage *made) {
    (void)own, (void)callbacks;
    FUZZ_PROMISE(info->extent.width > 0 && info->extent.width <= 4096 && info->extent.height > 0 &&
                 info->extent.height <= 4096);
    if (mock_fails())
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct mock_object *object = mock_vk_make();
    object->width = info->extent.width;
    object->height = info->extent.height;
    object->size = (uint64_t)object->width * object->height * TEXEL;
    *made = MOCK_VK_HANDLE(VkImage, object);
    return VK_SUCCESS;
}

static void needs_of(const struct mock_object *object, uint32_t types, VkMemoryRequirements *needs) {
    *needs = (VkMemoryRequirements){(object->size + 63) / 64 * 64, 64, types};
}

static void VKAPI_CALL buffer_needs(VkDevice own, VkBuffer buffer, VkMemoryRequirements *needs) {
    (void)own;
    needs_of(MOCK_VK_OBJECT(buffer), 7, needs);
}

static void VKAPI_CALL image_needs(VkDevice own, VkImage image, VkMemoryRequirements *needs) {
    (void)own;
    needs_of(MOCK_VK_OBJECT(image), 1, needs);
}

static VkResult bind(struct mock_object *object, struct mock_object *memory, uint64_t offset) {
    FUZZ_PROMISE(object && memory && !object->memory && offset % 64 == 0);
    FUZZ_PROMISE(offset <= memory->size && object->size <= memory->size - offset);
    if (mock_fails())
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    object->memory = memory;
    object->offset = offset;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL bind_buffer(VkDevice own, VkBuffer buffer, VkDeviceMemory memory,
                                       VkDeviceSize offset) {
    (void)own;
    return bind(MOCK_VK_OBJECT(buffer), MOCK_VK_OBJECT(memory), offset);
}

static VkResult VKAPI_CALL bind_image(VkDevice own, VkImage image, VkDeviceMemory memory,
                                      VkDeviceSize offset) {
    (void)own;
    return bind(MOCK_VK_OBJECT(image), MOCK_VK_OBJECT(memory), offset);
}

static void VKAPI_CALL destroy_buffer(VkDevice own, VkBuffer buffer, const VkAllocationCallbacks *callbacks) {
    (void)own, (void)callbacks;
    mock_vk_free(MOCK_VK_OBJECT(buffer));
}

static void VKAPI_CALL destroy_image(VkDevice own, VkImage image, const VkAllocationCallbacks *callbacks) {
    (void)own, (void)callbacks;
    mock_vk_free(MOCK_VK_OBJECT(image));
}

// ------------------------------------------------------------------------------------------------- names

struct entry {
    const char *name;
    PFN_vkVoidFunction function;
};

static PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice own, const char *name);

#define ENTRY(name, own)                                                                                     \
    { "vk" #name, (PFN_vkVoidFunction)(void (*)(void))(own) }
static PFN_vkVoidFunction find(const char *name) {
    static const struct entry entries[] = {
        ENTRY(CreateInstance, create_instance),
        ENTRY(DestroyInstance, destroy_instance),
        ENTRY(EnumerateInstanceVersion, enumerate_version),
        ENTRY(EnumerateInstanceExtensionProperties, enumerate_instance_extensions),
        ENTRY(EnumerateDeviceExtensionProperties, enumerate_device_extensions),
        ENTRY(EnumeratePhysicalDevices, enumerate_physical),
        ENTRY(GetPhysicalDeviceProperties, get_properties),
        ENTRY(GetPhysicalDeviceProperties2, get_properties_2),
        ENTRY(GetPhysicalDeviceQueueFamilyProperties, get_families),
        ENTRY(GetPhysicalDeviceMemoryProperties, get_memory_properties),
        ENTRY(GetPhysicalDeviceFormatProperties, get_format),
        ENTRY(CreateDevice, create_device),
        ENTRY(DestroyDevice, destroy_device),
        ENTRY(GetDeviceProcAddr, get_device_proc_addr),
        ENTRY(GetDeviceQueue, get_queue),
        ENTRY(AllocateMemory, allocate_memory),
        ENTRY(FreeMemory, free_memory),
        ENTRY(MapMemory, map_memory),
        ENTRY(FlushMappedMemoryRanges, touch_ranges),
        ENTRY(InvalidateMappedMemoryRanges, touch_ranges),
        ENTRY(CreateBuffer, create_buffer),
        ENTRY(DestroyBuffer, destroy_buffer),
        ENTRY(CreateImage, create_image),
        ENTRY(DestroyImage, destroy_image),
        ENTRY(GetBufferMemoryRequirements, buffer_needs),
        ENTRY(GetImageMemoryRequirements, image_needs),
        ENTRY(BindBufferMemory, bind_buffer),
        ENTRY(BindImageMemory, bind_image),
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strcmp(name, entries[i].name) == 0)
            return entries[i].function;
    return mock_vk_find_command(name);
}

static PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice own, const char *name) {
    FUZZ_PROMISE(own == &device);
    return find(name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL mock_vk_get_instance_proc_addr(VkInstance own, const char *name) {
    (void)own;
    return find(name);
}

bool mock_vulkan_find(const char *name, void *function, size_t size) {
    const PFN_vkGetInstanceProcAddr found = mock_vk_get_instance_proc_addr;
    if (strcmp(name, "vkGetInstanceProcAddr") != 0 || size != sizeof found)
        return false;
    memcpy(function, &found, size);
    return true;
}

// SPDX-License-Identifier: MIT
//
// Drivers that report what cannot be, a word at a time: workgroups of nothing, buffers of 4 GiB less one,
// alignments that are none, memory without types or heaps, families without end, names without one. Each time
// an error with its line in the log, or the bits of an honest driver; never a crash, and nothing left over.
#include "vulkan_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

enum { WORD = sizeof(uint32_t), MOST_REQUEST = 1 << 30 };

static tally counts;
static struct shim *shim;
static unsigned refused, rotated;

typedef struct memory {
    captured_log log; // first, so that its own callback finds it
    long live;
} memory;

static void *allocate(void *user, size_t size, size_t alignment) {
    memory *own = user;
    void *block = NULL;
    if (size < MOST_REQUEST) // lists that have no end are more than a machine need have
        block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    own->live += block != NULL;
    return block;
}

static void release(void *user, void *block, size_t size) {
    (void)size;
    ((memory *)user)->live--;
    free(block);
}

static rope2d_status rotate(rope2d_table table, memory *own, job_result *result) {
    const test_job job = {.shape = JOB_HALF, .table = table, .batch = 2, .tokens = 9};
    rope2d_host host = captured_host(&own->log);
    rope2d_device *device = NULL;
    host.user = own;
    host.allocate = allocate;
    host.release = release;
    const rope2d_device_params params = {
        .struct_size = sizeof(params), .backend = ROPE2D_BACKEND_VULKAN, .host = &host};
    rope2d_device_info info = {.struct_size = sizeof(info)};
    uint32_t count = 1;
    memset(result, 0, sizeof(*result));
    (void)rope2d_enumerate(ROPE2D_BACKEND_VULKAN, &host, &count, &info);
    tally_check(&counts,
                memchr(info.name, 0, sizeof(info.name)) && memchr(info.driver, 0, sizeof(info.driver)),
                "names end");
    rope2d_status status = rope2d_device_create(&params, &device);
    if (status == ROPE2D_OK)
        status = job_run(&job, device, ROPE2D_PLAN_NO_SELF_TEST, result);
    rope2d_device_destroy(device);
    return status;
}

static void try(enum shim_lie lie, uint32_t word, uint32_t with, rope2d_table table,
                const job_result *right) {
    static memory own;
    const test_job job = {.shape = JOB_HALF, .table = table, .batch = 2, .tokens = 9};
    job_result found;
    size_t where = 0;
    memset(&own, 0, sizeof(own));
    shim->live = 0;
    shim->faults = 0;
    shim->lie = lie;
    shim->lie_word = word;
    shim->lie_with = with;
    const rope2d_status status = rotate(table, &own, &found);
    shim->lie = SHIM_LIE_NONE;
    if (status == ROPE2D_OK) {
        const bool is_right = job_equal(&job, right, &found, &where);
        rotated++;
        tally_check(&counts, is_right, "lie %d, word %u, 0x%x: byte %zu is wrong", (int)lie, word, with,
                    where);
    } else {
        refused++;
        tally_check(&counts, own.log.text[0] != 0, "lie %d, word %u, 0x%x: %s without a word", (int)lie, word,
                    with, rope2d_status_name(status));
    }
    tally_check(&counts, own.live == 0 && shim->live == 0 && (shim->faults == 0 || lie == SHIM_LIE_MEMORY),
                "lie %d, word %u, 0x%x: %ld blocks, %d objects, %u faults", (int)lie, word, with, own.live,
                (int)shim->live, (unsigned)shim->faults);
    job_release(&found);
}

// Each lie makes an instance, a device and kernels.
static bool is_quick(void) {
    const char *quick = getenv("ROPE2D_QUICK");
    return quick != NULL && strcmp(quick, "1") == 0;
}

static void try_words(enum shim_lie lie, const size_t *offsets, size_t count, rope2d_table table,
                      const job_result *right) {
    static const uint32_t values[] = {0, UINT32_MAX, 3};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < 3; j++)
            if (!is_quick() || j == i % 2)
                try(lie, (uint32_t)(offsets[i] / WORD), values[j], table, right);
}

#define LIMIT(name) offsetof(VkPhysicalDeviceLimits, name)
// Of 64-bit words both halves.
static const size_t limits[] = {
    LIMIT(maxStorageBufferRange),
    LIMIT(maxUniformBufferRange),
    LIMIT(maxPushConstantsSize),
    LIMIT(maxMemoryAllocationCount),
    LIMIT(bufferImageGranularity),
    LIMIT(maxBoundDescriptorSets),
    LIMIT(maxPerStageDescriptorStorageBuffers),
    LIMIT(maxPerStageResources),
    LIMIT(maxDescriptorSetStorageBuffers),
    LIMIT(maxComputeSharedMemorySize),
    LIMIT(maxComputeWorkGroupCount),
    LIMIT(maxComputeWorkGroupCount) + WORD,
    LIMIT(maxComputeWorkGroupInvocations),
    LIMIT(maxComputeWorkGroupSize),
    LIMIT(minMemoryMapAlignment),
    LIMIT(minStorageBufferOffsetAlignment),
    LIMIT(minStorageBufferOffsetAlignment) + WORD,
    LIMIT(minUniformBufferOffsetAlignment),
    LIMIT(minUniformBufferOffsetAlignment) + WORD,
    LIMIT(timestampPeriod),
    LIMIT(nonCoherentAtomSize),
};
static const size_t texture_limits[] = {LIMIT(maxImageDimension2D),
                                        LIMIT(maxPerStageDescriptorStorageBuffers)};

#define MEMORY(name) offsetof(VkPhysicalDeviceMemoryProperties, name)
static const size_t memories[] = {
    MEMORY(memoryTypeCount),
    MEMORY(memoryTypes),
    MEMORY(memoryTypes) + WORD, // flags, the heap's number
    MEMORY(memoryHeapCount),
    MEMORY(memoryHeaps),
    MEMORY(memoryHeaps) + WORD, // both halves of the size
    MEMORY(memoryHeaps) + (size_t)2 * WORD,
};

static void try_all(rope2d_table table) {
    static const size_t first_words[] = {0, WORD, (size_t)2 * WORD};
    static memory own;
    job_result right;
    const rope2d_status status = rotate(table, &own, &right);
    tally_check(&counts, status == ROPE2D_OK, "nothing is wrong, and nothing rotates: %s: %s",
                rope2d_status_name(status), own.log.text);
    if (table == ROPE2D_TABLE_TEXTURE) {
        try_words(SHIM_LIE_LIMITS, texture_limits, 2, table, &right);
        try_words(SHIM_LIE_FORMAT, first_words, 3, table, &right);
    } else {
        try_words(SHIM_LIE_LIMITS, limits, sizeof(limits) / sizeof(limits[0]), table, &right);
        try_words(SHIM_LIE_MEMORY, memories, sizeof(memories) / sizeof(memories[0]), table, &right);
        try_words(SHIM_LIE_FAMILIES, first_words, 3, table, &right);
        try(SHIM_LIE_NAME, 0, 'x', table, &right);
        try(SHIM_LIE_NAME, 0, 0, table, &right);
        try(SHIM_LIE_NAME, 0, 0xff, table, &right);
    }
    job_release(&right);
}

int main(void) {
    shim = vulkan_shim_open();
    tally_check(&counts, shim != NULL, "no shim: ROPE2D_TEST_SHIM");
    if (shim != NULL && vulkan_count(&counts) > 0) {
        try_all(ROPE2D_TABLE_BUFFER);
        try_all(ROPE2D_TABLE_TEXTURE);
        printf("%u lies: %u refused, %u rotated all the same\n", refused + rotated, refused, rotated);
        tally_check(&counts, refused > (is_quick() ? 5 : 15), "only %u lies were refused", refused);
    }
    return tally_finish(&counts);
}

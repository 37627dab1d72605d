// SPDX-License-Identifier: MIT
//
// A Vulkan device of the bench's own, which the library is adopted into.
#ifndef ROPE2D_CLI_BENCH_VULKAN_H
#define ROPE2D_CLI_BENCH_VULKAN_H

#define VK_NO_PROTOTYPES
#include <volk.h>

#include "bench_kinds.h"

enum { VULKAN_WIDTHS = 3, VULKAN_ITEMS = 3, VULKAN_GROUPS = 2 };
enum { VULKAN_SHAPES = VULKAN_WIDTHS * VULKAN_ITEMS * VULKAN_GROUPS };
enum { VULKAN_MOST_CONSTANTS = 7, VULKAN_CONSTANT_BYTES = 24 }; // of a module; pushed
enum { VULKAN_TURN_FORMS = 12, VULKAN_TURN_SHAPES = VULKAN_TURN_FORMS * 2 * VULKAN_GROUPS };

struct vulkan_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
};

struct vulkan {
    void *library;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice handle;
    uint32_t family;
    VkQueue queue;
    bool has_float16;      // shaderFloat16 is enabled
    bool has_int64;        // and shaderInt64
    bool has_robustness;   // and pipelineRobustness
    VkPipelineCache cache; // for the library
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkQueryPool queries; // two timestamps; NULL where the queue has none
    double tick;         // seconds
    uint64_t tick_mask;
    VkPhysicalDeviceLimits limits;
    VkPhysicalDeviceMemoryProperties memory_types;
    // The copy kernels, each made when it is first needed, and what they are bound to.
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipelines[BENCH_KINDS_COUNT][VULKAN_SHAPES];
    VkPipeline turns[BENCH_TOWERS][ROPE2D_ELEMENT_COUNT][2][VULKAN_TURN_SHAPES]; // [half]
    uint32_t busy_runs; // of a scale, so that a GPU is at work for a while
    // Of the case in work.
    struct vulkan_memory *sets; // [sets][BENCH_BUFFERS]
    struct vulkan_memory table; // of limits, and behind turn_floats that of turns, where there are any
    bool has_turns;
    uint64_t turn_floats;
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet *descriptors; // [sets][in place]
    uint64_t chunk;               // bytes that a kernel reaches at once
    struct vulkan_memory staging;
    void *mapped;
};

// Logs a call that failed, and returns an exit status; STATUS_OK for VK_SUCCESS.
int vulkan_check(const struct bench_engine *engine, VkResult result, const char *call);

// bench_vulkan_device.c
int bench_vulkan_open(struct bench_engine *engine);
void bench_vulkan_close(struct bench_engine *engine);
double bench_vulkan_compile_seconds(const struct bench_engine *engine);
double bench_vulkan_run_seconds(const struct bench_engine *engine);
void bench_vulkan_run_twice(const struct bench_engine *engine);
double bench_vulkan_repeat_seconds(const struct bench_engine *engine);
uint32_t bench_vulkan_compiled(const struct bench_engine *engine);
rope2d_status bench_vulkan_make_device(struct bench_engine *engine, rope2d_device **device);
// What the library's descriptors reach besides the bench's own buffers, since the last call; bytes.
uint64_t bench_vulkan_take_bound(struct bench_engine *engine);

// bench_vulkan_memory.c
int bench_vulkan_staging_create(struct bench_engine *engine);
void bench_vulkan_memory_free(const struct vulkan *vulkan, struct vulkan_memory *memory);
int bench_vulkan_memory_create(struct bench_engine *engine);
void bench_vulkan_memory_destroy(struct bench_engine *engine);
int bench_vulkan_write(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                       const void *data);
int bench_vulkan_read(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                      void *data);
VkBuffer bench_vulkan_buffer(const struct vulkan *vulkan, uint32_t set, int buffer);
bool bench_vulkan_is_own(const struct bench_engine *engine, VkBuffer buffer);

// bench_vulkan_submit.c: begins the command buffer, with a timestamp; ends it with another, submits and
// waits.
int bench_vulkan_begin(struct bench_engine *engine);
void bench_vulkan_barrier(VkCommandBuffer commands);
int bench_vulkan_submit(struct bench_engine *engine, struct bench_sample *sample);

// bench_vulkan_kernels.c
int bench_vulkan_kernels_create(struct bench_engine *engine);
void bench_vulkan_kernels_destroy(struct vulkan *vulkan);
int bench_vulkan_descriptors_create(struct bench_engine *engine);
uint32_t bench_vulkan_variants(const struct bench_engine *engine, enum bench_move move);
void bench_vulkan_variant_name(const struct bench_engine *engine, enum bench_move move, uint32_t variant,
                               char *name, size_t size);
// Binds a pipeline and a descriptor set, pushes constants and dispatches: the least that a record can do.
int bench_vulkan_record_bare(struct bench_engine *engine, double *seconds);
int bench_vulkan_move(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      struct bench_sample *sample);
int bench_vulkan_busy(struct bench_engine *engine, uint32_t set);
// Of a module, with these constants in their order.
struct rope2d_unpacked;
int bench_vulkan_make_pipeline(struct bench_engine *engine, const struct rope2d_unpacked *spirv,
                               const uint32_t *constants, uint32_t count, VkPipeline *pipeline);

// bench_vulkan_turns.c: of the case in work; none where there are none for its tower.
uint32_t bench_vulkan_turn_variants(const struct bench_engine *engine);
void bench_vulkan_turn_name(const struct bench_engine *engine, uint32_t variant, char *name, size_t size);
int bench_vulkan_turn_pipeline(struct bench_engine *engine, enum bench_move move, uint32_t variant,
                               VkPipeline *found);
// Binds, pushes and dispatches; the pipeline is bound.
void bench_vulkan_turn(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set);

#endif

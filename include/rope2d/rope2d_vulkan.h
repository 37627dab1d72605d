// SPDX-License-Identifier: MIT
//
// rope2d inside a program that owns Vulkan: on its device, in its command buffers, on its buffers. Include it
// after volk.h or vulkan.h, or alone; of Vulkan it needs the types only, and calls nothing by name.
//
//     rope2d_vulkan_device_adopt      the caller's VkDevice becomes a rope2d_device
//     rope2d_plan_create, rope2d_positions_create      as on every device
//     rope2d_vulkan_binding_create    plan + positions + the caller's VkBuffers
//     rope2d_vulkan_record            into the caller's VkCommandBuffer, every frame
//
// Nothing beyond core Vulkan 1.0 is used, with every feature off, so that it does not matter which extensions
// and features were enabled; but for push descriptors and shaderFloat16, where the caller says that they are.
// docs/synchronisation_vulkan.md writes out the barriers.
#ifndef ROPE2D_VULKAN_H
#define ROPE2D_VULKAN_H

#include "rope2d.h"

#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------------------
// memory of the caller's

// Where memory of the caller's lies: a range of a buffer, or, for an image, of memory. No function of Vulkan
// tells a buffer's size. What is refused, here and in views, is a range that reaches past what
// vkGetBufferMemoryRequirements says, which may be some bytes more than the buffer; what lies between is the
// caller's to know, and the validation layer's to find.
typedef struct rope2d_vulkan_place {
    VkBuffer buffer;       // VK_NULL_HANDLE where `memory` is asked for; bound to memory
    VkDeviceMemory memory; // for an image
    uint64_t offset;       // bytes, of the buffer or of the memory
    uint64_t size;         // bytes from there that may be used
    void *mapped;          // where the host sees `offset`, and writes; NULL: it does not
} rope2d_vulkan_place;

enum {
    ROPE2D_VULKAN_SMALL_ALIGNMENT = 256,
    ROPE2D_VULKAN_PLAN_BYTES = 32768,  // of rope2d_vulkan_device_params::small that a plan takes at most;
                                       // plans of one structure and types share them
    ROPE2D_VULKAN_DISPATCH_BYTES = 512 // the same of each dispatch of a binding
};

// ------------------------------------------------------------------------------------------------------------
// adopting a device

// All handles belong to the caller, outlive the rope2d_device, and are left as they were.
typedef struct rope2d_vulkan_device_params {
    size_t struct_size;
    PFN_vkGetInstanceProcAddr get_instance_proc_addr; // the loader's, or a layer's of the caller's own
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    uint32_t api_version; // VkApplicationInfo::apiVersion that the instance was made with; 0: Vulkan 1.0
    uint32_t flags;       // ROPE2D_DEVICE_*; ROPE2D_SHADERS is heard as by rope2d_device_create
    const rope2d_host *host;

    // A queue that computes, and its family. With one, rope2d_apply works, texture tables are uploaded and
    // plans are tested when they are made; NULL: nothing is ever submitted, rope2d_apply says
    // ROPE2D_ERROR_UNSUPPORTED, plans are ROPE2D_UNTESTED, and tables are buffers, which the host writes,
    // unless rope2d_vulkan_positions_prepare leaves memory and upload to the caller.
    VkQueue queue;
    uint32_t queue_family;
    // Called around every vkQueueSubmit and vkQueueWaitIdle, from the thread that called the library, and
    // never inside another. Both or neither; NULL: nobody else uses the queue.
    void (*lock_queue)(void *user, VkQueue queue);
    void (*unlock_queue)(void *user, VkQueue queue);
    void *queue_user;

    const VkAllocationCallbacks *allocation; // copied; for every object made here; NULL: the driver's own
    VkPipelineCache pipeline_cache; // for every pipeline; internally synchronised; NULL: one of our own, for
                                    // rope2d_device_get_cache and rope2d_device_set_cache

    // For what plans and bindings need: a buffer made with VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT in memory that
    // is HOST_VISIBLE and HOST_COHERENT, mapped, its offset a multiple of ROPE2D_VULKAN_SMALL_ALIGNMENT.
    // ROPE2D_VULKAN_PLAN_BYTES for each plan and ROPE2D_VULKAN_DISPATCH_BYTES for each dispatch of each
    // binding, and for each thread that applies or tests, are enough; where it is full, plans and bindings
    // are ROPE2D_ERROR_DEVICE_MEMORY. All zero: our own allocator, whose small things share a few
    // VkDeviceMemory.
    rope2d_vulkan_place small;

    // 1: VK_KHR_push_descriptor was enabled. Recordings then push their descriptors: bindings have no
    // descriptor pool, and an update writes host memory alone. 0: sets of pools of our own.
    uint32_t has_push_descriptors;
    // 1: the feature shaderFloat16 was enabled. Plans of f16 may then leave conversions to the device, which
    // a plan must show to be exact: with a queue, and without ROPE2D_PLAN_NO_SELF_TEST. All other plans
    // convert by integers, whose bits are the same, but for those that share the kernels of a plan that
    // showed it. 0: integers.
    uint32_t has_shader_float16;
    // 1: the feature shaderInt64 was enabled. lavapipe then moves memory by 64 bits, which takes it less
    // time; the kernels of others have no use for it. 0: by 32.
    uint32_t has_shader_int64;
    // 1: the feature pipelineRobustness was enabled (VK_EXT_pipeline_robustness). Pipelines then go without
    // the bounds checks that drivers add to loads and stores, robustBufferAccess or not: what they may reach
    // is checked before anything is recorded. Enabling it is worth it: NVIDIA's driver checks wherever it is
    // not. 0: as the driver does.
    uint32_t has_pipeline_robustness;

    uint64_t dispatch_bytes; // as in rope2d_device_params, of rope2d_apply and of recordings
} rope2d_vulkan_device_params;

// Makes a device of the caller's. Loads functions and makes descriptor set and pipeline layouts, a sampler,
// and a pipeline cache where none is given; compiles nothing, submits nothing, tests nothing. Its index is 0.
// The caller destroys it with rope2d_device_destroy, before the VkDevice.
ROPE2D_API rope2d_status rope2d_vulkan_device_adopt(const rope2d_vulkan_device_params *params,
                                                    rope2d_device **device);

// ------------------------------------------------------------------------------------------------------------
// positions in memory of the caller's

// What memory something needs. Of a buffer: its usage, and the caller asks the buffer that it makes for the
// rest. Of an image: as VkMemoryRequirements say.
typedef struct rope2d_vulkan_need {
    uint64_t size;            // bytes; 0: nothing is needed
    uint64_t alignment;       // of the offset, a power of two
    VkBufferUsageFlags usage; // of a buffer; 0: an image, which is bound to memory
    uint32_t memory_types;    // of an image: a bit for each memory type that suits
} rope2d_vulkan_need;

typedef struct rope2d_vulkan_positions_needs {
    size_t struct_size;
    rope2d_vulkan_need table; // a buffer, or an image for a table that is a texture
    rope2d_vulkan_need rows;
    rope2d_vulkan_need staging; // for an image, and for what the host cannot see; enough for all
} rope2d_vulkan_positions_needs;

typedef struct rope2d_vulkan_positions_places {
    size_t struct_size;
    rope2d_vulkan_place table;
    rope2d_vulkan_place rows;
    rope2d_vulkan_place staging; // mapped; all zero where the host sees table and rows
} rope2d_vulkan_positions_places;

// As rope2d_positions_create, on any Vulkan device, with or without a queue, but without memory on the
// device: computes rows and table on the host, and for a texture makes the VkImage. Until they are placed,
// what uses them on the device is ROPE2D_ERROR_UNSUPPORTED. ROPE2D_ERROR_LIMIT for a table that fits no
// buffer or texture.
ROPE2D_API rope2d_status rope2d_vulkan_positions_prepare(rope2d_device *device,
                                                         const rope2d_positions_params *params,
                                                         rope2d_positions **positions);
// What memory prepared positions need.
ROPE2D_API rope2d_status rope2d_vulkan_positions_get_needs(const rope2d_positions *positions,
                                                           rope2d_vulkan_positions_needs *needs);
// Gives prepared positions their memory, once, before anything uses them. All of it outlives them, but for
// staging. Writes what the host sees, table and rows where they are mapped, else staging: memory that is not
// HOST_COHERENT is the caller's to flush. Allocates no memory of the device's. When it fails for bad
// arguments, nothing has changed; when the driver fails, the positions can only be destroyed.
ROPE2D_API rope2d_status rope2d_vulkan_positions_place(rope2d_positions *positions,
                                                       const rope2d_vulkan_positions_places *places);
// Records the copies from staging, outside a render pass, into a command buffer of any family that computes;
// nothing where the host has written all. Once, and again only where what was recorded is not submitted: a
// copy that runs while kernels read the table is a race. Barriers are recorded with them, so that compute
// shaders of all later commands of the queue see table and rows: on another queue the caller waits for a
// semaphore, and a queue of another family wants a transfer of ownership. Disturbs no state. Staging may be
// reused when these commands have completed.
ROPE2D_API rope2d_status rope2d_vulkan_positions_record_upload(const rope2d_positions *positions,
                                                               VkCommandBuffer commands);

// ------------------------------------------------------------------------------------------------------------
// bindings

// Where the elements of a tensor lie in a buffer of the caller's: as rope2d_view, with a VkBuffer for a base.
typedef struct rope2d_vulkan_view {
    VkBuffer buffer;      // made with VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, bound to memory
    uint64_t size;        // bytes from the buffer's beginning that may be used: at most its size
    uint64_t offset;      // of the first element; bytes; any multiple of the element's size
    int64_t batch_stride; // elements
    int64_t token_stride;
    int64_t head_stride;
} rope2d_vulkan_view;

typedef struct rope2d_vulkan_tensor {
    uint32_t heads;
    rope2d_vulkan_view in;
    rope2d_vulkan_view out; // the same buffer, offset and strides as in: in place. All zero: in place
} rope2d_vulkan_tensor;

// As rope2d_apply_params. rope2d_vulkan_record_range takes some of the tokens, with other positions.
typedef struct rope2d_vulkan_binding_params {
    size_t struct_size;
    uint32_t batch;        // 0 records nothing
    uint64_t first_token;  // of the positions, the tensors' token 0
    uint64_t tokens;       // 0 records nothing
    uint32_t tensor_count; // at most ROPE2D_MAX_TENSORS
    const rope2d_vulkan_tensor *tensors;

    // Row numbers of the caller's, which kernels may write: int32 [row_batch][row_tokens][row_axes], row_axes
    // as rope2d_positions_get_info says, pointing into the table as rope2d_positions_host_rows does;
    // negative: not rotated. What is not below row_bound is clamped: a kernel never reads past the table. In
    // no memory that an output has. VK_NULL_HANDLE: the positions' own, and all that follows is 0. Like an
    // input, it must be visible before.
    VkBuffer rows;       // made with VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, bound to memory
    uint64_t row_size;   // bytes from the buffer's beginning that may be used: at most its size
    uint64_t row_offset; // bytes, a multiple of minStorageBufferOffsetAlignment
    uint32_t row_bound;  // at most the table's rows; 0: all of them
    uint32_t row_batch;  // 0 or 1: shared by the batch; otherwise `batch`
    uint64_t row_tokens; // takes the place of the positions' tokens
} rope2d_vulkan_binding_params;

// A plan, positions and the caller's buffers: the descriptor sets and the few words that a recording needs.
// It belongs to the caller, who makes one for each thread or each frame in flight. Plan, positions and
// buffers must outlive it. Thread-safety: any number of threads may record from one at once; update and
// destroy it when nobody records it and no command buffer that holds it is pending.
typedef struct rope2d_vulkan_binding rope2d_vulkan_binding;

// Checks as rope2d_apply does, overlaps included; two VkBuffers are taken to share no memory. Offsets need
// not be multiples of minStorageBufferOffsetAlignment. Kernels write 16-bit elements that share a 32-bit word
// with others atomically, hence the last word that a tensor touches must lie within `size`. A token of a
// tensor must lie within maxStorageBufferRange; larger work becomes several dispatches.
ROPE2D_API rope2d_status rope2d_vulkan_binding_create(const rope2d_plan *plan,
                                                      const rope2d_positions *positions,
                                                      const rope2d_vulkan_binding_params *params,
                                                      rope2d_vulkan_binding **binding);
// Other buffers, strides or tokens. Cheap while the number of dispatches does not grow. When it fails
// for bad arguments, the binding is as it was; when the driver fails, it may record nothing.
ROPE2D_API rope2d_status rope2d_vulkan_binding_update(rope2d_vulkan_binding *binding,
                                                      const rope2d_vulkan_binding_params *params);
// NULL is legal. rope2d_vulkan_binding_retire takes what command buffers that are pending still use.
ROPE2D_API void rope2d_vulkan_binding_destroy(rope2d_vulkan_binding *binding);

// How many dispatches a recording has.
ROPE2D_API uint32_t rope2d_vulkan_binding_dispatches(const rope2d_vulkan_binding *binding);

// Records the rotation into a command buffer that is recording, primary or secondary, outside a render pass,
// of a family that computes. Allocates nothing, locks nothing, submits nothing, inserts no barrier.
//
// Before: what wrote the inputs must be available and visible to VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
// VK_ACCESS_SHADER_READ_BIT; what last used the outputs must be ordered before that stage's
// VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT. After: the outputs are written by that stage with
// VK_ACCESS_SHADER_WRITE_BIT. The dispatches of a recording need no barrier between them: none touches
// what another writes. (Synchronization validation compares descriptors' ranges, which begin at multiples of
// minStorageBufferOffsetAlignment: where tensors of several dispatches are closer in a buffer, it reports a
// hazard that is none.)
//
// Disturbs, of the compute bind point: the pipeline and descriptor set 0 (and what pipeline layout
// compatibility takes with it); and push constants, the first 80 bytes. No dynamic state, nothing else of
// graphics.
ROPE2D_API rope2d_status rope2d_vulkan_record(const rope2d_vulkan_binding *binding, VkCommandBuffer commands);

// Some of a binding's tokens, with positions chosen for this recording alone.
typedef struct rope2d_vulkan_range {
    uint64_t first_token;  // of the positions: where the range's first token stands
    uint64_t tensor_token; // of the tensors: the range's first token
    uint64_t tokens;       // 0 records nothing
} rope2d_vulkan_range;

// As rope2d_vulkan_record, of a range: in any number of recordings of one binding, pending ones too, since
// the range goes into push constants and no memory is written. NULL: all of the binding. Fewer tokens are a
// smaller dispatch. A refusal records nothing: ROPE2D_ERROR_TOKENS for a range that reaches past the
// binding's tokens or the positions'; ROPE2D_ERROR_LIMIT where the row numbers are larger than
// maxStorageBufferRange and the range's positions are far from those that the binding was made with.
ROPE2D_API rope2d_status rope2d_vulkan_record_range(const rope2d_vulkan_binding *binding,
                                                    VkCommandBuffer commands,
                                                    const rope2d_vulkan_range *range);

// What one dispatch of a recording binds, pushes and dispatches, for recorders of the caller's.
typedef struct rope2d_vulkan_dispatch {
    size_t struct_size;
    VkPipeline pipeline;     // the plan's, at VK_PIPELINE_BIND_POINT_COMPUTE
    VkPipelineLayout layout; // the device's
    uint32_t set_number;     // of `set`
    VkDescriptorSet set;     // the binding's, without dynamic offsets; VK_NULL_HANDLE with push descriptors
    uint32_t write_count;    // with push descriptors: of what is pushed to set_number; otherwise 0
    const VkWriteDescriptorSet *writes; // the binding's; dstSet is VK_NULL_HANDLE
    VkShaderStageFlags push_stages;
    uint32_t push_bytes; // from offset 0
    uint32_t push_words[32];
    uint32_t groups[3]; // all 0: none of the range is this dispatch's
} rope2d_vulkan_dispatch;

// Fills *dispatch with what rope2d_vulkan_record_range would record for dispatch `index`, below
// rope2d_vulkan_binding_dispatches. The words are a copy; the handles live as the binding, the plan and the
// device do, and an update of the binding may change them. Recording all dispatches in any order, without
// barriers between them, is what rope2d_vulkan_record_range does. Allocates nothing, locks nothing.
ROPE2D_API rope2d_status rope2d_vulkan_binding_dispatch(const rope2d_vulkan_binding *binding,
                                                        const rope2d_vulkan_range *range, uint32_t index,
                                                        rope2d_vulkan_dispatch *dispatch);

// ------------------------------------------------------------------------------------------------------------
// retiring what is in flight

// In place of destroying: hands an object over that command buffers which are pending, or still to be
// submitted, may use. `value` is the caller's: a frame number or the value of a timeline semaphore that will
// have passed when the device is done with them. The object may not be recorded or updated any more. Never
// fails, allocates nothing, waits for nothing; NULL is legal. What is of another backend is destroyed at
// once. What was retired with the same value may be destroyed in any order. Thread-safe for different
// objects.
ROPE2D_API void rope2d_vulkan_binding_retire(rope2d_vulkan_binding *binding, uint64_t value);
ROPE2D_API void rope2d_vulkan_positions_retire(rope2d_positions *positions, uint64_t value);
ROPE2D_API void rope2d_vulkan_plan_retire(rope2d_plan *plan, uint64_t value);

// The device is done with everything up to `value`: destroys what was retired with it or a smaller one, on
// this thread. Thread-safe. rope2d_device_destroy destroys all that is left: by then the device is done with
// all.
ROPE2D_API rope2d_status rope2d_vulkan_device_passed(rope2d_device *device, uint64_t value);

// ------------------------------------------------------------------------------------------------------------
// rotating in shaders of the caller's

// The positions on the device, for compute shaders, which only read them. Row number t * row_axes + axis of
// batch element 0 belongs to token t; that row of the table has `columns` entries (cos, sin). Entry i turns
// pair i of every head, or entry head * pairs + i where frequencies are per head; with two angles 2 * i turns
// lo and 2 * i + 1 turns hi. Of a factored spec each axis' row has its own entries, from
// axis * columns / row_axes on, and the product of a pair is axis 0's (cos, sin) turned as (lo, hi) by axis
// 1's, and so on.
typedef struct rope2d_vulkan_table {
    size_t struct_size;
    rope2d_table kind; // ROPE2D_TABLE_BUFFER or ROPE2D_TABLE_TEXTURE
    uint32_t table_rows;
    uint32_t columns;
    uint32_t row_axes;

    VkBuffer rows;        // storage buffer of int32 [batch][tokens][row_axes]; negative: not rotated
    uint64_t rows_offset; // bytes, suits a descriptor
    uint64_t rows_size;

    VkBuffer table; // of kind BUFFER: storage buffer of vec2 [table_rows][columns], std430
    uint64_t table_offset;
    uint64_t table_size;

    // Of kind TEXTURE: two entries to a texel, in raster order from row to row without gaps.
    VkImage image;
    VkImageView view;      // 2D, one level, one layer
    VkSampler sampler;     // nearest; a fetch does not ask it
    VkFormat format;       // VK_FORMAT_R32G32B32A32_SFLOAT
    VkImageLayout layout;  // that it is in and stays in
    uint32_t texture_fold; // log2 of its width
    uint32_t texture_height;
} rope2d_vulkan_table;

// All belong to the positions or their device and live as long. They were written before, and need no barrier
// of the caller's; in memory of the caller's, once rope2d_vulkan_positions_record_upload has run, and
// ROPE2D_ERROR_UNSUPPORTED before they are placed. ROPE2D_ERROR_LIMIT for positions whose table fits no
// buffer of the device.
ROPE2D_API rope2d_status rope2d_vulkan_positions_get_table(const rope2d_positions *positions,
                                                           rope2d_vulkan_table *table);

// GLSL 4.50 for the caller's own compute shaders: rope2d.glsl, to be put behind their #version; the installed
// file is the same with comments. Static, never NULL. It declares rope2d_turn_lo and rope2d_turn_hi, whose
// products and sums are `precise`, conversions of 16-bit elements, rope2d_row, and rope2d_fetch for tables
// that are textures: shaders that rotate with them get the bits of rope2d_apply.
ROPE2D_API const char *rope2d_vulkan_source(void);

#ifdef __cplusplus
}
#endif

#endif

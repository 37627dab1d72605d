// SPDX-License-Identifier: MIT
//
// rope2d inside a program that owns OpenCL: on its context, in its queues, on its buffers. Needs the headers
// of OpenCL, and links no loader.
//
//     rope2d_opencl_device_adopt      the caller's cl_context and cl_device_id become a rope2d_device
//     rope2d_plan_create, rope2d_positions_create      as on every device
//     rope2d_opencl_binding_create    plan + positions + the caller's cl_mem
//     rope2d_opencl_enqueue           into the caller's cl_command_queue, every time
#ifndef ROPE2D_OPENCL_API_H
#define ROPE2D_OPENCL_API_H

#include "rope2d.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300 // the headers' default, without their message
#endif
#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROPE2D_OPENCL_MAX_TENSORS 4 // tensors of one binding

// ------------------------------------------------------------------------------------------------------------
// adopting a device

// All handles belong to the caller, outlive the rope2d_device, and are left as they were: none is retained.
typedef struct rope2d_opencl_device_params {
    size_t struct_size;
    cl_context context;
    cl_device_id device; // one of the context's
    uint32_t flags;      // ROPE2D_DEVICE_*; ROPE2D_SHADERS is heard as by rope2d_device_create
    const rope2d_host *host;

    // An in-order queue of context and device. With one, rope2d_apply works, and plans are tested when they
    // are made unless ROPE2D_PLAN_NO_SELF_TEST says not to; nothing else uses it. NULL: nothing is ever
    // enqueued but by rope2d_opencl_enqueue, rope2d_apply says ROPE2D_ERROR_UNSUPPORTED, and plans are
    // ROPE2D_UNTESTED.
    cl_command_queue queue;

    const char *cache_folder; // as in rope2d_device_params: binaries of programs are kept there; NULL: none
    uint64_t dispatch_bytes;  // as in rope2d_device_params, of rope2d_apply and rope2d_opencl_enqueue
} rope2d_opencl_device_params;

// Makes a device of the caller's. Opens the loader (the one in ROPE2D_OPENCL_LOADER, else the system's) and
// asks the driver for limits; compiles nothing, enqueues nothing, tests nothing. Its index is 0. The caller
// destroys it with rope2d_device_destroy, before the context.
ROPE2D_API rope2d_status rope2d_opencl_device_adopt(const rope2d_opencl_device_params *params,
                                                    rope2d_device **device);

// ------------------------------------------------------------------------------------------------------------
// bindings

// Where the elements of a tensor lie in memory of the caller's: as rope2d_view, with a cl_mem or, where the
// device has it, a pointer for a base.
typedef struct rope2d_opencl_view {
    cl_mem memory;        // a buffer or sub-buffer of the device's context; NULL: `pointer`
    uint64_t offset;      // of the first element; bytes; any multiple of the element's size
    int64_t batch_stride; // elements
    int64_t token_stride;
    int64_t head_stride;
    // Shared virtual memory (OpenCL 2.0, coarse-grained or fine-grained, a host's pointer where the device
    // takes any), or unified shared memory of cl_intel_unified_shared_memory: a multiple of 16. Other devices
    // say ROPE2D_ERROR_UNSUPPORTED. Coarse-grained memory must not be mapped while a kernel uses it. NULL:
    // `memory`; never both.
    void *pointer;
    uint64_t size; // bytes at `pointer`; of `memory` it is not asked
} rope2d_opencl_view;

typedef struct rope2d_opencl_tensor {
    uint32_t heads; // at least 1
    rope2d_opencl_view in;
    rope2d_opencl_view out; // the same memory, offset and strides as in: in place. All zero: in place
} rope2d_opencl_tensor;

typedef struct rope2d_opencl_binding_params {
    size_t struct_size;
    uint32_t batch;        // at least 1
    uint64_t tokens;       // that the tensors hold, at least 1: the most that one enqueue can take
    uint32_t tensor_count; // 1 to ROPE2D_OPENCL_MAX_TENSORS
    const rope2d_opencl_tensor *tensors;

    // Row numbers of the caller's, which kernels may write: int32 [row_batch][row_tokens][row_axes], row_axes
    // as rope2d_positions_get_info says, pointing into the table as rope2d_positions_host_rows does;
    // negative: not rotated. What is not below row_bound is clamped: a kernel never reads past the table. In
    // no memory that an output has. NULL: the positions' own, and all that follows is 0.
    cl_mem rows;
    uint32_t row_bound;  // at most the table's rows; 0: all of them
    uint32_t row_batch;  // 0 or 1: shared by the batch; otherwise `batch`
    uint64_t row_tokens; // takes the place of the positions' tokens
} rope2d_opencl_binding_params;

// A plan, positions and the caller's buffers: a cl_kernel with its arguments. It belongs to the caller, who
// makes one for each thread that enqueues; any number of its enqueues may be in flight. Plan, positions and
// buffers must outlive it. Thread-safety: one thread at a time.
typedef struct rope2d_opencl_binding rope2d_opencl_binding;

// Checks as rope2d_apply does, overlaps included, those of sub-buffers too; a buffer is taken to share no
// memory with a pointer. Elements are numbered in 32 bits from the beginning of their memory, and all is one
// dispatch: what is larger is ROPE2D_ERROR_LIMIT, and wants sub-buffers or several bindings, as do positions
// that are larger than the device's largest buffer.
ROPE2D_API rope2d_status rope2d_opencl_binding_create(const rope2d_plan *plan,
                                                      const rope2d_positions *positions,
                                                      const rope2d_opencl_binding_params *params,
                                                      rope2d_opencl_binding **binding);
// Enqueues that are in flight go on. NULL is legal.
ROPE2D_API void rope2d_opencl_binding_destroy(rope2d_opencl_binding *binding);

// Rotates tokens 0 to `tokens` of the tensors with the positions from `first_token` on, in one kernel, or as
// many as the device's dispatch_bytes ask for: batch elements, and where one is too large its tokens.
// `queue` is any of the device's in its context, in order or out of order. Starts after the `wait_count`
// events of `wait_list`, as clEnqueueNDRangeKernel does; `event` receives one that the caller releases; NULL:
// none. Allocates nothing of ours, copies nothing, blocks for nothing. tokens 0 is a success that enqueues
// nothing and leaves *event NULL.
//
// When the driver fails, kernels that were enqueued before may run.
//
// Before: in an out-of-order queue, or another than the one that wrote the inputs, rows included, or that
// still uses the outputs, wait for the events of what did. After: the outputs are there when `event` is
// complete.
ROPE2D_API rope2d_status rope2d_opencl_enqueue(rope2d_opencl_binding *binding, cl_command_queue queue,
                                               uint64_t first_token, uint64_t tokens, cl_uint wait_count,
                                               const cl_event *wait_list, cl_event *event);

// What rope2d_opencl_enqueue would enqueue in one kernel, however large, for recorders of the caller's, such
// as cl_khr_command_buffer.
typedef struct rope2d_opencl_dispatch {
    size_t struct_size;
    cl_kernel kernel;   // the binding's, with every argument set for this range of tokens
    size_t global_size; // of one dimension
    size_t local_size;
} rope2d_opencl_dispatch;

// Sets the arguments and fills *dispatch. A recorder takes them when it records, as enqueuing does: the next
// call with the same binding may change them. PoCL 3.1 takes them when a command buffer runs: have a binding
// for each kernel that is recorded. ROPE2D_ERROR_TOKENS where tokens is 0.
ROPE2D_API rope2d_status rope2d_opencl_binding_dispatch(rope2d_opencl_binding *binding, uint64_t first_token,
                                                        uint64_t tokens, rope2d_opencl_dispatch *dispatch);

// ------------------------------------------------------------------------------------------------------------
// rotating in kernels of the caller's

// The positions on the device. Row number t * row_axes + axis of batch element 0 belongs to token t; that row
// of the table has `columns` entries (cos, sin). Entry i turns pair i of every head, or entry
// head * pairs + i where frequencies are per head; with two angles 2 * i turns lo and 2 * i + 1 turns hi.
// Of a factored spec each axis' row has its own entries, from axis * columns / row_axes on, and the product
// of a pair is axis 0's (cos, sin) turned as (lo, hi) by axis 1's, and so on.
typedef struct rope2d_opencl_table {
    size_t struct_size;
    cl_mem table; // buffer: float2 [table_rows][columns]; texture: image of CL_RGBA, CL_FLOAT, two entries to
                  // a texel, in raster order from row to row without gaps
    cl_mem rows;  // int32 [batch][tokens][row_axes]; negative: not rotated
    rope2d_table kind;     // ROPE2D_TABLE_BUFFER or ROPE2D_TABLE_TEXTURE
    uint32_t texture_fold; // texture: log2 of its width
    uint32_t table_rows;
    uint32_t columns;
    uint32_t row_axes;
} rope2d_opencl_table;

// Both belong to the positions and live as long. ROPE2D_ERROR_LIMIT for positions that are larger than the
// device's largest buffer.
ROPE2D_API rope2d_status rope2d_opencl_positions_get_table(const rope2d_positions *positions,
                                                           rope2d_opencl_table *table);

// OpenCL C for the caller's own programs: rope2d_cl.h, to be put before their text. Static, never NULL. It
// declares rope2d_turn_lo and rope2d_turn_hi, conversions of 16-bit elements, and rope2d_row, and turns
// contraction off: kernels that rotate with them get the bits of rope2d_apply. Never build it with
// -cl-mad-enable or -cl-fast-relaxed-math.
ROPE2D_API const char *rope2d_opencl_source(void);

#ifdef __cplusplus
}
#endif

#endif

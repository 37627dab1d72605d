// SPDX-License-Identifier: MIT
//
// What the files of this backend share. Only calls of OpenCL 1.2 are used, from a table of functions that
// belongs to a device, so that neither the loader nor its symbols are ever linked.
#ifndef ROPE2D_OPENCL_H
#define ROPE2D_OPENCL_H

#include "../backend.h"
#include "../lock.h"
#include "../records.h"
#include "../stage.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <CL/cl_icd.h>

// ------------------------------------------------------------------------------------------------ load.c

#define ROPE2D_CL_FUNCTIONS(X)                                                                               \
    X(BuildProgram)                                                                                          \
    X(CreateBuffer)                                                                                          \
    X(CreateCommandQueue)                                                                                    \
    X(CreateContext)                                                                                         \
    X(CreateImage)                                                                                           \
    X(CreateKernel)                                                                                          \
    X(CreateProgramWithBinary)                                                                               \
    X(CreateProgramWithSource)                                                                               \
    X(EnqueueMapBuffer)                                                                                      \
    X(EnqueueNDRangeKernel)                                                                                  \
    X(EnqueueUnmapMemObject)                                                                                 \
    X(EnqueueWriteImage)                                                                                     \
    X(Finish)                                                                                                \
    X(GetCommandQueueInfo)                                                                                   \
    X(GetContextInfo)                                                                                        \
    X(GetDeviceIDs)                                                                                          \
    X(GetDeviceInfo)                                                                                         \
    X(GetKernelWorkGroupInfo)                                                                                \
    X(GetMemObjectInfo)                                                                                      \
    X(GetPlatformIDs)                                                                                        \
    X(GetPlatformInfo)                                                                                       \
    X(GetProgramBuildInfo)                                                                                   \
    X(GetProgramInfo)                                                                                        \
    X(GetSupportedImageFormats)                                                                              \
    X(ReleaseCommandQueue)                                                                                   \
    X(ReleaseContext)                                                                                        \
    X(ReleaseEvent)                                                                                          \
    X(ReleaseKernel)                                                                                         \
    X(ReleaseMemObject)                                                                                      \
    X(ReleaseProgram)                                                                                        \
    X(SetKernelArg)

typedef struct rope2d_cl {
    const rope2d_host *host; // of whoever owns the table
    void *library;
#define X(name) cl_api_cl##name name;
    ROPE2D_CL_FUNCTIONS(X)
#undef X
} rope2d_cl;

// Opens the loader: the library that the environment variable ROPE2D_OPENCL_LOADER names, else the system's.
rope2d_status rope2d_cl_load(rope2d_cl *cl, const rope2d_host *host);
void rope2d_cl_unload(rope2d_cl *cl); // a table of zeros is legal

// Logs a failed call with the name of its error and returns the status that fits. Kept out of line, since CL
// stands in many places.
rope2d_status rope2d_cl_failed(const rope2d_cl *cl, const char *call, cl_int code);

// What a call of the driver has returned, in functions that have `cl`, `status` and a label `fail`.
#define CL_RESULT(result, name)                                                                              \
    do {                                                                                                     \
        cl_int cl_result = (result);                                                                         \
        if (cl_result != CL_SUCCESS) {                                                                       \
            status = rope2d_cl_failed(cl, name, cl_result);                                                  \
            goto fail;                                                                                       \
        }                                                                                                    \
    } while (0)

// Calls a function of `cl`, named without its prefix.
#define CL(name, ...) CL_RESULT(cl->name(__VA_ARGS__), "cl" #name)

// The same for calls that return what they make, and take the address of a code after all else.
#define CL_MAKE(object, name, ...)                                                                           \
    do {                                                                                                     \
        cl_int cl_code = CL_SUCCESS;                                                                         \
        (object) = cl->name(__VA_ARGS__, &cl_code);                                                          \
        if (cl_code != CL_SUCCESS)                                                                           \
            (object) = NULL;                                                                                 \
        CL_RESULT(cl_code, "cl" #name);                                                                      \
    } while (0)

// And for the library's own.
#define OWN(call)                                                                                            \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != ROPE2D_OK)                                                                             \
            goto fail;                                                                                       \
    } while (0)

// ---------------------------------------------------------------------------------------------- create.c

// A program that lives, and the hash of what it was made from. Zeros are legal.
typedef struct rope2d_cl_cached {
    struct rope2d_cl_cached *next;
    rope2d_digest key;
    cl_program program;
    cl_kernel kernel; // the first one, until somebody has a use for it: Rusticl takes 0.2 to 0.6 ms for each
} rope2d_cl_cached;

typedef struct rope2d_cl_cache {
    rope2d_lock lock;           // guards both lists, and programs' kernels
    rope2d_record *binaries;    // a bad one: the driver did not take it
    rope2d_cl_cached *programs; // that live
} rope2d_cl_cache;

typedef struct rope2d_cl_device {
    rope2d_cl cl;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue; // in order; of an adopted device NULL, or for apply alone
    bool unified;           // the device works on the host's memory
    cl_ulong last_cache;    // bytes; 0: none that the driver knows
    bool is_adopted;        // device, context and queue are the caller's
    rope2d_cl_cache cache;
} rope2d_cl_device;

rope2d_enumerate_fn rope2d_opencl_enumerate;
rope2d_device_create_fn rope2d_opencl_device_create;
rope2d_device_destroy_fn rope2d_opencl_device_destroy;
// Whether the context can sample the one format that tables use.
rope2d_status rope2d_cl_look_for_format(rope2d_cl_device *device, bool *found);

// ------------------------------------------------------------------------------------------------ info.c

// Fills everything but the index. Nothing is clamped.
rope2d_status rope2d_cl_describe(const rope2d_cl *cl, cl_platform_id platform, cl_device_id id,
                                 rope2d_device_info *info);
// To what OpenCL 1.2 guarantees for the full profile.
void rope2d_cl_clamp(rope2d_device_info *info);
// 102 of "OpenCL 1.2 ..."; 0 of what is no version.
uint32_t rope2d_cl_version(const char *text);
// Refuses devices that cannot run the kernel, and fills in what the driver tells of their memory.
rope2d_status rope2d_cl_check(rope2d_cl_device *device);

// ---------------------------------------------------------------------------------------------- memory.c

// Memory that the host fills and reads through a mapping. Zeros are legal and hold nothing.
typedef struct rope2d_cl_staging {
    cl_mem memory;
    uint64_t bytes;
    void *mapped;
} rope2d_cl_staging;

// At least that many bytes; what was there may be lost.
rope2d_status rope2d_cl_staging_reserve(const rope2d_cl_device *device, rope2d_cl_staging *staging,
                                        uint64_t bytes);
rope2d_status rope2d_cl_staging_map(const rope2d_cl_device *device, rope2d_cl_staging *staging,
                                    cl_map_flags flags, uint64_t bytes);
rope2d_status rope2d_cl_staging_unmap(const rope2d_cl_device *device, rope2d_cl_staging *staging);
// The same after reading: what fails then is not told.
void rope2d_cl_staging_leave(const rope2d_cl_device *device, rope2d_cl_staging *staging);
void rope2d_cl_staging_destroy(const rope2d_cl_device *device, rope2d_cl_staging *staging);

// At least 4 bytes long, filled with `bytes` from the host, which are words, where `data` is not NULL.
rope2d_status rope2d_cl_buffer_create(const rope2d_cl_device *device, cl_mem_flags flags, uint64_t bytes,
                                      const void *data, cl_mem *buffer);
void rope2d_cl_memory_release(const rope2d_cl_device *device, cl_mem *memory);

// ----------------------------------------------------------------------------------------------- table.c

// Row numbers and the table that they point into. Those of positions that fit the device lie there as long as
// the positions do; of larger ones each apply makes a window for the tokens in work.
typedef struct rope2d_cl_window {
    cl_mem rows;
    cl_mem table;        // that kernels read
    cl_mem image;        // for callers, where the table is a texture and kernels read a buffer
    uint32_t fold;       // texture: log2 of its width
    uint32_t table_rows; // rows are clamped below this
    bool is_whole;       // row numbers begin at batch element 0, token 0 of the positions, not of the work
} rope2d_cl_window;

rope2d_positions_create_fn rope2d_opencl_positions_create;
rope2d_positions_destroy_fn rope2d_opencl_positions_destroy;

// The positions' own window, or NULL when they are too large for the device.
const rope2d_cl_window *rope2d_cl_window_whole(const rope2d_positions *positions);
// Tokens of one batch element that a window can hold; 0: not even one.
uint64_t rope2d_cl_window_tokens(const rope2d_positions *positions);
rope2d_status rope2d_cl_window_create(const rope2d_positions *positions, uint32_t batch, uint64_t first_token,
                                      uint64_t tokens, rope2d_cl_window *window);
void rope2d_cl_window_destroy(const rope2d_cl_device *device, rope2d_cl_window *window);

// ---------------------------------------------------------------------------------------------- source.c

// The kernel's text: the embedded one, or the one in the device's shader folder with what it includes in its
// place and every line still numbered as in its file. Ends with NUL; the caller releases `capacity` bytes.
typedef struct rope2d_cl_source {
    char *text;
    size_t size;
    size_t capacity;
} rope2d_cl_source;
rope2d_status rope2d_cl_source_create(const rope2d_device *device, const char *file,
                                      rope2d_cl_source *source);
void rope2d_cl_source_destroy(const rope2d_device *device, rope2d_cl_source *source);

// ----------------------------------------------------------------------------------------------- cache.c

rope2d_status rope2d_cl_cache_create(rope2d_cl_device *device);
void rope2d_cl_cache_destroy(rope2d_cl_device *device, const rope2d_host *host); // zeros are legal

// Makes a program from a binary that was compiled from this text, NULL: the embedded one, with these options;
// false where there is none that the driver takes. The key is filled in any case.
bool rope2d_cl_cache_find(rope2d_cl_device *device, const char *text, const char *options,
                          const char *kernel_name, rope2d_cl_cached *cached);
// From the first to the second the program's binary can be asked for. The address must stay.
void rope2d_cl_cache_enlist(rope2d_cl_device *device, rope2d_cl_cached *cached);
void rope2d_cl_cache_delist(rope2d_cl_device *device, rope2d_cl_cached *cached);

rope2d_cache_key_fn rope2d_opencl_cache_key;
rope2d_cache_get_fn rope2d_opencl_cache_get;
rope2d_cache_set_fn rope2d_opencl_cache_set;

// --------------------------------------------------------------------------------------------- program.c

typedef struct rope2d_cl_variant {
    rope2d_cl_cached compiled;
    cl_mem units;
    size_t group_size;
} rope2d_cl_variant;

typedef struct rope2d_cl_plan {
    rope2d_cl_variant single; // nothing where `vector` takes everything
    rope2d_cl_variant vector; // nothing where the pattern has no vector units
    bool takes_tokens;        // its work-items have tokens whole, wherever they lie: shaders/token.h
} rope2d_cl_plan;

rope2d_plan_create_fn rope2d_opencl_plan_create;
rope2d_plan_destroy_fn rope2d_opencl_plan_destroy;

// Whether the device is PoCL, where a texel is a function call and takes eight times as long as a load:
// kernels read a buffer there, beside which the image of a table that is a texture stands for callers.
bool rope2d_cl_is_pocl(const rope2d_device *front);

// Whether lanes are vectors of a CPU, which R_ORDER_FLAG is for: Rusticl on llvmpipe.
bool rope2d_cl_keeps_order(const rope2d_device *front);

// A kernel of its own for each use: clSetKernelArg is the one call that is not thread-safe.
rope2d_status rope2d_cl_kernel_create(const rope2d_plan *plan, bool vector, cl_kernel *kernel);

// --------------------------------------------------------------------------------------------- pointer.c

// How a device takes pointers for arguments; NULL: it does not.
typedef struct rope2d_cl_pointers {
    char version[128]; // CL_DEVICE_VERSION
    cl_int(CL_API_CALL *set_svm)(cl_kernel kernel, cl_uint argument, const void *pointer);
    cl_int(CL_API_CALL *set_usm)(cl_kernel kernel, cl_uint argument, const void *pointer);
    cl_int(CL_API_CALL *usm_info)(cl_context context, const void *pointer, cl_uint field, size_t size,
                                  void *value, size_t *size_needed);
} rope2d_cl_pointers;

// ROPE2D_ERROR_UNSUPPORTED where it takes none, such as that of the view `name`.
rope2d_status rope2d_cl_pointers_find(const rope2d_cl_device *device, const char *name,
                                      rope2d_cl_pointers *pointers);
rope2d_status rope2d_cl_pointer_set(const rope2d_cl_device *device, const rope2d_cl_pointers *pointers,
                                    cl_kernel kernel, cl_uint argument, const void *pointer);

// ----------------------------------------------------------------------------------------------- apply.c

// Work-items of a work-group with vector units or with single ones.
uint32_t rope2d_cl_group_size(const rope2d_plan *plan, bool vector);
// How a plan's dispatches are cut; the limits of bytes are the caller's to fill.
rope2d_stage_limits rope2d_cl_limits(const rope2d_plan *plan);

rope2d_apply_fn rope2d_opencl_apply;
rope2d_dispatches_fn rope2d_opencl_dispatches;

#endif

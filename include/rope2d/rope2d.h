// SPDX-License-Identifier: MIT
//
// rope2d: 2D rotary position embedding for the queries and keys of vision models, on CPU, Vulkan and OpenCL,
// with the same bits everywhere. This header includes neither Vulkan's nor OpenCL's.
//
//     angle(t, h, i) = sum over axes a of position[t][a] * freqs[a][h or shared][i]
//     out[lo_i] = c * x[lo_i] - s * x[hi_i]        c = m * cos(angle), s = m * sin(angle)
//     out[hi_i] = s * x[lo_i] + c * x[hi_i]
//
// Four nouns: a device; a spec (a plain value: which channels pair up, which axis and frequency turn each
// pair); positions (the coordinates of the tokens and the cos/sin table, on the device); a plan (the compiled
// kernel).
//
// Every struct of parameters begins with its size: set struct_size to sizeof the struct. In every other field
// zero means the default that stands beside it. Arrays that a struct points to belong to the caller, are read
// during the call and not kept. A call that fails returns a status, writes one line to the log that names the
// field, the value and the limit, sets its result to NULL, and changes nothing else. The status is all there
// is where no log can be reached: a NULL instead of an object, and a wrong struct_size of rope2d_host or of
// the params of a device, made or adopted.
#ifndef ROPE2D_H
#define ROPE2D_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(ROPE2D_BUILD)
#define ROPE2D_API __declspec(dllexport)
#elif defined(_WIN32)
#define ROPE2D_API // functions alone need no dllimport, so that one header serves DLL and static library
#elif defined(__GNUC__)
#define ROPE2D_API __attribute__((visibility("default")))
#else
#define ROPE2D_API
#endif

#define ROPE2D_VERSION_MAJOR 0
#define ROPE2D_VERSION_MINOR 1
#define ROPE2D_VERSION_PATCH 0

#define ROPE2D_MAX_AXES     4    // coordinates of a token
#define ROPE2D_MAX_HEAD_DIM 4096 // channels of a head
#define ROPE2D_MAX_TENSORS  64   // tensors of one apply

#ifdef __cplusplus
extern "C" {
#endif

// The version of the library that runs, where the macros are that of the header: major * 1,000,000 +
// minor * 1,000 + patch. Any thread may call it.
ROPE2D_API uint32_t rope2d_version(void);

// ------------------------------------------------------------------------------------------------------------
// status

typedef enum rope2d_status {
    ROPE2D_OK = 0,
    ROPE2D_ERROR_NULL,             // a pointer that must not be NULL is
    ROPE2D_ERROR_STRUCT_SIZE,      // struct_size is none that this version knows
    ROPE2D_ERROR_ENUM,             // a value that its enumeration or its flags do not have
    ROPE2D_ERROR_HEAD_DIM,         // head_dim is 0 or above ROPE2D_MAX_HEAD_DIM
    ROPE2D_ERROR_ROTARY_RANGE,     // the rotated channels reach past head_dim, or are not a preset's
    ROPE2D_ERROR_ROTARY_ODD,       // the rotated channels are odd in number
    ROPE2D_ERROR_PAIRING,          // a pair uses a channel twice or one that is not there
    ROPE2D_ERROR_AXES,             // axes is 0 or above ROPE2D_MAX_AXES
    ROPE2D_ERROR_FREQUENCY,        // a frequency is missing, NaN or infinite
    ROPE2D_ERROR_MAGNITUDE,        // a magnitude is NaN or infinite, 0 where the inverse is asked for, or
                                   // given with rows
    ROPE2D_ERROR_DIRECTION,        // the inverse of a spec that has none (two angles to a pair)
    ROPE2D_ERROR_COORDINATE,       // a coordinate is missing, NaN or infinite, or its angle overflows
    ROPE2D_ERROR_ROW,              // a row number is past the list that it points into
    ROPE2D_ERROR_TOKENS,           // token ranges or counts disagree with the positions
    ROPE2D_ERROR_BATCH,            // the batch disagrees with the positions
    ROPE2D_ERROR_HEADS,            // the heads of a tensor disagree with per-head frequencies
    ROPE2D_ERROR_TENSOR_SIZE,      // a tensor reaches past the size of its memory
    ROPE2D_ERROR_TENSOR_ALIGNMENT, // a base or offset is not a multiple of the element's size
    ROPE2D_ERROR_STRIDE,           // a stride is negative, overflows, or is 0 on an output
    ROPE2D_ERROR_OVERLAP, // memory that is written overlaps other memory of the apply and is not in place
    ROPE2D_ERROR_IN_PLACE_TYPE,   // in place with a change of element type
    ROPE2D_ERROR_MISMATCH,        // plan, positions and device do not belong together
    ROPE2D_ERROR_LIMIT,           // more than this device or this library can hold
    ROPE2D_ERROR_BACKEND_MISSING, // the backend is not built in, or its loader is not on this machine
    ROPE2D_ERROR_DEVICE_INDEX,    // no device has this index
    ROPE2D_ERROR_UNSUPPORTED,     // the device cannot do this
    ROPE2D_ERROR_HOST_MEMORY,     // the allocator returned NULL
    ROPE2D_ERROR_DEVICE_MEMORY,   // the device is out of memory
    ROPE2D_ERROR_DEVICE_LOST,     // the device does not answer any more
    ROPE2D_ERROR_DRIVER,          // a call of the driver failed; the log has its name and code
    ROPE2D_ERROR_COMPILE,         // a kernel does not compile; the log has the compiler's
    ROPE2D_NOT_READY,             // no failure: what may not be compiled now is not there yet
    ROPE2D_ERROR_CACHE,           // bytes that are no cache of this device, driver and version
    ROPE2D_STATUS_COUNT
} rope2d_status;

// The name of a status, such as "ROPE2D_ERROR_STRIDE"; "ROPE2D_STATUS_UNKNOWN" for any other number. Static
// text, never NULL.
ROPE2D_API const char *rope2d_status_name(rope2d_status status);

// --------------------------------------------------------------------------------------------------------------
// host

typedef enum rope2d_log_level {
    ROPE2D_LOG_ERROR = 0,
    ROPE2D_LOG_WARNING = 1,
    ROPE2D_LOG_INFO = 2
} rope2d_log_level;

// What the library takes from its host program. Everything may be zero. It is copied; what `user` points to
// must outlive every object made with it. The callbacks may be called from any thread that calls the library,
// and from several at once.
typedef struct rope2d_host {
    size_t struct_size;
    void *user; // first argument of every callback

    // Host memory: NULL for the C library's. Set both or neither. `allocate` returns NULL when there is none;
    // alignment is a power of two, at most 64. `release` gets the size that was asked for, and never NULL.
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *memory, size_t size);

    // The detail of errors and warnings: NULL for none. `text` is one line (a compiler's log: several) and
    // lives during the call only.
    void (*log)(void *user, rope2d_log_level level, const char *text);

    // CPU work: calls task(data, index) once for every index below `tasks`, in any order and on any threads,
    // and returns when all have returned. NULL: OpenMP when built with it, else the calling thread.
    void (*parallel_for)(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data);
    uint32_t threads; // how many tasks can run at once; 0: as many as there are processors
} rope2d_host;

// ------------------------------------------------------------------------------------------------------------
// device

typedef enum rope2d_backend {
    ROPE2D_BACKEND_CPU = 0,
    ROPE2D_BACKEND_VULKAN = 1,
    ROPE2D_BACKEND_OPENCL = 2,
    ROPE2D_BACKEND_COUNT
} rope2d_backend;

typedef enum rope2d_table {
    ROPE2D_TABLE_AUTO = 0,    // what suits the device
    ROPE2D_TABLE_BUFFER = 1,  // (cos, sin) as pairs of fp32 in a buffer
    ROPE2D_TABLE_TEXTURE = 2, // two (cos, sin) pairs to a texel of an RGBA fp32 image, fetched and never
                              // filtered; on PoCL, whose images are slow, for callers' kernels: its plans
                              // read a buffer of the same values beside it
    ROPE2D_TABLE_COUNT
} rope2d_table;

// A device as its driver describes it. Limits that an API does not have are 0.
typedef struct rope2d_device_info {
    size_t struct_size;
    rope2d_backend backend;
    uint32_t index; // within the backend
    char name[256]; // UTF-8, ends with 0
    char vendor[128];
    char driver[256]; // driver's name and version
    char api[64];     // "Vulkan 1.3.289", "OpenCL 3.0", "C11"
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t is_software;       // 1: runs on the CPU
    uint32_t has_textures;      // 1: tables can be textures
    rope2d_table default_table; // what ROPE2D_TABLE_AUTO means here
    uint64_t max_buffer_range;  // bytes that a kernel can reach in one buffer
    uint64_t max_texture_width; // texels
    uint64_t max_texture_height;
    uint32_t max_storage_buffers;     // of one kernel (Vulkan)
    uint32_t max_group_size;          // invocations in a workgroup
    uint32_t max_groups;              // workgroups in a dimension
    uint32_t buffer_offset_alignment; // bytes
    uint64_t memory_bytes;            // of the device's largest heap
} rope2d_device_info;

// A CPU, Vulkan or OpenCL device. Thread-safety: any number of threads may use one device; destroy it last
// and once.
typedef struct rope2d_device rope2d_device;

enum {
    ROPE2D_DEVICE_MINIMUM_LIMITS =
        1 << 0, // clamp the reported limits to those that the API guarantees everywhere
    ROPE2D_DEVICE_RUNTIME_COMPILE =
        1 << 1, // Vulkan: compile GLSL with shaderc instead of using the embedded SPIR-V
    ROPE2D_DEVICE_PORTABLE =
        1 << 2 // CPU: the portable C path alone, without SIMD: the reference of every other path
};

typedef struct rope2d_device_params {
    size_t struct_size;
    rope2d_backend backend;    // default: the CPU
    uint32_t index;            // which of the backend's devices, in the order of rope2d_enumerate
    uint32_t flags;            // ROPE2D_DEVICE_*
    const rope2d_host *host;   // NULL: the C library's memory, no log
    const char *shader_folder; // for people who edit kernels: load kernels' sources from here (implies
                               // RUNTIME_COMPILE); NULL: the environment variable ROPE2D_SHADERS, if set;
                               // else the embedded ones. Not on a CPU
    const char *cache_folder;  // keeps kernels and what drivers make of them in a file there; NULL: no
                               // folder. Must exist, else the log has a warning; nobody else should be
                               // able to write to it. Not on a CPU
    uint64_t dispatch_bytes; // elements that one dispatch reads and writes at most, in bytes, those in place
                             // twice; larger work is several dispatches, each of one token of one tensor at
                             // least. 0: 256 MiB, a quarter of a second at 1 GB/s, where watchdogs wait for
                             // a second or two. Not on a CPU
} rope2d_device_params;

// Lists a backend's devices. `*count` receives how many there are; when `infos` is not NULL, at most the
// `*count` given on entry are written, each of which must have its struct_size set. A backend without devices
// is a success with 0; a backend that is not built in or has no loader is ROPE2D_ERROR_BACKEND_MISSING.
// Thread-safe.
ROPE2D_API rope2d_status rope2d_enumerate(rope2d_backend backend, const rope2d_host *host, uint32_t *count,
                                          rope2d_device_info *infos);

// Makes a device. The caller owns it and destroys it after every plan and positions object made on it.
ROPE2D_API rope2d_status rope2d_device_create(const rope2d_device_params *params, rope2d_device **device);
ROPE2D_API void rope2d_device_destroy(rope2d_device *device); // NULL is legal
ROPE2D_API rope2d_status rope2d_device_get_info(const rope2d_device *device, rope2d_device_info *info);

// What the driver has compiled for the device's plans, as bytes that rope2d_device_set_cache takes the next
// time: of Vulkan a pipeline cache and kernels, of OpenCL the programs that live now. data NULL: *size
// receives how many there are; otherwise at most *size are written, and *size receives how many it were or
// must be: ROPE2D_ERROR_LIMIT. It may grow between two calls when other threads make plans. A CPU has none:
// 0. ROPE2D_ERROR_UNSUPPORTED where the caller's own VkPipelineCache was adopted. Thread-safe.
ROPE2D_API rope2d_status rope2d_device_get_cache(rope2d_device *device, void *data, uint64_t *size);

// Takes such bytes, which are copied, before plans are made: while no other thread makes one. Bytes that are
// cut off, damaged, or of another device, driver or version are ROPE2D_ERROR_CACHE, nothing is taken, and
// plans compile as without. They are compiled code: whoever can write them can run code in the driver.
// size 0 is legal and takes nothing.
ROPE2D_API rope2d_status rope2d_device_set_cache(rope2d_device *device, const void *data, uint64_t size);

// --------------------------------------------------------------------------------------------------------------
// spec

typedef enum rope2d_pairing {
    ROPE2D_PAIRING_INTERLEAVED = 0,  // pair i is the channels (2i, 2i + 1) of the rotated range
    ROPE2D_PAIRING_HALF = 1,         // (i, i + R/2), R rotated channels ("NeoX", "rotate half")
    ROPE2D_PAIRING_SEGMENT_HALF = 2, // half-split inside each axis' segment of segment_pairs[a] pairs
    ROPE2D_PAIRING_EXPLICIT = 3,     // pair_lo[i], pair_hi[i]: any channels of the head
    ROPE2D_PAIRING_COUNT
} rope2d_pairing;

typedef enum rope2d_direction {
    ROPE2D_FORWARD = 0,
    ROPE2D_INVERSE = 1,   // R(-angle) / m: undoes FORWARD; refused with two angles to a pair and for m = 0
    ROPE2D_TRANSPOSE = 2, // the transposed map, m R(-angle) with one angle: the gradient of FORWARD
    ROPE2D_DIRECTION_COUNT
} rope2d_direction;

typedef enum rope2d_angles {
    ROPE2D_ANGLES_DOUBLE = 0, // products and sums in double, from the fp32 inputs
    ROPE2D_ANGLES_FP32 = 1,   // as most models do: start at +0, add round(p * f) in axis order, rounding each
                              // to fp32, skipping f = 0
    ROPE2D_ANGLES_COUNT
} rope2d_angles;

// What turns by how much. A plain value without resources; its arrays belong to the caller.
typedef struct rope2d_spec {
    size_t struct_size;
    uint32_t head_dim;     // channels of a head, 1 to ROPE2D_MAX_HEAD_DIM
    uint32_t rotary_begin; // first rotated channel; ignored with EXPLICIT
    uint32_t rotary_dim;   // rotated channels, even; 0: all from rotary_begin on; ignored with EXPLICIT
    uint32_t axes;         // coordinates of a token, 1 to 4
    rope2d_pairing pairing;
    uint32_t segment_pairs[ROPE2D_MAX_AXES]; // SEGMENT_HALF: pairs of each axis' segment, their sum the
                                             // pairs; all 0: equal. Others: all 0
    uint32_t pairs;                          // EXPLICIT: how many, may be 0; otherwise 0 or rotary_dim / 2
    const uint32_t *pair_lo;                 // [pairs] EXPLICIT; others: NULL
    const uint32_t *pair_hi;                 // [pairs] EXPLICIT; others: NULL
    uint32_t freq_heads; // heads in freqs: 0 or 1 shared by all; otherwise every tensor has as many heads
    const float *freqs; // [axes][freq_heads][pairs] radians per unit of position. Each call that is given the
                        // spec reads all axes * freq_heads * pairs of them, freq_heads 0 as 1
    const float *freqs_hi; // same shape: the angle of out[hi]; NULL: the same angle. freqs is then the angle
                           // of out[lo]
    float magnitude; // m, scalar (YaRN's attention factor); 0: 1. For a true 0 use positions' magnitudes
    rope2d_direction direction;
    rope2d_angles angles;
    // 0: one cosine and sine of the sum of all axes' angles. 1: one of each axis' angle, multiplied as
    // complex numbers where they are used, axis after axis, every product and sum rounded to fp32. Where
    // several axes turn a pair, the table then has rows for an axis' coordinates instead of one for each
    // token, for about 4 more roundings to each axis past the first. Bits of its own: plan and positions must
    // agree. Refused with magnitudes of positions, and with TRANSPOSE of two angles.
    uint32_t factored;
} rope2d_spec;

// Checks a spec without a device. `host` receives the log line; may be NULL.
ROPE2D_API rope2d_status rope2d_spec_check(const rope2d_spec *spec, const rope2d_host *host);

// The number of pairs of a valid spec; 0 otherwise.
ROPE2D_API uint32_t rope2d_spec_pairs(const rope2d_spec *spec);

// ---------------------------------------------------------------------------------------------------------
// positions

typedef struct rope2d_range {
    uint64_t begin; // first token
    uint64_t end;   // one past the last
} rope2d_range;

// The coordinates of the tokens, and the cos/sin table for a spec, on the device. Immutable; any number of
// threads and command buffers may use it at once. Shared by all layers; with learned frequencies, one per
// layer.
typedef struct rope2d_positions rope2d_positions;

// Coordinates come in one of two ways: `coordinates`, whose equal values are merged into rows by the library,
// numbered in the order in which they first appear; or `rows` that point into lists. All of them are finite,
// those of tokens that do not rotate as well.
typedef struct rope2d_positions_params {
    size_t struct_size;
    const rope2d_spec *spec;
    rope2d_table table;       // must be the plan's
    uint64_t tokens;          // N; 0 is legal
    uint32_t batch;           // 0 or 1: shared by the whole batch; otherwise every apply has this batch
    const float *coordinates; // [batch][tokens][axes]
    const int32_t *rows; // [batch][tokens][axes] (dense specs: [batch][tokens][1]); negative: what the axis
                         // turns is not rotated; factored: its factor is left out
    uint32_t list_counts[ROPE2D_MAX_AXES]; // with rows: entries of each axis' list; dense specs have the
                                           // first alone. Other lists: 0 and NULL
    const float *lists[ROPE2D_MAX_AXES]; // [list_counts[a]]; dense specs: lists[0] is [list_counts[0]][axes]
    const float *magnitudes; // [batch][tokens][pairs]: m per token and pair (xPos), times the spec's; gives
                             // each token a row of its own. Not with rows. NULL: none
    const rope2d_range *unrotated; // tokens that pass through, of every batch element
    uint32_t unrotated_count;
    const rope2d_positions
        *grown_from; // of the same spec and device: rows computed there are copied; NULL: none
} rope2d_positions_params;

typedef struct rope2d_positions_info {
    size_t struct_size;
    uint64_t tokens;
    uint32_t batch;
    uint32_t is_axial;      // 1: rows are the distinct coordinates of an axis; 0: of a token
    uint32_t row_axes;      // row numbers of a token: axes, or 1 of a dense spec
    uint32_t table_rows;    // rows of the table
    uint32_t table_columns; // (cos, sin) pairs of a row: freq_heads * pairs, twice that with two angles; as
                            // many for each axis, one axis after the other, where the spec is factored
    uint64_t table_bytes;   // on the device
    uint64_t row_bytes;     // of the row numbers, on the device
    rope2d_table table;
} rope2d_positions_info;

// Whether a spec is axial: each pair has at most one axis with a frequency, or the spec is factored; a token
// then has a row number for each axis. 1 or 0; 0 for an invalid spec.
ROPE2D_API uint32_t rope2d_spec_is_axial(const rope2d_spec *spec);

// Computes rows and table and puts them on the device. Blocking. The caller owns the result and destroys it
// after the last use.
ROPE2D_API rope2d_status rope2d_positions_create(rope2d_device *device, const rope2d_positions_params *params,
                                                 rope2d_positions **positions);
ROPE2D_API void rope2d_positions_destroy(rope2d_positions *positions); // NULL is legal
ROPE2D_API rope2d_status rope2d_positions_get_info(const rope2d_positions *positions,
                                                   rope2d_positions_info *info);

// The host's copy, which lives as long as the object: table[table_rows][table_columns] of (cos, sin),
// two-angle entries as (cos, sin) of lo, then of hi; rows[batch][tokens][row_axes].
ROPE2D_API const float *rope2d_positions_host_table(const rope2d_positions *positions);
ROPE2D_API const int32_t *rope2d_positions_host_rows(const rope2d_positions *positions);

// --------------------------------------------------------------------------------------------------------------
// plan

typedef enum rope2d_element {
    ROPE2D_F32 = 0,
    ROPE2D_F16 = 1,  // IEEE 754 binary16
    ROPE2D_BF16 = 2, // the upper half of a binary32
    ROPE2D_ELEMENT_COUNT
} rope2d_element;

// How the results of a plan on its device compare with the portable C path's.
typedef enum rope2d_exactness {
    ROPE2D_UNTESTED = 0, // nobody has looked
    ROPE2D_EXACT = 1,    // the same bits (a NaN is a NaN)
    ROPE2D_EXACT_NORMAL =
        2, // the same bits where inputs, products and results are normal or 0: subnormals are flushed
    ROPE2D_INEXACT = 3
} rope2d_exactness;

// A compiled kernel for a spec's structure, the element types and the table's kind; never for frequency
// values, sizes or strides. Immutable; any number of threads may use it at once.
typedef struct rope2d_plan rope2d_plan;

enum {
    ROPE2D_PLAN_NO_SELF_TEST = 1 << 0, // skip the self-test: exactness is UNTESTED
    ROPE2D_PLAN_NO_COMPILE = 1 << 1    // never compile, never test: ROPE2D_NOT_READY unless the device has a
                                       // plan of the same structure, types and table, or was prewarmed for
                                       // one; exactness is what is known of it. On a CPU always ready
};

typedef struct rope2d_plan_params {
    size_t struct_size;
    const rope2d_spec *spec; // its structure alone counts; freqs must be there, and are all read
    rope2d_element in;       // of the memory that is read
    rope2d_element out;      // of the memory that is written
    rope2d_table table;
    uint32_t flags; // ROPE2D_PLAN_*
} rope2d_plan_params;

typedef struct rope2d_plan_info {
    size_t struct_size;
    rope2d_element in;
    rope2d_element out;
    rope2d_table table;
    rope2d_exactness exactness;
    uint32_t tensors_per_dispatch; // how many tensors one dispatch of rope2d_apply can take
    char kernel[64];               // the name of the variant
} rope2d_plan_info;

// Compiles, and unless told not to runs the self-test. Plans of one device that have the same structure,
// types and table share their kernels and the test's verdict, so that only the first of them takes long: a
// new image size, other frequencies or another layer compile nothing. Blocking; safe on any thread, and no
// thread waits for another's compiler. The caller owns the result.
ROPE2D_API rope2d_status rope2d_plan_create(rope2d_device *device, const rope2d_plan_params *params,
                                            rope2d_plan **plan);
ROPE2D_API void rope2d_plan_destroy(rope2d_plan *plan); // NULL is legal

// Compiles and tests what plans of these params need, and keeps it until the device is destroyed: making
// such plans then takes no time worth speaking of, with ROPE2D_PLAN_NO_COMPILE too. Blocking; safe on any
// thread. When one of them fails, none of this list is kept.
ROPE2D_API rope2d_status rope2d_prewarm(rope2d_device *device, const rope2d_plan_params *plans,
                                        uint32_t count);
ROPE2D_API rope2d_status rope2d_plan_get_info(const rope2d_plan *plan, rope2d_plan_info *info);

// -------------------------------------------------------------------------------------------------------------
// apply

// Where the elements of a tensor [batch][tokens][heads][head_dim] lie. Channel stride is 1. Element (b, t, h,
// d) is at base + offset + element_size * (b * batch_stride + t * token_stride + h * head_stride + d).
typedef struct rope2d_view {
    void *base;           // host memory; never written through an input view
    uint64_t size;        // bytes at base
    uint64_t offset;      // bytes
    int64_t batch_stride; // elements; negative is refused; 0 is legal on inputs (broadcast) or where there is
                          // but one
    int64_t token_stride;
    int64_t head_stride;
} rope2d_view;

typedef struct rope2d_tensor {
    uint32_t heads; // 0 does nothing
    rope2d_view in;
    rope2d_view out; // the same base, offset, strides and type as in: in place. All zero: in place
} rope2d_tensor;

typedef struct rope2d_apply_params {
    size_t struct_size;
    uint32_t batch;        // 0 does nothing
    uint64_t first_token;  // of the positions, the tensors' token 0
    uint64_t tokens;       // 0 does nothing
    uint32_t tensor_count; // at most ROPE2D_MAX_TENSORS
    const rope2d_tensor *tensors;
} rope2d_apply_params;

typedef enum rope2d_layout {
    ROPE2D_LAYOUT_BNHD =
        0, // batch, token, head, channel; also heads merged into channels (BNC) and packed NHD
    ROPE2D_LAYOUT_BHND = 1,
    ROPE2D_LAYOUT_COUNT
} rope2d_layout;

// The size in bytes of an element; 0 for an unknown type.
ROPE2D_API uint32_t rope2d_element_size(rope2d_element element);

// A view of contiguous memory in a layout. A size that overflows gives a view of size 0, which apply refuses.
ROPE2D_API rope2d_view rope2d_view_contiguous(void *base, rope2d_element element, rope2d_layout layout,
                                              uint32_t batch, uint64_t tokens, uint32_t heads,
                                              uint32_t head_dim);

// Rotates tensors in host memory; returns when the result is there. On a GPU it stages, rotates and reads
// back, in pieces where the device's limits ask for it. An apply of one dispatch (rope2d_plan_dispatches)
// that fails has written nothing, in place too. One of several that fails for bad arguments, or otherwise
// before the first of them is done, has not either; when it fails later, what was done is written: of a
// tensor in place that input is lost then, and a second apply would rotate it twice. Keep a copy, or rotate
// out of place, where that matters. Thread-safe: any number of applies may run at once, on memory that does
// not overlap.
ROPE2D_API rope2d_status rope2d_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                                      const rope2d_apply_params *params);

// How many dispatches (CPU: passes) an apply of these params takes. Checks as rope2d_apply does.
ROPE2D_API rope2d_status rope2d_plan_dispatches(const rope2d_plan *plan, const rope2d_positions *positions,
                                                const rope2d_apply_params *params, uint64_t *dispatches);

#ifdef __cplusplus
}
#endif

#endif

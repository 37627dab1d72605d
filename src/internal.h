// SPDX-License-Identifier: MIT
//
// The objects behind the public handles, and what the front calls of itself. Backends see them all; each
// keeps its own things behind `impl`.
#ifndef ROPE2D_INTERNAL_H
#define ROPE2D_INTERNAL_H

#include "rope2d/rope2d.h"

#include <stdbool.h>
#include <stdint.h>

#define ROPE2D_TRY(call)                                                                                     \
    do {                                                                                                     \
        rope2d_status try_status = (call);                                                                   \
        if (try_status != ROPE2D_OK)                                                                         \
            return try_status;                                                                               \
    } while (0)

// --------------------------------------------------------------------------------------------------- host.c

// Fills the defaults into the caller's host, which may be NULL. Never fails: a bad host is refused by
// rope2d_host_check.
rope2d_host rope2d_host_resolve(const rope2d_host *host);
rope2d_status rope2d_host_check(const rope2d_host *host);

// Refuses a struct whose struct_size is not the one known. `name` is what the log calls it.
rope2d_status rope2d_check_struct_size(const rope2d_host *host, const char *name, size_t given, size_t known);

// The sum, or UINT64_MAX where it is more.
static inline uint64_t rope2d_sum(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// The product, or UINT64_MAX where it is more.
static inline uint64_t rope2d_product(uint64_t a, uint64_t b) {
#if defined(__GNUC__)
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
#else
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
#endif
}

// One word more in a hash. A bijection of the hash and of the word, so that no other word goes unseen.
static inline uint64_t rope2d_hash_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

// Zeroed memory, aligned to 64 bytes; NULL when there is none, when the size overflows, or for 0 bytes.
void *rope2d_allocate(const rope2d_host *host, uint64_t count, size_t size);
void rope2d_release(const rope2d_host *host, void *memory, uint64_t count, size_t size); // NULL is legal

#if defined(__MINGW32__) && !defined(__clang__)
#define ROPE2D_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define ROPE2D_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ROPE2D_PRINTF(text, first)
#endif

// Writes one line to the log and returns the status, so that `return rope2d_fail(...)` reads as one thing.
rope2d_status rope2d_fail(const rope2d_host *host, rope2d_status status, const char *format, ...)
    ROPE2D_PRINTF(3, 4);
#ifdef __clang_analyzer__ // it looks into one file at a time, and would take a failure for a success
#define rope2d_fail(host, status, ...) (rope2d_fail(host, status, __VA_ARGS__), (status))
#endif
void rope2d_log(const rope2d_host *host, rope2d_log_level level, const char *format, ...) ROPE2D_PRINTF(3, 4);
// Text of any length, such as a compiler's log.
void rope2d_log_text(const rope2d_host *host, rope2d_log_level level, const char *text);

// The text number `index` of those that follow one another, each with its 0: a table without addresses, which
// a loader would have to relocate.
const char *rope2d_text_at(const char *texts, uint32_t index);

// Runs task(data, i) for every i below tasks: the caller's parallel-for, else OpenMP, else a loop.
void rope2d_parallel(const rope2d_host *host, uint32_t tasks, void (*task)(void *data, uint32_t index),
                     void *data);
uint32_t rope2d_threads(const rope2d_host *host);

// A variable of the environment; NULL where it is not set, and in a program that runs with more rights than
// its user, who must not choose what is loaded into it.
const char *rope2d_environment(const char *name);
// "f32", "f16", "bf16": of one that is.
const char *rope2d_element_word(rope2d_element element);

// ------------------------------------------------------------------------------------------------ control.c

// The floating-point control word that tables and rotations need: round to nearest, subnormals kept. A
// caller's other settings are restored by leave.
typedef struct rope2d_control {
    uint64_t saved;
} rope2d_control;
rope2d_control rope2d_control_enter(void);
void rope2d_control_leave(rope2d_control control);

// --------------------------------------------------------------------------------------------------- spec.c

// The units of shaders/shape.h. The first `pairs` of them rotate.
typedef struct rope2d_units {
    uint32_t *words;
    uint32_t count;
    uint32_t pairs;
    uint32_t flags; // of a kernel, R_..._FLAG
} rope2d_units;

// Vector units: runs of four channels or of eight; of the near ones an interleaved unit has two side by side,
// of the lone ones one, where two would leave one over.
typedef enum rope2d_vector_kind {
    ROPE2D_FOURS,
    ROPE2D_EIGHTS,
    ROPE2D_NEAR_EIGHTS,
    ROPE2D_NEAR_FOURS,
    ROPE2D_LONE_EIGHTS,
    ROPE2D_VECTOR_KINDS
} rope2d_vector_kind;

// What a kernel depends on: the structure of a spec, without its numbers.
typedef struct rope2d_pattern {
    uint32_t head_dim;
    uint32_t pairs;
    uint32_t axes;
    uint32_t row_axes;   // row numbers of a token: axes, or 1 for a dense spec
    uint32_t freq_heads; // 1: shared
    uint32_t angles;     // of a pair: 1 or 2
    uint32_t factors;    // entries of an angle that are multiplied: 0 for one; otherwise axes
    bool is_axial;       // a row number belongs to one axis: not so where one number stands for all axes
    uint16_t *lo;        // [pairs]
    uint16_t *hi;        // [pairs]
    uint8_t *axis; // [pairs] which row number turns the pair; 0 for dense specs and pairs that no axis turns
    rope2d_units single; // one pair or channel each; always there
    rope2d_units wide;   // four pairs each; count is 0 where the pairing has no runs of four
    // count is 0 where the head is not made of them.
    rope2d_units vector[ROPE2D_VECTOR_KINDS];
} rope2d_pattern;

// Checks the spec and makes its pattern. `pattern` is left destroyable when it fails.
rope2d_status rope2d_pattern_create(rope2d_pattern *pattern, const rope2d_spec *spec,
                                    const rope2d_host *host);
void rope2d_pattern_destroy(rope2d_pattern *pattern, const rope2d_host *host);
bool rope2d_pattern_equal(const rope2d_pattern *a, const rope2d_pattern *b);

// ---------------------------------------------------------------------------------------- device.c

// What waits to be destroyed until the caller says that work which uses it has passed: src/vulkan/retire.c.
struct rope2d_retired {
    struct rope2d_retired *next;
    uint64_t value;
    void (*destroy)(void *object);
    void *object; // holds this struct
};

// Whether kernels may leave the conversions of f16 to the device.
typedef enum rope2d_converts {
    ROPE2D_CONVERTS_NOT,     // it has none, or the proof failed
    ROPE2D_CONVERTS_PERHAPS, // each kernel must pass at the edges between halves
    ROPE2D_CONVERTS_PROVEN   // one from f16 to f16 has
} rope2d_converts;

struct rope2d_device {
    rope2d_host host; // resolved
    rope2d_backend backend;
    uint32_t flags;
    char *shader_folder;     // own copy; NULL: embedded kernels
    uint64_t dispatch_bytes; // that one dispatch may read and write; 0: not said
    bool lacks_queue;        // adopted without one: nothing is submitted, hence neither applied nor tested
    rope2d_device_info info; // filled by the backend
    bool has_near_runs;      // runs of four lie side by side, too: lavapipe's
    bool has_long_runs;      // f32 is turned in runs of eight, too: SwiftShader's
    const struct rope2d_backend_ops *ops;
    void *impl;
    struct rope2d_kernel_list *kernels;          // that plans share; kernels.c
    rope2d_converts converts;                    // once plans are made, kernels.c guards it
    struct rope2d_cache *cache;                  // in a folder; NULL: none; cache.c
    void (*drain)(struct rope2d_device *device); // destroys what was retired; NULL: nothing can be
};

// ------------------------------------------------------------------------------------- positions.c

struct rope2d_positions {
    rope2d_device *device;
    rope2d_pattern pattern;
    rope2d_table table_kind; // resolved: never AUTO
    uint64_t tokens;
    uint32_t batch;             // 1: shared
    bool is_axial;              // of the table: false for any spec with magnitudes per token
    uint32_t table_rows;        // at least 1, so that clamped kernels always have a row
    uint32_t table_columns;     // (cos, sin) entries of a row
    float *table;               // [table_rows][table_columns][2]; at least one entry is allocated
    int32_t *rows;              // [batch][tokens][pattern.row_axes]; at least one element is allocated
    uint64_t table_entries;     // table_rows * table_columns, below 2^31
    uint64_t row_count;         // batch * tokens * row_axes
    struct rope2d_lists *lists; // coordinates of the table's rows, for growing; rows.c
    bool is_deferred;           // the caller gives the backend memory for them later
    struct rope2d_retired retired;
    void *impl; // the backend's: table and rows on the device
};

// As rope2d_positions_create; deferred: without memory on the device.
rope2d_status rope2d_positions_make(rope2d_device *device, const rope2d_positions_params *params,
                                    bool is_deferred, rope2d_positions **result);

// ------------------------------------------------------------------------------------------ plan.c

// Runs of the self-test: how heads lie, and what an apply is told of them. Backends may have other kernels.
typedef enum rope2d_test_run {
    ROPE2D_RUN_EVEN,        // at even strides, and outputs go past the caches
    ROPE2D_RUN_EVEN_NEAR,   // and stay in them
    ROPE2D_RUN_ODD,         // at odd strides, where single units alone can go
    ROPE2D_RUN_APART,       // as two tensors of one head each
    ROPE2D_RUN_APART_LARGE, // that a thread's own caches have no room for
    ROPE2D_RUN_ALONE,       // as one tensor of one head
    ROPE2D_RUN_COUNT
} rope2d_test_run;

struct rope2d_plan {
    rope2d_device *device;
    rope2d_pattern pattern;
    rope2d_element in;
    rope2d_element out;
    rope2d_table table_kind; // resolved: never AUTO
    rope2d_exactness exactness;
    bool may_test;                  // making its kernels may run some on the device
    uint32_t test_runs;             // a bit for each that has kernels of its own: ODD, and EVEN where there
                                    // are wide units, unless the backend knows better
    uint32_t test_heads;            // of a token there: 3, unless the backend knows better
    uint32_t tensors_per_dispatch;  // filled by the backend, at least 1
    char kernel[64];                // filled by the backend
    void *impl;                     // the backend's: pipelines or kernels, units on the device
    struct rope2d_kernels *kernels; // own pattern and impl, which plans share; NULL: the plan owns them
    struct rope2d_retired retired;
};

// ------------------------------------------------------------------ tensor.c, apply.c: checked work

typedef struct rope2d_span {
    unsigned char *first; // element of batch 0, token 0, head 0, channel 0
    int64_t batch_stride; // elements, not negative
    int64_t token_stride;
    int64_t head_stride;
} rope2d_span;

typedef struct rope2d_checked_tensor {
    uint32_t heads;
    bool in_place;
    rope2d_span in;
    rope2d_span out;
} rope2d_checked_tensor;

// An apply whose every argument has been checked; batch, tokens and every tensor's heads are at least 1.
typedef struct rope2d_work {
    uint32_t batch;
    uint64_t first_token;
    uint64_t tokens;
    uint32_t tensor_count;
    const rope2d_checked_tensor *tensors;
    // Of the self-test, which looks at all kernels:
    bool single_only; // never wide units, and the CPU's for what is past its caches in place
    bool streams;     // as if outputs were past the caches
    bool is_large;    // as if all were past a thread's own
} rope2d_work;

// Refuses what must not run: sizes, strides, overlaps, heads. Fills `tensors` with those that have heads, at
// most params->tensor_count, and counts them. Batch and tokens must be at least 1.
rope2d_status rope2d_tensors_check(const rope2d_plan *plan, const rope2d_apply_params *params,
                                   rope2d_checked_tensor *tensors, uint32_t *count);

// Refuses row numbers of a caller's, in memory of `bytes` bytes that `name` stands for, which are none or too
// many for it, or have a bound behind the table. The batch is at least 1.
rope2d_status rope2d_caller_rows_check(const rope2d_positions *positions, uint32_t batch, uint64_t tokens,
                                       uint32_t bound, uint64_t bytes, const char *name);

// Refuses row numbers, `bytes` at `address`, that lie in memory which the work writes.
rope2d_status rope2d_rows_check(const rope2d_plan *plan, const rope2d_work *work, uint64_t address,
                                uint64_t bytes);

// apply.c: whether a plan can work with these positions.
rope2d_status rope2d_match_check(const rope2d_plan *plan, const rope2d_positions *positions);

// apply.c: checks all of an apply and fills the work, whose tensors are `tensors`, ROPE2D_MAX_TENSORS of
// them. Leaves work->tensor_count 0 where there is nothing to do.
rope2d_status rope2d_work_prepare(const rope2d_plan *plan, const rope2d_positions *positions,
                                  const rope2d_apply_params *params, rope2d_checked_tensor *tensors,
                                  rope2d_work *work);

// src/cpu/apply.c: the portable path, for a plan and positions of any device.
rope2d_status rope2d_portable_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                                    const rope2d_work *work);

// -------------------------------------------------------------------------------------- selftest.c

// Runs both kinds of units of the plan, unless one kernel is all it has, through its backend's own apply and
// compares with the portable path.
rope2d_status rope2d_self_test(const rope2d_plan *plan, rope2d_exactness *exactness);

// Makes a backend's kernel of vector units, in the place of the one that it may have made before; converts:
// with the device's own conversions of f16.
typedef rope2d_status rope2d_make_vector_fn(rope2d_plan *plan, bool converts, void *data);
// Has it made so where the driver takes it and it is then proven: it has run with the inputs of the
// self-test, which makes the plan's verdict, and at all edges between halves until one from f16 to f16 has
// passed there. With integers elsewhere. All other kernels of the plan must be there.
rope2d_status rope2d_make_vector(rope2d_plan *plan, rope2d_make_vector_fn *make, void *data);

#endif

// SPDX-License-Identifier: MIT
//
// core.h and vector.h as OpenCL C 1.2. Built with -DR_IN, -DR_OUT, -DR_VECTOR, -DR_FLAGS and -DR_TEXTURE; with
// those of token.h for CPUs; never with -cl-mad-enable or -cl-fast-relaxed-math, which fuse in spite of the
// pragma.
#pragma OPENCL FP_CONTRACT OFF

#ifdef __FAST_RELAXED_MATH__
#error "rope2d needs IEEE arithmetic"
#endif

#include "shape.h"

#if R_TEXTURE
#define R_TABLE_TYPE __read_only image2d_t
#elif R_VECTOR
#define R_TABLE_TYPE __global const float4 *
#else
#define R_TABLE_TYPE __global const float2 *
#endif

// Passed by value: the driver keeps a copy for each enqueue, so that any number of them can be in flight.
typedef struct r_words {
    uint words[R_SHAPE_WORDS];
} r_words;

// An image cannot be a member, so the table stands beside the struct.
typedef struct r_memory {
    const __private uint *shape;
    __global const uint *units;
    __global const int *rows;
    __global const uint *in[R_MAX_DISPATCH_TENSORS];
    __global uint *out[R_MAX_DISPATCH_TENSORS];
    bool has_both; // lanes in the order of memory have two tensors
} r_memory;

#define R_FN     static
#define R_MEM    r_memory *memory, R_TABLE_TYPE table,
#define R_M      memory, table,
#define precise
#define r_entry        float2
#define R_UINT(i)      ((uint)(i))
#define R_BITS(f)      as_uint(f)
#define R_FROM_BITS(u) as_float(u)
#define R_SELECT(c, a, b) ((c) ? (a) : (b))
#define R_SHAPE(i)     (memory->shape[i])
#define R_RANGE(i)     R_SHAPE(i)
#define R_UNIT(i)      (memory->units[i])
#define R_ROW(i)       (memory->rows[i])

#if R_TEXTURE
__constant sampler_t r_fetch = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#endif

// Element `step` k of an array, without an index that the compiler does not know: of four that were read, for
// where it chooses among addresses, LLVM keeps all of the array in memory, a copy for each lane.
#define R_PICK(k, a, step) r_pick(k, (a)[0], (a)[step], (a)[2 * (step)], (a)[3 * (step)])
static uint r_pick(uint k, uint a, uint b, uint c, uint d) {
    return k == 0u ? a : k == 1u ? b : k == 2u ? c : d;
}
#define R_PICK_BUFFER(k, a) ((k) == 0u ? (a)[0] : (k) == 1u ? (a)[1] : (k) == 2u ? (a)[2] : (a)[3])

#define R_TWO_ANGLES   ((R_FLAGS & R_TWO_ANGLES_FLAG) != 0u)
#define R_FACTORED     ((R_FLAGS & R_FACTORED_FLAG) != 0u)

#if R_TEXTURE
static float4 r_read_texel(R_MEM uint texel) {
    uint fold = R_SHAPE(R_TABLE_FOLD);
    return read_imagef(table, r_fetch, (int2)((int)(texel & ((1u << fold) - 1u)), (int)(texel >> fold)));
}
#endif

#if R_VECTOR

#define R_GROUP_LANES              ((uint)get_local_size(0))
#define R_BARRIER                  barrier(CLK_LOCAL_MEM_FENCE);
#define R_FINDS_LATE               (R_IN == R_BF16)
#define R_TAKES_TWO_HEADS
// What saves registers, as turns.h tells: f16 is not restored, for what chooses for each pair keeps its sums and
// their conversions apart, without which the edges refuse the conversions on NVIDIA's; and of f16's pairs side by
// side no rows are picked, for as built they were slower so.
#if R_IN == R_OUT && (R_FLAGS & (R_PAIR_AXIS_FLAG | R_FACTORED_FLAG | R_ORDER_FLAG)) == R_PAIR_AXIS_FLAG
#if R_IN == R_F16 && !(R_FLAGS & R_INTERLEAVED_FLAG)
#define R_PICKS_ROWS
#elif R_IN == R_BF16
#define R_RESTORES
#endif
#endif
#define R_TENSOR(k, i)             R_PICK(k, memory->shape + R_TENSORS + (i), R_TENSOR_WORDS)
#define R_TENSOR_RANGE(k, i)       R_PICK(k, memory->shape + R_RANGE_TENSORS + (i), R_RANGE_TENSOR_WORDS)
#define R_READ_UNIT(a, b, i)       { a = R_UNIT(2u * (i)); b = R_UNIT(2u * (i) + 1u); }
#define R_STRUCT(name)             \
    typedef struct name name;      \
    struct name
#define r_uint4                    uint4
#define r_float4                   float4
#define r_float2                   float2
#define R_UINT4(a, b, c, d)        ((uint4)(a, b, c, d))
#define R_FLOAT4(a, b, c, d)       ((float4)(a, b, c, d))
#define R_FLOAT2(a, b)             ((float2)(a, b))
#define R_INT(i)                   ((int)(i))
#define R_FLOAT(i)                 ((float)(i))
#define R_FLOATS_BITS(v)           as_uint4(v)
#define R_FLOATS_FROM_BITS(v)      as_float4(v)
#define R_SELECT4(c, d, e, f, a, b) ((int4)(-(int)(c), -(int)(d), -(int)(e), -(int)(f)) ? (a) : (b))
#define R_HIGH(a, b)               mul_hi(a, b)
#if R_FLAGS & 512 // R_CONVERTS_FLAG
#define R_UNPACK_HALVES(w)         r_unpack_halves(w)
#define R_PACK_HALVES(v)           r_pack_halves(v)
// Part of the language without cl_khr_fp16.
static float2 r_unpack_halves(uint word) {
    return vload_half2(0, (const __private half *)&word);
}
static uint r_pack_halves(float2 two) {
    uint word;
    vstore_half2_rte(two, 0, (__private half *)&word);
    return word;
}
#endif

// The buffers were chosen with the tensor: they are all slot 0.
#define R_WITH_SLOT(k, call, a, b, c, d) R_CHOOSE_SLOT(k) call(R_M 0u, a, b, c, d);
#define R_CHOOSE_SLOT(k)                 r_choose_slot(memory, k);
static void r_choose_slot(r_memory *memory, uint k) {
    memory->in[0] = R_PICK_BUFFER(k, memory->in);
    memory->out[0] = R_PICK_BUFFER(k, memory->out);
}

// llvmpipe moves number by number, lane by lane: half as many of twice the size take half the time.
#if R_FLAGS & 4096 // R_ORDER_FLAG
#define R_WORDS4    ulong2
#define R_WORDS2    ulong
#define R_AS_WORDS4 as_ulong2
#define R_AS_WORDS2 as_ulong
#else
#define R_WORDS4    uint4
#define R_WORDS2    uint2
#define R_AS_WORDS4 as_uint4
#define R_AS_WORDS2 as_uint2
#endif

static float4 r_read_two(R_MEM uint at) {
#if R_TEXTURE
    return r_read_texel(R_M at);
#else
    return as_float4(((__global const R_WORDS4 *)table)[at]);
#endif
}

static uint4 r_load_run(R_MEM uint k, uint at) {
#if R_IN == 0
    return as_uint4(((__global const R_WORDS4 *)memory->in[k])[at]);
#elif R_OUT == 0 || !(R_FLAGS & 32) // R_EIGHT_FLAG
    return as_uint2(((__global const R_WORDS2 *)memory->in[k])[at]).xyxy;
#else
    return as_uint4(((__global const R_WORDS4 *)memory->in[k])[at]);
#endif
}

static void r_store_run(R_MEM uint k, uint at, uint4 words) {
#if R_OUT == 0
    ((__global R_WORDS4 *)memory->out[k])[at] = R_AS_WORDS4(words);
#elif R_IN == 0 || !(R_FLAGS & 32)
    ((__global R_WORDS2 *)memory->out[k])[at] = R_AS_WORDS2(words.xy);
#else
    ((__global R_WORDS4 *)memory->out[k])[at] = R_AS_WORDS4(words);
#endif
}

#else

static float2 r_read_entry(R_MEM uint at) {
#if R_TEXTURE
    float4 two = r_read_texel(R_M at >> 1);
    return (at & 1u) == 0u ? two.xy : two.zw;
#else
    return table[at];
#endif
}

// OpenCL 1.2 addresses single bytes, so that halves of a word need no atomics: work-items that share a word do not
// touch each other's half, in place or not.
static uint r_load(R_MEM uint k, uint at) {
#if R_IN == 0
    return memory->in[k][at];
#else
    return ((__global const ushort *)memory->in[k])[at];
#endif
}

static void r_store(R_MEM uint k, uint at, uint bits) {
#if R_OUT == 0
    memory->out[k][at] = bits;
#else
    ((__global ushort *)memory->out[k])[at] = (ushort)bits;
#endif
}

#endif

#if R_FLAGS & 4096 // R_ORDER_FLAG
#define R_TAKES_TOKENS
#define R_TWO_SLOTS true
#define R_HAS_BOTH  memory->has_both
#endif

#include "core.h"
#ifdef R_RUN
#include "token.h"
#elif R_VECTOR
#include "vector.h"
#endif

#if !R_VECTOR
// The tensor of a lane becomes the only one. Where its number is an index, others had all words copied to
// memory for each lane, which on Rusticl took longer than the rest.
static void r_choose_tensor(uint *words, r_memory *memory, uint at) {
    uint k = 0u;
    for (uint i = 1u; i < R_MAX_DISPATCH_TENSORS; i++) {
        if (i < words[R_TENSOR_COUNT] && at >= words[R_RANGE_TENSORS + i * R_RANGE_TENSOR_WORDS + R_LANE_FIRST])
            k = i;
    }
    for (uint i = 0u; i < R_RANGE_TENSOR_WORDS; i++)
        words[R_RANGE_TENSORS + i] = R_PICK(k, words + R_RANGE_TENSORS + i, R_RANGE_TENSOR_WORDS);
    for (uint i = 0u; i < R_TENSOR_WORDS; i++)
        words[R_TENSORS + i] = R_PICK(k, words + R_TENSORS + i, R_TENSOR_WORDS);
    memory->in[0] = R_PICK_BUFFER(k, memory->in);
    memory->out[0] = R_PICK_BUFFER(k, memory->out);
    words[R_TENSOR_COUNT] = 1u;
}
#endif

__kernel void rope2d(r_words shape, __global const uint *units, __global const int *rows,
                     R_TABLE_TYPE table, __global const uint *in0, __global uint *out0, __global const uint *in1,
                     __global uint *out1, __global const uint *in2, __global uint *out2, __global const uint *in3,
                     __global uint *out3) {
    r_memory memory;
#if R_VECTOR
    memory.shape = shape.words;
#else
    r_words own = shape; // PoCL's work-items and groups share what is passed by value, whoever writes it
    memory.shape = own.words;
#endif
    memory.units = units;
    memory.rows = rows;
    memory.in[0] = in0;
    memory.out[0] = out0;
    memory.in[1] = in1;
    memory.out[1] = out1;
    memory.in[2] = in2;
    memory.out[2] = out2;
    memory.in[3] = in3;
    memory.out[3] = out3;
#ifdef R_RUN
    r_token_lane(&memory, table, (uint)get_group_id(0));
#elif R_VECTOR
#ifdef R_TAKES_TOKENS
    // All groups are the first tensor's then.
    memory.has_both = shape.words[R_TENSOR_COUNT] == 2u &&
                      shape.words[R_RANGE_TENSORS + R_RANGE_TENSOR_WORDS + R_LANES] == 0u;
#endif
    r_vector_lane(&memory, table, (uint)get_group_id(0), (uint)get_local_id(0));
#else
    r_choose_tensor(own.words, &memory, (uint)get_global_id(0));
    r_invocation(&memory, table, (uint)get_global_id(0));
#endif
}

// SPDX-License-Identifier: MIT
//
// core.h as OpenCL C 1.2. Built with -DR_IN, -DR_OUT, -DR_WIDE, -DR_TWO_ANGLES, -DR_FACTORED and -DR_TEXTURE; never with -cl-mad-enable or
// -cl-fast-relaxed-math, which fuse in spite of the pragma.
#pragma OPENCL FP_CONTRACT OFF

#ifdef __FAST_RELAXED_MATH__
#error "rope2d needs IEEE arithmetic"
#endif

#include "shape.h"

#if R_TEXTURE
#define R_TABLE_TYPE __read_only image2d_t
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
} r_memory;

#define R_FN     static
#define R_MEM    const r_memory *memory, R_TABLE_TYPE table,
#define R_M      memory, table,
#define precise
#define r_entry        float2
#define R_UINT(i)      ((uint)(i))
#define R_BITS(f)      as_uint(f)
#define R_FROM_BITS(u) as_float(u)
#define R_SHAPE(i)     (memory->shape[i])
#define R_RANGE(i)     R_SHAPE(i)
#define R_UNIT(i)      (memory->units[i])
#define R_ROW(i)       (memory->rows[i])

#if R_TEXTURE
__constant sampler_t r_fetch = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#endif

static float2 r_read_entry(R_MEM uint at) {
#if R_TEXTURE
    uint texel = at >> 1;
    uint fold = R_SHAPE(R_TABLE_FOLD);
    float4 two = read_imagef(table, r_fetch, (int2)((int)(texel & ((1u << fold) - 1u)), (int)(texel >> fold)));
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

static void r_store_two(R_MEM uint k, uint at, uint both) {
    ((__global ushort2 *)memory->out[k])[at >> 1] = as_ushort2(both);
}

#include "core.h"

__kernel void rope2d(r_words shape, __global const uint *units, __global const int *rows,
                     R_TABLE_TYPE table, __global const uint *in0, __global uint *out0, __global const uint *in1,
                     __global uint *out1, __global const uint *in2, __global uint *out2, __global const uint *in3,
                     __global uint *out3) {
    r_memory memory;
    memory.shape = shape.words;
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
    r_invocation(&memory, table, (uint)get_global_id(0));
}

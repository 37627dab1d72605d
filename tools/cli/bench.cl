// SPDX-License-Identifier: MIT
//
// Copies words, or multiplies them in place: what a rotation is held against. A work-item takes ITEMS vectors of WIDTH
// words, a workgroup apart, so that neighbours touch neighbours.

#define KERNELS(NAME, TYPE, ITEMS)                                                                 \
    __kernel void copy_##NAME##_##ITEMS(__global const TYPE *from, __global TYPE *to, uint count,  \
                                        float factor) {                                            \
        uint at = (uint)(get_group_id(0) * get_local_size(0) * ITEMS + get_local_id(0));           \
        for (uint i = 0; i < ITEMS; ++i) {                                                         \
            if (at < count)                                                                        \
                to[at] = from[at];                                                                 \
            at += (uint)get_local_size(0);                                                         \
        }                                                                                          \
    }                                                                                              \
    __kernel void scale_##NAME##_##ITEMS(__global const TYPE *from, __global TYPE *to, uint count, \
                                         float factor) {                                           \
        uint at = (uint)(get_group_id(0) * get_local_size(0) * ITEMS + get_local_id(0));           \
        for (uint i = 0; i < ITEMS; ++i) {                                                         \
            if (at < count)                                                                        \
                to[at] = to[at] * factor;                                                          \
            at += (uint)get_local_size(0);                                                         \
        }                                                                                          \
    }

KERNELS(4, float, 1)
KERNELS(4, float, 4)
KERNELS(4, float, 16)
KERNELS(8, float2, 1)
KERNELS(8, float2, 4)
KERNELS(8, float2, 16)
KERNELS(16, float4, 1)
KERNELS(16, float4, 4)
KERNELS(16, float4, 16)

// SPDX-License-Identifier: MIT
//
// Copies words, or multiplies them: what a rotation is held against. A work-item takes ITEMS vectors of WIDTH words, a
// workgroup apart, so that neighbours touch neighbours. A limit does what a rotation cannot do without: it converts
// each element to f32 and back and takes of it the sum of two products, as a turn does: with one factor, or with a table
// each with a number of it, and with another factor. f16 by integers, or by the device's own conversion.

#pragma OPENCL FP_CONTRACT OFF

// The language's own conversions are calls where clang compiles for a CPU.
#ifdef __clang__
#define TO_UINTS(WIDTH, v)  __builtin_convertvector(v, uint##WIDTH)
#define TO_HALVES(WIDTH, v) __builtin_convertvector(v, ushort##WIDTH)
#else
#define TO_UINTS(WIDTH, v)  convert_uint##WIDTH(v)
#define TO_HALVES(WIDTH, v) convert_ushort##WIDTH(v)
#endif

// Numbers alone, so that NaN need no care; the forms of vectors, without branches.
#define CONVERSIONS(WIDTH)                                                                               \
    static float##WIDTH widen_f16_##WIDTH(ushort##WIDTH bits) {                                          \
        uint##WIDTH h = TO_UINTS(WIDTH, bits), rest = h & 0x7fffu;                                       \
        uint##WIDTH small = as_uint##WIDTH(as_float##WIDTH(rest + 0x3f000000u) - 0.5f);                  \
        uint##WIDTH large = (rest << 13) + (rest >= 0x7c00u ? (uint##WIDTH)0x70000000u                   \
                                                            : (uint##WIDTH)0x38000000u);                 \
        return as_float##WIDTH(((h & 0x8000u) << 16) | (rest < 0x400u ? small : large));                 \
    }                                                                                                    \
    static ushort##WIDTH narrow_f16_##WIDTH(float##WIDTH value) {                                        \
        uint##WIDTH f = as_uint##WIDTH(value), rest = f & 0x7fffffffu;                                   \
        uint##WIDTH small = as_uint##WIDTH(as_float##WIDTH(rest) + 0.5f) - 0x3f000000u;                  \
        uint##WIDTH large = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;                   \
        uint##WIDTH bounded = large < 0x7c00u ? large : (uint##WIDTH)0x7c00u;                            \
        uint##WIDTH number = rest < 0x38800000u ? small : bounded;                                       \
        return TO_HALVES(WIDTH, ((f >> 16) & 0x8000u) | number);                                         \
    }                                                                                                    \
    static float##WIDTH widen_bf16_##WIDTH(ushort##WIDTH bits) {                                         \
        return as_float##WIDTH(TO_UINTS(WIDTH, bits) << 16);                                             \
    }                                                                                                    \
    static ushort##WIDTH narrow_bf16_##WIDTH(float##WIDTH value) {                                       \
        uint##WIDTH f = as_uint##WIDTH(value);                                                           \
        return TO_HALVES(WIDTH, (f + 0x7fffu + ((f >> 16) & 1u)) >> 16);                                 \
    }
CONVERSIONS(2)
CONVERSIONS(4)
CONVERSIONS(8)

#define ARGUMENTS uint count, uint mask, float factor, float other

// BODY makes to[at] of from[at].
#define KERNEL(NAME, WIDTH, ITEMS, FROM, BODY)                                                           \
    __kernel void NAME##_##WIDTH##_##ITEMS(__global const FROM *from, __global FROM *to,                 \
                                           __global const float *table, ARGUMENTS) {                     \
        uint at = (uint)(get_group_id(0) * get_local_size(0) * ITEMS + get_local_id(0));                 \
        for (uint i = 0; i < ITEMS; ++i) {                                                               \
            if (at < count)                                                                              \
                BODY;                                                                                    \
            at += (uint)get_local_size(0);                                                               \
        }                                                                                                \
    }
#define KERNELS(NAME, WIDTH, FROM, BODY)                                                                 \
    KERNEL(NAME, WIDTH, 1, FROM, BODY)                                                                   \
    KERNEL(NAME, WIDTH, 4, FROM, BODY)                                                                   \
    KERNEL(NAME, WIDTH, 16, FROM, BODY)

#define MULTIPLY(by)    to[at] = from[at] * by
// Of a float, or a vector of them. Bodies hold no comma outside brackets, lest they be several arguments.
#define TURNED(TYPE, loaded, by)                                                                         \
    TYPE value = loaded;                                                                                 \
    TYPE turned = value * by + value * other
#define TURN(TYPE, place, by)                                                                            \
    do {                                                                                                 \
        TURNED(TYPE, from[place], by);                                                                   \
        to[place] = turned;                                                                              \
    } while (0)
#define CONVERT(n, t, place, by)                                                                         \
    do {                                                                                                 \
        TURNED(float##n, widen_##t##_##n(from[place]), by);                                              \
        to[place] = narrow_##t##_##n(turned);                                                            \
    } while (0)
#define CONVERTER(n, place, by)                                                                          \
    do {                                                                                                 \
        TURNED(float##n, vload_half##n(place, (__global const half *)from), by);                         \
        vstore_half##n##_rte(turned, place, (__global half *)to);                                        \
    } while (0)
// What is read of a table serves q and k, `count` further on.
#define BOTH(TYPE, factors, of_q, of_k)                                                                  \
    do {                                                                                                 \
        TYPE by = factors;                                                                               \
        of_q;                                                                                            \
        of_k;                                                                                            \
    } while (0)
#define TURN_BOTH(TYPE, factors)    BOTH(TYPE, factors, TURN(TYPE, at, by), TURN(TYPE, at + count, by))
#define CONVERT_BOTH(n, t)          BOTH(float##n, FACTORS(n), CONVERT(n, t, at, by), CONVERT(n, t, at + count, by))
#define CONVERTER_BOTH(n)           BOTH(float##n, FACTORS(n), CONVERTER(n, at, by), CONVERTER(n, at + count, by))
#define FACTORS(n) vload##n((n * at & mask) / n, table)

#if KIND == 0
KERNELS(copy, 4, float, to[at] = from[at])
KERNELS(copy, 8, float2, to[at] = from[at])
KERNELS(copy, 16, float4, to[at] = from[at])
KERNELS(scale, 4, float, MULTIPLY(factor))
KERNELS(scale, 8, float2, MULTIPLY(factor))
KERNELS(scale, 16, float4, MULTIPLY(factor))
#elif KIND == 1
KERNELS(f32, 4, float, TURN(float, at, factor))
KERNELS(f32, 8, float2, TURN(float2, at, factor))
KERNELS(f32, 16, float4, TURN(float4, at, factor))
KERNELS(f32_table, 4, float, TURN_BOTH(float, table[at & mask]))
KERNELS(f32_table, 8, float2, TURN_BOTH(float2, FACTORS(2)))
KERNELS(f32_table, 16, float4, TURN_BOTH(float4, FACTORS(4)))
#elif KIND == 2
KERNELS(f16, 4, ushort2, CONVERT(2, f16, at, factor))
KERNELS(f16, 8, ushort4, CONVERT(4, f16, at, factor))
KERNELS(f16, 16, ushort8, CONVERT(8, f16, at, factor))
KERNELS(f16_table, 4, ushort2, CONVERT_BOTH(2, f16))
KERNELS(f16_table, 8, ushort4, CONVERT_BOTH(4, f16))
KERNELS(f16_table, 16, ushort8, CONVERT_BOTH(8, f16))
KERNELS(f16_converter, 4, ushort2, CONVERTER(2, at, factor))
KERNELS(f16_converter, 8, ushort4, CONVERTER(4, at, factor))
KERNELS(f16_converter, 16, ushort8, CONVERTER(8, at, factor))
KERNELS(f16_converter_table, 4, ushort2, CONVERTER_BOTH(2))
KERNELS(f16_converter_table, 8, ushort4, CONVERTER_BOTH(4))
KERNELS(f16_converter_table, 16, ushort8, CONVERTER_BOTH(8))
#else
KERNELS(bf16, 4, ushort2, CONVERT(2, bf16, at, factor))
KERNELS(bf16, 8, ushort4, CONVERT(4, bf16, at, factor))
KERNELS(bf16, 16, ushort8, CONVERT(8, bf16, at, factor))
KERNELS(bf16_table, 4, ushort2, CONVERT_BOTH(2, bf16))
KERNELS(bf16_table, 8, ushort4, CONVERT_BOTH(4, bf16))
KERNELS(bf16_table, 16, ushort8, CONVERT_BOTH(8, bf16))
#endif

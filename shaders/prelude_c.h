// SPDX-License-Identifier: MIT
//
// core.h as C11: the portable path, which every other backend must equal bit for bit. The file that includes
// this defines R_IN, R_OUT, R_WIDE, R_TWO_ANGLES and R_FACTORED, as expressions over `memory` if it likes.
#include "shape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "rope2d needs IEEE arithmetic: compile without -ffast-math"
#endif

typedef struct r_entry {
    float x; // cosine
    float y; // sine
} r_entry;

// What a kernel works on. k numbers the tensors; the C path has one at a time and points it at its first
// element.
typedef struct r_memory {
    const uint32_t *shape;
    const uint32_t *units;
    const int32_t *rows;
    const float *table;
    const unsigned char *in;
    unsigned char *out;
    uint32_t in_type;
    uint32_t out_type;
    bool wide;
    bool two_angles;
} r_memory;

// Inlined without fail, so that constants in `memory` choose the code.
#if defined(__GNUC__)
#define R_FN static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define R_FN static __forceinline
#else
#define R_FN static inline
#endif

#define R_FN_APART static inline // each copy has all conversions

#define uint              uint32_t
#define precise           // the build turns contraction off
#define R_MEM             const r_memory *memory,
#define R_M               memory,
#define R_UINT(i)         ((uint32_t)(i))
#define R_SHAPE(i)        (memory->shape[i])
#define R_RANGE(i)        R_SHAPE(i)
#define R_UNIT(i)         (memory->units[i])
#define R_ROW(i)          (memory->rows[i])
#define R_BITS(f)         r_bits(f)
#define R_FROM_BITS(u)    r_from_bits(u)
#define R_SELECT(c, a, b) ((c) ? (a) : (b))

R_FN uint32_t r_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

R_FN float r_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

R_FN r_entry r_read_entry(const r_memory *memory, uint32_t at) {
    r_entry entry = {memory->table[2 * (size_t)at], memory->table[2 * (size_t)at + 1]};
    return entry;
}

R_FN uint32_t r_load(const r_memory *memory, uint32_t k, uint32_t at) {
    (void)k;
    if (R_IN == R_F32) {
        uint32_t bits;
        memcpy(&bits, memory->in + 4 * (size_t)at, sizeof(bits));
        return bits;
    }
    uint16_t half;
    memcpy(&half, memory->in + 2 * (size_t)at, sizeof(half));
    return half;
}

R_FN void r_store(const r_memory *memory, uint32_t k, uint32_t at, uint32_t bits) {
    (void)k;
    if (R_OUT == R_F32) {
        memcpy(memory->out + 4 * (size_t)at, &bits, sizeof(bits));
        return;
    }
    uint16_t half = (uint16_t)bits;
    memcpy(memory->out + 2 * (size_t)at, &half, sizeof(half));
}

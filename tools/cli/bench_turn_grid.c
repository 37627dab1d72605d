// SPDX-License-Identifier: MIT
#include "bench_turn_grid.h"

#include <string.h>

#include "bench_cases.h"

enum { QUARTERS = 3 }; // one, two, three: each changes something

static uint32_t quarters_of(uint32_t row, uint32_t pair) {
    return 1 + (row + pair) % QUARTERS;
}

static uint32_t row_of(const struct bench_case *what, uint64_t token, uint32_t axis) {
    const uint64_t columns = bench_columns_of(what->tokens);
    if (axis + 2 < what->tower->axes)
        return 0;
    return (uint32_t)(axis + 2 == what->tower->axes ? token / columns : token % columns);
}

static uint32_t axis_of(const struct bench_tower *tower, uint32_t pair) {
    uint32_t axis = 0;
    for (; pair >= tower->axis_pairs[axis]; ++axis)
        pair -= tower->axis_pairs[axis];
    return axis;
}

void bench_turn_rows(const struct bench_case *what, uint32_t *rows) {
    for (uint64_t token = 0; token < what->tokens; ++token)
        for (uint32_t axis = 0; axis < what->tower->axes; ++axis)
            *rows++ = row_of(what, token, axis);
}

void bench_turn_table(const struct bench_case *what, size_t stride, float *table) {
    static const float cosines[] = {1, 0, -1, 0}, sines[] = {0, 1, 0, -1};
    const uint32_t pairs = what->tower->head_dim / 2;
    const uint64_t rows = bench_columns_of(what->tokens);
    memset(table, 0, (size_t)rows * stride * sizeof *table);
    for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t pair = 0; pair < pairs; ++pair) {
            float *entry = table + (size_t)row * stride + 2 * (size_t)pair;
            entry[0] = cosines[quarters_of(row, pair)];
            entry[1] = sines[quarters_of(row, pair)];
        }
}

// Little-endian, as every device is: the sign is in the last byte.
static void turn_pair(unsigned char *lo, unsigned char *hi, size_t size, uint32_t quarters) {
    unsigned char kept[sizeof(float)];
    if (quarters % 2) {
        memcpy(kept, lo, size);
        memcpy(lo, hi, size);
        memcpy(hi, kept, size);
    }
    if (quarters == 1 || quarters == 2)
        lo[size - 1] ^= 0x80;
    if (quarters == 2 || quarters == 3)
        hi[size - 1] ^= 0x80;
}

void bench_turn_expect(const struct bench_case *what, rope2d_pairing pairing, uint64_t first, uint64_t count,
                       unsigned char *values) {
    const struct bench_tower *tower = what->tower;
    const uint32_t pairs = tower->head_dim / 2;
    const size_t size = rope2d_element_size(what->element);
    for (uint64_t at = 0; at < count; at += tower->head_dim, values += tower->head_dim * size) {
        const uint64_t token = (first + at) / tower->head_dim / tower->heads % what->tokens;
        for (uint32_t pair = 0; pair < pairs; ++pair) {
            const uint32_t row = row_of(what, token, axis_of(tower, pair));
            const size_t lo = pairing == ROPE2D_PAIRING_HALF ? pair : 2 * (size_t)pair;
            const size_t hi = pairing == ROPE2D_PAIRING_HALF ? pair + pairs : lo + 1;
            turn_pair(values + lo * size, values + hi * size, size, quarters_of(row, pair));
        }
    }
}

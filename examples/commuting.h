// SPDX-License-Identifier: MIT
//
// The general solution: every map R(x, y, ...) = exp(x B1 + y B2 + ...) with skew-symmetric B1, B2, ... that
// commute is a rotary embedding in another orthonormal basis. This finds the basis and the frequencies.
#ifndef COMMUTING_H
#define COMMUTING_H

#include <rope2d/rope2d.h>

enum { COMMUTING_MAX_SIZE = 64 };

typedef enum commuting_status {
    COMMUTING_OK = 0,
    COMMUTING_SIZE,         // size is not 2 to COMMUTING_MAX_SIZE, or axes not 1 to 4
    COMMUTING_NOT_SKEW,     // a matrix is not the negative of its transpose
    COMMUTING_DO_NOT,       // two matrices do not commute: see `commutator`
    COMMUTING_NOT_SEPARATED // no common basis was found to within rounding
} commuting_status;

typedef struct commuting {
    uint32_t size;
    uint32_t pairs;    // size / 2; with an odd size the last vector of the basis does not turn
    double commutator; // the largest Frobenius norm of Ba Bb - Bb Ba
    // [size][size], a row for each vector: pair i is the vectors 2i and 2i + 1. R = basis^T rope basis.
    double basis[COMMUTING_MAX_SIZE * COMMUTING_MAX_SIZE];
    float freqs[ROPE2D_MAX_AXES * COMMUTING_MAX_SIZE / 2]; // [axes][pairs]
    rope2d_spec spec; // interleaved; freqs points into this struct: do not copy it
} commuting;

// generators: [axes][size][size]. Frequencies below 1e-7 of the largest count as 0.
commuting_status commuting_find(uint32_t size, uint32_t axes, const double *generators, commuting *found);

// to = basis from, and back: the basis is orthonormal.
void commuting_enter(const commuting *found, const float *from, float *to);
void commuting_leave(const commuting *found, const float *from, float *to);

#endif

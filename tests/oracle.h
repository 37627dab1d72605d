// SPDX-License-Identifier: MIT
// An independent evaluation of the one formula, in double with MPFR's cosine and sine. It shares no header,
// no table and no indexing with the library: a mistake in common would be bit-identical everywhere.
#ifndef TEST_ORACLE_H
#define TEST_ORACLE_H

#include "oracle_number.h"

#include <stdbool.h>

enum oracle_direction {
    ORACLE_FORWARD,   // m R(angle)
    ORACLE_INVERSE,   // R(-angle) / m
    ORACLE_TRANSPOSE, // m R(angle), transposed
};

enum oracle_angle {
    ORACLE_ANGLE_DOUBLE,
    ORACLE_ANGLE_FP32, // start at +0, round each product and each sum, skip frequencies of zero
};

struct oracle_range {
    size_t begin, end; // tokens, end excluded
};

// The pointers are borrowed until oracle_create returns.
struct oracle_rotation {
    size_t tokens;
    size_t position_batches; // 1: shared by every batch element
    size_t head_dim;
    size_t axes;
    size_t pairs;
    size_t freq_heads; // 1: shared by every head
    size_t tables;     // 1; 2 where lo and hi have angles of their own, lo first

    const int32_t *pair_lo;   // [pairs]
    const int32_t *pair_hi;   // [pairs]
    const float *freqs;       // [tables][axes][freq_heads][pairs]
    const float *coordinates; // [position_batches][tokens][axes]

    const struct oracle_range *unrotated;
    size_t unrotated_count;

    double magnitude;        // no default: 1 leaves lengths alone
    const float *magnitudes; // NULL, or [position_batches][tokens][pairs], which multiply it

    enum oracle_direction direction;
    enum oracle_angle angle;
    bool factored; // the coefficients are products of one rotation for each axis, each rounded to fp32
};

struct oracle_value {
    double
        value;   // exact but for double's own rounding; infinite or NaN where fp32 products and their sum are
    double unit; // ulp of fp32 at |a * cos| + |b * sin|; more of it where factored
    bool copied; // passes through: the same bits, or the nearest where the type changes
};

struct oracle;

// NULL when memory runs out, a pair or range lies outside, a channel is used twice, or the direction does not
// exist (an inverse of two tables or of magnitude zero). Any number of threads may read an oracle.
struct oracle *oracle_create(const struct oracle_rotation *rotation);
void oracle_destroy(struct oracle *oracle);

// The head_dim outputs of one head of one token, from its head_dim inputs. The two must not overlap.
void oracle_rotate(const struct oracle *oracle, size_t batch, size_t token, size_t head, const double *inputs,
                   struct oracle_value *outputs);

// How many units an output of this type lies outside what rounding to the type allows (for fp32 nothing is
// allowed, for f16 and bf16 half of their ulp). Infinite when it is plainly wrong: a NaN, the other infinity,
// a changed copy.
double oracle_error(const struct oracle_value *expected, enum oracle_type type, uint32_t bits);

// The limit on oracle_error. The table rounds once (under 1 unit), each of two products (0.75 together), the
// sum (0.5).
#define ORACLE_LIMIT 2.5

// True when cosine and sine come from MPFR and not from the host's long double functions.
bool oracle_has_mpfr(void);

#endif

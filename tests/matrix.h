// SPDX-License-Identifier: MIT
//
// Small square matrices in double, row by row, for the tests of the mathematics.
#ifndef TEST_MATRIX_H
#define TEST_MATRIX_H

#include <stdint.h>

enum { MATRIX_MAX = 64, MATRIX_AREA = MATRIX_MAX * MATRIX_MAX };

double matrix_norm(const double *a, uint32_t n); // Frobenius
void matrix_multiply(const double *a, const double *b, uint32_t n, double *product);
void matrix_transpose(const double *a, uint32_t n, double *transposed);

// exp(a) by its power series after halving a until it is small, squared as often.
void matrix_exponential(const double *a, uint32_t n, double *result);

// Orthogonal, by Gram and Schmidt's method from the counter's numbers.
void matrix_random_orthogonal(uint64_t seed, uint32_t n, double *result);

#endif

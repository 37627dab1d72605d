// SPDX-License-Identifier: MIT
#include "matrix.h"

#include "counter.h"

#include <math.h>
#include <string.h>

double matrix_norm(const double *a, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n * n; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

void matrix_multiply(const double *a, const double *b, uint32_t n, double *product) {
    double result[MATRIX_AREA];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double entry = 0;
            for (uint32_t k = 0; k < n; k++)
                entry += a[i * n + k] * b[k * n + j];
            result[i * n + j] = entry;
        }
    memcpy(product, result, sizeof(double) * n * n);
}

void matrix_transpose(const double *a, uint32_t n, double *transposed) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            transposed[j * n + i] = a[i * n + j];
}

void matrix_exponential(const double *a, uint32_t n, double *result) {
    double small[MATRIX_AREA], power[MATRIX_AREA];
    int halvings = 0;
    for (double size = matrix_norm(a, n); size > 0.25; size /= 2)
        halvings++;
    memset(result, 0, sizeof(double) * n * n);
    memset(power, 0, sizeof(power));
    for (uint32_t i = 0; i < n * n; i++)
        small[i] = ldexp(a[i], -halvings);
    for (uint32_t i = 0; i < n; i++)
        result[i * n + i] = power[i * n + i] = 1;
    for (int term = 1; term <= 14; term++) { // 0.25^15 / 15! is below 2^-60
        matrix_multiply(power, small, n, power);
        for (uint32_t i = 0; i < n * n; i++) {
            power[i] /= term;
            result[i] += power[i];
        }
    }
    for (int i = 0; i < halvings; i++)
        matrix_multiply(result, result, n, result);
}

void matrix_random_orthogonal(uint64_t seed, uint32_t n, double *result) {
    for (uint32_t i = 0; i < n * n; i++)
        result[i] = counter_bell(counter_word(seed, 7, i));
    for (uint32_t i = 0; i < n; i++)
        for (int round = 0; round < 2; round++) {
            double *row = result + (size_t)i * n, size = 0;
            for (uint32_t j = 0; j < i; j++) {
                double part = 0;
                for (uint32_t k = 0; k < n; k++)
                    part += row[k] * result[j * n + k];
                for (uint32_t k = 0; k < n; k++)
                    row[k] -= part * result[j * n + k];
            }
            for (uint32_t k = 0; k < n; k++)
                size += row[k] * row[k];
            for (uint32_t k = 0; k < n; k++)
                row[k] /= sqrt(size);
        }
}

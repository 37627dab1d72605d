// SPDX-License-Identifier: MIT
//
// The invariant planes of a skew-symmetric matrix C: the eigenvectors of C^T C span them.
#include "commuting_search.h"

#include <math.h>
#include <string.h>

enum { MAX = COMMUTING_MAX_SIZE, SWEEPS = 60 };

static const double SLOWEST = 1e-7;  // relative frequency that counts as 0
static const double LEFT_OVER = 0.1; // length that a vector keeps outside the planes found, to begin a plane

double commuting_length(const double *a, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

double commuting_product(const double *a, const double *b, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void commuting_transform(const double *matrix, const double *from, uint32_t n, double *to) {
    for (uint32_t i = 0; i < n; i++)
        to[i] = commuting_product(matrix + (size_t)i * n, from, n);
}

// Turns rows and columns p and q so that their common entry becomes 0, and the eigenvectors with them.
static void turn(struct search *search, uint32_t p, uint32_t q) {
    uint32_t n = search->size;
    double *m = search->square;
    double off = m[p * n + q];
    if (fabs(off) < 1e-300)
        return;
    double half = (m[q * n + q] - m[p * n + p]) / (2 * off);
    double t = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(half * half + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (uint32_t k = 0; k < n; k++) {
        double at_p = m[k * n + p], at_q = m[k * n + q];
        m[k * n + p] = c * at_p - s * at_q;
        m[k * n + q] = s * at_p + c * at_q;
    }
    for (uint32_t k = 0; k < n; k++) {
        double at_p = m[p * n + k], at_q = m[q * n + k];
        m[p * n + k] = c * at_p - s * at_q;
        m[q * n + k] = s * at_p + c * at_q;
        double *v = search->vectors;
        at_p = v[p * n + k];
        at_q = v[q * n + k];
        v[p * n + k] = c * at_p - s * at_q;
        v[q * n + k] = s * at_p + c * at_q;
    }
}

// Jacobi's method.
void commuting_diagonalise(struct search *search) {
    uint32_t n = search->size;
    memset(search->vectors, 0, sizeof(search->vectors));
    for (uint32_t i = 0; i < n; i++)
        search->vectors[i * n + i] = 1;
    double scale = commuting_length(search->square, n * n);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0;
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t q = p + 1; q < n; q++) {
                off = fmax(off, fabs(search->square[p * n + q]));
                turn(search, p, q);
            }
        if (off <= 1e-18 * scale)
            break;
    }
}

// Takes from a vector what lies in the basis so far; twice, for the rounding. Its length that is left.
static double project_out(const struct search *search, const commuting *found, double *vector) {
    uint32_t n = search->size;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < search->chosen; i++) {
            const double *base = found->basis + (size_t)i * n;
            double part = commuting_product(base, vector, n);
            for (uint32_t k = 0; k < n; k++)
                vector[k] -= part * base[k];
        }
    return commuting_length(vector, n);
}

static void choose(struct search *search, commuting *found, const double *vector, double size) {
    double *base = found->basis + (size_t)search->chosen++ * search->size;
    for (uint32_t k = 0; k < search->size; k++)
        base[k] = vector[k] / size;
}

// Planes from the fastest to the slowest. Vectors that turn with none come last.
void commuting_choose_basis(struct search *search, commuting *found) {
    uint32_t n = search->size;
    int used[MAX] = {0};
    double scale = commuting_length(search->sum, n * n);
    search->chosen = 0;
    for (uint32_t step = 0; step < n && search->chosen < n; step++) {
        uint32_t best = MAX;
        for (uint32_t i = 0; i < n; i++)
            if (!used[i] && (best == MAX || search->square[i * n + i] > search->square[best * n + best]))
                best = i;
        used[best] = 1;
        double u[MAX], v[MAX];
        memcpy(u, search->vectors + (size_t)best * n, n * sizeof(double));
        double left = project_out(search, found, u);
        if (left < LEFT_OVER)
            continue; // the second vector of a plane
        choose(search, found, u, left);
        commuting_transform(search->sum, found->basis + (size_t)(search->chosen - 1) * n, n, v);
        if (commuting_length(v, n) <= SLOWEST * scale)
            continue; // turns with none
        choose(search, found, v, project_out(search, found, v));
    }
}

// SPDX-License-Identifier: MIT
//
// A generic sum C of the generators has the same invariant planes as all of them. The eigenvectors of the
// symmetric C^T C span those planes; in each, u and v = C u / |C u| are a pair, and v^T Ba u its frequency.
#include "commuting_search.h"

#include <math.h>
#include <string.h>

enum { MAX = COMMUTING_MAX_SIZE, TRIES = 4 };

static const double SAME = 1e-9; // relative size of what counts as rounding

static int is_skew(const double *matrix, uint32_t n) {
    double largest = commuting_length(matrix, n * n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++)
            if (!(fabs(matrix[i * n + j] + matrix[j * n + i]) <= SAME * largest)) // also a NaN
                return 0;
    return 1;
}

// The Frobenius norm of A B - B A.
static double commutator(const double *a, const double *b, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double entry = 0;
            for (uint32_t k = 0; k < n; k++)
                entry += a[i * n + k] * b[k * n + j] - b[i * n + k] * a[k * n + j];
            sum += entry * entry;
        }
    return sqrt(sum);
}

static commuting_status check(const struct search *search, commuting *found) {
    uint32_t n = search->size;
    size_t area = (size_t)n * n;
    for (uint32_t a = 0; a < search->axes; a++)
        if (!is_skew(search->generators + a * area, n))
            return COMMUTING_NOT_SKEW;
    commuting_status status = COMMUTING_OK;
    for (uint32_t a = 0; a < search->axes; a++)
        for (uint32_t b = 0; b < a; b++) {
            const double *first = search->generators + a * area, *second = search->generators + b * area;
            double size = commutator(first, second, n);
            if (size > SAME * commuting_length(first, n * n) * commuting_length(second, n * n))
                status = COMMUTING_DO_NOT;
            found->commutator = fmax(found->commutator, size);
        }
    return status;
}

// Weights without simple ratios, others at each try: different pairs get different speeds.
static void add_up(struct search *search, uint32_t attempt) {
    uint32_t n = search->size;
    memset(search->sum, 0, sizeof(search->sum));
    for (uint32_t a = 0; a < search->axes; a++) {
        const double *generator = search->generators + (size_t)a * n * n;
        double size = commuting_length(generator, n * n),
               weight = 1 + 0.6180339887 * sin(1.7 * a + 2.3 * attempt + 1);
        for (uint32_t i = 0; i < n * n && size > 0; i++)
            search->sum[i] += weight / size * generator[i];
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double entry = 0;
            for (uint32_t k = 0; k < n; k++)
                entry += search->sum[k * n + i] * search->sum[k * n + j];
            search->square[i * n + j] = entry;
        }
}

// How far the generators are from turning just these planes; fills the frequencies.
static double read_frequencies(const struct search *search, commuting *found) {
    uint32_t n = search->size;
    double worst = 0;
    for (uint32_t a = 0; a < search->axes; a++) {
        const double *generator = search->generators + (size_t)a * n * n;
        double scale = commuting_length(generator, n * n);
        for (uint32_t i = 0; i < n; i++) {
            double *own = found->basis + (size_t)i * n, *partner = found->basis + (size_t)(i ^ 1) * n,
                   image[MAX];
            commuting_transform(generator, own, n, image);
            if (i / 2 < found->pairs) {
                double frequency = commuting_product(partner, image, n);
                if (i % 2 == 0)
                    found->freqs[a * found->pairs + i / 2] = (float)frequency;
                for (uint32_t k = 0; k < n; k++)
                    image[k] -= frequency * partner[k];
            }
            if (scale > 0)
                worst = fmax(worst, commuting_length(image, n) / scale);
        }
    }
    return worst;
}

commuting_status commuting_find(uint32_t size, uint32_t axes, const double *generators, commuting *found) {
    static const double PLANE_ERROR = 1e-7; // well below what fp32 frequencies and vectors show
    struct search search = {.size = size, .axes = axes, .generators = generators};
    memset(found, 0, sizeof(*found));
    if (size < 2 || size > MAX || axes < 1 || axes > ROPE2D_MAX_AXES)
        return COMMUTING_SIZE;
    commuting_status status = check(&search, found);
    if (status != COMMUTING_OK)
        return status;
    found->size = size;
    found->pairs = size / 2;
    found->spec = (rope2d_spec){.struct_size = sizeof(found->spec), .head_dim = size, .axes = axes};
    found->spec.rotary_dim = 2 * found->pairs;
    found->spec.freqs = found->freqs;
    for (uint32_t attempt = 0; attempt < TRIES; attempt++) {
        add_up(&search, attempt);
        commuting_diagonalise(&search);
        commuting_choose_basis(&search, found);
        if (search.chosen == size && read_frequencies(&search, found) < PLANE_ERROR)
            return COMMUTING_OK;
    }
    return COMMUTING_NOT_SEPARATED;
}

void commuting_enter(const commuting *found, const float *from, float *to) {
    for (uint32_t i = 0; i < found->size; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < found->size; k++)
            sum += found->basis[i * found->size + k] * from[k];
        to[i] = (float)sum;
    }
}

void commuting_leave(const commuting *found, const float *from, float *to) {
    for (uint32_t k = 0; k < found->size; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < found->size; i++)
            sum += found->basis[i * found->size + k] * from[i];
        to[k] = (float)sum;
    }
}

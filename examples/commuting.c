// SPDX-License-Identifier: MIT
//
// A generic sum C of the generators has the same invariant planes as all of them. The eigenvectors of the
// symmetric C^T C span those planes; in each, u and v = C u / |C u| are a pair, and v^T Ba u its frequency.
#include "commuting.h"

#include <math.h>
#include <string.h>

enum { MAX = COMMUTING_MAX_SIZE, SWEEPS = 60, TRIES = 4 };

static const double SAME = 1e-9;     // relative size of what counts as rounding
static const double SLOWEST = 1e-7;  // relative frequency that counts as 0
static const double LEFT_OVER = 0.1; // length that a vector keeps outside the planes found, to begin a plane

struct search {
    uint32_t size, axes, chosen; // vectors of the basis so far
    const double *generators;
    double sum[MAX * MAX];     // C
    double square[MAX * MAX];  // C^T C, then diagonal
    double vectors[MAX * MAX]; // its eigenvectors, a row each
};

static double length(const double *a, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

static double product(const double *a, const double *b, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void transform(const double *matrix, const double *from, uint32_t n, double *to) {
    for (uint32_t i = 0; i < n; i++)
        to[i] = product(matrix + (size_t)i * n, from, n);
}

static int is_skew(const double *matrix, uint32_t n) {
    double largest = length(matrix, n * n);
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
            if (size > SAME * length(first, n * n) * length(second, n * n))
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
        double size = length(generator, n * n), weight = 1 + 0.6180339887 * sin(1.7 * a + 2.3 * attempt + 1);
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
static void diagonalise(struct search *search) {
    uint32_t n = search->size;
    memset(search->vectors, 0, sizeof(search->vectors));
    for (uint32_t i = 0; i < n; i++)
        search->vectors[i * n + i] = 1;
    double scale = length(search->square, n * n);
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
            double part = product(base, vector, n);
            for (uint32_t k = 0; k < n; k++)
                vector[k] -= part * base[k];
        }
    return length(vector, n);
}

static void choose(struct search *search, commuting *found, const double *vector, double size) {
    double *base = found->basis + (size_t)search->chosen++ * search->size;
    for (uint32_t k = 0; k < search->size; k++)
        base[k] = vector[k] / size;
}

// Planes from the fastest to the slowest. Vectors that turn with none come last.
static void choose_basis(struct search *search, commuting *found) {
    uint32_t n = search->size;
    int used[MAX] = {0};
    double scale = length(search->sum, n * n);
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
        transform(search->sum, found->basis + (size_t)(search->chosen - 1) * n, n, v);
        if (length(v, n) <= SLOWEST * scale)
            continue; // turns with none
        choose(search, found, v, project_out(search, found, v));
    }
}

// How far the generators are from turning just these planes; fills the frequencies.
static double read_frequencies(const struct search *search, commuting *found) {
    uint32_t n = search->size;
    double worst = 0;
    for (uint32_t a = 0; a < search->axes; a++) {
        const double *generator = search->generators + (size_t)a * n * n;
        double scale = length(generator, n * n);
        for (uint32_t i = 0; i < n; i++) {
            double *own = found->basis + (size_t)i * n, *partner = found->basis + (size_t)(i ^ 1) * n,
                   image[MAX];
            transform(generator, own, n, image);
            if (i / 2 < found->pairs) {
                double frequency = product(partner, image, n);
                if (i % 2 == 0)
                    found->freqs[a * found->pairs + i / 2] = (float)frequency;
                for (uint32_t k = 0; k < n; k++)
                    image[k] -= frequency * partner[k];
            }
            if (scale > 0)
                worst = fmax(worst, length(image, n) / scale);
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
        diagonalise(&search);
        choose_basis(&search, found);
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

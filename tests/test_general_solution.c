// SPDX-License-Identifier: MIT
//
// The general solution exp(x B1 + y B2 + ...): random commuting skew-symmetric matrices, whose basis and
// frequencies examples/commuting.c finds, against a matrix exponential that knows of neither.
#include "../examples/commuting.h"
#include "counter.h"
#include "matrix.h"
#include "rotations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS = 4, AXES = ROPE2D_MAX_AXES };

// How the frequencies of the pairs are alike.
enum kind { DISTINCT, ALIKE, OPPOSITE, AT_REST, ALL_AT_REST, KINDS };
static const char *const kind_names[] = {"distinct", "alike", "opposite", "at rest", "all at rest"};

static rope2d_device *device;
static double generators[AXES * MATRIX_AREA];
static commuting found;

static double frequency_of(enum kind kind, uint64_t seed, uint32_t axis, uint32_t pair) {
    double own = counter_uniform(counter_word(seed, 8 + axis, pair));
    double first = counter_uniform(counter_word(seed, 8 + axis, 0));
    switch (kind) {
    case ALIKE: // in groups of three
        return counter_uniform(counter_word(seed, 8 + axis, pair / 3));
    case OPPOSITE:
        return pair % 2 ? -first : first;
    case AT_REST:
        return pair % 3 == 1 ? 0 : own;
    case ALL_AT_REST:
        return 0;
    default:
        return own;
    }
}

// Q^T (blocks of f [0 -1; 1 0]) Q for a random orthogonal Q.
static void make_generators(uint32_t size, uint32_t axes, enum kind kind, uint64_t seed) {
    static double basis[MATRIX_AREA];
    matrix_random_orthogonal(seed, size, basis);
    memset(generators, 0, sizeof(generators));
    for (uint32_t a = 0; a < axes; a++)
        for (uint32_t i = 0; i < size / 2; i++) {
            double f = frequency_of(kind, seed, a, i);
            const double *u = basis + (size_t)2 * i * size, *v = u + size;
            for (uint32_t r = 0; r < size; r++)
                for (uint32_t c = 0; c < size; c++)
                    generators[(a * size + r) * size + c] += f * (v[r] * u[c] - u[r] * v[c]);
        }
}

// The largest difference between what the spec turns and what the exponential does, over the vectors' length.
static double difference(uint32_t size, uint32_t axes, uint64_t seed) {
    static double sum[MATRIX_AREA], exponential[MATRIX_AREA];
    float vectors[TOKENS][MATRIX_MAX], inside[TOKENS * MATRIX_MAX], coordinates[TOKENS * AXES];
    counter_fill(vectors, COUNTER_F32, COUNTER_BELL, seed, 2, 0, sizeof(vectors) / sizeof(float));
    for (uint32_t i = 0; i < TOKENS * axes; i++)
        coordinates[i] = (float)counter_below(counter_word(seed, 3, i), 41) - 20;
    for (int t = 0; t < TOKENS; t++)
        commuting_enter(&found, vectors[t], inside + (size_t)t * size);
    if (!rotate(device, &found.spec, coordinates, TOKENS, inside, inside))
        return INFINITY;
    double largest = 0;
    for (uint32_t t = 0; t < TOKENS; t++) {
        memset(sum, 0, sizeof(sum));
        for (uint32_t a = 0; a < axes; a++)
            for (uint32_t i = 0; i < size * size; i++)
                sum[i] += (double)coordinates[t * axes + a] * generators[a * size * size + i];
        matrix_exponential(sum, size, exponential);
        float outside[MATRIX_MAX];
        commuting_leave(&found, inside + (size_t)t * size, outside);
        for (uint32_t r = 0; r < size; r++) {
            double expected = 0;
            for (uint32_t c = 0; c < size; c++)
                expected += exponential[r * size + c] * vectors[t][c];
            largest = fmax(largest, fabs(outside[r] - expected) / norm(vectors[t], size));
        }
    }
    return largest;
}

static double basis_error(uint32_t size) {
    double largest = 0;
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++) {
            double product = 0;
            for (uint32_t k = 0; k < size; k++)
                product += found.basis[i * size + k] * found.basis[j * size + k];
            largest = fmax(largest, fabs(product - (i == j)));
        }
    return largest;
}

static void test_found(uint32_t size, uint32_t axes, enum kind kind, uint64_t seed) {
    char name[96];
    snprintf(name, sizeof(name), "%u x %u, %u axes, frequencies %s", size, size, axes, kind_names[kind]);
    make_generators(size, axes, kind, seed);
    commuting_status status = commuting_find(size, axes, generators, &found);
    CHECK(status == COMMUTING_OK, "%s: status %d", name, (int)status);
    if (status != COMMUTING_OK)
        return;
    CHECK(basis_error(size) < 1e-12, "%s: the basis is off by %g", name, basis_error(size));
    // Angles up to 20 radians an axis from frequencies rounded to fp32.
    double error = difference(size, axes, seed), allowed = 1e-6 * (1 + axes);
    CHECK(error < allowed, "%s: off by %g", name, error);
    if (kind != DISTINCT)
        return;

    uint32_t fast = 0; // a pair whose fault shows
    for (uint32_t i = 1; i < found.pairs; i++)
        fast = fabsf(found.freqs[i]) > fabsf(found.freqs[fast]) ? i : fast;
    float right = found.freqs[fast];
    found.freqs[fast] = -right;
    CHECK(difference(size, axes, seed) > 1e-3, "%s: a wrong sign is missed", name);
    found.freqs[fast] = right * 1.01f;
    CHECK(difference(size, axes, seed) > 1e-3, "%s: a wrong frequency is missed", name);
    if (axes > 1) {
        found.freqs[fast] = found.freqs[found.pairs + fast];
        found.freqs[found.pairs + fast] = right;
        CHECK(difference(size, axes, seed) > 1e-3, "%s: a wrong axis is missed", name);
    }
}

// --------------------------------------------------------------------------------------------- refusals

// A second matrix that is turned away from the first by `angle`: from a hair's breadth to a right angle.
static void test_refused(uint32_t size, double angle) {
    static double turning[MATRIX_AREA], turned[MATRIX_AREA], other[MATRIX_AREA];
    size_t area = (size_t)size * size;
    make_generators(size, 2, DISTINCT, size);
    memset(turning, 0, sizeof(turning));
    turning[2] = -angle; // of vectors 0 and 2
    turning[2 * size] = angle;
    matrix_exponential(turning, size, other);
    double *second = generators + area;
    matrix_multiply(other, second, size, turned);
    matrix_transpose(other, size, turning);
    matrix_multiply(turned, turning, size, second);

    matrix_multiply(generators, second, size, turned);
    matrix_multiply(second, generators, size, other);
    for (uint32_t i = 0; i < area; i++)
        turned[i] -= other[i];
    double expected = matrix_norm(turned, size);
    commuting_status status = commuting_find(size, 2, generators, &found);
    CHECK(status == COMMUTING_DO_NOT, "turned by %g: status %d", angle, (int)status);
    CHECK(fabs(found.commutator - expected) <= 1e-9 * expected, "turned by %g: commutator %g, not %g", angle,
          found.commutator, expected);
}

static void test_other_refusals(void) {
    const double skew[4] = {0, -1, 1, 0}, not_skew[4] = {0, -1, 1.5, 0}, diagonal[4] = {1, -1, 1, 0};
    const double not_a_number[4] = {0, NAN, NAN, 0};
    CHECK(commuting_find(2, 1, skew, &found) == COMMUTING_OK, "a turn of one plane");
    CHECK(commuting_find(2, 1, not_skew, &found) == COMMUTING_NOT_SKEW, "not skew-symmetric");
    CHECK(commuting_find(2, 1, diagonal, &found) == COMMUTING_NOT_SKEW, "a diagonal that is not 0");
    CHECK(commuting_find(2, 1, not_a_number, &found) == COMMUTING_NOT_SKEW, "NaN");
    CHECK(commuting_find(1, 1, skew, &found) == COMMUTING_SIZE, "one channel");
    CHECK(commuting_find(COMMUTING_MAX_SIZE + 1, 1, skew, &found) == COMMUTING_SIZE, "too large");
    CHECK(commuting_find(2, 5, skew, &found) == COMMUTING_SIZE, "too many axes");
}

int main(void) {
    static const uint32_t sizes[] = {2, 3, 4, 7, 16, 33, 64};
    device = rotations_open();
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]) && device != NULL; s++)
        for (uint32_t axes = 1; axes <= AXES; axes++)
            for (int kind = 0; kind < KINDS; kind++)
                test_found(sizes[s], axes, (enum kind)kind, 100 * s + axes);
    for (double angle = 1.5; angle > 1e-6; angle /= 10) {
        test_refused(4, angle);
        test_refused(32, angle);
    }
    test_other_refusals();
    return rotations_finish(device);
}

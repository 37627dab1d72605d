// SPDX-License-Identifier: MIT
//
// Maps that look like a 2D rotary embedding and are none, or lose something, each failing as the mathematics
// says: flattening, adding the coordinates, the quaternion product, two angles to a pair.
#include "counter.h"
#include "rotations.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 16, CHANNELS = 2 * PAIRS, WIDTH = 16, TOKENS = 4 };

static rope2d_device *device;
static float u[CHANNELS], v[CHANNELS];

// base^(-j / count)
static float frequency(uint32_t j, uint32_t count) {
    return (float)pow(100, -(double)j / count);
}

static rope2d_spec spec_of(uint32_t axes, const float *freqs) {
    return (rope2d_spec){sizeof(rope2d_spec), .head_dim = CHANNELS, .axes = axes, .freqs = freqs};
}

// (R(p) u).(R(q) v) / (|u| |v|)
static double score(const rope2d_spec *spec, const float *p, const float *q) {
    float coordinates[2 * ROPE2D_MAX_AXES], both[2 * CHANNELS];
    memcpy(both, u, sizeof(u));
    memcpy(both + CHANNELS, v, sizeof(v));
    memcpy(coordinates, p, spec->axes * sizeof(float));
    memcpy(coordinates + spec->axes, q, spec->axes * sizeof(float));
    if (!rotate(device, spec, coordinates, 2, both, both))
        return NAN;
    return dot(both, both + CHANNELS, CHANNELS) / (norm(u, CHANNELS) * norm(v, CHANNELS));
}

static double axial_score(float px, float py, float qx, float qy) {
    static float freqs[2][PAIRS];
    memset(freqs, 0, sizeof(freqs));
    for (uint32_t i = 0; i < PAIRS; i++)
        freqs[i * 2 / PAIRS][i] = frequency(i % (PAIRS / 2), PAIRS / 2);
    rope2d_spec spec = spec_of(2, freqs[0]);
    return score(&spec, (float[]){px, py}, (float[]){qx, qy});
}

static double flat_score(float width, float px, float py, float qx, float qy) {
    static float freqs[PAIRS];
    for (uint32_t i = 0; i < PAIRS; i++)
        freqs[i] = frequency(i, PAIRS);
    rope2d_spec spec = spec_of(1, freqs);
    return score(&spec, (float[]){px * width + py}, (float[]){qx * width + qy});
}

// x * width + y is relative in x and y for one width; what it loses are which displacement it was, and the
// meaning of a displacement on a grid of another width.
static void test_flattening(void) {
    // One step along y, and the step from the end of a row to the start of the next, are one and the same.
    double step = flat_score(WIDTH, 0, 0, 0, 1), wrap = flat_score(WIDTH, 0, WIDTH - 1, 1, 0);
    CHECK(fabs(step - wrap) < 2e-6, "flattened: a step is %g, from the end of a row to the next %g", step,
          wrap);
    step = axial_score(0, 0, 0, 1);
    wrap = axial_score(0, WIDTH - 1, 1, 0);
    CHECK(fabs(step - wrap) > 0.01, "axial: a step is %g, from the end of a row to the next %g", step, wrap);

    // The same displacement on a wider grid.
    double narrow = flat_score(WIDTH, 2, 2, 3, 2), wide = flat_score(WIDTH + 1, 2, 2, 3, 2);
    CHECK(fabs(narrow - wide) > 1e-3, "flattened: one row is %g on %d columns, %g on one more", narrow, WIDTH,
          wide);

    // A vector with itself at one step in x or in y: equal in the axial form, 1 and 16 steps when flattened.
    float kept[CHANNELS];
    memcpy(kept, v, sizeof(v));
    for (int i = 0; i < CHANNELS; i++)
        u[i] = v[i] = i % 2 ? 0.0f : 1.0f;
    double along_x = axial_score(0, 0, 1, 0), along_y = axial_score(0, 0, 0, 1);
    CHECK(fabs(along_x - along_y) < 2e-6, "axial: one step is %g in x and %g in y", along_x, along_y);
    along_x = flat_score(WIDTH, 0, 0, 1, 0);
    along_y = flat_score(WIDTH, 0, 0, 0, 1);
    double sum_x = 0, sum_y = 0;
    for (uint32_t i = 0; i < PAIRS; i++) {
        sum_x += cos(WIDTH * (double)frequency(i, PAIRS)) / PAIRS;
        sum_y += cos((double)frequency(i, PAIRS)) / PAIRS;
    }
    CHECK(fabs(along_x - sum_x) < 2e-6 && fabs(along_y - sum_y) < 2e-6 && along_y - along_x > 0.1,
          "flattened: one step is %g in x and %g in y, not %g and %g", along_x, along_y, sum_x, sum_y);
    memcpy(v, kept, sizeof(v));
    memcpy(u, kept, sizeof(u));
}

// Every pair turns by x + y: relative, and blind along the diagonal x + y = constant.
static void test_adding(void) {
    static float freqs[2][PAIRS];
    for (uint32_t i = 0; i < PAIRS; i++)
        freqs[0][i] = freqs[1][i] = frequency(i, PAIRS);
    rope2d_spec spec = spec_of(2, freqs[0]);
    float coordinates[TOKENS][2], out[TOKENS][CHANNELS], in[TOKENS][CHANNELS];
    for (int t = 0; t < TOKENS; t++) {
        coordinates[t][0] = (float)(3 + 40 * t);
        coordinates[t][1] = (float)(4 - 40 * t);
        memcpy(in[t], u, sizeof(u));
    }
    if (!rotate(device, &spec, coordinates[0], TOKENS, in[0], out[0]))
        return;
    for (int t = 1; t < TOKENS; t++)
        CHECK(memcmp(out[0], out[t], sizeof(out[0])) == 0, "x + y: (3, 4) and (%g, %g) differ",
              (double)coordinates[t][0], (double)coordinates[t][1]);
    // The axial form tells them apart.
    double near = axial_score(0, 0, 3, 4), far = axial_score(0, 0, 4, 3);
    CHECK(fabs(near - far) > 0.01, "axial: (3, 4) and (4, 3) are alike: %g, %g", near, far);
}

// ------------------------------------------------------------------------------------- quaternion product

typedef struct quaternion {
    double r, i, j, k;
} quaternion;

static quaternion product(quaternion a, quaternion b) {
    return (quaternion){
        a.r * b.r - a.i * b.i - a.j * b.j - a.k * b.k, a.r * b.i + a.i * b.r + a.j * b.k - a.k * b.j,
        a.r * b.j - a.i * b.k + a.j * b.r + a.k * b.i, a.r * b.k + a.i * b.j - a.j * b.i + a.k * b.r};
}

static quaternion exponential(double i, double j) {
    double angle = hypot(i, j), s = angle > 0 ? sin(angle) / angle : 1;
    return (quaternion){cos(angle), s * i, s * j, 0};
}

static double apart(quaternion a, quaternion b) {
    double r = a.r - b.r, i = a.i - b.i, j = a.j - b.j, k = a.k - b.k;
    return sqrt(r * r + i * i + j * j + k * k);
}

// The size of R(p)^T R(q) - R(q - p), as an operator, for R(x, y) v = e^(xi + yj) v.
static double left_violation(const double *p, const double *q) {
    quaternion before = exponential(-p[0], -p[1]), after = exponential(q[0], q[1]);
    return apart(product(before, after), exponential(q[0] - p[0], q[1] - p[1]));
}

// The same for R(x, y) v = e^(xi) v e^(yj), on one vector: i from the left and j from the right commute.
static double both_violation(const double *p, const double *q, quaternion w) {
    quaternion turned = product(product(exponential(q[0] - p[0], 0), w), exponential(0, q[1] - p[1]));
    w = product(product(exponential(q[0], 0), w), exponential(0, q[1]));
    w = product(product(exponential(-p[0], 0), w), exponential(0, -p[1]));
    return apart(w, turned);
}

static void test_quaternions(void) {
    const quaternion w = {0.5, -0.5, 0.5, 0.5};
    double largest = 0;
    for (uint64_t n = 0; n < 200; n++) {
        double p[2], q[2], tiny_p[2], tiny_q[2];
        for (uint64_t a = 0; a < 2; a++) {
            p[a] = (double)counter_below(counter_word(n, 1, a), 33) - 16;
            q[a] = (double)counter_below(counter_word(n, 2, a), 33) - 16;
            tiny_p[a] = p[a] * 0x1p-20;
            tiny_q[a] = q[a] * 0x1p-20;
        }
        largest = fmax(largest, left_violation(p, q));
        CHECK(both_violation(p, q, w) < 1e-13, "i and j from two sides: %g at (%g, %g), (%g, %g)",
              both_violation(p, q, w), p[0], p[1], q[0], q[1]);
        // e^(-P) e^Q = e^(Q - P - [P, Q]/2 + ...), and [P, Q]/2 = (p0 q1 - p1 q0) k.
        double area = fabs(p[0] * q[1] - p[1] * q[0]), violation = left_violation(tiny_p, tiny_q) * 0x1p40;
        CHECK(fabs(violation - area) <= 1e-4 * area + 1e-3, "e^(xi + yj): off by %g, not %g", violation,
              area);
        double parallel[2] = {-0.75 * p[0], -0.75 * p[1]};
        CHECK(left_violation(p, parallel) < 1e-13, "e^(xi + yj): off by %g along a line",
              left_violation(p, parallel));
    }
    CHECK(largest > 1.9, "e^(xi + yj) breaks relativity by %g at most, and can by 2", largest);
}

// ------------------------------------------------------------------------------------------- two angles

// (1, 0) becomes (cos a, sin b), which is not of length 1, and the direction that undoes it does not exist.
static void test_two_angles(void) {
    float freqs[PAIRS], other[PAIRS], in[CHANNELS], out[CHANNELS];
    for (uint32_t i = 0; i < PAIRS; i++) {
        freqs[i] = frequency(i, PAIRS);
        other[i] = frequency(i + 1, PAIRS);
        in[2 * i] = 1;
        in[2 * i + 1] = 0;
    }
    rope2d_spec spec = spec_of(1, freqs);
    spec.freqs_hi = other;
    const float place = 5;
    if (!rotate(device, &spec, &place, 1, in, out))
        return;
    double furthest = 0;
    for (uint32_t i = 0; i < PAIRS; i++) {
        double c = cos(5 * (double)freqs[i]), s = sin(5 * (double)other[i]),
               is = hypot(out[2 * i], out[2 * i + 1]);
        CHECK(fabs(is - hypot(c, s)) < 1e-6, "two angles: pair %u has length %g, not %g", i, is, hypot(c, s));
        furthest = fmax(furthest, fabs(is - 1));
    }
    CHECK(furthest > 0.1, "two angles: lengths change by %g at most", furthest);
    spec.direction = ROPE2D_INVERSE;
    CHECK(rope2d_spec_check(&spec, NULL) == ROPE2D_ERROR_DIRECTION, "two angles have an inverse");
}

int main(void) {
    device = rotations_open();
    counter_fill(u, COUNTER_F32, COUNTER_BELL, 1, 2, 0, CHANNELS);
    counter_fill(v, COUNTER_F32, COUNTER_BELL, 1, 3, 0, CHANNELS);
    if (device != NULL) {
        test_flattening();
        test_adding();
        test_quaternions();
        test_two_angles();
    }
    return rotations_finish(device);
}

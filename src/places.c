// SPDX-License-Identifier: MIT
//
// From the number of a row, a column or a frame to its coordinate, in double.
#include "places.h"

#include <string.h>

static bool is_finite(double x) {
    return x - x == 0;
}

static bool needs_reference(rope2d_rule rule) {
    return rule == ROPE2D_RULE_FRACTION || rule == ROPE2D_RULE_EXTENT || rule == ROPE2D_RULE_MIDDLE ||
           rule == ROPE2D_RULE_AREA;
}

rope2d_status rope2d_axis_check(const rope2d_axis *axis, const char *name, const rope2d_host *host) {
    if ((uint32_t)axis->counter >= ROPE2D_COUNTER_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "%s.counter is %d: no such counter", name,
                           (int)axis->counter);
    if ((uint32_t)axis->rule >= ROPE2D_RULE_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "%s.rule is %d: no such rule", name, (int)axis->rule);
    if ((uint32_t)axis->normalise >= ROPE2D_NORMALISE_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "%s.normalise is %d: no such way", name,
                           (int)axis->normalise);
    const double numbers[] = {axis->offset, axis->scale, axis->reference, axis->begin, axis->end};
    static const char *const names[] = {"offset", "scale", "reference", "begin", "end"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!is_finite(numbers[i]))
            return rope2d_fail(host, ROPE2D_ERROR_COORDINATE, "%s.%s is NaN or infinite", name, names[i]);
    if (needs_reference(axis->rule) && !(axis->reference > 0))
        return rope2d_fail(host, ROPE2D_ERROR_COORDINATE, "%s.reference is %g; must be above 0", name,
                           axis->reference);
    return ROPE2D_OK;
}

static double square_root(double x) {
    // Newton's iteration from above falls until it rests: correct to the last bits, and the same everywhere.
    double root = x > 1 ? x : 1;
    for (;;) {
        double next = (root + x / root) / 2;
        if (!(next < root))
            return root;
        root = next;
    }
}

// n numbers from -1 to 1.
static double unit(uint32_t i, uint32_t n) {
    return n == 1 ? -1 : -1 + 2.0 * i / (n - 1.0);
}

// PyTorch's kernel for CPUs with vectors of eight floats: whole vectors are counted from their first number
// by a product and a sum that are each rounded, what is left and first numbers by a fused multiply and add,
// from the nearer end. The fused product and sum are exact in double.
float rope2d_linspace_fp32(float begin, float end, uint32_t i, uint32_t n) {
    enum { LANES = 8 };
    if (n < 2)
        return begin;
    float step = (end - begin) / (float)(n - 1);
    bool is_in_vector = n - i / LANES * LANES >= LANES;
    uint32_t first = is_in_vector ? i / LANES * LANES : i;
    float base =
        (float)(first < n / 2 ? begin + (double)step * first : end - (double)step * (n - 1.0 - first));
    return first == i ? base : base + (float)(i - first) * step;
}

// Cut to an integer; beyond 2^53 every double is one.
static double whole(double x) {
    return x < 9007199254740992.0 && x > -9007199254740992.0 ? (double)(int64_t)x : x;
}

static double clamped(double x) {
    return x < 0 ? 0 : x;
}

static uint32_t patch_denominator(const rope2d_axis *axis, uint32_t n, uint32_t rows, uint32_t columns) {
    switch (axis->normalise) {
    case ROPE2D_NORMALISE_MAX:
        return rows > columns ? rows : columns;
    case ROPE2D_NORMALISE_MIN:
        return rows < columns ? rows : columns;
    default:
        return n;
    }
}

double rope2d_axis_place(const rope2d_axis *axis, uint32_t i, uint32_t n, uint32_t rows, uint32_t columns) {
    double scale = axis->scale == 0 ? 1 : axis->scale;
    double offset = axis->offset;
    switch (axis->rule) {
    case ROPE2D_RULE_FRACTION:
        return (i + offset) / n * axis->reference;
    case ROPE2D_RULE_CENTRED:
        return (double)i - (n - n / 2);
    case ROPE2D_RULE_UNIT:
        return axis->is_fp32 ? rope2d_linspace_fp32(-1, 1, i, n) : unit(i, n);
    case ROPE2D_RULE_PATCH:
        return 2 * ((i + 0.5) / patch_denominator(axis, n, rows, columns)) - 1;
    case ROPE2D_RULE_EXTENT:
        return 2 * (i * scale / axis->reference) - 1;
    case ROPE2D_RULE_MIDDLE:
        return 2 * ((clamped(i * scale + offset) + clamped((i + 1.0) * scale + offset)) / 2 /
                    axis->reference) -
               1;
    case ROPE2D_RULE_CROP:
        return axis->begin + i * ((axis->end - axis->begin) / n);
    case ROPE2D_RULE_AREA:
        return (i + 0.5 - n / 2.0) * (axis->reference / square_root((double)rows * columns));
    default:
        return axis->is_whole ? whole((i + offset) * scale) : (i + offset) * scale;
    }
}

rope2d_status rope2d_axis_coordinates(const rope2d_axis *axis, uint32_t n, uint32_t rows, uint32_t columns,
                                      const rope2d_host *host, float *coordinates) {
    ROPE2D_TRY(rope2d_host_check(host));
    if (axis == NULL || (coordinates == NULL && n != 0))
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "%s is NULL", axis == NULL ? "axis" : "coordinates");
    ROPE2D_TRY(rope2d_axis_check(axis, "axis", host));
    bool needs_grid = axis->rule == ROPE2D_RULE_AREA ||
                      (axis->rule == ROPE2D_RULE_PATCH && axis->normalise != ROPE2D_NORMALISE_SEPARATE);
    if (needs_grid && (rows == 0 || columns == 0) && n != 0)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS, "rows is %u, columns is %u: this rule needs both", rows,
                           columns);
    rope2d_control control = rope2d_control_enter();
    for (uint32_t i = 0; i < n; i++) {
        double place =
            axis->counter == ROPE2D_COUNT_NOTHING ? 0 : rope2d_axis_place(axis, i, n, rows, columns);
        coordinates[i] = (float)place;
    }
    rope2d_control_leave(control);
    return ROPE2D_OK;
}

rope2d_status rope2d_keypoints(const float *keypoints, uint64_t count, double width, double height,
                               const rope2d_host *host, float *coordinates) {
    ROPE2D_TRY(rope2d_host_check(host));
    if (count != 0 && (keypoints == NULL || coordinates == NULL))
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "keypoints or coordinates is NULL");
    if (!(width > 0) || !(height > 0) || !is_finite(width) || !is_finite(height))
        return rope2d_fail(host, ROPE2D_ERROR_COORDINATE,
                           "width is %g, height is %g; must be above 0 and finite", width, height);
    for (uint64_t i = 0; i < 2 * count; i++)
        if (!is_finite(keypoints[i]))
            return rope2d_fail(host, ROPE2D_ERROR_COORDINATE, "keypoints[%llu] is NaN or infinite",
                               (unsigned long long)i);
    double half = (width > height ? width : height) / 2;
    rope2d_control control = rope2d_control_enter();
    for (uint64_t i = 0; i < 2 * count; i++)
        coordinates[i] = (float)((keypoints[i] - (i % 2 == 0 ? width : height) / 2) / half);
    rope2d_control_leave(control);
    return ROPE2D_OK;
}

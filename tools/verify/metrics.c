// SPDX-License-Identifier: MIT
#include "metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const verify_class_names[] = {"Inf and NaN", "subnormal",     "signed zero",
                                          "half-edge",   "wide exponent", "normal"};

enum { APART = 24, WIDE = 30 };
#define EDGE_UNITS 3.0

struct measuring {
    struct verify_metrics *metrics;
    int32_t *pair_of;  // [head_dim] -1: not rotated
    uint32_t *partner; // [head_dim] the other channel of the pair, or itself
    double smallest;   // normal of the type that is read
};

static double input_at(const struct harness_work *work, const struct harness_element *element, size_t d) {
    const struct harness_tensor *tensor = &work->tensors[element->tensor];
    enum oracle_type type = (enum oracle_type)work->types.in;
    size_t at = harness_side_at(work, &tensor->in, element->b, element->t, element->h);
    return oracle_decode(type, oracle_load(type, work->blocks[tensor->in.block].memory + at, d));
}

static bool is_subnormal(const struct measuring *measuring, double value) {
    return value != 0 && fabs(value) < measuring->smallest;
}

// Whether the exact result is so near to a tie of the narrower type that fp32's roundings decide.
static bool is_half_edge(const struct harness_work *work, const struct oracle_value *value) {
    enum oracle_type out = (enum oracle_type)work->types.out;
    if (out == ORACLE_F32 || !value || !isfinite(value->value))
        return false;
    double ulp = oracle_ulp(out, value->value), below = floor(fabs(value->value) / ulp) * ulp;
    return fabs(fabs(value->value) - below - ulp / 2) <= EDGE_UNITS * value->unit;
}

static bool is_wide(double a, double b) {
    int first, second;
    (void)frexp(a, &first);
    (void)frexp(b, &second);
    return abs(first - second) >= APART || abs(first) > WIDE || abs(second) > WIDE;
}

static enum verify_class classify(const struct harness_work *work, const struct harness_element *element,
                                  const struct measuring *measuring) {
    double a = input_at(work, element, element->d);
    double b = input_at(work, element, measuring->partner[element->d]);
    if (!isfinite(a) || !isfinite(b))
        return VERIFY_INF_NAN;
    if (is_subnormal(measuring, a) || is_subnormal(measuring, b))
        return VERIFY_SUBNORMAL;
    if (a == 0 || b == 0)
        return VERIFY_SIGNED_ZERO;
    if (is_half_edge(work, element->value))
        return VERIFY_HALF_EDGE;
    return is_wide(a, b) ? VERIFY_WIDE_EXPONENT : VERIFY_NORMAL;
}

static uint64_t count_bits(uint32_t word) {
    uint64_t count = 0;
    for (; word; word &= word - 1)
        ++count;
    return count;
}

static void keep_first(struct verify_class_metrics *metrics, const struct harness_element *element) {
    metrics->has_first = true;
    metrics->got = element->bits;
    metrics->expected = element->expected_bits;
    metrics->oracle = element->value ? element->value->value : NAN;
    snprintf(metrics->place, sizeof metrics->place, "tensor %u, batch %u, token %llu, head %u, channel %zu",
             element->tensor, element->b, (unsigned long long)element->t, element->h, element->d);
}

static void heat_up(struct measuring *measuring, const struct harness_element *element, double error) {
    struct verify_heat *heat = &measuring->metrics->heat;
    int32_t pair = measuring->pair_of[element->d];
    if (pair < 0 || !heat->columns || !heat->rows)
        return;
    size_t row = (size_t)(element->t * heat->rows / heat->tokens);
    size_t column = (size_t)pair * heat->columns / heat->pairs;
    heat->cells[row][column] = fmax(heat->cells[row][column], error);
}

static bool measure_element(const struct harness_work *work, const struct harness_element *element,
                            void *user) {
    struct measuring *measuring = user;
    struct verify_class_metrics *metrics = &measuring->metrics->classes[classify(work, element, measuring)];
    ++metrics->elements;
    bool same = harness_same_bits(work, element, false);
    double error =
        element->value ? oracle_error(element->value, (enum oracle_type)work->types.out, element->bits) : 0;
    if (!same && harness_same_bits(work, element, true)) {
        ++metrics->flushed;
        error = 0;
    }
    if (!same) {
        ++metrics->mismatches;
        ++measuring->metrics->mismatches;
        metrics->bits += count_bits(element->bits ^ element->expected_bits);
    }
    if ((!same || error > ORACLE_LIMIT) && !metrics->has_first)
        keep_first(metrics, element);
    metrics->worst = fmax(metrics->worst, error);
    measuring->metrics->worst = fmax(measuring->metrics->worst, error);
    heat_up(measuring, element, error);
    return true;
}

static void find_partners(struct measuring *measuring, const struct harness_work *work) {
    for (uint32_t d = 0; d < work->spec.spec.head_dim; ++d) {
        measuring->pair_of[d] = -1;
        measuring->partner[d] = d;
    }
    for (uint32_t i = 0; i < work->spec.pairs; ++i) {
        uint32_t lo = work->spec.lo[i], hi = work->spec.hi[i];
        measuring->pair_of[lo] = measuring->pair_of[hi] = (int32_t)i;
        measuring->partner[lo] = hi;
        measuring->partner[hi] = lo;
    }
}

static void size_heat(struct verify_heat *heat, const struct harness_work *work) {
    for (uint32_t i = 0; i < work->tensor_count; ++i)
        heat->tokens = work->tensors[i].tokens > heat->tokens ? work->tensors[i].tokens : heat->tokens;
    heat->pairs = work->spec.pairs;
    heat->rows = heat->tokens < VERIFY_HEAT_ROWS ? (uint32_t)heat->tokens : VERIFY_HEAT_ROWS;
    heat->columns = heat->pairs < VERIFY_HEAT_COLUMNS ? heat->pairs : VERIFY_HEAT_COLUMNS;
}

bool verify_measure(struct verify_metrics *metrics, const struct harness_work *work,
                    const struct harness_truth *truth, unsigned char *const *blocks) {
    static const double smallest[ROPE2D_ELEMENT_COUNT] = {0x1p-126, 0x1p-14, 0x1p-126};
    size_t dim = work->spec.spec.head_dim;
    struct measuring measuring = {.metrics = metrics, .smallest = smallest[work->types.in]};
    struct harness_element element;
    *metrics = (struct verify_metrics){0};
    size_heat(&metrics->heat, work);
    measuring.pair_of = malloc((dim + 1) * sizeof *measuring.pair_of);
    measuring.partner = malloc((dim + 1) * sizeof *measuring.partner);
    bool good = measuring.pair_of && measuring.partner;
    if (good) {
        find_partners(&measuring, work);
        (void)harness_each_element(work, truth, blocks, &element, measure_element, &measuring);
    }
    free(measuring.pair_of);
    free(measuring.partner);
    return good;
}

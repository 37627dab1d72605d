// SPDX-License-Identifier: MIT
#include "oracle.h"
#include "oracle_trig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TABLES 2

// The part that a channel plays in a rotation.
struct role {
    bool rotated;
    bool is_hi;
    size_t pair;
};

struct coefficient {
    double cosine, sine; // the magnitude is in them
};

struct oracle {
    size_t tokens, position_batches, head_dim, pairs, freq_heads, tables;
    enum oracle_direction direction;
    size_t factors; // 0: the coefficients are no products
    int32_t *pair_lo, *pair_hi;
    struct role *roles;                           // [head_dim]
    bool *unrotated;                              // [tokens]
    struct coefficient *coefficients[MAX_TABLES]; // [position_batches][tokens][freq_heads][pairs]
};

static bool valid(const struct oracle_rotation *r) {
    if (r->tables < 1 || r->tables > MAX_TABLES || r->position_batches < 1 || r->freq_heads < 1)
        return false;
    if (r->direction == ORACLE_INVERSE && (r->tables != 1 || r->magnitude == 0))
        return false;
    for (size_t i = 0; i < r->unrotated_count; i++)
        if (r->unrotated[i].begin > r->unrotated[i].end || r->unrotated[i].end > r->tokens)
            return false;
    return true;
}

static bool take_role(struct oracle *oracle, int32_t channel, size_t pair, bool is_hi) {
    if (channel < 0 || (size_t)channel >= oracle->head_dim || oracle->roles[channel].rotated)
        return false;
    oracle->roles[channel] = (struct role){true, is_hi, pair};
    return true;
}

static double angle_fp32(const struct oracle_rotation *r, const float *freqs, const float *coordinates) {
    volatile float sum = 0.0f;
    for (size_t axis = 0; axis < r->axes; axis++) {
        float freq = freqs[axis * r->freq_heads * r->pairs];
        if (freq == 0)
            continue;
        volatile float product = coordinates[axis] * freq;
        sum = sum + product;
    }
    return (double)sum;
}

// The sum of the angles of fp32 factors.
static double angle_of_factors(const struct oracle_rotation *r, const float *freqs,
                               const float *coordinates) {
    double sum = 0;
    for (size_t axis = 0; axis < r->axes; axis++) {
        volatile float product = coordinates[axis] * freqs[axis * r->freq_heads * r->pairs];
        sum += (double)product;
    }
    return sum;
}

// The product of two fp32 numbers is exact in double.
static double angle_double(const struct oracle_rotation *r, const float *freqs, const float *coordinates) {
    volatile double sum = 0.0;
    for (size_t axis = 0; axis < r->axes; axis++) {
        double freq = (double)freqs[axis * r->freq_heads * r->pairs];
        if (freq != 0)
            sum = sum + (double)coordinates[axis] * freq;
    }
    return sum;
}

static double magnitude_of(const struct oracle_rotation *r, size_t row, size_t pair) {
    double magnitude = r->magnitude;
    if (r->magnitudes != NULL)
        magnitude *= (double)r->magnitudes[row * r->pairs + pair];
    return magnitude;
}

static bool fill_table(const struct oracle *oracle, const struct oracle_rotation *r, size_t table,
                       struct oracle_trig *trig) {
    const float *freqs = r->freqs + table * r->axes * r->freq_heads * r->pairs;
    struct coefficient *out = oracle->coefficients[table];
    for (size_t row = 0; row < r->position_batches * r->tokens; row++) {
        const float *coordinates = r->coordinates + row * r->axes;
        if (oracle->unrotated[row % r->tokens]) {
            out += r->freq_heads * r->pairs;
            continue;
        }
        for (size_t column = 0; column < r->freq_heads * r->pairs; column++, out++) {
            double angle = r->angle != ORACLE_ANGLE_FP32 ? angle_double(r, freqs + column, coordinates)
                           : r->factored                 ? angle_of_factors(r, freqs + column, coordinates)
                                                         : angle_fp32(r, freqs + column, coordinates);
            double magnitude = magnitude_of(r, row, column % r->pairs);
            if (r->direction == ORACLE_INVERSE && magnitude == 0)
                return false;
            oracle_trig_eval(trig, angle, &out->cosine, &out->sine);
            out->cosine = r->direction == ORACLE_INVERSE ? out->cosine / magnitude : out->cosine * magnitude;
            out->sine = r->direction == ORACLE_INVERSE ? out->sine / magnitude : out->sine * magnitude;
        }
    }
    return true;
}

static bool allocate(struct oracle *oracle) {
    size_t rows = oracle->position_batches * oracle->tokens * oracle->freq_heads * oracle->pairs;
    oracle->pair_lo = calloc(oracle->pairs + 1, sizeof(*oracle->pair_lo));
    oracle->pair_hi = calloc(oracle->pairs + 1, sizeof(*oracle->pair_hi));
    oracle->roles = calloc(oracle->head_dim + 1, sizeof(*oracle->roles));
    oracle->unrotated = calloc(oracle->tokens + 1, sizeof(*oracle->unrotated));
    for (size_t table = 0; table < oracle->tables; table++) {
        oracle->coefficients[table] = calloc(rows + 1, sizeof(struct coefficient));
        if (oracle->coefficients[table] == NULL)
            return false;
    }
    return oracle->pair_lo != NULL && oracle->pair_hi != NULL && oracle->roles != NULL &&
           oracle->unrotated != NULL;
}

static bool fill(struct oracle *oracle, const struct oracle_rotation *r, struct oracle_trig *trig) {
    if (trig == NULL || !allocate(oracle))
        return false;
    for (size_t pair = 0; pair < r->pairs; pair++) {
        oracle->pair_lo[pair] = r->pair_lo[pair];
        oracle->pair_hi[pair] = r->pair_hi[pair];
        if (!take_role(oracle, r->pair_lo[pair], pair, false) ||
            !take_role(oracle, r->pair_hi[pair], pair, true))
            return false;
    }
    for (size_t i = 0; i < r->unrotated_count; i++)
        for (size_t token = r->unrotated[i].begin; token < r->unrotated[i].end; token++)
            oracle->unrotated[token] = true;
    for (size_t table = 0; table < r->tables; table++)
        if (!fill_table(oracle, r, table, trig))
            return false;
    return true;
}

struct oracle *oracle_create(const struct oracle_rotation *rotation) {
    if (!valid(rotation))
        return NULL;
    struct oracle *oracle = calloc(1, sizeof(*oracle));
    if (oracle == NULL)
        return NULL;
    oracle->tokens = rotation->tokens;
    oracle->position_batches = rotation->position_batches;
    oracle->head_dim = rotation->head_dim;
    oracle->pairs = rotation->pairs;
    oracle->freq_heads = rotation->freq_heads;
    oracle->tables = rotation->tables;
    oracle->direction = rotation->direction;
    oracle->factors = rotation->factored ? rotation->axes : 0;

    struct oracle_trig *trig = oracle_trig_create();
    bool filled = fill(oracle, rotation, trig);
    oracle_trig_destroy(trig);
    if (!filled) {
        oracle_destroy(oracle);
        return NULL;
    }
    return oracle;
}

void oracle_destroy(struct oracle *oracle) {
    if (oracle == NULL)
        return;
    for (size_t table = 0; table < MAX_TABLES; table++)
        free(oracle->coefficients[table]);
    free(oracle->unrotated);
    free(oracle->roles);
    free(oracle->pair_hi);
    free(oracle->pair_lo);
    free(oracle);
}

// A term as fp32 multiplication forms it as far as its class goes. The product of two fp32 numbers is exact
// in double.
static double with_class_of_product(double coefficient, double input, double exact) {
    if (fabs(exact) < ldexp(1.0, 126))
        return exact;
    double product = oracle_decode(ORACLE_F32, oracle_encode(ORACLE_F32, coefficient)) * input;
    if (isnan(product))
        return product;
    if (fabs(product) >= oracle_overflow(ORACLE_F32))
        return product < 0 ? -(double)INFINITY : (double)INFINITY;
    return exact;
}

// A coefficient below the smallest normal is a multiple of 2^-149, so its rounding is no longer relative to
// it.
static double subnormal_allowance(double coefficient, double input) {
    if (coefficient == 0 || fabs(coefficient) >= ldexp(1.0, -126) || !isfinite(input))
        return 0;
    return fabs(input) * ldexp(1.0, -150);
}

static struct oracle_value combine(double of_lo, double lo, double of_hi, double hi) {
    struct oracle_value out = {0};
    double first = of_lo * lo;
    double second = of_hi * hi;
    out.unit = oracle_ulp(ORACLE_F32, fabs(first) + fabs(second)) + subnormal_allowance(of_lo, lo) +
               subnormal_allowance(of_hi, hi);
    out.value = with_class_of_product(of_lo, lo, first) + with_class_of_product(of_hi, hi, second);
    return out;
}

// The unit of a rotation whose coefficients are products of n complex factors. Rounding a factor moves it by
// at most u = 2^-24 of its length, multiplying two in floating point by at most sqrt(5) u of the product's
// (Brent, Percival and Zimmermann, "Error bounds on complex floating-point multiplication", 2007), and the
// rotation's own three roundings by 2 u: in all n + sqrt(5) (n - 1) + 2 times u times the length of (lo, hi),
// since neither sum depends on how small the coefficient before it is.
static double unit_of_factors(size_t factors, double magnitude, double lo, double hi) {
    double length = magnitude * sqrt(lo * lo + hi * hi);
    double roundings = (double)factors + sqrt(5.0) * (double)(factors - 1) + 2;
    return oracle_ulp(ORACLE_F32, length) * fmax(1, roundings / ORACLE_LIMIT);
}

static struct oracle_value rotated(const struct oracle *oracle, size_t at, const struct role *role,
                                   const double *inputs) {
    struct coefficient for_lo = oracle->coefficients[0][at];
    struct coefficient for_hi = oracle->coefficients[oracle->tables - 1][at];
    double lo = inputs[oracle->pair_lo[role->pair]];
    double hi = inputs[oracle->pair_hi[role->pair]];
    struct oracle_value out;
    if (oracle->direction == ORACLE_FORWARD)
        out = role->is_hi ? combine(for_hi.sine, lo, for_hi.cosine, hi)
                          : combine(for_lo.cosine, lo, -for_lo.sine, hi);
    else // The columns of the forward map. Those of a single table are R(-angle), and an inverse has no
         // other.
        out = role->is_hi ? combine(-for_lo.sine, lo, for_hi.cosine, hi)
                          : combine(for_lo.cosine, lo, for_hi.sine, hi);
    if (oracle->factors > 1) {
        const struct coefficient *its = role->is_hi ? &for_hi : &for_lo;
        double magnitude = sqrt(its->cosine * its->cosine + its->sine * its->sine);
        out.unit = fmax(out.unit, unit_of_factors(oracle->factors, magnitude, lo, hi));
    }
    return out;
}

void oracle_rotate(const struct oracle *oracle, size_t batch, size_t token, size_t head, const double *inputs,
                   struct oracle_value *outputs) {
    size_t position_batch = oracle->position_batches == 1 ? 0 : batch;
    size_t freq_head = oracle->freq_heads == 1 ? 0 : head;
    size_t row = (position_batch * oracle->tokens + token) * oracle->freq_heads + freq_head;
    for (size_t channel = 0; channel < oracle->head_dim; channel++) {
        const struct role *role = &oracle->roles[channel];
        if (!role->rotated || oracle->unrotated[token])
            outputs[channel] = (struct oracle_value){.value = inputs[channel], .copied = true};
        else
            outputs[channel] = rotated(oracle, row * oracle->pairs + role->pair, role, inputs);
    }
}

// How far an actual value is from the expected one, less what rounding to a narrow type allows.
static double excess(const struct oracle_value *expected, enum oracle_type type, double actual) {
    if (isinf(actual)) {
        if ((actual < 0) != (expected->value < 0))
            return (double)INFINITY;
        return oracle_overflow(type) - fabs(expected->value);
    }
    double narrowing = 0;
    if (type != ORACLE_F32)
        narrowing = 0.5 * oracle_ulp(type, fabs(expected->value) + ORACLE_LIMIT * expected->unit);
    return fabs(actual - expected->value) - narrowing;
}

double oracle_error(const struct oracle_value *expected, enum oracle_type type, uint32_t bits) {
    double actual = oracle_decode(type, bits);
    double wrong = (double)INFINITY;
    if (isnan(expected->value))
        return isnan(actual) ? 0 : wrong;
    if (isnan(actual))
        return wrong;
    if (expected->copied)
        return bits == oracle_encode(type, expected->value) ? 0 : wrong;
    if (isinf(expected->value))
        return actual == expected->value ? 0 : wrong;
    double error = excess(expected, type, actual);
    return error > 0 ? error / expected->unit : 0;
}

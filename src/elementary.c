// SPDX-License-Identifier: MIT
#include "elementary.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "rope2d: elementary.c needs IEEE arithmetic: compile without -ffast-math, /fp:fast and their like"
#endif
#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
#error "rope2d: elementary.c: excess precision; on 32-bit x86 compile with -msse2 -mfpmath=sse"
#endif
#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || DBL_MAX_EXP != 1024
#error "rope2d: elementary.c needs IEEE binary64 doubles"
#endif

/* gcc does not know this pragma, and obeys -ffp-contract=off instead. */
#if defined(_MSC_VER) && !defined(__clang__)
#pragma fp_contract(off)
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/*
 * Constants. Each pair is an exact rational, or the constant to 2,000 bits (mpmath), rounded to the nearest
 * double, and what then remained rounded to the nearest double again.
 */

/* The unevaluated sum of two doubles, |low| at most half an ulp of high: about 106 bits. */
struct double_double {
    double high, low;
};

static const struct double_double HALF_PI = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
static const struct double_double LN_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const double LOG2_E = 0x1.71547652b82fep+0;
static const double SQRT_2 = 0x1.6a09e667f3bcdp+0;

/* 1/n! for n = 0, 1, ..., the Taylor coefficients of exp, sin and cos. */
static const struct double_double INVERSE_FACTORIALS[] = {
    {0x1p+0, 0.0},
    {0x1p+0, 0.0},
    {0x1p-1, 0.0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
    {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
    {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
    {0x1.ae7f3e733b81fp-41, 0x1.1d8656b0ee8cbp-97},
    {0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
    {0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103},
    {0x1.6827863b97d97p-53, 0x1.eec01221a8b0bp-107},
    {0x1.2f49b46814157p-57, 0x1.2650f61dbdcb4p-112},
    {0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
    {0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120},
    {0x1.0ce396db7f853p-70, -0x1.aebcdbd20331cp-124},
    {0x1.761b41316381ap-75, -0x1.3423c7d91404fp-130},
};

/* 1/(2n+1) for n = 0, 1, ..., the Taylor coefficients of atanh. */
static const struct double_double INVERSE_ODDS[] = {
    {0x1p+0, 0.0},
    {0x1.5555555555555p-2, 0x1.5555555555555p-56},
    {0x1.999999999999ap-3, -0x1.999999999999ap-57},
    {0x1.2492492492492p-3, 0x1.2492492492492p-57},
    {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},
    {0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59},
    {0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58},
    {0x1.1111111111111p-4, 0x1.1111111111111p-60},
    {0x1.e1e1e1e1e1e1ep-5, 0x1.e1e1e1e1e1e1ep-61},
    {0x1.af286bca1af28p-5, 0x1.af286bca1af28p-59},
    {0x1.8618618618618p-5, 0x1.8618618618618p-59},
    {0x1.642c8590b2164p-5, 0x1.642c8590b2164p-60},
    {0x1.47ae147ae147bp-5, -0x1.eb851eb851eb8p-61},
    {0x1.2f684bda12f68p-5, 0x1.2f684bda12f68p-59},
    {0x1.1a7b9611a7b96p-5, 0x1.1a7b9611a7b96p-61},
};

/* The first 1,184 binary digits of 2/pi = 0.6366..., after 64 zeros, so that a window may begin before the
 * binary point. */
enum { TWO_OVER_PI_ZEROS = 64, WINDOW_WORDS = 6 };
static const uint32_t TWO_OVER_PI[] = {
    0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
    0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046,
};

/* Bits of a double. */

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double absolute(double x) {
    return double_of(bits_of(x) & UINT64_MAX >> 1);
}

static double infinity(void) {
    return double_of(UINT64_C(0x7ff) << 52);
}

static double not_a_number(void) {
    return double_of(UINT64_C(0xfff) << 51);
}

/* 2^n for a normal result: n from -1022 to 1023. */
static double power_of_two(int n) {
    return double_of((uint64_t)(n + 1023) << 52);
}

/* The nearest integer, for |x| below 2^51. */
static double nearest_integer(double x) {
    const double magic = 0x1.8p+52;
    return (x + magic) - magic;
}

/* Double-double arithmetic. The two sums and the product of doubles are exact; the others err by a few
 * 2^-104. */

/* a + b, where |a| >= |b| or a is zero. */
static struct double_double quick_sum(double a, double b) {
    const double high = a + b;
    return (struct double_double){high, b - (high - a)};
}

static struct double_double exact_sum(double a, double b) {
    const double high = a + b;
    const double b_part = high - a;
    const double a_part = high - b_part;
    return (struct double_double){high, (a - a_part) + (b - b_part)};
}

/* The upper half of a's significand, so that products of halves are exact; for |a| below 2^995. */
static double upper_half(double a) {
    const double scaled = a * 0x1.0000002p+27;
    return scaled - (scaled - a);
}

static struct double_double exact_product(double a, double b) {
    const double product = a * b;
    const double a1 = upper_half(a), a2 = a - a1;
    const double b1 = upper_half(b), b2 = b - b1;
    return (struct double_double){product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

static struct double_double add(struct double_double a, struct double_double b) {
    const struct double_double sum = exact_sum(a.high, b.high);
    return quick_sum(sum.high, sum.low + (a.low + b.low));
}

static struct double_double multiply(struct double_double a, struct double_double b) {
    const struct double_double product = exact_product(a.high, b.high);
    return quick_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static struct double_double scale(struct double_double a, double factor) {
    return multiply(a, (struct double_double){factor, 0.0});
}

static struct double_double negate(struct double_double a) {
    return (struct double_double){-a.high, -a.low};
}

static struct double_double divide(struct double_double a, struct double_double b) {
    const double quotient = a.high / b.high;
    const struct double_double remainder = add(a, negate(scale(b, quotient)));
    return quick_sum(quotient, remainder.high / b.high);
}

/* The sum of coefficients[n * stride] x^n over n < terms; those from n = precise on are too small to need
 * more than doubles. */
static struct double_double series(const struct double_double *coefficients, int stride, int terms,
                                   int precise, struct double_double x) {
    double tail = 0.0;
    for (int n = terms - 1; n >= precise; n--)
        tail = tail * x.high + coefficients[n * stride].high;
    struct double_double sum = {tail, 0.0};
    for (int n = precise - 1; n >= 0; n--)
        sum = add(coefficients[n * stride], multiply(sum, x));
    return sum;
}

/* Sine and cosine. */

/* significand * 2^exponent * 2/pi modulo 4: 192 bits, of which 2 stand before the binary point. The error is
 * below 2^-137, and no double above pi/4 is nearer than 2^-62 to a whole number of quarter turns. */
static void multiply_window(uint64_t significand, int exponent, uint32_t product[WINDOW_WORDS]) {
    /* The window's first digit weighs 2 quarter turns; digits before it, times an integer, are multiples
     * of 4. */
    const int first = exponent - 2 + TWO_OVER_PI_ZEROS;
    const uint32_t *word = TWO_OVER_PI + first / 32;
    const int shift = first % 32;
    const uint64_t factors[2] = {significand & UINT32_MAX, significand >> 32};

    memset(product, 0, WINDOW_WORDS * sizeof *product);
    for (int f = 0; f < 2; f++) {
        uint64_t carry = 0;
        for (int i = WINDOW_WORDS - 1; i - f >= 0; i--) {
            const uint64_t two_words = (uint64_t)word[i] << 32 | word[i + 1];
            carry += (uint32_t)(two_words >> (32 - shift)) * factors[f] + product[i - f];
            product[i - f] = (uint32_t)carry;
            carry >>= 32;
        }
    }
}

/* x >= pi/4 as quadrant * pi/2 + the result, which is within pi/4 of zero; the quadrant is taken modulo 4. */
static struct double_double reduce(double x, int *quadrant) {
    const uint64_t bits = bits_of(x);
    const uint64_t significand = (bits & (UINT64_MAX >> 12)) | UINT64_C(1) << 52;
    uint32_t turns[WINDOW_WORDS]; /* quarter turns modulo 4 */
    multiply_window(significand, (int)(bits >> 52) - 1075, turns);

    const int negative = turns[0] >> 29 & 1; /* nearer to the next quarter turn, and before it */
    *quadrant = (int)((turns[0] >> 30) + (uint32_t)negative) & 3;
    uint32_t borrow = 0;
    for (int i = WINDOW_WORDS - 1; negative && i >= 0; i--) {
        const uint32_t word = turns[i];
        turns[i] = 0 - word - borrow;
        borrow = (word | borrow) != 0;
    }
    turns[0] &= UINT32_MAX >> 2;

    struct double_double fraction = {0.0, 0.0};
    double weight = 0x1p-30;
    for (int i = 0; i < WINDOW_WORDS; i++) {
        fraction = add(fraction, (struct double_double){turns[i] * weight, 0.0});
        weight *= 0x1p-32;
    }
    const struct double_double angle = multiply(fraction, HALF_PI);
    return negative ? negate(angle) : angle;
}

void rope2d_sincos(double x, double *sine, double *cosine) {
    const double size = absolute(x);
    if (!(size < infinity())) {
        *sine = *cosine = not_a_number();
        return;
    }
    if (size < 0x1p-27) { /* the next term of either series is less than half an ulp */
        *sine = x;
        *cosine = 1.0;
        return;
    }
    int quadrant = 0;
    struct double_double angle = {size, 0.0};
    if (size > HALF_PI.high / 2)
        angle = reduce(size, &quadrant);

    const struct double_double minus_square = negate(multiply(angle, angle));
    const double s = multiply(angle, series(INVERSE_FACTORIALS + 1, 2, 12, 4, minus_square)).high;
    const double c = series(INVERSE_FACTORIALS, 2, 12, 4, minus_square).high;
    const double positive_sine = quadrant == 0 ? s : quadrant == 1 ? c : quadrant == 2 ? -s : -c;
    *sine = x < 0.0 ? -positive_sine : positive_sine;
    *cosine = quadrant == 0 ? c : quadrant == 1 ? -s : quadrant == 2 ? -c : s;
}

/* Exponentials and logarithms. */

/* value * 2^n, rounded once, for a value between 1/2 and 2 and n from -1100 to 1100. */
static double round_scaled(struct double_double value, int n) {
    double rounded = value.high;
    if (n < -1021 && value.high < power_of_two(-1022 - n)) {
        /* A subnormal result: let the addition of 2^-1022, in the same scale, round at the last place that is
         * left. */
        const double smallest_normal = power_of_two(-1022 - n);
        const struct double_double sum = exact_sum(smallest_normal, value.high);
        rounded = (sum.high + (sum.low + value.low)) - smallest_normal;
    }
    return rounded * power_of_two(n / 2) * power_of_two(n - n / 2);
}

/* e^x, for |x| below 750. */
static double exponential(struct double_double x) {
    const double n = nearest_integer(x.high * LOG2_E);
    const struct double_double rest = add(x, negate(scale(LN_2, n)));
    return round_scaled(series(INVERSE_FACTORIALS, 1, 18, 6, rest), (int)n);
}

/* Natural logarithm of a finite x > 0. */
static struct double_double logarithm(double x) {
    int exponent = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p+54;
        exponent = -54;
    }
    const uint64_t bits = bits_of(x);
    exponent += (int)(bits >> 52) - 1023;
    double significand = double_of((bits & (UINT64_MAX >> 12)) | UINT64_C(1023) << 52);
    if (significand > SQRT_2) {
        significand /= 2;
        exponent++;
    }
    const struct double_double above_one = {significand - 1.0, 0.0}; /* exact */
    const struct double_double ratio = divide(above_one, exact_sum(significand, 1.0));
    const struct double_double half = multiply(ratio, series(INVERSE_ODDS, 1, 15, 5, multiply(ratio, ratio)));
    return add(scale(LN_2, exponent), (struct double_double){2 * half.high, 2 * half.low});
}

double rope2d_exp2(double x) {
    if (x != x)
        return not_a_number();
    if (x > 1024.0)
        return infinity();
    if (x < -1076.0)
        return 0.0;
    const double n = nearest_integer(x);
    const struct double_double rest = scale(LN_2, x - n);
    return round_scaled(series(INVERSE_FACTORIALS, 1, 18, 6, rest), (int)n);
}

double rope2d_exp(double x) {
    if (x != x)
        return not_a_number();
    if (x > 710.0)
        return infinity();
    if (x < -746.0)
        return 0.0;
    return exponential((struct double_double){x, 0.0});
}

double rope2d_ln(double x) {
    if (x == 0.0)
        return -infinity();
    if (!(x > 0.0))
        return not_a_number();
    return x < infinity() ? logarithm(x).high : x;
}

double rope2d_pow(double base, double exponent) {
    if (!(base > 0.0) || exponent != exponent)
        return not_a_number();
    if (exponent == 0.0 || base == 1.0)
        return 1.0;
    const int grows = (base > 1.0) == (exponent > 0.0);
    /* The logarithm of a double other than 1 is at least 2^-53. */
    if (base == infinity() || absolute(exponent) > 0x1p+63)
        return grows ? infinity() : 0.0;
    if (absolute(exponent) < 0x1p-64)
        return 1.0;
    const struct double_double product = scale(logarithm(base), exponent);
    if (product.high > 710.0)
        return infinity();
    if (product.high < -746.0)
        return 0.0;
    return exponential(product);
}

// SPDX-License-Identifier: MIT
#include "elementary_domains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const function_names[] = {"sincos", "exp2", "exp", "log", "pow"};

/* The index-th output of splitmix64 (Steele, Lea and Flood, 2014), one sequence for each domain and each of 4
 * draws. */
static uint64_t draw(int domain, int number, uint64_t index) {
    uint64_t z = ((uint64_t)domain * 4 + (uint64_t)number) << 40;
    z = (z + index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double uniform(uint64_t bits, double low, double high) {
    return low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
}

/* Either sign, the exponent uniform from low to high - 1, the significand uniform. */
static double of_exponents(uint64_t bits, int low, int high) {
    const double significand = 1.0 + (double)(bits >> 12) * 0x1p-52;
    const int exponent = low + (int)((bits & 0x7ff) * (uint64_t)(high - low) >> 11);
    return ldexp(bits & 0x800 ? -significand : significand, exponent);
}

static struct arguments only(double x) {
    return (struct arguments){x, 0.0};
}

static struct arguments any_finite(int domain, uint64_t index) {
    uint64_t bits = draw(domain, 0, index);
    if ((bits >> 52 & 0x7ff) == 0x7ff)
        bits &= ~(UINT64_C(1) << 62);
    double x;
    memcpy(&x, &bits, sizeof x);
    return only(x);
}

static struct arguments any_positive(int domain, uint64_t index) {
    return only(fabs(any_finite(domain, index).x));
}

static struct arguments subnormal(int domain, uint64_t index) {
    const uint64_t bits = draw(domain, 0, index);
    return only(ldexp((double)((bits >> 12 >> (bits & 31)) + 1), -1074));
}

static struct arguments table_angle(int domain, uint64_t index) {
    return only(uniform(draw(domain, 0, index), -1e5, 1e5));
}

static struct arguments up_to_2_to_53(int domain, uint64_t index) {
    return only(of_exponents(draw(domain, 0, index), -30, 53));
}

/* A few last places from a multiple of pi/2. */
static struct arguments near_multiple(int domain, uint64_t index) {
    const double multiple = trunc(fabs(of_exponents(draw(domain, 0, index), 0, 40)));
    const double x = multiple * 0x1.921fb54442d18p+0;
    const int places = (int)(draw(domain, 1, index) % 7) - 3;
    return only(x + places * ldexp(1.0, ilogb(x) - 52));
}

static struct arguments within_one(int domain, uint64_t index) {
    return only(uniform(draw(domain, 0, index), -1.0, 1.0));
}

static struct arguments exponent_of_e(int domain, uint64_t index) {
    return only(uniform(draw(domain, 0, index), -746.0, 710.0));
}

static struct arguments exponent_of_2(int domain, uint64_t index) {
    return only(uniform(draw(domain, 0, index), -1076.0, 1024.5));
}

static struct arguments small_power_of_e(int domain, uint64_t index) {
    return only(uniform(draw(domain, 0, index), -745.5, -707.0));
}

static struct arguments small_power_of_2(int domain, uint64_t index) {
    return only(uniform(draw(domain, 0, index), -1075.5, -1020.0));
}

static struct arguments below_1024(int domain, uint64_t index) {
    return only(of_exponents(draw(domain, 0, index), -70, 10));
}

static struct arguments around_one(int domain, uint64_t index) {
    return only(uniform(draw(domain, 0, index), 0.5, 2.0));
}

static struct arguments next_to_one(int domain, uint64_t index) {
    return only(1.0 + of_exponents(draw(domain, 0, index), -53, -1));
}

static struct arguments base_and_exponent(int domain, uint64_t index) {
    const double base = fabs(of_exponents(draw(domain, 0, index), -14, 27));
    return (struct arguments){base, uniform(draw(domain, 1, index), -8.0, 8.0)};
}

/* What rotary models ask for: base to the power +-2i/d. */
static struct arguments preset(int domain, uint64_t index) {
    static const double bases[] = {10.0, 100.0,    500.0,    1000.0,   10000.0, 50000.0,
                                   1e5,  150000.0, 160000.0, 500000.0, 1e6,     5e6,
                                   1e7,  1e8,      256.0,    10240.0,  7000.0,  2.0};
    const uint64_t bits = draw(domain, 0, index);
    const double dimension = (double)(2 * (1 + bits % 256));
    const double pair = (double)((bits >> 8) % (1 + bits % 256));
    const double exponent = 2.0 * pair / dimension;
    const double base = bases[(bits >> 32) % (sizeof bases / sizeof *bases)];
    return (struct arguments){base, bits >> 63 ? exponent : -exponent};
}

/* Any base, and an exponent that keeps most results within or just outside the range of doubles. */
static struct arguments whole_range(int domain, uint64_t index) {
    const double base = any_positive(domain, index).x;
    const double limit = 1100.0 / (abs(ilogb(base)) + 0.5);
    return (struct arguments){base, uniform(draw(domain, 1, index), -limit, limit)};
}

static struct arguments base_next_to_one(int domain, uint64_t index) {
    const double base = next_to_one(domain, index).x;
    const double exponent = of_exponents(draw(domain, 1, index), -4, 60);
    return (struct arguments){base, exponent};
}

const struct domain domains[DOMAIN_COUNT] = {
    {SINCOS, "any finite double", 200000, any_finite},
    {SINCOS, "angles of tables, to 1e5", 300000, table_angle},
    {SINCOS, "all sizes to 2^53", 300000, up_to_2_to_53},
    {SINCOS, "next to multiples of pi/2", 200000, near_multiple},
    {EXP2, "the whole range", 400000, exponent_of_2},
    {EXP2, "within 1", 300000, within_one},
    {EXP2, "all sizes to 1024", 200000, below_1024},
    {EXP2, "subnormal results", 100000, small_power_of_2},
    {EXP, "the whole range", 400000, exponent_of_e},
    {EXP, "within 1", 300000, within_one},
    {EXP, "all sizes to 1024", 200000, below_1024},
    {EXP, "subnormal results", 100000, small_power_of_e},
    {LOG, "any positive double", 400000, any_positive},
    {LOG, "1/2 to 2", 300000, around_one},
    {LOG, "next to 1", 200000, next_to_one},
    {LOG, "subnormal arguments", 100000, subnormal},
    {POW, "bases of tables, exponents -8 to 8", 500000, base_and_exponent},
    {POW, "frequencies of presets", 300000, preset},
    {POW, "the whole range", 100000, whole_range},
    {POW, "base next to 1", 100000, base_next_to_one},
};

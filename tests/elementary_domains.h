// SPDX-License-Identifier: MIT
// Where the elementary functions are tested: for each domain, arguments by number.
#ifndef ROPE2D_TESTS_ELEMENTARY_DOMAINS_H
#define ROPE2D_TESTS_ELEMENTARY_DOMAINS_H

#include <stdint.h>

enum function { SINCOS, EXP2, EXP, LOG, POW };
extern const char *const function_names[];

struct arguments {
    double x, y; /* y is pow's exponent, zero elsewhere */
};

struct domain {
    enum function function;
    const char *name;
    uint64_t count; /* of arguments compared with MPFR */
    /* The same argument for the same domain and index, on every machine. */
    struct arguments (*generate)(int domain, uint64_t index);
};

enum { DOMAIN_COUNT = 20 };
extern const struct domain domains[DOMAIN_COUNT];

#endif

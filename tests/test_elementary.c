// SPDX-License-Identifier: MIT
// The elementary functions: special cases, one hash of many results for machines that have nothing to compare
// with, and the error against MPFR. Arguments come from a counter generator, so that they are the same
// everywhere.
#include "elementary.h"
#include "elementary_domains.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ROPE2D_HAVE_MPFR
#include <mpfr.h>

/* In units of the last place of the exact result: what the header promises. */
static const double ERROR_BOUND = 0.5001;
#endif

/* Of check_hash; any other value means that tables may differ on this machine. */
static const uint64_t EXPECTED_HASH = UINT64_C(0xa232015b89c5db39);

static int passed, failed, skipped;

static void check(int success) {
    if (success)
        passed++;
    else
        failed++;
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* results[1] is the cosine, where there is one. */
static int evaluate(enum function function, struct arguments at, double results[2]) {
    switch (function) {
    case SINCOS:
        rope2d_sincos(at.x, &results[0], &results[1]);
        return 2;
    case EXP2:
        results[0] = rope2d_exp2(at.x);
        return 1;
    case EXP:
        results[0] = rope2d_exp(at.x);
        return 1;
    case LOG:
        results[0] = rope2d_ln(at.x);
        return 1;
    case POW:
        results[0] = rope2d_pow(at.x, at.y);
        return 1;
    }
    return 0;
}

static void check_special_cases(void) {
    static const struct {
        enum function function;
        struct arguments at;
        double expected[2];
    } cases[] = {
        {SINCOS, {0.0, 0}, {0.0, 1}},
        {SINCOS, {-0.0, 0}, {-0.0, 1}},
        {SINCOS, {0x1p-1074, 0}, {0x1p-1074, 1}},
        {SINCOS, {-0x1p-1022, 0}, {-0x1p-1022, 1}},
        {SINCOS, {INFINITY, 0}, {NAN, NAN}},
        {SINCOS, {-INFINITY, 0}, {NAN, NAN}},
        {SINCOS, {NAN, 0}, {NAN, NAN}},
        /* The double nearest to a multiple of pi/2, relative to its size. */
        {SINCOS, {0x1.6ac5b262ca1ffp+849, 0}, {1, -0x1.14ae72e6ba22fp-61}},
        {SINCOS, {-0x1.6ac5b262ca1ffp+849, 0}, {-1, -0x1.14ae72e6ba22fp-61}},
        {EXP2, {0.0, 0}, {1}},
        {EXP2, {-0.0, 0}, {1}},
        {EXP2, {10.0, 0}, {1024}},
        {EXP2, {1023.0, 0}, {0x1p+1023}},
        {EXP2, {1024.0, 0}, {INFINITY}},
        {EXP2, {0x1.fffffffffffffp+9, 0}, {0x1.ffffffffffd3ap+1023}},
        {EXP2, {-1022.0, 0}, {0x1p-1022}},
        {EXP2, {-1074.0, 0}, {0x1p-1074}},
        {EXP2, {-1075.0, 0}, {0}}, /* a tie, to even */
        {EXP2, {-0x1.0cbffffffffffp+10, 0}, {0x1p-1074}},
        {EXP2, {-1e300, 0}, {0}},
        {EXP2, {1e300, 0}, {INFINITY}},
        {EXP2, {INFINITY, 0}, {INFINITY}},
        {EXP2, {-INFINITY, 0}, {0}},
        {EXP2, {NAN, 0}, {NAN}},
        {EXP, {0.0, 0}, {1}},
        {EXP, {-0.0, 0}, {1}},
        {EXP, {0x1p-1074, 0}, {1}},
        {EXP, {0x1p-54, 0}, {1}},
        {EXP, {-0x1p-53, 0}, {0x1.fffffffffffffp-1}},
        {EXP, {1.0, 0}, {0x1.5bf0a8b145769p+1}},
        {EXP, {0x1.62e42fefa39efp+9, 0}, {0x1.fffffffffff2ap+1023}},
        {EXP, {0x1.62e42fefa39fp+9, 0}, {INFINITY}},
        {EXP, {-0x1.74910d52d3051p+9, 0}, {0x1p-1074}},
        {EXP, {-0x1.74910d52d3052p+9, 0}, {0}},
        {EXP, {INFINITY, 0}, {INFINITY}},
        {EXP, {-INFINITY, 0}, {0}},
        {EXP, {NAN, 0}, {NAN}},
        {LOG, {1.0, 0}, {0.0}},
        {LOG, {2.0, 0}, {0x1.62e42fefa39efp-1}},
        {LOG, {0x1p-1074, 0}, {-0x1.74385446d71c3p+9}},
        {LOG, {0x1.fffffffffffffp+1023, 0}, {0x1.62e42fefa39efp+9}},
        {LOG, {0.0, 0}, {-INFINITY}},
        {LOG, {-0.0, 0}, {-INFINITY}},
        {LOG, {-1.0, 0}, {NAN}},
        {LOG, {-INFINITY, 0}, {NAN}},
        {LOG, {INFINITY, 0}, {INFINITY}},
        {LOG, {NAN, 0}, {NAN}},
        {POW, {10000.0, 0.0}, {1}},
        {POW, {10000.0, -0.0}, {1}},
        {POW, {INFINITY, 0.0}, {1}},
        {POW, {1.0, 0x1p+1000}, {1}},
        {POW, {1.0, -INFINITY}, {1}},
        {POW, {10000.0, 1.0}, {10000}},
        {POW, {10000.0, 0.5}, {100}},
        {POW, {10000.0, 0.75}, {1000}},
        {POW, {10000.0, 0x1p-1074}, {1}},
        {POW, {10.0, 22.0}, {1e22}},
        {POW, {0x1p-1074, 1.0}, {0x1p-1074}},
        {POW, {0x1p-1074, -1.0}, {INFINITY}},
        {POW, {2.0, -1074.0}, {0x1p-1074}},
        {POW, {2.0, 1024.0}, {INFINITY}},
        {POW, {2.0, -1080.0}, {0}},
        {POW, {0x1.0000000000001p+0, 0x1p+63}, {INFINITY}},
        {POW, {0x1.0000000000001p+0, -0x1p+1000}, {0}},
        {POW, {0x1.fffffffffffffp-1, 0x1p+1000}, {0}},
        {POW, {0x1.fffffffffffffp-1, -0x1p+1000}, {INFINITY}},
        {POW, {0.5, INFINITY}, {0}},
        {POW, {0.5, -INFINITY}, {INFINITY}},
        {POW, {2.0, INFINITY}, {INFINITY}},
        {POW, {2.0, -INFINITY}, {0}},
        {POW, {INFINITY, 0.5}, {INFINITY}},
        {POW, {INFINITY, -0.5}, {0}},
        {POW, {INFINITY, INFINITY}, {INFINITY}},
        {POW, {0.0, 2.0}, {NAN}},
        {POW, {0.0, 0.0}, {NAN}},
        {POW, {-0.0, -1.0}, {NAN}},
        {POW, {-2.0, 2.0}, {NAN}},
        {POW, {-INFINITY, 1.0}, {NAN}},
        {POW, {NAN, 0.0}, {NAN}},
        {POW, {1.0, NAN}, {NAN}},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double results[2];
        const int count = evaluate(cases[i].function, cases[i].at, results);
        for (int r = 0; r < count; r++) {
            const double expected = cases[i].expected[r];
            if (isnan(expected) ? isnan(results[r]) : bits_of(results[r]) == bits_of(expected))
                continue;
            printf("FAIL %s(%a, %a)[%d] = %a, expected %a\n", function_names[cases[i].function],
                   cases[i].at.x, cases[i].at.y, r, results[r], expected);
            wrong++;
        }
    }
    printf("%s special cases: %zu, %d wrong\n", wrong ? "FAIL" : "ok  ", sizeof cases / sizeof *cases, wrong);
    check(wrong == 0);
}

/* FNV-1a over the results of the first arguments of every domain. */
static void check_hash(void) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int d = 0; d < DOMAIN_COUNT; d++) {
        for (uint64_t index = 0; index < 20000; index++) {
            double results[2];
            const int count = evaluate(domains[d].function, domains[d].generate(d, index), results);
            for (int r = 0; r < count; r++)
                for (int shift = 0; shift < 64; shift += 8)
                    hash = (hash ^ (bits_of(results[r]) >> shift & 0xff)) * UINT64_C(0x100000001b3);
        }
    }
    printf("%s hash of results: %016" PRIx64 ", expected %016" PRIx64 "\n",
           hash == EXPECTED_HASH ? "ok  " : "FAIL", hash, EXPECTED_HASH);
    check(hash == EXPECTED_HASH);
}

#ifdef ROPE2D_HAVE_MPFR

/* The worst of what was seen of one result in one domain. */
struct tally {
    double error; /* in ulp */
    struct arguments at;
    uint64_t tried;
    uint64_t floats; /* how many round to another float than the exact value does */
};

struct exact {
    mpfr_t x, y, results[2], difference;
};

static void start_exact(struct exact *exact) {
    /* 80 bits hide errors below 2^-27 ulp. */
    mpfr_inits2(53, exact->x, exact->y, (mpfr_ptr)0);
    mpfr_inits2(80, exact->results[0], exact->results[1], exact->difference, (mpfr_ptr)0);
}

static void end_exact(struct exact *exact) {
    mpfr_clears(exact->x, exact->y, exact->results[0], exact->results[1], exact->difference, (mpfr_ptr)0);
    mpfr_free_cache();
}

static void evaluate_exact(struct exact *exact, enum function function, struct arguments at) {
    mpfr_set_d(exact->x, at.x, MPFR_RNDN);
    switch (function) {
    case SINCOS:
        mpfr_sin_cos(exact->results[0], exact->results[1], exact->x, MPFR_RNDN);
        break;
    case EXP2:
        mpfr_exp2(exact->results[0], exact->x, MPFR_RNDN);
        break;
    case EXP:
        mpfr_exp(exact->results[0], exact->x, MPFR_RNDN);
        break;
    case LOG:
        mpfr_log(exact->results[0], exact->x, MPFR_RNDN);
        break;
    case POW:
        mpfr_set_d(exact->y, at.y, MPFR_RNDN);
        mpfr_pow(exact->results[0], exact->x, exact->y, MPFR_RNDN);
        break;
    }
}

static double error_in_ulp(struct exact *exact, mpfr_ptr expected, double result) {
    if (mpfr_zero_p(expected))
        return result == 0.0 ? 0.0 : INFINITY;
    if (!isfinite(result) || isinf(mpfr_get_d(expected, MPFR_RNDN)))
        return result == mpfr_get_d(expected, MPFR_RNDN) ? 0.0 : INFINITY;
    const long exponent = mpfr_get_exp(expected) - 53;
    mpfr_sub_d(exact->difference, expected, result, MPFR_RNDN);
    mpfr_mul_2si(exact->difference, exact->difference, exponent < -1074 ? 1074 : -exponent, MPFR_RNDN);
    return fabs(mpfr_get_d(exact->difference, MPFR_RNDN));
}

static void compare(struct exact *exact, enum function function, struct arguments at,
                    struct tally tallies[2]) {
    double results[2];
    const int count = evaluate(function, at, results);
    evaluate_exact(exact, function, at);
    for (int r = 0; r < count; r++) {
        const double error = error_in_ulp(exact, exact->results[r], results[r]);
        tallies[r].tried++;
        if (!(error <= tallies[r].error)) {
            tallies[r].error = error;
            tallies[r].at = at;
        }
        tallies[r].floats += (float)results[r] != mpfr_get_flt(exact->results[r], MPFR_RNDN);
    }
}

static void report(enum function function, const char *domain, const struct tally tallies[2]) {
    for (int r = 0; r < (function == SINCOS ? 2 : 1); r++) {
        const struct tally *tally = &tallies[r];
        const char *name = function != SINCOS ? function_names[function] : r == 0 ? "sin" : "cos";
        const int success = tally->tried > 0 && tally->error <= ERROR_BOUND && tally->floats == 0;
        printf("%s %-4s %-42s %7" PRIu64 " arguments, %" PRIu64 " floats differ, worst %.6f ulp at %a, %a\n",
               success ? "ok  " : "FAIL", name, domain, tally->tried, tally->floats, tally->error,
               tally->at.x, tally->at.y);
        check(success);
    }
}

static void check_domain(struct exact *exact, int domain) {
    struct tally tallies[2] = {{.tried = 0}};
    const char *quick = getenv("ROPE2D_QUICK");
    const uint64_t count = domains[domain].count / (quick && strcmp(quick, "1") == 0 ? 8 : 1);
    for (uint64_t index = 0; index < count; index++)
        compare(exact, domains[domain].function, domains[domain].generate(domain, index), tallies);
    report(domains[domain].function, domains[domain].name, tallies);
}

/*
 * The doubles nearest to multiples of pi/2: m * 2^e with m a numerator of a convergent of the continued
 * fraction of pi/2 / 2^e. No other m of that size comes as near.
 */
static void check_nearest_to_multiples(struct exact *exact) {
    struct tally tallies[2] = {{.tried = 0}};
    double nearest = 1.0;
    for (int e = -53; e <= 971; e++) {
        mpfr_t rest, term;
        mpfr_inits2(200 + (e > 0 ? e : 0), rest, term, (mpfr_ptr)0);
        mpfr_const_pi(rest, MPFR_RNDN);
        mpfr_mul_2si(rest, rest, -1 - e, MPFR_RNDN);
        double m = 1.0, m_before = 0.0;
        for (;;) {
            mpfr_floor(term, rest);
            const double next = mpfr_get_d(term, MPFR_RNDN) * m + m_before;
            if (!(next < 0x1p+53))
                break;
            m_before = m;
            m = next;
            if (m > 0.0) {
                const struct arguments at = {ldexp(m, e), 0.0};
                double sine, cosine;
                rope2d_sincos(at.x, &sine, &cosine);
                nearest = fmin(nearest, fmin(fabs(sine), fabs(cosine)));
                if (at.x > 0.5)
                    compare(exact, SINCOS, at, tallies);
            }
            mpfr_sub(rest, rest, term, MPFR_RNDN);
            mpfr_ui_div(rest, 1, rest, MPFR_RNDN);
        }
        mpfr_clears(rest, term, (mpfr_ptr)0);
    }
    report(SINCOS, "nearest doubles to multiples of pi/2", tallies);
    printf("     nearest to a multiple of pi/2: %a\n", nearest);
    check(nearest < 0x1p-60);
}

static void check_accuracy(void) {
    struct exact exact;
    start_exact(&exact);
    for (int d = 0; d < DOMAIN_COUNT; d++)
        check_domain(&exact, d);
    check_nearest_to_multiples(&exact);
    end_exact(&exact);
}

#else

static void check_accuracy(void) {
    printf("skip accuracy: built without MPFR, nothing to compare with\n");
    skipped++;
}

#endif

int main(void) {
    check_special_cases();
    check_hash();
    check_accuracy();
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0;
}

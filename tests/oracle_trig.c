// SPDX-License-Identifier: MIT
#include "oracle_trig.h"
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef ORACLE_HAVE_MPFR
#include <mpfr.h>
#endif

#define REMEMBERED_BITS 14
#define MPFR_BITS       96

struct remembered {
    bool valid;
    double angle, cosine, sine;
};

struct oracle_trig {
    struct remembered remembered[1 << REMEMBERED_BITS];
#ifdef ORACLE_HAVE_MPFR
    mpfr_t angle, cosine, sine;
#endif
};

struct oracle_trig *oracle_trig_create(void) {
    struct oracle_trig *trig = calloc(1, sizeof(*trig));
#ifdef ORACLE_HAVE_MPFR
    if (trig != NULL)
        mpfr_inits2(MPFR_BITS, trig->angle, trig->cosine, trig->sine, (mpfr_ptr)NULL);
#endif
    return trig;
}

void oracle_trig_destroy(struct oracle_trig *trig) {
#ifdef ORACLE_HAVE_MPFR
    if (trig != NULL)
        mpfr_clears(trig->angle, trig->cosine, trig->sine, (mpfr_ptr)NULL);
#endif
    free(trig);
}

static void evaluate(struct oracle_trig *trig, struct remembered *slot) {
#ifdef ORACLE_HAVE_MPFR
    mpfr_set_d(trig->angle, slot->angle, MPFR_RNDN);
    mpfr_sin_cos(trig->sine, trig->cosine, trig->angle, MPFR_RNDN);
    slot->cosine = mpfr_get_d(trig->cosine, MPFR_RNDN);
    slot->sine = mpfr_get_d(trig->sine, MPFR_RNDN);
#else
    (void)trig;
    slot->cosine = (double)cosl((long double)slot->angle);
    slot->sine = (double)sinl((long double)slot->angle);
#endif
}

static size_t slot_of(double angle) {
    uint64_t bits;
    memcpy(&bits, &angle, sizeof(bits));
    return (size_t)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - REMEMBERED_BITS));
}

void oracle_trig_eval(struct oracle_trig *trig, double angle, double *cosine, double *sine) {
    struct remembered *slot = &trig->remembered[slot_of(angle)];
    if (!slot->valid || slot->angle != angle || signbit(slot->angle) != signbit(angle)) {
        slot->valid = true;
        slot->angle = angle;
        evaluate(trig, slot);
    }
    *cosine = slot->cosine;
    *sine = slot->sine;
}

bool oracle_has_mpfr(void) {
#ifdef ORACLE_HAVE_MPFR
    return true;
#else
    return false;
#endif
}

// SPDX-License-Identifier: MIT
// Cosine and sine of a double, within a little more than half an ulp of double.
#ifndef TEST_ORACLE_TRIG_H
#define TEST_ORACLE_TRIG_H

#include <stdbool.h>

struct oracle_trig;

struct oracle_trig *oracle_trig_create(void);
void oracle_trig_destroy(struct oracle_trig *trig);

// Not thread-safe: recent angles are remembered, since the tokens of a grid repeat theirs.
void oracle_trig_eval(struct oracle_trig *trig, double angle, double *cosine, double *sine);

#endif

// SPDX-License-Identifier: MIT
// Eight threads that begin at once.
#ifndef TEST_CROWD_H
#define TEST_CROWD_H

#include <stdbool.h>

enum { CROWD = 8 };

typedef bool crowd_fn(void *data, int member);

// How many of the members said true. No member runs before all are there.
int crowd_run(crowd_fn *run, void *data);

#endif

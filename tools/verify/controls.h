// SPDX-License-Identifier: MIT
//
// Faults that the verdicts must notice on every device: a report whose controls were not caught proves
// nothing.
#ifndef ROPE2D_VERIFY_CONTROLS_H
#define ROPE2D_VERIFY_CONTROLS_H

#include "../../tests/harness/run.h"
#include "../../tests/harness/verdict.h"

struct verify_control {
    const char *name;
    const char *on; // the case that is spoiled
    // Spoils the work before the device rotates it; NULL: after, by `after`.
    void (*before)(struct harness_work *work, unsigned char *const *blocks);
    // Spoils what the device rotated. False when it cannot.
    bool (*after)(struct harness_device *portable, struct harness_work *work, unsigned char *const *blocks);
    bool by_bound;   // the oracle's bound must notice, too
    bool by_program; // can be made for a program that is a device, too
    bool by_guards;  // the guards must notice, and nothing else
};

// Ends with an entry without a name.
extern const struct verify_control verify_controls[];

#endif

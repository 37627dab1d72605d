// SPDX-License-Identifier: MIT
//
// One golden case on one device.
#ifndef ROPE2D_CLI_CHECK_CASE_H
#define ROPE2D_CLI_CHECK_CASE_H

#include "case.h"
#include "rope2d/rope2d.h"

enum verdict { VERDICT_PASSED, VERDICT_FAILED, VERDICT_SKIPPED, VERDICT_BROKEN };

struct outcome {
    enum verdict verdict; // BROKEN: a call failed
    rope2d_status status;
    double largest; // difference from what was recorded
    rope2d_plan_info info;
    char text[320]; // the finding, for one line
};

// What a case's q and k become, to compare with.
struct rotated {
    float *outputs[JOB_TENSORS];
};

// Memory for a case's outputs; rotated_free takes it in any state.
bool rotated_allocate(const struct golden_case *golden, struct rotated *rotated);
void rotated_free(struct rotated *rotated);

// Rotates the case on a device and compares with the recorded outputs, and with the portable path's in
// `reference`; without a reference, keeps the outputs in `keep`, as the portable path does.
void check_case(const struct golden_case *golden, rope2d_device *device, rope2d_table table,
                const struct rotated *reference, struct rotated *keep, struct outcome *outcome);

// The same verdicts on outputs that somebody else rotated.
void check_rotated(const struct golden_case *golden, const struct rotated *rotated,
                   const struct rotated *reference, rope2d_exactness exactness, struct outcome *outcome);

#endif

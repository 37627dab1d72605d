// SPDX-License-Identifier: MIT
//
// What a variation did to a run: its result tells, and a variation that did not do its part fails.
#ifndef ROPE2D_VERIFY_EFFECTS_H
#define ROPE2D_VERIFY_EFFECTS_H

#include <cjson/cJSON.h>

#include "../../tests/harness/run.h"
#include "../../tests/harness/verdict.h"
#include "matrix.h"

struct effects {
    uint64_t dispatches;
    uint64_t offsets[2]; // of the first tensor's input and output, in bytes, as the library was given them
};

// What a dispatch may read and write at minimum limits: less than most cases have, so that they are split.
enum { EFFECTS_LEAST_BYTES = 4096 };

// False where the run was not what its task asks for, of which `text` tells.
bool effects_judge(const struct effects *effects, const struct verify_task *task,
                   const struct harness_work *work, const struct harness_device *device, char *text);

void effects_add(cJSON *result, const struct effects *effects, const struct verify_task *task,
                 const struct harness_work *work, const struct harness_device *device);

#endif

// SPDX-License-Identifier: MIT
//
// A recorded run of a model's own rotary code: a folder in the form that tests/golden/README.md describes.
#ifndef ROPE2D_CLI_CASE_H
#define ROPE2D_CLI_CASE_H

#include "job.h"
#include "npy.h"

// All zero is one that holds nothing.
struct golden_case {
    char name[64];
    char model[128]; // empty when case.json does not say
    double tolerance;
    uint32_t merge; // patches are in blocks of merge x merge; 1 when case.json does not say
    struct npy_array inputs[JOB_TENSORS], recorded[JOB_TENSORS];
    struct npy_array positions[JOB_TENSORS], freqs;
    uint32_t *pair_lo, *pair_hi;
    rope2d_range *unrotated[JOB_TENSORS];
    uint32_t unrotated_counts[JOB_TENSORS];
    struct job job; // points into the rest
};

// Reads a folder. Returns an exit status, having said what is wrong. golden_case_free takes it in any state.
int golden_case_read(const char *folder, struct golden_case *golden);
void golden_case_free(struct golden_case *golden);

// False when the folder surely holds no case.json. True when it does, and when nobody can tell, as of a
// folder that may not be entered or of a link that leads nowhere: then golden_case_read says why.
bool golden_case_may_be_there(const char *folder);

#endif

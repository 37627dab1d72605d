// SPDX-License-Identifier: MIT
//
// What rope2d apply was asked for, and what it read to do it.
#ifndef ROPE2D_CLI_APPLY_INPUT_H
#define ROPE2D_CLI_APPLY_INPUT_H

#include <stdbool.h>

#include "job.h"
#include "npy.h"
#include "rope2d/rope2d_presets.h"

enum apply_dtype { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_FILE };
enum apply_axes { AXES_YX, AXES_XY, AXES_UNSAID };

struct apply_request {
    const char *q, *k, *out_q, *out_k;
    const char *grid, *positions, *positions_k;
    const char *base, *freqs;
    const char *preset, *prompt, *prompt_k;
    const char *heads_q, *heads_k, *rotary_dim;
    const char *unrotated, *unrotated_k;
    const char *device;
    int axes, pairing, layout, dtype, dtype_out, direction, angles, table;
    const char *cache; // folder
    bool minimum_limits, model_fp32, factored;
};

// All zero is one that holds nothing.
struct apply_input {
    struct npy_array tensors[JOB_TENSORS];
    float *freqs;
    float *coordinates[JOB_TENSORS];
    rope2d_range *unrotated[JOB_TENSORS];
    rope2d_preset *preset; // owns the frequencies of the spec
    struct job job;        // points into the rest
};

// Returns an exit status, having said what is wrong. apply_input_free takes it in any state.
int apply_input_read(const struct apply_request *request, struct apply_input *input);
void apply_input_free(struct apply_input *input);

#endif

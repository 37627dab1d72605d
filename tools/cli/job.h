// SPDX-License-Identifier: MIT
//
// A rotation of q and k that can be run on any device: what apply, check and demo have in common.
#ifndef ROPE2D_CLI_JOB_H
#define ROPE2D_CLI_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "npy.h"
#include "rope2d/rope2d.h"

enum { JOB_TENSORS = 2 };

enum array_layout { ARRAY_BNHD, ARRAY_BHND, ARRAY_NHD, ARRAY_BNC };
extern const char *const array_layout_names[]; // "bnhd", ..., NULL

struct job_tensor {
    rope2d_element in_element, out_element;
    rope2d_layout layout;
    uint32_t batch, heads, head_dim;
    uint64_t tokens;
    uint64_t count;   // elements
    const void *data; // belongs to the caller
};

// What a tensor is rotated by.
struct job_positions {
    const float *coordinates; // [batch][tokens][axes]
    uint32_t batch;
    uint64_t tokens;
    const rope2d_range *unrotated;
    uint32_t unrotated_count;
};

// A plain value that owns nothing. Tensor i turns by positions[i]; when the second has no coordinates, both
// turn by the first in one apply.
struct job {
    rope2d_spec spec;
    struct job_tensor tensors[JOB_TENSORS];
    struct job_positions positions[JOB_TENSORS];
    size_t tensor_count;
};

// A job on a device. All zero is one that is not prepared.
struct prepared_job {
    const struct job *job;
    rope2d_plan *plan;
    rope2d_positions *positions[JOB_TENSORS];
    rope2d_plan_info info;
};

// Finds a tensor's sizes from the shape of an array. `heads` counts for merged layouts, and is otherwise 0 or
// what the shape must say. What does not fit is said on stderr; returns an exit status.
int job_tensor_from_array(const char *option, const char *path, const struct npy_header *header,
                          enum array_layout layout, uint64_t heads, struct job_tensor *tensor);

// Compiles the plan and builds the positions. What fails stays in the struct for job_release.
rope2d_status job_prepare(const struct job *job, rope2d_device *device, rope2d_table table,
                          struct prepared_job *prepared);

// Rotates into outputs[i], which are as large as the tensors. With is_long it goes by pieces and shows
// progress.
rope2d_status job_run(const struct prepared_job *prepared, void *const outputs[JOB_TENSORS], bool is_long);
void job_release(struct prepared_job *prepared);

// Bytes of a tensor in memory, as it is read and as it is written.
uint64_t job_input_bytes(const struct job_tensor *tensor);
uint64_t job_output_bytes(const struct job_tensor *tensor);

// "exact", "exact on normal values", "inexact", "untested"
const char *exactness_name(rope2d_exactness exactness);
const char *table_name(rope2d_table table);
extern const char *const table_names[]; // "auto", "buffer", "texture", NULL

#endif

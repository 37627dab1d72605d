// SPDX-License-Identifier: MIT
//
// Rotations in memory of a caller's on the device, which begin where its alignment of offsets lets them: what
// an engine that binds its own buffers asks for.
#ifndef ROPE2D_VERIFY_BOUND_H
#define ROPE2D_VERIFY_BOUND_H

#include "../../tests/harness/run.h"

enum {
    BOUND_MOST_TENSORS = 4,    // of a binding, as OpenCL has it
    BOUND_LEAST_ALIGNMENT = 4, // of words, which kernels read
};

// Where a block of the harness lies in the buffer made for it.
struct bound_place {
    uint64_t begins;  // its first byte
    uint64_t aligned; // at or before its first element: an odd multiple of the alignment
    uint64_t bytes;   // of the buffer
};

struct bound_job {
    struct harness_device *device;
    const struct harness_work *work;
    unsigned char *const *blocks;
    struct bound_place places[HARNESS_MAX_BLOCKS];
    void *impl; // the backend's buffers
};

// The tensors of one binding, which share their positions.
struct bound_group {
    const struct harness_tensor *tensors[HARNESS_MAX_TENSORS];
    uint32_t count;
    uint64_t tokens;
};

// A backend's row; all NULL where it was left out.
struct bound_ops {
    rope2d_status (*create)(struct bound_job *job); // buffers that hold the blocks
    void (*destroy)(struct bound_job *job);         // takes what is half made
    rope2d_status (*rotate)(struct bound_job *job, const rope2d_plan *plan, const rope2d_positions *positions,
                            const struct bound_group *group, uint64_t *dispatches);
    rope2d_status (*read)(struct bound_job *job); // into the blocks
};
extern const struct bound_ops bound_vulkan_ops, bound_opencl_ops;

// Where a side's element (0, 0, 0, 0) lies in its block's buffer, in bytes.
uint64_t bound_offset(const struct bound_job *job, const struct harness_side *side);

// Whether bindings take such a case: those without anything to rotate they may refuse.
bool bound_can(const struct harness_case *what);

// As harness_run. Each block's first element lies at an odd multiple of buffer_offset_alignment, or, beside
// it, by turns one element behind and one element before the next. `offsets` receives where the first
// tensor's input and output begin.
rope2d_status bound_run(struct harness_device *device, const struct harness_work *work, rope2d_table table,
                        bool is_beside, unsigned char *const *blocks, uint64_t *dispatches,
                        uint64_t offsets[2]);

#endif

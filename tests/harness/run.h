// SPDX-License-Identifier: MIT
// Runs work on devices. A device keeps its plans, since the cases share structures and compiling is slow.
#ifndef HARNESS_RUN_H
#define HARNESS_RUN_H

#include "report.h"
#include "work.h"

#define HARNESS_MAX_STRUCTURES 64

struct harness_device {
    rope2d_device *device;
    rope2d_device_info info;
    struct harness_log log;
    const struct harness_structure *own; // whose plans the last ones are
    rope2d_plan
        *plans[HARNESS_MAX_STRUCTURES + 1][ROPE2D_ELEMENT_COUNT][ROPE2D_ELEMENT_COUNT][ROPE2D_TABLE_COUNT];
};

// backwards: its parallel-for runs every task, the last one first.
rope2d_status harness_device_open(struct harness_device *device, rope2d_backend backend, uint32_t index,
                                  uint32_t flags, bool backwards);
// The same at the least limits that the API guarantees, with dispatches of at most so many bytes.
rope2d_status harness_device_open_least(struct harness_device *device, rope2d_backend backend, uint32_t index,
                                        uint64_t dispatch_bytes, bool backwards);
void harness_device_close(struct harness_device *device);
// Destroys the plans that it keeps.
void harness_device_forget(struct harness_device *device);

rope2d_status harness_plan(struct harness_device *device, const struct harness_work *work, rope2d_table table,
                           rope2d_plan **plan);

// Rotates in these blocks, and counts dispatches.
rope2d_status harness_run(struct harness_device *device, const struct harness_work *work, rope2d_table table,
                          unsigned char *const *blocks, uint64_t *dispatches);

// Replaces the inputs of a work with HARNESS_CANCELLING by such as nearly cancel, from the library's own
// table.
rope2d_status harness_run_cancel(struct harness_device *device, struct harness_work *work);

#endif

// SPDX-License-Identifier: MIT
//
// A program that owns OpenCL: its context, queues and spec, and the CPU beside it for the right bits. Counts
// what the library allocates by it.
#ifndef OPENCL_PROGRAM_H
#define OPENCL_PROGRAM_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "counter.h"
#include "jobs.h"

#include "rope2d/rope2d_opencl.h"

enum {
    TOKENS = 35,
    BATCH = 2,
    HEADS = 3,
    DIM = 40,
    PAIRS = 16,
    ELEMENTS = BATCH * TOKENS * HEADS * DIM,
    LEAD = 3
};

extern tally counts;
extern long allocations;

#define CHECK(holds)                                                                                         \
    tally_check(&counts, holds, "%s: line %d: %s: %s", own->name, __LINE__, #holds, own->log.text)
#define IS(wanted, call) CHECK((own->log.text[0] = 0, (call)) == (wanted))

typedef struct program {
    char name[128];
    captured_log log;
    rope2d_host host;
    cl_device_id id;
    cl_context context;
    cl_command_queue ordered;
    cl_command_queue unordered;
    rope2d_device *device;
    rope2d_device *cpu;
    rope2d_spec spec;
    float freqs[2][PAIRS];
    float yx[TOKENS][2];
} program;

// False, after a failed check, where there is nothing to go on with. Ended by program_stop.
bool program_start(program *own, cl_device_id id);
void program_stop(program *own);

// What a test's main returns: after check(id) on each device of the machine; a skip where there is none.
int program_each(void (*check)(cl_device_id id));

typedef struct objects {
    rope2d_plan *plan;
    rope2d_positions *positions;
} objects;

// Of the program's spec, for its TOKENS.
objects program_make(program *own, rope2d_device *device, rope2d_element type, rope2d_table table);
void program_unmake(objects *made);

// What the CPU makes of values [BATCH][TOKENS][HEADS][DIM], in place.
void program_rotate_on_cpu(program *own, rope2d_element type, void *values);

// How often the driver's objects are referenced.
cl_uint program_references(const program *own);
// A driver's thread may hold the queue of a command that has ended a little longer.
bool program_references_settle(const program *own, cl_uint wanted);

#endif

// SPDX-License-Identifier: MIT
//
// An OpenCL context and queues of the bench's own, which the library is adopted into.
#ifndef ROPE2D_CLI_BENCH_OPENCL_H
#define ROPE2D_CLI_BENCH_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include "bench_kinds.h"

#define BENCH_CL_FUNCTIONS(X)                                                                                \
    X(BuildProgram)                                                                                          \
    X(CreateBuffer)                                                                                          \
    X(CreateCommandQueue)                                                                                    \
    X(CreateContext)                                                                                         \
    X(CreateKernel)                                                                                          \
    X(CreateProgramWithSource)                                                                               \
    X(EnqueueCopyBuffer)                                                                                     \
    X(EnqueueNDRangeKernel)                                                                                  \
    X(EnqueueReadBuffer)                                                                                     \
    X(EnqueueWriteBuffer)                                                                                    \
    X(Finish)                                                                                                \
    X(GetDeviceIDs)                                                                                          \
    X(GetDeviceInfo)                                                                                         \
    X(GetEventProfilingInfo)                                                                                 \
    X(GetMemObjectInfo)                                                                                      \
    X(GetPlatformIDs)                                                                                        \
    X(ReleaseCommandQueue)                                                                                   \
    X(ReleaseContext)                                                                                        \
    X(ReleaseEvent)                                                                                          \
    X(ReleaseKernel)                                                                                         \
    X(ReleaseMemObject)                                                                                      \
    X(ReleaseProgram)                                                                                        \
    X(SetKernelArg)

enum { OPENCL_WIDTHS = 3, OPENCL_ITEMS = 3, OPENCL_GROUPS = 2, OPENCL_PROGRAMS = 4 };
enum { OPENCL_KERNELS = OPENCL_WIDTHS * OPENCL_ITEMS, OPENCL_SHAPES = OPENCL_KERNELS * OPENCL_GROUPS };
enum { OPENCL_TURNS = 8 }; // ways to turn a tower

struct opencl_turn {
    cl_program program;
    cl_kernel kernel;
};

struct opencl {
    void *library;
#define X(name) cl_api_cl##name name;
    BENCH_CL_FUNCTIONS(X)
#undef X
    cl_device_id device;
    cl_context context;
    cl_command_queue queue; // with profiling
    cl_command_queue library_queue;
    // Made when they are first needed.
    cl_program programs[OPENCL_PROGRAMS];
    cl_kernel kernels[BENCH_KINDS_COUNT][OPENCL_KERNELS];
    struct opencl_turn turns[BENCH_TOWERS][ROPE2D_ELEMENT_COUNT][2][OPENCL_TURNS]; // [half]
    // Of the case in work.
    cl_mem *sets;                 // [sets][BENCH_BUFFERS]
    cl_mem table;                 // of limits
    cl_mem turn_table, turn_rows; // where there are turns
};

struct opencl_argument {
    size_t size;
    const void *value;
};

int opencl_check(const struct bench_engine *engine, cl_int code, const char *call);
// Waits for the event that the sample is about, and takes its times.
int bench_opencl_finish(struct bench_engine *engine, double begin, cl_event event,
                        struct bench_sample *sample);
cl_mem bench_opencl_buffer(const struct opencl *opencl, uint32_t set, int buffer);

// bench_opencl_device.c
int bench_opencl_open(struct bench_engine *engine);
void bench_opencl_close(struct bench_engine *engine);
rope2d_status bench_opencl_make_device(struct bench_engine *engine, rope2d_device **device);

// bench_opencl_compile.c
void bench_opencl_time_compiling(rope2d_device *device); // from here on, of the library's programs
double bench_opencl_compile_seconds(const struct bench_engine *engine);

// bench_opencl_kernels.c
uint32_t bench_opencl_variants(const struct bench_engine *engine, enum bench_move move);
void bench_opencl_variant_name(const struct bench_engine *engine, enum bench_move move, uint32_t variant,
                               char *name, size_t size);
int bench_opencl_move(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      struct bench_sample *sample);
cl_int bench_opencl_enqueue(const struct opencl *opencl, cl_kernel kernel,
                            const struct opencl_argument *arguments, cl_uint count, size_t global,
                            size_t local, cl_event *event);

// bench_opencl_turns.c
uint32_t bench_opencl_turn_variants(const struct bench_engine *engine, enum bench_move move);
void bench_opencl_turn_name(uint32_t variant, char *name, size_t size);
int bench_opencl_create_turns(struct bench_engine *engine); // what turns of the case read
int bench_opencl_turn(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      cl_event *event);
void bench_opencl_release_turns(struct opencl *opencl); // kernels, of all cases

#endif

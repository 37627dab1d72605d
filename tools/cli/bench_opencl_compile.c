// SPDX-License-Identifier: MIT
//
// How long an OpenCL driver compiles for the library: what reading a source or a binary, building and a
// program's first kernel take, and what its first run takes more than its second.
#include "opencl/opencl.h"

#include "bench_opencl.h"
#include "progress.h"

enum { MOST = 16 };

struct program {
    cl_program program;
    bool has_kernel;
    uint32_t runs;
    double first;
};

// Devices are measured one after the other, and the driver's calls have no room for a pointer of ours.
static rope2d_cl driver;
static struct program programs[MOST];
static struct {
    cl_kernel kernel;
    cl_program program;
} kernels[MOST];
static uint32_t program_count, kernel_count;
static double compile_seconds;

static struct program *find_program(cl_program program) {
    for (uint32_t i = 0; i < MOST; ++i)
        if (programs[i].program == program)
            return &programs[i];
    return NULL;
}

// Rusticl takes 1.7 ms for it.
static cl_program CL_API_CALL read_source(cl_context context, cl_uint count, const char **texts,
                                          const size_t *sizes, cl_int *code) {
    double begin = seconds_now();
    cl_program program = driver.CreateProgramWithSource(context, count, texts, sizes, code);
    compile_seconds += seconds_now() - begin;
    return program;
}

static cl_program CL_API_CALL read_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                          const size_t *sizes, const unsigned char **binaries, cl_int *taken,
                                          cl_int *code) {
    double begin = seconds_now();
    cl_program program =
        driver.CreateProgramWithBinary(context, count, devices, sizes, binaries, taken, code);
    compile_seconds += seconds_now() - begin;
    return program;
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                                const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                void *user) {
    double begin = seconds_now();
    cl_int code = driver.BuildProgram(program, count, devices, options, notify, user);
    compile_seconds += seconds_now() - begin;
    struct program *found = find_program(program);
    *(found ? found : &programs[program_count++ % MOST]) = (struct program){program, false, 0, 0};
    return code;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code) {
    double begin = seconds_now();
    cl_kernel kernel = driver.CreateKernel(program, name, code);
    struct program *found = find_program(program);
    if (found && !found->has_kernel)
        compile_seconds += seconds_now() - begin;
    if (found)
        found->has_kernel = true;
    for (uint32_t i = 0; i < MOST; ++i)
        if (kernels[i].kernel == kernel)
            kernels[i].kernel = NULL; // one that is no more
    kernels[kernel_count % MOST].kernel = kernel;
    kernels[kernel_count++ % MOST].program = program;
    return kernel;
}

static cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const size_t *offset, const size_t *global, const size_t *local,
                                  cl_uint wait_count, const cl_event *wait_list, cl_event *event) {
    struct program *found = NULL;
    for (uint32_t i = 0; i < MOST; ++i)
        if (kernels[i].kernel == kernel)
            found = find_program(kernels[i].program);
    if (!found || found->runs == 2)
        return driver.EnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, wait_count,
                                           wait_list, event);
    driver.Finish(queue);
    double begin = seconds_now();
    cl_int code = driver.EnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, wait_count,
                                              wait_list, event);
    driver.Finish(queue);
    double took = seconds_now() - begin;
    if (found->runs++ == 0)
        compile_seconds += found->first = took;
    else
        compile_seconds -= took < found->first ? took : found->first;
    return code;
}

void bench_opencl_time_compiling(rope2d_device *device) {
    rope2d_cl_device *own = device->impl;
    driver = own->cl;
    own->cl.CreateProgramWithSource = read_source;
    own->cl.CreateProgramWithBinary = read_binary;
    own->cl.BuildProgram = build;
    own->cl.CreateKernel = create_kernel;
    own->cl.EnqueueNDRangeKernel = enqueue;
}

double bench_opencl_compile_seconds(const struct bench_engine *engine) {
    (void)engine;
    return compile_seconds;
}

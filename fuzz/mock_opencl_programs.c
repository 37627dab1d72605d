// SPDX-License-Identifier: MIT
//
// Programs whose binaries begin with a magic; anything else is no program.
#include "mock_opencl_objects.h"

#include "target.h"

#include <string.h>

static const char binary_magic[4] = "mock";

static cl_program make_program(const void *binary, size_t size, cl_int *code) {
    cl_program program = mock_fails() ? NULL : calloc(1, sizeof *program);
    *code = program ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!program)
        return NULL;
    program->binary = malloc(size);
    program->size = size;
    FUZZ_PROMISE(program->binary);
    memcpy(program->binary, binary, size);
    mock.live++;
    return program;
}

static cl_program CL_API_CALL create_with_source(cl_context context, cl_uint count, const char **texts,
                                                 const size_t *sizes, cl_int *code) {
    (void)context;
    FUZZ_PROMISE(count == 1);
    mock_read(texts[0], sizes[0]);
    return make_program(binary_magic, sizeof binary_magic, code);
}

static cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint count, const cl_device_id *ids,
                                                 const size_t *sizes, const unsigned char **binaries,
                                                 cl_int *taken, cl_int *code) {
    (void)context;
    FUZZ_PROMISE(count == 1 && ids[0] == mock_cl_device() && sizes[0] > 0);
    mock_read(binaries[0], sizes[0]);
    const bool is_ours =
        sizes[0] >= sizeof binary_magic && memcmp(binaries[0], binary_magic, sizeof binary_magic) == 0;
    *taken = is_ours ? CL_SUCCESS : CL_INVALID_BINARY;
    if (!is_ours && sizes[0] % 2) { // some make a program all the same
        *code = CL_INVALID_BINARY;
        return NULL;
    }
    return make_program(binaries[0], sizes[0], code);
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *ids,
                                const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                void *user) {
    (void)program, (void)notify, (void)user;
    FUZZ_PROMISE(count == 1 && ids[0] == mock_cl_device() && strlen(options) > 0);
    return mock_fails() ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

static cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id id, cl_program_build_info field,
                                         size_t size, void *to, size_t *size_ret) {
    (void)program, (void)id, (void)field;
    return mock_cl_answer_text("line 1: %s%n", size, to, size_ret);
}

static cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info field, size_t size, void *to,
                                           size_t *size_ret) {
    cl_device_id own = mock_cl_device();
    unsigned char *room = NULL;
    if (field == CL_PROGRAM_NUM_DEVICES)
        return mock_cl_answer_number(1, 4, size, to, size_ret);
    if (field == CL_PROGRAM_DEVICES)
        return mock_cl_answer(&own, sizeof own, size, to, size_ret);
    if (field == CL_PROGRAM_BINARY_SIZES)
        return mock_cl_answer_number(program->size, 8, size, to, size_ret);
    FUZZ_PROMISE(field == CL_PROGRAM_BINARIES && size == sizeof room);
    if (mock_fails())
        return CL_OUT_OF_RESOURCES;
    memcpy(&room, to, sizeof room);
    if (room)
        memcpy(room, program->binary, program->size);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_program(cl_program program) {
    mock.live--;
    free(program->binary);
    free(program);
    return CL_SUCCESS;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code) {
    const bool has_one =
        memcmp(program->binary, binary_magic, sizeof binary_magic) == 0 && strcmp(name, "rope2d") == 0;
    cl_kernel kernel = has_one && !mock_fails() ? calloc(1, sizeof *kernel) : NULL;
    *code = kernel ? CL_SUCCESS : CL_INVALID_KERNEL_NAME;
    if (kernel) {
        kernel->program = program;
        mock.live++;
    }
    return kernel;
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
    mock.live--;
    free(kernel);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    FUZZ_PROMISE(kernel && index < 12 && value);
    mock_read(value, size);
    if (index > 0) {
        cl_mem memory;
        FUZZ_PROMISE(size == sizeof memory);
        memcpy(&memory, value, size);
        FUZZ_PROMISE(memory && memory->size > 0);
    }
    return mock_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL set_pointer(cl_kernel kernel, cl_uint index, const void *value) {
    FUZZ_PROMISE(kernel && index < 12 && value);
    return mock_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL get_group_info(cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info field,
                                         size_t size, void *to, size_t *size_ret) {
    (void)kernel, (void)id, (void)field;
    return mock_cl_answer_number(mock.group_size, 8, size, to, size_ret);
}

bool mock_cl_find_program(const char *name, void *function, size_t size) {
    MOCK_CL_TAKE(build, BuildProgram)
    MOCK_CL_TAKE(create_kernel, CreateKernel)
    MOCK_CL_TAKE(create_with_binary, CreateProgramWithBinary)
    MOCK_CL_TAKE(create_with_source, CreateProgramWithSource)
    MOCK_CL_TAKE(get_group_info, GetKernelWorkGroupInfo)
    MOCK_CL_TAKE(get_build_info, GetProgramBuildInfo)
    MOCK_CL_TAKE(get_program_info, GetProgramInfo)
    MOCK_CL_TAKE(release_kernel, ReleaseKernel)
    MOCK_CL_TAKE(release_program, ReleaseProgram)
    MOCK_CL_TAKE(set_argument, SetKernelArg)
    if (strcmp(name, "clSetKernelArgSVMPointer") == 0) {
        cl_int(CL_API_CALL *const found)(cl_kernel, cl_uint, const void *) = set_pointer;
        FUZZ_PROMISE(size == sizeof found);
        memcpy(function, &found, size);
        return true;
    }
    return false;
}

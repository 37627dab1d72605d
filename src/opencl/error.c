// SPDX-License-Identifier: MIT
#include "opencl.h"

#define ERRORS(X)                                                                                            \
    X(CL_DEVICE_NOT_FOUND, ROPE2D_ERROR_DEVICE_LOST)                                                         \
    X(CL_DEVICE_NOT_AVAILABLE, ROPE2D_ERROR_DEVICE_LOST)                                                     \
    X(CL_COMPILER_NOT_AVAILABLE, ROPE2D_ERROR_UNSUPPORTED)                                                   \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE, ROPE2D_ERROR_DEVICE_MEMORY)                                          \
    X(CL_OUT_OF_RESOURCES, ROPE2D_ERROR_DEVICE_MEMORY)                                                       \
    X(CL_OUT_OF_HOST_MEMORY, ROPE2D_ERROR_HOST_MEMORY)                                                       \
    X(CL_PROFILING_INFO_NOT_AVAILABLE, ROPE2D_ERROR_DRIVER)                                                  \
    X(CL_MEM_COPY_OVERLAP, ROPE2D_ERROR_DRIVER)                                                              \
    X(CL_IMAGE_FORMAT_MISMATCH, ROPE2D_ERROR_DRIVER)                                                         \
    X(CL_IMAGE_FORMAT_NOT_SUPPORTED, ROPE2D_ERROR_UNSUPPORTED)                                               \
    X(CL_BUILD_PROGRAM_FAILURE, ROPE2D_ERROR_COMPILE)                                                        \
    X(CL_MAP_FAILURE, ROPE2D_ERROR_DEVICE_MEMORY)                                                            \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET, ROPE2D_ERROR_DRIVER)                                                  \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ROPE2D_ERROR_DEVICE_LOST)                                \
    X(CL_COMPILE_PROGRAM_FAILURE, ROPE2D_ERROR_COMPILE)                                                      \
    X(CL_LINKER_NOT_AVAILABLE, ROPE2D_ERROR_UNSUPPORTED)                                                     \
    X(CL_LINK_PROGRAM_FAILURE, ROPE2D_ERROR_COMPILE)                                                         \
    X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, ROPE2D_ERROR_DRIVER)                                                 \
    X(CL_INVALID_VALUE, ROPE2D_ERROR_DRIVER)                                                                 \
    X(CL_INVALID_DEVICE_TYPE, ROPE2D_ERROR_DRIVER)                                                           \
    X(CL_INVALID_PLATFORM, ROPE2D_ERROR_DRIVER)                                                              \
    X(CL_INVALID_DEVICE, ROPE2D_ERROR_DRIVER)                                                                \
    X(CL_INVALID_CONTEXT, ROPE2D_ERROR_DRIVER)                                                               \
    X(CL_INVALID_QUEUE_PROPERTIES, ROPE2D_ERROR_DRIVER)                                                      \
    X(CL_INVALID_COMMAND_QUEUE, ROPE2D_ERROR_DRIVER)                                                         \
    X(CL_INVALID_HOST_PTR, ROPE2D_ERROR_DRIVER)                                                              \
    X(CL_INVALID_MEM_OBJECT, ROPE2D_ERROR_DRIVER)                                                            \
    X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, ROPE2D_ERROR_DRIVER)                                               \
    X(CL_INVALID_IMAGE_SIZE, ROPE2D_ERROR_DRIVER)                                                            \
    X(CL_INVALID_SAMPLER, ROPE2D_ERROR_DRIVER)                                                               \
    X(CL_INVALID_BINARY, ROPE2D_ERROR_DRIVER)                                                                \
    X(CL_INVALID_BUILD_OPTIONS, ROPE2D_ERROR_COMPILE)                                                        \
    X(CL_INVALID_PROGRAM, ROPE2D_ERROR_DRIVER)                                                               \
    X(CL_INVALID_PROGRAM_EXECUTABLE, ROPE2D_ERROR_COMPILE)                                                   \
    X(CL_INVALID_KERNEL_NAME, ROPE2D_ERROR_COMPILE)                                                          \
    X(CL_INVALID_KERNEL_DEFINITION, ROPE2D_ERROR_COMPILE)                                                    \
    X(CL_INVALID_KERNEL, ROPE2D_ERROR_DRIVER)                                                                \
    X(CL_INVALID_ARG_INDEX, ROPE2D_ERROR_DRIVER)                                                             \
    X(CL_INVALID_ARG_VALUE, ROPE2D_ERROR_DRIVER)                                                             \
    X(CL_INVALID_ARG_SIZE, ROPE2D_ERROR_DRIVER)                                                              \
    X(CL_INVALID_KERNEL_ARGS, ROPE2D_ERROR_DRIVER)                                                           \
    X(CL_INVALID_WORK_DIMENSION, ROPE2D_ERROR_DRIVER)                                                        \
    X(CL_INVALID_WORK_GROUP_SIZE, ROPE2D_ERROR_DRIVER)                                                       \
    X(CL_INVALID_WORK_ITEM_SIZE, ROPE2D_ERROR_DRIVER)                                                        \
    X(CL_INVALID_GLOBAL_OFFSET, ROPE2D_ERROR_DRIVER)                                                         \
    X(CL_INVALID_EVENT_WAIT_LIST, ROPE2D_ERROR_DRIVER)                                                       \
    X(CL_INVALID_EVENT, ROPE2D_ERROR_DRIVER)                                                                 \
    X(CL_INVALID_OPERATION, ROPE2D_ERROR_DRIVER)                                                             \
    X(CL_INVALID_BUFFER_SIZE, ROPE2D_ERROR_DEVICE_MEMORY)                                                    \
    X(CL_INVALID_GLOBAL_WORK_SIZE, ROPE2D_ERROR_DRIVER)                                                      \
    X(CL_INVALID_PROPERTY, ROPE2D_ERROR_DRIVER)                                                              \
    X(CL_INVALID_IMAGE_DESCRIPTOR, ROPE2D_ERROR_DRIVER)                                                      \
    X(CL_INVALID_COMPILER_OPTIONS, ROPE2D_ERROR_COMPILE)                                                     \
    X(CL_INVALID_LINKER_OPTIONS, ROPE2D_ERROR_COMPILE)

static const struct {
    int16_t code;
    uint8_t status;
} errors[] = {
#define ERROR_ENTRY(name, status) {name, (uint8_t)(status)},
    ERRORS(ERROR_ENTRY)
#undef ERROR_ENTRY
};

// Nobody writes them: the page of constants is full in a library that is stripped, and that of data is not.
#define ERROR_NAME(name, status) #name "\0"
static char names[] = ERRORS(ERROR_NAME);
#undef ERROR_NAME

rope2d_status rope2d_cl_failed(const rope2d_cl *cl, const char *call, cl_int code) {
    const char *name = "an error that OpenCL does not name";
    rope2d_status status = ROPE2D_ERROR_DRIVER;
    for (uint32_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (errors[i].code == code) {
            name = rope2d_text_at(names, i);
            status = (rope2d_status)errors[i].status;
        }
    }
    return rope2d_fail(cl->host, status, "OpenCL: %s: %s (%d)", call, name, (int)code);
}

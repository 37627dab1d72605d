// SPDX-License-Identifier: MIT
#include "opencl.h"

// Names without CL_, and those after INVALID without CL_INVALID_.
#define ERRORS(OTHER, INVALID)                                                                               \
    OTHER(DEVICE_NOT_FOUND, ROPE2D_ERROR_DEVICE_LOST)                                                        \
    OTHER(DEVICE_NOT_AVAILABLE, ROPE2D_ERROR_DEVICE_LOST)                                                    \
    OTHER(COMPILER_NOT_AVAILABLE, ROPE2D_ERROR_UNSUPPORTED)                                                  \
    OTHER(MEM_OBJECT_ALLOCATION_FAILURE, ROPE2D_ERROR_DEVICE_MEMORY)                                         \
    OTHER(OUT_OF_RESOURCES, ROPE2D_ERROR_DEVICE_MEMORY)                                                      \
    OTHER(OUT_OF_HOST_MEMORY, ROPE2D_ERROR_HOST_MEMORY)                                                      \
    OTHER(PROFILING_INFO_NOT_AVAILABLE, ROPE2D_ERROR_DRIVER)                                                 \
    OTHER(MEM_COPY_OVERLAP, ROPE2D_ERROR_DRIVER)                                                             \
    OTHER(IMAGE_FORMAT_MISMATCH, ROPE2D_ERROR_DRIVER)                                                        \
    OTHER(IMAGE_FORMAT_NOT_SUPPORTED, ROPE2D_ERROR_UNSUPPORTED)                                              \
    OTHER(BUILD_PROGRAM_FAILURE, ROPE2D_ERROR_COMPILE)                                                       \
    OTHER(MAP_FAILURE, ROPE2D_ERROR_DEVICE_MEMORY)                                                           \
    OTHER(MISALIGNED_SUB_BUFFER_OFFSET, ROPE2D_ERROR_DRIVER)                                                 \
    OTHER(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ROPE2D_ERROR_DEVICE_LOST)                               \
    OTHER(COMPILE_PROGRAM_FAILURE, ROPE2D_ERROR_COMPILE)                                                     \
    OTHER(LINKER_NOT_AVAILABLE, ROPE2D_ERROR_UNSUPPORTED)                                                    \
    OTHER(LINK_PROGRAM_FAILURE, ROPE2D_ERROR_COMPILE)                                                        \
    OTHER(KERNEL_ARG_INFO_NOT_AVAILABLE, ROPE2D_ERROR_DRIVER)                                                \
    INVALID(VALUE, ROPE2D_ERROR_DRIVER)                                                                      \
    INVALID(DEVICE_TYPE, ROPE2D_ERROR_DRIVER)                                                                \
    INVALID(PLATFORM, ROPE2D_ERROR_DRIVER)                                                                   \
    INVALID(DEVICE, ROPE2D_ERROR_DRIVER)                                                                     \
    INVALID(CONTEXT, ROPE2D_ERROR_DRIVER)                                                                    \
    INVALID(QUEUE_PROPERTIES, ROPE2D_ERROR_DRIVER)                                                           \
    INVALID(COMMAND_QUEUE, ROPE2D_ERROR_DRIVER)                                                              \
    INVALID(HOST_PTR, ROPE2D_ERROR_DRIVER)                                                                   \
    INVALID(MEM_OBJECT, ROPE2D_ERROR_DRIVER)                                                                 \
    INVALID(IMAGE_FORMAT_DESCRIPTOR, ROPE2D_ERROR_DRIVER)                                                    \
    INVALID(IMAGE_SIZE, ROPE2D_ERROR_DRIVER)                                                                 \
    INVALID(SAMPLER, ROPE2D_ERROR_DRIVER)                                                                    \
    INVALID(BINARY, ROPE2D_ERROR_DRIVER)                                                                     \
    INVALID(BUILD_OPTIONS, ROPE2D_ERROR_COMPILE)                                                             \
    INVALID(PROGRAM, ROPE2D_ERROR_DRIVER)                                                                    \
    INVALID(PROGRAM_EXECUTABLE, ROPE2D_ERROR_COMPILE)                                                        \
    INVALID(KERNEL_NAME, ROPE2D_ERROR_COMPILE)                                                               \
    INVALID(KERNEL_DEFINITION, ROPE2D_ERROR_COMPILE)                                                         \
    INVALID(KERNEL, ROPE2D_ERROR_DRIVER)                                                                     \
    INVALID(ARG_INDEX, ROPE2D_ERROR_DRIVER)                                                                  \
    INVALID(ARG_VALUE, ROPE2D_ERROR_DRIVER)                                                                  \
    INVALID(ARG_SIZE, ROPE2D_ERROR_DRIVER)                                                                   \
    INVALID(KERNEL_ARGS, ROPE2D_ERROR_DRIVER)                                                                \
    INVALID(WORK_DIMENSION, ROPE2D_ERROR_DRIVER)                                                             \
    INVALID(WORK_GROUP_SIZE, ROPE2D_ERROR_DRIVER)                                                            \
    INVALID(WORK_ITEM_SIZE, ROPE2D_ERROR_DRIVER)                                                             \
    INVALID(GLOBAL_OFFSET, ROPE2D_ERROR_DRIVER)                                                              \
    INVALID(EVENT_WAIT_LIST, ROPE2D_ERROR_DRIVER)                                                            \
    INVALID(EVENT, ROPE2D_ERROR_DRIVER)                                                                      \
    INVALID(OPERATION, ROPE2D_ERROR_DRIVER)                                                                  \
    INVALID(BUFFER_SIZE, ROPE2D_ERROR_DEVICE_MEMORY)                                                         \
    INVALID(GLOBAL_WORK_SIZE, ROPE2D_ERROR_DRIVER)                                                           \
    INVALID(PROPERTY, ROPE2D_ERROR_DRIVER)                                                                   \
    INVALID(IMAGE_DESCRIPTOR, ROPE2D_ERROR_DRIVER)                                                           \
    INVALID(COMPILER_OPTIONS, ROPE2D_ERROR_COMPILE)                                                          \
    INVALID(LINKER_OPTIONS, ROPE2D_ERROR_COMPILE)

static const struct {
    int8_t code;
    uint8_t status;
} errors[] = {
#define OTHER_ENTRY(name, status)   {CL_##name, (uint8_t)(status)},
#define INVALID_ENTRY(name, status) {CL_INVALID_##name, (uint8_t)(status)},
    ERRORS(OTHER_ENTRY, INVALID_ENTRY)
#undef OTHER_ENTRY
#undef INVALID_ENTRY
};

#define OTHER_NAME(name, status)   #name "\0"
#define INVALID_NAME(name, status) "*" #name "\0"
static const char names[] = ERRORS(OTHER_NAME, INVALID_NAME);
#undef OTHER_NAME
#undef INVALID_NAME

rope2d_status rope2d_cl_failed(const rope2d_cl *cl, const char *call, cl_int code) {
    const char *prefix = "";
    const char *name = "an error that OpenCL does not name";
    rope2d_status status = ROPE2D_ERROR_DRIVER;
    for (uint32_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (errors[i].code != code)
            continue;
        name = rope2d_text_at(names, i);
        prefix = *name == '*' ? "CL_INVALID_" : "CL_";
        name += *name == '*';
        status = (rope2d_status)errors[i].status;
    }
    return rope2d_fail(cl->host, status, "OpenCL: %s: %s%s (%d)", call, prefix, name, (int)code);
}

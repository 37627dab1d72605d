// SPDX-License-Identifier: MIT
#include "internal.h"

#define NAME(status) "ROPE2D_" #status "\0"

// In the order of the enumeration.
static const char names[] = // clang-format off
    NAME(OK)
    NAME(ERROR_NULL)
    NAME(ERROR_STRUCT_SIZE)
    NAME(ERROR_ENUM)
    NAME(ERROR_HEAD_DIM)
    NAME(ERROR_ROTARY_RANGE)
    NAME(ERROR_ROTARY_ODD)
    NAME(ERROR_PAIRING)
    NAME(ERROR_AXES)
    NAME(ERROR_FREQUENCY)
    NAME(ERROR_MAGNITUDE)
    NAME(ERROR_DIRECTION)
    NAME(ERROR_COORDINATE)
    NAME(ERROR_ROW)
    NAME(ERROR_TOKENS)
    NAME(ERROR_BATCH)
    NAME(ERROR_HEADS)
    NAME(ERROR_TENSOR_SIZE)
    NAME(ERROR_TENSOR_ALIGNMENT)
    NAME(ERROR_STRIDE)
    NAME(ERROR_OVERLAP)
    NAME(ERROR_IN_PLACE_TYPE)
    NAME(ERROR_MISMATCH)
    NAME(ERROR_LIMIT)
    NAME(ERROR_BACKEND_MISSING)
    NAME(ERROR_DEVICE_INDEX)
    NAME(ERROR_UNSUPPORTED)
    NAME(ERROR_HOST_MEMORY)
    NAME(ERROR_DEVICE_MEMORY)
    NAME(ERROR_DEVICE_LOST)
    NAME(ERROR_DRIVER)
    NAME(ERROR_COMPILE)
    NAME(NOT_READY)
    NAME(ERROR_CACHE);
// clang-format on

const char *rope2d_status_name(rope2d_status status) {
    if ((int)status < 0 || (int)status >= ROPE2D_STATUS_COUNT)
        return "ROPE2D_STATUS_UNKNOWN";
    return rope2d_text_at(names, (uint32_t)status);
}

uint32_t rope2d_version(void) {
    return ROPE2D_VERSION_MAJOR * 1000000u + ROPE2D_VERSION_MINOR * 1000u + ROPE2D_VERSION_PATCH;
}

// SPDX-License-Identifier: MIT
//
// The caller's memory as the addresses that the checks of tensors want.
#include "adopt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROOTS = 2 * ROPE2D_OPENCL_MAX_TENSORS + 1 };
#define POINTER_ALIGNMENT 16u // of the widest access of a kernel

// Buffers have no addresses, but the checks of overlaps want some: each root has a range of its own.
typedef struct address_space {
    const rope2d_cl *cl;
    cl_mem roots[MOST_ROOTS];
    uint64_t addresses[MOST_ROOTS];
    uint32_t count;
    uint64_t next;
    bool has_pointers;
} address_space;

static rope2d_status find_root(address_space *space, cl_mem root, uint64_t *address) {
    const rope2d_cl *cl = space->cl;
    rope2d_status status = ROPE2D_OK;
    size_t size = 0;
    for (uint32_t i = 0; i < space->count; i++) {
        if (space->roots[i] == root) {
            *address = space->addresses[i];
            return ROPE2D_OK;
        }
    }
    CL(GetMemObjectInfo, root, CL_MEM_SIZE, sizeof(size), &size, NULL);
    *address = space->next;
    space->roots[space->count] = root;
    space->addresses[space->count++] = space->next;
    space->next += ((uint64_t)size + 8191) / 4096 * 4096;
fail:
    return status;
}

static bool is_zero(const rope2d_opencl_view *view) {
    return !view->memory && !view->pointer &&
           (view->offset | (uint64_t)view->batch_stride | (uint64_t)view->token_stride |
            (uint64_t)view->head_stride | view->size) == 0;
}

// Pointers are addresses; those that stand for buffers begin behind them.
static rope2d_status reserve_pointer(address_space *space, const rope2d_cl_device *device, const char *name,
                                     const rope2d_opencl_view *given, rope2d_cl_pointers *pointers) {
    const rope2d_host *host = space->cl->host;
    const uint64_t address = (uint64_t)(uintptr_t)given->pointer;
    if (!given->pointer)
        return given->memory
                   ? ROPE2D_OK
                   : rope2d_fail(host, ROPE2D_ERROR_NULL, "%s has neither a memory nor a pointer", name);
    if (given->memory)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "%s has both a memory and a pointer", name);
    if (address % POINTER_ALIGNMENT != 0)
        return rope2d_fail(host, ROPE2D_ERROR_TENSOR_ALIGNMENT,
                           "%s.pointer is %" PRIu64 " bytes past a multiple of %u", name,
                           address % POINTER_ALIGNMENT, (unsigned)POINTER_ALIGNMENT);
    if (given->size > UINT64_MAX / 2 - address)
        return rope2d_fail(host, ROPE2D_ERROR_TENSOR_SIZE, "%s.size %" PRIu64 " reaches past all memory",
                           name, given->size);
    const uint64_t end = (address + given->size + 8191) / 4096 * 4096;
    if (end > space->next)
        space->next = end;
    if (space->has_pointers)
        return ROPE2D_OK;
    space->has_pointers = true;
    return rope2d_cl_pointers_find(device, name, pointers);
}

// A driver takes a foreign object for one of its own, and falls over it.
rope2d_status rope2d_cl_memory_check(const rope2d_cl_device *device, const char *name, cl_mem memory,
                                     cl_mem_flags refused) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    cl_context context = NULL;
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0;
    CL(GetMemObjectInfo, memory, CL_MEM_CONTEXT, sizeof(context), &context, NULL);
    if (context != device->context)
        return rope2d_fail(cl->host, ROPE2D_ERROR_MISMATCH, "%s is of another context than the device", name);
    CL(GetMemObjectInfo, memory, CL_MEM_TYPE, sizeof(type), &type, NULL);
    if (type != CL_MEM_OBJECT_BUFFER)
        return rope2d_fail(cl->host, ROPE2D_ERROR_MISMATCH, "%s has CL_MEM_TYPE 0x%x; must be a buffer, 0x%x",
                           name, (unsigned)type, (unsigned)CL_MEM_OBJECT_BUFFER);
    CL(GetMemObjectInfo, memory, CL_MEM_FLAGS, sizeof(flags), &flags, NULL);
    if (flags & refused)
        return rope2d_fail(cl->host, ROPE2D_ERROR_MISMATCH, "%s has CL_MEM_FLAGS 0x%x, and kernels %s it",
                           name, (unsigned)flags, refused & CL_MEM_READ_ONLY ? "write" : "read");
fail:
    return status;
}

// A kernel that is given memory for another use may do anything.
static rope2d_status check_view(address_space *space, const rope2d_cl_device *device, uint32_t index,
                                const char *side, const rope2d_opencl_view *given, cl_mem_flags refused,
                                rope2d_cl_pointers *pointers) {
    char name[40];
    const int length = snprintf(name, sizeof(name) - 8, "tensors[%u].%s", (unsigned)index, side);
    ROPE2D_TRY(reserve_pointer(space, device, name, given, pointers));
    memcpy(name + length, ".memory", 8);
    return given->memory ? rope2d_cl_memory_check(device, name, given->memory, refused) : ROPE2D_OK;
}

// What is in place is written through `in`.
static rope2d_status check_views(address_space *space, const rope2d_cl_device *device, uint32_t index,
                                 const rope2d_opencl_tensor *tensor, rope2d_cl_pointers *pointers) {
    const bool is_given = !is_zero(&tensor->out);
    const bool in_place = !is_given || tensor->out.memory == tensor->in.memory;
    ROPE2D_TRY(check_view(space, device, index, "in", &tensor->in,
                          CL_MEM_WRITE_ONLY | (in_place ? (cl_mem_flags)CL_MEM_READ_ONLY : 0), pointers));
    return is_given ? check_view(space, device, index, "out", &tensor->out, CL_MEM_READ_ONLY, pointers)
                    : ROPE2D_OK;
}

// The address that stands for a buffer, or for where a sub-buffer begins in its own.
static rope2d_status place_memory(address_space *space, cl_mem memory, uint64_t *address) {
    const rope2d_cl *cl = space->cl;
    rope2d_status status = ROPE2D_OK;
    cl_mem parent = NULL;
    size_t offset = 0;
    CL(GetMemObjectInfo, memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent, NULL);
    if (parent)
        CL(GetMemObjectInfo, memory, CL_MEM_OFFSET, sizeof(offset), &offset, NULL);
    OWN(find_root(space, parent ? parent : memory, address));
    *address += offset;
fail:
    return status;
}

// The view of a host's memory at the address that stands for the buffer.
static rope2d_status place_view(address_space *space, const rope2d_opencl_view *given, rope2d_view *view) {
    const rope2d_cl *cl = space->cl;
    rope2d_status status = ROPE2D_OK;
    size_t size = 0;
    uint64_t address = 0;
    if (!given->memory && !given->pointer)
        return ROPE2D_OK; // all zero
    view->offset = given->offset;
    view->batch_stride = given->batch_stride;
    view->token_stride = given->token_stride;
    view->head_stride = given->head_stride;
    if (given->pointer) {
        view->base = given->pointer;
        view->size = given->size;
        return ROPE2D_OK;
    }
    CL(GetMemObjectInfo, given->memory, CL_MEM_SIZE, sizeof(size), &size, NULL);
    OWN(place_memory(space, given->memory, &address));
    view->base = (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr): never followed
    view->size = size;
fail:
    return status;
}

rope2d_status rope2d_cl_views_place(const rope2d_cl_device *device,
                                    const rope2d_opencl_binding_params *params, rope2d_tensor *tensors,
                                    uint64_t *rows, rope2d_cl_pointers *pointers) {
    address_space space = {.cl = &device->cl, .next = 4096};
    for (uint32_t i = 0; i < params->tensor_count; i++)
        ROPE2D_TRY(check_views(&space, device, i, &params->tensors[i], pointers));
    for (uint32_t i = 0; i < params->tensor_count; i++) {
        tensors[i].heads = params->tensors[i].heads;
        ROPE2D_TRY(place_view(&space, &params->tensors[i].in, &tensors[i].in));
        ROPE2D_TRY(place_view(&space, &params->tensors[i].out, &tensors[i].out));
    }
    return params->rows ? place_memory(&space, params->rows, rows) : ROPE2D_OK;
}

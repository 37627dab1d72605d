// SPDX-License-Identifier: MIT
//
// The caller's memory as the addresses that the checks of tensors want.
#include "adopt.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_ROOTS = 2 * ROPE2D_OPENCL_MAX_TENSORS };
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
    CL(cl->GetMemObjectInfo(root, CL_MEM_SIZE, sizeof(size), &size, NULL));
    *address = space->next;
    space->roots[space->count] = root;
    space->addresses[space->count++] = space->next;
    space->next += ((uint64_t)size + 8191) / 4096 * 4096;
fail:
    return status;
}

// Pointers are addresses; those that stand for buffers begin behind them.
static rope2d_status reserve_pointer(address_space *space, const rope2d_opencl_view *given) {
    const uint64_t address = (uint64_t)(uintptr_t)given->pointer;
    if (!given->pointer)
        return ROPE2D_OK;
    if (given->memory)
        return rope2d_fail(space->cl->host, ROPE2D_ERROR_MISMATCH,
                           "tensors: a view has both a memory and a pointer");
    if (address % POINTER_ALIGNMENT != 0)
        return rope2d_fail(space->cl->host, ROPE2D_ERROR_TENSOR_ALIGNMENT,
                           "tensors: a pointer is at %" PRIu64 " bytes past a multiple of %u",
                           address % POINTER_ALIGNMENT, (unsigned)POINTER_ALIGNMENT);
    if (given->size > UINT64_MAX / 2 - address)
        return rope2d_fail(space->cl->host, ROPE2D_ERROR_TENSOR_SIZE,
                           "tensors: size %" PRIu64 " reaches past all memory", given->size);
    const uint64_t end = (address + given->size + 8191) / 4096 * 4096;
    if (end > space->next)
        space->next = end;
    space->has_pointers = true;
    return ROPE2D_OK;
}

// The view of a host's memory at the address that stands for the buffer.
static rope2d_status place_view(address_space *space, const rope2d_opencl_view *given, rope2d_view *view) {
    const rope2d_cl *cl = space->cl;
    rope2d_status status = ROPE2D_OK;
    cl_mem parent = NULL;
    size_t size = 0, offset = 0;
    uint64_t address = 0;
    if (!given->memory && !given->pointer)
        return ROPE2D_OK; // all zero, or refused by the checks
    view->offset = given->offset;
    view->batch_stride = given->batch_stride;
    view->token_stride = given->token_stride;
    view->head_stride = given->head_stride;
    if (given->pointer) {
        view->base = given->pointer;
        view->size = given->size;
        return ROPE2D_OK;
    }
    CL(cl->GetMemObjectInfo(given->memory, CL_MEM_SIZE, sizeof(size), &size, NULL));
    CL(cl->GetMemObjectInfo(given->memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent, NULL));
    if (parent)
        CL(cl->GetMemObjectInfo(given->memory, CL_MEM_OFFSET, sizeof(offset), &offset, NULL));
    OWN(find_root(space, parent ? parent : given->memory, &address));
    view->base = (void *)(uintptr_t)(address + offset); // NOLINT(performance-no-int-to-ptr): never followed
    view->size = size;
fail:
    return status;
}

rope2d_status rope2d_cl_views_place(const rope2d_cl_device *device,
                                    const rope2d_opencl_binding_params *params, rope2d_tensor *tensors,
                                    bool *has_pointers) {
    address_space space = {.cl = &device->cl, .next = 4096};
    for (uint32_t i = 0; i < params->tensor_count; i++) {
        ROPE2D_TRY(reserve_pointer(&space, &params->tensors[i].in));
        ROPE2D_TRY(reserve_pointer(&space, &params->tensors[i].out));
    }
    for (uint32_t i = 0; i < params->tensor_count; i++) {
        tensors[i].heads = params->tensors[i].heads;
        ROPE2D_TRY(place_view(&space, &params->tensors[i].in, &tensors[i].in));
        ROPE2D_TRY(place_view(&space, &params->tensors[i].out, &tensors[i].out));
    }
    *has_pointers = space.has_pointers;
    return ROPE2D_OK;
}

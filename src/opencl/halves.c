// SPDX-License-Identifier: MIT
//
// A processor's conversions of f16, in the kernels of shaders/token.h: used once they gave the portable
// path's bits on this device, in a program that is about to be used.
#include "opencl.h"

#include "../halves.h"

#include <string.h>

// Halves at a time: less memory to touch first, which takes as long as the rest.
#define SOME (ROPE2D_HALVES / 4)

typedef struct conversion {
    uint32_t each; // of a half
    uint32_t in_size;
    uint32_t out_size;
} conversion;

static const conversion conversions[] = {
    [ROPE2D_CL_WIDEN] = {1, 2, 4},
    [ROPE2D_CL_NARROW] = {ROPE2D_EDGES, 4, 2},
};

static void fill(void *memory, uint32_t first, rope2d_cl_conversion which) {
    uint16_t *halves = memory;
    uint32_t *numbers = memory;
    for (uint32_t i = 0; i < SOME; i++) {
        if (which == ROPE2D_CL_WIDEN)
            halves[i] = (uint16_t)(first + i);
        else
            rope2d_half_edges(first + i, numbers + ROPE2D_EDGES * i);
    }
}

static uint32_t count_wrong(const void *memory, uint32_t first, rope2d_cl_conversion which) {
    const uint16_t *halves = memory;
    const uint32_t *numbers = memory;
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < SOME; i++)
        wrong += which == ROPE2D_CL_WIDEN ? rope2d_half_count_widened(first + i, numbers + i)
                                          : rope2d_half_count_narrowed(first + i, halves + ROPE2D_EDGES * i);
    return wrong;
}

// One kernel for both, and the same work-items, for each is another that drivers compile.
static rope2d_status run(const rope2d_cl_device *device, cl_kernel kernel, rope2d_cl_conversion which,
                         rope2d_cl_staging *in, rope2d_cl_staging *out) {
    const rope2d_cl *cl = &device->cl;
    const size_t items = SOME / 8;
    const cl_uint widens = which == ROPE2D_CL_WIDEN;
    rope2d_status status = ROPE2D_OK;
    CL(cl->SetKernelArg(kernel, widens ? 0 : 1, sizeof(cl_mem), &in->memory));
    CL(cl->SetKernelArg(kernel, widens ? 1 : 0, sizeof(cl_mem), &out->memory));
    CL(cl->SetKernelArg(kernel, 2, sizeof(widens), &widens));
    CL(cl->EnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
fail:
    return status;
}

static rope2d_status test(const rope2d_cl_device *device, cl_program program, rope2d_cl_conversion which,
                          uint32_t *wrong) {
    const rope2d_cl *cl = &device->cl;
    const conversion *each = &conversions[which];
    const uint64_t in_bytes = (uint64_t)SOME * each->each * each->in_size;
    const uint64_t out_bytes = (uint64_t)SOME * each->each * each->out_size;
    rope2d_cl_staging in, out;
    rope2d_status status = ROPE2D_OK;
    cl_kernel kernel = NULL;
    memset(&in, 0, sizeof(in));
    memset(&out, 0, sizeof(out));
    CL_MAKE(kernel, cl->CreateKernel(program, "rope2d_halves", &cl_code));
    OWN(rope2d_cl_staging_reserve(device, &in, in_bytes));
    OWN(rope2d_cl_staging_reserve(device, &out, out_bytes));
    for (uint32_t first = 0; first < ROPE2D_HALVES; first += SOME) {
        OWN(rope2d_cl_staging_map(device, &in, CL_MAP_WRITE_INVALIDATE_REGION, in_bytes));
        fill(in.mapped, first, which);
        OWN(rope2d_cl_staging_unmap(device, &in));
        OWN(rope2d_cl_staging_map(device, &out, CL_MAP_WRITE_INVALIDATE_REGION, out_bytes));
        memset(out.mapped, 0xa5, (size_t)out_bytes); // what the kernel does not write is wrong
        OWN(rope2d_cl_staging_unmap(device, &out));
        OWN(run(device, kernel, which, &in, &out));
        OWN(rope2d_cl_staging_map(device, &out, CL_MAP_READ, out_bytes));
        *wrong += count_wrong(out.mapped, first, which);
        OWN(rope2d_cl_staging_unmap(device, &out));
    }
fail:
    if (kernel)
        cl->ReleaseKernel(kernel);
    rope2d_cl_staging_destroy(device, &in);
    rope2d_cl_staging_destroy(device, &out);
    device->cl.Finish(device->queue);
    return status;
}

static bool needs(const rope2d_plan *plan, rope2d_cl_conversion which) {
    return (which == ROPE2D_CL_WIDEN ? plan->in : plan->out) == ROPE2D_F16;
}

static rope2d_cl_proof look_up(rope2d_cl_device *device, rope2d_cl_conversion which) {
    rope2d_lock_take(&device->cache.lock);
    const rope2d_cl_proof proof = device->proofs[which];
    rope2d_lock_give(&device->cache.lock);
    return proof;
}

bool rope2d_cl_halves_wanted(rope2d_cl_device *device, const rope2d_plan *plan) {
    bool any = false, all = true;
    for (unsigned which = 0; which < ROPE2D_CL_CONVERSIONS; which++) {
        if (!needs(plan, which))
            continue;
        const rope2d_cl_proof proof = look_up(device, which);
        any = true;
        all = all && (proof == ROPE2D_CL_EXACT || (proof == ROPE2D_CL_UNKNOWN && plan->may_test));
    }
    return any && all;
}

rope2d_status rope2d_cl_halves_prove(rope2d_cl_device *device, const rope2d_plan *plan, cl_program program,
                                     bool *exact) {
    *exact = true;
    for (unsigned which = 0; which < ROPE2D_CL_CONVERSIONS; which++) {
        uint32_t wrong = 0;
        if (!needs(plan, which) || look_up(device, which) == ROPE2D_CL_EXACT)
            continue;
        ROPE2D_TRY(test(device, program, which, &wrong));
        rope2d_log(device->cl.host, wrong > 0 ? ROPE2D_LOG_WARNING : ROPE2D_LOG_INFO,
                   "%s: %u of %u conversions of f16 by the processor have other bits%s",
                   which == ROPE2D_CL_WIDEN ? "widening" : "narrowing", (unsigned)wrong,
                   (unsigned)(ROPE2D_HALVES * conversions[which].each),
                   wrong > 0 ? ": integers take their place" : "");
        rope2d_lock_take(&device->cache.lock);
        device->proofs[which] = wrong > 0 ? ROPE2D_CL_WRONG : ROPE2D_CL_EXACT;
        rope2d_lock_give(&device->cache.lock);
        *exact = *exact && wrong == 0;
    }
    return ROPE2D_OK;
}

// SPDX-License-Identifier: MIT
//
// A device's dispatch_bytes: however small, an apply has the CPU's bits, in as many dispatches as can be
// worked out from the bytes.
//
//     test_dispatch_bytes vulkan | opencl
#include "apply_once.h"
#include "jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 3, TOKENS = 13, DIM = ONCE_DIM, TENSORS = 3, MOST_HEADS = 4, MOST_DEVICES = 16 };

static const uint32_t heads[TENSORS] = {4, 1, 2};
static tally counts;

// What a token's elements of a tensor are, read and written.
static uint64_t token_bytes(uint32_t tensor, rope2d_element in, rope2d_element out) {
    return (uint64_t)heads[tensor] * DIM * (rope2d_element_size(in) + rope2d_element_size(out));
}

static uint64_t round_up(uint64_t value, uint64_t step) {
    return value / step + (value % step != 0);
}

// Tensors that share dispatches: as many as there is room for, of which one token fits. Then batch elements
// as a whole while one fits, else tokens of one.
static uint64_t expected(uint64_t bound, uint32_t slots, rope2d_element in, rope2d_element out) {
    uint64_t dispatches = 0;
    for (uint32_t tensor = 0, taken; tensor < TENSORS; tensor += taken) {
        uint64_t bytes = token_bytes(tensor, in, out);
        for (taken = 1; taken < slots && tensor + taken < TENSORS; taken++) {
            if (bytes + token_bytes(tensor + taken, in, out) > bound)
                break;
            bytes += token_bytes(tensor + taken, in, out);
        }
        const uint64_t tokens = bound / bytes > 0 ? bound / bytes : 1;
        dispatches += tokens >= TOKENS ? round_up(BATCH, tokens / TOKENS) : BATCH * round_up(TOKENS, tokens);
    }
    return dispatches;
}

typedef struct outcome {
    float values[TENSORS][BATCH * TOKENS * MOST_HEADS * DIM];
    uint64_t dispatches;
    uint32_t slots;
} outcome;

static rope2d_status rotate(rope2d_device *device, rope2d_element type, bool in_place, outcome *found) {
    static float input[TENSORS][BATCH * TOKENS * MOST_HEADS * DIM];
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    rope2d_tensor tensors[TENSORS];
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    once_params once;
    once_params_fill(&once, type, TOKENS, 4);
    memset(found, 0, sizeof(*found));
    for (uint32_t i = 0; i < TENSORS; i++) {
        for (uint32_t j = 0; j < sizeof(input[i]) / sizeof(float); j++)
            input[i][j] = (float)(j % 97) / 16 - (float)i;
        if (in_place)
            memcpy(found->values[i], input[i], sizeof(input[i]));
        tensors[i].heads = heads[i];
        tensors[i].in = rope2d_view_contiguous(in_place ? found->values[i] : input[i], type,
                                               ROPE2D_LAYOUT_BNHD, BATCH, TOKENS, heads[i], DIM);
        tensors[i].out = tensors[i].in;
        tensors[i].out.base = found->values[i];
    }
    const rope2d_apply_params all = {.struct_size = sizeof(all),
                                     .batch = BATCH,
                                     .tokens = TOKENS,
                                     .tensor_count = TENSORS,
                                     .tensors = tensors};
    rope2d_status status = rope2d_plan_create(device, &once.types, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(device, &once.grid, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_plan_get_info(plan, &info);
    found->slots = info.tensors_per_dispatch;
    if (status == ROPE2D_OK)
        status = rope2d_plan_dispatches(plan, positions, &all, &found->dispatches);
    if (status == ROPE2D_OK)
        status = rope2d_apply(plan, positions, &all);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    return status;
}

static rope2d_device *make_device(rope2d_backend backend, uint32_t index, uint64_t bound) {
    const rope2d_device_params params = {
        .struct_size = sizeof(params), .backend = backend, .index = index, .dispatch_bytes = bound};
    rope2d_device *device = NULL;
    const rope2d_status status = rope2d_device_create(&params, &device);
    tally_check(&counts, status == ROPE2D_OK, "device %u: %s", index, rope2d_status_name(status));
    return device;
}

static void compare(rope2d_device *device, rope2d_device *cpu, uint64_t bound, rope2d_element type,
                    bool in_place, const char *name) {
    static outcome found, right;
    const rope2d_status status = rotate(device, type, in_place, &found);
    const uint64_t wanted = expected(bound, found.slots, type, type);
    (void)rotate(cpu, type, in_place, &right);
    tally_check(&counts, status == ROPE2D_OK && memcmp(found.values, right.values, sizeof(found.values)) == 0,
                "%s: %" PRIu64 " bytes, type %d, in place %d: %s, or other bits", name, bound, (int)type,
                in_place, rope2d_status_name(status));
    tally_check(&counts, found.dispatches == wanted,
                "%s: %" PRIu64 " bytes, type %d: %" PRIu64 " dispatches, not %" PRIu64, name, bound,
                (int)type, found.dispatches, wanted);
}

int main(int argc, char **argv) {
    // Less than a token of any tensor, a token of some, tokens, four of f32 to the byte, a batch element and
    // a bit, two; all.
    static const uint64_t bounds[] = {1, 600, 2500, 7168, 9000, 25000, 50000, UINT64_MAX};
    static rope2d_device_info infos[MOST_DEVICES];
    const bool is_vulkan = argc > 1 && strcmp(argv[1], "vulkan") == 0;
    const rope2d_backend backend = is_vulkan ? ROPE2D_BACKEND_VULKAN : ROPE2D_BACKEND_OPENCL;
    uint32_t count = MOST_DEVICES;
    for (int i = 0; i < MOST_DEVICES; i++)
        infos[i].struct_size = sizeof(infos[i]);
    if (rope2d_enumerate(backend, NULL, &count, infos) != ROPE2D_OK || count == 0) {
        counts.skipped++; // that devices are there is what other tests demand
        return tally_finish(&counts);
    }
    rope2d_device *cpu = make_device(ROPE2D_BACKEND_CPU, 0, 1);
    for (uint32_t i = 0; i < count && i < MOST_DEVICES; i++) {
        for (uint32_t b = 0; b < sizeof(bounds) / sizeof(bounds[0]); b++) {
            rope2d_device *device = make_device(backend, i, bounds[b]);
            compare(device, cpu, bounds[b], ROPE2D_F32, b % 2 == 0, infos[i].name);
            compare(device, cpu, bounds[b], ROPE2D_F16, b % 2 == 1, infos[i].name);
            rope2d_device_destroy(device);
        }
    }
    rope2d_device_destroy(cpu);
    return tally_finish(&counts);
}

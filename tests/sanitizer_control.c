// SPDX-License-Identifier: MIT
//
// Three mistakes on purpose, which builds with AddressSanitizer and UndefinedBehaviorSanitizer must end: the
// library reads past memory whose size a caller overstates, loses a device that nobody destroys, and a sum
// overflows.
//
//     sanitizer_control bounds | leak | overflow
#include "rope2d/rope2d.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 8, TOKENS = 4 };

static void bounds(rope2d_device *device) {
    const float freqs[DIM / 2] = {1, 0.5f};
    const float line[TOKENS] = {0, 1, 2, 3};
    const rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = DIM, .axes = 1, .freqs = freqs};
    const rope2d_plan_params types = {
        .struct_size = sizeof(types), .spec = &spec, .flags = ROPE2D_PLAN_NO_SELF_TEST};
    const rope2d_positions_params row = {
        .struct_size = sizeof(row), .spec = &spec, .tokens = TOKENS, .coordinates = line};
    float *values = calloc((TOKENS - 1) * DIM, sizeof(*values)); // one token less than is said
    const rope2d_tensor q = {
        .heads = 1, .in = rope2d_view_contiguous(values, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS, 1, DIM)};
    const rope2d_apply_params all = {
        .struct_size = sizeof(all), .batch = 1, .tokens = TOKENS, .tensor_count = 1, .tensors = &q};
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    if (values && rope2d_plan_create(device, &types, &plan) == ROPE2D_OK &&
        rope2d_positions_create(device, &row, &positions) == ROPE2D_OK)
        (void)rope2d_apply(plan, positions, &all);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    free(values);
}

int main(int argc, char **argv) {
    const rope2d_host host = {.struct_size = sizeof(host), .threads = 1};
    const rope2d_device_params params = {.struct_size = sizeof(params), .host = &host};
    const char *what = argc > 1 ? argv[1] : "";
    volatile int most = INT_MAX;
    rope2d_device *device = NULL;
    if (rope2d_device_create(&params, &device) != ROPE2D_OK)
        return 2;
    if (strcmp(what, "bounds") == 0)
        bounds(device);
    if (strcmp(what, "overflow") == 0)
        printf("%d\n", most + argc);
    if (strcmp(what, "leak") != 0)
        rope2d_device_destroy(device);
    device = NULL;
    return 0;
}

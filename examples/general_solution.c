// SPDX-License-Identifier: MIT
//
// A rotary embedding that is given as two matrices: R(x, y) = exp(x B1 + y B2). Here a head of 4 channels is
// a quaternion, B1 multiplies it by i from the left and B2 by j from the right. Both commute, since (i q) j =
// i (q j), so there is a basis in which R is an ordinary spec; it turns one pair by x + y and one by x - y.
// Multiplying by i and by j from the same side does not commute, and is refused.
#include "commuting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 4, TOKENS = 4 };

// clang-format off
static const double left_i[16]  = {0, -1, 0, 0,   1, 0, 0, 0,    0, 0, 0, -1,   0, 0, 1, 0};
static const double left_j[16]  = {0, 0, -1, 0,   0, 0, 0, 1,    1, 0, 0, 0,    0, -1, 0, 0};
static const double right_j[16] = {0, 0, -1, 0,   0, 0, 0, -1,   1, 0, 0, 0,    0, 1, 0, 0};
// clang-format on

static commuting_status find(const double *b1, const double *b2, commuting *found) {
    double both[2 * SIZE * SIZE];
    for (int i = 0; i < SIZE * SIZE; i++) {
        both[i] = b1[i];
        both[SIZE * SIZE + i] = b2[i];
    }
    return commuting_find(SIZE, 2, both, found);
}

// In the basis, rotates, and leaves it again. A model would multiply the basis into the weights of q and k
// once, and need neither step: q.k is the same in every orthonormal basis.
static rope2d_status rotate(const commuting *found, const float *xy, float (*vectors)[SIZE]) {
    rope2d_device *device = NULL;
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    float inside[TOKENS][SIZE];
    rope2d_device_params cpu = {.struct_size = sizeof(cpu)};
    rope2d_positions_params where = {sizeof(where), &found->spec, .tokens = TOKENS, .coordinates = xy};
    rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &found->spec};
    rope2d_tensor tensor = {.heads = 1};
    rope2d_apply_params apply = {sizeof(apply), 1, .tokens = TOKENS, .tensor_count = 1, .tensors = &tensor};

    for (int t = 0; t < TOKENS; t++)
        commuting_enter(found, vectors[t], inside[t]);
    tensor.in = rope2d_view_contiguous(inside, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS, 1, SIZE);
    rope2d_status status = rope2d_device_create(&cpu, &device);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(device, &where, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(device, &types, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_apply(plan, positions, &apply);
    for (int t = 0; t < TOKENS && status == ROPE2D_OK; t++)
        commuting_leave(found, inside[t], vectors[t]);
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    rope2d_device_destroy(device);
    return status;
}

static double dot(const float *a, const float *b) {
    double sum = 0;
    for (int i = 0; i < SIZE; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

int main(void) {
    static commuting found;
    if (find(left_i, right_j, &found) != COMMUTING_OK)
        return EXIT_FAILURE;
    printf("exp(x B1 + y B2), B1 = i from the left, B2 = j from the right\n");
    for (uint32_t i = 0; i < found.pairs; i++)
        printf("  pair %u turns by %+.3f x %+.3f y\n", i, (double)found.freqs[i],
               (double)found.freqs[found.pairs + i]);

    // q at (1, 2) and k at (4, -3); then both moved by (10, 20).
    const float xy[TOKENS * 2] = {1, 2, 4, -3, 11, 22, 14, 17};
    float qk[TOKENS][SIZE] = {{1, 2, 3, 4}, {4, -1, 2, 1}, {1, 2, 3, 4}, {4, -1, 2, 1}};
    rope2d_status status = rotate(&found, xy, qk);
    if (status != ROPE2D_OK) {
        fprintf(stderr, "general_solution: %s\n", rope2d_status_name(status));
        return EXIT_FAILURE;
    }
    double here = dot(qk[0], qk[1]), there = dot(qk[2], qk[3]);
    printf("q.k at (1, 2), (4, -3):    %.6f\nq.k moved by (10, 20):     %.6f\n", here, there);
    if (fabs(here - there) > 1e-4)
        return EXIT_FAILURE;

    if (find(left_i, left_j, &found) != COMMUTING_DO_NOT)
        return EXIT_FAILURE;
    printf("i and j both from the left: refused, |B1 B2 - B2 B1| = %.3f\n", found.commutator);
    return EXIT_SUCCESS;
}

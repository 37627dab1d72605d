// SPDX-License-Identifier: MIT
//
// What a factored spec is worth and what it refuses. Its bits and its bound are the harness's.
#include "check.h"
#include "counter.h"
#include "fake_device.h"
#include "rope2d/rope2d.h"

#include <string.h>

#define HEAD_DIM 16
#define PAIRS    (HEAD_DIM / 2)
#define HEADS    3
#define SIDE     12
#define TOKENS   (SIDE * SIDE)

struct scene {
    rope2d_device *device;
    float freqs[2][HEADS][PAIRS];
    float coordinates[TOKENS][2];
    float inputs[TOKENS][HEADS][HEAD_DIM];
};

static void fill(struct scene *scene) {
    for (int axis = 0; axis < 2; axis++)
        for (int head = 0; head < HEADS; head++)
            for (int pair = 0; pair < PAIRS; pair++)
                scene->freqs[axis][head][pair] = (float)(1 + axis + head) / (float)(1 + pair);
    for (int token = 0; token < TOKENS; token++) {
        scene->coordinates[token][0] = (float)(token / SIDE);
        scene->coordinates[token][1] = (float)(token % SIDE);
    }
    counter_fill(scene->inputs, COUNTER_F32, COUNTER_BELL, 1, 0, 0, sizeof(scene->inputs) / sizeof(float));
}

// All heads have frequencies of their own, and every pair turns by both axes.
static rope2d_spec spec_of(const struct scene *scene, uint32_t axes, uint32_t factored) {
    return (rope2d_spec){.struct_size = sizeof(rope2d_spec),
                         .head_dim = HEAD_DIM,
                         .axes = axes,
                         .pairing = ROPE2D_PAIRING_HALF,
                         .freq_heads = HEADS,
                         .freqs = scene->freqs[0][0],
                         .factored = factored};
}

static rope2d_positions *positions_of(const struct scene *scene, const rope2d_spec *spec,
                                      const float *coordinates) {
    rope2d_positions_params params = {
        .struct_size = sizeof(params), .spec = spec, .tokens = TOKENS, .coordinates = coordinates};
    rope2d_positions *positions = NULL;
    (void)CHECK(rope2d_positions_create(scene->device, &params, &positions) == ROPE2D_OK, "positions");
    return positions;
}

static rope2d_status rotate(const struct scene *scene, const rope2d_spec *spec, rope2d_positions *positions,
                            float *outputs) {
    rope2d_plan_params params = {.struct_size = sizeof(params), .spec = spec};
    rope2d_plan *plan = NULL;
    rope2d_status status = rope2d_plan_create(scene->device, &params, &plan);
    memcpy(outputs, scene->inputs, sizeof(scene->inputs));
    rope2d_tensor tensor = {
        .heads = HEADS,
        .in = rope2d_view_contiguous(outputs, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM)};
    rope2d_apply_params apply = {
        .struct_size = sizeof(apply), .batch = 1, .tokens = TOKENS, .tensor_count = 1, .tensors = &tensor};
    if (status == ROPE2D_OK)
        status = rope2d_apply(plan, positions, &apply);
    rope2d_plan_destroy(plan);
    return status;
}

static float one[TOKENS][HEADS][HEAD_DIM], other[TOKENS][HEADS][HEAD_DIM];

static void test_one_factor(const struct scene *scene) {
    static float y[TOKENS];
    for (int token = 0; token < TOKENS; token++)
        y[token] = scene->coordinates[token][0];
    const rope2d_spec plain = spec_of(scene, 1, 0), factored = spec_of(scene, 1, 1);
    rope2d_positions *of_plain = positions_of(scene, &plain, y),
                     *of_factored = positions_of(scene, &factored, y);
    bool good = rotate(scene, &plain, of_plain, one[0][0]) == ROPE2D_OK &&
                rotate(scene, &factored, of_factored, other[0][0]) == ROPE2D_OK;
    CHECK(good && memcmp(one, other, sizeof(one)) == 0, "a single factor has the bits of the sum");

    // With the second axis left out of every token, two axes are that single factor.
    int32_t rows[TOKENS][2];
    float list[SIDE];
    for (int i = 0; i < SIDE; i++)
        list[i] = (float)i;
    for (int token = 0; token < TOKENS; token++) {
        rows[token][0] = token / SIDE;
        rows[token][1] = -1;
    }
    const rope2d_spec two = spec_of(scene, 2, 1);
    rope2d_positions_params params = {.struct_size = sizeof(params),
                                      .spec = &two,
                                      .tokens = TOKENS,
                                      .rows = rows[0],
                                      .list_counts = {SIDE, 1},
                                      .lists = {list, list}};
    rope2d_positions *left_out = NULL;
    good = rope2d_positions_create(scene->device, &params, &left_out) == ROPE2D_OK &&
           rotate(scene, &two, left_out, other[0][0]) == ROPE2D_OK;
    CHECK(good && memcmp(one, other, sizeof(one)) == 0, "a negative row leaves its factor out");
    rope2d_positions_destroy(left_out);
    rope2d_positions_destroy(of_plain);
    rope2d_positions_destroy(of_factored);
}

// Heads' tables are found once for two tensors, which then have what each has alone; a token that does not
// turn passes through in both.
static void test_two_tensors(const struct scene *scene, uint32_t factored) {
    static float alone[TOKENS][HEADS][HEAD_DIM];
    const rope2d_spec spec = spec_of(scene, 2, factored);
    const rope2d_range unrotated = {3, 5};
    rope2d_positions_params params = {.struct_size = sizeof(params),
                                      .spec = &spec,
                                      .tokens = TOKENS,
                                      .coordinates = scene->coordinates[0],
                                      .unrotated = &unrotated,
                                      .unrotated_count = 1};
    const rope2d_plan_params plan_params = {.struct_size = sizeof(plan_params), .spec = &spec};
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    bool good = rope2d_positions_create(scene->device, &params, &positions) == ROPE2D_OK &&
                rope2d_plan_create(scene->device, &plan_params, &plan) == ROPE2D_OK &&
                rotate(scene, &spec, positions, alone[0][0]) == ROPE2D_OK;
    rope2d_view in = rope2d_view_contiguous((void *)(uintptr_t)scene->inputs, ROPE2D_F32, ROPE2D_LAYOUT_BNHD,
                                            1, TOKENS, HEADS, HEAD_DIM);
    rope2d_tensor tensors[2] = {{HEADS, in, in}, {HEADS, in, in}};
    tensors[0].out.base = one;
    tensors[1].out.base = other;
    const rope2d_apply_params apply = {
        .struct_size = sizeof(apply), .batch = 1, .tokens = TOKENS, .tensor_count = 2, .tensors = tensors};
    memset(one, 0, sizeof(one));
    memset(other, 0, sizeof(other));
    good = good && rope2d_apply(plan, positions, &apply) == ROPE2D_OK;
    CHECK(good && memcmp(alone, one, sizeof(one)) == 0, "the first of two, factored %u", factored);
    CHECK(good && memcmp(alone, other, sizeof(other)) == 0, "the second of two, factored %u", factored);
    CHECK(memcmp(other[3], (const float *)scene->inputs + (size_t)3 * HEADS * HEAD_DIM, sizeof(other[3])) ==
              0,
          "a token of the second that passes through, factored %u", factored);
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
}

static void test_size(const struct scene *scene) {
    const rope2d_spec plain = spec_of(scene, 2, 0), factored = spec_of(scene, 2, 1);
    rope2d_positions *of_plain = positions_of(scene, &plain, scene->coordinates[0]);
    rope2d_positions *of_factored = positions_of(scene, &factored, scene->coordinates[0]);
    rope2d_positions_info info = {.struct_size = sizeof(info)};
    bool good = rope2d_positions_get_info(of_plain, &info) == ROPE2D_OK;
    CHECK(good && info.table_rows == TOKENS && info.table_columns == HEADS * PAIRS && info.row_axes == 1,
          "a sum has a row for each token");
    good = rope2d_positions_get_info(of_factored, &info) == ROPE2D_OK;
    CHECK(good && info.table_rows == SIDE && info.table_columns == 2 * HEADS * PAIRS && info.row_axes == 2 &&
              info.is_axial == 1,
          "factors have a row for each coordinate");
    good = rotate(scene, &plain, of_plain, one[0][0]) == ROPE2D_OK &&
           rotate(scene, &factored, of_factored, other[0][0]) == ROPE2D_OK;
    CHECK(good && memcmp(one, other, sizeof(one)) != 0, "two factors have bits of their own");
    CHECK(rotate(scene, &plain, of_factored, one[0][0]) == ROPE2D_ERROR_MISMATCH &&
              rotate(scene, &factored, of_plain, one[0][0]) == ROPE2D_ERROR_MISMATCH,
          "plan and positions agree, or say that they do not");
    rope2d_positions_destroy(of_plain);
    rope2d_positions_destroy(of_factored);
}

static void test_refusals(const struct scene *scene) {
    struct fake_device fake;
    fake_device_init(&fake);
    const rope2d_host *host = &fake.device.host;
    rope2d_spec spec = spec_of(scene, 2, 2);
    uint32_t lines = fake.lines;
    CHECK(rope2d_spec_check(&spec, host) == ROPE2D_ERROR_ENUM &&
              fake_device_logged(&fake, lines, "spec.factored is 2"),
          "factored is 0 or 1");
    spec = spec_of(scene, 2, 1);
    spec.freqs_hi = spec.freqs;
    CHECK(rope2d_spec_check(&spec, host) == ROPE2D_OK, "two angles have factors");
    spec.direction = ROPE2D_TRANSPOSE;
    lines = fake.lines;
    CHECK(rope2d_spec_check(&spec, host) == ROPE2D_ERROR_DIRECTION &&
              fake_device_logged(&fake, lines, "spec.factored is 1"),
          "but their transpose has none");
    static float magnitudes[TOKENS][PAIRS];
    spec = spec_of(scene, 2, 1);
    rope2d_positions_params params = {.struct_size = sizeof(params),
                                      .spec = &spec,
                                      .tokens = TOKENS,
                                      .coordinates = scene->coordinates[0],
                                      .magnitudes = magnitudes[0]};
    rope2d_positions *positions = NULL;
    CHECK(rope2d_positions_create(scene->device, &params, &positions) == ROPE2D_ERROR_MAGNITUDE &&
              positions == NULL,
          "magnitudes of tokens are refused");
    params.magnitudes = NULL;
    static float far[TOKENS][2];
    memcpy(far, scene->coordinates, sizeof(far));
    far[5][1] = 3e38f;
    params.coordinates = far[0];
    spec.angles = ROPE2D_ANGLES_FP32;
    CHECK(rope2d_positions_create(scene->device, &params, &positions) == ROPE2D_ERROR_COORDINATE &&
              positions == NULL,
          "an fp32 angle of the second axis overflows");
}

int main(void) {
    static struct scene scene;
    rope2d_device_params params = {.struct_size = sizeof(params)};
    fill(&scene);
    if (CHECK(rope2d_device_create(&params, &scene.device) == ROPE2D_OK, "a device")) {
        test_one_factor(&scene);
        test_two_tensors(&scene, 0);
        test_two_tensors(&scene, 1);
        test_size(&scene);
        test_refusals(&scene);
    }
    rope2d_device_destroy(scene.device);
    return check_finish();
}

// SPDX-License-Identifier: MIT
#include "calls.h"

#include "structs.h"
#include "target.h"

#include <string.h>

enum { SLOTS = 3, MOST_CALLS = 24 };

struct scene {
    struct reader *reader;
    struct memory *memory;
    rope2d_device *device;
    rope2d_host host;
    rope2d_spec specs[SLOTS];
    rope2d_positions *positions[SLOTS];
    uint32_t head_dims[SLOTS]; // of plans
    rope2d_plan *plans[SLOTS];
};

static uint32_t slot(struct scene *scene) {
    return reader_byte(scene->reader) % SLOTS;
}

// Every failure has its line; memory that ran out is one, too.
static void check(struct scene *scene, rope2d_status status) {
    FUZZ_PROMISE((unsigned)status < ROPE2D_STATUS_COUNT);
    FUZZ_PROMISE(status == ROPE2D_OK || status == ROPE2D_NOT_READY || scene->memory->is_loud);
    scene->memory->is_loud = false;
}

static void make_spec(struct scene *scene) {
    rope2d_spec *spec = &scene->specs[slot(scene)];
    *spec = structs_spec(scene->reader);
    const rope2d_status status = rope2d_spec_check(spec, &scene->host);
    if (scene->host.struct_size == sizeof scene->host)
        check(scene, status);
    const uint32_t pairs = rope2d_spec_pairs(spec), is_axial = rope2d_spec_is_axial(spec);
    FUZZ_PROMISE(is_axial <= 1 && pairs <= ROPE2D_MAX_HEAD_DIM / 2);
    if (status == ROPE2D_OK)
        FUZZ_PROMISE(pairs == structs_pairs(spec));
}

static void make_positions(struct scene *scene) {
    const uint32_t at = slot(scene), from = slot(scene);
    rope2d_positions *made = NULL;
    rope2d_positions_params params =
        structs_positions(scene->reader, &scene->specs[slot(scene)], scene->positions[from]);
    const rope2d_status status = rope2d_positions_create(scene->device, &params, &made);
    FUZZ_PROMISE((status == ROPE2D_OK) == (made != NULL));
    if (scene->device)
        check(scene, status);
    if (!made)
        return;
    rope2d_positions_info info = {.struct_size = sizeof info};
    FUZZ_PROMISE(rope2d_positions_get_info(made, &info) == ROPE2D_OK);
    const int32_t *rows = rope2d_positions_host_rows(made);
    const uint64_t count = info.tokens * info.batch * info.row_axes;
    for (uint64_t i = 0; i < count; i++)
        FUZZ_PROMISE(rows[i] >= -1 && rows[i] < (int64_t)info.table_rows);
    rope2d_positions_destroy(scene->positions[at]);
    scene->positions[at] = made;
}

static void make_plan(struct scene *scene) {
    const uint32_t at = slot(scene);
    const rope2d_spec *spec = &scene->specs[slot(scene)];
    rope2d_plan *made = NULL;
    rope2d_plan_params params = structs_plan(scene->reader, spec);
    if (reader_one_in(scene->reader, 16))
        (void)rope2d_prewarm(scene->device, &params, reader_below(scene->reader, 2));
    const rope2d_status status = rope2d_plan_create(scene->device, &params, &made);
    FUZZ_PROMISE((status == ROPE2D_OK) == (made != NULL));
    if (scene->device)
        check(scene, status);
    if (!made)
        return;
    rope2d_plan_destroy(scene->plans[at]);
    scene->plans[at] = made;
    scene->head_dims[at] = spec->head_dim;
}

// A driver may fail, and an adopted device need not have a queue.
static bool is_cpu(const struct scene *scene) {
    rope2d_device_info info = {.struct_size = sizeof info};
    return rope2d_device_get_info(scene->device, &info) == ROPE2D_OK && info.backend == ROPE2D_BACKEND_CPU;
}

static void apply(struct scene *scene) {
    const uint32_t at = slot(scene);
    const rope2d_plan *plan = scene->plans[at];
    const rope2d_positions *positions = scene->positions[slot(scene)];
    const rope2d_apply_params params = structs_apply(scene->reader, plan, positions, scene->head_dims[at]);
    uint64_t dispatches = 0;
    const rope2d_status counted = rope2d_plan_dispatches(plan, positions, &params, &dispatches);
    if (plan)
        check(scene, counted);
    const rope2d_status status = rope2d_apply(plan, positions, &params);
    if (plan)
        check(scene, status);
    FUZZ_PROMISE(counted == status || scene->memory->fail_at || !is_cpu(scene));
}

static void ask(struct scene *scene) {
    struct reader *reader = scene->reader;
    const uint32_t at = slot(scene);
    rope2d_device_info infos[2];
    rope2d_plan_info plan = {.struct_size = reader_struct_size(reader, sizeof plan)};
    rope2d_positions_info positions = {.struct_size = reader_struct_size(reader, sizeof positions)};
    uint32_t count = reader_below(reader, 3);
    uint64_t size = reader_number(reader) % 64;
    void *bytes = reader_block_or_null(reader, size);
    infos[0].struct_size = infos[1].struct_size = reader_struct_size(reader, sizeof infos[0]);
    (void)rope2d_enumerate(ROPE2D_BACKEND_CPU, &scene->host, &count, reader_one_in(reader, 2) ? infos : NULL);
    (void)rope2d_enumerate((rope2d_backend)(3 + reader_number(reader) % 1000), &scene->host, &count, infos);
    (void)rope2d_device_get_info(scene->device, infos);
    (void)rope2d_plan_get_info(scene->plans[at], &plan);
    (void)rope2d_positions_get_info(scene->positions[at], &positions);
    (void)rope2d_positions_host_table(scene->positions[at]);
    (void)rope2d_device_set_cache(scene->device, bytes, bytes ? size : reader_number(reader));
    (void)rope2d_device_get_cache(scene->device, bytes, &size);
    FUZZ_PROMISE(rope2d_status_name((rope2d_status)reader_number(reader)) != NULL);
    (void)rope2d_element_size((rope2d_element)reader_number(reader));
    scene->memory->is_loud = false;
}

static void forget(struct scene *scene) {
    const uint32_t at = slot(scene);
    rope2d_plan_destroy(scene->plans[at]);
    scene->plans[at] = NULL;
    rope2d_positions_destroy(scene->positions[at]);
    scene->positions[at] = NULL;
}

void calls_run(struct reader *reader, rope2d_device *device, struct memory *memory) {
    static void (*const calls[])(struct scene *) = {make_spec, make_positions, make_plan, apply, apply,
                                                    ask,       forget};
    struct scene scene;
    memset(&scene, 0, sizeof scene);
    scene.reader = reader;
    scene.memory = memory;
    scene.device = device;
    scene.host = memory_host(memory);
    if (reader_one_in(reader, 32))
        scene.host.struct_size = reader_struct_size(reader, sizeof scene.host);
    memory->is_loud = false;
    for (unsigned i = 0; i < MOST_CALLS && !reader_is_empty(reader); i++)
        calls[i < 3 ? i : reader_byte(reader) % 7](&scene); // one of each first
    for (size_t i = 0; i < SLOTS; i++) {
        rope2d_plan_destroy(scene.plans[i]);
        rope2d_positions_destroy(scene.positions[i]);
    }
}

rope2d_device *calls_device(struct reader *reader, rope2d_backend backend, const rope2d_host *host) {
    rope2d_device *device = NULL;
    const rope2d_device_params params = {.struct_size = sizeof params,
                                         .backend = backend,
                                         .index = reader_one_in(reader, 16),
                                         .flags =
                                             reader_one_in(reader, 4) ? (uint32_t)reader_number(reader) : 0,
                                         .dispatch_bytes = reader_byte(reader) * 16u,
                                         .host = host};
    const rope2d_status status = rope2d_device_create(&params, &device);
    FUZZ_PROMISE((status == ROPE2D_OK) == (device != NULL));
    return device;
}

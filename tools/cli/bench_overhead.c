// SPDX-License-Identifier: MIT
//
// What happens once for a model, an image or a command buffer, and not for every byte.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "bench_run.h"
#include "bench_time.h"
#include "compare.h"
#include "message.h"

enum { TOKENS = 1024, REPEATS = 7 };
// Applies on a slow device are not repeated for longer.
static const double LONG_ENOUGH = 0.5;

struct once {
    struct bench_run *run;
    struct bench_case what;
    struct bench_spec spec;
    struct bench_overhead *overhead;
    rope2d_plan *plan;
    rope2d_positions *positions;
};

static rope2d_plan_params plan_params(const struct once *once) {
    return (rope2d_plan_params){
        .struct_size = sizeof(rope2d_plan_params),
        .spec = &once->spec.spec,
        .in = once->what.element,
        .out = once->what.element,
    };
}

static rope2d_status time_plan(struct once *once, rope2d_plan **plan, double *seconds) {
    rope2d_plan_params params = plan_params(once);
    double begin = seconds_now();
    rope2d_status status = rope2d_plan_create(once->run->engine.device, &params, plan);
    *seconds = seconds_now() - begin;
    return status;
}

// A plan of a structure that the device has a plan of already.
static rope2d_status time_plans_in_memory(struct once *once) {
    double seconds[REPEATS];
    rope2d_status status = ROPE2D_OK;
    for (int i = 0; i < REPEATS && !status; ++i) {
        rope2d_plan *plan = NULL;
        status = time_plan(once, &plan, &seconds[i]);
        rope2d_plan_destroy(plan);
    }
    once->overhead->plan_memory = status ? 0 : bench_spread_of(seconds, REPEATS).median;
    return status;
}

// The device has made no plan before the first, and its driver's own cache on disk is an empty folder.
static rope2d_status time_plans(struct once *once) {
    const struct bench_engine *engine = &once->run->engine;
    struct bench_overhead *overhead = once->overhead;
    double before = engine->ops->compile_seconds(engine);
    rope2d_status status = time_plan(once, &once->plan, &overhead->plan_cold);
    double after = engine->ops->compile_seconds(engine);
    overhead->compile = after < 0 ? -1 : after - before;
    rope2d_plan_destroy(once->plan);
    once->plan = NULL;
    before = engine->ops->compile_seconds(engine);
    if (!status)
        status = time_plan(once, &once->plan, &overhead->plan_again);
    after = engine->ops->compile_seconds(engine);
    overhead->compile_again = after < 0 ? -1 : after - before;
    if (!status)
        status = time_plans_in_memory(once);
    return status;
}

static rope2d_status time_positions(struct once *once) {
    double seconds[REPEATS];
    rope2d_status status = ROPE2D_OK;
    for (int i = 0; i < REPEATS && !status; ++i) {
        rope2d_positions_destroy(once->positions);
        double begin = seconds_now();
        status = bench_positions_create(once->run->engine.device, &once->what, once->spec.spec.pairing,
                                        ROPE2D_TABLE_AUTO, &once->positions);
        seconds[i] = seconds_now() - begin;
    }
    once->overhead->positions = status ? 0 : bench_spread_of(seconds, REPEATS).median;
    return status;
}

static void fill(const struct once *once, unsigned char *memory) {
    bench_fill(memory, once->what.element, 0, bench_bytes(&once->what) / sizeof(float));
}

// In place.
static rope2d_status apply(const struct once *once, const rope2d_plan *plan,
                           const rope2d_positions *positions, unsigned char *memory, double *seconds) {
    const struct bench_tower *tower = once->what.tower;
    uint64_t bytes = bench_bytes(&once->what) / BENCH_TENSORS;
    rope2d_tensor tensors[BENCH_TENSORS] = {{0}};
    for (uint32_t i = 0; i < BENCH_TENSORS; ++i) {
        tensors[i].heads = tower->heads;
        tensors[i].in = rope2d_view_contiguous(memory + i * bytes, once->what.element, ROPE2D_LAYOUT_BNHD, 1,
                                               TOKENS, tower->heads, tower->head_dim);
    }
    rope2d_apply_params params = {
        .struct_size = sizeof params,
        .batch = 1,
        .tokens = TOKENS,
        .tensor_count = BENCH_TENSORS,
        .tensors = tensors,
    };
    double begin = seconds_now();
    rope2d_status status = rope2d_apply(plan, positions, &params);
    *seconds = seconds_now() - begin;
    return status;
}

// What the portable path makes of the same content.
static rope2d_status rotate_portably(const struct once *once, unsigned char *expected) {
    rope2d_plan_params params = plan_params(once);
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    double seconds;
    params.flags |= ROPE2D_PLAN_NO_SELF_TEST; // it would compare the path with itself
    fill(once, expected);
    rope2d_status status = rope2d_plan_create(once->run->portable, &params, &plan);
    if (!status)
        status = bench_positions_create(once->run->portable, &once->what, once->spec.spec.pairing,
                                        ROPE2D_TABLE_BUFFER, &positions);
    if (!status)
        status = apply(once, plan, positions, expected, &seconds);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    return status;
}

static void compare(struct once *once, const unsigned char *values, const unsigned char *expected) {
    rope2d_plan_info info = {.struct_size = sizeof info};
    uint64_t count = bench_bytes(&once->what) / sizeof(float);
    if (rope2d_plan_get_info(once->plan, &info) ||
        compare_bits(values, expected, once->what.element, count, info.exactness).count)
        once->overhead->is_equal = false;
}

static rope2d_status time_applies(struct once *once, unsigned char *memory, unsigned char *expected) {
    struct bench_overhead *overhead = once->overhead;
    double seconds[REPEATS], unused;
    uint32_t repeats = 0;
    rope2d_status status = apply(once, once->plan, once->positions, memory, &overhead->first_apply);
    if (!status)
        status = rotate_portably(once, expected);
    if (!status)
        compare(once, memory, expected);
    double started = seconds_now();
    while (repeats < REPEATS && !status && (repeats == 0 || seconds_now() - started < LONG_ENOUGH))
        status = apply(once, once->plan, once->positions, memory, &seconds[repeats++]);
    overhead->next_apply = status ? 0 : bench_spread_of(seconds, repeats).median;
    fill(once, memory);
    if (!status)
        status = apply(once, once->plan, once->positions, memory, &unused);
    if (!status)
        compare(once, memory, expected);
    if (overhead->is_equal)
        return status;
    message("%s: no number for applies and positions: elements differ from the portable path's",
            once->run->engine.choice->name);
    overhead->first_apply = overhead->next_apply = overhead->positions = -1;
    ++once->run->results->refused;
    return status;
}

// What the driver takes to compile next to nothing: the first run of a copy kernel, but for what the second
// takes as well. Where the driver tells of compiling that it does before, that is left out of it.
static int time_bare_compile(struct once *once) {
    struct bench_engine *engine = &once->run->engine;
    double walls[2] = {0}, hosts[2] = {0};
    if (once->overhead->backend == ROPE2D_BACKEND_CPU)
        return STATUS_OK;
    int result = bench_time_bare(engine, walls, hosts);
    double more = once->overhead->compile < 0 ? walls[0] - walls[1] : hosts[0] - hosts[1];
    once->overhead->bare_compile = more > 0 ? more : 0;
    return result;
}

static int time_issue(struct once *once) {
    struct bench_engine *engine = &once->run->engine;
    struct bench_overhead *overhead = once->overhead;
    struct bench_rotation rotation = {
        .what = &once->what,
        .in_place = true,
        .pairing = once->spec.spec.pairing,
        .plan = once->plan,
        .positions = once->positions,
    };
    double seconds = -1;
    engine->what = &once->what;
    engine->bytes = bench_bytes(&once->what);
    engine->sets = 1;
    engine->table_floats = 0;
    int result = engine->ops->memory_create(engine);
    if (!result)
        result = time_bare_compile(once);
    if (!result)
        result = engine->ops->rotation_create(engine, &rotation);
    if (!result && !*rotation.why)
        result = engine->ops->issue(engine, &rotation, &seconds, &overhead->bare_record,
                                    &overhead->record_allocations);
    if (overhead->backend == ROPE2D_BACKEND_VULKAN)
        overhead->record = seconds;
    if (overhead->backend == ROPE2D_BACKEND_OPENCL)
        overhead->enqueue = seconds;
    engine->ops->rotation_destroy(engine, &rotation);
    engine->ops->memory_destroy(engine);
    return result;
}

static int measure(struct once *once) {
    size_t bytes = (size_t)bench_bytes(&once->what);
    unsigned char *memory = malloc(2 * bytes); // and what is expected
    if (!memory) {
        message("no memory for %d tokens", TOKENS);
        return STATUS_DEVICE;
    }
    fill(once, memory);
    rope2d_status status = time_plans(once);
    if (!status)
        status = time_positions(once);
    if (!status)
        status = time_applies(once, memory, memory + bytes);
    free(memory);
    return status ? message_status(status, once->run->engine.choice->name) : time_issue(once);
}

int bench_overhead_measure(struct bench_run *run, struct bench_overhead *overhead) {
    const struct device_choice *choice = run->engine.choice;
    struct once once = {
        .run = run,
        .what = {.tower = &bench_towers[0], .tokens = TOKENS, .element = ROPE2D_F32},
        .overhead = overhead,
    };
    *overhead = (struct bench_overhead){
        .backend = choice->info.backend,
        .is_software = choice->info.is_software != 0,
        .record = -1,
        .enqueue = -1,
        .bare_record = -1,
        .is_equal = true,
    };
    snprintf(overhead->device, sizeof overhead->device, "%s", choice->name);
    snprintf(overhead->device_name, sizeof overhead->device_name, "%.120s", choice->info.name);
    bench_spec_fill(once.what.tower, ROPE2D_PAIRING_HALF, &once.spec);
    int result = measure(&once);
    if (overhead->backend == ROPE2D_BACKEND_VULKAN) // elsewhere nothing that it finds explains anything
        bench_cold_plans(run, overhead);
    bench_warm_plans(run, overhead);
    rope2d_positions_destroy(once.positions);
    rope2d_plan_destroy(once.plan);
    return result;
}

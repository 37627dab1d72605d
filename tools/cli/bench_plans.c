// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>

#include "bench_cases.h"
#include "bench_run.h"
#include "message.h"

static struct bench_plan *find(struct bench_run *run, const struct bench_case *what, rope2d_pairing pairing,
                               rope2d_table table) {
    for (size_t i = 0; i < run->plan_count; ++i) {
        struct bench_plan *plan = &run->plans[i];
        if (plan->tower == what->tower && plan->element == what->element && plan->pairing == pairing &&
            plan->table == table)
            return plan;
    }
    return NULL;
}

static rope2d_status create(const struct bench_run *run, struct bench_plan *plan) {
    struct bench_spec spec;
    bench_spec_fill(plan->tower, plan->pairing, &spec);
    rope2d_plan_params params = {
        .struct_size = sizeof params,
        .spec = &spec.spec,
        .in = plan->element,
        .out = plan->element,
        .table = plan->table,
    };
    plan->info.struct_size = sizeof plan->info;
    rope2d_status status = rope2d_plan_create(run->engine.device, &params, &plan->plan);
    return status ? status : rope2d_plan_get_info(plan->plan, &plan->info);
}

int bench_plan_get(struct bench_run *run, const struct bench_case *what, rope2d_pairing pairing,
                   rope2d_table table, const struct bench_plan **plan, char *why, size_t why_size) {
    *plan = find(run, what, pairing, table);
    if (*plan)
        return STATUS_OK;
    struct bench_plan *plans = realloc(run->plans, (run->plan_count + 1) * sizeof *plans);
    if (!plans) {
        message("no memory for a list of plans");
        return STATUS_DEVICE;
    }
    run->plans = plans;
    struct bench_plan *made = &plans[run->plan_count];
    *made = (struct bench_plan){what->tower, what->element, pairing, table, NULL, {0}};
    rope2d_status status = create(run, made);
    if (status) {
        snprintf(why, why_size, "plan: %s", rope2d_status_name(status));
        rope2d_plan_destroy(made->plan);
        return STATUS_OK;
    }
    ++run->plan_count;
    *plan = made;
    return STATUS_OK;
}

void bench_plans_free(struct bench_run *run) {
    for (size_t i = 0; i < run->plan_count; ++i)
        rope2d_plan_destroy(run->plans[i].plan);
    free(run->plans);
    run->plans = NULL;
    run->plan_count = 0;
}

rope2d_status bench_positions_create(rope2d_device *device, const struct bench_case *what,
                                     rope2d_pairing pairing, rope2d_table table,
                                     rope2d_positions **positions) {
    struct bench_spec spec;
    bench_spec_fill(what->tower, pairing, &spec);
    float *coordinates = bench_coordinates(what->tower, what->tokens);
    *positions = NULL;
    if (!coordinates)
        return ROPE2D_ERROR_HOST_MEMORY;
    rope2d_positions_params params = {
        .struct_size = sizeof params,
        .spec = &spec.spec,
        .table = table,
        .tokens = what->tokens,
        .coordinates = coordinates,
    };
    rope2d_status status = rope2d_positions_create(device, &params, positions);
    free(coordinates);
    return status;
}

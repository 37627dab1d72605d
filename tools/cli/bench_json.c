// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "bench_print.h"
#include "bench_target.h"
#include "config.h"
#include "job.h"
#include "message.h"
#include "output_file.h"

static void add_spread(cJSON *object, const char *name, const struct bench_spread *spread) {
    cJSON *added = cJSON_AddObjectToObject(object, name);
    cJSON_AddNumberToObject(added, "median", spread->median);
    cJSON_AddNumberToObject(added, "low", spread->low);
    cJSON_AddNumberToObject(added, "high", spread->high);
    cJSON_AddNumberToObject(added, "least", spread->least);
}

static cJSON *add_timing(cJSON *object, const char *name, const struct bench_group *group,
                         const struct bench_timing *timing) {
    cJSON *added = cJSON_AddObjectToObject(object, name);
    add_spread(added, "host_seconds", &timing->host);
    if (timing->has_device)
        add_spread(added, "device_seconds", &timing->device);
    cJSON_AddNumberToObject(added, "runs", timing->runs);
    cJSON_AddNumberToObject(added, "gb_per_s", bench_rate(group, timing));
    return added;
}

static void add_variants(cJSON *object, const char *name, const struct bench_group *group,
                         enum bench_move move) {
    cJSON *array = cJSON_AddArrayToObject(object, name);
    for (uint32_t i = 0; i < BENCH_BEST; ++i) {
        const struct bench_baseline *baseline = &group->moves[move].variants[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", baseline->name);
        add_timing(one, "timing", group, &baseline->timing);
        cJSON_AddItemToArray(array, one);
    }
}

static void add_baseline(cJSON *object, const char *name, const struct bench_group *group,
                         enum bench_move move) {
    const struct bench_baseline *baseline = bench_baseline_of(group, move);
    if (!baseline->timing.runs)
        return;
    cJSON *added = add_timing(object, name, group, &baseline->timing);
    cJSON_AddStringToObject(added, "name", baseline->name);
}

// What a ratio was in the passes, least and most.
static void add_range(cJSON *object, const char *name, const struct bench_row *row, enum bench_move move) {
    const double range[] = {row->least[move], row->most[move]};
    cJSON_AddItemToObject(object, name, cJSON_CreateDoubleArray(range, 2));
}

static cJSON *row_json(const struct bench_group *group, const struct bench_row *row) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "pairing", bench_pairing_names[row->pairing]);
    cJSON_AddStringToObject(object, "table", bench_table_names[row->table == ROPE2D_TABLE_TEXTURE]);
    cJSON_AddBoolToObject(object, "in_place", row->in_place);
    cJSON_AddStringToObject(object, "kernel", row->kernel);
    cJSON_AddStringToObject(object, "exactness", exactness_name(row->exactness));
    cJSON_AddNumberToObject(object, "dispatches", row->dispatches);
    cJSON_AddNumberToObject(object, "traffic", row->traffic);
    cJSON_AddBoolToObject(object, "equal", row->is_equal);
    if (!row->is_equal) {
        cJSON_AddStringToObject(object, "why", row->why);
        return object;
    }
    add_timing(object, "timing", group, &row->timing);
    cJSON_AddNumberToObject(object, "of_copy", row->of[BENCH_COPY]);
    cJSON_AddNumberToObject(object, "of_driver_copy", row->of[BENCH_DRIVER_COPY]);
    cJSON_AddNumberToObject(object, "of_scale", row->of[BENCH_SCALE]);
    cJSON_AddNumberToObject(object, "of_limit", bench_of_limit(row));
    if (row->passes > 1) {
        const enum bench_move limit = bench_limit_of(row);
        cJSON_AddNumberToObject(object, "passes", row->passes);
        add_range(object, "of_copy_range", row, BENCH_COPY);
        add_range(object, "of_driver_copy_range", row, BENCH_DRIVER_COPY);
        add_range(object, "of_scale_range", row, BENCH_SCALE);
        add_range(object, "of_limit_range", row, limit);
    }
    return object;
}

static cJSON *group_json(const struct bench_group *group) {
    const struct bench_tower *tower = group->what.tower;
    cJSON *object = cJSON_CreateObject(), *rows;
    cJSON_AddStringToObject(object, "device", group->device);
    cJSON_AddStringToObject(object, "device_name", group->device_name);
    cJSON_AddStringToObject(object, "driver", group->driver);
    cJSON_AddBoolToObject(object, "is_software", group->is_software);
    cJSON_AddStringToObject(object, "tower", tower->name);
    cJSON_AddBoolToObject(object, "axial", tower->form == BENCH_AXIAL);
    cJSON_AddBoolToObject(object, "one_kernel", group->what.purpose == BENCH_ONE_KERNEL);
    cJSON_AddNumberToObject(object, "heads", tower->heads);
    cJSON_AddNumberToObject(object, "head_dim", tower->head_dim);
    cJSON_AddNumberToObject(object, "tokens", (double)group->what.tokens);
    cJSON_AddStringToObject(object, "element", bench_element_names[group->what.element]);
    cJSON_AddNumberToObject(object, "threads", group->what.threads);
    cJSON_AddNumberToObject(object, "bytes", (double)group->bytes);
    cJSON_AddNumberToObject(object, "sets", group->sets);
    cJSON_AddBoolToObject(object, "past_caches", group->past_caches);
    cJSON_AddBoolToObject(object, "in_core_cache", group->what.in_cache);
    add_baseline(object, "driver_copy", group, BENCH_DRIVER_COPY);
    add_baseline(object, "copy", group, BENCH_COPY);
    add_baseline(object, "scale", group, BENCH_SCALE);
    add_baseline(object, "limit_in_place", group, BENCH_LIMIT_IN);
    add_baseline(object, "limit_out_of_place", group, BENCH_LIMIT_OUT);
    add_baseline(object, "turn_interleaved", group, BENCH_TURN_INTERLEAVED);
    add_baseline(object, "turn_half", group, BENCH_TURN_HALF);
    add_baseline(object, "turn_out_of_place_interleaved", group, BENCH_TURN_OUT_INTERLEAVED);
    add_baseline(object, "turn_out_of_place_half", group, BENCH_TURN_OUT_HALF);
    add_variants(object, "copies", group, BENCH_COPY);
    add_variants(object, "scales", group, BENCH_SCALE);
    add_variants(object, "limits_in_place", group, BENCH_LIMIT_IN);
    add_variants(object, "limits_out_of_place", group, BENCH_LIMIT_OUT);
    add_variants(object, "turns_interleaved", group, BENCH_TURN_INTERLEAVED);
    add_variants(object, "turns_half", group, BENCH_TURN_HALF);
    add_variants(object, "turns_out_of_place_interleaved", group, BENCH_TURN_OUT_INTERLEAVED);
    add_variants(object, "turns_out_of_place_half", group, BENCH_TURN_OUT_HALF);
    rows = cJSON_AddArrayToObject(object, "rows");
    for (uint32_t i = 0; i < group->row_count; ++i)
        cJSON_AddItemToArray(rows, row_json(group, &group->rows[i]));
    return object;
}

static void add_seconds(cJSON *object, const char *name, double seconds) {
    if (seconds >= 0)
        cJSON_AddNumberToObject(object, name, seconds);
}

static void add_warm(cJSON *object, const char *name, const struct bench_warm *warm) {
    char other[40];
    add_seconds(object, name, warm->plan);
    snprintf(other, sizeof other, "%s_untested", name);
    add_seconds(object, other, warm->untested);
    snprintf(other, sizeof other, "%s_compiling", name);
    add_seconds(object, other, warm->compile);
    snprintf(other, sizeof other, "%s_bare", name);
    add_seconds(object, other, warm->bare);
}

static cJSON *overhead_json(const struct bench_overhead *overhead) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "device", overhead->device);
    cJSON_AddStringToObject(object, "device_name", overhead->device_name);
    add_seconds(object, "plan_cold", overhead->plan_cold);
    add_seconds(object, "compiling", overhead->compile);
    add_seconds(object, "compiling_again", overhead->compile_again);
    add_seconds(object, "first_run_bare",
                overhead->backend == ROPE2D_BACKEND_CPU ? -1 : overhead->bare_compile);
    add_warm(object, "plan_warm", &overhead->warm[0]);
    add_warm(object, "plan_warm_f16", &overhead->warm[1]);
    add_seconds(object, "plan_in_memory", overhead->plan_memory);
    add_seconds(object, "plan_again", overhead->plan_again);
    cJSON_AddBoolToObject(object, "equal", overhead->is_equal);
    add_seconds(object, "positions", overhead->positions);
    add_seconds(object, "first_apply", overhead->first_apply);
    add_seconds(object, "next_apply", overhead->next_apply);
    add_seconds(object, "record", overhead->record);
    add_seconds(object, "record_bare", overhead->bare_record);
    add_seconds(object, "enqueue", overhead->enqueue);
    if (overhead->record >= 0)
        cJSON_AddNumberToObject(object, "record_allocations", (double)overhead->record_allocations);
    return object;
}

static cJSON *unexplained_json(const struct bench_unexplained *unexplained) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "value", unexplained->value);
    if (unexplained->reached >= 0)
        cJSON_AddNumberToObject(object, "reached", unexplained->reached);
    cJSON_AddStringToObject(object, "where", unexplained->where);
    return object;
}

static void add_unexplained(cJSON *object, const struct bench_target *target) {
    cJSON *left = cJSON_AddArrayToObject(object, "left");
    for (uint32_t i = 0; i < target->rows_unexplained && i < BENCH_MOST_LEFT; ++i)
        cJSON_AddItemToArray(left, unexplained_json(&target->left[i]));
    if (target->rows_unexplained)
        cJSON_AddItemToObject(object, "unexplained", unexplained_json(&target->unexplained));
}

static cJSON *target_json(const struct bench_target *target) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "what", target->what);
    cJSON_AddStringToObject(object, "target", target->target);
    cJSON_AddBoolToObject(object, "measured", target->is_measured);
    cJSON_AddStringToObject(object, "where", target->where);
    if (!target->is_measured)
        return object;
    cJSON_AddBoolToObject(object, "met", target->is_met);
    cJSON_AddNumberToObject(object, "limit", target->limit);
    cJSON_AddNumberToObject(object, "worst", target->worst);
    cJSON_AddNumberToObject(object, "median", target->middle);
    if (target->reached >= 0)
        cJSON_AddNumberToObject(object, "reached", target->reached);
    cJSON_AddNumberToObject(object, "rows", target->rows);
    cJSON_AddNumberToObject(object, "rows_met", target->rows_met);
    cJSON_AddNumberToObject(object, "rows_explained", target->rows_explained);
    cJSON_AddNumberToObject(object, "rows_unexplained", target->rows_unexplained);
    cJSON_AddNumberToObject(object, "rows_beyond", target->rows_beyond);
    add_unexplained(object, target);
    return object;
}

static void add_machine(cJSON *root, const struct bench_machine *machine) {
    cJSON *object = cJSON_AddObjectToObject(root, "machine");
    cJSON_AddStringToObject(object, "name", machine->name);
    cJSON_AddNumberToObject(object, "processors", machine->processors);
    cJSON_AddNumberToObject(object, "core_cache", (double)machine->core_cache);
    cJSON_AddNumberToObject(object, "last_cache", (double)machine->last_cache);
    cJSON_AddNumberToObject(object, "memory", (double)machine->memory);
}

cJSON *bench_json(const struct bench_results *results) {
    struct bench_target targets[BENCH_MOST_TARGETS];
    uint32_t target_count = bench_targets(results, targets);
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "version", ROPE2D_VERSION);
    cJSON_AddStringToObject(root, "command", results->command);
    cJSON_AddNumberToObject(root, "seconds", results->seconds);
    cJSON_AddNumberToObject(root, "passes", results->passes);
    cJSON_AddNumberToObject(root, "again", results->again);
    cJSON_AddNumberToObject(root, "refused", results->refused);
    cJSON_AddNumberToObject(root, "left_out", results->left_out);
    add_machine(root, &results->machine);
    cJSON *groups = cJSON_AddArrayToObject(root, "groups");
    for (size_t i = 0; i < results->group_count; ++i)
        cJSON_AddItemToArray(groups, group_json(&results->groups[i]));
    cJSON *once = cJSON_AddArrayToObject(root, "once");
    for (size_t i = 0; i < results->overhead_count; ++i)
        cJSON_AddItemToArray(once, overhead_json(&results->overheads[i]));
    cJSON *list = cJSON_AddArrayToObject(root, "targets");
    for (uint32_t i = 0; i < target_count; ++i)
        cJSON_AddItemToArray(list, target_json(&targets[i]));
    return root;
}

int bench_write_json(const struct bench_results *results, const char *path) {
    cJSON *json = bench_json(results);
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    const bool written = text && output_file_write(path, text, strlen(text));
    if (!text)
        message("%s: cannot be written: no memory", path);
    cJSON_free(text);
    return written ? STATUS_OK : STATUS_USAGE;
}

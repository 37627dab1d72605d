// SPDX-License-Identifier: MIT
//
// GB/s against size, a panel for each device and number of threads, with the limits drawn.
#include <stdio.h>
#include <string.h>

#include "bench_print.h"
#include "plot_tool.h"

static void add_point(cJSON *array, const struct bench_group *group, const struct bench_timing *timing) {
    if (!timing->runs) // not measured
        return;
    double numbers[] = {(double)group->bytes, bench_rate(group, timing)};
    cJSON_AddItemToArray(array, cJSON_CreateDoubleArray(numbers, 2));
}

static void add_rows(cJSON *array, const struct bench_group *group) {
    for (uint32_t i = 0; i < group->row_count; ++i) {
        const struct bench_row *row = &group->rows[i];
        if (!row->is_equal)
            continue;
        cJSON *point = cJSON_CreateObject();
        cJSON_AddNumberToObject(point, "bytes", (double)group->bytes);
        cJSON_AddNumberToObject(point, "rate", bench_rate(group, &row->timing));
        cJSON_AddStringToObject(point, "element", bench_element_names[group->what.element]);
        cJSON_AddBoolToObject(point, "in_place", row->in_place);
        cJSON_AddItemToArray(array, point);
    }
}

// What the loads, conversions and stores alone reach in place.
static void add_limit(cJSON *array, const struct bench_group *group) {
    const struct bench_timing *timing = &bench_baseline_of(group, BENCH_LIMIT_IN)->timing;
    if (!timing->runs)
        return;
    cJSON *point = cJSON_CreateObject();
    cJSON_AddNumberToObject(point, "bytes", (double)group->bytes);
    cJSON_AddNumberToObject(point, "rate", bench_rate(group, timing));
    cJSON_AddStringToObject(point, "element", bench_element_names[group->what.element]);
    cJSON_AddItemToArray(array, point);
}

static cJSON *panel(const struct bench_results *results, size_t first, size_t *end) {
    const struct bench_group *group = &results->groups[first];
    cJSON *object = cJSON_CreateObject();
    char title[96];
    snprintf(title, sizeof title, "%s %.40s", group->device, group->device_name);
    if (group->what.threads)
        snprintf(title, sizeof title, "%s, %u thread%s", group->device, group->what.threads,
                 group->what.threads > 1 ? "s" : "");
    cJSON_AddStringToObject(object, "title", title);
    cJSON *rotations = cJSON_AddArrayToObject(object, "rotations");
    cJSON *limits = cJSON_AddArrayToObject(object, "limits");
    cJSON *copy = cJSON_AddArrayToObject(object, "copy");
    cJSON *driver = cJSON_AddArrayToObject(object, "driver_copy");
    cJSON *scale = cJSON_AddArrayToObject(object, "scale");
    for (*end = first; *end < results->group_count && bench_is_same_device(group, &results->groups[*end]);
         ++*end) {
        const struct bench_group *each = &results->groups[*end];
        // Another limit than memory's, or another rotation.
        if (each->what.in_cache || each->what.purpose == BENCH_ONE_KERNEL || each->what.tower->form)
            continue;
        add_rows(rotations, each);
        add_limit(limits, each);
        add_point(copy, each, &bench_baseline_of(each, BENCH_COPY)->timing);
        add_point(driver, each, &each->driver_copy.timing);
        add_point(scale, each, &bench_baseline_of(each, BENCH_SCALE)->timing);
    }
    return object;
}

int bench_write_plot(const struct bench_results *results, const char *path) {
    cJSON *array = cJSON_CreateArray(), *picture = cJSON_CreateObject();
    cJSON_AddItemToArray(array, picture);
    cJSON_AddStringToObject(picture, "kind", "roofline");
    cJSON_AddStringToObject(picture, "machine", results->machine.name);
    cJSON_AddNumberToObject(picture, "last_cache", (double)results->machine.last_cache);
    cJSON *panels = cJSON_AddArrayToObject(picture, "panels");
    for (size_t i = 0; i < results->group_count;)
        cJSON_AddItemToArray(panels, panel(results, i, &i));
    const char *const options[] = {"--file", path, NULL};
    int result = plot_tool_run(array, options);
    cJSON_Delete(array);
    return result;
}

// SPDX-License-Identifier: MIT
#include "bench_sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "bench_list.h"
#include "bench_passes.h"
#include "bench_print.h"
#include "bench_run.h"
#include "bench_target.h"
#include "message.h"

const struct bench_engine_ops *const bench_engines[ROPE2D_BACKEND_COUNT] = {&bench_cpu_ops, &bench_vulkan_ops,
                                                                            &bench_opencl_ops};

// The largest case of growth, if it will be measured.
static const struct bench_case *find_growth(const struct bench_run *run, const struct bench_case_list *list) {
    const struct bench_case *found = NULL;
    char why[160];
    for (size_t i = 0; i < list->count; ++i)
        if (list->cases[i].purpose == BENCH_GROWTH) {
            if (!bench_memory_fits(run, &list->cases[i], why, sizeof why))
                return NULL;
            found = &list->cases[i];
        }
    return found;
}

static int append_group(struct bench_results *results, const struct bench_group *group) {
    struct bench_group *groups = realloc(results->groups, (results->group_count + 1) * sizeof *groups);
    if (!groups) {
        message("no memory for the results");
        return STATUS_DEVICE;
    }
    results->groups = groups;
    groups[results->group_count++] = *group;
    return STATUS_OK;
}

static void leave_out(struct bench_run *run, const struct bench_case *what, const char *why) {
    ++run->results->left_out;
    printf("%-8s %8" PRIu64 " %-4s left out: %s\n", what->tower->name, what->tokens,
           bench_element_names[what->element], why);
}

// Smaller cases take as long as what does not depend on their size.
static const uint64_t TELLING = (uint64_t)1 << 20;

// The last case from memory on the device in work, of those that have all their rows.
static const struct bench_group *find_last(const struct bench_run *run, const struct bench_case *what) {
    const struct bench_results *results = run->results;
    for (size_t i = results->group_count; i > 0; --i) {
        const struct bench_group *group = &results->groups[i - 1];
        if (strcmp(group->device, run->engine.choice->name) != 0 || group->what.threads != what->threads)
            return NULL;
        if (!group->what.in_cache && !bench_has_one_rotation(group->what.purpose))
            return group;
    }
    return NULL;
}

// The fewest rounds of a case, from what the last one took; 0 where nothing is known.
static double expected_seconds(const struct bench_run *run, const struct bench_case *what) {
    const struct bench_group *last = find_last(run, what);
    if (!last || what->in_cache || last->bytes < TELLING)
        return 0;
    double growth = (double)bench_bytes(what) / (double)last->bytes;
    double filled = growth / last->sets > 1 ? growth / last->sets : 1;
    double ways = what->purpose == BENCH_ONE_KERNEL ? 0.3 : 1; // of those that a case has
    return last->fill_seconds * filled + last->least_seconds * growth * ways;
}

// Of a device's time, for growth: the cases before it end earlier.
static const double GROWTH_SHARE = 0.3;

// Seconds of a case of growth, from a smaller one of its tower on the device in work; 0 where there is none.
// Three ways of it are run five times, and one result is checked.
static double growth_seconds(const struct bench_run *run, const struct bench_case *what) {
    const struct bench_results *results = run->results;
    for (size_t i = results->group_count; i > 0; --i) {
        const struct bench_group *group = &results->groups[i - 1];
        double growth = (double)bench_bytes(what) / (double)group->bytes;
        if (strcmp(group->device, run->engine.choice->name) != 0 || group->what.tower != what->tower ||
            group->what.threads != what->threads || group->what.element != what->element ||
            group->what.in_cache || !group->row_count)
            continue;
        const struct bench_timing *row = &group->rows[group->row_count - 1].timing;
        return growth * (2 * group->fill_seconds / group->sets + 12 * bench_counted(row)->median);
    }
    return 0;
}

// Seconds that the cases before growth leave to it: where it is known by now, twice what it takes.
static double reserve_of(const struct bench_run *run) {
    double most = GROWTH_SHARE * run->seconds, known = run->growth ? 2 * growth_seconds(run, run->growth) : 0;
    return !run->growth ? 0 : known > 0 && known < most ? known : most;
}

static int run_case(struct bench_run *run, const struct bench_case *what, size_t left, bool *is_first) {
    char why[160];
    struct bench_group group;
    double now = seconds_now();
    if (!bench_memory_fits(run, what, why, sizeof why)) {
        leave_out(run, what, why);
        return STATUS_OK;
    }
    bool is_growth = what->purpose == BENCH_GROWTH;
    double expected = is_growth ? growth_seconds(run, what) : expected_seconds(run, what);
    double end = is_growth ? run->deadline : run->deadline - reserve_of(run);
    if (expected > 0 && now + expected > end) {
        leave_out(run, what, "there is not time enough (--seconds)");
        return STATUS_OK;
    }
    // Half for the rounds: search, content and checks take the other.
    int result = bench_group_run(run, what, (end - now) / (double)left / 2, &group);
    if (result == STATUS_DEVICE && is_growth) { // as large as many devices cannot
        leave_out(run, what, "the device cannot");
        return STATUS_OK;
    }
    if (!result)
        result = append_group(run->results, &group);
    if (!result) {
        progress_hide(&run->progress);
        bench_print_group(&group, *is_first);
        *is_first = false;
    }
    return result;
}

static bool goes_again(const struct bench_run *run, const struct bench_case *what) {
    const struct bench_group *group = bench_find_case(run->so_far, run->engine.choice->name, what);
    return group && bench_has_left(&run->so_far->machine, group);
}

static void list_cases(const struct bench_run *run, uint32_t threads, struct bench_case_list *list) {
    const struct bench_list_params params = {run->request, &run->results->machine,
                                             run->engine.choice->info.backend, threads};
    size_t kept = 0;
    bench_list_cases(&params, list);
    for (size_t i = 0; i < list->count; ++i)
        if (!run->so_far || goes_again(run, &list->cases[i]))
            list->cases[kept++] = list->cases[i];
    list->count = kept;
}

static int run_cases(struct bench_run *run, uint32_t threads) {
    struct bench_case_list *list = malloc(sizeof *list);
    bool is_first = true;
    int result = list ? STATUS_OK : STATUS_DEVICE;
    if (!list) {
        message("no memory for a list of cases");
        return result;
    }
    list_cases(run, threads, list);
    run->growth = find_growth(run, list);
    progress_begin(&run->progress, run->engine.choice->name, list->count);
    for (size_t i = 0; i < list->count && !result; ++i) {
        const struct bench_case *what = &list->cases[i];
        result = run_case(run, what, list->count - i, &is_first);
        if (what == run->growth)
            run->growth = NULL;
        progress_add(&run->progress, 1);
    }
    progress_end(&run->progress);
    run->growth = NULL;
    free(list);
    return result;
}

static int measure_once(struct bench_run *run) {
    struct bench_results *results = run->results;
    struct bench_overhead *overheads =
        realloc(results->overheads, (results->overhead_count + 1) * sizeof *overheads);
    if (!overheads) {
        message("no memory for the results");
        return STATUS_DEVICE;
    }
    results->overheads = overheads;
    int result = bench_overhead_measure(run, &overheads[results->overhead_count]);
    results->overhead_count += !result;
    return result;
}

static int run_device(struct bench_run *run, const struct device_choice *choice, uint32_t threads,
                      bool is_first) {
    run->engine = (struct bench_engine){
        .ops = bench_engines[choice->info.backend],
        .choice = choice,
        .threads = threads,
        .is_quick = run->request->is_quick,
        .machine = &run->results->machine,
        .arena = &run->arena,
    };
    run->engine.info.struct_size = sizeof run->engine.info;
    memset(run->found, 0, sizeof run->found);
    run->deadline = seconds_now() + run->seconds;
    int result = run->engine.ops->open(&run->engine);
    if (!result)
        result = exit_status_of(rope2d_device_get_info(run->engine.device, &run->engine.info));
    if (!result && is_first && !run->engine.info.has_textures && !(run->request->tables & 1u))
        message("--table texture: %s has no textures, and so no rows of what was asked for", choice->name);
    if (!result && is_first)
        result = measure_once(run);
    if (!result)
        result = run_cases(run, threads);
    bench_plans_free(run);
    run->engine.ops->close(&run->engine);
    return result;
}

static int run_devices(struct bench_run *run, const struct device_list *devices, bool is_first) {
    const struct bench_request *request = run->request;
    int worst = STATUS_OK;
    for (size_t i = 0; i < devices->count; ++i) {
        const struct device_choice *choice = &devices->items[i];
        bool is_cpu = choice->info.backend == ROPE2D_BACKEND_CPU;
        size_t times = is_cpu ? request->thread_count : 1;
        for (size_t j = 0; j < times; ++j) {
            uint32_t threads = is_cpu ? (uint32_t)request->threads[j] : 0;
            int result = run_device(run, choice, threads, is_first && j == 0);
            worst = result > worst ? result : worst;
        }
        bench_arena_free(&run->arena);
    }
    return worst;
}

static bool has_left(const struct bench_results *results) {
    for (size_t i = 0; i < results->group_count; ++i)
        if (bench_has_left(&results->machine, &results->groups[i]))
            return true;
    return false;
}

// All passes, and how many there were. Those past the request's go over what the ones before have left.
static int run_passes(struct bench_run *run, const struct device_list *devices, struct bench_results *passes,
                      uint32_t *count) {
    const struct bench_request *request = run->request;
    const uint32_t most = request->passes + request->again;
    const struct bench_machine machine = run->results->machine;
    int result = STATUS_OK;
    for (*count = 0; *count < most && !result; ++*count) {
        struct bench_results so_far = {.machine = machine};
        const bool is_again = *count >= request->passes;
        if (is_again)
            result = bench_passes_join(passes, *count, &so_far);
        const bool goes_on = !result && (!is_again || has_left(&so_far));
        if (goes_on && most > 1)
            printf("\npass %u of %u%s\n", *count + 1, most,
                   is_again ? ": cases with rows that are left" : "");
        passes[*count].machine = machine;
        run->results = &passes[*count];
        run->so_far = is_again ? &so_far : NULL;
        if (goes_on)
            result = run_devices(run, devices, *count == 0);
        free(so_far.groups);
        if (!goes_on)
            break;
    }
    run->so_far = NULL;
    return result;
}

int bench_sweep(const struct bench_request *request, const struct device_list *devices,
                struct bench_results *results) {
    struct bench_results passes[BENCH_MOST_PASSES] = {0};
    struct bench_run run = {.request = request, .seconds = request->seconds / request->passes};
    rope2d_device_params params = {
        .struct_size = sizeof params, .host = &message_host, .flags = ROPE2D_DEVICE_PORTABLE};
    double begin = seconds_now();
    rope2d_status status = rope2d_device_create(&params, &run.portable);
    if (status)
        return message_status(status, "the portable path");
    bench_print_heading(results);
    uint32_t count = 0;
    run.results = results;
    int result = run_passes(&run, devices, passes, &count);
    int joined = bench_passes_join(passes, count, results);
    result = result ? result : joined;
    results->overheads = passes[0].overheads;
    results->overhead_count = passes[0].overhead_count;
    bench_passes_free(passes, count);
    results->passes = request->passes;
    results->again = count > request->passes ? count - request->passes : 0;
    results->seconds = seconds_now() - begin;
    rope2d_device_destroy(run.portable);
    return result;
}

void bench_results_free(struct bench_results *results) {
    free(results->groups);
    free(results->overheads);
    *results = (struct bench_results){0};
}

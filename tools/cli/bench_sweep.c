// SPDX-License-Identifier: MIT
#include "bench_sweep.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "bench_print.h"
#include "bench_run.h"
#include "message.h"

const struct bench_engine_ops *const bench_engines[ROPE2D_BACKEND_COUNT] = {&bench_cpu_ops, &bench_vulkan_ops,
                                                                            &bench_opencl_ops};

// Enough for every tower, size and type twice.
enum { MOST_CASES = 8 * BENCH_LIST * 3 * 2 + 72 };

struct case_list {
    struct bench_case cases[MOST_CASES];
    size_t count;
};

static void add_case(struct case_list *list, const struct bench_case *what) {
    if (list->count < MOST_CASES)
        list->cases[list->count++] = *what;
}

static bool fits_core_cache(const struct bench_run *run, const struct bench_case *what) {
    return bench_bytes(what) <= run->results->machine.core_cache / 4 * 3;
}

// Where no size that was asked for fits a core's own cache, the largest that does.
static void add_core_cache(const struct bench_run *run, struct case_list *list) {
    const struct bench_request *request = run->request;
    for (size_t i = 0; i < list->count; ++i)
        if (list->cases[i].in_cache)
            return;
    for (unsigned tower = 0; bench_tower_names[tower]; ++tower) {
        struct bench_case what = {&bench_towers[tower], 1 << 20, ROPE2D_F32, 1, true, false, NULL};
        if (!(request->towers >> tower & 1) || !(request->elements >> ROPE2D_F32 & 1) || what.tower->form)
            continue;
        while (what.tokens > 1 && !fits_core_cache(run, &what))
            what.tokens /= 2;
        add_case(list, &what);
    }
}

// The tower with the fewest bytes, at both ends, where it was not asked for.
static void add_growth(uint32_t threads, struct case_list *list) {
    static const uint64_t ends[] = {1 << 10, 1 << 20};
    for (size_t end = 0; end < 2; ++end) {
        struct bench_case what = {
            &bench_towers[BENCH_SMALLEST_TOWER], ends[end], ROPE2D_F32, threads, false, true, NULL};
        bool is_there = false;
        for (size_t i = 0; i < list->count; ++i) {
            const struct bench_case *other = &list->cases[i];
            is_there = is_there || (other->tower == what.tower && other->tokens == what.tokens &&
                                    other->element == what.element && !other->in_cache);
        }
        if (!is_there)
            add_case(list, &what);
    }
}

// Of every kernel of the CPU, also those that no plan chooses here.
static void add_kernels(struct case_list *list) {
    const struct rope2d_turn_kernel *kernel;
    for (uint32_t i = 0; (kernel = bench_kernel_at(i)) != NULL; ++i)
        for (int which = 0; which < 2; ++which) {
            struct bench_case what;
            bench_kernel_case(kernel, which, &what);
            add_case(list, &what);
        }
}

static void add_size(const struct bench_run *run, uint64_t tokens, unsigned tower, uint32_t threads,
                     struct case_list *list) {
    const struct bench_request *request = run->request;
    bool is_cpu = run->engine.choice->info.backend == ROPE2D_BACKEND_CPU;
    for (unsigned element = 0; element < ROPE2D_ELEMENT_COUNT; ++element) {
        struct bench_case what = {
            &bench_towers[tower], tokens, (rope2d_element)element, threads, false, false, NULL};
        bool is_extra = what.tower->form != BENCH_AXIAL; // of one type alone
        if (!(request->towers >> tower & 1) || !(request->elements >> element & 1) ||
            (is_extra && element != ROPE2D_F32))
            continue;
        add_case(list, &what);
        what.in_cache = true;
        if (is_cpu && threads == 1 && !is_extra && fits_core_cache(run, &what))
            add_case(list, &what);
    }
}

static void add_towers(const struct bench_run *run, unsigned first, unsigned end, uint32_t threads,
                       struct case_list *list) {
    const struct bench_request *request = run->request;
    for (size_t size = 0; size < request->token_count; ++size)
        for (unsigned tower = first; tower < end && bench_tower_names[tower]; ++tower)
            add_size(run, request->tokens[size], tower, threads, list);
}

// What targets need most comes first: many heads and one, and growth. Small sizes before large ones, so that
// what the time does not allow is the largest.
static void list_cases(const struct bench_run *run, uint32_t threads, struct case_list *list) {
    enum { FIRST_TOWERS = 2 };
    bool is_one = run->engine.choice->info.backend == ROPE2D_BACKEND_CPU && threads == 1;
    list->count = 0;
    add_towers(run, 0, FIRST_TOWERS, threads, list);
    if (is_one)
        add_core_cache(run, list);
    if (is_one && run->request->has_kernels)
        add_kernels(list);
    if (run->request->is_grown)
        add_growth(threads, list);
    add_towers(run, FIRST_TOWERS, UINT_MAX, threads, list);
}

// Whether growth will be measured: then it has a part of the time for itself.
static bool has_growth(const struct bench_run *run, const struct case_list *list) {
    char why[160];
    for (size_t i = 0; i < list->count; ++i)
        if (list->cases[i].is_lean && !bench_memory_fits(run, &list->cases[i], why, sizeof why))
            return false;
    return run->request->is_grown;
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
        if (!group->what.in_cache && !group->what.is_lean && !group->what.kernel)
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
    // A kernel's case has a third of the ways.
    return last->fill_seconds * filled + last->least_seconds * growth * (what->kernel ? 0.3 : 1);
}

// Of a device's time, for what is lean: the cases before it end earlier.
static const double LEAN_SHARE = 0.3;

// Seconds of a lean case, from a smaller one of its tower on the device in work; 0 where there is none. Three
// ways of it are run five times, and one result is checked.
static double lean_seconds(const struct bench_run *run, const struct bench_case *what) {
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

static int run_case(struct bench_run *run, const struct bench_case *what, size_t left, bool *is_first) {
    char why[160];
    struct bench_group group;
    double now = seconds_now();
    if (!bench_memory_fits(run, what, why, sizeof why)) {
        leave_out(run, what, why);
        return STATUS_OK;
    }
    double expected = what->is_lean ? lean_seconds(run, what) : expected_seconds(run, what);
    double end = what->is_lean ? run->deadline : run->deadline - run->reserve;
    if (expected > 0 && now + expected > end) {
        leave_out(run, what, "there is not time enough (--seconds)");
        return STATUS_OK;
    }
    // Half for the rounds: search, content and checks take the other.
    int result = bench_group_run(run, what, (end - now) / (double)left / 2, &group);
    if (result == STATUS_DEVICE && what->is_lean) { // as large as many devices cannot
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

static int run_cases(struct bench_run *run, uint32_t threads) {
    struct case_list *list = malloc(sizeof *list);
    bool is_first = true;
    int result = list ? STATUS_OK : STATUS_DEVICE;
    if (!list) {
        message("no memory for a list of cases");
        return result;
    }
    list_cases(run, threads, list);
    run->reserve = has_growth(run, list) ? LEAN_SHARE * run->request->seconds : 0;
    progress_begin(&run->progress, run->engine.choice->name, list->count);
    for (size_t i = 0; i < list->count && !result; ++i) {
        const struct bench_case *what = &list->cases[i];
        result = run_case(run, what, list->count - i, &is_first);
        if (what->is_lean && (i + 1 == list->count || !list->cases[i + 1].is_lean))
            run->reserve = 0;
        progress_add(&run->progress, 1);
    }
    progress_end(&run->progress);
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
                      double seconds, bool is_first) {
    run->engine = (struct bench_engine){
        .ops = bench_engines[choice->info.backend],
        .choice = choice,
        .threads = threads,
        .is_quick = run->request->is_quick,
        .machine = &run->results->machine,
    };
    run->engine.info.struct_size = sizeof run->engine.info;
    memset(run->found, 0, sizeof run->found);
    run->deadline = seconds_now() + seconds;
    int result = run->engine.ops->open(&run->engine);
    if (!result)
        result = exit_status_of(rope2d_device_get_info(run->engine.device, &run->engine.info));
    if (!result && is_first)
        result = measure_once(run);
    if (!result)
        result = run_cases(run, threads);
    bench_plans_free(run);
    run->engine.ops->close(&run->engine);
    return result;
}

static int run_devices(struct bench_run *run, const struct device_list *devices) {
    const struct bench_request *request = run->request;
    int worst = STATUS_OK;
    for (size_t i = 0; i < devices->count; ++i) {
        const struct device_choice *choice = &devices->items[i];
        bool is_cpu = choice->info.backend == ROPE2D_BACKEND_CPU;
        size_t times = is_cpu ? request->thread_count : 1;
        for (size_t j = 0; j < times; ++j) {
            uint32_t threads = is_cpu ? (uint32_t)request->threads[j] : 0;
            int result = run_device(run, choice, threads, request->seconds, j == 0);
            worst = result > worst ? result : worst;
        }
    }
    return worst;
}

int bench_sweep(const struct bench_request *request, const struct device_list *devices,
                struct bench_results *results) {
    struct bench_run run = {.request = request, .results = results};
    rope2d_device_params params = {
        .struct_size = sizeof params, .host = &message_host, .flags = ROPE2D_DEVICE_PORTABLE};
    double begin = seconds_now();
    rope2d_status status = rope2d_device_create(&params, &run.portable);
    if (status)
        return message_status(status, "the portable path");
    bench_print_heading(results);
    int result = run_devices(&run, devices);
    results->seconds = seconds_now() - begin;
    rope2d_device_destroy(run.portable);
    return result;
}

void bench_results_free(struct bench_results *results) {
    free(results->groups);
    free(results->overheads);
    *results = (struct bench_results){0};
}

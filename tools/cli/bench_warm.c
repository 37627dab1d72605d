// SPDX-License-Identifier: MIT
//
// Plans in processes that were just started and have a cache of what was compiled before: the next start of a
// program. The program runs itself.
#include <stdio.h>
#include <stdlib.h>

#include "bench_run.h"
#include "bench_time.h"
#include "bench_worker.h"
#include "message.h"
#include "../verify/child.h"
#include "../verify/folder.h"
#include "../verify/interrupt.h"

enum { REPEATS = 3, QUICK_REPEATS = 1 };
static const double LONGEST = 60; // seconds of a process
static const char OWN_PROGRAM[] = "/proc/self/exe";

struct times {
    double plan, compile, bare;
    bool is_there;
};

static void take_line(void *user, const char *line) {
    struct times *times = user;
    double numbers[3] = {0};
    char *end = NULL;
    int count = 0;
    for (; count < 3 && (numbers[count] = strtod(line, &end), end != line); ++count)
        line = end;
    *times = (struct times){numbers[0], numbers[1], numbers[2], count == 3};
}

static bool run_one(const struct bench_engine *engine, rope2d_element element, const char *mode,
                    const char *cache, struct times *times) {
    const char *const arguments[] = {
        OWN_PROGRAM, BENCH_WORKER_VERB, engine->choice->name, bench_element_names[element], mode, cache,
        NULL};
    struct child_end end;
    *times = (struct times){0};
    child_run(arguments, "", LONGEST, take_line, times, &end);
    bool is_done = end.fate == CHILD_DONE && end.status == STATUS_OK && times->is_there;
    if (!is_done && !interrupt_came())
        message("%s: no plan was timed in a new process: %.300s", engine->choice->name,
                *end.text ? end.text : "the process that makes it failed");
    return is_done;
}

static bool run_some(const struct bench_engine *engine, rope2d_element element, const char *mode,
                     const char *cache, struct times *medians) {
    double plans[REPEATS], compiles[REPEATS], bares[REPEATS];
    uint32_t repeats = engine->is_quick ? QUICK_REPEATS : REPEATS;
    for (uint32_t i = 0; i < repeats; ++i) {
        struct times times;
        if (!run_one(engine, element, mode, cache, &times))
            return false;
        plans[i] = times.plan;
        compiles[i] = times.compile;
        bares[i] = times.bare;
    }
    medians->plan = bench_spread_of(plans, repeats).median;
    medians->compile = bench_spread_of(compiles, repeats).median;
    medians->bare = bench_spread_of(bares, repeats).median;
    return true;
}

static void time_element(const struct bench_engine *engine, rope2d_element element, const char *cache,
                         struct bench_warm *warm) {
    struct times first, tested, untested, parts;
    char other[FOLDER_PATH_SIZE + 24]; // nobody proves an untested plan's conversions: it has another kernel
    snprintf(other, sizeof other, "%s-untested", cache);
    *warm = (struct bench_warm){-1, -1, -1, -1};
    // The first has no cache, and leaves one.
    if (!run_one(engine, element, "tested", cache, &first) ||
        !run_some(engine, element, "tested", cache, &tested) ||
        !run_one(engine, element, "untested", other, &first) ||
        !run_some(engine, element, "untested", other, &untested))
        return;
    parts = tested;
    if (engine->ops->run_twice && !run_some(engine, element, "parts", cache, &parts))
        return;
    *warm = (struct bench_warm){tested.plan, untested.plan, parts.compile, tested.bare};
}

void bench_cold_plans(const struct bench_run *run, struct bench_overhead *overhead) {
    double plans[REPEATS], compiles[REPEATS], bares[REPEATS];
    uint32_t repeats = run->engine.is_quick ? QUICK_REPEATS : REPEATS;
    struct times plan, bare;
    for (uint32_t i = 0; i < repeats; ++i) {
        if (!run_one(&run->engine, ROPE2D_F32, "bare", "-", &bare) ||
            !run_one(&run->engine, ROPE2D_F32, "cold", "-", &plan))
            return;
        plans[i] = plan.plan;
        compiles[i] = plan.compile;
        bares[i] = plan.compile < 0 ? bare.plan : bare.compile;
    }
    overhead->plan_cold = bench_spread_of(plans, repeats).median;
    overhead->compile = bench_spread_of(compiles, repeats).median;
    overhead->bare_compile = bench_spread_of(bares, repeats).median;
}

void bench_warm_plans(const struct bench_run *run, struct bench_overhead *overhead) {
    static const rope2d_element elements[BENCH_WARM] = {ROPE2D_F32, ROPE2D_F16};
    char folder[FOLDER_PATH_SIZE], cache[FOLDER_PATH_SIZE + 8];
    if (!folder_make_own(folder)) {
        for (int i = 0; i < BENCH_WARM; ++i)
            overhead->warm[i] = (struct bench_warm){-1, -1, -1, -1};
        return;
    }
    for (int i = 0; i < BENCH_WARM; ++i) {
        snprintf(cache, sizeof cache, "%s/%s", folder, bench_element_names[elements[i]]);
        time_element(&run->engine, elements[i], cache, &overhead->warm[i]);
    }
    folder_remove(folder);
}

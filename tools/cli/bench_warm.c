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

enum { REPEATS = 3, WARM_REPEATS = 7, QUICK_REPEATS = 1 };
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

enum { TESTED, PARTS, UNTESTED, MODES };

// What is left of a plan in the process in which the driver's part was timed; -1: it was not.
static double own_part(const struct times *times) {
    return times->compile < 0 ? -1 : times->plan - times->compile;
}

// The processes of each mode, in turns: a machine that is slower for a while is so for all. A driver may take
// a tenth more in one of them than in the next, so that its part is told by what is not its own.
static bool run_in_turns(const struct bench_engine *engine, rope2d_element element,
                         const char *const caches[MODES], struct bench_warm *warm) {
    static const char *const modes[MODES] = {"tested", "parts", "untested"};
    double plans[MODES][WARM_REPEATS], bares[WARM_REPEATS], owns[WARM_REPEATS];
    uint32_t repeats = engine->is_quick ? QUICK_REPEATS : WARM_REPEATS;
    const int telling = engine->ops->run_twice ? PARTS : TESTED; // what is its own
    for (uint32_t i = 0; i < repeats; ++i)
        for (int mode = 0; mode < MODES; ++mode) {
            struct times times;
            if (mode == PARTS && telling != PARTS)
                continue;
            if (!run_one(engine, element, modes[mode], caches[mode], &times))
                return false;
            plans[mode][i] = times.plan;
            if (mode == TESTED)
                bares[i] = times.bare;
            if (mode == telling)
                owns[i] = own_part(&times);
        }
    double plan = bench_spread_of(plans[TESTED], repeats).median;
    double own = bench_spread_of(owns, repeats).median;
    *warm = (struct bench_warm){plan, bench_spread_of(plans[UNTESTED], repeats).median,
                                own < 0 ? -1 : plan - own, bench_spread_of(bares, repeats).median};
    return true;
}

static void time_element(const struct bench_engine *engine, rope2d_element element, const char *cache,
                         struct bench_warm *warm) {
    struct times first;
    char other[FOLDER_PATH_SIZE + 24]; // nobody proves an untested plan's conversions: it has another kernel
    snprintf(other, sizeof other, "%s-untested", cache);
    const char *const caches[MODES] = {cache, cache, other};
    // The first has no cache, and leaves one.
    if (!run_one(engine, element, "tested", cache, &first) ||
        !run_one(engine, element, "untested", other, &first) || !run_in_turns(engine, element, caches, warm))
        *warm = (struct bench_warm){-1, -1, -1, -1};
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

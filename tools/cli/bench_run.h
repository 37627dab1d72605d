// SPDX-License-Identifier: MIT
//
// The parts of a run: an open device with its plans, a case on it, and the check of what it rotated.
#ifndef ROPE2D_CLI_BENCH_RUN_H
#define ROPE2D_CLI_BENCH_RUN_H

#include "bench.h"
#include "bench_engine.h"
#include "progress.h"

enum { BENCH_CLASSES = 16, BENCH_KINDS = BENCH_TOWERS * ROPE2D_ELEMENT_COUNT };

struct bench_plan {
    const struct bench_tower *tower;
    rope2d_element element;
    rope2d_pairing pairing;
    rope2d_table table;
    rope2d_plan *plan;
    rope2d_plan_info info;
};

// The best variants of a move, sought once for each size of tensors that differs by a factor of 4; of limits
// for each type, with a table and without, and of turns for each tower.
struct bench_found {
    bool is_there;
    uint32_t variants[BENCH_BEST];
};

struct bench_run {
    const struct bench_request *request;
    struct bench_results *results; // of the pass
    double seconds;                // of each device in it
    const struct bench_results
        *so_far;             // of the passes before, whose rows that are left go again; NULL: all do
    rope2d_device *portable; // what every result must be equal to
    struct progress progress;
    struct bench_arena arena; // for every number of threads of the CPU
    // Of the device in work.
    struct bench_engine engine;
    double deadline;
    const struct bench_case *growth; // what growth has yet to measure: it has a part of the time for itself
    struct bench_plan *plans;
    size_t plan_count;
    struct bench_found found[BENCH_MOVES][BENCH_KINDS][BENCH_CLASSES];
};

// bench_plans.c: the plan of a case on the run's device, made where it is not there yet. `why` receives the
// library's line when it cannot be made, and *plan NULL.
int bench_plan_get(struct bench_run *run, const struct bench_case *what, rope2d_pairing pairing,
                   rope2d_table table, const struct bench_plan **plan, char *why, size_t why_size);
void bench_plans_free(struct bench_run *run);
rope2d_status bench_positions_create(rope2d_device *device, const struct bench_case *what,
                                     rope2d_pairing pairing, rope2d_table table,
                                     rope2d_positions **positions);

// bench_memory.c: sets of buffers with random content, as many as no cache holds. `group` receives how many.
int bench_memory_create(struct bench_run *run, const struct bench_case *what, struct bench_group *group);
// Whether a case fits the device and the host; otherwise says why.
bool bench_memory_fits(const struct bench_run *run, const struct bench_case *what, char *why,
                       size_t why_size);
// Random content, always the same, into the buffer that is read; what can be no result into the other, where
// it is written.
int bench_memory_fill(struct bench_engine *engine, const struct bench_case *what, uint32_t set, bool has_out);

// bench_check.c: rotates fresh random content once more and compares with the portable path. Sets
// row->is_equal, and row->why where it is not.
int bench_check(struct bench_run *run, const struct bench_rotation *rotation, uint32_t set,
                struct bench_row *row);
// The verdict on a piece of a result.
bool bench_is_equal(const void *values, const void *expected, rope2d_element element, uint64_t count,
                    rope2d_exactness exactness, uint64_t first, struct bench_row *row);
// The timing of a row that was found equal; of any other none.
void bench_accept(struct bench_row *row, const struct bench_timing *timing);

// Whether a move does what it says: its results are the copied or negated inputs. `why` receives what is
// wrong.
int bench_check_move(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                     char *why, size_t why_size);

// bench_search.c: the variants of a move that are worth measuring at this size.
int bench_search(struct bench_run *run, const struct bench_group *group, enum bench_move move,
                 struct bench_found *found);

// bench_group.c: measures a case, whose results go to *group.
int bench_group_run(struct bench_run *run, const struct bench_case *what, double seconds,
                    struct bench_group *group);

// bench_warm.c: the device's plans in processes of their own. First without any cache, by turns with a copy
// kernel alone: what fails is said, and what the bench's own process has found stays. Then with a cache: a
// type that fails is said, and has no times.
void bench_cold_plans(const struct bench_run *run, struct bench_overhead *overhead);
void bench_warm_plans(const struct bench_run *run, struct bench_overhead *overhead);

// bench_worker.c: the first and the second run of a copy kernel, all of it and after it was made.
int bench_time_bare(struct bench_engine *engine, double walls[2], double hosts[2]);

// bench_overhead.c
int bench_overhead_measure(struct bench_run *run, struct bench_overhead *overhead);

#endif

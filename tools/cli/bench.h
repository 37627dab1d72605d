// SPDX-License-Identifier: MIT
//
// What `rope2d bench` measures: rotations of q and k of real towers, and beside each, in the same run and in
// turns with it, copies and read-modify-writes of the same bytes.
#ifndef ROPE2D_CLI_BENCH_H
#define ROPE2D_CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rope2d/rope2d.h"

enum {
    BENCH_TENSORS = 2,     // q and k, one behind the other in one buffer
    BENCH_BEST = 3,        // variants of a baseline that are measured to the end
    BENCH_CANDIDATES = 40, // variants of a baseline among which these are sought
    BENCH_ROTATIONS = 8,   // in place or not, two tables, two pairings
    BENCH_LIST = 16,       // entries of --tokens and --threads
    BENCH_MOST_PASSES = 9,
    BENCH_WARM = 2, // types of plans that are timed in new processes: f32 and f16
};

enum bench_form {
    BENCH_AXIAL,    // each pair turns with one axis, in all heads alike
    BENCH_MIXED,    // learned: both axes turn each pair, in each head otherwise; a table as large as q
    BENCH_FACTORED, // the same, but a table for each axis (spec.factored)
    BENCH_ANGLES,   // axial, two angles to a pair
};

// What is not axial is in no target.
struct bench_tower {
    const char *name, *title;
    uint32_t heads, head_dim;
    uint32_t axes, axis_pairs[ROPE2D_MAX_AXES];
    enum bench_form form;
};

enum { BENCH_TOWERS = 9 };
extern const struct bench_tower bench_towers[BENCH_TOWERS];
extern const char *const bench_tower_names[];   // "qwen2vl", ..., NULL
extern const char *const bench_element_names[]; // "f32", "f16", "bf16", NULL
extern const char *const bench_place_names[];   // "no", "yes", NULL
extern const char *const bench_table_names[];   // "buffer", "texture", NULL
extern const char *const bench_pairing_names[]; // "interleaved", "half", NULL

// What the user asks for. Bits of a mask are indices into the names above.
struct bench_request {
    const char *device;
    uint32_t towers, elements, places, tables, pairings;
    uint64_t tokens[BENCH_LIST], threads[BENCH_LIST];
    size_t token_count, thread_count;
    double seconds;  // of each device, in all
    uint32_t passes; // over all devices
    uint32_t again;  // and then over the cases with rows that are left
    uint32_t most_rounds;
    bool is_quick;    // fewer variants of the baselines
    bool has_kernels; // every kernel of the CPU as well
    bool is_grown;    // one tower from 1,024 to 1,048,576 tokens as well, and sizes past the last cache
    const char *json, *plot;
};

// What a case is for: how much of it is measured.
enum bench_purpose {
    BENCH_ASKED,     // what was asked for: every rotation, every baseline
    BENCH_PAST_LAST, // no copies of our own: it takes long
    BENCH_GROWTH,    // one rotation in place, its limit and the scale, a variant of each: it takes longest
    BENCH_ONE_KERNEL // of the CPU: one rotation by `kernel`, in place unless it streams, its limit and the
                     // scale; in no target
};

static inline bool bench_has_one_rotation(enum bench_purpose purpose) {
    return purpose == BENCH_GROWTH || purpose == BENCH_ONE_KERNEL;
}

// One size on one device: all rotations of it are measured in turns.
struct bench_case {
    const struct bench_tower *tower;
    uint64_t tokens;
    rope2d_element element;
    uint32_t threads; // of the CPU; 0 elsewhere
    bool in_cache;    // the same memory each time, small enough for a core's own cache
    enum bench_purpose purpose;
    const struct rope2d_turn_kernel *kernel; // of BENCH_ONE_KERNEL
};

// Ways to move the bytes of q and k, in place where they are multiplied. A limit does what a rotation cannot
// do without: the loads, the conversion to f32 and back, two multiplications and an addition, the stores, and
// of a single head as many bytes of table; but it turns nothing. A turn that was compiled for the tower is
// the limit where there is one: bench_turns.h.
enum bench_move {
    BENCH_DRIVER_COPY,
    BENCH_COPY,
    BENCH_SCALE,
    BENCH_LIMIT_IN,         // in place
    BENCH_LIMIT_OUT,        // from one buffer to another
    BENCH_TURN_INTERLEAVED, // in place
    BENCH_TURN_HALF,
    BENCH_TURN_OUT_INTERLEAVED, // from one buffer to another
    BENCH_TURN_OUT_HALF,
    BENCH_MOVES
};

// Seconds: of the device's own clock where it has one, and of the host's, submission and wait included.
struct bench_sample {
    double device, host;
};

struct bench_spread {
    double median, low, high, least; // low and high: the quartiles
};

struct bench_timing {
    struct bench_spread device, host;
    bool has_device;
    uint32_t runs;
};

struct bench_baseline {
    char name[64];
    struct bench_timing timing;
};

// The best variants of a move.
struct bench_best {
    struct bench_baseline variants[BENCH_BEST];
    uint32_t best;
};

struct bench_row {
    bool in_place;
    rope2d_pairing pairing;
    rope2d_table table;
    rope2d_exactness exactness;
    char kernel[64];
    uint32_t dispatches;
    double traffic; // bytes moved, table and row numbers included, against the tensors' alone
    bool is_equal;  // to the portable path, in this run: without it there is no timing
    char why[160];  // it is not, or was not measured
    struct bench_timing timing;
    // How fast against a move's best variant, 1 is as fast: the median of what each round has for itself, in
    // which both ran within moments. 0: no rounds of both.
    double of[BENCH_MOVES];
    // Of several passes: how many, and the least and the most that it was in one.
    uint32_t passes;
    double least[BENCH_MOVES], most[BENCH_MOVES];
};

struct bench_group {
    char device[24], device_name[128], driver[128];
    rope2d_backend backend;
    bool is_software;
    struct bench_case what;
    uint64_t bytes;      // of q and k together
    uint64_t most_range; // of a binding; 0: no limit
    uint32_t sets;       // buffers that take turns
    bool past_caches;
    double fill_seconds;  // of all buffers
    double least_seconds; // of the fewest rounds and the checks
    struct bench_baseline driver_copy;
    struct bench_best moves[BENCH_MOVES]; // all but the driver's copy
    struct bench_row rows[BENCH_ROTATIONS];
    uint32_t row_count;
};

// And the CPU with as many threads.
static inline bool bench_is_same_device(const struct bench_group *a, const struct bench_group *b) {
    return strcmp(a->device, b->device) == 0 && a->what.threads == b->what.threads;
}

// The group's row of the same rotation; NULL: it has none.
static inline const struct bench_row *bench_find_row(const struct bench_group *group,
                                                     const struct bench_row *like) {
    for (uint32_t i = 0; i < group->row_count; ++i) {
        const struct bench_row *row = &group->rows[i];
        if (row->in_place == like->in_place && row->pairing == like->pairing && row->table == like->table)
            return row;
    }
    return NULL;
}

// A plan in a process that was just started, whose device has a cache of what was compiled before: seconds,
// negative where they are not known.
struct bench_warm {
    double plan, untested;
    double compile; // of the plan: the driver's part, what is left without ours; negative: not known
    double bare; // what in such a process a copy kernel's first run takes besides what its second takes, for
                 // each kernel that was made
};

// What happens once: seconds.
struct bench_overhead {
    char device[24], device_name[128];
    rope2d_backend backend;
    bool is_software;
    double plan_cold;
    double plan_again; // after the first was destroyed: what the driver has kept helps
    struct bench_warm warm[BENCH_WARM];
    double plan_memory;             // while another of its structure is there
    double compile, compile_again;  // the driver's part of the first two; negative: not known
    double bare_compile;            // what the first run of a copy kernel takes besides what the second takes
    double positions;               // 1,024 tokens
    double first_apply, next_apply; // rope2d_apply of 1,024 tokens, from host memory to host memory
    double record, enqueue;         // negative: the device has none
    double bare_record;             // the driver's part: the commands of a rotation alone; negative: none
    uint64_t record_allocations;
    bool is_equal; // applies are, to the portable path's: without it they and the positions have no time
};

struct bench_machine {
    char name[128];
    uint32_t processors;
    uint64_t core_cache, last_cache; // bytes
    uint64_t memory;                 // bytes, and those that are free
    uint64_t free_memory;
};

struct bench_results {
    struct bench_machine machine;
    struct bench_group *groups;
    size_t group_count;
    struct bench_overhead *overheads;
    size_t overhead_count;
    uint32_t refused;  // rows, and applies, without a number because they were not equal
    uint32_t left_out; // groups that did not fit the memory or the time
    double seconds;
    uint32_t passes, again;
    char command[512];
};

// The seconds that count: the device's own where it has a clock.
const struct bench_spread *bench_counted(const struct bench_timing *timing);
// Bytes read and written in a second, in 10^9.
double bench_rate(const struct bench_group *group, const struct bench_timing *timing);
// Of its limit's speed: what explains a miss.
#define BENCH_NEAR_SPEED 0.95
// Which limit is a row's, in place or not as the row is, and how fast the row is against that.
enum bench_move bench_limit_of(const struct bench_row *row);
double bench_of_limit(const struct bench_row *row);
// The best of a move's variants.
const struct bench_baseline *bench_baseline_of(const struct bench_group *group, enum bench_move move);

// bench_cpu_kernels.c: the kernels that this processor has, each listed once by the library; NULL past the
// last. Case 0 is in a core's own cache, case 1 from memory.
const struct rope2d_turn_kernel *bench_kernel_at(uint32_t index);
void bench_kernel_case(const struct rope2d_turn_kernel *kernel, int which, struct bench_case *what);
enum { BENCH_KERNEL_NAME = 32 };
void bench_kernel_name(const struct rope2d_turn_kernel *kernel, char name[BENCH_KERNEL_NAME]);
rope2d_pairing bench_kernel_pairing(const struct rope2d_turn_kernel *kernel);
bool bench_kernel_is_in_place(const struct rope2d_turn_kernel *kernel); // else it is for elsewhere alone

// bench_machine.c
void bench_machine_read(struct bench_machine *machine);

#endif

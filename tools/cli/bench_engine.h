// SPDX-License-Identifier: MIT
//
// What the bench needs of a kind of device: memory in sets, rotations, copies and scales on it, and clocks.
// Every function that can fail returns an exit status, and has said what failed.
#ifndef ROPE2D_CLI_BENCH_ENGINE_H
#define ROPE2D_CLI_BENCH_ENGINE_H

#include "bench.h"
#include "bench_arena.h"
#include "device_choice.h"

enum { BENCH_IN, BENCH_OUT, BENCH_BUFFERS };

// What a limit makes of each number is its product with the one and its product with the other: exactly the
// number with the other sign. A table has the one. (The CPU's: bench_cpu.c.)
enum { BENCH_FACTOR = -2, BENCH_OTHER = 1 };

// An open device. A set is a buffer that is read, or rotated in place, and one that is written.
struct bench_engine {
    const struct bench_engine_ops *ops;
    const struct device_choice *choice;
    uint32_t threads; // of the CPU
    bool is_quick;    // fewer variants
    bool keeps_cache; // the library's device has a pipeline cache of its own
    rope2d_device *device;
    rope2d_device_info info;
    const struct bench_machine *machine;
    struct bench_arena *arena; // of the CPU: at its front what is read, at its end what is written
    // Of the case in work.
    const struct bench_case *what;
    uint64_t bytes; // of a buffer
    uint32_t sets;
    uint64_t table_floats; // that a limit reads, all of them BENCH_FACTOR: a power of two, or 0
    void *impl;
};

struct bench_rotation {
    const struct bench_case *what;
    bool in_place;
    rope2d_pairing pairing;
    rope2d_table table;
    const rope2d_plan *plan; // borrowed, as are the positions
    const rope2d_positions *positions;
    uint32_t dispatches;
    uint64_t bound_bytes; // of what it reads besides the tensors
    char why[160];        // it cannot be made
    void *impl;
};

struct bench_engine_ops {
    int (*open)(struct bench_engine *engine);
    void (*close)(struct bench_engine *engine);                // half-opened ones too
    uint64_t (*most_bytes)(const struct bench_engine *engine); // of one buffer
    uint32_t most_sets;
    // Another device of the library's, as the engine's own was made.
    rope2d_status (*make_device)(struct bench_engine *engine, rope2d_device **device);
    int (*memory_create)(struct bench_engine *engine); // of engine->bytes, sets and table_floats
    void (*memory_destroy)(struct bench_engine *engine);
    // Random content into all buffers that are read, of the case's type but not as bench_memory_fill has it;
    // NULL: write does it.
    int (*fill)(struct bench_engine *engine);
    int (*write)(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                 const void *data);
    int (*read)(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                void *data);

    // Makes what a rotation of every set needs. Leaves rotation->why where the device cannot.
    int (*rotation_create)(struct bench_engine *engine, struct bench_rotation *rotation);
    void (*rotation_destroy)(struct bench_engine *engine, struct bench_rotation *rotation);
    int (*rotate)(struct bench_engine *engine, const struct bench_rotation *rotation, uint32_t set,
                  struct bench_sample *sample);

    // A way to move a set's bytes: `variant` numbers the engine's own candidates.
    uint32_t (*variants)(const struct bench_engine *engine, enum bench_move move);
    void (*variant_name)(const struct bench_engine *engine, enum bench_move move, uint32_t variant,
                         char *name, size_t size);
    int (*move)(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                struct bench_sample *sample);
    // Works for two milliseconds on a set's input, so that what is timed next finds the clocks of a device at
    // work: drivers lower an idle one's. NULL: they do not.
    int (*busy)(struct bench_engine *engine, uint32_t set);

    // The host's seconds of one record or enqueue of a rotation of set 0, those of the driver's commands
    // alone (negative: not known), and the library's allocations in it.
    int (*issue)(struct bench_engine *engine, const struct bench_rotation *rotation, double *seconds,
                 double *bare, uint64_t *allocations);
    // Seconds that the driver has spent compiling since the device was opened; negative: nobody knows.
    double (*compile_seconds)(const struct bench_engine *engine);
    // What the library has waited for, from a submission to its end; NULL: nobody knows.
    double (*run_seconds)(const struct bench_engine *engine);
    // From now on each submission of the library's is run twice, and run_seconds counts what the first takes
    // more than the second.
    void (*run_twice)(const struct bench_engine *engine);
    // What the second runs have taken, which are nobody's; NULL: there are none.
    double (*repeat_seconds)(const struct bench_engine *engine);
    // How many kernels were compiled; NULL: nobody knows.
    uint32_t (*compiled)(const struct bench_engine *engine);
};

extern const struct bench_engine_ops *const bench_engines[]; // of each backend
extern const struct bench_engine_ops bench_cpu_ops, bench_vulkan_ops, bench_opencl_ops;

// A host that counts what the library allocates, and logs as the others do.
extern const rope2d_host bench_host;
uint64_t bench_allocations(void);

// Gives the drivers of this process an empty folder of FOLDER_PATH_SIZE for their caches, which the caller
// removes.
bool bench_hide_driver_caches(char *folder);

#endif

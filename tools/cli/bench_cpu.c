// SPDX-License-Identifier: MIT
//
// The CPU: host memory, rope2d_apply, and loops on as many threads, spread as the library spreads its own.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_arena.h"
#include "bench_kinds.h"
#include "bench_limits.h"
#include "bench_loops.h"
#include "bench_turns.h"
#include "cpu/vector.h"
#include "internal.h"
#include "message.h"
#include "progress.h"

struct cpu {
    rope2d_host host;
    const struct bench_copy_loop *copies[BENCH_CANDIDATES];
    const struct bench_scale_loop *scales[BENCH_CANDIDATES];
    uint32_t copy_count, scale_count;
    // Of the case in work.
    const struct bench_limit_loop *limits[BENCH_MOVES][BENCH_CANDIDATES];
    uint32_t limit_counts[BENCH_MOVES];
    float *table;
    struct bench_turns turns;
};

// A turn of a limit may begin with the table's last entry. And k begins a page behind q's end, as two
// allocations would: 2^28 bytes from q, or a multiple, their lines push each other out of AMD's nearest
// cache.
enum { TABLE_SLACK = 256, APART = 4096 };

static rope2d_status make_device(struct bench_engine *engine, rope2d_device **device) {
    const struct cpu *cpu = engine->impl;
    rope2d_device_params params = {.struct_size = sizeof params, .host = &cpu->host};
    return rope2d_device_create(&params, device);
}

static int open_cpu(struct bench_engine *engine) {
    struct cpu *cpu = calloc(1, sizeof *cpu);
    engine->impl = cpu;
    if (!cpu) {
        message("no memory for a device");
        return STATUS_DEVICE;
    }
    cpu->host = bench_host;
    cpu->host.threads = engine->threads;
    cpu->copy_count = bench_copy_loops(cpu->copies);
    cpu->scale_count = bench_scale_loops(cpu->scales);
    rope2d_status status = make_device(engine, &engine->device);
    return status ? message_status(status, engine->choice->name) : STATUS_OK;
}

static void close_cpu(struct bench_engine *engine) {
    rope2d_device_destroy(engine->device);
    free(engine->impl);
}

static uint64_t most_bytes(const struct bench_engine *engine) {
    (void)engine;
    return UINT64_MAX;
}

// The arena stays.
static void memory_destroy(struct bench_engine *engine) {
    struct cpu *cpu = engine->impl;
    free(cpu->table);
    cpu->table = NULL;
    bench_turns_destroy(&cpu->turns);
}

// From a buffer to the next: whole pages.
static uint64_t stride_of(const struct bench_engine *engine) {
    return (engine->bytes + 4095) / 4096 * 4096 + APART;
}

static float *table_create(uint64_t floats) {
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, (size_t)(floats + TABLE_SLACK) * sizeof(float)) != 0)
        return NULL;
    float *table = memory;
    for (uint64_t i = 0; i < floats + TABLE_SLACK; ++i)
        table[i] = BENCH_FACTOR;
    return table;
}

static int memory_create(struct bench_engine *engine) {
    struct cpu *cpu = engine->impl;
    for (enum bench_move move = BENCH_LIMIT_IN; bench_is_limit(move); ++move)
        cpu->limit_counts[move] =
            bench_limit_loops(engine->what->element, bench_is_in_place(move), cpu->limits[move]);
    bool made =
        bench_arena_reserve(engine->arena, engine->sets * stride_of(engine), engine->machine->free_memory);
    if (made && engine->table_floats)
        made = (cpu->table = table_create(engine->table_floats)) != NULL;
    if (made && bench_turns_create(&cpu->turns, engine->what))
        return STATUS_OK;
    message("%s: no memory for %u buffers of %.1f MiB", engine->choice->name, engine->sets * BENCH_BUFFERS,
            (double)engine->bytes / (1 << 20));
    return STATUS_DEVICE;
}

// Random content, never zero, into all that is read.
static int fill_all(struct bench_engine *engine) {
    const rope2d_host all = {.struct_size = sizeof all}; // threads
    if (bench_arena_fill(engine->arena, engine->what->element, engine->sets * stride_of(engine), &all))
        return STATUS_OK;
    message("%s: no memory for random numbers", engine->choice->name);
    return STATUS_DEVICE;
}

static unsigned char *buffer_of(const struct bench_engine *engine, uint32_t set, int buffer) {
    uint64_t stride = stride_of(engine);
    return buffer == BENCH_IN ? engine->arena->base + set * stride
                              : engine->arena->base + engine->arena->bytes - (set + 1) * stride;
}

// Where byte `offset` of q and k stands.
static unsigned char *place_of(const struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset) {
    return buffer_of(engine, set, buffer) + offset + (offset < engine->bytes / BENCH_TENSORS ? 0 : APART);
}

// How many of the bytes from `offset` on are q's.
static size_t bytes_of_q(const struct bench_engine *engine, uint64_t offset, uint64_t bytes) {
    uint64_t end = engine->bytes / BENCH_TENSORS, left = offset < end ? end - offset : 0;
    return (size_t)(left < bytes ? left : bytes);
}

static int write_buffer(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset,
                        uint64_t bytes, const void *data) {
    size_t first = bytes_of_q(engine, offset, bytes);
    memcpy(place_of(engine, set, buffer, offset), data, first);
    memcpy(place_of(engine, set, buffer, offset + first), (const char *)data + first, (size_t)bytes - first);
    return STATUS_OK;
}

static int read_buffer(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                       void *data) {
    size_t first = bytes_of_q(engine, offset, bytes);
    memcpy(data, place_of(engine, set, buffer, offset), first);
    memcpy((char *)data + first, place_of(engine, set, buffer, offset + first), (size_t)bytes - first);
    return STATUS_OK;
}

// A kernel of the case's is the rotation's own, and stands in the plan while it runs.
static rope2d_status take_kernel(struct bench_rotation *rotation) {
    const rope2d_turn_kernel *kernel = rotation->what->kernel;
    const rope2d_pattern *pattern = &rotation->plan->pattern;
    if (rotation->what->purpose != BENCH_ONE_KERNEL)
        return ROPE2D_OK;
    if (!rope2d_vector_suits(kernel, pattern)) {
        char name[ROPE2D_KERNEL_NAME];
        rope2d_turn_kernel_name(kernel, name);
        snprintf(rotation->why, sizeof rotation->why, "%s does not suit the tower", name);
        return ROPE2D_OK;
    }
    rope2d_vector *vector = NULL;
    rope2d_status status = rope2d_vector_create(&vector, kernel, pattern, &rotation->plan->device->host);
    rotation->impl = vector;
    return status;
}

static int rotation_create(struct bench_engine *engine, struct bench_rotation *rotation) {
    rope2d_positions_info info = {.struct_size = sizeof info};
    rope2d_status status = rope2d_positions_get_info(rotation->positions, &info);
    if (!status)
        status = take_kernel(rotation);
    rotation->dispatches = 1;
    rotation->bound_bytes = info.table_bytes + info.row_bytes;
    return status ? message_status(status, engine->choice->name) : STATUS_OK;
}

static void rotation_destroy(struct bench_engine *engine, struct bench_rotation *rotation) {
    (void)engine;
    if (rotation->impl)
        rope2d_vector_destroy(rotation->impl, &rotation->plan->device->host);
    rotation->impl = NULL;
}

static int rotate(struct bench_engine *engine, const struct bench_rotation *rotation, uint32_t set,
                  struct bench_sample *sample) {
    const struct bench_case *what = rotation->what;
    int to = rotation->in_place ? BENCH_IN : BENCH_OUT;
    rope2d_tensor tensors[BENCH_TENSORS] = {{0}};
    for (uint32_t i = 0; i < BENCH_TENSORS; ++i) {
        uint64_t begin = i * engine->bytes / BENCH_TENSORS;
        tensors[i].heads = what->tower->heads;
        tensors[i].in =
            rope2d_view_contiguous(place_of(engine, set, BENCH_IN, begin), what->element, ROPE2D_LAYOUT_BNHD,
                                   1, what->tokens, what->tower->heads, what->tower->head_dim);
        tensors[i].out = tensors[i].in;
        tensors[i].out.base = place_of(engine, set, to, begin);
    }
    rope2d_apply_params params = {
        .struct_size = sizeof params,
        .batch = 1,
        .tokens = what->tokens,
        .tensor_count = BENCH_TENSORS,
        .tensors = tensors,
    };
    rope2d_plan *plan = (rope2d_plan *)(uintptr_t)rotation->plan;
    void *chosen = plan->impl;
    plan->impl = rotation->impl ? rotation->impl : chosen;
    double begin = seconds_now();
    rope2d_status status = rope2d_apply(plan, rotation->positions, &params);
    *sample = (struct bench_sample){.host = seconds_now() - begin};
    plan->impl = chosen;
    return status ? message_status(status, engine->choice->name) : STATUS_OK;
}

static const struct bench_turn *turn_of(const struct cpu *cpu, enum bench_move move, uint32_t variant) {
    bool is_half = bench_turn_pairing(move) == ROPE2D_PAIRING_HALF;
    return &cpu->turns.ways[bench_is_in_place(move)][is_half][variant];
}

static uint32_t variants(const struct bench_engine *engine, enum bench_move move) {
    const struct cpu *cpu = engine->impl;
    switch (move) {
    case BENCH_COPY:
        return cpu->copy_count;
    case BENCH_SCALE:
        return cpu->scale_count;
    case BENCH_DRIVER_COPY:
        return 1;
    case BENCH_TURN_INTERLEAVED:
    case BENCH_TURN_HALF:
    case BENCH_TURN_OUT_INTERLEAVED:
    case BENCH_TURN_OUT_HALF:
        return cpu->turns.counts[bench_is_in_place(move)][bench_turn_pairing(move) == ROPE2D_PAIRING_HALF];
    default:
        return cpu->limit_counts[move];
    }
}

static void variant_name(const struct bench_engine *engine, enum bench_move move, uint32_t variant,
                         char *name, size_t size) {
    const struct cpu *cpu = engine->impl;
    if (bench_is_turn(move))
        bench_turn_name(turn_of(cpu, move, variant), name, size);
    else
        snprintf(name, size, "%s",
                 move == BENCH_DRIVER_COPY ? "memcpy"
                 : move == BENCH_COPY      ? cpu->copies[variant]->name
                 : move == BENCH_SCALE     ? cpu->scales[variant]->name
                                           : cpu->limits[move][variant]->name);
}

// A part for each thread, of whole lines of the cache, or of whole tokens.
struct moving {
    const struct cpu *cpu;
    enum bench_move move;
    uint32_t variant, tasks;
    unsigned char *in, *out;
    uint64_t bytes, table_floats, tokens;
    uint32_t channel_bits, column_bits;
    uint32_t element_size;
};

static void limit_part(const struct moving *moving, uint64_t begin, uint64_t end) {
    bool in_place = bench_is_in_place(moving->move);
    const struct bench_limit_loop *loop = moving->cpu->limits[moving->move][moving->variant];
    struct bench_limit_part part = {
        .to = (in_place ? moving->in : moving->out) + begin,
        .from = moving->in + begin,
        .bytes = end - begin,
        .factor = BENCH_FACTOR,
        .other = BENCH_OTHER,
        .table = moving->cpu->table,
        .at = begin / moving->element_size,
        .mask = moving->table_floats - 1,
        .channel_bits = moving->channel_bits,
        .column_bits = moving->column_bits,
        .second = moving->bytes / BENCH_TENSORS + APART,
    };
    loop->run[in_place][part.table != NULL](&part);
}

// The bits of a power of two, and 0 of what is none.
static uint32_t bits_of(uint64_t count) {
    uint32_t bits = 0;
    while (count >> bits > 1)
        ++bits;
    return (uint64_t)1 << bits == count ? bits : 0;
}

// A table of rows for a grid's columns and lines, where it is not one for each token.
static void take_grid(const struct bench_tower *tower, struct moving *moving) {
    if (!moving->table_floats || tower->form == BENCH_MIXED || tower->axes != 2)
        return;
    moving->channel_bits = bits_of(tower->head_dim);
    moving->column_bits = bits_of(moving->table_floats / tower->head_dim);
}

static void move_range(const struct moving *moving, uint64_t begin, uint64_t end) {
    if (moving->move == BENCH_DRIVER_COPY)
        memcpy(moving->out + begin, moving->in + begin, (size_t)(end - begin));
    else if (moving->move == BENCH_COPY)
        moving->cpu->copies[moving->variant]->run(moving->out + begin, moving->in + begin, end - begin);
    else if (moving->move != BENCH_SCALE)
        limit_part(moving, begin, end);
    else
        moving->cpu->scales[moving->variant]->run((float *)(void *)(moving->in + begin), end - begin, -1.0f);
}

static void turn_part(void *data, uint32_t index) {
    const struct moving *moving = data;
    const uint64_t apart = moving->bytes / BENCH_TENSORS + APART;
    unsigned char *const out = bench_is_in_place(moving->move) ? moving->in : moving->out;
    const unsigned char *const from[BENCH_TENSORS] = {moving->in, moving->in + apart};
    unsigned char *const to[BENCH_TENSORS] = {out, out + apart};
    bench_turns_run(&moving->cpu->turns, turn_of(moving->cpu, moving->move, moving->variant), from, to,
                    moving->tokens * index / moving->tasks, moving->tokens * (index + 1) / moving->tasks);
}

static void move_part(void *data, uint32_t index) {
    const struct moving *moving = data;
    bool has_table = moving->table_floats && bench_is_limit(moving->move); // then k goes with q
    uint64_t lines = moving->bytes / 64 / (has_table ? BENCH_TENSORS : 1), q = moving->bytes / BENCH_TENSORS;
    uint64_t begin = lines * index / moving->tasks * 64;
    uint64_t end = lines * (index + 1) / moving->tasks * 64;
    if (begin < q)
        move_range(moving, begin, end < q ? end : q);
    if (end > q)
        move_range(moving, (begin > q ? begin : q) + APART, end + APART);
}

static int move_bytes(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      struct bench_sample *sample) {
    const struct cpu *cpu = engine->impl;
    struct moving moving = {
        .cpu = cpu,
        .move = move,
        .variant = variant,
        .tasks = engine->threads,
        .in = buffer_of(engine, set, BENCH_IN),
        .out = buffer_of(engine, set, BENCH_OUT),
        .bytes = engine->bytes,
        .table_floats = engine->table_floats,
        .tokens = engine->what->tokens,
        .element_size = rope2d_element_size(engine->what->element),
    };
    rope2d_host host = rope2d_host_resolve(&cpu->host);
    take_grid(engine->what->tower, &moving);
    double begin = seconds_now();
    rope2d_parallel(&host, moving.tasks, bench_is_turn(move) ? turn_part : move_part, &moving);
    *sample = (struct bench_sample){.host = seconds_now() - begin};
    return STATUS_OK;
}

static int issue(struct bench_engine *engine, const struct bench_rotation *rotation, double *seconds,
                 double *bare, uint64_t *allocations) {
    (void)engine;
    (void)rotation;
    *seconds = *bare = -1;
    *allocations = 0;
    return STATUS_OK;
}

static double compile_seconds(const struct bench_engine *engine) {
    (void)engine;
    return 0; // nothing is compiled
}

const struct bench_engine_ops bench_cpu_ops = {
    .open = open_cpu,
    .close = close_cpu,
    .most_bytes = most_bytes,
    .make_device = make_device,
    .most_sets = 65536,
    .memory_create = memory_create,
    .memory_destroy = memory_destroy,
    .fill = fill_all,
    .write = write_buffer,
    .read = read_buffer,
    .rotation_create = rotation_create,
    .rotation_destroy = rotation_destroy,
    .rotate = rotate,
    .variants = variants,
    .variant_name = variant_name,
    .move = move_bytes,
    .issue = issue,
    .compile_seconds = compile_seconds,
};

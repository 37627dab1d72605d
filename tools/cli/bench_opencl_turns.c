// SPDX-License-Identifier: MIT
//
// What a rotation could be at best in OpenCL, where its device is a CPU of PoCL's: turns of a tower's own
// shape, in every way that a search may choose from.
#include "opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench_cases.h"
#include "bench_opencl.h"
#include "bench_turn_grid.h"
#include "embedded.h"
#include "message.h"

extern const struct rope2d_unpacked bench_turn_text[]; // bench_turn.cl

enum { APART = 1, AHEAD = 2, STREAMS = 4 };       // of a variant
enum { AHEAD_BYTES = 2816, STREAMED_BYTES = 32 }; // of a store past the caches, to multiples of that
enum { ITEM_TOKENS = 64, MOST_ITEMS = 64 };       // small sizes have fewer tokens in an item

static bool has_turns(const struct bench_engine *engine) {
    return rope2d_cl_is_pocl(engine->device) && engine->what->tower->form == BENCH_AXIAL &&
           engine->bytes / rope2d_element_size(engine->what->element) <= UINT32_MAX;
}

static bool can_stream(const struct bench_case *what, enum bench_move move) {
#if defined(__x86_64__)
    const uint32_t bytes = what->tower->head_dim * rope2d_element_size(what->element);
    const uint32_t run = bench_turn_pairing(move) == ROPE2D_PAIRING_HALF ? bytes / 2 : bytes;
    return !bench_is_in_place(move) && run % STREAMED_BYTES == 0 && what->element != ROPE2D_F16;
#else
    (void)what;
    (void)move;
    return false;
#endif
}

uint32_t bench_opencl_turn_variants(const struct bench_engine *engine, enum bench_move move) {
    if (!has_turns(engine))
        return 0;
    if (engine->is_quick)
        return BENCH_BEST;
    return can_stream(engine->what, move) ? OPENCL_TURNS : STREAMS;
}

void bench_opencl_turn_name(uint32_t variant, char *name, size_t size) {
    snprintf(name, size, "%s%s%s", (variant & APART) != 0 ? "q, then k" : "q and k",
             (variant & AHEAD) != 0 ? ", asked for ahead" : "",
             (variant & STREAMS) != 0 ? ", stored past the caches" : "");
}

static int build(struct bench_engine *engine, bool is_half, uint32_t variant, struct opencl_turn *turn) {
    struct opencl *opencl = engine->impl;
    const struct bench_tower *tower = engine->what->tower;
    const uint32_t second = tower->axis_pairs[0], third = second + tower->axis_pairs[1];
    const char *text = bench_turn_text[0].data;
    char options[256];
    cl_int code = CL_SUCCESS;
    snprintf(options, sizeof options,
             "-cl-std=CL1.2 -DELEMENT=%d -DHALF=%d -DHEADS=%uu -DHEAD_DIM=%uu -DAXES=%uu -DSECOND=%uu "
             "-DTHIRD=%uu -DAPART=%d -DAHEAD=%d -DSTREAM=%d",
             (int)engine->what->element, is_half, tower->heads, tower->head_dim, tower->axes, second, third,
             (variant & APART) != 0, (variant & AHEAD) != 0 ? AHEAD_BYTES : 0, (variant & STREAMS) != 0);
    turn->program = opencl->CreateProgramWithSource(opencl->context, 1, &text, NULL, &code);
    int result = opencl_check(engine, code, "clCreateProgramWithSource");
    if (!result)
        result =
            opencl_check(engine, opencl->BuildProgram(turn->program, 1, &opencl->device, options, NULL, NULL),
                         "clBuildProgram");
    if (!result) {
        turn->kernel = opencl->CreateKernel(turn->program, "turn", &code);
        result = opencl_check(engine, code, "clCreateKernel");
    }
    return result;
}

void bench_opencl_release_turns(struct opencl *opencl) {
    struct opencl_turn *turns = &opencl->turns[0][0][0][0];
    for (size_t i = 0; i < sizeof opencl->turns / sizeof *turns; ++i) {
        if (turns[i].kernel)
            opencl->ReleaseKernel(turns[i].kernel);
        if (turns[i].program)
            opencl->ReleaseProgram(turns[i].program);
    }
}

static cl_int create(const struct opencl *opencl, const void *data, uint64_t bytes, cl_mem *memory) {
    cl_int code = CL_SUCCESS;
    cl_mem_flags flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    *memory = opencl->CreateBuffer(opencl->context, flags, (size_t)bytes, (void *)(uintptr_t)data, &code);
    return code;
}

int bench_opencl_create_turns(struct bench_engine *engine) {
    struct opencl *opencl = engine->impl;
    const struct bench_case *what = engine->what;
    if (!has_turns(engine))
        return STATUS_OK;
    const uint64_t of_table = bench_columns_of(what->tokens) * what->tower->head_dim * sizeof(float);
    const uint64_t of_rows = what->tokens * what->tower->axes * sizeof(uint32_t);
    float *table = malloc((size_t)of_table);
    uint32_t *rows = malloc((size_t)of_rows);
    cl_int code = CL_OUT_OF_HOST_MEMORY;
    if (table && rows) {
        bench_turn_table(what, what->tower->head_dim, table);
        bench_turn_rows(what, rows);
        code = create(opencl, table, of_table, &opencl->turn_table);
        if (code == CL_SUCCESS)
            code = create(opencl, rows, of_rows, &opencl->turn_rows);
    }
    free(rows);
    free(table);
    return opencl_check(engine, code, "clCreateBuffer");
}

int bench_opencl_turn(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      cl_event *event) {
    struct opencl *opencl = engine->impl;
    const struct bench_case *what = engine->what;
    const bool is_half = bench_turn_pairing(move) == ROPE2D_PAIRING_HALF;
    struct opencl_turn *turn = &opencl->turns[what->tower - bench_towers][what->element][is_half][variant];
    if (!turn->kernel) {
        int result = build(engine, is_half, variant, turn);
        if (result)
            return result;
    }
    cl_mem from = bench_opencl_buffer(opencl, set, BENCH_IN);
    cl_mem to = bench_is_in_place(move) ? from : bench_opencl_buffer(opencl, set, BENCH_OUT);
    const cl_uint tokens = (cl_uint)what->tokens, least = (tokens + MOST_ITEMS - 1) / MOST_ITEMS;
    const cl_uint each = least < ITEM_TOKENS ? least : ITEM_TOKENS;
    const size_t local = 1, global = (tokens + each - 1) / each;
    const struct opencl_argument arguments[] = {
        {sizeof from, &from},
        {sizeof to, &to},
        {sizeof opencl->turn_table, &opencl->turn_table},
        {sizeof opencl->turn_rows, &opencl->turn_rows},
        {sizeof tokens, &tokens},
        {sizeof each, &each},
    };
    return opencl_check(engine,
                        bench_opencl_enqueue(opencl, turn->kernel, arguments,
                                             sizeof arguments / sizeof *arguments, global, local, event),
                        "a turn");
}

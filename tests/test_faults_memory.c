// SPDX-License-Identifier: MIT
//
// A host without memory at each request in turn, from opening a device to an apply, on devices that the
// library makes: CPU, Vulkan, OpenCL. Each time ROPE2D_ERROR_HOST_MEMORY with its line in the log, nothing
// left over, the right bits once there is memory. A tensor rotated in place is untouched by an apply that
// failed before anything was dispatched: for memory, or for what it was asked.
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 16, TOKENS = 12, HEADS = 3, ELEMENTS = TOKENS * HEADS * DIM, MOST_DEVICES = 16 };
enum { EXTENSION_SIZE = 260 }; // of a VkExtensionProperties

static tally counts;
static unsigned points;

typedef struct memory {
    captured_log log; // first, so that its own callback finds it
    long live;
    long requests;
    long fail_at; // 0: never
    size_t failed_size;
} memory;

static void *allocate(void *user, size_t size, size_t alignment) {
    memory *own = user;
    if (++own->requests == own->fail_at) {
        own->failed_size = size;
        return NULL;
    }
    void *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    own->live += block != NULL;
    return block;
}

static void release(void *user, void *block, size_t size) {
    (void)size;
    ((memory *)user)->live--;
    free(block);
}

typedef struct way {
    const char *name;
    rope2d_table table;
    rope2d_element type;
    uint32_t plan_flags;
} way;

static const way ways[] = {
    {"f32", ROPE2D_TABLE_BUFFER, ROPE2D_F32, ROPE2D_PLAN_NO_SELF_TEST},
    {"f16", ROPE2D_TABLE_AUTO, ROPE2D_F16, ROPE2D_PLAN_NO_SELF_TEST},
    {"f32, with its self-test", ROPE2D_TABLE_BUFFER, ROPE2D_F32, 0},
};

typedef struct scene {
    memory memory;
    rope2d_device *device;
    rope2d_positions *positions;
    rope2d_plan *plan;
    rope2d_status first; // that was not OK
    unsigned unlogged;   // failures without a line
    union {
        float values[ELEMENTS];
        uint16_t halves[ELEMENTS];
    } tensor;
    bool is_touched; // by an apply that failed
} scene;

static void fill(scene *made, rope2d_element type) {
    for (int i = 0; i < ELEMENTS; i++) {
        if (type == ROPE2D_F16)
            made->tensor.halves[i] = (uint16_t)(0x3c00 + i); // from 1 upwards
        else
            made->tensor.values[i] = (float)(i % 61) / 8 - 3;
    }
}

static rope2d_status apply(scene *made, rope2d_element type, uint64_t first_token, uint64_t size) {
    rope2d_tensor tensor = {
        .heads = HEADS,
        .in = rope2d_view_contiguous(&made->tensor, type, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, DIM)};
    if (size != 0)
        tensor.in.size = size;
    const rope2d_apply_params params = {.struct_size = sizeof(params),
                                        .batch = 1,
                                        .first_token = first_token,
                                        .tokens = TOKENS,
                                        .tensor_count = 1,
                                        .tensors = &tensor};
    return rope2d_apply(made->plan, made->positions, &params);
}

// Whether a call is to be made once more: what failed for want of memory has its second try.
static bool is_tried_again(scene *made, rope2d_status status) {
    if (status == ROPE2D_OK || made->first != ROPE2D_OK)
        return false;
    made->first = status;
    made->unlogged += made->memory.log.text[0] == 0;
    return true;
}

// From opening a device to an apply in place. The status of the last call.
static rope2d_status live(scene *made, const rope2d_device_params *params, const way *kind) {
    float freqs[2][DIM / 2] = {{0}};
    float yx[TOKENS][2];
    for (int i = 0; i < DIM / 2; i++)
        freqs[i % 2][i] = 1.0f / (float)(1 + i);
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / 4);
        yx[t][1] = (float)(t % 4);
    }
    const rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = DIM, .axes = 2, .freqs = &freqs[0][0]};
    const rope2d_positions_params line = {.struct_size = sizeof(line),
                                          .spec = &spec,
                                          .table = kind->table,
                                          .tokens = TOKENS,
                                          .coordinates = &yx[0][0]};
    const rope2d_plan_params types = {.struct_size = sizeof(types),
                                      .spec = &spec,
                                      .in = kind->type,
                                      .out = kind->type,
                                      .table = kind->table,
                                      .flags = kind->plan_flags};
    rope2d_status status = ROPE2D_OK;
    do
        status = rope2d_device_create(params, &made->device);
    while (is_tried_again(made, status));
    while (status == ROPE2D_OK && !made->positions &&
           is_tried_again(made, status = rope2d_positions_create(made->device, &line, &made->positions)))
        status = ROPE2D_OK;
    while (status == ROPE2D_OK && !made->plan &&
           is_tried_again(made, status = rope2d_plan_create(made->device, &types, &made->plan)))
        status = ROPE2D_OK;
    if (status != ROPE2D_OK)
        return status;
    scene *input = calloc(1, sizeof(*input));
    if (!input)
        return ROPE2D_ERROR_HOST_MEMORY;
    fill(made, kind->type);
    fill(input, kind->type);
    status = apply(made, kind->type, 0, 0);
    if (is_tried_again(made, status)) {
        made->is_touched = memcmp(&made->tensor, &input->tensor, sizeof(made->tensor)) != 0;
        status = apply(made, kind->type, 0, 0);
    }
    free(input);
    return status;
}

static void destroy(scene *made) {
    rope2d_plan_destroy(made->plan);
    rope2d_positions_destroy(made->positions);
    rope2d_device_destroy(made->device);
    made->plan = NULL;
    made->positions = NULL;
    made->device = NULL;
}

static rope2d_status live_with(scene *made, rope2d_device_params params, const way *kind, long fail_at) {
    memset(made, 0, sizeof(*made));
    rope2d_host host = captured_host(&made->memory.log);
    host.user = &made->memory;
    host.allocate = allocate;
    host.release = release;
    host.threads = 1;
    made->memory.fail_at = fail_at;
    params.host = &host;
    return live(made, &params, kind);
}

// Refused for what was asked, in place: nothing is written.
static void refuse(scene *made, const way *kind, const char *name) {
    static scene before;
    const uint64_t short_of_one = (uint64_t)ELEMENTS * rope2d_element_size(kind->type) - 1;
    before.tensor = made->tensor;
    const rope2d_status late = apply(made, kind->type, 1, 0);
    const rope2d_status small = apply(made, kind->type, 0, short_of_one);
    tally_check(&counts,
                late != ROPE2D_OK && small == ROPE2D_ERROR_TENSOR_SIZE &&
                    memcmp(&made->tensor, &before.tensor, sizeof(before.tensor)) == 0,
                "%s, %s: refused with %s and %s, or written to", name, kind->name, rope2d_status_name(late),
                rope2d_status_name(small));
}

static void fail_each(rope2d_device_params params, const way *kind, const char *name) {
    static scene right, found;
    unsigned spared = 0;
    const rope2d_status honest = live_with(&right, params, kind, 0);
    const long requests = right.memory.requests;
    found.tensor = right.tensor;
    if (!tally_check(&counts, honest == ROPE2D_OK && requests > 5, "%s, %s: %s, %ld requests", name,
                     kind->name, rope2d_status_name(honest), requests)) {
        destroy(&right);
        return;
    }
    refuse(&right, kind, name);
    destroy(&right);
    for (long number = 1; number <= requests; number++) {
        const rope2d_status status = live_with(&found, params, kind, number);
        // Without a list of extensions Vulkan does without them.
        const bool is_spare = params.backend == ROPE2D_BACKEND_VULKAN && found.first == ROPE2D_OK &&
                              found.memory.failed_size != 0 && found.memory.failed_size % EXTENSION_SIZE == 0;
        points++;
        spared += is_spare;
        tally_check(&counts, is_spare || (found.first == ROPE2D_ERROR_HOST_MEMORY && found.unlogged == 0),
                    "%s, %s, request %ld of %ld, %zu bytes: %s: %s", name, kind->name, number, requests,
                    found.memory.failed_size, rope2d_status_name(found.first), found.memory.log.text);
        tally_check(&counts, !found.is_touched, "%s, %s, request %ld: the input is lost", name, kind->name,
                    number);
        tally_check(&counts,
                    status == ROPE2D_OK && memcmp(&found.tensor, &right.tensor, sizeof(right.tensor)) == 0,
                    "%s, %s, after request %ld: %s, or other bits", name, kind->name, number,
                    rope2d_status_name(status));
        destroy(&found);
        tally_check(&counts, found.memory.live == 0, "%s, %s, request %ld: %ld blocks are left", name,
                    kind->name, number, found.memory.live);
    }
    printf("%s, %s: %ld requests, %u of them spared\n", name, kind->name, requests, spared);
}

// An enumeration that has no memory for its lists counts no devices: it fails.
static void enumerate_each(rope2d_backend backend, uint32_t expected) {
    static memory own;
    for (long number = 1; number == 1 || own.requests >= number - 1; number++) {
        uint32_t count = 0;
        memset(&own, 0, sizeof(own));
        rope2d_host host = captured_host(&own.log);
        host.user = &own;
        host.allocate = allocate;
        host.release = release;
        own.fail_at = number;
        const rope2d_status status = rope2d_enumerate(backend, &host, &count, NULL);
        points += own.failed_size != 0;
        const bool is_whole = status == ROPE2D_OK && count == expected;
        tally_check(&counts,
                    own.live == 0 && (own.failed_size == 0 || own.failed_size % EXTENSION_SIZE == 0
                                          ? is_whole
                                          : status == ROPE2D_ERROR_HOST_MEMORY && own.log.text[0] != 0),
                    "backend %d, enumerated without request %ld: %s, %u of %u devices", (int)backend, number,
                    rope2d_status_name(status), (unsigned)count, (unsigned)expected);
    }
}

int main(void) {
    static const rope2d_backend backends[] = {ROPE2D_BACKEND_CPU, ROPE2D_BACKEND_VULKAN,
                                              ROPE2D_BACKEND_OPENCL};
    static rope2d_device_info infos[MOST_DEVICES];
    const char *quick = getenv("ROPE2D_QUICK");
    const bool is_quick = quick != NULL && strcmp(quick, "1") == 0;
    for (int i = 0; i < MOST_DEVICES; i++)
        infos[i].struct_size = sizeof(infos[i]);
    for (size_t b = 0; b < sizeof(backends) / sizeof(*backends); b++) {
        uint32_t count = MOST_DEVICES;
        if (rope2d_enumerate(backends[b], NULL, &count, infos) != ROPE2D_OK || count == 0) {
            counts.skipped++; // that devices are there is what other tests demand
            continue;
        }
        enumerate_each(backends[b], count);
        for (uint32_t i = 0; i < count && i < (is_quick ? 1u : (uint32_t)MOST_DEVICES); i++) {
            const rope2d_device_params params = {
                .struct_size = sizeof(params), .backend = backends[b], .index = i};
            for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++)
                if (w == 0 || i == 0)
                    fail_each(params, &ways[w], infos[i].name);
        }
    }
    printf("%u requests of memory failed in turn\n", points);
    return tally_finish(&counts);
}

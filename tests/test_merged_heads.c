// SPDX-License-Identifier: MIT
//
// Heads of bf16 whose pairs lie side by side, without gaps, of which two or four together are whole vectors
// of 512 bits: the CPU turns them as one, four where they go past the caches. The bits of the portable path
// for lengths of which that is so and others, for one, two and three axes, as many heads as are whole, more,
// and fewer, one behind the other, with room between them, on lines that they do not fill, and all tokens of
// a head together; and tokens that do not rotate; in the caches and past them.
#include "apply_once.h"
#include "check.h"
#include "cpu/device.h"
#include "cpu/vector.h"

#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 2,
    TOKENS = 67,
    MOST_PAIRS = 48,
    LINE_CHANNELS = 32,
    MOST_ROOM = 32,
    ALIGNED = 64,
    MEMORIES = 4
};

typedef enum layout { DENSE, APART, ON_LINES, BY_HEADS, LAYOUTS } layout;
typedef enum place { ELSEWHERE, IN_PLACE, Q_IN_PLACE, PLACES } place;

// Of q and k together.
static const size_t most_bytes =
    (size_t)BATCH * TOKENS * 2 * 16 * (2 * MOST_PAIRS + MOST_ROOM) * sizeof(uint16_t);

// Heads that are one: the fewest whose pairs are whole vectors of 16, where a head's are not.
static const struct length {
    uint32_t head_dim, merged;
} lengths[] = {{24, 0}, {32, 0}, {36, 0}, {40, 4}, {44, 0}, {48, 2},
               {56, 4}, {64, 0}, {72, 4}, {80, 2}, {88, 4}, {96, 0}};

static const struct heads { uint32_t q, k; } heads[] = {{16, 16}, {8, 4}, {4, 0}, {12, 2}, {6, 6}, {3, 4}};

static rope2d_status rotate(rope2d_device *device, const rope2d_plan_params *types,
                            const struct heads *counts, layout lies, place where, unsigned char *from,
                            unsigned char *to) {
    static float coordinates[TOKENS][3];
    for (int t = 0; t < TOKENS; t++)
        for (uint32_t a = 0; a < types->spec->axes; a++)
            (&coordinates[0][0])[(uint32_t)t * types->spec->axes + a] =
                (float)(a == 0 ? t / 19 : t % (19 - (int)a));
    const rope2d_range unrotated[] = {{0, 3}, {50, 57}};
    const rope2d_positions_params grid = {.struct_size = sizeof(grid),
                                          .spec = types->spec,
                                          .tokens = TOKENS,
                                          .coordinates = coordinates[0],
                                          .unrotated = unrotated,
                                          .unrotated_count = 2};
    const uint32_t dim = types->spec->head_dim;
    const uint32_t to_line = (LINE_CHANNELS - dim % LINE_CHANNELS) % LINE_CHANNELS;
    const int64_t head = dim + (lies == APART ? MOST_ROOM : lies == ON_LINES ? to_line : 0);
    rope2d_tensor tensors[2] = {{.heads = counts->q}, {.heads = counts->k}};
    for (int i = 0; i < 2; i++) {
        const int64_t heads_apart = lies == BY_HEADS ? head * TOKENS : head;
        const int64_t tokens_apart = lies == BY_HEADS ? head : head * (int64_t)tensors[i].heads;
        const int64_t batches_apart = head * TOKENS * (int64_t)tensors[i].heads;
        const rope2d_view in = {from,          most_bytes,   i == 0 ? 0 : most_bytes / 2,
                                batches_apart, tokens_apart, heads_apart};
        tensors[i].in = tensors[i].out = in;
        tensors[i].out.base = where == IN_PLACE || (where == Q_IN_PLACE && i == 0) ? from : to;
    }
    const rope2d_apply_params all = {sizeof(all), BATCH, 0, TOKENS, counts->k > 0 ? 2 : 1, tensors};
    return apply_once(device, types, &grid, &all);
}

// Of all exponents; no NaN, whose payloads are free.
static void fill(unsigned char *memory) {
    uint32_t state = 1;
    for (size_t i = 0; i < most_bytes; i += sizeof(uint16_t)) {
        state = state * 1664525u + 1013904223u;
        const uint16_t number = (uint16_t)((state >> 16 & 0x8000u) | (state >> 12) % 0x7f80u);
        memcpy(memory + i, &number, sizeof(number));
    }
}

static void compare(rope2d_device *const devices[2], const rope2d_plan_params *types,
                    const struct heads *counts, layout lies, place where,
                    unsigned char *const memory[MEMORIES]) {
    static const char *const names[LAYOUTS] = {"dense", "apart", "on lines", "by heads"};
    static const char *const places[PLACES] = {"", ", in place", ", q in place"};
    for (int i = 0; i < 2; i++) {
        fill(memory[2 * i]);
        memset(memory[2 * i + 1], 0, most_bytes);
        const rope2d_status status =
            rotate(devices[i], types, counts, lies, where, memory[2 * i], memory[2 * i + 1]);
        CHECK(status == ROPE2D_OK, "%s", rope2d_status_name(status));
    }
    CHECK(memcmp(memory[0], memory[2], most_bytes) == 0 && memcmp(memory[1], memory[3], most_bytes) == 0,
          "%u and %u heads of %u channels, %u axes, %s%s: the portable path's bits", counts->q, counts->k,
          types->spec->head_dim, types->spec->axes, names[lies], places[where]);
}

// Whether the plan turns as many heads as one as are whole, and its self-test has had them.
static void look_at_plan(rope2d_device *device, const rope2d_plan_params *types, uint32_t wanted) {
    rope2d_plan *plan = NULL;
    const rope2d_cpu *cpu = device->impl;
    const uint32_t merged = cpu->isa == ROPE2D_ISA_AVX512 ? wanted : 0;
    if (!CHECK(rope2d_plan_create(device, types, &plan) == ROPE2D_OK, "a plan"))
        return;
    const rope2d_vector *vector = plan->impl;
    const uint32_t found = vector && vector->merged ? vector->merged->heads : 0;
    CHECK(found == merged, "%u channels, %u axes: %u heads are one, not %u", types->spec->head_dim,
          types->spec->axes, found, merged);
    CHECK(plan->exactness == ROPE2D_EXACT && (found == 0 || plan->test_heads == found),
          "%u channels: a self-test of %u heads", types->spec->head_dim, plan->test_heads);
    rope2d_plan_destroy(plan);
}

static void test_length(rope2d_device *const devices[2], const struct length *length, uint32_t axes,
                        unsigned char *const memory[MEMORIES]) {
    float freqs[3 * MOST_PAIRS] = {0};
    const uint32_t pairs = length->head_dim / 2;
    for (uint32_t i = 0; i < pairs; i++)
        freqs[i * axes / pairs * pairs + i] = 1.0f / (float)(i + 1);
    const rope2d_spec spec = {
        .struct_size = sizeof(spec), .head_dim = length->head_dim, .axes = axes, .freqs = freqs};
    const rope2d_plan_params types = {
        .struct_size = sizeof(types), .spec = &spec, .in = ROPE2D_BF16, .out = ROPE2D_BF16};
    look_at_plan(devices[0], &types, length->merged);
    const uint32_t layouts = axes == 2 ? LAYOUTS : 1; // whatever the axes, heads lie as they do
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        for (uint32_t way = 0; way < layouts * PLACES; way++)
            compare(devices, &types, &heads[i], (layout)(way / PLACES), (place)(way % PLACES), memory);
}

int main(void) {
    const rope2d_host host = {.struct_size = sizeof(host), .threads = 2};
    const rope2d_device_params usual = {.struct_size = sizeof(usual), .host = &host};
    const rope2d_device_params own = {.struct_size = sizeof(own), .flags = ROPE2D_DEVICE_PORTABLE};
    rope2d_device *devices[2] = {NULL, NULL};
    unsigned char *allocated[MEMORIES];
    unsigned char *memory[MEMORIES];
    bool is_ready = rope2d_device_create(&usual, &devices[0]) == ROPE2D_OK &&
                    rope2d_device_create(&own, &devices[1]) == ROPE2D_OK;
    for (int i = 0; i < MEMORIES; i++) {
        allocated[i] = malloc(most_bytes + ALIGNED);
        memory[i] = allocated[i] + ALIGNED - (uintptr_t)allocated[i] % ALIGNED; // where kernels may stream
        is_ready = is_ready && allocated[i];
    }
    if (CHECK(is_ready, "the CPU and memory")) {
        rope2d_cpu *cpu = devices[0]->impl;
        const uint64_t last_cache = cpu->last_cache;
        for (int past = 0; past < 2; past++) {
            cpu->last_cache = past ? 16 << 10 : last_cache;
            for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
                for (uint32_t axes = 1; axes <= 3; axes++)
                    test_length(devices, &lengths[i], axes, memory);
        }
    }
    for (int i = 0; i < MEMORIES; i++)
        free(allocated[i]);
    rope2d_device_destroy(devices[1]);
    rope2d_device_destroy(devices[0]);
    return check_finish();
}

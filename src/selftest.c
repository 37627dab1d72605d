// SPDX-License-Identifier: MIT
//
// Runs a plan as its users will, on the inputs of probe.c, and compares with the portable path.
#include "selftest.h"
#include "backend.h"

#include <string.h>

#define GUARD 0xa5

typedef struct test {
    const rope2d_plan *plan;
    rope2d_probe probe;
    uint32_t in_size;
    uint32_t out_size;
    uint64_t elements; // of each buffer
    unsigned char *in;
    unsigned char *out;
    unsigned char *expected;
    rope2d_checked_tensor tensor;
    bool at_edges;
} test;

static rope2d_status allocate(test *t) {
    const rope2d_host *host = &t->plan->device->host;
    t->in_size = rope2d_element_size(t->plan->in);
    t->out_size = rope2d_element_size(t->plan->out);
    // Room for heads that begin at odd elements.
    t->elements = (uint64_t)t->probe.tokens * t->probe.heads * (t->plan->pattern.head_dim + 2) + 2;
    t->in = rope2d_allocate(host, t->elements, t->in_size);
    t->out = rope2d_allocate(host, t->elements, t->out_size);
    t->expected = rope2d_allocate(host, t->elements, t->out_size);
    if (!t->in || !t->out || !t->expected)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for the self-test");
    return ROPE2D_OK;
}

static void clear(test *t) {
    const rope2d_host *host = &t->plan->device->host;
    if (t->probe.positions.device)
        t->plan->device->ops->positions_destroy(&t->probe.positions);
    rope2d_probe_destroy(&t->probe);
    rope2d_release(host, t->in, t->elements, t->in_size);
    rope2d_release(host, t->out, t->elements, t->out_size);
    rope2d_release(host, t->expected, t->elements, t->out_size);
}

static void put(const test *t, uint64_t at, uint32_t bits) {
    if (t->in_size == 4) {
        memcpy(t->in + 4 * at, &bits, sizeof(bits));
    } else {
        const uint16_t half = (uint16_t)bits;
        memcpy(t->in + 2 * at, &half, sizeof(half));
    }
}

static void fill_head(const test *t, uint64_t at, uint32_t token, uint32_t head) {
    const rope2d_pattern *pattern = &t->plan->pattern;
    for (uint32_t i = 0; i < pattern->head_dim; i++)
        put(t, at + i, rope2d_probe_channel(t->plan, token, head, i));
    for (uint32_t i = 0; i < pattern->pairs; i++) {
        uint32_t lo = 0;
        uint32_t hi = 0;
        if (t->at_edges)
            rope2d_edges_pair(&t->probe, t->plan, token, i, &lo, &hi);
        else
            rope2d_probe_pair(&t->probe, t->plan, token, head, i, &lo, &hi);
        put(t, at + pattern->lo[i], lo);
        put(t, at + pattern->hi[i], hi);
    }
}

static void fill(test *t, uint32_t first_token, bool single) {
    const uint32_t head_dim = t->plan->pattern.head_dim;
    // Wide units want even strides; single ones meet words that two heads share.
    const uint32_t head_stride = single ? head_dim | 1 : (head_dim + 1) / 2 * 2;
    const uint32_t token_stride = head_stride * t->probe.heads;
    const uint32_t first = single ? 1 : 0;
    t->tensor = (rope2d_checked_tensor){.heads = t->probe.heads};
    t->tensor.in = (rope2d_span){
        .first = t->in + (size_t)first * t->in_size,
        .batch_stride = 0,
        .token_stride = token_stride,
        .head_stride = head_stride,
    };
    t->tensor.out = t->tensor.in;
    for (uint32_t token = 0; token < t->probe.tokens; token++)
        for (uint32_t head = 0; head < t->probe.heads; head++)
            fill_head(t, first + (uint64_t)token * token_stride + (uint64_t)head * head_stride,
                      first_token + token, head);
    memset(t->out, GUARD, (size_t)t->elements * t->out_size);
    memset(t->expected, GUARD, (size_t)t->elements * t->out_size);
    t->tensor.out.first = t->out + (size_t)first * t->out_size;
}

static bool is_nan(rope2d_element element, uint32_t bits) {
    static const uint32_t infinities[ROPE2D_ELEMENT_COUNT] = {0x7f800000u, 0x7c00u, 0x7f80u};
    return (bits & (element == ROPE2D_F32 ? 0x7fffffffu : 0x7fffu)) > infinities[element];
}

static uint32_t get(const test *t, const unsigned char *from, uint64_t at) {
    uint32_t bits = 0;
    uint16_t half;
    if (t->out_size == 4) {
        memcpy(&bits, from + 4 * at, sizeof(bits));
        return bits;
    }
    memcpy(&half, from + 2 * at, sizeof(half));
    return half;
}

// The gaps between heads count too: nothing may have written there.
static uint64_t count_differences(const test *t) {
    uint64_t different = 0;
    for (uint64_t i = 0; i < t->elements; i++) {
        const uint32_t found = get(t, t->out, i);
        const uint32_t expected = get(t, t->expected, i);
        if (found != expected && !(is_nan(t->plan->out, found) && is_nan(t->plan->out, expected)))
            different++;
    }
    return different;
}

static rope2d_status run(test *t, uint32_t first_token, bool single, uint64_t *different) {
    fill(t, first_token, single);
    const rope2d_work work = {
        .batch = 1,
        .first_token = first_token,
        .tokens = t->probe.tokens,
        .tensor_count = 1,
        .tensors = &t->tensor,
        .single_only = single,
    };
    ROPE2D_TRY(t->plan->device->ops->apply(t->plan, &t->probe.positions, &work));
    t->tensor.out.first = t->expected + (t->tensor.out.first - t->out);
    ROPE2D_TRY(rope2d_portable_apply(t->plan, &t->probe.positions, &work));
    *different += count_differences(t);
    return ROPE2D_OK;
}

static rope2d_status run_all(test *t, rope2d_differences *differences) {
    ROPE2D_TRY(rope2d_probe_create(&t->probe, t->plan));
    ROPE2D_TRY(allocate(t));
    ROPE2D_TRY(t->plan->device->ops->positions_create(&t->probe.positions));
    for (int single = t->plan->pattern.wide.count > 0 ? 0 : 1; single <= 1; single++) {
        ROPE2D_TRY(run(t, 0, single != 0, &differences->normal));
        ROPE2D_TRY(run(t, t->probe.tokens, single != 0, &differences->subnormal));
        differences->outputs += 2 * (uint64_t)t->probe.tokens * t->probe.heads * t->plan->pattern.pairs;
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_self_test_count(const rope2d_plan *plan, rope2d_differences *differences) {
    test t = {.plan = plan};
    *differences = (rope2d_differences){0};
    const rope2d_status status = run_all(&t, differences);
    clear(&t);
    return status;
}

static rope2d_status run_edges(test *t, rope2d_differences *differences) {
    ROPE2D_TRY(rope2d_edges_create(&t->probe, t->plan));
    ROPE2D_TRY(allocate(t));
    ROPE2D_TRY(t->plan->device->ops->positions_create(&t->probe.positions));
    differences->outputs = 2 * (uint64_t)t->probe.tokens * t->plan->pattern.pairs;
    return run(t, 0, false, &differences->normal);
}

rope2d_status rope2d_self_test_edges(const rope2d_plan *plan, rope2d_differences *differences) {
    test t = {.plan = plan, .at_edges = true};
    *differences = (rope2d_differences){0};
    const rope2d_status status = run_edges(&t, differences);
    clear(&t);
    return status;
}

rope2d_status rope2d_self_test(const rope2d_plan *plan, rope2d_exactness *exactness) {
    rope2d_differences differences;
    ROPE2D_TRY(rope2d_self_test_count(plan, &differences));
    if (differences.normal > 0)
        *exactness = ROPE2D_INEXACT;
    else
        *exactness = differences.subnormal > 0 ? ROPE2D_EXACT_NORMAL : ROPE2D_EXACT;
    return ROPE2D_OK;
}

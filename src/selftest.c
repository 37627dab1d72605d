// SPDX-License-Identifier: MIT
//
// Runs a plan as its users will, on the inputs of probe.c, and compares with the portable path.
#include "selftest.h"
#include "backend.h"
#include "edges.h"
#include "kernels.h"

#include <stdio.h>
#include <string.h>

#define GUARD 0xa5

typedef struct test {
    const rope2d_plan *plan;
    rope2d_probe probe;
    uint32_t in_size;
    uint32_t out_size;
    uint32_t batch;    // of the outputs, whose inputs are the same
    uint64_t heads;    // of each
    uint64_t elements; // of the inputs, and of each of the outputs
    unsigned char *in;
    unsigned char *out;
    unsigned char *expected; // NULL at the edges
} test;

// Wide units want even strides; single ones meet words that two heads share.
static uint32_t stride_of(const test *t, bool single) {
    return (t->plan->pattern.head_dim + 1) / 2 * 2 + single;
}

static rope2d_status allocate(test *t, uint64_t heads, uint32_t batch) {
    const rope2d_host *host = &t->plan->device->host;
    t->in_size = rope2d_element_size(t->plan->in);
    t->out_size = rope2d_element_size(t->plan->out);
    t->batch = batch;
    t->heads = heads;
    t->elements = heads * stride_of(t, true) + 1;
    t->in = rope2d_allocate(host, t->elements, t->in_size);
    t->out = rope2d_allocate(host, batch * t->elements, t->out_size);
    if (batch == 1)
        t->expected = rope2d_allocate(host, t->elements, t->out_size);
    if (!t->in || !t->out || (!t->expected && batch == 1))
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for the self-test");
    return ROPE2D_OK;
}

static void clear(test *t) {
    const rope2d_host *host = &t->plan->device->host;
    if (t->probe.positions.device)
        t->plan->device->ops->positions_destroy(&t->probe.positions);
    rope2d_probe_destroy(&t->probe);
    rope2d_release(host, t->in, t->elements, t->in_size);
    rope2d_release(host, t->out, t->batch * t->elements, t->out_size);
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

static void put_pair(const test *t, uint64_t at, uint32_t pair, uint32_t lo, uint32_t hi) {
    put(t, at + t->plan->pattern.lo[pair], lo);
    put(t, at + t->plan->pattern.hi[pair], hi);
}

// For even strides.
static void fill(const test *t) {
    const rope2d_pattern *pattern = &t->plan->pattern;
    for (uint64_t i = 0; i < t->heads; i++) {
        const uint64_t at = i * stride_of(t, false);
        const uint32_t token = (uint32_t)(i / t->probe.heads);
        const uint32_t head = (uint32_t)(i % t->probe.heads);
        uint32_t lo;
        uint32_t hi;
        for (uint32_t c = 0; c < pattern->head_dim && 2 * pattern->pairs < pattern->head_dim; c++)
            put(t, at + c, rope2d_probe_channel(t->plan, token, head, c));
        for (uint32_t pair = 0; pair < pattern->pairs; pair++) {
            rope2d_probe_pair(&t->probe, t->plan, token, head, pair, &lo, &hi);
            put_pair(t, at, pair, lo, hi);
        }
    }
}

// Moves heads to odd strides, the last one first, and puts guards between them.
static void spread(const test *t, unsigned char *bytes, uint32_t size) {
    const size_t head = (size_t)t->plan->pattern.head_dim * size;
    const size_t from = (size_t)stride_of(t, false) * size;
    const size_t to = (size_t)stride_of(t, true) * size;
    for (size_t i = (size_t)t->heads; i-- > 0;) {
        memmove(bytes + size + i * to, bytes + i * from, head);
        memset(bytes + size + i * to + head, GUARD, to - head);
    }
    memset(bytes, GUARD, size);
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
static void count_differences(const test *t, uint64_t normal, rope2d_differences *differences) {
    for (uint64_t i = 0; i < t->elements; i++) {
        const uint32_t found = get(t, t->out, i);
        const uint32_t expected = get(t, t->expected, i);
        if (found != expected && !(is_nan(t->plan->out, found) && is_nan(t->plan->out, expected)))
            *(i < normal ? &differences->normal : &differences->subnormal) += 1;
    }
}

// Rotates all heads in `in`, so many to a token, by the device or by the portable path.
// NOLINTNEXTLINE(readability-non-const-parameter)
static rope2d_status apply(const test *t, rope2d_apply_fn *by, unsigned char *out, uint64_t first_token,
                           uint32_t heads, rope2d_test_run how) {
    const bool single = how == ROPE2D_RUN_ODD;
    const uint32_t stride = stride_of(t, single);
    const rope2d_checked_tensor tensor = {
        .heads = heads,
        .in = {t->in + (single ? t->in_size : 0), 0, (int64_t)heads * stride, stride},
        .out = {out + (single ? t->out_size : 0), (int64_t)t->heads * stride, (int64_t)heads * stride,
                stride},
    };
    const rope2d_work work = {
        .batch = t->batch,
        .first_token = first_token,
        .tokens = t->heads / heads,
        .tensor_count = 1,
        .tensors = &tensor,
        .single_only = single,
        .streams = how == ROPE2D_RUN_EVEN,
    };
    return by(t->plan, &t->probe.positions, &work);
}

// Heads at odd strides as `count` tensors of one head each: of each token, each alone, or each and the next
// one.
static rope2d_status apply_apart(const test *t, uint32_t count, bool is_large) {
    const int64_t stride = stride_of(t, true);
    rope2d_checked_tensor both[2];
    const rope2d_work work = {.batch = 1,
                              .tokens = t->heads / t->probe.heads,
                              .tensor_count = count,
                              .tensors = both,
                              .is_large = is_large};
    for (uint32_t head = count - 1; head < t->probe.heads; head++) {
        for (uint32_t i = 0; i < count; i++) {
            const int64_t at = 1 + stride * (head - i);
            both[i] = (rope2d_checked_tensor){
                .heads = 1,
                .in = {t->in + at * t->in_size, 0, t->probe.heads * stride, stride},
                .out = {t->out + at * t->out_size, 0, t->probe.heads * stride, stride},
            };
        }
        ROPE2D_TRY(t->plan->device->ops->apply(t->plan, &t->probe.positions, &work));
    }
    return ROPE2D_OK;
}

static rope2d_status run(const test *t, rope2d_test_run how, rope2d_differences *differences) {
    const bool is_odd = how >= ROPE2D_RUN_ODD;
    memset(t->out, GUARD, (size_t)t->elements * t->out_size);
    ROPE2D_TRY(how >= ROPE2D_RUN_APART
                   ? apply_apart(t, how == ROPE2D_RUN_ALONE ? 1 : 2, how == ROPE2D_RUN_APART_LARGE)
                   : apply(t, t->plan->device->ops->apply, t->out, 0, t->probe.heads, how));
    const uint64_t normal = (uint64_t)t->probe.tokens * t->probe.heads;
    if (memcmp(t->out, t->expected, (size_t)t->elements * t->out_size) != 0)
        count_differences(t, normal * stride_of(t, is_odd) + is_odd, differences);
    differences->outputs[0] += 2 * normal * t->plan->pattern.pairs;
    differences->outputs[1] += 2 * (t->heads - normal) * t->plan->pattern.pairs;
    return ROPE2D_OK;
}

static rope2d_status run_all(test *t, rope2d_differences *differences) {
    ROPE2D_TRY(rope2d_probe_create(&t->probe, t->plan));
    ROPE2D_TRY(allocate(t, t->probe.positions.tokens * t->probe.heads, 1));
    ROPE2D_TRY(t->plan->device->ops->positions_create(&t->probe.positions));
    fill(t);
    memset(t->expected, GUARD, (size_t)t->elements * t->out_size);
    ROPE2D_TRY(apply(t, rope2d_portable_apply, t->expected, 0, t->probe.heads, ROPE2D_RUN_EVEN));
    for (uint32_t how = 0; how < ROPE2D_RUN_COUNT; how++) {
        if (how == ROPE2D_RUN_ODD) {
            spread(t, t->in, t->in_size);
            spread(t, t->expected, t->out_size);
        }
        if (t->plan->test_runs >> how & 1)
            ROPE2D_TRY(run(t, (rope2d_test_run)how, differences));
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

rope2d_status rope2d_self_test(const rope2d_plan *plan, rope2d_exactness *exactness) {
    rope2d_differences differences;
    ROPE2D_TRY(rope2d_self_test_count(plan, &differences));
    if (differences.normal > 0)
        *exactness = ROPE2D_INEXACT;
    else
        *exactness = differences.subnormal > 0 ? ROPE2D_EXACT_NORMAL : ROPE2D_EXACT;
    return ROPE2D_OK;
}

// ------------------------------------------------------------------------------------- conversions of f16

static void fill_edges(const test *t) {
    const rope2d_pattern *pattern = &t->plan->pattern;
    for (uint32_t first = 0; first < ROPE2D_EDGE_PAIRS; first += pattern->pairs) {
        const uint64_t at = (uint64_t)(first / pattern->pairs) * stride_of(t, false);
        for (uint32_t pair = 0; pair < pattern->pairs && first + pair < ROPE2D_EDGE_PAIRS; pair++) {
            const uint32_t edge = first + rope2d_edge_order(t->plan, pair);
            put_pair(t, at, pair, rope2d_edge(t->plan, edge), rope2d_edge(t->plan, edge * 40503u));
        }
    }
}

// The same inputs for each row of the table: first for those whose tokens have one head, then for those of
// two.
static rope2d_status run_edges(test *t, bool *are_equal) {
    const uint32_t stride = stride_of(t, false);
    rope2d_edge_hash hash = {{0}};
    ROPE2D_TRY(rope2d_edges_create(&t->probe, t->plan));
    ROPE2D_TRY(allocate(t, t->probe.tokens, ROPE2D_EDGE_ROWS / 2));
    ROPE2D_TRY(t->plan->device->ops->positions_create(&t->probe.positions));
    fill_edges(t);
    for (uint32_t heads = 1; heads <= 2; heads++) {
        ROPE2D_TRY(
            apply(t, t->plan->device->ops->apply, t->out, (heads - 1) * t->heads, heads, ROPE2D_RUN_EVEN));
        for (uint32_t i = 0; i < t->batch; i++)
            rope2d_edge_hash_add(&hash, t->plan, t->out + i * t->heads * stride * t->out_size, stride,
                                 ROPE2D_EDGE_PAIRS);
    }
    *are_equal = rope2d_edge_hash_is_right(&hash, t->plan);
    return ROPE2D_OK;
}

rope2d_status rope2d_self_test_edges(const rope2d_plan *plan, bool *are_equal) {
    test t = {.plan = plan};
    const rope2d_status status = run_edges(&t, are_equal);
    clear(&t);
    return status;
}

static rope2d_status prove(rope2d_plan *plan, bool *is_exact) {
    ROPE2D_TRY(rope2d_self_test(plan, &plan->exactness));
    *is_exact = plan->exactness == ROPE2D_EXACT || plan->exactness == ROPE2D_EXACT_NORMAL;
    // Where subnormals of f32 are flushed, those of f16 may be, by this pair of types alone.
    if (!*is_exact ||
        (plan->exactness == ROPE2D_EXACT && rope2d_kernels_converts(plan->device) == ROPE2D_CONVERTS_PROVEN))
        return ROPE2D_OK;
    ROPE2D_TRY(rope2d_self_test_edges(plan, is_exact));
    if (!*is_exact)
        rope2d_kernels_set_converts(plan->device, ROPE2D_CONVERTS_NOT);
    else if (plan->in == plan->out) // both ways
        rope2d_kernels_set_converts(plan->device, ROPE2D_CONVERTS_PROVEN);
    return ROPE2D_OK;
}

rope2d_status rope2d_make_vector(rope2d_plan *plan, rope2d_make_vector_fn *make, void *data) {
    const bool has_f16 = plan->in == ROPE2D_F16 || plan->out == ROPE2D_F16;
    bool is_exact = false;
    if (!has_f16 || !plan->may_test || plan->pattern.pairs == 0 ||
        rope2d_kernels_converts(plan->device) == ROPE2D_CONVERTS_NOT)
        return make(plan, false, data);
    const rope2d_status status = make(plan, true, data);
    if (status == ROPE2D_OK)
        ROPE2D_TRY(prove(plan, &is_exact));
    rope2d_log(&plan->device->host, is_exact ? ROPE2D_LOG_INFO : ROPE2D_LOG_WARNING,
               "%s: its own conversions of f16 are %s", plan->device->info.name,
               is_exact              ? "exact"
               : status == ROPE2D_OK ? "not exact: integers take their place"
                                     : "refused: integers take their place");
    if (!is_exact) {
        plan->exactness = ROPE2D_UNTESTED;
        return make(plan, false, data);
    }
    const size_t length = strlen(plan->kernel);
    snprintf(plan->kernel + length, sizeof(plan->kernel) - length, "_native");
    return ROPE2D_OK;
}

// SPDX-License-Identifier: MIT
// The self-test must see what it is for: devices with each fault in turn, made here, which change at least a
// tenth of the outputs; and one without.
#include "cpu/vector.h"
#include "check.h"
#include "backend.h"
#include "edges.h"
#include "oracle_number.h"
#include "selftest.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum fault {
    NONE,
    CONTRACTED,  // fused multiply-add
    FUSED,       // one rounding from the exact result to 16 bits
    TOWARD_ZERO, // results are cut off
    SATURATED,   // the largest number instead of an infinity
    FLUSHED,     // subnormal inputs, products and results are 0
    NEIGHBOUR,   // writes one element past a head
    STUCK,       // does nothing
    FAULTS
};

static const char *const fault_names[FAULTS] = {"none",     "contraction", "fused conversion", "toward zero",
                                                "overflow", "flushing",    "neighbour",        "stuck"};

// ---------------------------------------------------------------------------------- a faulty device

static enum fault fault_now;

static double flush(double value) {
    return fault_now == FLUSHED && fabs(value) < (double)FLT_MIN ? copysign(0.0, value) : value;
}

static float rounded(double value) {
    if (fault_now != TOWARD_ZERO)
        return (float)flush(value);
    float near = (float)value;
    if (fabs((double)near) > fabs(value))
        near = nextafterf(near, 0.0f);
    return near;
}

// c * x + s * y, as the fault has it.
static double turn(float c, double x, float s, double y) {
    if (fault_now == CONTRACTED) {
        volatile float second = (float)((double)s * y);
        return (double)fmaf(c, (float)x, second);
    }
    if (fault_now == FUSED)
        return fma((double)c, x, (double)s * y);
    return (double)rounded((double)rounded((double)c * x) + (double)rounded((double)s * y));
}

static uint32_t narrow(rope2d_element type, double value) {
    uint32_t bits = oracle_encode((enum oracle_type)type, value);
    const bool is_inf = isinf(oracle_decode((enum oracle_type)type, bits));
    if (fault_now == SATURATED && is_inf && !isnan(value))
        return bits - 1;
    if (fault_now == TOWARD_ZERO && !isinf(value) &&
        fabs(oracle_decode((enum oracle_type)type, bits)) > fabs(value))
        return bits - 1;
    return bits;
}

struct head {
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    const unsigned char *in;
    unsigned char *out;
    const int32_t *rows;
    uint32_t number;
};

static double load(const struct head *h, uint32_t channel) {
    return flush(oracle_decode((enum oracle_type)h->plan->in,
                               oracle_load((enum oracle_type)h->plan->in, h->in, channel)));
}

static void store(const struct head *h, uint32_t channel, double value) {
    oracle_store((enum oracle_type)h->plan->out, h->out, channel, narrow(h->plan->out, value));
}

static void pass(const struct head *h, uint32_t channel) {
    const uint32_t bits = oracle_load((enum oracle_type)h->plan->in, h->in, channel);
    if (h->plan->in == h->plan->out)
        oracle_store((enum oracle_type)h->plan->out, h->out, channel, bits);
    else
        store(h, channel, oracle_decode((enum oracle_type)h->plan->in, bits));
}

static void rotate_head(const struct head *h) {
    const rope2d_pattern *p = &h->plan->pattern;
    for (uint32_t i = 0; i < p->head_dim; i++)
        pass(h, i);
    for (uint32_t i = 0; i < p->pairs; i++) {
        const int32_t row = h->rows[p->axis[i]];
        if (row < 0)
            continue;
        const size_t at = (size_t)row * h->positions->table_columns +
                          (p->freq_heads > 1 ? h->number * p->pairs * p->angles : 0) + i * p->angles;
        const float *of_lo = h->positions->table + 2 * at;
        const float *of_hi = of_lo + 2 * (p->angles - 1);
        const double x = load(h, p->lo[i]);
        const double y = load(h, p->hi[i]);
        store(h, p->lo[i], turn(of_lo[0], x, -of_lo[1], y));
        store(h, p->hi[i], turn(of_hi[1], x, of_hi[0], y));
    }
    if (fault_now == NEIGHBOUR)
        store(h, p->head_dim, 1.0);
}

static size_t place(const rope2d_span *span, uint64_t batch, uint64_t token, uint32_t number) {
    return batch * (size_t)span->batch_stride + token * (size_t)span->token_stride +
           number * (size_t)span->head_stride;
}

static void rotate_token(const rope2d_plan *plan, const rope2d_positions *positions, const rope2d_work *work,
                         const rope2d_checked_tensor *t, uint64_t batch, uint64_t token) {
    const uint64_t row = (positions->batch > 1 ? batch * positions->tokens : 0) + work->first_token + token;
    for (uint32_t number = 0; number < t->heads; number++) {
        const struct head head = {
            .plan = plan,
            .positions = positions,
            .in = t->in.first + place(&t->in, batch, token, number) * rope2d_element_size(plan->in),
            .out = t->out.first + place(&t->out, batch, token, number) * rope2d_element_size(plan->out),
            .rows = positions->rows + row * plan->pattern.row_axes,
            .number = number,
        };
        rotate_head(&head);
    }
}

static rope2d_status faulty_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                                  const rope2d_work *work) {
    for (uint64_t batch = 0; batch < work->batch; batch++)
        for (uint64_t n = 0; n < work->tokens && fault_now != STUCK; n++)
            for (uint32_t i = 0; i < work->tensor_count; i++)
                rotate_token(plan, positions, work, &work->tensors[i], batch, n);
    return ROPE2D_OK;
}

// ------------------------------------------------------------------------------------------------ verdicts

// Where a tenth of the outputs can change: no product of binary16 overflows a binary32, and a result that is
// flushed is 0 as binary16 anyway, but for its sign.
static bool is_plain(enum fault fault, rope2d_element in, rope2d_element out) {
    switch (fault) {
    case SATURATED:
        return out == ROPE2D_F16 || in != ROPE2D_F16;
    case FLUSHED:
        return out != ROPE2D_F16;
    default:
        return fault != NONE && fault != NEIGHBOUR;
    }
}

// For each pair of types, of which `types` is the number; not tested as it is made.
static rope2d_status make_plan(rope2d_device *device, const rope2d_spec *spec, unsigned types,
                               rope2d_plan **plan) {
    const rope2d_plan_params params = {
        .struct_size = sizeof(params),
        .spec = spec,
        .in = (rope2d_element)(types / ROPE2D_ELEMENT_COUNT),
        .out = (rope2d_element)(types % ROPE2D_ELEMENT_COUNT),
        .flags = ROPE2D_PLAN_NO_SELF_TEST,
    };
    return rope2d_plan_create(device, &params, plan);
}

static void test_fault(rope2d_plan *plan, enum fault fault, const char *name) {
    rope2d_differences d;
    rope2d_exactness exactness = ROPE2D_UNTESTED;
    fault_now = fault;
    bool good =
        rope2d_self_test_count(plan, &d) == ROPE2D_OK && rope2d_self_test(plan, &exactness) == ROPE2D_OK;
    rope2d_exactness expected = ROPE2D_EXACT;
    if (fault != NONE)
        expected = fault == FLUSHED ? ROPE2D_EXACT_NORMAL : ROPE2D_INEXACT;
    const uint64_t shown = fault == FLUSHED ? d.subnormal : d.normal;
    const uint64_t outputs = d.outputs[fault == FLUSHED];
    good = good && exactness == expected;
    if (is_plain(fault, plan->in, plan->out))
        good = good && 10 * shown >= outputs;
    CHECK(good, "%s, types %u to %u, %s: verdict %u, expected %u; of %u outputs %u and of %u %u differ", name,
          (unsigned)plan->in, (unsigned)plan->out, fault_names[fault], (unsigned)exactness,
          (unsigned)expected, (unsigned)d.outputs[0], (unsigned)d.normal, (unsigned)d.outputs[1],
          (unsigned)d.subnormal);
}

static void test_spec(rope2d_device *device, const rope2d_spec *spec, const char *name) {
    for (unsigned types = 0; types < ROPE2D_ELEMENT_COUNT * ROPE2D_ELEMENT_COUNT; types++) {
        rope2d_plan *plan = NULL;
        if (make_plan(device, spec, types, &plan) != ROPE2D_OK) {
            CHECK(false, "%s: no plan", name);
            continue;
        }
        for (int fault = 0; fault < FAULTS; fault++)
            test_fault(plan, (enum fault)fault, name);
        rope2d_plan_destroy(plan);
    }
}

static void test_specs(rope2d_device *device) {
    static float freqs[2 * 2 * 3 * 64];
    for (int i = 0; i < 2 * 2 * 3 * 64; i++)
        freqs[i] = 0.25f;
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = 64, .axes = 2, .freqs = freqs};
    test_spec(device, &spec, "interleaved");
    spec.pairing = ROPE2D_PAIRING_HALF;
    spec.freq_heads = 3;
    test_spec(device, &spec, "half, per head");
    spec.freqs_hi = freqs + 2 * 3 * 32;
    test_spec(device, &spec, "half, two angles");
    const uint32_t lo = 2;
    const uint32_t hi = 1;
    const rope2d_spec pair = {.struct_size = sizeof(spec),
                              .head_dim = 3,
                              .axes = 1,
                              .pairing = ROPE2D_PAIRING_EXPLICIT,
                              .pairs = 1,
                              .pair_lo = &lo,
                              .pair_hi = &hi,
                              .freqs = freqs};
    test_spec(device, &pair, "one pair");
}

// The portable path's results at the edges are known by a hash: the CPU's kernels, which are held against it
// elsewhere, must have it in every pattern, and no device with a fault.
static void test_edges(rope2d_device *device, const rope2d_spec *spec, enum fault fault, const char *name) {
    fault_now = fault;
    for (unsigned types = 0; types < ROPE2D_ELEMENT_COUNT * ROPE2D_ELEMENT_COUNT; types++) {
        const unsigned in = types / ROPE2D_ELEMENT_COUNT, out = types % ROPE2D_ELEMENT_COUNT;
        bool are_equal = false;
        rope2d_plan *plan = NULL;
        if ((in != ROPE2D_F16 && out != ROPE2D_F16) || (fault != NONE && in != out))
            continue;
        rope2d_status status = make_plan(device, spec, types, &plan);
        if (status == ROPE2D_OK)
            status = rope2d_self_test_edges(plan, &are_equal);
        CHECK(status == ROPE2D_OK && are_equal == (fault == NONE), "edges, %s, types %u to %u, %s: %s", name,
              in, out, fault_names[fault], rope2d_status_name(status));
        rope2d_plan_destroy(plan);
    }
}

static void test_all_edges(rope2d_device *device) {
    static float freqs[2 * 40];
    for (int i = 0; i < 2 * 40; i++)
        freqs[i] = 0.25f;
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = 80, .axes = 1, .freqs = freqs};
    test_edges(device, &spec, NONE, "interleaved");
    spec.pairing = ROPE2D_PAIRING_HALF;
    test_edges(device, &spec, NONE, "half");
    spec.head_dim = 64;
    spec.freqs_hi = freqs + 40;
    test_edges(device, &spec, NONE, "half, two angles");
    spec.head_dim = 12;
    spec.freqs_hi = NULL;
    test_edges(device, &spec, NONE, "half, six pairs");
    spec.pairing = ROPE2D_PAIRING_INTERLEAVED;
    test_edges(device, &spec, NONE, "interleaved, six pairs");
}

// ---------------------------------------------------------------------------------------------------- the
// hash

enum { HASHED = 40 }; // pairs of heads of eight

static rope2d_edge_hash hash_of(const rope2d_plan *plan, const unsigned char *outputs) {
    rope2d_edge_hash hash = {{0}};
    rope2d_edge_hash_add(&hash, plan, outputs, 16, HASHED);
    return hash;
}

static bool same(const rope2d_edge_hash *a, const rope2d_edge_hash *b) {
    return memcmp(a, b, sizeof(*a)) == 0;
}

// Each bit of each output, but that NaNs are alike.
static void test_hash(const rope2d_plan *plan) {
    const uint32_t size = rope2d_element_size(plan->out);
    unsigned char outputs[2 * HASHED * sizeof(float)];
    memset(outputs, 0x11, sizeof(outputs));
    const rope2d_edge_hash sound = hash_of(plan, outputs);
    uint32_t alike = 0;
    for (uint32_t bit = 0; bit < 2 * HASHED * 8 * size; bit++) {
        outputs[bit / 8] ^= (unsigned char)(1u << bit % 8);
        const rope2d_edge_hash other = hash_of(plan, outputs);
        outputs[bit / 8] ^= (unsigned char)(1u << bit % 8);
        alike += same(&other, &sound);
    }
    CHECK(alike == 0, "edges, outputs of type %u: %u bits are not seen", (unsigned)plan->out, alike);
    memset(outputs + size, 0xff, size);
    const rope2d_edge_hash nan = hash_of(plan, outputs);
    outputs[size] ^= 1; // little-endian
    outputs[2 * size - 1] ^= 0x80;
    const rope2d_edge_hash other = hash_of(plan, outputs);
    CHECK(!same(&nan, &sound) && same(&nan, &other), "edges, NaNs of type %u", (unsigned)plan->out);
}

static void test_hashes(rope2d_device *device) {
    static const float freqs[8] = {0.25f};
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = 16, .axes = 1, .freqs = freqs};
    for (unsigned i = 0; i < 2 * ROPE2D_ELEMENT_COUNT; i++) {
        rope2d_plan *plan = NULL;
        spec.pairing = i % 2 ? ROPE2D_PAIRING_INTERLEAVED : ROPE2D_PAIRING_HALF;
        CHECK(make_plan(device, &spec, i / 2, &plan) == ROPE2D_OK, "no plan");
        if (plan)
            test_hash(plan);
        rope2d_plan_destroy(plan);
    }
}

static rope2d_turn_fn *few_turn;

static void leave_alone(const rope2d_turn *turn) {
    if (turn->inner > 1)
        few_turn(turn);
}

// A kernel for few heads that leaves a step out is seen, however long heads are, or one that is alone.
static void test_few(rope2d_device *device) {
    static float freqs[128];
    for (uint32_t i = 0; i < 128; i++)
        freqs[i] = 0.25f;
    rope2d_spec spec = {.struct_size = sizeof(spec), .axes = 1, .freqs = freqs};
    for (unsigned i = 0; i < 12; i++) {
        rope2d_plan *plan = NULL;
        rope2d_differences sound = {0}, broken = {0};
        spec.pairing = i % 2 ? ROPE2D_PAIRING_INTERLEAVED : ROPE2D_PAIRING_HALF;
        spec.head_dim = i < 6 ? 256 : 64;
        CHECK(make_plan(device, &spec, i / 2 % 3 * (ROPE2D_ELEMENT_COUNT + 1), &plan) == ROPE2D_OK,
              "no plan");
        rope2d_vector *few = plan && plan->impl ? ((rope2d_vector *)plan->impl)->few : NULL;
        if (!few)
            check_skip("this processor has no kernel for few heads");
        for (; few; few = few->past) {
            CHECK(rope2d_self_test_count(plan, &sound) == ROPE2D_OK && sound.normal == 0, "few heads");
            few->blocks[0].steps--;
            CHECK(rope2d_self_test_count(plan, &broken) == ROPE2D_OK && broken.normal > 0,
                  "few heads of %u channels, type %u: a step that is left out is not seen", spec.head_dim,
                  (unsigned)plan->in);
            few->blocks[0].steps++;
            const rope2d_turn_kernel *const kernel = few->kernel;
            rope2d_turn_kernel other = *kernel;
            few_turn = other.turn;
            other.turn = leave_alone;
            few->kernel = &other;
            CHECK(rope2d_self_test_count(plan, &broken) == ROPE2D_OK &&
                      (broken.normal > 0) == (kernel->alone == true),
                  "a head of %u channels, type %u: that it is left alone is not seen", spec.head_dim,
                  (unsigned)plan->in);
            few->kernel = kernel;
        }
        rope2d_plan_destroy(plan);
    }
}

// So is any other kernel of a plan that turns its first step by another axis.
static void test_others(rope2d_device *device) {
    static float freqs[2][32];
    for (uint32_t i = 0; i < 32; i++)
        freqs[i / 16][i] = 0.25f;
    rope2d_spec spec = {.struct_size = sizeof(spec), .axes = 2, .freqs = &freqs[0][0], .head_dim = 64};
    for (unsigned i = 0; i < 6; i++) {
        rope2d_plan *plan = NULL;
        spec.pairing = i % 2 ? ROPE2D_PAIRING_INTERLEAVED : ROPE2D_PAIRING_HALF;
        CHECK(make_plan(device, &spec, i / 2 * (ROPE2D_ELEMENT_COUNT + 1), &plan) == ROPE2D_OK, "no plan");
        rope2d_vector *vector = plan ? plan->impl : NULL;
        rope2d_vector *const all[] = {vector, vector ? vector->past : NULL, vector ? vector->streamed : NULL};
        for (unsigned j = 0; j < 3; j++) {
            rope2d_differences broken = {0};
            if (!all[j])
                continue;
            rope2d_entries *step = all[j]->steps;
            const uint32_t axes = 2 * ROPE2D_FIRST_ROW + 1; // the sources of both, which are no mixed steps
            step->source = axes - step->source;
            CHECK(rope2d_self_test_count(plan, &broken) == ROPE2D_OK && broken.normal > 0,
                  "kernel %u of a plan, type %u, pairing %u: another axis is not seen", j, (unsigned)plan->in,
                  (unsigned)spec.pairing);
            step->source = axes - step->source;
        }
        rope2d_plan_destroy(plan);
    }
}

int main(void) {
    rope2d_device_params params = {.struct_size = sizeof(params), .flags = ROPE2D_DEVICE_PORTABLE};
    rope2d_device *device = NULL;
    CHECK(rope2d_device_create(&params, &device) == ROPE2D_OK, "no portable device");
    if (device) {
        test_all_edges(device);
        test_hashes(device);
    }
    rope2d_device_destroy(device);
    params.flags = 0;
    if (rope2d_device_create(&params, &device) == ROPE2D_OK) {
        rope2d_backend_ops faulty = *device->ops;
        faulty.apply = faulty_apply;
        const rope2d_backend_ops *sound = device->ops;
        static const float freqs[8] = {0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f};
        const rope2d_spec small = {.struct_size = sizeof(small), .head_dim = 16, .axes = 1, .freqs = freqs};
        test_all_edges(device);
        test_few(device);
        test_others(device);
        device->ops = &faulty;
        test_specs(device);
        test_edges(device, &small, FUSED, "interleaved");
        test_edges(device, &small, TOWARD_ZERO, "interleaved");
        test_edges(device, &small, SATURATED, "interleaved");
        device->ops = sound;
    } else {
        CHECK(false, "no CPU device");
    }
    rope2d_device_destroy(device);
    return check_finish();
}

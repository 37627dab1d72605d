// SPDX-License-Identifier: MIT
// The portable path against the oracle: random specs and layouts, every pair of element types, wide and
// single units, in place and out, with every other byte of the memory watched.
#include "check.h"
#include "counter.h"
#include "internal.h"
#include "oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CASES        64
#define MAX_DIM      48
#define MAX_PAIRS    (MAX_DIM / 2)
#define MAX_TOKENS   7
#define MAX_BATCH    3
#define MAX_HEADS    4
#define TENSORS      2
#define GAP          5
#define MAX_ELEMENTS (TENSORS * MAX_BATCH * MAX_TOKENS * MAX_HEADS * (MAX_DIM + GAP) * 2 + 64)

static uint64_t random_state;
static uint32_t below(uint32_t bound) {
    return counter_below(counter_word(20, 1, random_state++), bound);
}

struct layout {
    size_t first, batch, token, head; // elements
};

struct example {
    rope2d_spec spec;
    struct oracle_rotation rotation;
    float freqs[2 * ROPE2D_MAX_AXES * MAX_HEADS * MAX_PAIRS];
    uint32_t lo[MAX_PAIRS], hi[MAX_PAIRS];
    int32_t oracle_lo[MAX_PAIRS], oracle_hi[MAX_PAIRS];
    float coordinates[MAX_BATCH * MAX_TOKENS * ROPE2D_MAX_AXES];
    struct oracle_range oracle_range;
    rope2d_range range;
    uint32_t batch, heads[TENSORS], first_token;
    uint64_t tokens; // of the apply
    struct layout layouts[TENSORS];
    size_t elements;
    enum counter_mode mode;
};

static void shuffle(uint32_t *channels, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        channels[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = below(i);
        uint32_t other = channels[j];
        channels[j] = channels[i - 1];
        channels[i - 1] = other;
    }
}

// The pairs by the words of the header, not by the library.
static void make_pairs(struct example *e) {
    rope2d_spec *spec = &e->spec;
    uint32_t pairs = spec->rotary_dim / 2;
    uint32_t channels[MAX_DIM];
    uint32_t done = 0;
    shuffle(channels, spec->head_dim);
    spec->segment_pairs[0] = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        switch (spec->pairing) {
        case ROPE2D_PAIRING_INTERLEAVED:
            e->lo[i] = spec->rotary_begin + 2 * i;
            e->hi[i] = e->lo[i] + 1;
            break;
        case ROPE2D_PAIRING_HALF:
            e->lo[i] = spec->rotary_begin + i;
            e->hi[i] = e->lo[i] + pairs;
            break;
        case ROPE2D_PAIRING_EXPLICIT:
            e->lo[i] = channels[2 * i];
            e->hi[i] = channels[2 * i + 1];
            break;
        default:
            break;
        }
    }
    if (spec->pairing == ROPE2D_PAIRING_SEGMENT_HALF) {
        for (uint32_t a = 0; a < spec->axes; a++) {
            uint32_t count = a + 1 < spec->axes ? below(pairs - done + 1) : pairs - done;
            spec->segment_pairs[a] = count;
            for (uint32_t i = 0; i < count; i++) {
                e->lo[done + i] = spec->rotary_begin + 2 * done + i;
                e->hi[done + i] = e->lo[done + i] + count;
            }
            done += count;
        }
    }
    if (spec->pairing == ROPE2D_PAIRING_EXPLICIT) {
        spec->pairs = pairs;
        spec->pair_lo = e->lo;
        spec->pair_hi = e->hi;
    }
    for (uint32_t i = 0; i < pairs; i++) {
        e->oracle_lo[i] = (int32_t)e->lo[i];
        e->oracle_hi[i] = (int32_t)e->hi[i];
    }
}

static void make_freqs(struct example *e, bool axial, bool two_angles) {
    rope2d_spec *spec = &e->spec;
    uint32_t pairs = spec->rotary_dim / 2;
    size_t half = (size_t)spec->axes * spec->freq_heads * pairs;
    for (size_t i = 0; i < 2 * half; i++)
        e->freqs[i] = counter_uniform(counter_word(20, 2, random_state++));
    if (axial) {
        for (uint32_t p = 0; p < pairs; p++) {
            uint32_t axis = below(spec->axes + 1); // one past the last: turned by none
            for (uint32_t a = 0; a < spec->axes; a++)
                for (uint32_t h = 0; h < spec->freq_heads && a != axis; h++) {
                    size_t at = ((size_t)a * spec->freq_heads + h) * pairs + p;
                    e->freqs[at] = 0;
                    e->freqs[half + at] = 0;
                }
        }
    }
    spec->freqs = e->freqs;
    spec->freqs_hi = two_angles ? e->freqs + half : NULL;
}

static void make_layouts(struct example *e) {
    uint32_t kind = below(4);
    uint32_t gap = kind == 3 ? 1 + below(GAP) : 0;
    size_t at = kind == 3 ? 1 + below(6) : 0;
    size_t dim = e->spec.head_dim + gap;
    for (int i = 0; i < TENSORS; i++) {
        struct layout *l = &e->layouts[i];
        l->first = at;
        l->head = kind == 1 ? dim * e->tokens : dim;
        l->token = kind == 1 ? dim : kind == 2 ? dim * (e->heads[0] + e->heads[1] + 1) : dim * e->heads[i];
        l->batch = kind == 2 ? l->token * e->tokens : dim * e->heads[i] * e->tokens;
        at += kind == 2 ? dim * e->heads[i] : l->batch * e->batch + gap;
        e->elements = l->first + l->batch * e->batch + 8;
    }
}

static void make_example(struct example *e, uint32_t index) {
    memset(e, 0, sizeof(*e));
    bool two_angles = below(3) == 0;
    rope2d_spec *spec = &e->spec;
    spec->struct_size = sizeof(*spec);
    spec->pairing = (rope2d_pairing)(index % ROPE2D_PAIRING_COUNT);
    spec->head_dim = below(2) ? 8 * (1 + below(MAX_DIM / 8)) : 2 + below(MAX_DIM - 1);
    spec->rotary_dim = below(2) ? spec->head_dim / 2 * 2 : 2 + 2 * below(spec->head_dim / 2);
    spec->rotary_begin = below(spec->head_dim - spec->rotary_dim + 1);
    spec->axes = 1 + below(ROPE2D_MAX_AXES);
    spec->freq_heads = below(3) == 0 ? 1 + below(MAX_HEADS) : 1;
    spec->direction = (rope2d_direction)(two_angles ? 2 * below(2) : below(ROPE2D_DIRECTION_COUNT));
    spec->angles = (rope2d_angles)below(ROPE2D_ANGLES_COUNT);
    spec->magnitude = below(2) ? 0 : 1.25f;
    make_pairs(e);
    make_freqs(e, below(2) == 0, two_angles);
    uint32_t all_tokens = 1 + below(MAX_TOKENS);
    e->batch = 1 + below(MAX_BATCH);
    e->first_token = below(all_tokens);
    e->tokens = 1 + below(all_tokens - e->first_token);
    for (int i = 0; i < TENSORS; i++)
        e->heads[i] = spec->freq_heads > 1 ? spec->freq_heads : 1 + below(MAX_HEADS);
    uint32_t position_batch = below(2) ? 1 : e->batch;
    for (size_t i = 0; i < sizeof(e->coordinates) / sizeof(e->coordinates[0]); i++)
        e->coordinates[i] = (float)below(64) - (below(4) == 0 ? 20.5f : 0.0f);
    e->range.begin = below(all_tokens);
    e->range.end = e->range.begin + below(all_tokens - (uint32_t)e->range.begin + 1);
    e->oracle_range = (struct oracle_range){e->range.begin, e->range.end};
    e->mode = index % 5 == 4 ? COUNTER_SPECIAL : COUNTER_BELL;
    make_layouts(e);
    e->rotation = (struct oracle_rotation){
        .tokens = all_tokens,
        .position_batches = position_batch,
        .head_dim = spec->head_dim,
        .axes = spec->axes,
        .pairs = spec->rotary_dim / 2,
        .freq_heads = spec->freq_heads,
        .tables = two_angles ? 2 : 1,
        .pair_lo = e->oracle_lo,
        .pair_hi = e->oracle_hi,
        .freqs = e->freqs,
        .coordinates = e->coordinates,
        .unrotated = &e->oracle_range,
        .unrotated_count = 1,
        .magnitude = spec->magnitude == 0 ? 1 : (double)spec->magnitude,
        .direction = (enum oracle_direction)spec->direction,
        .angle = (enum oracle_angle)spec->angles,
    };
}

struct memory {
    unsigned char in[4 * MAX_ELEMENTS];
    unsigned char out[4 * MAX_ELEMENTS];
    unsigned char single[4 * MAX_ELEMENTS];
    bool written[MAX_ELEMENTS];
};

// The first element that is wrong, or true.
static bool check_head(const struct example *e, const struct oracle *oracle, const struct memory *m,
                       rope2d_element in, rope2d_element out, size_t at, const size_t where[3],
                       bool *written) {
    double inputs[MAX_DIM];
    struct oracle_value expected[MAX_DIM];
    for (size_t d = 0; d < e->spec.head_dim; d++)
        inputs[d] = oracle_decode((enum oracle_type)in, oracle_load((enum oracle_type)in, m->in, at + d));
    oracle_rotate(oracle, where[0], where[1] + e->first_token, where[2], inputs, expected);
    for (size_t d = 0; d < e->spec.head_dim; d++) {
        uint32_t bits = oracle_load((enum oracle_type)out, m->out, at + d);
        uint32_t before = oracle_load((enum oracle_type)in, m->in, at + d);
        double error = oracle_error(&expected[d], (enum oracle_type)out, bits);
        written[at + d] = true;
        if (error <= ORACLE_LIMIT && !(expected[d].copied && in == out && bits != before))
            continue;
        printf("FAIL types %u %u batch %zu token %zu head %zu channel %zu: %08" PRIx32 " is %g, expected %g, "
               "%g units off\n",
               (unsigned)in, (unsigned)out, where[0], where[1], where[2], d, bits,
               oracle_decode((enum oracle_type)out, bits), expected[d].value, error);
        return false;
    }
    return true;
}

static bool check_outputs(const struct example *e, const struct oracle *oracle, struct memory *m,
                          rope2d_element in, rope2d_element out) {
    for (int i = 0; i < TENSORS; i++)
        for (size_t b = 0; b < e->batch; b++)
            for (size_t t = 0; t < e->tokens; t++)
                for (size_t h = 0; h < e->heads[i]; h++) {
                    const struct layout *l = &e->layouts[i];
                    const size_t where[3] = {b, t, h};
                    size_t at = l->first + b * l->batch + t * l->token + h * l->head;
                    if (!check_head(e, oracle, m, in, out, at, where, m->written))
                        return false;
                }
    return true;
}

static bool check_guards(const struct example *e, const struct memory *m, const unsigned char *out,
                         rope2d_element element, const unsigned char *before) {
    size_t size = rope2d_element_size(element);
    for (size_t i = 0; i < e->elements; i++)
        if (!m->written[i] && memcmp(out + i * size, before + i * size, size) != 0) {
            printf("FAIL element %zu is no output and was written\n", i);
            return false;
        }
    return true;
}

static rope2d_view view_of(const struct layout *l, void *base, size_t elements, rope2d_element element) {
    size_t size = rope2d_element_size(element);
    return (rope2d_view){
        .base = base,
        .size = elements * size,
        .offset = l->first * size,
        .batch_stride = (int64_t)l->batch,
        .token_stride = (int64_t)l->token,
        .head_stride = (int64_t)l->head,
    };
}

static void make_params(const struct example *e, rope2d_apply_params *params, rope2d_tensor *tensors,
                        struct memory *m, unsigned char *out, bool in_place,
                        const rope2d_plan_params *types) {
    for (int i = 0; i < TENSORS; i++) {
        tensors[i] = (rope2d_tensor){.heads = e->heads[i]};
        tensors[i].in = view_of(&e->layouts[i], in_place ? out : m->in, e->elements, types->in);
        if (!in_place)
            tensors[i].out = view_of(&e->layouts[i], out, e->elements, types->out);
    }
    *params = (rope2d_apply_params){
        .struct_size = sizeof(*params),
        .batch = e->batch,
        .first_token = e->first_token,
        .tokens = e->tokens,
        .tensor_count = TENSORS,
        .tensors = tensors,
    };
}

// The same through single units, which the public function takes only where a pairing has no wide ones.
static rope2d_status apply_single(const rope2d_plan *plan, const rope2d_positions *positions,
                                  const rope2d_apply_params *params) {
    rope2d_checked_tensor tensors[TENSORS];
    rope2d_work work = {
        .batch = params->batch,
        .first_token = params->first_token,
        .tokens = params->tokens,
        .tensors = tensors,
        .single_only = true,
    };
    ROPE2D_TRY(rope2d_tensors_check(plan, params, tensors, &work.tensor_count));
    return rope2d_portable_apply(plan, positions, &work);
}

static bool run_types(const struct example *e, const struct oracle *oracle, const rope2d_positions *positions,
                      const rope2d_plan *plan, const rope2d_plan_params *types, bool in_place) {
    static struct memory m;
    rope2d_apply_params params;
    rope2d_tensor tensors[TENSORS];
    size_t bytes = e->elements * rope2d_element_size(types->out);
    memset(&m, 0, sizeof(m));
    counter_fill(m.in, (enum counter_type)types->in, e->mode, 20, 3, 0, e->elements);
    memset(m.out, 0x5a, sizeof(m.out));
    if (in_place)
        memcpy(m.out, m.in, sizeof(m.out));
    memcpy(m.single, m.out, sizeof(m.out));
    static unsigned char before[4 * MAX_ELEMENTS];
    memcpy(before, m.out, sizeof(before));
    make_params(e, &params, tensors, &m, m.out, in_place, types);
    if (rope2d_apply(plan, positions, &params) != ROPE2D_OK)
        return false;
    make_params(e, &params, tensors, &m, m.single, in_place, types);
    if (apply_single(plan, positions, &params) != ROPE2D_OK)
        return false;
    if (!check_outputs(e, oracle, &m, types->in, types->out) ||
        !check_guards(e, &m, m.out, types->out, before) || !check_guards(e, &m, m.single, types->out, before))
        return false;
    if (e->mode == COUNTER_BELL && memcmp(m.out, m.single, bytes) != 0) {
        printf("FAIL wide and single units differ\n");
        return false;
    }
    return true;
}

static bool run_example(rope2d_device *device, const struct example *e, const struct oracle *oracle,
                        const rope2d_positions *positions) {
    for (uint32_t i = 0; i < 2 * ROPE2D_ELEMENT_COUNT * ROPE2D_ELEMENT_COUNT; i++) {
        bool in_place = i % 2 == 1;
        rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &e->spec};
        types.in = (rope2d_element)(i / 2 / ROPE2D_ELEMENT_COUNT);
        types.out = (rope2d_element)(i / 2 % ROPE2D_ELEMENT_COUNT);
        if (in_place && types.in != types.out)
            continue;
        rope2d_plan *plan = NULL;
        rope2d_plan_info info = {.struct_size = sizeof(info)};
        bool good = rope2d_plan_create(device, &types, &plan) == ROPE2D_OK &&
                    rope2d_plan_get_info(plan, &info) == ROPE2D_OK && info.exactness == ROPE2D_EXACT &&
                    run_types(e, oracle, positions, plan, &types, in_place);
        if (!good)
            printf("FAIL kernel %s exactness %u in place %d\n", info.kernel, (unsigned)info.exactness,
                   in_place);
        rope2d_plan_destroy(plan);
        if (!good)
            return false;
    }
    return true;
}

static void test_example(rope2d_device *device, uint32_t index) {
    static struct example e;
    make_example(&e, index);
    const rope2d_positions_params params = {
        .struct_size = sizeof(params),
        .spec = &e.spec,
        .tokens = e.rotation.tokens,
        .batch = (uint32_t)e.rotation.position_batches,
        .coordinates = e.coordinates,
        .unrotated = &e.range,
        .unrotated_count = 1,
    };
    rope2d_positions *positions = NULL;
    struct oracle *oracle = oracle_create(&e.rotation);
    bool good = oracle && rope2d_positions_create(device, &params, &positions) == ROPE2D_OK &&
                run_example(device, &e, oracle, positions);
    CHECK(good, "example %" PRIu32 ": pairing %u head_dim %" PRIu32 " rotary %" PRIu32 "+%" PRIu32, index,
          (unsigned)e.spec.pairing, e.spec.head_dim, e.spec.rotary_begin, e.spec.rotary_dim);
    rope2d_positions_destroy(positions);
    oracle_destroy(oracle);
}

static void print_log(void *user, rope2d_log_level level, const char *text) {
    (void)user;
    printf("log %u: %s\n", (unsigned)level, text);
}

int main(void) {
    const rope2d_host host = {.struct_size = sizeof(host), .log = print_log};
    const rope2d_device_params params = {.struct_size = sizeof(params), .host = &host};
    rope2d_device *device = NULL;
    if (rope2d_device_create(&params, &device) != ROPE2D_OK)
        CHECK(false, "no CPU device");
    for (uint32_t i = 0; device && i < CASES; i++)
        test_example(device, i);
    rope2d_device_destroy(device);
    return check_finish();
}

// SPDX-License-Identifier: MIT
// What an apply refuses, each with its own status and a line in the log; and the proofs that memory does not
// overlap, against a map of every byte.
#include "counter.h"
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int passed, failed;

static void verdict(bool good, const char *name) {
    if (!good)
        printf("FAIL %s\n", name);
    *(good ? &passed : &failed) += 1;
}

struct record {
    int lines;
    char last[512];
};

static void record_log(void *user, rope2d_log_level level, const char *text) {
    struct record *record = user;
    (void)level;
    record->lines++;
    (void)snprintf(record->last, sizeof(record->last), "%s", text);
}

// ------------------------------------------------------------------------------------------- what is refused

#define DIM    8
#define HEADS  2
#define TOKENS 4
#define BATCH  2

struct bench {
    struct record record;
    rope2d_host host;
    rope2d_device *device;
    rope2d_plan *plan, *narrowing, *other, *per_head;
    rope2d_positions *positions, *batched, *heads;
    float memory[4096];
    float other_memory[4096];
    rope2d_tensor tensors[2];
    rope2d_apply_params params;
};

static float freqs[3 * DIM];

static bool make_plan(struct bench *b, const rope2d_spec *spec, rope2d_element out, rope2d_plan **plan) {
    const rope2d_plan_params params = {.struct_size = sizeof(params), .spec = spec, .out = out};
    return rope2d_plan_create(b->device, &params, plan) == ROPE2D_OK;
}

static bool make_positions(struct bench *b, const rope2d_spec *spec, uint32_t batch,
                           rope2d_positions **positions) {
    static const float coordinates[BATCH * TOKENS] = {0, 1, 2, 3, 4, 5, 6, 7};
    const rope2d_positions_params params = {.struct_size = sizeof(params),
                                            .spec = spec,
                                            .tokens = TOKENS,
                                            .batch = batch,
                                            .coordinates = coordinates};
    return rope2d_positions_create(b->device, &params, positions) == ROPE2D_OK;
}

static bool set_up(struct bench *b) {
    memset(b, 0, sizeof(*b));
    for (int i = 0; i < 3 * DIM; i++)
        freqs[i] = 0.5f;
    b->host = (rope2d_host){.struct_size = sizeof(b->host), .user = &b->record, .log = record_log};
    const rope2d_device_params params = {.struct_size = sizeof(params), .host = &b->host};
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = DIM, .axes = 1, .freqs = freqs};
    if (rope2d_device_create(&params, &b->device) != ROPE2D_OK ||
        !make_plan(b, &spec, ROPE2D_F32, &b->plan) || !make_plan(b, &spec, ROPE2D_F16, &b->narrowing) ||
        !make_positions(b, &spec, 1, &b->positions) || !make_positions(b, &spec, BATCH, &b->batched))
        return false;
    spec.freq_heads = 3;
    if (!make_plan(b, &spec, ROPE2D_F32, &b->per_head) || !make_positions(b, &spec, 1, &b->heads))
        return false;
    spec.freq_heads = 1;
    spec.pairing = ROPE2D_PAIRING_HALF;
    return make_plan(b, &spec, ROPE2D_F32, &b->other);
}

static void reset(struct bench *b) {
    for (int i = 0; i < 2; i++) {
        b->tensors[i] = (rope2d_tensor){.heads = HEADS};
        b->tensors[i].in = rope2d_view_contiguous(b->memory + 1024 * i, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, BATCH,
                                                  TOKENS, HEADS, DIM);
    }
    b->params = (rope2d_apply_params){.struct_size = sizeof(b->params),
                                      .batch = BATCH,
                                      .tokens = TOKENS,
                                      .tensor_count = 2,
                                      .tensors = b->tensors};
    for (int i = 0; i < 4096; i++)
        b->memory[i] = b->other_memory[i] = (float)i;
}

static bool is_untouched(const struct bench *b) {
    for (int i = 0; i < 4096; i++)
        if (b->memory[i] != (float)i || b->other_memory[i] != (float)i)
            return false;
    return true;
}

static void expect_with(struct bench *b, const rope2d_plan *plan, const rope2d_positions *positions,
                        rope2d_status expected, const char *word, const char *name) {
    b->record.lines = 0;
    b->record.last[0] = '\0';
    const rope2d_status status = rope2d_apply(plan, positions, &b->params);
    const bool fails = expected != ROPE2D_OK;
    const bool logged =
        fails ? b->record.lines == 1 && strstr(b->record.last, word) != NULL : b->record.lines == 0;
    uint64_t dispatches = 99;
    const rope2d_status counted = rope2d_plan_dispatches(plan, positions, &b->params, &dispatches);
    const bool good = status == expected && logged && counted == expected && (!fails || dispatches == 0) &&
                      (!fails || is_untouched(b));
    if (!good)
        printf("%s: status %s, expected %s, %d lines: %s\n", name, rope2d_status_name(status),
               rope2d_status_name(expected), b->record.lines, b->record.last);
    verdict(good, name);
    reset(b);
}

static void expect(struct bench *b, rope2d_status expected, const char *word, const char *name) {
    expect_with(b, b->plan, b->positions, expected, word, name);
}

static void test_views(struct bench *b) {
    rope2d_view *in = &b->tensors[1].in;
    in->base = NULL;
    expect(b, ROPE2D_ERROR_NULL, "tensors[1].in.base", "NULL base");
    in->size -= 1;
    expect(b, ROPE2D_ERROR_TENSOR_SIZE, "tensors[1].in", "one byte short");
    in->offset = 4;
    expect(b, ROPE2D_ERROR_TENSOR_SIZE, "tensors[1].in", "an element past the end");
    in->offset = UINT64_MAX - 3;
    expect(b, ROPE2D_ERROR_TENSOR_SIZE, "tensors[1].in", "offset near 2^64");
    in->size = UINT64_MAX;
    in->offset = UINT64_MAX - 4096;
    expect(b, ROPE2D_ERROR_TENSOR_SIZE, "last address", "memory past the last address");
    in->size += 64;
    in->offset = 2;
    expect(b, ROPE2D_ERROR_TENSOR_ALIGNMENT, "tensors[1].in", "odd offset");
    in->base = (unsigned char *)in->base + 1;
    expect(b, ROPE2D_ERROR_TENSOR_ALIGNMENT, "tensors[1].in", "odd base");
    in->batch_stride = -1;
    expect(b, ROPE2D_ERROR_STRIDE, "in.batch_stride is -1", "negative batch stride");
    in->token_stride = INT64_MIN;
    expect(b, ROPE2D_ERROR_STRIDE, "in.token_stride", "least token stride");
    in->head_stride = -8;
    expect(b, ROPE2D_ERROR_STRIDE, "in.head_stride is -8", "negative head stride");
    in->head_stride = INT64_MAX;
    expect(b, ROPE2D_ERROR_STRIDE, "in.head_stride", "head stride that overflows");
    in->token_stride = INT64_MAX / 3;
    expect(b, ROPE2D_ERROR_STRIDE, "in.token_stride", "token stride that overflows");
    in->batch_stride = (int64_t)1 << 58;
    expect(b, ROPE2D_ERROR_STRIDE, "in.batch_stride", "batch stride that overflows");
    in->token_stride = 0;
    expect(b, ROPE2D_ERROR_STRIDE, "out.token_stride is 0", "stride 0 in place");
    in->token_stride = 0;
    b->tensors[1].out =
        rope2d_view_contiguous(b->other_memory, ROPE2D_F32, ROPE2D_LAYOUT_BHND, BATCH, TOKENS, HEADS, DIM);
    expect(b, ROPE2D_OK, "", "broadcast input");
    b->tensors[1].out = b->tensors[1].in;
    b->tensors[1].out.base = b->other_memory;
    b->tensors[1].out.batch_stride = 0;
    expect(b, ROPE2D_ERROR_STRIDE, "out.batch_stride is 0", "stride 0 of an output");
    b->params.batch = 1;
    in->batch_stride = INT64_MAX;
    expect(b, ROPE2D_OK, "", "a stride that is never taken");
}

static void test_places(struct bench *b) {
    expect(b, ROPE2D_OK, "", "in place");
    expect_with(b, b->narrowing, b->positions, ROPE2D_ERROR_IN_PLACE_TYPE, "tensors[0]",
                "in place with a change of type");
    b->tensors[0].out = b->tensors[0].in;
    expect(b, ROPE2D_OK, "", "in place, spelled out");
    b->tensors[0].out = b->tensors[0].in;
    expect_with(b, b->narrowing, b->positions, ROPE2D_ERROR_IN_PLACE_TYPE, "tensors[0]",
                "in place with a change of type, spelled out");
    b->tensors[0].out = b->tensors[0].in;
    b->tensors[0].out.size += 8;
    b->tensors[0].out.offset = 4;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[0].out and tensors[0].in", "an element beside its input");
    b->tensors[1].in = b->tensors[0].in;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[1].out and tensors[0].out", "two tensors in one place");
    b->tensors[1].in = b->tensors[0].in;
    for (int i = 0; i < 2; i++) {
        b->tensors[i].out = b->tensors[i].in;
        b->tensors[i].out.base = b->other_memory + 1024 * i;
    }
    expect(b, ROPE2D_OK, "", "one input for two outputs");
    b->tensors[1].out = b->tensors[0].in;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[1].out and tensors[0].out",
           "an output where another is in place");
    b->tensors[0].out = b->tensors[1].in;
    b->tensors[1].out = b->tensors[1].in;
    b->tensors[1].out.base = b->other_memory;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[0].out and tensors[1].in", "an output over another's input");
    b->tensors[0].in.head_stride = DIM - 1;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[0].out overlaps itself", "heads that overlap");
    b->tensors[0].in.token_stride = DIM;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[0].out overlaps itself", "tokens that overlap");
}

static void test_arguments(struct bench *b) {
    expect_with(b, b->per_head, b->heads, ROPE2D_ERROR_HEADS, "tensors[0].heads is 2", "heads of the spec");
    expect_with(b, b->other, b->positions, ROPE2D_ERROR_MISMATCH, "pairing", "plan of another pairing");
    expect_with(b, b->plan, b->heads, ROPE2D_ERROR_MISMATCH, "freq_heads", "positions of other heads");
    b->params.first_token = 1;
    expect(b, ROPE2D_ERROR_TOKENS, "first_token 1", "tokens past the positions");
    b->params.tokens = UINT64_MAX;
    b->params.first_token = 2;
    expect(b, ROPE2D_ERROR_TOKENS, "18446744073709551615", "tokens that overflow");
    b->params.batch = BATCH + 1;
    expect_with(b, b->plan, b->batched, ROPE2D_ERROR_BATCH, "batch is 3", "another batch");
    b->params.tensor_count = ROPE2D_MAX_TENSORS + 1;
    expect(b, ROPE2D_ERROR_LIMIT, "tensor_count is 65", "too many tensors");
    b->params.tensors = NULL;
    expect(b, ROPE2D_ERROR_NULL, "tensors is NULL", "NULL tensors");
    b->params.struct_size = 8;
    expect(b, ROPE2D_ERROR_STRUCT_SIZE, "struct_size is 8", "struct_size");
    expect_with(b, b->plan, NULL, ROPE2D_ERROR_NULL, "positions is NULL", "NULL positions");
    verdict(rope2d_apply(NULL, b->positions, &b->params) == ROPE2D_ERROR_NULL, "NULL plan");
    verdict(rope2d_apply(b->plan, b->positions, NULL) == ROPE2D_ERROR_NULL, "NULL params");
    verdict(rope2d_plan_dispatches(b->plan, b->positions, &b->params, NULL) == ROPE2D_ERROR_NULL,
            "NULL dispatches");
}

static void test_nothing(struct bench *b) {
    b->params.tokens = 0;
    b->tensors[0].in.base = NULL;
    expect(b, ROPE2D_OK, "", "no tokens");
    b->params.batch = 0;
    b->tensors[0].in.base = NULL;
    expect_with(b, b->plan, b->batched, ROPE2D_OK, "", "no batch");
    memset(b->tensors, 0, sizeof(b->tensors));
    expect(b, ROPE2D_OK, "", "no heads");
    b->params.tensor_count = 0;
    b->params.tensors = NULL;
    expect(b, ROPE2D_OK, "", "no tensors");
    verdict(is_untouched(b), "nothing was done");
}

static void test_contiguous(void) {
    float x;
    const rope2d_view bnhd = rope2d_view_contiguous(&x, ROPE2D_F16, ROPE2D_LAYOUT_BNHD, 2, 3, 5, 7);
    verdict(bnhd.base == &x && bnhd.size == 420 && bnhd.offset == 0 && bnhd.batch_stride == 105 &&
                bnhd.token_stride == 35 && bnhd.head_stride == 7,
            "BNHD");
    const rope2d_view bhnd = rope2d_view_contiguous(&x, ROPE2D_F32, ROPE2D_LAYOUT_BHND, 2, 3, 5, 7);
    verdict(bhnd.size == 840 && bhnd.batch_stride == 105 && bhnd.token_stride == 7 && bhnd.head_stride == 21,
            "BHND");
    const uint64_t large = (uint64_t)1 << 40;
    verdict(rope2d_view_contiguous(&x, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1 << 20, large, 8, 8).size == 0,
            "a size that overflows");
    verdict(rope2d_view_contiguous(&x, (rope2d_element)3, ROPE2D_LAYOUT_BNHD, 2, 3, 5, 7).size == 0 &&
                rope2d_view_contiguous(&x, ROPE2D_F32, (rope2d_layout)2, 2, 3, 5, 7).size == 0,
            "an unknown layout or type");
    verdict(rope2d_element_size(ROPE2D_F32) == 4 && rope2d_element_size(ROPE2D_BF16) == 2 &&
                rope2d_element_size((rope2d_element)3) == 0,
            "element sizes");
}

// ------------------------------------------------------------------------------------------------ overlaps

#define ARENA   1024
#define LAYOUTS 200000

static uint64_t random_state;
static uint32_t below(uint32_t bound) {
    return counter_below(counter_word(21, 1, random_state++), bound);
}

static _Alignas(4) unsigned char arena[ARENA];

struct small {
    rope2d_device device;
    rope2d_plan plan;
    rope2d_tensor tensors[3];
    rope2d_apply_params params;
};

// Which byte is whose: 0 nobody's, otherwise 1 + the number of the element that writes it.
struct map {
    uint32_t writer[ARENA];
    bool meets;
};

static bool same_view(const struct small *s, const rope2d_tensor *t) {
    return t->in.offset == t->out.offset && s->plan.in == s->plan.out &&
           (s->params.batch == 1 || t->in.batch_stride == t->out.batch_stride) &&
           (s->params.tokens == 1 || t->in.token_stride == t->out.token_stride) &&
           (t->heads == 1 || t->in.head_stride == t->out.head_stride);
}

// Calls for every byte of a view, with the number of its element.
static void walk(const struct small *s, uint32_t tensor, bool output, struct map *map) {
    const rope2d_tensor *t = &s->tensors[tensor];
    const rope2d_view *v = output ? &t->out : &t->in;
    const uint32_t size = rope2d_element_size(output ? s->plan.out : s->plan.in);
    const bool in_place = same_view(s, t);
    uint32_t element = tensor * 10000;
    for (uint32_t b = 0; b < s->params.batch; b++)
        for (uint32_t n = 0; n < s->params.tokens; n++)
            for (uint32_t h = 0; h < t->heads; h++)
                for (uint32_t d = 0; d < s->plan.pattern.head_dim; d++) {
                    element++;
                    const uint64_t at = v->offset + size * ((uint64_t)b * (uint64_t)v->batch_stride +
                                                            (uint64_t)n * (uint64_t)v->token_stride +
                                                            (uint64_t)h * (uint64_t)v->head_stride + d);
                    for (uint64_t i = at; i < at + size; i++) {
                        if (output) {
                            map->meets |= map->writer[i] != 0;
                            map->writer[i] = element;
                        } else if (map->writer[i] != 0 && !(in_place && map->writer[i] == element)) {
                            map->meets = true;
                        }
                    }
                }
}

static bool really_overlaps(const struct small *s) {
    static struct map map;
    memset(&map, 0, sizeof(map));
    for (uint32_t i = 0; i < s->params.tensor_count; i++)
        walk(s, i, true, &map);
    for (uint32_t i = 0; i < s->params.tensor_count; i++)
        walk(s, i, false, &map);
    return map.meets;
}

static rope2d_status check(struct small *s) {
    rope2d_checked_tensor checked[ROPE2D_MAX_TENSORS];
    uint32_t count;
    s->params.tensors = s->tensors;
    s->plan.device = &s->device;
    return rope2d_tensors_check(&s->plan, &s->params, checked, &count);
}

static rope2d_view random_view(uint32_t element) {
    static const int64_t strides[] = {1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 18, 24, 0};
    rope2d_view view = {.base = arena, .size = ARENA, .offset = (uint64_t)element * below(40)};
    view.batch_stride = strides[below(13)];
    view.token_stride = strides[below(13)];
    view.head_stride = strides[below(13)];
    return view;
}

static void make_random(struct small *s) {
    memset(s, 0, sizeof(*s));
    s->plan.in = (rope2d_element)below(2);
    s->plan.out = (rope2d_element)below(2);
    s->plan.pattern.head_dim = 1 + below(4);
    s->plan.pattern.freq_heads = 1;
    s->params.batch = 1 + below(2);
    s->params.tokens = 1 + below(3);
    s->params.tensor_count = 1 + below(3);
    for (uint32_t i = 0; i < s->params.tensor_count; i++) {
        s->tensors[i].heads = 1 + below(3);
        s->tensors[i].in = random_view(rope2d_element_size(s->plan.in));
        s->tensors[i].out = random_view(rope2d_element_size(s->plan.out));
        const uint32_t kind = below(4);
        if (kind == 0 && s->plan.in == s->plan.out)
            s->tensors[i].out = s->tensors[i].in;
        if (kind >= 2) { // the strides of the first, so that nests interleave
            s->tensors[i].out = s->tensors[0].out;
            s->tensors[i].out.offset += (uint64_t)4 * below(12);
        }
    }
}

// By the words of the header: each stride at least what the smaller ones reach.
static bool is_nest(const rope2d_view *v, const struct small *s, uint32_t heads) {
    int64_t strides[3] = {v->batch_stride, v->token_stride, v->head_stride};
    int64_t counts[3] = {s->params.batch, (int64_t)s->params.tokens, heads};
    int64_t reach = s->plan.pattern.head_dim;
    for (int64_t stride = 0; stride < 64; stride++)
        for (int i = 0; i < 3; i++)
            if (strides[i] == stride && counts[i] > 1) {
                if (stride < reach)
                    return false;
                reach += (counts[i] - 1) * stride;
            }
    return true;
}

static void test_random_overlaps(void) {
    int accepted = 0, refused = 0, too_careful = 0, in_nests = 0, wrong = 0;
    for (int i = 0; i < LAYOUTS; i++) {
        struct small s;
        make_random(&s);
        const rope2d_status status = check(&s);
        if (status == ROPE2D_ERROR_STRIDE || status == ROPE2D_ERROR_IN_PLACE_TYPE)
            continue;
        const bool overlaps = really_overlaps(&s);
        bool nests = true;
        for (uint32_t t = 0; t < s.params.tensor_count; t++)
            nests &= is_nest(&s.tensors[t].out, &s, s.tensors[t].heads);
        accepted += status == ROPE2D_OK;
        refused += status == ROPE2D_ERROR_OVERLAP;
        wrong += (status != ROPE2D_OK && status != ROPE2D_ERROR_OVERLAP) || (status == ROPE2D_OK && overlaps);
        too_careful += status == ROPE2D_ERROR_OVERLAP && !overlaps;
        in_nests += status == ROPE2D_ERROR_OVERLAP && !overlaps && nests;
    }
    printf("random layouts: %d accepted, %d refused, of these %d needlessly (%d with nested outputs), %d "
           "wrong\n",
           accepted, refused, too_careful, in_nests, wrong);
    verdict(wrong == 0, "no overlap is accepted");
    verdict(in_nests == 0, "disjoint nests are accepted");
    verdict(accepted > LAYOUTS / 50 && refused > LAYOUTS / 50, "both verdicts occur");
}

// Slices of one token's row, in place or out of place in the same row.
static void test_fused(void) {
    int wrong = 0;
    for (int i = 0; i < 2000; i++) {
        struct small s;
        memset(&s, 0, sizeof(s));
        const uint32_t dim = 1 + below(4);
        const int64_t gap = below(3);
        s.plan.in = s.plan.out = (rope2d_element)below(3);
        s.plan.pattern.head_dim = dim;
        s.params.batch = 1 + below(2);
        s.params.tokens = 1 + below(3);
        s.params.tensor_count = 1 + below(3);
        const uint32_t size = rope2d_element_size(s.plan.in);
        int64_t at = below(3);
        for (uint32_t t = 0; t < s.params.tensor_count; t++) {
            s.tensors[t].heads = 1 + below(2);
            for (int side = 0; side < 2; side++) {
                rope2d_view *v = side ? &s.tensors[t].out : &s.tensors[t].in;
                if (side && below(2)) {
                    *v = s.tensors[t].in;
                    continue;
                }
                *v = (rope2d_view){.base = arena, .size = ARENA, .offset = (uint64_t)at * size};
                at += s.tensors[t].heads * (dim + gap);
            }
        }
        for (uint32_t t = 0; t < s.params.tensor_count; t++)
            for (int side = 0; side < 2; side++) {
                rope2d_view *v = side ? &s.tensors[t].out : &s.tensors[t].in;
                v->head_stride = dim + gap;
                v->token_stride = at;
                v->batch_stride = at * (int64_t)s.params.tokens;
                v->size = UINT32_MAX; // never touched
            }
        wrong += check(&s) != ROPE2D_OK;
    }
    verdict(wrong == 0, "slices of fused rows are accepted");
}

int main(void) {
    static struct bench b;
    const bool is_ready = set_up(&b);
    verdict(is_ready, "set up");
    if (is_ready) {
        reset(&b);
        test_views(&b);
        test_places(&b);
        test_arguments(&b);
        test_nothing(&b);
    }
    test_contiguous();
    test_random_overlaps();
    test_fused();
    rope2d_plan_destroy(b.plan);
    rope2d_plan_destroy(b.narrowing);
    rope2d_plan_destroy(b.other);
    rope2d_plan_destroy(b.per_head);
    rope2d_positions_destroy(b.positions);
    rope2d_positions_destroy(b.batched);
    rope2d_positions_destroy(b.heads);
    rope2d_device_destroy(b.device);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0 || passed == 0;
}

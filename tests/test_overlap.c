// SPDX-License-Identifier: MIT
// The proofs that memory does not overlap, against a map of every byte.
#include "check.h"
#include "counter.h"
#include "internal.h"

#include <stdio.h>
#include <string.h>

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
    CHECK(wrong == 0, "no overlap is accepted");
    CHECK(in_nests == 0, "disjoint nests are accepted");
    CHECK(accepted > LAYOUTS / 50 && refused > LAYOUTS / 50, "both verdicts occur");
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
    CHECK(wrong == 0, "slices of fused rows are accepted");
}

int main(void) {
    test_random_overlaps();
    test_fused();
    return check_finish();
}

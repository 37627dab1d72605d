// SPDX-License-Identifier: MIT
//
// Which tensors may be rotated: what each view reaches, and that memory which is written is nobody else's.
#include "internal.h"

#include <inttypes.h>
#include <stddef.h>

// A view reaches no further than this, so that sums and differences of a few reaches never overflow.
#define MAX_REACH ((uint64_t)1 << 59)

// The bytes of a view: runs of `run` bytes at address + sum of index * stride, each index below its extent.
typedef struct extent {
    uint64_t count;
    uint64_t stride; // bytes
} extent;
typedef struct region {
    uintptr_t address;
    uint32_t element; // bytes
    uint64_t run;
    uint64_t reach; // bytes from the first to the end of the last
    extent dimensions[3];
    const char *name; // "in" or "out", with the tensor's index
    uint32_t tensor;
} region;

typedef struct checker {
    const rope2d_host *host;
    const rope2d_plan *plan;
    const rope2d_apply_params *params;
} checker;

static const char *const stride_fields[3] = {"batch_stride", "token_stride", "head_stride"};

// After check_strides: an output's may not be 0.
static rope2d_status check_written(const checker *c, const region *r) {
    for (int i = 0; i < 3; i++) {
        const extent *e = &r->dimensions[i];
        if (e->stride == 0 && e->count > 1)
            return rope2d_fail(c->host, ROPE2D_ERROR_STRIDE,
                               "tensors[%u].%s.%s is 0 on an output with %" PRIu64 " of them", r->tensor,
                               r->name, stride_fields[i], e->count);
    }
    return ROPE2D_OK;
}

static rope2d_status too_far(const checker *c, const region *r, const char *field, int64_t stride,
                             uint64_t count) {
    return rope2d_fail(c->host, ROPE2D_ERROR_STRIDE,
                       "tensors[%u].%s.%s is %" PRId64 "; %" PRIu64 " of them reach past %" PRIu64 " bytes",
                       r->tensor, r->name, field, stride, count, MAX_REACH);
}

static rope2d_status check_strides(const checker *c, region *r, const rope2d_view *view, uint32_t heads,
                                   uint32_t element) {
    const int64_t strides[3] = {view->batch_stride, view->token_stride, view->head_stride};
    const uint64_t counts[3] = {c->params->batch, c->params->tokens, heads};
    r->element = element;
    r->run = (uint64_t)c->plan->pattern.head_dim * element;
    r->reach = r->run;
    for (int i = 0; i < 3; i++) {
        if (strides[i] < 0)
            return rope2d_fail(c->host, ROPE2D_ERROR_STRIDE, "tensors[%u].%s.%s is %" PRId64 "; at least 0",
                               r->tensor, r->name, stride_fields[i], strides[i]);
        if (counts[i] == 1) { // its stride is never taken
            r->dimensions[i] = (extent){1, 0};
            continue;
        }
        const uint64_t stride = rope2d_product((uint64_t)strides[i], element);
        const uint64_t more = rope2d_product(counts[i] - 1, stride);
        if (more > MAX_REACH - r->reach)
            return too_far(c, r, stride_fields[i], strides[i], counts[i]);
        r->dimensions[i] = (extent){counts[i], stride};
        r->reach += more;
    }
    return ROPE2D_OK;
}

static rope2d_status check_memory(const checker *c, region *r, const rope2d_view *view, uint32_t element) {
    if (!view->base)
        return rope2d_fail(c->host, ROPE2D_ERROR_NULL, "tensors[%u].%s.base is NULL%s", r->tensor, r->name,
                           r->name[0] == 'o' ? "; in place, all of out is 0" : "");
    if (view->offset > view->size || r->reach > view->size - view->offset)
        return rope2d_fail(c->host, ROPE2D_ERROR_TENSOR_SIZE,
                           "tensors[%u].%s of batch %" PRIu64 ", %" PRIu64 " tokens and %" PRIu64
                           " heads reaches %" PRIu64 " bytes past offset %" PRIu64 "; its size is %" PRIu64
                           "%s",
                           r->tensor, r->name, r->dimensions[0].count, r->dimensions[1].count,
                           r->dimensions[2].count, r->reach, view->offset, view->size,
                           c->plan->device->backend == ROPE2D_BACKEND_VULKAN && view->size % 4 == 0
                               ? ", in whole words of 4 bytes"
                               : "");
    const uintptr_t base = (uintptr_t)view->base;
    if (view->offset > UINTPTR_MAX - base || r->reach > UINTPTR_MAX - base - view->offset)
        return rope2d_fail(c->host, ROPE2D_ERROR_TENSOR_SIZE,
                           "tensors[%u].%s.size is %" PRIu64 ": its memory would end past the last address",
                           r->tensor, r->name, view->size);
    r->address = base + (uintptr_t)view->offset;
    if (r->address % element != 0)
        return rope2d_fail(c->host, ROPE2D_ERROR_TENSOR_ALIGNMENT,
                           "tensors[%u].%s: base + offset is %u past a multiple of the element's %u bytes",
                           r->tensor, r->name, (uint32_t)(r->address % element), element);
    return ROPE2D_OK;
}

static rope2d_status check_view(const checker *c, region *r, const rope2d_view *view, uint32_t heads,
                                rope2d_element element) {
    const uint32_t size = rope2d_element_size(element);
    ROPE2D_TRY(check_strides(c, r, view, heads, size));
    return check_memory(c, r, view, size);
}

static void sort(const extent **a, const extent **b) {
    const extent *const less = (*b)->stride < (*a)->stride ? *b : *a;
    *b = less == *a ? *b : *a;
    *a = less;
}

// Runs that are written may not meet one another. Nested: each stride, from the smallest up, is at least what
// all smaller ones reach.
static bool is_nested(const region *r) {
    uint64_t reach = r->run;
    const extent *order[3] = {&r->dimensions[2], &r->dimensions[1], &r->dimensions[0]};
    sort(&order[0], &order[1]);
    sort(&order[1], &order[2]);
    sort(&order[0], &order[1]);
    for (int i = 0; i < 3; i++) {
        const extent *e = order[i];
        if (e->count > 1 && e->stride < reach)
            return false;
        reach += (e->count - 1) * e->stride;
    }
    return true;
}

// Whether two regions meet: whether there are m with
//     -run_b < difference + sum of m * stride < run_a,   low <= m <= high
// over the strides of both. A stride that both have is one unknown.
typedef struct unknown {
    int64_t stride;
    int64_t low;
    int64_t high;
} unknown;
typedef struct meeting {
    unknown unknowns[6];
    int count;
    int64_t above; // -run_b
    int64_t below; // run_a
    int budget;    // of steps; when it runs out nothing is proven
} meeting;

static void add_unknown(meeting *m, uint64_t stride, int64_t low, int64_t high) {
    for (int i = 0; i < m->count; i++)
        if (m->unknowns[i].stride == (int64_t)stride) {
            m->unknowns[i].low += low;
            m->unknowns[i].high += high;
            return;
        }
    int at = m->count++;
    for (; at > 0 && m->unknowns[at - 1].stride < (int64_t)stride; at--)
        m->unknowns[at] = m->unknowns[at - 1];
    m->unknowns[at] = (unknown){(int64_t)stride, low, high};
}

static int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

// Looks at every value of the largest stride left that the smaller ones can still bring into the interval.
static bool can_meet(meeting *m, int at, int64_t sum) {
    if (m->budget-- <= 0)
        return true;
    if (at == m->count)
        return sum > m->above && sum < m->below;
    int64_t rest_low = 0;
    int64_t rest_high = 0;
    for (int i = at + 1; i < m->count; i++) {
        rest_low += m->unknowns[i].low * m->unknowns[i].stride;
        rest_high += m->unknowns[i].high * m->unknowns[i].stride;
    }
    const unknown *u = &m->unknowns[at];
    const int64_t least = floor_divide(m->above - rest_high - sum, u->stride) + 1;
    const int64_t most = floor_divide(m->below - 1 - rest_low - sum, u->stride);
    const int64_t low = least > u->low ? least : u->low;
    const int64_t high = most < u->high ? most : u->high;
    for (int64_t value = low; value <= high; value++)
        if (can_meet(m, at + 1, sum + value * u->stride))
            return true;
    return false;
}

// True unless it is proven that no byte belongs to both.
static bool may_overlap(const region *a, const region *b) {
    if (a->address + a->reach <= b->address || b->address + b->reach <= a->address)
        return false;
    meeting m = {.above = -(int64_t)b->run, .below = (int64_t)a->run, .budget = 4096};
    for (int i = 0; i < 3; i++) {
        if (a->dimensions[i].stride > 0)
            add_unknown(&m, a->dimensions[i].stride, -(int64_t)(a->dimensions[i].count - 1), 0);
        if (b->dimensions[i].stride > 0)
            add_unknown(&m, b->dimensions[i].stride, 0, (int64_t)(b->dimensions[i].count - 1));
    }
    const int64_t difference =
        b->address >= a->address ? (int64_t)(b->address - a->address) : -(int64_t)(a->address - b->address);
    return can_meet(&m, 0, difference);
}

static bool is_zero(const rope2d_view *view) {
    return !view->base && view->size == 0 && view->offset == 0 && view->batch_stride == 0 &&
           view->token_stride == 0 && view->head_stride == 0;
}

static bool same_place(const region *a, const region *b) {
    if (a->address != b->address)
        return false;
    for (int i = 0; i < 3; i++) {
        if (a->dimensions[i].stride * b->element != b->dimensions[i].stride * a->element)
            return false;
    }
    return true;
}

static rope2d_span span_of(const region *r) {
    const uint32_t shift = r->element / 2; // of 2 bytes or 4: no division, of which a small apply feels each
    return (rope2d_span){
        .first = (unsigned char *)r->address,
        .batch_stride = (int64_t)(r->dimensions[0].stride >> shift),
        .token_stride = (int64_t)(r->dimensions[1].stride >> shift),
        .head_stride = (int64_t)(r->dimensions[2].stride >> shift),
    };
}

typedef struct places {
    region in;
    region out;
    bool in_place;
} places;

static rope2d_status check_places(const checker *c, uint32_t tensor, places *p) {
    const rope2d_tensor *t = &c->params->tensors[tensor];
    const bool given = !is_zero(&t->out);
    p->in.tensor = tensor;
    p->in.name = "in";
    ROPE2D_TRY(check_view(c, &p->in, &t->in, t->heads, c->plan->in));
    p->out = p->in;
    p->out.name = "out";
    if (given)
        ROPE2D_TRY(check_view(c, &p->out, &t->out, t->heads, c->plan->out));
    ROPE2D_TRY(check_written(c, &p->out));
    p->in_place = !given || same_place(&p->in, &p->out);
    if (p->in_place && c->plan->in != c->plan->out)
        return rope2d_fail(c->host, ROPE2D_ERROR_IN_PLACE_TYPE,
                           "tensors[%u] is in place, but the plan reads %s and writes %s", tensor,
                           rope2d_element_word(c->plan->in), rope2d_element_word(c->plan->out));
    if (!is_nested(&p->out))
        return rope2d_fail(c->host, ROPE2D_ERROR_OVERLAP,
                           "tensors[%u].out overlaps itself: a stride is less than what smaller ones reach",
                           tensor);
    return ROPE2D_OK;
}

static rope2d_status check_pair(const checker *c, const region *a, const region *b) {
    if (!may_overlap(a, b))
        return ROPE2D_OK;
    return rope2d_fail(
        c->host, ROPE2D_ERROR_OVERLAP,
        "tensors[%u].%s and tensors[%u].%s are not proven disjoint: %" PRIu64 " and %" PRIu64
        " bytes, %" PRIu64 " apart",
        a->tensor, a->name, b->tensor, b->name, a->reach, b->reach,
        (uint64_t)(a->address > b->address ? a->address - b->address : b->address - a->address));
}

// What tensor i writes against what it and the tensors before it read and write.
static rope2d_status check_overlaps(const checker *c, const places *all, uint32_t i) {
    const places *p = &all[i];
    if (!p->in_place)
        ROPE2D_TRY(check_pair(c, &p->out, &p->in));
    for (uint32_t j = 0; j < i; j++) {
        ROPE2D_TRY(check_pair(c, &p->out, &all[j].out));
        if (!all[j].in_place)
            ROPE2D_TRY(check_pair(c, &p->out, &all[j].in));
        if (!p->in_place)
            ROPE2D_TRY(check_pair(c, &all[j].out, &p->in));
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_tensors_check(const rope2d_plan *plan, const rope2d_apply_params *params,
                                   rope2d_checked_tensor *tensors, uint32_t *count) {
    const checker c = {&plan->device->host, plan, params};
    places all[ROPE2D_MAX_TENSORS];
    uint32_t kept = 0;
    *count = 0;
    for (uint32_t i = 0; i < params->tensor_count; i++) {
        const uint32_t heads = params->tensors[i].heads;
        if (heads == 0)
            continue;
        if (plan->pattern.freq_heads > 1 && heads != plan->pattern.freq_heads)
            return rope2d_fail(c.host, ROPE2D_ERROR_HEADS,
                               "tensors[%u].heads is %u; the spec has frequencies for %u", i, heads,
                               plan->pattern.freq_heads);
        ROPE2D_TRY(check_places(&c, i, &all[kept]));
        ROPE2D_TRY(check_overlaps(&c, all, kept));
        tensors[kept] = (rope2d_checked_tensor){
            .heads = heads,
            .in_place = all[kept].in_place,
            .in = span_of(&all[kept].in),
            .out = span_of(&all[kept].out),
        };
        kept++;
    }
    *count = kept;
    return ROPE2D_OK;
}

static extent extent_of(uint64_t count, int64_t stride, uint32_t element) {
    return (extent){count, (uint64_t)stride * element};
}

rope2d_status rope2d_caller_rows_check(const rope2d_positions *positions, uint32_t batch, uint64_t tokens,
                                       uint32_t bound, uint64_t bytes, const char *name) {
    const rope2d_host *host = &positions->device->host;
    const uint32_t row_axes = positions->pattern.row_axes;
    const uint64_t count = rope2d_product(rope2d_product(batch, tokens), row_axes);
    if (count == 0 || count > INT32_MAX)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT,
                           "params.row_tokens is %" PRIu64 " for a row_batch of %u and %u row numbers each: "
                           "from 1 to %d in all",
                           tokens, batch, row_axes, INT32_MAX);
    if (bound > positions->table_rows)
        return rope2d_fail(host, ROPE2D_ERROR_ROW, "params.row_bound is %u; the table has %u rows", bound,
                           positions->table_rows);
    if (count * sizeof(int32_t) > bytes)
        return rope2d_fail(host, ROPE2D_ERROR_TENSOR_SIZE,
                           "%s is %" PRIu64 "; %" PRIu64 " row numbers need %" PRIu64, name, bytes, count,
                           count * sizeof(int32_t));
    return ROPE2D_OK;
}

rope2d_status rope2d_rows_check(const rope2d_plan *plan, const rope2d_work *work, uint64_t address,
                                uint64_t bytes) {
    const uint32_t element = rope2d_element_size(plan->out);
    const region rows = {.address = (uintptr_t)address, .run = bytes, .reach = bytes};
    for (uint32_t i = 0; i < work->tensor_count; i++) {
        const rope2d_checked_tensor *tensor = &work->tensors[i];
        region out = {
            .address = (uintptr_t)tensor->out.first,
            .run = (uint64_t)plan->pattern.head_dim * element,
            .dimensions = {extent_of(work->batch, tensor->out.batch_stride, element),
                           extent_of(work->tokens, tensor->out.token_stride, element),
                           extent_of(tensor->heads, tensor->out.head_stride, element)},
        };
        out.reach = out.run;
        for (int d = 0; d < 3; d++)
            out.reach += (out.dimensions[d].count - 1) * out.dimensions[d].stride;
        if (may_overlap(&out, &rows))
            return rope2d_fail(
                &plan->device->host, ROPE2D_ERROR_OVERLAP,
                "params.rows, %" PRIu64 " bytes, are not proven disjoint from output %u of %u: "
                "%" PRIu64 " bytes, which begin %" PRId64 " bytes behind them",
                bytes, i, work->tensor_count, out.reach, (int64_t)((uint64_t)out.address - address));
    }
    return ROPE2D_OK;
}

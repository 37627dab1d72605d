// SPDX-License-Identifier: MIT
#include "vector_route.h"

#define TILE_TABLES 4    // past the caches
#define TILE_BYTES  6144 // there, of a tensor's heads; one token may have more
// Where a head takes several blocks: memory is still read nearly in order, which past the caches counts more
// than tables that stay in registers.
#define GROUP_HEADS 2
#define GROUP_BYTES 704 // where these are more; of what takes long to turn, twice as many

// Past the caches few, so that memory does not wait for rows; but where the kernel finds its own.
static uint32_t tables_room(const rope2d_tile *tile) {
    const rope2d_cpu_job *job = tile->job;
    const uint64_t token_bytes = (uint64_t)tile->tensors->heads * job->head_bytes;
    uint32_t room = job->vector->tables;
    if (job->is_small || job->vector->kernel->is_few)
        return room;
    room = room < TILE_TABLES ? room : TILE_TABLES;
    while (!tile->by_head && job->ahead.heads == 0 && room > 1 && room * token_bytes > TILE_BYTES)
        room--;
    return room;
}

// How many heads a block turns before the next block does.
static uint32_t group_of(const rope2d_cpu_job *job, uint32_t heads) {
    const rope2d_turn_kernel *kernel = job->vector->kernel;
    uint32_t group = (kernel->element == ROPE2D_F32 ? GROUP_BYTES : 2 * GROUP_BYTES) / job->head_bytes;
    if (job->is_small || job->vector->block_count == 1)
        return heads;
    // No group is of two tensors, unless it is all of both.
    while (job->in_turns && group > GROUP_HEADS && heads % group != 0)
        group--;
    return group > GROUP_HEADS ? group : GROUP_HEADS;
}

// Bytes from where the heads of one end to where those of the other begin, at every token.
static ptrdiff_t bytes_between(const rope2d_span *from, const rope2d_span *to, uint32_t heads,
                               uint32_t element) {
    return (ptrdiff_t)((uintptr_t)to->first - (uintptr_t)from->first) -
           (ptrdiff_t)heads * (ptrdiff_t)from->head_stride * (ptrdiff_t)element;
}

static bool same_strides(const rope2d_span *a, const rope2d_span *b) {
    return a->token_stride == b->token_stride && a->head_stride == b->head_stride &&
           a->batch_stride == b->batch_stride;
}

// Whether a kernel can turn the heads of one tensor and go on with those of the next, with a table that it
// has read once. Two heads that share a step must be one tensor's.
static bool goes_on(const rope2d_cpu_job *job, const rope2d_checked_tensor *a) {
    const rope2d_checked_tensor *b = a + 1;
    const rope2d_turn_kernel *kernel = job->vector->kernel;
    if (rope2d_cpu_converts(job->plan) || kernel->is_few || kernel->streams ||
        !(job->in_turns || job->is_small) || (job->streams && !a->in_place))
        return false;
    const uint32_t group = group_of(job, a->heads);
    return (group == a->heads || (a->heads % group == 0 && group <= b->heads)) && a->heads % 2 == 0 &&
           a->in_place == b->in_place && (a->in_place || job->vector->pass_count == 0) &&
           same_strides(&a->in, &b->in) && same_strides(&a->out, &b->out) &&
           rope2d_cpu_goes_by_tokens(job->work, &a->in) && rope2d_cpu_goes_by_tokens(job->work, &a->out);
}

// Whether heads and tokens follow one another: then what comes next is asked for by bytes.
static bool lies_in_order(const rope2d_tile *tile, const rope2d_route *route) {
    const ptrdiff_t size = (ptrdiff_t)tile->job->head_bytes;
    const uint32_t heads = tile->job->is_joined || route->turn.inner == 1 ? 1 : route->heads;
    return route->turn.in_outer == (ptrdiff_t)heads * size && (heads == 1 || route->turn.in_inner == size);
}

// What a kernel asks for before it turns a head: what comes some bytes later, or where other things lie
// between, the same head of a later token.
static void ask_ahead(const rope2d_tile *tile, rope2d_route *route) {
    const rope2d_cpu_job *job = tile->job;
    rope2d_turn *t = &route->turn;
    t->fetched = (ptrdiff_t)job->vector->fetched;
    t->ahead = (ptrdiff_t)job->ahead.heads;
    t->follows =
        job->ahead.follows && tile->job->is_joined &&
        ((job->streams && route->tensor->in_place) || job->vector->kernel->pairing == ROPE2D_KERNEL_HALF);
    if (!t->in_order) {
        const uint64_t tokens =
            route->singly ? tile->room : job->ahead.heads / ((uint64_t)job->head_bytes * t->inner);
        t->ahead = t->in_outer * (tokens > 0 ? (ptrdiff_t)tokens : 1);
    }
}

// Each member for itself: compilers that save room clear a whole structure by an instruction that takes
// longer than a head does.
void rope2d_route_fill(rope2d_route *route, const rope2d_tile *tile, const rope2d_checked_tensor *tensor,
                       uint32_t heads, const rope2d_checked_tensor *second) {
    const rope2d_cpu_job *job = tile->job;
    const rope2d_vector *v = job->vector;
    const ptrdiff_t element = (ptrdiff_t)rope2d_element_size(job->plan->in);
    const ptrdiff_t out_size = (ptrdiff_t)rope2d_element_size(job->plan->out);
    const bool is_apart = !rope2d_cpu_goes_by_tokens(job->work, &tensor->out) && tile->room > 1;
    rope2d_turn *t = &route->turn;
    route->tensor = tensor;
    route->heads = heads;
    route->singly = !tile->job->is_joined && !tile->by_head && (is_apart || v->kernel->is_few);
    route->turn_fn = NULL;
    if (!route->singly && !rope2d_cpu_converts(job->plan) &&
        (tensor->in_place || (v->pass_count == 0 && (!job->streams || job->direct || v->kernel->streams))))
        route->turn_fn = v->kernel->turn;
    t->in_inner = (ptrdiff_t)tensor->in.head_stride * element;
    t->out_inner = (ptrdiff_t)tensor->out.head_stride * out_size;
    t->in_outer = tile->by_head ? t->in_inner : (ptrdiff_t)tensor->in.token_stride * element;
    t->out_outer = tile->by_head ? t->out_inner : (ptrdiff_t)tensor->out.token_stride * out_size;
    t->inner = tile->by_head || route->singly ? 1 : heads;
    t->group = tile->by_head || route->singly ? 1 : group_of(job, heads);
    t->blocks = v->blocks;
    t->block_count = v->block_count;
    t->steps = v->step_count;
    t->row_axes = job->plan->pattern.row_axes;
    t->table = rope2d_rows_of(job, 0);
    t->second = 0;
    t->in_jump = t->out_jump = 0;
    if (second) {
        t->inner += second->heads;
        t->second = second->heads;
        t->in_jump = bytes_between(&tensor->in, &second->in, heads, (uint32_t)element);
        t->out_jump = bytes_between(&tensor->out, &second->out, heads, (uint32_t)element);
        if (t->group == heads)
            t->group = t->inner;
    }
    t->fetched = t->ahead = 0;
    t->follows = false;
    t->direct = job->direct;
    t->in_order = lies_in_order(tile, route);
    if (job->ahead.heads > 0)
        ask_ahead(tile, route);
}

void rope2d_tile_fill(rope2d_tile *tile) {
    const rope2d_checked_tensor *const end = tile->tensors + tile->tensor_count;
    tile->by_head = tile->job->plan->pattern.freq_heads > 1;
    tile->room = tile->job->gap > 0 ? 1 : tables_room(tile);
    tile->route_count = 0;
    for (const rope2d_checked_tensor *a = tile->tensors; a < end; a++) {
        const rope2d_checked_tensor *second =
            !tile->by_head && a + 1 < end && goes_on(tile->job, a) ? a + 1 : NULL;
        rope2d_route_fill(&tile->routes[tile->route_count++], tile, a, a->heads, second);
        if (second)
            a = second;
    }
}

void rope2d_route_place(const rope2d_cpu_job *job, rope2d_route *route, uint64_t batch, uint64_t token,
                        uint64_t head) {
    const rope2d_checked_tensor *tensor = route->tensor;
    const rope2d_plan *plan = job->plan;
    route->turn.in = rope2d_cpu_head(&tensor->in, rope2d_element_size(plan->in), batch, token, head);
    route->turn.out =
        (unsigned char *)rope2d_cpu_head(&tensor->out, rope2d_element_size(plan->out), batch, token, head);
}

// In the order in which they lie in memory.
void rope2d_route_turn(const rope2d_cpu_job *job, rope2d_route *route) {
    const unsigned char *const in = route->turn.in;
    unsigned char *const out = route->turn.out;
    for (uint32_t i = route->singly ? route->heads : 1; i > 0; i--) {
        if (route->turn_fn)
            route->turn_fn(&route->turn);
        else
            rope2d_vector_turn(job, &route->turn, route->tensor->in_place);
        route->turn.in += route->turn.in_inner;
        route->turn.out += route->turn.out_inner;
    }
    route->turn.in = in;
    route->turn.out = out;
}

// SPDX-License-Identifier: MIT
//
// Hands what a task rotates to the plan's kernel: tokens of all tensors, or heads of one.
#include "vector_route.h"

#include <string.h>

// Elements from one place to another that is not before it; -1 where that is none.
static int64_t apart(const unsigned char *from, const unsigned char *to, uint32_t element) {
    const uintptr_t bytes = (uintptr_t)to - (uintptr_t)from;
    return (uintptr_t)to < (uintptr_t)from || bytes % element != 0 ? -1 : (int64_t)(bytes / element);
}

// Whether a kernel's own stores can go past the caches, to addresses that are multiples of their size. Whole
// steps divide a head of which no channel passes through, so that each begins at such a one where the head
// does. Intel's processors have to be given whole lines, or what follows: f16's halves, of half a line each,
// take a tenth longer so.
static bool stores_past(const rope2d_cpu_job *job, const rope2d_checked_tensor *tensor) {
    const rope2d_turn_kernel *const kernel = job->vector->kernel;
    const rope2d_span *const out = &tensor->out;
    const uint64_t strides = (uint64_t)(out->batch_stride | out->token_stride | out->head_stride);
    return kernel->may_stream && !tensor->in_place && job->vector->is_whole && job->vector->pass_count == 0 &&
           (job->ahead.follows || kernel->bytes == ROPE2D_STREAM_LINE ||
            kernel->pairing == ROPE2D_KERNEL_INTERLEAVED) &&
           ((uintptr_t)out->first | (uintptr_t)(strides * rope2d_element_size(job->plan->out))) %
                   ROPE2D_STREAM_LINE ==
               0;
}

// Makes two tensors of one head each one of two heads, so that a token's table is read once for both, and
// gives them, or one head alone, the plan's kernel for few heads, if it has one; nothing where they are
// something else.
static void join(rope2d_cpu_job *job) {
    const uint32_t element = rope2d_element_size(job->plan->in);
    const rope2d_checked_tensor *a = &job->work->tensors[0];
    const rope2d_checked_tensor *b = &job->work->tensors[job->work->tensor_count - 1];
    const bool is_alone = job->work->tensor_count == 1;
    const rope2d_vector *few = job->vector->few;
    if (few && few->past && (is_alone || !job->is_small))
        few = few->past;
    if (job->work->tensor_count > 2 || (is_alone && !(few && few->kernel->alone)) || a->heads != 1 ||
        b->heads != 1 || a->in_place != b->in_place || a->in.token_stride != b->in.token_stride ||
        a->in.batch_stride != b->in.batch_stride || a->out.token_stride != b->out.token_stride ||
        a->out.batch_stride != b->out.batch_stride || job->aliases)
        return;
    const bool swaps = (uintptr_t)b->in.first < (uintptr_t)a->in.first;
    const rope2d_checked_tensor *const first = swaps ? b : a;
    const rope2d_checked_tensor *const second = swaps ? a : b;
    const int64_t in_apart = apart(first->in.first, second->in.first, element);
    const int64_t out_apart = apart(first->out.first, second->out.first, rope2d_element_size(job->plan->out));
    if (in_apart < 0 || out_apart < 0)
        return;
    job->made[0] = *first;
    job->made[0].heads = is_alone ? 1 : 2;
    job->made[0].in.head_stride = in_apart;
    job->made[0].out.head_stride = out_apart;
    job->is_joined = true;
    job->ahead.heads = element == 2 ? job->ahead.few_16 : job->ahead.few_32;
    if (few)
        job->vector = few;
}

static bool has_gaps(const rope2d_span *span, uint32_t head_dim) {
    return span->head_stride != (int64_t)head_dim;
}

// Two heads, whatever is done with them. Four are slower than one at a time, unless they are written past the
// caches.
bool rope2d_vector_merges(const rope2d_cpu_job *job) {
    const rope2d_vector *const merged = job->vector->merged;
    const rope2d_checked_tensor *tensor = job->work->tensors;
    if (!merged || job->work->tensor_count > 2)
        return false;
    for (uint32_t i = 0; i < job->work->tensor_count; i++, tensor++)
        if (tensor->heads % merged->heads != 0 || has_gaps(&tensor->in, job->plan->pattern.head_dim) ||
            has_gaps(&tensor->out, job->plan->pattern.head_dim) ||
            (merged->heads > 2 && (!job->streams || tensor->in_place)))
            return false;
    return true;
}

static void merge(rope2d_cpu_job *job) {
    const uint32_t heads = job->vector->merged->heads;
    for (uint32_t i = 0; i < job->work->tensor_count; i++) {
        rope2d_checked_tensor *const made = &job->made[i];
        *made = job->work->tensors[i];
        made->heads /= heads;
        made->in.head_stride *= heads;
        made->out.head_stride *= heads;
    }
    job->vector = job->vector->merged;
    job->head_bytes *= heads;
}

void rope2d_vector_arrange(rope2d_cpu_job *job) {
    if (job->is_merged)
        merge(job);
    else if (job->by_tokens)
        join(job);
    const bool is_made = job->is_merged || job->is_joined;
    const rope2d_checked_tensor *const tensors = is_made ? job->made : job->work->tensors;
    job->direct = job->streams;
    for (uint32_t i = 0; i < (job->is_joined ? 1 : job->work->tensor_count) && job->direct; i++)
        job->direct = stores_past(job, &tensors[i]);
}

static void copy_heads(const rope2d_cpu_job *job, const rope2d_checked_tensor *tensor, uint64_t batch,
                       uint64_t token, uint32_t head, uint32_t end) {
    const uint32_t element = rope2d_element_size(job->plan->in);
    const size_t size = (size_t)job->plan->pattern.head_dim * element;
    for (; head < end && !tensor->in_place; head++)
        memcpy((unsigned char *)rope2d_cpu_head(&tensor->out, element, batch, token, head),
               rope2d_cpu_head(&tensor->in, element, batch, token, head), size);
}

// Heads whose table is theirs alone, or some heads of a token that share theirs: found once for all routes.
static void turn_heads(const rope2d_tile *tile, rope2d_route *routes, uint32_t count, uint64_t batch,
                       uint64_t token, uint32_t first, uint32_t end, rope2d_tables *t) {
    const rope2d_cpu_job *job = tile->job;
    const int32_t *rows = rope2d_cpu_rows(job, batch, token);
    const uint32_t most = tile->by_head ? tile->room : end - first;
    for (; first < end; first += most) {
        const uint32_t left = end - first;
        const uint32_t tables = !tile->by_head ? 1 : left < most ? left : most;
        rope2d_tables_find(job, rows, first, tile->by_head, tables, t);
        for (uint32_t i = 0; i < count; i++) {
            rope2d_route *const route = &routes[i];
            route->turn.tables = t->steps;
            route->turn.rows = rows;
            route->turn.outer = tables;
            rope2d_route_place(job, route, batch, token, first);
            rope2d_route_turn(job, route);
        }
    }
}

void rope2d_tile_token(rope2d_tile *tile, uint32_t index, uint32_t count, uint64_t at, uint32_t first,
                       uint32_t end, rope2d_tables *t) {
    const rope2d_cpu_job *job = tile->job;
    const uint64_t batch = at / job->work->tokens;
    const uint64_t token = at % job->work->tokens;
    const rope2d_turning turns =
        rope2d_turning_of(rope2d_cpu_rows(job, batch, token), job->plan->pattern.row_axes);
    if (turns == ROPE2D_TURNS && tile->by_head) {
        turn_heads(tile, &tile->routes[index], count, batch, token, first, end, t);
        return;
    }
    for (const rope2d_checked_tensor *tensor = &tile->given[index]; count > 0; count--, tensor++) {
        if (turns == ROPE2D_TURNS) {
            rope2d_route route;
            rope2d_route_fill(&route, tile, tensor, end - first, NULL);
            turn_heads(tile, &route, 1, batch, token, first, end, t);
        } else if (turns == ROPE2D_TURNS_NOT && !rope2d_cpu_converts(job->plan)) {
            copy_heads(job, tensor, batch, token, first, end);
        } else {
            rope2d_cpu_heads(job, tensor, at * tensor->heads + first, at * tensor->heads + end);
        }
    }
}

// Of all batch elements.
static void rotate_tokens(rope2d_tile *tile, uint64_t begin, uint64_t end, rope2d_tables *t) {
    const uint64_t tokens = tile->job->work->tokens;
    while (begin < end) {
        const uint64_t here = begin - begin % tokens + tokens;
        const uint64_t last = end < here ? end : here;
        rope2d_tile_tokens(tile, begin, last, t);
        begin = last;
    }
}

void rope2d_vector_tokens(const rope2d_cpu_job *job, uint64_t begin, uint64_t end) {
    rope2d_tables t;
    rope2d_tile tile;
    tile.job = job;
    const uint32_t count = job->is_joined ? 1 : job->work->tensor_count;
    for (uint32_t i = 0; i < count; i += 2) {
        tile.given = job->is_joined ? job->made : &job->work->tensors[i];
        tile.tensors = job->is_merged ? job->made : tile.given;
        tile.tensor_count = count - i < 2 ? 1 : 2;
        rope2d_tile_fill(&tile);
        rotate_tokens(&tile, begin, end, &t);
    }
}

void rope2d_vector_heads(const rope2d_cpu_job *job, const rope2d_checked_tensor *tensor, uint64_t begin,
                         uint64_t end) {
    rope2d_tables t;
    rope2d_tile tile;
    tile.job = job;
    tile.given = tile.tensors = tensor;
    tile.tensor_count = 1;
    rope2d_tile_fill(&tile);
    while (begin < end) {
        const uint32_t heads = tensor->heads;
        const uint64_t token = begin / heads;
        const uint32_t first = (uint32_t)(begin % heads);
        if (first == 0 && end - begin >= heads) {
            rotate_tokens(&tile, token, end / heads, &t);
            begin = end / heads * heads;
        } else {
            const uint64_t last = end - begin < heads - first ? first + (end - begin) : heads;
            rope2d_tile_token(&tile, 0, 1, token, first, (uint32_t)last, &t);
            begin += last - first;
        }
    }
}

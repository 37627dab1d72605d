// SPDX-License-Identifier: MIT
//
// Hands the heads of a few tokens, with their tables, to the plan's kernel.
#include "apply.h"
#include "stream.h"
#include "vector_tables.h"

#include <string.h>

// A tile: what one call of a kernel gets.
#define TILE_TABLES 4    // past the caches
#define TILE_BYTES  6144 // there, of a tensor's heads; one token may have more
// Where a head takes several blocks: memory is still read nearly in order, which past the caches counts more
// than tables that stay in registers.
#define GROUP_HEADS 2
#define GROUP_BYTES 704 // where these are more; of what takes long to turn, twice as many

// Heads whose tables are found together: those of a tile of tokens, or where each head has frequencies of
// its own, some heads of a token.
typedef struct heads_tile {
    const rope2d_cpu_job *job;
    const rope2d_checked_tensor *tensors;
    uint32_t tensor_count;
    const rope2d_checked_tensor *tensor; // the one at hand
    const rope2d_checked_tensor *second; // whose heads follow the tensor's; NULL: none
    bool is_joined;                      // its two heads are two tensors
    uint64_t batch;
    uint64_t token;
    uint32_t tokens;
    uint32_t head;
    uint32_t heads;
    uint32_t group_heads; // of a tensor, whose groups are known
    uint32_t group;
} heads_tile;

// At least 1. Past the caches few, so that memory does not wait for rows.
static uint32_t tables_room(const rope2d_cpu_job *job) {
    const uint32_t room = job->vector->tables;
    return job->is_small || room < TILE_TABLES ? room : TILE_TABLES;
}

// What a token's row numbers say: negative ones turn nothing.
typedef enum turning { TURNS, TURNS_NOT, TURNS_PARTLY } turning;

static turning turning_of(const int32_t *rows, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if ((rows[i] < 0) != (rows[0] < 0))
            return TURNS_PARTLY;
    return rows[0] < 0 ? TURNS_NOT : TURNS;
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

// The same, which divides, once for all tokens.
static uint32_t group_in(const heads_tile *tile, uint32_t heads) {
    return heads == tile->group_heads ? tile->group : group_of(tile->job, heads);
}

// Bytes from where the heads of one end to where those of the other begin, at every token.
static ptrdiff_t bytes_between(const rope2d_span *from, const rope2d_span *to, uint32_t heads,
                               uint32_t element) {
    return (ptrdiff_t)((uintptr_t)to->first - (uintptr_t)from->first) -
           (ptrdiff_t)heads * (ptrdiff_t)from->head_stride * (ptrdiff_t)element;
}

static bool same_strides(const rope2d_span *a, const rope2d_span *b) {
    return a->token_stride == b->token_stride && a->head_stride == b->head_stride &&
           a->batch_stride == b->batch_stride && a->head_stride <= a->token_stride;
}

// Whether a kernel can turn the heads of one tensor and go on with those of the next, with a table that it
// has read once. Two heads that share a step must be one tensor's.
static bool goes_on(const heads_tile *tile, uint32_t tensor) {
    const rope2d_cpu_job *job = tile->job;
    const rope2d_checked_tensor *a = &tile->tensors[tensor];
    const rope2d_checked_tensor *b = a + 1;
    if (tensor + 1 >= tile->tensor_count || rope2d_cpu_converts(job->plan) || job->vector->kernel->is_few ||
        !(job->in_turns || job->is_small) || (job->streams && !a->in_place))
        return false;
    const uint32_t group = group_in(tile, a->heads);
    return (group == a->heads || (a->heads % group == 0 && group <= b->heads)) && a->heads % 2 == 0 &&
           a->in_place == b->in_place && (a->in_place || job->vector->pass_count == 0) &&
           same_strides(&a->in, &b->in) && same_strides(&a->out, &b->out);
}

// Whether what is turned next lies behind what is turned now: then it is asked for by bytes.
static bool lies_in_order(const heads_tile *tile, const rope2d_turn *t) {
    const ptrdiff_t size = (ptrdiff_t)tile->job->head_bytes;
    const uint32_t heads = tile->is_joined ? 1 : tile->second ? tile->heads : t->inner;
    return t->in_outer == (ptrdiff_t)heads * size && (heads == 1 || t->in_inner == size);
}

// What a kernel asks for before it turns a head: what comes some bytes later, or where other things lie
// between, the same head of a later token.
static void ask_ahead(const heads_tile *tile, rope2d_turn *t, bool by_heads) {
    const rope2d_cpu_job *job = tile->job;
    t->fetched = (ptrdiff_t)job->vector->fetched;
    t->ahead = (ptrdiff_t)job->ahead.heads;
    t->in_order = lies_in_order(tile, t);
    t->follows = job->ahead.follows && tile->is_joined;
    if (!t->in_order) {
        const uint64_t tokens =
            by_heads ? tile->tokens : job->ahead.heads / ((uint64_t)job->head_bytes * t->inner);
        t->ahead = t->in_outer * (tokens > 0 ? (ptrdiff_t)tokens : 1);
    }
}

// Tokens of a tile, each with one table for all its heads, in the order in which they lie in memory; or
// heads of one token, each with a table of its own.
static void turn_tile(const heads_tile *tile, const rope2d_tables *t, bool tables_of_heads) {
    const rope2d_cpu_job *job = tile->job;
    const rope2d_checked_tensor *tensor = tile->tensor;
    const uint32_t element = rope2d_element_size(job->plan->in);
    const uint32_t out_size = rope2d_element_size(job->plan->out);
    rope2d_turn turns = {
        .in = rope2d_cpu_head(&tensor->in, element, tile->batch, tile->token, tile->head),
        .out = (unsigned char *)rope2d_cpu_head(&tensor->out, out_size, tile->batch, tile->token, tile->head),
        .tables = t->steps,
        .in_inner = (ptrdiff_t)tensor->in.head_stride * (ptrdiff_t)element,
        .out_inner = (ptrdiff_t)tensor->out.head_stride * (ptrdiff_t)out_size,
        .in_outer = (ptrdiff_t)tensor->in.token_stride * (ptrdiff_t)element,
        .out_outer = (ptrdiff_t)tensor->out.token_stride * (ptrdiff_t)out_size,
        .inner = tile->heads,
        .outer = tile->tokens,
        .group = group_in(tile, tile->heads),
        .blocks = job->vector->blocks,
        .block_count = job->vector->block_count,
        .steps = job->vector->step_count,
    };
    const bool is_apart = tensor->out.head_stride > tensor->out.token_stride && tile->tokens > 1;
    const bool by_heads = !tile->is_joined && !tables_of_heads && (is_apart || job->vector->kernel->is_few);
    if (tables_of_heads) {
        turns.in_outer = turns.in_inner;
        turns.out_outer = turns.out_inner;
        turns.outer = turns.inner;
        turns.inner = 1;
    }
    if (tile->second) {
        turns.inner += tile->second->heads;
        turns.jump = tile->second->heads + 1;
        turns.in_jump = bytes_between(&tensor->in, &tile->second->in, tile->heads, element);
        turns.out_jump = bytes_between(&tensor->out, &tile->second->out, tile->heads, element);
        if (turns.group == tile->heads)
            turns.group = turns.inner;
    }
    const uint32_t calls = by_heads ? tile->heads : 1;
    if (by_heads)
        turns.inner = 1;
    if (job->ahead.heads > 0)
        ask_ahead(tile, &turns, by_heads);
    for (uint32_t i = 0; i < calls; i++) {
        rope2d_vector_turn(job, &turns, tensor->in_place);
        turns.in += turns.in_inner;
        turns.out += turns.out_inner;
    }
}

static void copy_heads(const heads_tile *tile) {
    const rope2d_checked_tensor *tensor = tile->tensor;
    const uint32_t element = rope2d_element_size(tile->job->plan->in);
    const size_t size = (size_t)tile->job->plan->pattern.head_dim * element;
    for (uint32_t i = 0; i < tile->heads && !tensor->in_place; i++)
        memcpy((unsigned char *)rope2d_cpu_head(&tensor->out, element, tile->batch, tile->token,
                                                (uint64_t)tile->head + i),
               rope2d_cpu_head(&tensor->in, element, tile->batch, tile->token, (uint64_t)tile->head + i),
               size);
}

// Some heads of one token.
static void rotate_token(heads_tile *tile, turning turns, rope2d_tables *t) {
    const rope2d_cpu_job *job = tile->job;
    const int32_t *rows = rope2d_cpu_rows(job, tile->batch, tile->token);
    const uint32_t end = tile->head + tile->heads;
    if (turns == TURNS_NOT && !rope2d_cpu_converts(job->plan)) {
        copy_heads(tile);
    } else if (turns != TURNS) {
        const uint64_t first = (tile->batch * job->work->tokens + tile->token) * tile->tensor->heads;
        rope2d_portable_heads(job, tile->tensor, first + tile->head, first + end);
    } else if (job->plan->pattern.freq_heads == 1) {
        rope2d_tables_find(job, rows, 0, false, 1, t);
        turn_tile(tile, t, false);
    } else {
        for (; tile->head < end; tile->head += tile->heads) {
            const uint32_t room = tables_room(job);
            tile->heads = end - tile->head < room ? end - tile->head : room;
            rope2d_tables_find(job, rows, tile->head, true, tile->heads, t);
            turn_tile(tile, t, true);
        }
    }
}

// As many whole tokens of all its tensors as a tile takes, up to `most`; returns how many.
static uint32_t rotate_tokens(heads_tile *tile, uint64_t most, rope2d_tables *t) {
    const rope2d_cpu_job *job = tile->job;
    const uint32_t axes = job->plan->pattern.row_axes;
    const int32_t *rows = rope2d_cpu_rows(job, tile->batch, tile->token);
    const turning turns = turning_of(rows, axes);
    const bool has_tile = turns == TURNS && job->plan->pattern.freq_heads == 1;
    tile->tokens = 1;
    if (has_tile) {
        uint32_t room = tables_room(job);
        room = room < most ? room : (uint32_t)most;
        const uint64_t token_bytes = (uint64_t)tile->tensors[0].heads * job->head_bytes;
        while (!job->is_small && job->ahead.heads == 0 && room > 1 && room * token_bytes > TILE_BYTES)
            room--;
        while (tile->tokens < room && turning_of(rows + (size_t)tile->tokens * axes, axes) == TURNS)
            tile->tokens++;
        rope2d_tables_find(job, rows, 0, false, tile->tokens, t);
    }
    for (uint32_t i = 0; i < tile->tensor_count; i++) {
        tile->tensor = &tile->tensors[i];
        tile->head = 0;
        tile->heads = tile->tensor->heads;
        tile->second = has_tile && goes_on(tile, i) ? &tile->tensors[++i] : NULL;
        if (has_tile)
            turn_tile(tile, t, false);
        else
            rotate_token(tile, turns, t);
    }
    return tile->tokens;
}

// Of the tile's tensors.
static void tokens_with(heads_tile *tile, uint64_t begin, uint64_t end, rope2d_tables *t) {
    const uint64_t tokens = tile->job->work->tokens;
    tile->group_heads = tile->tensors[0].heads;
    tile->group = group_of(tile->job, tile->group_heads);
    for (uint64_t at = begin; at < end;) {
        tile->batch = at / tokens;
        tile->token = at % tokens;
        const uint64_t here = tokens - tile->token;
        at += rotate_tokens(tile, end - at < here ? end - at : here, t);
    }
}

// Elements from one place to another that is not before it; -1 where that is none.
static int64_t apart(const unsigned char *from, const unsigned char *to, uint32_t element) {
    const uintptr_t bytes = (uintptr_t)to - (uintptr_t)from;
    return (uintptr_t)to < (uintptr_t)from || bytes % element != 0 ? -1 : (int64_t)(bytes / element);
}

// Two tensors of one head each as one of two heads, so that a token's table is read once for both.
static bool join(const rope2d_cpu_job *job, rope2d_checked_tensor *joined) {
    const uint32_t element = rope2d_element_size(job->plan->in);
    const rope2d_checked_tensor *a = &job->work->tensors[0];
    const rope2d_checked_tensor *b = &job->work->tensors[job->work->tensor_count - 1];
    if (job->work->tensor_count != 2 || a->heads != 1 || b->heads != 1 || a->in_place != b->in_place ||
        a->in.token_stride != b->in.token_stride || a->in.batch_stride != b->in.batch_stride ||
        a->out.token_stride != b->out.token_stride || a->out.batch_stride != b->out.batch_stride ||
        job->aliases)
        return false;
    const bool swaps = (uintptr_t)b->in.first < (uintptr_t)a->in.first;
    *joined = swaps ? *b : *a;
    joined->heads = 2;
    joined->in.head_stride = apart(joined->in.first, swaps ? a->in.first : b->in.first, element);
    joined->out.head_stride =
        apart(joined->out.first, swaps ? a->out.first : b->out.first, rope2d_element_size(job->plan->out));
    return joined->in.head_stride >= 0 && joined->out.head_stride >= 0;
}

void rope2d_vector_tokens(const rope2d_cpu_job *job, uint64_t begin, uint64_t end) {
    rope2d_tables t;
    rope2d_checked_tensor joined;
    heads_tile tile = {.job = job, .is_joined = join(job, &joined)};
    rope2d_cpu_job few;
    if (tile.is_joined) {
        few = *job;
        few.ahead.heads = job->ahead.few;
        if (job->vector->few)
            few.vector = job->vector->few;
        tile.job = &few;
    }
    tile.tensors = tile.is_joined ? &joined : job->work->tensors;
    tile.tensor_count = tile.is_joined ? 1 : job->work->tensor_count;
    tokens_with(&tile, begin, end, &t);
}

// Heads `first` to `last` of one token.
static void heads_with(const rope2d_cpu_job *job, const rope2d_checked_tensor *tensor, uint64_t token,
                       uint64_t first, uint64_t last, rope2d_tables *t) {
    heads_tile tile = {
        .job = job,
        .tensor = tensor,
        .batch = token / job->work->tokens,
        .token = token % job->work->tokens,
        .tokens = 1,
        .head = (uint32_t)first,
        .heads = (uint32_t)(last - first),
    };
    const int32_t *rows = rope2d_cpu_rows(job, tile.batch, tile.token);
    if (first < last)
        rotate_token(&tile, turning_of(rows, job->plan->pattern.row_axes), t);
}

void rope2d_vector_heads(const rope2d_cpu_job *job, const rope2d_checked_tensor *tensor, uint64_t begin,
                         uint64_t end) {
    const uint64_t heads = tensor->heads;
    const uint64_t first = begin / heads;
    const uint64_t last = end / heads;
    rope2d_tables t;
    if (first == last) {
        heads_with(job, tensor, first, begin % heads, end % heads, &t);
        return;
    }
    const uint64_t whole = first + (begin % heads != 0);
    if (whole > first)
        heads_with(job, tensor, first, begin % heads, heads, &t);
    heads_tile tile = {.job = job, .tensors = tensor, .tensor_count = 1};
    tokens_with(&tile, whole, last, &t);
    heads_with(job, tensor, last, 0, end % heads, &t);
}

// SPDX-License-Identifier: MIT
//
// Spreads an apply over threads: in equal numbers of heads of tokens, so in equal numbers of bytes, however
// few tokens there are.
#include "apply.h"

#include "channels.h"
#include "device.h"
#include "stream.h"

// Less than this is not worth a task of its own.
#define TASK_BYTES       ((uint64_t)256 << 10)
#define TASKS_PER_THREAD 4
// Of a thread, read and written, in about one mebibyte of cache.
#define OWN_CACHE_BYTES ((uint64_t)2 << 20)

// Of a task that is a range of tokens: no task then has much more than another.
#define MIN_TOKENS 16

// Of all tensors: reading a token's table then costs more than going to and fro between them.
#define FEW_HEADS 4

// Of a tensor in f32: a token of more hides what finding its table takes, and a processor that is not asked
// follows one tensor better than two.
#define IN_TURNS_BYTES 8192

// Of places that lines of the nearest cache are told apart by, and about a page of them.
#define ALIAS_DISTANCE ((uintptr_t)1 << 28)
#define ALIAS_BYTES    4096

typedef rope2d_cpu_job job;

const unsigned char *rope2d_cpu_head(const rope2d_span *span, uint32_t element, uint64_t batch,
                                     uint64_t token, uint64_t head) {
    return span->first + (batch * (uint64_t)span->batch_stride + token * (uint64_t)span->token_stride +
                          head * (uint64_t)span->head_stride) *
                             element;
}

const int32_t *rope2d_cpu_rows(const job *j, uint64_t batch, uint64_t token) {
    const rope2d_positions *positions = j->positions;
    const uint64_t first = (positions->batch == 1 ? 0 : batch) * positions->tokens + j->work->first_token;
    return positions->rows + (first + token) * j->plan->pattern.row_axes;
}

static void write_shape(job *j) {
    const rope2d_pattern *pattern = &j->plan->pattern;
    j->shape[R_TABLE_ROWS] = j->positions->table_rows;
    j->shape[R_TABLE_ROW_STRIDE] = j->positions->table_columns;
    j->shape[R_TABLE_HEAD_STRIDE] = pattern->freq_heads > 1 ? pattern->pairs * pattern->angles : 0;
    j->shape[R_FACTORS] = pattern->factors;
    j->shape[R_TABLE_FACTOR_STRIDE] =
        pattern->factors == 0 ? 0 : j->positions->table_columns / pattern->factors;
    j->shape[R_UNITS] = j->units->count;
    j->shape[R_PAIR_UNITS] = j->units->pairs;
}

void rope2d_cpu_heads(const job *j, const rope2d_checked_tensor *tensor, uint64_t begin, uint64_t end) {
    const rope2d_work *work = j->work;
    const rope2d_positions *positions = j->positions;
    const uint32_t in_size = rope2d_element_size(j->plan->in);
    const uint32_t out_size = rope2d_element_size(j->plan->out);
    rope2d_cpu_run run = {
        .shape = j->shape,
        .units = j->units->words,
        // What passes through is there already.
        .unit_count = tensor->in_place ? j->units->pairs : j->units->count,
        .table = positions->table,
        .in_stride = (ptrdiff_t)(tensor->in.head_stride * in_size),
        .out_stride = (ptrdiff_t)(tensor->out.head_stride * out_size),
        .in_type = (uint32_t)j->plan->in,
        .out_type = (uint32_t)j->plan->out,
        .head_dim = j->plan->pattern.head_dim,
        .wide = j->units == &j->plan->pattern.wide,
        .two_angles = j->plan->pattern.angles == 2,
    };
    for (uint64_t at = begin; at < end; at += run.heads) {
        const uint64_t head = at % tensor->heads;
        const uint64_t token = at / tensor->heads % work->tokens;
        const uint64_t batch = at / tensor->heads / work->tokens;
        const uint64_t left = tensor->heads - head;
        run.first_head = (uint32_t)head;
        run.heads = (uint32_t)(left < end - at ? left : end - at);
        run.rows = rope2d_cpu_rows(j, batch, token);
        run.in = rope2d_cpu_head(&tensor->in, in_size, batch, token, head);
        run.out = (unsigned char *)rope2d_cpu_head(&tensor->out, out_size, batch, token, head);
        j->kernel(&run);
    }
}

static uint64_t tokens_of(const rope2d_work *work) {
    return work->batch * work->tokens;
}

static uint64_t heads_of(const rope2d_work *work, uint32_t tensor) {
    return tokens_of(work) * work->tensors[tensor].heads;
}

// Where a task's part of `all` begins.
static uint64_t share(const job *j, uint64_t all, uint64_t index) {
    if (j->tasks == 1) // no division, of which a small apply feels each
        return all * index;
    const uint64_t more = all % j->tasks;
    return all / j->tasks * index + (index < more ? index : more);
}

static void rotate(const job *j, const rope2d_checked_tensor *tensor, uint64_t begin, uint64_t end) {
    if (j->vector)
        rope2d_vector_heads(j, tensor, begin, end);
    else
        rope2d_cpu_heads(j, tensor, begin, end);
}

static void task(void *data, uint32_t index) {
    const job *j = data;
    const uint64_t all = j->by_tokens ? tokens_of(j->work) : j->heads;
    uint64_t begin = share(j, all, index);
    uint64_t end = share(j, all, (uint64_t)index + 1);
    const rope2d_control control = rope2d_control_enter();
    if (j->by_tokens) {
        rope2d_vector_tokens(j, begin, end);
        end = 0;
    }
    for (uint32_t i = 0; i < j->work->tensor_count && end > 0; i++) {
        const uint64_t heads = heads_of(j->work, i);
        if (begin < heads)
            rotate(j, &j->work->tensors[i], begin, end < heads ? end : heads);
        begin = begin > heads ? begin - heads : 0;
        end = end > heads ? end - heads : 0;
    }
    if (j->streams)
        rope2d_stream_end();
    rope2d_control_leave(control);
}

// One for each thread where all fits the threads' own caches: a tensor that is rotated again then finds its
// parts where they were. Past that several, so that a thread that started late finds something left.
static uint32_t count_tasks(job *j) {
    const rope2d_plan *plan = j->plan;
    const uint64_t head_bytes =
        (uint64_t)plan->pattern.head_dim * (rope2d_element_size(plan->in) + rope2d_element_size(plan->out));
    const uint64_t task_heads = TASK_BYTES / head_bytes + 1;
    const uint64_t tasks = j->heads / task_heads + (j->heads % task_heads != 0);
    const uint64_t threads = rope2d_threads(&plan->device->host);
    j->is_small = !j->work->is_large && j->heads / threads * head_bytes < OWN_CACHE_BYTES;
    const uint64_t most = j->is_small || threads == 1 ? threads : TASKS_PER_THREAD * threads;
    return (uint32_t)(tasks < most ? tasks : most);
}

// Whether inputs and outputs do not fit the last cache; in place, what is rotated and as much beside it, from
// which it was made a moment ago.
static bool is_past_caches(const job *j) {
    const rope2d_cpu *cpu = j->plan->device->impl;
    return rope2d_stream_exists() && cpu->last_cache > 0 && 2 * j->heads > cpu->last_cache / j->head_bytes;
}

// Whether processors take the lines of one tensor for those of the other: some tell them apart by a hash of
// the address's lower 28 bits.
static bool alias(const rope2d_work *work) {
    const rope2d_checked_tensor *a = &work->tensors[0];
    const rope2d_checked_tensor *b = &work->tensors[work->tensor_count - 1];
    const uintptr_t apart = (uintptr_t)b->in.first - (uintptr_t)a->in.first;
    return a != b && a->in_place && b->in_place && apart + ALIAS_BYTES / 2 >= ALIAS_BYTES &&
           ((apart + ALIAS_BYTES / 2) & (ALIAS_DISTANCE - 1)) < ALIAS_BYTES;
}

// Elements from a token's first head to the end of its last one, where they lie in order.
static uint64_t elements_of(const job *j, const rope2d_checked_tensor *tensor) {
    return (tensor->heads - 1) * (uint64_t)tensor->in.head_stride + j->plan->pattern.head_dim;
}

// Bytes between the heads of a token, of all tensors, and the next token's, where they are no more than
// these: v's, where q and k are. AMD's Zen 4 loses track of what is read with gaps; where these are asked
// for as well, heads come twice as fast. Single heads do not.
static ptrdiff_t gap_of(const job *j, const rope2d_checked_tensor *first) {
    const rope2d_checked_tensor *const last = &j->work->tensors[j->work->tensor_count - 1];
    const uint64_t element = rope2d_element_size(j->plan->in);
    const uint64_t stride = (uint64_t)first->in.token_stride;
    const uint64_t of_first = elements_of(j, first);
    const uint64_t apart = ((uintptr_t)last->in.first - (uintptr_t)first->in.first) / element;
    const uint64_t of_both = apart + elements_of(j, last);
    const uint64_t used = of_both > of_first ? of_both : of_first;
    return j->work->tensor_count <= 2 && apart < stride && used <= stride && stride <= 2 * used
               ? (ptrdiff_t)((stride - used) * element)
               : 0;
}

// Whether a kernel that streams can write all outputs, of heads that lie in order.
static bool can_stream(const rope2d_work *work, uint32_t element) {
    uintptr_t all = 0;
    for (uint32_t i = 0; i < work->tensor_count; i++) {
        const rope2d_span *out = &work->tensors[i].out;
        if (work->tensors[i].in_place || !rope2d_cpu_goes_by_tokens(work, out))
            return false;
        all |= (uintptr_t)out->first |
               (uintptr_t)(out->batch_stride | out->token_stride | out->head_stride) * element;
    }
    return all % ROPE2D_STREAM_ALIGNMENT == 0;
}

void rope2d_cpu_job_fill(job *j) {
    const rope2d_plan *plan = j->plan;
    const rope2d_pattern *pattern = &plan->pattern;
    const bool wide = pattern->wide.count > 0 && !j->work->single_only;
    j->units = wide ? &pattern->wide : &pattern->single;
    j->heads = 0;
    j->is_joined = false;
    j->direct = false;
    for (uint32_t i = 0; i < j->work->tensor_count; i++)
        j->heads += heads_of(j->work, i);
    write_shape(j);
    j->tasks = count_tasks(j);
    j->head_bytes = pattern->head_dim * rope2d_element_size(plan->out);
    j->streams = j->vector && (j->vector->kernel->streams || j->work->streams || is_past_caches(j));
    const rope2d_checked_tensor *first = &j->work->tensors[0];
    const uint64_t tokens = tokens_of(j->work);
    const bool is_few = j->heads <= FEW_HEADS * tokens;
    if (j->vector && j->vector->past && (j->work->single_only || (j->streams && first->in_place && !is_few)))
        j->vector = j->vector->past;
    if (j->streams && j->vector->streamed && (!is_few || j->work->streams) &&
        can_stream(j->work, rope2d_element_size(plan->out)))
        j->vector = j->vector->streamed;
    j->ahead = (rope2d_ahead){0};
    if (j->vector && !j->is_small) // the portable path serves devices of other backends as well
        j->ahead = ((const rope2d_cpu *)plan->device->impl)->ahead;
    if (j->streams && j->ahead.past > 0)
        j->ahead.heads = j->ahead.past;
    // What is streamed is in order where one tensor follows the other. Elsewhere a token's table is found
    // once for all tensors.
    const bool is_little = (uint64_t)first->heads * j->head_bytes <= IN_TURNS_BYTES;
    const bool is_short = rope2d_element_size(plan->in) == 2;
    const bool may_take_turns =
        (!j->streams || first->in_place) && rope2d_cpu_goes_by_tokens(j->work, &first->in);
    j->gap = j->ahead.gaps && may_take_turns && !is_few && pattern->freq_heads == 1 ? gap_of(j, first) : 0;
    if (j->gap == 0 && (is_short || first->in_place) &&
        elements_of(j, first) < (uint64_t)first->in.token_stride)
        j->ahead.heads = j->ahead.apart;
    j->aliases = alias(j->work);
    j->in_turns =
        may_take_turns && (j->gap > 0 || j->ahead.heads > 0 || ((is_short || is_little) && !j->aliases));
    if (is_few && is_short)
        j->ahead.heads = j->ahead.few_16;
    j->is_merged = j->vector && rope2d_vector_merges(j);
    j->by_tokens = j->vector && (j->is_small || j->in_turns || is_few || (j->is_merged && !j->aliases)) &&
                   (j->tasks <= 1 || tokens >= (uint64_t)MIN_TOKENS * j->tasks);
    j->in_turns = j->in_turns && j->by_tokens;
    j->is_merged = j->is_merged && j->by_tokens;
    if (!j->by_tokens)
        j->gap = 0;
}

// Each member for itself: to clear a job first was 3 % of an apply of four tokens of 1 x 256.
static rope2d_status run(const rope2d_plan *plan, const rope2d_positions *positions, const rope2d_work *work,
                         const rope2d_vector *vector, rope2d_cpu_kernel *kernel) {
    job j;
    j.plan = plan;
    j.positions = positions;
    j.work = work;
    j.vector = vector;
    j.kernel = kernel;
    rope2d_cpu_job_fill(&j);
    if (vector)
        rope2d_vector_arrange(&j);
    if (j.tasks <= 1) {
        j.tasks = 1;
        task(&j, 0);
    } else {
        rope2d_parallel(&plan->device->host, j.tasks, task, &j);
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_portable_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                                    const rope2d_work *work) {
    return run(plan, positions, work, NULL, rope2d_portable_rotate);
}

rope2d_status rope2d_cpu_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                               const rope2d_work *work) {
    const rope2d_cpu *cpu = plan->device->impl;
    return run(plan, positions, work, plan->impl, rope2d_channels_kernel(cpu->isa, &plan->pattern));
}

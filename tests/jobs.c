// SPDX-License-Identifier: MIT
#include "jobs.h"

#include "counter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 20260, GUARD = 0xa5, GUARD_BYTES = 64 };

// ---------------------------------------------------------------------------------------------- counting

bool tally_check(tally *counts, bool holds, const char *format, ...) {
    va_list arguments;
    if (holds) {
        counts->passed++;
        return true;
    }
    counts->failed++;
    fputs("FAILED: ", stdout);
    va_start(arguments, format);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    return false;
}

int tally_finish(const tally *counts) {
    printf("%u passed, %u failed, %u skipped\n", counts->passed, counts->failed, counts->skipped);
    return counts->failed > 0 || counts->passed + counts->skipped == 0;
}

// -------------------------------------------------------------------------------------------------- logs

static void capture(void *user, rope2d_log_level level, const char *text) {
    captured_log *log = user;
    size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof(log->text) - used, "%s\n", text);
    if (log->print)
        fprintf(stderr, "[%d] %s\n", (int)level, text);
}

rope2d_host captured_host(captured_log *log) {
    rope2d_host host;
    memset(&host, 0, sizeof(host));
    host.struct_size = sizeof(host);
    host.user = log;
    host.log = capture;
    return host;
}

// ------------------------------------------------------------------------------------------------- specs

static void fill_freqs(float *freqs, const rope2d_spec *spec, uint32_t pairs, bool dense, unsigned stream) {
    uint32_t heads = spec->freq_heads > 0 ? spec->freq_heads : 1;
    for (uint32_t axis = 0; axis < spec->axes; axis++) {
        for (uint32_t head = 0; head < heads; head++) {
            for (uint32_t pair = 0; pair < pairs; pair++) {
                uint32_t at = (axis * heads + head) * pairs + pair;
                bool turns = dense || pair / 2 % spec->axes == axis;
                freqs[at] = turns ? counter_uniform(counter_word(SEED, stream, at)) : 0.0f;
            }
        }
    }
}

void job_make_spec(const test_job *job, job_spec *made) {
    static const struct {
        uint32_t head_dim, begin, dim;
        rope2d_pairing pairing;
        uint32_t freq_heads;
        bool two, dense;
    } shapes[JOB_SHAPE_COUNT] = {
        [JOB_INTERLEAVED] = {32, 0, 32, ROPE2D_PAIRING_INTERLEAVED, 1, false, false},
        [JOB_HALF] = {40, 0, 32, ROPE2D_PAIRING_HALF, 1, false, false},
        [JOB_FOURS] = {24, 0, 24, ROPE2D_PAIRING_HALF, 1, false, false},
        [JOB_ODD] = {19, 3, 10, ROPE2D_PAIRING_HALF, 1, false, false},
        [JOB_TWO_ANGLES] = {32, 0, 32, ROPE2D_PAIRING_HALF, 1, true, false},
        [JOB_PER_HEAD] = {32, 0, 32, ROPE2D_PAIRING_INTERLEAVED, JOB_MAX_HEADS, false, true},
    };
    rope2d_spec *spec = &made->spec;
    memset(made, 0, sizeof(*made));
    spec->struct_size = sizeof(*spec);
    spec->head_dim = shapes[job->shape].head_dim;
    spec->rotary_begin = shapes[job->shape].begin;
    spec->rotary_dim = shapes[job->shape].dim;
    spec->axes = 2;
    spec->pairing = shapes[job->shape].pairing;
    spec->freq_heads = shapes[job->shape].freq_heads;
    spec->freqs = made->freqs;
    spec->freqs_hi = shapes[job->shape].two ? made->freqs_hi : NULL;
    fill_freqs(made->freqs, spec, spec->rotary_dim / 2, shapes[job->shape].dense, 1);
    fill_freqs(made->freqs_hi, spec, spec->rotary_dim / 2, shapes[job->shape].dense, 2);
}

// A grid of rows of seven, shifted for each batch element; the first token does not rotate.
static rope2d_status make_some(const test_job *job, uint64_t tokens, rope2d_device *device,
                               const rope2d_spec *spec, const rope2d_positions *from,
                               rope2d_positions **positions) {
    uint32_t batch = job->own_positions ? job->batch : 1;
    float *coordinates = malloc(batch * (size_t)tokens * 2 * sizeof(float) + 1);
    if (!coordinates)
        return ROPE2D_ERROR_HOST_MEMORY;
    for (uint32_t b = 0; b < batch; b++) {
        for (uint64_t t = 0; t < tokens; t++) {
            coordinates[(b * tokens + t) * 2] = (float)(t / 7 + b);
            coordinates[(b * tokens + t) * 2 + 1] = (float)(t % 7) + 0.5f * (float)b;
        }
    }
    const rope2d_range unrotated = {0, 1};
    rope2d_positions_params params;
    memset(&params, 0, sizeof(params));
    params.struct_size = sizeof(params);
    params.spec = spec;
    params.table = job->table;
    params.tokens = tokens;
    params.grown_from = from;
    params.batch = batch;
    params.coordinates = coordinates;
    params.unrotated = &unrotated;
    params.unrotated_count = tokens > 0 ? 1 : 0;
    rope2d_status status = rope2d_positions_create(device, &params, positions);
    free(coordinates);
    return status;
}

static rope2d_status make_positions(const test_job *job, bool grown, rope2d_device *device,
                                    const rope2d_spec *spec, rope2d_positions **positions) {
    rope2d_positions *half = NULL;
    rope2d_status status = ROPE2D_OK;
    if (grown)
        status = make_some(job, job->tokens / 2, device, spec, NULL, &half);
    if (status == ROPE2D_OK)
        status = make_some(job, job->tokens, device, spec, half, positions);
    rope2d_positions_destroy(half);
    return status;
}

// ----------------------------------------------------------------------------------------------- tensors

static uint32_t job_heads(const test_job *job, uint32_t tensor) {
    return job->shape == JOB_PER_HEAD || tensor == 0 ? JOB_MAX_HEADS : 2;
}

// Sizes in elements. Odd strides and an odd beginning keep kernels from wide units and put halves of a word
// under two owners.
static rope2d_view make_view(const test_job *job, const rope2d_spec *spec, rope2d_element type,
                             uint32_t heads) {
    uint64_t gap = job->layout == JOB_GAPS ? 1 : 0, lead = job->layout == JOB_GAPS ? 3 : 0;
    if (job->layout == JOB_FUSED)
        heads = JOB_MAX_HEADS + (job->shape == JOB_PER_HEAD ? JOB_MAX_HEADS : 2);
    uint64_t head = spec->head_dim + gap, token = heads * head + gap, element = token * job->tokens + gap;
    rope2d_view view;
    memset(&view, 0, sizeof(view));
    view.head_stride = (int64_t)head;
    view.token_stride = (int64_t)token;
    view.batch_stride = (int64_t)element;
    view.offset = GUARD_BYTES + lead * rope2d_element_size(type);
    view.size = view.offset + element * job->batch * rope2d_element_size(type) + GUARD_BYTES;
    return view;
}

static bool allocate_view(rope2d_view *view, uint32_t stream, rope2d_element type, bool fill) {
    static const enum counter_type types[] = {COUNTER_F32, COUNTER_F16, COUNTER_BF16};
    view->base = malloc(view->size);
    if (!view->base)
        return false;
    memset(view->base, GUARD, view->size);
    if (fill) {
        size_t size = rope2d_element_size(type);
        size_t count = (view->size - view->offset) / size;
        counter_fill((unsigned char *)view->base + view->offset, types[type], COUNTER_SPECIAL, SEED, stream,
                     0, count);
        // Guards come last, so that the elements before them stay what the counter says.
        memset((unsigned char *)view->base + view->size - GUARD_BYTES, GUARD, GUARD_BYTES);
    }
    return true;
}

typedef struct job_memory {
    rope2d_tensor tensors[JOB_TENSORS];
    rope2d_view owned[2 * JOB_TENSORS];
    uint32_t owned_count;
    uint32_t first_output; // of owned
} job_memory;

static bool make_fused(const test_job *job, const rope2d_spec *spec, job_memory *memory) {
    memory->owned[0] = make_view(job, spec, job->in, 0);
    memory->owned_count = 1;
    if (!allocate_view(&memory->owned[0], 3, job->in, true))
        return false;
    for (uint32_t i = 0; i < JOB_TENSORS; i++) {
        memory->tensors[i].heads = job_heads(job, i);
        memory->tensors[i].in = memory->owned[0];
        memory->tensors[i].in.offset +=
            i * (uint64_t)job_heads(job, 0) * spec->head_dim * rope2d_element_size(job->in);
        memory->tensors[i].out = memory->tensors[i].in;
    }
    return true;
}

static bool make_memory(const test_job *job, const rope2d_spec *spec, job_memory *memory) {
    memset(memory, 0, sizeof(*memory));
    if (job->layout == JOB_FUSED)
        return make_fused(job, spec, memory);
    for (uint32_t i = 0; i < JOB_TENSORS; i++) {
        rope2d_tensor *tensor = &memory->tensors[i];
        tensor->heads = job_heads(job, i);
        tensor->in = make_view(job, spec, job->in, tensor->heads);
        if (!allocate_view(&tensor->in, 3 + i, job->in, true))
            return false;
        memory->owned[memory->owned_count++] = tensor->in;
        tensor->out = tensor->in;
    }
    if (job->layout == JOB_IN_PLACE)
        return true;
    memory->first_output = memory->owned_count;
    for (uint32_t i = 0; i < JOB_TENSORS; i++) {
        rope2d_tensor *tensor = &memory->tensors[i];
        tensor->out = make_view(job, spec, job->out, tensor->heads);
        if (!allocate_view(&tensor->out, 0, job->out, false))
            return false;
        memory->owned[memory->owned_count++] = tensor->out;
    }
    return true;
}

static void release_memory(job_memory *memory) {
    for (uint32_t i = 0; i < memory->owned_count; i++)
        free(memory->owned[i].base);
}

// -------------------------------------------------------------------------------------------------- runs

static rope2d_status keep_result(const job_memory *memory, job_result *result) {
    for (uint32_t i = memory->first_output; i < memory->owned_count; i++)
        result->size += (size_t)memory->owned[i].size;
    result->bytes = malloc(result->size);
    if (!result->bytes)
        return ROPE2D_ERROR_HOST_MEMORY;
    size_t at = 0;
    for (uint32_t i = memory->first_output; i < memory->owned_count; i++) {
        memcpy(result->bytes + at, memory->owned[i].base, memory->owned[i].size);
        at += (size_t)memory->owned[i].size;
    }
    return ROPE2D_OK;
}

// Whether all memory is as it was made.
static bool is_untouched(const test_job *job, const rope2d_spec *spec, const job_memory *memory) {
    job_memory fresh;
    bool is_equal = make_memory(job, spec, &fresh);
    for (uint32_t i = 0; i < memory->owned_count && is_equal; i++)
        is_equal = memcmp(memory->owned[i].base, fresh.owned[i].base, (size_t)fresh.owned[i].size) == 0;
    release_memory(&fresh);
    return is_equal;
}

static rope2d_status apply_job(const test_job *job, const rope2d_plan *plan,
                               const rope2d_positions *positions, const rope2d_spec *spec,
                               job_result *result) {
    rope2d_apply_params params;
    job_memory memory;
    rope2d_status status = ROPE2D_ERROR_HOST_MEMORY;
    if (make_memory(job, spec, &memory)) {
        memset(&params, 0, sizeof(params));
        params.struct_size = sizeof(params);
        params.batch = job->batch;
        params.tokens = job->tokens;
        params.tensor_count = JOB_TENSORS;
        params.tensors = memory.tensors;
        status = rope2d_plan_dispatches(plan, positions, &params, &result->dispatches);
        if (status == ROPE2D_OK)
            status = rope2d_apply(plan, positions, &params);
        if (status == ROPE2D_OK)
            status = keep_result(&memory, result);
        else
            result->is_torn = result->dispatches == 1 && !is_untouched(job, spec, &memory);
    }
    release_memory(&memory);
    return status;
}

rope2d_plan_params job_plan_params(const test_job *job, const job_spec *made, uint32_t plan_flags) {
    rope2d_plan_params params;
    memset(&params, 0, sizeof(params));
    params.struct_size = sizeof(params);
    params.spec = &made->spec;
    params.in = job->in;
    params.out = job->out;
    params.table = job->table;
    params.flags = plan_flags;
    return params;
}

static rope2d_status run(const test_job *job, bool grown, rope2d_device *device, uint32_t plan_flags,
                         job_result *result) {
    job_spec made;
    rope2d_plan_params params;
    rope2d_plan_info info;
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    memset(result, 0, sizeof(*result));
    job_make_spec(job, &made);
    params = job_plan_params(job, &made, plan_flags);
    rope2d_status status = rope2d_plan_create(device, &params, &plan);
    if (status == ROPE2D_OK) {
        memset(&info, 0, sizeof(info));
        info.struct_size = sizeof(info);
        status = rope2d_plan_get_info(plan, &info);
        result->exactness = info.exactness;
    }
    if (status == ROPE2D_OK)
        status = make_positions(job, grown, device, &made.spec, &positions);
    if (status == ROPE2D_OK)
        status = apply_job(job, plan, positions, &made.spec, result);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    return status;
}

rope2d_status job_run(const test_job *job, rope2d_device *device, uint32_t plan_flags, job_result *result) {
    return run(job, false, device, plan_flags, result);
}

rope2d_status job_run_grown(const test_job *job, rope2d_device *device, uint32_t plan_flags,
                            job_result *result) {
    return run(job, true, device, plan_flags, result);
}

void job_release(job_result *result) {
    free(result->bytes);
    memset(result, 0, sizeof(*result));
}

void job_name(const test_job *job, char *text, size_t size) {
    static const char *const shapes[] = {"interleaved", "half", "fours", "odd", "two_angles", "per_head"};
    _Static_assert(sizeof(shapes) / sizeof(*shapes) == JOB_SHAPE_COUNT, "a shape has no name");
    static const char *const layouts[] = {"tight", "gaps", "in_place", "fused"};
    static const char *const types[] = {"f32", "f16", "bf16"};
    static const char *const tables[] = {"auto", "buffer", "texture"};
    snprintf(text, size, "%s %s %s to %s %s%s", shapes[job->shape], layouts[job->layout], types[job->in],
             types[job->out], tables[job->table], job->own_positions ? " own positions" : "");
}

static bool is_nan(rope2d_element type, const unsigned char *at) {
    uint32_t word = 0;
    uint16_t half = 0;
    memcpy(&word, at, type == ROPE2D_F32 ? 4 : 0);
    memcpy(&half, at, 2);
    switch (type) {
    case ROPE2D_F32:
        return (word & 0x7fffffffu) > 0x7f800000u;
    case ROPE2D_F16:
        return (half & 0x7fffu) > 0x7c00u;
    default:
        return (half & 0x7fffu) > 0x7f80u;
    }
}

bool job_equal(const test_job *job, const job_result *a, const job_result *b, size_t *where) {
    size_t step = rope2d_element_size(job->out);
    *where = 0;
    if (a->size != b->size)
        return false;
    for (size_t at = 0; at + step <= a->size; at += step) {
        if (memcmp(a->bytes + at, b->bytes + at, step) == 0)
            continue;
        if (is_nan(job->out, a->bytes + at) && is_nan(job->out, b->bytes + at))
            continue;
        *where = at;
        return false;
    }
    return true;
}

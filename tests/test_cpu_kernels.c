// SPDX-License-Identifier: MIT
// Each vector kernel that this processor has against the portable path, bit by bit: random patterns, layouts,
// tables and inputs, in place and out of place, in ranges that begin and end inside a token, with every other
// byte of the memory watched.
#include "check.h"
#include "counter.h"
#include "cpu/apply.h"
#include "cpu/channels.h"
#include "cpu/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS      96 // for each kernel
#define MAX_DIM    288
#define MAX_PAIRS  (MAX_DIM / 2)
#define MAX_HEADS  5
#define MAX_TOKENS 12
#define MAX_BATCH  2
#define MAX_AXES   3
#define GAP        9
#define BYTES      ((MAX_DIM + ROPE2D_STREAM_ALIGNMENT * GAP) * MAX_HEADS * (MAX_TOKENS + 1) * MAX_BATCH * 4)

static uint64_t seed;
static uint64_t drawn;
static uint32_t direct; // applies whose kernel itself writes past the caches
static uint32_t below(uint32_t bound) {
    return counter_below(counter_word(seed, 1, drawn++), bound);
}

struct scene {
    rope2d_spec spec;
    uint32_t lo[MAX_PAIRS], hi[MAX_PAIRS]; // of explicit pairs
    float freqs[MAX_AXES * MAX_HEADS * MAX_PAIRS];
    float coordinates[MAX_BATCH * MAX_TOKENS * MAX_AXES];
    uint32_t batch, heads;
    uint64_t tokens, first_token;
    bool in_place, is_finite, is_large; // large: as past the caches
    bool is_split, is_swapped;          // its heads as two tensors
    bool is_direct;                     // as a kernel itself can write past the caches, mostly
    rope2d_ahead ahead;                 // of large ones
    rope2d_checked_tensor tensor;
};

static unsigned char input[BYTES + 64 * ROPE2D_STREAM_ALIGNMENT];
static _Alignas(64) unsigned char outputs[2][BYTES + 64 * ROPE2D_STREAM_ALIGNMENT]; // of the kernel and of
                                                                                    // the portable path

static const char *name_of(const rope2d_turn_kernel *kernel) {
    static char name[ROPE2D_KERNEL_NAME];
    rope2d_turn_kernel_name(kernel, name);
    return name;
}

static void draw_spec(struct scene *s, const rope2d_turn_kernel *kernel) {
    static const uint32_t dims[] = {16, 32, 64, 72, 80, 88, 128, 256};
    rope2d_spec *spec = &s->spec;
    *spec = (rope2d_spec){.struct_size = sizeof(*spec), .axes = 1 + below(MAX_AXES)};
    spec->head_dim = below(3) ? dims[below(8)] : 2 * kernel->pairs + below(MAX_DIM - 2 * kernel->pairs);
    spec->rotary_dim = below(2) ? spec->head_dim / 2 * 2 : 2 + 2 * below(spec->head_dim / 2);
    if (kernel->shares && below(2)) // two steps and a half
        spec->rotary_dim = spec->head_dim = 5 * kernel->pairs;
    if (kernel->is_few && below(4)) { // whole steps
        spec->rotary_dim = 2 * kernel->pairs * (1 + below(MAX_PAIRS / kernel->pairs));
        spec->head_dim = spec->rotary_dim + below(MAX_DIM - spec->rotary_dim + 1) % GAP;
    }
    if (kernel->streams && below(8)) {
        spec->rotary_dim = 2 * kernel->pairs * (1 + below(MAX_PAIRS / kernel->pairs));
        spec->head_dim = spec->rotary_dim + 8 * below((MAX_DIM - spec->rotary_dim) / 8 + 1) % (8 * GAP);
    }
    if (s->is_direct) {
        spec->rotary_dim = 2 * kernel->pairs * (1 + below(MAX_PAIRS / kernel->pairs));
        spec->head_dim = spec->rotary_dim + (below(4) ? 0 : 8 * below((MAX_DIM - spec->rotary_dim) / 8 + 1));
    }
    if (kernel->lengths != 0 && below(8)) { // the last step may overlap, but for wide ones
        uint32_t fewer = below(kernel->block_steps);
        while (!(kernel->lengths >> fewer & 1))
            fewer = below(kernel->block_steps);
        const uint32_t block = (kernel->block_steps - fewer) * kernel->pairs;
        spec->rotary_dim =
            2 * (block * (1 + below(MAX_PAIRS / block)) - (kernel->bytes == 64 ? 0 : below(kernel->pairs)));
        spec->head_dim = spec->rotary_dim + below(MAX_DIM - spec->rotary_dim + 1) % GAP;
    }
    spec->rotary_begin = below(spec->head_dim - spec->rotary_dim + 1);
    if (kernel->streams && below(8))
        spec->rotary_begin -= spec->rotary_begin % 8;
    spec->pairing = ROPE2D_PAIRING_INTERLEAVED;
    if (kernel->pairing == ROPE2D_KERNEL_HALF)
        spec->pairing = below(2) ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_SEGMENT_HALF;
    if (spec->pairing == ROPE2D_PAIRING_SEGMENT_HALF && spec->rotary_dim % (2 * spec->axes) != 0)
        spec->pairing = ROPE2D_PAIRING_HALF;
    spec->freq_heads = below(4) == 0 ? s->heads : 1;
    const uint32_t pairs = spec->rotary_dim / 2;
    if (spec->pairing == ROPE2D_PAIRING_HALF && below(3) == 0) { // hi before lo
        for (uint32_t p = 0; p < pairs; p++) {
            s->lo[p] = spec->rotary_begin + pairs + p;
            s->hi[p] = spec->rotary_begin + p;
        }
        spec->pairing = ROPE2D_PAIRING_EXPLICIT;
        spec->rotary_begin = spec->rotary_dim = 0;
        spec->pairs = pairs;
        spec->pair_lo = s->lo;
        spec->pair_hi = s->hi;
    }
    const bool axial = below(3) != 0;
    const uint32_t stretch = kernel->is_few ? kernel->pairs * (1 + below(2)) // of pairs that one axis turns
                             : below(2)     ? 1
                                            : pairs / spec->axes + 1;
    for (uint32_t a = 0; a < spec->axes; a++)
        for (uint32_t h = 0; h < spec->freq_heads; h++)
            for (uint32_t p = 0; p < pairs; p++)
                s->freqs[(a * spec->freq_heads + h) * pairs + p] =
                    axial && p / stretch % spec->axes != a ? 0
                                                           : counter_uniform(counter_word(seed, 2, drawn++));
    spec->freqs = s->freqs;
    spec->factored = spec->axes > 1 && below(3) == 0;
    if (spec->factored) // their products may be infinite
        s->is_finite = false;
}

static void draw_tensor(struct scene *s, const rope2d_turn_kernel *kernel) {
    const uint32_t element = rope2d_element_size(kernel->element);
    const uint32_t unit = kernel->streams ? ROPE2D_STREAM_ALIGNMENT / element
                          : s->is_direct  ? ROPE2D_STREAM_LINE / element
                                          : 1;
    const int64_t dim = (s->spec.head_dim + unit - 1) / unit * unit + below(2) * unit * below(GAP);
    const bool tokens_apart = below(2) != 0;
    rope2d_span span = {.first = input + (size_t)element * unit * below(8)};
    span.head_stride = tokens_apart ? dim : dim * (int64_t)s->tokens;
    span.token_stride = tokens_apart ? dim * s->heads + below(2) * unit * below(GAP) : dim;
    span.batch_stride =
        tokens_apart ? span.token_stride * (int64_t)s->tokens : dim * (int64_t)s->tokens * s->heads;
    s->tensor = (rope2d_checked_tensor){.heads = s->heads, .in_place = s->in_place, .in = span, .out = span};
}

// Numbers of every kind; with is_finite no two of a pair are infinite or NaN, so that no bit is left open.
static void draw_inputs(struct scene *s, rope2d_element type, const rope2d_pattern *pattern) {
    static const enum counter_mode modes[] = {COUNTER_SPECIAL, COUNTER_FINITE, COUNTER_BELL};
    const enum counter_mode mode = modes[s->is_finite ? 1 + below(2) : 0];
    const uint32_t element = rope2d_element_size(type);
    counter_fill(input, (enum counter_type)type, mode, seed, 3, 0, sizeof(input) / element);
    const uint32_t infinity = type == ROPE2D_F32 ? 0x7f800000u : type == ROPE2D_F16 ? 0x7c00u : 0x7f80u;
    for (uint64_t at = 0; s->is_finite && at < (uint64_t)s->tokens * s->heads; at++) {
        unsigned char *head =
            s->tensor.in.first + element * ((int64_t)(at % s->heads) * s->tensor.in.head_stride +
                                            (int64_t)(at / s->heads) * s->tensor.in.token_stride);
        const uint32_t pair = below(pattern->pairs);
        const uint32_t special = infinity | below(3) * below(infinity & -infinity);
        memcpy(head + element * (below(2) ? pattern->lo[pair] : pattern->hi[pair]), &special, element);
    }
}

// Any finite numbers, not only cosines: their products reach every rounding, overflow and underflow.
static void draw_table(rope2d_positions *positions) {
    const uint32_t kind = below(3);
    const size_t floats = 2 * (size_t)positions->table_entries;
    if (kind > 0)
        counter_fill(positions->table, COUNTER_F32, kind == 1 ? COUNTER_FINITE : COUNTER_BELL, seed, 4, 0,
                     floats);
    for (size_t i = 0; kind > 0 && i < floats; i++)
        if (below(8) == 0)
            positions->table[i] = below(2) ? 1.0f : 0.0f;
    for (uint64_t i = 0; i < positions->row_count; i++)
        if (below(24) == 0) // one stays, or is past the table's end
            positions->rows[i] = below(4) ? -1 : INT32_MAX - (int32_t)below(2);
}

static bool is_nan(rope2d_element type, const unsigned char *at) {
    uint32_t bits = 0;
    memcpy(&bits, at, rope2d_element_size(type));
    if (type == ROPE2D_F32)
        return (bits & 0x7fffffffu) > 0x7f800000u;
    return (bits & 0x7fffu) > (type == ROPE2D_F16 ? 0x7c00u : 0x7f80u);
}

// The first byte that differs, of whatever it is; -1: none.
static ptrdiff_t compare(const struct scene *s, rope2d_element type) {
    const size_t element = rope2d_element_size(type);
    for (size_t at = 0; at + element <= sizeof(outputs[0]); at += element) {
        if (memcmp(outputs[0] + at, outputs[1] + at, element) == 0)
            continue;
        if (s->is_finite || !is_nan(type, outputs[0] + at) || !is_nan(type, outputs[1] + at))
            return (ptrdiff_t)at;
    }
    return -1;
}

// The tensor alone, in memory that ends where it ends: a sanitizer sees who reads past it.
static unsigned char *exact_input(const struct scene *s, rope2d_element type) {
    const rope2d_span *in = &s->tensor.in;
    const int64_t elements = (int64_t)(s->batch - 1) * in->batch_stride +
                             (int64_t)(s->tokens - 1) * in->token_stride +
                             (int64_t)(s->heads - 1) * in->head_stride + s->spec.head_dim;
    const size_t size = (size_t)elements * rope2d_element_size(type);
    unsigned char *bytes = malloc(size);
    if (bytes)
        memcpy(bytes, in->first, size);
    return bytes;
}

// The heads of one tensor as two tensors: of two heads one each, else two and the rest.
static void split(const struct scene *s, const rope2d_checked_tensor *tensor, uint32_t element,
                  rope2d_checked_tensor parts[2]) {
    rope2d_checked_tensor *first = &parts[s->is_swapped];
    rope2d_checked_tensor *rest = &parts[!s->is_swapped];
    *first = *rest = *tensor;
    first->heads = tensor->heads == 2 ? 1 : 2;
    rest->heads = tensor->heads - first->heads;
    rest->in.first += (int64_t)element * first->heads * tensor->in.head_stride;
    rest->out.first += (int64_t)element * first->heads * tensor->out.head_stride;
}

static void run(const struct scene *s, rope2d_plan *plan, const rope2d_positions *positions,
                const rope2d_vector *vector, unsigned char *output) {
    rope2d_checked_tensor tensor = s->tensor;
    const ptrdiff_t first = tensor.in.first - input;
    unsigned char *exact = s->in_place ? NULL : exact_input(s, plan->in);
    if (exact)
        tensor.in.first = exact;
    memset(output, 0x5a, sizeof(outputs[0]));
    if (s->in_place) {
        memcpy(output, input, sizeof(input));
        tensor.in.first = output + first;
    }
    tensor.out.first = output + first;
    rope2d_checked_tensor parts[2] = {tensor};
    if (s->is_split)
        split(s, &tensor, rope2d_element_size(plan->in), parts);
    const rope2d_work work = {.batch = s->batch,
                              .first_token = s->first_token,
                              .tokens = s->tokens,
                              .tensor_count = s->is_split ? 2 : 1,
                              .tensors = parts};
    rope2d_cpu_job job = {.plan = plan,
                          .positions = positions,
                          .work = &work,
                          .vector = vector,
                          .kernel =
                              vector ? rope2d_channels_kernel((rope2d_isa)vector->kernel->isa, &plan->pattern)
                                     : rope2d_portable_rotate};
    rope2d_cpu_job_fill(&job);
    job.streams = vector && s->is_large;
    job.is_small = !s->is_large;
    job.ahead = s->ahead;
    if (s->ahead.heads > 0 && tensor.in.head_stride <= tensor.in.token_stride)
        job.in_turns = true;
    const uint64_t cut = below((uint32_t)job.heads);
    const rope2d_control control = rope2d_control_enter();
    job.by_tokens = s->is_split;
    if (vector)
        rope2d_vector_arrange(&job);
    direct += job.direct;
    if (vector && s->is_split) {
        rope2d_vector_tokens(&job, 0, cut / s->heads);
        rope2d_vector_tokens(&job, cut / s->heads, job.heads / s->heads);
    } else {
        (vector ? rope2d_vector_heads : rope2d_cpu_heads)(&job, &tensor, 0, cut);
        (vector ? rope2d_vector_heads : rope2d_cpu_heads)(&job, &tensor, cut, job.heads);
    }
    rope2d_control_leave(control);
    free(exact);
}

static bool run_both(struct scene *s, const rope2d_turn_kernel *kernel, rope2d_plan *plan,
                     rope2d_positions *positions) {
    rope2d_vector *vector = NULL;
    draw_tensor(s, kernel);
    draw_inputs(s, kernel->element, &plan->pattern);
    draw_table(positions);
    bool good = rope2d_vector_create(&vector, kernel, &plan->pattern, &plan->device->host) == ROPE2D_OK;
    if (good) {
        run(s, plan, positions, vector, outputs[0]);
        run(s, plan, positions, NULL, outputs[1]);
    }
    rope2d_vector_destroy(vector, &plan->device->host);
    const ptrdiff_t at = good ? compare(s, (rope2d_element)kernel->element) : 0;
    return CHECK(at < 0,
                 "kernel %s, seed %" PRIu64 ": head_dim %u, rotary %u from %u, pairing %u, %u heads, "
                 "in place %d, large %d, split %d: byte %ld",
                 name_of(kernel), seed, s->spec.head_dim, s->spec.rotary_dim, s->spec.rotary_begin,
                 (unsigned)s->spec.pairing, s->heads, s->in_place, s->is_large, s->is_split, (long)at);
}

// False where the pattern that the seed draws is none for this kernel.
static bool try_seed(rope2d_device *device, const rope2d_turn_kernel *kernel) {
    static struct scene s;
    drawn = 0;
    s.is_direct = kernel->may_stream && below(2);
    s.heads = kernel->is_few && (s.is_direct || below(2)) ? 2 : 1 + below(MAX_HEADS);
    s.batch = 1 + below(MAX_BATCH);
    s.in_place = below(2) != 0 && !kernel->streams && !s.is_direct;
    s.is_finite = below(3) != 0;
    s.is_large = s.is_direct || below(2) != 0;
    static const rope2d_ahead ways[] = {{.heads = 0},
                                        {.heads = 320, .apart = 320, .few_16 = 320, .few_32 = 320},
                                        {.apart = 320, .few_16 = 320, .few_32 = 320, .follows = true}};
    s.ahead = ways[s.is_large ? below(3) : 0];
    draw_spec(&s, kernel);
    s.is_split = s.heads >= 2 && s.spec.freq_heads == 1 && below(2) != 0;
    s.is_swapped = below(2) != 0;
    const uint32_t tokens = 1 + below(MAX_TOKENS);
    s.first_token = below(tokens);
    s.tokens = 1 + below(tokens - (uint32_t)s.first_token);
    for (size_t i = 0; i < sizeof(s.coordinates) / sizeof(s.coordinates[0]); i++)
        s.coordinates[i] = (float)below(5);
    const rope2d_positions_params where = {.struct_size = sizeof(where),
                                           .spec = &s.spec,
                                           .tokens = tokens,
                                           .batch = below(2) ? 1 : s.batch,
                                           .coordinates = s.coordinates};
    const rope2d_plan_params types = {.struct_size = sizeof(types),
                                      .spec = &s.spec,
                                      .in = (rope2d_element)kernel->element,
                                      .out = (rope2d_element)kernel->element,
                                      .flags = ROPE2D_PLAN_NO_SELF_TEST};
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    bool suits = false;
    if (CHECK(rope2d_positions_create(device, &where, &positions) == ROPE2D_OK &&
                  rope2d_plan_create(device, &types, &plan) == ROPE2D_OK,
              "kernel %s, seed %" PRIu64 ": no plan", name_of(kernel), seed)) {
        suits = rope2d_vector_suits(kernel, &plan->pattern);
        if (suits)
            (void)run_both(&s, kernel, plan, positions);
    }
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    return suits;
}

static void test_kernel(rope2d_device *device, const rope2d_turn_kernel *kernel) {
    uint32_t tried = 0;
    direct = 0;
    if (kernel->isa > rope2d_isa_supported()) {
        check_skip("kernel %s: this processor has none of %s", name_of(kernel), rope2d_isa_name(kernel->isa));
        return;
    }
    for (seed = 1; seed <= SEEDS; seed++)
        tried += try_seed(device, kernel);
    CHECK(tried > SEEDS / 4, "kernel %s: only %u seeds suit it", name_of(kernel), tried);
    CHECK((direct > 0) == kernel->may_stream, "kernel %s: writes past the caches by %u seeds",
          name_of(kernel), direct);
}

// Of binary16: 8 channels are aligned. A head of 36 that lies densely, as the self-test's do, is not, so that
// a plan must not have what nobody has tested.
static void test_streamed(rope2d_device *device) {
    rope2d_cpu *cpu = device->impl;
    const rope2d_isa isa = cpu->isa;
    static const float freqs[16] = {1};
    if (isa < ROPE2D_ISA_AVX2 || isa > ROPE2D_ISA_AVX512) {
        check_skip("kernels that stream: this processor has none");
        return;
    }
    cpu->isa = ROPE2D_ISA_AVX2;
    for (uint32_t dim = 32; dim <= 40; dim += 4) {
        const rope2d_spec spec = {.struct_size = sizeof(spec),
                                  .head_dim = dim,
                                  .rotary_dim = 32,
                                  .axes = 1,
                                  .pairing = ROPE2D_PAIRING_HALF,
                                  .freqs = freqs};
        const rope2d_plan_params types = {
            .struct_size = sizeof(types), .spec = &spec, .in = ROPE2D_F16, .out = ROPE2D_F16};
        rope2d_plan *plan = NULL;
        const bool is_made = rope2d_plan_create(device, &types, &plan) == ROPE2D_OK;
        const rope2d_vector *vector = is_made ? plan->impl : NULL;
        CHECK(vector && (vector->streamed != NULL) == (dim % 8 == 0), "%u channels: %s that streams", dim,
              dim % 8 == 0 ? "a kernel" : "no kernel");
        rope2d_plan_destroy(plan);
    }
    cpu->isa = isa;
}

int main(void) {
    const rope2d_device_params params = {.struct_size = sizeof(params)};
    rope2d_device *device = NULL;
    CHECK(rope2d_device_create(&params, &device) == ROPE2D_OK, "no CPU");
    const rope2d_turn_kernel *kernel;
    for (uint32_t i = 0; device && (kernel = rope2d_turn_kernel_at(i)) != NULL; i++)
        test_kernel(device, kernel);
    if (device)
        test_streamed(device);
    rope2d_device_destroy(device);
    return check_finish();
}

// SPDX-License-Identifier: MIT
#include "verdict.h"

#include "digest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEAD_DIM 512
#define SAMPLE_STEP  1009 // tokens, of huge works

// Below 2^-100 a flushed product or input may be seen in the result: |a cos| + |b sin| is there when its ulp
// is this.
#define SMALL_UNIT 0x1p-124
// What flushing can change: an input, each of two products and the result, times a magnitude up to 4.
#define FLUSHED 0x1p-122

static size_t elements_of(const struct harness_work *work, const struct harness_tensor *tensor) {
    return (size_t)(work->batch * tensor->tokens * tensor->heads) * work->spec.spec.head_dim;
}

static struct oracle *oracle_of(const struct harness_work *work, uint32_t group) {
    const struct harness_positions *positions = &work->positions[group];
    const rope2d_spec *spec = &work->spec.spec;
    struct oracle_range *ranges = calloc(positions->unrotated_count + 1, sizeof(*ranges));
    if (ranges == NULL)
        return NULL;
    for (uint32_t i = 0; i < positions->unrotated_count; i++)
        ranges[i] =
            (struct oracle_range){(size_t)positions->unrotated[i].begin, (size_t)positions->unrotated[i].end};
    const struct oracle_rotation rotation = {
        .tokens = (size_t)positions->tokens,
        .position_batches = positions->batch,
        .head_dim = spec->head_dim,
        .axes = spec->axes,
        .pairs = work->spec.pairs,
        .freq_heads = spec->freq_heads,
        .tables = spec->freqs_hi != NULL ? 2 : 1,
        .pair_lo = (const int32_t *)work->spec.lo,
        .pair_hi = (const int32_t *)work->spec.hi,
        .freqs = work->spec.freqs,
        .coordinates = positions->coordinates,
        .unrotated = ranges,
        .unrotated_count = positions->unrotated_count,
        .magnitude = spec->magnitude != 0 ? (double)spec->magnitude : 1,
        .magnitudes = positions->magnitudes,
        .direction = spec->direction == ROPE2D_INVERSE     ? ORACLE_INVERSE
                     : spec->direction == ROPE2D_TRANSPOSE ? ORACLE_TRANSPOSE
                                                           : ORACLE_FORWARD,
        .angle = spec->angles == ROPE2D_ANGLES_FP32 ? ORACLE_ANGLE_FP32 : ORACLE_ANGLE_DOUBLE,
        .factored = spec->factored != 0,
    };
    struct oracle *oracle = oracle_create(&rotation);
    free(ranges);
    return oracle;
}

static void ask_tensor(struct harness_truth *truth, const struct harness_work *work, uint32_t index,
                       const struct oracle *oracle) {
    const struct harness_tensor *tensor = &work->tensors[index];
    const unsigned char *in = work->blocks[tensor->in.block].memory;
    size_t dim = work->spec.spec.head_dim;
    struct oracle_value *at = truth->expectations + truth->first_of_tensor[index];
    double inputs[MAX_HEAD_DIM];
    struct oracle_value outputs[MAX_HEAD_DIM];
    for (uint32_t b = 0; b < work->batch; b++)
        for (uint64_t t = 0; t < tensor->tokens; t += truth->token_step)
            for (uint32_t h = 0; h < tensor->heads; h++) {
                size_t from = harness_side_at(work, &tensor->in, b, t, h);
                enum oracle_type type = (enum oracle_type)work->types.in;
                for (size_t d = 0; d < dim; d++)
                    inputs[d] = oracle_decode(type, oracle_load(type, in + from, d));
                oracle_rotate(oracle, b, (size_t)(work->what->first_token + t), h, inputs, outputs);
                for (size_t d = 0; d < dim; d++)
                    *at++ = outputs[d];
            }
}

bool harness_truth_ask(struct harness_truth *truth, const struct harness_work *work) {
    size_t count = 0;
    truth->token_step = (work->what->flags & HARNESS_HUGE) != 0 ? SAMPLE_STEP : 1;
    for (uint32_t i = 0; i < work->tensor_count; i++) {
        truth->first_of_tensor[i] = count;
        count += elements_of(work, &work->tensors[i]) / (truth->token_step > 1 ? SAMPLE_STEP / 2 : 1);
    }
    truth->expectations = calloc(count + 1, sizeof(*truth->expectations));
    bool good = truth->expectations != NULL && work->spec.spec.head_dim <= MAX_HEAD_DIM;
    for (uint32_t group = 0; good && group < work->group_count; group++) {
        struct oracle *oracle = oracle_of(work, group);
        good = oracle != NULL;
        for (uint32_t i = 0; good && i < work->tensor_count; i++)
            if (work->tensors[i].group == group)
                ask_tensor(truth, work, i, oracle);
        oracle_destroy(oracle);
    }
    return good;
}

void harness_truth_free(struct harness_truth *truth, const struct harness_work *work) {
    harness_blocks_free(work, truth->blocks);
    free(truth->expectations);
    memset(truth, 0, sizeof(*truth));
}

static void describe(const struct harness_work *work, const struct harness_element *element, const char *why,
                     char *text) {
    enum oracle_type out = (enum oracle_type)work->types.out;
    int used = snprintf(text, HARNESS_TEXT_SIZE,
                        "%s: tensor %u, b %u, t %llu, h %u, d %zu: %.9g (0x%x), portable path %.9g (0x%x)",
                        why, element->tensor, element->b, (unsigned long long)element->t, element->h,
                        element->d, oracle_decode(out, element->bits), element->bits,
                        oracle_decode(out, element->expected_bits), element->expected_bits);
    if (element->value != NULL && used > 0 && used < HARNESS_TEXT_SIZE)
        (void)snprintf(text + used, HARNESS_TEXT_SIZE - (size_t)used, ", oracle %.17g in units of %.3g",
                       element->value->value, element->value->unit);
}

static bool each_head(const struct harness_work *work, const struct harness_truth *truth,
                      unsigned char *const *blocks, struct harness_element *element, size_t *asked,
                      harness_judge_fn *judge, void *user) {
    const struct harness_side *side = &work->tensors[element->tensor].out;
    enum oracle_type type = (enum oracle_type)work->types.out;
    size_t at = harness_side_at(work, side, element->b, element->t, element->h);
    bool has_value = truth->expectations != NULL && element->t % truth->token_step == 0;
    for (element->d = 0; element->d < work->spec.spec.head_dim; element->d++) {
        element->bits = oracle_load(type, blocks[side->block] + at, element->d);
        element->expected_bits = oracle_load(type, truth->blocks[side->block] + at, element->d);
        element->value = has_value ? &truth->expectations[(*asked)++] : NULL;
        if (!judge(work, element, user))
            return false;
    }
    return true;
}

bool harness_each_element(const struct harness_work *work, const struct harness_truth *truth,
                          unsigned char *const *blocks, struct harness_element *element,
                          harness_judge_fn *judge, void *user) {
    *element = (struct harness_element){0};
    for (element->tensor = 0; element->tensor < work->tensor_count; element->tensor++) {
        const struct harness_tensor *tensor = &work->tensors[element->tensor];
        size_t asked = truth->first_of_tensor[element->tensor];
        for (element->b = 0; element->b < work->batch; element->b++)
            for (element->t = 0; element->t < tensor->tokens; element->t++)
                for (element->h = 0; element->h < tensor->heads; element->h++)
                    if (!each_head(work, truth, blocks, element, &asked, judge, user))
                        return false;
    }
    return true;
}

static bool may_be_flushed(const struct harness_element *element) {
    return element->value != NULL && !element->value->copied && element->value->unit <= SMALL_UNIT;
}

bool harness_same_bits(const struct harness_work *work, const struct harness_element *element,
                       bool normal_only) {
    enum oracle_type out = (enum oracle_type)work->types.out;
    if (element->bits == element->expected_bits)
        return true;
    double actual = oracle_decode(out, element->bits);
    double expected = oracle_decode(out, element->expected_bits);
    if (isnan(actual) && isnan(expected))
        return element->value == NULL || !element->value->copied || work->types.in != work->types.out;
    return normal_only && may_be_flushed(element) && fabs(actual - expected) <= FLUSHED;
}

static bool same_bits(const struct harness_work *work, const struct harness_element *element, void *user) {
    const bool *normal_only = user;
    return harness_same_bits(work, element, *normal_only);
}

bool harness_verdict_bits(const struct harness_work *work, const struct harness_truth *truth,
                          unsigned char *const *blocks, bool normal_only, char *text) {
    struct harness_element element = {0};
    if (harness_each_element(work, truth, blocks, &element, same_bits, &normal_only))
        return true;
    describe(work, &element, "other bits", text);
    return false;
}

struct bound {
    bool flushes;
    double worst;
};

static bool within_bound(const struct harness_work *work, const struct harness_element *element, void *user) {
    struct bound *bound = user;
    enum oracle_type out = (enum oracle_type)work->types.out;
    if (element->value == NULL)
        return true;
    double error = oracle_error(element->value, out, element->bits);
    if (bound->flushes && may_be_flushed(element) &&
        fabs(oracle_decode(out, element->bits) - element->value->value) <= FLUSHED)
        return true;
    bound->worst = fmax(bound->worst, error);
    return error <= ORACLE_LIMIT;
}

bool harness_verdict_oracle(const struct harness_work *work, const struct harness_truth *truth,
                            unsigned char *const *blocks, bool flushes, double *worst, char *text) {
    struct harness_element element = {0};
    struct bound bound = {.flushes = flushes};
    bool good = harness_each_element(work, truth, blocks, &element, within_bound, &bound);
    *worst = bound.worst;
    if (!good)
        describe(work, &element, "outside the oracle's bound", text);
    return good;
}

bool harness_verdict_guards(const struct harness_work *work, unsigned char *const *blocks, char *text) {
    for (uint32_t i = 0; i < work->block_count; i++) {
        const struct harness_block *block = &work->blocks[i];
        for (size_t at = 0; at < block->bytes; at++)
            if (!block->elements[at] && blocks[i][at] != block->memory[at]) {
                (void)snprintf(
                    text, HARNESS_TEXT_SIZE,
                    "touched what is no output: block %u of %u, byte %zu of %zu: 0x%02x, was 0x%02x", i,
                    work->block_count, at, block->bytes, blocks[i][at], block->memory[at]);
                return false;
            }
    }
    return true;
}

static bool add_to_hash(const struct harness_work *work, const struct harness_element *element, void *user) {
    static const uint32_t nans[ROPE2D_ELEMENT_COUNT] = {0x7fc00000u, 0x7e00u, 0x7fc0u};
    enum oracle_type out = (enum oracle_type)work->types.out;
    uint32_t bits = isnan(oracle_decode(out, element->bits)) ? nans[out] : element->bits;
    unsigned char bytes[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                              (unsigned char)(bits >> 24)};
    rope2d_sha256_add(user, bytes, oracle_type_size(out));
    return true;
}

void harness_hash(const struct harness_work *work, unsigned char *const *blocks, char hex[65]) {
    rope2d_sha256 sha;
    struct harness_element element = {0};
    const struct harness_truth truth = {.blocks = (unsigned char **)(uintptr_t)blocks, .token_step = 1};
    rope2d_sha256_begin(&sha);
    (void)harness_each_element(work, &truth, blocks, &element, add_to_hash, &sha);
    digest_end(&sha, hex);
}

// SPDX-License-Identifier: MIT
#include "work.h"

#include "../oracle_number.h"

#include <stdlib.h>
#include <string.h>

#define GUARD        128 // bytes before and behind what views may reach
#define STREAM_GUARD 2000
#define V_HEADS      1 // of what follows q and k in fused rows

// The strides of a layout, for one tensor or for all that share a block.
static void lay_out(const struct harness_work *work, struct harness_side *side,
                    const struct harness_layout *layout, uint32_t heads, uint64_t tokens) {
    int64_t dim = work->spec.spec.head_dim;
    int64_t gap[3] = {layout->head_gap, layout->token_gap, layout->batch_gap};
    switch (layout->order) {
    case HARNESS_BHND:
        side->token_stride = dim + gap[1];
        side->head_stride = (int64_t)tokens * side->token_stride + gap[0];
        side->batch_stride = heads * side->head_stride + gap[2];
        break;
    case HARNESS_NBHD:
        side->head_stride = dim + gap[0];
        side->batch_stride = heads * side->head_stride + gap[2];
        side->token_stride = work->batch * side->batch_stride + gap[1];
        break;
    default:
        side->head_stride = dim + gap[0];
        side->token_stride = heads * side->head_stride + gap[1];
        side->batch_stride = (int64_t)tokens * side->token_stride + gap[2];
        break;
    }
    side->offset = layout->offset;
    side->first = layout->skew + layout->offset;
}

// One past the last element that a side reaches.
static uint64_t reach(const struct harness_work *work, const struct harness_side *side, uint32_t heads,
                      uint64_t tokens) {
    if (work->batch == 0 || heads == 0 || tokens == 0)
        return side->first;
    return side->first + (work->batch - 1) * (uint64_t)side->batch_stride +
           (tokens - 1) * (uint64_t)side->token_stride + (heads - 1) * (uint64_t)side->head_stride +
           work->spec.spec.head_dim;
}

static bool make_block(struct harness_work *work, uint64_t elements, rope2d_element type, uint32_t *index) {
    struct harness_block *block = &work->blocks[work->block_count];
    *index = work->block_count++;
    block->element_size = oracle_type_size((enum oracle_type)type);
    block->bytes = (size_t)elements * block->element_size + 2 * GUARD;
    block->memory = malloc(block->bytes);
    block->elements = calloc(block->bytes, 1);
    if (block->memory == NULL || block->elements == NULL)
        return false;
    for (size_t i = 0; i < block->bytes; i += 8) {
        uint64_t word = counter_word(work->seed, STREAM_GUARD + *index, i);
        memcpy(block->memory + i, &word, block->bytes - i < 8 ? block->bytes - i : 8);
    }
    return true;
}

// Rows that hold all tensors' heads, in one block.
static bool make_fused(struct harness_work *work, const struct harness_layout *layout) {
    uint32_t all = V_HEADS;
    uint32_t before = 0;
    struct harness_side row = {0};
    for (uint32_t i = 0; i < work->tensor_count; i++)
        all += work->tensors[i].heads;
    bool by_head = layout->order == HARNESS_FUSED_HEADS;
    if (by_head)
        all = (work->tensor_count + 1) * work->tensors[0].heads;    // each head's q, k and v
    uint64_t tokens = work->tensors[work->tensor_count - 1].tokens; // keys have the most
    lay_out(work, &row, layout, all, tokens);
    if (!make_block(work, reach(work, &row, all, tokens), work->types.in, &row.block))
        return false;
    for (uint32_t i = 0; i < work->tensor_count; i++) {
        struct harness_tensor *tensor = &work->tensors[i];
        tensor->in = row;
        tensor->in.first += (uint64_t)before * (uint64_t)row.head_stride;
        tensor->in.offset += (uint64_t)before * (uint64_t)row.head_stride;
        if (by_head)
            tensor->in.head_stride = (work->tensor_count + 1) * row.head_stride;
        before += by_head ? 1 : tensor->heads;
    }
    return true;
}

static bool make_own(struct harness_work *work, struct harness_tensor *tensor, struct harness_side *side,
                     const struct harness_layout *layout, rope2d_element type, bool broadcast) {
    lay_out(work, side, layout, tensor->heads, tensor->tokens);
    if (broadcast)
        side->batch_stride = 0;
    return make_block(work, reach(work, side, tensor->heads, tensor->tokens), type, &side->block);
}

static bool make_tensors(struct harness_work *work) {
    const struct harness_case *what = work->what;
    bool fused = what->in.order == HARNESS_FUSED || what->in.order == HARNESS_FUSED_HEADS;
    bool broadcast = (what->flags & HARNESS_BROADCAST) != 0;
    while (work->tensor_count < HARNESS_MAX_TENSORS && what->heads[work->tensor_count] != 0) {
        struct harness_tensor *tensor = &work->tensors[work->tensor_count];
        uint32_t heads = what->heads[work->tensor_count];
        tensor->heads = heads == HARNESS_NO_HEADS ? 0 : heads;
        tensor->group = work->group_count > 1 && work->tensor_count == 1 ? 1 : 0;
        tensor->tokens = what->prefix + (uint64_t)what->height * what->width + 3 * tensor->group;
        work->tensor_count++;
    }
    if (fused && !make_fused(work, &what->in))
        return false;
    for (uint32_t i = 0; i < work->tensor_count; i++) {
        struct harness_tensor *tensor = &work->tensors[i];
        if (!fused && !make_own(work, tensor, &tensor->in, &what->in, work->types.in, broadcast))
            return false;
        if ((what->flags & HARNESS_IN_PLACE) != 0)
            tensor->out = tensor->in;
        else if (!make_own(work, tensor, &tensor->out, &what->out, work->types.out, false))
            return false;
    }
    return true;
}

size_t harness_side_at(const struct harness_work *work, const struct harness_side *side, uint32_t b,
                       uint64_t t, uint32_t h) {
    uint64_t element = side->first + b * (uint64_t)side->batch_stride + t * (uint64_t)side->token_stride +
                       h * (uint64_t)side->head_stride;
    return GUARD + (size_t)element * work->blocks[side->block].element_size;
}

// Draws a tensor's inputs by their indices, whatever the layout, and marks where its outputs will be.
static void fill_tensor(struct harness_work *work, uint32_t index) {
    const struct harness_tensor *tensor = &work->tensors[index];
    struct harness_block *in = &work->blocks[tensor->in.block];
    struct harness_block *out = &work->blocks[tensor->out.block];
    size_t dim = work->spec.spec.head_dim;
    uint64_t head = 0;
    for (uint32_t b = 0; b < work->batch; b++)
        for (uint64_t t = 0; t < tensor->tokens; t++)
            for (uint32_t h = 0; h < tensor->heads; h++, head++) {
                size_t from = harness_side_at(work, &tensor->in, b, t, h);
                size_t to = harness_side_at(work, &tensor->out, b, t, h);
                memset(out->elements + to, 1, dim * out->element_size);
                if (b == 0 || tensor->in.batch_stride != 0)
                    counter_fill(in->memory + from, (enum counter_type)work->types.in, work->what->inputs,
                                 work->seed, index, head * dim, dim);
            }
}

bool harness_work_make(struct harness_work *work, const struct harness_case *what, struct harness_types types,
                       uint64_t seed) {
    memset(work, 0, sizeof(*work));
    work->what = what;
    work->types = types;
    work->seed = seed;
    work->batch = what->batch > 0 ? what->batch : 1;
    bool made = harness_spec_make(&work->spec, harness_structure_of(what));
    if (harness_structure_of(what)->spec == NULL) {
        work->spec.spec.direction = what->direction;
        work->spec.spec.angles = what->angles;
        work->spec.spec.magnitude = what->magnitude;
    }
    uint32_t groups = (what->flags & HARNESS_SEPARATE_K) != 0 ? 2 : 1;
    for (; made && work->group_count < groups; work->group_count++)
        made = harness_positions_make(&work->positions[work->group_count], what, &work->spec, seed,
                                      work->group_count);
    work->group_count = groups;
    if (!made || !make_tensors(work)) {
        harness_work_free(work);
        return false;
    }
    for (uint32_t i = 0; i < work->tensor_count; i++)
        fill_tensor(work, i);
    return true;
}

void harness_work_cancel(struct harness_work *work, harness_cosine_fn *cosines, const void *user) {
    enum oracle_type type = (enum oracle_type)work->types.in;
    for (uint32_t i = 0; i < work->tensor_count; i++) {
        const struct harness_tensor *tensor = &work->tensors[i];
        uint64_t index = 0;
        for (uint32_t b = 0; b < work->batch; b++)
            for (uint64_t t = 0; t < tensor->tokens; t++)
                for (uint32_t h = 0; h < tensor->heads; h++)
                    for (uint32_t pair = 0; pair < work->spec.pairs; pair++, index++) {
                        float c, s, lo, hi;
                        unsigned char *at = work->blocks[tensor->in.block].memory +
                                            harness_side_at(work, &tensor->in, b, t, h);
                        cosines(user, work->what->first_token + t, pair, &c, &s);
                        counter_cancelling(counter_word(work->seed, i, index), c, s, &lo, &hi);
                        oracle_store(type, at, work->spec.lo[pair], oracle_encode(type, (double)lo));
                        oracle_store(type, at, work->spec.hi[pair], oracle_encode(type, (double)hi));
                    }
    }
}

void harness_work_free(struct harness_work *work) {
    for (uint32_t i = 0; i < HARNESS_MAX_BLOCKS; i++) {
        free(work->blocks[i].memory);
        free(work->blocks[i].elements);
    }
    for (uint32_t i = 0; i < HARNESS_MAX_GROUPS; i++)
        harness_positions_free(&work->positions[i]);
    harness_spec_free(&work->spec);
    memset(work, 0, sizeof(*work));
}

unsigned char **harness_blocks_copy(const struct harness_work *work) {
    unsigned char **blocks = calloc(HARNESS_MAX_BLOCKS, sizeof(*blocks));
    if (blocks == NULL)
        return NULL;
    for (uint32_t i = 0; i < work->block_count; i++) {
        blocks[i] = malloc(work->blocks[i].bytes);
        if (blocks[i] == NULL) {
            harness_blocks_free(work, blocks);
            return NULL;
        }
        memcpy(blocks[i], work->blocks[i].memory, work->blocks[i].bytes);
    }
    return blocks;
}

void harness_blocks_free(const struct harness_work *work, unsigned char **blocks) {
    for (uint32_t i = 0; blocks != NULL && i < work->block_count; i++)
        free(blocks[i]);
    free(blocks);
}

static rope2d_view view(const struct harness_work *work, const struct harness_side *side,
                        unsigned char *const *blocks) {
    const struct harness_block *block = &work->blocks[side->block];
    uint64_t skew = (side->first - side->offset) * block->element_size;
    return (rope2d_view){.base = blocks[side->block] + GUARD + skew,
                         .size = block->bytes - 2 * GUARD - skew,
                         .offset = side->offset * block->element_size,
                         .batch_stride = side->batch_stride,
                         .token_stride = side->token_stride,
                         .head_stride = side->head_stride};
}

rope2d_tensor harness_tensor_view(const struct harness_work *work, const struct harness_tensor *tensor,
                                  unsigned char *const *blocks) {
    return (rope2d_tensor){.heads = tensor->heads,
                           .in = view(work, &tensor->in, blocks),
                           .out = view(work, &tensor->out, blocks)};
}

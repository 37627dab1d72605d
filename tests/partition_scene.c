// SPDX-License-Identifier: MIT
#include "partition_scene.h"

#include "counter.h"

uint32_t partition_draw(const partition_scene *s, uint64_t stream, uint64_t index, uint64_t bound) {
    return counter_below(counter_word(s->seed, stream, index), (uint32_t)bound);
}

bool partition_make(partition_scene *s) {
    static float coordinates[PARTITION_BATCH * PARTITION_MAX_TOKENS * 2];
    float freqs[PARTITION_MAX_DIM];
    const uint32_t pairs = s->dim / 2;
    for (uint32_t i = 0; i < 2 * pairs; i++) {
        const bool is_turned = s->seed % 3 != 0 || (i < pairs) == (i % 2 == 0);
        freqs[i] = is_turned ? 1.0f / (float)(1 + i % pairs) : 0;
    }
    for (uint32_t i = 0; i < PARTITION_BATCH * s->tokens * 2; i++)
        coordinates[i] = (float)partition_draw(s, 1, i, 40) + (float)(i % 2) * 0.25f;
    const rope2d_range unrotated[2] = {{0, 1}, {100, 103}};
    const rope2d_spec spec = {.struct_size = sizeof(spec),
                              .head_dim = s->dim,
                              .axes = 2,
                              .pairing = s->pairing,
                              .freqs = freqs,
                              .factored = s->seed % 3 == 2};
    const rope2d_positions_params positions = {.struct_size = sizeof(positions),
                                               .spec = &spec,
                                               .tokens = s->tokens,
                                               .batch = s->seed % 2 ? PARTITION_BATCH : 1,
                                               .coordinates = coordinates,
                                               .unrotated = unrotated,
                                               .unrotated_count = 2};
    const rope2d_plan_params plan = {
        .struct_size = sizeof(plan), .spec = &spec, .in = s->element, .out = s->element};
    s->bytes = (size_t)PARTITION_BATCH * s->tokens * s->heads * s->dim * rope2d_element_size(s->element);
    return rope2d_positions_create(s->device, &positions, &s->positions) == ROPE2D_OK &&
           rope2d_plan_create(s->device, &plan, &s->plan) == ROPE2D_OK;
}

void partition_release(partition_scene *s) {
    rope2d_plan_destroy(s->plan);
    rope2d_positions_destroy(s->positions);
}

// The view of a part: by its offset, or by its base.
static rope2d_view part_view(const partition_scene *s, void *memory, partition_range tokens,
                             partition_range heads) {
    const rope2d_layout layout = s->seed % 2 ? ROPE2D_LAYOUT_BNHD : ROPE2D_LAYOUT_BHND;
    rope2d_view view =
        rope2d_view_contiguous(memory, s->element, layout, PARTITION_BATCH, s->tokens, s->heads, s->dim);
    const uint64_t elements =
        tokens.begin * (uint64_t)view.token_stride + heads.begin * (uint64_t)view.head_stride;
    const uint64_t shift = elements * rope2d_element_size(s->element);
    if ((tokens.begin + heads.begin) % 2 == 0) {
        view.offset = shift;
    } else {
        view.base = (unsigned char *)memory + shift;
        view.size -= shift;
    }
    return view;
}

bool partition_apply(const partition_scene *s, void *in, void *out, partition_range tokens,
                     partition_range heads) {
    rope2d_tensor tensor = {.heads = (uint32_t)(heads.end - heads.begin),
                            .in = part_view(s, in, tokens, heads)};
    if (!s->in_place)
        tensor.out = part_view(s, out, tokens, heads);
    const rope2d_apply_params params = {.struct_size = sizeof(params),
                                        .batch = PARTITION_BATCH,
                                        .first_token = tokens.begin,
                                        .tokens = tokens.end - tokens.begin,
                                        .tensor_count = 1,
                                        .tensors = &tensor};
    return rope2d_apply(s->plan, s->positions, &params) == ROPE2D_OK;
}

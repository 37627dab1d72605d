// SPDX-License-Identifier: MIT
//
// What a rotation could be at best in Vulkan: turns of a tower's own shape, in every shape of lanes that a
// search may choose from.
#include <stdio.h>

#include "bench_cases.h"
#include "bench_vulkan.h"
#include "embedded.h"
#include "message.h"

extern const struct rope2d_unpacked bench_turn_spirv[]; // [type, f16 by the converter last][half][form]

enum { CONSTANTS = 7, F16_CONVERTER = ROPE2D_ELEMENT_COUNT, LOOP_TOKENS = 8 };

// What a lane turns, as bench_turn.comp has it.
enum mode { UNIT, UNIT_OF_BOTH, ALL_HEADS, SOME_TOKENS };

// The order in which meson.build lists the modules.
static const struct form {
    uint32_t width; // words of half a unit
    bool is_split;
    enum mode mode;
} forms[VULKAN_TURN_FORMS] = {
    {4, false, UNIT},      {4, false, UNIT_OF_BOTH}, {4, false, ALL_HEADS},   {4, false, SOME_TOKENS},
    {4, true, UNIT},       {4, true, UNIT_OF_BOTH},  {4, true, ALL_HEADS},    {2, false, UNIT_OF_BOTH},
    {2, false, ALL_HEADS}, {2, false, SOME_TOKENS},  {2, true, UNIT_OF_BOTH}, {2, true, ALL_HEADS},
};
static const uint32_t group_sizes[VULKAN_GROUPS] = {256, 64};

struct shape {
    const struct form *form;
    uint32_t group; // index
    bool is_converter;
};

static uint32_t words_of(const struct bench_case *what) {
    return what->tower->head_dim * rope2d_element_size(what->element) / (uint32_t)sizeof(uint32_t);
}

static uint32_t pairs_of(const struct bench_case *what, const struct form *form) {
    return what->element == ROPE2D_F32 ? form->width : 2 * form->width;
}

static bool fits(const struct bench_case *what, const struct form *form) {
    const struct bench_tower *tower = what->tower;
    const uint32_t pairs = pairs_of(what, form);
    bool is_split = false;
    for (uint32_t axis = 0, pair = 0; axis < tower->axes; ++axis) {
        is_split = is_split || pair % pairs != 0;
        pair += tower->axis_pairs[axis];
    }
    if (is_split != form->is_split || words_of(what) % (2 * form->width) != 0)
        return false;
    if (form->mode == SOME_TOKENS)
        return tower->heads == 1;
    return form->mode != ALL_HEADS || tower->heads > 1;
}

// Those of the first size of groups come first: a quick search stops after them.
static struct shape shape_at(uint32_t index) {
    return (struct shape){
        .form = &forms[index % VULKAN_TURN_FORMS],
        .is_converter = index / VULKAN_TURN_FORMS % 2 == 1,
        .group = index / VULKAN_TURN_FORMS / 2,
    };
}

// How many shapes the case has; *found: the index of one of them.
static uint32_t count_shapes(const struct bench_engine *engine, uint32_t variant, uint32_t *found) {
    const struct vulkan *vulkan = engine->impl;
    const struct bench_case *what = engine->what;
    const uint32_t all = VULKAN_TURN_FORMS * 2 * (engine->is_quick ? 1 : VULKAN_GROUPS);
    uint32_t count = 0;
    for (uint32_t i = 0; i < all && vulkan->has_turns; ++i) {
        const struct shape shape = shape_at(i);
        if (!fits(what, shape.form) || (shape.is_converter && what->element != ROPE2D_F16))
            continue;
        if (count++ == variant)
            *found = i;
    }
    return count;
}

static uint32_t index_of(const struct bench_engine *engine, uint32_t variant) {
    uint32_t index = 0;
    count_shapes(engine, variant, &index);
    return index;
}

uint32_t bench_vulkan_turn_variants(const struct bench_engine *engine) {
    uint32_t index;
    return count_shapes(engine, UINT32_MAX, &index);
}

static uint32_t group_of(const struct vulkan *vulkan, struct shape shape) {
    const uint32_t most = vulkan->limits.maxComputeWorkGroupInvocations;
    return group_sizes[shape.group] < most ? group_sizes[shape.group] : most;
}

void bench_vulkan_turn_name(const struct bench_engine *engine, uint32_t variant, char *name, size_t size) {
    static const char *const modes[] = {"", " of q and k", " of all heads", " of eight tokens"};
    const struct shape shape = shape_at(index_of(engine, variant));
    snprintf(name, size, "2 x %u bytes%s a lane, %u lanes a group%s", 4 * shape.form->width,
             modes[shape.form->mode], group_of(engine->impl, shape), shape.is_converter ? ", converter" : "");
}

int bench_vulkan_turn_pipeline(struct bench_engine *engine, enum bench_move move, uint32_t variant,
                               VkPipeline *found) {
    struct vulkan *vulkan = engine->impl;
    const struct bench_case *what = engine->what;
    const struct bench_tower *tower = what->tower;
    const uint32_t index = index_of(engine, variant);
    const struct shape shape = shape_at(index);
    const uint32_t is_half = bench_turn_pairing(move) == ROPE2D_PAIRING_HALF;
    const uint32_t type = shape.is_converter ? (uint32_t)F16_CONVERTER : (uint32_t)what->element;
    const uint32_t module = (2 * type + is_half) * VULKAN_TURN_FORMS + (uint32_t)(shape.form - forms);
    const uint32_t second = tower->axis_pairs[0], third = second + tower->axis_pairs[1];
    const uint32_t constants[CONSTANTS] = {
        group_of(vulkan, shape), LOOP_TOKENS, tower->heads, tower->head_dim, tower->axes, second, third};
    VkPipeline *pipeline = &vulkan->turns[tower - bench_towers][what->element][is_half][index];
    int result = STATUS_OK;
    if (!*pipeline)
        result =
            bench_vulkan_make_pipeline(engine, &bench_turn_spirv[module], constants, CONSTANTS, pipeline);
    *found = *pipeline;
    return result;
}

static uint32_t lanes_of(const struct bench_case *what, const struct form *form) {
    const uint32_t units = words_of(what) / (2 * form->width), tokens = (uint32_t)what->tokens;
    const uint32_t heads = tokens * what->tower->heads;
    const uint32_t places[] = {BENCH_TENSORS * heads, heads, tokens,
                               (tokens + LOOP_TOKENS - 1) / LOOP_TOKENS};
    return places[form->mode] * units;
}

struct sizes {
    uint32_t count, groups_x, heads, table_at, rows_at, last;
};

void bench_vulkan_turn(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set) {
    struct vulkan *vulkan = engine->impl;
    const struct bench_case *what = engine->what;
    const struct shape shape = shape_at(index_of(engine, variant));
    const uint32_t offsets[] = {0, 0}, each = group_of(vulkan, shape), lanes = lanes_of(what, shape.form);
    const uint32_t groups = lanes / each + (lanes % each != 0);
    const uint32_t most = vulkan->limits.maxComputeWorkGroupCount[0];
    const uint64_t of_table = bench_columns_of(what->tokens) * what->tower->head_dim;
    const struct sizes sizes = {
        .count = lanes,
        .groups_x = groups < most ? groups : most,
        .heads = (uint32_t)what->tokens * what->tower->heads,
        .table_at = (uint32_t)(vulkan->turn_floats / 2),
        .rows_at = (uint32_t)(vulkan->turn_floats + of_table),
        .last = (uint32_t)bench_columns_of(what->tokens) - 1,
    };
    vkCmdBindDescriptorSets(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE, vulkan->layout, 0, 1,
                            &vulkan->descriptors[2 * set + bench_is_in_place(move)], 2, offsets);
    vkCmdPushConstants(vulkan->commands, vulkan->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof sizes,
                       &sizes);
    vkCmdDispatch(vulkan->commands, sizes.groups_x, groups / most + (groups % most != 0), 1);
}

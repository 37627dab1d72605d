// SPDX-License-Identifier: MIT
//
// Recording, of all tokens or a range of them: what changes with a range goes into push constants, so that no
// memory is written that a device may be reading.
#include "binding.h"

#include <inttypes.h>
#include <string.h>

// What one dispatch of a range is told.
struct part {
    uint32_t words[R_RANGE_WORDS];
    uint32_t groups[2]; // 0: none of the range is this dispatch's
};

static rope2d_status check_tokens(const rope2d_vulkan_binding *binding, const rope2d_vulkan_range *range) {
    const rope2d_host *host = &binding->plan->device->host;
    const uint64_t tensor_tokens = binding->work.tokens;
    const uint64_t tokens = binding->seen.tokens;
    if (range->tensor_token > tensor_tokens || range->tokens > tensor_tokens - range->tensor_token)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS,
                           "range.tensor_token %" PRIu64 " and tokens %" PRIu64 " reach past the %" PRIu64
                           " tokens of the binding",
                           range->tensor_token, range->tokens, tensor_tokens);
    if (range->first_token > tokens || range->tokens > tokens - range->first_token)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS,
                           "range.first_token %" PRIu64 " and tokens %" PRIu64 " reach past the %" PRIu64
                           " tokens of the positions",
                           range->first_token, range->tokens, tokens);
    return ROPE2D_OK;
}

// Leaves the range's part of a dispatch's piece; false when there is none.
static bool narrow(const rope2d_vulkan_binding *binding, const struct vulkan_dispatch *dispatch,
                   const rope2d_vulkan_range *range, rope2d_piece *piece) {
    const rope2d_stage_limits limits = {
        .group_size = binding->device->group_size,
        .vector_group = rope2d_vulkan_vector_group(binding->plan),
        .max_groups = binding->plan->device->info.max_groups,
    };
    const uint64_t piece_end = dispatch->piece.token_first + dispatch->piece.tokens;
    const uint64_t range_end = range->tensor_token + range->tokens;
    const uint64_t begin =
        range->tensor_token > dispatch->piece.token_first ? range->tensor_token : dispatch->piece.token_first;
    const uint64_t end = range_end < piece_end ? range_end : piece_end;
    if (begin >= end)
        return false;
    *piece = dispatch->piece;
    rope2d_piece_narrow(piece, binding->plan, &limits, (uint32_t)(begin - piece->token_first),
                        (uint32_t)(end - begin));
    return true;
}

// Whether the row numbers of a narrowed piece are in the dispatch's window.
static bool sees_rows(const struct vulkan_dispatch *dispatch, const rope2d_vulkan_binding *binding,
                      const rope2d_work *work, const rope2d_piece *piece) {
    const struct vulkan_window needed = rope2d_vulkan_row_window(&binding->seen, work, piece);
    const struct vulkan_window *window = &dispatch->window;
    return needed.first >= window->first && needed.first + needed.count <= window->first + window->count;
}

// NULL: all of the binding.
static rope2d_status make_part(const rope2d_vulkan_binding *binding, const rope2d_vulkan_range *range,
                               const struct vulkan_dispatch *dispatch, struct part *part) {
    memset(part, 0, sizeof(*part));
    if (range == NULL) {
        memcpy(part->words, dispatch->words, sizeof(part->words));
        memcpy(part->groups, dispatch->piece.groups, sizeof(part->groups));
        return ROPE2D_OK;
    }
    rope2d_piece piece;
    if (!narrow(binding, dispatch, range, &piece))
        return ROPE2D_OK;
    rope2d_work work = binding->work;
    work.first_token =
        range->first_token - range->tensor_token; // may wrap, and the piece's tokens wrap it back
    if (!sees_rows(dispatch, binding, &work, &piece))
        return rope2d_fail(&binding->plan->device->host, ROPE2D_ERROR_LIMIT,
                           "range.first_token is %" PRIu64 ": the row numbers are larger than a buffer of %s "
                           "can be, and those are not among what this binding sees",
                           range->first_token, binding->plan->device->info.name);
    uint32_t words[R_SHAPE_WORDS];
    rope2d_shape_write(words, binding->plan, &binding->seen, &work, &piece, dispatch->window.first,
                       binding->fold);
    memcpy(part->words, words, sizeof(part->words));
    memcpy(part->groups, piece.groups, sizeof(part->groups));
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_record_range(const rope2d_vulkan_binding *binding, VkCommandBuffer commands,
                                         const rope2d_vulkan_range *range) {
    struct part part;
    if (binding == NULL)
        return ROPE2D_ERROR_NULL;
    if (commands == NULL)
        return rope2d_fail(&binding->plan->device->host, ROPE2D_ERROR_NULL, "commands is NULL");
    if (range != NULL) { // a refusal records nothing
        ROPE2D_TRY(check_tokens(binding, range));
        for (uint32_t i = 0; i < binding->count; i++)
            ROPE2D_TRY(make_part(binding, range, &binding->sets.dispatches[i], &part));
    }
    const struct VolkDeviceTable *vk = &binding->device->vk;
    VkPipeline bound = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < binding->count; i++) {
        const struct vulkan_dispatch *dispatch = &binding->sets.dispatches[i];
        const uint32_t *words = dispatch->words;
        const uint32_t *groups = dispatch->piece.groups;
        if (range != NULL) {
            ROPE2D_TRY(make_part(binding, range, dispatch, &part));
            words = part.words;
            groups = part.groups;
        }
        if (groups[0] == 0)
            continue;
        if (dispatch->pipeline != bound)
            vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch->pipeline);
        bound = dispatch->pipeline;
        rope2d_vulkan_descriptors_bind(binding->device, commands, binding->layout, dispatch->set,
                                       binding->sets.pushed != NULL ? &binding->sets.pushed[i] : NULL);
        vk->vkCmdPushConstants(commands, binding->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(part.words),
                               words);
        vk->vkCmdDispatch(commands, groups[0], groups[1], 1);
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_record(const rope2d_vulkan_binding *binding, VkCommandBuffer commands) {
    return rope2d_vulkan_record_range(binding, commands, NULL);
}

rope2d_status rope2d_vulkan_binding_dispatch(const rope2d_vulkan_binding *binding,
                                             const rope2d_vulkan_range *range, uint32_t index,
                                             rope2d_vulkan_dispatch *dispatch) {
    struct part part;
    if (binding == NULL)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &binding->plan->device->host;
    if (dispatch == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "dispatch is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(host, "dispatch", dispatch->struct_size, sizeof(*dispatch)));
    if (index >= binding->count)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT, "index is %u, the binding has %u dispatches", index,
                           binding->count);
    if (range != NULL)
        ROPE2D_TRY(check_tokens(binding, range));
    const struct vulkan_dispatch *made = &binding->sets.dispatches[index];
    ROPE2D_TRY(make_part(binding, range, made, &part));
    _Static_assert(sizeof(part.words) <= sizeof(dispatch->push_words), "what every device can push");
    memset(dispatch, 0, sizeof(*dispatch));
    dispatch->struct_size = sizeof(*dispatch);
    dispatch->pipeline = made->pipeline;
    dispatch->layout = binding->layout;
    dispatch->set_number = 0;
    dispatch->set = made->set;
    if (binding->sets.pushed != NULL) {
        dispatch->write_count = binding->sets.pushed[index].count;
        dispatch->writes = binding->sets.pushed[index].writes;
    }
    dispatch->push_stages = VK_SHADER_STAGE_COMPUTE_BIT;
    dispatch->push_bytes = sizeof(part.words);
    memcpy(dispatch->push_words, part.words, sizeof(part.words));
    dispatch->groups[0] = part.groups[0];
    dispatch->groups[1] = part.groups[1];
    dispatch->groups[2] = part.groups[0] > 0 ? 1 : 0;
    return ROPE2D_OK;
}

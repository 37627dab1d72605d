// SPDX-License-Identifier: MIT
//
// Checks an apply and hands it to the backend. Allocates nothing.
#include "backend.h"

#include <inttypes.h>

uint32_t rope2d_element_size(rope2d_element element) {
    static const uint32_t sizes[ROPE2D_ELEMENT_COUNT] = {
        [ROPE2D_F32] = 4,
        [ROPE2D_F16] = 2,
        [ROPE2D_BF16] = 2,
    };
    return (unsigned)element < ROPE2D_ELEMENT_COUNT ? sizes[element] : 0;
}

const char *rope2d_element_word(rope2d_element element) {
    static const char words[ROPE2D_ELEMENT_COUNT][5] = {"f32", "f16", "bf16"};
    return words[element];
}

// Which field of two patterns that differ is the first to do so.
static const char *pattern_difference(const rope2d_pattern *a, const rope2d_pattern *b) {
    if (a->head_dim != b->head_dim)
        return "head_dim";
    if (a->pairs != b->pairs)
        return "pairs";
    if (a->axes != b->axes)
        return "axes";
    if (a->freq_heads != b->freq_heads)
        return "freq_heads";
    if (a->angles != b->angles)
        return "freqs_hi (one or two angles to a pair)";
    if (a->factors != b->factors)
        return "factored";
    if (a->is_axial != b->is_axial || a->row_axes != b->row_axes)
        return "freqs (axial or dense)";
    return "pairing or the axis that turns a pair";
}

rope2d_status rope2d_match_check(const rope2d_plan *plan, const rope2d_positions *positions) {
    const rope2d_host *host = &plan->device->host;
    if (plan->device != positions->device)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH,
                           "plan and positions are of two devices: %s, index %u, and %s, index %u",
                           plan->device->info.name, plan->device->info.index, positions->device->info.name,
                           positions->device->info.index);
    if (plan->table_kind != positions->table_kind)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "table is %u in the plan and %u in the positions",
                           (unsigned)plan->table_kind, (unsigned)positions->table_kind);
    if (!rope2d_pattern_equal(&plan->pattern, &positions->pattern))
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "spec differs between plan and positions in %s",
                           pattern_difference(&plan->pattern, &positions->pattern));
    return ROPE2D_OK;
}

static rope2d_status check_ranges(const rope2d_plan *plan, const rope2d_positions *positions,
                                  const rope2d_apply_params *params) {
    const rope2d_host *host = &plan->device->host;
    if (params->first_token > positions->tokens || params->tokens > positions->tokens - params->first_token)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS,
                           "first_token %" PRIu64 " and tokens %" PRIu64 " reach past the %" PRIu64
                           " tokens of the positions",
                           params->first_token, params->tokens, positions->tokens);
    if (positions->batch != 1 && params->batch != positions->batch)
        return rope2d_fail(host, ROPE2D_ERROR_BATCH, "batch is %u; %s is %u", params->batch,
                           positions->rows ? "that of the positions" : "params.row_batch", positions->batch);
    return ROPE2D_OK;
}

rope2d_status rope2d_work_prepare(const rope2d_plan *plan, const rope2d_positions *positions,
                                  const rope2d_apply_params *params, rope2d_checked_tensor *tensors,
                                  rope2d_work *work) {
    const rope2d_host *host = &plan->device->host;
    if (!positions || !params)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "%s is NULL", positions ? "params" : "positions");
    ROPE2D_TRY(rope2d_check_struct_size(host, "params", params->struct_size, sizeof(*params)));
    ROPE2D_TRY(rope2d_match_check(plan, positions));
    if (params->tensor_count > ROPE2D_MAX_TENSORS)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT, "tensor_count is %u; the limit is %u",
                           params->tensor_count, ROPE2D_MAX_TENSORS);
    if (params->tensor_count > 0 && !params->tensors)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "tensors is NULL; tensor_count is %u",
                           params->tensor_count);
    work->batch = work->tensor_count = 0;
    work->first_token = work->tokens = 0;
    work->tensors = tensors;
    work->single_only = work->streams = work->is_large = false;
    if (params->batch == 0 || params->tokens == 0)
        return ROPE2D_OK;
    ROPE2D_TRY(check_ranges(plan, positions, params));
    work->batch = params->batch;
    work->first_token = params->first_token;
    work->tokens = params->tokens;
    return rope2d_tensors_check(plan, params, tensors, &work->tensor_count);
}

rope2d_status rope2d_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                           const rope2d_apply_params *params) {
    if (!plan)
        return ROPE2D_ERROR_NULL;
    rope2d_checked_tensor tensors[ROPE2D_MAX_TENSORS];
    rope2d_work work;
    if (plan->device->lacks_queue)
        return rope2d_fail(&plan->device->host, ROPE2D_ERROR_UNSUPPORTED,
                           "queue: %s was adopted without one, so that nothing can be applied",
                           plan->device->info.name);
    ROPE2D_TRY(rope2d_work_prepare(plan, positions, params, tensors, &work));
    if (work.tensor_count == 0)
        return ROPE2D_OK;
    const rope2d_control control = rope2d_control_enter();
    const rope2d_status status = plan->device->ops->apply(plan, positions, &work);
    rope2d_control_leave(control);
    return status;
}

rope2d_status rope2d_plan_dispatches(const rope2d_plan *plan, const rope2d_positions *positions,
                                     const rope2d_apply_params *params, uint64_t *dispatches) {
    if (dispatches)
        *dispatches = 0;
    if (!plan)
        return ROPE2D_ERROR_NULL;
    if (!dispatches)
        return rope2d_fail(&plan->device->host, ROPE2D_ERROR_NULL, "dispatches is NULL");
    rope2d_checked_tensor tensors[ROPE2D_MAX_TENSORS];
    rope2d_work work;
    ROPE2D_TRY(rope2d_work_prepare(plan, positions, params, tensors, &work));
    if (work.tensor_count == 0)
        return ROPE2D_OK;
    return plan->device->ops->dispatches(plan, positions, &work, dispatches);
}

// The product, or 0 and *fits false where it overflows.
static uint64_t product(uint64_t a, uint64_t b, bool *fits) {
    if (b != 0 && a > (uint64_t)INT64_MAX / b) {
        *fits = false;
        return 0;
    }
    return a * b;
}

rope2d_view rope2d_view_contiguous(void *base, rope2d_element element, rope2d_layout layout, uint32_t batch,
                                   uint64_t tokens, uint32_t heads, uint32_t head_dim) {
    bool fits = (unsigned)layout < ROPE2D_LAYOUT_COUNT;
    const uint64_t head = product(heads, head_dim, &fits);
    const uint64_t sequence = product(tokens, head_dim, &fits);
    const uint64_t all = product(tokens, head, &fits);
    const uint64_t size = product(product(batch, all, &fits), rope2d_element_size(element), &fits);
    rope2d_view view = {.base = base};
    if (!fits)
        return view;
    view.size = size;
    view.batch_stride = (int64_t)all;
    view.token_stride = (int64_t)(layout == ROPE2D_LAYOUT_BHND ? head_dim : head);
    view.head_stride = (int64_t)(layout == ROPE2D_LAYOUT_BHND ? sequence : head_dim);
    return view;
}

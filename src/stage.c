// SPDX-License-Identifier: MIT
#include "stage.h"

#include <inttypes.h>
#include <string.h>

// A layout is kept when it takes no more than twice the bytes of its elements and this.
#define KEEP_SLACK 4096
// Indices in kernels are 32-bit.
#define MAX_ELEMENTS ((uint64_t)UINT32_MAX)
// Of a dispatch, where the caller does not say.
#define DISPATCH_BYTES ((uint64_t)256 << 20)

// ---------------------------------------------------------------------------------------------- one side

typedef struct counts {
    uint32_t batch;
    uint64_t tokens;
    uint32_t heads;
    uint32_t head_dim;
    uint32_t element; // bytes
} counts;

static uint64_t round_up(uint64_t value, uint64_t multiple) {
    const uint64_t more = rope2d_sum(value, multiple - 1);
    return more == UINT64_MAX ? more : more / multiple * multiple;
}

// Elements of a layout that keeps the caller's strides. One more, so that it can begin at an odd element and
// yet has the same size wherever it begins.
static uint64_t kept_elements(const rope2d_span *span, const counts *n) {
    uint64_t elements = (uint64_t)n->head_dim + 1;
    elements = rope2d_sum(elements, rope2d_product(n->batch - 1, (uint64_t)span->batch_stride));
    elements = rope2d_sum(elements, rope2d_product(n->tokens - 1, (uint64_t)span->token_stride));
    return rope2d_sum(elements, rope2d_product(n->heads - 1, (uint64_t)span->head_stride));
}

// Heads begin at even elements, where halves of words are not shared.
static uint64_t packed_elements(const counts *n) {
    return rope2d_product(rope2d_product(n->batch, n->tokens),
                          rope2d_product(n->heads, round_up(n->head_dim, 2)));
}

static void keep(rope2d_stage_side *side, const rope2d_span *span, const counts *n) {
    side->first = (uint32_t)((uintptr_t)span->first / n->element % 2);
    side->batch_stride = n->batch > 1 ? (uint32_t)span->batch_stride : 0;
    side->token_stride = n->tokens > 1 ? (uint32_t)span->token_stride : 0;
    side->head_stride = n->heads > 1 ? (uint32_t)span->head_stride : 0;
}

static void pack(rope2d_stage_side *side, const counts *n) {
    side->first = 0;
    side->head_stride = (uint32_t)round_up(n->head_dim, 2);
    side->token_stride = side->head_stride * n->heads;
    side->batch_stride = n->batch > 1 ? side->token_stride * (uint32_t)n->tokens : 0;
}

// False when no buffer can hold it. `tight` takes the smaller layout, whatever the caller's is.
static bool lay_out_side(rope2d_stage_side *side, const rope2d_span *span, const counts *n,
                         uint64_t buffer_bytes, bool tight) {
    const uint64_t kept = kept_elements(span, n);
    const uint64_t packed = packed_elements(n);
    const uint64_t most = buffer_bytes / n->element < MAX_ELEMENTS ? buffer_bytes / n->element : MAX_ELEMENTS;
    const bool suits =
        tight ? kept <= packed : kept <= rope2d_sum(rope2d_product(packed, 2), KEEP_SLACK / n->element);
    const bool is_kept = (suits && kept <= most - 1) || packed > most - 1;
    const uint64_t elements = is_kept ? kept : packed;
    if (elements > most - 1)
        return false;
    if (is_kept)
        keep(side, span, n);
    else
        pack(side, n);
    side->bytes = round_up(elements * n->element, 4);
    return side->bytes <= buffer_bytes;
}

// Where it lies: the side begins at the aligned address before the piece's first element.
static bool lay_out_direct(rope2d_stage_side *side, const rope2d_span *span, const counts *n,
                           const rope2d_stage_limits *limits, const rope2d_piece *piece) {
    const uint64_t address = (uintptr_t)span->first + (piece->batch_first * (uint64_t)span->batch_stride +
                                                       piece->token_first * (uint64_t)span->token_stride) *
                                                          n->element;
    side->offset = address / limits->offset_alignment * limits->offset_alignment;
    const uint64_t lead = (address - side->offset) / n->element;
    const uint64_t elements = rope2d_sum(lead, kept_elements(span, n) - 1);
    if (elements > MAX_ELEMENTS - 1)
        return false;
    keep(side, span, n);
    side->first = (uint32_t)lead;
    side->bytes = round_up(elements * n->element, 4);
    return side->bytes <= limits->buffer_bytes;
}

// ---------------------------------------------------------------------------------------------- one piece

static bool lay_out_tensor_direct(const rope2d_cutter *cutter, const rope2d_piece *piece,
                                  rope2d_stage_tensor *staged) {
    const rope2d_checked_tensor *tensor = staged->tensor;
    counts n = {piece->batch, piece->tokens, tensor->heads, cutter->plan->pattern.head_dim,
                rope2d_element_size(cutter->plan->in)};
    if (!lay_out_direct(&staged->in, &tensor->in, &n, &cutter->limits, piece))
        return false;
    n.element = rope2d_element_size(cutter->plan->out);
    return lay_out_direct(&staged->out, &tensor->out, &n, &cutter->limits, piece);
}

static bool lay_out_tensor(const rope2d_cutter *cutter, rope2d_piece *piece, rope2d_stage_tensor *staged,
                           bool tight) {
    const rope2d_plan *plan = cutter->plan;
    const rope2d_checked_tensor *tensor = staged->tensor;
    const uint32_t alignment = cutter->limits.offset_alignment > 4 ? cutter->limits.offset_alignment : 4;
    counts n = {piece->batch, piece->tokens, tensor->heads, plan->pattern.head_dim,
                rope2d_element_size(plan->in)};
    if (!lay_out_side(&staged->in, &tensor->in, &n, cutter->limits.buffer_bytes, tight))
        return false;
    staged->in.offset = round_up(piece->bytes, alignment);
    piece->bytes = rope2d_sum(staged->in.offset, staged->in.bytes);
    staged->out = staged->in;
    if (tensor->in_place)
        return true;
    n.element = rope2d_element_size(plan->out);
    if (!lay_out_side(&staged->out, &tensor->out, &n, cutter->limits.buffer_bytes, tight))
        return false;
    staged->out.offset = round_up(piece->bytes, alignment);
    piece->bytes = rope2d_sum(staged->out.offset, staged->out.bytes);
    return true;
}

static bool lay_out_all(const rope2d_cutter *cutter, rope2d_piece *piece, bool tight) {
    piece->bytes = 0;
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        piece->tensors[i].tensor = &cutter->work->tensors[cutter->tensor + i];
        const bool fits = cutter->limits.direct ? lay_out_tensor_direct(cutter, piece, &piece->tensors[i])
                                                : lay_out_tensor(cutter, piece, &piece->tensors[i], tight);
        if (!fits)
            return false;
    }
    return piece->bytes <= cutter->limits.total_bytes;
}

// What a token's elements of all tensors are read and written, in bytes.
static uint64_t token_bytes(const rope2d_piece *piece, const rope2d_plan *plan) {
    uint64_t heads = 0;
    for (uint32_t i = 0; i < piece->tensor_count; i++)
        heads += piece->tensors[i].tensor->heads;
    return heads * plan->pattern.head_dim * (rope2d_element_size(plan->in) + rope2d_element_size(plan->out));
}

static uint64_t most_bytes(const rope2d_plan *plan) {
    return plan->device->dispatch_bytes > 0 ? plan->device->dispatch_bytes : DISPATCH_BYTES;
}

void rope2d_piece_bound(const rope2d_piece *piece, const rope2d_plan *plan, uint32_t *batch,
                        uint32_t *tokens) {
    const uint64_t each = token_bytes(piece, plan);
    const uint64_t most = each > 0 ? most_bytes(plan) / each : UINT64_MAX;
    const uint64_t whole = most / piece->tokens;
    if (most < piece->tokens)
        *tokens = most > 0 ? (uint32_t)most : 1;
    else
        *tokens = piece->tokens;
    *batch = whole < piece->batch ? (uint32_t)(whole > 0 ? whole : 1) : piece->batch;
}

static bool rows_fit(const rope2d_cutter *cutter, const rope2d_piece *piece) {
    const uint64_t range = cutter->limits.row_range ? cutter->limits.row_range : MAX_ELEMENTS;
    const uint64_t rows = rope2d_product(piece->tokens, cutter->plan->pattern.row_axes);
    return rope2d_sum(rope2d_product(piece->batch - 1, cutter->limits.row_batch_stride), rows) <= range;
}

// Whether its dispatch is over before a watchdog looks: by its bytes, unless it is the least there is.
static bool is_short(const rope2d_piece *piece, const rope2d_plan *plan) {
    const uint64_t tokens = (uint64_t)piece->batch * piece->tokens;
    return (tokens == 1 && piece->tensor_count == 1) ||
           rope2d_product(tokens, token_bytes(piece, plan)) <= most_bytes(plan);
}

// Lays a piece of so many batch elements and tokens out; false when it does not fit the device.
static bool fits(const rope2d_cutter *cutter, rope2d_piece *piece, uint32_t batch, uint64_t tokens) {
    if (tokens > UINT32_MAX)
        return false;
    piece->batch = batch;
    piece->tokens = (uint32_t)tokens;
    if (!rows_fit(cutter, piece))
        return false;
    if (!lay_out_all(cutter, piece, false) && !lay_out_all(cutter, piece, true))
        return false;
    if (!is_short(piece, cutter->plan))
        return false;
    piece->vector = false;
    if (!cutter->work->single_only || cutter->limits.tile_tokens > 0)
        rope2d_piece_choose(piece, cutter->plan, &cutter->limits);
    return rope2d_piece_count(piece, cutter->plan, &cutter->limits);
}

// ------------------------------------------------------------------------------------------------ the cutter

void rope2d_cutter_begin(rope2d_cutter *cutter, const rope2d_plan *plan, const rope2d_work *work,
                         const rope2d_stage_limits *limits) {
    *cutter = (rope2d_cutter){.plan = plan, .work = work, .limits = *limits};
    if (cutter->limits.slots > R_MAX_DISPATCH_TENSORS)
        cutter->limits.slots = R_MAX_DISPATCH_TENSORS;
}

// As many tensors as have slots and of which one token fits.
static rope2d_status choose_group(rope2d_cutter *cutter, rope2d_piece *piece) {
    const uint32_t left = cutter->work->tensor_count - cutter->tensor;
    for (uint32_t count = left < cutter->limits.slots ? left : cutter->limits.slots; count > 0; count--) {
        piece->tensor_count = count;
        if (fits(cutter, piece, 1, 1)) {
            cutter->tensor_count = count;
            return ROPE2D_OK;
        }
    }
    const rope2d_checked_tensor *tensor = &cutter->work->tensors[cutter->tensor];
    return rope2d_fail(&cutter->plan->device->host, ROPE2D_ERROR_LIMIT,
                       "one token of %u heads of %u channels does not fit %s: buffers of %" PRIu64
                       " bytes, %" PRIu64 " in all, %u workgroups",
                       tensor->heads, cutter->plan->pattern.head_dim, cutter->plan->device->info.name,
                       cutter->limits.buffer_bytes, cutter->limits.total_bytes, cutter->limits.max_groups);
}

// The largest count up to `most` that fits, 1 where nothing else does.
static uint64_t bisect(const rope2d_cutter *cutter, rope2d_piece *piece, uint64_t most, bool by_batch) {
    uint64_t good = 1;
    uint64_t bad = most;
    while (bad - good > 1) {
        const uint64_t middle = good + (bad - good) / 2;
        const bool middle_fits = by_batch ? fits(cutter, piece, (uint32_t)middle, cutter->work->tokens)
                                          : fits(cutter, piece, 1, middle);
        if (middle_fits)
            good = middle;
        else
            bad = middle;
    }
    return good;
}

// Whole batch elements while one fits, else tokens of one.
static bool take(const rope2d_cutter *cutter, rope2d_piece *piece) {
    const uint32_t batch = cutter->work->batch - cutter->batch;
    const uint64_t tokens = cutter->work->tokens - cutter->token;
    if (cutter->token == 0 && fits(cutter, piece, batch, tokens))
        return true;
    if (cutter->token == 0 && batch > 1 && fits(cutter, piece, 1, tokens))
        return fits(cutter, piece, (uint32_t)bisect(cutter, piece, batch, true), tokens);
    if (fits(cutter, piece, 1, tokens))
        return true;
    return fits(cutter, piece, 1, bisect(cutter, piece, tokens, false));
}

static void advance(rope2d_cutter *cutter, const rope2d_piece *piece) {
    cutter->token += piece->tokens;
    if (cutter->token < cutter->work->tokens)
        return;
    cutter->token = 0;
    cutter->batch += piece->batch;
    if (cutter->batch < cutter->work->batch)
        return;
    cutter->batch = 0;
    cutter->tensor += cutter->tensor_count;
    cutter->tensor_count = 0;
}

rope2d_status rope2d_cutter_next(rope2d_cutter *cutter, rope2d_piece *piece, bool *more) {
    *more = cutter->tensor < cutter->work->tensor_count;
    if (!*more)
        return ROPE2D_OK;
    *piece = (rope2d_piece){.batch_first = cutter->batch, .token_first = cutter->token};
    if (cutter->tensor_count == 0)
        ROPE2D_TRY(choose_group(cutter, piece));
    piece->tensor_count = cutter->tensor_count;
    if (!take(cutter, piece))
        return rope2d_fail(&cutter->plan->device->host, ROPE2D_ERROR_LIMIT,
                           "tensors do not fit %s in any piece", cutter->plan->device->info.name);
    advance(cutter, piece);
    return ROPE2D_OK;
}

// SPDX-License-Identifier: MIT
#include "window.h"

#include "apply.h"
#include "device.h"
#include "table.h"

#include <string.h>

#define ENTRY_BYTES (2 * sizeof(float))
// Row numbers of a window: enough to keep a device busy.
#define MOST_ROWS ((uint64_t)1 << 20)

bool rope2d_vulkan_table_fits(const rope2d_device *device, rope2d_table kind, uint64_t entries) {
    const rope2d_device_info *info = &device->info;
    if (kind != ROPE2D_TABLE_TEXTURE)
        return entries <= info->max_buffer_range / ENTRY_BYTES;
    uint32_t fold = rope2d_vulkan_table_fold(device, entries);
    return (entries + 1) / 2 <= info->max_texture_height << fold;
}

uint64_t rope2d_vulkan_window_tokens(const rope2d_positions *positions) {
    uint64_t rows = MOST_ROWS;
    while (rows > 0 && !rope2d_vulkan_table_fits(positions->device, positions->table_kind,
                                                 rows * positions->table_columns))
        rows /= 2;
    return rows / positions->pattern.row_axes;
}

// ------------------------------------------------------------------------------------------------- the walk

struct walk {
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    const rope2d_work *work;
    uint64_t most;  // tokens of a window
    uint32_t batch; // where the next window begins
    uint64_t token;
    rope2d_positions window; // borrows the pattern; owns its rows and table
    rope2d_work part;
    rope2d_checked_tensor tensors[ROPE2D_MAX_TENSORS];
};

static unsigned char *moved(const rope2d_span *span, const struct walk *walk, rope2d_element element) {
    int64_t elements = walk->batch * span->batch_stride + (int64_t)walk->token * span->token_stride;
    return span->first + (uint64_t)elements * rope2d_element_size(element);
}

// The next range of tokens, of one batch element unless all share their positions.
static bool next(struct walk *walk) {
    const rope2d_work *work = walk->work;
    bool is_shared = walk->positions->batch == 1;
    if (walk->token >= work->tokens) {
        walk->token = 0;
        walk->batch++;
    }
    if (walk->batch >= (is_shared ? 1 : work->batch))
        return false;
    uint64_t left = work->tokens - walk->token;
    walk->window.tokens = left < walk->most ? left : walk->most;
    walk->window.row_count = walk->window.tokens * walk->positions->pattern.row_axes;
    walk->window.table_rows = (uint32_t)walk->window.row_count;
    walk->window.table_entries = walk->window.row_count * walk->positions->table_columns;
    walk->part.batch = is_shared ? work->batch : 1;
    walk->part.tokens = walk->window.tokens;
    for (uint32_t i = 0; i < work->tensor_count; i++) {
        walk->tensors[i] = work->tensors[i];
        walk->tensors[i].in.first = moved(&work->tensors[i].in, walk, walk->plan->in);
        walk->tensors[i].out.first = moved(&work->tensors[i].out, walk, walk->plan->out);
    }
    return true;
}

static void begin(struct walk *walk, const rope2d_plan *plan, const rope2d_positions *positions,
                  const rope2d_work *work) {
    memset(walk, 0, sizeof(*walk));
    walk->plan = plan;
    walk->positions = positions;
    walk->work = work;
    walk->most = rope2d_vulkan_window_tokens(positions);
    walk->window = *positions;
    walk->window.batch = 1;
    walk->part = *work;
    walk->part.first_token = 0;
    walk->part.tensors = walk->tensors;
}

// Every row number gets a row of its own, whatever it points to.
static rope2d_status fill(struct walk *walk) {
    const rope2d_positions *positions = walk->positions;
    const rope2d_host *host = &positions->device->host;
    rope2d_positions *window = &walk->window;
    uint64_t axes = positions->pattern.row_axes;
    uint64_t element = positions->batch == 1 ? 0 : walk->batch;
    const int32_t *from =
        positions->rows + (element * positions->tokens + walk->work->first_token + walk->token) * axes;
    size_t row_floats = 2 * (size_t)positions->table_columns;
    window->rows = rope2d_allocate(host, window->row_count, sizeof(*window->rows));
    window->table = rope2d_allocate(host, window->row_count * row_floats, sizeof(*window->table));
    if (window->rows == NULL || window->table == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY,
                           "Vulkan: no memory for a window of %llu rows of %u entries",
                           (unsigned long long)window->row_count, positions->table_columns);
    for (uint64_t i = 0; i < window->row_count; i++) {
        uint32_t row = from[i] < 0 ? 0 : (uint32_t)from[i];
        if (row >= positions->table_rows)
            row = positions->table_rows - 1;
        window->rows[i] = from[i] < 0 ? -1 : (int32_t)i;
        memcpy(window->table + i * row_floats, positions->table + row * row_floats,
               row_floats * sizeof(*window->table));
    }
    return ROPE2D_OK;
}

static void empty(struct walk *walk) {
    const rope2d_host *host = &walk->positions->device->host;
    rope2d_positions *window = &walk->window;
    size_t row_floats = 2 * (size_t)window->table_columns;
    rope2d_vulkan_positions_destroy(window);
    rope2d_release(host, window->rows, window->row_count, sizeof(*window->rows));
    rope2d_release(host, window->table, window->row_count * row_floats, sizeof(*window->table));
    window->rows = NULL;
    window->table = NULL;
}

rope2d_status rope2d_vulkan_window_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                                         const rope2d_work *work) {
    struct walk walk;
    rope2d_status status = ROPE2D_OK;
    begin(&walk, plan, positions, work);
    while (status == ROPE2D_OK && next(&walk)) {
        walk.window.rows = NULL;
        walk.window.table = NULL;
        status = fill(&walk);
        if (status == ROPE2D_OK)
            status = rope2d_vulkan_positions_create(&walk.window);
        if (status == ROPE2D_OK)
            status = rope2d_vulkan_apply(plan, &walk.window, &walk.part);
        empty(&walk);
        walk.token += walk.window.tokens;
    }
    return status;
}

rope2d_status rope2d_vulkan_window_dispatches(const rope2d_plan *plan, const rope2d_positions *positions,
                                              const rope2d_work *work, uint64_t *dispatches) {
    struct walk walk;
    *dispatches = 0;
    begin(&walk, plan, positions, work);
    for (; next(&walk); walk.token += walk.window.tokens) {
        uint64_t count = 0;
        walk.window.impl = &walk; // counted as if it were on the device
        ROPE2D_TRY(rope2d_vulkan_dispatches(plan, &walk.window, &walk.part, &count));
        *dispatches += count;
    }
    return ROPE2D_OK;
}

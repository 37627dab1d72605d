// SPDX-License-Identifier: MIT
//
// In which order the tokens of a frame come, and where its runs end.
#include "places.h"

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void visit_rows(const rope2d_segment *segment, rope2d_visit *visit, void *data) {
    for (uint32_t row = 0; row < segment->rows; row++)
        for (uint32_t column = 0; column < segment->columns; column++)
            visit(data, row, column, row + 1 == segment->rows && column + 1 == segment->columns);
}

static void visit_columns(const rope2d_segment *segment, rope2d_visit *visit, void *data) {
    for (uint32_t column = 0; column < segment->columns; column++)
        for (uint32_t row = 0; row < segment->rows; row++)
            visit(data, row, column, row + 1 == segment->rows && column + 1 == segment->columns);
}

// Blocks [top, bottom) x [left, right), row by row, and the patches of each, row by row.
static void visit_blocks(uint32_t merge, uint32_t top, uint32_t bottom, uint32_t left, uint32_t right,
                         rope2d_visit *visit, void *data) {
    for (uint32_t y = top; y < bottom; y++)
        for (uint32_t x = left; x < right; x++)
            for (uint32_t i = 0; i < merge * merge; i++)
                visit(data, y * merge + i / merge, x * merge + i % merge,
                      y + 1 == bottom && x + 1 == right && i + 1 == merge * merge);
}

static void visit_windows(const rope2d_segment *segment, uint32_t merge, rope2d_visit *visit, void *data) {
    uint32_t rows = segment->rows / merge, columns = segment->columns / merge;
    for (uint32_t top = 0; top < rows; top += least(segment->window, rows - top))
        for (uint32_t left = 0; left < columns; left += least(segment->window, columns - left))
            visit_blocks(merge, top, top + least(segment->window, rows - top), left,
                         left + least(segment->window, columns - left), visit, data);
}

static uint32_t merge_of(const rope2d_segment *segment) {
    return segment->merge == 0 ? 2 : segment->merge;
}

void rope2d_visit_frame(const rope2d_segment *segment, rope2d_visit *visit, void *data) {
    uint32_t merge = merge_of(segment);
    switch (segment->order) {
    case ROPE2D_ORDER_COLUMNS:
        visit_columns(segment, visit, data);
        break;
    case ROPE2D_ORDER_BLOCKS:
        visit_blocks(merge, 0, segment->rows / merge, 0, segment->columns / merge, visit, data);
        break;
    case ROPE2D_ORDER_WINDOWS:
        visit_windows(segment, merge, visit, data);
        break;
    default:
        visit_rows(segment, visit, data);
        break;
    }
}

uint64_t rope2d_frame_runs(const rope2d_segment *segment) {
    if (segment->rows == 0 || segment->columns == 0)
        return 0;
    if (segment->order != ROPE2D_ORDER_WINDOWS)
        return 1;
    uint64_t side = (uint64_t)merge_of(segment) * segment->window; // patches
    return ((segment->rows + side - 1) / side) * ((segment->columns + side - 1) / side);
}

// SPDX-License-Identifier: MIT
//
// What kernels of the caller's rotate with.
#include "adopt.h"

#include "../embedded.h"

#include <string.h>

const char *rope2d_opencl_source(void) {
    for (const struct rope2d_embedded *entry = rope2d_embedded_opencl; entry->name; entry++) {
        if (strcmp(entry->name, "rope2d_cl.h") == 0)
            return (const char *)entry->data;
    }
    return "";
}

rope2d_status rope2d_opencl_positions_get_table(const rope2d_positions *positions,
                                                rope2d_opencl_table *table) {
    if (!positions)
        return ROPE2D_ERROR_NULL;
    const rope2d_device *front = positions->device;
    if (!table)
        return rope2d_fail(&front->host, ROPE2D_ERROR_NULL, "table is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(&front->host, "table", table->struct_size, sizeof(*table)));
    if (front->backend != ROPE2D_BACKEND_OPENCL)
        return rope2d_fail(&front->host, ROPE2D_ERROR_MISMATCH,
                           "positions are of %s, which is no OpenCL device", front->info.name);
    const rope2d_cl_window *window = rope2d_cl_window_whole(positions);
    if (!window)
        return rope2d_fail(&front->host, ROPE2D_ERROR_LIMIT,
                           "positions: larger than the device's buffers of %llu bytes",
                           (unsigned long long)front->info.max_buffer_range);
    table->table = window->image ? window->image : window->table;
    table->rows = window->rows;
    table->kind = positions->table_kind;
    table->texture_fold = window->fold;
    table->table_rows = positions->table_rows;
    table->columns = positions->table_columns;
    table->row_axes = positions->pattern.row_axes;
    return ROPE2D_OK;
}

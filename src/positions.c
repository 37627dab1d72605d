// SPDX-License-Identifier: MIT
#include "backend.h"
#include "rows.h"
#include "table.h"

#include <inttypes.h>

static rope2d_status choose_table(rope2d_positions *positions, rope2d_table wanted) {
    const rope2d_device *device = positions->device;
    if ((int)wanted < 0 || wanted >= ROPE2D_TABLE_COUNT)
        return rope2d_fail(&device->host, ROPE2D_ERROR_ENUM, "params.table is %d; the last known is %d",
                           (int)wanted, ROPE2D_TABLE_COUNT - 1);
    if (wanted == ROPE2D_TABLE_TEXTURE && !device->info.has_textures)
        return rope2d_fail(&device->host, ROPE2D_ERROR_UNSUPPORTED,
                           "params.table is ROPE2D_TABLE_TEXTURE; the device %s has none for tables",
                           device->info.name);
    positions->table_kind = wanted == ROPE2D_TABLE_AUTO ? device->info.default_table : wanted;
    return ROPE2D_OK;
}

static rope2d_status build(rope2d_positions *positions, const rope2d_positions_params *params) {
    ROPE2D_TRY(rope2d_pattern_create(&positions->pattern, params->spec, &positions->device->host));
    ROPE2D_TRY(choose_table(positions, params->table));
    positions->tokens = params->tokens;
    positions->batch = params->batch == 0 ? 1 : params->batch;
    positions->is_axial = positions->pattern.is_axial && params->magnitudes == NULL;
    ROPE2D_TRY(rope2d_rows_create(positions, params));
    return rope2d_table_create(positions, params);
}

rope2d_status rope2d_positions_make(rope2d_device *device, const rope2d_positions_params *params,
                                    bool is_deferred, rope2d_positions **result) {
    if (result != NULL)
        *result = NULL;
    if (device == NULL)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &device->host;
    if (params == NULL || result == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "%s is NULL", params == NULL ? "params" : "positions");
    ROPE2D_TRY(rope2d_check_struct_size(host, "params", params->struct_size, sizeof(*params)));
    rope2d_positions *positions = rope2d_allocate(host, 1, sizeof(*positions));
    if (positions == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for positions");
    positions->device = device;
    positions->is_deferred = is_deferred;
    rope2d_control control = rope2d_control_enter();
    rope2d_status status = build(positions, params);
    if (status == ROPE2D_OK)
        status = device->ops->positions_create(positions);
    rope2d_control_leave(control);
    if (status != ROPE2D_OK) {
        rope2d_positions_destroy(positions);
        return status;
    }
    *result = positions;
    return ROPE2D_OK;
}

rope2d_status rope2d_positions_create(rope2d_device *device, const rope2d_positions_params *params,
                                      rope2d_positions **positions) {
    return rope2d_positions_make(device, params, false, positions);
}

void rope2d_positions_destroy(rope2d_positions *positions) {
    if (positions == NULL)
        return;
    const rope2d_host *host = &positions->device->host;
    positions->device->ops->positions_destroy(positions);
    rope2d_table_destroy(positions);
    rope2d_rows_destroy(positions);
    rope2d_pattern_destroy(&positions->pattern, host);
    rope2d_release(host, positions, 1, sizeof(*positions));
}

rope2d_status rope2d_positions_get_info(const rope2d_positions *positions, rope2d_positions_info *info) {
    if (positions == NULL)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &positions->device->host;
    if (info == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "info is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(host, "info", info->struct_size, sizeof(*info)));
    info->tokens = positions->tokens;
    info->batch = positions->batch;
    info->is_axial = positions->is_axial ? 1 : 0;
    info->row_axes = positions->pattern.row_axes;
    info->table_rows = positions->table_rows;
    info->table_columns = positions->table_columns;
    info->table_bytes = positions->table_entries * 2 * sizeof(*positions->table);
    info->row_bytes = positions->row_count * sizeof(*positions->rows);
    info->table = positions->table_kind;
    return ROPE2D_OK;
}

const float *rope2d_positions_host_table(const rope2d_positions *positions) {
    return positions == NULL ? NULL : positions->table;
}

const int32_t *rope2d_positions_host_rows(const rope2d_positions *positions) {
    return positions == NULL ? NULL : positions->rows;
}

// SPDX-License-Identifier: MIT
//
// What shaders of the caller's rotate with.
#include "../embedded.h"
#include "table.h"

#include "rope2d/rope2d_vulkan.h"

const char *rope2d_vulkan_source(void) {
    return (const char *)rope2d_embedded_include[0].data;
}

static void describe_buffer(const struct vulkan_positions *vulkan, rope2d_vulkan_table *table) {
    table->table = vulkan->table.handle;
    table->table_offset = vulkan->table.offset;
    table->table_size = vulkan->table.size;
}

static void describe_image(const struct vulkan_device *device, const struct vulkan_positions *vulkan,
                           rope2d_vulkan_table *table) {
    table->image = vulkan->image.handle;
    table->view = vulkan->image.view;
    table->sampler = device->sampler;
    table->format = VK_FORMAT_R32G32B32A32_SFLOAT;
    table->layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    table->texture_fold = vulkan->fold;
    table->texture_height = vulkan->image.height;
}

rope2d_status rope2d_vulkan_positions_get_table(const rope2d_positions *positions,
                                                rope2d_vulkan_table *table) {
    if (positions == NULL)
        return ROPE2D_ERROR_NULL;
    const rope2d_device *front = positions->device;
    const rope2d_host *host = &front->host;
    if (table == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "table is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(host, "table", table->struct_size, sizeof(*table)));
    if (front->backend != ROPE2D_BACKEND_VULKAN)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "positions are of %s, which is no Vulkan device",
                           front->info.name);
    const struct vulkan_positions *vulkan = positions->impl;
    if (vulkan == NULL) // window.c brings it piece by piece
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT,
                           "positions: their table fits no buffer of %s, and rope2d_apply alone can use it",
                           front->info.name);
    if (!rope2d_vulkan_is_placed(vulkan))
        return rope2d_vulkan_not_placed(positions);
    const rope2d_vulkan_table empty = {.struct_size = sizeof(empty)};
    *table = empty;
    table->kind = positions->table_kind;
    table->table_rows = positions->table_rows;
    table->columns = positions->table_columns;
    table->row_axes = positions->pattern.row_axes;
    table->rows = vulkan->rows.handle;
    table->rows_offset = vulkan->rows.offset;
    table->rows_size = vulkan->rows.size;
    if (positions->table_kind == ROPE2D_TABLE_TEXTURE)
        describe_image(rope2d_vulkan_of(front), vulkan, table);
    else
        describe_buffer(vulkan, table);
    return ROPE2D_OK;
}

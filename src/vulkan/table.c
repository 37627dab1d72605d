// SPDX-License-Identifier: MIT
#include "table.h"

#include "upload.h"
#include "window.h"

uint32_t rope2d_vulkan_table_fold(const rope2d_device *device, uint64_t entries) {
    uint64_t texels = (entries + 1) / 2;
    uint32_t fold = 0;
    while ((1ull << fold) * (1ull << fold) < texels && 2ull << fold <= device->info.max_texture_width)
        fold++;
    return fold;
}

static rope2d_status put_buffer(const rope2d_positions *positions, struct vulkan_positions *vulkan) {
    uint64_t bytes = positions->table_entries * 2 * sizeof(float);
    uint64_t size = bytes > 0 ? bytes : 2 * sizeof(float); // no buffer is empty
    return rope2d_vulkan_upload_buffer(rope2d_vulkan_of(positions->device),
                                       VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, positions->table, bytes, size,
                                       &vulkan->table);
}

// Two entries to a texel.
static rope2d_status put_texture(const rope2d_positions *positions, struct vulkan_positions *vulkan) {
    uint64_t texels = positions->table_entries > 0 ? (positions->table_entries + 1) / 2 : 1;
    vulkan->fold = rope2d_vulkan_table_fold(positions->device, positions->table_entries);
    uint64_t height = (texels + (1ull << vulkan->fold) - 1) >> vulkan->fold;
    return rope2d_vulkan_upload_image(rope2d_vulkan_of(positions->device), 1u << vulkan->fold,
                                      (uint32_t)height, positions->table,
                                      positions->table_entries * 2 * sizeof(float), &vulkan->image);
}

// A table that does not fit stays with the host, and each apply brings what it needs: window.c.
rope2d_status rope2d_vulkan_positions_create(rope2d_positions *positions) {
    const rope2d_device *device = positions->device;
    if (!rope2d_vulkan_table_fits(device, positions->table_kind, positions->table_entries)) {
        if (rope2d_vulkan_window_tokens(positions) > 0)
            return ROPE2D_OK;
        return rope2d_fail(&device->host, ROPE2D_ERROR_LIMIT,
                           "table: %u entries for one row, but %s can have %llu bytes in a buffer and %llu x "
                           "%llu texels",
                           positions->table_columns, device->info.name,
                           (unsigned long long)device->info.max_buffer_range,
                           (unsigned long long)device->info.max_texture_width,
                           (unsigned long long)device->info.max_texture_height);
    }
    struct vulkan_positions *vulkan = rope2d_allocate(&device->host, 1, sizeof(*vulkan));
    if (vulkan == NULL)
        return rope2d_fail(&device->host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for positions");
    positions->impl = vulkan;
    uint64_t bytes = positions->row_count * sizeof(int32_t);
    uint64_t size = bytes > 0 ? bytes : sizeof(int32_t);
    ROPE2D_TRY(rope2d_vulkan_upload_buffer(rope2d_vulkan_of(device), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                           positions->rows, bytes, size, &vulkan->rows));
    if (positions->table_kind == ROPE2D_TABLE_TEXTURE)
        return put_texture(positions, vulkan);
    return put_buffer(positions, vulkan);
}

void rope2d_vulkan_positions_destroy(rope2d_positions *positions) {
    struct vulkan_positions *vulkan = positions->impl;
    if (vulkan == NULL)
        return;
    struct vulkan_device *device = rope2d_vulkan_of(positions->device);
    rope2d_vulkan_buffer_destroy(device, &vulkan->rows);
    rope2d_vulkan_buffer_destroy(device, &vulkan->table);
    rope2d_vulkan_image_destroy(device, &vulkan->image);
    rope2d_release(&positions->device->host, vulkan, 1, sizeof(*vulkan));
    positions->impl = NULL;
}

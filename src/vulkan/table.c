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

uint64_t rope2d_vulkan_rows_bytes(const rope2d_positions *positions) {
    return (positions->row_count > 0 ? positions->row_count : 1) * sizeof(int32_t);
}

uint64_t rope2d_vulkan_table_bytes(const rope2d_positions *positions) {
    return (positions->table_entries > 0 ? positions->table_entries : 1) * 2 * sizeof(float);
}

rope2d_status rope2d_vulkan_not_placed(const rope2d_positions *positions) {
    return rope2d_fail(&positions->device->host, ROPE2D_ERROR_UNSUPPORTED,
                       "positions: rope2d_vulkan_positions_place has given them no memory yet");
}

static rope2d_status put_buffer(const rope2d_positions *positions, struct vulkan_positions *vulkan) {
    return rope2d_vulkan_upload_buffer(
        rope2d_vulkan_of(positions->device), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, positions->table,
        positions->table_entries * 2 * sizeof(float), rope2d_vulkan_table_bytes(positions), &vulkan->table);
}

// Two entries to a texel.
static void choose_size(const rope2d_positions *positions, struct vulkan_positions *vulkan, uint32_t *width,
                        uint32_t *height) {
    const uint64_t texels = positions->table_entries > 0 ? (positions->table_entries + 1) / 2 : 1;
    vulkan->fold = rope2d_vulkan_table_fold(positions->device, positions->table_entries);
    *width = 1u << vulkan->fold;
    *height = (uint32_t)((texels + (1ull << vulkan->fold) - 1) >> vulkan->fold);
}

static rope2d_status put_texture(const rope2d_positions *positions, struct vulkan_positions *vulkan) {
    struct vulkan_device *device = rope2d_vulkan_of(positions->device);
    uint32_t width = 0;
    uint32_t height = 0;
    if (device->queue == NULL)
        return rope2d_fail(&positions->device->host, ROPE2D_ERROR_UNSUPPORTED,
                           "params.table is a texture, which no queue can fill: "
                           "rope2d_vulkan_positions_prepare leaves that to a command buffer");
    choose_size(positions, vulkan, &width, &height);
    return rope2d_vulkan_upload_image(device, width, height, positions->table,
                                      positions->table_entries * 2 * sizeof(float), &vulkan->image);
}

// Only the image is made, of which the driver says what memory it needs.
static rope2d_status defer(const rope2d_positions *positions, struct vulkan_positions *vulkan) {
    struct vulkan_device *device = rope2d_vulkan_of(positions->device);
    uint32_t width = 0;
    uint32_t height = 0;
    if (positions->table_kind != ROPE2D_TABLE_TEXTURE)
        return ROPE2D_OK;
    choose_size(positions, vulkan, &width, &height);
    ROPE2D_TRY(rope2d_vulkan_image_make(device, width, height, &vulkan->image));
    device->vk.vkGetImageMemoryRequirements(device->handle, vulkan->image.handle, &vulkan->image_needs);
    return ROPE2D_OK;
}

// A table that does not fit stays with the host, and each apply brings what it needs: window.c.
rope2d_status rope2d_vulkan_positions_create(rope2d_positions *positions) {
    const rope2d_device *device = positions->device;
    if (!rope2d_vulkan_table_fits(device, positions->table_kind, positions->table_entries)) {
        if (rope2d_vulkan_window_tokens(positions) > 0 && !positions->is_deferred)
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
    if (positions->is_deferred)
        return defer(positions, vulkan);
    ROPE2D_TRY(rope2d_vulkan_upload_buffer(rope2d_vulkan_of(device), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                           positions->rows, positions->row_count * sizeof(int32_t),
                                           rope2d_vulkan_rows_bytes(positions), &vulkan->rows));
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

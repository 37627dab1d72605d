// SPDX-License-Identifier: MIT
#include "table.h"

#include "upload.h"

static rope2d_status put_buffer(const rope2d_positions *positions, struct vulkan_positions *vulkan) {
    const rope2d_device *device = positions->device;
    uint64_t bytes = positions->table_entries * 2 * sizeof(float);
    uint64_t size = bytes > 0 ? bytes : 2 * sizeof(float); // no buffer is empty
    if (bytes > device->info.max_buffer_range)
        return rope2d_fail(&device->host, ROPE2D_ERROR_LIMIT,
                           "table: %llu bytes, but a buffer of this device can have %llu",
                           (unsigned long long)bytes, (unsigned long long)device->info.max_buffer_range);
    return rope2d_vulkan_upload_buffer(rope2d_vulkan_of(device), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                       positions->table, bytes, size, &vulkan->table);
}

// Two entries to a texel. The image is about square: its width is a power of two, so that the kernel folds by
// shifting.
static rope2d_status put_texture(const rope2d_positions *positions, struct vulkan_positions *vulkan) {
    const rope2d_device *device = positions->device;
    uint64_t texels = positions->table_entries > 0 ? (positions->table_entries + 1) / 2 : 1;
    uint32_t fold = 0;
    while ((1ull << fold) * (1ull << fold) < texels && 2ull << fold <= device->info.max_texture_width)
        fold++;
    uint64_t height = (texels + (1ull << fold) - 1) >> fold;
    if (height > device->info.max_texture_height)
        return rope2d_fail(&device->host, ROPE2D_ERROR_LIMIT,
                           "table: %llu texels, but a texture of this device can have %llu x %llu",
                           (unsigned long long)texels, 1ull << fold,
                           (unsigned long long)device->info.max_texture_height);
    vulkan->fold = fold;
    return rope2d_vulkan_upload_image(rope2d_vulkan_of(device), 1u << fold, (uint32_t)height,
                                      positions->table, positions->table_entries * 2 * sizeof(float),
                                      &vulkan->image);
}

rope2d_status rope2d_vulkan_positions_create(rope2d_positions *positions) {
    const rope2d_device *device = positions->device;
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

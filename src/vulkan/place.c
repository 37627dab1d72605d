// SPDX-License-Identifier: MIT
//
// Positions in memory of the caller's: first what they need, then where it is, then a command buffer that
// fills it.
#include "table.h"
#include "upload.h"

#include "rope2d/rope2d_vulkan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXEL_BYTES 16 // copies to images begin at multiples of it

static uint64_t round_up(uint64_t value, uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

static uint64_t staged_table_bytes(const rope2d_positions *positions) {
    const struct vulkan_positions *vulkan = positions->impl;
    if (positions->table_kind == ROPE2D_TABLE_TEXTURE)
        return (uint64_t)vulkan->image.width * vulkan->image.height * TEXEL_BYTES;
    return rope2d_vulkan_table_bytes(positions);
}

static void fill_needs(const rope2d_positions *positions, rope2d_vulkan_positions_needs *needs) {
    const struct vulkan_positions *vulkan = positions->impl;
    const rope2d_vulkan_need rows = {
        .size = rope2d_vulkan_rows_bytes(positions),
        .alignment = positions->device->info.buffer_offset_alignment,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    const rope2d_vulkan_need staging = {
        .size = round_up(staged_table_bytes(positions), TEXEL_BYTES) + rows.size,
        .alignment = TEXEL_BYTES,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
    };
    needs->struct_size = sizeof(*needs);
    needs->rows = rows;
    needs->staging = staging;
    needs->table = rows;
    needs->table.size = rope2d_vulkan_table_bytes(positions);
    if (positions->table_kind != ROPE2D_TABLE_TEXTURE)
        return;
    needs->table.size = vulkan->image_needs.size;
    needs->table.alignment = vulkan->image_needs.alignment;
    needs->table.usage = 0;
    needs->table.memory_types = vulkan->image_needs.memoryTypeBits;
}

static rope2d_status check_prepared(const rope2d_positions *positions) {
    const rope2d_host *host = &positions->device->host;
    if (positions->device->backend != ROPE2D_BACKEND_VULKAN)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "positions are of %s, which is no Vulkan device",
                           positions->device->info.name);
    if (!positions->is_deferred)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH,
                           "positions were not made by rope2d_vulkan_positions_prepare");
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_positions_prepare(rope2d_device *device, const rope2d_positions_params *params,
                                              rope2d_positions **positions) {
    if (positions != NULL)
        *positions = NULL;
    if (device == NULL)
        return ROPE2D_ERROR_NULL;
    if (device->backend != ROPE2D_BACKEND_VULKAN)
        return rope2d_fail(&device->host, ROPE2D_ERROR_MISMATCH, "device is %s, which is no Vulkan device",
                           device->info.name);
    return rope2d_positions_make(device, params, true, positions);
}

rope2d_status rope2d_vulkan_positions_get_needs(const rope2d_positions *positions,
                                                rope2d_vulkan_positions_needs *needs) {
    if (positions == NULL)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &positions->device->host;
    if (needs == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "needs is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(host, "needs", needs->struct_size, sizeof(*needs)));
    ROPE2D_TRY(check_prepared(positions));
    fill_needs(positions, needs);
    return ROPE2D_OK;
}

// ---------------------------------------------------------------------------------------------------- places

static rope2d_status check_place(const struct vulkan_device *device, const char *name,
                                 const rope2d_vulkan_place *place, const rope2d_vulkan_need *need) {
    const rope2d_host *host = &device->owner->host;
    const bool is_image = need->usage == 0;
    char path[32];
    if (is_image ? place->memory == VK_NULL_HANDLE : place->buffer == VK_NULL_HANDLE)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "places.%s.%s is VK_NULL_HANDLE", name,
                           is_image ? "memory" : "buffer");
    if (place->offset % need->alignment != 0)
        return rope2d_fail(host, ROPE2D_ERROR_TENSOR_ALIGNMENT,
                           "places.%s.offset is %" PRIu64 "; must be a multiple of %" PRIu64, name,
                           place->offset, need->alignment);
    if (place->size < need->size)
        return rope2d_fail(host, ROPE2D_ERROR_TENSOR_SIZE,
                           "places.%s.size is %" PRIu64 ", %" PRIu64 " are needed", name, place->size,
                           need->size);
    if (is_image)
        return ROPE2D_OK;
    snprintf(path, sizeof(path), "places.%s", name);
    if (place->memory != VK_NULL_HANDLE)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH,
                           "%s.memory is given; must be VK_NULL_HANDLE: it is a range of a buffer", path);
    return rope2d_vulkan_range_check(device, path, place->buffer, place->offset, place->size);
}

static rope2d_status check_places(const rope2d_positions *positions,
                                  const rope2d_vulkan_positions_places *places) {
    const rope2d_host *host = &positions->device->host;
    const bool is_texture = positions->table_kind == ROPE2D_TABLE_TEXTURE;
    const struct vulkan_device *device = rope2d_vulkan_of(positions->device);
    rope2d_vulkan_positions_needs needs;
    fill_needs(positions, &needs);
    ROPE2D_TRY(check_place(device, "table", &places->table, &needs.table));
    ROPE2D_TRY(check_place(device, "rows", &places->rows, &needs.rows));
    if (!is_texture && places->table.mapped != NULL && places->rows.mapped != NULL)
        return ROPE2D_OK;
    ROPE2D_TRY(check_place(device, "staging", &places->staging, &needs.staging));
    if (places->staging.mapped == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL,
                           "places.staging.mapped is NULL, and the host does not see all of table and rows");
    return ROPE2D_OK;
}

// What the caller has is coherent, or the caller's to flush.
static struct vulkan_buffer borrow(const rope2d_vulkan_place *place, uint64_t skip, uint64_t size) {
    const struct vulkan_buffer buffer = {
        .handle = place->buffer,
        .is_borrowed = true,
        .offset = place->offset + skip,
        .size = size,
        .mapped = place->mapped != NULL ? (unsigned char *)place->mapped + skip : NULL,
        .is_coherent = true,
    };
    return buffer;
}

// Staging holds the table, and the rows behind it.
static struct vulkan_buffer staged_table(const rope2d_positions *positions,
                                         const rope2d_vulkan_place *staging) {
    return borrow(staging, 0, staged_table_bytes(positions));
}

static struct vulkan_buffer staged_rows(const rope2d_positions *positions,
                                        const rope2d_vulkan_place *staging) {
    return borrow(staging, round_up(staged_table_bytes(positions), TEXEL_BYTES),
                  rope2d_vulkan_rows_bytes(positions));
}

rope2d_status rope2d_vulkan_positions_place(rope2d_positions *positions,
                                            const rope2d_vulkan_positions_places *places) {
    if (positions == NULL)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &positions->device->host;
    if (places == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "places is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(host, "places", places->struct_size, sizeof(*places)));
    ROPE2D_TRY(check_prepared(positions));
    struct vulkan_device *device = rope2d_vulkan_of(positions->device);
    struct vulkan_positions *vulkan = positions->impl;
    if (rope2d_vulkan_is_placed(vulkan))
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "positions have their memory already");
    ROPE2D_TRY(check_places(positions, places));
    const bool is_texture = positions->table_kind == ROPE2D_TABLE_TEXTURE;
    if (is_texture)
        ROPE2D_TRY(
            rope2d_vulkan_image_bind(device, places->table.memory, places->table.offset, &vulkan->image));
    vulkan->staging = places->staging;
    vulkan->copies_table = is_texture || places->table.mapped == NULL;
    vulkan->copies_rows = places->rows.mapped == NULL;
    vulkan->rows = borrow(&places->rows, 0, rope2d_vulkan_rows_bytes(positions));
    if (!is_texture)
        vulkan->table = borrow(&places->table, 0, rope2d_vulkan_table_bytes(positions));
    const struct vulkan_buffer table =
        vulkan->copies_table ? staged_table(positions, &vulkan->staging) : vulkan->table;
    const struct vulkan_buffer rows =
        vulkan->copies_rows ? staged_rows(positions, &vulkan->staging) : vulkan->rows;
    ROPE2D_TRY(rope2d_vulkan_upload_fill(device, &table, positions->table,
                                         positions->table_entries * 2 * sizeof(*positions->table)));
    return rope2d_vulkan_upload_fill(device, &rows, positions->rows,
                                     positions->row_count * sizeof(*positions->rows));
}

rope2d_status rope2d_vulkan_positions_record_upload(const rope2d_positions *positions,
                                                    VkCommandBuffer commands) {
    if (positions == NULL)
        return ROPE2D_ERROR_NULL;
    if (commands == NULL)
        return rope2d_fail(&positions->device->host, ROPE2D_ERROR_NULL, "commands is NULL");
    ROPE2D_TRY(check_prepared(positions));
    struct vulkan_device *device = rope2d_vulkan_of(positions->device);
    const struct vulkan_positions *vulkan = positions->impl;
    if (!rope2d_vulkan_is_placed(vulkan))
        return rope2d_vulkan_not_placed(positions);
    const struct vulkan_buffer table = staged_table(positions, &vulkan->staging);
    const struct vulkan_buffer rows = staged_rows(positions, &vulkan->staging);
    if (vulkan->copies_table && positions->table_kind == ROPE2D_TABLE_TEXTURE)
        rope2d_vulkan_copy_to_image(device, commands, &table, &vulkan->image);
    else if (vulkan->copies_table)
        rope2d_vulkan_copy_to_buffer(device, commands, &table, &vulkan->table);
    if (vulkan->copies_rows)
        rope2d_vulkan_copy_to_buffer(device, commands, &rows, &vulkan->rows);
    return ROPE2D_OK;
}

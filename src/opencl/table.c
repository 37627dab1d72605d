// SPDX-License-Identifier: MIT
#include "opencl.h"

#include <string.h>

#define ENTRY_BYTES 8  // (cos, sin)
#define TEXEL_BYTES 16 // two entries

// --------------------------------------------------------------------------------------------- the table

static uint64_t table_texels(uint64_t entries) {
    return entries < 2 ? 1 : (entries + 1) / 2; // an image has at least one
}

// The narrowest power of two that holds the texels in a row, or else the widest that the device has.
static uint32_t choose_fold(uint64_t texels, uint64_t max_width) {
    uint32_t fold = 0;
    while (((uint64_t)1 << fold) < texels && ((uint64_t)2 << fold) <= max_width)
        fold++;
    return fold;
}

static bool table_fits(const rope2d_device *front, rope2d_table kind, uint64_t entries) {
    const rope2d_device_info *info = &front->info;
    if (kind == ROPE2D_TABLE_BUFFER)
        return entries <= info->max_buffer_range / ENTRY_BYTES;
    uint64_t texels = table_texels(entries);
    uint32_t fold = choose_fold(texels, info->max_texture_width);
    uint64_t height = (texels + ((uint64_t)1 << fold) - 1) >> fold;
    return height <= info->max_texture_height && (height << fold) <= info->max_buffer_range / TEXEL_BYTES;
}

static rope2d_status write_texels(const rope2d_cl_device *device, cl_mem image, uint32_t fold,
                                  const float *entries, uint64_t count) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    uint64_t whole = count / 2, width = (uint64_t)1 << fold;
    size_t rows = (size_t)(whole >> fold), rest = (size_t)(whole & (width - 1));
    const size_t origin[3] = {0, 0, 0}, region[3] = {(size_t)width, rows, 1};
    if (rows > 0)
        CL(EnqueueWriteImage, device->queue, image, CL_TRUE, origin, region, 0, 0, entries, 0, NULL, NULL);
    const size_t row_origin[3] = {0, rows, 0}, row_region[3] = {rest, 1, 1};
    if (rest > 0)
        CL(EnqueueWriteImage, device->queue, image, CL_TRUE, row_origin, row_region, 0, 0,
           entries + 4 * (size_t)rows * width, 0, NULL, NULL);
    if (count % 2 == 1) {
        const float last[4] = {entries[2 * count - 2], entries[2 * count - 1], 0.0f, 0.0f};
        const size_t last_origin[3] = {rest, rows, 0}, last_region[3] = {1, 1, 1};
        CL(EnqueueWriteImage, device->queue, image, CL_TRUE, last_origin, last_region, 0, 0, last, 0, NULL,
           NULL);
    }
fail:
    return status;
}

static rope2d_status texture_create(const rope2d_device *front, const float *entries, uint64_t count,
                                    rope2d_cl_window *window, cl_mem *image) {
    const rope2d_cl_device *device = front->impl;
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    uint64_t texels = table_texels(count);
    cl_image_desc shape;
    memset(&shape, 0, sizeof(shape));
    window->fold = choose_fold(texels, front->info.max_texture_width);
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = (size_t)1 << window->fold;
    shape.image_height = (size_t)((texels + shape.image_width - 1) >> window->fold);
    uint64_t bytes = (uint64_t)shape.image_width * shape.image_height * TEXEL_BYTES;
    float *padded = NULL;
    if (device->is_adopted) { // a caller's queue is not ours to write through
        padded = rope2d_allocate(cl->host, bytes, 1);
        if (!padded)
            return rope2d_fail(cl->host, ROPE2D_ERROR_HOST_MEMORY, "table: no memory for %llu bytes",
                               (unsigned long long)bytes);
        if (entries && count > 0)
            memcpy(padded, entries, (size_t)count * ENTRY_BYTES);
    }
    CL_MAKE(*image, CreateImage, device->context, CL_MEM_READ_ONLY | (padded ? CL_MEM_COPY_HOST_PTR : 0),
            &format, &shape, padded);
    if (!padded)
        OWN(write_texels(device, *image, window->fold, entries, count));
fail:
    rope2d_release(cl->host, padded, bytes, 1);
    return status;
}

static rope2d_status fill_window(const rope2d_positions *positions, const int32_t *rows, uint64_t row_count,
                                 const float *entries, uint64_t entry_count, rope2d_cl_window *window) {
    const rope2d_device *front = positions->device;
    const rope2d_cl_device *device = front->impl;
    rope2d_status status = ROPE2D_OK;
    OWN(rope2d_cl_buffer_create(device, CL_MEM_READ_ONLY, row_count * sizeof(*rows), rows, &window->rows));
    const bool is_texture = positions->table_kind == ROPE2D_TABLE_TEXTURE, is_pocl = rope2d_cl_is_pocl(front);
    if (is_texture && (!is_pocl || window->is_whole)) // no caller sees other windows
        OWN(texture_create(front, entries, entry_count, window, is_pocl ? &window->image : &window->table));
    if (!is_texture || is_pocl)
        OWN(rope2d_cl_buffer_create(device, CL_MEM_READ_ONLY, entry_count * ENTRY_BYTES, entries,
                                    &window->table));
fail:
    return status;
}

// ------------------------------------------------------------------------------------- all the positions

static bool whole_fits(const rope2d_positions *positions) {
    // Kernels number rows in 32 bits.
    return positions->row_count <= positions->device->info.max_buffer_range / sizeof(int32_t) &&
           positions->row_count <= INT32_MAX &&
           table_fits(positions->device, positions->table_kind, positions->table_entries);
}

rope2d_status rope2d_opencl_positions_create(rope2d_positions *positions) {
    const rope2d_device *front = positions->device;
    if (positions->table_kind == ROPE2D_TABLE_TEXTURE && !front->info.has_textures)
        return rope2d_fail(&front->host, ROPE2D_ERROR_UNSUPPORTED,
                           "table: textures, but this device has no images of CL_RGBA and CL_FLOAT");
    if (!whole_fits(positions))
        return ROPE2D_OK;
    rope2d_cl_window *window = rope2d_allocate(&front->host, 1, sizeof(*window));
    if (!window)
        return rope2d_fail(&front->host, ROPE2D_ERROR_HOST_MEMORY, "positions: no memory for %zu bytes",
                           sizeof(*window));
    positions->impl = window;
    window->is_whole = true;
    window->table_rows = positions->table_rows;
    return fill_window(positions, positions->rows, positions->row_count, positions->table,
                       positions->table_entries, window);
}

void rope2d_opencl_positions_destroy(rope2d_positions *positions) {
    rope2d_cl_window *window = positions->impl;
    if (!window)
        return;
    rope2d_cl_window_destroy(positions->device->impl, window);
    rope2d_release(&positions->device->host, window, 1, sizeof(*window));
    positions->impl = NULL;
}

const rope2d_cl_window *rope2d_cl_window_whole(const rope2d_positions *positions) {
    return positions->impl;
}

// ------------------------------------------------------------------------------------ some of the tokens

uint64_t rope2d_cl_window_tokens(const rope2d_positions *positions) {
    const rope2d_device *front = positions->device;
    uint64_t row_axes = positions->pattern.row_axes;
    uint64_t rows = front->info.max_buffer_range / sizeof(int32_t);
    if (rows > (uint64_t)1 << 20) // enough to keep a device busy
        rows = (uint64_t)1 << 20;
    while (rows >= row_axes && !table_fits(front, positions->table_kind, rows * positions->table_columns))
        rows /= 2;
    return rows / row_axes;
}

void rope2d_cl_window_destroy(const rope2d_cl_device *device, rope2d_cl_window *window) {
    rope2d_cl_memory_release(device, &window->rows);
    rope2d_cl_memory_release(device, &window->table);
    rope2d_cl_memory_release(device, &window->image);
}

// Each row number of the tokens gets a copy of its row of the table, so the window needs as much as it has
// row numbers, whatever they point to.
rope2d_status rope2d_cl_window_create(const rope2d_positions *positions, uint32_t batch, uint64_t first_token,
                                      uint64_t tokens, rope2d_cl_window *window) {
    const rope2d_host *host = &positions->device->host;
    rope2d_status status = ROPE2D_OK;
    uint64_t row_axes = positions->pattern.row_axes, count = tokens * row_axes;
    size_t row_floats = 2 * (size_t)positions->table_columns;
    uint64_t element = positions->batch > 1 ? batch : 0;
    const int32_t *from = positions->rows + (element * positions->tokens + first_token) * row_axes;
    int32_t *rows = rope2d_allocate(host, count, sizeof(*rows));
    float *table = rope2d_allocate(host, count * row_floats, sizeof(*table));
    if (!rows || (!table && row_floats > 0)) {
        status =
            rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "positions: no memory for %llu rows of %u entries",
                        (unsigned long long)count, (unsigned)positions->table_columns);
        goto fail;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint32_t row = from[i] < 0 ? 0 : (uint32_t)from[i];
        if (row >= positions->table_rows)
            row = positions->table_rows - 1;
        rows[i] = from[i] < 0 ? -1 : (int32_t)i;
        if (row_floats > 0)
            memcpy(table + i * row_floats, positions->table + row * row_floats, row_floats * sizeof(*table));
    }
    window->table_rows = (uint32_t)count;
    OWN(fill_window(positions, rows, count, table, count * positions->table_columns, window));
fail:
    rope2d_release(host, rows, count, sizeof(*rows));
    rope2d_release(host, table, count * row_floats, sizeof(*table));
    return status;
}

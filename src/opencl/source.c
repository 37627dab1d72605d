// SPDX-License-Identifier: MIT
//
// Drivers disagree on how -I quotes a folder and on which files a compiler may open, so sources from disk are
// put together here, in the way of tools/embed.py.
#include "opencl.h"

#include "../embedded.h"
#include "../file.h"

#include <stdio.h>
#include <string.h>

#define MAX_DEPTH     8
#define MAX_PATH_TEXT 4096

static rope2d_status append(const rope2d_host *host, rope2d_cl_source *source, const char *text,
                            size_t size) {
    if (source->size + size + 1 > source->capacity) {
        size_t capacity = 2 * source->capacity + size + 4096;
        char *grown = rope2d_allocate(host, capacity, 1);
        if (!grown)
            return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "kernel source: no memory for %zu bytes",
                               capacity);
        if (source->size > 0)
            memcpy(grown, source->text, source->size);
        rope2d_release(host, source->text, source->capacity, 1);
        source->text = grown;
        source->capacity = capacity;
    }
    memcpy(source->text + source->size, text, size);
    source->size += size;
    source->text[source->size] = 0;
    return ROPE2D_OK;
}

static rope2d_status append_line_mark(const rope2d_host *host, rope2d_cl_source *source, unsigned line,
                                      const char *file) {
    char mark[MAX_PATH_TEXT];
    int size = snprintf(mark, sizeof(mark), "#line %u \"%s\"\n", line, file);
    if (size < 0 || (size_t)size >= sizeof(mark))
        return rope2d_fail(host, ROPE2D_ERROR_COMPILE, "%s: the name is too long; the limit is %d", file,
                           MAX_PATH_TEXT);
    return append(host, source, mark, (size_t)size);
}

static const char *skip_spaces(const char *at) {
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

// Whether a line is `#include "name"`; copies the name.
static bool is_include(const char *line, char *name, size_t size) {
    line = skip_spaces(line);
    if (*line++ != '#')
        return false;
    line = skip_spaces(line);
    if (strncmp(line, "include", 7) != 0)
        return false;
    line = skip_spaces(line + 7);
    if (*line++ != '"')
        return false;
    size_t length = strcspn(line, "\"\r\n");
    if (line[length] != '"' || length >= size)
        return false;
    memcpy(name, line, length);
    name[length] = 0;
    return true;
}

static rope2d_status append_file(const rope2d_device *device, const char *file, int depth,
                                 rope2d_cl_source *source);

static rope2d_status append_text(const rope2d_device *device, const char *file, const char *text, int depth,
                                 rope2d_cl_source *source) {
    const rope2d_host *host = &device->host;
    char name[256];
    unsigned number = 1;
    ROPE2D_TRY(append_line_mark(host, source, 1, file));
    for (const char *line = text; *line; number++) {
        size_t length = strcspn(line, "\n");
        if (is_include(line, name, sizeof(name))) {
            ROPE2D_TRY(append_file(device, name, depth + 1, source));
            ROPE2D_TRY(append_line_mark(host, source, number + 1, file));
        } else {
            ROPE2D_TRY(append(host, source, line, length));
            ROPE2D_TRY(append(host, source, "\n", 1));
        }
        line += length;
        if (*line == '\n')
            line++;
    }
    return ROPE2D_OK;
}

static rope2d_status append_file(const rope2d_device *device, const char *file, int depth,
                                 rope2d_cl_source *source) {
    const rope2d_host *host = &device->host;
    char path[MAX_PATH_TEXT];
    if (depth > MAX_DEPTH)
        return rope2d_fail(host, ROPE2D_ERROR_COMPILE, "%s: includes are nested deeper than %d", file,
                           MAX_DEPTH);
    int length = snprintf(path, sizeof(path), "%s/%s", device->shader_folder, file);
    if (length < 0 || (size_t)length >= sizeof(path))
        return rope2d_fail(host, ROPE2D_ERROR_COMPILE, "shader_folder: the path is too long; the limit is %d",
                           MAX_PATH_TEXT);
    uint64_t size = 0;
    char *text = rope2d_file_read(host, path, &size);
    if (!text)
        return rope2d_fail(host, ROPE2D_ERROR_COMPILE, "shader_folder: cannot read \"%s\"", path);
    rope2d_status status = append_text(device, file, text, depth, source);
    rope2d_release(host, text, size + 1, 1);
    return status;
}

static rope2d_status read_embedded(const rope2d_device *device, const char *file, rope2d_cl_source *source) {
    rope2d_kernel_bytes kernel;
    rope2d_status status = rope2d_embedded_create(&device->host, rope2d_embedded_opencl, file, &kernel, NULL);
    source->text = kernel.data;
    source->size = kernel.size;
    source->capacity = kernel.capacity;
    return status;
}

rope2d_status rope2d_cl_source_create(const rope2d_device *device, const char *file,
                                      rope2d_cl_source *source) {
    memset(source, 0, sizeof(*source));
    rope2d_status status =
        device->shader_folder ? append_file(device, file, 0, source) : read_embedded(device, file, source);
    if (status != ROPE2D_OK)
        rope2d_cl_source_destroy(device, source);
    return status;
}

void rope2d_cl_source_destroy(const rope2d_device *device, rope2d_cl_source *source) {
    rope2d_release(&device->host, source->text, source->capacity, 1);
    memset(source, 0, sizeof(*source));
}

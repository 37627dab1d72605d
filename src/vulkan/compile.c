// SPDX-License-Identifier: MIT
#include "compile.h"

#include "../embedded.h"
#include "../file.h"

#include <shaderc/shaderc.h>

#include <stdio.h>
#include <string.h>

#define SHADER "rope2d.comp"

// A kernel's text, and the name that the compiler's log gives it.
struct source {
    char *name; // NULL: the embedded text
    uint64_t name_size;
    char *text;
    uint64_t bytes;
};

struct include {
    shaderc_include_result result;
    struct source source;
};

struct folder {
    const rope2d_host *host;
    const char *path;
};

static void source_release(const rope2d_host *host, struct source *source) {
    rope2d_release(host, source->text, source->bytes + 1, 1);
    rope2d_release(host, source->name, source->name_size, 1);
}

static rope2d_status source_read(const struct folder *folder, const char *file, struct source *source) {
    const rope2d_host *host = folder->host;
    source->name_size = strlen(folder->path) + strlen(file) + 2;
    source->name = rope2d_allocate(host, source->name_size, 1);
    if (source->name == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "shader_folder: no memory for a path");
    snprintf(source->name, (size_t)source->name_size, "%s/%s", folder->path, file);
    source->text = rope2d_file_read(host, source->name, &source->bytes);
    if (source->text == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_COMPILE, "shader_folder: '%s' cannot be read", source->name);
    return ROPE2D_OK;
}

static shaderc_include_result *resolve(void *user, const char *requested, int type, const char *requesting,
                                       size_t depth) {
    (void)type;
    (void)requesting;
    (void)depth;
    const struct folder *folder = user;
    struct include *include = rope2d_allocate(folder->host, 1, sizeof(*include));
    if (include == NULL)
        return NULL;
    if (source_read(folder, requested, &include->source) == ROPE2D_OK) {
        include->result.source_name = include->source.name;
        include->result.source_name_length = strlen(include->source.name);
        include->result.content = include->source.text;
        include->result.content_length = (size_t)include->source.bytes;
    } else { // an empty name is shaderc's sign of a failure
        include->result.source_name = "";
        include->result.content = "cannot be read";
        include->result.content_length = strlen(include->result.content);
    }
    include->result.user_data = include;
    return &include->result;
}

static void release(void *user, shaderc_include_result *result) {
    const struct folder *folder = user;
    if (result == NULL)
        return;
    struct include *include = result->user_data;
    source_release(folder->host, &include->source);
    rope2d_release(folder->host, include, 1, sizeof(*include));
}

static rope2d_status embedded(const rope2d_host *host, struct source *source) {
    rope2d_kernel_bytes kernel;
    rope2d_status status = rope2d_embedded_create(host, rope2d_embedded_glsl, SHADER, &kernel, NULL);
    source->text = kernel.data;
    source->bytes = kernel.size; // the capacity is one more, as that of a file's text
    return status;
}

static void set_options(shaderc_compile_options_t options, struct folder *folder, bool is_vector) {
    shaderc_compile_options_add_macro_definition(options, "R_VECTOR", 8, is_vector ? "1" : "0", 1);
    if (is_vector)
        shaderc_compile_options_add_macro_definition(options, "R_FEATURES", 10, "1", 1);
    shaderc_compile_options_set_target_env(options, shaderc_target_env_vulkan,
                                           shaderc_env_version_vulkan_1_0);
    // shaderc's optimizer inlines every call: that takes seconds for a vector kernel and makes it ten times
    // as large, and drivers optimize by themselves.
    shaderc_compile_options_set_optimization_level(options, shaderc_optimization_level_zero);
    if (folder->path != NULL)
        shaderc_compile_options_set_include_callbacks(options, resolve, release, folder);
}

static rope2d_status copy_words(const rope2d_host *host, shaderc_compilation_result_t result,
                                uint32_t **words, uint64_t *bytes) {
    size_t length = shaderc_result_get_length(result);
    *words = rope2d_allocate(host, length, 1);
    if (*words == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for a kernel of %zu bytes", length);
    memcpy(*words, shaderc_result_get_bytes(result), length);
    *bytes = length;
    return ROPE2D_OK;
}

static rope2d_status compile_source(const rope2d_host *host, const struct source *source,
                                    struct folder *folder, bool is_vector, uint32_t **words,
                                    uint64_t *bytes) {
    rope2d_status status = ROPE2D_ERROR_HOST_MEMORY;
    shaderc_compilation_result_t result = NULL;
    shaderc_compiler_t compiler = shaderc_compiler_initialize();
    shaderc_compile_options_t options = shaderc_compile_options_initialize();
    const char *name = source->name != NULL ? source->name : SHADER;
    if (compiler != NULL && options != NULL) {
        set_options(options, folder, is_vector);
        result = shaderc_compile_into_spv(compiler, source->text, (size_t)source->bytes,
                                          shaderc_compute_shader, name, "main", options);
    }
    if (result == NULL) {
        rope2d_log(host, ROPE2D_LOG_ERROR, "shaderc: no memory to compile %s", name);
    } else if (shaderc_result_get_compilation_status(result) != shaderc_compilation_status_success) {
        rope2d_log_text(host, ROPE2D_LOG_ERROR, shaderc_result_get_error_message(result));
        status = rope2d_fail(host, ROPE2D_ERROR_COMPILE, "%s does not compile: %zu errors", name,
                             shaderc_result_get_num_errors(result));
    } else {
        status = copy_words(host, result, words, bytes);
    }
    if (result != NULL)
        shaderc_result_release(result);
    shaderc_compile_options_release(options);
    shaderc_compiler_release(compiler);
    return status;
}

rope2d_status rope2d_vulkan_compile_check(const rope2d_host *host) {
    (void)host;
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_compile(const rope2d_host *host, const char *folder, bool is_vector,
                                    uint32_t **words, uint64_t *bytes) {
    struct folder where = {host, folder};
    struct source source = {0};
    *words = NULL;
    *bytes = 0;
    rope2d_status status = folder != NULL ? source_read(&where, SHADER, &source) : embedded(host, &source);
    if (status == ROPE2D_OK)
        status = compile_source(host, &source, &where, is_vector, words, bytes);
    source_release(host, &source);
    return status;
}

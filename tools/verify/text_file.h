// SPDX-License-Identifier: MIT
//
// Whole files of text. What is written is there whole or not at all: it is renamed into its place.
#ifndef ROPE2D_VERIFY_TEXT_FILE_H
#define ROPE2D_VERIFY_TEXT_FILE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

// All return an exit status, having said what is wrong.
int text_file_read(const char *path, char **text); // text_file_free frees the text
int text_file_read_json(const char *path, cJSON **json);
int text_file_write_json(const char *path, const cJSON *json);
// What `writer` writes.
typedef void text_file_writer_fn(FILE *file, const cJSON *json);
int text_file_write(const char *path, text_file_writer_fn *writer, const cJSON *json);

void text_file_free(char *text);
// Something is, whether it can be read or not.
bool text_file_is_there(const char *path);

// The JSON's text, in valid UTF-8, with or without line breaks; NULL when memory runs out. cJSON_free frees
// it.
char *text_of_json(const cJSON *json, bool has_lines);

#endif

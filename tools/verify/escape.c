// SPDX-License-Identifier: MIT
#include "escape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../cli/utf8.h"

void escape_utf8(char *text) {
    uint32_t code;
    for (unsigned char *at = (unsigned char *)text; *at;) {
        size_t length = utf8_length(at, &code);
        if (!length)
            *at = '?';
        at += length ? length : 1;
    }
}

void escape_xml(FILE *file, const char *text) {
    uint32_t code;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = utf8_length(at, &code);
        bool is_legal = length && (code >= 0x20 || code == '\t' || code == '\n') && code != 0x7f &&
                        (code & 0xfffe) != 0xfffe;
        const char *name = code == '<'   ? "&lt;"
                           : code == '>' ? "&gt;"
                           : code == '&' ? "&amp;"
                           : code == '"' ? "&quot;"
                                         : NULL;
        if (!is_legal)
            fputc('?', file);
        else if (name)
            fputs(name, file);
        else
            (void)fwrite(at, 1, length, file);
        at += length ? length : 1;
    }
}

void escape_json_in_html(FILE *file, const char *json) {
    for (; *json; ++json) {
        if (strchr("<>&", *json))
            fprintf(file, "\\u%04x", (unsigned char)*json);
        else
            fputc(*json, file);
    }
}

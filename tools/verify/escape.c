// SPDX-License-Identifier: MIT
#include "escape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The length of the valid character that begins here; 0 for none.
static size_t character_length(const unsigned char *at, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80              ? 1
                    : (at[0] & 0xe0u) == 0xc0 ? 2
                    : (at[0] & 0xf0u) == 0xe0 ? 3
                    : (at[0] & 0xf8u) == 0xf0 ? 4
                                              : 0;
    *code = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; ++i) {
        if ((at[i] & 0xc0u) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3fu);
    }
    bool is_surrogate = *code >= 0xd800 && *code < 0xe000;
    return !length || *code < least[length] || *code > 0x10ffff || is_surrogate ? 0 : length;
}

void escape_utf8(char *text) {
    uint32_t code;
    for (unsigned char *at = (unsigned char *)text; *at;) {
        size_t length = character_length(at, &code);
        if (!length)
            *at = '?';
        at += length ? length : 1;
    }
}

void escape_xml(FILE *file, const char *text) {
    uint32_t code;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = character_length(at, &code);
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

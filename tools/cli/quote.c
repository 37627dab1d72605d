// SPDX-License-Identifier: MIT
#include "quote.h"

#include <stdlib.h>
#include <string.h>

size_t quote_size(const char *text) {
    return 4 * strlen(text) + 2;
}

char *quote_append(char *at, const char *text) {
    static const char quote[] = {'\'', '\\', '\'', '\''}; // ends, says, and begins again
    *at++ = '\'';
    for (; *text; ++text) {
        if (*text == '\'') {
            memcpy(at, quote, sizeof quote);
            at += sizeof quote;
        } else {
            *at++ = *text;
        }
    }
    *at++ = '\'';
    return at;
}

char *quote_copy(const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=@%,:./";
    const size_t length = strspn(text, plain);
    char *copy = malloc(quote_size(text) + 1), *end = copy;
    if (!copy)
        return NULL;
    if (length && !text[length]) {
        memcpy(copy, text, length);
        end += length;
    } else {
        end = quote_append(copy, text);
    }
    *end = '\0';
    return copy;
}

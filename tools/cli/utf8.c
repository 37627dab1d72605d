// SPDX-License-Identifier: MIT
#include "utf8.h"

#include <stdbool.h>

size_t utf8_length(const unsigned char *at, uint32_t *code) {
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

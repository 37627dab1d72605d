// SPDX-License-Identifier: MIT
#include "identify.h"

#include "cpuid.h"

#include <stdint.h>
#include <string.h>

static void copy(char *to, size_t size, const char *from) {
    while (*from == ' ')
        from++;
    size_t length = strlen(from);
    while (length > 0 && from[length - 1] == ' ')
        length--;
    if (length > size - 1)
        length = size - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

#if ROPE2D_HAS_CPUID
static void read_brand(char *text) {
    uint32_t words[4];
    text[0] = '\0';
    rope2d_cpuid(0x80000000u, 0, words);
    if (words[0] < 0x80000004u)
        return;
    for (uint32_t i = 0; i < 3; i++) {
        rope2d_cpuid(0x80000002u + i, 0, words);
        memcpy(text + 16 * (size_t)i, words, 16);
    }
    text[48] = '\0';
}

static void read_vendor(char *text) {
    uint32_t words[4];
    rope2d_cpuid(0, 0, words);
    memcpy(text, &words[1], 4);
    memcpy(text + 4, &words[3], 4);
    memcpy(text + 8, &words[2], 4);
    text[12] = '\0';
}
#else
static void read_brand(char *text) {
    text[0] = '\0';
}

static void read_vendor(char *text) {
    text[0] = '\0';
}
#endif

void rope2d_cpu_identify(char *name, size_t name_size, char *vendor, size_t vendor_size) {
    char brand[49];
    char maker[13];
    read_brand(brand);
    read_vendor(maker);
    copy(name, name_size, brand[0] != '\0' ? brand : "CPU");
    copy(vendor, vendor_size, maker);
}

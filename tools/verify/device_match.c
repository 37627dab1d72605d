// SPDX-License-Identifier: MIT
#include "device_match.h"

#include <stdlib.h>
#include <string.h>

#include "verify.h"

static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool contains(const char *text, const char *part) {
    for (; *text; ++text) {
        size_t i = 0;
        while (part[i] && lower(text[i]) == lower(part[i]))
            ++i;
        if (!part[i])
            return true;
    }
    return false;
}

bool device_matches(const cJSON *device, const char *part) {
    static const char *const fields[] = {"name", "vendor", "driver"};
    const char *name = summary_text(device, "device");
    size_t length = strlen(part);
    if (!length)
        return false;
    if (strncmp(name, part, length) == 0 && (name[length] == ':' || !name[length]))
        return true;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
        if (contains(summary_text(device, fields[i]), part))
            return true;
    return false;
}

static const char *version_in(const char *text) {
    text += strcspn(text, "0123456789");
    return text;
}

static int compare_versions(const char *a, const char *b) {
    a = version_in(a);
    b = version_in(b);
    for (;;) {
        char *a_end, *b_end;
        unsigned long left = strtoul(a, &a_end, 10), right = strtoul(b, &b_end, 10);
        if (left != right)
            return left < right ? -1 : 1;
        a = *a_end == '.' ? a_end + 1 : "";
        b = *b_end == '.' ? b_end + 1 : "";
        if (!*a && !*b)
            return 0;
    }
}

bool device_version_between(const char *driver, const char *from, const char *to) {
    return (!from || compare_versions(driver, from) >= 0) && (!to || compare_versions(driver, to) <= 0);
}

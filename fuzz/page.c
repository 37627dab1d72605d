// SPDX-License-Identifier: MIT
#include "page.h"

#include "target.h"

#include "tools/verify/text_file.h"

#include <string.h>

static unsigned count(const char *text, const char *what) {
    unsigned found = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        found++;
    return found;
}

void page_check_html(const char *path) {
    char *text = NULL;
    FUZZ_PROMISE(text_file_read(path, &text) == 0);
    FUZZ_PROMISE(count(text, "<script") == 2 && count(text, "</script") == 2);
    text_file_free(text);
}

void page_check_xml(const char *path) {
    char *text = NULL;
    FUZZ_PROMISE(text_file_read(path, &text) == 0);
    FUZZ_PROMISE(count(text, "<") == count(text, ">") && count(text, "\"") % 2 == 0);
    FUZZ_PROMISE(count(text, "<testsuites") == 1 && count(text, "</testsuites>") == 1);
    FUZZ_PROMISE(count(text, "<testsuite ") == count(text, "</testsuite>"));
    for (const char *at = text; *at; at++)
        FUZZ_PROMISE((unsigned char)*at >= ' ' || *at == '\n' || *at == '\t');
    text_file_free(text);
}

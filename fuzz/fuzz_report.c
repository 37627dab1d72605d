// SPDX-License-Identifier: MIT
//
// `rope2d report merge` on a file that somebody sent: what it prints, the JSON and the page that it writes.
#include "place.h"
#include "target.h"

#include "tools/cli/verbs.h"
#include "tools/verify/text_file.h"

#include <string.h>

static const char own[] =
    "{\"format\":\"rope2d-verify\",\"format_version\":1,\"passed\":true,\"devices\":[]}";

static void count(const char *text, const char *what, unsigned expected) {
    unsigned found = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        found++;
    FUZZ_PROMISE(found == expected);
}

// Whatever the names are, the page has its own two scripts.
static void check_page(void) {
    char *text = NULL;
    FUZZ_PROMISE(text_file_read("page.html", &text) == 0);
    count(text, "<script", 2);
    count(text, "</script", 2);
    text_file_free(text);
}

static void check_json(void) {
    cJSON *json = NULL;
    FUZZ_PROMISE(text_file_read_json("merged.json", &json) == 0);
    FUZZ_PROMISE(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(json, "reports")) == 2);
    cJSON_Delete(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int is_made;
    char words[][16] = {"merge", "own.json", "other.json", "--html", "page.html", "--json", "merged.json"};
    char *arguments[sizeof words / sizeof words[0]];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        arguments[i] = words[i];
    if (!is_made++)
        place_make();
    place_clean(NULL);
    place_write("own.json", own, sizeof own - 1);
    place_write("other.json", data, size);
    const int status = verb_report.run(7, arguments);
    FUZZ_PROMISE(status >= 0 && status <= 3);
    if (status < 2) {
        check_page();
        check_json();
    } else {
        FUZZ_PROMISE(!text_file_is_there("page.html") && !text_file_is_there("merged.json"));
    }
    return 0;
}

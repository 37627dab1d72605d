// SPDX-License-Identifier: MIT
//
// `rope2d report merge` on a file that somebody sent: what it prints, the JSON and the page that it writes.
#include "page.h"
#include "place.h"
#include "target.h"

#include "tools/cli/verbs.h"
#include "tools/verify/text_file.h"

static const char own[] =
    "{\"format\":\"rope2d-verify\",\"format_version\":1,\"passed\":true,\"devices\":[]}";

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
        page_check_html("page.html");
        check_json();
    } else {
        FUZZ_PROMISE(!text_file_is_there("page.html") && !text_file_is_there("merged.json"));
    }
    return 0;
}

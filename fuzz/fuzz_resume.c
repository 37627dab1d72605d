// SPDX-License-Identifier: MIT
//
// `rope2d verify` with a list of known failures and a report to go on from, both somebody's: what it prints
// and writes. No case is run, so that every result is the report's. The input: a byte that says which options
// there are, the list, a zero byte, the report. The report gets this build, these options and this
// processor's name, without which all would be refused at once.
#include "mock.h"
#include "page.h"
#include "place.h"
#include "target.h"

#include "tools/cli/message.h"
#include "tools/cli/verbs.h"
#include "tools/verify/execute.h"
#include "tools/verify/text_file.h"
#include "tools/verify/verify.h"

#include <string.h>

enum { EXPECTS = 1, IS_NEW = 2, IS_FOREIGN = 4, COMPILES = 8, REQUIRES = 16 };
enum { MOST_WORDS = 24, MOST_LENGTH = 16 };

static const char named[] = "\"device\":\"cpu:0\"";
static char *begin, *device; // what stands for "{" and for `named` in the report

static int verify(unsigned kind) {
    static const char always[][MOST_LENGTH] = {"rope2d",  "verify",       "--device", "cpu",
                                               "--quick", "--in-process", "--json",   "r.json",
                                               "--junit", "r.xml",        "--html",   "page.html"};
    static const char options[][2][MOST_LENGTH] = {
        {"--expect", "e.json"}, {"--resume", ""}, {"", ""}, {"--compile", ""}, {"--require", "cpu:1,mock:2"}};
    char words[MOST_WORDS][MOST_LENGTH] = {{0}};
    char *arguments[MOST_WORDS + 1];
    int count = sizeof always / sizeof always[0];
    memcpy(words, always, sizeof always);
    for (unsigned i = 0; i < sizeof options / sizeof options[0]; i++)
        if ((kind ^ IS_NEW) >> i & 1)
            for (int j = 0; j < 2 && options[i][j][0]; j++)
                memcpy(words[count++], options[i][j], MOST_LENGTH);
    for (int i = 0; i < count; i++)
        arguments[i] = words[i];
    arguments[count] = NULL;
    mock_begin();
    return verb_verify.run(count - 2, arguments + 2);
}

// `{"key":text,...,`
static char *join(const char *before, const cJSON *object, const char *const *keys, size_t count) {
    size_t size = 1 << 20, used = 0;
    char *text = malloc(size);
    FUZZ_PROMISE(text);
    used += (size_t)snprintf(text, size, "%s", before);
    for (size_t i = 0; i < count; i++) {
        char *value = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(object, keys[i]));
        FUZZ_PROMISE(value);
        used += (size_t)snprintf(text + used, size - used, "\"%s\":%s,", keys[i], value);
        FUZZ_PROMISE(used < size);
        cJSON_free(value);
    }
    return text;
}

// Of a first report, for which nothing is run either.
static void make(void) {
    static const char *const of_report[] = {"build", "options", "sources"};
    static const char *const of_device[] = {"device", "name", "driver"};
    cJSON *own = NULL;
    place_make();
    FUZZ_PROMISE(verify(IS_NEW) == STATUS_FAILED && text_file_read_json("r.json", &own) == 0);
    begin = join("{", own, of_report, 3);
    device = join("", cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(own, "devices"), 0), of_device, 3);
    device[strlen(device) - 1] = '\0';
    cJSON_Delete(own);
}

static void write_report(const char *data, size_t size, bool is_foreign) {
    const size_t length = sizeof named - 1;
    FILE *file = fopen("r.json", "wb");
    FUZZ_PROMISE(file);
    size_t at = 0;
    if (!is_foreign && size > 1 && data[0] == '{') {
        fputs(begin, file);
        at = 1;
    }
    while (at < size) {
        const bool is_name = !is_foreign && size - at >= length && memcmp(data + at, named, length) == 0;
        if (is_name)
            fputs(device, file);
        else
            fputc(data[at], file);
        at += is_name ? length : 1;
    }
    FUZZ_PROMISE(fclose(file) == 0);
}

// A control that is not caught fails the report, whatever a list or a report says.
static void check_report(int status) {
    cJSON *report = NULL;
    const cJSON *one, *control;
    FUZZ_PROMISE(text_file_read_json("r.json", &report) == 0);
    FUZZ_PROMISE(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(report, "passed")) == (status == STATUS_OK));
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(report, "devices")) {
        cJSON_ArrayForEach(control, cJSON_GetObjectItemCaseSensitive(one, "controls")) FUZZ_PROMISE(
            status != STATUS_OK || strcmp(summary_text(control, "verdict"), VERDICT_PASSED) == 0);
    }
    cJSON_Delete(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!begin)
        make();
    if (size < 2)
        return 0;
    const unsigned kind = data[0];
    const uint8_t *end = memchr(data + 1, 0, size - 1);
    const size_t list = end ? (size_t)(end - data) : size;
    place_clean(NULL);
    place_write("e.json", data + 1, list - 1);
    if (end)
        write_report((const char *)end + 1, size - list - 1, (kind & IS_FOREIGN) != 0);
    const int status = verify(kind & 31);
    FUZZ_PROMISE(status >= 0 && status <= 3 && mock.live == 0);
    FUZZ_PROMISE(text_file_is_there("page.html") == (status < 2));
    if (status < 2) {
        page_check_html("page.html");
        page_check_xml("r.xml");
        check_report(status);
    }
    return 0;
}

// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "assets.h"
#include "escape.h"
#include "text_file.h"
#include "verify.h"

// The page is report.html, in which the reports take the place of this.
static const char place[] = "REPORTS_STAND_HERE";

void report_write_html(FILE *file, const cJSON *report) {
    const char *page = asset_text("report.html"), *at = strstr(page, place);
    char *json = text_of_json(report, false);
    if (json && at) {
        (void)fwrite(page, 1, (size_t)(at - page), file);
        escape_json_in_html(file, json);
        fputs(at + strlen(place), file);
    }
    cJSON_free(json);
}

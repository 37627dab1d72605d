// SPDX-License-Identifier: MIT
#include "recorded.h"

#include <string.h>

#include "../../tests/harness/digest.h"
#include "assets.h"
#include "verify.h"

enum { HASH_DIGITS = 64, BEFORE_NAME = HASH_DIGITS + 2 };

static bool ends_with(const char *text, size_t length, const char *end) {
    const size_t size = strlen(end);
    return size <= length && memcmp(text + length - size, end, size) == 0;
}

// From behind, since a golden folder's name may hold any words.
size_t recorded_name_length(const char *name) {
    size_t length = strlen(name);
    for (int i = VERIFY_PLAIN + 1; i < VERIFY_VARIATIONS; ++i)
        if (ends_with(name, length, verify_variation_names[i])) {
            length -= strlen(verify_variation_names[i]);
            break;
        }
    for (int i = 0; i < ROPE2D_TABLE_COUNT; ++i) {
        const size_t size = strlen(verify_table_names[i]);
        if (length > size && name[length - size - 1] == ' ' && ends_with(name, length, verify_table_names[i]))
            return length - size - 1;
    }
    return length;
}

// The hash of the first result of that case and types, or of those that are judged by it; "" when there is
// none.
static const char *find_hash(const cJSON *results, const char *name, size_t length, bool is_judged) {
    const cJSON *result;
    cJSON_ArrayForEach(result, results) {
        const char *whole = summary_text(result, "name");
        if (recorded_name_length(whole) == length && strncmp(whole, name, length) == 0 &&
            *summary_text(result, "sha256") && (!is_judged || summary_must_agree(result)))
            return summary_text(result, "sha256");
    }
    return "";
}

struct comparison {
    double recorded, cases;
    rope2d_sha256 got, expected;
    cJSON *others, *wrong;
};

static bool is_hash_of(const char *line, const char *hash) {
    return strlen(hash) == HASH_DIGITS && memcmp(hash, line, HASH_DIGITS) == 0;
}

static void add_name(cJSON *names, const char *line, size_t length) {
    char name[128] = "";
    size_t size = length - BEFORE_NAME < sizeof name - 1 ? length - BEFORE_NAME : sizeof name - 1;
    memcpy(name, line + BEFORE_NAME, size);
    cJSON_AddItemToArray(names, cJSON_CreateString(name));
}

static void compare_line(struct comparison *comparison, const cJSON *results, const char *line,
                         size_t length) {
    const char *hash = find_hash(results, line + BEFORE_NAME, length - BEFORE_NAME, false);
    ++comparison->recorded;
    if (!*hash)
        return;
    ++comparison->cases;
    rope2d_sha256_add(&comparison->got, hash, strlen(hash)); // of any length in a report that is resumed
    rope2d_sha256_add(&comparison->got, line + HASH_DIGITS, length - HASH_DIGITS);
    rope2d_sha256_add(&comparison->got, "\n", 1);
    rope2d_sha256_add(&comparison->expected, line, length);
    rope2d_sha256_add(&comparison->expected, "\n", 1);
    if (!is_hash_of(line, hash))
        add_name(comparison->others, line, length);
    hash = find_hash(results, line + BEFORE_NAME, length - BEFORE_NAME, true);
    if (*hash && !is_hash_of(line, hash))
        add_name(comparison->wrong, line, length);
}

cJSON *recorded_compare(const cJSON *results, bool has_recorded_seed) {
    struct comparison comparison = {.others = cJSON_CreateArray(), .wrong = cJSON_CreateArray()};
    char got[HASH_DIGITS + 1], expected[HASH_DIGITS + 1];
    rope2d_sha256_begin(&comparison.got);
    rope2d_sha256_begin(&comparison.expected);
    for (const char *line = asset_text("expected.sha256"); *line;) {
        size_t length = strcspn(line, "\n");
        if (*line != '#' && length > BEFORE_NAME)
            compare_line(&comparison, results, line, length);
        line += length;
        line += *line == '\n';
    }
    digest_end(&comparison.got, got);
    digest_end(&comparison.expected, expected);
    cJSON *outputs = cJSON_CreateObject();
    cJSON_AddNumberToObject(outputs, "cases", comparison.cases);
    cJSON_AddNumberToObject(outputs, "recorded", comparison.recorded);
    cJSON_AddStringToObject(outputs, "sha256", got);
    if (has_recorded_seed && comparison.cases > 0) {
        cJSON_AddStringToObject(outputs, "expected", expected);
        cJSON_AddBoolToObject(outputs, "equal", strcmp(got, expected) == 0);
        cJSON_AddItemToObject(outputs, "others", comparison.others);
        cJSON_AddItemToObject(outputs, "wrong", comparison.wrong);
    } else {
        cJSON_Delete(comparison.others);
        cJSON_Delete(comparison.wrong);
    }
    return outputs;
}

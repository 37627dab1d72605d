// SPDX-License-Identifier: MIT
#include "verify.h"

#include <stdlib.h>
#include <string.h>

#include "../../tests/harness/digest.h"
#include "../cli/message.h"
#include "compile.h"
#include "execute.h"
#include "metrics.h"
#include "recorded.h"
#include "result_json.h"

double summary_number(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

const char *summary_text(const cJSON *object, const char *key) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text ? text : "";
}

bool summary_was_executed(const cJSON *result) {
    const char *verdict = summary_text(result, "verdict");
    return strcmp(verdict, VERDICT_UNSUPPORTED) != 0 && strcmp(verdict, VERDICT_NONE) != 0;
}

bool summary_is_failure(const cJSON *result) {
    const char *verdict = summary_text(result, "verdict");
    return strcmp(verdict, VERDICT_PASSED) != 0 && strcmp(verdict, VERDICT_UNSUPPORTED) != 0 &&
           !cJSON_HasObjectItem(result, "expected");
}

bool summary_must_agree(const cJSON *result) {
    return strcmp(summary_text(result, "tier"), "bit-exact") == 0 && !cJSON_HasObjectItem(result, "expected");
}

static void count_up(cJSON *counts, const char *key) {
    cJSON *item = cJSON_GetObjectItemCaseSensitive(counts, key);
    if (item)
        cJSON_SetNumberValue(item, item->valuedouble + 1);
    else
        cJSON_AddNumberToObject(counts, key, 1);
}

static void replace(cJSON *object, const char *key, cJSON *item) {
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    cJSON_AddItemToObject(object, key, item);
}

static cJSON *count_results(const cJSON *results) {
    cJSON *counts = cJSON_CreateObject();
    const cJSON *result;
    static const char *const always[] = {VERDICT_PASSED, VERDICT_FAILED, VERDICT_UNSUPPORTED};
    for (size_t i = 0; i < sizeof always / sizeof *always; ++i)
        cJSON_AddNumberToObject(counts, always[i], 0);
    cJSON_ArrayForEach(result, results) {
        bool is_expected = cJSON_HasObjectItem(result, "expected");
        count_up(counts, is_expected ? "expected failures" : summary_text(result, "verdict"));
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(result, "unexpected_pass")))
            count_up(counts, "unexpected passes");
    }
    return counts;
}

// The sum of a class over all results, and its first divergence.
static cJSON *sum_class(const cJSON *results, const char *name) {
    static const char *const sums[] = {"elements", "mismatches", "bits", "flushed"};
    cJSON *object = cJSON_CreateObject();
    const cJSON *result, *first = NULL;
    const char *where = "";
    double totals[4] = {0}, worst = 0, cases = 0;
    bool is_infinite = false;
    cJSON_ArrayForEach(result, results) {
        const cJSON *one =
            cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(result, "classes"), name);
        if (!one)
            continue;
        ++cases;
        for (size_t i = 0; i < 4; ++i)
            totals[i] += summary_number(one, sums[i]);
        worst = summary_number(one, "worst") > worst ? summary_number(one, "worst") : worst;
        is_infinite |= cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(one, "worst")) != 0;
        if (!first && (first = cJSON_GetObjectItemCaseSensitive(one, "first")) != NULL)
            where = summary_text(result, "name");
    }
    cJSON_AddNumberToObject(object, "cases", cases);
    for (size_t i = 0; i < 4; ++i)
        cJSON_AddNumberToObject(object, sums[i], totals[i]);
    cJSON_AddItemToObject(object, "worst", is_infinite ? cJSON_CreateNull() : result_error(worst));
    if (first) {
        cJSON *copy = cJSON_Duplicate(first, true);
        cJSON_AddStringToObject(copy, "case", where);
        cJSON_AddItemToObject(object, "first", copy);
    }
    return object;
}

static bool has_same_outputs(const cJSON *a, const cJSON *b) {
    const char *first = summary_text(a, "name"), *second = summary_text(b, "name");
    const size_t length = recorded_name_length(second);
    return a && recorded_name_length(first) == length && strncmp(first, second, length) == 0;
}

static bool is_at_least_limits(const cJSON *result) {
    return cJSON_HasObjectItem(result, "least_dispatches");
}

// Outputs in a texture, at minimum limits and beside boundaries have the bits of those without. Those that
// must agree are compared with the first of them, the others with the first of all.
static cJSON *compare_variations(const cJSON *results) {
    cJSON *object = cJSON_CreateObject(), *others = cJSON_CreateArray(), *wrong = cJSON_CreateArray();
    const cJSON *result, *first = NULL, *exact = NULL;
    double compared = 0, divisible = 0, split = 0;
    cJSON_ArrayForEach(result, results) {
        const char *name = summary_text(result, "name"), *hash = summary_text(result, "sha256");
        if (!*hash)
            continue;
        if (is_at_least_limits(result)) {
            divisible += summary_number(result, "least_dispatches") > 1;
            split +=
                summary_number(result, "least_dispatches") > 1 && summary_number(result, "dispatches") > 1;
        }
        if (summary_must_agree(result)) {
            if (!has_same_outputs(exact, result))
                exact = result;
            else if (strcmp(hash, summary_text(exact, "sha256")) != 0)
                cJSON_AddItemToArray(wrong, cJSON_CreateString(name));
        }
        if (!has_same_outputs(first, result)) {
            first = result;
            continue;
        }
        ++compared;
        if (strcmp(hash, summary_text(first, "sha256")) != 0)
            cJSON_AddItemToArray(others, cJSON_CreateString(name));
    }
    cJSON_AddNumberToObject(object, "compared", compared);
    cJSON_AddItemToObject(object, "other_bits", others);
    cJSON_AddItemToObject(object, "wrong", wrong);
    cJSON_AddNumberToObject(object, "divisible", divisible);
    cJSON_AddNumberToObject(object, "split", split);
    return object;
}

static const char *tier_of(const cJSON *results) {
    static const char *const tiers[] = {"unsupported", "bit-exact", "bounded", "none"};
    int worst = 0;
    const cJSON *result;
    cJSON_ArrayForEach(result, results) {
        int tier = summary_is_failure(result) ? 3 : 0;
        for (int i = 0; i < 4; ++i)
            if (strcmp(summary_text(result, "tier"), tiers[i]) == 0 && i > tier)
                tier = i;
        worst = tier > worst ? tier : worst;
    }
    return tiers[worst];
}

void summary_of_device(cJSON *device, bool has_recorded_seed) {
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(device, "results");
    cJSON *classes = cJSON_CreateObject();
    for (int i = 0; i < VERIFY_CLASSES; ++i)
        cJSON_AddItemToObject(classes, verify_class_names[i], sum_class(results, verify_class_names[i]));
    replace(device, "counts", count_results(results));
    replace(device, "classes", classes);
    replace(device, "variations", compare_variations(results));
    replace(device, "tier", cJSON_CreateString(tier_of(results)));
    replace(device, "outputs", recorded_compare(results, has_recorded_seed));
}

static void complain(cJSON *problems, const cJSON *device, const char *what) {
    cJSON *problem = cJSON_CreateObject();
    if (device)
        cJSON_AddStringToObject(problem, "device", summary_text(device, "device"));
    cJSON_AddStringToObject(problem, "text", what);
    cJSON_AddItemToArray(problems, problem);
}

static int length_of(const cJSON *device, const char *object, const char *list) {
    return cJSON_GetArraySize(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(device, object), list));
}

// Results that are bit-exact are held to it, whatever others are: plans that are inexact may differ from
// table to table, and what is excused is.
static void judge_bits(const cJSON *device, cJSON *problems) {
    const cJSON *variations = cJSON_GetObjectItemCaseSensitive(device, "variations");
    if (length_of(device, "variations", "wrong"))
        complain(problems, device, "texture, minimum limits or offsets change bits");
    if (length_of(device, "outputs", "wrong"))
        complain(problems, device, "the outputs' hash is not the recorded one");
    if (summary_number(variations, "divisible") > 0 && summary_number(variations, "split") == 0)
        complain(problems, device, "minimum limits split nothing");
}

static void judge_device(const cJSON *device, cJSON *problems) {
    const cJSON *result;
    double executed = 0;
    bool passed = true;
    cJSON_ArrayForEach(result, cJSON_GetObjectItemCaseSensitive(device, "results")) {
        executed += summary_was_executed(result);
        passed &= !summary_is_failure(result);
    }
    if (executed == 0)
        complain(problems, device, "no case was executed");
    if (!passed)
        complain(problems, device, "cases failed");
    if (*summary_text(device, "error"))
        complain(problems, device, summary_text(device, "error"));
    if (*summary_text(device, "leaving"))
        complain(problems, device, "a process ended badly after its last case");
    cJSON_ArrayForEach(
        result, cJSON_GetObjectItemCaseSensitive(
                    device, "controls")) if (strcmp(summary_text(result, "verdict"), VERDICT_PASSED) != 0)
        complain(problems, device, summary_text(result, "name"));
    judge_bits(device, problems);
}

int summary_of_report(cJSON *report) {
    cJSON *problems = cJSON_GetObjectItemCaseSensitive(report, "problems");
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(report, "devices"), *device;
    cJSON_ArrayForEach(device, devices) judge_device(device, problems);
    if (compile_judge(report) == 0 && cJSON_GetArraySize(devices) == 0)
        complain(problems, NULL, "no case was executed");
    bool passed = cJSON_GetArraySize(problems) == 0;
    replace(report, "passed", cJSON_CreateBool(passed));
    return passed ? STATUS_OK : STATUS_FAILED;
}

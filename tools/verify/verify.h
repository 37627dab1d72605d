// SPDX-License-Identifier: MIT
//
// The verb's options, and the report: one tree of JSON, from which every output is written.
// docs/verify.schema.json describes it, docs/verify.md says what it means.
#ifndef ROPE2D_VERIFY_VERIFY_H
#define ROPE2D_VERIFY_VERIFY_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "matrix.h"

#define VERIFY_FORMAT "rope2d-verify"
enum { VERIFY_FORMAT_VERSION = 1 };
#define VERIFY_RECORDED_SEED 20260729 // tests/expected.sha256 was recorded with it

struct verify_options {
    const char *program;
    const char *device, *cases, *require, *expect;
    const char *json, *junit, *html;
    const char *folder;  // of golden cases
    const char *command; // a program that is a device
    enum verify_level level;
    uint64_t seed;
    uint32_t repeat;
    double seconds;
    bool resume, in_process;
    bool compile, compile_only; // for hardware that is not here
};

// Does what the options say. Returns an exit status. A signal that asks to end ends the program from here,
// once children, temporary folders and --json's file are seen to.
int verify_run(const struct verify_options *options);

// ------------------------------------------------------------------------------------------- summary.c

// Puts into a device of the report what follows from its results: counts, classes, hash, tier.
void summary_of_device(cJSON *device, bool has_recorded_seed);
// Puts into the report what follows from its devices. The exit status.
int summary_of_report(cJSON *report);

// A number of an object; 0 where there is none.
double summary_number(const cJSON *object, const char *key);
// A text of an object; "" where there is none.
const char *summary_text(const cJSON *object, const char *key);
// Whether a result was run to its end, and whether it counts against the device.
bool summary_was_executed(const cJSON *result);
bool summary_is_failure(const cJSON *result);
// Whether its bits are held to what is recorded, and to those of the case's other results.
bool summary_must_agree(const cJSON *result);

// ------------------------------------------------------------------------------------------- expect.c

// Reads the list of known failures; NULL for none. Returns an exit status, having said what is wrong.
int expect_read(const char *path, cJSON **list);
// Marks the results of a device that the list knows: failures as expected, passes as unexpected.
void expect_apply(const cJSON *list, cJSON *device);
// Puts into the report which entries match no result of any device.
void expect_note_stale(const cJSON *list, cJSON *report);
// One of these as people read it.
void expect_describe_stale(const cJSON *entry, char *text, size_t size);
enum { EXPECT_TEXT_SIZE = 512 };

// ------------------------------------------------------------------------------------------- require.c

// Checks the text of --require. Returns an exit status, having said what is wrong.
int require_check(const char *text);
// Adds to the report what --require asks for and is not there.
void require_apply(const char *text, cJSON *report);

// ------------------------------------------------------------------------------------------- report.c

// Adds to the lists of what was left out, and of what makes the report fail; no device: NULL.
void report_add_skip(cJSON *report, const char *what, const char *why);
void report_add_problem(cJSON *report, const char *device, const char *text);

// Prints what people read.
void report_print(const cJSON *report);

// ------------------------------------------------------------------------------ report_junit.c,
// report_html.c

// A suite for each device, a case for each result.
void report_write_junit(FILE *file, const cJSON *report);
// One page of a report, or of several that are side by side.
void report_write_html(FILE *file, const cJSON *report);

#endif

// SPDX-License-Identifier: MIT
//
// --resume: what an earlier report already has, and reports that are not complete.
#ifndef ROPE2D_VERIFY_RESUME_H
#define ROPE2D_VERIFY_RESUME_H

#include "../cli/device_choice.h"
#include "verify.h"

enum { RESUME_MOST_DEVICES = 256 };

// Reads the report that is resumed, which must be of this report's build and options, with at most
// RESUME_MOST_DEVICES; *before stays NULL where there is none. Returns an exit status, having said what is
// wrong.
int resume_read(const struct verify_options *options, const cJSON *report, cJSON **before);

// The device's part of the report that is resumed, if its driver is still the same; NULL.
const cJSON *resume_find_device(const cJSON *before, const struct device_choice *choice);

// The results of a list by their names. All zero is one of nothing.
struct resume_names {
    const cJSON **results; // sorted
    bool *are_taken;
    size_t count;
};

// Of "controls" or "results" of a device of the report that is resumed, which must live as long. False when
// memory runs out.
bool resume_sort(const cJSON *device, const char *list, struct resume_names *names);
// A result of that name, which then is taken; NULL.
const cJSON *resume_take(struct resume_names *names, const char *name);
void resume_free(struct resume_names *names);

// Whether a report has a device of that name, whatever its driver.
bool resume_has_device(const cJSON *report, const char *name);

// Adds to a report that has come to its end what the one that is resumed has of devices that were not run
// this time, and of compilers, with a skip that says so. It counts as what was run.
void resume_keep(const struct verify_options *options, const cJSON *expected, const cJSON *before,
                 cJSON *report);

// Writes a report that has not come to its end, with what the one that is resumed has of devices that were
// not reached yet. Returns an exit status.
int resume_save(const char *path, cJSON *report, const cJSON *before);

#endif

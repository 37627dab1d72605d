// SPDX-License-Identifier: MIT
//
// A golden case, which has its inputs and what a model's code made of them in a folder, on a device or by a
// program.
#ifndef ROPE2D_VERIFY_GOLDEN_H
#define ROPE2D_VERIFY_GOLDEN_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "rope2d/rope2d.h"

struct golden_run {
    const char *folder;
    rope2d_device *portable, *device;
    rope2d_table table;
    const char *command;           // when set, the program that is the device
    double seconds;                // that it may take
    uint32_t repeat;               // times that it is run
    bool (*run_ended)(void *user); // one of several; false to stop; NULL: not asked
    void *user;
};

// Adds verdict, tier, hash and text to the result.
void golden_execute(const struct golden_run *run, cJSON *result);

#endif

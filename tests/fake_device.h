// SPDX-License-Identifier: MIT
// A device without a backend: specs, rows and tables are made on it, and nothing is ever rotated. Its memory
// counts what lives and can run out at the n-th request; its log keeps the last line.
#ifndef TEST_FAKE_DEVICE_H
#define TEST_FAKE_DEVICE_H

#include "backend.h"

struct fake_device {
    rope2d_device device;
    rope2d_backend_ops ops;
    uint64_t requests;       // of memory so far
    uint64_t fail_at;        // the request that gets none, from 1; 0: never
    int64_t live;            // blocks not yet released
    uint64_t faults;         // releases of the wrong size
    rope2d_status at_create; // what the backend answers to positions_create
    uint32_t created, destroyed;
    uint32_t lines; // logged so far
    char line[2048];
};

// Must not move while it is used. No threads: tasks run one after the other, the last one first.
void fake_device_init(struct fake_device *fake);

// True when the last call logged one line that holds the word.
bool fake_device_logged(const struct fake_device *fake, uint32_t lines_before, const char *word);

#endif

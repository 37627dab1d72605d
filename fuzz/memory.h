// SPDX-License-Identifier: MIT
//
// A host whose memory is counted, runs out at the n-th request, and never gives more than it has.
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include "rope2d/rope2d.h"

#include <stdbool.h>

struct memory {
    uint64_t requests, fail_at; // the request that gets none, from 1; 0: never
    uint64_t live, bytes;       // not yet released
    uint64_t lines;             // logged
    bool is_loud;               // an error was logged since it was last set to false
};

// `memory` must outlive what is made with the host.
rope2d_host memory_host(struct memory *memory);

#endif

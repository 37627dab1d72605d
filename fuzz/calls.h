// SPDX-License-Identifier: MIT
//
// A row of calls on one device, which may be NULL: specs, positions, plans, applies, what is asked of them,
// and their end.
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include "memory.h"
#include "reader.h"

// A device that the library makes by itself, of any index and flags. NULL where it was refused.
rope2d_device *calls_device(struct reader *reader, rope2d_backend backend, const rope2d_host *host);
// Calls until the input ends. What it made is destroyed.
void calls_run(struct reader *reader, rope2d_device *device, struct memory *memory);

#endif

// SPDX-License-Identifier: MIT
//
// A folder of the process' own, which is its working directory and goes when it ends. POSIX.
#ifndef FUZZ_PLACE_H
#define FUZZ_PLACE_H

#include <stddef.h>

// Once. Ends the process where there is no folder.
void place_make(void);
void place_write(const char *name, const void *data, size_t size);
// Removes everything whose name is not in the list, which ends with NULL.
void place_clean(const char *const *names);

#endif

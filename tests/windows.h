// SPDX-License-Identifier: MIT
//
// What test programs take from C11 and MinGW's C library lacks. The build includes it before every source.
#ifndef ROPE2D_TESTS_WINDOWS_H
#define ROPE2D_TESTS_WINDOWS_H

#include <stdlib.h>

// malloc aligns to 16 bytes, which is enough for what the tests put there, and free takes it.
#define aligned_alloc(alignment, size) ((void)(alignment), malloc(size))

#endif

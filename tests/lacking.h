// SPDX-License-Identifier: MIT
//
// What test programs take from C11 and MinGW's C library lacks. The build includes it before every source.
#ifndef ROPE2D_TESTS_LACKING_H
#define ROPE2D_TESTS_LACKING_H

#define _CRT_RAND_S // rand_s, which a source that comes later asks for
#include <stdlib.h>

// malloc aligns to 16 bytes, which is enough for what the tests put there, and free takes it.
#define aligned_alloc(alignment, size) ((void)(alignment), malloc(size))

#endif

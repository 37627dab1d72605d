// SPDX-License-Identifier: MIT
// The portable path's own text once more, compiled with or without contraction, under another name, so that a
// program can put it in the library's place.
#define rope2d_portable_rotate  HARNESS_KERNEL
#define rope2d_portable_convert HARNESS_CONVERT
#include "../../src/cpu/portable.c"

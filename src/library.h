// SPDX-License-Identifier: MIT
//
// Libraries opened at run time: neither loader is linked.
#ifndef ROPE2D_LIBRARY_H
#define ROPE2D_LIBRARY_H

#include <stddef.h>

// NULL when there is no such library. Every open is undone by one close.
void *rope2d_library_open(const char *name);
void rope2d_library_close(void *library); // NULL is legal

// Copies the address of a function into `function`, a pointer of the function's own type and `size` its size:
// C has no cast from an object's address to a function's. The pointer is NULL when there is no such function.
void rope2d_library_find(void *library, const char *name, void *function, size_t size);

#endif

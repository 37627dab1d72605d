// SPDX-License-Identifier: MIT
//
// Files that have no name yet: a signal that ends the program removes them first. Where somebody else has a
// handler for the signal, as rope2d verify does, or ignores it, that stays.
#ifndef ROPE2D_CLI_UNFINISHED_H
#define ROPE2D_CLI_UNFINISHED_H

#ifdef _WIN32
typedef int unfinished_guard;
#else
#include <signal.h>
typedef sigset_t unfinished_guard; // the signals that were held before
#endif

// No such signal comes between these two, so that a file is made and added at once.
void unfinished_hold(unfinished_guard *guard);
void unfinished_release(const unfinished_guard *guard);

// The path must live until it is removed here. Of more than a few at once some stay unknown.
void unfinished_add(const char *path);
void unfinished_remove(const char *path);

#endif

// SPDX-License-Identifier: MIT
//
// Signals that ask the program to end. They are noticed between two steps, so that children, temporary
// folders and what was found so far are seen to first.
#ifndef ROPE2D_VERIFY_INTERRUPT_H
#define ROPE2D_VERIFY_INTERRUPT_H

#include <stdbool.h>

// From here on SIGINT and SIGTERM, and a terminal that goes away, are kept for interrupt_came. Whoever sends
// several, as to a driver that hangs in this process, ends it at once.
void interrupt_listen(void);

// For a program that works long without looking: from here on a thread waits for such signals, and no other
// thread gets any. When one comes, the thread calls `put_away`, which may do anything, and ends the program
// as the signal would have; in the meantime interrupt_came says so to the others. Before any other thread,
// and once. Without such a thread signals do what they did.
void interrupt_watch(void (*put_away)(void));
// In a child, before it becomes another program: that gets its signals itself.
void interrupt_unwatch(void);

bool interrupt_came(void);

// Ends as the signal would have; returns when there was none.
void interrupt_end(void);

#endif

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

bool interrupt_came(void);

// Ends as the signal would have; returns when there was none.
void interrupt_end(void);

#endif

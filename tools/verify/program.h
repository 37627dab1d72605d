// SPDX-License-Identifier: MIT
//
// A program as a device: a command line that reads a case from a folder and writes what it rotated to
// another.
#ifndef ROPE2D_VERIFY_PROGRAM_H
#define ROPE2D_VERIFY_PROGRAM_H

#include "../../tests/harness/work.h"
#include "child.h"
#include "folder.h"

// Checks that a command names both {case} and {out}. Returns an exit status, having said what is wrong.
int program_check(const char *command);

// Runs the command by the shell, the folders in the place of {case} and {out}. What is wrong stands in `end`,
// whose status is 0 only when nothing is.
void program_run(const char *command, const char *folder, const char *out, double seconds,
                 struct child_end *end);

// Rotates a case of the harness into these blocks, through folders of our own. The inputs come from the
// blocks. As program_run.
void program_rotate(const char *command, double seconds, const struct harness_work *work,
                    unsigned char *const *blocks, struct child_end *end);

#endif

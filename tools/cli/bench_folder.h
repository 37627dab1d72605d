// SPDX-License-Identifier: MIT
//
// Everything temporary of the bench is in one folder, which stays behind neither its end nor a signal that
// ends it: SIGINT, SIGTERM, a terminal that goes away, a reader that does.
#ifndef ROPE2D_CLI_BENCH_FOLDER_H
#define ROPE2D_CLI_BENCH_FOLDER_H

// Calls `work` in a process of its own, whose TMPDIR is a folder that this process removes when that one has
// ended. Returns what `work` did, or ends as that process was ended; signals that ask this one to end are
// that one's. Nothing may be waiting to be printed, and no other thread may be there.
int bench_folder_run(int (*work)(void *user), void *user);

#endif

// SPDX-License-Identifier: MIT
//
// Tasks on one device, in a process that may crash or hang: it says what it begins and what came of it, one
// line of JSON each.
//
//     {"facts": {...}}                  once, when the device is open
//     {"status": "ROPE2D_ERROR_..."}    instead, when it does not open
//     {"begin": 12}                     before a task
//     {"run_ended": true}               between its runs, where it has several
//     {"task": 12, "result": {...}}     after it
#ifndef ROPE2D_VERIFY_WORKER_H
#define ROPE2D_VERIFY_WORKER_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "matrix.h"

enum { VERIFY_BATCH = 160 }; // tasks of a child, at most

struct verify_job {
    rope2d_backend backend;
    uint32_t index;
    enum verify_level level;
    uint64_t seed;
    uint32_t repeat;
    const char *cases;   // a folder of golden cases; NULL: none
    const char *command; // the program that is the device; NULL: none. Not in a child
    double seconds;      // that it may take
};

// Says one of the above; it belongs to the caller. False to stop.
typedef bool verify_say_fn(void *user, const cJSON *line);

// A task as who asks for it knows it. Its number here is another when a folder of golden cases has come or
// gone since then: the name decides.
struct verify_wanted {
    size_t number;
    char name[VERIFY_NAME_SIZE];
};

// Runs these tasks, and says their numbers as they were asked for; one that is not there any more fails.
// After a lost device it stops. Returns an exit status.
int verify_work(const struct verify_job *job, const struct verify_wanted *wanted, size_t count,
                verify_say_fn *fn, void *user);

// The child's side, as the arguments of verify_worker_arguments say: tasks come on stdin, a line
// [NUMBER,"NAME"] each, and lines go to the descriptor. Not for users. Returns an exit status.
int verify_worker_main(int argc, char **argv);

// What follows the program's name in the child's command line.
enum { VERIFY_WORKER_ARGUMENTS = 6, VERIFY_ARGUMENT_SIZE = 32, VERIFY_WORKER_DESCRIPTOR = 3 };
#define VERIFY_WORKER_VERB "verify-worker"
// The folder of cases is the argument after these, empty for none.
void verify_worker_arguments(const struct verify_job *job, char texts[][VERIFY_ARGUMENT_SIZE]);

#endif

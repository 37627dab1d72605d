// SPDX-License-Identifier: MIT
//
// Tasks in child processes: what crashes or hangs is found, and nothing else suffers.
#ifndef ROPE2D_VERIFY_SUPERVISE_H
#define ROPE2D_VERIFY_SUPERVISE_H

#include <cjson/cJSON.h>

#include "worker.h"

struct verify_supervisor {
    const char *program; // this one
    struct verify_job job;
    const struct verify_matrix *matrix;
    double seconds;                  // that a task may take
    bool in_process;                 // no children: a crash ends everything
    cJSON *facts;                    // of the device, from the first child that opened it
    cJSON **results;                 // [tasks] NULL: none yet
    bool is_hung;                    // the device answers no more
    char text[512];                  // why the device does not open; empty when it does
    char leaving[512];               // how a child ended badly after its last task; empty when none did
    void (*result_came)(void *user); // the first for a task; may be NULL
    void (*batch_ended)(void *user); // may be NULL
    void *user;

    size_t begun;    // the task that the child is at
    bool has_begun;  // and whether it is at one
    bool is_open;    // the child's device
    bool is_blaming; // results are of runs that look for who is to blame
};

// Fills results[tasks[i]] for every task. What finds no end on a device that hangs gets no verdict. After
// interrupt_came some stay NULL.
void verify_supervise(struct verify_supervisor *supervisor, const size_t *tasks, size_t count);

#endif

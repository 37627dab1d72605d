// SPDX-License-Identifier: MIT
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

static volatile sig_atomic_t signal_number; // 0: none came

#ifdef _WIN32

static const int listened[] = {SIGINT, SIGTERM};

// The system forgets the handler: the next signal ends the program.
static void note(int number) {
    signal_number = number;
}

void interrupt_listen(void) {
    for (size_t i = 0; i < sizeof listened / sizeof *listened; ++i)
        if (signal(listened[i], note) == SIG_IGN)
            (void)signal(listened[i], SIG_IGN);
}

#else

#include <unistd.h>

enum { PATIENCE = 3, SIGNALLED = 128 }; // timeout(1) sends each signal twice

static const int listened[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
static volatile sig_atomic_t count;

// Whatever is printed to a reader that has gone brings a SIGPIPE, which nobody sent in impatience.
static void note(int number) {
    signal_number = number;
    count = count + (number != SIGPIPE);
    if (count > PATIENCE)
        _exit(SIGNALLED + number);
}

// What is ignored, as by nohup, stays ignored. Calls are restarted, but for poll, which a child is waited for
// with.
void interrupt_listen(void) {
    for (size_t i = 0; i < sizeof listened / sizeof *listened; ++i) {
        struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, before;
        sigemptyset(&action.sa_mask);
        if (sigaction(listened[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(listened[i], &action, NULL);
    }
}

#endif

bool interrupt_came(void) {
    return signal_number != 0;
}

void interrupt_end(void) {
    int number = signal_number;
#ifndef _WIN32
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == note)
        (void)signal(SIGPIPE, SIG_DFL); // what is printed from here on
#endif
    if (!number)
        return;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

// SPDX-License-Identifier: MIT
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int signal_number; // 0: none came

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

void interrupt_watch(void (*put_away)(void)) {
    (void)put_away;
}

void interrupt_unwatch(void) {
}

#else

#include <pthread.h>
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

static sigset_t watched, masked_before;
static pthread_t watcher;
static bool is_watching;
static void (*put_away_all)(void);

// It comes to whoever printed, and to no other thread.
static void pass_on(int number) {
    (void)pthread_kill(watcher, number);
}

static void *watch(void *unused) {
    int number = 0;
    (void)unused;
    while (sigwait(&watched, &number) != 0)
        continue;
    signal_number = number;
    put_away_all();
    if (number == SIGPIPE)
        (void)signal(number, SIG_DFL);
    (void)raise(number); // whoever has a handler has more to put away
    (void)pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
    return NULL;
}

// What is ignored stays so: a thread that waited for it would get it.
void interrupt_watch(void (*put_away)(void)) {
    struct sigaction action;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigemptyset(&watched);
    for (size_t i = 0; i < sizeof listened / sizeof *listened; ++i)
        if (sigaction(listened[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            (void)sigaddset(listened[i] == SIGPIPE ? &pipe : &watched, listened[i]);
    (void)sigaddset(&watched, SIGPIPE);
    put_away_all = put_away;
    (void)pthread_sigmask(SIG_BLOCK, &watched, &masked_before);
    is_watching = pthread_create(&watcher, NULL, watch, NULL) == 0;
    if (!is_watching) {
        (void)pthread_sigmask(SIG_SETMASK, &masked_before, NULL);
        return;
    }
    if (sigismember(&pipe, SIGPIPE) == 1) {
        action = (struct sigaction){.sa_handler = pass_on};
        sigemptyset(&action.sa_mask);
        (void)sigaction(SIGPIPE, &action, NULL);
    }
    (void)pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
}

void interrupt_unwatch(void) {
    struct sigaction action;
    if (!is_watching)
        return;
    if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == pass_on)
        (void)signal(SIGPIPE, SIG_DFL);
    (void)pthread_sigmask(SIG_SETMASK, &masked_before, NULL);
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

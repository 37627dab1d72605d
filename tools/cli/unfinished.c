// SPDX-License-Identifier: MIT
#include "unfinished.h"

#ifdef _WIN32

void unfinished_hold(unfinished_guard *guard) {
    *guard = 0;
}

void unfinished_release(const unfinished_guard *guard) {
    (void)guard;
}

void unfinished_add(const char *path) {
    (void)path;
}

void unfinished_remove(const char *path) {
    (void)path;
}

#else

#include <stddef.h>
#include <unistd.h>

enum { MOST = 8 };

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING = sizeof ending / sizeof *ending };

static const char *volatile paths[MOST]; // NULL: none

static void end(int number) {
    for (size_t i = 0; i < MOST; ++i)
        if (paths[i])
            (void)unlink(paths[i]);
    (void)signal(number, SIG_DFL);
    (void)raise(number); // it comes when this returns
}

void unfinished_hold(unfinished_guard *guard) {
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < ENDING; ++i)
        sigaddset(&held, ending[i]);
    (void)sigprocmask(SIG_BLOCK, &held, guard);
}

void unfinished_release(const unfinished_guard *guard) {
    (void)sigprocmask(SIG_SETMASK, guard, NULL);
}

void unfinished_add(const char *path) {
    for (size_t i = 0; i < ENDING; ++i) {
        struct sigaction action = {.sa_handler = end}, before;
        sigemptyset(&action.sa_mask);
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            (void)sigaction(ending[i], &action, NULL);
    }
    for (size_t i = 0; i < MOST; ++i)
        if (!paths[i]) {
            paths[i] = path;
            return;
        }
}

void unfinished_remove(const char *path) {
    for (size_t i = 0; i < MOST; ++i)
        if (paths[i] == path)
            paths[i] = NULL;
}

#endif

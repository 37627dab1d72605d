// SPDX-License-Identifier: MIT
#include "bench_folder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "message.h"
#include "progress.h"
#include "../verify/child.h"
#include "../verify/folder.h"
#include "../verify/interrupt.h"

static const double PATIENCE = 3; // seconds that a child has to put away what is its own
static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static volatile pid_t worker;
static struct sigaction before_passing[PASSED_ON];

static void pass_on(int number) {
    const int before = errno;
    (void)kill(worker, number);
    errno = before;
}

// What is ignored, as by nohup, stays ignored.
static void pass_signals_on(void) {
    for (int i = 0; i < PASSED_ON; ++i) {
        struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        (void)sigaction(passed_on[i], NULL, &before_passing[i]);
        if (before_passing[i].sa_handler != SIG_IGN)
            (void)sigaction(passed_on[i], &action, NULL);
    }
}

// Its number is its own until it is reaped, and from here on no signal is passed on: one that comes waits
// until the folder is removed.
static int reap(const sigset_t *set) {
    siginfo_t info;
    int status = 0;
    while (waitid(P_PID, (id_t)worker, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        continue;
    (void)sigprocmask(SIG_BLOCK, set, NULL);
    (void)waitpid(worker, &status, 0);
    for (int i = 0; i < PASSED_ON; ++i)
        (void)sigaction(passed_on[i], &before_passing[i], NULL);
    return status;
}

// In a thread of its own, after a signal. No child begins from here on.
static void put_away(void) {
    const struct timespec moment = {.tv_nsec = 5000000};
    const double until = seconds_now() + PATIENCE;
    while (child_is_running() && seconds_now() < until)
        (void)nanosleep(&moment, NULL);
}

static int end_as(int status) {
    sigset_t set;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    const int number = WTERMSIG(status);
    sigemptyset(&set);
    (void)sigaddset(&set, number);
    (void)signal(number, SIG_DFL);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(number);
    return STATUS_DEVICE;
}

// Without whoever would remove the folder nobody waits for the figures either.
static void follow(pid_t parent) {
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (getppid() != parent)
        (void)raise(SIGTERM);
}

// Drivers make what they miss anew, with the folders above it, as long as their process is there: another one
// removes it.
static int work_apart(int (*work)(void *), void *user, const char *folder, const sigset_t *set,
                      const sigset_t *mask) {
    const pid_t parent = getpid();
    int status = 0;
    worker = fork();
    if (worker < 0)
        message("no process for the bench: %s", strerror(errno));
    if (worker == 0) {
        setenv("TMPDIR", folder, 1);
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        follow(parent);
        interrupt_watch(put_away);
        exit(message_end(work(user)));
    }
    if (worker > 0) {
        pass_signals_on();
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        status = reap(set);
    }
    folder_remove(folder);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    return worker < 0 ? STATUS_DEVICE : end_as(status);
}

int bench_folder_run(int (*work)(void *user), void *user) {
    char folder[FOLDER_PATH_SIZE];
    sigset_t set, before;
    sigemptyset(&set);
    for (int i = 0; i < PASSED_ON; ++i)
        (void)sigaddset(&set, passed_on[i]);
    (void)sigprocmask(SIG_BLOCK, &set, &before); // until there is somebody to remove it
    if (!folder_make_own(folder)) {
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        return STATUS_DEVICE;
    }
    return work_apart(work, user, folder, &set, &before);
}

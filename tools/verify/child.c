// SPDX-License-Identifier: MIT
#include "child.h"

#include <stdio.h>

#ifdef _WIN32

const bool child_is_there = false;

bool child_is_running(void) {
    return false;
}

void child_run(const char *const *arguments, const char *input, double seconds, child_line_fn *line,
               void *user, struct child_end *end) {
    (void)arguments, (void)input, (void)seconds, (void)line, (void)user;
    *end = (struct child_end){.fate = CHILD_NOT_STARTED};
    snprintf(end->text, sizeof end->text, "this system has no child processes for it");
}

#else

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli/progress.h"
#include "interrupt.h"
#include "worker.h"

const bool child_is_there = true;

static atomic_int running;

bool child_is_running(void) {
    return running > 0;
}

enum { TAIL_SIZE = 300, NOT_STARTED = 127, LOOK_MS = 200 };

static const double GRACE = 1; // seconds, for a program that has something to put away

struct child {
    pid_t process;
    int lines, prints, input; // our ends; -1: closed, or, of lines, not asked for
    char *text;               // of lines, not yet whole
    size_t length, capacity;
    char tail[TAIL_SIZE + 1]; // of prints
    size_t tail_length;
    double heard; // when a line came last, or it began
};

static bool make_pipe(int ends[2]) {
    if (pipe(ends))
        return false;
    // Our end must not live on in another child.
    for (int i = 0; i < 2; ++i)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return true;
}

static void become(const char *const *arguments, const int *input, const int *lines, const int *prints) {
    // Above what they become, so that none is overwritten before it is copied.
    int in = fcntl(input[0], F_DUPFD, 10), log = fcntl(prints[1], F_DUPFD, 10);
    bool good = in >= 0 && log >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 &&
                dup2(log, STDERR_FILENO) >= 0;
    (void)close(in);
    (void)close(log);
    if (lines[1] >= 0) {
        int out = fcntl(lines[1], F_DUPFD, 10);
        good = good && out >= 0 && dup2(out, VERIFY_WORKER_DESCRIPTOR) >= 0;
        (void)close(out);
    }
    if (good)
        (void)execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(NOT_STARTED);
}

static void close_both(int ends[2]) {
    for (int i = 0; i < 2; ++i)
        if (ends[i] >= 0)
            (void)close(ends[i]);
}

static bool start(struct child *child, const char *const *arguments, bool has_lines) {
    int input[2] = {-1, -1}, lines[2] = {-1, -1}, prints[2] = {-1, -1};
    *child = (struct child){.process = -1, .lines = -1, .prints = -1, .input = -1};
    if (!make_pipe(input) || (has_lines && !make_pipe(lines)) || !make_pipe(prints) ||
        (child->process = fork()) < 0) {
        close_both(input);
        close_both(lines);
        close_both(prints);
        return false;
    }
    if (child->process == 0) {
        (void)setpgid(0, 0); // so that what a shell starts ends with it
        interrupt_unwatch();
        become(arguments, input, lines, prints);
    }
    (void)setpgid(child->process, child->process);
    (void)close(input[0]);
    if (has_lines)
        (void)close(lines[1]);
    (void)close(prints[1]);
    child->input = input[1];
    child->lines = lines[0];
    child->prints = prints[0];
    child->heard = seconds_now();
    return true;
}

static void give_input(struct child *child, const char *input) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, &before); // a child that died is told from its end
    size_t length = strlen(input);
    while (length) {
        ssize_t written = write(child->input, input, length);
        if (written <= 0)
            break;
        input += written;
        length -= (size_t)written;
    }
    (void)close(child->input);
    child->input = -1;
    sigaction(SIGPIPE, &before, NULL);
}

static void take_lines(struct child *child, child_line_fn *line, void *user) {
    char *begin = child->text, *end;
    while ((end = memchr(begin, '\n', child->length - (size_t)(begin - child->text))) != NULL) {
        *end = '\0';
        child->heard = seconds_now();
        if (line)
            line(user, begin);
        begin = end + 1;
    }
    child->length -= (size_t)(begin - child->text);
    memmove(child->text, begin, child->length);
}

static void stop_reading(int *descriptor) {
    (void)close(*descriptor);
    *descriptor = -1;
}

static void read_lines(struct child *child, child_line_fn *line, void *user) {
    enum { PIECE = 1 << 14 };
    if (child->capacity - child->length < PIECE) {
        char *text = realloc(child->text, child->capacity + 4 * PIECE);
        if (!text) {
            stop_reading(&child->lines);
            return;
        }
        child->text = text;
        child->capacity += 4 * PIECE;
    }
    ssize_t got = read(child->lines, child->text + child->length, PIECE);
    if (got > 0) {
        child->length += (size_t)got;
        take_lines(child, line, user);
    } else if (got == 0 || errno != EINTR) {
        stop_reading(&child->lines);
    }
}

static void read_prints(struct child *child) {
    char text[TAIL_SIZE];
    ssize_t got = read(child->prints, text, sizeof text);
    if (got <= 0) {
        if (got == 0 || errno != EINTR)
            stop_reading(&child->prints);
        return;
    }
    size_t more = (size_t)got, kept = child->tail_length;
    if (kept + more > TAIL_SIZE) {
        kept = TAIL_SIZE - more;
        memmove(child->tail, child->tail + child->tail_length - kept, kept);
    }
    memcpy(child->tail + kept, text, more);
    child->tail_length = kept + more;
    child->tail[child->tail_length] = '\0';
}

// Its process number stays its own until it is reaped, and so does its group's.
static bool has_ended(const struct child *child) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == child->process;
}

// Milliseconds until it is looked at again. A signal may come just before, and not wake poll; and it may have
// closed its ends and live on.
static int patience(const struct child *child, double left) {
    int most = child->lines >= 0 || child->prints >= 0 ? LOOK_MS : 5;
    return 1000 * left > most ? most : (int)(1000 * left) + 1;
}

// True when it ended in time, with what it started: then what it wrote before is read. False when the time is
// over, or we are to end.
static bool is_in_time(struct child *child, double seconds, child_line_fn *line, void *user) {
    bool is_over = false;
    while (!is_over || child->lines >= 0 || child->prints >= 0) {
        struct pollfd ends[2] = {{child->lines, POLLIN, 0}, {child->prints, POLLIN, 0}};
        double left = child->heard + seconds - seconds_now();
        if (left <= 0 || interrupt_came())
            return is_over;
        if (!is_over && has_ended(child)) {
            is_over = true;
            (void)kill(-child->process, SIGKILL);
        }
        int got = poll(ends, 2, is_over ? 0 : patience(child, left));
        if (got == 0 && is_over)
            break; // somebody who left its group holds the other end
        if (got <= 0)
            continue;
        if (child->lines >= 0 && ends[0].revents)
            read_lines(child, line, user);
        if (child->prints >= 0 && ends[1].revents)
            read_prints(child);
    }
    return true;
}

static void reap(const struct child *child, int *status) {
    while (waitpid(child->process, status, 0) < 0 && errno == EINTR)
        continue;
}

// Ends it with all that it started.
static void end_group(const struct child *child, int *status) {
    double until = seconds_now() + (interrupt_came() ? GRACE : 0);
    bool is_reaped = false;
    if (interrupt_came())
        (void)kill(-child->process, SIGTERM);
    while (seconds_now() < until && kill(-child->process, 0) == 0) {
        (void)poll(NULL, 0, 5);
        is_reaped = is_reaped || waitpid(child->process, status, WNOHANG) == child->process;
    }
    (void)kill(-child->process, SIGKILL);
    if (!is_reaped)
        reap(child, status);
}

static void describe(const struct child *child, double seconds, int status, struct child_end *end) {
    char what[64];
    if (end->fate == CHILD_HUNG)
        snprintf(what, sizeof what, "no answer for %g s", seconds);
    else if (end->fate == CHILD_STOPPED)
        snprintf(what, sizeof what, "stopped");
    else if (WIFSIGNALED(status))
        snprintf(what, sizeof what, "signal %d (%.40s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(what, sizeof what, "exit status %d", WEXITSTATUS(status));
    snprintf(end->text, sizeof end->text, "%s%s%s", what, child->tail_length ? "; printed last: " : "",
             child->tail);
    for (char *at = end->text; *at; ++at)
        if ((unsigned char)*at < ' ')
            *at = ' ';
}

static void run(const char *const *arguments, const char *input, double seconds, child_line_fn *line,
                void *user, struct child_end *end) {
    struct child child;
    int status = 0;
    *end = (struct child_end){.fate = CHILD_NOT_STARTED};
    if (!start(&child, arguments, line != NULL)) {
        snprintf(end->text, sizeof end->text, "%s: %s", arguments[0], strerror(errno));
        return;
    }
    give_input(&child, input);
    if (!is_in_time(&child, seconds, line, user)) {
        end->fate = interrupt_came() ? CHILD_STOPPED : CHILD_HUNG;
        end_group(&child, &status);
    } else {
        reap(&child, &status);
        end->fate = !WIFEXITED(status)                   ? CHILD_CRASHED
                    : WEXITSTATUS(status) == NOT_STARTED ? CHILD_NOT_STARTED
                                                         : CHILD_DONE;
    }
    end->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    describe(&child, seconds, status, end);
    if (child.lines >= 0)
        stop_reading(&child.lines);
    if (child.prints >= 0)
        stop_reading(&child.prints);
    free(child.text);
}

// A thread that saw a signal before this counts waits for no child, and there is none.
void child_run(const char *const *arguments, const char *input, double seconds, child_line_fn *line,
               void *user, struct child_end *end) {
    running++;
    if (interrupt_came())
        *end = (struct child_end){.fate = CHILD_STOPPED, .status = -1, .text = "stopped"};
    else
        run(arguments, input, seconds, line, user, end);
    running--;
}

#endif

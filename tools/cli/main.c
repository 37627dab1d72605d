// SPDX-License-Identifier: MIT
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "bench_worker.h"
#include "config.h"
#include "message.h"
#include "../verify/worker.h"
#include "verbs.h"

static const struct verb *const verbs[] = {&verb_devices, &verb_presets,   &verb_apply, &verb_check,
                                           &verb_verify,  &verb_report,    &verb_demo,  &verb_bench,
                                           &verb_plot,    &verb_plot_data, &verb_emit};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static int print_help(void) {
    printf("rope2d %s: 2D rotary position embedding of q and k, the same bits on every device\n\n"
           "usage: rope2d VERB [OPTIONS]\n\n",
           ROPE2D_VERSION);
    for (size_t i = 0; i < VERBS; ++i)
        printf("  rope2d %-9s %-34s %s\n", verbs[i]->name, verbs[i]->usage, verbs[i]->summary);
    printf("\n  rope2d VERB --help    what a verb takes\n"
           "  rope2d --version      the version\n\n"
           "exit status: %d done, every check passed; %d a check failed; %d wrong usage or input;\n"
           "             %d a device is missing, or it or its driver failed\n",
           STATUS_OK, STATUS_FAILED, STATUS_USAGE, STATUS_DEVICE);
    return STATUS_OK;
}

static int complain_unknown(const char *name) {
    const char *names[VERBS + 3] = {"help", "version"};
    for (size_t i = 0; i < VERBS; ++i)
        names[i + 2] = verbs[i]->name;
    while (*name == '-')
        ++name;
    const char *nearest = nearest_word(name, names);
    const char *dashes = nearest == names[0] || nearest == names[1] ? "--" : "";
    if (nearest)
        message("there is no verb '%s': did you mean %s%s?", name, dashes, nearest);
    else
        message("there is no verb '%s'; 'rope2d --help' lists them", name);
    return STATUS_USAGE;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        message("a verb is missing; 'rope2d --help' lists them");
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < VERBS; ++i)
        if (strcmp(argv[1], verbs[i]->name) == 0)
            return verbs[i]->run(argc - 2, argv + 2);
    if (strcmp(argv[1], VERIFY_WORKER_VERB) == 0) // what rope2d verify starts; not for users
        return verify_worker_main(argc - 2, argv + 2);
    if (strcmp(argv[1], BENCH_WORKER_VERB) == 0) // what rope2d bench starts
        return bench_worker_main(argc - 2, argv + 2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0) {
        printf("rope2d %s\n", ROPE2D_VERSION);
        return STATUS_OK;
    }
    return complain_unknown(argv[1]);
}

int main(int argc, char **argv) {
#ifdef SIGXFSZ
    (void)signal(SIGXFSZ, SIG_IGN); // a file that grows past its limit is a failed write, not an end
#endif
    return message_end(run(argc, argv));
}

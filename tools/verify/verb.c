// SPDX-License-Identifier: MIT
//
// The options of rope2d verify.
#include <stdlib.h>
#include <string.h>

#include "../cli/message.h"
#include "../cli/output_check.h"
#include "../cli/verbs.h"
#include "child.h"
#include "folder.h"
#include "program.h"
#include "text_file.h"
#include "verify.h"

static int parse_numbers(struct verify_options *options, const char *seed, const char *repeat,
                         const char *seconds) {
    uint64_t times = 1;
    if (seed && !parse_count(seed, 0, UINT64_MAX, &options->seed)) {
        message("--seed %s: must be a number", seed);
        return STATUS_USAGE;
    }
    if (repeat && !parse_count(repeat, 1, 1000000, &times)) {
        message("--repeat %s: must be a number from 1 to 1000000", repeat);
        return STATUS_USAGE;
    }
    if (seconds &&
        (!parse_number(seconds, &options->seconds) || !(options->seconds > 0) || options->seconds > 86400)) {
        message("--time-limit %s: must be a number of seconds above 0", seconds);
        return STATUS_USAGE;
    }
    options->repeat = (uint32_t)times;
    return STATUS_OK;
}

// The program itself, for children to run.
static const char *own_program(char **argv) {
    static const char linux_link[] = "/proc/self/exe";
    return text_file_is_there(linux_link) ? linux_link : argv[-2]; // main's argv[0]
}

// --cases reads such files, of which nobody can tell beforehand which folders have some.
static bool is_case_file(const char *path) {
    const char *name = folder_name(path);
    size_t length = strlen(name);
    return strcmp(name, "case.json") == 0 || (length > 4 && strcmp(name + length - 4, ".npy") == 0);
}

static int check_outputs(const struct verify_options *options) {
    const struct named_path paths[] = {
        {"--json", .path = options->json},
        {"--junit", .path = options->junit},
        {"--html", .path = options->html},
        {"--expect", options->expect, .is_input = true},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i)
        if (paths[i].path && !paths[i].is_input && is_case_file(paths[i].path) &&
            text_file_is_there(paths[i].path)) {
            message("%s %s: is there and may be a case's file", paths[i].option, paths[i].path);
            return STATUS_USAGE;
        }
    return output_check(paths, sizeof paths / sizeof *paths);
}

static int run(int argc, char **argv) {
    bool quick = false, full = false;
    const char *seed = NULL, *repeat = NULL, *seconds = NULL;
    struct verify_options all = {.program = own_program(argv),
                                 .seed = VERIFY_RECORDED_SEED,
                                 .seconds = 60,
                                 .in_process = !child_is_there};
    struct verify_options *chosen = &all;
    const struct option options[] = {
        {"device", "DEVICE[,DEVICE...]",
         "all for every device found, or cpu, vulkan:0,\nopencl:1, ...; default all",
         .text = &chosen->device},
        {"cases", "FOLDER", "golden cases besides: a folder that is one or holds some",
         .text = &chosen->folder},
        {"exec", "COMMAND",
         "a program as a device: it reads the folder {case} and\nwrites q_out.npy and k_out.npy to {out}",
         .text = &chosen->command},
        {"case", "NAME[,NAME...]",
         "these cases alone, or whatever matches a pattern\nwith *, such as 'half*' or '* f16:f32 texture'",
         .text = &chosen->cases},
        {"quick", NULL, "fewer cases and types: under a minute on a CPU", .flag = &quick},
        {"full", NULL, "every case in every type, table and variation", .flag = &full},
        {"seed", "NUMBER", "other inputs than those whose outputs are recorded", .text = &seed},
        {"repeat", "N", "run each case N times; other bits are a verdict of\ntheir own", .text = &repeat},
        {"require", "DEVICE:COUNT[,...]",
         "fail unless so many cases were executed on a\ndevice that has this in its name, vendor or driver",
         .text = &chosen->require},
        {"expect", "FILE", "known failures: a JSON list of {device, case,\nreason, driver_from, driver_to}",
         .text = &chosen->expect},
        {"compile", NULL, "compile besides for hardware that is not here, as far\nas compilers are there",
         .flag = &chosen->compile},
        {"compile-only", NULL, "and run nothing", .flag = &chosen->compile_only},
        {"json", "FILE", "write the report, after every few cases anew", .text = &chosen->json},
        {"junit", "FILE", "write JUnit XML, for systems that run tests", .text = &chosen->junit},
        {"html", "FILE", "write a page that needs no network", .text = &chosen->html},
        {"resume", NULL, "keep the results that --json's file already has", .flag = &chosen->resume},
        {"time-limit", "SECONDS", "of each run, after which a case hangs; default 60", .text = &seconds},
        {"in-process", NULL, "no child processes: a driver that crashes ends\neverything",
         .flag = &chosen->in_process},
        {0},
    };
    int operands;
    enum options_result parsed = options_parse(&verb_verify, options, argc, argv, &operands);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    if (operands || (quick && full)) {
        message(operands ? "rope2d verify takes options alone" : "--quick and --full exclude each other");
        return STATUS_USAGE;
    }
    chosen->compile |= chosen->compile_only;
    if (chosen->compile_only &&
        (chosen->command || chosen->device || chosen->require || chosen->cases || chosen->folder || repeat)) {
        message(
            "--compile-only runs nothing: --device, --exec, --require, --case, --cases and --repeat exclude "
            "it");
        return STATUS_USAGE;
    }
    chosen->level = quick ? VERIFY_QUICK : full ? VERIFY_FULL : VERIFY_USUAL;
    int result = parse_numbers(chosen, seed, repeat, seconds);
    if (!result)
        result = program_check(chosen->command);
    if (!result)
        result = require_check(chosen->require);
    if (!result)
        result = check_outputs(chosen);
    return result ? result : verify_run(chosen);
}

const struct verb verb_verify = {
    .name = "verify",
    .usage = "[OPTIONS]",
    .summary = "prove that every device gives the same bits",
    .description =
        "Rotates made-up q and k of many shapes, types and layouts, and those of every preset, on each "
        "device, and\n"
        "compares each output bit with the portable C path and each value with an evaluation in double. "
        "Faults that\n"
        "must be noticed are made on purpose, and have to be. Cases run in child processes: a crash or a "
        "hang is\n"
        "that case's verdict. docs/verify.md tells what the report means.",
    .run = run,
};

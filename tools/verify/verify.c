// SPDX-License-Identifier: MIT
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/device_choice.h"
#include "../cli/message.h"
#include "../cli/progress.h"
#include "../cli/verbs.h"
#include "child.h"
#include "compile.h"
#include "facts.h"
#include "listing.h"
#include "program.h"
#include "supervise.h"
#include "text_file.h"

#define RECORDED_SEED 20260729 // tests/expected.sha256 was recorded with it

struct verify {
    struct verify_options options;
    struct listing listing;
    struct device_list list;
    cJSON *expected;
    cJSON *before; // the report that is resumed
    cJSON *report;
    struct progress progress;
};

static int save(const struct verify *verify) {
    return verify->options.json ? text_file_write_json(verify->options.json, verify->report) : STATUS_OK;
}

// The same machine, build and questions: the answers can be kept.
static bool can_resume(const cJSON *before, const cJSON *report) {
    static const char *const same[] = {"build", "options", "sources"};
    for (size_t i = 0; i < sizeof same / sizeof *same; ++i)
        if (!cJSON_Compare(cJSON_GetObjectItemCaseSensitive(before, same[i]),
                           cJSON_GetObjectItemCaseSensitive(report, same[i]), true))
            return false;
    return true;
}

static int read_before(struct verify *verify) {
    if (!verify->options.resume)
        return STATUS_OK;
    if (!verify->options.json) {
        message("--resume needs --json FILE, which is where the results are");
        return STATUS_USAGE;
    }
    if (!text_file_is_there(verify->options.json))
        return STATUS_OK;
    int result = text_file_read_json(verify->options.json, &verify->before);
    if (result)
        return result;
    if (verify->before && can_resume(verify->before, verify->report))
        return STATUS_OK;
    message("%s: is no report of this build with these options; without --resume it is written anew",
            verify->options.json);
    return STATUS_USAGE;
}

static cJSON *make_report(const struct verify_options *options) {
    char seed[24];
    cJSON *report = cJSON_CreateObject();
    cJSON_AddStringToObject(report, "format", VERIFY_FORMAT);
    cJSON_AddNumberToObject(report, "format_version", VERIFY_FORMAT_VERSION);
    cJSON_AddFalseToObject(report, "passed");
    cJSON_AddFalseToObject(report, "complete");
    cJSON_AddItemToObject(report, "build", facts_of_build());
    cJSON *chosen = cJSON_AddObjectToObject(report, "options");
    snprintf(seed, sizeof seed, "%" PRIu64, options->seed);
    cJSON_AddStringToObject(chosen, "level", verify_level_names[options->level]);
    cJSON_AddStringToObject(chosen, "seed", seed);
    cJSON_AddNumberToObject(chosen, "repeat", options->repeat);
    if (options->folder)
        cJSON_AddStringToObject(chosen, "cases", options->folder);
    if (options->command)
        cJSON_AddStringToObject(chosen, "exec", options->command);
    cJSON_AddItemToObject(report, "sources", facts_of_sources());
    cJSON_AddArrayToObject(report, "problems");
    cJSON_AddArrayToObject(report, "skips");
    cJSON_AddArrayToObject(report, "devices");
    return report;
}

static void add_skip(cJSON *report, const char *what, const char *why) {
    cJSON *skip = cJSON_CreateObject();
    cJSON_AddStringToObject(skip, "what", what);
    cJSON_AddStringToObject(skip, "why", why);
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(report, "skips"), skip);
}

// The device's part of the report that is resumed, if its driver is still the same.
static const cJSON *find_before(const struct verify *verify, const struct device_choice *choice) {
    const cJSON *device;
    cJSON_ArrayForEach(
        device,
        cJSON_GetObjectItemCaseSensitive(
            verify->before, "devices")) if (strcmp(summary_text(device, "device"), choice->name) == 0 &&
                                            strcmp(summary_text(device, "name"), choice->info.name) == 0 &&
                                            strcmp(summary_text(device, "driver"), choice->info.driver) ==
                                                0) return device;
    return NULL;
}

static cJSON *find_result(const cJSON *device, const char *list, const char *name) {
    cJSON *result;
    cJSON_ArrayForEach(
        result, cJSON_GetObjectItemCaseSensitive(device, list)) if (strcmp(summary_text(result, "name"),
                                                                           name) == 0) return result;
    return NULL;
}

// What is wanted and not known from before. The number of tasks.
static size_t choose_tasks(const struct verify *verify, const struct verify_matrix *matrix,
                           const cJSON *before, cJSON **results, size_t *tasks) {
    size_t count = 0;
    for (size_t i = 0; i < matrix->count; ++i) {
        const struct verify_task *task = &matrix->tasks[i];
        bool is_control = task->control >= 0;
        if (!is_control && verify->options.cases && !verify_name_matches(task->name, verify->options.cases))
            continue;
        const cJSON *known = find_result(before, is_control ? "controls" : "results", task->name);
        if (known && strcmp(summary_text(known, "verdict"), "no verdict") != 0)
            results[i] = cJSON_Duplicate(known, true);
        else
            tasks[count++] = i;
    }
    return count;
}

static void add_results(const struct verify_matrix *matrix, cJSON *const *results, cJSON *device) {
    cJSON *controls = cJSON_AddArrayToObject(device, "controls");
    cJSON *list = cJSON_AddArrayToObject(device, "results");
    for (size_t i = 0; i < matrix->count; ++i)
        if (results[i])
            cJSON_AddItemToArray(matrix->tasks[i].control >= 0 ? controls : list,
                                 cJSON_Duplicate(results[i], true));
}

static cJSON *basic_facts(const struct device_choice *choice) {
    cJSON *facts = cJSON_CreateObject();
    cJSON_AddStringToObject(facts, "device", choice->name);
    cJSON_AddStringToObject(facts, "name", choice->info.name);
    cJSON_AddStringToObject(facts, "vendor", choice->info.vendor);
    cJSON_AddStringToObject(facts, "driver", choice->info.driver);
    cJSON_AddStringToObject(facts, "api", choice->info.api);
    return facts;
}

// A device at work.
struct device_run {
    struct verify *verify;
    const struct device_choice *choice;
    const cJSON *before; // of the report that is resumed; NULL: none
    bool is_program;     // the device of --exec
    struct verify_matrix matrix;
    cJSON **results; // [matrix.count]
    size_t *tasks;
    struct verify_supervisor supervisor;
};

// The device's part of the report, as far as it has come.
static cJSON *describe(const struct device_run *run) {
    static const char *const derived[] = {"controls", "results", "counts",     "classes", "tier",
                                          "outputs",  "error",   "variations", "leaving"};
    const struct verify_supervisor *supervisor = &run->supervisor;
    const cJSON *facts = supervisor->facts ? supervisor->facts : run->before;
    cJSON *device = facts ? cJSON_Duplicate(facts, true) : basic_facts(run->choice);
    for (size_t i = 0; i < sizeof derived / sizeof *derived; ++i)
        cJSON_DeleteItemFromObjectCaseSensitive(device, derived[i]);
    if (*supervisor->text)
        cJSON_AddStringToObject(device, "error", supervisor->text);
    if (*supervisor->leaving)
        cJSON_AddStringToObject(device, "leaving", supervisor->leaving);
    add_results(&run->matrix, run->results, device);
    expect_apply(run->verify->expected, device);
    summary_of_device(device, run->verify->options.seed == RECORDED_SEED);
    return device;
}

static void step(void *user) {
    const struct device_run *run = user;
    progress_add(&run->verify->progress, 1);
}

// What is there so far outlives an interruption.
static void save_so_far(void *user) {
    const struct device_run *run = user;
    cJSON *devices = cJSON_GetObjectItemCaseSensitive(run->verify->report, "devices");
    if (!run->verify->options.json)
        return;
    cJSON_AddItemToArray(devices, describe(run));
    (void)save(run->verify);
    cJSON_DeleteItemFromArray(devices, cJSON_GetArraySize(devices) - 1);
}

static void run_device(struct device_run *run) {
    struct verify *verify = run->verify;
    size_t count = choose_tasks(verify, &run->matrix, run->before, run->results, run->tasks);
    run->supervisor = (struct verify_supervisor){
        .program = verify->options.program,
        .job = {.backend = run->choice->info.backend,
                .index = run->choice->info.index,
                .level = verify->options.level,
                .seed = verify->options.seed,
                .repeat = verify->options.repeat,
                .cases = verify->options.folder,
                .command = run->is_program ? verify->options.command : NULL,
                .seconds = verify->options.seconds},
        .matrix = &run->matrix,
        .seconds = verify->options.seconds,
        .in_process = verify->options.in_process,
        .results = run->results,
        .result_came = step,
        .batch_ended = save_so_far,
        .user = run,
    };
    progress_begin(&verify->progress, run->choice->name, count);
    verify_supervise(&run->supervisor, run->tasks, count);
    progress_end(&verify->progress);
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(verify->report, "devices"), describe(run));
}

static int verify_device(struct verify *verify, const struct device_choice *choice, bool is_program) {
    struct device_run run = {
        .verify = verify, .choice = choice, .before = find_before(verify, choice), .is_program = is_program};
    const struct verify_matrix_params params = {verify->options.level, choice->info.has_textures != 0,
                                                is_program, verify->options.folder};
    int result = verify_matrix_make(&run.matrix, &params);
    if (!result) {
        run.results = calloc(run.matrix.count + 1, sizeof(cJSON *));
        run.tasks = calloc(run.matrix.count + 1, sizeof *run.tasks);
    }
    if (run.results && run.tasks) {
        run_device(&run);
        result = save(verify);
    } else if (!result) {
        result = STATUS_DEVICE;
        message("%s: no memory for its cases", choice->name);
    }
    for (size_t i = 0; run.results && i < run.matrix.count; ++i)
        cJSON_Delete(run.results[i]);
    cJSON_Delete(run.supervisor.facts);
    free(run.results);
    free(run.tasks);
    verify_matrix_free(&run.matrix);
    return result;
}

static int verify_program(struct verify *verify) {
    struct device_choice choice = {.name = "exec:0"};
    snprintf(choice.info.name, sizeof choice.info.name, "%s", verify->options.command);
    return verify_device(verify, &choice, true);
}

static void list_skips(struct verify *verify) {
    const char *device = verify->options.device;
    if (device ? strcmp(device, "all") != 0 : verify->options.command != NULL)
        return;
    for (int backend = 0; backend < ROPE2D_BACKEND_COUNT; ++backend) {
        bool is_there = false;
        for (size_t i = 0; i < verify->list.count; ++i)
            is_there |= verify->list.items[i].info.backend == (rope2d_backend)backend;
        if (!is_there)
            add_skip(verify->report, backend_names[backend],
                     *verify->list.missing[backend] ? verify->list.missing[backend] : "no device");
    }
}

static int choose_devices(struct verify *verify) {
    const struct verify_options *options = &verify->options;
    int result =
        listing_make(options->in_process ? NULL : options->program, options->seconds, &verify->listing);
    return result ? result
                  : devices_choose_among(&verify->listing.devices, options->device ? options->device : "all",
                                         false, &verify->list);
}

// A backend whose devices cannot even be listed.
static void complain_of_listing(struct verify *verify) {
    for (int backend = 0; backend < ROPE2D_BACKEND_COUNT; ++backend) {
        if (!verify->listing.is_broken[backend])
            continue;
        cJSON *problem = cJSON_CreateObject();
        cJSON_AddStringToObject(problem, "device", backend_names[backend]);
        cJSON_AddStringToObject(problem, "text", verify->listing.devices.missing[backend]);
        cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(verify->report, "problems"), problem);
    }
}

static int verify_all(struct verify *verify) {
    int result = STATUS_OK;
    // A program alone is meant when no device is named beside it.
    if (!verify->options.compile_only && (!verify->options.command || verify->options.device))
        result = choose_devices(verify);
    if (result)
        return result;
    verify->report = make_report(&verify->options);
    complain_of_listing(verify);
    result = read_before(verify);
    if (result)
        return result;
    if (!verify->options.compile_only)
        list_skips(verify);
    for (size_t i = 0; i < verify->list.count && !result; ++i)
        result = verify_device(verify, &verify->list.items[i], false);
    if (!result && verify->options.command)
        result = verify_program(verify);
    if (!result && verify->options.compile)
        result = compile_all(&verify->options, verify->before, &verify->progress, verify->report);
    if (result)
        return result;
    require_apply(verify->options.require, verify->report);
    int verdict = summary_of_report(verify->report);
    cJSON_ReplaceItemInObjectCaseSensitive(verify->report, "complete", cJSON_CreateTrue());
    report_print(verify->report);
    expect_print_stale(verify->expected, verify->report);
    result = save(verify);
    if (!result && verify->options.junit)
        result = text_file_write(verify->options.junit, report_write_junit, verify->report);
    if (!result && verify->options.html)
        result = text_file_write(verify->options.html, report_write_html, verify->report);
    return result ? result : verdict;
}

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

static int run(int argc, char **argv) {
    bool quick = false, full = false;
    const char *seed = NULL, *repeat = NULL, *seconds = NULL;
    struct verify verify = {.options = {.program = own_program(argv),
                                        .seed = RECORDED_SEED,
                                        .seconds = 60,
                                        .in_process = !child_is_there}};
    struct verify_options *chosen = &verify.options;
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
        {"time-limit", "SECONDS", "after which a case hangs; default 60", .text = &seconds},
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
    if (chosen->compile_only && (chosen->command || chosen->device || chosen->require)) {
        message("--compile-only runs nothing: --device, --exec and --require exclude it");
        return STATUS_USAGE;
    }
    chosen->level = quick ? VERIFY_QUICK : full ? VERIFY_FULL : VERIFY_USUAL;
    int result = parse_numbers(chosen, seed, repeat, seconds);
    if (!result)
        result = program_check(chosen->command);
    if (!result)
        result = require_check(chosen->require);
    if (!result)
        result = expect_read(chosen->expect, &verify.expected);
    if (!result)
        result = verify_all(&verify);
    devices_free(&verify.list);
    devices_free(&verify.listing.devices);
    cJSON_Delete(verify.expected);
    cJSON_Delete(verify.before);
    cJSON_Delete(verify.report);
    return result;
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

// SPDX-License-Identifier: MIT
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tests/harness/digest.h"
#include "../cli/device_choice.h"
#include "../cli/message.h"
#include "../cli/progress.h"
#include "compile.h"
#include "escape.h"
#include "execute.h"
#include "facts.h"
#include "interrupt.h"
#include "listing.h"
#include "resume.h"
#include "supervise.h"
#include "text_file.h"

// Seconds between two times that the report is written: as many as it has taken so far, up to these.
static const double SAVED_FIRST = 1, SAVED_EVERY = 10;

struct verify {
    struct verify_options options;
    struct listing listing;
    struct device_list list;
    cJSON *expected;
    cJSON *before; // the report that is resumed
    cJSON *report;
    struct progress progress;
    double started, saved; // the latter: when it was last written
};

static int write_so_far(const struct verify *verify) {
    const char *file = verify->options.json;
    return file ? resume_save(file, verify->report, verify->before) : STATUS_OK;
}

// JSON holds UTF-8 alone: of what is none a hash is added, so that --resume tells it from others.
static void add_text(cJSON *object, const char *key, const char *text) {
    const size_t size = strlen(text) + 1, room = size + sizeof "~" + 64;
    char *kept = malloc(room), hex[65];
    rope2d_sha256 sha;
    if (!kept)
        return;
    memcpy(kept, text, size);
    escape_utf8(kept);
    if (strcmp(kept, text) != 0) {
        rope2d_sha256_begin(&sha);
        rope2d_sha256_add(&sha, text, size - 1);
        digest_end(&sha, hex);
        snprintf(kept + size - 1, room - size + 1, "~%s", hex);
    }
    cJSON_AddStringToObject(object, key, kept);
    free(kept);
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
        add_text(chosen, "cases", options->folder);
    if (options->command)
        add_text(chosen, "exec", options->command);
    cJSON_AddItemToObject(report, "sources", facts_of_sources());
    cJSON_AddArrayToObject(report, "problems");
    cJSON_AddArrayToObject(report, "skips");
    cJSON_AddArrayToObject(report, "devices");
    return report;
}

static void add_results(const struct verify_matrix *matrix, cJSON *const *results, const cJSON *others,
                        cJSON *device) {
    const cJSON *other;
    cJSON *controls = cJSON_AddArrayToObject(device, "controls");
    cJSON *list = cJSON_AddArrayToObject(device, "results");
    for (size_t i = 0; i < matrix->count; ++i)
        if (results[i])
            cJSON_AddItemToArray(matrix->tasks[i].control >= 0 ? controls : list,
                                 cJSON_Duplicate(results[i], true));
    cJSON_ArrayForEach(other, others) cJSON_AddItemToArray(list, cJSON_Duplicate(other, true));
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
    cJSON *others;   // results from before of cases that there are none of any more
    size_t *tasks;
    struct verify_supervisor supervisor;
};

// What is wanted and not known from before. The number of tasks. What is known and not wanted stays.
static size_t choose_tasks(struct device_run *run) {
    const char *patterns = run->verify->options.cases;
    struct resume_names controls, others;
    size_t count = 0;
    // Without memory for them all are run again.
    (void)resume_sort(run->before, "controls", &controls);
    (void)resume_sort(run->before, "results", &others);
    for (size_t i = 0; i < run->matrix.count; ++i) {
        const struct verify_task *task = &run->matrix.tasks[i];
        bool is_control = task->control >= 0;
        bool is_wanted = is_control || !patterns || verify_name_matches(task->name, patterns);
        const cJSON *known = resume_take(is_control ? &controls : &others, task->name);
        if (known && (!is_wanted || strcmp(summary_text(known, "verdict"), VERDICT_NONE) != 0))
            run->results[i] = cJSON_Duplicate(known, true);
        else if (is_wanted)
            run->tasks[count++] = i;
    }
    for (size_t i = 0; i < others.count; ++i)
        if (!others.are_taken[i])
            cJSON_AddItemToArray(run->others, cJSON_Duplicate(others.results[i], true));
    resume_free(&controls);
    resume_free(&others);
    return count;
}

// The device's part of the report, as far as it has come.
static cJSON *describe(const struct device_run *run) {
    static const char *const derived[] = {"controls", "results", "counts",     "classes", "tier",
                                          "outputs",  "error",   "variations", "leaving"};
    const struct verify_supervisor *supervisor = &run->supervisor;
    const cJSON *facts = supervisor->facts ? supervisor->facts : run->before;
    const char *leaving = *supervisor->leaving ? supervisor->leaving : summary_text(run->before, "leaving");
    cJSON *device = facts ? cJSON_Duplicate(facts, true) : basic_facts(run->choice);
    for (size_t i = 0; i < sizeof derived / sizeof *derived; ++i)
        cJSON_DeleteItemFromObjectCaseSensitive(device, derived[i]);
    if (*supervisor->text)
        cJSON_AddStringToObject(device, "error", supervisor->text);
    if (*leaving)
        cJSON_AddStringToObject(device, "leaving", leaving);
    add_results(&run->matrix, run->results, run->others, device);
    expect_apply(run->verify->expected, device);
    summary_of_device(device, run->verify->options.seed == VERIFY_RECORDED_SEED);
    return device;
}

// What is there so far outlives an interruption.
static void save_so_far(void *user) {
    const struct device_run *run = user;
    cJSON *devices = cJSON_GetObjectItemCaseSensitive(run->verify->report, "devices");
    if (!run->verify->options.json)
        return;
    cJSON_AddItemToArray(devices, describe(run));
    (void)write_so_far(run->verify);
    cJSON_DeleteItemFromArray(devices, cJSON_GetArraySize(devices) - 1);
    run->verify->saved = seconds_now();
}

static void step(void *user) {
    const struct device_run *run = user;
    double now = seconds_now(), since = now - run->verify->saved,
           so_far = run->verify->saved - run->verify->started;
    progress_add(&run->verify->progress, 1);
    if (since >= SAVED_EVERY || (since >= SAVED_FIRST && since >= so_far))
        save_so_far(user);
}

static void run_device(struct device_run *run) {
    struct verify *verify = run->verify;
    size_t count = choose_tasks(run);
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

static int write_pages(const struct verify *verify) {
    int result = STATUS_OK;
    if (verify->options.junit)
        result = text_file_write(verify->options.junit, report_write_junit, verify->report);
    if (!result && verify->options.html)
        result = text_file_write(verify->options.html, report_write_html, verify->report);
    return result;
}

// What a signal leaves is written, and a failure in every form; on the terminal nothing else is said.
static int tell_interrupted(struct verify *verify, bool has_begun) {
    static const char text[] = "interrupted: not every case was run";
    const char *file = verify->options.json;
    if (!has_begun) {
        message("interrupted");
        return STATUS_FAILED;
    }
    report_add_problem(verify->report, NULL, text);
    int result = write_so_far(verify);
    if (!result)
        result = write_pages(verify);
    if (!result && file)
        message("interrupted: %s has the results so far, and --resume goes on", file);
    else if (!result)
        message("interrupted");
    return result ? result : STATUS_FAILED;
}

static int verify_device(struct verify *verify, const struct device_choice *choice, bool is_program) {
    struct device_run run = {.verify = verify,
                             .choice = choice,
                             .before = resume_find_device(verify->before, choice),
                             .is_program = is_program};
    const struct verify_matrix_params params = {verify->options.level, choice->info.has_textures != 0,
                                                choice->info.backend != ROPE2D_BACKEND_CPU, is_program,
                                                verify->options.folder};
    int result = verify_matrix_make(&run.matrix, &params);
    if (!run.before && resume_has_device(verify->before, choice->name))
        report_add_skip(verify->report, choice->name,
                        "its driver is another than in what --resume found, of which nothing is kept");
    if (!result) {
        run.results = calloc(run.matrix.count + 1, sizeof(cJSON *));
        run.tasks = calloc(run.matrix.count + 1, sizeof *run.tasks);
        run.others = cJSON_CreateArray();
    }
    if (run.results && run.tasks && run.others) {
        run_device(&run);
        result = write_so_far(verify);
    } else if (!result) {
        result = STATUS_DEVICE;
        message("%s: no memory for its cases", choice->name);
    }
    for (size_t i = 0; run.results && i < run.matrix.count; ++i)
        cJSON_Delete(run.results[i]);
    cJSON_Delete(run.supervisor.facts);
    cJSON_Delete(run.others);
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
            report_add_skip(verify->report, backend_names[backend],
                            *verify->list.missing[backend] ? verify->list.missing[backend] : "no device");
    }
}

static int choose_devices(struct verify *verify) {
    const struct verify_options *options = &verify->options;
    const char *device = options->device ? options->device : "all";
    int result = listing_make(options->in_process ? NULL : options->program, options->seconds, device,
                              &verify->listing);
    return result ? result : devices_choose_among(&verify->listing.devices, device, false, &verify->list);
}

// A backend whose devices cannot even be listed.
static void complain_of_listing(struct verify *verify) {
    for (int backend = 0; backend < ROPE2D_BACKEND_COUNT; ++backend) {
        if (!verify->listing.is_broken[backend])
            continue;
        report_add_problem(verify->report, backend_names[backend], verify->listing.devices.missing[backend]);
    }
}

// All devices one after another, the program, and the compilers.
static int fill_report(struct verify *verify) {
    int result = STATUS_OK;
    if (!verify->options.compile_only)
        list_skips(verify);
    for (size_t i = 0; i < verify->list.count && !result && !interrupt_came(); ++i)
        result = verify_device(verify, &verify->list.items[i], false);
    if (!result && verify->options.command && !interrupt_came())
        result = verify_program(verify);
    if (!result && verify->options.compile && !interrupt_came())
        compile_all(&verify->options, verify->before, &verify->progress, verify->report);
    return result;
}

static int write_outputs(struct verify *verify) {
    int result =
        verify->options.json ? text_file_write_json(verify->options.json, verify->report) : STATUS_OK;
    return result ? result : write_pages(verify);
}

static int verify_all(struct verify *verify) {
    // A program alone is meant when no device is named beside it.
    bool has_devices = !verify->options.compile_only && (!verify->options.command || verify->options.device);
    int result = has_devices ? choose_devices(verify) : STATUS_OK;
    if (!result) {
        verify->report = make_report(&verify->options);
        complain_of_listing(verify);
        result = resume_read(&verify->options, verify->report, &verify->before);
    }
    bool begins = !result && !interrupt_came();
    if (begins)
        result = fill_report(verify);
    if (interrupt_came())
        return tell_interrupted(verify, begins);
    if (result)
        return result;
    resume_keep(&verify->options, verify->expected, verify->before, verify->report);
    require_apply(verify->options.require, verify->report);
    expect_note_stale(verify->expected, verify->report);
    int verdict = summary_of_report(verify->report);
    cJSON_ReplaceItemInObjectCaseSensitive(verify->report, "complete", cJSON_CreateTrue());
    result = write_outputs(verify); // whoever reads what is printed may be gone, as head(1) is
    report_print(verify->report);
    return result ? result : verdict;
}

int verify_run(const struct verify_options *options) {
    double now = seconds_now();
    struct verify verify = {.options = *options, .started = now, .saved = now};
    int result = expect_read(options->expect, &verify.expected);
    if (!result && options->cases && !options->compile_only)
        result = verify_check_patterns(options->cases, options->folder);
    if (!result) {
        interrupt_listen();
        result = verify_all(&verify);
    }
    devices_free(&verify.list);
    devices_free(&verify.listing.devices);
    cJSON_Delete(verify.expected);
    cJSON_Delete(verify.before);
    cJSON_Delete(verify.report);
    interrupt_end();
    return result;
}

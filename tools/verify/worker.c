// SPDX-License-Identifier: MIT
#include "worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/json_read.h"
#include "../cli/message.h"
#include "../cli/options.h"
#include "compile_vulkan.h"
#include "execute.h"
#include "facts.h"
#include "listing.h"

static bool say(verify_say_fn *fn, void *user, const char *key, cJSON *value, size_t task, bool has_task) {
    cJSON *line = cJSON_CreateObject();
    if (has_task)
        cJSON_AddNumberToObject(line, "task", (double)task);
    cJSON_AddItemToObject(line, key, value);
    bool goes_on = line && value && fn(user, line);
    cJSON_Delete(line);
    return goes_on;
}

struct listener {
    verify_say_fn *fn;
    void *user;
};

// The supervisor's time begins anew with every line.
static bool say_run(void *user) {
    const struct listener *listener = user;
    return say(listener->fn, listener->user, "run_ended", cJSON_CreateTrue(), 0, false);
}

static bool is_lost(const cJSON *result) {
    const char *verdict = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(result, "verdict"));
    return verdict && strcmp(verdict, VERDICT_LOST) == 0;
}

// NULL when it is not there any more.
static const struct verify_task *find_task(const struct verify_matrix *matrix,
                                           const struct verify_wanted *wanted) {
    const struct verify_task *tasks = matrix->tasks;
    if (wanted->number < matrix->count && strcmp(tasks[wanted->number].name, wanted->name) == 0)
        return &tasks[wanted->number];
    for (size_t i = 0; i < matrix->count; ++i)
        if (strcmp(tasks[i].name, wanted->name) == 0)
            return &tasks[i];
    return NULL;
}

static cJSON *miss(const char *name) {
    cJSON *result = cJSON_CreateObject();
    cJSON_AddStringToObject(result, "name", name);
    cJSON_AddStringToObject(result, "verdict", VERDICT_FAILED);
    cJSON_AddStringToObject(result, "text", "the folder of cases does not have it any more");
    return result;
}

static void run_tasks(struct verify_bench *bench, const struct verify_matrix *matrix,
                      const struct verify_wanted *wanted, size_t count, verify_say_fn *fn, void *user) {
    for (size_t i = 0; i < count; ++i) {
        const struct verify_task *task = find_task(matrix, &wanted[i]);
        if (!say(fn, user, "begin", cJSON_CreateNumber((double)wanted[i].number), 0, false))
            return;
        cJSON *result = task ? verify_execute(bench, task) : miss(wanted[i].name);
        bool stops = !result || is_lost(result);
        if (!say(fn, user, "result", result, wanted[i].number, true) || stops)
            return;
    }
}

int verify_work(const struct verify_job *job, const struct verify_wanted *wanted, size_t count,
                verify_say_fn *fn, void *user) {
    static struct verify_bench bench;
    struct listener listener = {fn, user};
    struct verify_matrix matrix = {0};
    memset(&bench, 0, sizeof bench);
    bench.seed = job->seed;
    bench.repeat = job->repeat;
    bench.command = job->command;
    bench.seconds = job->seconds;
    bench.run_ended = say_run;
    bench.user = &listener;
    rope2d_status status = verify_bench_open(&bench, job->backend, job->index);
    const struct verify_matrix_params params = {job->level, bench.device.info.has_textures != 0,
                                                job->backend != ROPE2D_BACKEND_CPU, job->command != NULL,
                                                job->cases};
    if (!status && verify_matrix_make(&matrix, &params))
        status = ROPE2D_ERROR_HOST_MEMORY;
    if (status) {
        char text[512];
        snprintf(text, sizeof text, "%s: %.400s", rope2d_status_name(status),
                 bench.device.log.text + strspn(bench.device.log.text, " "));
        say(fn, user, "status", cJSON_CreateString(text), 0, false);
    } else if (say(fn, user, "facts",
                   job->command ? facts_of_program(job->command) : facts_of(bench.device.device), 0, false)) {
        run_tasks(&bench, &matrix, wanted, count, fn, user);
    }
    verify_bench_close(&bench);
    verify_matrix_free(&matrix);
    return exit_status_of(status);
}

void verify_worker_arguments(const struct verify_job *job, char texts[][VERIFY_ARGUMENT_SIZE]) {
    snprintf(texts[0], VERIFY_ARGUMENT_SIZE, "%s", VERIFY_WORKER_VERB);
    snprintf(texts[1], VERIFY_ARGUMENT_SIZE, "%d", (int)job->backend);
    snprintf(texts[2], VERIFY_ARGUMENT_SIZE, "%" PRIu32, job->index);
    snprintf(texts[3], VERIFY_ARGUMENT_SIZE, "%d", (int)job->level);
    snprintf(texts[4], VERIFY_ARGUMENT_SIZE, "%" PRIu64, job->seed);
    snprintf(texts[5], VERIFY_ARGUMENT_SIZE, "%" PRIu32, job->repeat);
}

static bool write_line(void *user, const cJSON *line) {
    FILE *file = user;
    char *text = cJSON_PrintUnformatted(line);
    bool good = text && fprintf(file, "%s\n", text) > 0 && fflush(file) == 0;
    cJSON_free(text);
    return good;
}

static struct verify_wanted *read_wanted(size_t *count) {
    enum { MOST = VERIFY_BATCH, LONGEST = 6 * VERIFY_NAME_SIZE + 32 }; // of JSON
    struct verify_wanted *wanted = calloc(MOST, sizeof *wanted);
    char text[LONGEST];
    bool is_good = true;
    *count = 0;
    while (wanted && is_good && *count < MOST && fgets(text, sizeof text, stdin)) {
        cJSON *line = json_read(text, strlen(text), NULL);
        const cJSON *number = cJSON_GetArrayItem(line, 0);
        const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(line, 1));
        is_good =
            cJSON_IsNumber(number) && number->valuedouble >= 0 && number->valuedouble < UINT32_MAX && name;
        if (is_good) {
            wanted[*count].number = (size_t)number->valuedouble;
            snprintf(wanted[(*count)++].name, VERIFY_NAME_SIZE, "%s", name);
        }
        cJSON_Delete(line);
    }
    return wanted;
}

#ifdef _WIN32
int verify_worker_main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    (void)write_line;
    (void)read_wanted;
    return STATUS_USAGE;
}
#else
int verify_worker_main(int argc, char **argv) {
    static const uint64_t largest[] = {ROPE2D_BACKEND_COUNT - 1, UINT32_MAX, VERIFY_LEVELS - 1, UINT64_MAX,
                                       UINT32_MAX};
    enum { NUMBERS = sizeof largest / sizeof *largest };
    uint64_t numbers[NUMBERS];
    if (argc > 1 && strcmp(argv[0], "compile") == 0)
        return compile_vulkan_main(argc - 1, argv + 1);
    if (argc == 1 && parse_count(argv[0], 0, largest[0], &numbers[0]))
        return listing_child((rope2d_backend)numbers[0]);
    for (int i = 0; i < NUMBERS; ++i)
        if (argc != NUMBERS + 1 || !parse_count(argv[i], 0, largest[i], &numbers[i])) {
            message(VERIFY_WORKER_VERB " is for rope2d verify alone");
            return STATUS_USAGE;
        }
    const struct verify_job job = {.backend = (rope2d_backend)numbers[0],
                                   .index = (uint32_t)numbers[1],
                                   .level = (enum verify_level)numbers[2],
                                   .seed = numbers[3],
                                   .repeat = (uint32_t)numbers[4],
                                   .cases = *argv[NUMBERS] ? argv[NUMBERS] : NULL};
    FILE *file = fdopen(VERIFY_WORKER_DESCRIPTOR, "w");
    size_t count;
    struct verify_wanted *wanted = file ? read_wanted(&count) : NULL;
    int result = STATUS_USAGE;
    if (wanted)
        result = verify_work(&job, wanted, count, write_line, file);
    free(wanted);
    if (file)
        (void)fclose(file);
    return result;
}
#endif

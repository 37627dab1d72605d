// SPDX-License-Identifier: MIT
#include "worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_lost(const cJSON *result) {
    const char *verdict = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(result, "verdict"));
    return verdict && strcmp(verdict, VERDICT_LOST) == 0;
}

static void run_tasks(struct verify_bench *bench, const struct verify_matrix *matrix, const size_t *tasks,
                      size_t count, verify_say_fn *fn, void *user) {
    for (size_t i = 0; i < count; ++i) {
        if (tasks[i] >= matrix->count ||
            !say(fn, user, "begin", cJSON_CreateNumber((double)tasks[i]), 0, false))
            return;
        cJSON *result = verify_execute(bench, &matrix->tasks[tasks[i]]);
        bool stops = !result || is_lost(result);
        if (!say(fn, user, "result", result, tasks[i], true) || stops)
            return;
    }
}

int verify_work(const struct verify_job *job, const size_t *tasks, size_t count, verify_say_fn *fn,
                void *user) {
    static struct verify_bench bench;
    struct verify_matrix matrix = {0};
    memset(&bench, 0, sizeof bench);
    bench.seed = job->seed;
    bench.repeat = job->repeat;
    bench.command = job->command;
    bench.seconds = job->seconds;
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
        run_tasks(&bench, &matrix, tasks, count, fn, user);
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

static size_t *read_tasks(size_t *count) {
    enum { MOST = 1 << 16 };
    size_t *tasks = calloc(MOST, sizeof *tasks);
    char text[32];
    uint64_t number;
    *count = 0;
    while (tasks && *count < MOST && fgets(text, sizeof text, stdin)) {
        text[strcspn(text, "\n")] = '\0';
        if (!parse_count(text, 0, SIZE_MAX, &number))
            break;
        tasks[(*count)++] = (size_t)number;
    }
    return tasks;
}

#ifdef _WIN32
int verify_worker_main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    (void)write_line;
    (void)read_tasks;
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
    size_t *tasks = file ? read_tasks(&count) : NULL;
    int result = STATUS_USAGE;
    if (tasks)
        result = verify_work(&job, tasks, count, write_line, file);
    free(tasks);
    if (file)
        (void)fclose(file);
    return result;
}
#endif

// SPDX-License-Identifier: MIT
#include "supervise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/json_read.h"
#include "child.h"
#include "execute.h"
#include "interrupt.h"

enum { MOST_HANGS = 3 };

static void set_result(struct verify_supervisor *supervisor, size_t task, cJSON *result) {
    bool is_first = supervisor->results[task] == NULL;
    cJSON_Delete(supervisor->results[task]);
    supervisor->results[task] = result;
    if (is_first && result && supervisor->result_came && !supervisor->is_blaming)
        supervisor->result_came(supervisor->user);
}

static void give_verdict(struct verify_supervisor *supervisor, size_t task, const char *verdict,
                         const char *text) {
    cJSON *result = cJSON_CreateObject();
    cJSON_AddStringToObject(result, "name", supervisor->matrix->tasks[task].name);
    cJSON_AddStringToObject(result, "verdict", verdict);
    cJSON_AddStringToObject(result, "text", text);
    set_result(supervisor, task, result);
}

// A line of the worker's; it may be anything when the child's memory is broken.
static bool hear(void *user, const cJSON *line) {
    struct verify_supervisor *supervisor = user;
    const cJSON *begin = cJSON_GetObjectItemCaseSensitive(line, "begin");
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(line, "task");
    cJSON *result = cJSON_GetObjectItemCaseSensitive(line, "result");
    const cJSON *facts = cJSON_GetObjectItemCaseSensitive(line, "facts");
    const char *status = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, "status"));
    if (cJSON_IsNumber(begin) && begin->valuedouble >= 0 &&
        begin->valuedouble < (double)supervisor->matrix->count) {
        supervisor->begun = (size_t)begin->valuedouble;
        supervisor->has_begun = true;
    }
    supervisor->is_open |= facts != NULL;
    if (facts && !supervisor->facts)
        supervisor->facts = cJSON_Duplicate(facts, true);
    if (status)
        snprintf(supervisor->text, sizeof supervisor->text, "%s", status);
    if (result && cJSON_IsNumber(number) && supervisor->has_begun &&
        number->valuedouble == (double)supervisor->begun && !interrupt_came()) {
        set_result(supervisor, supervisor->begun, cJSON_Duplicate(result, true));
        supervisor->has_begun = false;
    }
    return !interrupt_came(); // what a program that was ended gave is no result
}

static void hear_text(void *user, const char *text) {
    cJSON *line = json_read(text, strlen(text), NULL);
    if (line)
        (void)hear(user, line);
    cJSON_Delete(line);
}

static struct verify_wanted *name_tasks(const struct verify_matrix *matrix, const size_t *tasks,
                                        size_t count) {
    struct verify_wanted *wanted = calloc(count + 1, sizeof *wanted);
    for (size_t i = 0; wanted && i < count; ++i) {
        wanted[i].number = tasks[i];
        memcpy(wanted[i].name, matrix->tasks[tasks[i]].name, sizeof wanted[i].name);
    }
    return wanted;
}

static char *list_tasks(const struct verify_wanted *wanted, size_t count) {
    enum { LONGEST = 6 * VERIFY_NAME_SIZE + 32 }; // a character of JSON has six at most
    char *text = malloc(count * LONGEST + 1);
    size_t used = 0;
    if (text)
        *text = '\0';
    for (size_t i = 0; text && i < count; ++i) {
        cJSON *name = cJSON_CreateString(wanted[i].name);
        char *quoted = cJSON_PrintUnformatted(name);
        used += (size_t)snprintf(text + used, LONGEST, "[%zu,%s]\n", wanted[i].number, quoted ? quoted : "0");
        cJSON_free(quoted);
        cJSON_Delete(name);
    }
    return text;
}

// Runs tasks in one child. Afterwards has_begun says whether one was cut short.
static void run_batch(struct verify_supervisor *supervisor, const size_t *tasks, size_t count,
                      struct child_end *end) {
    char texts[VERIFY_WORKER_ARGUMENTS][VERIFY_ARGUMENT_SIZE] = {{0}};
    const char *arguments[VERIFY_WORKER_ARGUMENTS + 3] = {supervisor->program};
    *end = (struct child_end){.fate = CHILD_NOT_STARTED};
    supervisor->has_begun = supervisor->is_open = false;
    struct verify_wanted *wanted = name_tasks(supervisor->matrix, tasks, count);
    if (wanted && (supervisor->in_process || supervisor->job.command)) {
        end->fate = CHILD_DONE;
        end->status = verify_work(&supervisor->job, wanted, count, hear, supervisor);
        free(wanted);
        return;
    }
    verify_worker_arguments(&supervisor->job, texts);
    for (size_t i = 0; i < VERIFY_WORKER_ARGUMENTS; ++i)
        arguments[i + 1] = texts[i];
    arguments[VERIFY_WORKER_ARGUMENTS + 1] = supervisor->job.cases ? supervisor->job.cases : "";
    char *input = wanted ? list_tasks(wanted, count) : NULL;
    if (input)
        child_run(arguments, input, supervisor->seconds, hear_text, supervisor, end);
    free(input);
    free(wanted);
}

static bool ended_badly(const struct verify_supervisor *supervisor, const struct child_end *end) {
    return end->fate != CHILD_DONE || supervisor->has_begun;
}

// Alone it passes. With the tasks from `from` on it ends badly, with those from `to` on it does not.
static size_t find_first(struct verify_supervisor *supervisor, const size_t *tasks, size_t count) {
    struct child_end end;
    size_t from = 0, to = count - 1;
    while (to - from > 1 && !interrupt_came()) {
        size_t middle = from + (to - from) / 2;
        run_batch(supervisor, tasks + middle, count - middle, &end);
        if (ended_badly(supervisor, &end))
            from = middle;
        else
            to = middle;
    }
    return from;
}

// The last of a set of tasks ended its child. Alone it may not: then the first of its predecessors without
// which it does not is looked for by halves, and named.
static void blame(struct verify_supervisor *supervisor, const size_t *tasks, size_t count,
                  const struct child_end *first) {
    size_t last = tasks[count - 1], from = 0;
    struct child_end end;
    char text[CHILD_TEXT_SIZE + VERIFY_NAME_SIZE + 64];
    supervisor->is_blaming = true;
    run_batch(supervisor, &last, 1, &end);
    bool is_alone = ended_badly(supervisor, &end);
    if (!is_alone)
        from = find_first(supervisor, tasks, count);
    supervisor->is_blaming = false;
    // What it gave on the way is no result.
    cJSON_Delete(supervisor->results[last]);
    supervisor->results[last] = NULL;
    if (interrupt_came())
        return;
    if (!is_alone) {
        end = *first;
        snprintf(text, sizeof text, "only after \"%s\": %s", supervisor->matrix->tasks[tasks[from]].name,
                 first->text);
    }
    give_verdict(supervisor, last, end.fate == CHILD_HUNG ? VERDICT_HUNG : VERDICT_CRASHED,
                 is_alone ? end.text : text);
}

static bool has_verdict(const struct verify_supervisor *supervisor, size_t task, const char *verdict) {
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(supervisor->results[task], "verdict"));
    return text && strcmp(text, verdict) == 0;
}

// Whether the device still does what it did: task 0 is the first control.
static bool answers(struct verify_supervisor *supervisor) {
    const size_t probe = 0;
    struct child_end end;
    cJSON *kept = supervisor->results[probe];
    supervisor->results[probe] = NULL;
    run_batch(supervisor, &probe, 1, &end);
    bool good = !ended_badly(supervisor, &end) && has_verdict(supervisor, probe, VERDICT_PASSED);
    if (kept) {
        cJSON_Delete(supervisor->results[probe]);
        supervisor->results[probe] = kept;
    }
    return good;
}

// How many of the tasks have come to an end, which may be a bad one.
static size_t run_some(struct verify_supervisor *supervisor, const size_t *tasks, size_t count,
                       size_t *hangs) {
    struct child_end end;
    run_batch(supervisor, tasks, count, &end);
    if (interrupt_came())
        return 0;
    if (*supervisor->text || end.fate == CHILD_NOT_STARTED) {
        if (!*supervisor->text)
            snprintf(supervisor->text, sizeof supervisor->text, "%s", end.text);
        return 0;
    }
    bool badly = ended_badly(supervisor, &end);
    size_t done = 0;
    if (badly && !supervisor->is_open) {
        snprintf(supervisor->text, sizeof supervisor->text, "while the device opened: %.400s", end.text);
        return 0;
    }
    while (done < count && supervisor->results[tasks[done]] &&
           !(badly && supervisor->has_begun && tasks[done] == supervisor->begun))
        ++done;
    if (!badly && done < count && done > 0 && has_verdict(supervisor, tasks[done - 1], VERDICT_LOST)) {
        supervisor->is_hung = !answers(supervisor);
        return done;
    }
    if (supervisor->job.command && has_verdict(supervisor, tasks[0], VERDICT_HUNG))
        supervisor->is_hung = ++*hangs >= MOST_HANGS;
    if (done == count) {
        if ((badly || end.status) && !*supervisor->leaving)
            snprintf(supervisor->leaving, sizeof supervisor->leaving, "%s", end.text);
        return done;
    }
    if (!badly)
        snprintf(end.text, sizeof end.text, "its process ended before it");
    blame(supervisor, tasks, done + 1, &end);
    if (interrupt_came())
        return done;
    if (has_verdict(supervisor, tasks[done], VERDICT_HUNG) || end.fate == CHILD_HUNG)
        supervisor->is_hung = ++*hangs >= MOST_HANGS || !answers(supervisor);
    return done + 1;
}

void verify_supervise(struct verify_supervisor *supervisor, const size_t *tasks, size_t count) {
    size_t hangs = 0;
    while (count && !supervisor->is_hung && !*supervisor->text && !interrupt_came()) {
        size_t batch = supervisor->job.command ? 1 : count < VERIFY_BATCH ? count : VERIFY_BATCH;
        size_t done = run_some(supervisor, tasks, batch, &hangs);
        tasks += done;
        count -= done;
        if (supervisor->batch_ended)
            supervisor->batch_ended(supervisor->user);
    }
    for (; count && !interrupt_came(); ++tasks, --count)
        give_verdict(supervisor, *tasks, VERDICT_NONE,
                     *supervisor->text     ? supervisor->text
                     : hangs >= MOST_HANGS ? "the device hung too often"
                                           : "the device does not answer any more");
}

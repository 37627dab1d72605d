// SPDX-License-Identifier: MIT
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/message.h"
#include "../cli/quote.h"
#include "exchange.h"

enum { SIGNALLED = 128, MOST_SIGNALS = 64 }; // a shell adds the former to a signal's number

static bool is_quoted(const char *command, const char *word) {
    const char *at = command;
    while ((at = strstr(at, word)) != NULL) {
        const char after = at[strlen(word)];
        if (at > command && after == at[-1] && (after == '"' || after == '\''))
            return true;
        ++at;
    }
    return false;
}

int program_check(const char *command) {
    if (!command)
        return STATUS_OK;
    if (is_quoted(command, "{case}") || is_quoted(command, "{out}")) {
        message("--exec %s: {case} and {out} must have no quotes around them: they become quoted paths",
                command);
        return STATUS_USAGE;
    }
    if (strstr(command, "{case}") && strstr(command, "{out}"))
        return STATUS_OK;
    message("--exec %s: must have {case} and {out}, which become folders", command);
    return STATUS_USAGE;
}

// Each word may stand in the command several times.
static char *fill_in(const char *command, const char *folder, const char *out) {
    static const char *const words[] = {"{case}", "{out}"};
    const char *const texts[] = {folder, out};
    size_t longest = quote_size(strlen(folder) > strlen(out) ? folder : out) + 1;
    char *filled = malloc(strlen(command) * longest + 1), *at = filled;
    while (at && *command) {
        size_t i = 0;
        while (i < 2 && strncmp(command, words[i], strlen(words[i])) != 0)
            ++i;
        if (i < 2) {
            at = quote_append(at, texts[i]);
            command += strlen(words[i]);
        } else {
            *at++ = *command++;
        }
    }
    if (at)
        *at = '\0';
    return filled;
}

void program_run(const char *command, const char *folder, const char *out, double seconds,
                 struct child_end *end) {
    char *filled = fill_in(command, folder, out);
    const char *const arguments[] = {"sh", "-c", filled, NULL};
    *end = (struct child_end){.fate = CHILD_NOT_STARTED, .status = -1};
    if (filled)
        child_run(arguments, "", seconds, NULL, NULL, end);
    if (end->fate == CHILD_DONE && end->status > SIGNALLED && end->status <= SIGNALLED + MOST_SIGNALS)
        end->fate = CHILD_CRASHED;
    if (end->fate != CHILD_DONE)
        end->status = -1;
    free(filled);
}

static void fail(struct child_end *end, const char *text) {
    end->fate = CHILD_DONE;
    end->status = -1;
    snprintf(end->text, sizeof end->text, "%s", text);
}

void program_rotate(const char *command, double seconds, const struct harness_work *work,
                    unsigned char *const *blocks, struct child_end *end) {
    char own[FOLDER_PATH_SIZE], folder[FOLDER_PATH_SIZE], out[FOLDER_PATH_SIZE], text[256];
    if (!folder_make_own(own)) {
        fail(end, "there is no temporary folder to be had");
        return;
    }
    if (!folder_make_in(own, "case", folder) || !folder_make_in(own, "out", out) ||
        !exchange_write(folder, work, blocks)) {
        fail(end, "the case cannot be written to a temporary folder");
    } else {
        program_run(command, folder, out, seconds, end);
        if (!end->status && !exchange_read(out, work, blocks, text, sizeof text))
            fail(end, text);
    }
    folder_remove(own);
}

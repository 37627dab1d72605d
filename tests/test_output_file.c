// SPDX-License-Identifier: MIT
// Files that the command line writes: beside their place, under a name of their own, and moved over what is
// there, which stays until then. Small, so that Windows has it, too.
#include "check.h"
#include "tools/cli/output_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = "output_file_of_a_test";

static bool holds(const char *text) {
    char found[64] = "";
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(found, 1, sizeof found - 1, file) : 0;
    if (file)
        fclose(file);
    return size == strlen(text) && memcmp(found, text, size) == 0;
}

static void replaced(void) {
    (void)remove(path);
    CHECK(output_file_write(path, "old", 3) && holds("old"), "a new file");
    CHECK(output_file_write(path, "newer", 5) && holds("newer"), "over one that is there");
}

// Two at once, and no name from which the next can be told.
static void names(void) {
    struct output_file first, second;
    bool good = output_file_open(&first, path) && output_file_open(&second, path);
    if (!CHECK(good, "two at once"))
        return;
    size_t length = strlen(path);
    CHECK(strcmp(first.beside, second.beside) != 0 && strncmp(first.beside, path, length) == 0 &&
              strlen(first.beside) >= length + 7,
          "%s and %s", first.beside, second.beside);
    long apart = strtol(second.beside + strlen(second.beside) - 6, NULL, 16) -
                 strtol(first.beside + strlen(first.beside) - 6, NULL, 16);
#ifdef _WIN32
    CHECK(labs(apart) > 16, "%s and %s: a number that counts", first.beside, second.beside);
#endif
    (void)apart; // elsewhere mkstemp's letters
    output_file_free(&first);
    output_file_free(&second);
    CHECK(holds("newer"), "what is there is as it was");
}

// Somebody takes the file away before it is moved: what is there must not be gone, too.
static void lost(void) {
    struct output_file output;
    if (!CHECK(output_file_open(&output, path), "opened"))
        return;
    fputs("lost", output.file);
    CHECK(output_file_close(&output, true) && remove(output.beside) == 0, "closed, and removed");
    CHECK(!output_file_place(&output), "it cannot be moved");
    CHECK(holds("newer"), "the old file outlives it");
    output_file_free(&output);
}

int main(void) {
    replaced();
    names();
    lost();
    (void)remove(path);
    return check_finish();
}

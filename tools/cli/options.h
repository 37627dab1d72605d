// SPDX-License-Identifier: MIT
//
// Options as a table: what is parsed is what --help prints, and a wrong name gets the nearest right one.
#ifndef ROPE2D_CLI_OPTIONS_H
#define ROPE2D_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Exactly one of flag, text and choice is set. A table of options ends with an entry without a name.
struct option {
    const char *name;           // without its dashes
    const char *value;          // what stands for the value in the help; NULL for a flag
    const char *help;           // lines after the first are indented by the printer
    bool *flag;                 // becomes true
    const char **text;          // becomes the value, which belongs to argv
    int *choice;                // becomes the index of the value in choices
    const char *const *choices; // ends with NULL
};

struct verb {
    const char *name;
    const char *usage; // what follows the verb's name
    const char *summary;
    const char *description; // may be NULL
    int (*run)(int argc, char **argv);
};

enum options_result { OPTIONS_OK, OPTIONS_HELP, OPTIONS_WRONG };

// Reads the arguments after the verb. The operands move to the front of argv, and *operands receives their
// number. --help prints the help and gives OPTIONS_HELP; a mistake prints what is wrong.
enum options_result options_parse(const struct verb *verb, const struct option *options, int argc,
                                  char **argv, int *operands);

// The entry of a NULL-ended list that is fewest edits away from word; NULL when none is near.
const char *nearest_word(const char *word, const char *const *words);

// The index of word in a NULL-ended list, or -1.
int word_index(const char *word, const char *const *words);

// Numbers of a whole text; false when it is not one or is outside the limits.
bool parse_count(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value);
bool parse_number(const char *text, double *value);
bool parse_grid(const char *text, uint32_t *height, uint32_t *width); // "24x32"

#endif

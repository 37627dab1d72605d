// SPDX-License-Identifier: MIT
#include "options.h"

#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 32, MOST_OPTIONS = 64 };

// Edit distance in which a letter too many, too few, another, or two swapped are one edit each.
static unsigned edit_distance(const char *a, const char *b) {
    unsigned rows[3][LONGEST_WORD + 1] = {{0}};
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > LONGEST_WORD || b_length > LONGEST_WORD)
        return LONGEST_WORD;
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; ++j)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; ++i) {
        unsigned *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; ++j) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[b_length];
}

const char *nearest_word(const char *word, const char *const *words) {
    const char *nearest = NULL;
    unsigned least = LONGEST_WORD;
    for (; *words; ++words) {
        unsigned distance = edit_distance(word, *words);
        // An abbreviation is many edits away from its word, and still meant it.
        size_t length = strlen(word);
        bool begins = length >= 2 && strncmp(word, *words, length) == 0;
        if (begins && distance > 1)
            distance = 1;
        if (distance < least) {
            least = distance;
            nearest = *words;
        }
    }
    size_t length = strlen(word);
    return least <= (length > 4 ? length / 2 : 2) ? nearest : NULL;
}

int word_index(const char *word, const char *const *words) {
    for (int i = 0; words[i]; ++i)
        if (strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

static void print_indented(const char *text, int column) {
    for (; *text; ++text) {
        putchar(*text);
        if (*text == '\n')
            printf("%*s", column, "");
    }
    putchar('\n');
}

static void print_help(const struct verb *verb, const struct option *options) {
    enum { HELP_COLUMN = 30 };
    printf("usage: rope2d %s %s\n\n%s\n", verb->name, verb->usage, verb->summary);
    if (verb->description)
        printf("\n%s\n", verb->description);
    printf("\noptions:\n");
    for (const struct option *option = options; option->name; ++option) {
        int width =
            printf("  --%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
        printf("%*s", width < HELP_COLUMN ? HELP_COLUMN - width : 1, "");
        print_indented(option->help, HELP_COLUMN);
    }
    printf("  %-*s%s\n", HELP_COLUMN - 2, "--help", "print this");
    printf("\nexit status: %d done, every check passed; %d a check failed; %d wrong usage or input;\n"
           "             %d a device is missing, or it or its driver failed\n",
           STATUS_OK, STATUS_FAILED, STATUS_USAGE, STATUS_DEVICE);
}

static void complain_unknown(const struct verb *verb, const struct option *options, const char *name) {
    const char *names[MOST_OPTIONS] = {"help"};
    for (size_t i = 0; options[i].name && i + 2 < MOST_OPTIONS; ++i)
        names[i + 1] = options[i].name;
    const char *nearest = nearest_word(name, names);
    if (nearest)
        message("%s has no option --%s: did you mean --%s?", verb->name, name, nearest);
    else
        message("%s has no option --%s; 'rope2d %s --help' lists them", verb->name, name, verb->name);
}

static bool take_choice(const struct option *option, const char *value) {
    *option->choice = word_index(value, option->choices);
    if (*option->choice >= 0)
        return true;
    const char *nearest = nearest_word(value, option->choices);
    if (nearest)
        message("--%s %s: must be %s; did you mean %s?", option->name, value, option->value, nearest);
    else
        message("--%s %s: must be %s", option->name, value, option->value);
    return false;
}

static const struct option *find_option(const struct option *options, const char *name) {
    for (; options->name; ++options)
        if (strcmp(options->name, name) == 0)
            return options;
    return NULL;
}

// Takes the option at argv[i] and its value, and returns how many arguments that was; 0 for a mistake.
static int take_option(const struct verb *verb, const struct option *options, int left, char **argv) {
    char name[LONGEST_WORD * 2] = "";
    const char *begin = argv[0] + 2, *equals = strchr(begin, '=');
    size_t length = equals ? (size_t)(equals - begin) : strlen(begin);
    snprintf(name, sizeof name, "%.*s", (int)length, begin);
    const struct option *option = find_option(options, name);
    if (!option) {
        complain_unknown(verb, options, name);
        return 0;
    }
    if (option->flag) {
        if (equals) {
            message("--%s takes no value, but got '%s'", option->name, equals + 1);
            return 0;
        }
        *option->flag = true;
        return 1;
    }
    if (!equals && left < 2) {
        message("--%s needs a value: %s", option->name, option->value);
        return 0;
    }
    const char *value = equals ? equals + 1 : argv[1];
    if (option->choice ? !take_choice(option, value) : *value == '\0') {
        if (!option->choice)
            message("--%s needs a value: %s", option->name, option->value);
        return 0;
    }
    if (option->text)
        *option->text = value;
    return equals ? 1 : 2;
}

enum options_result options_parse(const struct verb *verb, const struct option *options, int argc,
                                  char **argv, int *operands) {
    *operands = 0;
    for (int i = 0; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(verb, options);
            return OPTIONS_HELP;
        }
    }
    for (int i = 0; i < argc;) {
        if (strncmp(argv[i], "--", 2) == 0 && argv[i][2]) {
            int taken = take_option(verb, options, argc - i, argv + i);
            if (!taken)
                return OPTIONS_WRONG;
            i += taken;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            complain_unknown(verb, options, argv[i] + 1);
            return OPTIONS_WRONG;
        } else {
            argv[(*operands)++] = argv[i++];
        }
    }
    return OPTIONS_OK;
}

bool parse_count(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value) {
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end || number < minimum || number > maximum)
        return false;
    *value = number;
    return true;
}

bool parse_number(const char *text, double *value) {
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && !*end && !errno;
}

bool parse_grid(const char *text, uint32_t *height, uint32_t *width) {
    char first[16] = "";
    const char *cross = strchr(text, 'x');
    if (!cross || (size_t)(cross - text) >= sizeof first)
        return false;
    memcpy(first, text, (size_t)(cross - text));
    uint64_t rows, columns;
    if (!parse_count(first, 0, 1u << 24, &rows) || !parse_count(cross + 1, 0, 1u << 24, &columns))
        return false;
    *height = (uint32_t)rows;
    *width = (uint32_t)columns;
    return true;
}

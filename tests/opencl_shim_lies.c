// SPDX-License-Identifier: MIT
#include "opencl_shim_lies.h"

#include <string.h>

enum { MOST = 64, LONG_TEXT = 300 };

static long question;
static int lie_how;
static long questions[MOST];
static long question_count;

void opencl_shim_lie(long about, int how) {
    question = about;
    lie_how = how;
    if (about == 0)
        question_count = 0;
}

long opencl_shim_asked(long *list, long most) {
    for (long i = 0; i < question_count && i < most; i++)
        list[i] = questions[i];
    return question_count;
}

static void note(long asked) {
    for (long i = 0; i < question_count; i++)
        if (questions[i] == asked)
            return;
    if (question_count < MOST)
        questions[question_count++] = asked;
}

// Of an answer that the real driver gave.
void shim_lie_in_answer(long asked, size_t size, void *value, size_t *size_needed) {
    note(asked);
    if (asked != question)
        return;
    switch (lie_how) {
    case 1: // zeros, or a text that ends at once
        if (value)
            memset(value, 0, size);
        break;
    case 2: // the most, or a text without an end
        if (value)
            memset(value, 0xff, size);
        break;
    case 3: // no bytes at all
        if (size_needed)
            *size_needed = 0;
        break;
    case 4: // more than there can be
        if (size_needed)
            *size_needed = (size_t)-1;
        break;
    default: // longer than what it goes into, of characters that have no end
        if (size_needed)
            *size_needed = LONG_TEXT;
        if (value)
            memset(value, 0xa5, size);
        break;
    }
}

// Of the number of things in a list.
void shim_lie_in_count(long asked, cl_uint *count) {
    note(asked);
    if (asked == question && count)
        *count = lie_how == 1 || lie_how == 3 ? 0 : lie_how == 5 ? *count + 7 : (cl_uint)-1;
}

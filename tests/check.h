// SPDX-License-Identifier: MIT
// What a test program counts and says. Its last line is `N passed, N failed, N skipped`.
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <stdbool.h>

#if defined(__MINGW32__) // whose printf is C11's, as the build asks
#define CHECK_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define CHECK_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CHECK_PRINTF(text, first)
#endif

// Counts whether it holds; where it does not, prints the place and the text, which is a format and its
// arguments. Returns whether it holds.
#define CHECK(holds, ...) check_at((holds), __FILE__, __LINE__, __VA_ARGS__)
// The same for a check that tells a detail, if it has one, even when it holds.
#define CHECK_DETAIL(holds, name, detail) check_detail_at((holds), __FILE__, __LINE__, (name), (detail))

bool check_at(bool holds, const char *file, int line, const char *format, ...) CHECK_PRINTF(4, 5);
bool check_detail_at(bool holds, const char *file, int line, const char *name, const char *detail);
void check_skip(const char *format, ...) CHECK_PRINTF(1, 2);

// Prints the last line; the exit status, which is 1 when anything failed or nothing was tried.
int check_finish(void);

#endif

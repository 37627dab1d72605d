// SPDX-License-Identifier: MIT
// tests/expected.sha256: lines of a hash, two spaces, and the name of what it is the hash of.
#ifndef HARNESS_EXPECTED_H
#define HARNESS_EXPECTED_H

#include <stdbool.h>

#define HARNESS_HASH_NAME_SIZE 96

struct harness_expected;

// NULL when the file cannot be read.
struct harness_expected *harness_expected_load(const char *path);
void harness_expected_free(struct harness_expected *expected);
// NULL when the file does not have the name.
const char *harness_expected_find(const struct harness_expected *expected, const char *name);

#endif

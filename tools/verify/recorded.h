// SPDX-License-Identifier: MIT
//
// The hashes that tests/expected.sha256 has recorded, against those of a device: one line tells whether two
// machines agree on every output bit.
#ifndef ROPE2D_VERIFY_RECORDED_H
#define ROPE2D_VERIFY_RECORDED_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

// How much of a result's name says what its bits depend on: the case and the types, without
// table and variation.
size_t recorded_name_length(const char *name);

// {cases, recorded, sha256, expected, equal, others}: SHA-256 of the lines "HASH  CASE TYPES" in the order of
// the file, of those cases that ran, and of the same lines of the file; the cases whose hash is another.
// Without the recorded seed there is nothing to expect.
cJSON *recorded_compare(const cJSON *results, bool has_recorded_seed);

#endif

// SPDX-License-Identifier: MIT
//
// A case of the harness for each preset: the model's spec, and the coordinates of a small image.
#ifndef ROPE2D_VERIFY_PRESET_CASES_H
#define ROPE2D_VERIFY_PRESET_CASES_H

#include "../../tests/harness/cases.h"

struct verify_presets;

// NULL when memory runs out.
struct verify_presets *verify_presets_make(void);
void verify_presets_free(struct verify_presets *presets); // NULL is legal
// NULL past the last one. Lives as long as the presets do.
const struct harness_case *verify_preset_case(const struct verify_presets *presets, uint32_t index);

#endif

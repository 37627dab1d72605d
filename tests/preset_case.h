// SPDX-License-Identifier: MIT
// What a user would say to get the rotation of a golden case: a preset's name, the size of the image, and
// case.json's `params`. Reads nothing else of the case but how many tokens and channels its tensors have.
#ifndef TEST_PRESET_CASE_H
#define TEST_PRESET_CASE_H

#include "golden.h"
#include "rope2d/rope2d_presets.h"

#define PRESET_CASE_ITEMS 8

struct preset_case {
    rope2d_preset_params params;
    rope2d_prompt prompt, prompt_k; // the same but for keys with places of their own
    rope2d_item items[PRESET_CASE_ITEMS], items_k[PRESET_CASE_ITEMS];
};

// `root` holds the folders of golden cases. False when the case cannot be read.
bool preset_case_read(const char *root, const char *preset, const struct golden_case *golden,
                      struct preset_case *out);

#endif

// SPDX-License-Identifier: MIT
//
// What rope2d apply makes of --preset: a spec, and the places of tokens.
#ifndef ROPE2D_CLI_PRESET_INPUT_H
#define ROPE2D_CLI_PRESET_INPUT_H

#include "apply_input.h"

// The spec of the preset, for heads of the channels that q has. `learned` is NULL, or [axes][heads][pairs]
// with as many heads as said. Returns an exit status, having said what is wrong.
int preset_spec_make(const struct apply_request *request, const float *learned, uint32_t heads,
                     struct apply_input *input);

// The places of a tensor's tokens from `option`, either a prompt ("still:1,image:14x14,text:8"), or, when
// is_grid, an image of HxW or FxHxW, with tokens that stand still before and after it as --unrotated has
// said.
int preset_positions_make(const char *option, const char *text, bool is_grid, size_t which,
                          struct apply_input *input);

#endif

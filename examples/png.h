// SPDX-License-Identifier: MIT
//
// A picture of colours from a palette, as a PNG file that is not compressed.
#ifndef PNG_H
#define PNG_H

#include <stdint.h>

// pixels: [height][width] indices into palette [256][3] of red, green, blue. 1, or 0 when it cannot be
// written.
int png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *pixels,
              const uint8_t (*palette)[3]);

#endif

// SPDX-License-Identifier: MIT
//
// What the engines show: a small image, a layer of attention whose five heads each use rotation differently,
// and what one patch attends to. The same scores on the CPU, and a picture of them.
#ifndef ATTENTION_H
#define ATTENTION_H

#include "attention_sizes.h"

#include <rope2d/rope2d.h>

// A frame of the film: its patches, and the patch whose attention is shown.
void attention_features(uint32_t frame, float features[TOKENS][FEATURES]);
uint32_t attention_query(uint32_t frame);

// Of q, then of k. What a head looks for:
//   0 a patch like itself, near itself: all pairs
//   1 the same row: only pairs that turn with y
//   2 the same column: only pairs that turn with x
//   3 three rows up and six columns to the left: its q is turned by that much
//   4 the same colour, anywhere: only channels that are not rotated
void attention_weights(float weights[2][HEADS][HEAD_DIM][FEATURES]);

rope2d_spec attention_spec(void);
void attention_coordinates(float yx[TOKENS][2]);

// q and k projected, rotated by rope2d_apply on the CPU, and multiplied: in fp32, each product and each sum
// rounded, in the order of the channels.
rope2d_status attention_expected(uint32_t frame, float scores[HEADS][TOKENS]);

// A row of panels for each frame: the image, then what each head attends to, bright where much. The patch
// that looks has a frame.
enum { CELL = 5, PANEL = CELL * SIDE, GAP = 6 };
enum { PICTURE_WIDTH = (1 + HEADS) * (PANEL + GAP) + GAP, PICTURE_HEIGHT = FRAMES * (PANEL + GAP) + GAP };
typedef uint8_t attention_picture[PICTURE_HEIGHT][PICTURE_WIDTH];

void attention_paint(uint32_t frame, float scores[HEADS][TOKENS], attention_picture picture);
int attention_save(const char *path, attention_picture picture);

#endif

// SPDX-License-Identifier: MIT
//
// Sizes of the scene of attention.h, for C, GLSL and OpenCL C.
#ifndef ATTENTION_SIZES_H
#define ATTENTION_SIZES_H

#define SIDE     24 // patches of an edge of the image
#define TOKENS   (SIDE * SIDE)
#define HEADS    5
#define HEAD_DIM 32
#define ROTARY   24 // channels that are rotated; the other 8 know no place
#define FEATURES 4  // of a patch: 1, and whether it is background, disc, square
#define ELEMENTS (TOKENS * HEADS * HEAD_DIM)
#define WEIGHTS  (HEADS * HEAD_DIM * FEATURES) // of q; as many of k
#define FRAMES   4

#endif

// SPDX-License-Identifier: MIT
//
// What a dispatch is told besides its buffers: words of a small uniform buffer, written by src/shape.c and
// read by every kernel. Included by C, GLSL and OpenCL C, hence macros alone. Strides and offsets count
// elements, row strides count row numbers, and table strides count (cos, sin) entries.
#ifndef ROPE2D_SHAPE_H
#define ROPE2D_SHAPE_H

#include "element.h"

#define R_BATCH             0 // batch elements of this dispatch
#define R_TOKENS            1 // tokens of this dispatch
#define R_ROW_FIRST         2 // row number of batch element 0, token 0, axis 0
#define R_ROW_BATCH_STRIDE  3 // 0: all batch elements share their positions
#define R_ROW_AXES          4 // row numbers of a token
#define R_TABLE_ROWS        5 // rows are clamped below this
#define R_TABLE_ROW_STRIDE  6
#define R_TABLE_HEAD_STRIDE 7  // 0: all heads share their frequencies
#define R_TABLE_FOLD        8  // texture: log2 of its width in texels
#define R_UNITS             9  // units of a head: what an invocation handles
#define R_PAIR_UNITS        10 // the first of them rotate, the rest pass through
#define R_GROUPS_X          11 // workgroups in x; those past 65,535 go on in y
#define R_TENSOR_COUNT      12
#define R_TENSORS           16 // where the tensors' words begin

// The words of a tensor.
#define R_HEADS            0
#define R_IN_FIRST         1 // element of batch 0, token 0, head 0, channel 0
#define R_IN_BATCH_STRIDE  2
#define R_IN_TOKEN_STRIDE  3
#define R_IN_HEAD_STRIDE   4
#define R_OUT_FIRST        5
#define R_OUT_BATCH_STRIDE 6
#define R_OUT_TOKEN_STRIDE 7
#define R_OUT_HEAD_STRIDE  8
#define R_LANE_FIRST       9  // its first invocation, a multiple of the workgroup's size
#define R_LANES            10 // batch * tokens * heads * units
#define R_TENSOR_WORDS     12

#define R_MAX_DISPATCH_TENSORS 4
#define R_SHAPE_WORDS          (R_TENSORS + R_MAX_DISPATCH_TENSORS * R_TENSOR_WORDS)

// A unit is one word: channel lo, channel hi, and the axes of its pairs. A single unit is one pair, or one
// channel that passes through (lo). A wide unit is four pairs whose lo and hi are four consecutive channels
// each, or eight consecutive channels when hi is lo + 1; or four consecutive channels that pass through. Wide
// units begin at multiples of 4 channels (8 when interleaved).
#define R_UNIT_LO(word)         ((word)&0xfffu)
#define R_UNIT_HI(word)         (((word) >> 12) & 0xfffu)
#define R_UNIT_AXIS(word, pair) (((word) >> (24u + 2u * (pair))) & 3u)

#endif

// SPDX-License-Identifier: MIT
//
// What a dispatch is told besides its buffers: words of a small uniform buffer, written by src/shape.c and
// read by every kernel. Included by C, GLSL and OpenCL C, hence macros alone. Strides and offsets count
// elements, row strides count row numbers, and table strides count (cos, sin) entries.
#ifndef ROPE2D_SHAPE_H
#define ROPE2D_SHAPE_H

#include "element.h"

// First the words that a range of tokens changes: Vulkan takes them from push constants, so that one binding
// records many ranges.
#define R_TOKENS        0 // tokens of this dispatch
#define R_ROW_FIRST     1 // row number of batch element 0, token 0, axis 0
#define R_GROUPS_X      2 // workgroups in x; those past 65,535 go on in y
#define R_HEAD_STEP     3 // no range changes it: see below
#define R_RANGE_TENSORS 4 // where the tensors' range words begin

// The range words of a tensor.
#define R_IN_FIRST           0 // element of batch 0, token 0, head 0, channel 0
#define R_OUT_FIRST          1
#define R_LANE_FIRST         2 // its first invocation, a multiple of the workgroup's size; vectors: workgroup
#define R_LANES              3 // batch * tokens * heads * units; vectors: workgroups
#define R_RANGE_TENSOR_WORDS 4
// Vectors: R_LANE_FIRST of a tensor that is not there is 0xffffffff.

#define R_RANGE_WORDS 20 // 80 bytes of push constants

#define R_BATCH               20 // batch elements of this dispatch
#define R_ROW_BATCH_STRIDE    21 // 0: all batch elements share their positions
#define R_ROW_AXES            22 // row numbers of a token
#define R_TABLE_ROWS          23 // rows are clamped below this
#define R_TABLE_ROW_STRIDE    24
#define R_TABLE_HEAD_STRIDE   25 // 0: all heads share their frequencies
#define R_TABLE_FOLD          26 // texture: log2 of its width in texels
#define R_UNITS               27 // units of a head: what an invocation handles
#define R_PAIR_UNITS          28 // the first of them rotate, the rest pass through
#define R_TENSOR_COUNT        29
#define R_FACTORS             30 // row numbers whose entries are multiplied; 0: one entry to an angle
#define R_TABLE_FACTOR_STRIDE 31
#define R_UNIT_MAGIC          32 // vectors: divides by R_UNITS; tiles: by those of R_HEAD_STEP heads
#define R_UNIT_SHIFTS         33 // of that division
#define R_TILE_TOKENS         34 // tiles: tokens of a workgroup at a time, with all units of each
#define R_LANE_TOKENS         35 // tiles, with R_TOKENS_FLAG: tokens of an invocation; with R_ORDER_FLAG: units
#define R_TENSORS             36 // where the tensors' other words begin

// The other words of a tensor.
#define R_HEADS            0
#define R_IN_BATCH_STRIDE  1
#define R_IN_TOKEN_STRIDE  2
#define R_IN_HEAD_STRIDE   3
#define R_OUT_BATCH_STRIDE 4
#define R_OUT_TOKEN_STRIDE 5
#define R_OUT_HEAD_STRIDE  6
// Vectors: invocations are numbered [token][batch][head][unit], as contiguous tensors lie, and a workgroup
// has as many as it holds. Tiles, which are of kernels with R_TOKENS_FLAG or R_ORDER_FLAG: workgroups are
// numbered [tile][batch], and have all heads. Those that have tokens whole are the first tensor's alone and
// take all tensors' heads. With R_TWO_HEADS_FLAG lanes of pairs of heads, the last one's perhaps of one,
// stand in the place of heads: (heads + 1) / 2 of them.
#define R_HEADS_MAGIC  7
#define R_SPAN         8 // batch * heads; tiles: batch
#define R_SPAN_MAGIC   9
#define R_SHIFTS       10 // of both divisions, those of the span from bit 8 on
#define R_TENSOR_WORDS 12 // by fours, as R_TENSORS, for buffers that are read so

#define R_UNIT_SHIFT           20 // tiles: of products with R_UNIT_MAGIC
#define R_MAX_DISPATCH_TENSORS 4
#define R_SHAPE_WORDS          (R_TENSORS + R_MAX_DISPATCH_TENSORS * R_TENSOR_WORDS)

// A unit is one word: channel lo, channel hi, and the axes of its pairs. A single unit is one pair, or one
// channel that passes through (lo). A wide unit is four pairs whose lo and hi are four consecutive channels
// each, or eight consecutive channels when hi is lo + 1; or four consecutive channels that pass through. Wide
// units begin at multiples of 4 channels (8 when interleaved).
//
// A vector unit is two words: two runs of channels, each of four or eight that begin at a multiple of that,
// and the axes of its duos, which are two pairs whose table entries stand side by side; then the pair of each
// run where its duos begin, and the axes of the duos' second pairs. Halves: the runs are the los and his of
// as many pairs. Interleaved: each has half as many. Units that pass through come last. A unit that has but
// one run has it twice.
#define R_UNIT_LO(word)         ((word)&0xfffu)
#define R_UNIT_HI(word)         (((word) >> 12) & 0xfffu)
#define R_UNIT_AXIS(word, pair) (((word) >> (24u + 2u * (pair))) & 3u)

// Vectors, with R_ORDER_FLAG: R_LANES_TOGETHER lanes have units side by side, and what they have next follows
// it. Where a head has fewer units, and heads are enough, they have as many units of R_HEAD_STEP heads, which
// are of each lane every R_HEAD_STEP-th; otherwise R_HEAD_STEP is 1.
#define R_LANES_TOGETHER 8u

// What a pattern's vector units are like: constants of a kernel.
#define R_TWO_ANGLES_FLAG  1u  // two entries to a pair
#define R_HEAD_TABLE_FLAG  2u  // every head has entries of its own
#define R_ONE_AXIS_FLAG    4u  // all duos of a unit turn by the same axis
#define R_INTERLEAVED_FLAG 8u  // halves otherwise
#define R_LONE_FLAG        16u // some units have but one run
#define R_EIGHT_FLAG       32u // runs of eight, four otherwise
#define R_FACTORED_FLAG    64u // an entry of each axis to an angle, which are multiplied
// And what kernels are built for besides, most of them Vulkan's.
#define R_TEXTURE_FLAG     128u    // the table is a texture, a buffer otherwise
#define R_TWO_SLOTS_FLAG   256u    // a dispatch binds two tensors, one otherwise
#define R_CONVERTS_FLAG    512u    // the device converts f16: in Vulkan by the feature shaderFloat16
#define R_TOKENS_FLAG      1024u   // an invocation may have several tokens
#define R_SLOW_SHIFTS_FLAG 2048u   // the device shifts bits slowly
#define R_ORDER_FLAG       4096u   // an invocation may have several units, in the order of memory
#define R_LONG_FLAG        8192u   // words are loaded by twos, which takes the feature shaderInt64
#define R_LONG_STORES_FLAG 16384u  // and with R_LONG_FLAG stored
#define R_RUN_AXIS_FLAG    32768u  // of runs of eight, both duos of each turn by the same axis
#define R_PAIR_AXIS_FLAG   65536u  // both pairs of a duo may turn by axes of their own, by the same otherwise
#define R_TWO_HEADS_FLAG   131072u // OpenCL: an invocation has two heads that stand side by side
#define R_ONE_RUN_FLAG     262144u // Vulkan: all units have but one run, of eight, interleaved

#endif

// SPDX-License-Identifier: MIT
//
// Public structs made from an input: any number in any field; pointers are NULL or point to blocks of exactly
// the size that the struct says, as a caller must give them.
#ifndef FUZZ_STRUCTS_H
#define FUZZ_STRUCTS_H

#include "reader.h"

#include "rope2d/rope2d.h"

// A spec that is mostly sound. Its frequencies are as many as a valid spec like it has.
rope2d_spec structs_spec(struct reader *reader);
// Pairs that the spec's fields speak of, whether or not it is valid.
uint64_t structs_pairs(const rope2d_spec *spec);

// Positions of the spec, few enough that their table stays small. `grown_from` may be NULL.
rope2d_positions_params structs_positions(struct reader *reader, const rope2d_spec *spec,
                                          const rope2d_positions *grown_from);
rope2d_plan_params structs_plan(struct reader *reader, const rope2d_spec *spec);
// A number of the enumeration mostly.
unsigned structs_enum(struct reader *reader, unsigned count);

// Tensors that share few blocks, so that some overlap. Sound for the plan and positions more often than not.
rope2d_apply_params structs_apply(struct reader *reader, const rope2d_plan *plan,
                                  const rope2d_positions *positions, uint32_t head_dim);

#endif

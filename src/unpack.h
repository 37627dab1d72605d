// SPDX-License-Identifier: MIT
//
// What tools/pack.py made smaller. Two layers: bytes that repeat earlier bytes, and words of SPIR-V as bytes.
#ifndef ROPE2D_UNPACK_H
#define ROPE2D_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Fills bytes[before] to bytes[before + size - 1]; those in front are there already and may be copied from.
// False, with some of the bytes written, when a copy reaches outside.
//
// The packed bytes are a range coder's: decisions between 0 and 1, each with a model that estimates its odds.
// A step is a literal byte, or a copy of earlier bytes from the last distance or from another.
bool rope2d_unpack(const unsigned char *packed, size_t packed_size, unsigned char *bytes, size_t before,
                   size_t size);

// Fills `count` words of a SPIR-V module in this machine's byte order from its tokens. False when the tokens
// end early or late, or an instruction ends outside the module.
//
// A token is a number of 7 bits to a byte, the lowest first. An instruction is its opcode, its count of words
// and its operands. Below 128 an operand is a distance back from the number that the next new result will
// have, above that a word plus 128; the first operand of several, mostly a type, is the word itself.
bool rope2d_unpack_spirv(const unsigned char *tokens, size_t size, uint32_t *words, size_t count);

#endif

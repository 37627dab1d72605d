// SPDX-License-Identifier: MIT
//
// SPIR-V under way through fold.c: the module, and what is known of its ids.
#ifndef ROPE2D_VULKAN_FOLD_STATE_H
#define ROPE2D_VULKAN_FOLD_STATE_H

#include "../internal.h"

// Numbers of the SPIR-V specification.
enum {
    SPIRV_MAGIC = 0x07230203,
    DECORATION_SPEC_ID = 1,
    CAPABILITY_FLOAT16 = 9,
    CAPABILITY_INT64 = 11,
    OP_UNDEF = 1,
    OP_NAME = 5,
    OP_MEMBER_NAME = 6,
    OP_LINE = 8,
    OP_ENTRY_POINT = 15,
    OP_CAPABILITY = 17,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_ARRAY = 28,
    OP_TYPE_RUNTIME_ARRAY = 29,
    OP_TYPE_STRUCT = 30,
    OP_TYPE_POINTER = 32,
    OP_TYPE_FUNCTION = 33,
    OP_CONSTANT_TRUE = 41,
    OP_CONSTANT_FALSE = 42,
    OP_CONSTANT = 43,
    OP_SPEC_CONSTANT = 50,
    OP_SPEC_CONSTANT_OP = 52,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_FUNCTION_CALL = 57,
    OP_VARIABLE = 59,
    OP_STORE = 62,
    OP_COPY_MEMORY = 63,
    OP_DECORATE = 71,
    OP_MEMBER_DECORATE = 72,
    OP_IMAGE_WRITE = 99,
    OP_LOGICAL_EQUAL = 164,
    OP_LOGICAL_NOT_EQUAL = 165,
    OP_LOGICAL_OR = 166,
    OP_LOGICAL_AND = 167,
    OP_LOGICAL_NOT = 168,
    OP_SELECT = 169,
    OP_I_EQUAL = 170,
    OP_I_NOT_EQUAL = 171,
    OP_BITWISE_OR = 197,
    OP_BITWISE_AND = 199,
    OP_CONTROL_BARRIER = 224,
    OP_MEMORY_BARRIER = 225,
    OP_PHI = 245,
    OP_LOOP_MERGE = 246,
    OP_SELECTION_MERGE = 247,
    OP_LABEL = 248,
    OP_BRANCH = 249,
    OP_BRANCH_CONDITIONAL = 250,
    OP_SWITCH = 251,
    OP_UNREACHABLE = 255,
};

#define SPIRV_HEADER_WORDS 5
#define SPIRV_BOUND_WORD   3

enum id_flags {
    IS_KNOWN = 1,     // has a value
    IS_SEEN = 2,      // a block that has been walked
    IS_REACHED = 4,   // a block, from its function's first; a function, from the entry point
    IS_TARGET = 8,    // a block that the merge instruction of a reached block names
    IS_GONE = 16,     // defined by what was taken out
    HAS_SPEC_ID = 32, // a value may be given
    IS_LONG = 64,     // a type with 64-bit integers, or a variable or a constant of one
    IS_HALF = 128     // the same of 16-bit floats
};

typedef struct fold {
    const uint32_t *words;
    uint64_t count;
    uint32_t bound;
    const uint32_t *values;
    uint32_t value_count;
    uint8_t *flags;   // [bound]
    uint32_t *value;  // [bound] of constants; of a block the id of the condition's only successor, or 0
    uint32_t *header; // [bound] of a continue target: the block to go back to
    uint32_t *out;
    uint64_t out_count;
    uint32_t used; // IS_LONG and IS_HALF, where what was written has them
} fold;

static inline uint32_t spirv_opcode(const uint32_t *at) {
    return at[0] & 0xffffu;
}

static inline uint32_t spirv_length(const uint32_t *at) {
    return at[0] >> 16;
}

// Variables and constants: of the type that comes first.
static inline bool is_made_of_type(const uint32_t *at) {
    const uint32_t operation = spirv_opcode(at);
    return operation == OP_VARIABLE || operation == OP_UNDEF ||
           (operation >= OP_CONSTANT_TRUE && operation <= OP_SPEC_CONSTANT_OP);
}

// The instruction after `at` in a function's body, or what ends it.
const uint32_t *rope2d_vulkan_fold_block(const fold *f, const uint32_t *at);
// Behind the end of the function that begins at `at`.
const uint32_t *rope2d_vulkan_fold_function(const fold *f, const uint32_t *at);
// Whether control goes from a reached block to another. What is not walked yet goes wherever it likes.
bool rope2d_vulkan_fold_edge(const fold *f, uint32_t from, uint32_t to);

// fold_write.c: what is left of the words from `first` on, the first function, behind all that stands before.
void rope2d_vulkan_fold_write(fold *f, const uint32_t *first);

#endif

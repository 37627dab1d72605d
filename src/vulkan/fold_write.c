// SPDX-License-Identifier: MIT
//
// The second walk over a module: blocks that nothing reaches stay out, and what names them forgets them.
#include "fold_state.h"

#include <string.h>

static void append(fold *f, const uint32_t *at, uint32_t words) {
    memcpy(f->out + f->out_count, at, words * sizeof(*at));
    f->out_count += words;
}

// A variable alone uses nothing: the first word of whatever reads it is a type like its own, and that of what
// writes it the variable.
static void write(fold *f, const uint32_t *at, uint32_t words) {
    if (words > 1 && spirv_opcode(at) != OP_VARIABLE)
        f->used |= f->flags[at[1]];
    append(f, at, words);
}

static void write_two(fold *f, uint32_t operation, uint32_t operand) {
    const uint32_t words[2] = {operation | 2u << 16, operand};
    write(f, words, 2);
}

static bool has_result(const uint32_t *at) {
    switch (spirv_opcode(at)) {
    case OP_STORE:
    case OP_COPY_MEMORY:
    case OP_IMAGE_WRITE:
    case OP_CONTROL_BARRIER:
    case OP_MEMORY_BARRIER:
    case OP_LOOP_MERGE:
    case OP_SELECTION_MERGE:
    case OP_BRANCH:
    case OP_BRANCH_CONDITIONAL:
    case OP_SWITCH:
    case OP_LINE:
        return false;
    default:
        return spirv_length(at) > 2;
    }
}

static void drop(fold *f, const uint32_t *at, const uint32_t *end) {
    for (; at < end; at += spirv_length(at))
        if (has_result(at) && at[2] < f->bound)
            f->flags[at[2]] |= IS_GONE;
}

// Without what comes from blocks that no longer come here.
static void write_phi(fold *f, const uint32_t *at, uint32_t block) {
    uint32_t *phi = f->out + f->out_count;
    write(f, at, 3);
    for (uint32_t i = 3; i + 1 < spirv_length(at); i += 2) {
        const uint8_t flags = f->flags[at[i + 1]];
        // A continue target stays even if nothing reaches it, and its value does not matter.
        const bool stays =
            (flags & IS_REACHED) == 0 && (flags & IS_TARGET) != 0 && f->header[at[i + 1]] == block;
        const uint32_t pair[2] = {stays ? at[2] : at[i], at[i + 1]};
        if (stays || rope2d_vulkan_fold_edge(f, at[i + 1], block))
            append(f, pair, 2);
    }
    phi[0] = OP_PHI | (uint32_t)(f->out + f->out_count - phi) << 16;
}

static void write_block(fold *f, const uint32_t *at, const uint32_t *end) {
    const uint32_t block = at[1];
    if ((f->flags[block] & IS_REACHED) == 0) {
        drop(f, at, end);
        if ((f->flags[block] & IS_TARGET) == 0)
            return;
        write_two(f, OP_LABEL, block);
        if (f->header[block] != 0) {
            write_two(f, OP_BRANCH, f->header[block]);
        } else {
            const uint32_t unreachable = OP_UNREACHABLE | 1u << 16;
            write(f, &unreachable, 1);
        }
        return;
    }
    for (; at < end; at += spirv_length(at)) {
        const bool is_decided = f->value[block] != 0;
        if (spirv_opcode(at) == OP_PHI)
            write_phi(f, at, block);
        else if (spirv_opcode(at) == OP_BRANCH_CONDITIONAL && is_decided)
            write_two(f, OP_BRANCH, f->value[block]);
        else if (spirv_opcode(at) != OP_SELECTION_MERGE || !is_decided)
            write(f, at, spirv_length(at));
    }
}

static void write_function(fold *f, const uint32_t *at, const uint32_t *end) {
    if ((f->flags[at[2]] & IS_REACHED) == 0) {
        drop(f, at, end);
        return;
    }
    for (; spirv_opcode(at) != OP_LABEL; at += spirv_length(at))
        write(f, at, spirv_length(at));
    while (spirv_opcode(at) == OP_LABEL) {
        const uint32_t *next = rope2d_vulkan_fold_block(f, at);
        write_block(f, at, next);
        at = next;
    }
    write(f, at, 1);
}

// Names and decorations of what has gone, and what takes a feature without need: 16-bit floats and 64-bit
// integers where nothing has them.
static bool is_left_over(const fold *f, const uint32_t *at) {
    const uint32_t unused = ~f->used & (IS_LONG | IS_HALF);
    switch (spirv_opcode(at)) {
    case OP_CAPABILITY:
        return ((unused & IS_HALF) != 0 && at[1] == CAPABILITY_FLOAT16) ||
               ((unused & IS_LONG) != 0 && at[1] == CAPABILITY_INT64);
    case OP_NAME:
    case OP_MEMBER_NAME:
    case OP_DECORATE:
    case OP_MEMBER_DECORATE:
        return (f->flags[at[1]] & (IS_GONE | unused)) != 0;
    case OP_TYPE_INT:
    case OP_TYPE_FLOAT:
    case OP_TYPE_VECTOR:
    case OP_TYPE_ARRAY:
    case OP_TYPE_RUNTIME_ARRAY:
    case OP_TYPE_STRUCT:
    case OP_TYPE_POINTER:
    case OP_TYPE_FUNCTION:
        return (f->flags[at[1]] & unused) != 0;
    default:
        return is_made_of_type(at) && (f->flags[at[1]] & unused) != 0;
    }
}

// Decorations come before what they decorate: what is left over is taken out last.
static void remove_left_overs(fold *f) {
    uint64_t kept = SPIRV_HEADER_WORDS;
    for (uint64_t i = SPIRV_HEADER_WORDS; i < f->out_count;) {
        const uint32_t *at = f->out + i;
        const uint32_t words = spirv_length(at);
        if (!is_left_over(f, at)) {
            memmove(f->out + kept, at, words * sizeof(*at));
            kept += words;
        }
        i += words;
    }
    f->out_count = kept;
}

void rope2d_vulkan_fold_write(fold *f, const uint32_t *first) {
    const uint32_t *last = f->words + f->count;
    append(f, f->words, (uint32_t)(first - f->words));
    for (const uint32_t *at = first; at < last; at = rope2d_vulkan_fold_function(f, at))
        write_function(f, at, rope2d_vulkan_fold_function(f, at));
    remove_left_overs(f);
}

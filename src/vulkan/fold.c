// SPDX-License-Identifier: MIT
//
// Blocks come in an order in which dominators are first (SPIR-V specification, 2.4), so that one walk over a
// function knows every constant before its use but for what comes around a loop, which stays unknown.
#include "fold.h"

#include <string.h>

// Numbers of the SPIR-V specification.
enum {
    MAGIC = 0x07230203,
    DECORATION_SPEC_ID = 1,
    OP_NAME = 5,
    OP_LINE = 8,
    OP_ENTRY_POINT = 15,
    OP_CONSTANT_TRUE = 41,
    OP_CONSTANT_FALSE = 42,
    OP_CONSTANT = 43,
    OP_SPEC_CONSTANT = 50,
    OP_SPEC_CONSTANT_OP = 52,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_FUNCTION_CALL = 57,
    OP_STORE = 62,
    OP_COPY_MEMORY = 63,
    OP_DECORATE = 71,
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

#define HEADER_WORDS 5
#define BOUND_WORD   3

enum id_flags {
    IS_KNOWN = 1,    // has a value
    IS_SEEN = 2,     // a block that has been walked
    IS_REACHED = 4,  // a block, from its function's first; a function, from the entry point
    IS_TARGET = 8,   // a block that the merge instruction of a reached block names
    IS_GONE = 16,    // defined by what was taken out
    HAS_SPEC_ID = 32 // a value may be given
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
} fold;

static uint32_t opcode(const uint32_t *at) {
    return at[0] & 0xffffu;
}

static uint32_t length(const uint32_t *at) {
    return at[0] >> 16;
}

static bool is_known(const fold *f, uint32_t id) {
    return (f->flags[id] & IS_KNOWN) != 0;
}

static void know(fold *f, uint32_t id, uint32_t value) {
    f->flags[id] |= IS_KNOWN;
    f->value[id] = value;
}

// The instruction after `at` in a function's body, or what ends it.
static const uint32_t *next_block(const fold *f, const uint32_t *at) {
    do
        at += length(at);
    while (at < f->words + f->count && opcode(at) != OP_LABEL && opcode(at) != OP_FUNCTION_END);
    return at;
}

// --------------------------------------------------------------------------------------------- constants

// False where it is no operation that can be evaluated.
static bool operate(uint32_t operation, const uint32_t v[3], uint32_t *value) {
    switch (operation) {
    case OP_BITWISE_AND:
        *value = v[0] & v[1];
        return true;
    case OP_BITWISE_OR:
        *value = v[0] | v[1];
        return true;
    case OP_I_EQUAL:
    case OP_LOGICAL_EQUAL:
        *value = v[0] == v[1];
        return true;
    case OP_I_NOT_EQUAL:
    case OP_LOGICAL_NOT_EQUAL:
        *value = v[0] != v[1];
        return true;
    case OP_LOGICAL_AND:
        *value = v[0] && v[1];
        return true;
    case OP_LOGICAL_OR:
        *value = v[0] || v[1];
        return true;
    case OP_LOGICAL_NOT:
        *value = !v[0];
        return true;
    case OP_SELECT:
        *value = v[0] ? v[1] : v[2];
        return true;
    default:
        return false;
    }
}

static void evaluate(fold *f, uint32_t result, uint32_t operation, const uint32_t *operands, uint32_t count) {
    const uint32_t absorbing = operation == OP_LOGICAL_OR;
    uint32_t v[3] = {0};
    uint32_t known = 0;
    uint32_t value = 0;
    if (count == 0 || count > 3 || !operate(operation, v, &value))
        return; // operands may be literals
    for (uint32_t i = 0; i < count; i++) {
        if (!is_known(f, operands[i]))
            continue;
        known++;
        v[i] = f->value[operands[i]];
        if ((operation == OP_LOGICAL_AND || operation == OP_LOGICAL_OR) && v[i] == absorbing)
            known = count;
    }
    if (known < count)
        return;
    operate(operation, v, &value);
    know(f, result, value);
}

static void read_global(fold *f, const uint32_t *at) {
    switch (opcode(at)) {
    case OP_DECORATE:
        if (at[2] == DECORATION_SPEC_ID && at[3] < f->value_count) {
            f->flags[at[1]] |= HAS_SPEC_ID;
            f->value[at[1]] = f->values[at[3]];
        }
        break;
    case OP_CONSTANT_TRUE:
        know(f, at[2], 1);
        break;
    case OP_CONSTANT_FALSE:
        know(f, at[2], 0);
        break;
    case OP_CONSTANT:
        if (length(at) == 4)
            know(f, at[2], at[3]);
        break;
    case OP_SPEC_CONSTANT:
        if (length(at) == 4 && (f->flags[at[2]] & HAS_SPEC_ID) != 0)
            f->flags[at[2]] |= IS_KNOWN;
        break;
    case OP_SPEC_CONSTANT_OP:
        evaluate(f, at[2], at[3], at + 4, length(at) - 4);
        break;
    default:
        break;
    }
}

// -------------------------------------------------------------------------------------------------- blocks

// Whether control goes from a reached block to another. What is not walked yet goes wherever it likes.
static bool is_edge(const fold *f, uint32_t from, uint32_t to) {
    if ((f->flags[from] & IS_SEEN) == 0)
        return true;
    return (f->flags[from] & IS_REACHED) != 0 && (f->value[from] == 0 || f->value[from] == to);
}

static void read_phi(fold *f, const uint32_t *at, uint32_t block) {
    bool is_first = true;
    uint32_t value = 0;
    for (uint32_t i = 3; i + 1 < length(at); i += 2) {
        if (!is_edge(f, at[i + 1], block))
            continue;
        if ((f->flags[at[i + 1]] & IS_SEEN) == 0 || !is_known(f, at[i]) ||
            (!is_first && value != f->value[at[i]]))
            return;
        value = f->value[at[i]];
        is_first = false;
    }
    if (!is_first)
        know(f, at[2], value);
}

static void read_instruction(fold *f, const uint32_t *at, uint32_t block) {
    switch (opcode(at)) {
    case OP_PHI:
        read_phi(f, at, block);
        break;
    case OP_BRANCH:
        f->flags[at[1]] |= IS_REACHED;
        break;
    case OP_BRANCH_CONDITIONAL:
        if (is_known(f, at[1]))
            f->value[block] = f->value[at[1]] ? at[2] : at[3];
        for (uint32_t i = 2; i <= 3; i++)
            if (f->value[block] == 0 || f->value[block] == at[i])
                f->flags[at[i]] |= IS_REACHED;
        break;
    case OP_SWITCH:
        f->flags[at[2]] |= IS_REACHED;
        for (uint32_t i = 4; i < length(at); i += 2)
            f->flags[at[i]] |= IS_REACHED;
        break;
    default:
        if (length(at) > 3)
            evaluate(f, at[2], opcode(at), at + 3, length(at) - 3);
        break;
    }
}

// The last two instructions of a block that ends with a merge and a branch.
static bool has_merge(const uint32_t *at, const uint32_t *end) {
    const uint32_t *branch = at + length(at);
    return (opcode(at) == OP_SELECTION_MERGE || opcode(at) == OP_LOOP_MERGE) && branch < end;
}

static void read_block(fold *f, const uint32_t *at) {
    const uint32_t block = at[1];
    const uint32_t *end = next_block(f, at);
    f->flags[block] |= IS_SEEN;
    f->value[block] = 0;
    if ((f->flags[block] & IS_REACHED) == 0)
        return;
    for (at += length(at); at < end; at += length(at)) {
        read_instruction(f, at, block);
        if (!has_merge(at, end))
            continue;
        if (opcode(at) == OP_LOOP_MERGE) {
            f->flags[at[2]] |= IS_TARGET;
            f->header[at[2]] = block;
        }
        const uint32_t *branch = at + length(at);
        if (opcode(at) == OP_LOOP_MERGE || opcode(branch) != OP_BRANCH_CONDITIONAL || !is_known(f, branch[1]))
            f->flags[at[1]] |= IS_TARGET;
    }
}

// ------------------------------------------------------------------------------------------------- writing

static void write(fold *f, const uint32_t *at, uint32_t words) {
    memcpy(f->out + f->out_count, at, words * sizeof(*at));
    f->out_count += words;
}

static void write_two(fold *f, uint32_t operation, uint32_t operand) {
    const uint32_t words[2] = {operation | 2u << 16, operand};
    write(f, words, 2);
}

static bool has_result(const uint32_t *at) {
    switch (opcode(at)) {
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
        return length(at) > 2;
    }
}

static void drop(fold *f, const uint32_t *at, const uint32_t *end) {
    for (; at < end; at += length(at))
        if (has_result(at) && at[2] < f->bound)
            f->flags[at[2]] |= IS_GONE;
}

// Without what comes from blocks that no longer come here.
static void write_phi(fold *f, const uint32_t *at, uint32_t block) {
    uint32_t *phi = f->out + f->out_count;
    write(f, at, 3);
    for (uint32_t i = 3; i + 1 < length(at); i += 2) {
        const uint8_t flags = f->flags[at[i + 1]];
        // A continue target stays even if nothing reaches it, and its value does not matter.
        const bool stays =
            (flags & IS_REACHED) == 0 && (flags & IS_TARGET) != 0 && f->header[at[i + 1]] == block;
        const uint32_t pair[2] = {stays ? at[2] : at[i], at[i + 1]};
        if (stays || is_edge(f, at[i + 1], block))
            write(f, pair, 2);
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
    for (; at < end; at += length(at)) {
        const bool is_decided = f->value[block] != 0;
        if (opcode(at) == OP_PHI)
            write_phi(f, at, block);
        else if (opcode(at) == OP_BRANCH_CONDITIONAL && is_decided)
            write_two(f, OP_BRANCH, f->value[block]);
        else if (opcode(at) != OP_SELECTION_MERGE || !is_decided)
            write(f, at, length(at));
    }
}

static const uint32_t *function_end(const fold *f, const uint32_t *at) {
    while (at < f->words + f->count && opcode(at) != OP_FUNCTION_END)
        at += length(at);
    return at + 1;
}

static void read_function(fold *f, const uint32_t *at, const uint32_t *end) {
    bool is_first = true;
    while (opcode(at) != OP_LABEL && at < end)
        at += length(at);
    while (at < end && opcode(at) == OP_LABEL) {
        if (is_first)
            f->flags[at[1]] |= IS_REACHED;
        is_first = false;
        read_block(f, at);
        at = next_block(f, at);
    }
}

// What reached blocks of a reached function call is reached. True when that is news.
static bool follow_calls(fold *f, const uint32_t *at, const uint32_t *end) {
    bool news = false;
    bool is_live = true;
    for (; at < end; at += length(at)) {
        if (opcode(at) == OP_LABEL)
            is_live = (f->flags[at[1]] & IS_REACHED) != 0;
        if (opcode(at) != OP_FUNCTION_CALL || !is_live || (f->flags[at[3]] & IS_REACHED) != 0)
            continue;
        f->flags[at[3]] |= IS_REACHED;
        news = true;
    }
    return news;
}

static void reach_functions(fold *f, const uint32_t *first) {
    const uint32_t *last = f->words + f->count;
    for (bool news = true; news;) {
        news = false;
        for (const uint32_t *at = first; at < last; at = function_end(f, at))
            if ((f->flags[at[2]] & IS_REACHED) != 0)
                news |= follow_calls(f, at, function_end(f, at));
    }
}

static void write_function(fold *f, const uint32_t *at, const uint32_t *end) {
    if ((f->flags[at[2]] & IS_REACHED) == 0) {
        drop(f, at, end);
        return;
    }
    for (; opcode(at) != OP_LABEL; at += length(at))
        write(f, at, length(at));
    while (opcode(at) == OP_LABEL) {
        const uint32_t *next = next_block(f, at);
        write_block(f, at, next);
        at = next;
    }
    write(f, at, 1);
}

// Decorations come before what they decorate: those of what has gone are taken out last.
static void remove_decorations(fold *f) {
    uint64_t kept = HEADER_WORDS;
    for (uint64_t i = HEADER_WORDS; i < f->out_count;) {
        const uint32_t *at = f->out + i;
        const uint32_t words = length(at);
        const bool is_gone =
            (opcode(at) == OP_DECORATE || opcode(at) == OP_NAME) && (f->flags[at[1]] & IS_GONE) != 0;
        if (!is_gone) {
            memmove(f->out + kept, at, words * sizeof(*at));
            kept += words;
        }
        i += words;
    }
    f->out_count = kept;
}

static void run(fold *f) {
    const uint32_t *last = f->words + f->count;
    const uint32_t *first = f->words + HEADER_WORDS;
    for (; first < last && opcode(first) != OP_FUNCTION; first += length(first)) {
        read_global(f, first);
        if (opcode(first) == OP_ENTRY_POINT)
            f->flags[first[2]] |= IS_REACHED;
    }
    for (const uint32_t *at = first; at < last; at = function_end(f, at))
        read_function(f, at, function_end(f, at));
    reach_functions(f, first);
    write(f, f->words, (uint32_t)(first - f->words));
    for (const uint32_t *at = first; at < last; at = function_end(f, at))
        write_function(f, at, function_end(f, at));
    remove_decorations(f);
}

// Whether instructions follow each other to the last word.
static bool is_module(const uint32_t *words, uint64_t count) {
    uint64_t i = HEADER_WORDS;
    if (count < HEADER_WORDS || words[0] != MAGIC)
        return false;
    while (i < count && length(words + i) > 0)
        i += length(words + i);
    return i == count;
}

rope2d_status rope2d_vulkan_fold(const rope2d_host *host, const uint32_t *words, uint64_t count,
                                 const uint32_t *values, uint32_t value_count, uint32_t **folded,
                                 uint64_t *bytes) {
    *folded = NULL;
    *bytes = 0;
    if (!is_module(words, count))
        return rope2d_fail(host, ROPE2D_ERROR_COMPILE, "a kernel of %llu words is no SPIR-V",
                           (unsigned long long)count);
    fold f = {.words = words,
              .count = count,
              .bound = words[BOUND_WORD],
              .values = values,
              .value_count = value_count};
    f.flags = rope2d_allocate(host, f.bound, sizeof(*f.flags));
    f.value = rope2d_allocate(host, f.bound, sizeof(*f.value));
    f.header = rope2d_allocate(host, f.bound, sizeof(*f.header));
    f.out = rope2d_allocate(host, count, sizeof(*f.out));
    const bool has_memory = f.flags && f.value && f.header && f.out;
    if (has_memory)
        run(&f);
    rope2d_release(host, f.flags, f.bound, sizeof(*f.flags));
    rope2d_release(host, f.value, f.bound, sizeof(*f.value));
    rope2d_release(host, f.header, f.bound, sizeof(*f.header));
    if (!has_memory) {
        rope2d_release(host, f.out, count, sizeof(*f.out));
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory to specialize a kernel");
    }
    *folded = f.out;
    *bytes = f.out_count * sizeof(*f.out);
    return ROPE2D_OK;
}

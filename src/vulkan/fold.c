// SPDX-License-Identifier: MIT
//
// Blocks come in an order in which dominators are first (SPIR-V specification, 2.4), so that one walk over a
// function knows every constant before its use but for what comes around a loop, which stays unknown.
#include "fold.h"

#include "fold_state.h"

// ------------------------------------------------------------------------------------------------ a module

const uint32_t *rope2d_vulkan_fold_block(const fold *f, const uint32_t *at) {
    do
        at += spirv_length(at);
    while (at < f->words + f->count && spirv_opcode(at) != OP_LABEL && spirv_opcode(at) != OP_FUNCTION_END);
    return at;
}

const uint32_t *rope2d_vulkan_fold_function(const fold *f, const uint32_t *at) {
    while (at < f->words + f->count && spirv_opcode(at) != OP_FUNCTION_END)
        at += spirv_length(at);
    return at + 1;
}

bool rope2d_vulkan_fold_edge(const fold *f, uint32_t from, uint32_t to) {
    if ((f->flags[from] & IS_SEEN) == 0)
        return true;
    return (f->flags[from] & IS_REACHED) != 0 && (f->value[from] == 0 || f->value[from] == to);
}

static bool is_known(const fold *f, uint32_t id) {
    return (f->flags[id] & IS_KNOWN) != 0;
}

static void know(fold *f, uint32_t id, uint32_t value) {
    f->flags[id] |= IS_KNOWN;
    f->value[id] = value;
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

// What a type, a variable or a constant has of what it is made of.
static void inherit(fold *f, uint32_t id, uint32_t from) {
    f->flags[id] |= f->flags[from] & (IS_LONG | IS_HALF);
}

static void read_global(fold *f, const uint32_t *at) {
    const uint32_t operation = spirv_opcode(at);
    const uint32_t length =
        operation == OP_TYPE_STRUCT || operation == OP_TYPE_FUNCTION ? spirv_length(at) : 3;
    if (is_made_of_type(at))
        inherit(f, at[2], at[1]);
    switch (operation) {
    case OP_DECORATE:
        if (at[2] == DECORATION_SPEC_ID && at[3] < f->value_count) {
            f->flags[at[1]] |= HAS_SPEC_ID;
            f->value[at[1]] = f->values[at[3]];
        }
        break;
    case OP_TYPE_INT:
        f->flags[at[1]] |= at[2] == 64 ? IS_LONG : 0;
        break;
    case OP_TYPE_FLOAT:
        f->flags[at[1]] |= at[2] == 16 ? IS_HALF : 0;
        break;
    case OP_TYPE_VECTOR:
    case OP_TYPE_ARRAY:
    case OP_TYPE_RUNTIME_ARRAY:
    case OP_TYPE_STRUCT:
    case OP_TYPE_FUNCTION:
        for (uint32_t i = 2; i < length; i++)
            inherit(f, at[1], at[i]);
        break;
    case OP_TYPE_POINTER:
        inherit(f, at[1], at[3]);
        break;
    case OP_CONSTANT_TRUE:
        know(f, at[2], 1);
        break;
    case OP_CONSTANT_FALSE:
        know(f, at[2], 0);
        break;
    case OP_CONSTANT:
        if (spirv_length(at) == 4)
            know(f, at[2], at[3]);
        break;
    case OP_SPEC_CONSTANT:
        if (spirv_length(at) == 4 && (f->flags[at[2]] & HAS_SPEC_ID) != 0)
            f->flags[at[2]] |= IS_KNOWN;
        break;
    case OP_SPEC_CONSTANT_OP:
        evaluate(f, at[2], at[3], at + 4, spirv_length(at) - 4);
        break;
    default:
        break;
    }
}

// -------------------------------------------------------------------------------------------------- blocks

static void read_phi(fold *f, const uint32_t *at, uint32_t block) {
    bool is_first = true;
    uint32_t value = 0;
    for (uint32_t i = 3; i + 1 < spirv_length(at); i += 2) {
        if (!rope2d_vulkan_fold_edge(f, at[i + 1], block))
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
    switch (spirv_opcode(at)) {
    case OP_VARIABLE:
        inherit(f, at[2], at[1]);
        break;
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
        for (uint32_t i = 4; i < spirv_length(at); i += 2)
            f->flags[at[i]] |= IS_REACHED;
        break;
    default:
        if (spirv_length(at) > 3)
            evaluate(f, at[2], spirv_opcode(at), at + 3, spirv_length(at) - 3);
        break;
    }
}

// The last two instructions of a block that ends with a merge and a branch.
static bool has_merge(const uint32_t *at, const uint32_t *end) {
    const uint32_t *branch = at + spirv_length(at);
    return (spirv_opcode(at) == OP_SELECTION_MERGE || spirv_opcode(at) == OP_LOOP_MERGE) && branch < end;
}

static void read_block(fold *f, const uint32_t *at) {
    const uint32_t block = at[1];
    const uint32_t *end = rope2d_vulkan_fold_block(f, at);
    f->flags[block] |= IS_SEEN;
    f->value[block] = 0;
    if ((f->flags[block] & IS_REACHED) == 0)
        return;
    for (at += spirv_length(at); at < end; at += spirv_length(at)) {
        read_instruction(f, at, block);
        if (!has_merge(at, end))
            continue;
        if (spirv_opcode(at) == OP_LOOP_MERGE) {
            f->flags[at[2]] |= IS_TARGET;
            f->header[at[2]] = block;
        }
        const uint32_t *branch = at + spirv_length(at);
        if (spirv_opcode(at) == OP_LOOP_MERGE || spirv_opcode(branch) != OP_BRANCH_CONDITIONAL ||
            !is_known(f, branch[1]))
            f->flags[at[1]] |= IS_TARGET;
    }
}

static void read_function(fold *f, const uint32_t *at, const uint32_t *end) {
    bool is_first = true;
    while (spirv_opcode(at) != OP_LABEL && at < end)
        at += spirv_length(at);
    while (at < end && spirv_opcode(at) == OP_LABEL) {
        if (is_first)
            f->flags[at[1]] |= IS_REACHED;
        is_first = false;
        read_block(f, at);
        at = rope2d_vulkan_fold_block(f, at);
    }
}

// What reached blocks of a reached function call is reached. True when that is news.
static bool follow_calls(fold *f, const uint32_t *at, const uint32_t *end) {
    bool news = false;
    bool is_live = true;
    for (; at < end; at += spirv_length(at)) {
        if (spirv_opcode(at) == OP_LABEL)
            is_live = (f->flags[at[1]] & IS_REACHED) != 0;
        if (spirv_opcode(at) != OP_FUNCTION_CALL || !is_live || (f->flags[at[3]] & IS_REACHED) != 0)
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
        for (const uint32_t *at = first; at < last; at = rope2d_vulkan_fold_function(f, at))
            if ((f->flags[at[2]] & IS_REACHED) != 0)
                news |= follow_calls(f, at, rope2d_vulkan_fold_function(f, at));
    }
}

static void run(fold *f) {
    const uint32_t *last = f->words + f->count;
    const uint32_t *first = f->words + SPIRV_HEADER_WORDS;
    for (; first < last && spirv_opcode(first) != OP_FUNCTION; first += spirv_length(first)) {
        read_global(f, first);
        if (spirv_opcode(first) == OP_ENTRY_POINT)
            f->flags[first[2]] |= IS_REACHED;
    }
    for (const uint32_t *at = first; at < last; at = rope2d_vulkan_fold_function(f, at))
        read_function(f, at, rope2d_vulkan_fold_function(f, at));
    reach_functions(f, first);
    rope2d_vulkan_fold_write(f, first);
}

// Whether instructions follow each other to the last word, which ends a function.
static bool is_module(const uint32_t *words, uint64_t count) {
    uint64_t i = SPIRV_HEADER_WORDS;
    uint32_t last = 0;
    if (count < SPIRV_HEADER_WORDS || words[0] != SPIRV_MAGIC)
        return false;
    while (i < count && spirv_length(words + i) > 0) {
        last = spirv_opcode(words + i);
        i += spirv_length(words + i);
    }
    return i == count && last == OP_FUNCTION_END;
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
              .bound = words[SPIRV_BOUND_WORD],
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

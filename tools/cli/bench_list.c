// SPDX-License-Identifier: MIT
#include "bench_list.h"

#include <limits.h>

#include "bench_cases.h"

enum { FIRST_TOWERS = 2, MOST_TOKENS = 1 << 20 };

static void add_case(struct bench_case_list *list, const struct bench_case *what) {
    if (list->count < BENCH_MOST_CASES)
        list->cases[list->count++] = *what;
}

static bool is_wanted(const struct bench_request *request, unsigned tower, unsigned element) {
    // What is in no target is of one type alone.
    return request->towers >> tower & 1 && request->elements >> element & 1 &&
           (!bench_towers[tower].form || element == ROPE2D_F32);
}

static bool fits_core_cache(const struct bench_list_params *params, const struct bench_case *what) {
    return bench_bytes(what) <= params->machine->core_cache / 4 * 3;
}

static bool is_past_last_cache(const struct bench_list_params *params, const struct bench_case *what) {
    return bench_bytes(what) > params->machine->last_cache;
}

// Whether a size that was asked for, of this tower and type, is one that `holds` is true of.
static bool is_asked(const struct bench_list_params *params, struct bench_case what,
                     bool (*holds)(const struct bench_list_params *params, const struct bench_case *what)) {
    for (size_t i = 0; i < params->request->token_count; ++i) {
        what.tokens = params->request->tokens[i];
        if (holds(params, &what))
            return true;
    }
    return false;
}

// Of a tower where no size that was asked for fits a core's own cache, the largest that does.
static void add_core_cache(const struct bench_list_params *params, struct bench_case_list *list) {
    for (unsigned tower = 0; bench_tower_names[tower]; ++tower) {
        struct bench_case what = {
            .tower = &bench_towers[tower], .tokens = MOST_TOKENS, .threads = 1, .in_cache = true};
        bool is_there = what.tower->form || !is_wanted(params->request, tower, ROPE2D_F32) ||
                        is_asked(params, what, fits_core_cache);
        while (what.tokens > 1 && !fits_core_cache(params, &what))
            what.tokens /= 2;
        if (!is_there)
            add_case(list, &what);
    }
}

// Of the first towers, in types of which no size that was asked for is larger than the last cache, the
// smallest power of two that is.
static void add_past_last_cache(const struct bench_list_params *params, struct bench_case_list *list) {
    for (unsigned element = 0; element < ROPE2D_ELEMENT_COUNT; ++element)
        for (unsigned tower = 0; tower < FIRST_TOWERS; ++tower) {
            struct bench_case what = {.tower = &bench_towers[tower],
                                      .tokens = 1,
                                      .element = (rope2d_element)element,
                                      .threads = params->threads,
                                      .purpose = BENCH_PAST_LAST};
            bool is_there =
                !is_wanted(params->request, tower, element) || is_asked(params, what, is_past_last_cache);
            while (what.tokens < MOST_TOKENS && !is_past_last_cache(params, &what))
                what.tokens *= 2;
            if (!is_there && is_past_last_cache(params, &what))
                add_case(list, &what);
        }
}

// The tower with the fewest bytes, at both ends, where it was not asked for.
static void add_growth(const struct bench_list_params *params, struct bench_case_list *list) {
    static const uint64_t ends[] = {1 << 10, 1 << 20};
    for (size_t end = 0; end < 2; ++end) {
        struct bench_case what = {.tower = &bench_towers[BENCH_SMALLEST_TOWER],
                                  .tokens = ends[end],
                                  .threads = params->threads,
                                  .purpose = BENCH_GROWTH};
        bool is_there = false;
        for (size_t i = 0; i < list->count; ++i) {
            const struct bench_case *other = &list->cases[i];
            is_there = is_there || (other->tower == what.tower && other->tokens == what.tokens &&
                                    other->element == what.element && !other->in_cache);
        }
        if (!is_there)
            add_case(list, &what);
    }
}

// Of every kernel of the CPU, also those that no plan chooses here.
static void add_kernels(struct bench_case_list *list) {
    const struct rope2d_turn_kernel *kernel;
    for (uint32_t i = 0; (kernel = bench_kernel_at(i)) != NULL; ++i)
        for (int which = 0; which < 2; ++which) {
            struct bench_case what;
            bench_kernel_case(kernel, which, &what);
            add_case(list, &what);
        }
}

static bool is_one_thread(const struct bench_list_params *params) {
    return params->backend == ROPE2D_BACKEND_CPU && params->threads == 1;
}

static void add_size(const struct bench_list_params *params, uint64_t tokens, unsigned tower,
                     struct bench_case_list *list) {
    for (unsigned element = 0; element < ROPE2D_ELEMENT_COUNT; ++element) {
        struct bench_case what = {.tower = &bench_towers[tower],
                                  .tokens = tokens,
                                  .element = (rope2d_element)element,
                                  .threads = params->threads};
        if (!is_wanted(params->request, tower, element))
            continue;
        add_case(list, &what);
        what.in_cache = true;
        if (is_one_thread(params) && !what.tower->form && fits_core_cache(params, &what))
            add_case(list, &what);
    }
}

static void add_towers(const struct bench_list_params *params, unsigned first, unsigned end,
                       struct bench_case_list *list) {
    const struct bench_request *request = params->request;
    for (size_t size = 0; size < request->token_count; ++size)
        for (unsigned tower = first; tower < end && bench_tower_names[tower]; ++tower)
            add_size(params, request->tokens[size], tower, list);
}

// What targets need most comes first: many heads and one, from memory and from the caches, and growth. Small
// sizes before large ones, so that what the time does not allow is the largest.
void bench_list_cases(const struct bench_list_params *params, struct bench_case_list *list) {
    const struct bench_request *request = params->request;
    list->count = 0;
    add_towers(params, 0, FIRST_TOWERS, list);
    if (is_one_thread(params))
        add_core_cache(params, list);
    if (params->backend == ROPE2D_BACKEND_CPU && request->is_grown)
        add_past_last_cache(params, list);
    if (request->is_grown)
        add_growth(params, list);
    if (is_one_thread(params) && request->has_kernels)
        add_kernels(list);
    add_towers(params, FIRST_TOWERS, UINT_MAX, list);
}

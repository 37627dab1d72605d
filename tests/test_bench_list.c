// SPDX-License-Identifier: MIT
//
// Which cases `rope2d bench` measures beside those that were asked for: each target of the CPU has rows on
// every machine, whatever its caches.
#include "check.h"

#include "../tools/cli/bench_list.h"

#include <stdlib.h>
#include <string.h>

// None of the kernels.
const struct rope2d_turn_kernel *bench_kernel_at(uint32_t index) {
    (void)index;
    return NULL;
}

void bench_kernel_case(const struct rope2d_turn_kernel *kernel, int which, struct bench_case *what) {
    (void)kernel;
    (void)which;
    *what = (struct bench_case){0};
}

static const struct bench_case *find(const struct bench_case_list *list, const char *tower, uint64_t tokens,
                                     rope2d_element element, bool in_cache) {
    for (size_t i = 0; i < list->count; ++i) {
        const struct bench_case *each = &list->cases[i];
        if (strcmp(each->tower->name, tower) == 0 && each->tokens == tokens && each->element == element &&
            each->in_cache == in_cache)
            return each;
    }
    return NULL;
}

static uint32_t past_last_of(const struct bench_case_list *list) {
    uint32_t count = 0;
    for (size_t i = 0; i < list->count; ++i)
        count += list->cases[i].purpose == BENCH_PAST_LAST;
    return count;
}

static void check_large_cache(struct bench_list_params *params, struct bench_case_list *list) {
    static const struct bench_machine large = {.core_cache = 2 << 20, .last_cache = (uint64_t)480 << 20};
    params->machine = &large;
    bench_list_cases(params, list);
    CHECK(past_last_of(list) == 6, "two towers of three types past 480 MiB: %u", past_last_of(list));
    const struct bench_case *many = find(list, "qwen2vl", 65536, ROPE2D_F32, false);
    const struct bench_case *one = find(list, "sam2", 524288, ROPE2D_BF16, false);
    CHECK(many && many->purpose == BENCH_PAST_LAST && one && one->purpose == BENCH_PAST_LAST,
          "of each the smallest power of two");
    CHECK(find(list, "sam2", 1024, ROPE2D_F16, true), "1,024 tokens of f16 are asked for and fit 1.5 MiB");
    CHECK(find(list, "sam2", 512, ROPE2D_F32, true), "and f32 has its largest size all the same");
    CHECK(find(list, "sam2", 1 << 20, ROPE2D_F32, false)->purpose == BENCH_GROWTH, "growth is there");
    params->request =
        &(struct bench_request){.towers = 3, .elements = 7, .tokens = {65536}, .token_count = 1};
    bench_list_cases(params, list);
    CHECK(past_last_of(list) == 0, "none without growth, as --quick has it: %u", past_last_of(list));
}

static void check_small_cache(struct bench_list_params *params, struct bench_case_list *list) {
    static const struct bench_machine small = {.core_cache = 1 << 20, .last_cache = (uint64_t)32 << 20};
    params->machine = &small;
    bench_list_cases(params, list);
    CHECK(past_last_of(list) == 3, "of one head 16,384 tokens are not past 32 MiB: %u", past_last_of(list));
    CHECK(find(list, "sam2", 32768, ROPE2D_F32, false) && find(list, "sam2", 65536, ROPE2D_F16, false),
          "but more are");
    params->threads = 2;
    bench_list_cases(params, list);
    for (size_t i = 0; i < list->count; ++i)
        CHECK(!list->cases[i].in_cache && list->cases[i].threads == 2, "L2 is for one thread");
    params->backend = ROPE2D_BACKEND_VULKAN;
    params->threads = 0;
    bench_list_cases(params, list);
    CHECK(past_last_of(list) == 0, "other devices have no target past a cache: %u", past_last_of(list));
}

// A tower whose size in L2 was asked for has it once, wherever in the list it stands.
static void check_once_each(struct bench_case_list *list) {
    static const struct bench_machine machine = {.core_cache = 512 << 10, .last_cache = (uint64_t)32 << 20};
    const struct bench_request request = {.towers = UINT32_MAX,
                                          .elements = 7,
                                          .tokens = {16, 64, 128, 1024, 32768},
                                          .token_count = 5,
                                          .is_grown = true};
    const struct bench_list_params params = {&request, &machine, ROPE2D_BACKEND_CPU, 1};
    bench_list_cases(&params, list);
    for (size_t i = 0; i < list->count; ++i) {
        const struct bench_case *each = &list->cases[i];
        const struct bench_case *first =
            find(list, each->tower->name, each->tokens, each->element, each->in_cache);
        CHECK(first == each, "%s, %u tokens, type %u is there twice", each->tower->name,
              (unsigned)each->tokens, (unsigned)each->element);
    }
    CHECK(find(list, "llama4", 16, ROPE2D_F32, true) && find(list, "dinov3", 64, ROPE2D_F32, true),
          "what was asked for and fits is there");
}

int main(void) {
    struct bench_case_list *list = malloc(sizeof *list);
    const struct bench_request request = {
        .towers = 3, .elements = 7, .tokens = {1024, 16384}, .token_count = 2, .is_grown = true};
    struct bench_list_params params = {.request = &request, .backend = ROPE2D_BACKEND_CPU, .threads = 1};
    if (CHECK(list, "there is memory")) {
        check_small_cache(&params, list);
        params.backend = ROPE2D_BACKEND_CPU;
        params.threads = 1;
        check_large_cache(&params, list);
        check_once_each(list);
    }
    free(list);
    return check_finish();
}

// SPDX-License-Identifier: MIT
//
// q and k larger than a core's cache, of one head each, which the CPU turns as one tensor of two heads, of
// four, and of eight that take several blocks of a kernel; of its own last cache or a small one, past which
// outputs go; asking for lines ahead or not, as processors do not all do: the bits of the portable path, for
// a number of tokens that no tile divides and tokens that do not rotate. All in place, all elsewhere, there
// also where no vector is aligned, or of three the first in place and both others elsewhere, as a kernel
// could go on from one to the next; and in place with a third tensor's heads between tokens. Single heads
// alone as well.
#include "apply_once.h"
#include "check.h"
#include "cpu/device.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

// The last place keeps what those before it begin with.
enum { TOKENS = 6143, CHANNELS = 256, COLUMNS = 83, TENSORS = 3, FILLED = 4, PLACES = 5, LINE = 64 };

typedef enum where {
    ELSEWHERE,
    IN_PLACE,
    FIRST_IN_PLACE,
    NOT_ALIGNED,
    PACKED, // in place, and something else behind both heads of each token
    ALONE,
    ALONE_IN_PLACE,
    ALONE_NOT_ALIGNED,
    WHERES
} where;

// Of one head; several have fewer tokens in the same memory.
static const size_t tensor_bytes = (size_t)TOKENS * CHANNELS * sizeof(float);

// Heads of the first tensor, and of the others. Those of fewer have room between their tokens.
typedef struct counts {
    uint32_t first;
    uint32_t others;
} counts;

static rope2d_status rotate(rope2d_device *device, const rope2d_plan_params *types, counts heads, where place,
                            unsigned char *from, unsigned char *to) {
    const uint32_t count = place == FIRST_IN_PLACE ? 3 : place >= ALONE ? 1 : 2;
    const uint32_t dim = types->spec->head_dim;
    const bool is_aligned = place != NOT_ALIGNED && place != ALONE_NOT_ALIGNED;
    const uint32_t most = heads.first > heads.others ? heads.first : heads.others;
    const uint64_t room = (uint64_t)TOKENS * CHANNELS / most / dim;
    const uint64_t tokens = (room < TOKENS ? room : TOKENS) - !is_aligned;
    static float yx[TOKENS][2];
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / COLUMNS);
        yx[t][1] = (float)(t % COLUMNS);
    }
    const rope2d_range unrotated[] = {{0, 3}, {700, 733}, {1401, 1402}};
    const rope2d_positions_params grid = {.struct_size = sizeof(grid),
                                          .spec = types->spec,
                                          .tokens = tokens,
                                          .coordinates = yx[0],
                                          .unrotated = unrotated,
                                          .unrotated_count = 3};
    rope2d_tensor tensors[TENSORS];
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t token = (uint64_t)most * dim;
        const rope2d_view in = {from,
                                TENSORS * tensor_bytes,
                                i * (place == PACKED ? token * rope2d_element_size(types->in) : tensor_bytes),
                                (int64_t)TOKENS * CHANNELS,
                                (int64_t)token * (place == PACKED ? TENSORS : 1),
                                dim};
        tensors[i] = (rope2d_tensor){.heads = i == 0 ? heads.first : heads.others, .in = in, .out = in};
        tensors[i].out.base = place == IN_PLACE || place == PACKED || place == ALONE_IN_PLACE ||
                                      (place == FIRST_IN_PLACE && i == 0)
                                  ? from
                                  : to;
        tensors[i].out.offset += is_aligned ? 0 : rope2d_element_size(types->out);
    }
    const rope2d_apply_params all = {sizeof(all), 1, 0, tokens, count, tensors};
    return apply_once(device, types, &grid, &all);
}

// Halves between 2^-6 and 2^2, whatever the type makes of them: no subnormal comes of these.
static void fill(unsigned char *memory) {
    uint32_t state = 1;
    for (size_t i = 0; i < TENSORS * tensor_bytes; i += sizeof(uint16_t)) {
        state = state * 1664525u + 1013904223u;
        const uint16_t half = (uint16_t)((state >> 16 & 0x8000u) | (0x2400u + (state >> 8) % 0x2000u));
        memcpy(memory + i, &half, sizeof(half));
    }
}

static void compare(rope2d_device *device, rope2d_device *portable, const rope2d_plan_params *types,
                    counts heads, where place, unsigned char *const memory[PLACES]) {
    static const char *const names[] = {
        "",         ", in place", ", the first in place", ", not aligned",
        ", packed", ", alone",    ", alone in place",     ", alone, not aligned"};
    for (int i = 0; i < FILLED; i++) {
        if (i % 2 == 0)
            memcpy(memory[i], memory[FILLED], TENSORS * tensor_bytes);
        else
            memset(memory[i], 0, TENSORS * tensor_bytes);
    }
    const rope2d_status seen = rotate(device, types, heads, place, memory[0], memory[1]);
    const rope2d_status wanted = rotate(portable, types, heads, place, memory[2], memory[3]);
    CHECK(seen == ROPE2D_OK && wanted == ROPE2D_OK, "%s and %s", rope2d_status_name(seen),
          rope2d_status_name(wanted));
    for (int i = 0; i < 2; i++)
        CHECK(memcmp(memory[i], memory[2 + i], TENSORS * tensor_bytes) == 0,
              "%u and %u heads of %u channels, pairing %d, type %d%s, few %u bytes ahead: the portable "
              "path's bits",
              heads.first, heads.others, types->spec->head_dim, (int)types->spec->pairing, (int)types->in,
              names[place], ((rope2d_cpu *)device->impl)->ahead.few_32);
}

static void compare_all(rope2d_device *device, rope2d_device *portable, counts heads, uint32_t dim,
                        unsigned char *const memory[PLACES]) {
    float freqs[CHANNELS] = {0};
    const uint32_t pairs = dim / 2;
    for (uint32_t i = 0; i < pairs; i++)
        freqs[(2 * i < pairs ? 0 : pairs) + i] = 1.0f / (float)(i % (pairs / 2) + 1);
    const int wheres = heads.first > 1 ? ALONE : WHERES;
    for (int i = 0; i < 6 * wheres; i++) {
        static const rope2d_element elements[] = {ROPE2D_F32, ROPE2D_F16, ROPE2D_BF16};
        const rope2d_spec spec = {.struct_size = sizeof(spec),
                                  .head_dim = dim,
                                  .axes = 2,
                                  .pairing = i % 2 ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED,
                                  .freqs = freqs};
        const rope2d_plan_params types = {.struct_size = sizeof(types),
                                          .spec = &spec,
                                          .in = elements[i / 2 / wheres],
                                          .out = elements[i / 2 / wheres]};
        compare(device, portable, &types, heads, (where)(i / 2 % wheres), memory);
    }
}

int main(void) {
    // Few enough that what each has is larger than a cache of its own.
    const rope2d_host host = {.struct_size = sizeof(host), .threads = 2};
    const rope2d_device_params usual = {.struct_size = sizeof(usual), .host = &host};
    const rope2d_device_params own = {.struct_size = sizeof(own), .flags = ROPE2D_DEVICE_PORTABLE};
    rope2d_device *device = NULL;
    rope2d_device *portable = NULL;
    unsigned char *allocated[PLACES];
    unsigned char *memory[PLACES];
    bool is_ready = rope2d_device_create(&usual, &device) == ROPE2D_OK &&
                    rope2d_device_create(&own, &portable) == ROPE2D_OK;
    for (int i = 0; i < PLACES; i++) {
        allocated[i] = malloc(TENSORS * tensor_bytes + LINE);
        memory[i] = allocated[i] + LINE - (uintptr_t)allocated[i] % LINE; // where kernels may stream
        is_ready = is_ready && allocated[i];
    }
    if (CHECK(is_ready, "the CPU and memory")) {
        fill(memory[FILLED]);
        rope2d_cpu *cpu = device->impl;
        compare_all(device, portable, (counts){1, 1}, CHANNELS, memory);
        cpu->last_cache = 512 << 10;
        cpu->ahead = (rope2d_ahead){.heads = 0};
        compare_all(device, portable, (counts){1, 1}, CHANNELS, memory);
        compare_all(device, portable, (counts){8, 8}, CHANNELS / 2, memory);
        // Heads that have a kernel for this.
        compare_all(device, portable, (counts){8, 8}, CHANNELS * 5 / 16, memory);
        compare_all(device, portable, (counts){8, 5}, CHANNELS / 4, memory);
        compare_all(device, portable, (counts){1, 1}, CHANNELS / 4, memory);
        cpu->ahead = (rope2d_ahead){
            .apart = 2816, .few_16 = 3072, .few_32 = 2048, .gaps = true, .follows = true}; // as on Zen 4
        compare_all(device, portable, (counts){5, 8}, CHANNELS * 5 / 16, memory);
        compare_all(device, portable, (counts){1, 1}, CHANNELS, memory);
        compare_all(device, portable, (counts){2, 2}, CHANNELS, memory);
        cpu->ahead.past = 2816;
        compare_all(device, portable, (counts){8, 8}, CHANNELS * 5 / 16, memory);
        cpu->ahead = (rope2d_ahead){
            .heads = 2816, .past = 2816, .apart = 2816, .few_16 = 2816, .few_32 = 2816}; // as on Intel's
        compare_all(device, portable, (counts){1, 1}, CHANNELS, memory);
        compare_all(device, portable, (counts){4, 4}, CHANNELS / 4, memory);
        for (uint32_t others = 2; others <= 8; others += 3)
            compare_all(device, portable, (counts){8, others}, CHANNELS / 2, memory);
        if (cpu->isa > ROPE2D_ISA_AVX2 && cpu->isa <= ROPE2D_ISA_AVX512)
            cpu->isa = ROPE2D_ISA_AVX2; // which has kernels for this
        cpu->ahead =
            (rope2d_ahead){.past = 2816, .apart = 2816, .few_16 = 3072, .few_32 = 2048, .follows = true};
        compare_all(device, portable, (counts){8, 5}, CHANNELS / 2, memory);
        compare_all(device, portable, (counts){8, 8}, CHANNELS * 5 / 16, memory);
    }
    for (int i = 0; i < PLACES; i++)
        free(allocated[i]);
    rope2d_device_destroy(portable);
    rope2d_device_destroy(device);
    return check_finish();
}

// SPDX-License-Identifier: MIT
#include "edges.h"

#include <string.h>

// Whether four pairs are two words of 64 bits, whose places the pattern's wide units know.
static bool has_words(const rope2d_plan *plan) {
    return plan->out != ROPE2D_F32 && plan->pattern.wide.count > 0;
}

static bool is_interleaved(const rope2d_pattern *pattern, uint32_t pair) {
    return pattern->hi[pair] == pattern->lo[pair] + 1;
}

uint32_t rope2d_edge_order(const rope2d_plan *plan, uint32_t pair) {
    const bool is_middle = ((pair + 1) & 2) != 0;
    return is_middle && has_words(plan) && is_interleaved(&plan->pattern, pair) ? pair ^ 3 : pair;
}

static uint64_t load_four(const unsigned char *from) {
    uint64_t word;
    memcpy(&word, from, sizeof(word));
    return word;
}

// A run of four pairs: the lower channels, then the upper ones, to two streams.
static void add_run(uint64_t *streams, const rope2d_pattern *pattern, uint32_t pair,
                    const unsigned char *head, uint64_t past) {
    static const uint64_t magnitude = 0x7fff7fff7fff7fffu, even = 0x0000ffff0000ffffu;
    const unsigned char *lo = head + 2 * (size_t)pattern->lo[pair];
    uint64_t words[2] = {load_four(lo)};
    if (is_interleaved(pattern, pair)) {
        const uint64_t first = words[0], second = load_four(lo + sizeof(second));
        words[0] = (first & even) | (second & even) << 16;
        words[1] = (first >> 16 & even) | (second & ~even);
    } else {
        words[1] = load_four(head + 2 * (size_t)pattern->hi[pair]);
    }
    for (int i = 0; i < 2; i++) {
        const uint64_t nans = ((words[i] & magnitude) + past) & ~magnitude;
        streams[i] =
            rope2d_hash_word(streams[i], words[i] | ((nans << 1) - (nans >> 15))); // all bits of a NaN
    }
}

static uint64_t load(const unsigned char *from, rope2d_element element) {
    static const uint32_t infinities[ROPE2D_ELEMENT_COUNT] = {0x7f800000u, 0x7c00u, 0x7f80u};
    uint32_t bits = 0;
    uint16_t half;
    if (element == ROPE2D_F32) {
        memcpy(&bits, from, sizeof(bits));
        return (bits & INT32_MAX) > infinities[element] ? UINT32_MAX : bits;
    }
    memcpy(&half, from, sizeof(half));
    return (half & INT16_MAX) > infinities[element] ? UINT32_MAX : half;
}

void rope2d_edge_hash_add(rope2d_edge_hash *hash, const rope2d_plan *plan, const unsigned char *outputs,
                          uint32_t stride, uint32_t pairs) {
    const rope2d_pattern *pattern = &plan->pattern;
    const uint32_t size = rope2d_element_size(plan->out), count = has_words(plan) ? 4 : 1;
    const uint64_t past = plan->out == ROPE2D_F16 ? 0x03ff03ff03ff03ffu : 0x007f007f007f007fu;
    rope2d_edge_hash now = *hash;
    uint32_t pair = 0;
    for (uint32_t at = 0; at < pairs; at += count) {
        if (count == 4)
            add_run(&now.streams[at / 2 % 4], pattern, pair, outputs, past);
        else
            now.streams[0] = rope2d_hash_word(
                now.streams[0], load(outputs + (size_t)size * pattern->lo[pair], plan->out) |
                                    load(outputs + (size_t)size * pattern->hi[pair], plan->out) << 32);
        pair += count;
        if (pair == pattern->pairs) {
            pair = 0;
            outputs += (size_t)size * stride;
        }
    }
    *hash = now;
}

// What the portable path makes of the edges is known by a hash: to make it anew takes ten times as long as
// the device does.
bool rope2d_edge_hash_is_right(const rope2d_edge_hash *hash, const rope2d_plan *plan) {
    // By words or not, to which type, and whether from bf16.
    static const uint64_t right[2][ROPE2D_ELEMENT_COUNT][2] = {
        {{0x210f6c580cd8ef61u}, {0xd30de8956abedf1au, 0xdf99ac81bbf371c4u}, {0xad3353176580d3efu}},
        {{0}, {0x3a4512d89d16da91u, 0x961fb71ca4ea36bau}, {0x51cba73ee8e44c69u}}};
    uint64_t end = 0;
    for (int i = 0; i < 4; i++)
        end = rope2d_hash_word(end, hash->streams[i]);
    return end == right[has_words(plan)][plan->out][plan->in == ROPE2D_BF16];
}

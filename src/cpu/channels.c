// SPDX-License-Identifier: MIT
#include "channels.h"

#include "convert_avx2.h"
#include "turn.h"

#if ROPE2D_X86_64

#define R_IN         (memory->in_type)
#define R_OUT        (memory->out_type)
#define R_WIDE       (memory->wide)
#define R_TWO_ANGLES (memory->two_angles)
#define R_FACTORED   false

#include "../../shaders/prelude_c.h"

#include "../../shaders/core.h"

#undef uint
#undef precise

#define MOST_CHANNELS (2 * ROPE2D_TURN_MOST_PAIRS)

// What turns a head's channels.
typedef struct turns {
    float cosines[MOST_CHANNELS];
    float sines[MOST_CHANNELS]; // of a pair's first channel with the other sign
    uint16_t partners[MOST_CHANNELS];
    uint16_t kept[MOST_CHANNELS]; // those that keep their bits
    uint32_t kept_count;
    bool is_beside; // each pair is an even channel and the next one
} turns;

static void put(turns *t, uint32_t channel, uint32_t partner, float cosine, float sine) {
    t->cosines[channel] = cosine;
    t->sines[channel] = sine;
    t->partners[channel] = (uint16_t)partner;
}

// What it is multiplied by does not count.
static void keep(turns *t, uint32_t channel) {
    put(t, channel, channel, 0, 0);
    t->kept[t->kept_count++] = (uint16_t)channel;
}

// As r_unit and r_single_unit of core.h do.
static void find(const rope2d_cpu_run *run, uint32_t head, turns *t) {
    const r_memory all = {
        .shape = run->shape,
        .units = run->units,
        .rows = run->rows,
        .table = run->table,
        .wide = run->wide,
        .two_angles = run->two_angles,
    };
    const r_memory *const memory = &all;
    const uint32_t shift = run->wide ? 2 : 0; // log2 of a unit's pairs
    const uint32_t pairs = R_SHAPE(R_PAIR_UNITS) << shift;
    t->is_beside = true;
    t->kept_count = 0;
    for (uint32_t pair = 0; pair < R_SHAPE(R_UNITS) << shift; pair++) {
        const uint32_t word = R_UNIT(pair >> shift);
        const uint32_t i = pair - (pair >> shift << shift);
        const uint32_t at = R_UNIT_HI(word) == R_UNIT_LO(word) + 1 ? 2 * i : i;
        const uint32_t lo = R_UNIT_LO(word) + at;
        const uint32_t hi = R_UNIT_HI(word) + at;
        if (pair >= pairs) {
            keep(t, lo);
            continue;
        }
        const int32_t row = r_find_row(memory, 0, R_UNIT_AXIS(word, i));
        if (row < 0) {
            keep(t, lo);
            keep(t, hi);
            continue;
        }
        t->is_beside = t->is_beside && (lo ^ 1) == hi;
        for (uint32_t side = 0; side < 2; side++) {
            const uint32_t column = R_TWO_ANGLES ? 2 * pair + side : pair;
            const r_entry entry = r_find_entry(memory, 0, row, head, column);
            put(t, side ? hi : lo, side ? lo : hi, entry.x, side ? entry.y : -entry.y);
        }
    }
}

// In place as well: where pairs are not neighbours all channels are read first.
CONVERT_FN static void turn(const rope2d_cpu_run *run, const turns *t, const unsigned char *in,
                            unsigned char *out) {
    const rope2d_element from = (rope2d_element)run->in_type;
    const rope2d_element to = (rope2d_element)run->out_type;
    float channels[MOST_CHANNELS];
    float partners[MOST_CHANNELS];
    for (uint32_t i = 0; i < run->head_dim && !t->is_beside; i += ROPE2D_CONVERTED)
        _mm256_storeu_ps(channels + i, rope2d_widen(in, i, from));
    for (uint32_t i = 0; i < run->head_dim && !t->is_beside; i++)
        partners[i] = channels[t->partners[i]];
    for (uint32_t i = 0; i < run->head_dim; i += ROPE2D_CONVERTED) {
        const __m256 own = t->is_beside ? rope2d_widen(in, i, from) : _mm256_loadu_ps(channels + i);
        const __m256 partner = t->is_beside ? _mm256_permute_ps(own, 0xb1) : _mm256_loadu_ps(partners + i);
        const __m256 first = _mm256_mul_ps(own, _mm256_loadu_ps(t->cosines + i));
        const __m256 second = _mm256_mul_ps(partner, _mm256_loadu_ps(t->sines + i));
        rope2d_narrow(out, i, to, _mm256_add_ps(first, second));
    }
}

static void rotate(const rope2d_cpu_run *run) {
    turns t;
    uint32_t before[MOST_CHANNELS];
    r_memory memory = {.in_type = run->in_type, .out_type = run->out_type};
    for (uint32_t head = 0; head < run->heads; head++) {
        memory.in = run->in + (ptrdiff_t)head * run->in_stride;
        memory.out = run->out + (ptrdiff_t)head * run->out_stride;
        if (head == 0 || run->shape[R_TABLE_HEAD_STRIDE] > 0)
            find(run, run->first_head + head, &t);
        for (uint32_t i = 0; i < t.kept_count; i++)
            before[i] = r_load(&memory, 0, t.kept[i]);
        turn(run, &t, memory.in, memory.out);
        for (uint32_t i = 0; i < t.kept_count; i++)
            r_store(&memory, 0, t.kept[i], rope2d_portable_convert(run->in_type, run->out_type, before[i]));
    }
}

rope2d_cpu_kernel *rope2d_channels_kernel(rope2d_isa isa, const rope2d_pattern *pattern) {
    return isa >= ROPE2D_ISA_AVX2 && pattern->head_dim <= MOST_CHANNELS &&
                   pattern->head_dim % ROPE2D_CONVERTED == 0 && pattern->factors == 0
               ? rotate
               : rope2d_portable_rotate;
}

#else

rope2d_cpu_kernel *rope2d_channels_kernel(rope2d_isa isa, const rope2d_pattern *pattern) {
    (void)isa;
    (void)pattern;
    return rope2d_portable_rotate;
}

#endif

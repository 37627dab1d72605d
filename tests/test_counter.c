// SPDX-License-Identifier: MIT
// The generator against answers computed by tests/counter.py, and its numbers against the oracle's
// conversions. `test_counter dump` prints elements for `counter.py compare`.
#include "check.h"
#include "counter.h"
#include "oracle_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TYPES       3
#define MODES       4
#define DUMP_SEED   42
#define DUMP_STREAM 3
#define DUMP_COUNT  4096

static const enum oracle_type oracle_types[TYPES] = {
    [COUNTER_F32] = ORACLE_F32, [COUNTER_F16] = ORACLE_F16, [COUNTER_BF16] = ORACLE_BF16};

static const struct {
    uint64_t seed, stream, index, word;
    uint32_t bell[TYPES], special[TYPES];
} known[] = {
    {UINT64_C(0),
     UINT64_C(0),
     UINT64_C(0),
     UINT64_C(0x238275bc38fcbe91),
     {0x3e603da0, 0x00003302, 0x00003e60},
     {0x807fffff, 0x000083ff, 0x0000807f}},
    {UINT64_C(1),
     UINT64_C(0),
     UINT64_C(0),
     UINT64_C(0xb18a02f46d8d86c3),
     {0x3dc65840, 0x00002e33, 0x00003dc6},
     {0xffcd86c3, 0x0000fec3, 0x0000ffc3}},
    {UINT64_C(0),
     UINT64_C(1),
     UINT64_C(0),
     UINT64_C(0x94926c2e801cb6f9),
     {0xbf4b06a8, 0x0000ba58, 0x0000bf4b},
     {0x80800000, 0x00008400, 0x00008080}},
    {UINT64_C(0),
     UINT64_C(0),
     UINT64_C(1),
     UINT64_C(0x421daf3033e887a3),
     {0x3e242ba0, 0x00003121, 0x00003e24},
     {0x7fa88873, 0x00007ce8, 0x00007fb9}},
    {UINT64_C(2024),
     UINT64_C(7),
     UINT64_C(65535),
     UINT64_C(0xf0454ec702e60e4a),
     {0x3f057b58, 0x0000382c, 0x00003f05},
     {0x7f800000, 0x00007c00, 0x00007f80}},
    {UINT64_C(18446744073709551615),
     UINT64_C(18446744073709551615),
     UINT64_C(18446744073709551615),
     UINT64_C(0x40aa389ba7cc36a4),
     {0xbf6c18e8, 0x0000bb61, 0x0000bf6c},
     {0xff800000, 0x0000fc00, 0x0000ff80}},
};

static void check_known(void) {
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint64_t word = counter_word(known[i].seed, known[i].stream, known[i].index);
        CHECK(word == known[i].word, "known word");
        for (int type = 0; type < TYPES; type++) {
            CHECK(counter_bits((enum counter_type)type, COUNTER_BELL, word) == known[i].bell[type],
                  "known bell");
            CHECK(counter_bits((enum counter_type)type, COUNTER_SPECIAL, word) == known[i].special[type],
                  "known special");
        }
    }
}

static void check_distributions(void) {
    const int count = 100000;
    double sum = 0;
    double squares = 0;
    double lowest = 1;
    double highest = -1;
    for (int i = 0; i < count; i++) {
        uint64_t word = counter_word(1, 2, (uint64_t)i);
        double bell = (double)counter_bell(word);
        double uniform = (double)counter_uniform(word);
        sum += bell;
        squares += bell * bell;
        lowest = fmin(lowest, uniform);
        highest = fmax(highest, uniform);
    }
    CHECK(fabs(sum / count) < 0.02 && fabs(squares / count - 1) < 0.02,
          "the bell has mean 0 and deviation 1");
    CHECK(lowest >= -1 && lowest < -0.999 && highest < 1 && highest > 0.999, "uniform fills [-1, 1)");
    CHECK(counter_uniform(0) == -1.0f && counter_uniform(UINT64_MAX) == 1.0f - 0x1p-23f, "ends of uniform");
    CHECK(counter_scaled(0, 5) == -32.0f && counter_scaled(0, -3) == -0.125f, "scaled");
    CHECK(counter_below(UINT64_MAX, 7) == 6 && counter_below(0, 7) == 0, "below");
}

static void check_narrowing(void) {
    size_t wrong = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        uint32_t bits = counter_bits(COUNTER_F32, COUNTER_FINITE, counter_word(9, 9, i));
        float value;
        memcpy(&value, &bits, sizeof(value));
        wrong += counter_f16(value) != oracle_encode(ORACLE_F16, (double)value);
        wrong += counter_bf16(value) != oracle_encode(ORACLE_BF16, (double)value);
    }
    for (uint32_t bits = 0x33000000u - 2u; bits <= 0x33000000u + 2u; bits++) {
        float value;
        memcpy(&value, &bits, sizeof(value));
        wrong += counter_f16(value) != oracle_encode(ORACLE_F16, (double)value);
    }
    CHECK(wrong == 0, "f16 and bf16 are the oracle's");
}

// Halfway values of fp32 have both neighbours at the same distance.
static bool is_halfway(enum oracle_type type, double value) {
    double near = oracle_decode(type, oracle_encode(type, value));
    return isfinite(near) && fabs(near - value) == 0.5 * oracle_ulp(type, value);
}

static void check_special(enum counter_type type) {
    enum { ZERO, NEGATIVE_ZERO, SUBNORMAL, INFINITE, QUIET, SIGNALLING, HALF_F16, HALF_BF16, KINDS };
    const enum oracle_type oracle_type = oracle_types[type];
    const uint32_t quiet[TYPES] = {
        [COUNTER_F32] = 1u << 22, [COUNTER_F16] = 1u << 9, [COUNTER_BF16] = 1u << 6};
    const uint32_t smallest_normal[TYPES] = {
        [COUNTER_F32] = 1u << 23, [COUNTER_F16] = 1u << 10, [COUNTER_BF16] = 1u << 7};
    int seen[KINDS] = {0};
    int not_finite = 0;
    for (uint64_t i = 0; i < 4096; i++) {
        uint64_t word = counter_word(5, (uint64_t)type, i);
        uint32_t finite = counter_bits(type, COUNTER_FINITE, word);
        uint32_t special = counter_bits(type, COUNTER_SPECIAL, word);
        double value = oracle_decode(oracle_type, finite);
        not_finite += !isfinite(value);
        seen[ZERO] += value == 0 && !signbit(value);
        seen[NEGATIVE_ZERO] += value == 0 && signbit(value);
        seen[SUBNORMAL] += value != 0 && fabs(value) < oracle_decode(oracle_type, smallest_normal[type]);
        seen[HALF_F16] += is_halfway(ORACLE_F16, value);
        seen[HALF_BF16] += is_halfway(ORACLE_BF16, value);
        seen[INFINITE] += isinf(oracle_decode(oracle_type, special)) != 0;
        seen[QUIET] += isnan(oracle_decode(oracle_type, special)) && (special & quiet[type]) != 0;
        seen[SIGNALLING] += isnan(oracle_decode(oracle_type, special)) && (special & quiet[type]) == 0;
    }
    CHECK(not_finite == 0, "finite mode is finite");
    for (int kind = ZERO; kind < (type == COUNTER_F32 ? KINDS : HALF_F16); kind++)
        CHECK(seen[kind] > 64, "every kind of special value occurs");
}

static void check_fill(void) {
    unsigned char buffer[3 * 4 + 2] = {0};
    buffer[13] = 0xa5;
    counter_fill(buffer + 1, COUNTER_F32, COUNTER_BELL, 1, 2, 10, 3);
    bool same = true;
    for (uint64_t i = 0; i < 3; i++)
        same = same && oracle_load(ORACLE_F32, buffer + 1, i) ==
                           counter_bits(COUNTER_F32, COUNTER_BELL, counter_word(1, 2, 10 + i));
    CHECK(same && buffer[0] == 0 && buffer[13] == 0xa5, "fill writes its elements and no more");
    counter_fill(buffer + 1, COUNTER_BF16, COUNTER_UNIFORM, 1, 2, 4, 1);
    CHECK(oracle_load(ORACLE_BF16, buffer + 1, 0) ==
              counter_bits(COUNTER_BF16, COUNTER_UNIFORM, counter_word(1, 2, 4)),
          "fill of 16 bits");
}

static void check_cancelling(void) {
    double worst = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        float lo;
        float hi;
        counter_cancelling(counter_word(3, 3, i), 0.8f, 0.6f, &lo, &hi);
        double first = (double)lo * (double)0.8f;
        double second = (double)hi * (double)0.6f;
        worst = fmax(worst, fabs(first - second) / fabs(first));
    }
    CHECK(worst > 0 && worst < 0x1p-22, "a cancelling pair cancels");
}

static void dump(void) {
    for (uint64_t index = 0; index < DUMP_COUNT; index++) {
        uint64_t word = counter_word(DUMP_SEED, DUMP_STREAM, index);
        printf("%" PRIu64 " %016" PRIx64, index, word);
        for (int type = 0; type < TYPES; type++)
            for (int mode = 0; mode < MODES; mode++)
                printf(" %08" PRIx32, counter_bits((enum counter_type)type, (enum counter_mode)mode, word));
        printf("\n");
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dump") == 0) {
        dump();
        return 0;
    }
    check_known();
    check_distributions();
    check_narrowing();
    for (int type = 0; type < TYPES; type++)
        check_special((enum counter_type)type);
    check_fill();
    check_cancelling();
    return check_finish();
}

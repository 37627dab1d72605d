// SPDX-License-Identifier: MIT
// The cos/sin table against the oracle: a token whose lo channels are 1 and whose hi channels are 0, or the
// other way round, rotates into the entries themselves. Every kind of synthetic spec, and the frequencies and
// positions of every golden case.
#include "check.h"
#include "counter.h"
#include "fake_device.h"
#include "npy.h"
#include "oracle.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAIRS 128
// Half an ulp, and what two evaluations in double may disagree by.
#define LIMIT 0.500001

// Interleaved pairs and nothing else in the head.
struct sample {
    rope2d_spec spec;
    uint32_t tables, heads, pairs;
    uint64_t tokens;
    uint32_t batch;
    const float *freqs; // [tables][axes][heads][pairs]
    const float *coordinates;
    const float *magnitudes;
};

static uint64_t freqs_in_table(const struct sample *sample) {
    return (uint64_t)sample->spec.axes * sample->heads * sample->pairs;
}

static void finish_spec(struct sample *sample) {
    sample->spec.struct_size = sizeof(sample->spec);
    sample->spec.head_dim = 2 * sample->pairs;
    sample->spec.freq_heads = sample->heads;
    sample->spec.freqs = sample->freqs;
    sample->spec.freqs_hi = sample->tables == 2 ? sample->freqs + freqs_in_table(sample) : NULL;
}

static struct oracle *ask_oracle(const struct sample *sample) {
    int32_t lo[MAX_PAIRS], hi[MAX_PAIRS];
    for (uint32_t i = 0; i < sample->pairs; i++) {
        lo[i] = (int32_t)(2 * i);
        hi[i] = (int32_t)(2 * i + 1);
    }
    struct oracle_rotation rotation = {
        .tokens = sample->tokens,
        .position_batches = sample->batch,
        .head_dim = 2 * sample->pairs,
        .axes = sample->spec.axes,
        .pairs = sample->pairs,
        .freq_heads = sample->heads,
        .tables = sample->tables,
        .pair_lo = lo,
        .pair_hi = hi,
        .freqs = sample->freqs,
        .coordinates = sample->coordinates,
        .magnitude = sample->spec.magnitude == 0 ? 1 : (double)sample->spec.magnitude,
        .magnitudes = sample->magnitudes,
        .direction = sample->spec.direction == ROPE2D_FORWARD   ? ORACLE_FORWARD
                     : sample->spec.direction == ROPE2D_INVERSE ? ORACLE_INVERSE
                                                                : ORACLE_TRANSPOSE,
        .angle = sample->spec.angles == ROPE2D_ANGLES_FP32 ? ORACLE_ANGLE_FP32 : ORACLE_ANGLE_DOUBLE,
    };
    return oracle_create(&rotation);
}

// The axis that turns a pair, found in the frequencies; 0 where none does.
static uint32_t axis_of(const struct sample *sample, uint32_t pair) {
    uint32_t found = 0;
    for (uint64_t at = pair; at < freqs_in_table(sample) * sample->tables; at += sample->pairs) {
        if (sample->freqs[at] != 0)
            found = (uint32_t)(at / sample->pairs / sample->heads) % sample->spec.axes;
    }
    return found;
}

static bool is_near(float entry, double value) {
    return fabs((double)entry - value) <= LIMIT * oracle_ulp(ORACLE_F32, value);
}

static bool token_agrees(const struct sample *sample, const struct oracle *oracle,
                         const rope2d_positions *positions, uint64_t at, uint32_t head) {
    double inputs[2 * MAX_PAIRS];
    struct oracle_value lo_alone[2 * MAX_PAIRS], hi_alone[2 * MAX_PAIRS];
    for (uint32_t i = 0; i < 2 * sample->pairs; i++)
        inputs[i] = i % 2 == 0;
    oracle_rotate(oracle, at / sample->tokens, at % sample->tokens, head, inputs, lo_alone);
    for (uint32_t i = 0; i < 2 * sample->pairs; i++)
        inputs[i] = i % 2;
    oracle_rotate(oracle, at / sample->tokens, at % sample->tokens, head, inputs, hi_alone);
    uint32_t row_axes = positions->pattern.row_axes;
    for (uint32_t i = 0; i < sample->pairs; i++) {
        int32_t row =
            rope2d_positions_host_rows(positions)[at * row_axes + (row_axes > 1 ? axis_of(sample, i) : 0)];
        uint64_t column = ((uint64_t)head * sample->pairs + i) * sample->tables;
        const float *lo = rope2d_positions_host_table(positions) +
                          ((uint64_t)row * sample->heads * sample->pairs * sample->tables + column) * 2;
        const float *hi = lo + (sample->tables == 2 ? 2 : 0);
        if (!is_near(lo[0], lo_alone[2 * i].value) || !is_near(hi[1], lo_alone[2 * i + 1].value) ||
            !is_near(-lo[1], hi_alone[2 * i].value) || !is_near(hi[0], hi_alone[2 * i + 1].value)) {
            printf("     token %u, head %u, pair %u: lo (%.9g, %.9g), hi (%.9g, %.9g); expected (%.9g, "
                   "%.9g), (%.9g, "
                   "%.9g)\n",
                   (unsigned)at, head, i, (double)lo[0], (double)lo[1], (double)hi[0], (double)hi[1],
                   lo_alone[2 * i].value, -hi_alone[2 * i].value, hi_alone[2 * i + 1].value,
                   lo_alone[2 * i + 1].value);
            return false;
        }
    }
    return true;
}

static bool agrees(const struct sample *sample) {
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_positions_params params = {.struct_size = sizeof(params),
                                      .spec = &sample->spec,
                                      .tokens = sample->tokens,
                                      .batch = sample->batch,
                                      .coordinates = sample->coordinates,
                                      .magnitudes = sample->magnitudes};
    rope2d_positions *positions;
    struct oracle *oracle = ask_oracle(sample);
    bool good = oracle != NULL && rope2d_positions_create(&fake.device, &params, &positions) == ROPE2D_OK;
    if (!good)
        printf("     %s\n", oracle == NULL ? "no oracle" : fake.line);
    for (uint64_t at = 0; good && at < sample->tokens * sample->batch; at++) {
        for (uint32_t head = 0; good && head < sample->heads; head++)
            good = token_agrees(sample, oracle, positions, at, head);
    }
    if (oracle != NULL && good)
        rope2d_positions_destroy(positions);
    oracle_destroy(oracle);
    return good;
}

// Choices of a synthetic spec, counted through.
enum { AXES = 4, HEADS = 2, TABLES = 2, DIRECTIONS = 3, ANGLES = 2, FORMS = 2, MAGNITUDES = 3 };
enum { SYNTHETIC = AXES * HEADS * TABLES * DIRECTIONS * ANGLES * FORMS * MAGNITUDES };
enum { PAIRS = 5, TOKENS = 4, BATCH = 2, HEADS_EACH = 3 };

static uint32_t choose(uint32_t *number, uint32_t choices) {
    uint32_t choice = *number % choices;
    *number /= choices;
    return choice;
}

static void fill_freqs(float *freqs, const struct sample *sample, bool dense, uint64_t seed) {
    uint64_t at = 0;
    for (uint32_t table = 0; table < sample->tables; table++) {
        for (uint32_t a = 0; a < sample->spec.axes; a++) {
            for (uint32_t i = 0; i < sample->heads * PAIRS; i++, at++) {
                uint64_t word = counter_word(seed, 1, at);
                bool turns = dense ? counter_below(word, 4) != 0 : i % PAIRS % sample->spec.axes == a;
                freqs[at] = turns ? counter_scaled(counter_word(seed, 2, at), 1) : 0;
            }
        }
    }
}

static void test_synthetic(void) {
    static float freqs[2 * AXES * HEADS_EACH * PAIRS], coordinates[BATCH * TOKENS * AXES];
    static float magnitudes[BATCH * TOKENS * PAIRS];
    for (uint32_t number = 0; number < SYNTHETIC; number++) {
        uint32_t rest = number;
        struct sample sample = {.pairs = PAIRS, .tokens = TOKENS, .batch = BATCH};
        sample.freqs = freqs;
        sample.coordinates = coordinates;
        sample.spec.axes = 1 + choose(&rest, AXES);
        sample.heads = choose(&rest, HEADS) == 0 ? 1 : HEADS_EACH;
        sample.tables = 1 + choose(&rest, TABLES);
        sample.spec.direction = (rope2d_direction)choose(&rest, DIRECTIONS);
        sample.spec.angles = (rope2d_angles)choose(&rest, ANGLES);
        bool dense = choose(&rest, FORMS) == 1;
        uint32_t magnitude = choose(&rest, MAGNITUDES);
        sample.spec.magnitude = magnitude > 0 ? -1.25f : 0;
        sample.magnitudes = magnitude == 2 ? magnitudes : NULL;
        if (sample.tables == 2 && sample.spec.direction == ROPE2D_INVERSE)
            continue;
        finish_spec(&sample);
        fill_freqs(freqs, &sample, dense, number);
        for (uint64_t i = 0; i < (uint64_t)BATCH * TOKENS * sample.spec.axes; i++)
            coordinates[i] = i % 5 == 0 ? 2 : counter_scaled(counter_word(number, 3, i), (int)(i % 13));
        for (uint64_t i = 0; i < (uint64_t)BATCH * TOKENS * PAIRS; i++)
            magnitudes[i] = counter_bell(counter_word(number, 4, i));
        char name[64];
        (void)snprintf(name, sizeof(name), "synthetic spec %u", number);
        CHECK(agrees(&sample), "%s", name);
    }
}

static bool load(const char *root, const char *folder, const char *file, struct npy_array *array) {
    char path[4096];
    const char *reason;
    (void)snprintf(path, sizeof(path), "%s/%s/%s", root, folder, file);
    return npy_read(path, array, &reason) && array->type == NPY_F4;
}

static void golden_folder(const char *root, const char *folder) {
    struct npy_array freqs = {0}, positions = {0};
    bool good = load(root, folder, "freqs.npy", &freqs) && load(root, folder, "positions.npy", &positions) &&
                freqs.dimensions >= 3 && positions.dimensions == 2;
    if (good) {
        const size_t *shape = freqs.shape + freqs.dimensions - 3;
        struct sample sample = {
            .batch = 1, .tokens = positions.shape[0], .tables = freqs.dimensions == 4 ? 2 : 1};
        sample.spec.axes = (uint32_t)shape[0];
        sample.heads = (uint32_t)shape[1];
        sample.pairs = (uint32_t)shape[2];
        sample.freqs = freqs.data;
        sample.coordinates = positions.data;
        finish_spec(&sample);
        good = sample.pairs <= MAX_PAIRS && agrees(&sample);
        sample.spec.angles = ROPE2D_ANGLES_FP32;
        good = good && agrees(&sample);
    }
    CHECK(good, "%s", folder);
    npy_free(&freqs);
    npy_free(&positions);
}

static void test_golden(void) {
    const char *root = getenv("ROPE2D_GOLDEN");
    DIR *folders = opendir(root == NULL ? "tests/golden" : root);
    int count = 0;
    for (struct dirent *entry; folders != NULL && (entry = readdir(folders)) != NULL;) {
        if (strchr(entry->d_name, '.') != NULL)
            continue;
        golden_folder(root == NULL ? "tests/golden" : root, entry->d_name);
        count++;
    }
    if (folders != NULL)
        (void)closedir(folders);
    CHECK(count >= 45, "45 golden cases or more");
}

int main(void) {
    test_synthetic();
    test_golden();
    return check_finish();
}

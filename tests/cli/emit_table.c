// SPDX-License-Identifier: MIT
//
// Prints every bit of rows and tables; with EMITTED those of the table builder that `rope2d emit` wrote, and
// the units as well, else those of the library.
#ifdef EMITTED
#include "rope2d_table.h"
#else
#include <rope2d/rope2d.h>
#endif

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 9, TOKENS = SIDE * SIDE, HEADS = 2, PAIRS = 12 };

static void print_words(const char *name, const void *words, size_t count) {
    printf("%s %zu:", name, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, (const unsigned char *)words + 4 * i, 4);
        printf(" %08" PRIx32, word);
    }
    printf("\n");
}

static void print_positions(rope2d_device *device, const rope2d_spec *spec) {
    static float yx[TOKENS][2];
    const rope2d_range still = {0, 2};
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / SIDE) * 97.25f;
        yx[t][1] = (float)(t % SIDE) - 3.5f;
    }
    const rope2d_positions_params params = {.struct_size = sizeof(params),
                                            .spec = spec,
                                            .tokens = TOKENS,
                                            .coordinates = &yx[0][0],
                                            .unrotated = &still,
                                            .unrotated_count = 1};
    rope2d_positions *positions = NULL;
    rope2d_positions_info info = {.struct_size = sizeof(info)};
    rope2d_status status = rope2d_positions_create(device, &params, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_positions_get_info(positions, &info);
    printf("%s, %u rows of %u, %u row numbers of a token\n", rope2d_status_name(status), info.table_rows,
           info.table_columns, info.row_axes);
    if (status == ROPE2D_OK) {
        print_words("rows", rope2d_positions_host_rows(positions), (size_t)TOKENS * info.row_axes);
        print_words("table", rope2d_positions_host_table(positions),
                    2 * (size_t)info.table_rows * info.table_columns);
    }
    rope2d_positions_destroy(positions);
}

#ifdef EMITTED
static void print_units(const rope2d_device *builder, const rope2d_spec *spec) {
    static rope2d_table_unit_list units;
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        const rope2d_status status = rope2d_table_units(builder, spec, is_wide, &units);
        printf("%s %s %u ", is_wide ? "wide" : "single", rope2d_status_name(status), units.pair_units);
        print_words("units", units.words, units.count);
    }
}
#endif

int main(void) {
    static float freqs[2][HEADS][PAIRS], freqs_hi[2][HEADS][PAIRS];
    rope2d_spec specs[3] = {{0}};
    rope2d_device *device = NULL;
    for (int i = 0; i < 2 * HEADS * PAIRS; i++) {
        (&freqs[0][0][0])[i] = 1.0f / (float)(i + 1);
        (&freqs_hi[0][0][0])[i] = 0.3f / (float)(i + 2);
    }
    static float axial[2][PAIRS];
    for (int i = 0; i < PAIRS; i++)
        axial[i % 2][i] = 1.0f / (float)(i + 1);
    for (int i = 0; i < 3; i++) {
        specs[i].struct_size = sizeof(specs[i]);
        specs[i].head_dim = 2 * PAIRS + 8;
        specs[i].rotary_dim = 2 * PAIRS;
        specs[i].axes = 2;
        specs[i].freqs = i == 1 ? &freqs[0][0][0] : &axial[0][0];
    }
    specs[1].freq_heads = HEADS;
    specs[1].freqs_hi = &freqs_hi[0][0][0];
    specs[2].pairing = ROPE2D_PAIRING_HALF;
    specs[2].angles = ROPE2D_ANGLES_FP32;
    specs[2].direction = ROPE2D_INVERSE;
#ifdef EMITTED
    if (rope2d_table_builder_create(NULL, &device) != ROPE2D_OK)
        return 1;
#else
    const rope2d_device_params cpu = {.struct_size = sizeof(cpu)};
    if (rope2d_device_create(&cpu, &device) != ROPE2D_OK)
        return 1;
#endif
    for (int i = 0; i < 3; i++)
        print_positions(device, &specs[i]);
#ifdef EMITTED
    print_units(device, &specs[0]);
    rope2d_table_builder_destroy(device);
#else
    rope2d_device_destroy(device);
#endif
    return 0;
}

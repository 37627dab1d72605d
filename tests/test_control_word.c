// SPDX-License-Identifier: MIT
// A caller who flushes subnormals or rounds down gets the same bits, of tables and of rotations, on every
// device, whether the device was opened so or only used so, and keeps the settings. Runs before anything else
// in the process has touched a driver, whose threads inherit what the caller set.
#include "harness/control_word.h"
#include "harness/devices.h"
#include "harness/run.h"
#include "harness/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20260729

static const char *const setting_names[HARNESS_SETTING_COUNT] = {
    "plain", "flushing subnormals", "rounding down", "flushing subnormals and rounding down"};

// Subnormals, ties, tables of every form.
static const char *const case_names[] = {"half",
                                         "special_values",
                                         "finite_values",
                                         "two_angles",
                                         "magnitudes",
                                         "dense",
                                         "far",
                                         "inverse_magnitude",
                                         "cancelling_pairs",
                                         "centers",
                                         "odd_half_split_in_place"};
static const struct harness_types types[] = {
    {ROPE2D_F32, ROPE2D_F32}, {ROPE2D_F32, ROPE2D_F16}, {ROPE2D_F16, ROPE2D_F32}, {ROPE2D_BF16, ROPE2D_BF16}};
#define CASES (sizeof(case_names) / sizeof(case_names[0]))
#define TYPES (sizeof(types) / sizeof(types[0]))

struct example {
    struct harness_work work;
    struct harness_truth truth;
    float *table; // of the first positions, made in plain settings
    size_t table_bytes;
    bool there;
};

struct suite {
    struct harness_report report;
    struct example examples[CASES][TYPES];
};

// A copy of the host's table, NULL when it cannot be made.
static float *table_of(struct harness_device *device, const struct harness_work *work, size_t *bytes) {
    rope2d_positions *positions = NULL;
    rope2d_positions_params params =
        harness_positions_params(&work->positions[0], &work->spec, ROPE2D_TABLE_BUFFER);
    rope2d_positions_info info = {.struct_size = sizeof(info)};
    float *table = NULL;
    if (rope2d_positions_create(device->device, &params, &positions) == ROPE2D_OK &&
        rope2d_positions_get_info(positions, &info) == ROPE2D_OK) {
        *bytes = (size_t)info.table_rows * info.table_columns * 2 * sizeof(float);
        table = malloc(*bytes);
        if (table != NULL)
            memcpy(table, rope2d_positions_host_table(positions), *bytes);
    }
    rope2d_positions_destroy(positions);
    return table;
}

static void make_examples(struct suite *suite) {
    struct harness_device portable;
    rope2d_status opened =
        harness_device_open(&portable, ROPE2D_BACKEND_CPU, 0, ROPE2D_DEVICE_PORTABLE, false);
    for (size_t i = 0; i < CASES * TYPES && opened == ROPE2D_OK; i++) {
        struct example *example = &suite->examples[i / TYPES][i % TYPES];
        const struct harness_case *what = harness_case_find(case_names[i / TYPES]);
        const struct harness_types *with = &types[i % TYPES];
        uint64_t dispatches;
        if ((what->flags & HARNESS_IN_PLACE) != 0 && with->in != with->out)
            continue;
        struct harness_work *work = &example->work;
        bool good = harness_work_make(work, what, *with, SEED);
        if (good && (what->flags & HARNESS_CANCELLING) != 0)
            good = harness_run_cancel(&portable, work) == ROPE2D_OK;
        example->truth.blocks = good ? harness_blocks_copy(work) : NULL;
        example->table = good ? table_of(&portable, work, &example->table_bytes) : NULL;
        example->there = example->truth.blocks != NULL && example->table != NULL &&
                         harness_run(&portable, work, ROPE2D_TABLE_BUFFER, example->truth.blocks,
                                     &dispatches) == ROPE2D_OK &&
                         harness_truth_ask(&example->truth, work);
        if (!example->there)
            harness_fail(&suite->report, "%s: the portable path does not run\n%s", what->name,
                         portable.log.text);
    }
    harness_device_close(&portable);
}

static void free_examples(struct suite *suite) {
    for (size_t i = 0; i < CASES * TYPES; i++) {
        struct example *example = &suite->examples[i / TYPES][i % TYPES];
        if (example->work.what != NULL) {
            harness_truth_free(&example->truth, &example->work);
            harness_work_free(&example->work);
        }
        free(example->table);
    }
}

// Runs in the setting, judges in plain settings.
static void check_example(struct suite *suite, struct harness_device *device, const struct example *example,
                          enum harness_setting setting, rope2d_table table, const char *when) {
    const struct harness_work *work = &example->work;
    char text[HARNESS_TEXT_SIZE] = "";
    size_t bytes = 0;
    uint64_t dispatches;
    rope2d_plan *plan = NULL;
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    unsigned char **blocks = harness_blocks_copy(work);
    harness_control_set(setting);
    uint64_t before = harness_control_get();
    float *turns = table_of(device, work, &bytes);
    rope2d_status status =
        blocks != NULL ? harness_run(device, work, table, blocks, &dispatches) : ROPE2D_ERROR_HOST_MEMORY;
    if (status == ROPE2D_OK)
        status = harness_plan(device, work, table, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_plan_get_info(plan, &info);
    bool kept = harness_control_get() == before;
    harness_control_set(HARNESS_PLAIN);
    bool same_table =
        turns != NULL && bytes == example->table_bytes && memcmp(turns, example->table, bytes) == 0;
    bool good =
        status == ROPE2D_OK && kept && same_table && info.exactness != ROPE2D_UNTESTED &&
        harness_verdict_bits(work, &example->truth, blocks, info.exactness == ROPE2D_EXACT_NORMAL, text);
    harness_check(
        &suite->report, good, "%s, %d:%d on %s, %s %s: %s%s%s, exactness %d\n     %s\n%s", work->what->name,
        (int)work->types.in, (int)work->types.out, device->info.name, when, setting_names[setting],
        rope2d_status_name(status), kept ? "" : ", the caller's settings are changed",
        same_table ? "" : ", the table has other bits", (int)info.exactness, text, device->log.text);
    free(turns);
    harness_blocks_free(work, blocks);
}

static void check_device(struct suite *suite, const rope2d_device_info *info, enum harness_setting opened,
                         enum harness_setting setting, const char *when) {
    static struct harness_device device;
    harness_control_set(opened);
    rope2d_status status = harness_device_open(&device, info->backend, info->index, 0, false);
    harness_control_set(HARNESS_PLAIN);
    if (status != ROPE2D_OK)
        harness_fail(&suite->report, "%s does not open: %s\n%s", info->name, rope2d_status_name(status),
                     device.log.text);
    for (size_t i = 0; i < CASES * TYPES && status == ROPE2D_OK; i++) {
        const struct example *example = &suite->examples[i / TYPES][i % TYPES];
        rope2d_table table =
            device.info.has_textures && i % 2 == 1 ? ROPE2D_TABLE_TEXTURE : ROPE2D_TABLE_BUFFER;
        if (example->there)
            check_example(suite, &device, example, setting, table, when);
    }
    harness_device_close(&device);
}

int main(int argc, char **argv) {
    static struct suite suite;
    static struct harness_devices found;
    if (argc > 2) {
        (void)fputs("usage: test_control_word [all|BACKEND|BACKEND:INDEX]\n", stderr);
        return 2;
    }
    harness_control_set(HARNESS_BOTH);
    unsigned effect = harness_control_effect();
    harness_devices_find(&found, argc == 2 ? argv[1] : "all", &suite.report);
    harness_control_set(HARNESS_PLAIN);
    harness_check(&suite.report, (effect & 2) != 0 && harness_control_effect() == 0,
                  "the settings have no effect here");
    if (found.count > 0)
        make_examples(&suite);
    for (uint32_t i = 0; i < found.count; i++) {
        check_device(&suite, &found.infos[i], HARNESS_BOTH, HARNESS_BOTH, "opened and used");
        for (int setting = HARNESS_FLUSHING; !harness_quick() && setting <= HARNESS_ROUNDING_DOWN; setting++)
            check_device(&suite, &found.infos[i], HARNESS_PLAIN, (enum harness_setting)setting, "used");
    }
    free_examples(&suite);
    return harness_finish(&suite.report);
}

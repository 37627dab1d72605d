// SPDX-License-Identifier: MIT
// Cases x devices x element types x kinds of table, each with three verdicts. tests/README.md tells more.
#ifndef _WIN32
#include "as_gpu.h"
#endif
#include "harness/devices.h"
#include "harness/expected.h"
#include "harness/run.h"
#include "harness/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SEED 20260729

struct options {
    const char *device; // as harness_devices_find takes it
    const char *only_case;
    const char *types; // IN:OUT
    const char *table; // texture or buffer
    const char *expected;
    const char *gpu; // a shim by which the devices say that they are GPUs
    uint64_t seed;
    bool minimum_limits, print_expected, list, verbose, quick;
};

struct suite {
    struct options options;
    struct harness_report report;
    struct harness_expected *expected;
    struct harness_device portable; // the reference: the CPU, table in a buffer
    struct harness_devices found;
    uint32_t device_count;
    struct harness_device devices[HARNESS_MAX_DEVICES];
    unsigned long ran[HARNESS_MAX_DEVICES];
    unsigned long exactness[HARNESS_MAX_DEVICES][4]; // runs by what their plan says of itself
    double worst;
};

static const char *const type_names[ROPE2D_ELEMENT_COUNT] = {"f32", "f16", "bf16"};
static const char *const table_names[ROPE2D_TABLE_COUNT] = {"auto", "buffer", "texture"};

static void fail(struct suite *suite, const struct harness_work *work, uint32_t device, rope2d_table table,
                 const char *text) {
    const struct harness_device *at = &suite->devices[device];
    harness_fail(&suite->report,
                 "%s, %s:%s, %s, on %s\n     %s\n%s     again: build/tests/test_backends --device %s:%u "
                 "--case %s --types %s:%s --table %s --seed %llu%s",
                 work->what->name, type_names[work->types.in], type_names[work->types.out],
                 table_names[table], at->info.name, text, at->log.text,
                 harness_backend_name(at->info.backend), at->info.index, work->what->name,
                 type_names[work->types.in], type_names[work->types.out], table_names[table],
                 (unsigned long long)work->seed, suite->options.minimum_limits ? " --minimum-limits" : "");
}

static bool is_empty(const struct harness_work *work) {
    return work->tensors[0].tokens == 0;
}

// What the plan says of itself decides how strictly its bits are compared.
static bool judge_bits(struct suite *suite, const struct harness_work *work,
                       const struct harness_truth *truth, uint32_t device, rope2d_exactness exactness,
                       unsigned char *const *blocks, char *text) {
    switch (exactness) {
    case ROPE2D_EXACT:
    case ROPE2D_EXACT_NORMAL:
        return harness_verdict_bits(work, truth, blocks, exactness == ROPE2D_EXACT_NORMAL, text);
    case ROPE2D_INEXACT:
        if (!suite->found.required[device])
            return true; // the oracle's bound still holds
        (void)snprintf(text, HARNESS_TEXT_SIZE, "the plan calls itself inexact on a device that is required");
        return false;
    case ROPE2D_UNTESTED:
        break;
    }
    (void)snprintf(text, HARNESS_TEXT_SIZE, "the plan calls itself untested, though it should test itself");
    return false;
}

static void judge(struct suite *suite, const struct harness_work *work, const struct harness_truth *truth,
                  uint32_t device, rope2d_table table, unsigned char *const *blocks) {
    char text[HARNESS_TEXT_SIZE];
    double worst = 0;
    rope2d_plan *plan = NULL;
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    if (harness_plan(&suite->devices[device], work, table, &plan) != ROPE2D_OK ||
        rope2d_plan_get_info(plan, &info) != ROPE2D_OK) {
        fail(suite, work, device, table, "the plan does not tell about itself");
        return;
    }
    suite->exactness[device][info.exactness]++;
    if (!judge_bits(suite, work, truth, device, info.exactness, blocks, text) ||
        !harness_verdict_oracle(work, truth, blocks, info.exactness != ROPE2D_EXACT, &worst, text) ||
        !harness_verdict_guards(work, blocks, text)) {
        fail(suite, work, device, table, text);
        return;
    }
    suite->worst = worst > suite->worst ? worst : suite->worst;
    harness_pass(&suite->report);
}

static void run_on(struct suite *suite, const struct harness_work *work, const struct harness_truth *truth,
                   uint32_t device, rope2d_table table) {
    char text[HARNESS_TEXT_SIZE];
    uint64_t dispatches = 0;
    unsigned char **blocks = harness_blocks_copy(work);
    if (blocks == NULL) {
        fail(suite, work, device, table, "out of memory");
        return;
    }
    rope2d_status status = harness_run(&suite->devices[device], work, table, blocks, &dispatches);
    suite->ran[device]++;
    if (status != ROPE2D_OK) {
        (void)snprintf(text, sizeof(text), "%s", rope2d_status_name(status));
        fail(suite, work, device, table, text);
    } else if ((dispatches == 0) != is_empty(work)) {
        (void)snprintf(text, sizeof(text), "%llu dispatches", (unsigned long long)dispatches);
        fail(suite, work, device, table, text);
    } else if ((work->what->flags & HARNESS_HUGE) != 0 && dispatches != 1) {
        // In pieces it would no longer have the workgroups that it is there for.
        (void)snprintf(text, sizeof(text), "%llu dispatches, not 1", (unsigned long long)dispatches);
        fail(suite, work, device, table, text);
    } else {
        judge(suite, work, truth, device, table, blocks);
    }
    harness_blocks_free(work, blocks);
}

// The hash of the portable path's bits: printed, or compared with the file's.
static void check_hash(struct suite *suite, const struct harness_work *work,
                       const struct harness_truth *truth) {
    char name[HARNESS_HASH_NAME_SIZE];
    char hex[65];
    (void)snprintf(name, sizeof(name), "%s %s:%s", work->what->name, type_names[work->types.in],
                   type_names[work->types.out]);
    harness_hash(work, truth->blocks, hex);
    if (suite->options.print_expected) {
        printf("%s  %s\n", hex, name);
        return;
    }
    const char *expected = suite->expected != NULL ? harness_expected_find(suite->expected, name) : NULL;
    if (suite->expected == NULL || work->seed != DEFAULT_SEED)
        return;
    harness_check(&suite->report, expected != NULL && strcmp(expected, hex) == 0,
                  "%s: the portable path's bits have the hash\n     %s, and %s has\n     %s", name, hex,
                  suite->options.expected, expected != NULL ? expected : "no such line");
}

static bool make_truth(struct suite *suite, struct harness_work *work, struct harness_truth *truth) {
    uint64_t dispatches;
    rope2d_status status = ROPE2D_OK;
    if ((work->what->flags & HARNESS_CANCELLING) != 0)
        status = harness_run_cancel(&suite->portable, work);
    truth->blocks = harness_blocks_copy(work);
    if (status == ROPE2D_OK && truth->blocks != NULL)
        status = harness_run(&suite->portable, work, ROPE2D_TABLE_BUFFER, truth->blocks, &dispatches);
    if (status == ROPE2D_OK && truth->blocks != NULL &&
        (suite->options.print_expected || harness_truth_ask(truth, work)))
        return true;
    harness_fail(&suite->report, "%s, %s:%s: the portable path: %s, or the oracle refuses\n%s",
                 work->what->name, type_names[work->types.in], type_names[work->types.out],
                 rope2d_status_name(status), suite->portable.log.text);
    return false;
}

// Both tables, or one of them in turn, or what the command line says.
static bool wants_table(const struct suite *suite, const struct harness_work *work, uint32_t device,
                        rope2d_table table, uint32_t turn) {
    bool all = (work->what->flags & HARNESS_ALL_TYPES) != 0 && !suite->options.minimum_limits;
    if (table == ROPE2D_TABLE_TEXTURE && !suite->devices[device].info.has_textures)
        return false;
    if (suite->options.table != NULL)
        return strcmp(suite->options.table, table_names[table]) == 0;
    if (!suite->devices[device].info.has_textures || all)
        return true;
    return (turn + suite->options.minimum_limits) % 2 == (table == ROPE2D_TABLE_TEXTURE);
}

static void run_types(struct suite *suite, const struct harness_case *what, struct harness_types types,
                      uint32_t turn) {
    struct harness_work work;
    struct harness_truth truth = {0};
    if (!harness_work_make(&work, what, types, suite->options.seed)) {
        harness_fail(&suite->report, "%s: out of memory", what->name);
        return;
    }
    if (make_truth(suite, &work, &truth)) {
        check_hash(suite, &work, &truth);
        for (uint32_t device = 0; device < suite->device_count; device++)
            for (int table = ROPE2D_TABLE_BUFFER; table < ROPE2D_TABLE_COUNT; table++)
                if (wants_table(suite, &work, device, (rope2d_table)table, turn))
                    run_on(suite, &work, &truth, device, (rope2d_table)table);
    }
    harness_truth_free(&truth, &work);
    harness_work_free(&work);
}

// One of the six changes of type for each case.
static bool is_in_turn(struct harness_types types, uint32_t index) {
    uint32_t change = 2u * (uint32_t)types.in + ((uint32_t)types.out + 2u - (uint32_t)types.in) % 3u;
    return index % 6u == change;
}

static bool wants_types(const struct suite *suite, const struct harness_case *what,
                        struct harness_types types, uint32_t index) {
    const struct options *options = &suite->options;
    bool same = types.in == types.out;
    char name[16];
    if ((what->flags & HARNESS_IN_PLACE) != 0 && !same)
        return false;
    (void)snprintf(name, sizeof(name), "%s:%s", type_names[types.in], type_names[types.out]);
    if (options->types != NULL)
        return strcmp(options->types, name) == 0;
    if ((what->flags & HARNESS_HUGE) != 0)
        return types.in == ROPE2D_F16 && same;
    if (options->quick && !options->print_expected)
        return same && (types.in != ROPE2D_BF16 || (what->flags & HARNESS_ALL_TYPES) != 0);
    return same || (what->flags & HARNESS_ALL_TYPES) != 0 || is_in_turn(types, index);
}

static void run_cases(struct suite *suite) {
    const struct harness_case *what;
    bool found = false;
    for (uint32_t i = 0; (what = harness_case_at(i)) != NULL; i++) {
        if (suite->options.only_case != NULL && strcmp(suite->options.only_case, what->name) != 0)
            continue;
        found = true;
        if (suite->options.only_case == NULL && suite->options.quick && (what->flags & HARNESS_QUICK) == 0)
            continue;
        for (int in = 0; in < ROPE2D_ELEMENT_COUNT; in++)
            for (int out = 0; out < ROPE2D_ELEMENT_COUNT; out++) {
                struct harness_types types = {(rope2d_element)in, (rope2d_element)out};
                if (wants_types(suite, what, types, i))
                    run_types(suite, what, types, i + (uint32_t)in);
            }
    }
    if (!found)
        harness_fail(&suite->report, "no case is called '%s'", suite->options.only_case);
}

static void open_devices(struct suite *suite) {
    uint32_t flags = suite->options.minimum_limits ? ROPE2D_DEVICE_MINIMUM_LIMITS : 0;
    if (harness_device_open(&suite->portable, ROPE2D_BACKEND_CPU, 0, ROPE2D_DEVICE_PORTABLE, false) !=
        ROPE2D_OK)
        harness_fail(&suite->report, "the CPU does not open\n%s", suite->portable.log.text);
    harness_devices_find(&suite->found, suite->options.device, &suite->report);
    for (uint32_t i = 0; i < suite->found.count; i++) {
        const rope2d_device_info *info = &suite->found.infos[i];
        struct harness_device *device = &suite->devices[i];
        // The CPU is compared with itself: other threads, other order.
        rope2d_status status = harness_device_open(device, info->backend, info->index, flags,
                                                   info->backend == ROPE2D_BACKEND_CPU);
        if (status != ROPE2D_OK)
            harness_fail(&suite->report, "%s:%u %s does not open: %s\n%s",
                         harness_backend_name(info->backend), info->index, info->name,
                         rope2d_status_name(status), device->log.text);
        else
            suite->device_count = i + 1;
        if (status != ROPE2D_OK)
            break;
        printf("device %s:%u %s, %s\n", harness_backend_name(info->backend), info->index, info->name,
               info->driver);
    }
}

static void close_devices(struct suite *suite) {
    for (uint32_t i = 0; i < suite->device_count; i++)
        printf("%s: %lu runs of exact plans, %lu of plans that flush subnormals, %lu of inexact ones\n",
               suite->devices[i].info.name, suite->exactness[i][ROPE2D_EXACT],
               suite->exactness[i][ROPE2D_EXACT_NORMAL], suite->exactness[i][ROPE2D_INEXACT]);
    for (uint32_t i = 0; i < suite->device_count; i++)
        if (suite->ran[i] == 0)
            harness_fail(&suite->report, "nothing ran on %s", suite->devices[i].info.name);
    for (uint32_t i = 0; i < suite->found.count; i++)
        harness_device_close(&suite->devices[i]);
    harness_device_close(&suite->portable);
    harness_expected_free(suite->expected);
}

// One backend's devices become GPUs.
static void pretend(struct suite *suite) {
#ifdef _WIN32
    const bool works = suite->options.gpu == NULL;
#else
    const bool is_vulkan = strncmp(suite->options.device, "vulkan", strlen("vulkan")) == 0;
    const bool works = suite->options.gpu == NULL ||
                       as_gpu(is_vulkan ? ROPE2D_BACKEND_VULKAN : ROPE2D_BACKEND_OPENCL, suite->options.gpu);
#endif
    harness_check(&suite->report, works, "--as-gpu %s: there is no such shim",
                  works ? "" : suite->options.gpu);
}

static void list(void) {
    const struct harness_case *what;
    for (uint32_t i = 0; (what = harness_case_at(i)) != NULL; i++)
        printf("%s\n", what->name);
}

static const char *const help =
    "usage: test_backends [--device all|BACKEND|BACKEND:INDEX] [--case NAME] [--types IN:OUT]\n"
    "                     [--table buffer|texture] [--seed N] [--minimum-limits] [--expected FILE]\n"
    "                     [--as-gpu SHIM] [--print-expected] [--list]\n";

static bool take(struct options *options, const char *name, const char *value) {
    const struct {
        const char *name;
        const char **value;
    } texts[] = {{"--device", &options->device},     {"--case", &options->only_case},
                 {"--types", &options->types},       {"--table", &options->table},
                 {"--expected", &options->expected}, {"--as-gpu", &options->gpu}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(name, texts[i].name) == 0)
            *texts[i].value = value;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(name, texts[i].name) == 0)
            return value != NULL;
    if (strcmp(name, "--seed") == 0 && value != NULL) {
        options->seed = strtoull(value, NULL, 10);
        return true;
    }
    return false;
}

static bool parse(struct options *options, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--minimum-limits") == 0)
            options->minimum_limits = true;
        else if (strcmp(argv[i], "--print-expected") == 0)
            options->print_expected = true;
        else if (strcmp(argv[i], "--list") == 0)
            options->list = true;
        else if (take(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
            i++;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    static struct suite suite;
    suite.options = (struct options){.device = "all", .seed = DEFAULT_SEED, .quick = harness_quick()};
    if (!parse(&suite.options, argc, argv)) {
        (void)fputs(help, stderr);
        return 2;
    }
    if (suite.options.list) {
        list();
        return 0;
    }
    if (suite.options.expected != NULL) {
        suite.expected = harness_expected_load(suite.options.expected);
        harness_check(&suite.report, suite.expected != NULL, "cannot read %s", suite.options.expected);
    }
    if (suite.options.print_expected) {
        suite.options.device = "cpu";
        (void)harness_device_open(&suite.portable, ROPE2D_BACKEND_CPU, 0, ROPE2D_DEVICE_PORTABLE, false);
        printf("# SPDX-License-Identifier: MIT\n"
               "# Hashes of the portable path's outputs; written by test_backends --print-expected.\n");
        run_cases(&suite);
        return suite.report.failed == 0 ? 0 : 1;
    }
    pretend(&suite);
    open_devices(&suite);
    for (uint32_t i = 0; i < suite.device_count && suite.options.gpu != NULL; i++)
        harness_check(&suite.report, !suite.devices[i].info.is_software, "%s is no GPU",
                      suite.devices[i].info.name);
    if (suite.device_count > 0)
        run_cases(&suite);
    close_devices(&suite);
    printf("largest error %.3f of the %.1f allowed\n", suite.worst, ORACLE_LIMIT);
    return harness_finish(&suite.report);
}

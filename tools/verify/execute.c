// SPDX-License-Identifier: MIT
#include "execute.h"

#include <stdio.h>
#include <string.h>

#include "bound.h"
#include "child.h"
#include "controls.h"
#include "effects.h"
#include "golden.h"
#include "load.h"
#include "metrics.h"
#include "program.h"
#include "result_json.h"

static void forget_work(struct verify_bench *bench) {
    if (bench->has_work) {
        harness_truth_free(&bench->truth, &bench->work);
        harness_work_free(&bench->work);
    }
    bench->has_work = false;
}

rope2d_status verify_bench_open(struct verify_bench *bench, rope2d_backend backend, uint32_t index) {
    rope2d_status status =
        harness_device_open(&bench->portable, ROPE2D_BACKEND_CPU, 0, ROPE2D_DEVICE_PORTABLE, false);
    if (status == ROPE2D_OK && !bench->command)
        status = harness_device_open(&bench->device, backend, index, 0, backend == ROPE2D_BACKEND_CPU);
    return status;
}

void verify_bench_close(struct verify_bench *bench) {
    forget_work(bench);
    harness_device_close(&bench->clamped);
    harness_device_close(&bench->device);
    harness_device_close(&bench->portable);
}

// Inputs, what the portable path makes of them, and what the oracle says.
static rope2d_status prepare(struct verify_bench *bench, const struct verify_task *task) {
    uint64_t dispatches;
    rope2d_status status = ROPE2D_OK;
    if (bench->has_work && bench->what == task->what && bench->types.in == task->types.in &&
        bench->types.out == task->types.out)
        return ROPE2D_OK;
    forget_work(bench);
    if (!harness_work_make(&bench->work, task->what, task->types, bench->seed))
        return ROPE2D_ERROR_HOST_MEMORY;
    bench->has_work = true;
    memset(&bench->truth, 0, sizeof bench->truth);
    bench->what = task->what;
    bench->types = task->types;
    if ((task->what->flags & HARNESS_CANCELLING) != 0)
        status = harness_run_cancel(&bench->portable, &bench->work);
    bench->truth.blocks = harness_blocks_copy(&bench->work);
    if (!status && !bench->truth.blocks)
        status = ROPE2D_ERROR_HOST_MEMORY;
    if (!status)
        status = harness_run(&bench->portable, &bench->work, ROPE2D_TABLE_BUFFER, bench->truth.blocks,
                             &dispatches);
    if (!status && !harness_truth_ask(&bench->truth, &bench->work))
        status = ROPE2D_ERROR_HOST_MEMORY;
    if (status)
        forget_work(bench);
    return status;
}

static struct harness_device *device_for(struct verify_bench *bench, const struct verify_task *task) {
    if (task->variation != VERIFY_MINIMUM_LIMITS)
        return &bench->device;
    if (!bench->clamped.device)
        (void)harness_device_open_least(&bench->clamped, bench->device.info.backend, bench->device.info.index,
                                        EFFECTS_LEAST_BYTES,
                                        bench->device.info.backend == ROPE2D_BACKEND_CPU);
    return &bench->clamped;
}

// Dispatches of a run: none for no tokens, one where its size is what is tried.
static bool judge_dispatches(const struct verify_task *task, const struct harness_work *work,
                             uint64_t dispatches, char *text) {
    if ((dispatches == 0) == (work->tensors[0].tokens == 0) && (!task->is_huge || dispatches == 1))
        return true;
    snprintf(text, HARNESS_TEXT_SIZE, "%llu dispatches", (unsigned long long)dispatches);
    return false;
}

// A plan's word about itself must be true. An inexact plan keeps to the oracle's bound alone.
static bool judge(struct verify_bench *bench, rope2d_exactness exactness, unsigned char *const *blocks,
                  char *text) {
    double worst;
    bool flushes = exactness != ROPE2D_EXACT;
    if (exactness == ROPE2D_UNTESTED) {
        snprintf(text, HARNESS_TEXT_SIZE, "the plan has not tested itself");
        return false;
    }
    return (exactness == ROPE2D_INEXACT ||
            harness_verdict_bits(&bench->work, &bench->truth, blocks, flushes, text)) &&
           harness_verdict_oracle(&bench->work, &bench->truth, blocks, flushes, &worst, text) &&
           harness_verdict_guards(&bench->work, blocks, text);
}

static void name_verdict(cJSON *result, const char *verdict, const char *text) {
    cJSON_AddStringToObject(result, "verdict", verdict);
    if (text && *text)
        cJSON_AddStringToObject(result, "text", text);
}

static void name_status(cJSON *result, rope2d_status status, const struct harness_device *device) {
    char text[HARNESS_TEXT_SIZE];
    const char *log = device ? device->log.text : "";
    bool cannot = status == ROPE2D_ERROR_UNSUPPORTED || status == ROPE2D_ERROR_LIMIT;
    snprintf(text, sizeof text, "%s%s%.400s", rope2d_status_name(status), *log ? ": " : "",
             log + strspn(log, " "));
    text[strcspn(text, "\n")] = '\0';
    if (cannot)
        cJSON_AddStringToObject(result, "tier", "unsupported");
    name_verdict(result,
                 status == ROPE2D_ERROR_DEVICE_LOST ? VERDICT_LOST
                 : cannot                           ? VERDICT_UNSUPPORTED
                                                    : VERDICT_FAILED,
                 text);
}

// In memory of ours that the library stages, or in buffers on the device.
static rope2d_status run_on(struct harness_device *device, const struct verify_task *task,
                            const struct harness_work *work, unsigned char *const *blocks,
                            struct effects *effects) {
    if (task->variation == VERIFY_BOUND_AT || task->variation == VERIFY_BOUND_BESIDE)
        return bound_run(device, work, task->table, task->variation == VERIFY_BOUND_BESIDE, blocks,
                         &effects->dispatches, effects->offsets);
    const rope2d_tensor first = harness_tensor_view(work, &work->tensors[0], blocks);
    effects->offsets[0] = first.in.offset;
    effects->offsets[1] = first.out.offset;
    return harness_run(device, work, task->table, blocks, &effects->dispatches);
}

// Says that the device still answers: a time limit is for one run. False when all is to end.
static bool goes_on(const struct verify_bench *bench) {
    return !bench->run_ended || bench->run_ended(bench->user);
}

static bool repeats_once(struct verify_bench *bench, struct harness_device *device,
                         const struct verify_task *task, const char *hash, rope2d_status *status) {
    char again[65] = "";
    struct effects effects;
    unsigned char **blocks = harness_blocks_copy(&bench->work);
    struct child_end end = {.status = 0};
    *status = blocks ? ROPE2D_OK : ROPE2D_ERROR_HOST_MEMORY;
    if (blocks && bench->command)
        program_rotate(bench->command, bench->seconds, &bench->work, blocks, &end);
    else if (blocks)
        *status = run_on(device, task, &bench->work, blocks, &effects);
    if (end.status)
        *status = ROPE2D_ERROR_DRIVER;
    if (!*status)
        harness_hash(&bench->work, blocks, again);
    harness_blocks_free(&bench->work, blocks);
    return strcmp(again, hash) == 0;
}

// Runs again and again, every other time while another thread keeps the device busy; false where the bits are
// others, of which `text` tells. The result counts the runs that had a load, and the load's.
static bool repeats(struct verify_bench *bench, struct harness_device *device, const struct verify_task *task,
                    const char *hash, char *text, cJSON *result) {
    bool same = true;
    uint32_t runs = 1, loaded = 0;
    double load_runs = 0;
    for (uint32_t i = 1; i < bench->repeat && same && goes_on(bench); ++i, ++runs) {
        rope2d_status status;
        struct verify_load *load =
            i % 2 && device ? load_begin(device->device, &bench->work, task->table) : NULL;
        same = repeats_once(bench, device, task, hash, &status);
        if (!same)
            snprintf(text, HARNESS_TEXT_SIZE, "run %u of %u%s: %s", i + 1, bench->repeat,
                     load ? ", under load" : "",
                     status ? rope2d_status_name(status) : "other bits than the first");
        const uint64_t others = load_end(load);
        loaded += others > 0;
        load_runs += (double)others;
    }
    if (bench->repeat > 1) {
        cJSON *repeats = cJSON_AddObjectToObject(result, "repeats");
        cJSON_AddNumberToObject(repeats, "runs", runs);
        cJSON_AddNumberToObject(repeats, "loaded", loaded);
        cJSON_AddNumberToObject(repeats, "load_runs", load_runs);
    }
    return same;
}

// How a program ended that gave no outputs.
static void name_end(cJSON *result, const struct child_end *end) {
    name_verdict(result,
                 end->fate == CHILD_HUNG      ? VERDICT_HUNG
                 : end->fate == CHILD_CRASHED ? VERDICT_CRASHED
                                              : VERDICT_FAILED,
                 end->text);
}

// What the device says of itself; of a program it is nothing, so that the oracle's bound decides.
static rope2d_status ask_plan(struct verify_bench *bench, struct harness_device *device,
                              const struct verify_task *task, rope2d_exactness *exactness) {
    rope2d_plan *plan = NULL;
    rope2d_plan_info info = {.struct_size = sizeof info};
    *exactness = ROPE2D_INEXACT;
    if (bench->command)
        return ROPE2D_OK;
    rope2d_status status = harness_plan(device, &bench->work, task->table, &plan);
    if (!status)
        status = rope2d_plan_get_info(plan, &info);
    *exactness = info.exactness;
    return status;
}

static void report_run(struct verify_bench *bench, struct harness_device *device,
                       const struct verify_task *task, const struct effects *effects,
                       unsigned char *const *blocks, cJSON *result) {
    static struct verify_metrics metrics;
    char text[HARNESS_TEXT_SIZE] = "", hash[65];
    rope2d_exactness exactness;
    rope2d_status status = ask_plan(bench, device, task, &exactness);
    if (status || !verify_measure(&metrics, &bench->work, &bench->truth, blocks)) {
        name_status(result, status ? status : ROPE2D_ERROR_HOST_MEMORY, device);
        return;
    }
    harness_hash(&bench->work, blocks, hash);
    effects_add(result, effects, task, &bench->work, device);
    result_add_run(result, bench->command ? NULL : &exactness, hash, &metrics);
    bool good = judge_dispatches(task, &bench->work, effects->dispatches, text) &&
                effects_judge(effects, task, &bench->work, device, text) &&
                judge(bench, exactness, blocks, text);
    cJSON_AddStringToObject(result, "tier",
                            metrics.mismatches == 0                 ? "bit-exact"
                            : metrics.worst <= ORACLE_LIMIT || good ? "bounded"
                                                                    : "none");
    if (!good)
        name_verdict(result, VERDICT_FAILED, text);
    else if (!repeats(bench, device, task, hash, text, result))
        name_verdict(result, VERDICT_NON_REPEATABLE, text);
    else
        name_verdict(result, VERDICT_PASSED, "");
    bool wants_heat = (task->what->flags & HARNESS_ALL_TYPES) != 0 && task->types.in == task->types.out;
    if (wants_heat && task->table == ROPE2D_TABLE_BUFFER && task->variation == VERIFY_PLAIN)
        result_add_heat(result, &metrics.heat);
}

// Rotates in these blocks. False when nothing was rotated: then the result has its verdict.
static bool rotate(struct verify_bench *bench, struct harness_device *device, const struct verify_task *task,
                   unsigned char *const *blocks, struct effects *effects, cJSON *result) {
    rope2d_status status = blocks ? ROPE2D_OK : ROPE2D_ERROR_HOST_MEMORY;
    if (!status && bench->command) {
        struct child_end end;
        effects->dispatches = 1;
        program_rotate(bench->command, bench->seconds, &bench->work, blocks, &end);
        if (end.status)
            name_end(result, &end);
        return !end.status;
    }
    if (!status)
        status = run_on(device, task, &bench->work, blocks, effects);
    if (status)
        name_status(result, status, device);
    return !status;
}

static void execute_case(struct verify_bench *bench, const struct verify_task *task, cJSON *result) {
    struct harness_device *device = bench->command ? NULL : device_for(bench, task);
    struct effects effects = {0};
    unsigned char **blocks = harness_blocks_copy(&bench->work);
    if (rotate(bench, device, task, blocks, &effects, result))
        report_run(bench, device, task, &effects, blocks, result);
    harness_blocks_free(&bench->work, blocks);
}

// The verdicts on a spoiled run: the ones that must notice have to.
static bool is_caught(struct verify_bench *bench, const struct verify_control *control,
                      unsigned char *const *blocks, char *text) {
    double worst;
    bool bits = harness_verdict_bits(&bench->work, &bench->truth, blocks, false, text);
    bool bound = harness_verdict_oracle(&bench->work, &bench->truth, blocks, false, &worst, text);
    bool guards = harness_verdict_guards(&bench->work, blocks, text);
    if (control->by_guards)
        return bits && bound && !guards;
    return !bits && (!bound || !control->by_bound);
}

static void execute_control(struct verify_bench *bench, const struct verify_task *task, cJSON *result) {
    const struct verify_control *control = &verify_controls[task->control];
    char text[HARNESS_TEXT_SIZE] = "";
    struct effects effects = {0};
    unsigned char **blocks = harness_blocks_copy(&bench->work);
    harness_device_forget(&bench->device); // plans of the spec as it was
    if (blocks && control->before)
        control->before(&bench->work, blocks);
    bool rotated = rotate(bench, &bench->device, task, blocks, &effects, result);
    bool spoiled = rotated && (!control->after || control->after(&bench->portable, &bench->work, blocks));
    if (!rotated)
        ; // it has its verdict
    else if (spoiled && is_caught(bench, control, blocks, text))
        name_verdict(result, VERDICT_PASSED, text);
    else
        name_verdict(result, VERDICT_FAILED, "a fault that must be noticed was not");
    harness_blocks_free(&bench->work, blocks);
    harness_device_forget(&bench->device);
    forget_work(bench); // it is spoiled
}

static void execute_golden(struct verify_bench *bench, const struct verify_task *task, cJSON *result) {
    const struct golden_run run = {.folder = task->folder,
                                   .portable = bench->portable.device,
                                   .device = bench->device.device,
                                   .table = task->table,
                                   .command = bench->command,
                                   .seconds = bench->seconds,
                                   .repeat = bench->repeat,
                                   .run_ended = bench->run_ended,
                                   .user = bench->user};
    golden_execute(&run, result);
}

cJSON *verify_execute(struct verify_bench *bench, const struct verify_task *task) {
    cJSON *result = cJSON_CreateObject();
    cJSON_AddStringToObject(result, "name", task->name);
    harness_log_clear(&bench->device.log);
    rope2d_status status = task->what ? prepare(bench, task) : ROPE2D_OK;
    if (status)
        name_status(result, status, &bench->portable);
    else if (!task->what)
        execute_golden(bench, task, result);
    else if (task->control >= 0)
        execute_control(bench, task, result);
    else
        execute_case(bench, task, result);
    if (cJSON_GetObjectItemCaseSensitive(result, "verdict"))
        return result;
    cJSON_Delete(result);
    return NULL;
}

// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_case.h"
#include "compare.h"
#include "demo_scene.h"
#include "device_choice.h"
#include "message.h"
#include "progress.h"
#include "verbs.h"

enum { MOST_RUNS = 101 };

struct demo {
    const char *device, *grid, *heads, *runs;
    bool minimum_limits;
    uint64_t run_count;
    struct golden_case golden;
    struct rotated recorded_reference; // the case itself, by the portable path
    struct scene scene;
    void *reference[JOB_TENSORS], *outputs[JOB_TENSORS];
    double copy_seconds;
    int result;
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, uint64_t count) {
    qsort(seconds, (size_t)count, sizeof *seconds, by_value);
    return (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
}

static int make_outputs(struct demo *demo) {
    for (size_t i = 0; i < JOB_TENSORS; ++i) {
        size_t bytes = (size_t)job_output_bytes(&demo->scene.job.tensors[i]);
        demo->reference[i] = calloc(bytes + 1, 1);
        demo->outputs[i] = calloc(bytes + 1, 1);
        if (!demo->reference[i] || !demo->outputs[i]) {
            message("no memory for %zu bytes of output", bytes);
            return STATUS_DEVICE;
        }
    }
    return STATUS_OK;
}

// q and k copied by one thread: what must be read and written, and nothing done with it.
static void time_copy(struct demo *demo) {
    double seconds[MOST_RUNS];
    for (uint64_t run = 0; run <= demo->run_count; ++run) {
        double begin = seconds_now();
        for (size_t i = 0; i < JOB_TENSORS; ++i)
            memcpy(demo->outputs[i], demo->scene.job.tensors[i].data,
                   (size_t)job_input_bytes(&demo->scene.job.tensors[i]));
        if (run) // the first touches the memory
            seconds[run - 1] = seconds_now() - begin;
    }
    demo->copy_seconds = median(seconds, demo->run_count);
}

static rope2d_status time_runs(const struct demo *demo, const struct prepared_job *prepared, double *result) {
    double seconds[MOST_RUNS];
    struct progress progress;
    progress_begin(&progress, "timing", demo->run_count + 1);
    rope2d_status status = job_run(prepared, demo->outputs, false);
    for (uint64_t run = 0; run < demo->run_count && !status; ++run) {
        progress_add(&progress, 1);
        double begin = seconds_now();
        status = job_run(prepared, demo->outputs, false);
        seconds[run] = seconds_now() - begin;
    }
    progress_end(&progress);
    if (!status)
        *result = median(seconds, demo->run_count);
    return status;
}

static const char *judge_bits(struct demo *demo, rope2d_exactness exactness) {
    uint64_t differing = 0;
    for (size_t i = 0; i < JOB_TENSORS; ++i) {
        const struct job_tensor *tensor = &demo->scene.job.tensors[i];
        differing +=
            compare_bits(demo->outputs[i], demo->reference[i], tensor->out_element, tensor->count, exactness)
                .count;
    }
    if (!differing)
        return exactness == ROPE2D_EXACT_NORMAL ? "equal (normal)" : "equal";
    if (exactness == ROPE2D_EXACT || exactness == ROPE2D_EXACT_NORMAL)
        demo->result = demo->result ? demo->result : STATUS_FAILED;
    return "DIFFERENT";
}

static rope2d_status show_device(struct demo *demo, rope2d_device *device,
                                 const struct device_choice *choice) {
    struct prepared_job prepared = {0};
    struct outcome outcome;
    double seconds = 0;
    check_case(&demo->golden, device, ROPE2D_TABLE_AUTO, &demo->recorded_reference, NULL, &outcome);
    rope2d_status status = job_prepare(&demo->scene.job, device, ROPE2D_TABLE_AUTO, &prepared);
    if (!status) {
        for (size_t i = 0; i < JOB_TENSORS; ++i) // what a run leaves out must not pass
            memset(demo->outputs[i], 0xa5, (size_t)job_output_bytes(&demo->scene.job.tensors[i]));
        status = time_runs(demo, &prepared, &seconds);
    }
    if (!status) {
        double bytes = 2.0 * (double)(job_input_bytes(&demo->scene.job.tensors[0]) +
                                      job_input_bytes(&demo->scene.job.tensors[1]));
        print_plain("%-9s %-36.36s %-8s %-9s %-14s %8.2f %7.2f %6.2f x\n", choice->name, choice->info.name,
                    table_name(prepared.info.table),
                    outcome.verdict == VERDICT_PASSED ? "agrees" : "DISAGREES",
                    judge_bits(demo, prepared.info.exactness), 1e3 * seconds, bytes / seconds / 1e9,
                    seconds / demo->copy_seconds);
        if (outcome.verdict != VERDICT_PASSED) {
            print_plain("          %s\n", outcome.text);
            demo->result = demo->result ? demo->result : STATUS_FAILED;
        }
    }
    job_release(&prepared);
    fflush(stdout);
    return status;
}

static void show_devices(struct demo *demo, const struct device_list *list) {
    for (size_t i = 0; i < list->count; ++i) {
        struct device_list one = {.items = &list->items[i], .count = 1};
        rope2d_device *device;
        const struct device_choice *choice;
        int opened = device_open(&one, false, demo->minimum_limits ? ROPE2D_DEVICE_MINIMUM_LIMITS : 0,
                                 &device, &choice);
        if (opened) {
            demo->result = opened;
            continue;
        }
        rope2d_status status = show_device(demo, device, choice);
        if (status)
            demo->result = message_status(status, choice->name);
        rope2d_device_destroy(device);
    }
}

// The portable path's results, which every device's must be.
static int make_reference(struct demo *demo) {
    struct device_list list;
    const struct device_choice *choice = NULL;
    rope2d_device *device = NULL;
    struct prepared_job prepared = {0};
    struct outcome outcome;
    int result = devices_choose("cpu", true, &list);
    if (!result)
        result = device_open(&list, false, 0, &device, &choice);
    if (!result) {
        check_case(&demo->golden, device, ROPE2D_TABLE_AUTO, NULL, &demo->recorded_reference, &outcome);
        rope2d_status status = job_prepare(&demo->scene.job, device, ROPE2D_TABLE_AUTO, &prepared);
        if (!status)
            status = job_run(&prepared, demo->reference, true);
        if (status)
            result = message_status(status, "cpu:0");
        else if (!demo->recorded_reference.outputs[0])
            result = STATUS_DEVICE;
    }
    job_release(&prepared);
    rope2d_device_destroy(device);
    devices_free(&list);
    return result;
}

static void print_heading(const struct demo *demo) {
    const struct job_tensor *q = &demo->scene.job.tensors[0], *k = &demo->scene.job.tensors[1];
    double bytes = (double)(job_input_bytes(q) + job_input_bytes(k));
    printf("\n");
    print_plain("%s: q of %" PRIu32 " and k of %" PRIu32 " heads with %" PRIu32 " channels, %" PRIu32
                " x %" PRIu32 " patches, fp32, %.1f MiB\n",
                *demo->golden.model ? demo->golden.model : demo->golden.name, q->heads, k->heads, q->head_dim,
                demo->scene.height, demo->scene.width, bytes / (1 << 20));
    printf(
        "A plain copy by one thread takes %.2f ms (%.2f GB/s read and written). Times are medians of %" PRIu64
        " runs from\nhost memory to host memory, with the copies to and from the device.\n\n",
        1e3 * demo->copy_seconds, 2 * bytes / demo->copy_seconds / 1e9, demo->run_count);
    printf("%-9s %-36s %-8s %-9s %-14s %8s %7s %8s\n", "device", "name", "table", "the model",
           "bits as CPU's", "ms", "GB/s", "the copy");
    fflush(stdout);
}

static int show(struct demo *demo, const char *folder) {
    struct device_list list = {0};
    uint32_t height, width;
    uint64_t heads;
    if (!parse_grid(demo->grid, &height, &width) || !height || !width || height > 4096 || width > 4096) {
        message("--grid %s: must be HEIGHTxWIDTH, such as 64x64, each from 1 to 4096", demo->grid);
        return STATUS_USAGE;
    }
    if (!parse_count(demo->heads, 1, 1024, &heads)) {
        message("--heads %s: must be a number from 1 to 1024", demo->heads);
        return STATUS_USAGE;
    }
    if (!parse_count(demo->runs, 1, MOST_RUNS, &demo->run_count)) {
        message("--runs %s: must be a number from 1 to %d", demo->runs, MOST_RUNS);
        return STATUS_USAGE;
    }
    int result = golden_case_read(folder, &demo->golden);
    demo->golden.job.spec.angles = ROPE2D_ANGLES_FP32;
    if (!result)
        result = scene_make(&demo->golden, height, width, (uint32_t)heads, &demo->scene);
    if (!result)
        result = make_outputs(demo);
    if (!result)
        result = devices_choose(demo->device, false, &list);
    if (!result)
        result = make_reference(demo);
    if (!result) {
        time_copy(demo);
        print_heading(demo);
        show_devices(demo, &list);
        result = demo->result;
        printf("\n%s\n",
               result ? "Not every device agreed." : "Every device agreed with the model and with the CPU.");
    }
    devices_free(&list);
    return result;
}

static int run(int argc, char **argv) {
    struct demo demo = {.device = "all", .grid = "64x64", .heads = "16", .runs = "7"};
    const struct option options[] = {
        {"device", "DEVICE[,DEVICE...]", "all, cpu, vulkan:0, ...; default all", .text = &demo.device},
        {"grid", "HxW", "patches of the image; default 64x64", .text = &demo.grid},
        {"heads", "N", "heads of q; default 16", .text = &demo.heads},
        {"runs", "N", "times that each device rotates; default 7", .text = &demo.runs},
        {"minimum-limits", NULL, "keep to the limits that the API guarantees everywhere",
         .flag = &demo.minimum_limits},
        {0},
    };
    int operands;
    enum options_result parsed = options_parse(&verb_demo, options, argc, argv, &operands);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    if (operands > 1) {
        message("rope2d demo takes one FOLDER, not '%s' too", argv[1]);
        return STATUS_USAGE;
    }
    int result = show(&demo, operands ? argv[0] : "tests/golden/qwen2vl_vision");
    for (size_t i = 0; i < JOB_TENSORS; ++i) {
        free(demo.reference[i]);
        free(demo.outputs[i]);
    }
    rotated_free(&demo.recorded_reference);
    scene_free(&demo.scene);
    golden_case_free(&demo.golden);
    return result;
}

const struct verb verb_demo = {
    .name = "demo",
    .usage = "[FOLDER] [OPTIONS]",
    .summary = "rotate a real model's q and k everywhere",
    .description = "Takes a case as 'rope2d check' does (default tests/golden/qwen2vl_vision), scales its q "
                   "and k up to the size\n"
                   "of a real image by repeating them over tokens and heads, rotates them on every device, "
                   "and shows whether\n"
                   "each agrees with what the model's code returned for the case, whether its bits are the "
                   "CPU's, and how long\n"
                   "it takes against a plain copy.",
    .run = run,
};

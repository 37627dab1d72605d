// SPDX-License-Identifier: MIT
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "bench_engine.h"
#include "bench_folder.h"
#include "bench_print.h"
#include "bench_sweep.h"
#include "message.h"
#include "output_check.h"
#include "verbs.h"
#include "../verify/folder.h"

enum { MOST_TOKENS = 1 << 20, MOST_THREADS = 256 };

// What is measured when nothing else is said, and by --quick and --full.
struct level {
    const char *towers, *tokens, *elements, *seconds;
    uint32_t most_rounds;
};
static const struct level plain_level = {"qwen2vl,sam2", "64,1024,4096,16384", "all", "120", 101};
static const struct level quick_level = {"qwen2vl", "64,1024,4096", "f32,f16", "20", 31};
static const struct level full_level = {"all", "64,256,1024,4096,16384,65536,262144,1048576", "all", "1200",
                                        101};

struct words {
    const char *device, *tower, *tokens, *element, *in_place, *table, *pairing, *threads, *seconds, *passes,
        *again, *json, *plot;
    bool quick, full, growth, kernels;
};

static int complain(const char *what) {
    message("%s", what);
    return STATUS_USAGE;
}

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), size = strlen(ending);
    return length > size && strcmp(text + length - size, ending) == 0;
}

static int read_seconds(const char *text, double *seconds) {
    if (parse_number(text, seconds) && *seconds >= 1 && *seconds <= 86400)
        return STATUS_OK;
    message("--seconds %s: must be a number from 1 to 86400", text);
    return STATUS_USAGE;
}

static int read_count(const char *option, const char *text, uint32_t least, uint32_t most, uint32_t *count) {
    double number = 0;
    *count = least;
    if (!text)
        return STATUS_OK;
    if (parse_number(text, &number) && number >= least && number <= most && number == floor(number)) {
        *count = (uint32_t)number;
        return STATUS_OK;
    }
    message("--%s %s: must be a whole number from %u to %u", option, text, least, most);
    return STATUS_USAGE;
}

static int read_passes(const struct words *words, struct bench_request *request) {
    int result = read_count("passes", words->passes, 1, BENCH_MOST_PASSES, &request->passes);
    return result
               ? result
               : read_count("again", words->again, 0, BENCH_MOST_PASSES - request->passes, &request->again);
}

static int read_threads(const char *text, const struct bench_machine *machine,
                        struct bench_request *request) {
    if (text)
        return bench_parse_numbers("threads", text, MOST_THREADS, request->threads, &request->thread_count);
    request->threads[0] = 1;
    request->threads[1] = machine->processors;
    request->thread_count = machine->processors > 1 ? 2 : 1;
    return STATUS_OK;
}

static int read_request(const struct words *words, const struct bench_machine *machine,
                        struct bench_request *request) {
    const struct level *level = words->full ? &full_level : words->quick ? &quick_level : &plain_level;
    if (words->quick && words->full)
        return complain("--quick and --full: one of them");
    if (words->plot && !ends_with(words->plot, ".svg") && !ends_with(words->plot, ".png")) {
        message("--plot %s: must end in .svg or .png", words->plot);
        return STATUS_USAGE;
    }
    *request = (struct bench_request){
        .device = words->device,
        .most_rounds = level->most_rounds,
        .is_quick = words->quick,
        .has_kernels = words->kernels || words->full,
        .is_grown = words->growth || !words->quick,
        .json = words->json,
        .plot = words->plot,
    };
    int result = bench_parse_words("tower", words->tower ? words->tower : level->towers, bench_tower_names,
                                   &request->towers);
    if (!result)
        result = bench_parse_words("element", words->element ? words->element : level->elements,
                                   bench_element_names, &request->elements);
    if (!result)
        result = bench_parse_words("in-place", words->in_place, bench_place_names, &request->places);
    if (!result)
        result = bench_parse_words("table", words->table, bench_table_names, &request->tables);
    if (!result)
        result = bench_parse_words("pairing", words->pairing, bench_pairing_names, &request->pairings);
    if (!result)
        result = bench_parse_numbers("tokens", words->tokens ? words->tokens : level->tokens, MOST_TOKENS,
                                     request->tokens, &request->token_count);
    if (!result)
        result = read_threads(words->threads, machine, request);
    if (!result) {
        const struct named_path paths[] = {{"--json", .path = words->json}, {"--plot", .path = words->plot}};
        result = output_check(paths, sizeof paths / sizeof *paths);
    }
    if (!result)
        result = read_seconds(words->seconds ? words->seconds : level->seconds, &request->seconds);
    if (!result)
        result = read_passes(words, request);
    return result;
}

// PoCL's threads stay where they are: Linux puts both of two on one processor in up to half of the short
// runs.
static void pin_threads(void) {
    setenv("POCL_AFFINITY", "1", 0);
}

static int write_files(const struct bench_request *request, const struct bench_results *results) {
    int result = request->json ? bench_write_json(results, request->json) : STATUS_OK;
    if (request->plot && !result)
        result = bench_write_plot(results, request->plot);
    return result;
}

static int measure(const struct bench_request *request, struct bench_results *results) {
    char folder[FOLDER_PATH_SIZE];
    struct device_list devices = {0};
    if (!bench_hide_driver_caches(folder))
        return STATUS_DEVICE;
    pin_threads();
    int result = devices_choose(request->device, false, &devices);
    if (!result) {
        result = bench_sweep(request, &devices, results);
        bench_print_overheads(results);
        bench_print_targets(results);
        int written = write_files(request, results);
        result = result ? result : written;
        if (results->refused) {
            message("%u rows or applies have no number: their results were not the portable path's",
                    results->refused);
            result = result ? result : STATUS_FAILED;
        }
    }
    devices_free(&devices);
    folder_remove(folder);
    return result;
}

struct work {
    const struct bench_request *request;
    struct bench_results *results;
};

static int do_work(void *user) {
    const struct work *work = user;
    int result = measure(work->request, work->results);
    bench_results_free(work->results);
    return result;
}

static void keep_command(int argc, char **argv, struct bench_results *results) {
    size_t used = (size_t)snprintf(results->command, sizeof results->command, "rope2d bench");
    for (int i = 0; i < argc && used < sizeof results->command; ++i)
        used += (size_t)snprintf(results->command + used, sizeof results->command - used, " %s", argv[i]);
}

static int run(int argc, char **argv) {
    struct words words = {.device = "all", .in_place = "all", .table = "all", .pairing = "all"};
    const struct option options[] = {
        {"device", "DEVICE[,DEVICE...]", "all, cpu, vulkan:0, ...; default all", .text = &words.device},
        {"tower", "NAME[,NAME...]",
         "all, qwen2vl, sam2, dinov3, flux, llama4, wan;\nmixed, factored and angles, of other specs, in "
         "f32;\ndefault qwen2vl,sam2",
         .text = &words.tower},
        {"tokens", "N[,N...]", "from 1 to 1048576; default 64,1024,4096,16384", .text = &words.tokens},
        {"element", "TYPE[,TYPE...]", "all, f32, f16, bf16; default all", .text = &words.element},
        {"in-place", "yes|no|all", "default all", .text = &words.in_place},
        {"table", "buffer|texture|all", "default all that the device has", .text = &words.table},
        {"pairing", "half|interleaved|all", "default all", .text = &words.pairing},
        {"threads", "N[,N...]", "of the CPU; default 1 and as many as there are\nprocessors",
         .text = &words.threads},
        {"seconds", "S", "about how long each device takes, the CPU for each\nnumber of threads; default 120",
         .text = &words.seconds},
        {"passes", "N",
         "from 1 to 9: go over all devices N times, each time in\nan Nth of --seconds; ratios are their "
         "medians;\ndefault 1",
         .text = &words.passes},
        {"again", "N",
         "then go up to N times over the cases with rows that miss\ntheir targets and are not explained, "
         "each time in as many\nseconds as a pass has; N and --passes are at most 9\ntogether; default 0",
         .text = &words.again},
        {"quick", NULL, "one tower, three sizes, f32 and f16, 20 seconds for\neach device",
         .flag = &words.quick},
        {"full", NULL, "every tower, 64 to 1,048,576 tokens, 20 minutes for\neach device",
         .flag = &words.full},
        {"growth", NULL,
         "sam2 with 1,024 and 1,048,576 tokens with --quick as\nwell, in place; the latter takes 4 GiB of "
         "memory",
         .flag = &words.growth},
        {"kernels", NULL, "every kernel that the CPU's processor has as\nwell, with --full always",
         .flag = &words.kernels},
        {"json", "FILE", "write every number there", .text = &words.json},
        {"plot", "FILE", "draw GB/s against size there: .svg or .png (needs\nmatplotlib)",
         .text = &words.plot},
        {0},
    };
    struct bench_request request;
    struct bench_results results = {0};
    int operands;
    keep_command(argc, argv, &results);
    enum options_result parsed = options_parse(&verb_bench, options, argc, argv, &operands);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    if (operands) {
        message("rope2d bench takes no '%s'", argv[0]);
        return STATUS_USAGE;
    }
    bench_machine_read(&results.machine);
    int result = read_request(&words, &results.machine, &request);
    if (!result)
        result = bench_folder_run(do_work, &(struct work){&request, &results});
    return result;
}

const struct verb verb_bench = {
    .name = "bench",
    .usage = "[OPTIONS]",
    .summary = "measure rotations against copies",
    .description =
        "Rotates q and k of real towers on every device, in turns with copies and read-modify-writes of the "
        "same\n"
        "bytes: memcpy, the driver's copy, and the best loops or kernels that a search finds. A number is "
        "printed\n"
        "only when the result was compared with the portable path in the same run and is equal. At the end: "
        "the\n"
        "targets, each with pass or by how much it misses, and how many rows meet it, are explained by their "
        "own\nlimit, or have something to gain. docs/performance.md says more.\n\n"
        "example: rope2d bench --device cpu --tower qwen2vl --tokens 4096 --element f32,bf16",
    .run = run,
};

// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply_input.h"
#include "device_choice.h"
#include "message.h"
#include "output_check.h"
#include "verbs.h"

static const char *const axes_names[] = {"yx", "xy", NULL};
static const char *const pairing_names[] = {"interleaved", "half", "segment-half", NULL};
static const char *const dtype_names[] = {"f32", "f16", "bf16", NULL};
static const char *const direction_names[] = {"forward", "inverse", "transpose", NULL};
static const char *const angles_names[] = {"double", "fp32", NULL};

static int complain(const char *what) {
    message("%s", what);
    return STATUS_USAGE;
}

static int check_k(const struct apply_request *request) {
    if (!request->k && (request->out_k || request->positions_k || request->heads_k || request->unrotated_k ||
                        request->prompt_k))
        return complain("--out-k, --positions-k, --prompt-k, --heads-k and --unrotated-k must have --k");
    if (request->unrotated_k && !request->positions_k)
        return complain("--unrotated-k: goes with --positions-k; otherwise --unrotated is for both");
    return STATUS_OK;
}

// A preset says pairing, axes and how angles are formed.
static int check_preset(const struct apply_request *request) {
    if (!!request->grid + !!request->positions + !!request->prompt != 1)
        return complain("one of --grid, --prompt and --positions must say where the tokens are");
    if (request->axes != AXES_UNSAID || request->pairing || request->angles)
        return complain("--axes, --pairing and --angles: --preset says them");
    if (request->base && request->freqs)
        return complain("--freqs: learned frequencies have no --base");
    if (request->prompt && request->unrotated)
        return complain("--unrotated: --prompt says which tokens stand still");
    if (request->prompt_k && request->positions_k)
        return complain("one of --prompt-k and --positions-k says where the keys are");
    return check_k(request);
}

// What contradicts or is missing among the options, before any file is read.
static int check_request(const struct apply_request *request) {
    if (!request->q)
        return complain("--q is missing: the file to rotate");
    if (request->preset)
        return check_preset(request);
    if (request->prompt || request->prompt_k || request->model_fp32)
        return complain("--prompt, --prompt-k and --model-fp32 must have --preset");
    if (request->grid && request->positions)
        return complain("--grid and --positions: one of them says where the tokens are");
    if (!request->grid && !request->positions)
        return complain("one of --grid and --positions must say where the tokens are");
    if (request->base && request->freqs)
        return complain("--base and --freqs: one of them says the frequencies");
    if (!request->base && !request->freqs)
        return complain("one of --base and --freqs must say the frequencies");
    if (request->axes != AXES_UNSAID && request->positions)
        return complain("--axes: goes with --grid; the columns of --positions are the axes in their order");
    return check_k(request);
}

// What was given, or "dir/q_rotated.npy" for "dir/q.npy". The caller frees it.
static char *output_path(const char *given, const char *input) {
    static const char suffix[] = ".npy";
    size_t length = strlen(input), size = strlen(given ? given : input) + sizeof "_rotated.npy";
    char *path = malloc(size);
    if (length >= strlen(suffix) && strcmp(input + length - strlen(suffix), suffix) == 0)
        length -= strlen(suffix);
    if (path && given)
        snprintf(path, size, "%s", given);
    else if (path)
        snprintf(path, size, "%.*s_rotated.npy", (int)length, input);
    return path;
}

struct apply_output {
    char *paths[JOB_TENSORS];
    void *data[JOB_TENSORS];
};

// A result may take the place of its own tensor, and of no other file that is read.
static int check_paths(const struct apply_request *request, const struct apply_output *output) {
    const struct named_path paths[] = {
        {"--out-q", output->paths[0], .kept = request->q},
        {"--out-k", output->paths[1], .kept = request->k},
        {"--q", request->q, .is_input = true},
        {"--k", request->k, .is_input = true},
        {"--positions", request->positions, .is_input = true},
        {"--positions-k", request->positions_k, .is_input = true},
        {"--freqs", request->freqs, .is_input = true},
    };
    return output_check(paths, sizeof paths / sizeof *paths);
}

static int make_output(const struct apply_request *request, const struct apply_input *input,
                       struct apply_output *output) {
    const char *given[JOB_TENSORS] = {request->out_q, request->out_k};
    const char *from[JOB_TENSORS] = {request->q, request->k};
    for (size_t i = 0; i < JOB_TENSORS && from[i]; ++i) {
        output->paths[i] = output_path(given[i], from[i]);
        output->data[i] = malloc((size_t)job_output_bytes(&input->job.tensors[i]) + 1);
        if (!output->paths[i] || !output->data[i]) {
            message("no memory for %" PRIu64 " bytes of output", job_output_bytes(&input->job.tensors[i]));
            return STATUS_DEVICE;
        }
    }
    return check_paths(request, output);
}

static int write_output(const struct apply_input *input, const struct apply_output *output) {
    static const enum npy_type types[] = {NPY_F32, NPY_F16, NPY_U16};
    struct npy_output files[JOB_TENSORS] = {{0}};
    for (size_t i = 0; i < input->job.tensor_count; ++i) {
        files[i] = (struct npy_output){output->paths[i], input->tensors[i].header, output->data[i]};
        files[i].header.type = types[input->job.tensors[i].out_element];
    }
    return npy_write(files, input->job.tensor_count) ? STATUS_USAGE : STATUS_OK;
}

static int rotate(const struct apply_request *request, const struct job *job, void *const *outputs) {
    struct device_list list;
    const struct device_choice *choice = NULL;
    rope2d_device *device = NULL;
    struct prepared_job prepared = {0};
    bool is_auto = strcmp(request->device, "auto") == 0;
    int result = devices_choose(request->device, true, &list);
    list.cache = request->cache;
    if (!result)
        result = device_open(&list, is_auto, request->minimum_limits ? ROPE2D_DEVICE_MINIMUM_LIMITS : 0,
                             &device, &choice);
    if (!result) {
        rope2d_status status = job_prepare(job, device, (rope2d_table)request->table, &prepared);
        if (!status && prepared.info.exactness == ROPE2D_INEXACT)
            message("warning: %s is not exact: its results can differ from other devices' in the last bits",
                    choice->name);
        if (!status)
            status = job_run(&prepared, outputs, true);
        if (status)
            result = message_status(status, choice->name);
    }
    job_release(&prepared);
    rope2d_device_destroy(device);
    devices_free(&list);
    return result;
}

static int apply(const struct apply_request *request) {
    struct apply_input input;
    struct apply_output output = {{0}, {0}};
    int result = apply_input_read(request, &input);
    if (!result)
        result = make_output(request, &input, &output);
    if (!result)
        result = rotate(request, &input.job, output.data);
    if (!result)
        result = write_output(&input, &output);
    for (size_t i = 0; i < JOB_TENSORS; ++i) {
        free(output.paths[i]);
        free(output.data[i]);
    }
    apply_input_free(&input);
    return result;
}

static int run(int argc, char **argv) {
    struct apply_request request = {
        .device = "auto", .axes = AXES_UNSAID, .dtype = DTYPE_FILE, .dtype_out = DTYPE_FILE};
    const struct option options[] = {
        {"q", "FILE", "queries to rotate: .npy of float32, float16 or, with\n--dtype bf16, uint16",
         .text = &request.q},
        {"k", "FILE", "keys to rotate with them", .text = &request.k},
        {"out-q", "FILE", "where the result goes; default: q_rotated.npy for q.npy", .text = &request.out_q},
        {"out-k", "FILE", "the same for k", .text = &request.out_k},
        {"layout", "bnhd|bhnd|nhd|bnc",
         "order of the dimensions: b batch, n tokens, h heads,\nd channels of a head, c channels of all "
         "heads;\ndefault bnhd",
         .choice = &request.layout, .choices = array_layout_names},
        {"heads-q", "N", "heads of q; needed with bnc", .text = &request.heads_q},
        {"heads-k", "N", "heads of k; needed with bnc", .text = &request.heads_k},
        {"dtype", "f32|f16|bf16", "type of q and k; default: the file's", .choice = &request.dtype,
         .choices = dtype_names},
        {"dtype-out", "f32|f16|bf16", "type of the results; default: as q and k",
         .choice = &request.dtype_out, .choices = dtype_names},
        {"preset", "NAME", "rotate as this model does, with its order of tokens;\nrope2d presets lists them",
         .text = &request.preset},
        {"model-fp32", NULL, "with --preset: the order of operations of the\nmodel's own fp32 code",
         .flag = &request.model_fp32},
        {"prompt", "ITEM[,ITEM...]",
         "with --preset, what the tokens are, in their order:\nstill:N, text:N, image:HxW, image:FxHxW",
         .text = &request.prompt},
        {"prompt-k", "ITEM[,ITEM...]", "the same for k, when its own", .text = &request.prompt_k},
        {"grid", "HxW",
         "tokens are the patches of an image, row by row;\nwith --preset in its order, or FxHxW",
         .text = &request.grid},
        {"positions", "FILE",
         "or their coordinates: .npy of float32 or integers,\n(tokens, axes) or (batch, tokens, axes)",
         .text = &request.positions},
        {"positions-k", "FILE", "coordinates of k, when they are its own", .text = &request.positions_k},
        {"axes", "yx|xy", "with --grid, which coordinate is the first axis;\ndefault yx",
         .choice = &request.axes, .choices = axes_names},
        {"unrotated", "B:E[,B:E...]", "tokens from B to before E pass through and have no\npatch of the grid",
         .text = &request.unrotated},
        {"unrotated-k", "B:E[,B:E...]", "the same for k with --positions-k", .text = &request.unrotated_k},
        {"base", "B",
         "frequencies B^(-2aj/r) for pair j of each axis, a axes,\nr rotated channels: with two axes "
         "B^(-4j/r)",
         .text = &request.base},
        {"freqs", "FILE",
         "or their values: .npy of float32, (axes, pairs),\n(axes, heads, pairs) or (2, axes, heads, pairs)",
         .text = &request.freqs},
        {"pairing", "interleaved|half|segment-half",
         "which channels turn together: (2i, 2i+1),\n(i, i+r/2), or halves of each axis' channels;\ndefault "
         "interleaved",
         .choice = &request.pairing, .choices = pairing_names},
        {"rotary-dim", "N",
         "rotated channels of a head, from the first on;\ndefault: all, or as many as --freqs has",
         .text = &request.rotary_dim},
        {"direction", "forward|inverse|transpose", "default forward", .choice = &request.direction,
         .choices = direction_names},
        {"angles", "double|fp32", "how angles are formed; default double", .choice = &request.angles,
         .choices = angles_names},
        {"factored", NULL,
         "multiply a cosine and sine of each axis instead of adding\nangles: a small table where several "
         "axes turn "
         "a pair;\nbits of its own",
         .flag = &request.factored},
        {"table", "auto|buffer|texture", "where the cosines and sines lie; default auto",
         .choice = &request.table, .choices = table_names},
        {"device", "DEVICE", "auto, cpu, vulkan:0, opencl:1, ...; default auto:\nthe first GPU, else the CPU",
         .text = &request.device},
        {"cache", "FOLDER", "keep what drivers compile there, for the next time; must\nbe yours alone",
         .text = &request.cache},
        {"minimum-limits", NULL, "keep to the limits that the API guarantees everywhere",
         .flag = &request.minimum_limits},
        {0},
    };
    int operands;
    enum options_result parsed = options_parse(&verb_apply, options, argc, argv, &operands);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    if (operands) {
        message("rope2d apply takes no '%s': files go with their options", argv[0]);
        return STATUS_USAGE;
    }
    int result = check_request(&request);
    return result ? result : apply(&request);
}

const struct verb verb_apply = {
    .name = "apply",
    .usage = "--q FILE [--k FILE] OPTIONS",
    .summary = "rotate q and k from .npy files",
    .description =
        "The pairs are divided evenly among the axes, in their order: with --axes yx the first half turns "
        "with\n"
        "the row, the second with the column. --freqs says any other division: zero where an axis does not\n"
        "turn a pair. Outputs appear only when they are complete.\n\n"
        "example: rope2d apply --q q.npy --k k.npy --grid 24x32 --base 10000 --pairing half --layout bhnd",
    .run = run,
};

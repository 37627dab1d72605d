// SPDX-License-Identifier: MIT
#include "apply_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "geometry.h"
#include "message.h"
#include "options.h"
#include "preset_input.h"

static const char *const tensor_options[JOB_TENSORS] = {"--q", "--k"};
static const char *const dtype_names[] = {"f32", "f16", "bf16"};

static int no_memory(const char *what) {
    message("no memory for %s", what);
    return STATUS_DEVICE;
}

// bf16 is not a type of NumPy's, so its bits come as uint16, and only when that is said.
static int element_of(const struct apply_request *request, const char *option, const char *path,
                      enum npy_type type, rope2d_element *element) {
    int found = type == NPY_F32 ? DTYPE_F32 : type == NPY_F16 ? DTYPE_F16 : DTYPE_BF16;
    if (request->dtype != DTYPE_FILE && request->dtype != found) {
        message("%s %s: descr is '%s': --dtype %s must have '%s'", option, path, npy_type_name(type),
                dtype_names[request->dtype],
                npy_type_name(request->dtype == DTYPE_F32   ? NPY_F32
                              : request->dtype == DTYPE_F16 ? NPY_F16
                                                            : NPY_U16));
        return STATUS_USAGE;
    }
    if (request->dtype == DTYPE_FILE && found == DTYPE_BF16) {
        message("%s %s: descr is '<u2': must be '<f4' or '<f2', or bf16 said by --dtype bf16", option, path);
        return STATUS_USAGE;
    }
    static const rope2d_element elements[] = {ROPE2D_F32, ROPE2D_F16, ROPE2D_BF16};
    *element = elements[found];
    return STATUS_OK;
}

static int read_tensor(const struct apply_request *request, size_t which, const char *path,
                       const char *heads_text, struct apply_input *input) {
    const char *option = tensor_options[which];
    struct npy_array *array = &input->tensors[which];
    struct job_tensor *tensor = &input->job.tensors[which];
    struct npy_request file = {option, path, NPY_F32 | NPY_F16 | NPY_U16, false};
    uint64_t heads = 0;
    if (heads_text && !parse_count(heads_text, 1, UINT32_MAX, &heads)) {
        message("--heads-%s %s: must be a number from 1 to %" PRIu32, option + 2, heads_text, UINT32_MAX);
        return STATUS_USAGE;
    }
    if (npy_read(&file, array))
        return STATUS_USAGE;
    int result = element_of(request, option, path, array->header.type, &tensor->in_element);
    if (!result)
        result = job_tensor_from_array(option, path, &array->header, (enum array_layout)request->layout,
                                       heads, tensor);
    if (result)
        return result;
    tensor->out_element =
        request->dtype_out == DTYPE_FILE ? tensor->in_element : (rope2d_element)request->dtype_out;
    tensor->data = array->data;
    return STATUS_OK;
}

static int read_tensors(const struct apply_request *request, struct apply_input *input) {
    struct job *job = &input->job;
    int result = read_tensor(request, 0, request->q, request->heads_q, input);
    job->tensor_count = 1;
    if (result || !request->k)
        return result;
    result = read_tensor(request, 1, request->k, request->heads_k, input);
    job->tensor_count = 2;
    const struct job_tensor *q = &job->tensors[0], *k = &job->tensors[1];
    if (!result && q->head_dim != k->head_dim) {
        message("--k %s: heads have %" PRIu32 " channels: must have q's %" PRIu32, request->k, k->head_dim,
                q->head_dim);
        return STATUS_USAGE;
    }
    if (!result && q->in_element != k->in_element) {
        message("--k %s: descr is '%s': must be q's '%s'", request->k,
                npy_type_name(input->tensors[1].header.type), npy_type_name(input->tensors[0].header.type));
        return STATUS_USAGE;
    }
    return result;
}

// [A][P], [A][1 or heads][P], or [2][A][1 or heads][P] with two angles to a pair.
static int read_freqs(const struct apply_request *request, struct apply_input *input, uint32_t *pairs) {
    rope2d_spec *spec = &input->job.spec;
    struct npy_request file = {"--freqs", request->freqs, NPY_F32, false};
    struct npy_array array;
    if (npy_read(&file, &array))
        return STATUS_USAGE;
    input->freqs = array.data;
    const struct npy_header *header = &array.header;
    const uint64_t *axes = header->shape + (header->dims == 4);
    uint64_t heads = header->dims == 2 ? 1 : axes[1],
             columns = header->dims >= 2 ? header->shape[header->dims - 1] : 0;
    if (header->dims < 2 || header->dims > 4 || (header->dims == 4 && header->shape[0] != 2) || !*axes ||
        *axes > ROPE2D_MAX_AXES || heads < 1 || heads > UINT32_MAX || columns > ROPE2D_MAX_HEAD_DIM / 2) {
        char shape[200];
        npy_shape_text(header, shape, sizeof shape);
        message("--freqs %s: shape is %s: must be (axes, pairs), (axes, heads, pairs) or (2, axes, heads, "
                "pairs), at most "
                "%d axes and %d pairs",
                request->freqs, shape, ROPE2D_MAX_AXES, ROPE2D_MAX_HEAD_DIM / 2);
        return STATUS_USAGE;
    }
    spec->axes = (uint32_t)*axes;
    spec->freq_heads = (uint32_t)heads;
    spec->freqs = input->freqs;
    spec->freqs_hi = header->dims == 4 ? input->freqs + header->count / 2 : NULL;
    *pairs = (uint32_t)columns;
    return STATUS_OK;
}

static int check_rotary(const struct apply_request *request, uint32_t head_dim, uint32_t *rotary) {
    uint64_t number = 0;
    if (request->rotary_dim && !parse_count(request->rotary_dim, 2, ROPE2D_MAX_HEAD_DIM, &number)) {
        message("--rotary-dim %s: must be a number from 2 to %d", request->rotary_dim, ROPE2D_MAX_HEAD_DIM);
        return STATUS_USAGE;
    }
    *rotary = request->rotary_dim ? (uint32_t)number : head_dim;
    if (*rotary % 2 || *rotary > head_dim) {
        message("%s %" PRIu32 ": must be even and at most the %" PRIu32 " channels of a head",
                request->rotary_dim ? "--rotary-dim" : "channels of a head", *rotary, head_dim);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

static int make_freqs(const struct apply_request *request, uint32_t rotary, struct apply_input *input) {
    rope2d_spec *spec = &input->job.spec;
    double base;
    uint32_t pairs = rotary / 2;
    if (!parse_number(request->base, &base) || !(base > 0 && base <= 1e30)) {
        message("--base %s: must be a number above 0 and at most 1e30", request->base);
        return STATUS_USAGE;
    }
    if (pairs % spec->axes) {
        message("--base: the %" PRIu32 " pairs of %" PRIu32 " rotated channels must divide among the %" PRIu32
                " axes "
                "(--freqs gives any division)",
                pairs, rotary, spec->axes);
        return STATUS_USAGE;
    }
    spec->freqs = input->freqs = frequencies_from_base(base, spec->axes, pairs);
    return input->freqs ? STATUS_OK : no_memory("the frequencies");
}

// The spec, once the tensors and the axes of the positions are known (0: the frequencies say).
static int make_spec(const struct apply_request *request, uint32_t axes, struct apply_input *input) {
    rope2d_spec *spec = &input->job.spec;
    uint32_t head_dim = input->job.tensors[0].head_dim, rotary = head_dim, pairs = 0;
    *spec = (rope2d_spec){
        .struct_size = sizeof *spec,
        .head_dim = head_dim,
        .axes = axes,
        .pairing = (rope2d_pairing)request->pairing,
        .direction = (rope2d_direction)request->direction,
        .angles = (rope2d_angles)request->angles,
        .factored = request->factored,
    };
    int result = STATUS_OK;
    if (request->freqs)
        result = read_freqs(request, input, &pairs);
    if (!result && (request->rotary_dim || !request->freqs))
        result = check_rotary(request, head_dim, &rotary);
    else
        rotary = 2 * pairs;
    if (!result && request->freqs && (rotary != 2 * pairs || rotary > head_dim || !pairs)) {
        message("--freqs %s: %" PRIu32 " pairs turn %" PRIu32 " channels: must be %s%" PRIu32, request->freqs,
                pairs, 2 * pairs, request->rotary_dim ? "--rotary-dim's " : "2 to the head's ",
                request->rotary_dim ? rotary : head_dim);
        return STATUS_USAGE;
    }
    if (!result && spec->axes != axes) {
        message("--freqs %s: has %" PRIu32 " axes: must have the %" PRIu32 " of the positions",
                request->freqs, spec->axes, axes);
        return STATUS_USAGE;
    }
    spec->rotary_dim = rotary;
    return result || request->freqs ? result : make_freqs(request, rotary, input);
}

// Positions from a file, [tokens][axes] or [batch][tokens][axes].
static int read_positions(const char *option, const char *path, size_t which, struct apply_input *input,
                          uint32_t *axes) {
    const struct job_tensor *tensor = &input->job.tensors[which];
    struct job_positions *positions = &input->job.positions[which];
    struct npy_request file = {option, path, NPY_F32 | NPY_I32 | NPY_I64, false};
    struct npy_array array;
    if (npy_read(&file, &array))
        return STATUS_USAGE;
    const struct npy_header *header = &array.header;
    const uint64_t *shape = header->shape + (header->dims == 3);
    bool fits = (header->dims == 2 || (header->dims == 3 && header->shape[0] == tensor->batch)) &&
                shape[0] == tensor->tokens && shape[1] >= 1 && shape[1] <= ROPE2D_MAX_AXES &&
                (!*axes || shape[1] == *axes);
    if (!fits) {
        char text[200];
        npy_shape_text(header, text, sizeof text);
        message("%s %s: shape is %s: must be (%" PRIu64 ", axes) or (%" PRIu32 ", %" PRIu64
                ", axes) as %s has tokens%s, "
                "axes from 1 to %d",
                option, path, text, tensor->tokens, tensor->batch, tensor->tokens, tensor_options[which],
                *axes ? ", the same axes as --positions" : "", ROPE2D_MAX_AXES);
        npy_free(&array);
        return STATUS_USAGE;
    }
    *axes = (uint32_t)shape[1];
    positions->batch = header->dims == 3 ? tensor->batch : 1;
    positions->tokens = tensor->tokens;
    input->coordinates[which] = coordinates_from_array(option, path, &array);
    positions->coordinates = input->coordinates[which];
    npy_free(&array);
    return positions->coordinates ? STATUS_OK : STATUS_USAGE;
}

static int make_grid(const struct apply_request *request, struct apply_input *input, uint32_t *axes) {
    const struct job_tensor *q = &input->job.tensors[0];
    struct job_positions *positions = &input->job.positions[0];
    uint32_t height, width;
    if (!parse_grid(request->grid, &height, &width)) {
        message("--grid %s: must be HEIGHTxWIDTH, such as 24x32, each at most %d", request->grid, 1 << 24);
        return STATUS_USAGE;
    }
    uint64_t rest = ranges_rest(positions->unrotated, positions->unrotated_count, q->tokens);
    if ((uint64_t)height * width != rest) {
        message("--grid %s: has %" PRIu64 " patches: must have the %" PRIu64 " tokens of q%s", request->grid,
                (uint64_t)height * width, rest, request->unrotated ? " outside --unrotated" : "");
        return STATUS_USAGE;
    }
    *axes = 2;
    positions->batch = 1;
    positions->tokens = q->tokens;
    input->coordinates[0] = coordinates_of_grid(height, width, request->axes == AXES_XY, q->tokens,
                                                positions->unrotated, positions->unrotated_count);
    positions->coordinates = input->coordinates[0];
    return positions->coordinates ? STATUS_OK : no_memory("the coordinates");
}

static int read_unrotated(const char *option, const char *text, size_t which, struct apply_input *input) {
    struct job_positions *positions = &input->job.positions[which];
    int result = ranges_parse(option, text, input->job.tensors[which].tokens, &input->unrotated[which],
                              &positions->unrotated_count);
    positions->unrotated = input->unrotated[which];
    return result;
}

// The spec from --preset, learned frequencies from --freqs, and places by the model's rules where no file has
// them.
static int read_preset(const struct apply_request *request, struct apply_input *input, uint32_t *axes) {
    uint32_t pairs = 0;
    int result = request->freqs ? read_freqs(request, input, &pairs) : STATUS_OK;
    if (!result && request->freqs && input->job.spec.axes * pairs == 0)
        return no_memory("the frequencies");
    rope2d_preset_info info = {.struct_size = sizeof info};
    if (!result && request->freqs && !rope2d_preset_get_info(request->preset, NULL, &info) &&
        (input->job.spec.axes != strlen(info.axes) || input->job.spec.freqs_hi ||
         2 * pairs != (request->rotary_dim ? 2 * pairs : input->job.tensors[0].head_dim))) {
        message("--freqs %s: has %" PRIu32 " axes and %" PRIu32
                " pairs: must have the %zu axes of %s and half of %" PRIu32 " channels",
                request->freqs, input->job.spec.axes, pairs, strlen(info.axes), info.name,
                input->job.tensors[0].head_dim);
        return STATUS_USAGE;
    }
    if (!result)
        result =
            preset_spec_make(request, input->freqs, request->freqs ? input->job.spec.freq_heads : 0, input);
    *axes = input->job.spec.axes;
    if (!result && (request->grid || request->prompt))
        result = preset_positions_make(request->grid ? "--grid" : "--prompt",
                                       request->grid ? request->grid : request->prompt, request->grid != NULL,
                                       0, input);
    if (!result && request->prompt_k)
        result = preset_positions_make("--prompt-k", request->prompt_k, false, 1, input);
    return result;
}

// q and k that turn by the same positions must have the same tokens.
static int check_shared(const struct job *job) {
    const struct job_tensor *q = &job->tensors[0], *k = &job->tensors[1];
    if (job->tensor_count < 2 || job->positions[1].coordinates ||
        (q->batch == k->batch && q->tokens == k->tokens))
        return STATUS_OK;
    message("--k: has batch %" PRIu32 " and %" PRIu64 " tokens: must have q's batch %" PRIu32 " and %" PRIu64
            " tokens, or --positions-k",
            k->batch, k->tokens, q->batch, q->tokens);
    return STATUS_USAGE;
}

int apply_input_read(const struct apply_request *request, struct apply_input *input) {
    uint32_t axes = 0;
    *input = (struct apply_input){0};
    int result = read_tensors(request, input);
    if (!result && request->unrotated)
        result = read_unrotated("--unrotated", request->unrotated, 0, input);
    if (!result && request->unrotated_k)
        result = read_unrotated("--unrotated-k", request->unrotated_k, 1, input);
    if (!result && request->preset)
        result = read_preset(request, input, &axes);
    if (!result && request->positions)
        result = read_positions("--positions", request->positions, 0, input, &axes);
    if (!result && !request->preset && request->grid)
        result = make_grid(request, input, &axes);
    if (!result && request->positions_k)
        result = read_positions("--positions-k", request->positions_k, 1, input, &axes);
    if (!result && !request->preset)
        result = make_spec(request, axes, input);
    return result ? result : check_shared(&input->job);
}

void apply_input_free(struct apply_input *input) {
    for (size_t i = 0; i < JOB_TENSORS; ++i) {
        npy_free(&input->tensors[i]);
        free(input->coordinates[i]);
        free(input->unrotated[i]);
    }
    free(input->freqs);
    rope2d_preset_destroy(input->preset);
    *input = (struct apply_input){0};
}

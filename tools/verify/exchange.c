// SPDX-License-Identifier: MIT
#include "exchange.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/message.h"
#include "folder.h"
#include "text_file.h"

enum { TENSORS = 2 };

static const char *const names[TENSORS] = {"q", "k"};

// A folder has q and k at the same positions, shared by the batch, turned forward and left at their length.
bool exchange_can(const struct harness_case *what) {
    const uint32_t cannot =
        HARNESS_SEPARATE_K | HARNESS_BATCH_POSITIONS | HARNESS_MAGNITUDES | HARNESS_CANCELLING | HARNESS_HUGE;
    const struct harness_structure *structure = harness_structure_of(what);
    const rope2d_spec *spec = structure->spec;
    bool has_two = what->heads[0] && what->heads[1] && !what->heads[2] && what->heads[1] != HARNESS_NO_HEADS;
    bool has_tokens = what->height && what->width && !what->first_token;
    bool is_plain = what->direction == ROPE2D_FORWARD && what->magnitude == 0 && !structure->factored;
    if (spec)
        is_plain = !spec->factored && spec->direction == ROPE2D_FORWARD &&
                   (spec->magnitude == 0 || spec->magnitude == 1);
    return has_two && has_tokens && is_plain && (what->flags & cannot) == 0;
}

static bool write_array(const char *folder, const char *name, const uint64_t *shape, uint32_t dims,
                        const float *data) {
    char path[FOLDER_PATH_SIZE];
    struct npy_output output = {.path = path, .header = {.type = NPY_F32, .dims = dims}, .data = data};
    memcpy(output.header.shape, shape, dims * sizeof *shape);
    return snprintf(path, sizeof path, "%s/%s.npy", folder, name) < FOLDER_PATH_SIZE &&
           !npy_write(&output, 1);
}

// The heads of a tensor one after another, into or out of an array [batch][token][head][channel].
static void copy_heads(const struct harness_work *work, const struct harness_side *side, uint32_t tensor,
                       unsigned char *block, float *array, bool out) {
    size_t dim = work->spec.spec.head_dim, bytes = dim * sizeof(float);
    for (uint32_t b = 0; b < work->batch; ++b)
        for (uint64_t t = 0; t < work->tensors[tensor].tokens; ++t)
            for (uint32_t h = 0; h < work->tensors[tensor].heads; ++h, array += dim) {
                unsigned char *at = block + harness_side_at(work, side, b, t, h);
                memcpy(out ? (void *)array : (void *)at, out ? (void *)at : (void *)array, bytes);
            }
}

static void shape_of(const struct harness_work *work, uint32_t tensor, uint64_t shape[4]) {
    shape[0] = work->batch;
    shape[1] = work->tensors[tensor].tokens;
    shape[2] = work->tensors[tensor].heads;
    shape[3] = work->spec.spec.head_dim;
}

static bool write_tensor(const char *folder, const struct harness_work *work, uint32_t tensor,
                         unsigned char *const *blocks) {
    uint64_t shape[4];
    shape_of(work, tensor, shape);
    float *array = malloc((size_t)(shape[0] * shape[1] * shape[2] * shape[3]) * sizeof(float) + 1);
    const struct harness_side *side = &work->tensors[tensor].in;
    if (array)
        copy_heads(work, side, tensor, blocks[side->block], array, true);
    bool good = array && write_array(folder, names[tensor], shape, 4, array);
    free(array);
    return good;
}

static void add_channels(cJSON *json, const char *key, const uint32_t *channels, uint32_t count) {
    cJSON *list = cJSON_AddArrayToObject(json, key);
    for (uint32_t i = 0; i < count; ++i)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(channels[i]));
}

static void add_unrotated(cJSON *json, const char *key, const struct harness_positions *positions) {
    cJSON *list = cJSON_AddArrayToObject(json, key);
    for (uint32_t i = 0; i < positions->unrotated_count; ++i) {
        cJSON *range = cJSON_CreateArray();
        cJSON_AddItemToArray(range, cJSON_CreateNumber((double)positions->unrotated[i].begin));
        cJSON_AddItemToArray(range, cJSON_CreateNumber((double)positions->unrotated[i].end));
        cJSON_AddItemToArray(list, range);
    }
}

static cJSON *describe(const struct harness_work *work) {
    const rope2d_spec *spec = &work->spec.spec;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", work->what->name);
    cJSON_AddStringToObject(json, "layout", "BNHD");
    cJSON_AddNumberToObject(json, "heads_q", work->tensors[0].heads);
    cJSON_AddNumberToObject(json, "heads_k", work->tensors[1].heads);
    cJSON_AddNumberToObject(json, "head_dim", spec->head_dim);
    cJSON_AddNumberToObject(json, "rotary_dim", 2.0 * work->spec.pairs);
    cJSON_AddNumberToObject(json, "n_axes", spec->axes);
    cJSON_AddNumberToObject(json, "n_pairs", work->spec.pairs);
    cJSON_AddNumberToObject(json, "freq_heads", spec->freq_heads);
    add_channels(json, "pair_lo", work->spec.lo, work->spec.pairs);
    add_channels(json, "pair_hi", work->spec.hi, work->spec.pairs);
    add_unrotated(json, "unrotated_tokens", &work->positions[0]);
    add_unrotated(json, "unrotated_tokens_k", &work->positions[0]);
    cJSON_AddFalseToObject(json, "has_separate_k_positions");
    cJSON_AddStringToObject(json, "angles", spec->angles == ROPE2D_ANGLES_FP32 ? "fp32" : "double");
    return json;
}

static bool write_description(const char *folder, const struct harness_work *work) {
    char path[FOLDER_PATH_SIZE];
    cJSON *json = describe(work);
    bool good = snprintf(path, sizeof path, "%s/case.json", folder) < FOLDER_PATH_SIZE &&
                !text_file_write_json(path, json);
    cJSON_Delete(json);
    return good;
}

bool exchange_write(const char *folder, const struct harness_work *work, unsigned char *const *blocks) {
    const rope2d_spec *spec = &work->spec.spec;
    const uint64_t freqs[] = {2, spec->axes, spec->freq_heads, work->spec.pairs};
    const uint64_t positions[] = {work->positions[0].tokens, spec->axes};
    bool has_two = spec->freqs_hi != NULL;
    return write_tensor(folder, work, 0, blocks) && write_tensor(folder, work, 1, blocks) &&
           write_array(folder, "freqs", has_two ? freqs : freqs + 1, has_two ? 4 : 3, work->spec.freqs) &&
           write_array(folder, "positions", positions, 2, work->positions[0].coordinates) &&
           write_description(folder, work);
}

bool exchange_read_array(const char *folder, uint32_t tensor, const uint64_t *shape, uint32_t dims,
                         struct npy_array *array, char *text, size_t size) {
    char path[FOLDER_PATH_SIZE];
    struct npy_request request = {"out", path, NPY_F32, false};
    *array = (struct npy_array){0};
    if (snprintf(path, sizeof path, "%s/%s_out.npy", folder, names[tensor]) >= FOLDER_PATH_SIZE ||
        npy_read(&request, array)) {
        snprintf(text, size, "%s_out.npy is not there, or is no .npy of fp32", names[tensor]);
        return false;
    }
    if (array->header.dims == dims && memcmp(array->header.shape, shape, dims * sizeof *shape) == 0)
        return true;
    snprintf(text, size, "%s_out.npy does not have the shape of %s.npy", names[tensor], names[tensor]);
    npy_free(array);
    return false;
}

static bool read_tensor(const char *folder, const struct harness_work *work, uint32_t tensor,
                        unsigned char *const *blocks, char *text, size_t size) {
    uint64_t shape[4];
    struct npy_array array;
    const struct harness_side *side = &work->tensors[tensor].out;
    shape_of(work, tensor, shape);
    if (!exchange_read_array(folder, tensor, shape, 4, &array, text, size))
        return false;
    copy_heads(work, side, tensor, blocks[side->block], array.data, false);
    npy_free(&array);
    return true;
}

bool exchange_read(const char *folder, const struct harness_work *work, unsigned char *const *blocks,
                   char *text, size_t size) {
    return read_tensor(folder, work, 0, blocks, text, size) &&
           read_tensor(folder, work, 1, blocks, text, size);
}

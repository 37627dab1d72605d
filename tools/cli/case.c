// SPDX-License-Identifier: MIT
#include "case.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "case_json.h"
#include "message.h"

enum { LONGEST_PATH = 4096 };

static bool join(const char *folder, const char *file, char path[LONGEST_PATH]) {
    int used = snprintf(path, LONGEST_PATH, "%s/%s", folder, file);
    return used >= 0 && used < LONGEST_PATH;
}

#ifdef _WIN32
static bool is_missing(const char *path) {
    struct stat found;
    return stat(path, &found) != 0 && (errno == ENOENT || errno == ENOTDIR);
}
#else
// A link that leads nowhere is something.
static bool is_missing(const char *path) {
    struct stat found;
    return lstat(path, &found) != 0 && (errno == ENOENT || errno == ENOTDIR);
}
#endif

bool golden_case_may_be_there(const char *folder) {
    char path[LONGEST_PATH];
    struct stat found;
    if (!join(folder, "case.json", path) || !is_missing(path))
        return true;
    return stat(folder, &found) != 0 && !is_missing(folder);
}

// Small arrays may be stored by columns, as NumPy writes the transposition of an array.
static int read_array(const char *folder, const char *file, bool fortran_order, struct npy_array *array) {
    char path[LONGEST_PATH];
    if (!join(folder, file, path)) {
        message("%s/%s: the path must be shorter than %d characters", folder, file, LONGEST_PATH);
        return STATUS_USAGE;
    }
    struct npy_request request = {"case", path, NPY_F32, fortran_order};
    return npy_read(&request, array) ? STATUS_USAGE : STATUS_OK;
}

static bool same_shape(const struct npy_header *a, const struct npy_header *b) {
    return a->dims == b->dims && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

static int read_tensor(const char *folder, size_t which, const struct case_description *description,
                       struct golden_case *golden) {
    static const char *const files[] = {"q.npy", "k.npy"}, *const recorded[] = {"q_out.npy", "k_out.npy"};
    static const char *const options[] = {"--q", "--k"};
    struct job_tensor *tensor = &golden->job.tensors[which];
    const struct npy_header *header = &golden->inputs[which].header;
    int result = read_array(folder, files[which], false, &golden->inputs[which]);
    if (!result)
        result = read_array(folder, recorded[which], false, &golden->recorded[which]);
    if (!result)
        result = job_tensor_from_array(options[which], files[which], header, description->layout,
                                       description->heads[which], tensor);
    if (result)
        return result;
    if (!same_shape(header, &golden->recorded[which].header)) {
        message("%s/%s: must have the shape of %s", folder, recorded[which], files[which]);
        return STATUS_USAGE;
    }
    if (tensor->head_dim != golden->job.spec.head_dim) {
        message("%s/%s: heads have %" PRIu32 " channels: must have head_dim's %" PRIu32, folder, files[which],
                tensor->head_dim, golden->job.spec.head_dim);
        return STATUS_USAGE;
    }
    tensor->in_element = tensor->out_element = ROPE2D_F32;
    tensor->data = golden->inputs[which].data;
    return STATUS_OK;
}

static int read_freqs(const char *folder, const struct case_description *description,
                      struct golden_case *golden) {
    rope2d_spec *spec = &golden->job.spec;
    int result = read_array(folder, "freqs.npy", true, &golden->freqs);
    if (result)
        return result;
    const struct npy_header *header = &golden->freqs.header;
    uint32_t first = header->dims == 4;
    if ((header->dims != 3 && !first) || (first && header->shape[0] != 2) ||
        header->shape[first] != spec->axes || header->shape[first + 1] == 0 ||
        header->shape[first + 1] > UINT32_MAX || header->shape[first + 2] != description->pairs) {
        char shape[200];
        npy_shape_text(header, shape, sizeof shape);
        message("%s/freqs.npy: shape is %s: must be (%" PRIu32 ", 1 or heads, %" PRIu32
                "), or with (2, ... two angles",
                folder, shape, spec->axes, description->pairs);
        return STATUS_USAGE;
    }
    spec->freq_heads = (uint32_t)header->shape[first + 1];
    spec->freqs = golden->freqs.data;
    spec->freqs_hi = first ? spec->freqs + header->count / 2 : NULL;
    return STATUS_OK;
}

static int read_positions(const char *folder, size_t which, const char *file, struct golden_case *golden) {
    const struct job_tensor *tensor = &golden->job.tensors[which];
    int result = read_array(folder, file, true, &golden->positions[which]);
    if (result)
        return result;
    const struct npy_header *header = &golden->positions[which].header;
    if (header->dims != 2 || header->shape[0] != tensor->tokens ||
        header->shape[1] != golden->job.spec.axes) {
        char shape[200];
        npy_shape_text(header, shape, sizeof shape);
        message("%s/%s: shape is %s: must be (%" PRIu64 ", %" PRIu32 "), tokens and axes", folder, file,
                shape, tensor->tokens, golden->job.spec.axes);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

static void use_positions(size_t which, const struct npy_array *from, struct golden_case *golden) {
    golden->job.positions[which] = (struct job_positions){
        .coordinates = from->data,
        .batch = 1,
        .tokens = from->header.shape[0],
        .unrotated = golden->unrotated[which],
        .unrotated_count = golden->unrotated_counts[which],
    };
}

static bool same_ranges(const struct golden_case *golden) {
    uint32_t count = golden->unrotated_counts[0];
    if (count != golden->unrotated_counts[1])
        return false;
    return !count ||
           memcmp(golden->unrotated[0], golden->unrotated[1], count * sizeof *golden->unrotated[0]) == 0;
}

static int read_all_positions(const char *folder, const struct case_description *description,
                              struct golden_case *golden) {
    const struct job_tensor *q = &golden->job.tensors[0], *k = &golden->job.tensors[1];
    int result = read_positions(folder, 0, "positions.npy", golden);
    if (!result && description->has_own_positions)
        result = read_positions(folder, 1, "positions_k.npy", golden);
    if (result)
        return result;
    use_positions(0, &golden->positions[0], golden);
    if (description->has_own_positions) {
        use_positions(1, &golden->positions[1], golden);
    } else if (k->tokens != q->tokens) {
        message("%s: k has %" PRIu64 " tokens and q %" PRIu64 ": must be equal without positions_k.npy",
                folder, k->tokens, q->tokens);
        return STATUS_USAGE;
    } else if (!same_ranges(golden) || k->batch != q->batch) {
        use_positions(1, &golden->positions[0], golden);
    }
    return STATUS_OK;
}

// Whether the pairs follow a rule. Models follow one, and so it is the rule's kernel that is checked.
static bool follows(rope2d_pairing pairing, const struct golden_case *golden, uint32_t pairs) {
    uint32_t segment = pairs / golden->job.spec.axes;
    for (uint32_t i = 0; i < pairs; ++i) {
        uint32_t lo = 2 * i, hi = 2 * i + 1;
        if (pairing == ROPE2D_PAIRING_HALF) {
            lo = i;
            hi = i + pairs;
        } else if (pairing == ROPE2D_PAIRING_SEGMENT_HALF) {
            lo = i / segment * segment + i;
            hi = lo + segment;
        }
        if (golden->pair_lo[i] != lo || golden->pair_hi[i] != hi)
            return false;
    }
    return true;
}

static void choose_pairing(struct golden_case *golden, uint32_t pairs) {
    rope2d_spec *spec = &golden->job.spec;
    bool has_rule = pairs > 0 && pairs <= spec->head_dim / 2;
    for (int pairing = 0; has_rule && pairing < ROPE2D_PAIRING_EXPLICIT; ++pairing) {
        if (pairing == ROPE2D_PAIRING_SEGMENT_HALF && pairs % spec->axes)
            continue;
        if (follows((rope2d_pairing)pairing, golden, pairs)) {
            spec->pairing = (rope2d_pairing)pairing;
            spec->rotary_dim = 2 * pairs;
            return;
        }
    }
    spec->pairing = ROPE2D_PAIRING_EXPLICIT;
    spec->pairs = pairs;
    spec->pair_lo = golden->pair_lo;
    spec->pair_hi = golden->pair_hi;
}

int golden_case_read(const char *folder, struct golden_case *golden) {
    struct case_description description = {0};
    char path[LONGEST_PATH];
    *golden = (struct golden_case){.job.tensor_count = JOB_TENSORS};
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        --length;
    size_t begin = length;
    while (begin > 0 && folder[begin - 1] != '/')
        --begin;
    snprintf(golden->name, sizeof golden->name, "%.*s", (int)(length - begin), folder + begin);
    if (!join(folder, "case.json", path)) {
        message("%s: the path must be shorter than %d characters", folder, LONGEST_PATH);
        return STATUS_USAGE;
    }
    golden->job.spec.struct_size = sizeof golden->job.spec;
    int result = case_json_read(path, &description, golden);
    if (!result && golden->job.spec.axes == 0) {
        message("%s: n_axes is 0: must be 1 to %d", path, ROPE2D_MAX_AXES);
        result = STATUS_USAGE;
    }
    for (size_t i = 0; i < JOB_TENSORS && !result; ++i)
        result = read_tensor(folder, i, &description, golden);
    if (!result)
        result = read_freqs(folder, &description, golden);
    if (!result)
        result = read_all_positions(folder, &description, golden);
    if (!result)
        choose_pairing(golden, description.pairs);
    return result;
}

void golden_case_free(struct golden_case *golden) {
    for (size_t i = 0; i < JOB_TENSORS; ++i) {
        npy_free(&golden->inputs[i]);
        npy_free(&golden->recorded[i]);
        npy_free(&golden->positions[i]);
        free(golden->unrotated[i]);
    }
    npy_free(&golden->freqs);
    free(golden->pair_lo);
    free(golden->pair_hi);
    *golden = (struct golden_case){0};
}

// SPDX-License-Identifier: MIT
// Every 16-bit input widened, and every boundary between neighbours of a 16-bit type narrowed, on every
// device: by channels that pass through, by tokens that do not rotate, and by rotations whose cosine is 1.
// What is right comes from the oracle's own conversions.
#include "harness/devices.h"
#include "harness/run.h"
#include "oracle_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 400000
#define ONE        1.0

struct way {
    const char *name;
    uint32_t head_dim;
    bool rotates;   // else every channel passes through
    bool unrotated; // rotated channels, but tokens that do not
};

// 64 channels take the wide units, odd ones the single.
static const struct way ways[] = {
    {"channels that pass through, wide", 64, false, false},
    {"channels that pass through, single", 13, false, false},
    {"tokens that do not rotate, wide", 64, true, true},
    {"tokens that do not rotate, single", 6, true, true},
    {"cosine 1, wide", 64, true, false},
    {"cosine 1, single", 6, true, false},
};

struct values {
    uint32_t *bits;
    size_t count;
    enum oracle_type type;
};

static const char *const type_names[ROPE2D_ELEMENT_COUNT] = {"f32", "f16", "bf16"};

static void add(struct values *values, uint32_t bits) {
    if (values->count < MAX_VALUES)
        values->bits[values->count++] = bits;
}

static void add_all(struct values *values) {
    for (uint32_t bits = 0; bits < 65536; bits++)
        add(values, bits);
}

// fp32 values below, at and above what lies halfway between neighbours of the narrow type, with both signs.
// Every midpoint is exact in fp32.
static void add_boundaries(struct values *values, enum oracle_type narrow) {
    uint32_t infinity = narrow == ORACLE_F16 ? 0x7c00u : 0x7f80u;
    for (uint32_t h = 0; h < infinity; h++) {
        double low = oracle_decode(narrow, h);
        double high = h + 1 == infinity ? oracle_overflow(narrow) * 2 - low : oracle_decode(narrow, h + 1);
        uint32_t middle = oracle_encode(ORACLE_F32, (low + high) / 2);
        for (uint32_t sign = 0; sign < 2; sign++)
            for (uint32_t step = 0; step < 3; step++)
                add(values, sign << 31 | (middle + step - 1));
    }
}

static void add_edges(struct values *values) {
    static const uint32_t edges[] = {0,          1,          2,          0x7fffff,   0x800000,   0x33000000,
                                     0x33000001, 0x32ffffff, 0x387fffff, 0x38800000, 0x477fe000, 0x477fefff,
                                     0x477ff000, 0x47800000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000,
                                     0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fc01234, 0x7fffffff, 0x7f801fff};
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        add(values, edges[i]);
        add(values, edges[i] | 0x80000000u);
    }
}

static bool is_subnormal_f32(double value) {
    return value != 0 && fabs(value) < 0x1p-126;
}

// Which channel of the head holds value i, and how many a head holds: the lower half, where it rotates.
static uint32_t values_of_head(const struct way *way) {
    return way->rotates && !way->unrotated ? way->head_dim / 2 : way->head_dim;
}

static bool right(const struct way *way, struct harness_types types, uint32_t in, uint32_t out,
                  rope2d_exactness exactness) {
    double value = oracle_decode((enum oracle_type)types.in, in);
    double actual = oracle_decode((enum oracle_type)types.out, out);
    bool rotated = way->rotates && !way->unrotated;
    if (!rotated && types.in == types.out)
        return in == out;
    if (isnan(value))
        return isnan(actual);
    if (out == oracle_encode((enum oracle_type)types.out, value))
        return true;
    return rotated && exactness == ROPE2D_EXACT_NORMAL && is_subnormal_f32(value) && actual == 0;
}

struct job {
    struct harness_device *device;
    const struct way *way;
    struct harness_types types;
    const struct values *values;
    unsigned char *in, *out;
    size_t heads;
    rope2d_exactness exactness;
};

static void fill(struct job *job) {
    enum oracle_type type = (enum oracle_type)job->types.in;
    uint32_t per_head = values_of_head(job->way);
    uint32_t one = oracle_encode(type, ONE);
    for (size_t i = 0; i < job->heads * job->way->head_dim; i++)
        oracle_store(type, job->in, i, one);
    for (size_t i = 0; i < job->values->count; i++)
        oracle_store(type, job->in, i / per_head * job->way->head_dim + i % per_head, job->values->bits[i]);
}

static rope2d_status rotate(struct job *job, const rope2d_plan *plan, const rope2d_positions *positions) {
    uint32_t dim = job->way->head_dim;
    rope2d_tensor tensor = {
        .heads = 1,
        .in = rope2d_view_contiguous(job->in, job->types.in, ROPE2D_LAYOUT_BNHD, 1, job->heads, 1, dim),
        .out = rope2d_view_contiguous(job->out, job->types.out, ROPE2D_LAYOUT_BNHD, 1, job->heads, 1, dim)};
    rope2d_apply_params params = {.struct_size = sizeof(params),
                                  .batch = 1,
                                  .tokens = job->heads,
                                  .tensor_count = 1,
                                  .tensors = &tensor};
    return rope2d_apply(plan, positions, &params);
}

static rope2d_status convert(struct job *job) {
    static const float freqs[64] = {1};
    rope2d_spec spec = {.struct_size = sizeof(spec),
                        .head_dim = job->way->head_dim,
                        .axes = 1,
                        .pairing = job->way->rotates ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_EXPLICIT,
                        .freqs = freqs};
    rope2d_range all = {0, job->heads};
    float *coordinates = calloc(job->heads, sizeof(float));
    rope2d_positions_params where = {.struct_size = sizeof(where),
                                     .spec = &spec,
                                     .table = ROPE2D_TABLE_BUFFER,
                                     .tokens = job->heads,
                                     .coordinates = coordinates,
                                     .unrotated = job->way->unrotated ? &all : NULL,
                                     .unrotated_count = job->way->unrotated};
    rope2d_plan_params params = {.struct_size = sizeof(params),
                                 .spec = &spec,
                                 .in = job->types.in,
                                 .out = job->types.out,
                                 .table = ROPE2D_TABLE_BUFFER};
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    rope2d_status status = ROPE2D_ERROR_HOST_MEMORY;
    if (coordinates != NULL)
        status = rope2d_positions_create(job->device->device, &where, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(job->device->device, &params, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_plan_get_info(plan, &info);
    if (status == ROPE2D_OK)
        status = rotate(job, plan, positions);
    job->exactness = info.exactness;
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    free(coordinates);
    return status;
}

static void judge(const struct job *job, struct harness_report *report) {
    uint32_t per_head = values_of_head(job->way);
    enum oracle_type out_type = (enum oracle_type)job->types.out;
    size_t wrong = 0;
    uint32_t first_in = 0;
    uint32_t first_out = 0;
    for (size_t i = 0; i < job->values->count; i++) {
        uint32_t in = job->values->bits[i];
        uint32_t out = oracle_load(out_type, job->out, i / per_head * job->way->head_dim + i % per_head);
        if (right(job->way, job->types, in, out, job->exactness))
            continue;
        if (wrong++ == 0) {
            first_in = in;
            first_out = out;
        }
    }
    harness_check(
        report, wrong == 0, "%s, %s:%s, %s: %zu of %zu wrong, the first 0x%x (%g) to 0x%x, not 0x%x",
        job->device->info.name, type_names[job->types.in], type_names[job->types.out], job->way->name, wrong,
        job->values->count, first_in, oracle_decode((enum oracle_type)job->types.in, first_in), first_out,
        oracle_encode(out_type, oracle_decode((enum oracle_type)job->types.in, first_in)));
}

static void check(struct harness_device *device, const struct values *values, rope2d_element out,
                  struct harness_report *report) {
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct job job = {.device = device,
                          .way = &ways[i],
                          .types = {(rope2d_element)values->type, out},
                          .values = values};
        uint32_t per_head = values_of_head(job.way);
        job.heads = (values->count + per_head - 1) / per_head;
        job.in = malloc(job.heads * job.way->head_dim * sizeof(float));
        job.out = calloc(job.heads * job.way->head_dim, sizeof(float));
        rope2d_status status = ROPE2D_ERROR_HOST_MEMORY;
        harness_log_clear(&device->log);
        if (job.in != NULL && job.out != NULL) {
            fill(&job);
            status = convert(&job);
        }
        if (status == ROPE2D_OK)
            judge(&job, report);
        else
            harness_fail(report, "%s, %s: %s\n%s", device->info.name, job.way->name,
                         rope2d_status_name(status), device->log.text);
        free(job.in);
        free(job.out);
    }
}

static void check_device(struct harness_device *device, struct values *values,
                         struct harness_report *report) {
    for (int narrow = ROPE2D_F16; narrow <= ROPE2D_BF16; narrow++) {
        values->count = 0;
        values->type = (enum oracle_type)narrow;
        add_all(values);
        for (int out = 0; out < ROPE2D_ELEMENT_COUNT; out++)
            check(device, values, (rope2d_element)out, report);
        values->count = 0;
        values->type = ORACLE_F32;
        add_boundaries(values, (enum oracle_type)narrow);
        add_edges(values);
        check(device, values, (rope2d_element)narrow, report);
    }
}

int main(int argc, char **argv) {
    static struct harness_device device;
    static struct harness_devices found;
    struct harness_report report = {0};
    struct values values = {.bits = calloc(MAX_VALUES, sizeof(uint32_t))};
    if (argc > 2 || values.bits == NULL) {
        (void)fputs("usage: test_conversions [all|BACKEND|BACKEND:INDEX]\n", stderr);
        free(values.bits);
        return 2;
    }
    harness_devices_find(&found, argc == 2 ? argv[1] : "all", &report);
    for (uint32_t i = 0; i < found.count; i++) {
        rope2d_status status =
            harness_device_open(&device, found.infos[i].backend, found.infos[i].index, 0, false);
        if (status == ROPE2D_OK)
            check_device(&device, &values, &report);
        else
            harness_fail(&report, "%s does not open: %s", found.infos[i].name, rope2d_status_name(status));
        harness_device_close(&device);
    }
    free(values.bits);
    return harness_finish(&report);
}

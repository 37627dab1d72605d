// SPDX-License-Identifier: MIT
// What an apply refuses, each with its own status and a line in the log, and nothing written.
#include "check.h"
#include "internal.h"

#include <stdio.h>
#include <string.h>

struct record {
    int lines;
    char last[512];
};

static void record_log(void *user, rope2d_log_level level, const char *text) {
    struct record *record = user;
    (void)level;
    record->lines++;
    (void)snprintf(record->last, sizeof(record->last), "%s", text);
}

// ------------------------------------------------------------------------------------------- what is refused

#define DIM    8
#define HEADS  2
#define TOKENS 4
#define BATCH  2

struct bench {
    struct record record;
    rope2d_host host;
    rope2d_device *device;
    rope2d_plan *plan, *narrowing, *other, *per_head;
    rope2d_positions *positions, *batched, *heads;
    float memory[4096];
    float other_memory[4096];
    rope2d_tensor tensors[2];
    rope2d_apply_params params;
};

static float freqs[3 * DIM];

static bool make_plan(struct bench *b, const rope2d_spec *spec, rope2d_element out, rope2d_plan **plan) {
    const rope2d_plan_params params = {.struct_size = sizeof(params), .spec = spec, .out = out};
    return rope2d_plan_create(b->device, &params, plan) == ROPE2D_OK;
}

static bool make_positions(struct bench *b, const rope2d_spec *spec, uint32_t batch,
                           rope2d_positions **positions) {
    static const float coordinates[BATCH * TOKENS] = {0, 1, 2, 3, 4, 5, 6, 7};
    const rope2d_positions_params params = {.struct_size = sizeof(params),
                                            .spec = spec,
                                            .tokens = TOKENS,
                                            .batch = batch,
                                            .coordinates = coordinates};
    return rope2d_positions_create(b->device, &params, positions) == ROPE2D_OK;
}

static bool set_up(struct bench *b) {
    memset(b, 0, sizeof(*b));
    for (int i = 0; i < 3 * DIM; i++)
        freqs[i] = 0.5f;
    b->host = (rope2d_host){.struct_size = sizeof(b->host), .user = &b->record, .log = record_log};
    const rope2d_device_params params = {.struct_size = sizeof(params), .host = &b->host};
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = DIM, .axes = 1, .freqs = freqs};
    if (rope2d_device_create(&params, &b->device) != ROPE2D_OK ||
        !make_plan(b, &spec, ROPE2D_F32, &b->plan) || !make_plan(b, &spec, ROPE2D_F16, &b->narrowing) ||
        !make_positions(b, &spec, 1, &b->positions) || !make_positions(b, &spec, BATCH, &b->batched))
        return false;
    spec.freq_heads = 3;
    if (!make_plan(b, &spec, ROPE2D_F32, &b->per_head) || !make_positions(b, &spec, 1, &b->heads))
        return false;
    spec.freq_heads = 1;
    spec.pairing = ROPE2D_PAIRING_HALF;
    return make_plan(b, &spec, ROPE2D_F32, &b->other);
}

static void reset(struct bench *b) {
    for (int i = 0; i < 2; i++) {
        b->tensors[i] = (rope2d_tensor){.heads = HEADS};
        b->tensors[i].in = rope2d_view_contiguous(b->memory + 1024 * i, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, BATCH,
                                                  TOKENS, HEADS, DIM);
    }
    b->params = (rope2d_apply_params){.struct_size = sizeof(b->params),
                                      .batch = BATCH,
                                      .tokens = TOKENS,
                                      .tensor_count = 2,
                                      .tensors = b->tensors};
    for (int i = 0; i < 4096; i++)
        b->memory[i] = b->other_memory[i] = (float)i;
}

static bool is_untouched(const struct bench *b) {
    for (int i = 0; i < 4096; i++)
        if (b->memory[i] != (float)i || b->other_memory[i] != (float)i)
            return false;
    return true;
}

static void expect_with(struct bench *b, const rope2d_plan *plan, const rope2d_positions *positions,
                        rope2d_status expected, const char *word, const char *name) {
    b->record.lines = 0;
    b->record.last[0] = '\0';
    const rope2d_status status = rope2d_apply(plan, positions, &b->params);
    const bool fails = expected != ROPE2D_OK;
    const bool logged =
        fails ? b->record.lines == 1 && strstr(b->record.last, word) != NULL : b->record.lines == 0;
    uint64_t dispatches = 99;
    const rope2d_status counted = rope2d_plan_dispatches(plan, positions, &b->params, &dispatches);
    const bool good = status == expected && logged && counted == expected && (!fails || dispatches == 0) &&
                      (!fails || is_untouched(b));
    if (!good)
        printf("%s: status %s, expected %s, %d lines: %s\n", name, rope2d_status_name(status),
               rope2d_status_name(expected), b->record.lines, b->record.last);
    CHECK(good, "%s", name);
    reset(b);
}

static void expect(struct bench *b, rope2d_status expected, const char *word, const char *name) {
    expect_with(b, b->plan, b->positions, expected, word, name);
}

static void test_views(struct bench *b) {
    rope2d_view *in = &b->tensors[1].in;
    in->base = NULL;
    expect(b, ROPE2D_ERROR_NULL, "tensors[1].in.base", "NULL base");
    b->tensors[1].out = *in;
    b->tensors[1].out.base = NULL;
    expect(b, ROPE2D_ERROR_NULL, "tensors[1].out.base is NULL; in place, all of out is 0", "NULL output");
    in->size -= 1;
    expect(b, ROPE2D_ERROR_TENSOR_SIZE, "tensors[1].in of batch 2, 4 tokens and 2 heads reaches 512 bytes",
           "one byte short");
    b->params.batch = 7;
    expect(b, ROPE2D_ERROR_TENSOR_SIZE, "tensors[0].in of batch 7", "a batch that memory has not");
    b->params.batch = UINT32_MAX;
    in->batch_stride = b->tensors[0].in.batch_stride = (int64_t)1 << 40;
    expect(b, ROPE2D_ERROR_STRIDE, "in.batch_stride is 1099511627776; 4294967295 of them",
           "a batch that overflows");
    in->offset = 4;
    expect(b, ROPE2D_ERROR_TENSOR_SIZE, "tensors[1].in", "an element past the end");
    in->offset = UINT64_MAX - 3;
    expect(b, ROPE2D_ERROR_TENSOR_SIZE, "tensors[1].in", "offset near 2^64");
    in->size = UINT64_MAX;
    in->offset = UINT64_MAX - 4096;
    expect(b, ROPE2D_ERROR_TENSOR_SIZE, "last address", "memory past the last address");
    in->size += 64;
    in->offset = 2;
    expect(b, ROPE2D_ERROR_TENSOR_ALIGNMENT, "tensors[1].in", "odd offset");
    in->base = (unsigned char *)in->base + 1;
    expect(b, ROPE2D_ERROR_TENSOR_ALIGNMENT, "tensors[1].in", "odd base");
    in->batch_stride = -1;
    expect(b, ROPE2D_ERROR_STRIDE, "in.batch_stride is -1", "negative batch stride");
    in->token_stride = INT64_MIN;
    expect(b, ROPE2D_ERROR_STRIDE, "in.token_stride", "least token stride");
    in->head_stride = -8;
    expect(b, ROPE2D_ERROR_STRIDE, "in.head_stride is -8", "negative head stride");
    in->head_stride = INT64_MAX;
    expect(b, ROPE2D_ERROR_STRIDE, "in.head_stride", "head stride that overflows");
    in->token_stride = INT64_MAX / 3;
    expect(b, ROPE2D_ERROR_STRIDE, "in.token_stride", "token stride that overflows");
    in->batch_stride = (int64_t)1 << 58;
    expect(b, ROPE2D_ERROR_STRIDE, "in.batch_stride", "batch stride that overflows");
    in->token_stride = 0;
    expect(b, ROPE2D_ERROR_STRIDE, "out.token_stride is 0", "stride 0 in place");
    in->token_stride = 0;
    b->tensors[1].out =
        rope2d_view_contiguous(b->other_memory, ROPE2D_F32, ROPE2D_LAYOUT_BHND, BATCH, TOKENS, HEADS, DIM);
    expect(b, ROPE2D_OK, "", "broadcast input");
    b->tensors[1].out = b->tensors[1].in;
    b->tensors[1].out.base = b->other_memory;
    b->tensors[1].out.batch_stride = 0;
    expect(b, ROPE2D_ERROR_STRIDE, "out.batch_stride is 0", "stride 0 of an output");
    b->params.batch = 1;
    in->batch_stride = INT64_MAX;
    expect(b, ROPE2D_OK, "", "a stride that is never taken");
}

static void test_places(struct bench *b) {
    expect(b, ROPE2D_OK, "", "in place");
    expect_with(b, b->narrowing, b->positions, ROPE2D_ERROR_IN_PLACE_TYPE, "reads f32 and writes f16",
                "in place with a change of type");
    b->tensors[0].out = b->tensors[0].in;
    expect(b, ROPE2D_OK, "", "in place, spelled out");
    b->tensors[0].out = b->tensors[0].in;
    expect_with(b, b->narrowing, b->positions, ROPE2D_ERROR_IN_PLACE_TYPE, "tensors[0]",
                "in place with a change of type, spelled out");
    b->tensors[0].out = b->tensors[0].in;
    b->tensors[0].out.size += 8;
    b->tensors[0].out.offset = 4;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[0].out and tensors[0].in", "an element beside its input");
    b->tensors[1].in = b->tensors[0].in;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[1].out and tensors[0].out", "two tensors in one place");
    b->tensors[1].in = b->tensors[0].in;
    for (int i = 0; i < 2; i++) {
        b->tensors[i].out = b->tensors[i].in;
        b->tensors[i].out.base = b->other_memory + 1024 * i;
    }
    expect(b, ROPE2D_OK, "", "one input for two outputs");
    b->tensors[1].out = b->tensors[0].in;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[1].out and tensors[0].out",
           "an output where another is in place");
    b->tensors[0].out = b->tensors[1].in;
    b->tensors[1].out = b->tensors[1].in;
    b->tensors[1].out.base = b->other_memory;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[0].out and tensors[1].in", "an output over another's input");
    b->tensors[0].in.head_stride = DIM - 1;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[0].out overlaps itself", "heads that overlap");
    b->tensors[0].in.token_stride = DIM;
    expect(b, ROPE2D_ERROR_OVERLAP, "tensors[0].out overlaps itself", "tokens that overlap");
}

static void test_arguments(struct bench *b) {
    expect_with(b, b->per_head, b->heads, ROPE2D_ERROR_HEADS, "tensors[0].heads is 2", "heads of the spec");
    expect_with(b, b->other, b->positions, ROPE2D_ERROR_MISMATCH, "pairing", "plan of another pairing");
    expect_with(b, b->plan, b->heads, ROPE2D_ERROR_MISMATCH, "freq_heads", "positions of other heads");
    b->params.first_token = 1;
    expect(b, ROPE2D_ERROR_TOKENS, "first_token 1", "tokens past the positions");
    b->params.tokens = UINT64_MAX;
    b->params.first_token = 2;
    expect(b, ROPE2D_ERROR_TOKENS, "18446744073709551615", "tokens that overflow");
    b->params.batch = BATCH + 1;
    expect_with(b, b->plan, b->batched, ROPE2D_ERROR_BATCH, "batch is 3", "another batch");
    b->params.tensor_count = ROPE2D_MAX_TENSORS + 1;
    expect(b, ROPE2D_ERROR_LIMIT, "tensor_count is 65", "too many tensors");
    b->params.tensors = NULL;
    expect(b, ROPE2D_ERROR_NULL, "tensors is NULL", "NULL tensors");
    b->params.struct_size = 8;
    expect(b, ROPE2D_ERROR_STRUCT_SIZE, "struct_size is 8", "struct_size");
    expect_with(b, b->plan, NULL, ROPE2D_ERROR_NULL, "positions is NULL", "NULL positions");
    CHECK(rope2d_apply(NULL, b->positions, &b->params) == ROPE2D_ERROR_NULL, "NULL plan");
    CHECK(rope2d_apply(b->plan, b->positions, NULL) == ROPE2D_ERROR_NULL, "NULL params");
    CHECK(rope2d_plan_dispatches(b->plan, b->positions, &b->params, NULL) == ROPE2D_ERROR_NULL,
          "NULL dispatches");
}

// Positions of another device, and of frequencies that make a dense table where the plan's make an axial one.
static void test_mismatches(struct bench *b) {
    static float both_axes[2 * DIM] = {[0] = 1, [DIM / 2 + 1] = 1};
    static const float coordinates[2 * TOKENS] = {0, 1, 2, 3, 4, 5, 6, 7};
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = DIM, .axes = 2, .freqs = both_axes};
    const rope2d_positions_params params = {
        .struct_size = sizeof(params), .spec = &spec, .tokens = TOKENS, .coordinates = coordinates};
    rope2d_device *device = b->device;
    rope2d_plan *axial = NULL;
    rope2d_positions *dense = NULL, *elsewhere = NULL;
    bool is_ready = make_plan(b, &spec, ROPE2D_F32, &axial);
    both_axes[DIM / 2] = 1;
    is_ready = is_ready && rope2d_positions_create(device, &params, &dense) == ROPE2D_OK;
    const rope2d_device_params another = {.struct_size = sizeof(another), .host = &b->host};
    is_ready = is_ready && rope2d_device_create(&another, &b->device) == ROPE2D_OK;
    spec.axes = 1;
    spec.freqs = freqs;
    is_ready = is_ready && make_positions(b, &spec, 1, &elsewhere);
    CHECK(is_ready, "a dense table, and a device more");
    if (is_ready) {
        expect_with(b, axial, dense, ROPE2D_ERROR_MISMATCH, "freqs (axial or dense)",
                    "another kind of table");
        expect_with(b, b->plan, elsewhere, ROPE2D_ERROR_MISMATCH, "index 0, and ", "another device");
    }
    rope2d_positions_destroy(elsewhere);
    if (b->device != device)
        rope2d_device_destroy(b->device);
    b->device = device;
    rope2d_positions_destroy(dense);
    rope2d_plan_destroy(axial);
}

static void test_nothing(struct bench *b) {
    b->params.tokens = 0;
    b->tensors[0].in.base = NULL;
    expect(b, ROPE2D_OK, "", "no tokens");
    b->params.batch = 0;
    b->tensors[0].in.base = NULL;
    expect_with(b, b->plan, b->batched, ROPE2D_OK, "", "no batch");
    memset(b->tensors, 0, sizeof(b->tensors));
    expect(b, ROPE2D_OK, "", "no heads");
    b->params.tensor_count = 0;
    b->params.tensors = NULL;
    expect(b, ROPE2D_OK, "", "no tensors");
    CHECK(is_untouched(b), "nothing was done");
}

static void test_contiguous(void) {
    float x;
    const rope2d_view bnhd = rope2d_view_contiguous(&x, ROPE2D_F16, ROPE2D_LAYOUT_BNHD, 2, 3, 5, 7);
    CHECK(bnhd.base == &x && bnhd.size == 420 && bnhd.offset == 0 && bnhd.batch_stride == 105 &&
              bnhd.token_stride == 35 && bnhd.head_stride == 7,
          "BNHD");
    const rope2d_view bhnd = rope2d_view_contiguous(&x, ROPE2D_F32, ROPE2D_LAYOUT_BHND, 2, 3, 5, 7);
    CHECK(bhnd.size == 840 && bhnd.batch_stride == 105 && bhnd.token_stride == 7 && bhnd.head_stride == 21,
          "BHND");
    const uint64_t large = (uint64_t)1 << 40;
    CHECK(rope2d_view_contiguous(&x, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1 << 20, large, 8, 8).size == 0,
          "a size that overflows");
    CHECK(rope2d_view_contiguous(&x, (rope2d_element)3, ROPE2D_LAYOUT_BNHD, 2, 3, 5, 7).size == 0 &&
              rope2d_view_contiguous(&x, ROPE2D_F32, (rope2d_layout)2, 2, 3, 5, 7).size == 0,
          "an unknown layout or type");
    CHECK(rope2d_element_size(ROPE2D_F32) == 4 && rope2d_element_size(ROPE2D_BF16) == 2 &&
              rope2d_element_size((rope2d_element)3) == 0,
          "element sizes");
}

int main(void) {
    static struct bench b;
    const bool is_ready = set_up(&b);
    CHECK(is_ready, "set up");
    if (is_ready) {
        reset(&b);
        test_views(&b);
        test_places(&b);
        test_arguments(&b);
        test_mismatches(&b);
        test_nothing(&b);
    }
    test_contiguous();
    rope2d_plan_destroy(b.plan);
    rope2d_plan_destroy(b.narrowing);
    rope2d_plan_destroy(b.other);
    rope2d_plan_destroy(b.per_head);
    rope2d_positions_destroy(b.positions);
    rope2d_positions_destroy(b.batched);
    rope2d_positions_destroy(b.heads);
    rope2d_device_destroy(b.device);
    return check_finish();
}

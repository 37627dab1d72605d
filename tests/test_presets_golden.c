// SPDX-License-Identifier: MIT
// Every golden case from the name of its preset, the size of its image and case.json's `params` alone: the
// same frequencies and coordinates, bit for bit but for the exceptions listed, and the recorded output on a
// device. Learned frequencies and keypoints are the caller's; those cases are counted apart.
//
// usage: test_presets_golden cpu|vulkan|opencl
#include "check.h"
#include "preset_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Recorded in fp32, and repeated in the model's own order: absolute, values reach about 5.
#define FP32_LIMIT 4e-6

static int from_caller;

// Largest differences in ulp from the case's own numbers, which the model computed in fp32: measured, and
// true to the ulp, so that neither a better nor a worse one goes unseen.
static const struct exception {
    const char *golden;
    uint32_t flags;
    uint32_t frequency_ulp;
    uint32_t coordinate_ulp; // of numbers about 1; where exactly 0 is -2^-25 instead, that counts as one
} exceptions[] = {
    {"timm_rotary_pixel", 0, 2, 1},
    {"timm_rotary_pixel", ROPE2D_PRESET_MODEL_FP32, 0, 0},
    {"lucidrains_axial_pixel", 0, 2, 1},
    {"lucidrains_axial_pixel", ROPE2D_PRESET_MODEL_FP32, 0, 0},
    {"ltx_video", 0, 8, 0},
    {"ltx_video", ROPE2D_PRESET_MODEL_FP32, 0, 0},
};

static int64_t order_of(float x) { // neighbouring floats have neighbouring numbers
    int32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits < 0 ? -(int64_t)(bits & 0x7fffffff) : bits;
}

static uint64_t ulps(const float *a, const float *b, size_t count) {
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t distance = order_of(a[i]) - order_of(b[i]);
        uint64_t size = (uint64_t)(distance < 0 ? -distance : distance);
        if (fabsf(a[i]) < 0x1p-24F && fabsf(b[i]) < 0x1p-24F && size != 0)
            size = 1;
        most = size > most ? size : most;
    }
    return most;
}

static void print_log(void *user, rope2d_log_level level, const char *text) {
    (void)user;
    (void)level;
    printf("     %s\n", text);
}

static const rope2d_host host = {.struct_size = sizeof(host), .log = print_log};

struct places {
    rope2d_tokens tokens;
};

static void places_free(struct places *places) {
    free(places->tokens.coordinates);
    free(places->tokens.unrotated);
}

static bool places_make(const rope2d_preset *preset, const rope2d_prompt *prompt, uint32_t axes,
                        struct places *places) {
    rope2d_tokens *tokens = &places->tokens;
    *tokens = (rope2d_tokens){.struct_size = sizeof(*tokens)};
    if (rope2d_preset_positions(preset, prompt, &host, tokens) != ROPE2D_OK)
        return false;
    tokens->coordinates = calloc(tokens->tokens * axes + 1, sizeof(float));
    tokens->unrotated = calloc(tokens->unrotated_count + 1, sizeof(*tokens->unrotated));
    return rope2d_preset_positions(preset, prompt, &host, tokens) == ROPE2D_OK;
}

// What lightglue's caller knows: keypoints.
static bool places_copy(const struct golden_case *golden, struct places *places) {
    rope2d_tokens *tokens = &places->tokens;
    *tokens = (rope2d_tokens){.struct_size = sizeof(*tokens), .tokens = golden->q.tokens};
    size_t bytes = golden->q.tokens * golden->axes * sizeof(float);
    tokens->coordinates = malloc(bytes);
    memcpy(tokens->coordinates, golden->q.coordinates, bytes);
    return true;
}

static double difference(const struct golden_tensor *tensor, const float *out) {
    const float *recorded = tensor->output.data;
    double most = 0;
    for (size_t i = 0; i < tensor->output.elements; i++) {
        double distance = fabs((double)out[i] - recorded[i]);
        most = distance > most || isnan(distance) ? distance : most;
    }
    return most;
}

// The largest difference from the recorded output; NaN when something fails.
static double rotate(rope2d_device *device, const rope2d_spec *spec, const struct places *places,
                     const struct golden_tensor *tensor) {
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    float *out = calloc(tensor->output.elements, sizeof(float));
    uint64_t bytes = tensor->output.elements * sizeof(float);
    const rope2d_plan_params how = {
        .struct_size = sizeof(how), .spec = spec, .flags = ROPE2D_PLAN_NO_SELF_TEST};
    const rope2d_positions_params where = {.struct_size = sizeof(where),
                                           .spec = spec,
                                           .tokens = places->tokens.tokens,
                                           .coordinates = places->tokens.coordinates,
                                           .unrotated = places->tokens.unrotated,
                                           .unrotated_count = places->tokens.unrotated_count};
    rope2d_tensor io = {.heads = (uint32_t)tensor->heads,
                        .in = {.base = tensor->input.data,
                               .size = bytes,
                               .batch_stride = (int64_t)tensor->batch_stride,
                               .token_stride = (int64_t)tensor->token_stride,
                               .head_stride = (int64_t)tensor->head_stride}};
    io.out = io.in;
    io.out.base = out;
    const rope2d_apply_params what = {.struct_size = sizeof(what),
                                      .batch = (uint32_t)tensor->batch,
                                      .tokens = tensor->tokens,
                                      .tensor_count = 1,
                                      .tensors = &io};
    bool done = out != NULL && rope2d_plan_create(device, &how, &plan) == ROPE2D_OK &&
                rope2d_positions_create(device, &where, &positions) == ROPE2D_OK &&
                rope2d_apply(plan, positions, &what) == ROPE2D_OK;
    double most = done ? difference(tensor, out) : NAN;
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    free(out);
    return most;
}

struct run {
    const struct golden_case *golden;
    const char *preset;
    uint32_t flags;
    struct preset_case words;
    rope2d_preset *made;
    rope2d_spec spec;
    struct places q, k;
};

static struct exception find_exception(const struct run *run) {
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(*exceptions); i++)
        if (strcmp(exceptions[i].golden, run->golden->name) == 0 && exceptions[i].flags == run->flags)
            return exceptions[i];
    return (struct exception){.flags = run->flags};
}

static void compare_numbers(const struct run *run, bool expects_frequencies) {
    const struct golden_case *golden = run->golden;
    struct exception allowed = find_exception(run);
    char detail[200] = "";
    size_t count = golden->axes * golden->freq_heads * golden->pairs;
    bool same_shape = run->spec.axes == golden->axes && run->spec.freq_heads == golden->freq_heads &&
                      run->spec.pairs == golden->pairs &&
                      (run->spec.freqs_hi != NULL) == (golden->tables == 2) &&
                      run->q.tokens.tokens == golden->q.tokens && run->k.tokens.tokens == golden->k.tokens;
    if (!same_shape) {
        CHECK_DETAIL(false, golden->name, "shape of frequencies or number of tokens");
        return;
    }
    uint64_t off = ulps(run->spec.freqs, golden->freqs, count);
    if (golden->tables == 2 && off == 0)
        off = ulps(run->spec.freqs_hi, golden->freqs + count, count);
    if (expects_frequencies) {
        if (off != 0)
            (void)snprintf(detail, sizeof(detail), "frequencies %llu ulp (listed: %u)%s",
                           (unsigned long long)off, allowed.frequency_ulp,
                           run->flags != 0 ? ", model_fp32" : "");
        CHECK_DETAIL(off == allowed.frequency_ulp, golden->name, detail);
    }
    detail[0] = '\0';
    off = ulps(run->q.tokens.coordinates, golden->q.coordinates, golden->q.tokens * golden->axes);
    uint64_t off_k = ulps(run->k.tokens.coordinates, golden->k.coordinates, golden->k.tokens * golden->axes);
    off = off_k > off ? off_k : off;
    if (off != 0)
        (void)snprintf(detail, sizeof(detail), "coordinates %llu ulp (listed: %u)", (unsigned long long)off,
                       allowed.coordinate_ulp);
    CHECK_DETAIL(off == allowed.coordinate_ulp, golden->name, detail);
}

// The name alone says the same as the name with case.json's numbers, where the case has the model's own
// sizes.
static void compare_defaults(const struct run *run) {
    rope2d_preset_info info = {.struct_size = sizeof(info)};
    (void)rope2d_preset_get_info(run->preset, &host, &info);
    uint32_t heads = info.heads == 0 ? 1 : info.heads;
    if (info.is_learned || info.head_dim != run->spec.head_dim || heads != run->spec.freq_heads)
        return;
    rope2d_preset *preset = NULL;
    const rope2d_preset_params params = {
        .struct_size = sizeof(params), .name = run->preset, .flags = run->flags};
    bool good = rope2d_preset_create(&params, &host, &preset) == ROPE2D_OK;
    rope2d_spec spec = rope2d_preset_spec(preset);
    size_t bytes = (size_t)run->spec.axes * run->spec.freq_heads * run->spec.pairs * sizeof(float);
    good = good && spec.pairs == run->spec.pairs && memcmp(spec.freqs, run->spec.freqs, bytes) == 0;
    CHECK_DETAIL(good, run->golden->name, good ? "" : "the preset's own numbers are not the case's");
    rope2d_preset_destroy(preset);
}

static bool prepare(const char *root, struct run *run) {
    if (!preset_case_read(root, run->preset, run->golden, &run->words))
        return false;
    rope2d_preset_info info = {.struct_size = sizeof(info)};
    (void)rope2d_preset_get_info(run->preset, &host, &info);
    run->words.params.flags = run->flags;
    if (info.is_learned) {
        run->words.params.learned = run->golden->freqs;
        run->words.params.heads = (uint32_t)run->golden->freq_heads;
    }
    if (rope2d_preset_create(&run->words.params, &host, &run->made) != ROPE2D_OK)
        return false;
    run->spec = rope2d_preset_spec(run->made);
    if (strcmp(run->preset, "lightglue") == 0)
        return places_copy(run->golden, &run->q) && places_copy(run->golden, &run->k);
    return places_make(run->made, &run->words.prompt, run->spec.axes, &run->q) &&
           places_make(run->made, &run->words.prompt_k, run->spec.axes, &run->k);
}

static void try_case(const char *root, rope2d_device *device, const struct golden_case *golden,
                     const char *preset, uint32_t flags) {
    struct run run = {.golden = golden, .preset = preset, .flags = flags};
    char detail[200];
    if (!prepare(root, &run)) {
        CHECK_DETAIL(false, golden->name, preset);
    } else {
        bool is_bf16_case = strcmp(golden->name, "dinov3_bf16_periods") == 0;
        // Frequencies of the model's own code are not the exact ones that the case holds: output decides.
        compare_numbers(&run, flags == 0 || find_exception(&run).golden != NULL || is_bf16_case);
        compare_defaults(&run);
        double off_q = rotate(device, &run.spec, &run.q, &golden->q);
        double off_k = rotate(device, &run.spec, &run.k, &golden->k);
        double off = off_k > off_q || isnan(off_k) ? off_k : off_q;
        double limit = flags == 0 || golden->recorded_in_bf16 ? golden->tolerance : FP32_LIMIT;
        (void)snprintf(detail, sizeof(detail), "%-20s %-10s output %.2e of %.0e", preset,
                       flags == 0 ? "" : "model_fp32", off, limit);
        CHECK_DETAIL(off <= limit, golden->name, detail);
    }
    rope2d_preset_destroy(run.made);
    places_free(&run.q);
    places_free(&run.k);
}

// Controls: a wrong base, the rows of an image in place of its blocks, and swapped axes must be far off.
static void try_controls(const char *root, rope2d_device *device) {
    static const char *const names[] = {"right", "wrong base", "wrong order", "swapped axes"};
    struct golden_case golden;
    char path[1024], error[GOLDEN_ERROR_SIZE];
    (void)snprintf(path, sizeof(path), "%s/qwen2vl_vision", root);
    if (!golden_load(path, &golden, error)) {
        CHECK_DETAIL(false, "controls", error);
        return;
    }
    for (int control = 0; control < 4; control++) {
        struct run run = {.golden = &golden, .preset = "qwen2-vl-vision"};
        bool done = preset_case_read(root, run.preset, &golden, &run.words);
        run.words.params.base = control == 1 ? 9000 : 0;
        run.words.prompt.merge = control == 2 ? 1 : 0;
        done = done && rope2d_preset_create(&run.words.params, &host, &run.made) == ROPE2D_OK;
        run.spec = rope2d_preset_spec(run.made);
        done = done && places_make(run.made, &run.words.prompt, run.spec.axes, &run.q);
        for (size_t t = 0; control == 3 && t < run.q.tokens.tokens; t++) {
            float row = run.q.tokens.coordinates[2 * t];
            run.q.tokens.coordinates[2 * t] = run.q.tokens.coordinates[2 * t + 1];
            run.q.tokens.coordinates[2 * t + 1] = row;
        }
        double off = done ? rotate(device, &run.spec, &run.q, &golden.q) : NAN;
        CHECK_DETAIL(control == 0 ? off <= golden.tolerance : off > 1000 * golden.tolerance, names[control],
                     done ? "" : "does not run");
        rope2d_preset_destroy(run.made);
        places_free(&run.q);
    }
    golden_free(&golden);
}

// The preset that names the case among its proofs.
static const char *preset_of(const char *golden) {
    size_t length = strlen(golden);
    for (uint32_t i = 0; i < rope2d_preset_count(); i++) {
        rope2d_preset_info info = {.struct_size = sizeof(info)};
        (void)rope2d_preset_get_info(rope2d_preset_name(i), NULL, &info);
        for (const char *at = strstr(info.golden, golden); at != NULL; at = strstr(at + 1, golden))
            if ((at == info.golden || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
                return info.name;
    }
    return NULL;
}

// The model's own order changes tables, which the host computes for every device: the CPU tries it.
static void try_device(const char *root, rope2d_device *device, bool is_cpu, char (*names)[GOLDEN_NAME_SIZE],
                       size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct golden_case golden;
        char path[1024], error[GOLDEN_ERROR_SIZE];
        (void)snprintf(path, sizeof(path), "%s/%s", root, names[i]);
        if (!golden_load(path, &golden, error)) {
            CHECK_DETAIL(false, names[i], error);
            continue;
        }
        const char *preset = preset_of(names[i]);
        rope2d_preset_info info = {.struct_size = sizeof(info)};
        if (preset == NULL || rope2d_preset_get_info(preset, &host, &info) != ROPE2D_OK) {
            CHECK_DETAIL(false, names[i], "no preset names this case");
        } else {
            from_caller += info.is_learned != 0;
            bool only_fp32 = strcmp(names[i], "dinov3_bf16_periods") == 0;
            if (!only_fp32)
                try_case(root, device, &golden, preset, 0);
            if (only_fp32 || (is_cpu && strcmp(names[i], "dinov3") != 0))
                try_case(root, device, &golden, preset, ROPE2D_PRESET_MODEL_FP32);
        }
        golden_free(&golden);
    }
}

int main(int argc, char **argv) {
    static const char *const backends[] = {"cpu", "vulkan", "opencl"};
    const char *root = getenv("ROPE2D_GOLDEN");
    const char *wanted = argc > 1 ? argv[1] : "cpu";
    size_t count = 0;
    char(*names)[GOLDEN_NAME_SIZE] = golden_list(root == NULL ? "tests/golden" : root, &count);
    if (names == NULL || count == 0) {
        CHECK(false, "no golden cases: set ROPE2D_GOLDEN");
        return check_finish();
    }
    uint32_t tried = 0;
    for (uint32_t b = 0; b < ROPE2D_BACKEND_COUNT; b++) {
        uint32_t devices = 0;
        if (strcmp(wanted, backends[b]) != 0 ||
            rope2d_enumerate((rope2d_backend)b, NULL, &devices, NULL) != ROPE2D_OK)
            continue;
        for (uint32_t d = 0; d < devices; d++) {
            rope2d_device *device = NULL;
            const rope2d_device_params params = {
                .struct_size = sizeof(params), .backend = (rope2d_backend)b, .index = d, .host = &host};
            rope2d_device_info info = {.struct_size = sizeof(info)};
            if (rope2d_device_create(&params, &device) != ROPE2D_OK) {
                CHECK_DETAIL(false, wanted, "no device");
                continue;
            }
            (void)rope2d_device_get_info(device, &info);
            printf("%s %u: %s\n", wanted, d, info.name);
            from_caller = 0;
            try_device(root == NULL ? "tests/golden" : root, device, b == ROPE2D_BACKEND_CPU, names, count);
            try_controls(root == NULL ? "tests/golden" : root, device);
            rope2d_device_destroy(device);
            tried++;
        }
    }
    if (tried == 0) {
        check_skip("%s: no device", wanted);
    }
    printf("%zu cases, %d of them with frequencies from the caller\n", count, from_caller);
    free(names);
    return check_finish();
}

// SPDX-License-Identifier: MIT
#include "opencl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KERNEL_FILE  "rope2d.cl"
#define KERNEL_NAME  "rope2d"
#define GROUP_SIZE   64
#define VECTOR_GROUP 128

enum { MOST_CONSTANTS = 16, OPTIONS_SIZE = 400 + MOST_CONSTANTS * 24 }; // units that options spell out

static void log_build(const rope2d_cl_device *device, cl_program program) {
    const rope2d_cl *cl = &device->cl;
    size_t size = 0;
    if (cl->GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS ||
        size < 2)
        return;
    char *text = rope2d_allocate(cl->host, (uint64_t)size + 1, 1); // with a NUL, whatever the driver does
    if (!text)
        return;
    if (cl->GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, text, NULL) == CL_SUCCESS)
        rope2d_log_text(cl->host, ROPE2D_LOG_ERROR, text);
    rope2d_release(cl->host, text, (uint64_t)size + 1, 1);
}

// What a kernel is built for.
typedef struct kernel_kind {
    bool vector;
    bool tokens;
    bool converts; // f16 as the device does
    bool has_part; // the last unit is of four
    const rope2d_units *units;
    rope2d_units joined; // of `words`
    uint32_t words[2 * MOST_CONSTANTS];
} kernel_kind;

bool rope2d_cl_is_pocl(const rope2d_device *front) {
    return front->info.is_software && strstr(front->info.driver, "(PoCL)") != NULL;
}

bool rope2d_cl_keeps_order(const rope2d_device *front) {
    return strstr(front->info.name, "llvmpipe") != NULL;
}

static bool reads_texture(const rope2d_plan *plan) {
    return plan->table_kind == ROPE2D_TABLE_TEXTURE && !rope2d_cl_is_pocl(plan->device);
}

// Drivers that compile work-items which run by themselves into vectors of the CPU. Measured: PoCL 3.1, where
// the lanes of shaders/vector.h reach 0.35 of a copy and tokens 0.9. Rusticl on llvmpipe, of the same type,
// is the other way about: its lanes are the vectors.
static bool takes_tokens(const rope2d_plan *plan) {
    const uint32_t other = R_TWO_ANGLES_FLAG | R_HEAD_TABLE_FLAG | R_FACTORED_FLAG;
    return rope2d_cl_is_pocl(plan->device) && (rope2d_plan_vectors(plan)->flags & other) == 0;
}

// Two units of four at a time, where they lie side by side, for halves are slow in fours. An odd one is
// joined with itself: the kernel stores it once.
static bool join_fours(kernel_kind *kind, const rope2d_units *fours) {
    const uint32_t count = (fours->count + 1) / 2;
    if (count > MOST_CONSTANTS || fours->count != fours->pairs || (fours->flags & R_INTERLEAVED_FLAG) != 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *a = fours->words + 4 * (size_t)i;
        const uint32_t *b = 2 * i + 1 < fours->count ? a + 2 : a;
        if (a != b && (R_UNIT_LO(b[0]) != R_UNIT_LO(a[0]) + 4 || R_UNIT_HI(b[0]) != R_UNIT_HI(a[0]) + 4))
            return false;
        kind->words[2 * i] = a[0] | b[0] >> 24 << 28; // four's axes are the lower two
        kind->words[2 * i + 1] =
            R_UNIT_LO(a[1]) | R_UNIT_LO(b[1]) << 12 | a[1] >> 24 << 24 | b[1] >> 24 << 28;
    }
    kind->has_part = fours->count % 2 != 0;
    kind->joined = (rope2d_units){.words = kind->words, .count = count, .pairs = count};
    kind->joined.flags = fours->flags | R_EIGHT_FLAG;
    return true;
}

static void choose_kind(const rope2d_plan *plan, bool vector, kernel_kind *kind) {
    const rope2d_units *eights = &plan->pattern.vector[ROPE2D_EIGHTS];
    *kind = (kernel_kind){.vector = vector, .units = &plan->pattern.single};
    if (!vector)
        return;
    kind->tokens = takes_tokens(plan);
    kind->units = rope2d_plan_vectors(plan);
    if (kind->tokens && eights->count > 0)
        kind->units = eights;
    else if (kind->tokens && (plan->in != ROPE2D_F32 || plan->out != ROPE2D_F32) &&
             join_fours(kind, kind->units))
        kind->units = &kind->joined;
}

static void add_token_options(char *options, size_t length, const rope2d_plan *plan,
                              const rope2d_units *units) {
    const rope2d_cl_device *device = plan->device->impl;
    length += (size_t)snprintf(options + length, OPTIONS_SIZE - length,
                               " -DR_RUN=%d -DR_AXES=%u -DR_RUN_UNITS=%uu -DR_RUN_PAIR_UNITS=%uu -DR_AMD=%d",
                               (units->flags & R_EIGHT_FLAG) != 0 ? 8 : 4, (unsigned)plan->pattern.row_axes,
                               (unsigned)units->count, (unsigned)units->pairs,
                               strcmp(plan->device->info.vendor, "AuthenticAMD") == 0);
    if (device->last_cache > 0)
        length += (size_t)snprintf(options + length, OPTIONS_SIZE - length, " -DR_CACHE=%" PRIu64 "ul",
                                   (uint64_t)device->last_cache / 2);
    for (uint32_t i = 0; i < 2 * units->count && units->count <= MOST_CONSTANTS; i++)
        length += (size_t)snprintf(options + length, OPTIONS_SIZE - length, "%s0x%xu",
                                   i == 0 ? " -DR_WORDS=" : ",", (unsigned)units->words[i]);
}

static rope2d_status compile(const rope2d_plan *plan, rope2d_cl_source *source, const char *options,
                             rope2d_cl_cached *compiled) {
    rope2d_cl_device *device = plan->device->impl;
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    const bool is_edited = plan->device->shader_folder != NULL;
    if (is_edited && !source->text)
        OWN(rope2d_cl_source_create(plan->device, KERNEL_FILE, source));
    if (rope2d_cl_cache_find(device, is_edited ? source->text : NULL, options, KERNEL_NAME, compiled))
        return ROPE2D_OK; // with its first kernel
    if (!source->text)
        OWN(rope2d_cl_source_create(plan->device, KERNEL_FILE, source));
    const char *text = source->text;
    CL_MAKE(compiled->program, CreateProgramWithSource, device->context, 1, &text, &source->size);
    cl_int code = cl->BuildProgram(compiled->program, 1, &device->id, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        log_build(device, compiled->program);
        OWN(rope2d_cl_failed(cl, "clBuildProgram(" KERNEL_FILE ")", code));
    }
    CL_MAKE(compiled->kernel, CreateKernel, compiled->program, KERNEL_NAME);
fail:
    return status;
}

static uint32_t kernel_flags(const rope2d_plan *plan, const kernel_kind *kind) {
    uint32_t flags = kind->units->flags;
    if (!kind->vector || kind->tokens)
        return flags;
    if (rope2d_cl_keeps_order(plan->device))
        flags |= R_ORDER_FLAG;
    else if (rope2d_plan_lane_heads(plan) == 2)
        flags |= R_TWO_HEADS_FLAG;
    return flags | (kind->converts ? R_CONVERTS_FLAG : 0);
}

static rope2d_status build(const rope2d_plan *plan, rope2d_cl_source *source, const kernel_kind *kind,
                           rope2d_cl_variant *variant) {
    char options[OPTIONS_SIZE];
    // Nothing that lets a compiler fuse or reorder: -cl-mad-enable does so in spite of the pragma.
    snprintf(options, sizeof(options),
             "-cl-std=CL1.2 -DR_IN=%uu -DR_OUT=%uu -DR_VECTOR=%d -DR_FLAGS=%uu -DR_TEXTURE=%d%s%s",
             (unsigned)plan->in, (unsigned)plan->out, kind->vector, (unsigned)kernel_flags(plan, kind),
             reads_texture(plan), kind->converts && kind->tokens ? " -DR_HARDWARE=1" : "",
             kind->has_part ? " -DR_PART=1" : "");
    if (kind->tokens)
        add_token_options(options, strlen(options), plan, kind->units);
    ROPE2D_TRY(compile(plan, source, options, &variant->compiled));
    rope2d_cl_cache_enlist(plan->device->impl, &variant->compiled);
    return ROPE2D_OK;
}

static uint32_t power_of_two_at_most(uint64_t value, uint32_t limit) {
    uint32_t power = limit;
    while (power > value && power > 1)
        power /= 2;
    return power;
}

static rope2d_status variant_create(const rope2d_plan *plan, rope2d_cl_source *source,
                                    const kernel_kind *kind, rope2d_cl_variant *variant) {
    const rope2d_cl_device *device = plan->device->impl;
    const rope2d_cl *cl = &device->cl;
    const rope2d_units *units = kind->units;
    const uint64_t words = kind->vector ? 2 * (uint64_t)units->count : units->count;
    rope2d_status status = ROPE2D_OK;
    size_t most = 0;
    OWN(build(plan, source, kind, variant));
    OWN(rope2d_cl_buffer_create(device, CL_MEM_READ_ONLY, words * sizeof(*units->words), units->words,
                                &variant->units));
    CL(GetKernelWorkGroupInfo, variant->compiled.kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof(most),
       &most, NULL);
    if (most > plan->device->info.max_group_size)
        most = plan->device->info.max_group_size;
    variant->group_size =
        kind->tokens ? 1 : power_of_two_at_most(most, kind->vector ? VECTOR_GROUP : GROUP_SIZE);
fail:
    return status;
}

static void variant_destroy(rope2d_cl_device *device, rope2d_cl_variant *variant) {
    rope2d_cl_memory_release(device, &variant->units);
    if (variant->compiled.kernel)
        device->cl.ReleaseKernel(variant->compiled.kernel);
    if (variant->compiled.program) {
        rope2d_cl_cache_delist(device, &variant->compiled);
        device->cl.ReleaseProgram(variant->compiled.program);
    }
    memset(variant, 0, sizeof(*variant));
}

static rope2d_status make_vector(rope2d_plan *plan, bool converts, void *source) {
    rope2d_cl_plan *own = plan->impl;
    kernel_kind kind;
    choose_kind(plan, true, &kind);
    kind.converts = converts;
    variant_destroy(plan->device->impl, &own->vector);
    return variant_create(plan, source, &kind, &own->vector);
}

rope2d_status rope2d_opencl_plan_create(rope2d_plan *plan) {
    const rope2d_device *front = plan->device;
    const rope2d_host *host = &front->host;
    rope2d_status status = ROPE2D_OK;
    rope2d_cl_source source = {NULL, 0, 0};
    const rope2d_units *vectors = rope2d_plan_vectors(plan);
    if (plan->table_kind == ROPE2D_TABLE_TEXTURE && !front->info.has_textures)
        return rope2d_fail(host, ROPE2D_ERROR_UNSUPPORTED,
                           "table: textures, but this device has no images of CL_RGBA and CL_FLOAT");
    rope2d_cl_plan *own = rope2d_allocate(host, 1, sizeof(*own));
    if (!own)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "plan: no memory for %zu bytes", sizeof(*own));
    plan->impl = own;
    plan->tensors_per_dispatch = R_MAX_DISPATCH_TENSORS;
    snprintf(plan->kernel, sizeof(plan->kernel), KERNEL_NAME "_%s_%s_%s%s", rope2d_element_word(plan->in),
             rope2d_element_word(plan->out), reads_texture(plan) ? "texture" : "buffer",
             plan->pattern.angles == 2 ? "_two" : "");
    own->takes_tokens = vectors->count > 0 && takes_tokens(plan);
    if (own->takes_tokens) // one kernel takes tensors however they lie
        plan->test_runs = 1u << ROPE2D_RUN_ODD;
    kernel_kind kind;
    choose_kind(plan, own->takes_tokens, &kind);
    if (!own->takes_tokens)
        OWN(variant_create(plan, &source, &kind, &own->single));
    const bool may_convert =
        own->takes_tokens ? (kind.units->flags & R_EIGHT_FLAG) != 0 : !rope2d_cl_keeps_order(front);
    if (!own->takes_tokens && (vectors->count == 0 || vectors->count > front->info.max_group_size))
        goto fail; // single units do
    OWN(may_convert ? rope2d_make_vector(plan, make_vector, &source) : make_vector(plan, false, &source));
fail:
    rope2d_cl_source_destroy(front, &source);
    return status;
}

void rope2d_opencl_plan_destroy(rope2d_plan *plan) {
    rope2d_cl_plan *own = plan->impl;
    if (!own)
        return;
    variant_destroy(plan->device->impl, &own->single);
    variant_destroy(plan->device->impl, &own->vector);
    rope2d_release(&plan->device->host, own, 1, sizeof(*own));
    plan->impl = NULL;
}

rope2d_status rope2d_cl_kernel_create(const rope2d_plan *plan, bool vector, cl_kernel *kernel) {
    rope2d_cl_device *device = plan->device->impl;
    rope2d_cl_plan *own = plan->impl;
    const rope2d_cl *cl = &device->cl;
    rope2d_cl_cached *compiled = vector ? &own->vector.compiled : &own->single.compiled;
    rope2d_status status = ROPE2D_OK;
    rope2d_lock_take(&device->cache.lock);
    *kernel = compiled->kernel;
    compiled->kernel = NULL;
    rope2d_lock_give(&device->cache.lock);
    if (!*kernel)
        CL_MAKE(*kernel, CreateKernel, compiled->program, KERNEL_NAME);
fail:
    return status;
}

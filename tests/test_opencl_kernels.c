// SPDX-License-Identifier: MIT
//
// Kernels that a person edits, loaded from a folder; and kernels edited so that they are wrong, which the
// comparison of bits and the self-test must both say.
#include "as_gpu.h"
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT = 1 << 16, MAX_EDITS = 6, FILES = 12 };

static tally counts;

static const char *const files[FILES] = {"rope2d.cl",    "core.h",       "vector.h", "tiles.h",
                                         "turns.h",      "words.h",      "token.h",  "token_element.h",
                                         "token_head.h", "arithmetic.h", "shape.h",  "element.h"};

// The first `from` becomes `to`, in each file that has it.
typedef struct edit {
    const char *from;
    const char *to;
} edit;

// -------------------------------------------------------------------------------------------- edited kernels

static bool read_kernel(const char *name, char *text) {
    char path[512];
    const char *root = getenv("ROPE2D_SOURCE_ROOT");
    snprintf(path, sizeof(path), "%s/shaders/%s", root ? root : ".", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    text[fread(text, 1, MAX_TEXT - 1, file)] = 0;
    fclose(file);
    return true;
}

static bool write_kernel(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

static bool apply_edit(const edit *change, char *text) {
    size_t length = strlen(text), from = strlen(change->from), to = strlen(change->to);
    char *found = strstr(text, change->from);
    if (!found || length + to >= MAX_TEXT)
        return false;
    memmove(found + to, found + from, strlen(found + from) + 1);
    memcpy(found, change->to, to);
    return true;
}

// A copy of the kernels with the edits made, in a folder whose name has a space.
static bool copy_kernels(char *folder, size_t size, const edit *edits, unsigned edit_count) {
    static char text[MAX_TEXT];
    const char *temporary = getenv("TMPDIR");
    unsigned made = 0;
    snprintf(folder, size, "%s/rope2d kernels XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return false;
    for (int i = 0; i < FILES; i++) {
        if (!read_kernel(files[i], text))
            return false;
        for (unsigned e = 0; e < edit_count; e++)
            made |= (unsigned)apply_edit(&edits[e], text) << e;
        if (!write_kernel(folder, files[i], text))
            return false;
    }
    return made == (1u << edit_count) - 1;
}

static void remove_kernels(const char *folder) {
    for (int i = 0; i < FILES; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        remove(path);
    }
    rmdir(folder);
}

// What a job gives with edited kernels, after the self-test.
static rope2d_status run_edited(uint32_t index, const test_job *job, const edit *edits, unsigned edit_count,
                                captured_log *log, job_result *result) {
    char folder[256];
    rope2d_status status = ROPE2D_ERROR_DRIVER;
    memset(result, 0, sizeof(*result));
    memset(log, 0, sizeof(*log));
    bool copied = copy_kernels(folder, sizeof(folder), edits, edit_count);
    if (tally_check(&counts, copied, "\"%s\" cannot be edited", edit_count > 0 ? edits[0].from : "")) {
        rope2d_device *device = opencl_test_device(&counts, ROPE2D_BACKEND_OPENCL, index, 0, folder, log);
        if (device)
            status = job_run(job, device, 0, result);
        rope2d_device_destroy(device);
    }
    remove_kernels(folder);
    return status;
}

// ------------------------------------------------------------------------------------- kernels from a folder

static const test_job plain_job = {
    .shape = JOB_INTERLEAVED, .table = ROPE2D_TABLE_BUFFER, .batch = 2, .tokens = 35};

static void check_folder(uint32_t index, const job_result *expected) {
    static captured_log log;
    job_result found;
    size_t where = 0;
    rope2d_status status = run_edited(index, &plain_job, NULL, 0, &log, &found);
    tally_check(&counts, status == ROPE2D_OK && job_equal(&plain_job, expected, &found, &where),
                "kernels from a folder: %s: %s", rope2d_status_name(status), log.text);
    job_release(&found);

    const edit broken = {"float turned = a - b;", "float turned = nonsense - b;"};
    status = run_edited(index, &plain_job, &broken, 1, &log, &found);
    tally_check(&counts,
                status == ROPE2D_ERROR_COMPILE && strstr(log.text, "nonsense") &&
                    (strstr(log.text, "arithmetic.h:") || strstr(log.text, "<kernel>:")), // NVIDIA's
                "a kernel that does not compile: %s: %s", rope2d_status_name(status), log.text);
    job_release(&found);

    const edit unknown = {"#include \"shape.h\"", "#include \"shapes.h\""};
    status = run_edited(index, &plain_job, &unknown, 1, &log, &found);
    tally_check(&counts, status == ROPE2D_ERROR_COMPILE && strstr(log.text, "shapes.h"),
                "an include that is not there: %s: %s", rope2d_status_name(status), log.text);
    job_release(&found);

    const edit endless = {"#include \"shape.h\"", "#include \"rope2d.cl\""};
    status = run_edited(index, &plain_job, &endless, 1, &log, &found);
    tally_check(&counts, status == ROPE2D_ERROR_COMPILE && strstr(log.text, "deeper"),
                "a kernel that includes itself: %s: %s", rope2d_status_name(status), log.text);
    job_release(&found);
}

static void check_no_folder(uint32_t index) {
    static captured_log log;
    memset(&log, 0, sizeof(log));
    rope2d_device *device = opencl_test_device(&counts, ROPE2D_BACKEND_OPENCL, index, 0, "/nowhere", &log);
    if (!device)
        return;
    job_result found;
    rope2d_status status = job_run(&plain_job, device, 0, &found);
    tally_check(&counts, status == ROPE2D_ERROR_COMPILE && strstr(log.text, "/nowhere/rope2d.cl"),
                "a folder that is not there: %s: %s", rope2d_status_name(status), log.text);
    job_release(&found);
    rope2d_device_destroy(device);
}

// --------------------------------------------------------------------------------------------- wrong kernels

typedef struct fault {
    const char *name;
    edit edits[MAX_EDITS];
    unsigned edit_count;
    rope2d_element out;
    const char *driver; // where this compiler shows it; NULL: everywhere
} fault;

// The turn of shaders/token.h.
#define TOKEN_LESS "less = first - second"
#define TOKEN_MORE "more = first + second"

// Its conversions by the processor.
#define HARDWARE_NARROW "__builtin_ia32_vcvtps2ph256(value, "
#define HARDWARE_WIDEN  "return r_convert_to(same.numbers, r_floats)"
#define LANGUAGE_NARROW "vstore_half2_rte(two"
#define LANGUAGE_WIDEN  "return vload_half2(0, (const __private half *)&word)"

static const fault faults[] = {
    // Products apart from their sums are fused by nobody here, so the control writes them as one expression.
    {"contraction",
     {{"#pragma OPENCL FP_CONTRACT OFF", ""},
      {"float turned = a - b;", "float turned = c * lo - s * hi;"},
      {"float turned = a + b;", "float turned = s * lo + c * hi;"},
      {TOKEN_LESS, "less = v * side.c - other * side.s"},
      {TOKEN_MORE, "more = v * side.c + other * side.s"}},
     5,
     ROPE2D_F32,
     "pocl"},
    {"a fused multiply-add",
     {{"float turned = a - b;", "float turned = fma(c, lo, -b);"},
      {TOKEN_LESS, "less = fma(v, side.c, -second)"},
      {TOKEN_MORE, "more = fma(v, side.c, second)"}},
     3,
     ROPE2D_F32,
     NULL},
    {"a wrong sign",
     {{"float turned = a - b;", "float turned = a + b;"}, {TOKEN_LESS, "less = first + second"}},
     2,
     ROPE2D_F32,
     NULL},
    {"a swapped axis",
     {{"lane.axis, lane.a_pair", "1u - lane.axis, lane.a_pair"},
      {"#define R_EVEN(i) R_UNIT_AXIS(word, i)", "#define R_EVEN(i) (1u - R_UNIT_AXIS(word, i))"}},
     2,
     ROPE2D_F32,
     NULL},
    {"a wrong pairing",
     {{"x = R_FLOAT4(a.x, a.z", "x = R_FLOAT4(a.x, a.y"}, {"v.s10325476", "v.s01325476"}},
     2,
     ROPE2D_F32,
     NULL},
    {"bf16 toward zero",
     {{"f + 0x7fffu + ((f >> 16) & 1u)", "f"}, {"bounded + 0x7fffu + ((bounded >> 16) & 1u)", "bounded"}},
     2,
     ROPE2D_BF16,
     NULL},
    {"f16 toward zero",
     {{"rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)", "rest - 0x38000000u"},
      {HARDWARE_NARROW "0)", HARDWARE_NARROW "3)"},
      {"rest - 0x387ff001u + ((rest >> 13) & 1u)", "rest - 0x38800000u"}},
     3,
     ROPE2D_F16,
     NULL},
};

static void check_fault(const rope2d_device_info *info, rope2d_device *cpu, const fault *wrong) {
    static captured_log log;
    job_result expected, found;
    size_t where = 0;
    test_job job = plain_job;
    if (wrong->driver && !text_contains(info->driver, wrong->driver)) {
        counts.skipped++;
        return;
    }
    job.out = wrong->out;
    rope2d_status status = run_edited(info->index, &job, wrong->edits, wrong->edit_count, &log, &found);
    job.table = ROPE2D_TABLE_AUTO;
    rope2d_status reference = job_run(&job, cpu, 0, &expected);
    if (tally_check(&counts, status == ROPE2D_OK && reference == ROPE2D_OK, "%s: %s: %s: %s", info->driver,
                    wrong->name, rope2d_status_name(status), log.text)) {
        tally_check(&counts, !job_equal(&job, &expected, &found, &where), "%s: %s has not changed a bit",
                    info->driver, wrong->name);
        tally_check(&counts, found.exactness == ROPE2D_INEXACT, "%s: the self-test lets %s pass as %u",
                    info->driver, wrong->name, (unsigned)found.exactness);
    }
    job_release(&expected);
    job_release(&found);
}

// Conversions that the processor does wrong, some of them by one result alone, or that the driver refuses,
// give way to integers.
static void check_conversions(const rope2d_device_info *info, rope2d_device *cpu) {
    static const struct {
        edit made;
        rope2d_element in;
        rope2d_element out;
        bool is_wrong;
        bool is_for_tokens; // PoCL's kernel; the other is GPUs'
    } cases[] = {
        {{"#ifndef __F16C__", "#ifndef __F16C__ "}, ROPE2D_F16, ROPE2D_F16, false, true},
        {{HARDWARE_NARROW "0)", HARDWARE_NARROW "3)"}, ROPE2D_F32, ROPE2D_F16, true, true},
        {{HARDWARE_NARROW, "__builtin_ia32_vcvtps2ph256(fmin(value, (r_floats)65504.0f), "},
         ROPE2D_F16,
         ROPE2D_F16,
         true,
         true},
        {{HARDWARE_WIDEN, HARDWARE_WIDEN " + 0.0f"}, ROPE2D_F16, ROPE2D_F32, true, true}, // of -0
        {{HARDWARE_NARROW, "no_such_function(value, "}, ROPE2D_F16, ROPE2D_F16, true, true},
        {{LANGUAGE_NARROW, LANGUAGE_NARROW " "}, ROPE2D_F16, ROPE2D_F16, false, false},
        {{LANGUAGE_NARROW, "vstore_half2_rtz(two"}, ROPE2D_F32, ROPE2D_F16, true, false},
        {{LANGUAGE_NARROW, "vstore_half2_rte(fmin(two, (float2)(65504.0f))"},
         ROPE2D_F16,
         ROPE2D_F16,
         true,
         false},
        {{LANGUAGE_WIDEN, LANGUAGE_WIDEN " + 0.0f"}, ROPE2D_F16, ROPE2D_F32, true, false},
        {{LANGUAGE_NARROW, "no_such_function(two"}, ROPE2D_F16, ROPE2D_F16, true, false},
    };
    const bool takes_tokens = info->is_software && text_contains(info->driver, "(PoCL)");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].is_for_tokens != takes_tokens)
            continue;
        static captured_log log;
        job_result expected, found;
        size_t where = 0;
        test_job job = plain_job;
        memset(&expected, 0, sizeof(expected));
        job.in = cases[i].in;
        job.out = cases[i].out;
        const rope2d_status status = run_edited(info->index, &job, &cases[i].made, 1, &log, &found);
        if (!text_contains(log.text, "own conversions of f16")) { // which has none
            counts.skipped++;
            job_release(&found);
            continue;
        }
        job.table = ROPE2D_TABLE_AUTO;
        tally_check(&counts,
                    status == ROPE2D_OK && job_run(&job, cpu, 0, &expected) == ROPE2D_OK &&
                        found.exactness == ROPE2D_EXACT && job_equal(&job, &expected, &found, &where),
                    "%s: conversions, case %zu: %s", info->driver, i, log.text);
        tally_check(&counts, text_contains(log.text, "integers take their place") == cases[i].is_wrong,
                    "%s: conversions, case %zu: %s", info->driver, i, log.text);
        job_release(&expected);
        job_release(&found);
    }
}

static void test_device(const rope2d_device_info *info, rope2d_device *cpu) {
    test_job on_cpu = plain_job;
    job_result expected;
    on_cpu.table = ROPE2D_TABLE_AUTO;
    if (tally_check(&counts, job_run(&on_cpu, cpu, 0, &expected) == ROPE2D_OK, "the CPU's result"))
        check_folder(info->index, &expected);
    job_release(&expected);
    check_no_folder(info->index);
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        check_fault(info, cpu, &faults[i]);
    check_conversions(info, cpu);
}

// `test_opencl_kernels SHIM`: of devices that say they are GPUs, what only those do.
int main(int argc, char **argv) {
    static rope2d_device_info infos[OPENCL_MAX_DEVICES];
    static captured_log log;
    const bool is_gpu = argc > 1;
    if (is_gpu)
        tally_check(&counts, as_gpu(ROPE2D_BACKEND_OPENCL, argv[1]), "no shim %s", argv[1]);
    uint32_t count = opencl_test_list(&counts, infos);
    rope2d_device *cpu = opencl_test_device(&counts, ROPE2D_BACKEND_CPU, 0, 0, NULL, &log);
    opencl_test_required(&counts, infos, count);
    for (uint32_t i = 0; cpu && i < count; i++) {
        if (is_gpu)
            check_conversions(&infos[i], cpu);
        else
            test_device(&infos[i], cpu);
    }
    rope2d_device_destroy(cpu);
    return tally_finish(&counts);
}

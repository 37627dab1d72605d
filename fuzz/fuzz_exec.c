// SPDX-License-Identifier: MIT
//
// What a program of `rope2d verify --exec` leaves behind: q_out.npy and k_out.npy, for a case of our own or a
// golden one, and how it ended. Instead of a program that is started the input is written. Its first byte
// says how it ends, and its next two how many of the rest are q_out.npy.
#include "place.h"
#include "target.h"

#include "tools/cli/npy.h"
#include "tools/verify/child.h"
#include "tools/verify/execute.h"

#include <string.h>
#include <unistd.h>

enum { IS_GOLDEN = 1, HAS_NO_Q = 2, HAS_NO_K = 4, FAILS = 8, CRASHES = 16, HANGS = 32 };
enum { MOST_PATH = 1024 };

static const struct harness_structure structure = {.name = "fuzz",
                                                   .head_dim = 8,
                                                   .rotary_dim = 8,
                                                   .axes = 2,
                                                   .pairing = ROPE2D_PAIRING_HALF,
                                                   .frequencies = HARNESS_AXES_IN_RUNS};
static const struct harness_case what = {.name = "fuzz",
                                         .own = &structure,
                                         .flags = HARNESS_ALL_TYPES,
                                         .heads = {2, 1},
                                         .batch = 1,
                                         .height = 2,
                                         .width = 2};

static struct verify_bench bench;
static struct {
    unsigned kind;
    const uint8_t *q, *k;
    size_t q_size, k_size;
} left;

// ------------------------------------------------------------------------------------- in place of child.c

const bool child_is_there = false;

static void leave(const char *folder, const char *name, const uint8_t *data, size_t size) {
    char path[MOST_PATH + 16];
    FUZZ_PROMISE(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    place_write(path, data, size);
}

// The command ends with the folder, in quotes.
void child_run(const char *const *arguments, const char *input, double seconds, child_line_fn *line,
               void *user, struct child_end *end) {
    char folder[MOST_PATH];
    const char *last = strrchr(arguments[2], ' ');
    (void)input, (void)seconds, (void)line, (void)user;
    FUZZ_PROMISE(last && last[1] == '\'' && strlen(last) < sizeof folder);
    snprintf(folder, sizeof folder, "%s", last + 2);
    folder[strlen(folder) - 1] = '\0';
    if (!(left.kind & HAS_NO_Q))
        leave(folder, "q_out.npy", left.q, left.q_size);
    if (!(left.kind & HAS_NO_K))
        leave(folder, "k_out.npy", left.k, left.k_size);
    *end = (struct child_end){.fate = left.kind & HANGS     ? CHILD_HUNG
                                      : left.kind & CRASHES ? CHILD_CRASHED
                                                            : CHILD_DONE,
                              .status = left.kind & FAILS ? 1 : 0};
    snprintf(end->text, sizeof end->text, "it ended");
}

// --------------------------------------------------------------------------------------------- the target

static void write_array(const char *path, uint32_t dims, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    static float values[64];
    const struct npy_output output = {path, {.type = NPY_F32, .dims = dims, .shape = {a, b, c, d}}, values};
    FUZZ_PROMISE(npy_write(&output, 1) == NPY_OK);
}

// A golden case whose tensors are of the size of the other's, and zero.
static void write_golden(void) {
    static const char case_json[] =
        "{\"model\":\"m\",\"layout\":\"BNHD\",\"heads_q\":2,\"heads_k\":1,\"head_dim\":8,\"n_axes\":2,"
        "\"pair_lo\":[0,1,2,3],\"pair_hi\":[4,5,6,7],\"unrotated_tokens\":[[0,1]],\"verify\":{\"tolerance\":"
        "1}}";
    write_array("q.npy", 4, 1, 4, 2, 8);
    write_array("k.npy", 4, 1, 4, 1, 8);
    write_array("q_out.npy", 4, 1, 4, 2, 8);
    write_array("k_out.npy", 4, 1, 4, 1, 8);
    write_array("positions.npy", 2, 4, 2, 0, 0);
    write_array("freqs.npy", 3, 2, 1, 4, 0);
    place_write("case.json", case_json, sizeof case_json - 1);
}

static void make(void) {
    char folder[MOST_PATH];
    place_make();
    FUZZ_PROMISE(getcwd(folder, sizeof folder) && setenv("TMPDIR", folder, 1) == 0);
    write_golden();
    bench.command = "x {case} {out}";
    bench.repeat = 2;
    bench.seconds = 1;
    FUZZ_PROMISE(verify_bench_open(&bench, ROPE2D_BACKEND_CPU, 0) == ROPE2D_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char own[] = ".";
    if (size < 3)
        return 0;
    if (!bench.command)
        make();
    const size_t q_size = data[1] | (size_t)data[2] << 8;
    left.kind = data[0];
    left.q = data + 3;
    left.q_size = q_size < size - 3 ? q_size : size - 3;
    left.k = left.q + left.q_size;
    left.k_size = size - 3 - left.q_size;
    const bool is_golden = (left.kind & IS_GOLDEN) != 0;
    const struct verify_task task = {.name = "fuzz f32:f32 buffer",
                                     .hashed = "fuzz f32:f32",
                                     .what = is_golden ? NULL : &what,
                                     .folder = is_golden ? own : NULL,
                                     .table = ROPE2D_TABLE_BUFFER,
                                     .control = -1};
    cJSON *result = verify_execute(&bench, &task);
    const char *verdict = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(result, "verdict"));
    FUZZ_PROMISE(verdict);
    FUZZ_PROMISE(!(left.kind & (FAILS | CRASHES | HANGS)) || strcmp(verdict, VERDICT_PASSED) != 0);
    cJSON_Delete(result);
    return 0;
}

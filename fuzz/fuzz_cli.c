// SPDX-License-Identifier: MIT
//
// The command line's arguments, each ending with a zero byte, in a folder with a few small files of every
// kind. Nothing is started, and nothing outside the folder is named: '/' and '..' become '_'. Its devices are
// the CPU and drivers that compute nothing.
#include "mock.h"
#include "place.h"
#include "target.h"

#include "tools/cli/npy.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int rope2d_main(int argc, char **argv);

enum { MOST_ARGUMENTS = 24, MOST_LENGTH = 256 };

static const char case_json[] =
    "{\"model\":\"m\",\"layout\":\"BNHD\",\"heads_q\":2,\"heads_k\":2,\"head_dim\":8,\"n_axes\":2,"
    "\"pair_lo\":[0,1,2,3],\"pair_hi\":[4,5,6,7],\"unrotated_tokens\":[[0,1]],\"verify\":{\"tolerance\":1}}";
static const char report_json[] =
    "{\"format\":\"rope2d-verify\",\"format_version\":1,\"passed\":false,\"complete\":true,\"devices\":[{"
    "\"device\":"
    "\"cpu:0\",\"name\":\"a<b>\",\"results\":[{\"name\":\"half f32:f32 buffer\",\"verdict\":\"passed\"}]}]}";
static const char expect_json[] =
    "[{\"device\":\"cpu\",\"case\":\"half*\",\"reason\":\"r\",\"driver_from\":\"1.2\"}]";

static void write_array(const char *path, uint32_t dims, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    static float values[64];
    const struct npy_output output = {path, {.type = NPY_F32, .dims = dims, .shape = {a, b, c, d}}, values};
    FUZZ_PROMISE(npy_write(&output, 1) == NPY_OK);
}

static void write_files(const char *folder) {
    FUZZ_PROMISE(chdir(folder) == 0);
    write_array("q.npy", 4, 1, 4, 2, 8);
    write_array("k.npy", 4, 1, 4, 2, 8);
    write_array("q_out.npy", 4, 1, 4, 2, 8);
    write_array("k_out.npy", 4, 1, 4, 2, 8);
    write_array("p.npy", 2, 4, 2, 0, 0);
    write_array("positions.npy", 2, 4, 2, 0, 0);
    write_array("freqs.npy", 3, 2, 1, 4, 0);
    place_write("case.json", case_json, sizeof case_json - 1);
    place_write("r.json", report_json, sizeof report_json - 1);
    place_write("e.json", expect_json, sizeof expect_json - 1);
}

static void make_files(void) {
    place_clean(NULL);
    FUZZ_PROMISE(mkdir("c", 0700) == 0 && mkdir("empty", 0700) == 0);
    write_files("c");
    write_files("..");
}

// What would take long and teach nothing: demonstrations of many tokens, pictures of every preset.
static bool is_long(int argc, char **argv) {
    bool has_grid = false, has_preset = false, has_large = false;
    for (int i = 2; i < argc; i++) {
        has_grid |= strncmp(argv[i], "--grid", 6) == 0;
        has_preset |= strncmp(argv[i], "--preset", 8) == 0;
        for (const char *at = argv[i]; *at; at++)
            has_large |= isdigit((unsigned char)at[0]) && isdigit((unsigned char)at[1]);
    }
    if (strncmp(argv[1], "plot", 4) == 0)
        return !has_preset || has_large;
    return strcmp(argv[1], "demo") == 0 && (!has_grid || has_large);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int is_made;
    static char texts[MOST_ARGUMENTS][MOST_LENGTH];
    static char program[] = "rope2d";
    char *argv[MOST_ARGUMENTS + 2] = {program};
    int argc = 1;
    size_t used = 0;
    memset(texts, 0, sizeof texts);
    for (size_t i = 0; i < size && argc <= MOST_ARGUMENTS; i++) {
        argv[argc] = texts[argc - 1];
        const bool is_outside = data[i] == '/' || (data[i] == '.' && i > 0 && data[i - 1] == '.');
        if (data[i] == 0 || used == MOST_LENGTH - 1) {
            argc++;
            used = 0;
        } else {
            texts[argc - 1][used++] = is_outside ? '_' : (char)data[i];
        }
    }
    argc += used > 0 && argc <= MOST_ARGUMENTS;
    argv[argc] = NULL;
    if (argc > 1 && is_long(argc, argv))
        return 0;
    if (!is_made++)
        place_make();
    mock_check_devices();
    mock_begin();
    make_files();
    const int status = rope2d_main(argc, argv);
    FUZZ_PROMISE(status >= 0 && status <= 3 && mock.live == 0);
    return 0;
}

// SPDX-License-Identifier: MIT
//
// Runs a target on recorded inputs, where there is no libFuzzer: the corpus in the form that tools/fuzz
// writes, and files that were findings. What the target prints on stdout is dropped.
//
// usage: fuzz_TARGET CORPUS [FILE...]
#include "check.h"
#include "target.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, MOST_SECONDS = 2 }; // of the processor, for an input

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = file ? malloc(MOST_BYTES) : NULL;
    *size = bytes ? fread(bytes, 1, MOST_BYTES, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

// Where stdout goes meanwhile.
static int own, nothing;

// Of its own memory, so that one byte too far is seen.
static bool run(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy || fflush(stdout) != 0 || dup2(nothing, 1) < 0)
        return false;
    memcpy(copy, data, size);
    const clock_t begin = clock();
    const int result = LLVMFuzzerTestOneInput(copy, size);
    const bool is_quick = clock() - begin < (clock_t)MOST_SECONDS * CLOCKS_PER_SEC;
    free(copy);
    return fflush(stdout) == 0 && dup2(own, 1) >= 0 && result == 0 && is_quick;
}

// Each input: its size in 4 bytes, the lowest first, and its bytes.
static void run_corpus(const char *path) {
    size_t size = 0, number = 0;
    uint8_t *bytes = read_file(path, &size);
    CHECK(size > 4, "%s: no corpus", path);
    for (size_t at = 0; at + 4 <= size; number++) {
        const size_t length = bytes[at] | (size_t)bytes[at + 1] << 8 | (size_t)bytes[at + 2] << 16 |
                              (size_t)bytes[at + 3] << 24;
        at += 4;
        if (!CHECK(length <= size - at, "%s: input %zu is cut off", path, number))
            break;
        CHECK(run(bytes + at, length), "%s: input %zu", path, number);
        at += length;
    }
    free(bytes);
}

static void run_finding(const char *path) {
    size_t size = 0;
    uint8_t *bytes = read_file(path, &size);
    CHECK(bytes && run(bytes, size), "%s", path);
    free(bytes);
}

int main(int argc, char **argv) {
    own = dup(1);
    nothing = open("/dev/null", O_WRONLY);
    if (own < 0 || nothing < 0)
        return 1;
    for (int i = 1; i < argc; i++) {
        if (i == 1)
            run_corpus(argv[i]);
        else
            run_finding(argv[i]);
    }
    return check_finish();
}

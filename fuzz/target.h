// SPDX-License-Identifier: MIT
//
// What a target is: the function that libFuzzer calls, and replay.c without it. A target looks at nothing but
// its input, and ends the process where a promise is broken.
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Fixed names: libFuzzer's. The first returns 0; the second returns the new size, at most `most`.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

// A promise of the library's or the program's.
#define FUZZ_PROMISE(holds)                                                                                  \
    do {                                                                                                     \
        if (!(holds)) {                                                                                      \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);                       \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif

// SPDX-License-Identifier: MIT
//
// Kernels compiled for hardware that is not here: what tools/compile says of them, in the report.
#ifndef ROPE2D_VERIFY_COMPILE_H
#define ROPE2D_VERIFY_COMPILE_H

#include <cjson/cJSON.h>

#include "../cli/progress.h"
#include "verify.h"

#define VERIFY_COMPILED "compiled" // of a report

// Compiles, and adds to the report under "compiled" what became of it; from the report that is resumed where
// that has it. Without python3 that is a skip of the report's, and any other end before the end a problem.
void compile_all(const struct verify_options *options, const cJSON *before, struct progress *progress,
                 cJSON *report);

// Adds to the report's problems what did not compile or was not noticed. The number of kernels that compiled.
double compile_judge(cJSON *report);

// Prints what people read. The number of kernels that did not compile.
double compile_print(const cJSON *report);

#endif

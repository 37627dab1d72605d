// SPDX-License-Identifier: MIT
//
// Where OpenCL is not built in there is no device of it either.
#include "bench_engine.h"
#include "message.h"

static int open_missing(struct bench_engine *engine) {
    message("%s: this program was built without OpenCL", engine->choice->name);
    return STATUS_DEVICE;
}

static void close_missing(struct bench_engine *engine) {
    (void)engine;
}

const struct bench_engine_ops bench_opencl_ops = {.open = open_missing, .close = close_missing};

// SPDX-License-Identifier: MIT
//
// A process that makes one plan on a device, as the next start of a program does.
#ifndef ROPE2D_CLI_BENCH_WORKER_H
#define ROPE2D_CLI_BENCH_WORKER_H

#define BENCH_WORKER_VERB "bench-worker"

// Not for users. Arguments: a device, an element's name, "tested" or "untested", and the file of the device's
// cache, which is written where there is none. A line with the seconds of the plan, those of the driver in
// vkCreateComputePipelines (negative: not known), and those that a copy kernel's first run takes more than
// its second goes to descriptor 3. Returns an exit status.
int bench_worker_main(int argc, char **argv);

#endif

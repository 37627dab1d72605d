// SPDX-License-Identifier: MIT
//
// A process that makes one plan on a device, as the next start of a program does.
#ifndef ROPE2D_CLI_BENCH_WORKER_H
#define ROPE2D_CLI_BENCH_WORKER_H

#define BENCH_WORKER_VERB "bench-worker"

// Not for users. Arguments: a device, an element's name, a mode, and the file of the device's cache, which is
// written where there is none. Modes: a plan with its self-test ("tested") or without ("untested"), or with
// each of its runs repeated, to tell the driver's part ("parts"); without the file and what drivers keep on
// disk, a plan
// ("cold") or a copy kernel alone ("bare"). A line goes to descriptor 3. Of a plan: its seconds, those of the
// driver that compiles (negative: not known) when pipelines are made and, cold or in parts, when kernels
// first run, and those that a copy kernel's first run takes more than its second. Of a copy kernel alone the
// latter three times, the second time without the making of its pipeline. Returns an exit status.
int bench_worker_main(int argc, char **argv);

#endif

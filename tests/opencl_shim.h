// SPDX-License-Identifier: MIT
//
// A loader of OpenCL that hands every call to the system's, counts what is alive, and lets one call fail.
// Load it with ROPE2D_OPENCL_LOADER; a test finds these functions in it by name, and calls them while no
// other thread calls OpenCL.
#ifndef TEST_OPENCL_SHIM_H
#define TEST_OPENCL_SHIM_H

// The call number `fail_at` from now, counted from 1, fails with `code`; 0: none. Resets every count.
typedef void opencl_shim_begin_fn(long fail_at, int code);
// Until the next begin, once something failed to be enqueued, everything that is enqueued fails, as on a
// device that was lost.
typedef void opencl_shim_stay_fn(void);
// Calls so far; how many objects and mappings are alive; releases and unmappings of what was not alive.
typedef void opencl_shim_counts_fn(long *calls, long *alive, long *misused);
// The name of the call that failed, or "" when none has.
typedef const char *opencl_shim_failed_fn(void);
// Programs made from source so far.
typedef long opencl_shim_compiled_fn(void);
// From here on every program made from source is the same one, of an empty kernel, as long as one is alive.
// Returns the options of a program built since: the last one's, or the one's `before` it, 1 at most.
typedef const char *opencl_shim_options_fn(int before);
// Kernels enqueued so far; their events, less those that were released.
typedef void opencl_shim_kernels_fn(long *kernels, long *events);

// Every answer about `question` is a lie of a kind, 1 to OPENCL_SHIM_LIES - 1: 0 for both ends that, and
// forgets which questions were asked.
enum { OPENCL_SHIM_LIES = 6 };
typedef void opencl_shim_lie_fn(long question, int how);
// Writes at most `most` of the questions asked so far; returns how many there are.
typedef long opencl_shim_asked_fn(long *questions, long most);

opencl_shim_lie_fn opencl_shim_lie;
opencl_shim_asked_fn opencl_shim_asked;
opencl_shim_begin_fn opencl_shim_begin;
opencl_shim_stay_fn opencl_shim_stay;
opencl_shim_counts_fn opencl_shim_counts;
opencl_shim_failed_fn opencl_shim_failed;
opencl_shim_compiled_fn opencl_shim_compiled;
opencl_shim_options_fn opencl_shim_options;
opencl_shim_kernels_fn opencl_shim_kernels;

#endif

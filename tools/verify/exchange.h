// SPDX-License-Identifier: MIT
//
// Cases of the harness as folders in the form of tests/golden/README.md, for programs that are devices.
#ifndef ROPE2D_VERIFY_EXCHANGE_H
#define ROPE2D_VERIFY_EXCHANGE_H

#include "../../tests/harness/work.h"
#include "../cli/npy.h"

// Whether a folder can say all that the case says.
bool exchange_can(const struct harness_case *what);

// Writes q, k, frequencies, positions and case.json, inputs from these blocks. False when it cannot, having
// said why on stderr.
bool exchange_write(const char *folder, const struct harness_work *work, unsigned char *const *blocks);

// Reads q_out.npy and k_out.npy into the outputs of these blocks. False when they are not there or have
// another shape, which `text` tells.
bool exchange_read(const char *folder, const struct harness_work *work, unsigned char *const *blocks,
                   char *text, size_t size);

// One of the two, as an array of fp32 of this shape, which npy_free frees; tensor 0 is q.
bool exchange_read_array(const char *folder, uint32_t tensor, const uint64_t *shape, uint32_t dims,
                         struct npy_array *array, char *text, size_t size);

#endif

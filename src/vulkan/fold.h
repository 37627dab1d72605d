// SPDX-License-Identifier: MIT
//
// SPIR-V with specialization constants known: branches that they decide, and functions that nothing calls any
// more, are taken out before a driver sees them. Software devices compile what is left many times as fast,
// and one module serves all kinds of kernels, whose unused bindings are then not used statically.
#ifndef ROPE2D_VULKAN_FOLD_H
#define ROPE2D_VULKAN_FOLD_H

#include "../internal.h"

// `values`: by SpecId, all unsigned integers; constants with other numbers stay open. The module still has
// them all, and is specialized as before. The caller releases *folded with *bytes, which is `count` words' at
// most. Caches keep the result: what changes it within a version of the library changes ROPE2D_CACHE_VERSION.
rope2d_status rope2d_vulkan_fold(const rope2d_host *host, const uint32_t *words, uint64_t count,
                                 const uint32_t *values, uint32_t value_count, uint32_t **folded,
                                 uint64_t *bytes);

#endif

// SPDX-License-Identifier: MIT
//
// Drivers that compute nothing: they keep count of what lives, look at every byte that they are given, fail
// at the call that the input names, and are never loaded from anywhere. They take the place of src/library.c,
// so that no real driver is opened.
#ifndef FUZZ_MOCK_H
#define FUZZ_MOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mock {
    uint64_t calls, fail_at; // calls that can fail; the one that does, from 1; 0: none
    uint64_t live;           // objects
    uint64_t bytes;          // of their memory
    // How a device differs from a common one.
    bool has_textures, is_coherent, is_unified, has_local;
    uint32_t storage_buffers, alignment, group_size, most_groups;
    uint64_t buffer_range;
};
extern struct mock mock;

// A common device, nothing counted.
void mock_begin(void);
// Once: that both backends have a device whose plans can be made, since an input cannot tell.
void mock_check_devices(void);
// Whether this call fails.
bool mock_fails(void);
// Whether a name of OpenCL's or Vulkan's loader is one of ours; `function` as rope2d_library_find has it.
bool mock_opencl_find(const char *name, void *function, size_t size);
bool mock_vulkan_find(const char *name, void *function, size_t size);
// Reads every byte.
void mock_read(const void *bytes, size_t size);

#endif

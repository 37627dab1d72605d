// SPDX-License-Identifier: MIT
//
// What a Vulkan owner rotates in tests: q and k in buffers of its own, and what the CPU makes of the same
// bytes.
#ifndef TEST_VULKAN_SCENE_H
#define TEST_VULKAN_SCENE_H

#include "jobs.h"
#include "vulkan_owner.h"

#include "rope2d/rope2d_vulkan.h"

enum { SEED = 77, HEADS = 3, HEAD_DIM = 32, PAIRS = HEAD_DIM / 2, TOKENS = 37, BYTES = 32768, GUARD = 0xa5 };

extern tally counts;
extern captured_log logged;

void expect(rope2d_status status, rope2d_status wanted, const char *what);

// ------------------------------------------------------------------------------------------------- devices

// False where there is no Vulkan device: a skip, or a failure where some are required.
bool scene_owner(owner *own);
// What a test's main returns: after check(own, index) on each device, which is open, with the extension where
// it has it; NULL: none.
int scene_run(const char *extension, void (*check)(owner *own, uint32_t index));
// Of the owner's open device, through its loader.
rope2d_vulkan_device_params scene_adopting(const owner *own, const rope2d_host *host, bool with_queue);

// ---------------------------------------------------------------------------------------- plan and positions

typedef struct scene {
    rope2d_device *device;
    rope2d_plan *plan;
    rope2d_positions *positions;
} scene;

extern float grid[TOKENS][2]; // the coordinates of the tokens

void fill_spec(void);  // pairs belong to either axis by turns
void split_axes(void); // half of them to each from now on, which makes vector units
rope2d_positions_params positions_params(rope2d_table table);
rope2d_status make_plan(scene *made, rope2d_element in, rope2d_element out, rope2d_table table,
                        uint32_t flags);
rope2d_status make_scene(scene *made, rope2d_element in, rope2d_element out, rope2d_table table,
                         uint32_t flags);
void clear_scene(scene *made);

// ---------------------------------------------------------------------------------------------- q and k

// q at an odd element, k behind it: in place, or into a second buffer.
typedef struct layout {
    rope2d_element in;
    rope2d_element out;
    rope2d_table table;
    bool in_place;
    uint64_t offset; // bytes
    int64_t head_stride;
    uint64_t first_token;
    uint64_t tokens;
} layout;

// Where q and k are two dispatches, k begins at an address that suits every device: synchronization
// validation compares the ranges of descriptors, not what a kernel touches.
extern bool are_apart;

void fill(unsigned char *bytes, rope2d_element type);
void make_params(const layout *l, const owner_buffer *in, const owner_buffer *out,
                 rope2d_vulkan_tensor tensors[2], rope2d_vulkan_binding_params *params);
// Rotates in place in the owner's command buffer, and has the CPU's bits.
void scene_rotate(const owner *own, rope2d_device *device, const layout *l);
void run_cpu(const layout *l, unsigned char *in, unsigned char *out);
void run_cpu_range(const layout *l, const rope2d_vulkan_range *range, unsigned char *in, unsigned char *out);

#endif

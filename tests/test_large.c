// SPDX-License-Identifier: MIT
//
// Tensors whose elements lie on both sides of element 2^31 and 2^32, of tens of gigabytes of which few pages
// are ever touched, on every device: the bits of a small tensor on the CPU's portable path.
//
//     test_large cpu | vulkan | opencl
#include "apply_once.h"
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    BATCH = 2,
    TOKENS = 5,
    HEADS = 3,
    DIM = ONCE_DIM,
    SMALL = BATCH * TOKENS * HEADS * DIM,
    MOST_DEVICES = 16
};

// Strides in elements. The middle batch element, token or head begins just before the boundary.
typedef struct far_layout {
    const char *name;
    int64_t batch_stride;
    int64_t token_stride;
    int64_t head_stride;
} far_layout;

static const int64_t half = (int64_t)1 << 31;

static uint64_t elements_of(const far_layout *l) {
    return (uint64_t)(l->batch_stride * (BATCH - 1) + l->token_stride * (TOKENS - 1) +
                      l->head_stride * (HEADS - 1)) +
           DIM;
}

static uint64_t at(const far_layout *l, int b, int t, int h) {
    return (uint64_t)(b * l->batch_stride + t * l->token_stride + h * l->head_stride);
}

static void move(const far_layout *l, unsigned char *large, unsigned char *small, size_t size, bool out) {
    for (int b = 0; b < BATCH; b++)
        for (int t = 0; t < TOKENS; t++)
            for (int h = 0; h < HEADS; h++) {
                unsigned char *far = large + at(l, b, t, h) * size;
                unsigned char *near = small + (size_t)((b * TOKENS + t) * HEADS + h) * DIM * size;
                memcpy(out ? near : far, out ? far : near, DIM * size);
            }
}

static rope2d_status rotate(rope2d_device *device, rope2d_element type, const rope2d_view *in,
                            const rope2d_view *out) {
    once_params once;
    once_params_fill(&once, type, TOKENS, 2);
    const rope2d_tensor q = {.heads = HEADS, .in = *in, .out = *out};
    const rope2d_apply_params all = {sizeof(all), BATCH, 0, TOKENS, 1, &q};
    return apply_once(device, &once.types, &once.grid, &all);
}

static rope2d_device *open_device(rope2d_backend backend, uint32_t index, uint32_t flags) {
    const rope2d_device_params params = {
        .struct_size = sizeof(params), .backend = backend, .index = index, .flags = flags};
    rope2d_device *device = NULL;
    return rope2d_device_create(&params, &device) == ROPE2D_OK ? device : NULL;
}

static void compare(rope2d_device *device, const far_layout *l, rope2d_element type, bool in_place) {
    static float input[SMALL], right[SMALL], found[SMALL];
    const size_t size = rope2d_element_size(type), few = SMALL * size;
    const uint64_t bytes = elements_of(l) * size;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    unsigned char *in = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    unsigned char *out = in_place ? in : mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (in == MAP_FAILED || out == MAP_FAILED) {
        check_skip("%s: no room for %" PRIu64 " bytes", l->name, bytes);
    } else {
        for (int i = 0; i < SMALL; i++)
            input[i] = (float)(i % 97) / 16 - 2;
        const rope2d_view from =
            rope2d_view_contiguous(input, type, ROPE2D_LAYOUT_BNHD, BATCH, TOKENS, HEADS, DIM);
        const rope2d_view to =
            rope2d_view_contiguous(right, type, ROPE2D_LAYOUT_BNHD, BATCH, TOKENS, HEADS, DIM);
        const rope2d_view far_in = {in, bytes, 0, l->batch_stride, l->token_stride, l->head_stride};
        rope2d_view far_out = far_in;
        far_out.base = out;
        rope2d_device *portable = open_device(ROPE2D_BACKEND_CPU, 0, ROPE2D_DEVICE_PORTABLE);
        const rope2d_status wanted = rotate(portable, type, &from, &to);
        rope2d_device_destroy(portable);
        move(l, in, (unsigned char *)input, size, false);
        const rope2d_status status = rotate(device, type, &far_in, &far_out);
        move(l, out, (unsigned char *)found, size, true);
        CHECK(wanted == ROPE2D_OK && status == ROPE2D_OK && memcmp(found, right, few) == 0,
              "%s, type %d, in place %d: %s, or other bits", l->name, (int)type, in_place,
              rope2d_status_name(status));
    }
    if (out != MAP_FAILED && !in_place)
        (void)munmap(out, bytes);
    if (in != MAP_FAILED)
        (void)munmap(in, bytes);
}

int main(int argc, char **argv) {
    static const char *const names[ROPE2D_BACKEND_COUNT] = {"cpu", "vulkan", "opencl"};
    const far_layout layouts[] = {
        {"batch 1 at element 2^31", half, HEADS * DIM, DIM},
        {"batch 1 across element 2^32", 2 * half - TOKENS * HEADS * DIM / 2, HEADS * DIM, DIM},
        {"tokens on either side of 2^31 and 2^32", TOKENS * half, half - DIM, DIM},
        {"heads on either side of 2^32", (int64_t)DIM * TOKENS, DIM, 2 * half - DIM},
    };
    uint32_t count = 0;
    int backend = 0;
    for (int i = 0; i < ROPE2D_BACKEND_COUNT; i++)
        if (argc > 1 && strcmp(argv[1], names[i]) == 0)
            backend = i;
    if (rope2d_enumerate((rope2d_backend)backend, NULL, &count, NULL) != ROPE2D_OK || count == 0)
        check_skip("%s: no device", names[backend]);
    for (uint32_t d = 0; d < count && d < MOST_DEVICES; d++) {
        rope2d_device *device = open_device((rope2d_backend)backend, d, 0);
        for (size_t i = 0; CHECK(device != NULL, "device %u", d) && i < sizeof(layouts) / sizeof(layouts[0]);
             i++) {
            compare(device, &layouts[i], ROPE2D_F32, false);
            compare(device, &layouts[i], ROPE2D_F32, true);
            compare(device, &layouts[i], ROPE2D_F16, i % 2 == 0);
        }
        rope2d_device_destroy(device);
    }
    return check_finish();
}

// SPDX-License-Identifier: MIT
#include "fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Before each block stands its size.
#define HEADER 64

static void *take(void *user, size_t size, size_t alignment) {
    struct fake_device *fake = user;
    if (++fake->requests == fake->fail_at || alignment > HEADER)
        return NULL;
    unsigned char *block = aligned_alloc(HEADER, HEADER + (size + HEADER - 1) / HEADER * HEADER);
    if (block == NULL)
        return NULL;
    memcpy(block, &size, sizeof(size));
    memset(block + HEADER, 0xa5, size);
    fake->live++;
    return block + HEADER;
}

static void give(void *user, void *memory, size_t size) {
    struct fake_device *fake = user;
    unsigned char *block = (unsigned char *)memory - HEADER;
    if (memcmp(block, &size, sizeof(size)) != 0)
        fake->faults++;
    fake->live--;
    free(block);
}

static void keep_line(void *user, rope2d_log_level level, const char *text) {
    struct fake_device *fake = user;
    (void)level;
    fake->lines++;
    (void)snprintf(fake->line, sizeof(fake->line), "%s", text);
}

static void run_backwards(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data) {
    (void)user;
    for (uint32_t i = tasks; i > 0; i--)
        task(data, i - 1);
}

static rope2d_status create(rope2d_positions *positions) {
    struct fake_device *fake = positions->device->impl;
    fake->created++;
    return fake->at_create;
}

static void destroy(rope2d_positions *positions) {
    struct fake_device *fake = positions->device->impl;
    fake->destroyed++;
}

void fake_device_init(struct fake_device *fake) {
    memset(fake, 0, sizeof(*fake));
    fake->ops.name = "fake";
    fake->ops.positions_create = create;
    fake->ops.positions_destroy = destroy;
    rope2d_host host = {.struct_size = sizeof(host),
                        .user = fake,
                        .allocate = take,
                        .release = give,
                        .log = keep_line,
                        .parallel_for = run_backwards,
                        .threads = 3};
    fake->device.host = rope2d_host_resolve(&host);
    fake->device.ops = &fake->ops;
    fake->device.impl = fake;
    fake->device.dispatch_bytes = UINT64_MAX;
    fake->device.info.default_table = ROPE2D_TABLE_BUFFER;
}

bool fake_device_logged(const struct fake_device *fake, uint32_t lines_before, const char *word) {
    return fake->lines == lines_before + 1 && strstr(fake->line, word) != NULL;
}

// SPDX-License-Identifier: MIT
#include "load.h"

#ifdef _WIN32

struct verify_load *load_begin(rope2d_device *device, const struct harness_work *work, rope2d_table table) {
    (void)device, (void)work, (void)table;
    return NULL;
}

void load_end(struct verify_load *load) {
    (void)load;
}

#else

#include <pthread.h>
#include <stdlib.h>

struct verify_load {
    struct harness_device device; // another's, with plans of its own
    const struct harness_work *work;
    rope2d_table table;
    unsigned char **blocks;
    pthread_t thread;
    pthread_mutex_t lock;
    bool stops;
};

static bool goes_on(struct verify_load *load) {
    pthread_mutex_lock(&load->lock);
    bool stops = load->stops;
    pthread_mutex_unlock(&load->lock);
    return !stops;
}

static void *keep_busy(void *user) {
    struct verify_load *load = user;
    uint64_t dispatches;
    while (goes_on(load))
        if (harness_run(&load->device, load->work, load->table, load->blocks, &dispatches))
            break;
    return NULL;
}

static void release(struct verify_load *load) {
    harness_blocks_free(load->work, load->blocks);
    harness_device_forget(&load->device);
    pthread_mutex_destroy(&load->lock);
    free(load);
}

struct verify_load *load_begin(rope2d_device *device, const struct harness_work *work, rope2d_table table) {
    struct verify_load *load = calloc(1, sizeof *load);
    if (!load || pthread_mutex_init(&load->lock, NULL)) {
        free(load);
        return NULL;
    }
    load->device.device = device;
    load->work = work;
    load->table = table;
    load->blocks = harness_blocks_copy(work);
    if (load->blocks && pthread_create(&load->thread, NULL, keep_busy, load) == 0)
        return load;
    release(load);
    return NULL;
}

void load_end(struct verify_load *load) {
    if (!load)
        return;
    pthread_mutex_lock(&load->lock);
    load->stops = true;
    pthread_mutex_unlock(&load->lock);
    pthread_join(load->thread, NULL);
    release(load);
}

#endif

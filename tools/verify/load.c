// SPDX-License-Identifier: MIT
#include "load.h"

#ifdef _WIN32

struct verify_load *load_begin(rope2d_device *device, const struct harness_work *work, rope2d_table table) {
    (void)device, (void)work, (void)table;
    return NULL;
}

uint64_t load_end(struct verify_load *load) {
    (void)load;
    return 0;
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
    pthread_cond_t changed;
    bool begins, stops;
    uint64_t runs;
};

static bool goes_on(struct verify_load *load) {
    pthread_mutex_lock(&load->lock);
    load->begins = true;
    pthread_cond_signal(&load->changed);
    bool stops = load->stops;
    pthread_mutex_unlock(&load->lock);
    return !stops;
}

static void *keep_busy(void *user) {
    struct verify_load *load = user;
    uint64_t dispatches;
    // Once at least, however soon it is stopped.
    while (harness_run(&load->device, load->work, load->table, load->blocks, &dispatches) == ROPE2D_OK) {
        ++load->runs;
        if (!goes_on(load))
            return NULL;
    }
    (void)goes_on(load); // nobody waits for it any more
    return NULL;
}

static void release(struct verify_load *load) {
    harness_blocks_free(load->work, load->blocks);
    harness_device_forget(&load->device);
    pthread_cond_destroy(&load->changed);
    pthread_mutex_destroy(&load->lock);
    free(load);
}

struct verify_load *load_begin(rope2d_device *device, const struct harness_work *work, rope2d_table table) {
    struct verify_load *load = calloc(1, sizeof *load);
    if (!load || pthread_mutex_init(&load->lock, NULL)) {
        free(load);
        return NULL;
    }
    if (pthread_cond_init(&load->changed, NULL)) {
        pthread_mutex_destroy(&load->lock);
        free(load);
        return NULL;
    }
    load->device.device = device;
    load->work = work;
    load->table = table;
    load->blocks = harness_blocks_copy(work);
    if (load->blocks && pthread_create(&load->thread, NULL, keep_busy, load) == 0) {
        pthread_mutex_lock(&load->lock);
        while (!load->begins)
            pthread_cond_wait(&load->changed, &load->lock);
        pthread_mutex_unlock(&load->lock);
        return load;
    }
    release(load);
    return NULL;
}

uint64_t load_end(struct verify_load *load) {
    if (!load)
        return 0;
    pthread_mutex_lock(&load->lock);
    load->stops = true;
    pthread_mutex_unlock(&load->lock);
    pthread_join(load->thread, NULL);
    const uint64_t runs = load->runs;
    release(load);
    return runs;
}

#endif

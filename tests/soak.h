// SPDX-License-Identifier: MIT
// What long runs do again and again, with memory of their own that is counted.
#ifndef TEST_SOAK_H
#define TEST_SOAK_H

#include "rope2d/rope2d.h"

#include <pthread.h>
#include <stdbool.h>

enum { SOAK_TOKENS = 24, SOAK_HEADS = 2, SOAK_DIM = 32, SOAK_MOST_DEVICES = 16 };

typedef struct soak_host {
    rope2d_host host;
    pthread_mutex_t lock;
    int64_t live; // bytes
} soak_host;

void soak_host_create(soak_host *host);
int64_t soak_live(soak_host *host);

rope2d_backend soak_backend(const char *name);
uint32_t soak_count(rope2d_backend backend); // devices
rope2d_device *soak_device(rope2d_backend backend, uint32_t index, const rope2d_host *host);

typedef struct soak_objects {
    rope2d_plan *plan;
    rope2d_positions *positions;
} soak_objects;

typedef struct soak_values {
    float of[SOAK_TOKENS * SOAK_HEADS * SOAK_DIM];
} soak_values;

// `other`: of another structure, whose kernels nobody keeps.
bool soak_make(rope2d_device *device, bool other, soak_objects *objects);
void soak_unmake(soak_objects *objects);
// Rotates in place: what is there, or what everybody begins with.
bool soak_rotate(const soak_objects *objects, soak_values *values);
bool soak_apply(const soak_objects *objects, soak_values *values);

// ------------------------------------------------------------------------------------------- eight threads

typedef struct soak_crowd {
    soak_host host;
    uint32_t count;
    rope2d_device *devices[SOAK_MOST_DEVICES];
    soak_objects shared[SOAK_MOST_DEVICES]; // of each device
    soak_values right[2];                   // of either structure, by the CPU
    soak_values raced;
    bool is_race;
    unsigned seconds;
    uint64_t rounds[8];
    uint64_t wrong[8];
} soak_crowd;

// Every device of every backend; false where the CPU is missing. Zeroed memory may be destroyed.
bool soak_crowd_create(soak_crowd *crowd);
void soak_crowd_run(soak_crowd *crowd, unsigned seconds, bool is_race, uint64_t *rounds, uint64_t *wrong);
void soak_crowd_destroy(soak_crowd *crowd);

#endif

// SPDX-License-Identifier: MIT
#include "crowd.h"
#include "soak.h"

#include <string.h>
#include <time.h>

bool soak_crowd_create(soak_crowd *crowd) {
    soak_host_create(&crowd->host);
    for (int backend = 0; backend < ROPE2D_BACKEND_COUNT; backend++) {
        const uint32_t count = soak_count((rope2d_backend)backend);
        for (uint32_t i = 0; i < count && crowd->count < SOAK_MOST_DEVICES; i++) {
            rope2d_device *device = soak_device((rope2d_backend)backend, i, &crowd->host.host);
            crowd->devices[crowd->count] = device;
            if (device != NULL && soak_make(device, false, &crowd->shared[crowd->count++]))
                continue;
            return false;
        }
    }
    for (int other = 0; other < 2 && crowd->count > 0; other++) {
        soak_objects made = {0};
        if (!soak_make(crowd->devices[0], other, &made) || !soak_apply(&made, &crowd->right[other]))
            return false;
        soak_unmake(&made);
    }
    return crowd->count > 0;
}

void soak_crowd_destroy(soak_crowd *crowd) {
    for (uint32_t i = 0; i < crowd->count; i++) {
        soak_unmake(&crowd->shared[i]);
        rope2d_device_destroy(crowd->devices[i]);
    }
}

static bool rotates(const soak_crowd *crowd, const soak_objects *objects, bool other) {
    soak_values values;
    return soak_apply(objects, &values) && memcmp(&values, &crowd->right[other], sizeof(values)) == 0;
}

// Objects of one thread's on a device that all use; of a structure whose kernels come and go.
static bool makes(const soak_crowd *crowd, rope2d_device *device, bool other) {
    soak_objects made = {0};
    const bool is_good = soak_make(device, other, &made) && rotates(crowd, &made, other);
    soak_unmake(&made);
    return is_good;
}

static bool opens(soak_crowd *crowd, uint32_t choice) {
    rope2d_device *device = soak_device(ROPE2D_BACKEND_CPU, 0, &crowd->host.host);
    const bool is_good = device != NULL && makes(crowd, device, choice % 2);
    rope2d_device_destroy(device);
    return is_good;
}

static bool live(void *data, int member) {
    soak_crowd *crowd = data;
    uint32_t random = (uint32_t)member * 2654435761u + 1;
    struct timespec now, begin;
    (void)timespec_get(&begin, TIME_UTC);
    do {
        bool is_good = true;
        random = random * 1664525u + 1013904223u;
        const uint32_t choice = random >> 16;
        const uint32_t device = (random >> 8) % crowd->count;
        if (crowd->is_race)
            is_good = soak_rotate(&crowd->shared[0], &crowd->raced);
        else if (choice % 64 < 48)
            is_good = rotates(crowd, &crowd->shared[device], false);
        else if (choice % 64 < 60)
            is_good = makes(crowd, crowd->devices[device], false);
        else if (choice % 64 < 63)
            is_good = opens(crowd, choice >> 6);
        else
            is_good = makes(crowd, crowd->devices[device], true);
        crowd->rounds[member]++;
        crowd->wrong[member] += !is_good;
        (void)timespec_get(&now, TIME_UTC);
    } while (now.tv_sec - begin.tv_sec < (time_t)crowd->seconds);
    return true;
}

void soak_crowd_run(soak_crowd *crowd, unsigned seconds, bool is_race, uint64_t *rounds, uint64_t *wrong) {
    crowd->seconds = seconds;
    crowd->is_race = is_race;
    (void)crowd_run(live, crowd);
    for (int i = 0; i < CROWD; i++) {
        *rounds += crowd->rounds[i];
        *wrong += crowd->wrong[i];
    }
}

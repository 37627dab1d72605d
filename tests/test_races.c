// SPDX-License-Identifier: MIT
// Eight threads apply one plan, and make plans and positions of one device, at once: the bits of one thread.
// Of most use under ThreadSanitizer.
//
//     test_races cpu | vulkan | opencl
#include "check.h"
#include "crowd.h"
#include "race_scene.h"

#include <string.h>

enum { ROUNDS = 4 };

typedef struct crowd_data {
    race_scene scene;
    float expected[RACE_ELEMENTS];
    float values[CROWD][RACE_ELEMENTS];
} crowd_data;

static bool rotates(const race_scene *scene, const crowd_data *data, float *values) {
    race_fill(values);
    return race_apply(scene, values) && memcmp(values, data->expected, sizeof(data->expected)) == 0;
}

static bool apply(void *user, int member) {
    crowd_data *data = user;
    bool is_good = true;
    for (int round = 0; round < ROUNDS; round++)
        is_good = rotates(&data->scene, data, data->values[member]) && is_good;
    return is_good;
}

static bool create(void *user, int member) {
    crowd_data *data = user;
    race_scene own = {.device = data->scene.device};
    bool is_good = true;
    for (int round = 0; round < ROUNDS; round++) {
        is_good = race_make(own.device, &own.positions, &own.plan) && is_good;
        is_good = is_good && rotates(&own, data, data->values[member]);
        rope2d_plan_destroy(own.plan);
        rope2d_positions_destroy(own.positions);
        own.plan = NULL;
        own.positions = NULL;
    }
    return is_good;
}

int main(int argc, char **argv) {
    static const char *const names[ROPE2D_BACKEND_COUNT] = {"cpu", "vulkan", "opencl"};
    static crowd_data data;
    static race_scene alone;
    int backend = 0;
    for (int i = 0; i < ROPE2D_BACKEND_COUNT; i++) {
        if (argc > 1 && strcmp(argv[1], names[i]) == 0)
            backend = i;
    }
    CHECK(race_scene_create(&alone, ROPE2D_BACKEND_CPU, 0) && race_apply(&alone, alone.shared), "one thread");
    memcpy(data.expected, alone.shared, sizeof(data.expected));
    if (race_scene_create(&data.scene, (rope2d_backend)backend, 0)) {
        CHECK(crowd_run(apply, &data) == CROWD, "%s: eight threads apply", names[backend]);
        CHECK(crowd_run(create, &data) == CROWD, "%s: eight threads create and apply", names[backend]);
    } else {
        check_skip("%s: no device", names[backend]);
    }
    race_scene_destroy(&data.scene);
    race_scene_destroy(&alone);
    return check_finish();
}

// SPDX-License-Identifier: MIT
#include "crowd.h"

#include <pthread.h>

typedef struct member {
    crowd_fn *run;
    void *data;
    int number;
    pthread_barrier_t *begin;
    bool is_good;
} member;

static void *enter(void *data) {
    member *m = data;
    (void)pthread_barrier_wait(m->begin);
    m->is_good = m->run(m->data, m->number);
    return NULL;
}

int crowd_run(crowd_fn *run, void *data) {
    pthread_t threads[CROWD];
    pthread_barrier_t begin;
    member members[CROWD];
    int good = 0;
    if (pthread_barrier_init(&begin, NULL, CROWD) != 0)
        return 0;
    for (int i = 0; i < CROWD; i++) {
        members[i] = (member){run, data, i, &begin, false};
        if (pthread_create(&threads[i], NULL, enter, &members[i]) != 0)
            return 0; // the members that are there wait until the process ends
    }
    for (int i = 0; i < CROWD; i++) {
        (void)pthread_join(threads[i], NULL);
        good += members[i].is_good;
    }
    (void)pthread_barrier_destroy(&begin);
    return good;
}

// SPDX-License-Identifier: MIT
//
// The CPU with a caller's own job system: four threads of this program do all the work, the library starts
// none. Checks that, and that a caller who cuts the tokens into jobs of its own gets the same bits. Build:
//     cc -pthread job_system.c $(pkg-config --cflags --libs rope2d)
#include <rope2d/rope2d.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORKERS = 4, SIDE = 48, TOKENS = SIDE * SIDE, HEADS = 8, HEAD_DIM = 64, PAIRS = HEAD_DIM / 2 };

typedef struct batch {
    pthread_mutex_t lock;
    uint32_t next, tasks;
    void (*task)(void *data, uint32_t index);
    void *data;
    size_t most_threads; // of the whole process
} batch;

static size_t count_threads(void) {
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL)
        return 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void *work(void *user) {
    batch *b = user;
    for (;;) {
        pthread_mutex_lock(&b->lock);
        const uint32_t index = b->next++;
        const size_t threads = count_threads();
        if (threads > b->most_threads)
            b->most_threads = threads;
        pthread_mutex_unlock(&b->lock);
        if (index >= b->tasks)
            return NULL;
        b->task(b->data, index);
    }
}

// A real job system keeps its threads; this one starts them for each call.
static void parallel_for(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data) {
    size_t *most_threads = user;
    batch b = {PTHREAD_MUTEX_INITIALIZER, 0, tasks, task, data, 0};
    pthread_t threads[WORKERS];
    const size_t before = count_threads();
    int started = 0;
    while (started < WORKERS && pthread_create(&threads[started], NULL, work, &b) == 0)
        started++;
    if (started == 0)
        (void)work(&b);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    // The system still counts a thread for a moment after it was joined: not into the next call's.
    const struct timespec moment = {0, 1000000};
    for (int i = 0; i < 1000 && count_threads() > before; i++)
        nanosleep(&moment, NULL);
    pthread_mutex_destroy(&b.lock);
    if (b.most_threads > *most_threads)
        *most_threads = b.most_threads;
}

static float in[TOKENS][HEADS][HEAD_DIM], whole[TOKENS][HEADS][HEAD_DIM], parts[TOKENS][HEADS][HEAD_DIM];

static rope2d_status rotate(const rope2d_plan *plan, const rope2d_positions *positions, size_t first,
                            size_t count, float (*out)[HEADS][HEAD_DIM]) {
    rope2d_tensor q = {.heads = HEADS};
    q.in = rope2d_view_contiguous(in[first], ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, count, HEADS, HEAD_DIM);
    q.out = rope2d_view_contiguous(out[first], ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, count, HEADS, HEAD_DIM);
    rope2d_apply_params params = {sizeof(params), 1, first, count, 1, &q};
    return rope2d_apply(plan, positions, &params);
}

int main(void) {
    static float freqs[2][PAIRS], yx[TOKENS][2];
    size_t most_threads = 0;
    rope2d_device *device = NULL;
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    for (int i = 0; i < PAIRS; i++)
        freqs[i % 2][i] = 1.0f / (float)(1 + i);
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / SIDE);
        yx[t][1] = (float)(t % SIDE);
    }
    for (size_t i = 0; i < sizeof(in) / sizeof(float); i++)
        (&in[0][0][0])[i] = (float)((i * 2654435761u) % 2001u) / 1000.0f - 1.0f;

    rope2d_host host = {sizeof(host), .user = &most_threads, .parallel_for = parallel_for,
                        .threads = WORKERS};
    rope2d_device_params cpu = {sizeof(cpu), .host = &host};
    rope2d_spec spec = {sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .freqs = &freqs[0][0]};
    rope2d_positions_params grid = {sizeof(grid), &spec, .tokens = TOKENS, .coordinates = &yx[0][0]};
    rope2d_plan_params types = {sizeof(types), &spec, .in = ROPE2D_F32, .out = ROPE2D_F32};
    rope2d_status status = rope2d_device_create(&cpu, &device);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(device, &grid, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(device, &types, &plan);
    if (status == ROPE2D_OK)
        status = rotate(plan, positions, 0, TOKENS, whole);

    int same = 1;
    for (unsigned cut = 0; cut < 20 && status == ROPE2D_OK; cut++) { // jobs of any sizes
        memset(parts, 0, sizeof(parts));
        for (size_t first = 0, count = 0; first < TOKENS && status == ROPE2D_OK; first += count) {
            count = 1 + (first * 31u + cut * 977u) % (1u + cut * 40u);
            count = count < TOKENS - first ? count : TOKENS - first;
            status = rotate(plan, positions, first, count, parts);
        }
        same = same && memcmp(whole, parts, sizeof(whole)) == 0;
    }
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    rope2d_device_destroy(device);
    if (status != ROPE2D_OK) {
        fprintf(stderr, "job_system: %s\n", rope2d_status_name(status));
        return EXIT_FAILURE;
    }
    const int rotated = memcmp(in, whole, sizeof(in)) != 0;
    printf("at most %zu threads, %d of them workers; 20 ways of cutting: %s\n", most_threads, WORKERS,
           same ? "the same bits" : "other bits");
    // This program's own thread and its workers; 0 where there is no /proc.
    const int hidden = most_threads > WORKERS + 1;
    const int ran = most_threads > 1;
    return same && rotated && ran && !hidden ? EXIT_SUCCESS : EXIT_FAILURE;
}

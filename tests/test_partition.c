// SPDX-License-Identifier: MIT
// On the CPU: any partition of the tokens or of the heads gives the bits of one apply of all, and the library
// starts no threads that the caller did not ask for.
#include "backend.h"
#include "check.h"
#include "counter.h"
#include "cpu/device.h"
#include "partition_scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <dirent.h>
#include <pthread.h>
#endif

enum { TOKENS = 203, MAX_HEADS = 5, MAX_PARTS = 1024, SEEDS = 3 };

// ---------------------------------------------------------------------------------------------- partitions

static void backwards(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data) {
    (void)user;
    for (uint32_t i = tasks; i > 0; i--)
        task(data, i - 1);
}

// Cuts 0 to `end` into ranges, some of them empty, and puts them into any order.
static uint32_t cut(const partition_scene *s, uint64_t end, uint64_t most, uint64_t stream,
                    partition_range *parts) {
    uint32_t count = 0;
    for (uint64_t at = 0; at < end && count < MAX_PARTS;) {
        const uint64_t length = count + 1 == MAX_PARTS ? end : partition_draw(s, stream, count, most + 1);
        parts[count] = (partition_range){at, length < end - at ? at + length : end};
        at = parts[count++].end;
    }
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t other = partition_draw(s, stream + 1, i, i);
        const partition_range part = parts[other];
        parts[other] = parts[i - 1];
        parts[i - 1] = part;
    }
    return count;
}

// All at once into `whole`, in parts into `parted`; both must be equal.
static void compare(const partition_scene *s, const void *input, void *in, void *whole, void *parted,
                    bool by_heads, uint64_t most) {
    static partition_range parts[MAX_PARTS];
    const partition_range tokens = {0, TOKENS}, heads = {0, s->heads};
    const uint32_t count = cut(s, by_heads ? s->heads : TOKENS, most, 10 + 2 * most, parts);
    memcpy(in, input, s->bytes);
    memcpy(whole, input, s->bytes);
    memcpy(parted, input, s->bytes);
    bool good = partition_apply(s, s->in_place ? whole : in, whole, tokens, heads);
    for (uint32_t i = 0; i < count && good; i++)
        good = partition_apply(s, s->in_place ? parted : in, parted, by_heads ? tokens : parts[i],
                               by_heads ? parts[i] : heads);
    size_t differs = 0;
    while (differs < s->bytes && ((unsigned char *)whole)[differs] == ((unsigned char *)parted)[differs])
        differs++;
    CHECK(good && memcmp(in, input, s->bytes) == 0 && memcmp(whole, input, s->bytes) != 0 &&
              memcmp(whole, parted, s->bytes) == 0,
          "%s, element %u, pairing %u, %" PRIu32 " heads of %" PRIu32 ", %s, seed %" PRIu64 ", %" PRIu32
          " parts of %s: byte %zu of %zu",
          s->kind, (unsigned)s->element, (unsigned)s->pairing, s->heads, s->dim,
          s->in_place ? "in place" : "out of place", s->seed, count, by_heads ? "heads" : "tokens", differs,
          s->bytes);
}

static void test_scene(partition_scene *s) {
    static const enum counter_type types[] = {COUNTER_F32, COUNTER_F16, COUNTER_BF16};
    static uint32_t memory[4][PARTITION_BATCH * TOKENS * MAX_HEADS * PARTITION_MAX_DIM];
    const bool is_made = partition_make(s);
    CHECK(is_made, "%s: plan and positions, seed %" PRIu64, s->kind, s->seed);
    counter_fill(memory[0], types[s->element], COUNTER_FINITE, s->seed, 3, 0,
                 s->bytes / rope2d_element_size(s->element));
    for (int place = 0; place < 2 && is_made; place++) {
        s->in_place = place == 1;
        compare(s, memory[0], memory[1], memory[2], memory[3], false, 1);
        compare(s, memory[0], memory[1], memory[2], memory[3], false, 17);
        compare(s, memory[0], memory[1], memory[2], memory[3], false, TOKENS);
        compare(s, memory[0], memory[1], memory[2], memory[3], true, 2);
    }
    partition_release(s);
}

static void test_partitions(const char *kind, uint32_t flags) {
    const rope2d_host host = {.struct_size = sizeof(host), .parallel_for = backwards, .threads = 3};
    const rope2d_device_params params = {.struct_size = sizeof(params), .flags = flags, .host = &host};
    rope2d_device *device = NULL;
    if (!CHECK(rope2d_device_create(&params, &device) == ROPE2D_OK, "%s: device", kind))
        return;
    if (flags == 0) // large tensors then go past the caches, and small parts of them do not
        ((rope2d_cpu *)device->impl)->last_cache = 512 << 10;
    for (uint32_t i = 0; i < 3 * 2 * 2 * 2 * SEEDS; i++) {
        partition_scene s = {.kind = kind,
                             .device = device,
                             .element = (rope2d_element)(i % 3),
                             .pairing = i / 3 % 2 ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED,
                             .heads = i / 6 % 2 ? MAX_HEADS : 1,
                             .dim = i / 12 % 2 ? PARTITION_MAX_DIM : 64,
                             .tokens = TOKENS,
                             .seed = 1 + i / 24};
        test_scene(&s);
    }
    rope2d_device_destroy(device);
}

// -------------------------------------------------------------------------------------------------- threads

#if defined(__linux__)
typedef struct watch {
    long least, most; // threads of the process, whenever the library calls back
    uint32_t tasks;
} watch;

static long count_threads(void) {
    DIR *folder = opendir("/proc/self/task");
    long count = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    if (folder)
        (void)closedir(folder);
    return count;
}

static void look(watch *w) {
    const long now = count_threads();
    w->least = now < w->least ? now : w->least;
    w->most = now > w->most ? now : w->most;
}

static void *allocate(void *user, size_t size, size_t alignment) {
    look(user);
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t size) {
    (void)size;
    look(user);
    free(memory);
}

static void watched_for(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data) {
    watch *w = user;
    w->tasks += tasks;
    for (uint32_t i = 0; i < tasks; i++) {
        look(w);
        task(data, i);
    }
    look(w);
}

// Device, plan, positions and a large apply of a host that has no threads to lend.
static void test_quiet(const char *kind, uint32_t flags, bool has_parallel_for) {
    const long before = count_threads();
    watch w = {.least = before, .most = before};
    rope2d_host host = {.struct_size = sizeof(host), .user = &w, .allocate = allocate, .release = release};
    host.parallel_for = has_parallel_for ? watched_for : NULL;
    host.threads = has_parallel_for ? 4 : 1;
    const rope2d_device_params params = {.struct_size = sizeof(params), .flags = flags, .host = &host};
    partition_scene s = {
        .heads = MAX_HEADS, .dim = 64, .tokens = PARTITION_MAX_TOKENS, .seed = 1, .in_place = true};
    bool good = rope2d_device_create(&params, &s.device) == ROPE2D_OK && partition_make(&s);
    void *values = calloc(1, s.bytes + 1);
    const uint32_t before_apply = w.tasks;
    good = good && values &&
           partition_apply(&s, values, values, (partition_range){0, s.tokens}, (partition_range){0, s.heads});
    look(&w);
    CHECK(good && (w.tasks > before_apply + 1) == has_parallel_for, "%s: %" PRIu32 " tasks, then %" PRIu32,
          kind, before_apply, w.tasks);
    partition_release(&s);
    rope2d_device_destroy(s.device);
    look(&w);
    CHECK(w.least == before && w.most == before, "%s, %s: %ld threads before, %ld to %ld later", kind,
          has_parallel_for ? "parallel_for" : "one thread", before, w.least, w.most);
    free(values);
}

static void *look_too(void *user) {
    look(user);
    return NULL;
}

// A thread that is there is seen.
static void test_control(void) {
    watch w = {.least = count_threads()};
    pthread_t thread;
    const bool good = pthread_create(&thread, NULL, look_too, &w) == 0 && pthread_join(thread, NULL) == 0;
    CHECK(good && w.most > w.least, "one thread more: %ld, then %ld", w.least, w.most);
}

static void test_threads(void) {
    if (count_threads() < 1) {
        check_skip("/proc/self/task is not there");
        return;
    }
    for (int i = 0; i < 4; i++)
        test_quiet(i % 2 ? "portable" : "default", i % 2 ? ROPE2D_DEVICE_PORTABLE : 0, i < 2);
    test_control();
}
#else
static void test_threads(void) {
    check_skip("threads are counted on Linux alone");
}
#endif

int main(void) {
    test_threads(); // first: nothing has started any
    test_partitions("default", 0);
    test_partitions("portable", ROPE2D_DEVICE_PORTABLE);
    return check_finish();
}

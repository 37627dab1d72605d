// SPDX-License-Identifier: MIT
//
// Long runs, for what a short one does not show. tools/soak runs it at length, the tests for seconds.
//
//     soak flat BACKEND APPLIES PLANS [own-leak | driver-leak]
//         memory stays what it is while one device applies, and makes and destroys plans and positions. What
//         the library asked its host for is counted by itself, so that a driver's leak is told apart. A leak
//         that is made on purpose must be called by its name.
//     soak crowd SECONDS [race]
//         eight threads, all devices at once; of most use under ThreadSanitizer, which must see the race.
#include "soak.h"

#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLD = 1000, WARM = 2000, LOST = 512 };

// Of the second half: by then a driver's pools are full. What a leak loses at each call is more by far.
static const double most_bytes_each = 24;
static const double most_bytes_in_all = 1 << 20;

static int64_t resident_bytes(void) {
    long long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%lld %lld", &all, &resident) != 2)
        resident = 0;
    (void)fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

typedef struct flat {
    soak_host host;
    rope2d_device *device;
    soak_objects kept;
    soak_values values;
    bool leaks_own;
    bool leaks_driver;
} flat;

// As a driver that forgets something at each call would.
static void leak(flat *run) {
    static void *volatile lost;
    if (run->leaks_driver && (lost = malloc(LOST)) != NULL)
        memset(lost, 1, LOST);
    if (run->leaks_own)
        lost = run->host.host.allocate(run->host.host.user, LOST, 64);
}

static bool apply_one(flat *run, uint64_t i) {
    (void)i;
    leak(run);
    return soak_apply(&run->kept, &run->values);
}

// Kernels are shared with the plan that is kept, but for one in a thousand.
static bool make_one(flat *run, uint64_t i) {
    soak_objects made = {0};
    leak(run);
    bool is_good = soak_make(run->device, i % COLD == COLD - 1, &made);
    if (is_good && i % 16 == 0)
        is_good = soak_apply(&made, &run->values);
    soak_unmake(&made);
    return is_good;
}

typedef bool step_fn(flat *run, uint64_t i);

static void watch(flat *run, step_fn *step, uint64_t warm, uint64_t count, const char *what) {
    const uint64_t half = count / 2 + 1;
    bool is_good = true;
    for (uint64_t i = 0; i < warm && is_good; i++)
        is_good = step(run, i);
    const int64_t own = soak_live(&run->host);
    const int64_t begin = resident_bytes();
    int64_t middle = begin, most_own = own;
    for (uint64_t i = 0; i < count && is_good; i++) {
        if (i == half)
            middle = resident_bytes();
        is_good = step(run, i);
        if (soak_live(&run->host) > most_own)
            most_own = soak_live(&run->host);
    }
    const int64_t end = resident_bytes();
    const int64_t lost = most_own - own;
    const double each = (double)(end - middle) / (double)half;
    printf("%" PRIu64 " %s: rope2d holds %" PRId64 " bytes more than before; the process %" PRId64
           " KiB more after the first half, %" PRId64 " KiB more after the second\n",
           count, what, lost, (middle - begin) / 1024, (end - middle) / 1024);
    CHECK(is_good, "%s: a call failed", what);
    CHECK(lost == 0, "%s: a leak of rope2d's own: %" PRId64 " bytes", what, lost);
    CHECK(lost != 0 || (double)(end - middle) < most_bytes_in_all + most_bytes_each * (double)half,
          "%s: a leak that is not rope2d's own: %.0f bytes each", what, each);
}

static int run_flat(int argc, char **argv) {
    static flat run;
    const rope2d_backend backend = soak_backend(argv[2]);
    const uint64_t applies = strtoull(argv[3], NULL, 10);
    const uint64_t plans = strtoull(argv[4], NULL, 10);
    run.leaks_own = argc > 5 && strcmp(argv[5], "own-leak") == 0;
    run.leaks_driver = argc > 5 && strcmp(argv[5], "driver-leak") == 0;
    soak_host_create(&run.host);
    for (uint32_t index = 0; index < soak_count(backend); index++) {
        run.device = soak_device(backend, index, &run.host.host);
        if (CHECK(run.device && soak_make(run.device, false, &run.kept), "%s %u", argv[2], index)) {
            rope2d_device_info info = {.struct_size = sizeof(info)};
            (void)rope2d_device_get_info(run.device, &info);
            printf("%s\n", info.name);
            watch(&run, apply_one, WARM, applies, "applies");
            watch(&run, make_one, COLD + COLD / 10, plans, "plans and positions");
        }
        soak_unmake(&run.kept);
        rope2d_device_destroy(run.device);
        const int64_t left = soak_live(&run.host);
        CHECK(run.leaks_own || left == 0, "%s %u: %" PRId64 " bytes are left", argv[2], index, left);
    }
    if (soak_count(backend) == 0)
        check_skip("%s: no device", argv[2]);
    return check_finish();
}

static int run_crowd(int argc, char **argv) {
    static soak_crowd crowd;
    uint64_t rounds = 0, wrong = 0;
    const bool is_race = argc > 3 && strcmp(argv[3], "race") == 0;
    if (CHECK(soak_crowd_create(&crowd), "devices")) {
        soak_crowd_run(&crowd, (unsigned)strtoul(argv[2], NULL, 10), is_race, &rounds, &wrong);
        printf("%u devices, %" PRIu64 " rounds, %" PRIu64 " wrong\n", crowd.count, rounds, wrong);
        CHECK(rounds > 0 && (is_race || wrong == 0), "threads: %" PRIu64 " of %" PRIu64 " went wrong", wrong,
              rounds);
    }
    soak_crowd_destroy(&crowd);
    return check_finish();
}

int main(int argc, char **argv) {
    if (argc > 4 && strcmp(argv[1], "flat") == 0)
        return run_flat(argc, argv);
    if (argc > 2 && strcmp(argv[1], "crowd") == 0)
        return run_crowd(argc, argv);
    puts("usage: soak flat BACKEND APPLIES PLANS [own-leak | driver-leak] | crowd SECONDS [race]");
    return 1;
}

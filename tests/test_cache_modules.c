// SPDX-License-Identifier: MIT
//
// What a Vulkan device's cache holds besides the driver's part: kernels as modules, so that the next start
// need not unpack them. Seen by what a plan asks the host's allocator for.
#include "cache.h"
#include "config.h"
#include "embedded.h"
#include "jobs.h"
#include "records.h"

#include <stdlib.h>
#include <string.h>

enum { JOBS = 2, HEAD = ROPE2D_DIGEST_BYTES + 8, MOST_RECORDS = 16 };

static tally counts;
static captured_log lines;
static size_t largest; // that was asked for
static long requests, fail_at, live;

static const test_job jobs[JOBS] = {
    {.shape = JOB_HALF, .batch = 1, .tokens = 9},
    {.shape = JOB_HALF, .in = ROPE2D_BF16, .out = ROPE2D_BF16, .batch = 1, .tokens = 9},
};

static void *allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    largest = size > largest ? size : largest;
    if (++requests == fail_at)
        return NULL;
    live++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    live--;
    free(memory);
}

static rope2d_device *open_device(uint32_t index, uint32_t flags) {
    rope2d_host host = captured_host(&lines);
    host.allocate = allocate;
    host.release = release;
    const rope2d_device_params params = {.struct_size = sizeof(params),
                                         .backend = ROPE2D_BACKEND_VULKAN,
                                         .index = index,
                                         .flags = flags,
                                         .host = &host};
    rope2d_device *device = NULL;
    lines.text[0] = 0;
    const rope2d_status status = rope2d_device_create(&params, &device);
    tally_check(&counts, status == ROPE2D_OK, "device %u: %s: %s", (unsigned)index,
                rope2d_status_name(status), lines.text);
    return device;
}

// A plan of a job is made, asked for its exactness, and destroyed; whether modules were
// made: a kernel was unpacked, or its constants were put into it.
static bool makes(rope2d_device *device, const test_job *job, rope2d_exactness *exactness) {
    job_spec spec;
    rope2d_plan *plan = NULL;
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    job_make_spec(job, &spec);
    const rope2d_plan_params params = job_plan_params(job, &spec, 0);
    largest = 0;
    const rope2d_status status = rope2d_plan_create(device, &params, &plan);
    const size_t asked = largest;
    tally_check(&counts, status == ROPE2D_OK && rope2d_plan_get_info(plan, &info) == ROPE2D_OK,
                "a plan: %s: %s", rope2d_status_name(status), lines.text);
    *exactness = info.exactness;
    rope2d_plan_destroy(plan);
    return asked >= rope2d_embedded_spirv[1].size;
}

static bool is_exact(rope2d_exactness exactness) {
    return exactness == ROPE2D_EXACT || exactness == ROPE2D_EXACT_NORMAL;
}

static rope2d_blob get(rope2d_device *device) {
    rope2d_blob blob = {NULL, 0};
    tally_check(&counts, rope2d_device_get_cache(device, NULL, &blob.size) == ROPE2D_OK, "a size");
    blob.bytes = calloc(1, (size_t)blob.size + 1);
    tally_check(&counts, rope2d_device_get_cache(device, blob.bytes, &blob.size) == ROPE2D_OK, "bytes");
    return blob;
}

// Where the records of a cache begin.
static unsigned find_records(const rope2d_blob *blob, uint64_t places[MOST_RECORDS]) {
    unsigned found = 0;
    for (uint64_t at = ROPE2D_CACHE_HEADER_BYTES; at < blob->size && found < MOST_RECORDS; found++) {
        places[found] = at;
        at += HEAD + rope2d_read_64(blob->bytes + at + ROPE2D_DIGEST_BYTES);
    }
    return found;
}

// Of a module's key: is a vector kernel, group, inputs, outputs, flags, and zeros; the driver's is all zeros.
static bool is_module(const rope2d_blob *blob, uint64_t place) {
    uint32_t group;
    memcpy(&group, blob->bytes + place + sizeof(group), sizeof(group));
    return group != 0;
}

static unsigned count_modules(const rope2d_blob *blob) {
    uint64_t places[MOST_RECORDS];
    unsigned modules = 0;
    for (unsigned i = find_records(blob, places); i-- > 0;)
        modules += is_module(blob, places[i]);
    return modules;
}

// With a right header and a right sum. Release with rope2d_blob_release.
static rope2d_blob forge(const rope2d_blob *blob, unsigned char *bytes, uint64_t size) {
    const rope2d_host host = rope2d_host_resolve(NULL);
    const rope2d_blob part = {bytes, size};
    rope2d_blob forged = {NULL, 0};
    rope2d_digest key;
    memcpy(key.bytes, blob->bytes + 16, sizeof(key.bytes));
    rope2d_cache_pack(&host, ROPE2D_BACKEND_VULKAN, &key, &part, &forged);
    return forged;
}

// Each of two kernels' modules, of which one is of f32 and one of bf16, under the other's key.
static rope2d_blob exchanged(const rope2d_blob *blob) {
    uint64_t places[MOST_RECORDS];
    const unsigned found = find_records(blob, places);
    rope2d_blob copy = {malloc((size_t)blob->size), blob->size};
    memcpy(copy.bytes, blob->bytes, (size_t)blob->size);
    for (unsigned a = 0; a < found; a++) {
        for (unsigned b = a + 1; b < found; b++) {
            uint32_t first[8], second[8];
            memcpy(first, blob->bytes + places[a], sizeof(first));
            memcpy(second, blob->bytes + places[b], sizeof(second));
            if (!is_module(blob, places[a]) || !is_module(blob, places[b]) || first[0] != second[0] ||
                first[2] == second[2])
                continue;
            memcpy(copy.bytes + places[a], second, sizeof(second));
            memcpy(copy.bytes + places[b], first, sizeof(first));
        }
    }
    const rope2d_blob forged =
        forge(blob, copy.bytes + ROPE2D_CACHE_HEADER_BYTES, blob->size - ROPE2D_CACHE_HEADER_BYTES);
    free(copy.bytes);
    return forged;
}

// The modules' keys, with what is no SPIR-V: of one byte, of no whole words, and of other words.
static rope2d_blob nonsense(const rope2d_blob *blob) {
    uint64_t places[MOST_RECORDS], size = 0;
    const unsigned found = find_records(blob, places);
    static const uint64_t sizes[] = {1, 21, 64};
    unsigned char *bytes = calloc(MOST_RECORDS, HEAD + 64);
    for (unsigned i = 0; i < found; i++) {
        if (!is_module(blob, places[i]))
            continue;
        memcpy(bytes + size, blob->bytes + places[i], ROPE2D_DIGEST_BYTES);
        rope2d_write_64(bytes + size + ROPE2D_DIGEST_BYTES, sizes[i % 3]);
        memset(bytes + size + HEAD, 3, (size_t)sizes[i % 3]);
        size += HEAD + sizes[i % 3];
    }
    const rope2d_blob forged = forge(blob, bytes, size);
    free(bytes);
    return forged;
}

// More records than a list takes.
static rope2d_blob endless(const rope2d_blob *blob) {
    const uint64_t count = ROPE2D_MOST_RECORDS + 1, each = HEAD + 1;
    unsigned char *bytes = calloc(count, each);
    for (uint64_t i = 0; i < count; i++) {
        rope2d_write_64(bytes + i * each, i + 1);
        rope2d_write_64(bytes + i * each + ROPE2D_DIGEST_BYTES, 1);
    }
    const rope2d_blob forged = forge(blob, bytes, count * each);
    free(bytes);
    return forged;
}

static rope2d_status take(rope2d_device *device, const rope2d_blob *blob) {
    return rope2d_device_set_cache(device, blob->bytes, blob->size);
}

// A cache that is no good: refused, or its kernels are made anew; and no harm to what was there.
static void check_bad(uint32_t index, const rope2d_blob *good, rope2d_blob bad, bool is_refused,
                      const char *what) {
    const rope2d_host host = rope2d_host_resolve(NULL);
    const rope2d_status expected = is_refused ? ROPE2D_ERROR_CACHE : ROPE2D_OK;
    rope2d_exactness exactness = ROPE2D_UNTESTED;
    rope2d_device *device = open_device(index, 0);
    tally_check(&counts, take(device, &bad) == expected, "%s: %s", what, lines.text);
    tally_check(&counts, makes(device, &jobs[0], &exactness) && is_exact(exactness),
                "%s: the kernels are made, and are exact: %u", what, (unsigned)exactness);
    tally_check(&counts, !makes(device, &jobs[0], &exactness), "%s: once", what);
    rope2d_device_destroy(device);

    device = open_device(index, 0);
    tally_check(&counts, take(device, good) == ROPE2D_OK && take(device, &bad) == expected, "%s, later: %s",
                what, lines.text);
    tally_check(&counts, !makes(device, &jobs[0], &exactness) && is_exact(exactness),
                "%s, later: what was there is there", what);
    rope2d_device_destroy(device);
    rope2d_blob_release(&host, &bad);
}

// Each request for memory of what takes a cache and of what gives it fails once.
static void check_memory(uint32_t index, const rope2d_blob *good) {
    bool is_over = false;
    unsigned failures = 0;
    for (long n = 1; n < 1000 && !is_over; n++) {
        uint64_t size = good->size + 1000;
        unsigned char *bytes = malloc((size_t)size);
        rope2d_device *device = open_device(index, 0);
        const long before = live;
        requests = 0;
        fail_at = n;
        rope2d_status status = take(device, good);
        const bool is_taken = status == ROPE2D_OK;
        if (!is_taken)
            tally_check(&counts, live == before, "request %ld: %ld are left", n, live - before);
        if (is_taken)
            status = rope2d_device_get_cache(device, bytes, &size);
        is_over = requests < n;
        fail_at = 0;
        failures += !is_over;
        tally_check(&counts, is_over ? status == ROPE2D_OK : status == ROPE2D_ERROR_HOST_MEMORY,
                    "request %ld: %s", n, rope2d_status_name(status));
        size = good->size + 1000;
        tally_check(&counts,
                    take(device, good) == ROPE2D_OK &&
                        rope2d_device_get_cache(device, bytes, &size) == ROPE2D_OK && size == good->size &&
                        memcmp(bytes, good->bytes, (size_t)size) == 0,
                    "request %ld: afterwards it is as if nothing had been: %s", n, lines.text);
        rope2d_device_destroy(device);
        free(bytes);
    }
    tally_check(&counts, is_over && failures > 2 * JOBS, "%u requests failed", failures);
}

static void check_device(uint32_t index) {
    const rope2d_host host = rope2d_host_resolve(NULL);
    uint64_t places[MOST_RECORDS], more = 0;
    const long before = live;
    rope2d_exactness exactness = ROPE2D_UNTESTED;
    rope2d_device *device = open_device(index, 0);
    if (!device)
        return;
    for (unsigned i = 0; i < JOBS; i++)
        tally_check(&counts, makes(device, &jobs[i], &exactness) && is_exact(exactness),
                    "cold, plan %u makes modules, and is exact: %u", i, (unsigned)exactness);
    tally_check(&counts, !makes(device, &jobs[0], &exactness), "again, a plan makes none");
    rope2d_blob blob = get(device);
    rope2d_device_destroy(device);
    tally_check(&counts, count_modules(&blob) == 2 * JOBS, "%u modules", count_modules(&blob));

    device = open_device(index, 0);
    for (unsigned i = 0; i < 2; i++)
        tally_check(&counts, rope2d_device_set_cache(device, blob.bytes, blob.size) == ROPE2D_OK,
                    "taken, %u: %s", i, lines.text);
    for (unsigned i = 0; i < JOBS; i++)
        tally_check(&counts, !makes(device, &jobs[i], &exactness) && is_exact(exactness),
                    "warm, plan %u makes none, and is exact: %u", i, (unsigned)exactness);
    rope2d_blob again = get(device);
    tally_check(&counts, find_records(&again, places) == find_records(&blob, places),
                "what is taken twice is there once: %u", find_records(&again, places));
    free(again.bytes);
    rope2d_device_destroy(device);
    check_bad(index, &blob, nonsense(&blob), false, "no SPIR-V");
    check_bad(index, &blob, endless(&blob), true, "too many records");
    check_bad(index, &blob,
              forge(&blob, blob.bytes + ROPE2D_CACHE_HEADER_BYTES, blob.size - ROPE2D_CACHE_HEADER_BYTES - 1),
              true, "a cut off record");
    check_memory(index, &blob);

    // Whoever knows how a check is made can put any module there. A plan that proves itself finds it out.
    rope2d_blob forged = exchanged(&blob);
    device = open_device(index, 0);
    tally_check(&counts, rope2d_device_set_cache(device, forged.bytes, forged.size) == ROPE2D_OK,
                "a wrong module: %s", lines.text);
    tally_check(&counts, !makes(device, &jobs[0], &exactness) && exactness == ROPE2D_INEXACT,
                "a wrong module is found out: %u", (unsigned)exactness);
    rope2d_device_destroy(device);
    rope2d_blob_release(&host, &forged);

    // What is compiled at run time may be compiled from other sources next time.
    if (ROPE2D_HAVE_SHADERC) {
        device = open_device(index, ROPE2D_DEVICE_RUNTIME_COMPILE);
        for (unsigned i = 0; i < JOBS; i++)
            makes(device, &jobs[i], &exactness);
        tally_check(&counts, rope2d_device_get_cache(device, NULL, &more) == ROPE2D_OK && more < blob.size,
                    "no modules of sources that may change: %llu bytes", (unsigned long long)more);
        again = get(device);
        tally_check(&counts, find_records(&again, places) <= 1, "%u records", find_records(&again, places));
        free(again.bytes);
        rope2d_device_destroy(device);
    } else {
        counts.skipped++;
    }
    free(blob.bytes);
    tally_check(&counts, live == before, "%ld pieces of memory are left", live - before);
}

int main(void) {
    uint32_t count = 0;
    if (rope2d_enumerate(ROPE2D_BACKEND_VULKAN, NULL, &count, NULL) != ROPE2D_OK || count == 0)
        counts.skipped++; // that devices are there is what other tests demand
    for (uint32_t i = 0; i < count; i++)
        check_device(i);
    return tally_finish(&counts);
}

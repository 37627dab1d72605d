// SPDX-License-Identifier: MIT
//
// A cache folder whose every file operation fails in turn, or does half of what it was asked: a warning that
// names the path, the file that was there stays whole, and no file, descriptor or memory is left over.
#include "check.h"
#include "fake_device.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dirent.h>

static struct {
    long calls;
    long fail_at; // 0: none
    int code;     // errno; 0: half is done
    const char *failed;
} disk;

static bool fails(const char *name) {
    if (++disk.calls != disk.fail_at)
        return false;
    disk.failed = name;
    errno = disk.code;
    return true;
}

static int faulty_open(const char *path, int flags) {
    return fails("open") ? -1 : open(path, flags);
}

static int faulty_mkstemp(char *name) {
    return fails("mkstemp") ? -1 : mkstemp(name);
}

static ssize_t faulty_write(int file, const void *data, size_t size) {
    if (!fails("write"))
        return write(file, data, size);
    return disk.code != 0 ? -1 : write(file, data, size / 2);
}

static ssize_t faulty_read(int file, void *data, size_t size) {
    if (!fails("read"))
        return read(file, data, size);
    return disk.code != 0 ? -1 : read(file, data, size / 2);
}

static int faulty_close(int file) { // what fails is done all the same: nobody can do it twice
    const int result = close(file);
    return fails("close") ? -1 : result;
}

static int faulty_rename(const char *from, const char *to) {
    return fails("rename") ? -1 : rename(from, to);
}

static int faulty_fstat(int file, struct stat *info) {
    return fails("fstat") ? -1 : fstat(file, info);
}

// The very functions, over these operations.
#define open              faulty_open
#define mkstemp           faulty_mkstemp
#define write             faulty_write
#define read              faulty_read
#define close             faulty_close
#define rename            faulty_rename
#define fstat(file, info) faulty_fstat(file, info)
#include "../src/cache_file.c" // NOLINT(bugprone-suspicious-include)
#undef open
#undef mkstemp
#undef write
#undef read
#undef close
#undef rename
#undef fstat

enum { BYTES = 5000 };

static unsigned char old_bytes[BYTES], new_bytes[BYTES];
static char path[512];

static unsigned entries(const char *folder) {
    unsigned count = 0;
    DIR *list = opendir(folder);
    while (list != NULL && readdir(list) != NULL)
        count++;
    if (list != NULL)
        (void)closedir(list);
    return count;
}

static bool holds(const struct fake_device *fake, const unsigned char *bytes) {
    rope2d_blob found = {NULL, 0};
    disk.fail_at = 0;
    const bool is_equal = rope2d_cache_read(&fake->device.host, path, &found) && found.size == BYTES &&
                          memcmp(found.bytes, bytes, BYTES) == 0;
    rope2d_blob_release(&fake->device.host, &found);
    return is_equal;
}

static void begin(long n, int code) {
    disk.calls = 0;
    disk.fail_at = n;
    disk.code = code;
    disk.failed = NULL;
}

// False when there is no n-th operation.
static bool fail_write(struct fake_device *fake, const char *folder, long n, int code) {
    const rope2d_blob old = {old_bytes, BYTES}, new = {new_bytes, BYTES};
    begin(0, 0);
    CHECK(rope2d_cache_write(&fake->device.host, path, &old), "the old file");
    const unsigned before = entries(folder), descriptors = entries("/proc/self/fd"), lines = fake->lines;
    begin(n, code);
    const bool is_good = rope2d_cache_write(&fake->device.host, path, &new);
    const char *failed = disk.failed;
    if (failed == NULL)
        return false;
    const bool goes_on = strcmp(failed, "write") == 0 && (code == 0 || code == EINTR);
    CHECK(is_good == (goes_on || (code == 0 && is_good)), "%s with %d: %d", failed, code, is_good);
    CHECK(is_good ? fake->lines == lines : fake_device_logged(fake, lines, path), "%s with %d: %s", failed,
          code, fake->line);
    CHECK(holds(fake, is_good ? new_bytes : old_bytes), "%s with %d: the file is neither", failed, code);
    CHECK(entries(folder) == before, "%s with %d: a file is left", failed, code);
    CHECK(entries("/proc/self/fd") == descriptors, "%s with %d: a descriptor is left", failed, code);
    return true;
}

static bool fail_read(struct fake_device *fake, long n, int code) {
    const unsigned descriptors = entries("/proc/self/fd"), lines = fake->lines;
    rope2d_blob found = {NULL, 0};
    begin(n, code);
    const bool is_good = rope2d_cache_read(&fake->device.host, path, &found);
    const char *failed = disk.failed;
    if (failed != NULL) {
        const bool goes_on =
            strcmp(failed, "close") == 0 || (strcmp(failed, "read") == 0 && (code == 0 || code == EINTR));
        CHECK(is_good == goes_on, "%s with %d: %d", failed, code, is_good);
        CHECK(is_good ? memcmp(found.bytes, new_bytes, BYTES) == 0 : found.bytes == NULL, "%s with %d: bytes",
              failed, code);
        CHECK(is_good || fake_device_logged(fake, lines, path), "%s with %d: %s", failed, code, fake->line);
    }
    rope2d_blob_release(&fake->device.host, &found);
    CHECK(entries("/proc/self/fd") == descriptors, "read %ld with %d: a descriptor is left", n, code);
    return failed != NULL;
}

int main(void) {
    static const int codes[] = {ENOSPC, EIO, EACCES, EINTR, 0};
    struct fake_device fake;
    char folder[SCRATCH_PATH];
    long points = 0;
    fake_device_init(&fake);
    memset(old_bytes, 'o', BYTES);
    memset(new_bytes, 'n', BYTES);
    if (!CHECK(scratch_make(folder), "a folder"))
        return check_finish();
    (void)snprintf(path, sizeof(path), "%s/some.cache", folder);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        for (long n = 1; fail_write(&fake, folder, n, codes[i]); n++)
            points++;
    const rope2d_blob new = {new_bytes, BYTES};
    begin(0, 0);
    CHECK(rope2d_cache_write(&fake.device.host, path, &new), "the new file");
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        for (long n = 1; fail_read(&fake, n, codes[i]); n++)
            points++;
    CHECK(fake.live == 0, "%d blocks are left", (int)fake.live);
    CHECK(points >= 40, "only %ld fault points", points);
    printf("%ld fault points\n", points);
    scratch_remove(folder);
    return check_finish();
}

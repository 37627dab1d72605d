// SPDX-License-Identifier: MIT
//
// Caches on disk. A file is written under a name that nobody can guess or has taken, beside its place, and
// moved there whole; it is read only where nobody else could have written it.
#if defined(_WIN32) && !defined(_CRT_RAND_S)
#define _CRT_RAND_S // stdlib.h has rand_s
#endif

#include "cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void warn(const rope2d_host *host, const char *path, const char *what, long code) {
    rope2d_log(host, ROPE2D_LOG_WARNING, "cache_folder: %s %s (error %ld); compiling goes on without it",
               path, what, code);
}

// The caller releases `size` bytes of it.
static char *temporary_name(const rope2d_host *host, const char *path, uint64_t *size) {
    *size = strlen(path) + 24;
    char *name = rope2d_allocate(host, *size, 1);
    if (name)
        (void)snprintf(name, (size_t)*size, "%s.XXXXXX", path);
    return name;
}

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

// XXXXXX becomes a number of the system's that nobody can tell before; CREATE_NEW refuses a name that is
// taken.
static HANDLE create_new(char *name, uint64_t size) {
    const size_t end = strlen(name) - 6;
    unsigned high = 0, low = 0;
    if (rand_s(&high) != 0 || rand_s(&low) != 0) {
        SetLastError(ERROR_GEN_FAILURE);
        return INVALID_HANDLE_VALUE;
    }
    (void)snprintf(name + end, (size_t)size - end, "%08x%08x", high, low);
    return CreateFileA(name, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
}

static bool write_moved(char *name, uint64_t name_size, const char *path, const rope2d_blob *data,
                        long *code) {
    DWORD written = 0;
    HANDLE file = create_new(name, name_size);
    *code = (long)GetLastError();
    if (file == INVALID_HANDLE_VALUE)
        return false;
    bool good = WriteFile(file, data->bytes, (DWORD)data->size, &written, NULL) && written == data->size;
    *code = (long)GetLastError();
    good = CloseHandle(file) && good;
    if (good && !MoveFileExA(name, path, MOVEFILE_REPLACE_EXISTING)) {
        *code = (long)GetLastError();
        good = false;
    }
    if (!good)
        DeleteFileA(name);
    return good;
}

static bool is_folder(const char *path, long *code) {
    const DWORD kind = GetFileAttributesA(path);
    *code = (long)GetLastError();
    return kind != INVALID_FILE_ATTRIBUTES && (kind & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

bool rope2d_cache_read(const rope2d_host *host, const char *path, rope2d_blob *data) {
    LARGE_INTEGER size;
    DWORD done = 0;
    HANDLE file = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                              NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    memset(data, 0, sizeof(*data));
    if (file == INVALID_HANDLE_VALUE) {
        const DWORD code = GetLastError();
        if (code != ERROR_FILE_NOT_FOUND)
            warn(host, path, "cannot be read", (long)code);
        return false;
    }
    bool good = GetFileSizeEx(file, &size) && size.QuadPart > 0 &&
                (uint64_t)size.QuadPart <= ROPE2D_CACHE_MOST_BYTES + ROPE2D_CACHE_HEADER_BYTES;
    if (good) {
        data->size = (uint64_t)size.QuadPart;
        data->bytes = rope2d_allocate(host, data->size, 1);
        good =
            data->bytes && ReadFile(file, data->bytes, (DWORD)data->size, &done, NULL) && done == data->size;
    }
    if (!good) {
        warn(host, path, "cannot be read", (long)GetLastError());
        rope2d_blob_release(host, data);
    }
    CloseHandle(file);
    return good;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int file, const rope2d_blob *data) {
    uint64_t done = 0;
    while (done < data->size) {
        const ssize_t part = write(file, data->bytes + done, (size_t)(data->size - done));
        if (part < 0 && errno != EINTR)
            return false;
        done += part > 0 ? (uint64_t)part : 0;
    }
    return true;
}

// mkstemp makes a file that only this user may touch, whatever a symbolic link of that name says. There is no
// fsync: what a power failure leaves half there is found out by its check.
static bool write_moved(char *name, uint64_t name_size, const char *path, const rope2d_blob *data,
                        long *code) {
    (void)name_size;
    const int file = mkstemp(name);
    if (file < 0) {
        *code = errno;
        return false;
    }
    (void)fcntl(file, F_SETFD, FD_CLOEXEC);
    bool good = write_all(file, data);
    *code = errno;
    if (close(file) != 0 && good) {
        *code = errno;
        good = false;
    }
    if (good && rename(name, path) != 0) {
        *code = errno;
        good = false;
    }
    if (!good)
        (void)unlink(name);
    return good;
}

static bool read_all(int file, rope2d_blob *data) {
    uint64_t done = 0;
    while (done < data->size) {
        const ssize_t part = read(file, data->bytes + done, (size_t)(data->size - done));
        if (part == 0 || (part < 0 && errno != EINTR))
            return false;
        done += part > 0 ? (uint64_t)part : 0;
    }
    return true;
}

// What is wrong with it; NULL: nothing.
static const char *inspect(int file, struct stat *info) {
    if (fstat(file, info) != 0)
        return "cannot be read";
    if (!S_ISREG(info->st_mode))
        return "is no file";
    if (info->st_uid != geteuid() || (info->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "may have been written by somebody else";
    if (info->st_size <= 0 || (uint64_t)info->st_size > ROPE2D_CACHE_MOST_BYTES + ROPE2D_CACHE_HEADER_BYTES)
        return "has a size that no cache has";
    return NULL;
}

static bool is_folder(const char *path, long *code) {
    struct stat info;
    errno = 0;
    const bool is_there = stat(path, &info) == 0;
    *code = errno;
    return is_there && S_ISDIR(info.st_mode);
}

bool rope2d_cache_read(const rope2d_host *host, const char *path, rope2d_blob *data) {
    struct stat info;
    memset(data, 0, sizeof(*data));
    errno = 0;
    // Not through a link, and without waiting for whoever fills a pipe.
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        if (errno != ENOENT)
            warn(host, path, "cannot be read", errno);
        return false;
    }
    const char *wrong = inspect(file, &info);
    if (!wrong) {
        data->size = (uint64_t)info.st_size;
        data->bytes = rope2d_allocate(host, data->size, 1);
        if (!data->bytes || !read_all(file, data))
            wrong = "cannot be read";
    }
    if (wrong) {
        warn(host, path, wrong, errno);
        rope2d_blob_release(host, data);
    }
    (void)close(file);
    return wrong == NULL;
}

#endif

void rope2d_cache_look(const rope2d_host *host, const char *folder) {
    long code = 0;
    if (!is_folder(folder, &code))
        warn(host, folder, "is no folder", code);
}

bool rope2d_cache_write(const rope2d_host *host, const char *path, const rope2d_blob *data) {
    uint64_t name_size = 0;
    long code = 0;
    char *name = temporary_name(host, path, &name_size);
    const bool good = name && write_moved(name, name_size, path, data, &code);
    if (!good)
        warn(host, path, "cannot be written", code);
    rope2d_release(host, name, name_size, 1);
    return good;
}

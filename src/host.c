// SPDX-License-Identifier: MIT
//
// What the host program lends: memory, a log, threads.
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif
#if defined(_WIN32)
#include <malloc.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#endif

#define ALIGNMENT 64
#define LINE_SIZE 1024

static void *default_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
#if defined(_WIN32)
    return _aligned_malloc(size, alignment);
#else
    if (size > SIZE_MAX - alignment)
        return NULL;
    // C11 wants a multiple of the alignment.
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
#endif
}

static void default_release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
#if defined(_WIN32)
    _aligned_free(memory);
#else
    free(memory);
#endif
}

static uint32_t default_threads(void) {
#if defined(_OPENMP)
    int threads = omp_get_max_threads();
    return threads < 1 ? 1 : (uint32_t)threads;
#elif defined(_WIN32)
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors < 1 ? 1 : (uint32_t)info.dwNumberOfProcessors;
#elif defined(_SC_NPROCESSORS_ONLN)
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    return threads < 1 ? 1 : (uint32_t)threads;
#else
    return 1;
#endif
}

rope2d_host rope2d_host_resolve(const rope2d_host *host) {
    rope2d_host resolved;
    memset(&resolved, 0, sizeof(resolved));
    if (host != NULL && host->struct_size == sizeof(*host))
        resolved = *host;
    resolved.struct_size = sizeof(resolved);
    if (resolved.allocate == NULL || resolved.release == NULL) {
        resolved.allocate = default_allocate;
        resolved.release = default_release;
    }
    if (resolved.threads == 0)
        resolved.threads = default_threads();
    return resolved;
}

rope2d_status rope2d_host_check(const rope2d_host *host) {
    if (host == NULL)
        return ROPE2D_OK;
    if (host->struct_size != sizeof(*host))
        return ROPE2D_ERROR_STRUCT_SIZE; // where its log stands is unknown
    if ((host->allocate == NULL) != (host->release == NULL))
        return rope2d_fail(host, ROPE2D_ERROR_NULL,
                           "host.%s is NULL: set host.allocate and host.release, or neither",
                           host->allocate == NULL ? "allocate" : "release");
    return ROPE2D_OK;
}

rope2d_status rope2d_check_struct_size(const rope2d_host *host, const char *name, size_t given,
                                       size_t known) {
    if (given == known)
        return ROPE2D_OK;
    return rope2d_fail(host, ROPE2D_ERROR_STRUCT_SIZE, "%s.struct_size is %zu; this version knows %zu", name,
                       given, known);
}

void *rope2d_allocate(const rope2d_host *host, uint64_t count, size_t size) {
    if (count == 0 || size == 0 || count > SIZE_MAX / size)
        return NULL;
    size_t bytes = (size_t)count * size;
    void *memory = host->allocate(host->user, bytes, ALIGNMENT);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

void rope2d_release(const rope2d_host *host, void *memory, uint64_t count, size_t size) {
    if (memory != NULL)
        host->release(host->user, memory, (size_t)count * size);
}

static void log_line(const rope2d_host *host, rope2d_log_level level, const char *format, va_list arguments) {
    char line[LINE_SIZE];
    if (vsnprintf(line, sizeof(line), format, arguments) >= 0)
        host->log(host->user, level, line);
}

rope2d_status(rope2d_fail)(const rope2d_host *host, rope2d_status status, const char *format, ...) {
    if (host != NULL && host->log != NULL) {
        va_list arguments;
        va_start(arguments, format);
        log_line(host, ROPE2D_LOG_ERROR, format, arguments);
        va_end(arguments);
    }
    return status;
}

void rope2d_log(const rope2d_host *host, rope2d_log_level level, const char *format, ...) {
    if (host == NULL || host->log == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    log_line(host, level, format, arguments);
    va_end(arguments);
}

void rope2d_log_text(const rope2d_host *host, rope2d_log_level level, const char *text) {
    if (host != NULL && host->log != NULL)
        host->log(host->user, level, text);
}

const char *rope2d_text_at(const char *texts, uint32_t index) {
    while (index-- > 0)
        texts += strlen(texts) + 1;
    return texts;
}

uint32_t rope2d_threads(const rope2d_host *host) {
#if !defined(_OPENMP)
    if (host->parallel_for == NULL)
        return 1;
#endif
    return host->threads;
}

#if defined(_OPENMP)
static int team_size(const rope2d_host *host) {
    return host->threads > 1024 ? 1024 : (int)host->threads;
}
#endif

void rope2d_parallel(const rope2d_host *host, uint32_t tasks, void (*task)(void *data, uint32_t index),
                     void *data) {
    if (tasks > 1 && host->parallel_for != NULL) {
        host->parallel_for(host->user, tasks, task, data);
        return;
    }
#if defined(_OPENMP)
    if (tasks <= 1) {
        for (uint32_t i = 0; i < tasks; i++)
            task(data, i);
    } else if (tasks <= host->threads) { // the same task on the same thread, whose cache has its data
#pragma omp parallel for schedule(static, 1) num_threads(team_size(host))
        for (int64_t i = 0; i < (int64_t)tasks; i++)
            task(data, (uint32_t)i);
    } else {
#pragma omp parallel for schedule(dynamic) num_threads(team_size(host))
        for (int64_t i = 0; i < (int64_t)tasks; i++)
            task(data, (uint32_t)i);
    }
#else
    for (uint32_t i = 0; i < tasks; i++)
        task(data, i);
#endif
}

static bool has_more_rights_than_its_user(void) {
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0; // capabilities of files, too
#elif defined(__unix__) || defined(__APPLE__)
    return getuid() != geteuid() || getgid() != getegid();
#else
    return false;
#endif
}

const char *rope2d_environment(const char *name) {
    return has_more_rights_than_its_user() ? NULL : getenv(name);
}

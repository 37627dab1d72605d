// SPDX-License-Identifier: MIT
//
// Loaded before a program by LD_PRELOAD: one operation on a file below a folder fails, and "file_shim: NAME
// PATH" on stderr says which. Streams are made of cookies, so that what stdio reads, writes and seeks counts.
//
//     ROPE2D_FILES_UNDER    the folder, absolute
//     ROPE2D_FILES_FAIL     the number of the operation that fails, from 1 on
//     ROPE2D_FILES_CODE     its errno; 0: a read meets the file's end; below 0: it does not fail, but a
//     signal of that
//                           number comes before it
//     ROPE2D_FILES_NAMES    what counts, each with a space after it; none: everything
//     ROPE2D_FILES_DONE     how many there were before, which the shim tells the programs that this one runs
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 256, PATH_SIZE = 1024 };

typedef struct watched {
    int file;
    FILE *stream;
    DIR *folder;
    char path[PATH_SIZE];
} watched;

static watched files[MOST_FILES]; // none: an empty path

static bool is_below(const char *path) {
    const char *under = getenv("ROPE2D_FILES_UNDER");
    return under != NULL && strncmp(path, under, strlen(under)) == 0;
}

static long number_of(const char *name) {
    const char *text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

static bool fails(const char *name, const char *path) {
    char text[32];
    const char *names = getenv("ROPE2D_FILES_NAMES");
    (void)snprintf(text, sizeof text, "%s ", name);
    if (names != NULL && strstr(names, text) == NULL)
        return false;
    const long calls = number_of("ROPE2D_FILES_DONE") + 1;
    (void)snprintf(text, sizeof text, "%ld", calls);
    (void)setenv("ROPE2D_FILES_DONE", text, 1);
    if (calls != number_of("ROPE2D_FILES_FAIL"))
        return false;
    (void)dprintf(STDERR_FILENO, "file_shim: %s %s\n", name, path);
    const int code = (int)number_of("ROPE2D_FILES_CODE");
    if (code < 0)
        (void)raise(-code);
    errno = code;
    return code >= 0;
}

static watched *watch(const char *path, int file) {
    watched *found = NULL;
    for (int i = 0; i < MOST_FILES && found == NULL; i++)
        if (files[i].path[0] == 0)
            found = &files[i];
    if (found == NULL || strlen(path) >= PATH_SIZE)
        abort();
    *found = (watched){.file = file};
    (void)snprintf(found->path, PATH_SIZE, "%s", path);
    return found;
}

static watched *of_file(int file) {
    for (int i = 0; i < MOST_FILES; i++)
        if (files[i].path[0] != 0 && files[i].folder == NULL && files[i].file == file)
            return &files[i];
    return NULL;
}

// The system's own, by the name that the program calls.
static void *real(const char *name, const char *large) {
    void *found = dlsym(RTLD_NEXT, large);
    return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

// `declared` is a pointer to a function, `function` its name.
#define REAL(declared, function, name, large)                                                                \
    declared = NULL;                                                                                         \
    void *function##_found = real(name, large);                                                              \
    memcpy(&(function), &function##_found, sizeof(function))

// ------------------------------------------------------------------------------------------------- streams

static ssize_t cookie_read(void *cookie, char *data, size_t size) {
    watched *own = cookie;
    REAL(ssize_t(*call)(int, void *, size_t), call, "read", "read");
    if (fails("read", own->path))
        return errno == 0 ? 0 : -1;
    return call(own->file, data, size);
}

static ssize_t cookie_write(void *cookie, const char *data, size_t size) {
    watched *own = cookie;
    REAL(ssize_t(*call)(int, const void *, size_t), call, "write", "write");
    return fails("write", own->path) ? 0 : call(own->file, data, size);
}

static int cookie_seek(void *cookie, off64_t *offset, int whence) {
    watched *own = cookie;
    if (fails("seek", own->path))
        return -1;
    REAL(off64_t(*call)(int, off64_t, int), call, "lseek64", "lseek64");
    *offset = call(own->file, *offset, whence);
    return *offset < 0 ? -1 : 0;
}

static int cookie_close(void *cookie) { // what fails is done all the same: nobody can do it twice
    REAL(int (*end)(int), end, "close", "close");
    watched *own = cookie;
    const int result = end(own->file);
    const bool is_failed = fails("close", own->path);
    own->path[0] = 0;
    return is_failed ? -1 : result;
}

static FILE *stream_of(watched *own, const char *mode) {
    const cookie_io_functions_t calls = {cookie_read, cookie_write, cookie_seek, cookie_close};
    own->stream = fopencookie(own, mode, calls);
    return own->stream;
}

int open(const char *path, int flags, ...) {
    REAL(int (*open_real)(const char *, int, ...), open_real, "open", "open64");
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    const bool is_watched = is_below(path);
    if (is_watched && fails("open", path))
        return -1;
    const int file = open_real(path, flags, mode);
    if (is_watched && file >= 0)
        (void)watch(path, file);
    return file;
}

FILE *fopen(const char *path, const char *mode) {
    REAL(FILE * (*open_real)(const char *, const char *), open_real, "fopen", "fopen64");
    if (!is_below(path) || mode[0] != 'r')
        return open_real(path, mode);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    return file < 0 ? NULL : stream_of(of_file(file), mode);
}

FILE *fdopen(int file, const char *mode) {
    REAL(FILE * (*open_real)(int, const char *), open_real, "fdopen", "fdopen");
    watched *own = of_file(file);
    if (own == NULL)
        return open_real(file, mode);
    return fails("fdopen", own->path) ? NULL : stream_of(own, mode);
}

int fileno(FILE *stream) {
    REAL(int (*number)(FILE *), number, "fileno", "fileno");
    for (int i = 0; i < MOST_FILES; i++)
        if (files[i].path[0] != 0 && files[i].stream == stream)
            return files[i].file;
    return number(stream);
}

// ------------------------------------------------------------------------------------------ files and names

int mkstemp(char *name) {
    REAL(int (*make)(char *), make, "mkstemp", "mkstemp64");
    if (!is_below(name))
        return make(name);
    if (fails("mkstemp", name))
        return -1;
    const int file = make(name);
    if (file >= 0)
        (void)watch(name, file);
    return file;
}

int close(int file) {
    REAL(int (*end)(int), end, "close", "close");
    watched *own = of_file(file);
    const int result = end(file);
    if (own == NULL || own->stream != NULL)
        return result;
    const bool is_failed = fails("close", own->path);
    own->path[0] = 0;
    return is_failed ? -1 : result;
}

// A file without a name has this one.
FILE *tmpfile(void) {
    REAL(FILE * (*make)(void), make, "tmpfile", "tmpfile64");
    if (getenv("ROPE2D_FILES_UNDER") == NULL)
        return make();
    if (fails("tmpfile", "temporary file"))
        return NULL;
    FILE *stream = make();
    const int file = stream != NULL ? fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0) : -1;
    if (stream != NULL)
        (void)fclose(stream);
    return file < 0 ? NULL : stream_of(watch("temporary file", file), "w+");
}

char *mkdtemp(char *name) {
    REAL(char *(*make)(char *), make, "mkdtemp", "mkdtemp");
    return is_below(name) && fails("mkdtemp", name) ? NULL : make(name);
}

ssize_t read(int file, void *data, size_t size) {
    REAL(ssize_t(*call)(int, void *, size_t), call, "read", "read");
    const watched *own = of_file(file);
    if (own != NULL && fails("read", own->path))
        return errno == 0 ? 0 : -1;
    return call(file, data, size);
}

#define OF_FILE(type, result, name, large, parameters, arguments)                                            \
    result name parameters {                                                                                 \
        REAL(type, call, #name, large);                                                                      \
        const watched *own = of_file(file);                                                                  \
        return own != NULL && fails(#name, own->path) ? -1 : call arguments;                                 \
    }

#define OF_PATH(type, name, large, parameters, arguments)                                                    \
    int name parameters {                                                                                    \
        REAL(type, call, #name, large);                                                                      \
        return is_below(path) && fails(#name, path) ? -1 : call arguments;                                   \
    }

// NOLINTBEGIN(bugprone-macro-parentheses)
OF_FILE(ssize_t (*call)(int, const void *, size_t), ssize_t, write, "write",
        (int file, const void *data, size_t size), (file, data, size))
OF_FILE(int (*call)(int), int, fsync, "fsync", (int file), (file))
OF_FILE(int (*call)(int, mode_t), int, fchmod, "fchmod", (int file, mode_t mode), (file, mode))
OF_FILE(int (*call)(int, struct stat *), int, fstat, "fstat64", (int file, struct stat *info), (file, info))
OF_PATH(int (*call)(const char *, struct stat *), stat, "stat64", (const char *path, struct stat *info),
        (path, info))
OF_PATH(int (*call)(const char *, struct stat *), lstat, "lstat64", (const char *path, struct stat *info),
        (path, info))
OF_PATH(int (*call)(const char *, mode_t), chmod, "chmod", (const char *path, mode_t mode), (path, mode))
OF_PATH(int (*call)(const char *), unlink, "unlink", (const char *path), (path))
OF_PATH(int (*call)(const char *), rmdir, "rmdir", (const char *path), (path))
OF_PATH(int (*call)(const char *), remove, "remove", (const char *path), (path))
OF_PATH(int (*call)(const char *, mode_t), mkdir, "mkdir", (const char *path, mode_t mode), (path, mode))
OF_PATH(int (*call)(const char *, const char *), rename, "rename", (const char *from, const char *path),
        (from, path))
// NOLINTEND(bugprone-macro-parentheses)

// ------------------------------------------------------------------------------------------------- folders

// False: not below the folder.
static bool path_at(int folder, const char *name, char *path) {
    char link[64];
    ssize_t length = 0;
    if (name[0] != '/' && folder != AT_FDCWD) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        length = readlink(link, path, PATH_SIZE / 2);
    }
    if (length < 0)
        return false;
    (void)snprintf(path + length, (size_t)(PATH_SIZE - length), "%s%s", length != 0 ? "/" : "", name);
    return is_below(path);
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#define AT_FOLDER(type, name, large, parameters, arguments)                                                  \
    int name parameters {                                                                                    \
        REAL(type, call, #name, large);                                                                      \
        char path[PATH_SIZE];                                                                                \
        return path_at(folder, entry, path) && fails(#name, path) ? -1 : call arguments;                     \
    }
AT_FOLDER(int (*call)(int, const char *, int), unlinkat, "unlinkat",
          (int folder, const char *entry, int flags), (folder, entry, flags))
AT_FOLDER(int (*call)(int, const char *, int, const char *), renameat, "renameat",
          (int folder, const char *entry, int other, const char *to), (folder, entry, other, to))
// NOLINTEND(bugprone-macro-parentheses)

// For folders alone.
int openat(int folder, const char *entry, int flags, ...) {
    REAL(int (*call)(int, const char *, int, ...), call, "openat", "openat64");
    char path[PATH_SIZE];
    if (path_at(folder, entry, path) && fails("openat", path))
        return -1;
    return call(folder, entry, flags);
}

DIR *fdopendir(int file) {
    REAL(DIR * (*call)(int), call, "fdopendir", "fdopendir");
    char path[PATH_SIZE];
    const bool is_watched = path_at(file, "", path);
    if (is_watched && fails("fdopendir", path))
        return NULL;
    DIR *folder = call(file);
    if (is_watched && folder != NULL)
        watch(path, -1)->folder = folder;
    return folder;
}

DIR *opendir(const char *path) {
    REAL(DIR * (*open_real)(const char *), open_real, "opendir", "opendir");
    if (!is_below(path))
        return open_real(path);
    if (fails("opendir", path))
        return NULL;
    DIR *folder = open_real(path);
    if (folder != NULL)
        watch(path, -1)->folder = folder;
    return folder;
}

struct dirent *readdir(DIR *folder) {
    REAL(struct dirent * (*next)(DIR *), next, "readdir", "readdir64");
    for (int i = 0; i < MOST_FILES; i++)
        if (files[i].path[0] != 0 && files[i].folder == folder && fails("readdir", files[i].path))
            return NULL;
    return next(folder);
}

int closedir(DIR *folder) {
    REAL(int (*end)(DIR *), end, "closedir", "closedir");
    for (int i = 0; i < MOST_FILES; i++)
        if (files[i].path[0] != 0 && files[i].folder == folder)
            files[i].path[0] = 0;
    return end(folder);
}

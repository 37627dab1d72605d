// SPDX-License-Identifier: MIT
#include "library.h"

#include <string.h>

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

void *rope2d_library_open(const char *name) {
    return (void *)LoadLibraryA(name);
}

void rope2d_library_close(void *library) {
    if (library)
        FreeLibrary((HMODULE)library);
}

void rope2d_library_find(void *library, const char *name, void *function, size_t size) {
    FARPROC address = GetProcAddress((HMODULE)library, name);
    memcpy(function, &address, size);
}

#else

#include <dlfcn.h>

// Drivers' libraries stay: NVIDIA's for OpenCL (580.159) has no device any more when it is loaded a second
// time.
void *rope2d_library_open(const char *name) {
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

void rope2d_library_close(void *library) {
    if (library)
        dlclose(library);
}

void rope2d_library_find(void *library, const char *name, void *function, size_t size) {
    void *address = dlsym(library, name);
    memcpy(function, &address, size);
}

#endif

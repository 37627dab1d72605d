// SPDX-License-Identifier: MIT
#include "opencl.h"

#include "../library.h"

#include <string.h>

#if defined(_WIN32)
static const char *const loader_names[] = {"OpenCL.dll"};
#elif defined(__APPLE__)
static const char *const loader_names[] = {"/System/Library/Frameworks/OpenCL.framework/OpenCL"};
#elif defined(__ANDROID__)
// There is no loader: each vendor ships its driver under a name of its own. From API 31 on the application's
// manifest must name the library.
static const char *const loader_names[] = {
    "libOpenCL.so",
    "/vendor/lib64/libOpenCL.so",
    "/system/vendor/lib64/libOpenCL.so",
    "/vendor/lib64/egl/libGLES_mali.so",
    "libOpenCL-pixel.so",
    "libOpenCL-car.so",
    "libPVROCL.so",
    "/vendor/lib/libOpenCL.so",
    "/system/vendor/lib/libOpenCL.so",
    "/vendor/lib/egl/libGLES_mali.so",
};
#else
static const char *const loader_names[] = {"libOpenCL.so.1", "libOpenCL.so"};
#endif

static rope2d_status open_loader(rope2d_cl *cl) {
    const char *named = rope2d_environment("ROPE2D_OPENCL_LOADER");
    if (named && named[0]) {
        cl->library = rope2d_library_open(named);
        if (!cl->library)
            return rope2d_fail(cl->host, ROPE2D_ERROR_BACKEND_MISSING,
                               "ROPE2D_OPENCL_LOADER: the library \"%s\" cannot be opened", named);
        return ROPE2D_OK;
    }
    for (size_t i = 0; i < sizeof(loader_names) / sizeof(loader_names[0]) && !cl->library; i++)
        cl->library = rope2d_library_open(loader_names[i]);
    if (!cl->library)
        return rope2d_fail(cl->host, ROPE2D_ERROR_BACKEND_MISSING, "backend: OpenCL has no loader here (%s)",
                           loader_names[0]);
    return ROPE2D_OK;
}

rope2d_status rope2d_cl_load(rope2d_cl *cl, const rope2d_host *host) {
    memset(cl, 0, sizeof(*cl));
    cl->host = host;
    ROPE2D_TRY(open_loader(cl));
#define OFFSET(name) offsetof(rope2d_cl, name),
#define NAME(name)   "cl" #name "\0"
    static const uint16_t offsets[] = {ROPE2D_CL_FUNCTIONS(OFFSET)};
    static const char names[] = ROPE2D_CL_FUNCTIONS(NAME);
#undef OFFSET
#undef NAME
    const char *missing = NULL;
    const char *name = names;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++, name += strlen(name) + 1) {
        void (*found)(void) = NULL; // by memcpy, since each member has a type of its own
        rope2d_library_find(cl->library, name, &found, sizeof(found));
        if (!found && !missing)
            missing = name;
        memcpy((unsigned char *)cl + offsets[i], &found, sizeof(found));
    }
    if (!missing)
        return ROPE2D_OK;
    rope2d_cl_unload(cl);
    return rope2d_fail(host, ROPE2D_ERROR_BACKEND_MISSING, "backend: the OpenCL loader has no function %s",
                       missing);
}

void rope2d_cl_unload(rope2d_cl *cl) {
    rope2d_library_close(cl->library);
    memset(cl, 0, sizeof(*cl));
}

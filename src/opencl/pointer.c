// SPDX-License-Identifier: MIT
//
// Arguments that are pointers: shared virtual memory of OpenCL 2.0, and unified shared memory of the
// extension cl_intel_unified_shared_memory. Neither is in the OpenCL 1.2 that the rest asks for, so
// everything is looked up when a binding wants it.
#include "adopt.h"

#include "../library.h"

#include <string.h>

#define DEVICE_SVM_CAPABILITIES 0x1053
#define MEM_ALLOC_TYPE_INTEL    0x419A
#define MEM_TYPE_UNKNOWN_INTEL  0x4196

typedef void *(CL_API_CALL *find_extension_fn)(cl_platform_id platform, const char *name);

static rope2d_status find_svm(const rope2d_cl_device *device, rope2d_cl_pointers *pointers) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    cl_bitfield able = 0;
    if (rope2d_cl_version(pointers->version) < 200)
        return ROPE2D_OK;
    CL(GetDeviceInfo, device->id, DEVICE_SVM_CAPABILITIES, sizeof(able), &able, NULL);
    if (able != 0)
        rope2d_library_find(cl->library, "clSetKernelArgSVMPointer", &pointers->set_svm,
                            sizeof(pointers->set_svm));
fail:
    return status;
}

static rope2d_status find_usm(const rope2d_cl_device *device, rope2d_cl_pointers *pointers) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    cl_platform_id platform = NULL;
    find_extension_fn find = NULL;
    char *names = NULL;
    size_t size = 0;
    CL(GetDeviceInfo, device->id, CL_DEVICE_EXTENSIONS, 0, NULL, &size);
    names = rope2d_allocate(cl->host, (uint64_t)size + 1, 1);
    if (!names)
        return rope2d_fail(cl->host, ROPE2D_ERROR_HOST_MEMORY, "binding: no memory for %zu bytes", size);
    CL(GetDeviceInfo, device->id, CL_DEVICE_EXTENSIONS, size, names, NULL);
    CL(GetDeviceInfo, device->id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    rope2d_library_find(cl->library, "clGetExtensionFunctionAddressForPlatform", &find, sizeof(find));
    if (strstr(names, "cl_intel_unified_shared_memory") && find) {
        void *set = find(platform, "clSetKernelArgMemPointerINTEL");
        void *info = find(platform, "clGetMemAllocInfoINTEL");
        memcpy(&pointers->set_usm, &set, sizeof(set));
        memcpy(&pointers->usm_info, &info, sizeof(info));
    }
fail:
    rope2d_release(cl->host, names, (uint64_t)size + 1, 1);
    return status;
}

rope2d_status rope2d_cl_pointers_find(const rope2d_cl_device *device, const char *name,
                                      rope2d_cl_pointers *pointers) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    memset(pointers, 0, sizeof(*pointers));
    CL(GetDeviceInfo, device->id, CL_DEVICE_VERSION, sizeof(pointers->version) - 1, pointers->version, NULL);
    OWN(find_svm(device, pointers));
    OWN(find_usm(device, pointers));
    if (!pointers->set_svm && !(pointers->set_usm && pointers->usm_info))
        return rope2d_fail(cl->host, ROPE2D_ERROR_UNSUPPORTED,
                           "%s is a pointer, and the device (%s) has neither shared virtual memory nor "
                           "cl_intel_unified_shared_memory",
                           name, pointers->version);
fail:
    return status;
}

static bool is_usm(const rope2d_cl_device *device, const rope2d_cl_pointers *pointers, const void *pointer) {
    cl_uint type = MEM_TYPE_UNKNOWN_INTEL;
    return pointers->set_usm && pointers->usm_info &&
           pointers->usm_info(device->context, pointer, MEM_ALLOC_TYPE_INTEL, sizeof(type), &type, NULL) ==
               CL_SUCCESS &&
           type != MEM_TYPE_UNKNOWN_INTEL;
}

rope2d_status rope2d_cl_pointer_set(const rope2d_cl_device *device, const rope2d_cl_pointers *pointers,
                                    cl_kernel kernel, cl_uint argument, const void *pointer) {
    const rope2d_cl *cl = &device->cl;
    const bool usm = is_usm(device, pointers, pointer);
    if (!usm && !pointers->set_svm)
        return rope2d_fail(cl->host, ROPE2D_ERROR_UNSUPPORTED,
                           "tensors: a pointer that is no unified shared memory of the context");
    const cl_int code =
        usm ? pointers->set_usm(kernel, argument, pointer) : pointers->set_svm(kernel, argument, pointer);
    if (code != CL_SUCCESS)
        return rope2d_cl_failed(cl, usm ? "clSetKernelArgMemPointerINTEL" : "clSetKernelArgSVMPointer", code);
    return ROPE2D_OK;
}

// SPDX-License-Identifier: MIT
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Text of any length, cut to fit and without the spaces and newlines that some drivers put around it.
static void copy_trimmed(char *text, size_t size, const char *whole) {
    const char *begin = whole + strspn(whole, " \t\r\n");
    size_t length = strlen(begin), used = length;
    while (used > 0 && strchr(" \t\r\n", begin[used - 1]))
        used--;
    if (used >= size)
        used = size - 1;
    while (used > 0 && used < length && ((unsigned char)begin[used] & 0xc0) == 0x80)
        used--; // not inside a character of UTF-8
    memcpy(text, begin, used);
    text[used] = 0;
}

// Of the device, or of the platform where `id` is NULL.
static rope2d_status read_text(const rope2d_cl *cl, cl_device_id id, cl_platform_id platform, cl_uint field,
                               char *text, size_t size) {
    rope2d_status status = ROPE2D_OK;
    char *whole = NULL;
    size_t length = 0;
    if (id)
        CL(GetDeviceInfo, id, field, 0, NULL, &length);
    else
        CL(GetPlatformInfo, platform, field, 0, NULL, &length);
    whole = rope2d_allocate(cl->host, length + 1, 1);
    if (!whole)
        return rope2d_fail(cl->host, ROPE2D_ERROR_HOST_MEMORY, "text of a device: no memory for %zu bytes",
                           length);
    if (id)
        CL(GetDeviceInfo, id, field, length, whole, NULL);
    else
        CL(GetPlatformInfo, platform, field, length, whole, NULL);
    copy_trimmed(text, size, whole);
fail:
    rope2d_release(cl->host, whole, length + 1, 1);
    return status;
}

// "OpenCL 3.0" of "OpenCL 3.0 and what the vendor adds", and the first word of what it adds.
static void split_version(const char *version, char *api, size_t api_size, char *word, size_t word_size) {
    size_t first = strcspn(version, " ");
    size_t words = version[first] ? first + 1 + strcspn(version + first + 1, " ") : first;
    const char *rest = version + words + strspn(version + words, " (");
    if (api)
        snprintf(api, api_size, "%.*s", (int)words, version);
    if (word)
        snprintf(word, word_size, "%.*s", (int)strcspn(rest, " "), rest);
}

// The platform's name and the driver's version, as "rusticl 22.3.6"; and what the platform calls itself in
// its version where the name does not have it, as "Portable Computing Language 3.1 (PoCL)".
static rope2d_status describe_driver(const rope2d_cl *cl, cl_platform_id platform, cl_device_id id,
                                     char *driver, size_t size) {
    rope2d_status status = ROPE2D_OK;
    char name[100] = "", number[100] = "", version[100] = "", word[40] = "";
    OWN(read_text(cl, NULL, platform, CL_PLATFORM_NAME, name, sizeof(name)));
    OWN(read_text(cl, NULL, platform, CL_PLATFORM_VERSION, version, sizeof(version)));
    OWN(read_text(cl, id, NULL, CL_DRIVER_VERSION, number, sizeof(number)));
    split_version(version, NULL, 0, word, sizeof(word));
    bool named = strncmp(number, name, strlen(name)) == 0; // some repeat the name in the version
    bool known = !word[0] || strstr(name, word) || strstr(number, word);
    snprintf(driver, size, "%s%s%s%s%s%s", named ? "" : name, named ? "" : " ", number, known ? "" : " (",
             known ? "" : word, known ? "" : ")");
fail:
    return status;
}

#define READ(field, value) CL(GetDeviceInfo, id, field, sizeof(value), &(value), NULL)

rope2d_status rope2d_cl_describe(const rope2d_cl *cl, cl_platform_id platform, cl_device_id id,
                                 rope2d_device_info *info) {
    rope2d_status status = ROPE2D_OK;
    cl_device_type type = 0;
    cl_bool images = CL_FALSE;
    cl_ulong allocation = 0, memory = 0;
    cl_uint vendor = 0, alignment_bits = 0;
    size_t group = 0, width = 0, height = 0;
    char version[128] = "";

    info->backend = ROPE2D_BACKEND_OPENCL;
    OWN(read_text(cl, id, NULL, CL_DEVICE_NAME, info->name, sizeof(info->name)));
    OWN(read_text(cl, id, NULL, CL_DEVICE_VENDOR, info->vendor, sizeof(info->vendor)));
    OWN(describe_driver(cl, platform, id, info->driver, sizeof(info->driver)));
    OWN(read_text(cl, id, NULL, CL_DEVICE_VERSION, version, sizeof(version)));
    split_version(version, info->api, sizeof(info->api), NULL, 0);
    READ(CL_DEVICE_TYPE, type);
    READ(CL_DEVICE_VENDOR_ID, vendor);
    READ(CL_DEVICE_IMAGE_SUPPORT, images);
    READ(CL_DEVICE_MAX_MEM_ALLOC_SIZE, allocation);
    READ(CL_DEVICE_GLOBAL_MEM_SIZE, memory);
    READ(CL_DEVICE_MAX_WORK_GROUP_SIZE, group);
    READ(CL_DEVICE_MEM_BASE_ADDR_ALIGN, alignment_bits);
    if (images) {
        READ(CL_DEVICE_IMAGE2D_MAX_WIDTH, width);
        READ(CL_DEVICE_IMAGE2D_MAX_HEIGHT, height);
    }
    info->vendor_id = vendor;
    info->device_id = 0;
    // llvmpipe calls itself a CPU as well.
    info->is_software = (type & CL_DEVICE_TYPE_CPU) != 0;
    info->has_textures = images && width > 0 && height > 0;
    info->default_table = ROPE2D_TABLE_BUFFER;
    info->max_buffer_range = allocation;
    info->max_texture_width = width;
    info->max_texture_height = height;
    info->max_storage_buffers = 0;
    info->max_group_size = group > UINT32_MAX ? UINT32_MAX : (uint32_t)group;
    info->max_groups = 0;
    info->buffer_offset_alignment = alignment_bits / 8;
    info->memory_bytes = memory;
fail:
    return status;
}

static uint64_t at_most(uint64_t value, uint64_t limit) {
    return value < limit ? value : limit;
}

void rope2d_cl_clamp(rope2d_device_info *info) {
    info->max_buffer_range = at_most(info->max_buffer_range, (uint64_t)128 << 20);
    info->max_texture_width = at_most(info->max_texture_width, 8192);
    info->max_texture_height = at_most(info->max_texture_height, 8192);
    info->max_group_size = 1;
    if (info->buffer_offset_alignment < 128) // the largest type, long16
        info->buffer_offset_alignment = 128;
}

uint32_t rope2d_cl_version(const char *text) {
    static const char before[] = "OpenCL ";
    const size_t skip = sizeof(before) - 1;
    char *end = NULL;
    if (strncmp(text, before, skip) != 0)
        return 0;
    const unsigned long major = strtoul(text + skip, &end, 10);
    if (*end != '.' || major > 99)
        return 0;
    const unsigned long minor = strtoul(end + 1, &end, 10);
    return (uint32_t)(100 * major + (minor < 99 ? minor : 99));
}

rope2d_status rope2d_cl_check(rope2d_cl_device *device) {
    const rope2d_cl *cl = &device->cl;
    cl_device_id id = device->id;
    rope2d_status status = ROPE2D_OK;
    cl_bool available = CL_FALSE, compiler = CL_FALSE, little = CL_FALSE, shared = CL_FALSE;
    char version[64] = "";

    READ(CL_DEVICE_AVAILABLE, available);
    if (!available)
        return rope2d_fail(cl->host, ROPE2D_ERROR_DEVICE_LOST,
                           "index: the driver says that this device is not available");
    OWN(read_text(cl, id, NULL, CL_DEVICE_VERSION, version, sizeof(version)));
    if (rope2d_cl_version(version) < 102)
        return rope2d_fail(cl->host, ROPE2D_ERROR_UNSUPPORTED,
                           "index: the device has \"%s\"; OpenCL 1.2 is needed", version);
    READ(CL_DEVICE_COMPILER_AVAILABLE, compiler);
    if (!compiler)
        return rope2d_fail(cl->host, ROPE2D_ERROR_UNSUPPORTED,
                           "index: the driver of this device has no compiler");
    READ(CL_DEVICE_ENDIAN_LITTLE, little);
    if (!little)
        return rope2d_fail(cl->host, ROPE2D_ERROR_UNSUPPORTED, "index: this device is big-endian");
    READ(CL_DEVICE_HOST_UNIFIED_MEMORY, shared);
    device->unified = shared != CL_FALSE;
    READ(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, device->last_cache);
fail:
    return status;
}

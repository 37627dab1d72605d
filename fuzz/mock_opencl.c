// SPDX-License-Identifier: MIT
#include "mock_opencl_objects.h"

#include "target.h"

#include <string.h>

enum { MOST_BYTES = 1 << 26, TEXEL = 16 };

static struct _cl_platform_id platform;
static struct _cl_device_id device;
static struct _cl_context contexts[2];
static struct _cl_event one_event;
static struct _cl_command_queue queues[2] = {{&contexts[0]}, {&contexts[1]}};

cl_device_id mock_cl_device(void) {
    return &device;
}

cl_context mock_cl_context(bool is_other) {
    return &contexts[is_other];
}

cl_command_queue mock_cl_queue(bool is_other) {
    return &queues[is_other];
}

// ----------------------------------------------------------------------------------------- what is asked

cl_int mock_cl_answer(const void *value, size_t value_size, size_t size, void *to, size_t *size_ret) {
    if (mock_fails())
        return CL_OUT_OF_RESOURCES;
    if (size_ret)
        *size_ret = value_size;
    if (!to)
        return CL_SUCCESS;
    if (size < value_size)
        return CL_INVALID_VALUE;
    memcpy(to, value, value_size);
    return CL_SUCCESS;
}

cl_int mock_cl_answer_text(const char *text, size_t size, void *to, size_t *size_ret) {
    return mock_cl_answer(text, strlen(text) + 1, size, to, size_ret);
}

cl_int mock_cl_answer_number(uint64_t value, size_t value_size, size_t size, void *to, size_t *size_ret) {
    return mock_cl_answer(&value, value_size, size, to, size_ret); // little-endian
}

static cl_int CL_API_CALL get_platform_ids(cl_uint count, cl_platform_id *list, cl_uint *found) {
    if (mock_fails())
        return CL_OUT_OF_HOST_MEMORY;
    if (found)
        *found = 1;
    if (list && count > 0)
        list[0] = &platform;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id id, cl_platform_info field, size_t size, void *to,
                                            size_t *size_ret) {
    FUZZ_PROMISE(id == &platform);
    return mock_cl_answer_text(field == CL_PLATFORM_NAME ? "mock" : "OpenCL 3.0 mock", size, to, size_ret);
}

static cl_int CL_API_CALL get_device_ids(cl_platform_id id, cl_device_type type, cl_uint count,
                                         cl_device_id *list, cl_uint *found) {
    (void)type;
    FUZZ_PROMISE(id == &platform);
    if (mock_fails())
        return CL_OUT_OF_HOST_MEMORY;
    if (found)
        *found = 1;
    if (list && count > 0)
        list[0] = &device;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_device_info(cl_device_id id, cl_device_info field, size_t size, void *to,
                                          size_t *size_ret) {
    cl_platform_id own = &platform;
    FUZZ_PROMISE(id == &device);
    switch (field) {
    case CL_DEVICE_PLATFORM:
        return mock_cl_answer(&own, sizeof own, size, to, size_ret);
    case CL_DEVICE_TYPE:
        return mock_cl_answer_number(mock.is_unified ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU, 8, size, to,
                                     size_ret);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return mock_cl_answer_number(mock.buffer_range, 8, size, to, size_ret);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return mock_cl_answer_number(1 << 28, 8, size, to, size_ret);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        return mock_cl_answer_number(1 << 12, 8, size, to, size_ret);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return mock_cl_answer_number(mock.group_size, 8, size, to, size_ret);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
        return mock_cl_answer_number(8192, 8, size, to, size_ret);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return mock_cl_answer_number(mock.alignment * 8, 4, size, to, size_ret);
    case CL_DEVICE_IMAGE_SUPPORT:
        return mock_cl_answer_number(mock.has_textures, 4, size, to, size_ret);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return mock_cl_answer_number(mock.is_unified, 4, size, to, size_ret);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
        return mock_cl_answer_number(CL_TRUE, 4, size, to, size_ret);
    case CL_DEVICE_VENDOR_ID:
        return mock_cl_answer_number(0x1234, 4, size, to, size_ret);
    case 0x1053: // CL_DEVICE_SVM_CAPABILITIES
        return mock_cl_answer_number(mock.is_unified ? 3 : 0, 8, size, to, size_ret);
    case CL_DEVICE_VERSION:
        return mock_cl_answer_text("OpenCL 2.0 mock", size, to, size_ret);
    default:
        return mock_cl_answer_text("mock <b>", size, to, size_ret);
    }
}

static cl_int CL_API_CALL get_context_info(cl_context context, cl_context_info field, size_t size, void *to,
                                           size_t *size_ret) {
    cl_device_id own = &device;
    FUZZ_PROMISE(context && field == CL_CONTEXT_DEVICES);
    return mock_cl_answer(&own, sizeof own, size, to, size_ret);
}

static cl_int CL_API_CALL get_queue_info(cl_command_queue queue, cl_command_queue_info field, size_t size,
                                         void *to, size_t *size_ret) {
    cl_device_id own = &device;
    if (field == CL_QUEUE_CONTEXT)
        return mock_cl_answer(&queue->context, sizeof queue->context, size, to, size_ret);
    if (field == CL_QUEUE_DEVICE)
        return mock_cl_answer(&own, sizeof own, size, to, size_ret);
    return mock_cl_answer_number(0, 8, size, to, size_ret);
}

static cl_int CL_API_CALL get_image_formats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                            cl_uint count, cl_image_format *list, cl_uint *found) {
    static const cl_image_format own[2] = {{CL_RGBA, CL_UNORM_INT8}, {CL_RGBA, CL_FLOAT}};
    (void)context, (void)flags, (void)type;
    if (mock_fails())
        return CL_OUT_OF_RESOURCES;
    if (found)
        *found = 2;
    if (list)
        memcpy(list, own, (count < 2 ? count : 2) * sizeof *own);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_mem_info(cl_mem memory, cl_mem_info field, size_t size, void *to,
                                       size_t *size_ret) {
    switch (field) {
    case CL_MEM_CONTEXT:
        return mock_cl_answer(&memory->context, sizeof memory->context, size, to, size_ret);
    case CL_MEM_TYPE:
        return mock_cl_answer_number(memory->width ? CL_MEM_OBJECT_IMAGE2D : CL_MEM_OBJECT_BUFFER, 4, size,
                                     to, size_ret);
    case CL_MEM_FLAGS:
        return mock_cl_answer_number(memory->flags, 8, size, to, size_ret);
    case CL_MEM_SIZE:
        return mock_cl_answer_number(memory->size, 8, size, to, size_ret);
    case CL_MEM_OFFSET:
        return mock_cl_answer_number(memory->offset, 8, size, to, size_ret);
    default:
        return mock_cl_answer(&memory->parent, sizeof memory->parent, size, to, size_ret);
    }
}

// ------------------------------------------------------------------------------------------------ memory

static cl_mem make_memory(cl_context context, cl_mem_flags flags, size_t size, const void *data) {
    if (size > MOST_BYTES - mock.bytes || size > mock.buffer_range)
        return NULL;
    cl_mem memory = calloc(1, sizeof *memory);
    FUZZ_PROMISE(memory && size > 0);
    memory->context = context;
    memory->flags = flags;
    memory->size = size;
    memory->bytes = malloc(size);
    FUZZ_PROMISE(memory->bytes);
    if (data)
        memcpy(memory->bytes, data, size);
    else
        memset(memory->bytes, 0xa5, size);
    mock.live++;
    mock.bytes += size;
    return memory;
}

cl_mem mock_cl_buffer(cl_context context, cl_mem_flags flags, size_t size) {
    return make_memory(context, flags, size, NULL);
}

cl_mem mock_cl_part(cl_mem whole, size_t offset, size_t size) {
    if (!whole || whole->parent || offset >= whole->size || size == 0 || size > whole->size - offset)
        return NULL;
    cl_mem memory = make_memory(whole->context, whole->flags, size, NULL);
    if (memory) {
        memory->parent = whole;
        memory->offset = offset;
    }
    return memory;
}

void mock_cl_release(cl_mem memory) {
    if (!memory)
        return;
    FUZZ_PROMISE(mock.live > 0 && mock.bytes >= memory->size);
    mock.live--;
    mock.bytes -= memory->size;
    free(memory->bytes);
    free(memory);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *data,
                                        cl_int *code) {
    FUZZ_PROMISE(((flags & CL_MEM_COPY_HOST_PTR) != 0) == (data != NULL));
    cl_mem memory = mock_fails() ? NULL : make_memory(context, flags, size, data);
    *code = memory ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return memory;
}

static cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                       const cl_image_desc *shape, void *data, cl_int *code) {
    FUZZ_PROMISE(format->image_channel_order == CL_RGBA && format->image_channel_data_type == CL_FLOAT);
    FUZZ_PROMISE(shape->image_width > 0 && shape->image_width <= 8192 && shape->image_height <= 8192);
    cl_mem memory = mock_fails()
                        ? NULL
                        : make_memory(context, flags, shape->image_width * shape->image_height * TEXEL, data);
    if (memory) {
        memory->width = shape->image_width;
        memory->height = shape->image_height;
    }
    *code = memory ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return memory;
}

static cl_int CL_API_CALL release_mem(cl_mem memory) {
    FUZZ_PROMISE(memory);
    mock_cl_release(memory);
    return CL_SUCCESS;
}

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, cl_map_flags flags,
                                    size_t offset, size_t size, cl_uint waits, const cl_event *list,
                                    cl_event *event, cl_int *code) {
    (void)queue, (void)blocks, (void)flags, (void)waits, (void)list, (void)event;
    FUZZ_PROMISE(offset <= memory->size && size <= memory->size - offset);
    const bool fails = mock_fails();
    *code = fails ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    return fails ? NULL : memory->bytes + offset;
}

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem memory, void *mapped, cl_uint waits,
                                const cl_event *list, cl_event *event) {
    (void)queue, (void)waits, (void)list, (void)event;
    FUZZ_PROMISE(mapped == memory->bytes);
    return mock_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, size_t offset,
                                       size_t size, const void *data, cl_uint waits, const cl_event *list,
                                       cl_event *event) {
    (void)queue, (void)blocks, (void)waits, (void)list, (void)event;
    FUZZ_PROMISE(!memory->width && offset <= memory->size && size <= memory->size - offset);
    memcpy(memory->bytes + offset, data, size);
    return mock_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem image, cl_bool blocks,
                                      const size_t *origin, const size_t *region, size_t row, size_t slice,
                                      const void *data, cl_uint waits, const cl_event *list,
                                      cl_event *event) {
    (void)queue, (void)blocks, (void)waits, (void)list, (void)event;
    FUZZ_PROMISE(row == 0 && slice == 0 && region[2] == 1 && origin[0] + region[0] <= image->width &&
                 origin[1] + region[1] <= image->height);
    mock_read(data, region[0] * region[1] * TEXEL);
    return mock_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

// ------------------------------------------------------------------------------------------------ queues

static cl_context CL_API_CALL create_context(
    const cl_context_properties *properties, cl_uint count, const cl_device_id *ids,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *code) {
    (void)properties, (void)notify, (void)user;
    FUZZ_PROMISE(count == 1 && ids[0] == &device);
    const bool fails = mock_fails();
    *code = fails ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    mock.live += !fails;
    return fails ? NULL : &contexts[0];
}

static cl_int CL_API_CALL release_context(cl_context context) {
    FUZZ_PROMISE(context == &contexts[0]);
    mock.live--;
    return CL_SUCCESS;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id id,
                                                 cl_command_queue_properties properties, cl_int *code) {
    (void)context, (void)id, (void)properties;
    const bool fails = mock_fails();
    *code = fails ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    mock.live += !fails;
    return fails ? NULL : &queues[0];
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue) {
    FUZZ_PROMISE(queue == &queues[0]);
    mock.live--;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                  const size_t *offset, const size_t *global, const size_t *local,
                                  cl_uint waits, const cl_event *list, cl_event *event) {
    (void)queue, (void)offset;
    FUZZ_PROMISE(kernel && dims == 1 && local[0] > 0 && local[0] <= mock.group_size && global[0] > 0 &&
                 global[0] % local[0] == 0 && (waits == 0) == (list == NULL));
    if (mock_fails())
        return CL_OUT_OF_RESOURCES;
    if (event) {
        *event = &one_event;
        mock.live++;
    }
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_event(cl_event event) {
    FUZZ_PROMISE(event == &one_event && mock.live > 0);
    mock.live--;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL finish(cl_command_queue queue) {
    (void)queue;
    return mock_fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

void mock_cl_event_end(cl_event event) {
    if (event)
        (void)release_event(event);
}

bool mock_opencl_find(const char *name, void *function, size_t size) {
    MOCK_CL_TAKE(create_buffer, CreateBuffer)
    MOCK_CL_TAKE(create_queue, CreateCommandQueue)
    MOCK_CL_TAKE(create_context, CreateContext)
    MOCK_CL_TAKE(create_image, CreateImage)
    MOCK_CL_TAKE(map_buffer, EnqueueMapBuffer)
    MOCK_CL_TAKE(enqueue, EnqueueNDRangeKernel)
    MOCK_CL_TAKE(unmap, EnqueueUnmapMemObject)
    MOCK_CL_TAKE(write_buffer, EnqueueWriteBuffer)
    MOCK_CL_TAKE(write_image, EnqueueWriteImage)
    MOCK_CL_TAKE(finish, Finish)
    MOCK_CL_TAKE(get_queue_info, GetCommandQueueInfo)
    MOCK_CL_TAKE(get_context_info, GetContextInfo)
    MOCK_CL_TAKE(get_device_ids, GetDeviceIDs)
    MOCK_CL_TAKE(get_device_info, GetDeviceInfo)
    MOCK_CL_TAKE(get_mem_info, GetMemObjectInfo)
    MOCK_CL_TAKE(get_platform_ids, GetPlatformIDs)
    MOCK_CL_TAKE(get_platform_info, GetPlatformInfo)
    MOCK_CL_TAKE(get_image_formats, GetSupportedImageFormats)
    MOCK_CL_TAKE(release_queue, ReleaseCommandQueue)
    MOCK_CL_TAKE(release_context, ReleaseContext)
    MOCK_CL_TAKE(release_event, ReleaseEvent)
    MOCK_CL_TAKE(release_mem, ReleaseMemObject)
    return mock_cl_find_program(name, function, size);
}

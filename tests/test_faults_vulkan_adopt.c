// SPDX-License-Identifier: MIT
//
// Inside a program that owns Vulkan: each call of the driver and each allocation of host memory failing in
// turn, from adoption to recording. Every failure has its status, nothing leaks, and a binding whose update
// fails is as it was.
#include "vulkan_open.h"
#include "vulkan_scene.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 65536 };

static struct shim *shim;
static PFN_vkGetInstanceProcAddr shim_loader;

// The caller's host memory: counted, and failing at the n-th request.
static struct {
    int64_t live;
    uint64_t requests;
    uint64_t fail_at; // 0: none
    bool has_failed;
} host_memory;

static void *allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    if (++host_memory.requests == host_memory.fail_at) {
        host_memory.has_failed = true;
        return NULL;
    }
    host_memory.live++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    host_memory.live--;
    free(memory);
}

// ----------------------------------------------------------------------------------------------------- a use

// What the owner has for all of it, made once and never failing.
typedef struct stage {
    owner own;
    const layout *l;
    enum shim_memory memory;
    bool pushes;
    owner_buffer tensors;
    owner_buffer rows;
    owner_buffer table;
    owner_buffer staging;
    VkDeviceMemory image;
    unsigned char original[BYTES];
    unsigned char one[BYTES]; // the first tensor rotated
    unsigned char two[BYTES];
} stage;

// Everything that a use makes; may be half-built.
typedef struct use {
    scene made;
    rope2d_positions *placed;
    rope2d_vulkan_binding *binding;
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    uint32_t dispatches; // before the update
    bool is_updating;
} use;

static rope2d_status adopt(stage *s, use *u) {
    rope2d_host host = captured_host(&logged);
    host.allocate = allocate;
    host.release = release;
    const rope2d_vulkan_device_params params = {
        .struct_size = sizeof(params),
        .get_instance_proc_addr = shim_loader,
        .instance = s->own.instance,
        .physical_device = s->own.physical,
        .device = s->own.device,
        .api_version = VK_API_VERSION_1_1,
        .flags = ROPE2D_DEVICE_MINIMUM_LIMITS, // a dispatch takes one tensor
        .host = &host,
        .queue = s->own.queue,
        .queue_family = s->own.family,
        .has_push_descriptors = s->pushes,
    };
    return rope2d_vulkan_device_adopt(&params, &u->made.device);
}

static rope2d_status place(const stage *s, use *u) {
    const rope2d_positions_params params = positions_params(s->l->table);
    rope2d_vulkan_positions_needs needs = {.struct_size = sizeof(needs)};
    const rope2d_vulkan_positions_places places = {
        .struct_size = sizeof(places),
        .table = {s->table.handle, s->l->table == ROPE2D_TABLE_TEXTURE ? s->image : VK_NULL_HANDLE, 0, ROOM,
                  NULL},
        .rows = {s->rows.handle, VK_NULL_HANDLE, 0, ROOM, NULL},
        .staging = {s->staging.handle, VK_NULL_HANDLE, 0, ROOM, s->staging.mapped},
    };
    rope2d_status status = rope2d_vulkan_positions_prepare(u->made.device, &params, &u->placed);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_positions_get_needs(u->placed, &needs);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_positions_place(u->placed, &places);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_positions_record_upload(u->placed, s->own.commands);
    return status;
}

static rope2d_status run(stage *s, use *u) {
    const rope2d_positions_params ordinary = positions_params(s->l->table);
    rope2d_status status = adopt(s, u);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(u->made.device, &ordinary, &u->made.positions);
    if (status == ROPE2D_OK)
        status = place(s, u);
    if (status == ROPE2D_OK) // late, since compiling takes long
        status = make_plan(&u->made, s->l->in, s->l->out, s->l->table, ROPE2D_PLAN_NO_SELF_TEST);
    make_params(s->l, &s->tensors, &s->tensors, u->tensors, &u->params);
    u->params.tensor_count = 1;
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_binding_create(u->made.plan, u->placed, &u->params, &u->binding);
    u->params.tensor_count = 2;
    u->dispatches = rope2d_vulkan_binding_dispatches(u->binding);
    u->is_updating = status == ROPE2D_OK;
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_binding_update(u->binding, &u->params);
    return status;
}

static void clear(use *u) {
    rope2d_vulkan_binding_destroy(u->binding);
    rope2d_vulkan_plan_retire(u->made.plan, 1); // left to the device
    rope2d_vulkan_positions_retire(u->placed, 1);
    rope2d_positions_destroy(u->made.positions);
    rope2d_device_destroy(u->made.device);
}

// Records what the binding holds, behind the upload, and compares.
static void check_bits(stage *s, const use *u, const unsigned char *expected, const char *what) {
    const rope2d_vulkan_range all = {s->l->first_token, 0, s->l->tokens};
    memcpy(s->tensors.mapped, s->original, BYTES);
    tally_check(&counts, rope2d_vulkan_record_range(u->binding, s->own.commands, &all) == ROPE2D_OK,
                "%s: record", what);
    owner_barrier(&s->own);
    tally_check(&counts, owner_run(&s->own), "%s: run", what);
    tally_check(&counts, memcmp(s->tensors.mapped, expected, BYTES) == 0, "%s: the bits differ", what);
}

// Flushing what was written is the last step of an update: where it fails, nothing can be recorded.
static void check_failed_update(stage *s, const use *u, const char *call) {
    const uint32_t dispatches = rope2d_vulkan_binding_dispatches(u->binding);
    if (call != NULL && strcmp(call, "vkFlushMappedMemoryRanges") == 0) {
        tally_check(&counts, dispatches == 0, "%u dispatches after a flush that failed", dispatches);
        return;
    }
    tally_check(&counts, dispatches == u->dispatches, "%u dispatches after a failure, %u before", dispatches,
                u->dispatches);
    check_bits(s, u, s->one, "after a failed update");
}

// --------------------------------------------------------------------------------------------------- failing

// Of these the library does without.
static bool is_tolerated(const char *call) {
    return strcmp(call, "vkEnumerateDeviceExtensionProperties") == 0;
}

// Fails the n-th call of the driver, or the n-th request for host memory where `result` is 0. False when
// there is no n-th.
static bool fail_at(stage *s, uint64_t n, int32_t result, rope2d_status wanted) {
    use u = {0};
    const int64_t live = shim->live;
    logged.text[0] = 0;
    tally_check(&counts, owner_begin(&s->own), "begin");
    shim->memory = s->memory;
    shim->calls = 0;
    shim->failed = NULL;
    shim->faults = 0;
    shim->fail_with = result;
    host_memory.requests = 0;
    host_memory.has_failed = false;
    *(result != 0 ? &shim->fail_at : &host_memory.fail_at) = n;
    const rope2d_status status = run(s, &u);
    shim->fail_at = 0;
    host_memory.fail_at = 0;
    const char *call = shim->failed;
    const bool has_failed = call != NULL || host_memory.has_failed;
    const char *what = call != NULL ? call : host_memory.has_failed ? "host memory" : "nothing";
    const bool is_wanted =
        !has_failed || (call != NULL && is_tolerated(call)) ? status == ROPE2D_OK : status == wanted;
    tally_check(&counts, is_wanted, "failure %u, of %s: %s", (unsigned)n, what, rope2d_status_name(status));
    tally_check(&counts, status == ROPE2D_OK || logged.text[0] != 0, "failure %u, of %s, is not logged",
                (unsigned)n, what);
    if (status == ROPE2D_OK)
        check_bits(s, &u, s->two, what);
    else if (u.is_updating)
        check_failed_update(s, &u, call);
    vkResetCommandBuffer(s->own.commands, 0);
    clear(&u);
    tally_check(&counts, shim->live == live && shim->faults == 0 && host_memory.live == 0,
                "failure %u, of %s: %d objects and %d blocks are left, %u faults", (unsigned)n, what,
                (int)(shim->live - live), (int)host_memory.live, (unsigned)shim->faults);
    shim->live = live;
    host_memory.live = 0;
    shim->memory = SHIM_MEMORY_REAL;
    return has_failed;
}

static void fail_each(stage *s, int32_t result, rope2d_status wanted) {
    const char *quick = getenv("ROPE2D_QUICK");
    const uint64_t step = quick != NULL && strcmp(quick, "1") == 0 ? 3 : 1;
    uint64_t n = 1;
    while (fail_at(s, n, result, wanted))
        n += step;
    tally_check(&counts, n > 20, "only %u failures were tried", (unsigned)n);
}

// ---------------------------------------------------------------------------------------------------- stages

static bool stage_create(stage *s) {
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = ROOM};
    const VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (!owner_buffer_create(&s->own, BYTES, &s->tensors) ||
        !owner_buffer_create_for(&s->own, ROOM, usage, &s->rows) ||
        !owner_buffer_create_for(&s->own, ROOM, usage, &s->table) ||
        !owner_buffer_create_for(&s->own, ROOM, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &s->staging) ||
        vkAllocateMemory(s->own.device, &info, NULL, &s->image) != VK_SUCCESS)
        return false;
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    make_params(s->l, &s->tensors, &s->tensors, tensors, &params);
    const uint64_t second = tensors[1].in.offset;
    fill(s->original, s->l->in);
    memcpy(s->two, s->original, BYTES);
    run_cpu(s->l, s->two, NULL);
    memcpy(s->one, s->original, BYTES);
    memcpy(s->one, s->two, second);
    return true;
}

static void stage_destroy(stage *s) {
    owner_buffer_destroy(&s->own, &s->tensors);
    owner_buffer_destroy(&s->own, &s->rows);
    owner_buffer_destroy(&s->own, &s->table);
    owner_buffer_destroy(&s->own, &s->staging);
    vkFreeMemory(s->own.device, s->image, NULL);
}

static bool open_shim(void) {
    shim = vulkan_shim_open();
    if (shim == NULL)
        return false;
    void *library = dlopen(getenv("ROPE2D_VULKAN_LOADER"), RTLD_NOW | RTLD_LOCAL);
    void *found = library != NULL ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    memcpy(&shim_loader, &found, sizeof(shim_loader));
    return found != NULL;
}

int main(void) {
    static const layout buffers = {ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, true, 4, HEAD_DIM, 0, TOKENS};
    static const layout textures = {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_TEXTURE, true, 0, HEAD_DIM + 1,
                                    3,          TOKENS - 5};
    static const char *const push[1] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
    static stage s;
    logged.print = false;
    are_apart = true;
    fill_spec();
    if (tally_check(&counts, open_shim(), "no shim: ROPE2D_TEST_SHIM") && vulkan_count(&counts) > 0) {
        tally_check(&counts, owner_create_through(&s.own, shim_loader), "instance");
        s.own.extensions = push;
        s.own.extension_count = owner_has_extension(&s.own, 0, push[0]);
        tally_check(&counts, owner_open(&s.own, 0), "device 0");
        s.l = &buffers;
        s.memory = SHIM_MEMORY_REAL;
        if (tally_check(&counts, stage_create(&s), "no memory for a stage")) {
            fail_each(&s, VK_ERROR_OUT_OF_HOST_MEMORY, ROPE2D_ERROR_HOST_MEMORY);
            fail_each(&s, 0, ROPE2D_ERROR_HOST_MEMORY);
        }
        stage_destroy(&s);
        s.pushes = s.own.extension_count > 0;
        s.l = &textures;
        s.memory = SHIM_MEMORY_UNIFIED_INCOHERENT;
        if (tally_check(&counts, stage_create(&s), "no memory for a stage"))
            fail_each(&s, VK_ERROR_OUT_OF_DEVICE_MEMORY, ROPE2D_ERROR_DEVICE_MEMORY);
        stage_destroy(&s);
        owner_destroy(&s.own);
    }
    return tally_finish(&counts);
}

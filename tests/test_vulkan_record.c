// SPDX-License-Identifier: MIT
//
// Recording in parts: ranges of a binding's tokens with positions of their own, dispatches that the caller
// records, and many threads at once; against what the CPU makes of the same bytes.
#include "internal.h"
#include "vulkan_watch.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 8, MOST_RANGES = 4 };

// A binding of a layout, and what its buffers should hold in the end.
typedef struct stand {
    const owner *own;
    const layout *l;
    owner_buffer in;
    owner_buffer out;
    scene made;
    rope2d_vulkan_binding *binding;
    unsigned char expected[2][BYTES];
} stand;

static void refill(stand *s) {
    fill(s->in.mapped, s->l->in);
    memset(s->out.mapped, GUARD, BYTES);
    memcpy(s->expected[0], s->in.mapped, BYTES);
    memcpy(s->expected[1], s->out.mapped, BYTES);
}

static bool stand_create(stand *s, const owner *own, rope2d_device *device, const layout *l) {
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    memset(s, 0, sizeof(*s));
    s->own = own;
    s->l = l;
    s->made.device = device;
    if (!owner_buffer_create(own, BYTES, &s->in) || !owner_buffer_create(own, BYTES, &s->out) ||
        make_scene(&s->made, l->in, l->out, l->table, ROPE2D_PLAN_NO_SELF_TEST) != ROPE2D_OK)
        return tally_check(&counts, false, "no memory for a layout");
    make_params(l, &s->in, &s->out, tensors, &params);
    expect(rope2d_vulkan_binding_create(s->made.plan, s->made.positions, &params, &s->binding), ROPE2D_OK,
           "binding");
    refill(s);
    return s->binding != NULL;
}

static void stand_destroy(stand *s) {
    rope2d_vulkan_binding_destroy(s->binding);
    clear_scene(&s->made);
    owner_buffer_destroy(s->own, &s->in);
    owner_buffer_destroy(s->own, &s->out);
}

static void compare(const stand *s, const char *what) {
    tally_check(&counts, memcmp(s->in.mapped, s->expected[0], BYTES) == 0, "%s: inputs differ from the CPU's",
                what);
    tally_check(&counts, memcmp(s->out.mapped, s->expected[1], BYTES) == 0,
                "%s: outputs differ from the CPU's", what);
}

// ------------------------------------------------------------------------------------------------- recorders

typedef void record_fn(const stand *s, const rope2d_vulkan_range *range);

static void record_ours(const stand *s, const rope2d_vulkan_range *range) {
    expect(rope2d_vulkan_record_range(s->binding, s->own->commands, range), ROPE2D_OK, "record");
}

// As a recorder of the caller's does, backwards.
static void record_theirs(const stand *s, const rope2d_vulkan_range *range) {
    const VkCommandBuffer commands = s->own->commands;
    for (uint32_t i = rope2d_vulkan_binding_dispatches(s->binding); i-- > 0;) {
        rope2d_vulkan_dispatch d = {.struct_size = sizeof(d)};
        expect(rope2d_vulkan_binding_dispatch(s->binding, range, i, &d), ROPE2D_OK, "dispatch");
        if (d.groups[0] == 0)
            continue;
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.pipeline);
        if (d.write_count > 0)
            vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.layout, d.set_number,
                                      d.write_count, d.writes);
        else
            vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.layout, d.set_number, 1,
                                    &d.set, 0, NULL);
        vkCmdPushConstants(commands, d.layout, d.push_stages, 0, d.push_bytes, d.push_words);
        vkCmdDispatch(commands, d.groups[0], d.groups[1], d.groups[2]);
    }
}

// ---------------------------------------------------------------------------------------------------- ranges

static void run_ranges(stand *s, const rope2d_vulkan_range *ranges, uint32_t count, record_fn *record,
                       const char *what) {
    refill(s);
    for (uint32_t i = 0; i < count; i++)
        if (ranges[i].tokens > 0)
            run_cpu_range(s->l, &ranges[i], s->expected[0], s->expected[1]);
    const uint64_t before = watch_host_counts().allocations;
    tally_check(&counts, owner_begin(s->own), "begin");
    for (uint32_t i = 0; i < count; i++) {
        record(s, &ranges[i]);
        owner_barrier(s->own); // validation compares descriptors, which hold all tokens
    }
    tally_check(&counts, watch_host_counts().allocations == before, "%s: recording allocates", what);
    tally_check(&counts, owner_run(s->own), "run");
    compare(s, what);
}

static void check_ranges(stand *s) {
    const uint64_t tokens = s->l->tokens;
    const uint64_t first = s->l->first_token;
    const rope2d_vulkan_range all = {first, 0, tokens};
    const uint64_t third = tokens / 3;
    const rope2d_vulkan_range thirds[3] = {
        {first, 0, third}, {first + 2 * third, 2 * third, tokens - 2 * third}, {first + third, third, third}};
    // Each token by itself, at positions before and behind those of the binding.
    const rope2d_vulkan_range moved[MOST_RANGES] = {{TOKENS - 1, tokens - 1, 1},
                                                    {0, 0, tokens > 1 ? tokens / 2 : 0},
                                                    {TOKENS, tokens, 0},
                                                    {5, tokens / 2, tokens > 2 ? 1 : 0}};
    run_ranges(s, &all, 1, record_ours, "all");
    run_ranges(s, &all, 1, record_theirs, "all, the caller's recorder");
    run_ranges(s, thirds, 3, record_ours, "thirds");
    run_ranges(s, thirds, 3, record_theirs, "thirds, the caller's recorder");
    run_ranges(s, moved, MOST_RANGES, record_ours, "other positions");
    run_ranges(s, moved, MOST_RANGES, record_theirs, "other positions, the caller's recorder");
}

static void check_refusals(const stand *s) {
    const uint64_t tokens = s->l->tokens;
    const rope2d_vulkan_range bad[] = {
        {0, 0, tokens + 1}, {0, tokens, 1}, {TOKENS, 0, 1}, {1, UINT64_MAX, 2}, {UINT64_MAX, 0, 2}};
    rope2d_vulkan_dispatch d = {.struct_size = sizeof(d)};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect(rope2d_vulkan_record_range(s->binding, s->own->commands, &bad[i]), ROPE2D_ERROR_TOKENS,
               "range");
        expect(rope2d_vulkan_binding_dispatch(s->binding, &bad[i], 0, &d), ROPE2D_ERROR_TOKENS, "range");
    }
    expect(rope2d_vulkan_binding_dispatch(s->binding, NULL, rope2d_vulkan_binding_dispatches(s->binding), &d),
           ROPE2D_ERROR_LIMIT, "index");
    expect(rope2d_vulkan_binding_dispatch(s->binding, NULL, 0, NULL), ROPE2D_ERROR_NULL, "dispatch");
    expect(rope2d_vulkan_binding_dispatch(NULL, NULL, 0, &d), ROPE2D_ERROR_NULL, "binding");
    d.struct_size--;
    expect(rope2d_vulkan_binding_dispatch(s->binding, NULL, 0, &d), ROPE2D_ERROR_STRUCT_SIZE, "struct_size");
}

// --------------------------------------------------------------------------------------------------- threads

// Each thread records one range of one binding into a command buffer of its own, and a binding of its own for
// the same plan comes and goes meanwhile.
typedef struct recorder {
    const stand *s;
    const rope2d_vulkan_binding_params *params;
    rope2d_vulkan_range range;
    VkCommandPool pool;
    VkCommandBuffer commands;
    bool is_good;
} recorder;

static void *run_recorder(void *data) {
    recorder *r = data;
    const stand *s = r->s;
    const owner *own = s->own;
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = own->family};
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                            .commandBufferCount = 1};
    const VkCommandBufferInheritanceInfo inherited = {.sType =
                                                          VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .pInheritanceInfo = &inherited};
    rope2d_vulkan_binding *binding = NULL;
    r->is_good = vkCreateCommandPool(own->device, &pool, NULL, &r->pool) == VK_SUCCESS;
    commands.commandPool = r->pool;
    r->is_good =
        r->is_good && vkAllocateCommandBuffers(own->device, &commands, &r->commands) == VK_SUCCESS &&
        vkBeginCommandBuffer(r->commands, &begin) == VK_SUCCESS &&
        rope2d_vulkan_record_range(s->binding, r->commands, &r->range) == ROPE2D_OK &&
        vkEndCommandBuffer(r->commands) == VK_SUCCESS &&
        rope2d_vulkan_binding_create(s->made.plan, s->made.positions, r->params, &binding) == ROPE2D_OK;
    rope2d_vulkan_binding_destroy(binding);
    return NULL;
}

static void check_threads(stand *s) {
    recorder recorders[THREADS] = {0};
    pthread_t threads[THREADS];
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    bool is_started[THREADS] = {false};
    make_params(s->l, &s->in, &s->out, tensors, &params);
    refill(s);
    run_cpu(s->l, s->expected[0], s->expected[1]);
    for (uint64_t i = 0; i < THREADS; i++) {
        const uint64_t begin = s->l->tokens * i / THREADS;
        const uint64_t end = s->l->tokens * (i + 1) / THREADS;
        recorders[i].s = s;
        recorders[i].params = &params;
        recorders[i].range = (rope2d_vulkan_range){s->l->first_token + begin, begin, end - begin};
        is_started[i] = pthread_create(&threads[i], NULL, run_recorder, &recorders[i]) == 0;
    }
    for (int i = 0; i < THREADS; i++) {
        if (is_started[i])
            pthread_join(threads[i], NULL);
        tally_check(&counts, recorders[i].is_good, "thread %d does not record", i);
    }
    tally_check(&counts, owner_begin(s->own), "begin");
    for (int i = 0; i < THREADS; i++) {
        vkCmdExecuteCommands(s->own->commands, 1, &recorders[i].commands);
        owner_barrier(s->own);
    }
    tally_check(&counts, owner_run(s->own), "run");
    compare(s, "eight threads");
    for (int i = 0; i < THREADS; i++)
        vkDestroyCommandPool(s->own->device, recorders[i].pool, NULL);
}

// ------------------------------------------------------------------------------------------------------ main

// What rope2d_apply does on such a device.
static void check_self_test(rope2d_device *device) {
    static const rope2d_table tables[] = {ROPE2D_TABLE_BUFFER, ROPE2D_TABLE_TEXTURE};
    rope2d_plan_info info = {.struct_size = sizeof(info)};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        scene made = {.device = device};
        if (make_scene(&made, ROPE2D_BF16, ROPE2D_F16, tables[i], 0) == ROPE2D_OK)
            expect(rope2d_plan_get_info(made.plan, &info), ROPE2D_OK, "plan info");
        tally_check(&counts, info.exactness == ROPE2D_EXACT || info.exactness == ROPE2D_EXACT_NORMAL,
                    "exactness is %d", (int)info.exactness);
        clear_scene(&made);
    }
}

// Row numbers larger than a descriptor reaches: a binding sees those of its own positions, and a range of
// others is refused. The limit is lowered once the rows are there.
static void check_windows(const owner *own, rope2d_device *device, rope2d_table table) {
    enum { MANY = 64 * TOKENS, FAR = 50 * TOKENS + 2, RANGE = 12288 };
    static float coordinates[MANY][2];
    static unsigned char expected[BYTES];
    const layout l = {ROPE2D_F32, ROPE2D_F32, table, true, 4, HEAD_DIM, FAR % TOKENS, 16};
    const layout all = {ROPE2D_F32, ROPE2D_F32, table, true, 4, HEAD_DIM, FAR, 16};
    const rope2d_vulkan_range same = {FAR + 5, 5, 11}, far = {5, 5, 11};
    const uint64_t limit = device->info.max_buffer_range;
    owner_buffer in = {0};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    scene made = {.device = device};
    for (int t = 0; t < MANY; t++)
        memcpy(coordinates[t], grid[t % TOKENS], sizeof(grid[0]));
    rope2d_positions_params positions = positions_params(table);
    positions.tokens = MANY;
    positions.coordinates = coordinates[0];
    expect(make_plan(&made, l.in, l.out, table, ROPE2D_PLAN_NO_SELF_TEST), ROPE2D_OK, "plan");
    expect(rope2d_positions_create(device, &positions, &made.positions), ROPE2D_OK, "positions");
    tally_check(&counts, owner_buffer_create(own, BYTES, &in), "no memory for tensors");
    fill(in.mapped, l.in);
    memcpy(expected, in.mapped, BYTES);
    make_params(&all, &in, &in, tensors, &params);
    device->info.max_buffer_range = RANGE;
    expect(rope2d_vulkan_binding_create(made.plan, made.positions, &params, &binding), ROPE2D_OK, "binding");
    tally_check(&counts, owner_begin(own), "begin");
    expect(rope2d_vulkan_record_range(binding, own->commands, &same), ROPE2D_OK, "rows that it sees");
    expect(rope2d_vulkan_record_range(binding, own->commands, &far), ROPE2D_ERROR_LIMIT, "others");
    tally_check(&counts, strstr(logged.text, "range.first_token is 5: the row numbers are larger") != NULL,
                "%s", logged.text);
    owner_barrier(own);
    tally_check(&counts, owner_run(own), "run");
    const rope2d_vulkan_range near = {l.first_token + 5, 5, 11};
    run_cpu_range(&l, &near, expected, NULL);
    tally_check(&counts, memcmp(in.mapped, expected, BYTES) == 0, "a window: differs from the CPU");
    rope2d_vulkan_binding_destroy(binding);
    device->info.max_buffer_range = limit;
    clear_scene(&made);
    owner_buffer_destroy(own, &in);
}

static void run_device(owner *own, uint32_t flags, bool with_queue, bool pushes) {
    static const layout layouts[] = {
        {ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_BUFFER, true, 4, HEAD_DIM, 0, TOKENS},
        {ROPE2D_F16, ROPE2D_F16, ROPE2D_TABLE_AUTO, true, 2, HEAD_DIM + 1, 3, TOKENS - 5},
        {ROPE2D_BF16, ROPE2D_F32, ROPE2D_TABLE_BUFFER, false, 512, HEAD_DIM, 1, TOKENS - 1},
        {ROPE2D_F32, ROPE2D_BF16, ROPE2D_TABLE_TEXTURE, false, 36, HEAD_DIM + 4, 0, 1},
        {ROPE2D_F32, ROPE2D_F32, ROPE2D_TABLE_TEXTURE, true, 0, HEAD_DIM, 7, 12},
    };
    static stand s;
    const rope2d_host host = watch_host();
    rope2d_device *device = NULL;
    rope2d_vulkan_device_params params = scene_adopting(own, &host, with_queue);
    params.flags = flags;
    params.has_push_descriptors = pushes;
    are_apart = (flags & ROPE2D_DEVICE_MINIMUM_LIMITS) != 0;
    expect(rope2d_vulkan_device_adopt(&params, &device), ROPE2D_OK, "adopt");
    if (device != NULL && pushes)
        check_self_test(device);
    if (device != NULL)
        check_windows(own, device, ROPE2D_TABLE_BUFFER);
    for (size_t i = 0; device != NULL && i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (!with_queue && layouts[i].table == ROPE2D_TABLE_TEXTURE)
            continue;
        if (stand_create(&s, own, device, &layouts[i])) {
            check_ranges(&s);
            check_refusals(&s);
            if (i < 2)
                check_threads(&s);
        }
        stand_destroy(&s);
    }
    rope2d_device_destroy(device);
}

static void check_device(owner *own, uint32_t index) {
    (void)index;
    run_device(own, 0, true, false);
    run_device(own, ROPE2D_DEVICE_MINIMUM_LIMITS, false, false);
    if (own->extension_count > 0)
        run_device(own, 0, true, true);
    else
        counts.skipped++;
}

int main(void) {
    return scene_run(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, check_device);
}

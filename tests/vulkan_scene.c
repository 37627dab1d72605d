// SPDX-License-Identifier: MIT
#include "vulkan_scene.h"

#include "counter.h"

#include <stdlib.h>
#include <string.h>

tally counts;
captured_log logged;
bool are_apart;

void expect(rope2d_status status, rope2d_status wanted, const char *what) {
    tally_check(&counts, status == wanted, "%s: %s, not %s", what, rope2d_status_name(status),
                rope2d_status_name(wanted));
}

// -------------------------------------------------------------------------------------------------- devices

bool scene_owner(owner *own) {
    const char *required = getenv("ROPE2D_REQUIRE_DEVICES");
    logged.print = false;
    fill_spec();
    if (owner_create(own) && own->physical_count > 0)
        return true;
    if (required != NULL && required[0] != 0)
        tally_check(&counts, false, "no Vulkan device, and some are required: %s", required);
    else
        counts.skipped++;
    return false;
}

int scene_run(const char *extension, void (*check)(owner *own, uint32_t index)) {
    owner own;
    if (scene_owner(&own)) {
        for (uint32_t i = 0; i < own.physical_count; i++) {
            own.extensions = &extension;
            own.extension_count = extension != NULL && owner_has_extension(&own, i, extension);
            if (tally_check(&counts, owner_open(&own, i), "device %u", i))
                check(&own, i);
            owner_close(&own);
        }
    }
    owner_destroy(&own);
    return tally_finish(&counts);
}

rope2d_vulkan_device_params scene_adopting(const owner *own, const rope2d_host *host, bool with_queue) {
    const rope2d_vulkan_device_params params = {
        .struct_size = sizeof(params),
        .get_instance_proc_addr = vkGetInstanceProcAddr,
        .instance = own->instance,
        .physical_device = own->physical,
        .device = own->device,
        .api_version = VK_API_VERSION_1_1,
        .host = host,
        .queue = with_queue ? own->queue : NULL,
        .queue_family = own->family,
    };
    return params;
}

// --------------------------------------------------------------------------------------- plan and positions

static float freqs[2][PAIRS];
float grid[TOKENS][2];
static rope2d_spec spec;

void fill_spec(void) {
    memset(&spec, 0, sizeof(spec));
    memset(freqs, 0, sizeof(freqs));
    spec.struct_size = sizeof(spec);
    spec.head_dim = HEAD_DIM;
    spec.axes = 2;
    spec.pairing = ROPE2D_PAIRING_HALF;
    spec.freqs = &freqs[0][0];
    for (int i = 0; i < PAIRS; i++)
        freqs[i % 2][i] = counter_uniform(counter_word(SEED, 0, (uint64_t)i));
    for (int i = 0; i < TOKENS; i++) {
        grid[i][0] = (float)(i / 7);
        grid[i][1] = (float)(i % 7);
    }
}

void split_axes(void) {
    for (int i = 0; i < PAIRS; i++) {
        const float freq = freqs[0][i] + freqs[1][i];
        freqs[0][i] = i < PAIRS / 2 ? freq : 0;
        freqs[1][i] = i < PAIRS / 2 ? 0 : freq;
    }
}

rope2d_positions_params positions_params(rope2d_table table) {
    const rope2d_positions_params positions = {
        .struct_size = sizeof(positions),
        .spec = &spec,
        .table = table,
        .tokens = TOKENS,
        .coordinates = &grid[0][0],
    };
    return positions;
}

rope2d_status make_plan(scene *made, rope2d_element in, rope2d_element out, rope2d_table table,
                        uint32_t flags) {
    const rope2d_plan_params plan = {sizeof(plan), &spec, in, out, table, flags};
    return rope2d_plan_create(made->device, &plan, &made->plan);
}

rope2d_status make_scene(scene *made, rope2d_element in, rope2d_element out, rope2d_table table,
                         uint32_t flags) {
    const rope2d_positions_params positions = positions_params(table);
    rope2d_status status = make_plan(made, in, out, table, flags);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(made->device, &positions, &made->positions);
    tally_check(&counts, status == ROPE2D_OK, "plan and positions: %s %s", rope2d_status_name(status),
                logged.text);
    return status;
}

void clear_scene(scene *made) {
    rope2d_plan_destroy(made->plan);
    rope2d_positions_destroy(made->positions);
    made->plan = NULL;
    made->positions = NULL;
}

static rope2d_view host_view(const layout *l, uint32_t tensor, rope2d_element type, void *base) {
    const uint64_t size = rope2d_element_size(type);
    const int64_t token = l->head_stride * HEADS;
    uint64_t offset = l->offset / 4 * size + l->offset % 4;
    if (tensor == 1)
        offset += (uint64_t)token * l->tokens * size;
    if (tensor == 1 && are_apart)
        offset = (offset + 255) / 256 * 256;
    const rope2d_view view = {
        .base = base,
        .size = BYTES,
        .offset = offset,
        .batch_stride = token * (int64_t)l->tokens,
        .token_stride = token,
        .head_stride = l->head_stride,
    };
    return view;
}

static rope2d_vulkan_view device_view(const rope2d_view *view, VkBuffer buffer) {
    const rope2d_vulkan_view made = {
        buffer, view->size, view->offset, view->batch_stride, view->token_stride, view->head_stride};
    return made;
}

void fill(unsigned char *bytes, rope2d_element type) {
    static const enum counter_type types[] = {COUNTER_F32, COUNTER_F16, COUNTER_BF16};
    counter_fill(bytes, types[type], COUNTER_BELL, SEED, 1, 0, BYTES / rope2d_element_size(type));
}

void make_params(const layout *l, const owner_buffer *in, const owner_buffer *out,
                 rope2d_vulkan_tensor tensors[2], rope2d_vulkan_binding_params *params) {
    memset(tensors, 0, 2 * sizeof(*tensors));
    for (uint32_t i = 0; i < 2; i++) {
        const rope2d_view from = host_view(l, i, l->in, NULL);
        const rope2d_view to = host_view(l, i, l->out, NULL);
        tensors[i].heads = HEADS;
        tensors[i].in = device_view(&from, in->handle);
        if (!l->in_place)
            tensors[i].out = device_view(&to, out->handle);
    }
    memset(params, 0, sizeof(*params));
    params->struct_size = sizeof(*params);
    params->batch = 1;
    params->first_token = l->first_token;
    params->tokens = l->tokens;
    params->tensor_count = 2;
    params->tensors = tensors;
}

void run_cpu_range(const layout *l, const rope2d_vulkan_range *range, unsigned char *in, unsigned char *out) {
    scene cpu = {0};
    rope2d_tensor tensors[2] = {0};
    const rope2d_device_params params = {.struct_size = sizeof(params)};
    tally_check(&counts, rope2d_device_create(&params, &cpu.device) == ROPE2D_OK, "the CPU");
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t skipped = range->tensor_token * (uint64_t)l->head_stride * HEADS;
        tensors[i].heads = HEADS;
        tensors[i].in = host_view(l, i, l->in, in);
        tensors[i].in.offset += skipped * rope2d_element_size(l->in);
        if (l->in_place)
            continue;
        tensors[i].out = host_view(l, i, l->out, out);
        tensors[i].out.offset += skipped * rope2d_element_size(l->out);
    }
    if (make_scene(&cpu, l->in, l->out, ROPE2D_TABLE_BUFFER, ROPE2D_PLAN_NO_SELF_TEST) == ROPE2D_OK) {
        const rope2d_apply_params apply = {sizeof(apply), 1, range->first_token, range->tokens, 2, tensors};
        tally_check(&counts, rope2d_apply(cpu.plan, cpu.positions, &apply) == ROPE2D_OK, "apply on the CPU");
    }
    clear_scene(&cpu);
    rope2d_device_destroy(cpu.device);
}

void run_cpu(const layout *l, unsigned char *in, unsigned char *out) {
    const rope2d_vulkan_range all = {l->first_token, 0, l->tokens};
    run_cpu_range(l, &all, in, out);
}

void scene_rotate(const owner *own, rope2d_device *device, const layout *l) {
    static unsigned char expected[BYTES];
    owner_buffer buffer = {0};
    scene made = {.device = device};
    rope2d_vulkan_tensor tensors[2];
    rope2d_vulkan_binding_params params;
    rope2d_vulkan_binding *binding = NULL;
    if (!tally_check(&counts, owner_buffer_create(own, BYTES, &buffer), "no memory for tensors") ||
        make_scene(&made, l->in, l->out, l->table, 0) != ROPE2D_OK)
        return;
    make_params(l, &buffer, &buffer, tensors, &params);
    fill(buffer.mapped, l->in);
    memcpy(expected, buffer.mapped, BYTES);
    run_cpu(l, expected, NULL);
    expect(rope2d_vulkan_binding_create(made.plan, made.positions, &params, &binding), ROPE2D_OK, "binding");
    tally_check(&counts, owner_begin(own), "begin");
    expect(rope2d_vulkan_record(binding, own->commands), ROPE2D_OK, "record");
    owner_barrier(own);
    tally_check(&counts, owner_run(own), "run");
    tally_check(&counts, memcmp(buffer.mapped, expected, BYTES) == 0, "not the CPU's bits");
    rope2d_vulkan_binding_destroy(binding);
    clear_scene(&made);
    owner_buffer_destroy(own, &buffer);
}

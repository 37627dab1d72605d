// SPDX-License-Identifier: MIT
#include "engine_vulkan.h"

#include <stdio.h>
#include <string.h>

static const uint32_t project_code[] =
#include "engine_project.comp.inc"
    ;
static const uint32_t scores_code[] =
#include "engine_scores.comp.inc"
    ;

static void log_line(void *user, rope2d_log_level level, const char *text) {
    (void)user;
    (void)level;
    fprintf(stderr, "rope2d: %s\n", text);
}

// No queue is lent: nothing is submitted but by the engine.
static rope2d_status start_rope(engine *own) {
    static float yx[TOKENS][2];
    const rope2d_host host = {sizeof(host), .log = log_line};
    const rope2d_spec spec = attention_spec();
    attention_coordinates(yx);
    const rope2d_vulkan_device_params ours = {.struct_size = sizeof(ours),
                                              .get_instance_proc_addr = vkGetInstanceProcAddr,
                                              .instance = own->gpu.instance,
                                              .physical_device = own->gpu.physical,
                                              .device = own->gpu.device,
                                              .host = &host};
    const rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &spec};
    const rope2d_positions_params grid = {
        .struct_size = sizeof(grid), .spec = &spec, .tokens = TOKENS, .coordinates = &yx[0][0]};
    rope2d_status status = rope2d_vulkan_device_adopt(&ours, &own->device);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(own->device, &types, &own->plan);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(own->device, &grid, &own->positions);
    return status;
}

static VkDescriptorBufferInfo whole(const gpu_buffer *buffer) {
    const VkDescriptorBufferInfo info = {buffer->handle, 0, buffer->size};
    return info;
}

static void open_flight(engine *own, flight *one) {
    const gpu *device = &own->gpu;
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    one->frame = NOTHING;
    one->values = gpu_buffer_make(device, (TOKENS * FEATURES + 2 * WEIGHTS) * sizeof(float));
    one->q = gpu_buffer_make(device, ELEMENTS * sizeof(float));
    one->k = gpu_buffer_make(device, ELEMENTS * sizeof(float));
    one->scores = gpu_buffer_make(device, HEADS * TOKENS * sizeof(float));
    const VkDescriptorBufferInfo before[3] = {whole(&one->values), whole(&one->q), whole(&one->k)};
    const VkDescriptorBufferInfo after[3] = {whole(&one->q), whole(&one->k), whole(&one->scores)};
    one->project_set = gpu_set_make(device, &own->project, before);
    one->scores_set = gpu_set_make(device, &own->scores, after);
    one->commands = gpu_commands_make(device);
    gpu_must(vkCreateFence(device->device, &fence, NULL, &one->fence), "vkCreateFence");
    float *weights = (float *)one->values.mapped + TOKENS * FEATURES;
    attention_weights((void *)weights);
}

// One for each flight: it holds the flight's buffers.
static rope2d_status bind_flight(const engine *own, flight *one) {
    const rope2d_vulkan_view q = {one->q.handle, one->q.size, 0, 0, HEADS * HEAD_DIM, HEAD_DIM};
    const rope2d_vulkan_view k = {one->k.handle, one->k.size, 0, 0, HEADS * HEAD_DIM, HEAD_DIM};
    const rope2d_vulkan_tensor qk[2] = {{HEADS, .in = q}, {HEADS, .in = k}}; // in place
    const rope2d_vulkan_binding_params bound = {
        .struct_size = sizeof(bound), .batch = 1, .tokens = TOKENS, .tensor_count = 2, .tensors = qk};
    return rope2d_vulkan_binding_create(own->plan, own->positions, &bound, &one->rotation);
}

rope2d_status engine_open(engine *own, uint32_t index) {
    gpu_open(&own->gpu, index);
    own->project = gpu_pass_make(&own->gpu, project_code, sizeof(project_code), 3, sizeof(uint32_t));
    own->scores = gpu_pass_make(&own->gpu, scores_code, sizeof(scores_code), 3, sizeof(uint32_t));
    for (int i = 0; i < FLIGHTS; i++)
        open_flight(own, &own->flights[i]);
    rope2d_status status = start_rope(own);
    for (int i = 0; i < FLIGHTS && status == ROPE2D_OK; i++)
        status = bind_flight(own, &own->flights[i]);
    return status;
}

void engine_close(engine *own) {
    for (int i = 0; i < FLIGHTS; i++) {
        flight *one = &own->flights[i];
        rope2d_vulkan_binding_destroy(one->rotation);
        vkDestroyFence(own->gpu.device, one->fence, NULL);
        gpu_buffer_free(&own->gpu, &one->values);
        gpu_buffer_free(&own->gpu, &one->q);
        gpu_buffer_free(&own->gpu, &one->k);
        gpu_buffer_free(&own->gpu, &one->scores);
        memset(one, 0, sizeof(*one));
    }
    rope2d_positions_destroy(own->positions);
    rope2d_plan_destroy(own->plan);
    rope2d_device_destroy(own->device);
    own->positions = NULL;
    own->plan = NULL;
    own->device = NULL;
    gpu_pass_free(&own->gpu, &own->project);
    gpu_pass_free(&own->gpu, &own->scores);
    gpu_close(&own->gpu);
}

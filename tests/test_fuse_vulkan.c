// SPDX-License-Identifier: MIT
//
// A user's shader that includes rope2d.glsl and reads the table that rope2d_vulkan_positions_get_table hands
// out, against what the CPU makes of the same elements.
#include "check.h"
#include "vulkan_owner.h"

#include "rope2d/rope2d_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 7, TOKENS = SIDE * SIDE, HEADS = 3, HEAD_DIM = 32, PAIRS = HEAD_DIM / 2, BINDINGS = 4 };
enum { ELEMENTS = TOKENS * HEADS * HEAD_DIM };

static const uint32_t buffer_code[] =
#include "fuse_buffer.inc"
    ;
static const uint32_t texture_code[] =
#include "fuse_texture.inc"
    ;

// As in fuse_vulkan.comp.
typedef struct sizes {
    uint32_t tokens, heads, pairs, table_rows, columns, row_axes, texture_fold, head_stride, angles, in_type,
        out_type;
} sizes;

typedef struct variant {
    const char *name;
    bool is_dense; // every pair turns with both axes, differently in each head, and lo not as hi
    rope2d_element in;
    rope2d_element out;
} variant;

static const variant variants[] = {
    {"axial", false, ROPE2D_F32, ROPE2D_F32},
    {"axial", false, ROPE2D_F16, ROPE2D_F16},
    {"dense, two angles, a table for each head", true, ROPE2D_BF16, ROPE2D_F16},
    {"dense, two angles, a table for each head", true, ROPE2D_F32, ROPE2D_BF16},
};

typedef struct rotation {
    rope2d_device *device;
    rope2d_plan *plan;
    rope2d_positions *positions;
} rotation;

static void rotation_destroy(rotation *made) {
    rope2d_plan_destroy(made->plan);
    rope2d_positions_destroy(made->positions);
    made->plan = NULL;
    made->positions = NULL;
}

// ------------------------------------------------------------------------------------------------ the inputs

static rope2d_status rotation_create(const variant *what, rope2d_table table, rotation *made) {
    static const rope2d_range still[] = {{0, 1}, {9, 11}};
    static float freqs[2][HEADS][PAIRS], freqs_hi[2][HEADS][PAIRS], yx[TOKENS][2];
    rope2d_spec spec = {
        .struct_size = sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .freqs = &freqs[0][0][0]};
    memset(freqs, 0, sizeof(freqs));
    for (int i = 0; i < HEADS * PAIRS; i++)
        for (int axis = 0; axis < 2; axis++) {
            const int pair = i % PAIRS;
            if (what->is_dense || pair % 2 == axis)
                (&freqs[axis][0][0])[i] = (float)(3 * i + axis + 1) / 17.0f;
            (&freqs_hi[axis][0][0])[i] = (float)(2 * i + 3 - axis) / 13.0f;
        }
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / SIDE);
        yx[t][1] = (float)(t % SIDE) + 0.5f;
    }
    float shared[2][PAIRS];
    if (what->is_dense) {
        spec.freq_heads = HEADS;
        spec.freqs_hi = &freqs_hi[0][0][0];
    } else {
        memcpy(shared[0], freqs[0][0], sizeof(shared[0]));
        memcpy(shared[1], freqs[1][0], sizeof(shared[1]));
        spec.freqs = &shared[0][0];
    }
    const rope2d_plan_params plan = {sizeof(plan), &spec, what->in,
                                     what->out,    table, ROPE2D_PLAN_NO_SELF_TEST};
    const rope2d_positions_params positions = {
        .struct_size = sizeof(positions),
        .spec = &spec,
        .table = table,
        .tokens = TOKENS,
        .coordinates = &yx[0][0],
        .unrotated = still,
        .unrotated_count = 2,
    };
    const rope2d_status status = rope2d_plan_create(made->device, &plan, &made->plan);
    return status != ROPE2D_OK ? status : rope2d_positions_create(made->device, &positions, &made->positions);
}

// Values that are exact in every type, and never subnormal.
static void fill(void *bytes, rope2d_element type) {
    for (int i = 0; i < ELEMENTS; i++) {
        const float value = (float)((i * 37) % 101 - 50) / 32.0f;
        uint32_t bits;
        memcpy(&bits, &value, sizeof(bits));
        if (type == ROPE2D_F32)
            ((uint32_t *)bytes)[i] = bits;
        else if (type == ROPE2D_BF16)
            ((uint16_t *)bytes)[i] = (uint16_t)(bits >> 16);
        else
            ((uint16_t *)bytes)[i] =
                (uint16_t)(value == 0
                               ? 0
                               : ((bits >> 16) & 0x8000u) | (((bits & 0x7fffffffu) - 0x38000000u) >> 13));
    }
}

static void rotate_on_cpu(const variant *what, void *in, void *out) {
    rotation cpu = {0};
    const rope2d_device_params params = {.struct_size = sizeof(params)};
    const rope2d_tensor tensor = {
        HEADS, .in = rope2d_view_contiguous(in, what->in, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM),
        .out = rope2d_view_contiguous(out, what->out, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM)};
    const rope2d_apply_params apply = {sizeof(apply), 1, 0, TOKENS, 1, &tensor};
    CHECK(rope2d_device_create(&params, &cpu.device) == ROPE2D_OK &&
              rotation_create(what, ROPE2D_TABLE_BUFFER, &cpu) == ROPE2D_OK &&
              rope2d_apply(cpu.plan, cpu.positions, &apply) == ROPE2D_OK,
          "the CPU");
    rotation_destroy(&cpu);
    rope2d_device_destroy(cpu.device);
}

// ------------------------------------------------------------------------------------------------ the shader

typedef struct shader {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set;
} shader;

static bool shader_create(const owner *own, bool is_texture, shader *made) {
    VkDescriptorSetLayoutBinding bindings[BINDINGS] = {{0}};
    for (uint32_t i = 0; i < BINDINGS; i++) {
        bindings[i].binding = i;
        bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        bindings[i].descriptorCount = 1;
        bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    if (is_texture)
        bindings[3].descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    const VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                 .bindingCount = BINDINGS,
                                                 .pBindings = bindings};
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(sizes)};
    const VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize =
                                               is_texture ? sizeof(texture_code) : sizeof(buffer_code),
                                           .pCode = is_texture ? texture_code : buffer_code};
    VkShaderModule module = VK_NULL_HANDLE;
    if (vkCreateDescriptorSetLayout(own->device, &set, NULL, &made->set_layout) != VK_SUCCESS ||
        vkCreateShaderModule(own->device, &code, NULL, &module) != VK_SUCCESS)
        return false;
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &made->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    if (vkCreatePipelineLayout(own->device, &layout, NULL, &made->layout) != VK_SUCCESS)
        return false;
    const VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = made->layout,
    };
    const VkResult result =
        vkCreateComputePipelines(own->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &made->pipeline);
    vkDestroyShaderModule(own->device, module, NULL);
    const VkDescriptorPoolSize counts[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, BINDINGS},
                                           {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1}};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 2,
                                             .pPoolSizes = counts};
    if (result != VK_SUCCESS || vkCreateDescriptorPool(own->device, &pool, NULL, &made->pool) != VK_SUCCESS)
        return false;
    const VkDescriptorSetAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = made->pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &made->set_layout};
    return vkAllocateDescriptorSets(own->device, &one, &made->set) == VK_SUCCESS;
}

static void shader_destroy(const owner *own, shader *made) {
    vkDestroyDescriptorPool(own->device, made->pool, NULL);
    vkDestroyPipeline(own->device, made->pipeline, NULL);
    vkDestroyPipelineLayout(own->device, made->layout, NULL);
    vkDestroyDescriptorSetLayout(own->device, made->set_layout, NULL);
}

static void bind(const owner *own, const shader *made, const owner_buffer *in, const owner_buffer *out,
                 const rope2d_vulkan_table *table) {
    const VkDescriptorBufferInfo buffers[BINDINGS] = {{in->handle, 0, in->size},
                                                      {out->handle, 0, out->size},
                                                      {table->rows, table->rows_offset, table->rows_size},
                                                      {table->table, table->table_offset, table->table_size}};
    const VkDescriptorImageInfo image = {table->sampler, table->view, table->layout};
    for (uint32_t i = 0; i < BINDINGS; i++) {
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = made->set,
                                      .dstBinding = i,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &buffers[i]};
        if (i == 3 && table->kind == ROPE2D_TABLE_TEXTURE) {
            write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
            write.pImageInfo = &image;
        }
        vkUpdateDescriptorSets(own->device, 1, &write, 0, NULL);
    }
}

static bool run(const owner *own, const shader *made, const sizes *push) {
    if (!owner_begin(own))
        return false;
    vkCmdBindPipeline(own->commands, VK_PIPELINE_BIND_POINT_COMPUTE, made->pipeline);
    vkCmdBindDescriptorSets(own->commands, VK_PIPELINE_BIND_POINT_COMPUTE, made->layout, 0, 1, &made->set, 0,
                            NULL);
    vkCmdPushConstants(own->commands, made->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(*push), push);
    vkCmdDispatch(own->commands, (TOKENS * HEADS * PAIRS + 63) / 64, 1, 1);
    owner_barrier(own);
    return owner_run(own);
}

// ------------------------------------------------------------------------------------------------- the
// checks

static void check_variant(const owner *own, rope2d_device *device, const variant *what, rope2d_table kind) {
    static uint32_t expected[ELEMENTS];
    rotation made = {.device = device};
    shader mine = {0};
    owner_buffer in = {0}, out = {0};
    rope2d_vulkan_table table = {.struct_size = sizeof(table)};
    const size_t bytes = ELEMENTS * (size_t)rope2d_element_size(what->out);
    const char *kind_name = kind == ROPE2D_TABLE_TEXTURE ? "texture" : "buffer";
    if (!CHECK(owner_buffer_create(own, ELEMENTS * 4, &in) && owner_buffer_create(own, ELEMENTS * 4, &out) &&
                   rotation_create(what, kind, &made) == ROPE2D_OK &&
                   rope2d_vulkan_positions_get_table(made.positions, &table) == ROPE2D_OK &&
                   shader_create(own, kind == ROPE2D_TABLE_TEXTURE, &mine),
               "%s, %s: could not be made", what->name, kind_name))
        return;
    CHECK(table.kind == kind && (table.image != VK_NULL_HANDLE) == (kind == ROPE2D_TABLE_TEXTURE) &&
              (table.table != VK_NULL_HANDLE) == (kind == ROPE2D_TABLE_BUFFER),
          "%s: kind %d", kind_name, (int)table.kind);
    fill(in.mapped, what->in);
    rotate_on_cpu(what, in.mapped, expected);
    memset(out.mapped, 0xa5, out.size);
    bind(own, &mine, &in, &out, &table);
    const uint32_t angles = what->is_dense ? 2 : 1;
    const sizes push = {.tokens = TOKENS,
                        .heads = HEADS,
                        .pairs = PAIRS,
                        .table_rows = table.table_rows,
                        .columns = table.columns,
                        .row_axes = table.row_axes,
                        .texture_fold = table.texture_fold,
                        .head_stride = what->is_dense ? angles * PAIRS : 0,
                        .angles = angles,
                        .in_type = what->in,
                        .out_type = what->out};
    CHECK(run(own, &mine, &push), "run");
    CHECK(memcmp(out.mapped, expected, bytes) == 0, "%s, %s, %d to %d: not the CPU's bits", what->name,
          kind_name, (int)what->in, (int)what->out);
    shader_destroy(own, &mine);
    rotation_destroy(&made);
    owner_buffer_destroy(own, &in);
    owner_buffer_destroy(own, &out);
}

static void check_device(const owner *own) {
    rotation made = {0};
    rope2d_vulkan_table table = {.struct_size = sizeof(table)};
    const rope2d_vulkan_device_params params = {
        .struct_size = sizeof(params),
        .get_instance_proc_addr = vkGetInstanceProcAddr,
        .instance = own->instance,
        .physical_device = own->physical,
        .device = own->device,
        .queue = own->queue,
        .queue_family = own->family,
    };
    if (!CHECK(rope2d_vulkan_device_adopt(&params, &made.device) == ROPE2D_OK, "adopt"))
        return;
    for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++) {
        check_variant(own, made.device, &variants[i], ROPE2D_TABLE_BUFFER);
        check_variant(own, made.device, &variants[i], ROPE2D_TABLE_TEXTURE);
    }
    CHECK(rotation_create(&variants[0], ROPE2D_TABLE_BUFFER, &made) == ROPE2D_OK, "positions");
    CHECK(rope2d_vulkan_positions_get_table(NULL, &table) == ROPE2D_ERROR_NULL, "no positions");
    CHECK(rope2d_vulkan_positions_get_table(made.positions, NULL) == ROPE2D_ERROR_NULL, "no table");
    table.struct_size--;
    CHECK(rope2d_vulkan_positions_get_table(made.positions, &table) == ROPE2D_ERROR_STRUCT_SIZE,
          "struct_size");
    rotation_destroy(&made);
    rope2d_device_destroy(made.device);
}

// Leaves comments, but for the licence's, and white space out.
static void strip(const char *from, char *to) {
    for (; *from != 0; from++) {
        if (strncmp(from, "//", 2) == 0 && strncmp(from, "// SPDX", 7) != 0)
            from += strcspn(from, "\n");
        if (*from != ' ' && *from != '\n')
            *to++ = *from;
    }
    *to = 0;
}

static void check_source(const char *path) {
    static char text[1 << 16], in_file[1 << 16], in_library[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL, "%s is not there", path))
        return;
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    strip(text, in_file);
    strip(rope2d_vulkan_source(), in_library);
    CHECK(strlen(in_library) > 1000 && strcmp(in_file, in_library) == 0, "rope2d_vulkan_source() is not %s",
          path);
}

static void check_other_backend(void) {
    rotation cpu = {0};
    rope2d_vulkan_table table = {.struct_size = sizeof(table)};
    const rope2d_device_params params = {.struct_size = sizeof(params)};
    CHECK(rope2d_device_create(&params, &cpu.device) == ROPE2D_OK &&
              rotation_create(&variants[0], ROPE2D_TABLE_BUFFER, &cpu) == ROPE2D_OK,
          "the CPU");
    CHECK(rope2d_vulkan_positions_get_table(cpu.positions, &table) == ROPE2D_ERROR_MISMATCH, "of the CPU");
    rotation_destroy(&cpu);
    rope2d_device_destroy(cpu.device);
}

int main(int argc, char **argv) {
    owner own;
    const char *required = getenv("ROPE2D_REQUIRE_DEVICES");
    if (argc > 1)
        check_source(argv[1]);
    check_other_backend();
    if (!owner_create(&own) || own.physical_count == 0) {
        if (required != NULL && required[0] != 0)
            CHECK(false, "no Vulkan device, and some are required: %s", required);
        else
            check_skip("no Vulkan device");
    }
    for (uint32_t i = 0; i < own.physical_count; i++) {
        if (CHECK(owner_open(&own, i), "device %u", i))
            check_device(&own);
        owner_close(&own);
    }
    owner_destroy(&own);
    return check_finish();
}

// SPDX-License-Identifier: MIT
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>

#include "device_choice.h"
#include "job.h"
#include "json_print.h"
#include "message.h"
#include "verbs.h"

static void print_table(const struct device_list *list) {
    int width = 4;
    for (size_t i = 0; i < list->count; ++i) {
        int length = snprintf(NULL, 0, "%.60s", list->items[i].info.name);
        width = length > width ? length : width;
    }
    printf("%-10s %-*s %-9s %-14s %-8s %9s %9s  %s\n", "device", width, "name", "runs on", "API", "table",
           "memory", "at once", "driver");
    for (size_t i = 0; i < list->count; ++i) {
        const rope2d_device_info *info = &list->items[i].info;
        char memory[32] = "-", reach[32] = "-";
        if (info->memory_bytes)
            snprintf(memory, sizeof memory, "%.1f GiB", (double)info->memory_bytes / (1 << 30));
        if (info->max_buffer_range && info->max_buffer_range < (uint64_t)1 << 50)
            snprintf(reach, sizeof reach, "%.1f GiB", (double)info->max_buffer_range / (1 << 30));
        print_plain("%-10s %-*.60s %-9s %-14.24s %-8s %9s %9s  %s\n", list->items[i].name, width, info->name,
                    info->is_software ? "CPU" : "GPU", info->api, table_name(info->default_table), memory,
                    reach, info->driver);
    }
    for (int backend = 0; backend < ROPE2D_BACKEND_COUNT; ++backend)
        if (*list->missing[backend])
            print_plain("%-10s %s\n", backend_names[backend], list->missing[backend]);
}

static cJSON *device_json(const struct device_choice *item) {
    const rope2d_device_info *info = &item->info;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"index", info->index},
        {"vendor_id", info->vendor_id},
        {"device_id", info->device_id},
        {"max_buffer_range", info->max_buffer_range},
        {"max_texture_width", info->max_texture_width},
        {"max_texture_height", info->max_texture_height},
        {"max_storage_buffers", info->max_storage_buffers},
        {"max_group_size", info->max_group_size},
        {"max_groups", info->max_groups},
        {"buffer_offset_alignment", info->buffer_offset_alignment},
        {"memory_bytes", info->memory_bytes},
    };
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "device", item->name);
    cJSON_AddStringToObject(object, "backend", backend_names[info->backend]);
    cJSON_AddStringToObject(object, "name", info->name);
    cJSON_AddStringToObject(object, "vendor", info->vendor);
    cJSON_AddStringToObject(object, "driver", info->driver);
    cJSON_AddStringToObject(object, "api", info->api);
    cJSON_AddBoolToObject(object, "is_software", info->is_software != 0);
    cJSON_AddBoolToObject(object, "has_textures", info->has_textures != 0);
    cJSON_AddStringToObject(object, "default_table", table_name(info->default_table));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        // As text: a double, which JSON's numbers become, would round what is above 2^53.
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, numbers[i].value);
        cJSON_AddRawToObject(object, numbers[i].key, text);
    }
    return object;
}

static int print_json(const struct device_list *list) {
    cJSON *root = cJSON_CreateObject();
    cJSON *devices = cJSON_AddArrayToObject(root, "devices");
    cJSON *missing = cJSON_AddObjectToObject(root, "missing");
    for (size_t i = 0; i < list->count; ++i)
        cJSON_AddItemToArray(devices, device_json(&list->items[i]));
    for (int backend = 0; backend < ROPE2D_BACKEND_COUNT; ++backend)
        if (*list->missing[backend])
            cJSON_AddStringToObject(missing, backend_names[backend], list->missing[backend]);
    return json_print(root);
}

static int run(int argc, char **argv) {
    bool json = false;
    const struct option options[] = {
        {.name = "json",
         .help = "print JSON: every field that the library knows, numbers in bytes",
         .flag = &json},
        {0},
    };
    int operands;
    enum options_result parsed = options_parse(&verb_devices, options, argc, argv, &operands);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    if (operands) {
        message("rope2d devices takes no '%s'", argv[0]);
        return STATUS_USAGE;
    }
    struct device_list list;
    int result = devices_find_named("all", &list);
    if (result)
        return result;
    if (json)
        result = print_json(&list);
    else
        print_table(&list);
    devices_free(&list);
    return result;
}

const struct verb verb_devices = {
    .name = "devices",
    .usage = "[--json]",
    .summary = "list the devices that can rotate",
    .description =
        "The first column is what --device takes elsewhere. 'table' is where the device prefers its cosines\n"
        "and sines; 'at once' is how much of one buffer a kernel can reach: larger work goes in pieces.",
    .run = run,
};

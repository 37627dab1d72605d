// SPDX-License-Identifier: MIT
#include "listing.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/json_read.h"
#include "../cli/message.h"
#include "child.h"
#include "verify.h"
#include "worker.h"

// Where a line's device goes.
struct hearing {
    struct device_list *list;
    rope2d_backend backend;
    int result;
};

static void copy(char *to, size_t size, const cJSON *line, const char *key) {
    snprintf(to, size, "%s", summary_text(line, key));
}

static void hear_line(void *user, const char *text) {
    struct hearing *hearing = user;
    struct device_list *list = hearing->list;
    cJSON *line = json_read(text, strlen(text), NULL);
    struct device_choice *items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (items)
        list->items = items;
    if (!items)
        hearing->result = STATUS_DEVICE;
    else if (*summary_text(line, "missing"))
        copy(list->missing[hearing->backend], sizeof list->missing[0], line, "missing");
    else if (line) {
        struct device_choice *item = &list->items[list->count++];
        *item = (struct device_choice){.info = {.backend = hearing->backend}};
        item->info.index = (uint32_t)summary_number(line, "index");
        item->info.has_textures =
            cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "has_textures")) ? 1 : 0;
        copy(item->info.name, sizeof item->info.name, line, "name");
        copy(item->info.vendor, sizeof item->info.vendor, line, "vendor");
        copy(item->info.driver, sizeof item->info.driver, line, "driver");
        copy(item->info.api, sizeof item->info.api, line, "api");
        snprintf(item->name, sizeof item->name, "%s:%u", backend_names[hearing->backend], item->info.index);
    }
    cJSON_Delete(line);
}

static int list_backend(const char *program, double seconds, rope2d_backend backend,
                        struct listing *listing) {
    char number[16];
    const char *const arguments[] = {program, VERIFY_WORKER_VERB, number, NULL};
    struct hearing hearing = {&listing->devices, backend, STATUS_OK};
    struct child_end end;
    size_t before = listing->devices.count;
    snprintf(number, sizeof number, "%d", (int)backend);
    child_run(arguments, "", seconds, hear_line, &hearing, &end);
    if (end.fate == CHILD_DONE && !end.status)
        return hearing.result;
    listing->is_broken[backend] = true;
    listing->devices.count = before;
    snprintf(listing->devices.missing[backend], sizeof listing->devices.missing[0],
             "the process that listed its devices ended: %.180s", end.text);
    return hearing.result;
}

int listing_make(const char *program, double seconds, const char *device, struct listing *listing) {
    *listing = (struct listing){0};
    if (!program)
        return devices_find_named(device, &listing->devices);
    int result = STATUS_OK;
    for (int backend = 0; backend < ROPE2D_BACKEND_COUNT && !result; ++backend)
        if (devices_name(device, (rope2d_backend)backend))
            result = list_backend(program, seconds, (rope2d_backend)backend, listing);
    if (result) {
        message("no memory for the list of devices");
        devices_free(&listing->devices);
    }
    return result;
}

#ifdef _WIN32
int listing_child(rope2d_backend backend) {
    (void)backend;
    return STATUS_USAGE;
}
#else
static bool write_line(FILE *file, cJSON *line) {
    char *text = cJSON_PrintUnformatted(line);
    bool good = text && fprintf(file, "%s\n", text) > 0;
    cJSON_free(text);
    cJSON_Delete(line);
    return good;
}

static cJSON *describe(const rope2d_device_info *info) {
    cJSON *line = cJSON_CreateObject();
    cJSON_AddNumberToObject(line, "index", info->index);
    cJSON_AddBoolToObject(line, "has_textures", info->has_textures != 0);
    cJSON_AddStringToObject(line, "name", info->name);
    cJSON_AddStringToObject(line, "vendor", info->vendor);
    cJSON_AddStringToObject(line, "driver", info->driver);
    cJSON_AddStringToObject(line, "api", info->api);
    return line;
}

int listing_child(rope2d_backend backend) {
    struct device_list list;
    FILE *file = fdopen(VERIFY_WORKER_DESCRIPTOR, "w");
    if (!file)
        return STATUS_USAGE;
    int result = devices_find_of(backend, &list);
    bool good = !result;
    if (good && *list.missing[backend]) {
        cJSON *line = cJSON_CreateObject();
        cJSON_AddStringToObject(line, "missing", list.missing[backend]);
        good = write_line(file, line);
    }
    for (size_t i = 0; good && i < list.count; ++i)
        good = write_line(file, describe(&list.items[i].info));
    devices_free(&list);
    good = fclose(file) == 0 && good;
    return good ? STATUS_OK : STATUS_DEVICE;
}
#endif

// SPDX-License-Identifier: MIT
#include "device_choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options.h"

const char *const backend_names[] = {"cpu", "vulkan", "opencl", NULL};

static void keep_first_line(void *user, rope2d_log_level level, const char *text) {
    char *line = user;
    if (level == ROPE2D_LOG_ERROR && !*line)
        snprintf(line, sizeof((struct device_list *)0)->missing[0], "%s", text);
}

static int no_memory(void) {
    message("no memory for the list of devices");
    return STATUS_DEVICE;
}

static int append(struct device_list *list, const rope2d_device_info *info) {
    struct device_choice *items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items)
        return no_memory();
    list->items = items;
    struct device_choice *item = &items[list->count++];
    *item = (struct device_choice){.info = *info};
    make_printable(item->info.name); // a driver may call itself anything
    make_printable(item->info.vendor);
    make_printable(item->info.driver);
    make_printable(item->info.api);
    snprintf(item->name, sizeof item->name, "%s:%" PRIu32, backend_names[info->backend], info->index);
    return STATUS_OK;
}

static int find_backend(struct device_list *list, rope2d_backend backend) {
    rope2d_host host = {.struct_size = sizeof host, .user = list->missing[backend], .log = keep_first_line};
    uint32_t count = 0;
    rope2d_status status = rope2d_enumerate(backend, &host, &count, NULL);
    rope2d_device_info *infos = status || !count ? NULL : calloc(count, sizeof *infos);
    if (!status && count && !infos)
        return no_memory();
    for (uint32_t i = 0; infos && i < count; ++i)
        infos[i].struct_size = sizeof infos[i];
    if (infos)
        status = rope2d_enumerate(backend, &host, &count, infos);
    if (status && !*list->missing[backend])
        snprintf(list->missing[backend], sizeof list->missing[backend], "%s", rope2d_status_name(status));
    if (!status)
        list->missing[backend][0] = '\0';
    int result = STATUS_OK;
    for (uint32_t i = 0; infos && !status && i < count && !result; ++i)
        result = append(list, &infos[i]);
    free(infos);
    return result;
}

bool devices_name(const char *text, rope2d_backend backend) {
    const char *const name = backend_names[backend];
    const size_t length = strlen(name);
    if (strcmp(text, "auto") == 0 || strcmp(text, "all") == 0)
        return true;
    for (;; ++text) {
        if (strcspn(text, ":,") == length && strncmp(text, name, length) == 0)
            return true;
        text += strcspn(text, ",");
        if (!*text)
            return false;
    }
}

int devices_find_named(const char *text, struct device_list *list) {
    *list = (struct device_list){0};
    int result = STATUS_OK;
    for (int backend = 0; backend < ROPE2D_BACKEND_COUNT && !result; ++backend)
        if (devices_name(text, (rope2d_backend)backend))
            result = find_backend(list, (rope2d_backend)backend);
    if (result)
        devices_free(list);
    return result;
}

int devices_find_of(rope2d_backend backend, struct device_list *list) {
    *list = (struct device_list){0};
    int result = find_backend(list, backend);
    if (result)
        devices_free(list);
    return result;
}

void devices_free(struct device_list *list) {
    free(list->items);
    list->items = NULL;
    list->count = 0;
}

// Hardware before software: a driver that runs on the CPU gains nothing over the CPU path. Vulkan before
// OpenCL: where a GPU has both, they are the same hardware, and Vulkan's kernels are compiled already.
static int preference(const struct device_choice *item) {
    if (item->info.backend == ROPE2D_BACKEND_CPU)
        return 2;
    return item->info.is_software ? 3 : item->info.backend == ROPE2D_BACKEND_VULKAN ? 0 : 1;
}

static int choose_auto(const struct device_list *found, struct device_list *list) {
    static const char *const why[] = {"the first GPU that Vulkan lists",
                                      "the first GPU that OpenCL lists, and Vulkan lists none",
                                      "no GPU was found"};
    int result = STATUS_OK;
    for (int rank = 0; rank < 3 && !result; ++rank) {
        for (size_t i = 0; i < found->count && !result; ++i) {
            if (preference(&found->items[i]) != rank)
                continue;
            result = append(list, &found->items[i].info);
            if (!result)
                list->items[list->count - 1].why = why[rank];
        }
    }
    return result;
}

// "vulkan:1" into its parts; the index may be left away when it is 0.
static int parse_device(const char *text, size_t length, bool is_one, rope2d_backend *backend,
                        uint32_t *index) {
    char name[64] = "";
    if (length < sizeof name)
        memcpy(name, text, length);
    char *colon = strchr(name, ':');
    uint64_t number = 0;
    bool is_number = !colon || parse_count(colon + 1, 0, UINT32_MAX, &number);
    if (colon)
        *colon = '\0';
    int found = word_index(name, backend_names);
    if (found >= 0 && is_number) {
        *backend = (rope2d_backend)found;
        *index = (uint32_t)number;
        return STATUS_OK;
    }
    const char *whole = is_one ? "auto" : "all";
    if (strcmp(name, whole) == 0) {
        message("--device %s: must stand alone, without other devices", whole);
        return STATUS_USAGE;
    }
    static const char *const words[] = {"cpu", "vulkan", "opencl", "auto", "all", NULL};
    const char *nearest = found >= 0 || word_index(name, words) >= 0 ? NULL : nearest_word(name, words);
    message("--device %.*s: must be %s, cpu, vulkan:INDEX or opencl:INDEX%s%s%s", (int)length, text, whole,
            nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return STATUS_USAGE;
}

static bool has(const struct device_list *list, const rope2d_device_info *info) {
    bool is_there = false;
    for (size_t i = 0; i < list->count; ++i)
        is_there |= list->items[i].info.backend == info->backend && list->items[i].info.index == info->index;
    return is_there;
}

// A device that is named twice is taken once.
static int append_named(const struct device_list *found, const char *text, size_t length, bool is_one,
                        struct device_list *list) {
    rope2d_backend backend;
    uint32_t index, there = 0;
    int result = parse_device(text, length, is_one, &backend, &index);
    if (result)
        return result;
    for (size_t i = 0; i < found->count; ++i) {
        const rope2d_device_info *info = &found->items[i].info;
        if (info->backend == backend && info->index == index)
            return has(list, info) ? STATUS_OK : append(list, info);
        there += info->backend == backend;
    }
    if (*found->missing[backend])
        message("--device %.*s: %s", (int)length, text, found->missing[backend]);
    else if (there == 0)
        message("--device %.*s: there is no %s device on this machine", (int)length, text,
                backend_names[backend]);
    else
        message("--device %.*s: index must be below %" PRIu32
                ", the number of %s devices ('rope2d devices' lists them)",
                (int)length, text, there, backend_names[backend]);
    return STATUS_DEVICE;
}

static int append_all(const struct device_list *found, struct device_list *list) {
    int result = STATUS_OK;
    for (size_t i = 0; i < found->count && !result; ++i)
        result = append(list, &found->items[i].info);
    return result;
}

static int append_each(const struct device_list *found, const char *text, bool is_one,
                       struct device_list *list) {
    const char *all = text;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (length == 0) {
            message("--device %s: nothing stands beside a comma; must be devices with commas between", all);
            return STATUS_USAGE;
        }
        int result = append_named(found, text, length, is_one, list);
        text += length;
        if (result || !*text)
            return result;
        ++text;
        if (is_one) {
            message("--device: one device is wanted here, without '%s'", text - 1);
            return STATUS_USAGE;
        }
    }
}

int devices_choose_among(const struct device_list *found, const char *text, bool is_one,
                         struct device_list *list) {
    int result;
    *list = (struct device_list){0};
    memcpy(list->missing, found->missing, sizeof list->missing);
    if (strcmp(text, "auto") == 0 && is_one)
        result = choose_auto(found, list);
    else if (strcmp(text, "all") == 0 && !is_one)
        result = append_all(found, list);
    else
        result = append_each(found, text, is_one, list);
    if (result)
        devices_free(list);
    return result;
}

int devices_choose(const char *text, bool is_one, struct device_list *list) {
    struct device_list found;
    *list = (struct device_list){0};
    int result = devices_find_named(text, &found);
    if (!result)
        result = devices_choose_among(&found, text, is_one, list);
    devices_free(&found);
    return result;
}

int device_open(const struct device_list *list, bool is_auto, uint32_t flags, rope2d_device **device,
                const struct device_choice **choice) {
    int result = STATUS_DEVICE;
    *device = NULL;
    for (size_t i = 0; i < list->count && !*device; ++i) {
        const struct device_choice *item = &list->items[i];
        rope2d_device_params params = {
            .struct_size = sizeof params,
            .backend = item->info.backend,
            .index = item->info.index,
            .flags = flags,
            .host = &message_host,
            .cache_folder = list->cache,
        };
        rope2d_status status = rope2d_device_create(&params, device);
        *choice = item;
        if (status) {
            char what[64];
            snprintf(what, sizeof what, "%s does not open", item->name);
            result = message_status(status, what);
        } else if (is_auto) {
            message("device %s (%s): %s%s", item->name, item->info.name, item->why,
                    i ? " (those before it did not open)" : "");
        }
    }
    return *device ? STATUS_OK : result;
}

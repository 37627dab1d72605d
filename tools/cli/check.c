// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_case.h"
#include "device_choice.h"
#include "message.h"
#include "quote.h"
#include "verbs.h"

struct folders {
    char **paths;
    size_t count;
};

struct check {
    const char *device;
    const char *cache; // folder
    bool both_tables, minimum_limits;
    int table, angles;
    struct device_list list;
    rope2d_device **devices; // as the list; NULL where one does not open
    rope2d_device *portable;
    unsigned passed, failed, skipped;
    int result; // the worst exit status so far
};

static int no_memory(void) {
    message("no memory for the list of folders");
    return STATUS_DEVICE;
}

static int add_folder(struct folders *folders, const char *parent, const char *name) {
    char **paths = realloc(folders->paths, (folders->count + 1) * sizeof *paths);
    if (!paths)
        return no_memory();
    folders->paths = paths;
    size_t size = strlen(parent) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        return no_memory();
    snprintf(path, size, "%s%s%s", parent, *name ? "/" : "", name);
    paths[folders->count++] = path;
    return STATUS_OK;
}

static void free_folders(struct folders *folders) {
    for (size_t i = 0; i < folders->count; ++i)
        free(folders->paths[i]);
    free(folders->paths);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// A folder that is a case, or those in it that are.
static int find_cases(const char *folder, struct folders *folders) {
    if (golden_case_may_be_there(folder))
        return add_folder(folders, folder, "");
    DIR *directory = opendir(folder);
    if (!directory) {
        message("%s: %s", folder, strerror(errno));
        return STATUS_USAGE;
    }
    size_t before = folders->count;
    int result = STATUS_OK;
    errno = 0;
    for (struct dirent *entry; !result && (entry = readdir(directory)); errno = 0) {
        if (*entry->d_name == '.')
            continue;
        result = add_folder(folders, folder, entry->d_name);
        if (!result && !golden_case_may_be_there(folders->paths[folders->count - 1]))
            free(folders->paths[--folders->count]);
    }
    if (!result && errno) { // of readdir: what it did not list would not be checked
        message("%s: %s", folder, strerror(errno));
        result = STATUS_USAGE;
    }
    closedir(directory);
    if (!result && folders->count == before) {
        message("%s: holds no case.json, nor does a folder in it", folder);
        return STATUS_USAGE;
    }
    if (!result)
        qsort(folders->paths + before, folders->count - before, sizeof *folders->paths, by_name);
    return result;
}

static void worsen(struct check *check, int result) {
    check->result = result > check->result ? result : check->result;
}

static void print_outcome(struct check *check, const char *folder, const char *name, const char *device,
                          rope2d_table asked, const struct outcome *outcome) {
    static const char *const words[] = {"ok  ", "FAIL", "skip", "FAIL"};
    const char *table = table_name(asked == ROPE2D_TABLE_AUTO ? outcome->info.table : asked);
    print_plain("%s %-24s %-9s %-8s %s\n", words[outcome->verdict], name, device, table, outcome->text);
    check->passed += outcome->verdict == VERDICT_PASSED;
    check->skipped += outcome->verdict == VERDICT_SKIPPED;
    if (outcome->verdict == VERDICT_FAILED || outcome->verdict == VERDICT_BROKEN) {
        char *quoted = quote_copy(folder);
        print_plain("     rope2d check %s --device %s --table %s --angles %s%s\n", quoted ? quoted : "FOLDER",
                    device, table, check->angles ? "fp32" : "double",
                    check->minimum_limits ? " --minimum-limits" : "");
        free(quoted);
        ++check->failed;
        worsen(check, outcome->verdict == VERDICT_BROKEN ? exit_status_of(outcome->status) : STATUS_FAILED);
    }
    fflush(stdout);
}

static void check_devices(struct check *check, const char *folder, const struct golden_case *golden) {
    struct rotated reference = {{NULL}};
    struct outcome outcome;
    check_case(golden, check->portable, ROPE2D_TABLE_AUTO, NULL, &reference, &outcome);
    bool has_reference = reference.outputs[0] != NULL;
    if (!has_reference) {
        print_outcome(check, folder, golden->name, "cpu:0", ROPE2D_TABLE_AUTO, &outcome);
        return;
    }
    for (size_t i = 0; i < check->list.count; ++i) {
        const struct device_choice *choice = &check->list.items[i];
        int first = check->both_tables ? ROPE2D_TABLE_BUFFER : check->table;
        int last = check->both_tables && choice->info.has_textures ? ROPE2D_TABLE_TEXTURE : first;
        for (int table = first; table <= last && check->devices[i]; ++table) {
            check_case(golden, check->devices[i], (rope2d_table)table, &reference, NULL, &outcome);
            print_outcome(check, folder, golden->name, choice->name, (rope2d_table)table, &outcome);
        }
    }
    rotated_free(&reference);
}

static void check_folder(struct check *check, const char *folder) {
    struct golden_case golden;
    int result = golden_case_read(folder, &golden);
    golden.job.spec.angles = (rope2d_angles)check->angles;
    if (result) {
        print_plain("FAIL %-24s cannot be read\n", golden.name);
        ++check->failed;
        worsen(check, result);
    } else {
        check_devices(check, folder, &golden);
    }
    golden_case_free(&golden);
}

static int open_devices(struct check *check) {
    uint32_t flags = check->minimum_limits ? ROPE2D_DEVICE_MINIMUM_LIMITS : 0;
    struct device_list portable = {0};
    int result = devices_choose("cpu", true, &portable);
    const struct device_choice *choice;
    if (!result)
        result = device_open(&portable, false, ROPE2D_DEVICE_PORTABLE, &check->portable, &choice);
    devices_free(&portable);
    if (!result)
        result = devices_choose(check->device, false, &check->list);
    check->devices = calloc(check->list.count + 1, sizeof(rope2d_device *));
    if (!result && !check->devices)
        return no_memory();
    for (size_t i = 0; i < check->list.count && !result; ++i) {
        struct device_list one = {.items = &check->list.items[i], .count = 1, .cache = check->cache};
        int opened = device_open(&one, false, flags, &check->devices[i], &choice);
        if (opened) {
            printf("FAIL %-24s %-9s does not open\n", "", check->list.items[i].name);
            ++check->failed;
            worsen(check, opened);
        } else {
            print_plain("     %-24s %-9s %s\n", "", check->list.items[i].name,
                        check->list.items[i].info.name);
        }
    }
    return result;
}

static void close_devices(struct check *check) {
    for (size_t i = 0; check->devices && i < check->list.count; ++i)
        rope2d_device_destroy(check->devices[i]);
    rope2d_device_destroy(check->portable);
    free(check->devices);
    devices_free(&check->list);
}

static int check_all(struct check *check, const struct folders *folders) {
    int result = open_devices(check);
    if (!result) {
        for (size_t i = 0; i < folders->count; ++i)
            check_folder(check, folders->paths[i]);
        printf("%u passed, %u failed, %u skipped\n", check->passed, check->failed, check->skipped);
        result = check->result;
        if (!result && !check->passed) {
            message("nothing was checked: every case was skipped");
            result = STATUS_FAILED;
        }
    }
    close_devices(check);
    return result;
}

static int run(int argc, char **argv) {
    static const char *const angles_names[] = {"double", "fp32", NULL};
    struct check check = {.device = "cpu", .angles = ROPE2D_ANGLES_FP32};
    const struct option options[] = {
        {"device", "DEVICE[,DEVICE...]",
         "all for every device found, or cpu, vulkan:0,\nopencl:1, ...; default cpu", .text = &check.device},
        {"table", "auto|buffer|texture",
         "where the cosines and sines lie; default auto:\nas each device prefers", .choice = &check.table,
         .choices = table_names},
        {"tables", NULL, "both kinds in turn, where the device has textures", .flag = &check.both_tables},
        {"angles", "double|fp32", "how angles are formed; default fp32, as most models\ndo",
         .choice = &check.angles, .choices = angles_names},
        {"cache", "FOLDER", "keep what drivers compile there, for the next time; must\nbe yours alone",
         .text = &check.cache},
        {"minimum-limits", NULL, "keep to the limits that the API guarantees everywhere",
         .flag = &check.minimum_limits},
        {0},
    };
    int operands;
    enum options_result parsed = options_parse(&verb_check, options, argc, argv, &operands);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    if (!operands) {
        message("rope2d check needs a FOLDER, which is a case or holds cases");
        return STATUS_USAGE;
    }
    struct folders folders = {0};
    int result = STATUS_OK;
    for (int i = 0; i < operands && !result; ++i)
        result = find_cases(argv[i], &folders);
    if (!result)
        result = check_all(&check, &folders);
    free_folders(&folders);
    return result;
}

const struct verb verb_check = {
    .name = "check",
    .usage = "FOLDER... [OPTIONS]",
    .summary = "compare with what models' own code returned",
    .description = "A FOLDER is a case, or holds cases, in the form that tests/golden/README.md describes: "
                   "q, k, frequencies\n"
                   "and positions as .npy, what the model's code made of them, and case.json. Each case is "
                   "rotated on each\n"
                   "device and compared with the recorded output within the case's own tolerance; channels "
                   "and tokens that do\n"
                   "not turn must keep their bits; and on devices that are exact every bit must be the "
                   "CPU's. One line for\n"
                   "each case and device, after a failure the line that repeats it, and last N passed, N "
                   "failed, N skipped.",
    .run = run,
};

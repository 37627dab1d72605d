// SPDX-License-Identifier: MIT
//
// What the host is: its caches and its memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static const uint64_t DEFAULT_CORE_CACHE = (uint64_t)1 << 20, DEFAULT_LAST_CACHE = (uint64_t)32 << 20;

// The first line of a file of Linux's, or nothing.
static bool read_line(const char *path, char *line, size_t size) {
    FILE *file = fopen(path, "r");
    bool found = file && fgets(line, (int)size, file);
    if (file)
        (void)fclose(file);
    return found;
}

static void read_caches(struct bench_machine *machine) {
    for (int index = 0; index < 8; ++index) {
        char path[96], level[16], size[32], type[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", index);
        bool found = read_line(path, level, sizeof level);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        found = found && read_line(path, size, sizeof size);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", index);
        if (!found || !read_line(path, type, sizeof type) || strncmp(type, "Instruction", 11) == 0)
            continue;
        char *unit = NULL;
        uint64_t bytes = strtoull(size, &unit, 10);
        bytes <<= *unit == 'M' ? 20 : 10;
        if (*level == '2')
            machine->core_cache = bytes;
        if (bytes > machine->last_cache)
            machine->last_cache = bytes;
    }
}

static void read_memory(struct bench_machine *machine) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    machine->memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)4 << 30;
    machine->free_memory = machine->memory / 2;
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "MemAvailable:", 13) == 0)
            machine->free_memory = strtoull(line + 13, NULL, 10) << 10;
    if (file)
        (void)fclose(file);
}

void bench_machine_read(struct bench_machine *machine) {
    *machine = (struct bench_machine){0};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    machine->processors = processors > 0 ? (uint32_t)processors : 1;
    read_caches(machine);
    read_memory(machine);
    if (!machine->core_cache)
        machine->core_cache = DEFAULT_CORE_CACHE;
    if (machine->last_cache < machine->core_cache)
        machine->last_cache = DEFAULT_LAST_CACHE;
    rope2d_device_info cpu = {.struct_size = sizeof cpu};
    uint32_t count = 1;
    if (rope2d_enumerate(ROPE2D_BACKEND_CPU, NULL, &count, &cpu) == ROPE2D_OK)
        snprintf(machine->name, sizeof machine->name, "%.120s", cpu.name);
}

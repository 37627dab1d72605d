// SPDX-License-Identifier: MIT
//
// From what stands after --device to devices.
#ifndef ROPE2D_CLI_DEVICE_CHOICE_H
#define ROPE2D_CLI_DEVICE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rope2d/rope2d.h"

struct device_choice {
    rope2d_device_info info;
    char name[24];   // "vulkan:0", as --device takes it
    const char *why; // for "auto": the reason to take this one
};

// All zero is an empty list.
struct device_list {
    struct device_choice *items;
    size_t count;
    char missing[ROPE2D_BACKEND_COUNT][256]; // why a backend cannot be used; empty when it can
    const char *cache;                       // the folder for what drivers compile; NULL: none
};

extern const char *const backend_names[]; // "cpu", "vulkan", "opencl", NULL

// Whether `text`, as it stands after --device, names a device of the backend, as "auto" and "all" do of each.
bool devices_name(const char *text, rope2d_backend backend);
// Every device of the backends that `text` names. No other driver is loaded: some take half a second, and one
// may be broken. A backend that is missing is not a failure. Returns an exit status.
int devices_find_named(const char *text, struct device_list *list);
// Every device of one backend.
int devices_find_of(rope2d_backend backend, struct device_list *list);

// The devices that `text` names: "cpu", "vulkan:1", "all", or several with commas between; with `is_one` but
// one of them, or "auto", which gives every candidate, the best first. Returns an exit status, and says on
// stderr what is wrong.
int devices_choose(const char *text, bool is_one, struct device_list *list);
// The same among devices that were found before.
int devices_choose_among(const struct device_list *found, const char *text, bool is_one,
                         struct device_list *list);
void devices_free(struct device_list *list);

// Opens the device, or the first that opens of the candidates of "auto", and for "auto" says on stderr which
// and why. *choice receives which it was. Returns an exit status.
int device_open(const struct device_list *list, bool is_auto, uint32_t flags, rope2d_device **device,
                const struct device_choice **choice);

#endif

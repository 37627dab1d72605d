// SPDX-License-Identifier: MIT
//
// The devices of this machine, listed by a process for each backend: a driver that crashes when it is asked
// hides no other.
#ifndef ROPE2D_VERIFY_LISTING_H
#define ROPE2D_VERIFY_LISTING_H

#include "../cli/device_choice.h"

struct listing {
    struct device_list devices;           // names, drivers and whether there are textures; no limits
    bool is_broken[ROPE2D_BACKEND_COUNT]; // its process crashed or hung: `missing` tells how
};

// Of the backends that `device`, as --device has it, names. Returns an exit status, having said what is
// wrong. devices_free frees the list. Without a program it lists all, in this process.
int listing_make(const char *program, double seconds, const char *device, struct listing *listing);

// The child's side: one line of JSON for each device to the descriptor. Returns an exit status.
int listing_child(rope2d_backend backend);

#endif

// SPDX-License-Identifier: MIT
#include "case_rooms.h"

#include <stddef.h>
#include <string.h>

// Which types a case is tried with follows from its index: the order of the rooms is part of what was
// recorded.
static const struct harness_case_room *const rooms[] = {
    &harness_layouts_cases,
    &harness_positions_cases,
    &harness_specs_cases,
};

const struct harness_case *harness_case_at(uint32_t index) {
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        if (index < rooms[i]->count)
            return &rooms[i]->cases[index];
        index -= rooms[i]->count;
    }
    return NULL;
}

const struct harness_case *harness_case_find(const char *name) {
    const struct harness_case *found;
    for (uint32_t i = 0; (found = harness_case_at(i)) != NULL; i++)
        if (strcmp(found->name, name) == 0)
            return found;
    return NULL;
}

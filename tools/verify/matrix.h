// SPDX-License-Identifier: MIT
//
// What `rope2d verify` runs on a device: cases x element types x kinds of table x variations, in an order
// that depends on nothing but the level, so that a number means the same task in every process.
#ifndef ROPE2D_VERIFY_MATRIX_H
#define ROPE2D_VERIFY_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "../../tests/harness/work.h"

enum verify_level { VERIFY_QUICK, VERIFY_USUAL, VERIFY_FULL, VERIFY_LEVELS };
extern const char *const verify_level_names[]; // "quick", "usual", "full", NULL

enum verify_variation {
    VERIFY_PLAIN,
    VERIFY_MINIMUM_LIMITS,  // the device's limits clamped, so that work is split
    VERIFY_BEFORE_BOUNDARY, // tensors begin one element before a multiple of the device's offset alignment
    VERIFY_BEHIND_BOUNDARY, // and one behind
    VERIFY_BOUND_AT,        // in the caller's buffers: tensors begin at an odd multiple of the device's own
                            // alignment
    VERIFY_BOUND_BESIDE,    // and one element behind, or before the next
    VERIFY_VARIATIONS
};

enum {
    VERIFY_NAME_SIZE = 128,
    VERIFY_FOLDER_LENGTH = 80,    // of a golden folder's name in that of its tasks
    VERIFY_LEAST_ALIGNMENT = 256, // of offsets: what Vulkan lets a device ask for
};

struct verify_task {
    const struct harness_case *what; // NULL: a golden case
    const char *folder;              // of a golden case
    struct harness_types types;
    rope2d_table table;
    enum verify_variation variation;
    int control;                   // which of verify_controls; -1: a case
    bool is_huge;                  // one dispatch, whose workgroups are many
    char name[VERIFY_NAME_SIZE];   // "half f16:f32 texture", and the variation
    char hashed[VERIFY_NAME_SIZE]; // what its output bits depend on: "half f16:f32"
};

struct verify_presets; // preset_cases.h

struct verify_matrix {
    struct verify_task *tasks;
    size_t count, capacity;
    struct harness_case *moved; // copies of cases with other offsets
    size_t moved_count;
    struct verify_presets *presets;
    char **folders;
    size_t folder_count;
};

struct verify_matrix_params {
    enum verify_level level;
    bool has_textures; // of the device
    bool has_bindings; // and whether it takes buffers of a caller's
    bool is_program;   // the device is a program: what a folder can say
    const char *cases; // a folder of golden cases; NULL: none
};

// All tasks. Returns an exit status, having said what is wrong. verify_matrix_free takes it in any state.
int verify_matrix_make(struct verify_matrix *matrix, const struct verify_matrix_params *params);
void verify_matrix_free(struct verify_matrix *matrix);

extern const char *const verify_type_names[];      // of rope2d_element
extern const char *const verify_table_names[];     // of rope2d_table
extern const char *const verify_variation_names[]; // with the space before; that of VERIFY_PLAIN is empty

// Whether a name is matched by one of the patterns, which have commas between; * stands for any text. A
// pattern without * and without a space names a case whatever its types and table.
bool verify_name_matches(const char *name, const char *patterns);

// Refuses patterns of which one names no case of any level on any device; the folder is that of golden cases.
// Returns an exit status, having said what is wrong.
int verify_check_patterns(const char *patterns, const char *folder);

#endif

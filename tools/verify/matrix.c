// SPDX-License-Identifier: MIT
#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tests/harness/digest.h"
#include "../cli/message.h"
#include "bound.h"
#include "controls.h"
#include "escape.h"
#include "exchange.h"
#include "folder.h"
#include "preset_cases.h"

const char *const verify_level_names[] = {"quick", "usual", "full", NULL};
const char *const verify_type_names[ROPE2D_ELEMENT_COUNT] = {"f32", "f16", "bf16"};
const char *const verify_table_names[ROPE2D_TABLE_COUNT] = {"auto", "buffer", "texture"};

const char *const verify_variation_names[VERIFY_VARIATIONS] = {"",
                                                               " minimum-limits",
                                                               " before-boundary",
                                                               " behind-boundary",
                                                               " bound-at-alignment",
                                                               " bound-beside-alignment"};

struct builder {
    struct verify_matrix *matrix;
    enum verify_level level;
    bool has_textures, has_bindings, is_program;
    bool good;
};

static struct verify_task *append(struct builder *builder) {
    struct verify_matrix *matrix = builder->matrix;
    if (matrix->count == matrix->capacity) {
        size_t capacity = matrix->capacity ? 2 * matrix->capacity : 256;
        struct verify_task *tasks = realloc(matrix->tasks, capacity * sizeof *tasks);
        if (!tasks) {
            builder->good = false;
            return NULL;
        }
        matrix->tasks = tasks;
        matrix->capacity = capacity;
    }
    return &matrix->tasks[matrix->count++];
}

// The case with its tensors moved to just beside a boundary; the copies do not move in memory.
static const struct harness_case *move_case(struct builder *builder, const struct harness_case *what,
                                            struct harness_types types, enum verify_variation variation) {
    struct harness_case *moved = &builder->matrix->moved[builder->matrix->moved_count++];
    uint32_t sizes[2] = {rope2d_element_size(types.in), rope2d_element_size(types.out)};
    struct harness_layout *layouts[2] = {&moved->in, &moved->out};
    *moved = *what;
    for (size_t i = 0; i < 2; ++i) {
        layouts[i]->skew = 0;
        layouts[i]->offset = VERIFY_LEAST_ALIGNMENT / sizes[i];
        if (variation == VERIFY_BEFORE_BOUNDARY)
            --layouts[i]->offset;
        else
            ++layouts[i]->offset;
    }
    return moved;
}

static void add(struct builder *builder, const struct harness_case *what, struct harness_types types,
                rope2d_table table, enum verify_variation variation) {
    if (builder->is_program && (variation || types.in || types.out || !exchange_can(what)))
        return;
    if (table == ROPE2D_TABLE_TEXTURE && !builder->has_textures)
        table = ROPE2D_TABLE_BUFFER;
    struct verify_task *task = append(builder);
    if (!task)
        return;
    *task = (struct verify_task){.what = what,
                                 .types = types,
                                 .table = table,
                                 .variation = variation,
                                 .control = -1,
                                 .is_huge = (what->flags & HARNESS_HUGE) != 0 && !variation};
    snprintf(task->hashed, sizeof task->hashed, "%.80s %s:%s", what->name, verify_type_names[types.in],
             verify_type_names[types.out]);
    snprintf(task->name, sizeof task->name, "%.100s %s%s", task->hashed, verify_table_names[table],
             verify_variation_names[variation]);
    if (variation == VERIFY_BEFORE_BOUNDARY || variation == VERIFY_BEHIND_BOUNDARY)
        task->what = move_case(builder, what, types, variation);
}

static rope2d_table table_in_turn(uint32_t turn) {
    return turn % 2 ? ROPE2D_TABLE_TEXTURE : ROPE2D_TABLE_BUFFER;
}

// One of the six changes of type for each case, as tests/expected.sha256 has them.
static bool is_in_turn(struct harness_types types, uint32_t index) {
    uint32_t change = 2u * (uint32_t)types.in + ((uint32_t)types.out + 2u - (uint32_t)types.in) % 3u;
    return index % 6u == change;
}

static bool wants_types(const struct builder *builder, const struct harness_case *what,
                        struct harness_types types, uint32_t index) {
    bool same = types.in == types.out, all = (what->flags & HARNESS_ALL_TYPES) != 0;
    if ((what->flags & HARNESS_IN_PLACE) != 0 && !same)
        return false;
    if ((what->flags & HARNESS_HUGE) != 0)
        return types.in == ROPE2D_F16 && same;
    if (builder->level == VERIFY_QUICK)
        return same && (types.in != ROPE2D_BF16 || all);
    return same || all || builder->level == VERIFY_FULL || is_in_turn(types, index);
}

static bool wants_variation(const struct builder *builder, const struct harness_case *what,
                            struct harness_types types, uint32_t index, enum verify_variation variation) {
    bool is_huge = (what->flags & HARNESS_HUGE) != 0, many = (what->flags & HARNESS_ALL_TYPES) != 0;
    bool in_turn = (uint32_t)types.in == index % ROPE2D_ELEMENT_COUNT;
    if (types.in != types.out || is_huge)
        return false;
    if (variation >= VERIFY_BOUND_AT && (!builder->has_bindings || !bound_can(what)))
        return false;
    if (builder->level == VERIFY_FULL)
        return true;
    if (variation == VERIFY_MINIMUM_LIMITS)
        return in_turn;
    return in_turn && many;
}

static void add_types(struct builder *builder, const struct harness_case *what, struct harness_types types,
                      uint32_t index) {
    bool both = (what->flags & HARNESS_ALL_TYPES) != 0 || builder->level == VERIFY_FULL;
    uint32_t turn = index + (uint32_t)types.in;
    if (both && builder->has_textures) {
        add(builder, what, types, ROPE2D_TABLE_BUFFER, VERIFY_PLAIN);
        add(builder, what, types, ROPE2D_TABLE_TEXTURE, VERIFY_PLAIN);
    } else {
        add(builder, what, types, table_in_turn(turn), VERIFY_PLAIN);
    }
    for (int i = VERIFY_MINIMUM_LIMITS; i < VERIFY_VARIATIONS; ++i)
        if (wants_variation(builder, what, types, index, (enum verify_variation)i))
            add(builder, what, types, table_in_turn(turn + (uint32_t)i), (enum verify_variation)i);
}

static void add_cases(struct builder *builder) {
    const struct harness_case *what;
    for (uint32_t i = 0; (what = harness_case_at(i)) != NULL; ++i) {
        if (builder->level == VERIFY_QUICK && (what->flags & HARNESS_QUICK) == 0)
            continue;
        for (int in = 0; in < ROPE2D_ELEMENT_COUNT; ++in)
            for (int out = 0; out < ROPE2D_ELEMENT_COUNT; ++out) {
                struct harness_types types = {(rope2d_element)in, (rope2d_element)out};
                if (wants_types(builder, what, types, i))
                    add_types(builder, what, types, i);
            }
    }
}

// Presets come in one type and one table in turn, and in all that do not change the type.
static void add_presets(struct builder *builder) {
    const struct harness_case *what;
    for (uint32_t i = 0; (what = verify_preset_case(builder->matrix->presets, i)) != NULL; ++i)
        for (int type = 0; type < ROPE2D_ELEMENT_COUNT; ++type) {
            struct harness_types types = {(rope2d_element)type, (rope2d_element)type};
            if (builder->level != VERIFY_FULL && !builder->is_program &&
                (uint32_t)type != i % ROPE2D_ELEMENT_COUNT)
                continue;
            if (builder->level == VERIFY_FULL && builder->has_textures)
                add(builder, what, types, ROPE2D_TABLE_BUFFER, VERIFY_PLAIN);
            add(builder, what, types,
                builder->level == VERIFY_FULL ? ROPE2D_TABLE_TEXTURE : table_in_turn(i / 3), VERIFY_PLAIN);
        }
}

static void add_controls(struct builder *builder) {
    for (int i = 0; verify_controls[i].name; ++i) {
        const struct harness_case *what = harness_case_find(verify_controls[i].on);
        const struct harness_types types = {ROPE2D_F32, ROPE2D_F32};
        if (builder->is_program && !verify_controls[i].by_program)
            continue;
        add(builder, what, types, ROPE2D_TABLE_BUFFER, VERIFY_PLAIN);
        if (!builder->good)
            return;
        struct verify_task *task = &builder->matrix->tasks[builder->matrix->count - 1];
        task->control = i;
        task->hashed[0] = '\0';
        snprintf(task->name, sizeof task->name, "control: %s", verify_controls[i].name);
    }
}

// What JSON cannot hold, or is too long, is named with a hash of the whole behind a ~. So is what has a ~ of
// its own: no two folders have one name.
static void name_golden(const char *folder, char name[VERIFY_NAME_SIZE]) {
    static const char before[] = "golden/";
    char hex[65];
    snprintf(name, VERIFY_NAME_SIZE, "%s%.*s", before, (int)VERIFY_FOLDER_LENGTH, folder);
    escape_utf8(name);
    if (strcmp(name + strlen(before), folder) == 0 && !strchr(folder, '~'))
        return;
    rope2d_sha256 sha;
    rope2d_sha256_begin(&sha);
    rope2d_sha256_add(&sha, folder, strlen(folder));
    digest_end(&sha, hex);
    const size_t used = strlen(name);
    snprintf(name + used, VERIFY_NAME_SIZE - used, "~%.16s", hex);
}

static void add_golden(struct builder *builder) {
    const struct verify_matrix *matrix = builder->matrix;
    for (size_t i = 0; i < matrix->folder_count; ++i)
        for (int table = ROPE2D_TABLE_BUFFER; table <= (builder->has_textures ? 2 : 1); ++table) {
            struct verify_task *task = append(builder);
            if (!task)
                return;
            *task = (struct verify_task){
                .folder = matrix->folders[i], .table = (rope2d_table)table, .control = -1};
            name_golden(folder_name(matrix->folders[i]), task->name);
            const size_t used = strlen(task->name);
            snprintf(task->name + used, sizeof task->name - used, " f32:f32 %s", verify_table_names[table]);
        }
}

int verify_matrix_make(struct verify_matrix *matrix, const struct verify_matrix_params *params) {
    struct builder builder = {.matrix = matrix,
                              .level = params->level,
                              .has_textures = params->has_textures,
                              .has_bindings = params->has_bindings,
                              .is_program = params->is_program,
                              .good = true};
    uint32_t cases = 0;
    *matrix = (struct verify_matrix){0};
    int result =
        params->cases ? folder_find_cases(params->cases, &matrix->folders, &matrix->folder_count) : STATUS_OK;
    if (result)
        return result;
    while (harness_case_at(cases))
        ++cases;
    // At most two boundaries for each case and pair of types.
    matrix->moved = calloc((size_t)cases * 2 * ROPE2D_ELEMENT_COUNT, sizeof *matrix->moved);
    matrix->presets = verify_presets_make();
    builder.good = matrix->moved && matrix->presets;
    if (builder.good) {
        add_controls(&builder);
        add_cases(&builder);
        add_presets(&builder);
        add_golden(&builder);
    }
    if (!builder.good)
        message("no memory for the list of cases");
    return builder.good ? STATUS_OK : STATUS_DEVICE;
}

void verify_matrix_free(struct verify_matrix *matrix) {
    folder_free_cases(matrix->folders, matrix->folder_count);
    verify_presets_free(matrix->presets);
    free(matrix->moved);
    free(matrix->tasks);
    *matrix = (struct verify_matrix){0};
}

// After a mismatch only the last * is tried again, one further: what stands before it matched as early as it
// can.
static bool matches(const char *name, const char *pattern, size_t length) {
    const char *end = pattern + length, *behind_star = NULL, *tried = name;
    while (*name) {
        if (pattern < end && *pattern == '*') {
            behind_star = ++pattern;
            tried = name;
        } else if (pattern < end && *pattern == *name) {
            ++pattern;
            ++name;
        } else if (behind_star) {
            pattern = behind_star;
            name = ++tried;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        ++pattern;
    return pattern == end;
}

bool verify_name_matches(const char *name, const char *patterns) {
    while (*patterns) {
        size_t length = strcspn(patterns, ",");
        bool is_case = !memchr(patterns, '*', length) && !memchr(patterns, ' ', length);
        if (is_case && strncmp(name, patterns, length) == 0 && (!name[length] || name[length] == ' '))
            return true;
        if (matches(name, patterns, length))
            return true;
        patterns += length;
        patterns += *patterns == ',';
    }
    return false;
}

static bool names_a_case(const struct verify_matrix *matrix, const char *pattern) {
    for (size_t i = 0; i < matrix->count; ++i)
        if (matrix->tasks[i].control < 0 && verify_name_matches(matrix->tasks[i].name, pattern))
            return true;
    return false;
}

// Each for itself: one that is spelled wrong is no less wrong beside others.
static int check_each(const struct verify_matrix *matrices, const char *patterns) {
    char *list = malloc(strlen(patterns) + 1), *pattern = list, *end;
    int result = STATUS_OK;
    if (!list) {
        message("no memory for --case");
        return STATUS_DEVICE;
    }
    memcpy(list, patterns, strlen(patterns) + 1);
    for (; pattern && !result; pattern = end) {
        end = strchr(pattern, ',');
        if (end)
            *end++ = '\0';
        if (!names_a_case(&matrices[0], pattern) && !names_a_case(&matrices[1], pattern)) {
            message("--case %s: matches no case", pattern);
            result = STATUS_USAGE;
        }
    }
    free(list);
    return result;
}

int verify_check_patterns(const char *patterns, const char *folder) {
    struct verify_matrix matrices[2] = {{0}};
    int result = STATUS_OK;
    // With textures what lies in a buffer without may lie in a texture, under another name.
    for (int i = 0; i < 2 && !result; ++i) {
        const struct verify_matrix_params params = {VERIFY_FULL, i != 0, true, false, folder};
        result = verify_matrix_make(&matrices[i], &params);
    }
    if (!result)
        result = check_each(matrices, patterns);
    for (int i = 0; i < 2; ++i)
        verify_matrix_free(&matrices[i]);
    return result;
}

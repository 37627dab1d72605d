// SPDX-License-Identifier: MIT
#include "rope2d_table.h"

#include "src/backend.h"

#include <string.h>

static rope2d_status positions_create(rope2d_positions *positions) {
    (void)positions;
    return ROPE2D_OK;
}

static void positions_destroy(rope2d_positions *positions) {
    (void)positions;
}

static const rope2d_backend_ops nothing_else = {
    .name = "table builder",
    .positions_create = positions_create,
    .positions_destroy = positions_destroy,
};

rope2d_status rope2d_table_builder_create(const rope2d_host *host, rope2d_device **builder) {
    if (builder == NULL)
        return ROPE2D_ERROR_NULL;
    *builder = NULL;
    const rope2d_status status = rope2d_host_check(host);
    if (status != ROPE2D_OK)
        return status;
    const rope2d_host resolved = rope2d_host_resolve(host);
    rope2d_device *made = rope2d_allocate(&resolved, 1, sizeof(*made));
    if (made == NULL)
        return rope2d_fail(&resolved, ROPE2D_ERROR_HOST_MEMORY, "no memory for a table builder");
    made->host = resolved;
    made->ops = &nothing_else;
    made->info.has_textures = 1; // the caller lays the table out as it likes
    made->info.default_table = ROPE2D_TABLE_BUFFER;
    memcpy(made->info.name, "table builder", sizeof("table builder"));
    *builder = made;
    return ROPE2D_OK;
}

void rope2d_table_builder_destroy(rope2d_device *builder) {
    if (builder == NULL)
        return;
    const rope2d_host host = builder->host;
    rope2d_release(&host, builder, 1, sizeof(*builder));
}

rope2d_status rope2d_table_units(const rope2d_device *builder, const rope2d_spec *spec, int is_wide,
                                 rope2d_table_unit_list *units) {
    if (builder == NULL)
        return ROPE2D_ERROR_NULL;
    if (spec == NULL || units == NULL)
        return rope2d_fail(&builder->host, ROPE2D_ERROR_NULL, "%s is NULL", spec == NULL ? "spec" : "units");
    rope2d_pattern pattern;
    memset(&pattern, 0, sizeof(pattern));
    memset(units, 0, sizeof(*units));
    const rope2d_status status = rope2d_pattern_create(&pattern, spec, &builder->host);
    if (status == ROPE2D_OK) {
        const rope2d_units *found = is_wide ? &pattern.wide : &pattern.single;
        if (found->count > 0)
            memcpy(units->words, found->words, found->count * sizeof(*found->words));
        units->count = found->count;
        units->pair_units = found->pairs;
    }
    rope2d_pattern_destroy(&pattern, &builder->host);
    return status;
}

// SPDX-License-Identifier: MIT
#include "structs.h"

#include <string.h>

enum { MOST_ENTRIES = 1 << 13 }; // of a table

unsigned structs_enum(struct reader *reader, unsigned count) {
    const uint8_t byte = reader_byte(reader);
    return byte < 250 ? byte % count : byte == 250 ? count : (unsigned)reader_number(reader);
}

uint64_t structs_pairs(const rope2d_spec *spec) {
    if (spec->pairing == ROPE2D_PAIRING_EXPLICIT)
        return spec->pairs;
    return (spec->rotary_dim ? spec->rotary_dim : (uint64_t)spec->head_dim - spec->rotary_begin) / 2;
}

static uint32_t *channels(struct reader *reader, uint64_t count, uint32_t step, uint32_t first) {
    if (reader_one_in(reader, 32) || count > ROPE2D_MAX_HEAD_DIM)
        return NULL;
    uint32_t *list = reader_block(reader, count * sizeof *list);
    const bool is_sound = !reader_one_in(reader, 16);
    for (uint64_t i = 0; list && i < count; i++)
        list[i] = is_sound ? (uint32_t)i * step + first : (uint32_t)reader_number(reader);
    return list;
}

static void choose_pairs(struct reader *reader, rope2d_spec *spec) {
    if (spec->pairing == ROPE2D_PAIRING_EXPLICIT) {
        spec->pairs = reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : spec->head_dim / 2;
        spec->pair_lo = channels(reader, spec->pairs, 2, 0);
        spec->pair_hi = channels(reader, spec->pairs, 2, 1);
    } else if (reader_one_in(reader, 16)) {
        spec->pairs = (uint32_t)reader_number(reader);
    }
    if (spec->pairing != ROPE2D_PAIRING_SEGMENT_HALF || reader_one_in(reader, 4))
        return;
    for (uint32_t a = 0; a < ROPE2D_MAX_AXES; a++)
        spec->segment_pairs[a] = (uint32_t)reader_number(reader);
}

rope2d_spec structs_spec(struct reader *reader) {
    rope2d_spec spec;
    memset(&spec, 0, sizeof spec);
    const uint8_t kind = reader_byte(reader);
    spec.struct_size = reader_struct_size(reader, sizeof spec);
    spec.head_dim = kind < 224 ? (kind % 16 + 1) * 4u : (uint32_t)reader_number(reader);
    spec.axes = kind & 1                    ? 2
                : reader_one_in(reader, 16) ? (uint32_t)reader_number(reader)
                                            : reader_below(reader, 4) + 1;
    spec.pairing = (rope2d_pairing)structs_enum(reader, ROPE2D_PAIRING_COUNT);
    spec.direction = (rope2d_direction)structs_enum(reader, ROPE2D_DIRECTION_COUNT);
    spec.angles = (rope2d_angles)structs_enum(reader, ROPE2D_ANGLES_COUNT);
    if (reader_one_in(reader, 4))
        spec.rotary_begin = (uint32_t)reader_number(reader);
    if (reader_one_in(reader, 4))
        spec.rotary_dim = (uint32_t)reader_number(reader);
    choose_pairs(reader, &spec);
    if (reader_one_in(reader, 4))
        spec.freq_heads = (uint32_t)reader_number(reader);
    if (reader_one_in(reader, 4))
        spec.magnitude = reader_float(reader);
    spec.factored = reader_one_in(reader, 8) ? (uint32_t)reader_number(reader) : reader_below(reader, 2);
    const uint64_t heads = spec.freq_heads ? spec.freq_heads : 1;
    const uint64_t axes = spec.axes <= ROPE2D_MAX_AXES ? spec.axes : 0;
    const uint64_t pairs = structs_pairs(&spec) <= ROPE2D_MAX_HEAD_DIM ? structs_pairs(&spec) : 0;
    spec.freqs = reader_floats_or_null(reader, axes * heads * pairs);
    if (reader_one_in(reader, 4))
        spec.freqs_hi = reader_floats_or_null(reader, axes * heads * pairs);
    return spec;
}

static int32_t *row_numbers(struct reader *reader, uint64_t count, uint32_t bound) {
    int32_t *rows = reader_block_or_null(reader, count * sizeof *rows);
    const bool is_sound = !reader_one_in(reader, 8);
    for (uint64_t i = 0; rows && is_sound && i < count; i++)
        rows[i] = (int32_t)((uint32_t)rows[i] % (bound + 2)) - 1; // one of them may be past the end
    return rows;
}

static void give_rows(struct reader *reader, const rope2d_spec *spec, rope2d_positions_params *params) {
    const bool is_axial = rope2d_spec_is_axial(spec) != 0;
    const uint64_t batch = params->batch ? params->batch : 1;
    const uint32_t axes = is_axial ? spec->axes : 1;
    uint32_t bound = 0;
    for (uint32_t a = 0; a < ROPE2D_MAX_AXES; a++) {
        params->list_counts[a] =
            reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : reader_below(reader, 8) + 1;
        const uint64_t width = is_axial || spec->axes > ROPE2D_MAX_AXES ? 1 : spec->axes;
        params->lists[a] = reader_floats_or_null(reader, params->list_counts[a] * width);
        bound = params->list_counts[a];
    }
    params->rows = row_numbers(reader, batch * params->tokens * axes, bound % 64);
}

static rope2d_range *ranges(struct reader *reader, uint64_t tokens, uint32_t *count) {
    *count = reader_one_in(reader, 4) ? (uint32_t)reader_number(reader) : 0;
    rope2d_range *list = *count <= 64 ? reader_block_or_null(reader, *count * sizeof *list) : NULL;
    for (uint32_t i = 0; list && i < *count; i++) {
        list[i].begin = reader_number(reader) % (tokens + 2);
        list[i].end = list[i].begin + reader_number(reader);
    }
    if (!list)
        *count = reader_one_in(reader, 2) ? 0 : *count;
    return list;
}

rope2d_positions_params structs_positions(struct reader *reader, const rope2d_spec *spec,
                                          const rope2d_positions *grown_from) {
    rope2d_positions_params params;
    memset(&params, 0, sizeof params);
    params.struct_size = reader_struct_size(reader, sizeof params);
    params.spec = reader_one_in(reader, 64) ? NULL : spec;
    params.table = (rope2d_table)structs_enum(reader, ROPE2D_TABLE_COUNT);
    params.tokens = reader_one_in(reader, 32) ? reader_number(reader) : reader_below(reader, 24);
    params.batch = reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : reader_below(reader, 3);
    params.grown_from = reader_one_in(reader, 4) ? grown_from : NULL;
    const uint64_t batch = params.batch ? params.batch : 1, pairs = structs_pairs(spec);
    const uint64_t heads = spec->freq_heads ? spec->freq_heads : 1;
    if (params.tokens &&
        (batch > MOST_ENTRIES / params.tokens ||
         (pairs && pairs <= UINT32_MAX && heads > MOST_ENTRIES / params.tokens / batch / pairs)))
        params.tokens = 1; // large tables take long, and teach nothing
    const uint64_t axes = spec->axes <= ROPE2D_MAX_AXES ? spec->axes : 0;
    if (reader_one_in(reader, 4))
        give_rows(reader, spec, &params);
    else
        params.coordinates = reader_floats_or_null(reader, batch * params.tokens * axes);
    if (reader_one_in(reader, 8) && pairs <= ROPE2D_MAX_HEAD_DIM)
        params.magnitudes = reader_floats_or_null(reader, batch * params.tokens * pairs);
    params.unrotated = ranges(reader, params.tokens, &params.unrotated_count);
    return params;
}

rope2d_plan_params structs_plan(struct reader *reader, const rope2d_spec *spec) {
    rope2d_plan_params params;
    memset(&params, 0, sizeof params);
    params.struct_size = reader_struct_size(reader, sizeof params);
    params.spec = reader_one_in(reader, 64) ? NULL : spec;
    params.in = (rope2d_element)structs_enum(reader, ROPE2D_ELEMENT_COUNT);
    params.out =
        reader_one_in(reader, 4) ? (rope2d_element)structs_enum(reader, ROPE2D_ELEMENT_COUNT) : params.in;
    params.table = (rope2d_table)structs_enum(reader, ROPE2D_TABLE_COUNT);
    params.flags = reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : ROPE2D_PLAN_NO_SELF_TEST;
    return params;
}

// ---------------------------------------------------------------------------------------------- tensors

struct room {
    void *base;
    uint64_t size;
};

static rope2d_view view(struct reader *reader, const struct room *rooms, rope2d_element element,
                        uint32_t batch, uint64_t tokens, uint32_t heads, uint32_t head_dim) {
    const struct room *room = &rooms[reader_below(reader, 3)];
    const uint8_t kind = reader_byte(reader);
    rope2d_view made =
        rope2d_view_contiguous(room->base, element, kind & 1 ? ROPE2D_LAYOUT_BHND : ROPE2D_LAYOUT_BNHD, batch,
                               tokens, heads, head_dim);
    made.size = kind < 240 ? room->size : reader_number(reader) % (room->size + 1);
    if (kind & 2)
        made.offset = reader_number(reader) * rope2d_element_size(element);
    if (kind & 4) {
        made.batch_stride = (int64_t)reader_number(reader);
        made.token_stride = (int64_t)reader_number(reader);
        made.head_stride = (int64_t)reader_number(reader);
    }
    if (kind & 8)
        made.token_stride = (int64_t)((uint64_t)made.token_stride + reader_number(reader));
    if (kind >= 252)
        made.base = NULL;
    else if (kind >= 248 && room->size > 8) { // not aligned
        made.base = (unsigned char *)room->base + 1;
        made.size = room->size - 1;
    }
    return made;
}

rope2d_apply_params structs_apply(struct reader *reader, const rope2d_plan *plan,
                                  const rope2d_positions *positions, uint32_t head_dim) {
    struct room rooms[3];
    rope2d_apply_params params;
    rope2d_plan_info info = {.struct_size = sizeof info};
    rope2d_positions_info where = {.struct_size = sizeof where};
    memset(&params, 0, sizeof params);
    (void)rope2d_plan_get_info(plan, &info);
    (void)rope2d_positions_get_info(positions, &where);
    for (size_t i = 0; i < 3; i++) {
        rooms[i].size = (reader_byte(reader) + 1) * 64u;
        rooms[i].base = reader_block(reader, rooms[i].size);
        if (!rooms[i].base)
            rooms[i].size = 0;
    }
    params.struct_size = reader_struct_size(reader, sizeof params);
    params.batch =
        where.batch > 1 && !reader_one_in(reader, 8) ? where.batch : (uint32_t)reader_number(reader) % 4;
    params.tokens = reader_one_in(reader, 8) ? reader_number(reader) : where.tokens;
    params.first_token = reader_one_in(reader, 8) ? reader_number(reader) : 0;
    params.tensor_count =
        reader_one_in(reader, 32) ? (uint32_t)reader_number(reader) : reader_below(reader, 3) + 1;
    rope2d_tensor *tensors = params.tensor_count <= ROPE2D_MAX_TENSORS + 1
                                 ? reader_block_or_null(reader, params.tensor_count * sizeof *tensors)
                                 : NULL;
    for (uint32_t i = 0; tensors && i < params.tensor_count; i++) {
        memset(&tensors[i], 0, sizeof tensors[i]);
        tensors[i].heads =
            reader_one_in(reader, 8) ? (uint32_t)reader_number(reader) : reader_below(reader, 3);
        tensors[i].in = view(reader, rooms, info.in, params.batch, params.tokens, tensors[i].heads, head_dim);
        if (reader_one_in(reader, 2))
            tensors[i].out =
                view(reader, rooms, info.out, params.batch, params.tokens, tensors[i].heads, head_dim);
    }
    if (!tensors && params.tensor_count > ROPE2D_MAX_TENSORS)
        params.tensor_count = ROPE2D_MAX_TENSORS + 1;
    params.tensors = tensors;
    return params;
}

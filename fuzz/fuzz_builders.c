// SPDX-License-Identifier: MIT
//
// rope2d_presets.h: presets by name, laws of scaling, coordinates of prompts, with structs that hold
// anything. What a preset makes goes into positions and a plan of the CPU.
#include "memory.h"
#include "structs.h"
#include "target.h"

#include "rope2d/rope2d_presets.h"

#include <string.h>

enum { MOST_TOKENS = 1 << 11 };

static rope2d_scaling scaling(struct reader *reader) {
    rope2d_scaling made;
    memset(&made, 0, sizeof made);
    if (!reader_one_in(reader, 4))
        return made;
    made.law = (rope2d_law)structs_enum(reader, ROPE2D_LAW_COUNT);
    double *numbers[] = {&made.base,       &made.factor,    &made.original_length,  &made.length,
                         &made.beta_fast,  &made.beta_slow, &made.attention_factor, &made.low_factor,
                         &made.high_factor};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = reader_double(reader);
    return made;
}

static void try_laws(struct reader *reader, const rope2d_host *host) {
    const rope2d_scaling law = scaling(reader);
    const uint32_t channels = reader_below(reader, 256) * (reader_one_in(reader, 16) ? 1 : 2);
    float *frequencies = reader_block_or_null(reader, channels / 2 * sizeof(float));
    float factor = 0;
    (void)rope2d_frequencies(reader_double(reader), channels, reader_one_in(reader, 8) ? NULL : &law, host,
                             frequencies, reader_one_in(reader, 2) ? &factor : NULL);
    const uint64_t tokens = reader_number(reader) % 128;
    const float *positions = reader_floats_or_null(reader, tokens);
    float *magnitudes = reader_block_or_null(reader, tokens * (channels / 2) * sizeof(float));
    (void)rope2d_xpos(positions, tokens, channels, reader_double(reader), reader_double(reader),
                      reader_byte(reader) & 1, host, magnitudes);
    float *points = reader_floats_or_null(reader, tokens * 2);
    (void)rope2d_keypoints(points, tokens, reader_double(reader), reader_double(reader), host, points);
}

static rope2d_axis axis(struct reader *reader) {
    rope2d_axis made;
    memset(&made, 0, sizeof made);
    made.counter = (rope2d_counter)structs_enum(reader, ROPE2D_COUNTER_COUNT);
    made.rule = (rope2d_rule)structs_enum(reader, ROPE2D_RULE_COUNT);
    made.normalise = (rope2d_normalise)structs_enum(reader, ROPE2D_NORMALISE_COUNT);
    made.offset = reader_double(reader);
    made.scale = reader_double(reader);
    made.reference = reader_double(reader);
    made.begin = reader_double(reader);
    made.end = reader_double(reader);
    made.is_whole = reader_byte(reader) & 1;
    made.is_fp32 = reader_byte(reader) & 1;
    return made;
}

static rope2d_segment segment(struct reader *reader) {
    rope2d_segment made;
    memset(&made, 0, sizeof made);
    made.kind = (rope2d_segment_kind)structs_enum(reader, ROPE2D_SEGMENT_COUNT);
    made.tokens = reader_number(reader);
    made.frames = (uint32_t)reader_number(reader) % 4;
    made.rows = (uint32_t)reader_number(reader);
    made.columns = (uint32_t)reader_number(reader);
    made.repeat = (uint32_t)reader_number(reader);
    made.order = (rope2d_order)structs_enum(reader, ROPE2D_ORDER_COUNT);
    made.merge = (uint32_t)reader_number(reader);
    made.window = (uint32_t)reader_number(reader);
    made.follows = reader_byte(reader) & 1;
    for (size_t a = 0; a < ROPE2D_MAX_AXES; a++) {
        made.axis[a] = axis(reader);
        made.origin[a] = reader_double(reader);
        made.step[a] = reader_double(reader);
    }
    return made;
}

// Arrays of exactly the counts, or fewer. False where they are too many to try.
static bool make_room(struct reader *reader, uint32_t axes, rope2d_tokens *tokens) {
    if (tokens->tokens > MOST_TOKENS || tokens->runs > MOST_TOKENS || axes > ROPE2D_MAX_AXES)
        return false;
    if (reader_one_in(reader, 8) && tokens->tokens > 0)
        tokens->tokens--;
    if (reader_one_in(reader, 8) && tokens->runs > 0)
        tokens->runs--;
    if (reader_one_in(reader, 8) && tokens->unrotated_count > 0)
        tokens->unrotated_count--;
    tokens->coordinates = reader_block_or_null(reader, tokens->tokens * axes * sizeof(float));
    tokens->order = reader_block_or_null(reader, tokens->tokens * sizeof(uint64_t));
    tokens->unrotated = reader_block_or_null(reader, tokens->unrotated_count * sizeof(rope2d_range));
    tokens->run_ends = reader_block_or_null(reader, (tokens->runs + 1) * sizeof(uint64_t));
    return true;
}

static void check_tokens(const rope2d_tokens *tokens) {
    for (uint32_t i = 0; tokens->unrotated && i < tokens->unrotated_count; i++)
        FUZZ_PROMISE(tokens->unrotated[i].begin < tokens->unrotated[i].end &&
                     tokens->unrotated[i].end <= tokens->tokens &&
                     (i == 0 || tokens->unrotated[i - 1].end <= tokens->unrotated[i].begin));
    if (tokens->run_ends)
        FUZZ_PROMISE(tokens->run_ends[0] == 0 && tokens->run_ends[tokens->runs] == tokens->tokens);
}

static void try_sequence(struct reader *reader, const rope2d_host *host) {
    const uint32_t count = reader_below(reader, 4);
    const uint32_t axes =
        reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : reader_below(reader, 4) + 1;
    rope2d_segment *segments = reader_block_or_null(reader, count * sizeof *segments);
    rope2d_tokens tokens = {.struct_size = reader_struct_size(reader, sizeof tokens)};
    for (uint32_t i = 0; segments && i < count; i++)
        segments[i] = segment(reader);
    if (rope2d_sequence(segments, count, axes, host, &tokens) == ROPE2D_OK &&
        make_room(reader, axes, &tokens) &&
        rope2d_sequence(segments, count, axes, host, &tokens) == ROPE2D_OK)
        check_tokens(&tokens);
    const rope2d_axis one = axis(reader);
    const uint32_t n = (uint32_t)reader_number(reader) % MOST_TOKENS;
    float *coordinates = reader_block_or_null(reader, n * sizeof(float));
    (void)rope2d_axis_coordinates(&one, n, (uint32_t)reader_number(reader), (uint32_t)reader_number(reader),
                                  host, coordinates);
}

static rope2d_preset_params preset_params(struct reader *reader, const char *name) {
    rope2d_preset_params made;
    memset(&made, 0, sizeof made);
    made.struct_size = reader_struct_size(reader, sizeof made);
    made.name = name;
    made.flags = reader_one_in(reader, 16) ? (uint32_t)reader_number(reader) : reader_below(reader, 2);
    uint32_t *numbers[] = {&made.head_dim, &made.rotary_dim, &made.heads};
    for (size_t i = 0; i < 3; i++)
        *numbers[i] = reader_one_in(reader, 4) ? (uint32_t)reader_number(reader) : 0;
    if (made.heads < 1 << 24) // more that have frequencies of their own take seconds, and teach nothing
        made.heads %= 1 << 8;
    double *doubles[] = {&made.base, &made.min_period, &made.max_period, &made.max_frequency};
    for (size_t i = 0; i < 4; i++)
        *doubles[i] = reader_one_in(reader, 4) ? reader_double(reader) : 0;
    for (size_t a = 0; a < ROPE2D_MAX_AXES; a++) {
        made.axis_pairs[a] = reader_one_in(reader, 8) ? (uint32_t)reader_number(reader) : 0;
        made.scaling[a] = scaling(reader);
    }
    return made;
}

static rope2d_prompt prompt(struct reader *reader) {
    rope2d_prompt made;
    memset(&made, 0, sizeof made);
    made.struct_size = reader_struct_size(reader, sizeof made);
    made.item_count = reader_below(reader, 4);
    made.normalise = (rope2d_normalise)structs_enum(reader, ROPE2D_NORMALISE_COUNT);
    made.merge = reader_one_in(reader, 4) ? (uint32_t)reader_number(reader) : 0;
    made.window = reader_one_in(reader, 4) ? (uint32_t)reader_number(reader) : 0;
    made.has_offset = reader_byte(reader) & 1;
    rope2d_item *items = reader_block_or_null(reader, made.item_count * sizeof *items);
    for (uint32_t i = 0; items && i < made.item_count; i++) {
        memset(&items[i], 0, sizeof items[i]);
        items[i].kind = (rope2d_item_kind)structs_enum(reader, ROPE2D_ITEM_COUNT);
        items[i].tokens = reader_number(reader);
        items[i].frames = (uint32_t)reader_number(reader);
        items[i].rows = (uint32_t)reader_number(reader);
        items[i].columns = (uint32_t)reader_number(reader);
        items[i].repeat = reader_one_in(reader, 4) ? (uint32_t)reader_number(reader) : 0;
        items[i].frame_step = reader_double(reader);
        items[i].offset[0] = reader_double(reader);
    }
    made.items = items;
    made.offset[0] = reader_double(reader);
    made.scale[0] = reader_double(reader);
    made.reference[0] = reader_double(reader);
    return made;
}

static void use(struct reader *reader, const rope2d_host *host, const rope2d_spec *spec,
                const rope2d_tokens *tokens) {
    rope2d_device *device = NULL;
    rope2d_positions *positions = NULL;
    const rope2d_device_params cpu = {.struct_size = sizeof cpu, .host = host};
    const rope2d_positions_params params = {.struct_size = sizeof params,
                                            .spec = spec,
                                            .table = (rope2d_table)structs_enum(reader, ROPE2D_TABLE_COUNT),
                                            .tokens = tokens->tokens,
                                            .coordinates = tokens->coordinates,
                                            .unrotated = tokens->unrotated,
                                            .unrotated_count = tokens->unrotated_count};
    if (rope2d_device_create(&cpu, &device) == ROPE2D_OK)
        (void)rope2d_positions_create(device, &params, &positions);
    rope2d_positions_destroy(positions);
    rope2d_device_destroy(device);
}

static void try_preset(struct reader *reader, const rope2d_host *host) {
    const char *name = reader_one_in(reader, 32)
                           ? reader_text(reader, 40)
                           : rope2d_preset_name(reader_below(reader, rope2d_preset_count() + 1));
    rope2d_preset_info info = {.struct_size = reader_struct_size(reader, sizeof info)};
    rope2d_preset *preset = NULL;
    rope2d_preset_params params = preset_params(reader, name);
    if (rope2d_preset_get_info(name, host, &info) == ROPE2D_OK && info.is_learned) {
        const uint64_t head_dim = params.head_dim ? params.head_dim : info.head_dim;
        const uint64_t heads = params.heads ? params.heads : info.heads ? info.heads : 1;
        if (head_dim <= ROPE2D_MAX_HEAD_DIM && heads <= 64) // as many as any division into axes needs
            params.learned = reader_floats_or_null(reader, ROPE2D_MAX_AXES * heads * head_dim);
    }
    const rope2d_status status = rope2d_preset_create(&params, host, &preset);
    FUZZ_PROMISE((status == ROPE2D_OK) == (preset != NULL));
    const rope2d_spec spec = rope2d_preset_spec(preset);
    if (preset)
        FUZZ_PROMISE(rope2d_spec_check(&spec, host) == ROPE2D_OK || spec.direction != ROPE2D_FORWARD ||
                     rope2d_spec_pairs(&spec) == 0);
    const rope2d_prompt what = prompt(reader);
    rope2d_tokens tokens = {.struct_size = reader_struct_size(reader, sizeof tokens)};
    if (rope2d_preset_positions(preset, &what, host, &tokens) == ROPE2D_OK &&
        make_room(reader, spec.axes, &tokens) &&
        rope2d_preset_positions(preset, &what, host, &tokens) == ROPE2D_OK) {
        check_tokens(&tokens);
        if (tokens.coordinates && tokens.tokens * rope2d_spec_pairs(&spec) < 1 << 13)
            use(reader, host, &spec, &tokens);
    }
    rope2d_preset_destroy(preset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reader reader;
    struct memory memory = {0};
    reader_begin(&reader, data, size);
    const rope2d_host host = memory_host(&memory);
    const uint8_t kind = reader_byte(&reader);
    if (kind & 64)
        memory.fail_at = reader_byte(&reader);
    if (kind % 4 == 0)
        try_laws(&reader, &host);
    else if (kind % 4 == 1)
        try_sequence(&reader, &host);
    else
        try_preset(&reader, &host);
    reader_end(&reader);
    FUZZ_PROMISE(memory.live == 0 && memory.bytes == 0);
    return 0;
}

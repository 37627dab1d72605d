// SPDX-License-Identifier: MIT
#include "vector.h"

#include "../../shaders/shape.h"
#include "convert.h"

#include <inttypes.h>

// Of heads that kernel_past is for, between what was measured: of pairs side by side 44 are faster there and
// 64 slower, of halves 32 and 64; and so are halves of bf16 that are streamed.
#define MOST_PAIRS_PAST  48
#define MOST_HALVES_PAST 32

#define MOST_MERGED 4

// A run: consecutive pairs whose channels are consecutive as well.
static uint32_t run_pairs(const rope2d_pattern *pattern, uint32_t first, rope2d_kernel_pairing pairing) {
    const uint32_t step = pairing == ROPE2D_KERNEL_INTERLEAVED ? 2 : 1;
    const uint16_t *lo = pattern->lo;
    const uint16_t *hi = pattern->hi;
    uint32_t i = first;
    while (i < pattern->pairs && lo[i] == lo[first] + step * (i - first) &&
           hi[i] == hi[first] + step * (i - first) && (step == 1 || hi[i] == lo[i] + 1))
        i++;
    return i - first;
}

// Whether a kernel knows the blocks that a run is cut into.
static bool has_blocks(const rope2d_turn_kernel *kernel, uint32_t pairs) {
    const uint32_t steps = (pairs + kernel->pairs - 1) / kernel->pairs;
    const uint32_t blocks = (steps + kernel->block_steps - 1) / kernel->block_steps;
    if (kernel->lengths == 0 || blocks == 0)
        return true;
    const uint32_t shortest = steps / blocks;
    const uint32_t longest = (steps + blocks - 1) / blocks;
    return (kernel->lengths >> (kernel->block_steps - shortest) &
            kernel->lengths >> (kernel->block_steps - longest) & 1) != 0;
}

// Whether each of a run's steps is turned by one axis, and is whole.
static bool has_whole_steps(const rope2d_turn_kernel *kernel, const uint8_t *axis, uint32_t pairs) {
    uint32_t in_step = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        if (in_step > 0 && axis[i] != axis[i - 1])
            return false;
        in_step = in_step + 1 < kernel->pairs ? in_step + 1 : 0;
    }
    return in_step == 0;
}

// Whether a run is written in pieces that are aligned where its head is, and heads are that lie densely.
static bool is_aligned(const rope2d_turn_kernel *kernel, const rope2d_pattern *pattern, uint32_t first,
                       uint32_t pairs) {
    uint32_t channels = pattern->head_dim | pattern->lo[first];
    if (kernel->pairing == ROPE2D_KERNEL_HALF)
        channels |= pattern->hi[first];
    return pairs % kernel->pairs == 0 &&
           channels * rope2d_element_size(kernel->element) % ROPE2D_STREAM_ALIGNMENT == 0;
}

bool rope2d_vector_suits(const rope2d_turn_kernel *kernel, const rope2d_pattern *pattern) {
    if (pattern->pairs == 0 || pattern->pairs > ROPE2D_TURN_MOST_PAIRS || pattern->angles != 1 ||
        pattern->factors == 1 || (kernel->is_few && (pattern->factors > 0 || pattern->freq_heads > 1)))
        return false;
    for (uint32_t i = 0; i < pattern->pairs;) {
        const uint32_t pairs = run_pairs(pattern, i, kernel->pairing);
        if (!has_blocks(kernel, pairs) || pairs < kernel->pairs ||
            (kernel->is_few && !has_whole_steps(kernel, pattern->axis + i, pairs)) ||
            (kernel->streams && !is_aligned(kernel, pattern, i, pairs)))
            return false;
        i += pairs;
    }
    return true;
}

// What a head costs, in steps of 32 bytes: a narrow kernel wins where it leaves less to do twice, unless it
// is half a step of the wide one's interleaved pairs.
static uint32_t cost(const rope2d_turn_kernel *kernel, const rope2d_pattern *pattern) {
    uint32_t steps = 0;
    for (uint32_t i = 0; i < pattern->pairs;) {
        const uint32_t pairs = run_pairs(pattern, i, kernel->pairing);
        steps += (pairs + kernel->pairs - 1) / kernel->pairs;
        i += pairs;
    }
    if (kernel->bytes <= 32)
        return steps;
    return steps * (kernel->bytes / 32) - (kernel->pairing == ROPE2D_KERNEL_INTERLEAVED);
}

// Where the types differ, heads of which all channels turn are f32 meanwhile.
const rope2d_turn_kernel *rope2d_vector_choose(const rope2d_pattern *pattern, rope2d_element in,
                                               rope2d_element out, rope2d_isa isa) {
    const bool converts = (isa == ROPE2D_ISA_AVX2 || isa == ROPE2D_ISA_AVX512) &&
                          pattern->single.count == pattern->pairs &&
                          pattern->head_dim % ROPE2D_CONVERTED == 0;
    const rope2d_element element = in == out ? in : ROPE2D_F32;
    const rope2d_turn_kernel *kernel;
    const rope2d_turn_kernel *best = NULL;
    for (uint32_t i = 0; (in == out || converts) && (kernel = rope2d_turn_kernel_at(i)) != NULL; i++) {
        if (!kernel->is_few && !kernel->streams && kernel->isa <= isa && kernel->element == element &&
            rope2d_vector_suits(kernel, pattern) && (!best || cost(kernel, pattern) < cost(best, pattern)))
            best = kernel;
    }
    return best;
}

// Behind those of the last place where they follow them, or else in a place of their own. Returns how many
// places there are then.
static uint32_t append(rope2d_entries *places, uint32_t count, uint32_t source, uint32_t at, uint32_t size) {
    rope2d_entries *last = &places[count];
    if (count > 0 && last[-1].source == source && last[-1].at + last[-1].count * size == at) {
        last[-1].count++;
        return count;
    }
    *last = (rope2d_entries){source, at, 1};
    return count + 1;
}

static void add_step_at(rope2d_vector *v, uint32_t source, uint32_t at) {
    v->step_places = append(v->steps, v->step_places, source, at, 2 * v->kernel->pairs);
    v->step_count++;
}

static void add_mixed(rope2d_vector *v, uint32_t source, uint32_t at) {
    v->mixed_places = append(v->mixed, v->mixed_places, source, at, 2);
    v->mixed_count++;
}

static void add_step(rope2d_vector *v, const rope2d_pattern *pattern, uint32_t pair, uint32_t count) {
    const uint8_t *axis = pattern->axis;
    uint32_t source = ROPE2D_FIRST_ROW + axis[pair];
    uint32_t at = 2 * (pair % v->row_pairs);
    for (uint32_t i = 1; i < count; i++)
        if (axis[pair + i] != axis[pair] || (pair + i) % v->row_pairs == 0) {
            source = ROPE2D_MIXED;
            at = 2 * v->mixed_count;
        }
    add_step_at(v, source, at);
    for (uint32_t i = 0; i < count && source == ROPE2D_MIXED; i++)
        add_mixed(v, ROPE2D_FIRST_ROW + axis[pair + i], 2 * ((pair + i) % v->row_pairs));
}

// The steps of a run in blocks of about equal size, none of a single step that would overlap what the block
// before has written.
static void add_blocks(rope2d_vector *v, const rope2d_pattern *pattern, uint32_t first, uint32_t pairs) {
    const rope2d_turn_kernel *kernel = v->kernel;
    const uint32_t element = rope2d_element_size(kernel->element);
    const uint32_t to_bytes = element * (kernel->pairing == ROPE2D_KERNEL_INTERLEAVED ? 2 : 1);
    const uint32_t steps = (pairs + kernel->pairs - 1) / kernel->pairs;
    const bool is_shared = kernel->shares && 2 * pairs == 5 * kernel->pairs;
    const uint32_t blocks = (steps + kernel->block_steps - 1) / kernel->block_steps;
    for (uint32_t i = 0; i < blocks; i++) {
        const uint32_t begin = steps * i / blocks;
        const uint32_t end = steps * (i + 1) / blocks;
        const uint32_t at = begin * kernel->pairs;
        const uint32_t last = i + 1 < blocks || is_shared ? (end - 1) * kernel->pairs : pairs - kernel->pairs;
        for (uint32_t step = begin; step < end; step++)
            add_step(v, pattern, first + (step + 1 < end ? step * kernel->pairs : last),
                     is_shared && step + 1 == end ? kernel->pairs / 2 : kernel->pairs);
        v->blocks[v->block_count++] = (rope2d_block){
            .first = pattern->lo[first + at] * element,
            .distance = (pattern->hi[first] - pattern->lo[first]) * (int32_t)element,
            .last = (last - at) * to_bytes,
            .steps = end - begin,
            .is_shared = is_shared,
        };
    }
}

// Steps that one axis turns are one block.
static void add_long_blocks(rope2d_vector *v, const rope2d_pattern *pattern, uint32_t first, uint32_t pairs) {
    const uint32_t element = rope2d_element_size(v->kernel->element);
    const uint32_t step = v->kernel->pairs;
    for (uint32_t i = first; i < first + pairs; i += step) {
        if (i == first || pattern->axis[i] != pattern->axis[i - step]) {
            v->blocks[v->block_count++] = (rope2d_block){
                .first = pattern->lo[i] * element,
                .distance = (pattern->hi[first] - pattern->lo[first]) * (int32_t)element,
                .axis = pattern->axis[i],
                .entries = 2 * i,
            };
        }
        v->blocks[v->block_count - 1].steps++;
    }
}

static void add_passes(rope2d_vector *v, const rope2d_pattern *pattern) {
    const uint32_t element = rope2d_element_size(v->kernel->element);
    const rope2d_units *single = &pattern->single;
    uint32_t end = 0; // of the channels before
    for (uint32_t i = single->pairs; i < single->count; i++) {
        const uint32_t at = R_UNIT_LO(single->words[i]) * element;
        if (i == single->pairs || at != end)
            v->passes[v->pass_count++] = (rope2d_pass){at, 0};
        v->passes[v->pass_count - 1].size += element;
        end = at + element;
    }
}

static void bound_tables(rope2d_vector *v, uint32_t room, uint32_t of_each) {
    if (of_each > 0 && (v->tables == 0 || v->tables > room / of_each))
        v->tables = room / of_each;
}

static rope2d_status create(rope2d_vector **vector, const rope2d_turn_kernel *kernel,
                            const rope2d_pattern *pattern, uint32_t heads, const rope2d_host *host) {
    rope2d_vector *v = rope2d_allocate(host, 1, sizeof(*v));
    *vector = v;
    if (!v)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for a plan of vectors");
    v->kernel = kernel;
    v->heads = heads;
    v->row_pairs = pattern->pairs / heads;
    v->room = pattern->head_dim;
    v->blocks = rope2d_allocate(host, v->room, sizeof(*v->blocks));
    v->steps = rope2d_allocate(host, v->room, sizeof(*v->steps));
    v->mixed = rope2d_allocate(host, v->room, sizeof(*v->mixed));
    v->passes = rope2d_allocate(host, v->room, sizeof(*v->passes));
    if (!v->blocks || !v->steps || !v->mixed || !v->passes)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %" PRIu32 " channels of a plan",
                           v->room);
    v->is_whole = true;
    for (uint32_t i = 0; i < pattern->pairs;) {
        const uint32_t pairs = run_pairs(pattern, i, kernel->pairing);
        (kernel->is_few ? add_long_blocks : add_blocks)(v, pattern, i, pairs);
        v->is_whole = v->is_whole && pairs % kernel->pairs == 0;
        i += pairs;
    }
    const uint32_t bytes = pattern->head_dim * rope2d_element_size(kernel->element) / v->block_count;
    v->fetched = (bytes + ROPE2D_STREAM_LINE - 1) / ROPE2D_STREAM_LINE * ROPE2D_STREAM_LINE;
    uint32_t asked = v->blocks[0].first;
    for (uint32_t i = 0; i < v->block_count; i++) {
        rope2d_block *const block = &v->blocks[i];
        block->ahead = (int32_t)((kernel->is_few ? asked : i * v->fetched) + v->fetched - block->first);
        asked += block->steps * kernel->bytes * (kernel->pairing == ROPE2D_KERNEL_HALF ? 2 : 1);
    }
    add_passes(v, pattern);
    bound_tables(v, ROPE2D_TILE_POINTERS, kernel->is_few ? v->block_count : v->step_count);
    bound_tables(v, ROPE2D_MIXED_ENTRIES, v->mixed_count);
    return ROPE2D_OK;
}

// A product of complex numbers is a turn of pairs that lie side by side.
static rope2d_status create_product(rope2d_vector *v, const rope2d_pattern *pattern,
                                    const rope2d_host *host) {
    uint16_t lo[ROPE2D_TURN_MOST_PAIRS];
    uint16_t hi[ROPE2D_TURN_MOST_PAIRS];
    const rope2d_pattern row = {
        .head_dim = 2 * pattern->pairs,
        .pairs = pattern->pairs,
        .angles = 1,
        .lo = lo,
        .hi = hi,
        .axis = pattern->axis,
    };
    for (uint32_t i = 0; i < row.pairs; i++) {
        lo[i] = (uint16_t)(2 * i);
        hi[i] = (uint16_t)(2 * i + 1);
    }
    ROPE2D_TRY(create(&v->product, rope2d_vector_choose(&row, ROPE2D_F32, ROPE2D_F32, v->kernel->isa), &row,
                      1, host));
    bound_tables(v, ROPE2D_MIXED_ENTRIES, v->row_pairs);
    bound_tables(v, ROPE2D_TILE_POINTERS, v->product->step_count);
    return ROPE2D_OK;
}

rope2d_status rope2d_vector_create(rope2d_vector **vector, const rope2d_turn_kernel *kernel,
                                   const rope2d_pattern *pattern, const rope2d_host *host) {
    const rope2d_status status = create(vector, kernel, pattern, 1, host);
    return status == ROPE2D_OK && *vector && pattern->factors > 0 ? create_product(*vector, pattern, host)
                                                                  : status;
}

// In place past the caches, on AMD's processors, steps of 32 bytes, in up to three blocks that two heads take
// by turns, are 3 to 15 % faster than steps of 64; four blocks are slower, and in a last cache all are.
static const rope2d_turn_kernel *kernel_past(const rope2d_vector *vector, const rope2d_pattern *pattern) {
    const rope2d_turn_kernel *kernel = vector->kernel;
    const uint32_t most = kernel->pairing == ROPE2D_KERNEL_HALF ? MOST_HALVES_PAST : MOST_PAIRS_PAST;
    return kernel->isa == ROPE2D_ISA_AVX512 && kernel->element == ROPE2D_F32 && pattern->pairs <= most &&
                   pattern->wide.count > 0
               ? rope2d_vector_choose(pattern, ROPE2D_F32, ROPE2D_F32, ROPE2D_ISA_AVX2)
               : NULL;
}

// All of them are AVX2's. On an Intel Xeon with AVX-512, whose other kernels store 64 bytes, pairs of f32
// that lie side by side are faster so with two threads, and the rest slower. On AMD's Zen 4 all are faster,
// but for long halves of bf16, and f16 side by side whose heads end inside a line.
static bool streams_on(const rope2d_turn_kernel *kernel, const rope2d_pattern *pattern, rope2d_isa isa,
                       bool asks) {
    const bool is_half = kernel->pairing == ROPE2D_KERNEL_HALF;
    if (kernel->isa >= isa)
        return kernel->isa == isa;
    if (kernel->element == ROPE2D_F32)
        return !asks || !is_half;
    if (asks)
        return false;
    if (kernel->element == ROPE2D_BF16)
        return !is_half || pattern->pairs <= MOST_HALVES_PAST;
    return is_half || pattern->head_dim * 2 % ROPE2D_STREAM_LINE == 0;
}

// Two heads, or four, which have no gaps and are whole vectors only together.
static rope2d_status add_merged(rope2d_vector *vector, const rope2d_pattern *pattern,
                                const rope2d_host *host) {
    const rope2d_turn_kernel *const kernel = vector->kernel;
    uint16_t lo[ROPE2D_TURN_MOST_PAIRS];
    uint16_t hi[ROPE2D_TURN_MOST_PAIRS];
    uint8_t axis[ROPE2D_TURN_MOST_PAIRS];
    rope2d_pattern many = *pattern;
    many.lo = lo;
    many.hi = hi;
    many.axis = axis;
    if (kernel->element != ROPE2D_BF16 || kernel->bytes != ROPE2D_STREAM_LINE ||
        pattern->pairs % kernel->pairs == 0 || vector->pass_count > 0)
        return ROPE2D_OK;
    for (uint32_t heads = 2; heads <= MOST_MERGED; heads *= 2) {
        many.pairs = heads * pattern->pairs;
        many.head_dim = heads * pattern->head_dim;
        for (uint32_t i = 0; i < many.pairs && many.pairs <= ROPE2D_TURN_MOST_PAIRS; i++) {
            const uint32_t pair = i % pattern->pairs;
            const uint32_t first = i / pattern->pairs * pattern->head_dim;
            lo[i] = (uint16_t)(first + pattern->lo[pair]);
            hi[i] = (uint16_t)(first + pattern->hi[pair]);
            axis[i] = pattern->axis[pair];
        }
        if (many.pairs % kernel->pairs == 0 && many.pairs <= ROPE2D_TURN_MOST_PAIRS &&
            rope2d_vector_suits(kernel, &many))
            return create(&vector->merged, kernel, &many, heads, host);
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_vector_add_others(rope2d_vector *vector, const rope2d_pattern *pattern, rope2d_isa isa,
                                       bool asks, const rope2d_host *host) {
    const rope2d_turn_kernel *const past = asks ? NULL : kernel_past(vector, pattern);
    const rope2d_turn_kernel *kernel;
    if (past)
        ROPE2D_TRY(create(&vector->past, past, pattern, 1, host));
    for (uint32_t i = 0; (kernel = rope2d_turn_kernel_at(i)) != NULL; i++) {
        if (kernel->element != vector->kernel->element || !rope2d_vector_suits(kernel, pattern))
            continue;
        rope2d_vector **const few =
            vector->few && kernel->is_past && !asks ? &vector->few->past : &vector->few;
        if (kernel->is_few && kernel->isa <= isa && !*few)
            ROPE2D_TRY(create(few, kernel, pattern, 1, host));
        if (kernel->streams && streams_on(kernel, pattern, isa, asks) && !vector->streamed &&
            pattern->wide.count > 0)
            ROPE2D_TRY(create(&vector->streamed, kernel, pattern, 1, host));
    }
    return add_merged(vector, pattern, host);
}

uint32_t rope2d_vector_test_runs(const rope2d_vector *vector) {
    uint32_t runs = vector->streamed || vector->merged ? 1u << ROPE2D_RUN_EVEN_NEAR : 0;
    if (vector->few) {
        runs |= 1u << ROPE2D_RUN_APART;
        if (vector->few->past)
            runs |= 1u << ROPE2D_RUN_APART_LARGE;
        if ((vector->few->past ? vector->few->past : vector->few)->kernel->alone)
            runs |= 1u << ROPE2D_RUN_ALONE;
    }
    return runs;
}

void rope2d_vector_destroy(rope2d_vector *vector, const rope2d_host *host) {
    if (!vector)
        return;
    rope2d_vector_destroy(vector->product, host);
    rope2d_vector_destroy(vector->few, host);
    rope2d_vector_destroy(vector->past, host);
    rope2d_vector_destroy(vector->streamed, host);
    rope2d_vector_destroy(vector->merged, host);
    rope2d_release(host, vector->blocks, vector->room, sizeof(*vector->blocks));
    rope2d_release(host, vector->steps, vector->room, sizeof(*vector->steps));
    rope2d_release(host, vector->mixed, vector->room, sizeof(*vector->mixed));
    rope2d_release(host, vector->passes, vector->room, sizeof(*vector->passes));
    rope2d_release(host, vector, 1, sizeof(*vector));
}

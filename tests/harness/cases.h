// SPDX-License-Identifier: MIT
// What is tried: structures of specs, each of which is one plan for given types and table, and cases that use
// them.
#ifndef HARNESS_CASES_H
#define HARNESS_CASES_H

#include "../counter.h"
#include "rope2d/rope2d.h"

#include <stdint.h>

#define HARNESS_MAX_TENSORS 6
#define HARNESS_MAX_RANGES  4
#define HARNESS_NO_HEADS    0xffffffffu // a tensor with none

enum harness_frequencies {
    HARNESS_AXES_IN_RUNS, // the first pairs turn by axis 0, the next by axis 1, ...
    HARNESS_AXES_IN_TURN, // pair i turns by axis i % axes
    HARNESS_DENSE,        // every pair turns by every axis
    HARNESS_SPARSE,       // in turn, and every third pair has no frequency at all
};

struct harness_structure {
    const char *name;
    uint32_t head_dim, rotary_begin, rotary_dim, axes;
    rope2d_pairing pairing;
    uint32_t segment_pairs[ROPE2D_MAX_AXES];
    uint32_t
        pairs; // EXPLICIT; pair i is the channels (2i * step + 1) and ((2i + 1) * step + 1), mod head_dim
    uint32_t step;
    enum harness_frequencies frequencies;
    uint32_t freq_heads; // 0: shared
    int two_angles;
    int factored;
    const rope2d_spec *spec; // when set, all of the above but the name comes from it, and the frequencies too
};

enum harness_order {
    HARNESS_BNHD,
    HARNESS_BHND,
    HARNESS_NBHD,
    HARNESS_FUSED,       // rows of all tensors' heads one after the other, and v's
    HARNESS_FUSED_HEADS, // rows of [head][tensor], all tensors having as many heads
};

enum harness_coordinates {
    HARNESS_GRID,      // whole numbers, raster order
    HARNESS_CENTERS,   // 2 (i + 0.5) / n - 1
    HARNESS_FRACTIONS, // any, with repetitions and both zeros
    HARNESS_FAR,       // whole numbers in the thousands
};

// How a tensor lies in memory: elements between heads, tokens and batch elements beside what the order needs,
// and before the first.
struct harness_layout {
    enum harness_order order;
    uint32_t head_gap, token_gap, batch_gap;
    uint32_t offset; // elements, through the view's offset
    uint32_t skew;   // elements, through its base
};

enum {
    HARNESS_IN_PLACE = 1 << 0,        // types that differ are left out
    HARNESS_SEPARATE_K = 1 << 1,      // the second tensor has tokens and positions of its own: two applies
    HARNESS_BATCH_POSITIONS = 1 << 2, // every batch element has its own
    HARNESS_ROWS = 1 << 3,            // rows and lists come from the caller, some rows are negative
    HARNESS_MAGNITUDES = 1 << 4,      // one per token and pair
    HARNESS_BROADCAST = 1 << 5,       // the input's batch stride is 0
    HARNESS_CANCELLING = 1 << 6,      // lo and hi nearly cancel; one axis, INTERLEAVED
    HARNESS_ALL_TYPES = 1 << 7,       // all nine pairs of types and both tables, not a selection
    HARNESS_HUGE = 1 << 8,            // f16 alone; the oracle sees a sample of tokens; not in quick mode
    HARNESS_QUICK = 1 << 9,           // in quick mode too
    HARNESS_PARTLY = 1 << 10,         // with rows, not dense ones: most other tokens have one negative row
};

struct harness_case {
    const char *name;
    const char *structure;
    uint32_t flags;
    const struct harness_structure *own; // when set, the structure, which is none of harness_structures
    const float *given;                  // coordinates, when set, [prefix + height * width][axes]
    uint32_t heads[HARNESS_MAX_TENSORS]; // up to the first 0
    uint32_t batch;
    uint32_t height, width; // tokens are prefix + height * width
    uint32_t prefix;        // tokens before the grid, unrotated
    uint32_t first_token;
    rope2d_range unrotated[HARNESS_MAX_RANGES]; // more of them
    uint32_t unrotated_count;
    struct harness_layout in, out; // out is not looked at in place
    enum harness_coordinates coordinates;
    enum counter_mode inputs;
    rope2d_direction direction;
    rope2d_angles angles;
    float magnitude;
};

const struct harness_structure *harness_structures(uint32_t *count);
// NULL past the last one, or when there is none of that name.
const struct harness_case *harness_case_at(uint32_t index);
const struct harness_case *harness_case_find(const char *name);
const struct harness_structure *harness_structure_find(const char *name);
const struct harness_structure *harness_structure_of(const struct harness_case *what);

#endif

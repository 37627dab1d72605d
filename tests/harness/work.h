// SPDX-License-Identifier: MIT
// A case made ready to run: its spec, positions, and tensors in guarded memory. Every byte of every block
// that is no element has a pattern, which must still be there after a run.
#ifndef HARNESS_WORK_H
#define HARNESS_WORK_H

#include "cases.h"

#include <stdbool.h>
#include <stddef.h>

#define HARNESS_MAX_GROUPS 2
#define HARNESS_MAX_BLOCKS (2 * HARNESS_MAX_TENSORS)

struct harness_types {
    rope2d_element in, out;
};

struct harness_spec {
    rope2d_spec spec;
    uint32_t pairs;
    uint32_t *lo, *hi; // [pairs], made from the words of the header and not by the library
    float *freqs;      // [1 or 2][axes][freq_heads][pairs]
};

bool harness_spec_make(struct harness_spec *spec, const struct harness_structure *structure);
void harness_spec_free(struct harness_spec *spec);

struct harness_positions {
    uint64_t tokens;
    uint32_t batch;
    float *coordinates; // [batch][tokens][axes]
    float *magnitudes;  // [batch][tokens][pairs]; NULL: none
    rope2d_range *unrotated;
    uint32_t unrotated_count;

    // With rows, what the library is given instead of the above, which then says the same.
    int32_t *rows;
    float *lists[ROPE2D_MAX_AXES];
    uint32_t list_counts[ROPE2D_MAX_AXES];
};

// group: 1 for keys with positions of their own.
bool harness_positions_make(struct harness_positions *positions, const struct harness_case *what,
                            const struct harness_spec *spec, uint64_t seed, uint32_t group);
void harness_positions_free(struct harness_positions *positions);
rope2d_positions_params harness_positions_params(const struct harness_positions *positions,
                                                 const struct harness_spec *spec, rope2d_table table);

// Where the elements of a tensor lie: (b, t, h, d) is element first + b * batch_stride + ... of the block.
struct harness_side {
    uint32_t block;
    uint64_t first;
    uint64_t offset; // of first, the part that the view's offset holds, in elements
    int64_t batch_stride, token_stride, head_stride;
};

struct harness_tensor {
    uint32_t heads;
    uint64_t tokens;
    uint32_t group; // which positions
    struct harness_side in, out;
};

struct harness_block {
    unsigned char *memory;
    unsigned char *elements; // a byte for each: 1 where it belongs to an output element
    size_t bytes;
    size_t element_size;
};

struct harness_work {
    const struct harness_case *what;
    struct harness_types types;
    uint64_t seed;
    struct harness_spec spec;
    uint32_t batch;
    uint32_t group_count;
    struct harness_positions positions[HARNESS_MAX_GROUPS];
    uint32_t tensor_count;
    struct harness_tensor tensors[HARNESS_MAX_TENSORS];
    uint32_t block_count;
    struct harness_block blocks[HARNESS_MAX_BLOCKS]; // as they are before a run
};

// False when memory runs out. `cosines` is needed by HARNESS_CANCELLING alone: the (cos, sin) of a token and
// pair.
typedef void harness_cosine_fn(const void *user, uint64_t token, uint32_t pair, float *cosine, float *sine);
bool harness_work_make(struct harness_work *work, const struct harness_case *what, struct harness_types types,
                       uint64_t seed);
void harness_work_cancel(struct harness_work *work, harness_cosine_fn *cosines, const void *user);
void harness_work_free(struct harness_work *work);

// A copy of the blocks' memory to run on; NULL when memory runs out.
unsigned char **harness_blocks_copy(const struct harness_work *work);
void harness_blocks_free(const struct harness_work *work, unsigned char **blocks);

// The tensor as the library sees it in these blocks.
rope2d_tensor harness_tensor_view(const struct harness_work *work, const struct harness_tensor *tensor,
                                  unsigned char *const *blocks);
// Where element (b, t, h, 0) of a side is in its block, in bytes.
size_t harness_side_at(const struct harness_work *work, const struct harness_side *side, uint32_t b,
                       uint64_t t, uint32_t h);

#endif

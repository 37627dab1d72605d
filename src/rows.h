// SPDX-License-Identifier: MIT
//
// From coordinates to row numbers: which rows a table needs, and which of them each token takes.
#ifndef ROPE2D_ROWS_H
#define ROPE2D_ROWS_H

#include "internal.h"
#include "merge.h"

// What the rows of a table hold.
typedef struct rope2d_lists {
    uint32_t groups;                  // the axes of an axial table; 1 of a dense one
    rope2d_merge of[ROPE2D_MAX_AXES]; // [groups]: the coordinates of row r, of one axis or of all
    uint32_t *sources;                // [source_room] with magnitudes: batch * tokens + token of row r
    uint64_t source_room;
    uint32_t source_count;
    uint64_t rows_copied; // from grown_from, all groups together

    // The spec's numbers, to see that a positions object that grows from this one has the same.
    float *freqs; // [freq_count], both tables
    uint64_t freq_count;
    float magnitude;
    rope2d_direction direction;
    rope2d_angles angles;
} rope2d_lists;

// Checks where the tokens are, and fills positions->rows, row_count, lists and table_rows. tokens, batch,
// pattern and is_axial are there. What it has made when it fails, rope2d_rows_destroy releases.
rope2d_status rope2d_rows_create(rope2d_positions *positions, const rope2d_positions_params *params);
void rope2d_rows_destroy(rope2d_positions *positions);

#endif

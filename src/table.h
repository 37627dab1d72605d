// SPDX-License-Identifier: MIT
//
// Cosines and sines for the rows that rows.c has listed.
#ifndef ROPE2D_TABLE_H
#define ROPE2D_TABLE_H

#include "internal.h"

// Fills positions->table, table_columns and table_entries, copying what params->grown_from has. The caller
// has entered rope2d_control.
rope2d_status rope2d_table_create(rope2d_positions *positions, const rope2d_positions_params *params);
void rope2d_table_destroy(rope2d_positions *positions);

#endif

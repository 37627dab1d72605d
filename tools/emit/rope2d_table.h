// SPDX-License-Identifier: MIT
//
// The C table builder: what the kernels beside this read, without a device and without the library. Compile
// it with -ffp-contract=off and include/ in the path: rope2d_table.c and all of src/.
//
//     rope2d_table_builder_create     a device that makes positions, and nothing else
//     rope2d_positions_create ...     of rope2d.h: checks, rows and table, bit for bit the library's
//     rope2d_positions_host_table, rope2d_positions_host_rows, rope2d_positions_get_info
//     rope2d_table_units              the words of the binding Units
//
// Of rope2d.h there are rope2d_status_name and the functions of spec and positions, no others.
#ifndef ROPE2D_TABLE_H
#define ROPE2D_TABLE_H

#include <rope2d/rope2d.h>

#ifdef __cplusplus
extern "C" {
#endif

// `host` may be NULL. The caller owns the builder and destroys it after its positions.
rope2d_status rope2d_table_builder_create(const rope2d_host *host, rope2d_device **builder);
void rope2d_table_builder_destroy(rope2d_device *builder); // NULL is legal

typedef struct rope2d_table_unit_list {
    uint32_t words[ROPE2D_MAX_HEAD_DIM];
    uint32_t count;      // R_UNITS of shaders/shape.h; 0: the spec has no wide units
    uint32_t pair_units; // R_PAIR_UNITS
} rope2d_table_unit_list;

// The units of a spec: single ones (R_WIDE false), or wide ones, for tensors whose firsts and strides are all
// multiples of 4 elements.
rope2d_status rope2d_table_units(const rope2d_device *builder, const rope2d_spec *spec, int is_wide,
                                 rope2d_table_unit_list *units);

#ifdef __cplusplus
}
#endif

#endif

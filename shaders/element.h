// SPDX-License-Identifier: MIT
//
// Element types, as in rope2d_element.
#ifndef ROPE2D_ELEMENT_H
#define ROPE2D_ELEMENT_H

#define R_F32  0u
#define R_F16  1u
#define R_BF16 2u

#endif

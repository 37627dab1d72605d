// SPDX-License-Identifier: MIT
#ifndef ROPE2D_CPU_IDENTIFY_H
#define ROPE2D_CPU_IDENTIFY_H

#include <stddef.h>

// The processor's own names; "CPU" and "" where it does not tell.
void rope2d_cpu_identify(char *name, size_t name_size, char *vendor, size_t vendor_size);

#endif

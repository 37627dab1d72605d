// SPDX-License-Identifier: MIT
//
// volk as a program links it: into itself, or as a library beside it.
#include <volk.c>

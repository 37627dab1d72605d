// SPDX-License-Identifier: MIT
//
// What `verify-worker compile MODULE.spv IN:OUT:FLAGS...` does.
#ifndef ROPE2D_VERIFY_COMPILE_VULKAN_H
#define ROPE2D_VERIFY_COMPILE_VULKAN_H

// Compiles with the first Vulkan device that the loader finds, submits nothing, and prints a line of JSON
// for each variant. Returns the exit status of the process: 77 where the driver cannot.
int compile_vulkan_main(int argc, char **argv);

#endif

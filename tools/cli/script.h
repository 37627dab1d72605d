// SPDX-License-Identifier: MIT
//
// The scripts that come with the program.
#ifndef ROPE2D_CLI_SCRIPT_H
#define ROPE2D_CLI_SCRIPT_H

// `source` in a program that runs from the build folder, else `installed`: an installed program runs nothing
// from where it was once built, since by now others may write there.
const char *script_path(const char *source, const char *installed);

#endif

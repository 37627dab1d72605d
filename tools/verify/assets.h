// SPDX-License-Identifier: MIT
//
// Files of the repository that the program carries.
#ifndef ROPE2D_VERIFY_ASSETS_H
#define ROPE2D_VERIFY_ASSETS_H

// The text of a file by its name; "" when there is none.
const char *asset_text(const char *name);

#endif

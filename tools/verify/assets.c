// SPDX-License-Identifier: MIT
#include "assets.h"

#include <string.h>

#include "embedded.h"

extern const struct rope2d_unpacked verify_assets[];

const char *asset_text(const char *name) {
    for (const struct rope2d_unpacked *asset = verify_assets; asset->name; ++asset)
        if (strcmp(asset->name, name) == 0)
            return asset->data;
    return "";
}

// SPDX-License-Identifier: MIT
#include "small_params.h"

#include <string.h>

const float small_axial_freqs[2][4] = {{1, .5f, 0, 0}, {0, 0, 1, .5f}};
const float small_dense_freqs[2][4] = {{1, .5f, 1, 1}, {0, 0, 1, .5f}};
const float good_freqs[2][8] = {{1, .5f, .25f, .125f, 0, 0, 0, 0}, {0, 0, 0, 0, 1, .5f, .25f, .125f}};

rope2d_spec small_spec(const float freqs[2][4]) {
    rope2d_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.struct_size = sizeof(spec);
    spec.head_dim = 8;
    spec.axes = 2;
    spec.freqs = freqs[0];
    return spec;
}

rope2d_positions_params small_params(const rope2d_spec *spec, uint64_t tokens, const float *coordinates) {
    rope2d_positions_params params;
    memset(&params, 0, sizeof(params));
    params.struct_size = sizeof(params);
    params.spec = spec;
    params.tokens = tokens;
    params.coordinates = coordinates;
    return params;
}

rope2d_spec good_spec(void) {
    rope2d_spec spec = small_spec(small_axial_freqs);
    spec.head_dim = 16;
    spec.freqs = good_freqs[0];
    return spec;
}

// SPDX-License-Identifier: MIT
#include "attention.h"
#include "png.h"

#include <math.h>
#include <string.h>

// The palette: colours of the image by feature, the frame around the patch that looks, and a ramp.
enum { DARK = 0, FRAME = 4, RAMP = 16, STEPS = 256 - RAMP };
static const uint8_t colours[RAMP][3] = {
    {16, 16, 20}, {60, 74, 92}, {226, 160, 63}, {88, 170, 140}, {0, 220, 255}};
static const uint8_t stops[5][3] = {
    {12, 8, 38}, {87, 16, 110}, {187, 55, 84}, {249, 142, 9}, {252, 255, 164}};

static void paint_cell(attention_picture picture, uint32_t frame, uint32_t panel, uint32_t token,
                       uint8_t colour, int is_query) {
    const uint32_t top = GAP + frame * (PANEL + GAP) + token / SIDE * CELL;
    const uint32_t left = GAP + panel * (PANEL + GAP) + token % SIDE * CELL;
    for (uint32_t y = 0; y < CELL; y++)
        for (uint32_t x = 0; x < CELL; x++) {
            const int at_edge = y == 0 || x == 0 || y == CELL - 1 || x == CELL - 1;
            picture[top + y][left + x] = is_query && at_edge ? FRAME : colour;
        }
}

void attention_paint(uint32_t frame, float scores[HEADS][TOKENS], attention_picture picture) {
    static float features[TOKENS][FEATURES];
    const uint32_t query = attention_query(frame);
    attention_features(frame, features);
    for (uint32_t t = 0; t < TOKENS; t++) {
        const int colour = features[t][1] > 0 ? 1 : features[t][2] > 0 ? 2 : 3;
        paint_cell(picture, frame, 0, t, (uint8_t)colour, t == query);
    }
    for (uint32_t h = 0; h < HEADS; h++) {
        float most = scores[h][0];
        for (uint32_t t = 0; t < TOKENS; t++)
            most = fmaxf(most, scores[h][t]);
        for (uint32_t t = 0; t < TOKENS; t++) { // softmax, relative to the most
            const float weight = expf((scores[h][t] - most) / 2);
            paint_cell(picture, frame, 1 + h, t, (uint8_t)(RAMP + weight * (STEPS - 1)), t == query);
        }
    }
}

int attention_save(const char *path, attention_picture picture) {
    uint8_t palette[RAMP + STEPS][3];
    memcpy(palette, colours, sizeof(colours));
    for (int i = 0; i < STEPS; i++)
        for (int c = 0; c < 3; c++) {
            const int at = i * 4 / STEPS, part = i * 4 % STEPS;
            palette[RAMP + i][c] =
                (uint8_t)((stops[at][c] * (STEPS - part) + stops[at + 1][c] * part) / STEPS);
        }
    return png_write(path, PICTURE_WIDTH, PICTURE_HEIGHT, &picture[0][0], (const uint8_t(*)[3])palette);
}

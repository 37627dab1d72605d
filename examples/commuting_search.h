// SPDX-License-Identifier: MIT
//
// What commuting.c and commuting_planes.c share.
#ifndef COMMUTING_SEARCH_H
#define COMMUTING_SEARCH_H

#include "commuting.h"

struct search {
    uint32_t size, axes, chosen; // vectors of the basis so far
    const double *generators;
    double sum[COMMUTING_MAX_SIZE * COMMUTING_MAX_SIZE];     // C
    double square[COMMUTING_MAX_SIZE * COMMUTING_MAX_SIZE];  // C^T C, then diagonal
    double vectors[COMMUTING_MAX_SIZE * COMMUTING_MAX_SIZE]; // its eigenvectors, a row each
};

double commuting_length(const double *a, uint32_t count);
double commuting_product(const double *a, const double *b, uint32_t n);
void commuting_transform(const double *matrix, const double *from, uint32_t n, double *to);

// Makes `square` diagonal, and fills the eigenvectors.
void commuting_diagonalise(struct search *search);
// Then: planes from the fastest to the slowest; vectors that turn with none come last.
void commuting_choose_basis(struct search *search, commuting *found);

#endif

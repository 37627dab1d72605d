// SPDX-License-Identifier: MIT
//
// How far the outputs of a run are from the portable path and from the oracle, by kinds of input, and where.
#ifndef ROPE2D_VERIFY_METRICS_H
#define ROPE2D_VERIFY_METRICS_H

#include "../../tests/harness/verdict.h"

// Of the inputs that make an output element: itself, or both channels of its pair. The first that applies.
enum verify_class {
    VERIFY_INF_NAN,
    VERIFY_SUBNORMAL,     // an input is, and none is infinite or NaN
    VERIFY_SIGNED_ZERO,   // an input is +0 or -0
    VERIFY_HALF_EDGE,     // the result lies within 3 fp32 ulps of the middle between two f16 or bf16
    VERIFY_WIDE_EXPONENT, // exponents 24 or more apart, or beyond 2^30 or below 2^-30
    VERIFY_NORMAL,
    VERIFY_CLASSES
};
extern const char *const verify_class_names[];

enum { VERIFY_PLACE_SIZE = 96, VERIFY_HEAT_ROWS = 24, VERIFY_HEAT_COLUMNS = 64 };

struct verify_class_metrics {
    uint64_t elements;
    uint64_t mismatches; // elements with other bits than the portable path's
    uint64_t bits;       // bits that differ, of all elements
    uint64_t flushed;    // mismatches that a device which flushes subnormals may have
    double worst;        // error in the oracle's units, without those
    bool has_first;      // the first mismatch, else the first element outside the oracle's bound
    char place[VERIFY_PLACE_SIZE];
    uint32_t got, expected;
    double oracle;
};

// The largest errors by token and pair, each cell holding one or several of them.
struct verify_heat {
    uint32_t rows, columns;
    uint64_t tokens;
    uint32_t pairs;
    double cells[VERIFY_HEAT_ROWS][VERIFY_HEAT_COLUMNS];
};

struct verify_metrics {
    struct verify_class_metrics classes[VERIFY_CLASSES];
    struct verify_heat heat;
    double worst;
    uint64_t mismatches;
};

// Looks at every output element. Equal NaNs are equal. False when memory runs out.
bool verify_measure(struct verify_metrics *metrics, const struct harness_work *work,
                    const struct harness_truth *truth, unsigned char *const *blocks);

#endif

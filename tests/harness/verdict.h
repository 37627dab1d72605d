// SPDX-License-Identifier: MIT
// The three verdicts on a run: equal bits with the portable path, within the oracle's bound, and nothing
// touched that is no output.
#ifndef HARNESS_VERDICT_H
#define HARNESS_VERDICT_H

#include "../oracle.h"
#include "work.h"

// What a work's outputs ought to be.
struct harness_truth {
    unsigned char **blocks;                      // after the portable path ran
    struct oracle_value *expectations;           // of the oracle, by tensor, b, t, h, d; NULL: not asked for
    size_t first_of_tensor[HARNESS_MAX_TENSORS]; // where a tensor's begin
    uint64_t token_step;                         // the oracle looks at every token_step-th token
};

// False when memory runs out or the oracle refuses.
bool harness_truth_ask(struct harness_truth *truth, const struct harness_work *work);
void harness_truth_free(struct harness_truth *truth, const struct harness_work *work);

// An output element, as a verdict looks at it.
struct harness_element {
    uint32_t tensor, b, h;
    uint64_t t;
    size_t d;
    uint32_t bits;
    uint32_t expected_bits;           // of the portable path
    const struct oracle_value *value; // of the oracle; NULL where it has not looked
};

// Calls `judge` for each output element, in the order tensor, b, t, h, d, until it says no: false then, and
// *element is the one.
typedef bool harness_judge_fn(const struct harness_work *work, const struct harness_element *element,
                              void *user);
bool harness_each_element(const struct harness_work *work, const struct harness_truth *truth,
                          unsigned char *const *blocks, struct harness_element *element,
                          harness_judge_fn *judge, void *user);

// Equal bits with the portable path, or as good as equal: see harness_verdict_bits.
bool harness_same_bits(const struct harness_work *work, const struct harness_element *element,
                       bool normal_only);

// Each returns true when all is well, or fills `text` with the first thing that is not.
#define HARNESS_TEXT_SIZE 512
// normal_only: the device flushes subnormals; the truth must have been asked.
bool harness_verdict_bits(const struct harness_work *work, const struct harness_truth *truth,
                          unsigned char *const *blocks, bool normal_only, char *text);
// worst: the largest error, in the oracle's units. flushes: as normal_only.
bool harness_verdict_oracle(const struct harness_work *work, const struct harness_truth *truth,
                            unsigned char *const *blocks, bool flushes, double *worst, char *text);
bool harness_verdict_guards(const struct harness_work *work, unsigned char *const *blocks, char *text);

// Hash of all outputs in the order tensor, b, t, h, d, little-endian, every NaN the same.
void harness_hash(const struct harness_work *work, unsigned char *const *blocks, char hex[65]);

#endif

// SPDX-License-Identifier: MIT
//
// What a run measured, as JSON.
#ifndef ROPE2D_VERIFY_RESULT_JSON_H
#define ROPE2D_VERIFY_RESULT_JSON_H

#include <cjson/cJSON.h>

#include "metrics.h"

// Without exactness the device is a program, which does not say.
void result_add_run(cJSON *result, const rope2d_exactness *exactness, const char *hash,
                    const struct verify_metrics *metrics);
void result_add_heat(cJSON *result, const struct verify_heat *heat);

// Errors in the oracle's units, to three digits; null for one that no number of units expresses.
cJSON *result_error(double error);

#endif

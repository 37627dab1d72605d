// SPDX-License-Identifier: MIT
//
// The verbs.
#ifndef ROPE2D_CLI_VERBS_H
#define ROPE2D_CLI_VERBS_H

#include "options.h"

extern const struct verb verb_devices, verb_presets, verb_apply, verb_check, verb_demo, verb_bench, verb_plot,
    verb_plot_data, verb_verify, verb_report, verb_emit;

#endif

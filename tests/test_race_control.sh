#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: test_race_control.sh PROGRAM [ARGUMENT...]
# ThreadSanitizer must end the program, which has a race in rope2d's own code, and name the library's function.
set -uo pipefail
# At the first: while it writes of more, threads of drivers that are unloaded meanwhile can stand still for good.
export TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}halt_on_error=1
said=$("$@" 2>&1)
status=$?
if [ "$status" -eq 66 ] && grep -q 'WARNING: ThreadSanitizer: data race' <<<"$said" && grep -q 'rope2d_apply' <<<"$said"; then
    echo "1 passed, 0 failed, 0 skipped"
else
    printf '%s\nFAIL status %d: the race was not seen\n0 passed, 1 failed, 0 skipped\n' "$said" "$status"
    exit 1
fi

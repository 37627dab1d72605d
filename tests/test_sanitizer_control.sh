#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: test_sanitizer_control.sh PROGRAM
# The sanitizers must end each of the program's mistakes, and name the library's function where it is in the library.
set -uo pipefail
passed=0
failed=0
expect() { # MISTAKE TEXT FUNCTION
    local said status
    said=$("$program" "$1" 2>&1)
    status=$?
    if [ "$status" -ne 0 ] && grep -q "$2" <<<"$said" && grep -q "$3" <<<"$said"; then
        passed=$((passed + 1))
    else
        printf '%s\nFAIL %s, status %d: it was not seen\n' "$said" "$1" "$status"
        failed=$((failed + 1))
    fi
}

program=$1
if ! "$program"; then
    echo "FAIL without a mistake"
    failed=1
fi
expect bounds 'heap-buffer-overflow' rope2d_apply
expect leak 'LeakSanitizer: detected memory leaks' rope2d_device_create
expect overflow 'signed integer overflow' sanitizer_control.c
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

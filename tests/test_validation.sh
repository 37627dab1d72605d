#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Whether tools/with-validation notices what it is there for.
set -euo pipefail

usage() {
    echo "usage: test_validation.sh VALIDATION_CONTROL"
}

if [ $# -ne 1 ]; then
    usage >&2
    exit 2
fi
with_validation=${ROPE2D_SOURCE_ROOT:-$(dirname "$0")/..}/tools/with-validation
passed=0
failed=0

expect() { # WRONG STATUS TEXT
    local output status=0
    output=$("$with_validation" "$control" "$1" 2>&1) || status=$?
    if [ "$status" -eq "$2" ] && [[ $output == *"$3"* ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1: status $status, not $2, or no '$3' in: $output"
    fi
}

control=$1
status=0
"$control" clean >/dev/null 2>&1 || status=$?
if [ "$status" -ne 0 ]; then
    echo "no Vulkan device"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
fi
status=0
"$with_validation" true >/dev/null || status=$?
if [ "$status" -eq 77 ]; then
    echo "no validation layer"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
fi
expect clean 0 ''
expect usage 1 'VUID-VkBufferCreateInfo-size'
expect hazard 1 'SYNC-HAZARD-WRITE'
expect nothing-known 2 ''
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

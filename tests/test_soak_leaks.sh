#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: test_soak_leaks.sh SOAK
# A leak of the library's own memory and one of a driver's are each seen, and called by their names.
set -uo pipefail
passed=0
failed=0
check() { # LEAK WORDS
    said=$("$1" flat cpu 200000 20000 "$2")
    status=$?
    if [ "$status" -eq 1 ] && grep -q "applies: $3" <<<"$said" && grep -q "positions: $3" <<<"$said" &&
        ! grep -q "$4" <<<"$said"; then
        passed=$((passed + 1))
    else
        printf '%s\nFAIL %s, status %d\n' "$said" "$2" "$status"
        failed=$((failed + 1))
    fi
}
check "$1" own-leak "a leak of rope2d's own" "not rope2d's own"
check "$1" driver-leak "a leak that is not rope2d's own" "leak of rope2d's own"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

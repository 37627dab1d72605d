#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sum up test programs: a line for each, and last `N passed, N failed, N skipped`.

Reads meson's testlog.json, of one build or several, and believes the programs' own last lines. One that says
nothing counts as a single case; one that fails without a failed case, such as by a crash or a time limit, as a
failed one.
"""

import json
import pathlib
import re
import sys

COUNTS = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped$")
NOTE = "note: "  # what a test wants to be read even where it passes
TAIL = 60  # lines of a failed program's output that are repeated


def own_counts(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    found = COUNTS.search(lines[-1]) if lines else None
    return [int(number) for number in found.groups()] if found else None


def counts(test):
    result = test["result"]
    own = own_counts(test.get("stdout", ""))
    if result == "SKIP":
        return own if own and own[2] else [0, 0, 1]
    if result in ("OK", "EXPECTEDFAIL"):
        return own or [1, 0, 0]
    passed, failed, skipped = own or [0, 0, 0]
    return [passed, max(failed, 1), skipped]


def main():
    logs = [pathlib.Path(path) for path in sys.argv[1:]]
    if not logs:
        sys.exit("usage: tools/count.py TESTLOG.json...")
    tests = []
    for log in logs:
        build = f" ({log.parent.parent.name})" if len(logs) > 1 else ""
        for line in filter(str.strip, log.read_text(encoding="utf-8").splitlines()):
            test = json.loads(line)
            tests.append({**test, "name": test["name"] + build})
    tests.sort(key=lambda test: test["name"])
    total = [0, 0, 0]
    for test in tests:
        passed, failed, skipped = counts(test)
        total = [total[0] + passed, total[1] + failed, total[2] + skipped]
        if failed:
            print(f"-- {test['name']}: {test['result']}, exit status {test.get('returncode')}")
            for stream in ("stdout", "stderr"):
                for line in test.get(stream, "").splitlines()[-TAIL:]:
                    print("   " + line)
    width = max((len(test["name"]) for test in tests), default=0)
    for test in tests:
        passed, failed, skipped = counts(test)
        print(f"{test['name']:{width}}  {test['duration']:7.1f} s  {passed} passed, {failed} failed, {skipped} skipped")
        for line in test.get("stdout", "").splitlines():
            if line.startswith(NOTE):
                print("   " + line)
    if total[0] + total[1] == 0:
        print("no case ran")
        total[1] = 1
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    sys.exit(1 if total[1] else 0)


if __name__ == "__main__":
    main()

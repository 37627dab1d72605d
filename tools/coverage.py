#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print how many lines and branches of src/ ran: a line for each folder and the total.

Reads gcov's JSON of the library's own objects. Tests compile some of its files again, with other macros, and those are
not the library. Templates and inline functions are compiled several times in it: what ran in one of the copies ran.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys


class Source:
    """The lines of one file, {number: count}, and their branches, {number: [count, ...]}."""

    def __init__(self):
        self.lines = collections.Counter()
        self.branches = {}

    def add(self, line):
        number = line["line_number"]
        self.lines[number] += line["count"]
        counts = [branch["count"] for branch in line["branches"]]
        before = self.branches.get(number, [])
        longest, other = sorted((before, counts), key=len, reverse=True)
        self.branches[number] = [count + more for count, more in zip(longest, other + [0] * len(longest))]

    def sums(self):
        """Lines that ran, lines, branches that were taken, branches."""
        taken = [count > 0 for counts in self.branches.values() for count in counts]
        return [sum(count > 0 for count in self.lines.values()), len(self.lines), sum(taken), len(taken)]


def read(build, root):
    notes = sorted(path.relative_to(build) for path in build.glob("src/*.p/*.gcno"))
    if not notes:
        sys.exit(f"coverage: no object of the library with counters in {build}")
    command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", *map(str, notes)]
    sources = collections.defaultdict(Source)
    gcov = subprocess.run(command, cwd=build, capture_output=True, text=True)
    if gcov.returncode or "stamp mismatch" in gcov.stderr:  # else it only names sources without code
        sys.exit(f"coverage: {gcov.stderr}")
    for document in gcov.stdout.splitlines():
        for entry in json.loads(document)["files"]:
            path = (build / entry["file"]).resolve()
            if path.is_relative_to(root / "src"):
                for line in entry["lines"]:
                    sources[path.relative_to(root)].add(line)
    return sources


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def table(rows):
    """A line for each (name, sums)."""
    width = max(len(name) for name, _ in rows)
    print(f"{'':{width}}  lines           %      branches           %")
    for name, (ran, lines, taken, branches) in rows:
        print(f"{name:{width}}  {ran:5} of {lines:5}  {percent(ran, lines):5.1f}"
              f"  {taken:5} of {branches:5}  {percent(taken, branches):5.1f}")


def missing(sources):
    """The lines that did not run, and those of which a branch was not taken, of each file."""
    for path, source in sorted(sources.items()):
        lines = [number for number, count in sorted(source.lines.items()) if not count]
        half = [number for number, counts in sorted(source.branches.items())
                if source.lines[number] and not all(counts)]
        print(f"{path}\n  no line of: {' '.join(map(str, lines))}\n  not each branch of: {' '.join(map(str, half))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="a folder configured with -Db_coverage=true")
    parser.add_argument("--files", action="store_true", help="a line for each file, too")
    parser.add_argument("--missing", action="store_true", help="numbers of what did not run, and nothing else")
    parser.add_argument("--without", metavar="PART", help="leave out files with this in their name: what cannot run here")
    parser.add_argument("--least-lines", type=float, default=0, metavar="PERCENT")
    parser.add_argument("--least-branches", type=float, default=0, metavar="PERCENT")
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[1]
    sources = read(arguments.build.resolve(), root)
    if arguments.without:
        left_out = [path for path in sources if arguments.without in path.name]
        for path in left_out:
            del sources[path]
        print(f"left out: {len(left_out)} files of {arguments.without}, which this machine cannot run")
    if arguments.missing:
        missing(sources)
        return
    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    for path, source in sources.items():
        for name in (str(path.parent) + "/", "total"):
            folders[name] = [old + new for old, new in zip(folders[name], source.sums())]
    rows = [(str(path), source.sums()) for path, source in sorted(sources.items())] if arguments.files else []
    total = folders.pop("total")
    table(rows + sorted(folders.items()) + [("total", total)])
    if percent(*total[:2]) < arguments.least_lines or percent(*total[2:]) < arguments.least_branches:
        sys.exit(f"coverage: less than {arguments.least_lines} % of the lines or "
                 f"{arguments.least_branches} % of the branches")


if __name__ == "__main__":
    main()

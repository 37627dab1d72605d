#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the built library shows to its users and takes from the system.

usage: symbols.py SHARED_LIBRARY STATIC_LIBRARY HEADER...
"""

import pathlib
import re
import subprocess
import sys

LOADERS = re.compile(r"lib(vulkan|OpenCL|cjson|json)")
# The caller's process, terminal and files are not the library's.
PROCESS = set("abort exit _exit _Exit quick_exit atexit raise signal sigaction __assert_fail".split())
PRINTS = set(
    "printf puts putchar fprintf fputs fputc putc vprintf vfprintf perror __printf_chk __fprintf_chk "
    "stdout stderr syslog".split()
)
# Tables are the same on every machine only if no libm result reaches them.
TRANSCENDENTAL = {
    stem + suffix
    for stem in "sin cos tan sincos asin acos atan atan2 sinh cosh tanh exp exp2 exp10 expm1 log log2 log10 "
    "log1p pow cbrt hypot fma".split()
    for suffix in ("", "f", "l")
}
AT_EXIT = re.compile(r"^\.(init_array|fini_array|preinit_array|ctors|dtors|init|fini)(\..*)?$")
MUTABLE = re.compile(r"^\.(data|bss|tdata|tbss)(\.(?!rel\.ro).*)?$")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def names(path, *options):
    """Symbols, without the version that a shared library asks of another."""
    lines = output("nm", "-P", *options, path).splitlines()
    return {line.split()[0].split("@")[0] for line in lines if len(line.split()) > 1}


def declared(headers):
    text = "\n".join(pathlib.Path(header).read_text(encoding="utf-8") for header in headers)
    return set(re.findall(r"ROPE2D_API[^;(]*?\b(rope2d_\w+)\s*\(", text))


def sections(static, wanted):
    """Sections of the library's own objects whose name matches, and that are not empty."""
    found = set()
    member = "?"
    for line in output("readelf", "-SW", static).splitlines():
        if line.startswith("File: "):
            member = line.split("(")[-1].rstrip(")")
        section = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+\S+\s+\S+\s+([0-9a-f]+)", line)
        if section and wanted.match(section.group(1)) and int(section.group(2), 16):
            found.add(f"{member}:{section.group(1)}")
    return found


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def none(self, what, found):
        """A check that nothing was found."""
        if found:
            self.failed += 1
            print(f"FAIL {what}: {', '.join(sorted(found))}")
        else:
            self.passed += 1
            print(f"ok   {what}")


def main():
    shared, static, *headers = sys.argv[1:]
    exported = names(shared, "-D", "--defined-only")
    # Of the project's own objects: a static shaderc inside the shared library has habits of its own.
    taken = names(static, "--undefined-only")
    defined = names(static, "-g", "--defined-only")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", shared))
    report = Report()
    report.none("declared, not exported", declared(headers) - exported)
    report.none("exported, not declared", exported - declared(headers))
    report.none("static library: names outside rope2d_", {n for n in defined if not n.startswith("rope2d_")})
    report.none("linked loaders", {library for library in needed if LOADERS.match(library)})
    report.none("calls that end or disturb the process", taken & PROCESS)
    report.none("calls that print", taken & PRINTS)
    report.none("transcendental functions of libm", taken & TRANSCENDENTAL)
    report.none("global mutable state", sections(static, MUTABLE))
    report.none("code that runs at load or exit", sections(static, AT_EXIT))
    print(f"{report.passed} passed, {report.failed} failed, 0 skipped")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()

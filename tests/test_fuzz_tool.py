#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Test what tools/fuzz makes of programs that end in every way: none passes that did not run to its end.

usage: test_fuzz_tool.py SOURCE_ROOT
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile

RAN = "echo 'stat::number_of_executed_units: 5' >&2"
# What the shell runs in the place of a fuzzer; $prefix is that of -artifact_prefix. Then passed, failed, and what is said.
PROGRAMS = (
    ("ends well", RAN, 1, 0, ""),
    ("a dictionary that cannot be read", "echo ParseDictionaryFile: error >&2; exit 1", 0, 1, "status 1 and left no finding"),
    ("killed", "echo '#5 pulse' >&2; kill -9 $$", 0, 1, "status -9 and left no finding"),
    ("nothing executed", "exit 0", 0, 1, "executed nothing"),
    ("a finding, and then it goes on", f"{RAN}; [ -e ${{prefix}}crash ] || {{ : > ${{prefix}}crash; exit 77; }}", 0, 1, "calls-crash"),
    ("a finding, and then killed", f"{RAN}; [ -e ${{prefix}}crash ] && kill -9 $$; : > ${{prefix}}crash; exit 77", 0, 2, "status -9"),
)
HEAD = '#!/bin/sh\nfor one; do case $one in -artifact_prefix=*) prefix=${one#*=} ;; esac; done\n'


def main(arguments):
    path = str(pathlib.Path(arguments[0]) / "tools/fuzz")
    loader = importlib.machinery.SourceFileLoader("fuzz_tool", path)
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("fuzz_tool", loader))
    loader.exec_module(tool)
    passed = failed = 0
    for name, text, good, bad, said in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_text(HEAD + text + "\n")
            program.chmod(0o755)
            tool.build = lambda _folder, program=program: {"calls": program}
            sys.argv = [path, "--seconds", "5", "--folder", folder, "calls"]
            output, status = io.StringIO(), 0
            with contextlib.redirect_stdout(output):
                try:
                    tool.main()
                except SystemExit as end:
                    status = end.code
        lines = output.getvalue().splitlines()
        if lines[-1] == f"{good} passed, {bad} failed, 0 skipped" and status == (1 if bad else 0) and said in output.getvalue():
            passed += 1
        else:
            failed += 1
            print(f"FAIL {name}: status {status}", *lines, sep="\n     | ")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

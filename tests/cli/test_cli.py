#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Test the command line as its users see it.

usage: test_cli.py ROPE2D GOLDEN [--file-shim LIBRARY] [PART...]
    parts: usage npy apply presets outputs faults golden; default: all
"""
import importlib.util
import pathlib
import sys

if importlib.util.find_spec("numpy") is None:
    print("numpy is missing: nothing to compare the command line with\n0 passed, 0 failed, 1 skipped")
    sys.exit(77)  # what meson takes for a skip

import apply_files
import file_faults
import golden_cases
import model_presets
import npy_files
import output_files
import usage
from runner import Runner

PARTS = {"usage": usage.test, "npy": npy_files.test, "apply": apply_files.test, "presets": model_presets.test,
         "outputs": output_files.test, "faults": file_faults.test, "golden": golden_cases.test}


def main(arguments):
    file_shim = ""
    if "--file-shim" in arguments:
        at = arguments.index("--file-shim")
        file_shim = str(pathlib.Path(arguments[at + 1]).resolve())
        del arguments[at:at + 2]
    if len(arguments) < 2 or any(part not in PARTS for part in arguments[2:]):
        print(__doc__)
        return 2
    runner = Runner(arguments[0], arguments[1])
    runner.file_shim = file_shim
    runner.find_devices()
    for part in arguments[2:] or PARTS:
        PARTS[part](runner)
    return runner.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

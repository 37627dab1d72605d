#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Test the command line as its users see it.

usage: test_cli.py ROPE2D GOLDEN [PART...]   parts: usage npy apply presets outputs golden; default: all
"""
import importlib.util
import sys

if importlib.util.find_spec("numpy") is None:
    print("numpy is missing: nothing to compare the command line with\n0 passed, 0 failed, 1 skipped")
    sys.exit(77)  # what meson takes for a skip

import apply_files
import golden_cases
import model_presets
import npy_files
import output_files
import usage
from runner import Runner

PARTS = {"usage": usage.test, "npy": npy_files.test, "apply": apply_files.test, "presets": model_presets.test,
         "outputs": output_files.test, "golden": golden_cases.test}


def main(arguments):
    if len(arguments) < 2 or any(part not in PARTS for part in arguments[2:]):
        print(__doc__)
        return 2
    runner = Runner(arguments[0], arguments[1])
    runner.find_devices()
    for part in arguments[2:] or PARTS:
        PARTS[part](runner)
    return runner.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: list.py TARGET: the target's corpus, and its seeds and findings, a line each."""
import pathlib
import sys

folder = pathlib.Path(__file__).resolve().parent
print(folder / "corpus" / f"{sys.argv[1]}.bin")
for kind in "seeds", "findings":
    for path in sorted((folder / kind / sys.argv[1]).glob("*")):
        print(path)

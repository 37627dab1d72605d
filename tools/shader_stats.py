#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What RADV, AMD's Vulkan driver, makes of the vector kernels for nine families of GPUs, none of which need be here.

usage: shader_stats.py ROPE2D [--table]

Fails where a kernel spills registers; `rope2d verify --compile` tells the rest. --table prints the Markdown of
docs/performance.md.

Figures are for one element, as a lane sees it that rotates 8 heads: instructions, and "inverse throughput", the
driver's estimate of cycles in which a wave keeps the busiest unit busy. The driver assumes 8 rounds of a loop.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "compile"))
import machine_code
import radv
from kernels import EIGHT, KERNELS
from tool import Missing

VECTORS = [kernel for kernel in KERNELS if kernel.vector]
ROUNDS = 8


def statistics(program, module, family):
    """What the driver says of each kernel; None without the driver."""
    try:
        return radv.variants(program, module, family, VECTORS)
    except Missing:
        return None


def faults(found):
    spilled = [name for name in ("Spilled SGPRs", "Spilled VGPRs", "Scratch size") if found.get(name, 0) != 0]
    return spilled + ["fused multiply-adds"] * (machine_code.count_amd(found["code"])["fused"] > 0)


def loop(code):
    """Of the longest loop, about: its lines of machine code."""
    lines = code.splitlines()
    labels = {line.split(":")[0].strip(): at for at, line in enumerate(lines) if re.match(r"\s*BB\d+:", line)}
    ends = ((at, re.search(r"branch\w* .*?(BB\d+)", line)) for at, line in enumerate(lines))
    return max((at - labels[found[1]] for at, found in ends if found and labels.get(found[1], at) < at), default=0)


def per_element(found, elements):
    executed = found["Instructions"] + (ROUNDS - 1) * loop(found["code"])
    return executed / (ROUNDS * elements), found["Inverse Throughput"] / (ROUNDS * elements)


def print_table(results):
    print("| kernel | " + " | ".join(results) + " | VGPRs |")
    print("|---" * (len(results) + 2) + "|")
    for index, kernel in enumerate(VECTORS):
        elements = 16 if kernel.flags & EIGHT else 8
        cells = ["{:.0f}, {:.0f}".format(*per_element(found[index], elements)) for found in results.values()]
        most = max(found[index]["VGPRs"] for found in results.values())
        print(f"| {kernel.name.removeprefix('vector ')} | " + " | ".join(cells) + f" | {most} |")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        kernels = pathlib.Path(folder) / "kernels"
        subprocess.run([program, "emit", kernels], check=True, stdout=subprocess.DEVNULL)
        try:
            results = {family: statistics(program, kernels / "spirv/rope2d_vector.spv", family) for family in radv.FAMILIES}
        except Missing:
            results = {}
    missing = len(radv.FAMILIES) - sum(found is not None for found in results.values())
    results = {family: found for family, found in results.items() if found is not None}
    if not results:
        print("RADV is not here, or compiles for none of the families\n0 passed, 0 failed, 1 skipped")
        return 77
    passed = failed = 0
    for family, found in results.items():
        for kernel, one in zip(VECTORS, found):
            wrong = faults(one)
            passed += not wrong
            failed += bool(wrong)
            if wrong:
                print(f"FAIL {family}, {kernel.name}: {', '.join(wrong)}")
    if "--table" in sys.argv or failed:
        print_table(results)
    print(f"{passed} passed, {failed} failed, {missing} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What RADV, AMD's Vulkan driver, makes of the vector kernels for nine families of GPUs, none of which need be here.

usage: shader_stats.py PROGRAM MODULE SHADER [--table]

Fails where a kernel spills registers, or where its machine code multiplies and adds at once. As a control the
kernel without `precise` must be caught. --table prints the Markdown of docs/performance.md.

Figures are for one element, as a lane sees it that rotates 8 heads: instructions, and "inverse throughput", the
driver's estimate of cycles in which a wave keeps the busiest unit busy. The driver assumes 8 rounds of a loop.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

FAMILIES = ["polaris10", "vega10", "raven", "renoir", "stoney", "navi10", "navi21", "gfx1036", "gfx1100"]
ICD = next(iter(sorted(pathlib.Path("/usr/share/vulkan/icd.d").glob("radeon_icd*.json"))), None)
ONE_AXIS, INTERLEAVED, EIGHT, TEXTURE, TWO_SLOTS = 4, 8, 32, 128, 256
# The name, input and output type, flags of shaders/shape.h, and elements of a lane in a head.
VARIANTS = [
    ("f32, half, buffer", 0, 0, ONE_AXIS, 8),
    ("f32, half, texture", 0, 0, ONE_AXIS | TEXTURE, 8),
    ("f32, interleaved, buffer", 0, 0, INTERLEAVED, 8),
    ("f32, interleaved, texture", 0, 0, INTERLEAVED | TEXTURE, 8),
    ("f16, half, buffer", 1, 1, ONE_AXIS | EIGHT, 16),
    ("f16, interleaved, texture", 1, 1, INTERLEAVED | EIGHT | TEXTURE, 16),
    ("bf16, half, buffer", 2, 2, ONE_AXIS | EIGHT, 16),
    ("bf16, interleaved, texture", 2, 2, INTERLEAVED | EIGHT | TEXTURE, 16),
    ("f32 to f16, half, two tensors", 0, 1, TWO_SLOTS, 8),
    ("f32, two angles", 0, 0, 1, 8),
    ("f32, factored", 0, 0, 64, 8),
]
ROUNDS = 8


def statistics(program, module, family):
    """A dictionary for each variant; None without the driver."""
    environment = dict(os.environ, RADV_FORCE_FAMILY=family, VK_ICD_FILENAMES=str(ICD), VK_DRIVER_FILES=str(ICD))
    environment["MESA_SHADER_CACHE_DISABLE"] = "true"
    arguments = [f"{source}:{to}:{flags}" for _, source, to, flags, _ in VARIANTS]
    done = subprocess.run([program, module, *arguments], capture_output=True, text=True, env=environment)
    if done.returncode == 77:
        return None
    if done.returncode != 0:
        sys.exit(f"{family}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def faults(found):
    spilled = [name for name in ("Spilled SGPRs", "Spilled VGPRs", "Scratch size") if found.get(name, 0) != 0]
    return spilled + ["fused multiply-adds"] * (found["Fused"] > 0)


def per_element(found, elements):
    executed = found["Instructions"] + (ROUNDS - 1) * found["Loop"]
    return executed / (ROUNDS * elements), found["Inverse Throughput"] / (ROUNDS * elements)


def print_table(results):
    print("| kernel | " + " | ".join(results) + " | VGPRs |")
    print("|---" * (len(results) + 2) + "|")
    for index, (name, *_, elements) in enumerate(VARIANTS):
        cells = ["{:.0f}, {:.0f}".format(*per_element(found[index], elements)) for found in results.values()]
        most = max(found[index]["VGPRs"] for found in results.values())
        print(f"| {name} | " + " | ".join(cells) + f" | {most} |")


def build_control(shader, folder):
    module = pathlib.Path(folder) / "imprecise.spv"
    command = ["glslc", "--target-env=vulkan1.0", "-O0", "-DR_VECTOR=1", "-Dprecise=", "-o", module, shader]
    subprocess.run(command, check=True)
    return module


def main():
    program, module, shader = sys.argv[1:4]
    if ICD is None:
        print("RADV is not here\n0 passed, 0 failed, 1 skipped")
        return 77
    results = {family: statistics(program, module, family) for family in FAMILIES}
    results = {family: found for family, found in results.items() if found is not None}
    if not results:
        print("RADV compiles for none of the families\n0 passed, 0 failed, 1 skipped")
        return 77
    passed = failed = 0
    for family, found in results.items():
        for (name, *_), one in zip(VARIANTS, found):
            wrong = faults(one)
            passed += not wrong
            failed += bool(wrong)
            if wrong:
                print(f"FAIL {family}, {name}: {', '.join(wrong)}")
    with tempfile.TemporaryDirectory() as folder:
        control = statistics(program, build_control(shader, folder), "navi21") or []
        caught = bool(control) and all("fused multiply-adds" in faults(one) for one in control[:4])
        passed += caught
        failed += not caught
        if not caught:
            print("FAIL the kernel without `precise` was not caught")
    if "--table" in sys.argv or failed:
        print_table(results)
    print(f"{passed} passed, {failed} failed, {len(FAMILIES) - len(results)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernels that tools/compile gives to compilers are those that plans take on a GPU.

usage: test_listed_kernels.py CHOSEN_KERNELS vulkan|opencl SHIM

CHOSEN_KERNELS has the library make plans of the bench's towers on a device that seems a GPU, and prints what reaches the driver.
"""
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools" / "compile"))
from kernels import CONVERTS, KERNELS, MORE_KERNELS, TEXTURE, is_opencl, opencl_options, vulkan_constants

SKIP = 77
COMMON = ("qwen2vl", "sam2", "dinov3", "flux", "wan")


def choose(program, backend, shim, *options):
    """What reaches the driver, and of which towers; None where there is no driver."""
    done = subprocess.run([program, backend, shim, *options], capture_output=True, text=True, check=False)
    if done.returncode == SKIP:
        print(done.stderr.strip())
        return None
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-1000:]}{done.stderr}{program}: exit status {done.returncode}")
    chosen = {}
    for line in done.stdout.splitlines():
        what, tower = line.split("\t")
        chosen.setdefault(what, set()).add(tower)
    return chosen


def as_vulkan(kernel):
    """Without a self-test no kernel has the device's own conversions."""
    constants = vulkan_constants(kernel)
    return " ".join(map(str, [kernel.vector, *constants[:3], constants[3] & ~CONVERTS]))


def as_opencl(kernel):
    return " ".join(opencl_options(kernel))


def missing(chosen, listed):
    """What common towers take of one type, with a buffer, and no list has."""
    for what, towers in chosen.items():
        vector, _, source, to, flags = map(int, what.split())
        if vector and source == to and not flags & TEXTURE and what not in listed and any(tower.startswith(COMMON) for tower in towers):
            yield what


def main():
    program, backend, shim = sys.argv[1:]
    listed = [(kernel, as_vulkan(kernel)) for kernel in KERNELS + MORE_KERNELS]
    runs = [(2, ()), (1, ("minimum",))]
    if backend == "opencl":
        listed = [(kernel, as_opencl(kernel)) for kernel in KERNELS + MORE_KERNELS if is_opencl(kernel)]
        runs = runs[:1]
    passed = failed = 0
    for slots, options in runs:
        chosen = choose(program, backend, shim, *options)
        if chosen is None:
            print("0 passed, 0 failed, 1 skipped")
            sys.exit(SKIP)
        for kernel, what in listed:
            if kernel.slots == slots:
                passed += what in chosen
                failed += what not in chosen
                print(f"{kernel.name}: {'; '.join(sorted(chosen.get(what, ())))}" if what in chosen else
                      f"FAIL {kernel.name}: no plan takes {what}")
        if backend == "vulkan" and slots == 2:
            absent = list(missing(chosen, {what for _, what in listed}))
            passed += not absent
            failed += len(absent)
            print("".join(f"FAIL no kernel is {what}: {'; '.join(sorted(chosen[what]))}\n" for what in absent), end="")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

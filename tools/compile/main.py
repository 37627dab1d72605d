#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile rope2d's kernels for hardware that is not here, and read the machine code. Nothing is run.

usage: main.py ROPE2D [--quick] [--descriptor N] [--folder FOLDER]

ROPE2D is the program whose kernels are compiled. Each kernel, control and missing compiler is a line of JSON on the
descriptor, or on standard output: {"count": N} comes first, {"result": ...}, {"control": ...} and {"skip": ...} after it,
and {"compiler": ...} before a compiler's first. `rope2d verify --compile` starts this, reports what it says,
and removes the folder, below which all temporary files are, whatever becomes of this.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import types

sys.dont_write_bytecode = True  # where it is installed nothing may be writable
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import opencl
import radv
import spirv
from kernels import KERNELS, QUICK
from tool import Missing, run


def jobs(folder, is_quick):
    """(name, version, [target], compile) of each compiler, or what is missing."""
    for module in (spirv, radv):
        try:
            if not (folder / "spirv").exists():
                raise Missing("the program was built without Vulkan")
            yield module.NAME, module.version, module.targets(is_quick), module.compile_for
        except Missing as error:
            yield {"what": module.NAME, "why": str(error)}
    for kind in opencl.COMPILERS:
        try:
            if not (folder / "opencl").exists():
                raise Missing("the program was built without OpenCL")
            one = kind()
            yield (kind.NAME, lambda job, one=one: one.version(), kind.QUICK if is_quick else kind.TARGETS,
                   lambda job, target, one=one: opencl.compile_for(job, one, target))
        except Missing as error:
            yield {"what": kind.NAME, "why": str(error)}


def work(job, is_quick, say):
    planned = list(jobs(job.folder, is_quick))
    say({"count": sum(len(one[2]) for one in planned if not isinstance(one, dict))})
    for one in planned:
        if isinstance(one, dict):
            say({"skip": one})
            continue
        name, version, targets, compile_for = one
        say({"compiler": {"name": name, "version": version(job).strip()}})
        for target in targets:
            try:
                for line in compile_for(job, target):
                    say(line)
            except Missing as error:
                say({"skip": {"what": f"{name} {target}", "why": str(error)}})
            say({"done": target})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--descriptor", type=int, default=1)
    parser.add_argument("--folder")
    options = parser.parse_args()
    if options.folder:
        os.environ["TMPDIR"] = options.folder  # the compilers' own
    with tempfile.TemporaryDirectory() as folder, os.fdopen(options.descriptor, "w") as file:
        kernels = pathlib.Path(folder) / "kernels"
        done = run([options.program, "emit", kernels])
        if done.returncode != 0:
            sys.exit(done.stderr)
        job = types.SimpleNamespace(program=options.program, folder=kernels, kernels=QUICK if options.quick else KERNELS)
        work(job, options.quick, lambda line: print(json.dumps(line), file=file, flush=True))


if __name__ == "__main__":
    main()

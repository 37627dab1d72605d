#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What every SPIR-V module must be: valid for Vulkan 1.0, without optional features, never contracted.

usage: test_spirv.py SHADER MODULE...

Software devices do not fuse, so a missing NoContraction would not show in their results: it is looked for
in the disassembly. As a control each kind of module is built once more without `precise`, and must be caught.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOOLS = ("spirv-val", "spirv-dis", "glslc")
ROUNDED = {"OpFAdd", "OpFSub", "OpFMul"}
# Products and sums in disguise, which NoContraction would not split.
DISGUISED = {
    "OpDot", "OpVectorTimesScalar", "OpMatrixTimesScalar", "OpVectorTimesMatrix", "OpMatrixTimesVector",
    "OpMatrixTimesMatrix", "OpOuterProduct",
}  # fmt: skip
INSTRUCTION = re.compile(r"\s*(?:(%\w+) = )?(Op\w+)(.*)")


def disassemble(module):
    command = ["spirv-dis", "--raw-id", "--no-color", module]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    matches = (INSTRUCTION.match(line) for line in text.splitlines())
    return text, [match.groups() for match in matches if match]


def arithmetic_faults(instructions):
    """What could be contracted, or already is."""
    safe = set()
    for _, operation, rest in instructions:
        words = rest.split()
        if operation == "OpDecorate" and words[1] == "NoContraction":
            safe.add(words[0])
    faults = []
    seen = set()
    for result, operation, rest in instructions:
        if operation in ROUNDED:
            seen.add(operation)
            if result not in safe:
                faults.append(f"{operation} {result} may be contracted")
        elif operation in DISGUISED:
            faults.append(f"{operation} {result} multiplies and adds at once")
        elif operation == "OpExtInst" and rest.split()[2] == "Fma":
            faults.append(f"Fma {result}")
    faults += [f"there is no {operation} at all" for operation in sorted(ROUNDED - seen)]
    return faults


def feature_faults(text, instructions):
    """What Vulkan 1.0 without optional features does not have."""
    faults = []
    if "; Version: 1.0\n" not in text:
        faults.append("the module is not SPIR-V 1.0")
    for _, operation, rest in instructions:
        # These go when src/vulkan/fold.c finds no use for them; test_fold.py looks at that.
        if operation == "OpCapability" and rest.split() not in (["Shader"], ["Float16"], ["Int64"]):
            faults.append(f"capability{rest}")
        if operation == "OpExtension":
            faults.append(f"extension{rest}")
    return faults


def validation_faults(module):
    done = subprocess.run(["spirv-val", "--target-env", "vulkan1.0", module], capture_output=True, text=True)
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


def build_without_precise(shader, name, folder):
    """The module of this name again, every `precise` gone."""
    module = pathlib.Path(folder) / f"{name}_imprecise.spv"
    command = ["glslc", "--target-env=vulkan1.0", "-O"]
    command += ["-DR_VECTOR=1", "-DR_FEATURES"] if name == "rope2d_vector" else ["-DR_VECTOR=0"]
    command += ["-Dprecise=", "-o", module, shader]
    subprocess.run(command, check=True)
    return module


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def none(self, what, faults):
        if faults:
            self.failed += 1
            print(f"FAIL {what}:", *faults[:5], sep="\n     ")
        else:
            self.passed += 1

    def some(self, what, faults):
        self.none(what, [] if faults else ["was not caught"])


def main():
    shader, *modules = [pathlib.Path(argument) for argument in sys.argv[1:]]
    report = Report()
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print(f"not here: {', '.join(missing)}")
        report.skipped = len(modules)
    elif not modules:
        report.none("modules", ["there are none"])
    else:
        with tempfile.TemporaryDirectory() as folder:
            for module in modules:
                text, instructions = disassemble(module)
                report.none(f"{module.name}: validity", validation_faults(module))
                report.none(f"{module.name}: arithmetic", arithmetic_faults(instructions))
                report.none(f"{module.name}: features", feature_faults(text, instructions))
                _, control = disassemble(build_without_precise(shader, module.stem, folder))
                report.some(f"{module.name} without precise", arithmetic_faults(control))
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped")
    if report.failed:
        return 1
    return 77 if report.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

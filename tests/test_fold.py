#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What src/vulkan/fold.c leaves of modules: valid SPIR-V without what the constants rule out.

usage: test_fold.py FOLD_ONE MODULE...

Small modules in assembly each try one thing; the kernels' own are folded with many values. spirv-val judges all.
"""

import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOOLS = ("spirv-as", "spirv-val", "spirv-dis")

# Of the kernels' constants, after the size of a workgroup: an element, and flags, as shaders/shape.h numbers them.
F16 = 1
EIGHT, TEXTURE, TWO_SLOTS, CONVERTS, LONG, LONG_STORES = 32, 128, 256, 512, 8192, 16384
ALL = EIGHT + TEXTURE + TWO_SLOTS + CONVERTS + LONG + LONG_STORES

# Two constants, of which the values decide; a store of a number tells which way was taken.
HEAD = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %a SpecId 0
OpDecorate %b SpecId 1
OpDecorate %open SpecId 9
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%function = OpTypeFunction %void
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%n11 = OpConstant %uint 11
%n22 = OpConstant %uint 22
%n33 = OpConstant %uint 33
%half = OpConstant %float 0.5
%true = OpConstantTrue %bool
%false = OpConstantFalse %bool
%a = OpSpecConstant %uint 0
%b = OpSpecConstant %uint 0
%open = OpSpecConstant %uint 0
%a_is_one = OpSpecConstantOp %bool IEqual %a %one
%a_has_two = OpSpecConstantOp %uint BitwiseAnd %a %two
%block = OpTypeStruct %uint
%to_block = OpTypePointer Uniform %block
%to_uint = OpTypePointer Uniform %uint
%buffer = OpVariable %to_block Uniform
"""
STORE = "%at{0} = OpAccessChain %to_uint %buffer %zero\nOpStore %at{0} {1}\n"


def store(number):
    return STORE.format("_" + number.strip("%"), number)


def main_function(body):
    return f"%main = OpFunction %void None %function\n%entry = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"


def choice(condition, then, otherwise, before="", after=""):
    return (f"{before}\nOpSelectionMerge %end None\nOpBranchConditional {condition} %then %else\n"
            f"%then = OpLabel\n{then}\nOpBranch %end\n%else = OpLabel\n{otherwise}\nOpBranch %end\n%end = OpLabel\n{after}")  # fmt: skip


SIMPLE = HEAD + main_function(choice("%a_is_one", store("%n11"), store("%n22"), after=store("%n33")))
DECORATED = HEAD.replace("OpDecorate %block", "OpDecorate %gone NoContraction\nOpDecorate %block", 1)
GONE = "%gone = OpFAdd %float %half %half\n"
PHI = "%which = OpPhi %uint %n11 %then %n22 %else\n" + store("%which")
KNOWN_PHI = "%which = OpPhi %uint %one %then %two %else\n%again = OpIEqual %bool %which %one\n"
LATER = "OpSelectionMerge %last None\nOpBranchConditional %again %yes %last\n%yes = OpLabel\n" + store("%n33") + "OpBranch %last\n%last = OpLabel\n"  # fmt: skip
LOADED = "%ptr = OpAccessChain %to_uint %buffer %zero\n%read = OpLoad %uint %ptr\n%unknown = OpIEqual %bool %read %one\n"
LOOP = """OpBranch %top
%top = OpLabel
OpLoopMerge %after %next None
OpBranchConditional %a_is_one %inside %after
%inside = OpLabel
{0}
OpBranch %next
%next = OpLabel
OpBranch %top
%after = OpLabel
""".format(LOADED + store("%n11"))
LOOP = LOOP.replace("OpBranch %next\n", "OpSelectionMerge %same None\nOpBranchConditional %unknown %same %leave\n%leave = OpLabel\n"
                    "OpBranch %after\n%same = OpLabel\nOpBranch %next\n", 1)  # fmt: skip
CALLED = "%other = OpFunction %void None %function\n%first = OpLabel\n" + store("%n33") + "OpReturn\nOpFunctionEnd\n"
CALL = "%called = OpFunctionCall %void %other\n"
# What takes a feature: types of 64-bit integers and of 16-bit floats, and what is made of them.
WIDE = HEAD.replace("OpCapability Shader\n", "OpCapability Shader\nOpCapability Int64\nOpCapability Float16\n").replace(
    "OpDecorate %a SpecId 0", 'OpName %kept "kept"\nOpName %local "local"\nOpMemberName %pair 1 "second"\nOpDecorate %a SpecId 0') + """
%long = OpTypeInt 64 0
%longs = OpTypeArray %long %two
%pair = OpTypeStruct %uint %longs
%to_pair = OpTypePointer Function %pair
%no_long = OpConstantNull %pair
%takes_long = OpTypeFunction %void %to_pair
%short = OpTypeFloat 16
%shorts = OpTypeVector %short 2
%to_shorts = OpTypePointer Function %shorts
%short_one = OpConstant %short 1
%shorts_one = OpConstantComposite %shorts %short_one %short_one
%no_short = OpUndef %shorts
%to_local = OpTypePointer Function %uint
"""
LOCALS = ("%local = OpVariable %to_pair Function\n%local_shorts = OpVariable %to_shorts Function\n"
          "%kept = OpVariable %to_local Function\n")
TAKES_LONG = ("%other = OpFunction %void None %takes_long\n%parameter = OpFunctionParameter %to_pair\n%first = OpLabel\n" + store("%n33")
              + "OpReturn\nOpFunctionEnd\n")


def wide(used, after=""):
    names = 'OpName %parameter "parameter"\n' if after else ""
    return WIDE.replace("OpName", names + "OpName", 1) + main_function(LOCALS + choice("%a_is_one", used, store("%n22"))) + after


SWITCH = f"OpSelectionMerge %end None\nOpSwitch %a %end 1 %then\n%then = OpLabel\n{store('%n11')}OpBranch %end\n%end = OpLabel\n"


def logical(operation, operands, before=LOADED):
    line = f"%made = {operation} %bool {operands}\n"
    return HEAD + main_function(choice("%made", store("%n11"), store("%n22"), before=before + line))


# name, module, values, numbers that are still stored, and a word that must, or with ! must not, be there
CASES = [
    ("a branch taken", SIMPLE, (1, 0), "11 33", "!OpSelectionMerge"),
    ("a branch not taken", SIMPLE, (0, 0), "22 33", "!OpBranchConditional"),
    ("a constant that nobody gives", SIMPLE, (), "11 22 33", "OpBranchConditional"),
    ("another SpecId", SIMPLE.replace("IEqual %a %one", "IEqual %open %one"), (1, 1), "11 22 33", "OpBranchConditional"),
    ("bits", SIMPLE.replace("IEqual %a %one", "INotEqual %a_has_two %zero").replace(
        "%a_has_two = OpSpecConstantOp %uint BitwiseAnd %a %two\n", "").replace(
        "%a_is_one =", "%a_has_two = OpSpecConstantOp %uint BitwiseAnd %a %two\n%a_is_one ="), (6, 0), "11 33", ""),
    ("a decoration of what is gone", DECORATED + main_function(choice("%a_is_one", GONE + store("%n11"), store("%n22"))), (0,),
     "22", "!NoContraction"),
    ("and of what stays", DECORATED + main_function(choice("%a_is_one", GONE + store("%n11"), store("%n22"))), (1,), "11", "NoContraction"),
    ("a phi", HEAD + main_function(choice("%a_is_one", "", "", after=PHI)), (1,), "11", ""),
    ("a phi that is known", HEAD + main_function(choice("%a_is_one", "", "", after=KNOWN_PHI + LATER)), (0,), "", ""),
    ("and its other way", HEAD + main_function(choice("%a_is_one", "", "", after=KNOWN_PHI + LATER)), (1,), "33", ""),
    ("a phi of what is open", HEAD + main_function(choice("%unknown", "", "", before=LOADED, after=KNOWN_PHI + LATER)), (1,), "33",
     "OpBranchConditional"),
    ("a loop that is not entered", HEAD + main_function(LOOP), (0,), "", "OpLoopMerge"),
    ("a loop that is", HEAD + main_function(LOOP), (1,), "11", "OpLoopMerge"),
    ("a function that nobody calls", HEAD + main_function(choice("%a_is_one", CALL, "")) + CALLED, (0,), "", "!OpFunctionCall"),
    ("a function that is called", HEAD + main_function(choice("%a_is_one", CALL, "")) + CALLED, (1,), "33", "OpFunctionCall"),
    ("64-bit integers that nothing loads", wide("%read = OpLoad %pair %local\n"), (0,), "22", "!Int64"),
    ("and that something does", wide("%read = OpLoad %pair %local\n"), (1,), "", "Int64"),
    ("64-bit integers that no call takes", wide("%called = OpFunctionCall %void %other %local\n", TAKES_LONG), (0,), "22", '!Int64|"parameter"'),
    ("and that one does", wide("%called = OpFunctionCall %void %other %local\n", TAKES_LONG), (1,), "33", "Int64"),
    ("16-bit floats that nothing stores", wide("OpStore %local_shorts %shorts_one\n"), (0,), "22", "!Float16"),
    ("and that something does", wide("OpStore %local_shorts %shorts_one\n" + store("%n11")), (1,), "phi 11", "Float16"),
    ("names of what stays", wide(store("%n11")), (1,), "11", 'OpName %[0-9]+ "kept"'),
    ("and of what does not", wide(store("%n11")), (1,), "11", '!"local"|"second"'),
    ("a switch is left", HEAD + main_function(SWITCH), (0,), "11", "OpSwitch"),
    ("false and unknown", logical("OpLogicalAnd", "%unknown %false"), (0,), "22", "!OpBranchConditional"),
    ("true and unknown", logical("OpLogicalAnd", "%unknown %true"), (0,), "11 22", "OpBranchConditional"),
    ("true or unknown", logical("OpLogicalOr", "%true %unknown"), (0,), "11", "!OpBranchConditional"),
    ("false or unknown", logical("OpLogicalOr", "%false %unknown"), (0,), "11 22", "OpBranchConditional"),
    ("not", logical("OpLogicalNot", "%a_is_one", ""), (1,), "22", "!OpBranchConditional"),
    ("equal", logical("OpLogicalEqual", "%a_is_one %false", ""), (0,), "11", "!OpBranchConditional"),
    ("not equal", logical("OpLogicalNotEqual", "%a_is_one %false", ""), (0,), "22", "!OpBranchConditional"),
    ("select", logical("OpSelect", "%a_is_one %true %false", ""), (0,), "22", "!OpBranchConditional"),
]  # fmt: skip


class Folds:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def check(self, what, faults):
        self.counts["failed" if faults else "passed"] += 1
        if faults:
            print(f"FAIL {what}: {'; '.join(faults)}")

    def run(self, *command):
        return subprocess.run(list(map(str, command)), capture_output=True, text=True)

    def fold(self, module, values):
        """The text of the folded module, and what is wrong with it."""
        folded = self.folder / "folded.spv"
        done = self.run(self.program, module, folded, *values)
        if done.returncode:
            return "", [f"exit status {done.returncode}"]
        valid = self.run("spirv-val", "--target-env", "vulkan1.0", folded)
        text = self.run("spirv-dis", "--no-color", "--raw-id", folded).stdout
        return text, [valid.stdout + valid.stderr] if valid.returncode else []

    def small(self, name, source, values, stored, pattern):
        module = self.folder / "module.spv"
        made = subprocess.run(["spirv-as", "--target-env", "spv1.0", "--preserve-numeric-ids", "-", "-o", str(module)],
                              input=source, capture_output=True, text=True)  # fmt: skip
        if made.returncode or self.run("spirv-val", "--target-env", "vulkan1.0", module).returncode:
            valid = self.run("spirv-val", "--target-env", "vulkan1.0", module)
            self.check(name, ["the test's own module is wrong: " + made.stderr + valid.stdout + valid.stderr])
            return
        text, faults = self.fold(module, values)
        numbers = dict(re.findall(r"(%\d+) = OpConstant %\d+ (\d+)\b", text))
        found = [numbers.get(number, "phi") for number in re.findall(r"OpStore %\d+ (%\d+)", text)]
        phi = re.search(r"OpPhi %\d+((?: %\d+)+)", text)
        if found == ["phi"] and phi and len(phi.group(1).split()) == 2:
            found = [numbers[phi.group(1).split()[0]]]
        if not faults and " ".join(found) != stored:
            faults.append(f"stores {' '.join(found) or 'nothing'}, not {stored or 'nothing'}")
        absent, word = pattern.startswith("!"), pattern.lstrip("!")
        if not faults and word and (re.search(word, text) is not None) == absent:
            faults.append(f"{'has' if absent else 'has no'} {word}")
        self.check(f"{name}: {values}", faults)

    def kernel(self, module):
        """For elements and flags: features are there where these want them. Fewer of what the compiler left as it was."""
        name, _, is_as_compiled = module.stem.partition(".")
        elements, flags = ((0, F16), (0, CONVERTS, LONG, ALL)) if is_as_compiled else (
            (0, F16, 2), (0, 1, 2, CONVERTS, LONG, LONG + LONG_STORES, CONVERTS + LONG, ALL))  # fmt: skip
        for one, other, some in itertools.product(elements, elements, flags):
            text, faults = self.fold(module, (64, one, other, some))
            wanted = {"Int64": some & LONG != 0, "Float16": some & CONVERTS != 0 and F16 in (one, other)}
            wrong = [feature for feature in wanted
                     if (f"OpCapability {feature}" in text) != (wanted[feature] and name == "rope2d_vector")]
            if not faults and wrong:
                faults.append(f"{' and '.join(wrong)}: not there where it is asked for, or the other way about")
            self.check(f"{module.stem} with {one}, {other} and {some}", faults)


def main():
    program, *modules = [pathlib.Path(argument) for argument in sys.argv[1:]]
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print(f"not here: {', '.join(missing)}\n0 passed, 0 failed, 1 skipped")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folds = Folds(program, pathlib.Path(name))
        for case in CASES:
            folds.small(*case)
        for module in modules:
            folds.kernel(module)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**folds.counts))
    sys.exit(1 if folds.counts["failed"] else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What compilers make of the kernels for GPUs, none of which need be here: AMD's Vulkan driver, and Intel's ocloc.

usage: shader_stats.py ROPE2D [--table | --write]

Fails where a kernel spills registers or multiplies and adds at once (`rope2d verify --compile` tells the rest), and
where docs/performance.md has other figures than these compilers give: each row that moved is printed, old and new.
--table prints the tables, --write puts them there.

Figures are for one element, as a lane sees it. Of AMD: instructions, "inverse throughput", the driver's estimate of
cycles in which a wave keeps the busiest unit busy, and latency, its estimate of cycles from a wave's begin to its end.
Of loops, which factored kernels have, instructions are counted once, and the driver assumes 8 rounds. Of Intel:
instructions for 16 lanes.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "compile"))
import element_cost
import machine_code
import opencl
import radv
from kernels import KERNELS, MORE_KERNELS, is_opencl
from tool import Missing

PAGE = ROOT / "docs" / "performance.md"
ALL = sorted(KERNELS + MORE_KERNELS, key=lambda kernel: (not kernel.vector, kernel.name))
TAKEN_APART = ("navi21", "polaris10")
INTEL = ["skl", "tgllp", "dg2"]
INTEL_KERNELS = [kernel for kernel in ALL if kernel in KERNELS and is_opencl(kernel)]


def name_of(kernel):
    return kernel.name.removeprefix("vector ")


def amd_results(program, emitted):
    """For each family that the driver knows: for each kernel what it says of it."""
    results = {}
    for family in radv.FAMILIES:
        found = {}
        try:
            for vector, module in ((1, "rope2d_vector.spv"), (0, "rope2d_single.spv")):
                kernels = [kernel for kernel in ALL if kernel.vector == vector]
                found.update(zip(kernels, radv.variants(program, emitted / "spirv" / module, family, kernels)))
        except Missing:
            continue
        results[family] = found
    return results


def amd_faults(found):
    spilled = [name for name in ("Spilled SGPRs", "Spilled VGPRs", "Scratch size") if found.get(name, 0) != 0]
    return spilled + ["fused multiply-adds"] * (machine_code.count_amd(found["code"])["fused"] > 0)


def intel_results(emitted):
    if not (emitted / "opencl").exists():
        raise Missing("this build has no kernels for OpenCL")
    compiler = opencl.Intel()

    def compile_one(job):
        listing = compiler.compile(emitted / "opencl/rope2d.cl", job[0], opencl.opencl_options(job[1]))
        return listing, compiler.facts(listing)

    jobs = [(target, kernel) for target in INTEL for kernel in INTEL_KERNELS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(compile_one, jobs))
    return {target: {kernel: one for (other, kernel), one in zip(jobs, found) if other == target} for target in INTEL}


def intel_faults(found):
    return [name for name in ("spills", "scratch", "fused", "mixed") if found[1].get(name, 0) != 0]


def rows(heads, lines):
    return ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *("| " + " | ".join(line) + " |" for line in lines)]


def amd_table(results):
    lines = []
    for kernel in ALL:
        cells = ["{:.0f}, {:.0f}, {:.0f}".format(*element_cost.amd(found[kernel], kernel)) for found in results.values()]
        lines.append([name_of(kernel), *cells, str(max(found[kernel]["VGPRs"] for found in results.values()))])
    apart = [[f"{name_of(kernel)}, {family}", *(f"{part:.1f}" for part in element_cost.amd_parts(results[family][kernel], kernel))]
             for kernel in KERNELS if kernel.vector and kernel.name.endswith(("f32:f32 half buffer", "f32:f32 interleaved buffer")) for family in TAKEN_APART if family in results]
    return [radv.version(None) + ":", "", *rows(["kernel", *results, "VGPRs"], lines), "",
            *rows(["instructions", *element_cost.KINDS], apart)]


def intel_table(results):
    lines = []
    for kernel in INTEL_KERNELS:
        costs = [element_cost.intel(found[kernel][0], kernel) for found in results.values()]
        lines.append([name_of(kernel), *(f"{cost:.0f} ({width})" for cost, width in costs)])
    return [opencl.Intel().version() + ":", "", *rows(["kernel", *results], lines)]


def judge(compiler, results, faults):
    """Passed and failed kernels."""
    passed = failed = 0
    for target, found in results.items():
        for kernel, one in found.items():
            wrong = faults(one)
            passed += not wrong
            failed += bool(wrong)
            if wrong:
                print(f"FAIL {compiler} {target}, {kernel.name}: {', '.join(wrong)}")
    return passed, failed


def first_cell(line):
    return line.split("|")[1].strip() if line.startswith("|") else line


def compare(name, text, table, is_written):
    """The page's text, and 1 passed, failed or skipped: a page of another compiler's figures is not compared."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = text.split(begin)
    was, after = rest.split(end)
    new = f"{before}{begin}\n\n" + "\n".join(table) + f"\n\n{end}{after}"
    old = was.strip("\n").splitlines()
    if is_written or old == table:
        return new, (1, 0, 0)
    if old[:1] != table[:1]:
        print(f"{name}: the page has figures of {old[:1]}, here is {table[0]}")
        return text, (0, 0, 1)
    print(f"FAIL {name}: docs/performance.md has other figures; --write puts these there:")
    for line in table:
        if line not in old:
            print("\n".join(f"  was {other}" for other in old if first_cell(other) == first_cell(line)))
            print(f"  is  {line}")
    return text, (0, 1, 0)


def main():
    program, options = sys.argv[1], sys.argv[2:]
    counts = [0, 0, 0]
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        emitted = pathlib.Path(folder) / "kernels"
        subprocess.run([program, "emit", emitted], check=True, stdout=subprocess.DEVNULL)
        for name, measure, faults, make_table in (("amd", lambda: amd_results(program, emitted), amd_faults, amd_table),
                                                  ("intel", lambda: intel_results(emitted), intel_faults, intel_table)):
            try:
                results = measure()
            except Missing as error:
                results = {}
                print(f"{name}: {error}")
            if not results:
                counts[2] += 1
                continue
            passed, failed = judge(name, results, faults)
            table = make_table(results)
            if "--table" in options:
                print("\n".join(table))
            text, compared = compare(name, text, table, "--write" in options)
            counts = [sum(both) for both in zip(counts, compared, (passed, failed, 0))]
    if "--write" in options:
        PAGE.write_text(text, encoding="utf-8")
    passed, failed, skipped = counts
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0 if passed else 77


if __name__ == "__main__":
    sys.exit(main())

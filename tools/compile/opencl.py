# SPDX-License-Identifier: MIT
"""OpenCL compilers that need no device: Intel's ocloc, and clang for AMD and NVIDIA."""
import pathlib
import re
import shutil
import tempfile

import machine_code
from kernels import CONTROL, is_opencl, opencl_options
from tool import Missing, complaint, control, find, result, run

# A fused multiply-add, and a result in fp16 of a product and a sum in fp32.
FUSED = """__kernel void rope2d(__global float *a, __global const float *b) {
    size_t i = get_global_id(0);
    a[i] = fma(a[i], b[i], a[i + 1]);
}
"""
MIXED = """__kernel void rope2d(__global const float *a, __global const float *b, __global half *out) {
    size_t i = get_global_id(0);
    vstore_half(mad(a[i], b[i], a[i + 1]), i, out);
}
"""


def first_number(pattern, text):
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


class Intel:
    NAME = "ocloc"
    TARGETS = ["skl", "kbl", "tgllp", "adl-p", "dg2", "xe_hp_sdv", "pvc"]
    QUICK = ["dg2"]
    MIXING = ("skl", "kbl", "tgllp", "adl-p")
    LOOSE = ["-cl-mad-enable"]
    UNFUSED = ()

    def __init__(self):
        find("ocloc")

    def version(self):
        found = run(["dpkg-query", "-W", "-f", "intel-opencl-icd ${Version}, ", "intel-opencl-icd"]).stdout
        return found + run(["dpkg-query", "-W", "-f", "libigc1 ${Version}", "libigc1"]).stdout or "unknown"

    def compile(self, source, target, options):
        """The compiler's own listing of the machine code, which its environment asks for."""
        import os
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, IGC_ShaderDumpEnable="1", IGC_DumpToCustomDir=folder)
            done = run(["ocloc", "compile", "-file", source, "-device", target, "-options", " ".join(options), "-output", "o",
                        "-out_dir", folder], env=environment)
            if done.returncode != 0 or "Build succeeded" not in done.stdout:
                raise RuntimeError(complaint(done))
            listings = list(pathlib.Path(folder).glob("*.asm"))
            if not listings:
                raise RuntimeError("the compiler wrote no listing")
            return "\n".join(path.read_text(errors="replace") for path in listings)

    def facts(self, listing):
        counted = machine_code.count_intel(listing)
        return {"registers": first_number(r"numGRF=(\d+)", listing),
                "spills": first_number(r"//\.spill size (\d+)", listing),
                "scratch": first_number(r"//\.private memory size (\d+)", listing), **counted}


class Clang:
    LANGUAGE = ["-x", "cl", "-w", "-O3", "-S", "-o", "-"]
    LOOSE = ["-ffp-contract=fast"]
    UNFUSED = ("gfx803",)  # contraction is an instruction that rounds the product

    def __init__(self):
        self.program = find("clang-15", "clang-16", "clang-17", "clang-19", "clang")

    def version(self):
        return run([self.program, "--version"]).stdout.splitlines()[0]

    def listing(self, source, options):
        done = run([self.program, *self.LANGUAGE, *options, source])
        if done.returncode != 0:
            raise RuntimeError(complaint(done))
        return done.stdout


class Amd(Clang):
    NAME = "clang amdgcn"
    TARGETS = ["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1012", "gfx1030"]
    QUICK = ["gfx1030"]
    MIXING = ("gfx906", "gfx908", "gfx90a", "gfx1012", "gfx1030")
    BITCODE = "/usr/lib/*/amdgcn/bitcode/opencl.bc"

    def __init__(self):
        super().__init__()
        found = sorted(pathlib.Path("/").glob(self.BITCODE[1:]))
        if not found:
            raise Missing(f"there is no {self.BITCODE}: Debian's rocm-device-libs")
        self.bitcode = found[0].parent

    def compile(self, source, target, options):
        return self.listing(source, ["-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", *options,
                                     f"--rocm-device-lib-path={self.bitcode}"])

    def facts(self, listing):
        return {"registers": first_number(r"\.vgpr_count:\s+(\d+)", listing),
                "scalar_registers": first_number(r"\.sgpr_count:\s+(\d+)", listing),
                "spills": first_number(r"\.vgpr_spill_count:\s+(\d+)", listing) + first_number(r"\.sgpr_spill_count:\s+(\d+)", listing),
                "scratch": first_number(r"\.private_segment_fixed_size:\s+(\d+)", listing), **machine_code.count_amd(listing)}


class Nvidia(Clang):
    NAME = "clang nvptx64"
    TARGETS = ["sm_60", "sm_70", "sm_75", "sm_80", "sm_86"]
    QUICK = ["sm_75"]
    MIXING = ()  # PTX of these has no such instruction
    BITCODE = pathlib.Path("/usr/lib/clc/nvptx64--nvidiacl.bc")

    def __init__(self):
        super().__init__()
        if not self.BITCODE.exists():
            raise Missing(f"there is no {self.BITCODE}: Debian's libclc-15")

    def version(self):
        with_ptxas = shutil.which("ptxas")
        found = re.findall(r"release [\w.]+", run(["ptxas", "--version"]).stdout) if with_ptxas else []
        return super().version() + (f", ptxas {found[0]}" if found else ", without ptxas")

    def compile(self, source, target, options):
        self.target = target
        return self.listing(source, ["-target", "nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu", "-Xclang", target, *options,
                                     "-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(self.BITCODE)])

    def facts(self, listing):
        """PTX has no registers yet; NVIDIA's assembler, where it is installed, gives some for a processor it knows."""
        found = machine_code.count_ptx(listing)
        if not shutil.which("ptxas"):
            return found
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(listing)
            file.flush()
            done = run(["ptxas", "-v", f"-arch={self.target}", "-o", "/dev/null", file.name])
        if done.returncode == 0:
            found.update(registers=first_number(r"Used (\d+) registers", done.stderr),
                         spills=sum(map(int, re.findall(r"(\d+) bytes spill", done.stderr))),
                         scratch=first_number(r"(\d+) bytes stack frame", done.stderr))
        return found


COMPILERS = (Intel, Amd, Nvidia)


def compile_for(job, compiler, target):
    source = job.folder / "opencl/rope2d.cl"
    for kernel in job.kernels:
        if not is_opencl(kernel):
            continue
        try:
            found, error = compiler.facts(compiler.compile(source, target, opencl_options(kernel))), ""
        except RuntimeError as wrong:
            found, error = {}, str(wrong)
        yield {"result": result(compiler.NAME, target, kernel.name, found, error)}
    loose, fused, mixed = (job.folder / f"{name}.cl" for name in ("loose", "fused", "mixed"))
    loose.write_text(source.read_text().replace("FP_CONTRACT OFF", "FP_CONTRACT ON"))
    fused.write_text(FUSED)
    mixed.write_text(MIXED)
    plain = ["-cl-std=CL1.2"]
    for path, options, what, kind in ((fused, plain, "a fused multiply-add", "fused"),
                                      (loose, opencl_options(CONTROL) + compiler.LOOSE, "arithmetic that may be contracted", "fused"),
                                      (mixed, plain, "a sum in mixed precision", "mixed")):
        if (kind == "mixed" and target not in compiler.MIXING) or (path == loose and target in compiler.UNFUSED):
            continue
        try:
            caught, text = compiler.facts(compiler.compile(path, target, options))[kind] > 0, ""
        except RuntimeError as wrong:
            caught, text = False, str(wrong)
        yield {"control": control(compiler.NAME, target, what, caught, text)}

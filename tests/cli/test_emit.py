#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `rope2d emit` writes, in the hands of an engine that vendors it.

usage: test_emit.py ROPE2D SHARED_LIBRARY INCLUDE_FOLDER
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STRICT = ["-std=c11", "-O2", "-ffp-contract=off", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror"]
CL = ["clang", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-Werror", "-fsyntax-only"]
USER_SHADER = """#version 450
#include "rope2d.glsl"
layout(local_size_x = 1) in;
layout(binding = 0) buffer Data { vec4 data; uint word; };
void main() { word = rope2d_narrow(R_F16, rope2d_turn_lo(data.xy, data.z, data.w)); }
"""
USER_KERNEL = """__kernel void turn(__global float4 *data) {
    data[0].x = rope2d_turn_lo(data[0].xy, data[0].z, rope2d_widen(2, rope2d_narrow(2, data[0].w)));
}
"""


class Missing(Exception):
    pass


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def must(holds, what):
    if not holds:
        raise RuntimeError(what)


class Engine:
    def __init__(self, program, library, include, folder):
        self.program, self.shared, self.include = program, library, include
        self.folder, self.out = folder, folder / "vendored" / "rope2d"
        self.about = {"spirv": []}
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def files(self):
        (self.folder / "vendored").mkdir()
        run(self.program, "emit", self.out)
        written = {str(path.relative_to(self.out)): path.stat().st_size for path in self.out.rglob("*") if path.is_file()}
        listed = {line.split()[0]: int(line.split()[1]) for line in run(self.program, "emit", "--list").splitlines()}
        must(written == listed, f"written {written}, listed {listed}")
        run(self.program, "emit", self.out)  # again, over what is there
        self.about = json.loads((self.out / "kernels.json").read_text(encoding="utf-8"))

    def refusals(self):
        for arguments in ([], ["a", "b"], ["--list", "a"], ["--lists"], [self.out / "kernels.json"]):
            done = subprocess.run([self.program, "emit", *map(str, arguments)], capture_output=True, text=True)
            must(done.returncode == 2 and done.stderr.startswith("rope2d: "), f"{arguments}: {done}")

    def modules(self):
        for module in self.about["spirv"]:
            path = self.out / module["file"]
            run("spirv-val", "--target-env", "vulkan1.0", path)
            text = run("spirv-dis", "--raw-id", path)
            bound = sorted(map(int, re.findall(r"Decorate %\d+ Binding (\d+)", text)))
            constants = sorted(map(int, re.findall(r"Decorate %\d+ SpecId (\d+)", text)))
            must([entry["binding"] for entry in module["bindings"]] == bound, f"{path}: binds {bound}")
            must([entry["id"] for entry in module["constants"]] == constants, f"{path}: constants {constants}")
            names = [entry["name"] for entry in module["bindings"] + module["constants"]]
            must("?" not in names, f"{path}: {names}")

    def words(self):
        """The description against a compiler's reading of the header that comes with it."""
        shape = self.out / "table" / "shaders" / "shape.h"
        names = [word["name"] for word in self.about["shape"]] + list(self.about["types"])
        path = self.folder / "words.c"
        path.write_text(f'#include "{shape}"\n' + "".join(f"{name}_ {name}\n" for name in names), encoding="utf-8")
        text = run("gcc", "-E", "-P", path)
        for word in self.about["shape"]:
            (value,) = re.findall(rf"^{word['name']}_ (.*)$", text, re.M)
            must(eval(value.replace("u", "")) == word["value"], f"{word} is {value}")

    def opencl(self):
        about = self.about["opencl"]
        for types, wide, texture in ((0, 0, 0), (1, 1, 0), (2, 0, 1), (1, 1, 1)):
            values = {"R_IN": types, "R_OUT": types, "R_WIDE": wide, "R_TEXTURE": texture}
            run(*CL, *(f"-D{name}={values.get(name, 0)}" for name in about["macros"]), self.out / about["file"])

    def opencl_run(self):
        table = self.out / "table"
        if not any(pathlib.Path("/usr/lib").glob("*/libOpenCL.so")):
            raise Missing("libOpenCL.so")
        sources = [HERE / "emit_run.c", table / "rope2d_table.c", *sorted(table.glob("src/*.c"))]
        run("gcc", *STRICT, "-I", table, "-I", table / "include", *sources, "-lOpenCL", "-lm", "-o", self.folder / "engine")
        options = "-cl-std=CL1.2 " + " ".join(f"-D{name}=0" for name in self.about["opencl"]["macros"])
        print("     OpenCL devices:", run(self.folder / "engine", self.out / self.about["opencl"]["file"], options).strip())

    def own_kernels(self):
        (self.folder / "own.cl").write_text('#include "rope2d_cl.h"\n' + USER_KERNEL, encoding="utf-8")
        run(*CL, "-I", self.out / "include", self.folder / "own.cl")

    def own_shaders(self):
        (self.folder / "own.comp").write_text(USER_SHADER, encoding="utf-8")
        run("glslc", "-I", self.out / "include", "-o", self.folder / "own.spv", self.folder / "own.comp")
        run("spirv-val", self.folder / "own.spv")

    def tables(self):
        table = self.out / "table"
        sources = [HERE / "emit_table.c", table / "rope2d_table.c", *sorted(table.glob("src/*.c"))]
        run("gcc", *STRICT, "-DEMITTED", "-I", table, "-I", table / "include", *sources, "-lm", "-o", self.folder / "emitted")
        run("gcc", *STRICT, "-I", self.include, HERE / "emit_table.c", self.shared, "-lm", "-o", self.folder / "linked")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.shared.parent)}
        linked = run(self.folder / "linked", env=environment).splitlines()
        emitted = run(self.folder / "emitted").splitlines()
        must(len(linked) == 9 and emitted[:9] == linked, "the table builder's bits are not the library's")
        # Interleaved: pair i is channels 2i and 2i + 1 and turns with axis i % 2; channels 24 to 31 pass through.
        single = [2 * i | (2 * i + 1) << 12 | i % 2 << 24 for i in range(12)] + list(range(24, 32))
        wide = [8 * i | (8 * i + 1) << 12 | 0b01000100 << 24 for i in range(3)] + [24, 28]
        for line, name, pairs, words in zip(emitted[9:], ("single", "wide"), (12, 3), (single, wide), strict=True):
            expected = f"{name} ROPE2D_OK {pairs} units {len(words)}: " + " ".join(f"{word:08x}" for word in words)
            must(line == expected, f"{line}\nnot {expected}")

    def check(self, what, needs, call):
        try:
            for tool in needs:
                if not shutil.which(tool):
                    raise Missing(tool)
            call()
            self.counts["passed"] += 1
        except Missing as missing:
            self.counts["skipped"] += 1
            print(f"skip {what}: no {missing}")
        except (RuntimeError, OSError, ValueError, KeyError) as error:
            self.counts["failed"] += 1
            print(f"FAIL {what}: {error}")


def main():
    paths = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as name:
        engine = Engine(*paths, pathlib.Path(name))
        engine.check("files", [], engine.files)
        engine.check("refusals", [], engine.refusals)
        if engine.about["spirv"]:
            engine.check("modules", ["spirv-val", "spirv-dis"], engine.modules)
            engine.check("shaders of one's own", ["glslc", "spirv-val"], engine.own_shaders)
        if "opencl" in engine.about:
            engine.check("OpenCL C", ["clang"], engine.opencl)
            engine.check("OpenCL C runs", ["gcc"], engine.opencl_run)
            engine.check("kernels of one's own", ["clang"], engine.own_kernels)
        engine.check("words", ["gcc"], engine.words)
        engine.check("tables", ["gcc"], engine.tables)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**engine.counts))
    return 1 if engine.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

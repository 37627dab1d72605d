#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library in one file: one compiler line builds it, and it gives the library's bits.

usage: test_single.py SINGLE_FOLDER SHARED_LIBRARY BITS_SOURCE WINE_FOLDER
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LINE = ["-O2", "-ffp-contract=off", "-c", "rope2d_all.c"]
STRICT = ["-Wall", "-Wextra", "-Werror"]
ANOTHER = ["-O0", "-std=c11", "-Wpedantic", "-fopenmp", "-DROPE2D_HAVE_VULKAN=0", "-DROPE2D_HAVE_OPENCL=0"]


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Single:
    def __init__(self, single, library, source, wine, folder):
        self.single, self.shared, self.source, self.wine, self.folder = single, library, source, wine, folder
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.expected = ""

    def by_library(self):
        program = self.folder / "by_library"
        run("gcc", self.source, "-I", self.single, self.shared, f"-Wl,-rpath,{self.shared.parent}", "-o", program)
        self.expected = run(program)
        if "cpu:0 f32 half ROPE2D_OK" not in self.expected:
            raise RuntimeError(self.expected)

    def build(self, compiler, *options):
        """A folder with the object file, built as a user would."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copy(self.single / "rope2d_all.c", folder)
        shutil.copytree(self.single / "rope2d", folder / "rope2d")
        run(compiler, *LINE, *STRICT, *options, cwd=folder)
        return folder

    def link(self, compiler, folder, name, *options):
        run(compiler, *STRICT, self.source, "-I.", "rope2d_all.o", "-o", name, *options, cwd=folder)
        return folder / name

    def same(self, compiler, *options, backends=3):
        folder = self.build(compiler, *options)
        openmp = [option for option in options if option == "-fopenmp"]
        program = self.link(compiler, folder, "bits", *openmp, "-lpthread", "-ldl")
        self.compare(run(program, backends), backends)

    def by_mingw(self, compiler):
        headers = self.folder / "headers"  # that name no machine, so that GPUs are compiled
        headers.mkdir(exist_ok=True)
        for name in ("vulkan", "vk_video", "CL", "volk.h"):
            if (pathlib.Path("/usr/include") / name).exists():
                (headers / name).symlink_to(f"/usr/include/{name}")
        folder = self.build(compiler, "-isystem", headers)
        program = self.link(compiler, folder, "bits.exe", "-static", "-D__USE_MINGW_ANSI_STDIO=1")
        if not shutil.which("wine"):
            print("     built, but not run: no wine")
            self.counts["skipped"] += 1
            return
        self.wine.mkdir(exist_ok=True)
        output = run("wine", program, 1, env={**os.environ, "WINEPREFIX": str(self.wine), "WINEDEBUG": "-all"})
        self.compare(output.replace("\r", ""), 1)

    def compare(self, output, backends):
        names = ("cpu", "vulkan", "opencl")[:backends]
        expected = [line for line in self.expected.splitlines() if line.startswith(names)]
        if output.splitlines() != expected:
            raise RuntimeError("expected\n" + "\n".join(expected) + "\nbut got\n" + output)

    def symbols(self):
        """What a program can link of the one file is what it can link of the library."""
        (object_file,) = (path for path in self.folder.glob("*/rope2d_all.o") if (path.parent / "bits").exists())
        table = [line.split() for line in run("readelf", "-sW", object_file).splitlines()]
        mine = {row[7] for row in table if len(row) == 8 and row[4:6] == ["GLOBAL", "DEFAULT"] and row[6] != "UND"}
        theirs = {line.split()[-1] for line in run("nm", "-D", "--defined-only", self.shared).splitlines()}
        if mine != theirs:
            raise RuntimeError(f"exported by one of both only: {sorted(mine ^ theirs)}")

    def check(self, what, needs, call, *arguments, **options):
        missing = [tool for tool in needs if not shutil.which(tool)]
        if missing:
            self.counts["skipped"] += 1
            print(f"skip {what}: no {', '.join(missing)}")
            return
        try:
            call(*arguments, **options)
            self.counts["passed"] += 1
            print(f"ok   {what}")
        except (RuntimeError, OSError) as error:
            self.counts["failed"] += 1
            print(f"FAIL {what}: {error}")


def main():
    paths = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as name:
        single = Single(*paths, pathlib.Path(name))
        single.check("the library's bits", ["gcc"], single.by_library)
        single.check("gcc", ["gcc"], single.same, "gcc")
        single.check("exported symbols", ["gcc", "nm", "readelf"], single.symbols)
        single.check("clang", ["clang"], single.same, "clang", backends=1)
        single.check("gcc -O0, C11, OpenMP, no backends", ["gcc"], single.same, "gcc", *ANOTHER, backends=1)
        mingw = "x86_64-w64-mingw32-gcc"
        single.check(mingw, [mingw], single.by_mingw, mingw)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**single.counts))
    sys.exit(1 if single.counts["failed"] else 0)


if __name__ == "__main__":
    main()

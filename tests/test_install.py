#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of other projects that use the installed library.

usage: test_install.py SOURCE_ROOT BUILD_ROOT

Each builds examples/rotate.c against a fresh installation, runs it, and must see the bits that it prints.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXPECTED = "0xb4d2 0x3d87\n"  # cos 1 - sin 1 and sin 1 + cos 1 in f16
STANDARDS = {"c": ("c99", "c11", "c2x"), "c++": ("c++11", "c++14", "c++17", "c++20")}
COMPILERS = {"c": ("gcc", "clang"), "c++": ("g++", "clang++")}
SIZE_LIMIT = 256 * 1024

CMAKE = """cmake_minimum_required(VERSION 3.13)
project(consumer C)
find_package(rope2d 0.1 REQUIRED)
add_executable(rotate rotate.c)
target_link_libraries(rotate PRIVATE rope2d::rope2d m)
add_executable(rotate_static rotate.c)
target_link_libraries(rotate_static PRIVATE rope2d::rope2d_static m)
"""
MESON = """project('consumer', 'c', default_options: ['c_std=c11'])
rope2d = dependency('rope2d', fallback: ['rope2d', 'rope2d_dep'])
executable('rotate', 'rotate.c', dependencies: [rope2d, meson.get_compiler('c').find_library('m')])
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Consumers:
    def __init__(self, source, build, folder):
        self.source, self.build, self.folder = source, build, folder
        self.prefix = folder / "prefix"
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def install(self):
        run("meson", "install", "-C", self.build, "--no-rebuild", "--quiet",
            env={**os.environ, "DESTDIR": str(self.folder / "staged")})  # fmt: skip
        (self.config,) = (self.folder / "staged").rglob("rope2d.pc")
        installed = self.config.parents[2]
        while not (installed / "include" / "rope2d").is_dir():
            installed = installed.parent
        shutil.move(installed, self.prefix)
        self.libraries = next(self.prefix.rglob("librope2d.so")).parent
        self.config = next(self.prefix.rglob("rope2d.pc"))

    def folder_of(self, name):
        folder = self.folder / name
        folder.mkdir()
        shutil.copy(self.source / "examples" / "rotate.c", folder)
        return folder

    def rotates(self, program, **variables):
        output = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.libraries), **variables})
        if not output.endswith(EXPECTED):
            raise RuntimeError(f"{program} printed\n{output}")

    def by_pkg_config(self, compiler, *options):
        folder = self.folder_of("pkg-config-" + "-".join([compiler, *options]).replace("/", "_"))
        flags = run("pkg-config", f"--define-variable=prefix={self.prefix}", *options, "--cflags", "--libs", "rope2d",
                    env={**os.environ, "PKG_CONFIG_PATH": str(self.config.parent)})  # fmt: skip
        run(compiler, "rotate.c", *flags.split(), "-lm", "-o", "rotate", cwd=folder)
        self.rotates(folder / "rotate")

    def statically(self):
        """Where no shared library is, pkg-config names all that the static one needs."""
        folder = self.folder_of("static")
        shutil.copytree(self.prefix, folder / "prefix", symlinks=True)
        for library in (folder / "prefix").rglob("librope2d.so*"):
            library.unlink()
        config = next((folder / "prefix").rglob("rope2d.pc"))
        flags = run("pkg-config", f"--define-variable=prefix={folder / 'prefix'}", "--static", "--cflags", "--libs", "rope2d",
                    env={**os.environ, "PKG_CONFIG_PATH": str(config.parent)})  # fmt: skip
        run("gcc", "rotate.c", *flags.split(), "-lm", "-o", "rotate", cwd=folder)
        self.rotates(folder / "rotate")
        # Without any shared library each must stand behind what calls it. Drivers cannot be opened then: on the CPU.
        run("gcc", "-static", "rotate.c", *flags.split(), "-o", "rotate_alone", cwd=folder)
        self.rotates(folder / "rotate_alone", ROPE2D_VULKAN_LOADER="/dev/null", ROPE2D_OPENCL_LOADER="/dev/null")

    def by_one_file(self, compiler):
        folder = self.folder_of("one-file-" + compiler)
        (whole,) = self.prefix.rglob("rope2d_all.c")
        run(compiler, "-O0", "-ffp-contract=off", "-I", self.prefix / "include", "rotate.c", whole, "-lm", "-lpthread", "-ldl",
            "-o", "rotate", cwd=folder)  # fmt: skip
        self.rotates(folder / "rotate")

    def own_shader(self):
        kernels = run("pkg-config", f"--define-variable=prefix={self.prefix}", "--variable=kernels", "rope2d",
                      env={**os.environ, "PKG_CONFIG_PATH": str(self.config.parent)}).strip()  # fmt: skip
        shader = self.source / "examples" / "fuse_vulkan.comp"
        run("glslc", "--target-env=vulkan1.0", "-I", kernels, shader, "-o", self.folder / "fuse_vulkan.spv")

    def by_cmake(self):
        folder = self.folder_of("cmake")
        (folder / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
        run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", folder / "build")
        for program, shared in (("rotate", True), ("rotate_static", False)):
            if ("[librope2d.so" in run("readelf", "-d", folder / "build" / program)) != shared:
                raise RuntimeError(f"{program} links {'no' if shared else 'a'} shared library")
            self.rotates(folder / "build" / program)

    def by_subproject(self):
        folder = self.folder_of("subproject")
        (folder / "meson.build").write_text(MESON, encoding="utf-8")
        (folder / "subprojects").mkdir()
        (folder / "subprojects" / "rope2d").symlink_to(self.source)
        run("meson", "setup", "build", "--wrap-mode=forcefallback", *("-Drope2d:%s=disabled" % name for name in
            ("shaderc", "vulkan", "opencl")), cwd=folder)  # fmt: skip
        targets = run("ninja", "-C", "build", "-t", "targets", "all", cwd=folder)
        programs = re.findall(r"^subprojects/rope2d/(?!src/)(\S+): c_LINKER", targets, re.MULTILINE)
        if programs:
            raise RuntimeError(f"a subproject builds {', '.join(programs)}")
        run("ninja", "-C", "build", "-j2", cwd=folder)
        run_in = folder / "build"
        output = run(run_in / "rotate")
        if not output.endswith(EXPECTED):
            raise RuntimeError(f"rotate printed\n{output}")

    def header(self, compiler, language, standard):
        headers = sorted((self.prefix / "include" / "rope2d").glob("*.h"))
        if not headers:
            raise RuntimeError("no header is installed")
        for header in headers:
            run(compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                f"-I{self.prefix / 'include'}", "-include", f"rope2d/{header.name}", os.devnull)  # fmt: skip

    def size(self):
        folder = self.folder / "small"
        run("meson", "setup", folder, self.source, "-Dshaderc=disabled", "-Dtests=disabled", "-Dcli=disabled")
        run("ninja", "-C", folder, "-j2", "src/librope2d.so.0.1.0")
        library = folder / "src" / "librope2d.so.0.1.0"
        run("strip", library)
        size = library.stat().st_size
        print(f"note: stripped, without shaderc: {size} bytes of the {SIZE_LIMIT} allowed")
        if size > SIZE_LIMIT:
            raise RuntimeError("the shared library is too large")

    def check(self, what, needs, call, *arguments):
        missing = [tool for tool in needs if not shutil.which(tool)]
        if missing:
            self.counts["skipped"] += 1
            print(f"skip {what}: no {', '.join(missing)}")
            return
        try:
            call(*arguments)
            self.counts["passed"] += 1
            print(f"ok   {what}")
        except (RuntimeError, OSError, StopIteration, ValueError) as error:
            self.counts["failed"] += 1
            print(f"FAIL {what}: {error}")


def main():
    source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        users = Consumers(source, build, pathlib.Path(name))
        users.check("meson install", ["meson"], users.install)
        if users.counts["passed"]:
            for compiler in ("gcc", "clang"):
                users.check(f"pkg-config, {compiler}", ["pkg-config", compiler], users.by_pkg_config, compiler)
            users.check("pkg-config --static", ["pkg-config", "gcc"], users.statically)
            for compiler in ("gcc", "clang"):
                users.check(f"one file, {compiler}", [compiler], users.by_one_file, compiler)
            users.check("a shader with rope2d.glsl", ["pkg-config", "glslc"], users.own_shader)
            users.check("CMake, shared and static", ["cmake", "readelf"], users.by_cmake)
            for language, standards in STANDARDS.items():
                for compiler in COMPILERS[language]:
                    for standard in standards:
                        what = f"headers as {standard}, {compiler}"
                        users.check(what, [compiler], users.header, compiler, language, standard)
        users.check("meson subproject", ["meson", "ninja"], users.by_subproject)
        users.check("size", ["meson", "ninja", "strip"], users.size)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**users.counts))
    sys.exit(1 if users.counts["failed"] else 0)


if __name__ == "__main__":
    main()

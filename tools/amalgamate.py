#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the library as one C file, rope2d_all.c, with the public headers in rope2d/ beside it.

Own headers stand where the first file includes them, those of the system in front of everything. What a file
keeps to itself gets the file's name in front, and its macros end with it, so that files cannot clash. What
files share is hidden where the compiler can hide it.
"""

import argparse
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLIC = ROOT / "include" / "rope2d"
OPTIONAL = ("volk.h", "vulkan/", "CL/", "shaderc/", "rope2d/rope2d_vulkan.h", "rope2d/rope2d_opencl.h")

HEAD = """// SPDX-License-Identifier: MIT
//
// rope2d {version} in one file, written by tools/amalgamate.py from the files that it names. Build it with
//
//     cc -O2 -ffp-contract=off -c rope2d_all.c
//
// and link pthread and dl where the C library wants it. Programs include rope2d/rope2d.h, which lies beside it.
// Contraction must be off: it changes bits. Vulkan comes where vulkan/vulkan_core.h and volk.h are found, OpenCL
// where CL/cl.h is; ROPE2D_HAVE_VULKAN and ROPE2D_HAVE_OPENCL, 0 or 1, say otherwise. ROPE2D_HAVE_SHADERC, 1,
// compiles edited kernels at run time, and then libshaderc is linked. -fopenmp brings threads. ROPE2D_BUILD
// exports the API from a DLL.

#if defined(_WIN32)
#ifndef __USE_MINGW_ANSI_STDIO
#define __USE_MINGW_ANSI_STDIO 1
#endif
#ifndef _CRT_RAND_S
#define _CRT_RAND_S
#endif
#else
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#endif

{options}
#if defined(__GNUC__) && !defined(_WIN32)
#define ROPE2D_SINGLE_HIDE _Pragma("GCC visibility push(hidden)")
#define ROPE2D_SINGLE_SHOW _Pragma("GCC visibility pop")
#else
#define ROPE2D_SINGLE_HIDE
#define ROPE2D_SINGLE_SHOW
#endif

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function" // of what kernels and the CPU share
#endif

"""
TAIL = """
ROPE2D_SINGLE_SHOW
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
"""
# A feature that this build made kernels for, and what it needs.
FOUND = """#ifndef ROPE2D_HAVE_{name}
#ifdef __has_include
#if {headers}
#define ROPE2D_HAVE_{name} 1
#endif
#endif
#endif
#ifndef ROPE2D_HAVE_{name}
#define ROPE2D_HAVE_{name} 0
#endif
"""
ASKED = """#ifndef ROPE2D_HAVE_{name}
#define ROPE2D_HAVE_{name} 0
#endif
"""
ABSENT = """#if defined(ROPE2D_HAVE_{name}) && ROPE2D_HAVE_{name}
#error "rope2d_all.c was written without kernels for {name}"
#endif
#undef ROPE2D_HAVE_{name}
#define ROPE2D_HAVE_{name} 0
"""
HEADERS = {
    "VULKAN": "__has_include(<vulkan/vulkan_core.h>) && __has_include(<volk.h>)",
    "OPENCL": "__has_include(<CL/cl.h>) && __has_include(<CL/cl_icd.h>)",
}

OWN = re.compile(r'\s*#\s*include\s+"([^"]+)"')
SYSTEM = re.compile(r"\s*#\s*include\s+<([^>]+)>")
OPENS = re.compile(r"\s*#\s*if")
CLOSES = re.compile(r"\s*#\s*endif")
DEFINE = re.compile(r"\s*#\s*define\s+(\w+)", re.M)
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/|<[\w/.]+\.h>|(?:(?:\.|->)\s*)?\b[A-Za-z_]\w*', re.S)
NO_NAME = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
LONG_MACRO = re.compile(r"^\s*#\s*define[^\n]*\\\n(?:[^\n]*\\\n)*[^\n]*\n", re.M)
POINTER = re.compile(r"\(\s*(?:\w+\s+)?\*(?:const\s+)?(\w+)")
STRUCT = re.compile(r"^(?:typedef )?(?:struct|union)\b[^\n;]*\{\n.*?^\}", re.M | re.S)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)")
SHARED = ("rope2d_", "vulkan_")  # how names of several files begin
STARTS = r"(?:static|inline|OP|TURN_FN|CONVERT_FN|R_FN|R_FN_APART)\b"


def statements(code):
    """What stands outside of braces, a statement at a time; braces are kept empty, but for an enum's."""
    depth, found, text = 0, [], ""
    for line in code.split("\n"):
        if line.lstrip().startswith("#"):
            continue
        for letter in line + "\n":
            if letter == "{":
                depth += 1
                if depth == 1:
                    text += "{"
                    continue
            if letter == "}":
                depth -= 1
                if depth == 0:
                    text += "}"
                    if re.search(r"^[^=]*\)\s*\{\}$", text):
                        found.append(text)
                        text = ""
                    continue
            if depth == 0 or re.match(r"\s*(?:typedef\s+)?enum\b[^}]*$", text):
                text += letter
                if depth == 0 and letter == ";":
                    found.append(text)
                    text = ""
    return found


def names(code):
    """What a file declares for itself."""
    code = LONG_MACRO.sub("\n", NO_NAME.sub(" ", re.sub(r"^ROPE2D_SINGLE_\w+$", "", code, flags=re.M)))
    found = set(re.findall(r"#\s*define\s+NAME\s+(\w+)\s*$", code, re.M))
    for name in re.findall(r"^STAGE\w*\((\w+)", code, re.M):
        found |= {name, name + "_step"}
    for statement in statements(code):
        statement = re.sub(r"^\s*STAGE\w*\([^)]*\)", "", ATTRIBUTE.sub("", statement)).strip()
        if re.match(STARTS, statement):
            match = re.search(r"\b(\w+)\s*(?:\(|\[|=|;)", statement)
            pointer = POINTER.search(statement)
            name = (pointer if pointer and pointer.start() < match.start(1) + 2 else match).group(1)
            found.add(name)
            found |= set(re.findall(r"(?:struct|enum|union)\s+(\w+)\s*\{", statement))
        elif re.match(r"(?:typedef|struct|enum|union)\b", statement):
            found |= set(re.findall(r"\b(?:struct|enum|union)\s+(\w+)\s*\{", statement))
            for body in re.findall(r"\benum\b[^{]*\{([^}]*)\}", statement):
                found |= set(re.findall(r"(?:^|,)\s*(\w+)", body))
            if statement.startswith("typedef"):
                pointer = POINTER.search(statement)
                last = re.search(r"(\w+)\s*(?:\[[^\]]*\]|\([^()]*\))?\s*;$", statement)
                found.add((pointer or last).group(1))
    return {name for name in found if not name.startswith(SHARED)}


def renamed(code, prefix):
    mine = names(code)
    bodies = [match.span() for match in STRUCT.finditer(code)]

    def one(match):
        token = match.group(0)
        is_member = code[match.end()] in ";,[" and any(start < match.start() < end for start, end in bodies)
        return prefix + token if token in mine and not is_member else token

    return TOKEN.sub(one, code)


class Single:
    def __init__(self, output):
        self.output = output
        self.read = []  # every file, for the depfile
        self.system = []  # headers of the system that every file may have
        self.seen = set()
        self.common = []  # own headers

    def note(self, path):
        if path not in self.read:
            self.read.append(path)
        return path.read_text(encoding="utf-8")

    def find(self, name, beside):
        for folder in (beside, ROOT / "src", ROOT / "include", ROOT):
            if (folder / name).is_file():
                return (folder / name).resolve()
        raise FileNotFoundError(f"{beside}: no file {name}")

    def expanded(self, path, headers, optional):
        """The lines of a file. Headers with a guard, which are read once, go to `headers`."""
        text = self.note(path)
        lines = text.split("\n")
        guard = re.search(r"^#ifndef (ROPE2D_\w+_H)\n#define \1\n", text, re.M)
        if guard:
            at = lines.index(f"#ifndef {guard.group(1)}")
            lines[at : at + 2] = []
            last = max(i for i, line in enumerate(lines) if CLOSES.match(line))
            lines[last : last + 1] = []
        depth, out = 0, []
        for line in lines:
            own, system = OWN.match(line), SYSTEM.match(line)
            depth += bool(OPENS.match(line)) - bool(CLOSES.match(line))
            if own:
                out += self.included(self.find(own.group(1), path.parent), headers, optional)
            elif system:
                out += self.of_system(system.group(1), depth, line)
            elif "SPDX-License-Identifier" not in line:
                out.append(line)
        return out

    def of_system(self, name, depth, line):
        if depth == 0 and not name.startswith(OPTIONAL):
            if name not in self.system:
                self.system.append(name)
            return []
        return ["ROPE2D_SINGLE_SHOW", line, "ROPE2D_SINGLE_HIDE"]

    def included(self, path, headers, optional):
        if path.parent == PUBLIC:
            name = f"rope2d/{path.name}"
            if not name.startswith(OPTIONAL):
                return []
            if name not in self.seen:
                self.seen.add(name)
                headers += ["ROPE2D_SINGLE_SHOW", f'#include "{name}"', "ROPE2D_SINGLE_HIDE", ""]
            return []
        if not re.search(r"^#ifndef ROPE2D_\w+_H$", self.note(path), re.M):
            return self.expanded(path, headers, optional)
        if path not in self.seen:
            self.seen.add(path)
            # A header of all backends must not end up in the part of one.
            target = headers if optional and optional in path.parents else self.common
            body = self.expanded(path, headers, optional)
            target += [f"// ---- {path.relative_to(ROOT).as_posix()}", "", *body]
        return []

    def unit(self, path, optional=None):
        """One C file, ready to stand among the others."""
        headers = []
        code = "\n".join(self.expanded(path, headers, optional)).strip("\n") + "\n"
        where = path.relative_to(ROOT / "src") if ROOT / "src" in path.parents else pathlib.Path(path.name)
        code = renamed(code, "_".join(where.with_suffix("").parts) + "_")
        macros = dict.fromkeys(DEFINE.findall(code))
        # Before the code, too: windows.h has macros of many names.
        ends = "".join(f"#undef {name}\n" for name in macros)
        head = "\n".join(headers) + "\n" if headers else ""
        return f"{head}// ---- {where.as_posix()}\n\n{ends}\n{code}\n{ends}\n"

    def write(self, embedded, version):
        source = ROOT / "src"
        plain = [self.unit(path) for folder in (source, source / "cpu") for path in sorted(folder.glob("*.c"))]
        parts, options = [], [ASKED.format(name="OPENMP")]
        for backend in ("vulkan", "opencl"):
            folder, name = source / backend, backend.upper()
            stubs = self.unit(folder / "stubs.c")
            kernels = [path for path in embedded if path.stem in KERNELS[backend]]
            if not kernels:
                options.append(ABSENT.format(name=name))
                parts += [stubs]
                continue
            options.append(FOUND.format(name=name, headers=HEADERS[name]))
            apart = ("stubs.c", "compile.c", "compile_stubs.c")
            first = [folder / "opencl.h"] if backend == "opencl" else []
            units = []
            for path in first:
                headers = []
                self.included(path, headers, folder)
                units.append("\n".join(headers) + "\n")
            units += [self.unit(path, folder) for path in sorted(folder.glob("*.c")) if path.name not in apart]
            units += [self.unit(path, folder) for path in kernels]
            if backend == "vulkan":
                units.append(self.with_shaderc(folder, embedded, options))
            parts += [f"#if ROPE2D_HAVE_{name}\n\n", *units, f"#else\n\n{stubs}#endif\n\n"]
        if not any("SHADERC" in option for option in options):
            options.append(ABSENT.format(name="SHADERC"))
        head = HEAD.format(version=version, options="\n".join(options))
        system = "".join(f"#include <{name}>\n" for name in sorted(self.system))
        public = '\n#include "rope2d/rope2d.h"\n#include "rope2d/rope2d_presets.h"\n\nROPE2D_SINGLE_HIDE\n\n'
        text = "".join([head, system, public, "\n".join(self.common), "\n", *plain, *parts, TAIL])
        self.output.write_text(re.sub(r"\n{3,}", "\n\n", text), encoding="utf-8")

    def with_shaderc(self, folder, embedded, options):
        texts = [path for path in embedded if path.stem == "embedded_glsl"]
        stubs = self.unit(folder / "compile_stubs.c", folder)
        if not texts:
            options.append(ABSENT.format(name="SHADERC"))
            return stubs
        options.append(ASKED.format(name="SHADERC"))
        units = "".join(self.unit(path, folder) for path in (folder / "compile.c", *texts))
        return f"#if ROPE2D_HAVE_SHADERC\n\n{units}#else\n\n{stubs}#endif\n\n"


KERNELS = {"vulkan": ("embedded_spirv", "embedded_include"), "opencl": ("embedded_opencl",)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--depfile", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("embedded", nargs="*", type=pathlib.Path, help="what tools/embed.py wrote")
    args = parser.parse_args()

    single = Single(args.output)
    single.write([path.resolve() for path in args.embedded], args.version)
    beside = args.output.parent / "rope2d"
    beside.mkdir(exist_ok=True)
    for header in sorted(PUBLIC.glob("*.h")):
        single.note(header)
        shutil.copyfile(header, beside / header.name)
    if args.depfile:
        files = " ".join(str(path).replace(" ", "\\ ") for path in single.read)
        args.depfile.write_text(f"{args.output}: {files}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

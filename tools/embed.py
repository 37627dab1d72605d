#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn kernels into C arrays, as src/embedded.h declares them.

text:  inlines #include "file" and marks every change of file with #line, so that a compiler's log
       names the file and line that a person edits.
file:  the same text without those marks, as a file and not as C.
spirv: words in the byte order of the machine that compiles them.
"""

import argparse
import pathlib
import re
import struct
import sys

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
VERSION = re.compile(r'\s*#\s*version\b')
NAMED_LINES = "#extension GL_GOOGLE_cpp_style_line_directive : require"


def inline(path, parents, found, marks=True):
    """The lines of path with every include replaced by its text; found collects all files read."""
    if path in parents:
        sys.exit(f"{path}: includes itself")
    if path not in found:
        found.append(path)
    if marks:
        yield f'#line 1 "{path.name}"'
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        include = INCLUDE.match(line)
        if include:
            child = path.parent / include.group(1)
            if not child.is_file():
                sys.exit(f"{path}:{number}: no file {child}")
            yield from inline(child, parents + [path], found, marks)
            if marks:
                yield f'#line {number + 1} "{path.name}"'
        elif VERSION.match(line) and marks:
            yield line
            yield NAMED_LINES
            yield f'#line {number + 1} "{path.name}"'
        else:
            yield line


def text(path, found, marks):
    lines = list(inline(path, [], found, marks))
    if not marks:  # one licence line is enough
        lines = lines[:1] + [line for line in lines[1:] if line != lines[0]]
    version = next((i for i, line in enumerate(lines) if VERSION.match(line)), None)
    if version is not None and marks:  # GLSL allows nothing but comments before #version
        lines = [line for line in lines[:version] if not line.startswith("#line")] + lines[version:]
    return ("\n".join(lines) + "\n").encode("utf-8")


def rows(values, width):
    for start in range(0, len(values), width):
        yield "    " + ", ".join(values[start : start + width]) + ",\n"


def c_array(args, index, path, found):
    if args.kind == "text":
        data = text(path, found, not args.no_lines)
        values = [str(byte) for byte in data + b"\0"]
        declaration = f"static const unsigned char data{index}[] = {{\n"
        return path.name, declaration, list(rows(values, 24)), len(data)
    data = path.read_bytes()
    words = [word for (word,) in struct.iter_unpack("=I", data)]
    if not words or words[0] != 0x07230203:
        sys.exit(f"{path}: not a SPIR-V module in this machine's byte order")
    declaration = f"static const uint32_t data{index}[] = {{\n"
    return path.stem, declaration, list(rows([f"0x{word:08x}" for word in words], 8)), len(data)


def arrays(args, found):
    chunks = ['// SPDX-License-Identifier: MIT\n// Written by tools/embed.py.\n#include "embedded.h"\n']
    chunks.append("#include <stdint.h>\n\n")
    entries = []
    for index, path in enumerate(args.inputs):
        name, declaration, body, size = c_array(args, index, path, found)
        chunks += [declaration, *body, "};\n\n"]
        entries.append(f'    {{"{name}", data{index}, {size}}},\n')
    chunks += [f"const struct rope2d_embedded {args.symbol}[] = {{\n", *entries, "    {NULL, NULL, 0},\n};\n"]
    return "".join(chunks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kind", choices=("text", "file", "spirv"))
    parser.add_argument("--symbol", help="name of the C array")
    parser.add_argument("--no-lines", action="store_true", help="text without #line")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--depfile", type=pathlib.Path)
    parser.add_argument("inputs", nargs="*", type=pathlib.Path)
    args = parser.parse_intermixed_args()

    found = []
    if args.kind == "file":
        args.output.write_bytes(b"".join(text(path, found, False) for path in args.inputs))
    else:
        args.output.write_text(arrays(args, found), encoding="utf-8")
    if args.depfile:
        files = " ".join(str(path).replace(" ", "\\ ") for path in found)
        args.depfile.write_text(f"{args.output}: {files}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn kernels into packed C arrays, as src/embedded.h declares them.

text:  inlines #include "file" and marks every change of file with #line, so that a compiler's log
       names the file and line that a person edits; with --no-lines without them. Comments are left
       out, but for licence lines, and so are indentation and columns.
file:  the text without lines but with its comments, as people will read it: a file and not C.
spirv: modules in this machine's byte order.

Every file but the first is packed as what follows the first: what they share is there once. With
--unpacked nothing is, columns stay, and the array is of struct rope2d_unpacked.
"""

import argparse
import pathlib
import re
import struct
import sys

import pack

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


COMMENT = re.compile(r'"[^"\n]*"|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/', re.S)


def without_comment(match):
    comment = match.group("line") or match.group("block") or ""
    if match.group(0).startswith('"') or "SPDX-" in comment:
        return match.group(0)
    return "\n" * comment.count("\n") or " "


SPACE = re.compile(r'"[^"\n]*"|[ \t]+')
LOOSE = re.compile(r"(?<=[\w)\]]) ([-+*/%&|^<>=!?:]+) (?=[\w(])|(?<=[,;]) ")


def narrow(line):
    """The line without indentation, with one space where columns have several, and none around operators."""
    line = SPACE.sub(lambda match: match.group(0) if match.group(0).startswith('"') else " ", line.strip())
    return line if line.startswith(("#", "//")) else LOOSE.sub(lambda match: match.group(1) or "", line)


def text(path, found, marks, comments=False, columns=False):
    lines = list(inline(path, [], found, marks))
    if not marks:  # one licence line is enough
        lines = lines[:1] + [line for line in lines[1:] if line != lines[0]]
    version = next((i for i, line in enumerate(lines) if VERSION.match(line)), None)
    if version is not None and marks:  # GLSL allows nothing but comments before #version
        lines = [line for line in lines[:version] if not line.startswith("#line")] + lines[version:]
    if not comments:
        lines = COMMENT.sub(without_comment, "\n".join(lines)).split("\n")
        lines = [line.rstrip() if columns else narrow(line) for line in lines]
        lines = [line for line in lines if line or marks]
    return ("\n".join(lines) + "\n").encode("utf-8")


def spirv(path):
    data = path.read_bytes()
    words = [word for (word,) in struct.iter_unpack("=I", data)]
    if not words or words[0] != 0x07230203:
        sys.exit(f"{path}: not a SPIR-V module in this machine's byte order")
    return pack.tokens(words), len(data)


def unpacked(kind, paths, marks, found):
    """C arrays and their entries, for programs that do not link the decoder."""
    arrays, entries = [], []
    for index, path in enumerate(paths):
        if kind == "text":
            data = text(path, found, marks, columns=True)  # hashes and a page are no kernels
            declaration, values = "char", rows([str(byte) for byte in data + b"\0"], 24)
        else:
            data = path.read_bytes()
            words = [f"0x{word:08x}" for (word,) in struct.iter_unpack("=I", data)]
            declaration, values = "uint32_t", rows(words, 8)
        name = path.name if kind == "text" else path.stem
        arrays += [f"static const {declaration} data{index}[] = {{\n", *values, "};\n\n"]
        entries.append(f'    {{"{name}", data{index}, {len(data)}}},\n')
    return arrays, [*entries, "    {NULL, NULL, 0},\n"]


def rows(values, width):
    for start in range(0, len(values), width):
        yield "    " + ", ".join(values[start : start + width]) + ",\n"


class Source:
    """A C file of kernels."""

    def __init__(self, kind, plain, marks):
        self.kind, self.plain, self.marks = kind, plain, marks
        self.first = b""
        self.found = []  # every file that was read
        self.arrays = []
        self.entries = []

    def add(self, path):
        if self.kind == "text":
            stream = text(path, self.found, self.marks)
            name, size = path.name, len(stream)
        else:
            stream, size = spirv(path)
            name = path.stem
        kind = "ROPE2D_EMBEDDED_SPIRV" if self.kind == "spirv" else "ROPE2D_EMBEDDED_PACKED"
        packed = pack.pack(stream, self.first)
        if name in self.plain:
            kind = "ROPE2D_EMBEDDED_PLAIN"
            packed = stream + b"\0"
        index = len(self.entries)
        self.arrays.append(f"static const unsigned char data{index}[] = {{\n")
        self.arrays += rows([str(byte) for byte in packed], 24)
        self.arrays.append("};\n\n")
        self.entries.append(f'    {{"{name}", {kind}, data{index}, {len(packed)}, {len(stream)}, {size}}},\n')
        self.first = self.first or stream

    def write(self, path, symbol):
        head = ['// SPDX-License-Identifier: MIT\n// Written by tools/embed.py.\n#include "embedded.h"\n\n']
        tail = [f"const struct rope2d_embedded {symbol}[] = {{\n", *self.entries]
        tail.append("    {NULL, ROPE2D_EMBEDDED_PLAIN, NULL, 0, 0, 0},\n};\n")
        path.write_text("".join(head + self.arrays + tail), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kind", choices=("text", "file", "spirv"))
    parser.add_argument("--symbol", help="name of the C array")
    parser.add_argument("--plain", action="append", default=[], help="a text that is not to be packed")
    parser.add_argument("--unpacked", action="store_true")
    parser.add_argument("--no-lines", action="store_true", help="text without #line")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--depfile", type=pathlib.Path)
    parser.add_argument("inputs", nargs="*", type=pathlib.Path)
    args = parser.parse_intermixed_args()

    source = Source(args.kind, args.plain, not args.no_lines)
    if args.kind == "file":
        texts = [text(path, source.found, marks=False, comments=True) for path in args.inputs]
        args.output.write_bytes(b"".join(texts))
    elif args.unpacked:
        arrays, entries = unpacked(args.kind, args.inputs, not args.no_lines, source.found)
        head = '// SPDX-License-Identifier: MIT\n// Written by tools/embed.py.\n#include "embedded.h"\n\n'
        table = f"const struct rope2d_unpacked {args.symbol}[] = {{\n{''.join(entries)}}};\n"
        args.output.write_text(head + "".join(arrays) + table, encoding="utf-8")
    else:
        for path in args.inputs:
            source.add(path)
        source.write(args.output, args.symbol)
    if args.depfile:
        files = " ".join(str(path).replace(" ", "\\ ") for path in source.found)
        args.depfile.write_text(f"{args.output}: {files}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

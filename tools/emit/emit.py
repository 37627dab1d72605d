#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Collects what `rope2d emit` writes into one C file: kernels, their description and the table builder.

Everything is taken from the sources and the compiled modules, so that it cannot differ from them.
"""

import argparse
import json
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import embed  # noqa: E402

# What turns a spec and coordinates into rows and table; their headers are found by following includes.
BUILDER = ("control", "elementary", "host", "merge", "positions", "rows", "spec", "status", "table", "units", "vectors")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


# ------------------------------------------------------------------------------------------- the description


def shape_macros(text):
    """The macros of shape.h that are numbers, with what their lines and their group's comment say; and how a unit's
    word is taken apart."""
    values, found, unit_macros, comment, group = {}, [], [], [], ""
    for line in text.splitlines():
        number = re.match(r"#define\s+(R_\w+)\s+([^/]+?)\s*(?://\s*(.*))?$", line)
        if line.startswith("//"):
            comment.append(line.lstrip("/ "))
        elif re.match(r"#define\s+R_\w+\(", line):
            unit_macros.append(line.removeprefix("#define "))
            if comment:
                unit_meaning, comment = " ".join(comment), []
        elif number:
            if comment:
                group, comment = " ".join(comment), []
            name, expression, meaning = number.groups()
            expression = re.sub(r"R_\w+", lambda known: str(values[known.group()]), expression)
            values[name] = eval(expression.replace("u", ""), {"__builtins__": {}})
            found.append({"name": name, "value": values[name], "meaning": meaning or "", "group": group})
        else:
            comment = []
    return found, {"meaning": unit_meaning, "macros": unit_macros}


def glsl_names(text):
    """Names of constants by number, and of what is bound; the slots' come from their macro."""
    constants = {0: "local_size_x"}
    for number, kind, name in re.findall(r"constant_id = (\d+)\) const (\w+) (\w+)", text):
        constants[int(number)] = name
    bindings = {}
    for number, name in re.findall(r"binding = (\d+)(?:,[^)]*)?\)\s+(?:readonly |writeonly )?(?:uniform|buffer) (\w+)", text):
        bindings.setdefault(int(number), "Table" if name == "sampler2D" else name)
    slots = re.findall(r"binding = (\d+) \+ (\d+) \* k[^)]*\)\s+(?:readonly )?buffer (\w+?)##(?:suffix##)?k", text)
    return constants, bindings, [(int(first), int(step), name) for first, step, name in slots]


SPEC_ID, BUFFER_BLOCK, BINDING, DESCRIPTOR_SET = 1, 3, 33, 34
UNIFORM_CONSTANT, UNIFORM, PUSH_CONSTANT = 0, 2, 9


def instructions(module):
    words = [word for (word,) in struct.iter_unpack("=I", module)]
    at = 5
    while at < len(words):
        yield words[at] & 0xFFFF, words[at + 1 : at + (words[at] >> 16)]
        at += words[at] >> 16


def reflect(module):
    """Specialization constants and bindings of a module, by number."""
    decorations, pointers, constants, bindings = {}, {}, [], []
    for code, operands in instructions(module):
        if code == 71:  # OpDecorate
            decorations.setdefault(operands[0], {})[operands[1]] = operands[2:]
        elif code == 32:  # OpTypePointer
            pointers[operands[0]] = operands[2]
        elif code == 59 and BINDING in decorations.get(operands[1], {}):  # OpVariable
            own, pointed = decorations[operands[1]], decorations.get(pointers[operands[0]], {})
            kind = "combined image sampler"
            if operands[2] != UNIFORM_CONSTANT:
                kind = "storage buffer" if BUFFER_BLOCK in pointed or operands[2] != UNIFORM else "uniform buffer"
            bindings.append({"binding": own[BINDING][0], "set": own[DESCRIPTOR_SET][0], "type": kind})
    for of in decorations.values():
        constants += of.get(SPEC_ID, [])
    return sorted(constants), sorted(bindings, key=lambda one: (one["binding"], one["type"]))


def describe_module(path, constants, names, slots):
    numbers, bindings = reflect(path.read_bytes())
    for binding in bindings:
        number = binding["binding"]
        name = names.get(number, "?")
        for first, step, slot in slots:
            if number >= first and (number - first) % step == 0:
                name = f"{slot}{(number - first) // step}"
        binding["name"] = name
    return {
        "file": f"spirv/{path.stem}.spv",
        "entry": "main",
        "constants": [{"id": number, "name": constants.get(number, "?")} for number in numbers],
        "bindings": bindings,
    }


def describe_opencl(text):
    arguments = re.search(r"__kernel void rope2d\((.*?)\)", text, re.S).group(1)
    heading = text[: text.index("\n\n")]
    return {
        "file": "opencl/rope2d.cl",
        "kernel": "rope2d",
        "arguments": [" ".join(argument.split()) for argument in arguments.split(",")],
        "macros": re.findall(r"-D(R_\w+)", heading),
        "never": ["-cl-mad-enable", "-cl-fast-relaxed-math"],
    }


def describe(shaders, modules, have_opencl):
    constants, names, slots = glsl_names((shaders / "rope2d.comp").read_text(encoding="utf-8"))
    macros, units = shape_macros((shaders / "shape.h").read_text(encoding="utf-8"))
    types = re.findall(r"#define (R_\w+)\s+(\d+)u", (shaders / "element.h").read_text(encoding="utf-8"))
    description = {
        "types": {name: int(value) for name, value in types},
        "shape": macros,
        "units": units,
        "spirv": [describe_module(path, constants, names, slots) for path in modules],
        "push_constants": {"bytes": 4 * next(m["value"] for m in macros if m["name"] == "R_RANGE_WORDS")},
    }
    if have_opencl:
        description["opencl"] = describe_opencl((shaders / "rope2d.cl").read_text(encoding="utf-8"))
    return (json.dumps(description, indent=2) + "\n").encode("utf-8")


# ----------------------------------------------------------------------------------------- the table builder


def closure(root, paths):
    """The files, and what they include with quotes, wherever it is looked for."""
    found = []
    todo = list(paths)
    while todo:
        path = todo.pop(0)
        if path in found:
            continue
        found.append(path)
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            places = [path.parent / name, root / "src" / name, root / "include" / name]
            target = next((place.resolve() for place in places if place.is_file()), None)
            if target is not None:
                todo.append(target)
    return found


def builder_files(root):
    sources = [root / "src" / f"{name}.c" for name in BUILDER]
    files = {f"table/{path.relative_to(root)}": path for path in closure(root, [*sources, root / "src" / "backend.h"])}
    for name in ("rope2d_table.c", "rope2d_table.h"):
        files[f"table/{name}"] = root / "tools" / "emit" / name
    return files


# -------------------------------------------------------------------------------------------------------- C


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--depfile", required=True, type=pathlib.Path)
    parser.add_argument("--opencl", action="store_true")
    parser.add_argument("modules", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    root, shaders = args.root.resolve(), args.root.resolve() / "shaders"

    read = [shaders / name for name in ("shape.h", "element.h", "rope2d.comp", "rope2d.cl")]
    files = {"kernels.json": describe(shaders, args.modules, args.opencl)}
    for path in args.modules:
        files[f"spirv/{path.stem}.spv"] = path.read_bytes()
    texts = {"include/rope2d.glsl": "rope2d.glsl"} if args.modules else {}
    if args.opencl:
        texts |= {"opencl/rope2d.cl": "rope2d.cl", "include/rope2d_cl.h": "rope2d_cl.h"}
    for name, source in texts.items():
        files[name] = embed.text(shaders / source, read, False, columns=True)
    for name, path in builder_files(root).items():
        read.append(path)
        files[name] = path.read_bytes()

    chunks = ['// SPDX-License-Identifier: MIT\n// Written by tools/emit/emit.py.\n#include "emit.h"\n\n']
    entries = []
    for index, (name, data) in enumerate(files.items()):
        rows = embed.rows([str(byte) for byte in data], 24)
        chunks += [f"static const unsigned char data{index}[] = {{\n", *rows, "};\n\n"]
        entries.append(f'    {{"{name}", data{index}, {len(data)}}},\n')
    chunks += ["const struct emit_file emit_files[] = {\n", *entries, "    {NULL, NULL, 0},\n};\n"]
    args.output.write_text("".join(chunks), encoding="utf-8")
    args.depfile.write_text(f"{args.output}: {' '.join(str(path) for path in read)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

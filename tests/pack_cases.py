#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what tools/pack.py makes of hard data, for test_unpack.c, as a C file.

usage: pack_cases.py TOOLS_FOLDER OUTPUT
"""

import pathlib
import random
import sys

sys.path.insert(0, sys.argv[1])
import pack  # noqa: E402


def byte_cases():
    random.seed(17)
    noise = bytes(random.randrange(256) for _ in range(3000))
    text = b"".join(b"store(%d, load(%d));\n" % (i, i * i) for i in range(60))
    return [
        (b"", b""),
        (b"", b"a"),
        (b"", b"\0"),
        (b"", b"\xff" * 5),
        (b"", bytes(9000)),
        (b"", bytes(range(256)) * 2),
        (b"", noise),
        (b"", text),
        (text, b""),
        (text, text),
        (text, b"x" + text[:500] + b"y" + text[500:]),
        (noise, noise[::-1] + noise[1000:1010]),
        (noise + random.randbytes(66000), noise),
    ]


def word_cases():
    header = [0x07230203, 0x00010000, 0, 40, 0]
    edges = [0, 1, 2, 127, 128, 129, 0x7FFFFFFF, 0x80000000, 0xFFFFFF7F, 0xFFFFFF80, 0xFFFFFFFF]
    return [
        header,
        header + [1 << 16 | 0xFFFF],
        header + [12 << 16 | 5, *edges],
        header + [2 << 16 | 19, 1, 4 << 16 | 21, 2, 32, 0, 3 << 16 | 22, 3, 32, 5 << 16 | 128, 2, 4, 3, 2],
        header + [4 << 16 | 43, 39, 41, 7, 4 << 16 | 43, 3, 38, 7, 2 << 16 | 56, 39, 2 << 16 | 56, 0xFFFFFFFF],
    ]


def array(values):
    return ",".join(map(str, values)) or "0"


def main():
    lines = ['// Written by tests/pack_cases.py.\n#include "pack_cases.h"\n']
    bytes_table, words_table = [], []
    for i, (before, data) in enumerate(byte_cases()):
        packed = pack.pack(data, before)
        lines.append(f"static const unsigned char whole{i}[] = {{{array(before + data)}}};")
        lines.append(f"static const unsigned char packed{i}[] = {{{array(packed)}}};")
        bytes_table.append(f"    {{whole{i}, {len(before)}, {len(data)}, packed{i}, {len(packed)}}},")
    for i, words in enumerate(word_cases()):
        tokens = pack.tokens(words)
        lines.append(f"static const uint32_t words{i}[] = {{{array(f'{word}u' for word in words)}}};")
        lines.append(f"static const unsigned char tokens{i}[] = {{{array(tokens)}}};")
        words_table.append(f"    {{words{i}, {len(words)}, tokens{i}, {len(tokens)}}},")
    lines += ["const struct byte_case byte_cases[] = {", *bytes_table, "};"]
    lines += ["const size_t byte_case_count = sizeof(byte_cases) / sizeof(*byte_cases);"]
    lines += ["const struct word_case word_cases[] = {", *words_table, "};"]
    lines += ["const size_t word_case_count = sizeof(word_cases) / sizeof(*word_cases);"]
    pathlib.Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

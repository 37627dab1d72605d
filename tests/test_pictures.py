#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pictures that the engines among the examples write: sound PNG files, the same from every API, that show
each head attending to what it looks for.

usage: test_pictures.py PROGRAM...
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

SIDE, CELL, GAP = 24, 5, 6  # examples/attention.h
QUERIES = ((5, 6), (9, 11), (14, 15), (18, 19))
UP, LEFT = 3, 6


def chunks(data):
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG signature")
    at = 8
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        (crc,) = struct.unpack(">I", data[at + 8 + size : at + 12 + size])
        if crc != zlib.crc32(name + body):
            raise ValueError(f"{name}: wrong checksum")
        yield name, body
        at += 12 + size


def pixels(data):
    parts = dict(chunks(data))
    width, height, depth, kind = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    if (depth, kind, len(parts[b"PLTE"]), parts[b"IEND"]) != (8, 3, 768, b""):
        raise ValueError("not 256 colours of a palette")
    raw = zlib.decompress(parts[b"IDAT"])  # checks Adler-32
    rows = [raw[y * (width + 1) : (y + 1) * (width + 1)] for y in range(height)]
    if len(raw) != height * (width + 1) or any(row[0] for row in rows):
        raise ValueError("rows of a wrong length or with a filter")
    return [row[1:] for row in rows]


def brightest(picture, frame, head):
    """The patches that the head attends to most: the middle of a patch has its colour."""
    top = GAP + frame * (SIDE * CELL + GAP) + CELL // 2
    left = GAP + (1 + head) * (SIDE * CELL + GAP) + CELL // 2
    cells = {(y, x): picture[top + y * CELL][left + x * CELL] for y in range(SIDE) for x in range(SIDE)}
    most = max(cells.values())
    return {place for place, value in cells.items() if value == most}


def main():
    passed = failed = 0

    def check(what, holds):
        nonlocal passed, failed
        passed, failed = passed + holds, failed + (not holds)
        if not holds:
            print("FAIL", what)

    written = {}
    for program in map(pathlib.Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "picture.png"
            done = subprocess.run([program, path], capture_output=True, text=True)
            check(f"{program.name} fails: {done.stdout}{done.stderr}", done.returncode == 0)
            if path.exists():
                written[program.name] = path.read_bytes()
            else:
                print(f"{program.name}: no device")
    for name, data in written.items():
        picture = pixels(data)
        for frame, (y, x) in enumerate(QUERIES):
            at = f"{name}, frame {frame}:"
            check(f"{at} near itself", brightest(picture, frame, 0) == {(y, x)})
            check(f"{at} its row", brightest(picture, frame, 1) == {(y, i) for i in range(SIDE)})
            check(f"{at} its column", brightest(picture, frame, 2) == {(i, x) for i in range(SIDE)})
            check(f"{at} up and left", brightest(picture, frame, 3) == {(y - UP, x - LEFT)})
            check(f"{at} its colour", (y, x) in brightest(picture, frame, 4))
    check("different pictures", len(set(written.values())) <= 1)
    print(f"{passed} passed, {failed} failed, {len(sys.argv) - 1 - len(written)} skipped")
    return 1 if failed else 0 if written else 77


if __name__ == "__main__":
    sys.exit(main())

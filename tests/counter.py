#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The counter generator of counter.h, written a second time from its description.

usage: counter.py table            print the known answers that test_counter.c holds
       counter.py compare PROGRAM  run `PROGRAM dump` and compare every line
"""
import subprocess
import sys
from fractions import Fraction

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
# name: fraction bits, exponent bits
TYPES = {"f32": (23, 8), "f16": (10, 5), "bf16": (7, 8)}
MODES = ("uniform", "bell", "finite", "special")
SEEDS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2024, 7, 65535), (MASK, MASK, MASK))
DUMP_SEED, DUMP_STREAM, DUMP_COUNT = 42, 3, 4096


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def word(seed, stream, index):
    return mix(mix(mix(seed + GAMMA & MASK) + stream + GAMMA & MASK) + index + GAMMA & MASK)


def uniform(w):
    return Fraction((w >> 40) - (1 << 23), 1 << 23)


def bell(w):
    field = (1 << 21) - 1
    return Fraction(2 * sum(w >> shift & field for shift in (0, 21, 42)) - 3 * field, 1 << 21)


def encode(name, value):
    """The pattern nearest to a rational number of less than 4, ties to even."""
    fraction_bits, exponent_bits = TYPES[name]
    bias = (1 << exponent_bits - 1) - 1
    magnitude = abs(value)
    exponent = max(1 - bias, magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1)
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    count = round(magnitude / Fraction(2) ** (exponent - fraction_bits))  # Python's round is to even
    return (value < 0) << fraction_bits + exponent_bits | count + (exponent - 1 + bias << fraction_bits)


def near_half(free, kept, tip):
    dropped = 23 - kept
    fraction = (free & 0x7FFFFF) >> dropped << dropped | 1 << dropped - 1
    if tip:
        fraction += 1 if free & 1 else -1
    return (113 + (free >> 23) % 30) << 23 | fraction


def finite_magnitude(name, kind, free):
    fraction_bits, exponent_bits = TYPES[name]
    one = 1 << fraction_bits
    top = (1 << exponent_bits) - 1
    power = (1 + free % (top - 1)) << fraction_bits
    first = (0, 1, 1 + free % (one - 1), one - 1, one, (top << fraction_bits) - 1, power - 1, power, power + 1)
    if kind < len(first):
        return first[kind]
    if name != "f32":
        return free % (top << fraction_bits)
    if kind == 13:
        return (139 << 23) + free % (116 << 23)
    return near_half(free, 10 if kind in (9, 11) else 7, kind > 10)


def bits(name, mode, w):
    fraction_bits, exponent_bits = TYPES[name]
    kind = (w >> 56) % 16
    if mode == "uniform":
        return encode(name, uniform(w))
    if mode == "bell":
        return encode(name, bell(w))
    if kind >= 14:
        return encode(name, bell(mix(w)))
    free = w & 0xFFFFFFFF
    sign = (w >> 55 & 1) << fraction_bits + exponent_bits
    infinity = (1 << exponent_bits) - 1 << fraction_bits
    quiet = 1 << fraction_bits - 1
    if mode == "finite" or kind > 2:
        return sign | finite_magnitude(name, kind, free)
    return sign | infinity | (0, quiet | free % quiet, 1 + free % (quiet - 1))[kind]


def lines():
    for index in range(DUMP_COUNT):
        w = word(DUMP_SEED, DUMP_STREAM, index)
        patterns = " ".join(f"{bits(name, mode, w):08x}" for name in TYPES for mode in MODES)
        yield f"{index} {w:016x} {patterns}"


def table():
    for key in SEEDS:
        w = word(*key)
        print("    {" + ", ".join(f"UINT64_C({number})" for number in key) + f", UINT64_C(0x{w:016x}),")
        print("     {" + ", ".join(f"0x{bits(name, 'bell', w):08x}" for name in TYPES) + "},")
        print("     {" + ", ".join(f"0x{bits(name, 'special', w):08x}" for name in TYPES) + "}},")


def compare(program):
    got = subprocess.run([program, "dump"], check=True, capture_output=True, text=True).stdout.splitlines()
    expected = list(lines())
    wrong = [(a, b) for a, b in zip(got, expected) if a != b]
    for a, b in wrong[:5]:
        print(f"got      {a}\nexpected {b}")
    if len(got) != len(expected):
        print(f"{len(got)} lines, expected {len(expected)}")
    failed = len(wrong) + abs(len(got) - len(expected))
    print(f"{len(expected) - len(wrong)} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["table"]:
        table()
        return 0
    if len(arguments) == 2 and arguments[0] == "compare":
        return compare(arguments[1])
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

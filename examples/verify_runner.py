#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A device for `rope2d verify --exec` in NumPy: the one formula, with none of rope2d's code.

    rope2d verify --exec 'python3 examples/verify_runner.py {case} {out}' --cases tests/golden

reads a case (tests/golden/README.md describes the folder) and writes q_out.npy and k_out.npy. A runner for a phone copies
the folder there, starts something that does the same, and copies two files back.
"""
import json
import pathlib
import sys

import numpy


def angles(positions, freqs, mode):
    """[token][head or 1][pair], from positions [token][axis] and freqs [axis][head or 1][pair]."""
    kind = numpy.float64 if mode == "double" else numpy.float32
    total = numpy.zeros((len(positions), *freqs.shape[1:]), kind)
    for axis, own in enumerate(freqs):
        # A frequency of 0 is left out, and each product and sum is rounded.
        product = positions[:, axis, None, None].astype(kind) * own.astype(kind)[None]
        total = numpy.where(own[None] != 0, total + product, total)
    return total.astype(numpy.float64)


def rotate(x, case, positions, freqs, still):
    """x is [batch][token][head][channel]; products and sums in fp32, one after another."""
    lo, hi = case["pair_lo"], case["pair_hi"]
    tables = freqs if freqs.ndim == 4 else freqs[None]  # two where lo and hi have angles of their own
    turned = [angles(positions, one, case.get("angles", "fp32")) for one in (tables[0], tables[-1])]
    (c_lo, s_lo), (c_hi, s_hi) = [(numpy.cos(one).astype(numpy.float32), numpy.sin(one).astype(numpy.float32)) for one in turned]
    out = x.copy()
    a, b = x[..., lo], x[..., hi]
    out[..., lo] = c_lo * a - s_lo * b
    out[..., hi] = s_hi * a + c_hi * b
    for begin, end in still:
        out[:, begin:end] = x[:, begin:end]
    return out


def to_bnhd(x, layout, heads):
    """Any layout of a case as [batch][token][head][channel]."""
    if layout == "BHND":
        return x.transpose(0, 2, 1, 3)
    if layout == "NHD":
        return x[None]
    return x.reshape(*x.shape[:2], heads, -1) if layout == "BNC" else x


def main(folder, out):
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    freqs = numpy.load(folder / "freqs.npy")
    positions = numpy.load(folder / "positions.npy")
    for name in ("q", "k"):
        x = numpy.load(folder / f"{name}.npy")
        is_own = name == "k" and case.get("has_separate_k_positions")
        own = numpy.load(folder / "positions_k.npy") if is_own else positions
        still = case["unrotated_tokens_k" if name == "k" else "unrotated_tokens"]
        with numpy.errstate(all="ignore"):  # infinities and NaNs are inputs like others
            y = rotate(to_bnhd(x, case["layout"], case[f"heads_{name}"]), case, own, freqs, still)
        y = y.transpose(0, 2, 1, 3) if case["layout"] == "BHND" else y
        numpy.save(out / f"{name}_out.npy", numpy.ascontiguousarray(y.reshape(x.shape)))


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Evaluate golden cases with NumPy alone and compare them with the recorded outputs.

usage: check.py FOLDER...   where a FOLDER is a case or holds cases
"""
import json
import pathlib
import sys

import numpy as np

# Outputs recorded in fp32 follow fp32 angles this closely; those recorded in bf16 have their own tolerance.
FP32_OUTPUT_LIMIT = 4e-6


def as_bnhd(array, layout, heads):
    """The array seen as batch, token, head, channel."""
    if layout == "BHND":
        return array.swapaxes(1, 2)
    if layout == "NHD":
        return array[np.newaxis]
    if layout == "BNC":
        batch, tokens, channels = array.shape
        return array.reshape(batch, tokens, heads, channels // heads)
    if layout == "BNHD":
        return array
    raise ValueError(f"layout {layout}: expected BHND, BNHD, NHD or BNC")


def angles(positions, freqs, dtype):
    """[token][1 or heads][pair], every product and every sum rounded to dtype."""
    total = np.zeros((positions.shape[0],) + freqs.shape[1:], dtype)
    for axis, freq in enumerate(freqs):
        total += positions[:, axis, np.newaxis, np.newaxis].astype(dtype) * freq.astype(dtype)
    return total.astype(np.float64)


def rotate(x, positions, freqs, lo, hi, dtype):
    tables = freqs if freqs.ndim == 4 else (freqs, freqs)
    angle_lo, angle_hi = (angles(positions, table, dtype) for table in tables)
    x = x.astype(np.float64)
    out = x.copy()
    out[..., lo] = np.cos(angle_lo) * x[..., lo] - np.sin(angle_lo) * x[..., hi]
    out[..., hi] = np.sin(angle_hi) * x[..., lo] + np.cos(angle_hi) * x[..., hi]
    return out


def same_bits(a, b):
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def check_tensor(folder, case, name):
    """The two largest differences (double, fp32 angles) and a list of complaints."""
    own_positions = name == "k" and case["has_separate_k_positions"]
    positions_name = "positions_k" if own_positions else "positions"
    heads = case["heads_" + name]
    x = as_bnhd(np.load(folder / f"{name}.npy"), case["layout"], heads)
    recorded = as_bnhd(np.load(folder / f"{name}_out.npy"), case["layout"], heads)
    lo, hi = case["pair_lo"], case["pair_hi"]
    complaints = []

    copied = np.setdiff1d(np.arange(case["head_dim"]), lo + hi)
    if not same_bits(x[..., copied], recorded[..., copied]):
        complaints.append(f"{name}: a channel outside the pairs changed")
    for begin, end in case["unrotated_tokens_k" if name == "k" else "unrotated_tokens"]:
        if not same_bits(x[:, begin:end], recorded[:, begin:end]):
            complaints.append(f"{name}: a token in [{begin}, {end}) changed")

    exact = rotate(x, np.array(case[positions_name + "_f64"]), np.array(case["freqs_f64"]), lo, hi, np.float64)
    single = rotate(x, np.load(folder / f"{positions_name}.npy"), np.load(folder / "freqs.npy"), lo, hi, np.float32)
    differences = [float(np.abs(value - recorded).max()) for value in (exact, single)]
    return differences, complaints


def check_case(folder):
    case = json.loads((folder / "case.json").read_text())
    tolerance = case["verify"]["tolerance"]
    worst = np.zeros(2)
    complaints = []
    for name in ("q", "k"):
        differences, found = check_tensor(folder, case, name)
        worst = np.maximum(worst, differences)
        complaints += found
    single_limit = FP32_OUTPUT_LIMIT if case["io_dtype"] == "float32" else tolerance
    if not worst[0] <= tolerance:
        complaints.append(f"double: {worst[0]:.3g} > {tolerance:g}")
    if not worst[1] <= single_limit:
        complaints.append(f"fp32 angles: {worst[1]:.3g} > {single_limit:g}")
    verdict = "FAIL" if complaints else "ok  "
    print(f"{verdict} {folder.name:24} double {worst[0]:.2e}  fp32 angles {worst[1]:.2e}  {'; '.join(complaints)}")
    return not complaints


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    folders = []
    for argument in map(pathlib.Path, arguments):
        folders += [argument] if (argument / "case.json").exists() else sorted(
            path.parent for path in argument.glob("*/case.json"))
    passed = sum(map(check_case, folders))
    print(f"{passed} passed, {len(folders) - passed} failed, 0 skipped")
    return 0 if folders and passed == len(folders) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

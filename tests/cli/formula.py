# SPDX-License-Identifier: MIT
"""The rotation with NumPy alone, in double from fp32 inputs, and how close a result must come to it."""
import numpy as np

# Half a unit in the last place of a result of each type, relative.
ROUNDING = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
# The smallest that a subnormal result can be off by.
SMALLEST = {"f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}


def frequencies(base, axes, rotary):
    """[axes][1][pairs] in fp32: base^(-2 axes j / rotary) for pair j of each axis."""
    pairs = rotary // 2
    own = pairs // axes
    freqs = np.zeros((axes, 1, pairs), np.float32)
    for axis in range(axes):
        freqs[axis, 0, axis * own:(axis + 1) * own] = float(base) ** (-2.0 * axes * np.arange(own) / rotary)
    return freqs


def grid(height, width, axes="yx"):
    y, x = np.mgrid[0:height, 0:width].reshape(2, -1).astype(np.float32)
    return np.stack([y, x] if axes == "yx" else [x, y], axis=1)


def pairs_of(pairing, rotary, axes):
    i = np.arange(rotary // 2)
    if pairing == "interleaved":
        return 2 * i, 2 * i + 1
    if pairing == "half":
        return i, i + rotary // 2
    segment = rotary // 2 // axes
    low = i // segment * 2 * segment + i % segment
    return low, low + segment


def as_bnhd(array, layout, heads):
    if layout == "bhnd":
        return array.swapaxes(1, 2)
    if layout == "nhd":
        return array[np.newaxis]
    if layout == "bnc":
        return array.reshape(array.shape[0], array.shape[1], heads, -1)
    return array


def widen(array, dtype):
    """Values in double; bf16 comes as uint16."""
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def narrow(values, dtype):
    """Values as an input of a type; for bf16 any rounding will do."""
    if dtype == "bf16":
        return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(np.float16 if dtype == "f16" else np.float32)


def angles_of(positions, freqs, fp32):
    """[batch][token][heads or 1][pair] from positions [batch][token][axis]."""
    dtype = np.float32 if fp32 else np.float64
    total = np.zeros(positions.shape[:2] + freqs.shape[1:], dtype)
    for axis, freq in enumerate(freqs):
        total += positions[:, :, axis, np.newaxis, np.newaxis].astype(dtype) * freq.astype(dtype)
    return total.astype(np.float64)


def rotate(x, positions, freqs, low, high, direction="forward", unrotated=(), fp32=False):
    """x in double [b][n][h][d]. Gives the result, and the sum of the magnitudes that rounding is relative to."""
    positions = positions if positions.ndim == 3 else positions[np.newaxis]
    tables = freqs if freqs.ndim == 4 else (freqs, freqs)
    sign = 1.0 if direction == "forward" else -1.0
    angle_low, angle_high = (sign * angles_of(positions, table, fp32) for table in tables)
    turned = np.ones(x.shape[1], bool)
    for begin, end in unrotated:
        turned[begin:end] = False
    turned = turned[np.newaxis, :, np.newaxis, np.newaxis]
    out, scale = x.copy(), np.abs(x)
    a, b = x[..., low], x[..., high]
    out[..., low] = np.where(turned, np.cos(angle_low) * a - np.sin(angle_low) * b, a)
    out[..., high] = np.where(turned, np.sin(angle_high) * a + np.cos(angle_high) * b, b)
    scale[..., low] = scale[..., high] = np.abs(a) + np.abs(b)
    return out, scale


def worst(result, expected, scale, dtype):
    """The largest error as a share of what is allowed: 2.5 fp32 roundings and one of the type's own."""
    allowed = 2.5 * 2 * ROUNDING["f32"] * scale + SMALLEST[dtype]
    if dtype != "f32":
        allowed = allowed + ROUNDING[dtype] * np.abs(expected)
    return float((np.abs(widen(result, dtype) - expected) / allowed).max()) if result.size else 0.0

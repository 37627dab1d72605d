# SPDX-License-Identifier: MIT
"""rope2d apply against NumPy's own evaluation of the formula, and what it refuses."""
import itertools
import resource
import signal

import numpy as np

import formula

HEIGHT, WIDTH, HEAD_DIM = 3, 5, 16
TOKENS = HEIGHT * WIDTH
BASE = ["--base", "100"]
GRID = ["--grid", f"{HEIGHT}x{WIDTH}"]


def shape_of(layout, batch, tokens, heads, head_dim=HEAD_DIM):
    return {"bnhd": (batch, tokens, heads, head_dim), "bhnd": (batch, heads, tokens, head_dim),
            "nhd": (tokens, heads, head_dim), "bnc": (batch, tokens, heads * head_dim)}[layout]


class Bench:
    """Writes inputs, applies, and compares with the formula."""

    def __init__(self, runner):
        self.runner = runner
        self.random = np.random.default_rng(20258)

    def save(self, name, array):
        np.save(self.runner.path(name), array)
        return name

    def tensor(self, name, shape, dtype="f32"):
        array = formula.narrow(self.random.standard_normal(shape), dtype)
        self.save(name, array)
        return array

    def expect_formula(self, name, arguments, tensors, layout="bnhd", dtype="f32", dtype_out=None, **how):
        """`tensors`: for each file the input, its heads and its positions; `how`: what formula.rotate takes."""
        runner, dtype_out = self.runner, dtype_out or dtype
        before = runner.names()
        result = runner.expect(name, ["apply", *arguments], 0)
        if result.status != 0:
            return None
        outputs = []
        for file, (array, heads, positions) in tensors.items():
            out = np.load(runner.path(f"{file}_rotated.npy"))
            outputs.append(out)
            expected_type = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}[dtype_out]
            if not runner.check(f"{name}: {file}'s shape and type",
                                out.shape == array.shape and out.dtype == expected_type,
                                f"{out.shape} {out.dtype} for {array.shape} {expected_type}"):
                continue
            x = formula.as_bnhd(formula.widen(array, dtype), layout, heads)
            expected, scale = formula.rotate(x, positions, **how)
            share = formula.worst(formula.as_bnhd(out, layout, heads), expected, scale, dtype_out)
            runner.check(f"{name}: {file}", share <= 1.0, f"{share:.3g} times the error that is allowed")
            runner.path(f"{file}_rotated.npy").unlink()
        runner.check(f"{name}: leaves nothing else", runner.names() == before, str(runner.names()))
        return outputs


def rule(pairing="interleaved", rotary=HEAD_DIM, axes=2, base=100):
    low, high = formula.pairs_of(pairing, rotary, axes)
    return {"freqs": formula.frequencies(base, axes, rotary), "low": low, "high": high}


def check_layouts_and_types(bench):
    runner = bench.runner
    devices = ["cpu"] if runner.is_quick else runner.devices
    choices = itertools.product(("bnhd", "bhnd", "nhd", "bnc"), ("f32", "f16", "bf16"),
                                ("interleaved", "half", "segment-half"))
    for layout, dtype, pairing in choices:
        q = bench.tensor("q.npy", shape_of(layout, 2, TOKENS, 3), dtype)
        k = bench.tensor("k.npy", shape_of(layout, 2, TOKENS, 1), dtype)  # fewer heads than q
        positions = formula.grid(HEIGHT, WIDTH)
        outputs = {}
        for device in devices if (layout, pairing) == ("bhnd", "half") else ["cpu"]:
            command = ["--q", "q.npy", "--k", "k.npy", *GRID, *BASE, "--layout", layout, "--pairing", pairing,
                       "--device", device]
            command += ["--heads-q", "3", "--heads-k", "1"] if layout == "bnc" else []
            command += ["--dtype", "bf16"] if dtype == "bf16" else []
            outputs[device] = bench.expect_formula(f"{layout} {dtype} {pairing} on {device}", command,
                                                   {"q": (q, 3, positions), "k": (k, 1, positions)}, layout, dtype,
                                                   **rule(pairing))
        first = next(iter(outputs.values()))
        for device, arrays in outputs.items():
            same = arrays and first and all(a.tobytes() == b.tobytes() for a, b in zip(arrays, first))
            runner.check(f"{layout} {dtype} {pairing}: bits on {device}", same, "not those of the CPU")


def check_axes_and_rotary(bench):
    q = bench.tensor("q.npy", shape_of("bnhd", 1, TOKENS, 2))
    for axes in ("yx", "xy"):
        tensors = {"q": (q, 2, formula.grid(HEIGHT, WIDTH, axes))}
        bench.expect_formula(f"axes {axes}", ["--q", "q.npy", *GRID, *BASE, "--axes", axes, "--device", "cpu"],
                             tensors, **rule())
    tensors = {"q": (q, 2, formula.grid(HEIGHT, WIDTH))}
    for rotary, pairing in itertools.product((4, 8, 12), ("interleaved", "half", "segment-half")):
        outputs = bench.expect_formula(
            f"rotary {rotary} {pairing}", ["--q", "q.npy", *GRID, *BASE, "--rotary-dim", rotary, "--pairing", pairing,
                                           "--device", "cpu"], tensors, **rule(pairing, rotary))
        same = outputs and outputs[0][..., rotary:].tobytes() == q[..., rotary:].tobytes()
        bench.runner.check(f"rotary {rotary} {pairing}: the rest keeps its bits", same)
    for direction in ("inverse", "transpose"):
        bench.expect_formula(direction, ["--q", "q.npy", *GRID, *BASE, "--direction", direction, "--device", "cpu"],
                             tensors, direction=direction, **rule())
    positions = formula.grid(HEIGHT, WIDTH) * np.float32(1234.567)
    bench.save("p.npy", positions)
    for angles in ("fp32", "double"):
        bench.expect_formula(f"angles {angles}", ["--q", "q.npy", "--positions", "p.npy", *BASE, "--angles", angles,
                                                  "--device", "cpu"], {"q": (q, 2, positions)},
                             fp32=angles == "fp32", **rule())


def check_positions(bench):
    q = bench.tensor("q.npy", shape_of("bnhd", 2, 7, 2))
    k = bench.tensor("k.npy", shape_of("bnhd", 2, 9, 1))
    for axes in (1, 2, 4):
        own = bench.random.standard_normal((7, axes)).astype(np.float32) * 10
        bench.save("p.npy", own)
        bench.expect_formula(f"positions of {axes} axes", ["--q", "q.npy", "--positions", "p.npy", *BASE,
                                                           "--device", "cpu"], {"q": (q, 2, own)}, **rule(axes=axes))
    of_batch = bench.random.integers(-50, 50, (2, 7, 2))
    of_k = bench.random.integers(-50, 50, (9, 2)).astype(np.int32)
    bench.save("p.npy", of_batch)
    bench.save("pk.npy", of_k)
    bench.expect_formula("positions of each batch element, and of k",
                         ["--q", "q.npy", "--k", "k.npy", "--positions", "p.npy", "--positions-k", "pk.npy", *BASE,
                          "--device", "cpu"], {"q": (q, 2, of_batch), "k": (k, 1, of_k)}, **rule())
    q = bench.tensor("q.npy", shape_of("bnhd", 1, TOKENS + 3, 2))
    ranges = [(0, 1), (TOKENS + 1, TOKENS + 3)]
    positions = np.zeros((TOKENS + 3, 2), np.float32)
    positions[1:TOKENS + 1] = formula.grid(HEIGHT, WIDTH)
    text = ",".join(f"{begin}:{end}" for begin, end in ranges)
    outputs = bench.expect_formula("unrotated", ["--q", "q.npy", *GRID, *BASE, "--unrotated", text, "--device", "cpu"],
                                   {"q": (q, 2, positions)}, unrotated=ranges, **rule())
    kept = outputs and all(outputs[0][:, b:e].tobytes() == q[:, b:e].tobytes() for b, e in ranges)
    bench.runner.check("unrotated tokens keep their bits", kept)


def check_frequencies(bench):
    q = bench.tensor("q.npy", shape_of("bnhd", 1, TOKENS, 2))
    tensors = {"q": (q, 2, formula.grid(HEIGHT, WIDTH))}
    for name, shape in (("shared", (2, 8)), ("shared with heads", (2, 1, 8)), ("of each head", (2, 2, 8)),
                        ("fewer", (2, 3)), ("two angles", (2, 2, 1, 8)), ("two angles of each head", (2, 2, 2, 8))):
        freqs = bench.random.standard_normal(shape).astype(np.float32)
        bench.save("f.npy", freqs)
        low, high = formula.pairs_of("half", 2 * shape[-1], 2)
        as_formula = freqs[:, np.newaxis] if freqs.ndim == 2 else freqs
        arguments = ["--q", "q.npy", *GRID, "--freqs", "f.npy", "--pairing", "half", "--device", "cpu"]
        plain = bench.expect_formula(f"frequencies {name}", arguments, tensors, freqs=as_formula, low=low, high=high)
        bench.runner.expect(f"frequencies {name}, factored", ["apply", *arguments, "--factored"], 0)
        factored = np.load(bench.runner.path("q_rotated.npy"))
        bench.runner.path("q_rotated.npy").unlink()
        # Two roundings of cosine and sine more, and other bits for it.
        distance = np.abs(factored - plain[0]).max() / np.abs(q).max()
        bench.runner.check(f"frequencies {name}, factored: near", 0 < distance < 2 ** -20, f"{distance:.3g}")


def check_output(bench):
    runner = bench.runner
    q = bench.tensor("q.npy", shape_of("bnhd", 1, TOKENS, 2))
    tensors = {"q": (q, 2, formula.grid(HEIGHT, WIDTH))}
    for dtype in ("f16", "bf16", "f32"):
        bench.expect_formula(f"f32 to {dtype}", ["--q", "q.npy", *GRID, *BASE, "--dtype-out", dtype, "--device", "cpu"],
                             tensors, dtype_out=dtype, **rule())
    result = runner.expect("auto says which", ["apply", "--q", "q.npy", *GRID, *BASE], 0, "rope2d: device ")
    runner.check("auto says why", "GPU" in result.errors, result.errors)
    quiet = runner.expect("a device asked for", ["apply", "--q", "q.npy", *GRID, *BASE, "--device", "cpu"], 0)
    runner.check("no noise, no progress where there is no terminal", not quiet.errors, quiet.errors)
    rotated = runner.path("q_rotated.npy").read_bytes()
    runner.expect("onto itself", ["apply", "--q", "q.npy", "--out-q", "q.npy", *GRID, *BASE, "--device", "cpu"], 0)
    runner.check("onto itself: the same", runner.path("q.npy").read_bytes() == rotated)
    for shape in ((1, 0, 2, 16), (0, TOKENS, 2, 16), (1, TOKENS, 0, 16)):
        bench.save("q.npy", np.zeros(shape, np.float32))
        grid = "0x7" if shape[1] == 0 else f"{HEIGHT}x{WIDTH}"
        runner.expect(f"nothing to do: {shape}", ["apply", "--q", "q.npy", "--grid", grid, *BASE, "--device", "cpu"], 0)
        runner.check(f"nothing to do: {shape}'s shape", np.load(runner.path("q_rotated.npy")).shape == shape)
    runner.path("q_rotated.npy").unlink()


def check_cache(bench):
    """A folder that is empty, one that is full, and one that is not there: the same bits."""
    runner = bench.runner
    bench.tensor("q.npy", shape_of("bnhd", 1, TOKENS, 2))
    folder = runner.path("cache")
    folder.mkdir(exist_ok=True)
    for device in runner.devices:
        command = ["apply", "--q", "q.npy", *GRID, *BASE, "--device", device]
        outputs = []
        for cache in (["--cache", str(folder)], ["--cache", str(folder)], []):
            result = runner.expect(f"cache on {device}", [*command, *cache], 0)
            runner.check(f"cache on {device}: no word of it", not result.errors, result.errors)
            outputs.append(runner.path("q_rotated.npy").read_bytes())
        runner.check(f"cache on {device}: bits", len(set(outputs)) == 1)
        if not device.startswith("cpu"):
            runner.expect(f"no folder on {device}", [*command, "--cache", str(folder / "none")], 0, "cannot be written")
    files = [file.name for file in folder.iterdir()]
    runner.check("cache: a file for each device", len(files) <= len(runner.devices) and
                 bool(files) == any(not device.startswith("cpu") for device in runner.devices) and
                 all(name.startswith("rope2d-") and name.endswith(".cache") for name in files), str(files))
    for file in files:
        (folder / file).unlink()
    folder.rmdir()
    runner.path("q_rotated.npy").unlink()


def check_pieces(bench):
    """Work so long that it goes by pieces: every 89th token, which falls into each of them."""
    height, width, heads, head_dim = 96, 96, 4, 512
    sample = np.arange(0, height * width, 89)
    for layout in ("bnhd", "bhnd"):
        q = bench.tensor("long.npy", shape_of(layout, 1, height * width, heads, head_dim))
        bench.runner.expect(f"pieces {layout}", ["apply", "--q", "long.npy", "--grid", f"{height}x{width}", *BASE,
                                                 "--layout", layout, "--device", "cpu"], 0)
        out = np.load(bench.runner.path("long_rotated.npy"))
        low, high = formula.pairs_of("interleaved", head_dim, 2)
        x, y = (formula.as_bnhd(array, layout, heads)[:, sample] for array in (q, out))
        expected, scale = formula.rotate(x.astype(np.float64), formula.grid(height, width)[sample],
                                         formula.frequencies(100, 2, head_dim), low, high)
        share = formula.worst(y, expected, scale, "f32")
        bench.runner.check(f"pieces {layout}", share <= 1.0, f"{share:.3g} times the error that is allowed")
        bench.runner.path("long_rotated.npy").unlink()
    bench.runner.path("long.npy").unlink()


def check_refused(bench):
    runner = bench.runner
    bench.tensor("q.npy", shape_of("bnhd", 1, TOKENS, 2))
    bench.tensor("half.npy", shape_of("bnhd", 1, TOKENS, 2), "f16")
    bench.tensor("bits.npy", shape_of("bnhd", 1, TOKENS, 2), "bf16")
    bench.tensor("long.npy", shape_of("bnhd", 1, TOKENS + 1, 2))
    bench.tensor("wide.npy", shape_of("bnhd", 1, TOKENS, 2, 32))
    bench.tensor("odd.npy", shape_of("bnhd", 1, TOKENS, 2, 15))
    bench.tensor("merged.npy", shape_of("bnc", 1, TOKENS, 3))
    positions = {"p3": np.zeros((TOKENS, 3)), "p5": np.zeros((TOKENS, 5)), "short": np.zeros((TOKENS - 1, 2)),
                 "nan": np.full((TOKENS, 2), np.nan), "batch": np.zeros((3, TOKENS, 2))}
    for name, array in positions.items():
        bench.save(f"{name}.npy", array.astype(np.float32))
    bench.save("far.npy", np.full((TOKENS, 2), 2**24 + 1))
    bench.save("f.npy", np.ones((2, 1, 8), np.float32))
    bench.save("finf.npy", np.full((2, 1, 8), np.inf, np.float32))
    bench.save("fwide.npy", np.ones((2, 1, 9), np.float32))
    bench.save("fheads.npy", np.ones((2, 5, 8), np.float32))
    refused = [
        (["--q", "q.npy", "--grid", "3x6", *BASE], "--grid 3x6", "18 patches", "15 tokens"),
        (["--q", "q.npy", "--grid", "3", *BASE], "--grid 3", "HEIGHTxWIDTH"),
        (["--q", "q.npy", "--grid", "3x-5", *BASE], "--grid 3x-5"),
        (["--q", "q.npy", *GRID, "--base", "0"], "--base 0", "above 0"),
        (["--q", "q.npy", *GRID, "--base", "nan"], "--base nan"),
        (["--q", "q.npy", *GRID, "--base", "ten"], "--base ten"),
        (["--q", "q.npy", *GRID, *BASE, "--rotary-dim", "18"], "--rotary-dim 18", "16 channels"),
        (["--q", "q.npy", *GRID, *BASE, "--rotary-dim", "7"], "--rotary-dim 7", "even"),
        (["--q", "q.npy", *GRID, *BASE, "--rotary-dim", "6"], "3 pairs", "2 axes"),
        (["--q", "q.npy", *GRID, *BASE, "--unrotated", "3"], "--unrotated 3", "BEGIN:END"),
        (["--q", "q.npy", *GRID, *BASE, "--unrotated", "4:99"], "--unrotated 4:99", "15 tokens"),
        (["--q", "q.npy", *GRID, *BASE, "--unrotated", "4:6,5:7"], "--unrotated 5:7", "from 6 on"),
        (["--q", "q.npy", *GRID, *BASE, "--unrotated", "0:1"], "14 tokens", "outside --unrotated"),
        (["--q", "q.npy", *GRID, *BASE, "--heads-q", "3"], "has 2 heads", "must be 3"),
        (["--q", "q.npy", *GRID, *BASE, "--layout", "nhd"], "layout nhd", "3 dimensions"),
        (["--q", "q.npy", *GRID, *BASE, "--dtype", "f16"], "--dtype f16", "'<f4'"),
        (["--q", "bits.npy", *GRID, *BASE], "--dtype bf16"),
        (["--q", "odd.npy", *GRID, *BASE], "15", "even"),
        (["--q", "merged.npy", *GRID, *BASE, "--layout", "bnc"], "--heads-q"),
        (["--q", "merged.npy", *GRID, *BASE, "--layout", "bnc", "--heads-q", "7"], "--heads-q", "48 channels"),
        (["--q", "q.npy", "--k", "half.npy", *GRID, *BASE], "--k half.npy", "'<f2'", "'<f4'"),
        (["--q", "q.npy", "--k", "wide.npy", *GRID, *BASE], "--k wide.npy", "32", "16"),
        (["--q", "q.npy", "--k", "long.npy", *GRID, *BASE], "16 tokens", "15 tokens", "--positions-k"),
        (["--q", "q.npy", "--k", "q.npy", *GRID, *BASE, "--out-q", "x.npy", "--out-k", "x.npy"], "--out-k x.npy"),
        (["--q", "q.npy", "--positions", "short.npy", *BASE], "--positions short.npy", "(14, 2)", "(15, axes)"),
        (["--q", "q.npy", "--positions", "p5.npy", *BASE], "--positions p5.npy", "from 1 to 4"),
        (["--q", "q.npy", "--positions", "batch.npy", *BASE], "--positions batch.npy", "(3, 15, 2)"),
        (["--q", "q.npy", "--positions", "far.npy", *BASE], "--positions far.npy", "16777217", "16777216"),
        (["--q", "q.npy", "--positions", "nan.npy", *BASE], "ROPE2D_ERROR_COORDINATE"),
        (["--q", "q.npy", "--positions", "p3.npy", "--freqs", "f.npy"], "--freqs f.npy", "2 axes", "3"),
        (["--q", "q.npy", *GRID, "--freqs", "finf.npy"], "ROPE2D_ERROR_FREQUENCY"),
        (["--q", "q.npy", *GRID, "--freqs", "fwide.npy"], "--freqs fwide.npy", "18", "16"),
        (["--q", "q.npy", *GRID, "--freqs", "f.npy", "--rotary-dim", "8"], "16 channels", "--rotary-dim's 8"),
        (["--q", "q.npy", *GRID, "--freqs", "q.npy"], "--freqs q.npy", "(1, 15, 2, 16)"),
        (["--q", "q.npy", *GRID, "--freqs", "fheads.npy"], "ROPE2D_ERROR_HEADS"),
    ]
    before = runner.names()
    for arguments, *texts in refused:
        runner.expect(f"apply {' '.join(arguments)}", ["apply", *arguments, "--device", "cpu"], 2, *texts)
        new = sorted(set(runner.names()) - set(before))
        runner.check(f"apply {' '.join(arguments)}: writes nothing", not new, str(new))
    runner.expect("apply on no device", ["apply", "--q", "q.npy", *GRID, *BASE, "--device", "cpu:9"], 3, "cpu:9")
    runner.expect("apply on two devices", ["apply", "--q", "q.npy", *GRID, *BASE, "--device", "cpu,cpu"], 2, "one device")
    runner.expect("apply on all", ["apply", "--q", "q.npy", *GRID, *BASE, "--device", "all"], 2, "--device all", "must be auto, cpu")
    runner.check("apply on no device writes nothing", runner.names() == before, str(runner.names()))


def no_large_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def check_half_written(bench):
    """A write that fails leaves what was there, and nothing beside it."""
    runner = bench.runner
    bench.tensor("q.npy", shape_of("bnhd", 1, TOKENS, 2))
    runner.path("old.npy").write_bytes(b"what was there")
    runner.path("folder").mkdir()
    before = runner.names()
    command = ["apply", "--q", "q.npy", "--k", "q.npy", *GRID, *BASE, "--device", "cpu", "--out-q", "old.npy", "--out-k"]
    for name, out_k, limit in (("no such folder", "none/k.npy", None), ("a folder", "folder", None),
                               ("a device", "/dev/null", None), ("no room", "k2.npy", no_large_files)):
        runner.expect(f"output: {name}", [*command, out_k], 2, "cannot be written", before=limit)
        runner.check(f"output: {name}: nothing new", runner.names() == before, str(runner.names()))
        runner.check(f"output: {name}: the old one stays", runner.path("old.npy").read_bytes() == b"what was there")


def test(runner):
    bench = Bench(runner)
    check_layouts_and_types(bench)
    check_axes_and_rotary(bench)
    check_positions(bench)
    check_frequencies(bench)
    check_output(bench)
    check_cache(bench)
    check_pieces(bench)
    check_refused(bench)
    check_half_written(bench)

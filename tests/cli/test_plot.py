#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Test the numbers behind the pictures against the formulas, and that the pictures are drawn.

usage: test_plot.py ROPE2D GOLDEN
"""
import json
import math
import os
import shutil
import subprocess
import sys

from runner import Runner

CLOSE = 2e-6
WRONG_USAGE = [
    (["plot-data"], "needs a picture"),
    (["plot-data", "angels"], "did you mean angles?"),
    (["plot", "zzzzzzzz"], "there is no picture 'zzzzzzzz'"),
    (["plot-data", "angles", "--preset", "qwen2-vl-visoin"], "qwen2-vl-vision"),
    (["plot-data", "angles", "--preset", "mochi"], "learned"),
    (["plot-data", "decay", "--preset", "su,nobody"], "nobody"),
    (["plot-data", "angles", "--grid", "64"], "HEIGHTxWIDTH"),
    (["plot-data", "angles", "--grid", "64x2000"], "at most 1024"),
    (["plot-data", "angles", "--token", "64,0"], "outside a grid of 64 x 64"),
    (["plot-data", "angles", "--token", "1"], "ROW,COLUMN"),
    (["plot-data", "angles", "--token", "-1,2"], "ROW,COLUMN"),
    (["plot-data", "angles", "--folder", "x"], "--folder"),
]


def data_of(runner, *arguments):
    result = runner.run("plot-data", *arguments)
    if not runner.check(f"plot-data {arguments}", result.status == 0 and not result.errors, result.errors):
        raise SystemExit(runner.finish())
    return json.loads(result.output)


def near(a, b, scale=1.0):
    return abs(a - b) <= CLOSE * max(scale, abs(b))


# Qwen2-VL's vision tower: 40 pairs, the first half by y.
def qwen_angles(row, column):
    return [place * 10000 ** (-4 * i / 80) for place in (row, column) for i in range(20)]


def check_token(runner):
    angles, vectors = data_of(runner, "angles", "vectors", "--grid", "24x32", "--token", "7,21")
    expected = qwen_angles(7, 21)
    for data in (angles, vectors):
        pairs = data["pairs"]
        runner.check("a pair of a token for each", len(pairs) == 40)
        runner.check("axes of a token", [pair["axes"] for pair in pairs] == ["y"] * 20 + ["x"] * 20)
        runner.check("angles of a token", all(near(pair["radians"], angle, 0) for pair, angle in zip(pairs, expected)))
        runner.check("vectors of a token", all(near(pair["cos"], math.cos(angle), 10) and
                                               near(pair["sin"], math.sin(angle), 10)
                                               for pair, angle in zip(pairs, expected)))
    runner.check("names", (angles["kind"], vectors["kind"], angles["token"]) == ("angles", "vectors", [7, 21]))
    (normalised,) = data_of(runner, "angles", "--preset", "dinov3", "--grid", "8x10", "--token", "2,9")
    runner.check("coordinates of DINOv3", all(near(a, b) for a, b in zip(normalised["coordinates"], (-0.375, 0.9))),
                 normalised["coordinates"])


def check_heatmap(runner):
    (data,) = data_of(runner, "heatmap", "--grid", "12x16")
    runner.check("a row of the heat map for each token", len(data["radians"]) == 12)
    runner.check("the heat map's pairs", all(len(row) == 40 for row in data["radians"]))
    runner.check("the heat map's angles", all(near(angle, wanted, 0) for n, row in enumerate(data["radians"])
                                              for angle, wanted in zip(row, qwen_angles(n, n))))


def attention(name, down, right):
    if name == "flattened":
        return sum(math.cos(100 ** (-i / 32) * (33 * down + right)) for i in range(32)) / 32
    total = 0
    for i in range(32):
        along = (right, down)[i // 16]
        if name == "mixed":
            direction = i * math.pi * (3 - math.sqrt(5))
            along = right * math.cos(direction) + down * math.sin(direction)
        total += math.cos(100 ** (-(i % 16) / 16) * along)
    return total / 32


def check_attention(runner):
    (data,) = data_of(runner, "attention")
    reach = data["reach"]
    runner.check("three maps", [one["name"] for one in data["maps"]] == ["axial", "mixed", "flattened"])
    for one in data["maps"]:
        # Angles reach 544 radians, of frequencies rounded to fp32.
        worst = max(abs(score - attention(one["name"], row - reach, column - reach))
                    for row, scores in enumerate(one["scores"]) for column, score in enumerate(scores))
        runner.check(f"attention, {one['name']}", worst < 1e-5 and len(one["scores"]) == 2 * reach + 1, worst)


def check_decay(runner, names):
    (data,) = data_of(runner, "decay", "--grid", "12x12")
    presets = {preset["preset"]: preset for preset in data["presets"]}
    runner.check("decay of every preset", list(presets) == names, list(presets))
    for name, preset in presets.items():
        if "without" in preset:
            runner.check(f"{name} has no decay", "learned" in preset["without"], preset)
            continue
        along = [line["along"] for line in preset["lines"]]
        runner.check(f"{name}: directions", along in (["text"], ["row", "column", "diagonal"]), along)
        for line in preset["lines"]:
            scores = line["scores"]
            runner.check(f"{name} {line['along']}: begins at 1 and stays below",
                         len(scores) == 12 and near(scores[0], 1) and max(scores) < 1 + CLOSE, scores)
            runner.check(f"{name} {line['along']}: bound", near(line["bounds"][0], 1) and
                         all(0 <= bound < 1 + CLOSE for bound in line["bounds"]), line["bounds"])
    speeds = [10000 ** (-i / 64) for i in range(64)]
    wanted = [sum(math.cos(speed * n) for speed in speeds) / 64 for n in range(12)]
    runner.check("decay of llama", all(map(near, presets["llama"]["lines"][0]["scores"], wanted)))
    sums = [abs(sum(complex(math.cos(speed * 5), math.sin(speed * 5)) for speed in speeds[:i])) for i in range(1, 65)]
    runner.check("RoFormer's bound", near(presets["llama"]["lines"][0]["bounds"][5], sum(sums) / (64 * 65 / 2)))
    wanted = [sum(math.cos(10000 ** (-i / 20) * n) for i in range(20)) / 20 for n in range(12)]
    row, _, diagonal = (line["scores"] for line in presets["qwen2-vl-vision"]["lines"])
    runner.check("decay along a row: half the pairs rest", all(near(a, (1 + b) / 2) for a, b in zip(row, wanted)))
    runner.check("decay along the diagonal", all(map(near, diagonal, wanted)))


def check_axes(runner, names):
    (data,) = data_of(runner, "axes")
    pairs = {preset["preset"]: "|".join(preset["pair_axes"]) for preset in data["presets"]}
    runner.check("axes of every preset", list(pairs) == names, list(pairs))
    for name, wanted in {"su": ["x"] * 16 + ["y"] * 16, "dinov3": ["y"] * 16 + ["x"] * 16, "kimi-vl": ["x", "y"] * 18,
                         "flux.1": ["t"] * 8 + ["y"] * 28 + ["x"] * 28, "rope-vit-mixed": ["xy"] * 32,
                         "ernie-4.5-vl": ["y", "x"] * 22 + ["t"] * 20, "llama": ["t"] * 64}.items():
        runner.check(f"axes of {name}", pairs.get(name) == "|".join(wanted), pairs.get(name))


def check_drawing(runner):
    kinds = ("angles", "vectors", "heatmap", "attention", "decay", "axes")
    draw = ["plot", *kinds, "--preset", "su", "--format", "both", "--folder"]
    result = runner.run(*draw, "one")
    if result.status == 2 and "matplotlib is missing" in result.errors:
        runner.skip("drawing", "matplotlib is missing")
        return
    runner.check("drawing", result.status == 0, result.errors)
    runner.run(*draw, "two")
    for kind in kinds:
        for ending, magic in ((".svg", b"<?xml"), (".png", b"\x89PNG")):
            pictures = [runner.path(folder) / (kind + ending) for folder in ("one", "two")]
            if runner.check(f"{kind}{ending} is there", all(path.is_file() for path in pictures)):
                first, second = (path.read_bytes() for path in pictures)
                runner.check(f"{kind}{ending} is a picture", first.startswith(magic) and len(first) > 5000, len(first))
                runner.check(f"{kind}{ending} is the same again", first == second)


def check_script(runner):
    """A program elsewhere than it was built draws by the script that is installed with it, not by that of the sources."""
    own, told = runner.path("rope2d"), runner.path("told")
    shutil.copy(runner.program, own)
    told.mkdir()
    (told / "sitecustomize.py").write_text("import sys\nprint('runs', sys.orig_argv[1], file=sys.stderr)\n")
    scripts = []
    for program in (runner.program, own):
        done = subprocess.run([program, "plot", "axes", "--folder", runner.path("own")], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(told)})
        scripts += [line[5:] for line in done.stderr.splitlines() if line.startswith("runs ")][:1]
    runner.check("a program elsewhere takes no script of the sources", len(scripts) == 2 and scripts[0].endswith("tools/plot.py")
                 and scripts[1].endswith("share/rope2d/plot.py"), scripts)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__)
        return 2
    runner = Runner(*arguments)
    for wrong, text in WRONG_USAGE:
        runner.expect(f"wrong usage {wrong}", wrong, 2, text)
    names = [preset["name"] for preset in json.loads(runner.run("presets", "--json").output)]
    check_token(runner)
    check_heatmap(runner)
    check_attention(runner)
    check_decay(runner, names)
    check_axes(runner, names)
    check_drawing(runner)
    check_script(runner)
    return runner.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

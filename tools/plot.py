#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw what 'rope2d plot-data' prints: a picture for each object of the JSON array on standard input.

usage: rope2d plot-data angles decay | tools/plot.py [--folder FOLDER] [--format svg|png|both]

'rope2d plot' does both. Backgrounds are transparent, and text and colours read on white and on black.
"""
import argparse
import io
import json
import math
import os
import pathlib
import re
import statistics
import sys
import tempfile

try:
    import matplotlib
except ImportError:
    print("rope2d: matplotlib is missing (Debian: python3-matplotlib); 'rope2d plot-data' prints the numbers without it",
          file=sys.stderr)
    sys.exit(2)

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib import colors, patches, ticker  # noqa: E402

GREY = "#7c7c7c"  # as far from white as from black
COLORS = {"x": "#2b8cc4", "y": "#d9742b", "t": "#2f9e63", "l": "#a765c9"}
MIXED, STILL = "#b8962a", "#8a8a8a40"
WORDS = {"x": "x (column)", "y": "y (row)", "t": "t (frame)", "l": "l (text)"}
STYLE = {
    "axes.edgecolor": GREY, "axes.facecolor": "none", "axes.labelcolor": GREY, "axes.titlecolor": GREY,
    "axes.spines.right": False, "axes.spines.top": False, "figure.facecolor": "none", "font.size": 10,
    "legend.frameon": False, "legend.labelcolor": GREY, "savefig.bbox": "tight", "savefig.facecolor": "none",
    "svg.fonttype": "path", "svg.hashsalt": "rope2d", "text.color": GREY, "xtick.color": GREY, "ytick.color": GREY,
}
BELOW = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
ABOVE = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}


def color_of(letters):
    if not letters:
        return STILL
    return COLORS[letters] if len(letters) == 1 else MIXED


def add_key(figure, letters, where):
    """A legend of the axes that occur."""
    kinds = {one if len(one) < 2 else "+" for one in letters}
    handles = [patches.Patch(color=COLORS[one], label=WORDS[one]) for one in "tyxl" if one in kinds]
    if "+" in kinds:
        handles.append(patches.Patch(color=MIXED, label="several axes"))
    if "" in kinds:
        handles.append(patches.Patch(color=STILL, label="does not turn"))
    figure.legend(handles=handles, ncol=len(handles), handlelength=1, **where)


def name_token(data):
    row, column = data["token"]
    return f"{data['title']}: token in row {row}, column {column} of {data['grid'][0]} x {data['grid'][1]}"


def draw_angles(data):
    pairs = data["pairs"]
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    heights = [abs(pair["radians"]) for pair in pairs]
    least = min([height for height in heights if height > 0], default=1)
    axes.bar(range(len(pairs)), heights, 0.75, color=[color_of(pair["axes"]) for pair in pairs])
    axes.set(yscale="log", xlabel="pair", ylabel="angle, radians", xlim=(-1, len(pairs)),
             ylim=(least / 2, max(heights + [7]) * 2), title=name_token(data))
    axes.axhline(2 * math.pi, color=GREY, linewidth=0.8, linestyle="--")
    axes.text(len(pairs) - 0.6, 2 * math.pi * 1.08, "one turn", ha="right", va="bottom")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    add_key(figure, [pair["axes"] for pair in pairs], BELOW)
    return figure


def draw_vectors(data):
    pairs = data["pairs"]
    columns = 10 if len(pairs) <= 50 else 16
    rows = math.ceil(len(pairs) / columns)
    figure, axes = plt.subplots(figsize=(0.8 * columns, 0.86 * rows + 1), layout="constrained")
    for number, pair in enumerate(pairs):
        x, y = 2.5 * (number % columns), -3.0 * (number // columns)
        axes.add_patch(patches.Circle((x, y), 1, fill=False, edgecolor=GREY, linewidth=0.6))
        axes.plot([x, x + 1], [y, y], color=GREY, linewidth=0.6, linestyle=":")
        axes.annotate("", (x + pair["cos"], y + pair["sin"]), (x, y),
                      arrowprops={"arrowstyle": "-|>", "color": color_of(pair["axes"]), "linewidth": 1.6,
                                  "shrinkA": 0, "shrinkB": 0, "mutation_scale": 8})
        axes.text(x, y - 1.12, str(number), ha="center", va="top", fontsize=8)
    axes.set(aspect="equal", xlim=(-1.4, 2.5 * columns - 1.1), ylim=(-3.0 * (rows - 1) - 1.9, 1.2))
    axes.set_title(name_token(data) + "\neach pair's (1, 0), dotted, and where it turns to; below, the pair's number",
                   fontsize=10)
    axes.axis("off")
    add_key(figure, [pair["axes"] for pair in pairs], BELOW)
    return figure


def runs_of(letters):
    """(first, past the last, letters) of stretches that are alike."""
    begin = 0
    for end in range(1, len(letters) + 1):
        if end == len(letters) or letters[end] != letters[begin]:
            yield begin, end, letters[begin]
            begin = end


def draw_heatmap(data):
    letters = data["pair_axes"]
    turned = [[angle % (2 * math.pi) for angle in row] for row in data["radians"]]
    figure, axes = plt.subplots(figsize=(8, 4.6), layout="constrained")
    image = axes.imshow(turned, cmap="twilight", vmin=0, vmax=2 * math.pi, aspect="auto", interpolation="nearest")
    axes.set(xlabel="pair", ylabel="n")
    axes.set_title(f"{data['title']}: angles at row n, column n", pad=18)
    for begin, end, axis in runs_of(letters):
        axes.add_patch(patches.Rectangle((begin - 0.5, 1.01), end - begin, 0.03, color=color_of(axis), clip_on=False,
                                         transform=axes.get_xaxis_transform(), linewidth=0))
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    bar = figure.colorbar(image, ticks=[0, math.pi / 2, math.pi, 1.5 * math.pi, 2 * math.pi], pad=0.02)
    bar.ax.set_yticklabels(["0", "π/2", "π", "3π/2", "2π"])
    bar.set_label("angle modulo a turn, radians")
    bar.outline.set_edgecolor(GREY)
    add_key(figure, letters, BELOW)
    return figure


def draw_attention(data):
    reach, maps = data["reach"], data["maps"]
    words = {"axial": "axial: each pair turns\nwith x or with y", "mixed": "mixed: each pair turns\nin its own direction",
             "flattened": f"flattened: one angle\nfrom {2 * reach + 1} · row + column"}
    figure, all_axes = plt.subplots(1, len(maps), figsize=(9, 3.3), layout="constrained", sharey=True)
    extent = (-reach - 0.5, reach + 0.5, reach + 0.5, -reach - 0.5)
    for axes, one in zip(all_axes, maps):
        image = axes.imshow(one["scores"], cmap="viridis", vmin=-0.2, vmax=1, extent=extent, interpolation="nearest")
        axes.set(xlabel="columns away", title=words[one["name"]])
        axes.xaxis.set_major_locator(ticker.MultipleLocator(8))
        axes.yaxis.set_major_locator(ticker.MultipleLocator(8))
    all_axes[0].set_ylabel("rows away")
    bar = figure.colorbar(image, ax=list(all_axes), pad=0.015)
    bar.set_label("q · k of a probe with itself\n(mean cosine of the pairs)")
    bar.outline.set_edgecolor(GREY)
    return figure


def draw_decay_of(axes, preset, handles):
    looks = {"row": (COLORS["x"], "-"), "column": (COLORS["y"], "--"), "diagonal": (COLORS["t"], "-"),
             "text": (COLORS["l"], "-")}
    for line in preset["lines"]:
        if line["along"] == "column" and line["scores"] == preset["lines"][0]["scores"]:
            continue
        color, dash = looks[line["along"]]
        handles[line["along"]], = axes.plot(line["scores"], color=color, linestyle=dash, linewidth=1.2)
    axes.axhline(0, color=GREY, linewidth=0.5)
    axes.set_title(preset["preset"], fontsize=9, pad=3)
    axes.set_ylim(-0.55, 1.05)


def draw_decay(data):
    presets = [preset for preset in data["presets"] if "lines" in preset]
    if not presets:
        raise SystemExit("rope2d: no preset here has angles without the caller's frequencies")
    columns = min(6, len(presets))
    rows = math.ceil(len(presets) / columns)
    figure, grid = plt.subplots(rows, columns, figsize=(1.75 * columns + 1, 1.35 * rows + 1.2), sharex=True, sharey=True,
                                layout="constrained", squeeze=False)
    panels, handles = list(grid.flat), {}
    for axes, preset in zip(panels, presets):
        draw_decay_of(axes, preset, handles)
    for number in range(len(presets), len(panels)):
        panels[number].set_axis_off()
        panels[number - columns].tick_params(labelbottom=True)
    figure.supxlabel("tokens away", color=GREY, fontsize=10)
    figure.supylabel("q · k of a probe with itself (mean cosine of the pairs)", color=GREY, fontsize=10)
    words = {"row": "along a row", "column": "down a column, where it differs", "diagonal": "along the diagonal",
             "text": "along a text"}
    figure.legend(handles.values(), [words[along] for along in handles], ncol=4, **ABOVE)
    return figure


def draw_axes(data):
    presets = data["presets"]
    width = 960  # every number of pairs below 17 divides it, and the others nearly
    figure, axes = plt.subplots(figsize=(9, 0.205 * len(presets) + 1.1), layout="constrained")
    rows = []
    for preset in presets:
        pairs = preset["pair_axes"]
        rows.append([colors.to_rgba(color_of(pairs[column * len(pairs) // width])) for column in range(width)])
    axes.imshow(rows, aspect="auto", interpolation="nearest", extent=(0, 1, len(presets) - 0.5, -0.5))
    axes.hlines([number - 0.5 for number in range(1, len(presets))], 0, 1, color=GREY, linewidth=0.6)
    axes.set_yticks(range(len(presets)), [preset["preset"] for preset in presets], fontsize=9)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
    axes.set_xlabel("pair, as a part of all pairs (their number at the right)")
    axes.set_xlim(0, 1.055)
    axes.tick_params(length=0)
    for number, preset in enumerate(presets):
        axes.text(1.01, number, str(len(preset["pair_axes"])), va="center", fontsize=9)
    for spine in axes.spines.values():
        spine.set_visible(False)
    add_key(figure, [letters for preset in presets for letters in preset["pair_axes"]], ABOVE)
    return figure


ELEMENTS = {"f32": COLORS["x"], "f16": COLORS["y"], "bf16": COLORS["t"]}
LIMITS = {"scale": ("in-place scale", "-"), "copy": ("best copy", "--"), "driver_copy": ("driver's copy", ":")}


def draw_limits(axes, panel, handles):
    """The median over the cases of each size."""
    for key, (word, dash) in LIMITS.items():
        rates = {}
        for size, rate in panel[key]:
            rates.setdefault(size / 2**20, []).append(rate)
        sizes = sorted(rates)
        line, = axes.plot(sizes, [statistics.median(rates[size]) for size in sizes], dash, color=GREY, linewidth=1.1,
                          marker="." if len(sizes) == 1 else None)
        handles[word] = line


def label_decades(axis):
    """Plain numbers; where decades are few, twos and fives as well."""
    numbers = ticker.FuncFormatter(lambda value, _: f"{value:g}")
    low, high = axis.get_view_interval()
    axis.set_major_formatter(numbers)
    axis.set_minor_locator(ticker.LogLocator(subs=(2, 5)))
    axis.set_minor_formatter(numbers if high < 40 * low else ticker.NullFormatter())
    axis.set_tick_params(which="minor", labelsize=plt.rcParams["xtick.labelsize"])


def draw_roofline(data):
    panels = data["panels"]
    if not panels:
        raise SystemExit("rope2d: nothing was measured")
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, grid = plt.subplots(rows, columns, figsize=(3.6 * columns + 0.6, 2.8 * rows + 0.8), squeeze=False,
                                layout="constrained")
    handles = {}
    for axes, panel in zip(grid.flat, panels):
        draw_limits(axes, panel, handles)
        for element, color in ELEMENTS.items():
            for in_place, word in ((True, "in place"), (False, "out of place")):
                points = [(point["bytes"] / 2**20, point["rate"]) for point in panel["rotations"]
                          if point["element"] == element and point["in_place"] == in_place]
                if points:
                    handles[f"{element}, {word}"] = axes.scatter(
                        *zip(*points), s=14, edgecolors=color, facecolors=color if in_place else "none", linewidths=0.9)
            points = [(point["bytes"] / 2**20, point["rate"]) for point in panel["limits"] if point["element"] == element]
            if points:
                handles[f"{element}, limit in place"] = axes.scatter(*zip(*points), s=60, marker="_", color=color,
                                                                     linewidths=1.2)
        axes.set(xscale="log", yscale="log", title=panel["title"])
        axes.title.set_fontsize(9)
        label_decades(axes.xaxis)
        label_decades(axes.yaxis)
    for axes in list(grid.flat)[len(panels):]:
        axes.set_axis_off()
    figure.supxlabel("q and k, MiB", color=GREY, fontsize=10)
    figure.supylabel("GB/s read and written", color=GREY, fontsize=10)
    figure.legend(handles.values(), handles, ncol=min(5, 2 + columns), **ABOVE)
    return figure


DRAW = {"angles": draw_angles, "vectors": draw_vectors, "heatmap": draw_heatmap, "attention": draw_attention,
        "decay": draw_decay, "axes": draw_axes, "roofline": draw_roofline}


def bytes_of(figure, ending):
    """Of an SVG without a date, and with coordinates to a hundredth of a point: the same numbers give the same file."""
    picture = io.BytesIO()
    if ending == ".png":
        figure.savefig(picture, format="png", dpi=120, metadata={"Software": None})
        return picture.getvalue()
    figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": "rope2d"})
    text = picture.getvalue().decode()
    # Not in scale(), where small numbers count.
    text = re.sub(r'( [dxy]="|translate\()[^")]*', lambda part: re.sub(r"(\.\d\d)\d+", r"\1", part.group()), text)
    return re.sub(r" +$", "", text, flags=re.MULTILINE).encode()


def save(figure, path):
    """Beside its place, under a name that nobody can guess, and renamed when it is complete."""
    beside = None
    try:
        if path.exists() and not path.is_file():
            raise OSError("is there and is not a regular file")
        handle, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        beside = pathlib.Path(name)
        with open(handle, "wb") as file:
            file.write(bytes_of(figure, path.suffix))
            file.flush()
            os.fsync(handle)
        mask = os.umask(0)
        os.umask(mask)
        beside.chmod(0o666 & ~mask)
        beside.replace(path)
    except OSError as error:
        if beside:
            beside.unlink(missing_ok=True)
        raise OSError(f"{path}: cannot be written: {error.strerror or error}") from error
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default=".", type=pathlib.Path)
    parser.add_argument("--format", default="svg", choices=("svg", "png", "both"))
    parser.add_argument("--file", type=pathlib.Path, help="where the one picture goes: .svg or .png")
    arguments = parser.parse_args()
    endings = {"svg": [".svg"], "png": [".png"], "both": [".svg", ".png"]}[arguments.format]
    try:
        pictures = json.load(sys.stdin)
        arguments.folder.mkdir(parents=True, exist_ok=True)
        with plt.rc_context(STYLE):
            for data in pictures:
                figure = DRAW[data["kind"]](data)
                for path in [arguments.file] if arguments.file else [
                        (arguments.folder / data["kind"]).with_suffix(ending) for ending in endings]:
                    save(figure, path)
                plt.close(figure)
    except (json.JSONDecodeError, OSError) as error:
        print(f"rope2d: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

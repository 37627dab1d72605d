# SPDX-License-Identifier: MIT
"""The maps of errors as Chromium draws them: each cell of a screenshot against the report, and an error that was put at one
token and pair on purpose, which must be hot there and nowhere else."""
import html
import importlib.util
import json
import re
import shlex
import shutil
import sys

import outputs
import programs

# The example runner, but for one number of q and one of k of the case "half".
SPOILED = """import json, pathlib, runpy, sys
import numpy
runner, case, out = sys.argv[1:4]
at = json.loads(sys.argv[4])
sys.argv = [runner, case, out]
runpy.run_path(runner, run_name="__main__")
told = json.loads((pathlib.Path(case) / "case.json").read_text())
for name, (token, pair, value) in at.items() if told["name"] == "half" else ():
    path = pathlib.Path(out) / f"{name}_out.npy"
    array = numpy.load(path)
    array[-1, token, -1, told["pair_hi"][pair]] += value
    numpy.save(path, array)
"""
Q, K = (4, 9), (11, 30)  # token and pair

# Where the page put its maps, told to whoever reads the page's text.
TELL = """<script>
addEventListener("load", () => document.body.append(Object.assign(document.createElement("pre"), {id: "told", textContent:
  JSON.stringify([...document.querySelectorAll("figure canvas")].map(one => {
    const box = one.getBoundingClientRect();
    return {left: box.left + one.clientLeft, top: box.top + one.clientTop, width: one.clientWidth, height: one.clientHeight,
            columns: one.width, rows: one.height, title: one.parentElement.textContent};
  }))})));
</script>"""
WINDOW = "--window-size=1300,4000"
STOPS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
WRONG = (255, 0, 0)
LIMIT = 2.5


def colour(value):
    """What docs/verify.md says of the maps, for a cell of the report."""
    if value is None:
        return WRONG
    at = min(max(value / LIMIT, 0), 1) * 4
    i = min(int(at), 3)
    return tuple(a + (b - a) * (at - i) for a, b in zip(STOPS[i], STOPS[i + 1]))


def is_near(seen, wanted):
    return all(abs(a - b) <= 2 for a, b in zip(seen, wanted))


def look(runner, chromium, name, fragment, theme):
    """The maps of a page: for each its title, and the colour in the middle of every cell of a screenshot."""
    from PIL import Image
    text = runner.path(name).read_text()
    runner.path("told.html").write_text(text.replace("</body>", TELL + "</body>"))
    options = [WINDOW, "--force-color-profile=srgb", "--hide-scrollbars", *(["--blink-settings=preferredColorScheme=0", "--force-dark-mode"]
                                                      if theme == "dark" else [])]
    dom = outputs.browse(runner, chromium, "told.html", fragment, [*options, "--dump-dom"])
    told = json.loads(html.unescape(re.search(r'<pre id="told">(.*?)</pre>', dom, re.S).group(1)))
    path = runner.path(f"{name}.{theme}.png")
    outputs.browse(runner, chromium, "told.html", fragment, [*options, f"--screenshot={path}"])
    picture = Image.open(path).convert("RGB")
    for box in told:
        if not runner.check(f"{name}, {theme}: the map is in the picture", box["top"] + box["height"] < picture.height, box):
            return []
        box["cells"] = [[picture.getpixel((int(box["left"] + (x + 0.5) * box["width"] / box["columns"]),
                                           int(box["top"] + (y + 0.5) * box["height"] / box["rows"])))
                         for x in range(box["columns"])] for y in range(box["rows"])]
    return told


def compare(runner, name, told, devices, case):
    """Every cell of the maps of one case, of all devices that have one."""
    results = [(device, one) for device in devices for one in device["results"] if one["name"] == case and "heat" in one]
    runner.check(f"{name}: a map for each device", len(told) == len(results) > 0, (len(told), len(results)))
    for box, (device, result) in zip(told, results):
        heat = result["heat"]
        wrong = [(x, y, seen, cell) for y, (row, cells) in enumerate(zip(heat["rows"], box["cells"]))
                 for x, (cell, seen) in enumerate(zip(row, cells)) if not is_near(seen, colour(cell))]
        runner.check(f"{name}: {case} of {device['device']}: every cell has the colour of its error",
                     (box["rows"], box["columns"]) == (len(heat["rows"]), len(heat["rows"][0])) and not wrong, wrong[:4])


def test(runner, verify, source):
    if not (chromium := outputs.find_chromium(runner, "maps", is_long=True)):
        return
    if not importlib.util.find_spec("PIL") or not programs.has_numpy():
        runner.skip("maps", "python3-pil or numpy is missing")
        return
    path = runner.path("spoiled.py")
    path.write_text(SPOILED)
    spoiled = json.dumps({"q": [*Q, 3.0], "k": [*K, float("nan")]})
    command = (f"{shlex.quote(sys.executable)} {shlex.quote(str(path))} {shlex.quote(str((source / 'examples/verify_runner.py').resolve()))}"
               f" {{case}} {{out}} {shlex.quote(spoiled)}")
    result = runner.run("verify", "--exec", command, "--device", "cpu", "--case", "half f32:f32*,interleaved f32:f32*", "--json", "hot.json",
                        "--html", "hot.html")
    report = json.loads(runner.path("hot.json").read_text())
    case = "half f32:f32 buffer"
    runner.check("the spoiled case fails", result.status == 1 and [one["name"] for one in report["devices"][1]["results"]
                                                                   if one["verdict"] == "failed"] == [case])
    for theme in ("light", "dark"):
        told = look(runner, chromium, "hot.html", "#filter=nothing%20of%20it&map=" + case.replace(" ", "%20"), theme)
        compare(runner, f"hot.html, {theme}", told, report["devices"], case)
        if len(told) != 2:
            return
        runner.check(f"{theme}: maps stand beside their devices", told[0]["title"].startswith("cpu:0")
                     and told[1]["title"].startswith("exec:0"), [box["title"] for box in told])
        hot = {(y, x): seen for y, row in enumerate(told[1]["cells"]) for x, seen in enumerate(row)
               if is_near(seen, WRONG) or is_near(seen, STOPS[-1])}
        runner.check(f"{theme}: what was spoiled is hot, there and nowhere else", set(hot) == {Q, K} and is_near(hot[Q], STOPS[-1])
                     and is_near(hot[K], WRONG), hot)
        runner.check(f"{theme}: the other device is not", not any(is_near(seen, hotter) for row in told[0]["cells"] for seen in row
                                                                  for hotter in (WRONG, STOPS[-1])))
    merged(runner, chromium, report)


def merged(runner, chromium, report):
    """Side by side: a column of maps for each device of each machine."""
    for machine in ("desk", "phone"):
        runner.path(machine).mkdir()
        shutil.copy(runner.path("hot.json"), runner.path(machine))
    runner.expect("two machines", ["report", "merge", "desk/hot.json", "phone/hot.json", "--json", "both.json", "--html", "both.html"],
                  1)
    dom = outputs.browse(runner, chromium, "both.html", "")
    runner.check("files of one name are told apart", all(f">{machine}/hot.json cpu:0" in dom for machine in ("desk", "phone")))
    case = "interleaved f32:f32 buffer"
    told = look(runner, chromium, "both.html", "#filter=nothing%20of%20it&map=" + case.replace(" ", "%20"), "light")
    compare(runner, "both.html", told, [*report["devices"], *report["devices"]], case)

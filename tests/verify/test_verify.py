#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Test `rope2d verify` as its users see it.

usage: test_verify.py ROPE2D SOURCE_ROOT [--shim LOADER] [--vulkan-shim LOADER] [PART...]
    parts: report options terminal progress known resume resumed interrupted outputs maps strangers programs folders hostile compiled
           effects bad; default: all
"""
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import bad_devices
import compiled
import effects
import folders
import hostile
import interrupted
import maps
import outputs
import programs
import resumed
import strangers
from runner import Runner

# Cases that run in a moment, in one type.
FEW = "half f32:f32*,odd_gaps,preset/dinov3,special_values f16:f16*"


def verify(runner, *options, name="report.json", device="cpu"):
    """Runs with --json, and returns the result with the report, None where there is none."""
    path = runner.path(name)
    result = runner.run("verify", "--device", device, "--json", path, *options)
    return result, json.loads(path.read_text()) if path.exists() else None


def results_of(report, device=0):
    return {result["name"]: result for result in report["devices"][device]["results"]}


def test_report(runner, source):
    """What is counted, hashed and caught on the CPU, in the usual matrix."""
    result, report = verify(runner)
    runner.check("the CPU passes", result.status == 0 and report["passed"] and report["complete"])
    device = report["devices"][0]
    results = results_of(report)
    runner.check("presets ran", sum(name.startswith("preset/") for name in results) > 40)
    runner.check("limits were clamped", sum("minimum-limits" in name for name in results) > 50)
    runner.check("offsets beside boundaries", sum("-boundary" in name for name in results) >= 20)
    runner.check("every control was caught",
                 len(device["controls"]) >= 10 and all(c["verdict"] == "passed" for c in device["controls"]))
    lines = [line for line in (source / "tests/expected.sha256").read_text().splitlines() if not line.startswith("#")]
    expected = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
    runner.check("the outputs' hash is that of tests/expected.sha256",
                 device["outputs"]["sha256"] == expected and device["outputs"]["cases"] == len(lines),
                 f"{device['outputs']} for {expected}")
    runner.check("the hash is printed", expected in result.output)
    hashes = dict(reversed(line.split("  ", 1)) for line in lines)
    runner.check("each result has its own hash", all(hashes.get(" ".join(name.split()[:2]), one["sha256"]) == one["sha256"]
                                                     for name, one in results.items()))
    classes = device["classes"]
    runner.check("all kinds of input were there", len(classes) == 6 and all(c["elements"] > 1000 for c in classes.values()),
                 classes)
    runner.check("every bit is right", all(c["mismatches"] == c["bits"] == 0 for c in classes.values()))
    runner.check("errors were measured", 0.5 < classes["normal"]["worst"] <= 2.5, classes["normal"])
    runner.check("facts are there", device["limits"]["memory_bytes"] > 0 and report["build"]["compiler"])
    build = pathlib.Path(os.environ.get("ROPE2D_BUILD_ROOT", "nowhere")) / "shaders"
    modules = {one["name"]: one["sha256"] for one in report["sources"] if one["kind"] == "spirv"}
    files = {name: build / f"{name}.spv" for name in modules if (build / f"{name}.spv").exists()}
    if files:
        wrong = [name for name, path in files.items() if hashlib.sha256(path.read_bytes()).hexdigest() != modules[name]]
        runner.check("hashes are those of the modules", not wrong, wrong)
    else:
        runner.skip("hashes of modules", "no Vulkan, or ROPE2D_BUILD_ROOT is not set")
    os.environ["ROPE2D_SHADERS"] = str(source.resolve() / "shaders")
    _, other = verify(runner, "--case", "half f32:f32*", name="shaders.json")
    del os.environ["ROPE2D_SHADERS"]
    ours = {pathlib.Path(one["name"]).name: one["sha256"] for one in other["sources"] if one["kind"] == "file"}
    # prelude_c.h is the C library's.
    texts = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (source / "shaders").iterdir()
             if path.suffix in (".comp", ".cl", ".h") and path.name != "prelude_c.h"}
    runner.check("every kernel of a folder is named", ours == texts and not any(
        one["kind"] == "file" for one in report["sources"]), set(ours.items()) ^ set(texts.items()))
    runner.check("sources have hashes", all(len(one["sha256"]) == 64 for one in report["sources"]))
    runner.check("the last line counts", result.output.splitlines()[-1] == f"{len(results)} passed, 0 failed, 0 skipped")


def test_options(runner, _source):
    quick, report = verify(runner, "--quick")
    runner.check("--quick is the smaller", quick.status == 0 and 100 < len(results_of(report)) < 300)
    result, report = verify(runner, "--case", FEW, "--repeat", "3", "--seed", "7")
    names = list(results_of(report))
    runner.check("--case filters", result.status == 0 and names
                 and all(name.split()[0] in ("half", "odd_gaps", "preset/dinov3", "special_values") for name in names), names)
    runner.check("another seed has no recorded hash", "expected" not in report["devices"][0]["outputs"])
    _, other = verify(runner, "--case", FEW)
    runner.check("another seed has other outputs",
                 report["devices"][0]["outputs"]["sha256"] != other["devices"][0]["outputs"]["sha256"])
    result, inside = verify(runner, "--case", FEW, "--in-process", name="inside.json")
    same = [{name: one["sha256"] for name, one in results_of(each).items()} for each in (other, inside)]
    runner.check("--in-process gives the same", result.status == 0 and same[0] == same[1])
    test_patterns(runner)
    for nothing in ("nothing_of_that_name", "control: swapped axes", "golden/*"):
        runner.expect(f"no such case: {nothing}", ["verify", "--device", "cpu", "--case", nothing, "--json", "nothing.json"], 2,
                      f"--case {nothing}: matches no case")
    runner.expect("beside one that is there", ["verify", "--device", "cpu", "--case", "half,nosuch,odd_gaps", "--json", "nothing.json"],
                  2, "--case nosuch: matches no case")
    runner.check("nothing was begun", not runner.path("nothing.json").exists())
    for other in ("half * bound-at-alignment", "half f32:f32 texture"):
        runner.expect(f"a case of other devices: {other}", ["verify", "--device", "cpu", "--case", other], 1,
                      "FAIL cpu:0: no case was executed")
    runner.expect("a case of another level", ["verify", "--quick", "--device", "cpu", "--case", "half f32:bf16*"], 1,
                  "FAIL cpu:0: no case was executed")
    runner.expect("each device must have a case", ["verify", "--device", "cpu", "--exec", "false {case} {out}", "--case",
                                                   "half f16:f16*"], 1, "FAIL exec:0: no case was executed")
    runner.expect("--require is met", ["verify", "--device", "cpu", "--case", FEW, "--require", "cpu:1,rope2d:5"], 0)
    runner.expect("--require is not met", ["verify", "--device", "cpu", "--case", FEW, "--require", "cpu:100000"], 1,
                  "100000 are required")
    runner.expect("--require misses a device", ["verify", "--device", "cpu", "--case", FEW, "--require", "gpu_x:1"], 1,
                  "0 cases were executed on 'gpu_x'")
    runner.expect("--require 0", ["verify", "--require", "cpu:0"], 2, "COUNT above 0")
    runner.expect("--require without count", ["verify", "--require", "cpu"], 2, "DEVICE:COUNT")
    runner.expect("--quick --full", ["verify", "--quick", "--full"], 2, "exclude")
    runner.expect("no such device", ["verify", "--device", "cpu:7"], 3, "index must be below")
    runner.expect("the worker's verb is none", ["verify-worker", "9"], 2, "for rope2d verify alone")
    runner.path("mine").mkdir()
    for name in ("case.json", "q.npy"):
        path = runner.path("mine") / name
        path.write_text("mine")
        runner.expect(f"over {name}", ["verify", "--device", "cpu", "--case", FEW, "--html", path], 2, "may be a case's file")
        runner.check(f"{name} stays", path.read_text() == "mine")
    runner.expect("a folder that is not there", ["verify", "--device", "cpu", "--case", FEW, "--json", "no/such/file"], 2,
                  "cannot be written")


def test_patterns(runner):
    _, report = verify(runner, "--case", "o*g*s *:f32 b*r*,special_values *16:*" + "*" * 30 + "f16 buffer")
    names = list(results_of(report))
    runner.check("a * stands for any text, also none", len(names) >= 2 and all(
        re.fullmatch("odd_gaps .*:f32 buffer.*|special_values .*16:.*f16 buffer", name) for name in names), names)
    many = "*" * 30 + "x"
    runner.expect("many stars", ["verify", "--device", "cpu", "--case", many], 2, f"--case {many}: matches no case",
                  before=hurry)
    runner.path("stars.json").write_text(json.dumps([{"device": "cpu", "case": many, "reason": "none"}]))
    runner.expect("many stars in --expect", ["verify", "--device", "cpu", "--case", FEW, "--expect", "stars.json"], 0,
                  "entry 1 of --expect is stale", before=hurry)


def hurry():
    """A process that would take for ever ends after a minute of the processor's."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def test_terminal(runner, _source):
    """What a folder, a list, a program or a report to go on with says is text on the terminal."""
    loud = "\x1b]0;taken\x07\x1b[31m\u009b1m"
    shutil.copytree(runner.golden / "su_canonical", runner.path("evil" + loud))
    runner.path("loud.json").write_text(json.dumps([{"device": "cpu", "case": "golden/*", "reason": "reason" + loud}]))
    options = ["--cases", "evil" + loud, "--case", "golden/*", "--expect", "loud.json"]
    result, report = verify(runner, *options)
    shown = "?]0;taken??[31m??1m"
    runner.check("a folder's name is made printable", result.status == 0 and f"golden/evil{shown} f32" in result.output, result.output)
    device = report["devices"][0]
    device["api"] = "api" + loud
    device["results"][0].update(verdict="failed", text="text" + loud)
    device["controls"][0].update(verdict="failed", text="control" + loud)
    runner.path("report.json").write_text(json.dumps(report))
    again, _ = verify(runner, *options, "--resume")
    runner.check("and reasons, and what is resumed", again.status == 1 and all(
        word + shown in again.output for word in ("reason", "api", "text", "control")), again.output)
    program = runner.run("verify", "--exec", f"false {{case}} {{out}} #{loud}", "--case", "half f32:f32*")
    runner.check("and commands", program.status == 1 and "#" + shown in program.output, program.output)
    said = [text for one in (result, again, program) for text in (one.output, one.errors)]
    runner.check("no control character is printed", not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", "".join(said)), said)
    test_lines(runner)


def test_lines(runner):
    """Every failure has a line, however many skips stand before it."""
    _, report = verify(runner, "--case", "*", "--quick")
    results = report["devices"][0]["results"]
    for one in results[:30]:
        one["verdict"] = "unsupported"
    failures = results[30::3]
    for one in failures:
        one["verdict"] = "failed"
    runner.path("report.json").write_text(json.dumps(report))
    runner.path("known.json").write_text(json.dumps([{"device": "cpu", "case": failures[-1]["name"], "reason": "to see"}]))
    result, _ = verify(runner, "--case", "*", "--quick", "--resume", "--expect", "known.json")
    lines = [line for line in result.output.splitlines() if re.match("  [^:]+ f32|  [^:]+16:|  and ", line)]
    shown = [line for line in lines if re.search(": failed(: |$)", line) and "(expected: " not in line]
    runner.check("every failure has its line, first", result.status == 1 and len(failures) > 40
                 and len(shown) == len(failures) - 1 and lines[:len(shown)] == shown, lines)
    runner.check("then what is known, and the skips, of which the rest is counted", "(expected: to see)" in lines[len(shown)]
                 and len(lines) == len(shown) + 1 + 20 + 1 and lines[-1] == "  and 10 more skips, which --json lists", lines[len(shown):])


def test_progress(runner, _source):
    """On a terminal: how far, and how long it takes still."""
    if not hasattr(os, "openpty"):
        runner.skip("progress", "this system has no terminals of that kind")
        return
    ours, terminal = os.openpty()
    # Repeated, since a second must pass before there is a bar.
    with subprocess.Popen([runner.program, "verify", "--device", "cpu", "--repeat", "30", "--case",
                           "preset/*,half,interleaved,odd_gaps,rows"],
                          stdout=subprocess.DEVNULL, stderr=terminal, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(terminal)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    parts = [int(part) for part in re.findall(rb"\] +(\d+) %", shown)]
    runner.check("the bar grows, and tells what is left", process.returncode == 0 and len(parts) >= 2 and parts == sorted(parts)
                 and re.search(rb"\d+:\d\d left", shown) and shown.rstrip(b" ").endswith(b"\r"), shown[-200:])
    runner.expect("without a terminal there is none", ["verify", "--device", "cpu", "--case", "half f32:f32*"], 0)
    runner.check("not even a line", not runner.last.errors, runner.last.errors)


def test_known(runner, source):
    """Lists of known failures. A failure comes from bad_devices; here are passes, and lists that are refused."""
    def write(name, entries):
        runner.path(name).write_text(json.dumps(entries))
        return runner.path(name)
    entry = {"device": "cpu", "case": "half", "reason": "to see"}
    for name, entries, text in (
            ("control", [{**entry, "case": "control: swapped axes"}], "no list can excuse a control"),
            ("reasonless", [{"device": "cpu", "case": "half"}], "'reason' must be a text"),
            ("a key spelled wrong", [{**entry, "driver_form": "22.3"}], "entry 1: 'driver_form' is none of"),
            ("a number", [entry, {**entry, "driver_from": 22}], "entry 2: 'driver_from' must be a text"),
            ("no object", ["half"], "entry 1: must be an object"),
            ("not a list", {"a": 1}, "must be a JSON list")):
        runner.expect(f"refused: {name}", ["verify", "--device", "cpu", "--expect", write("bad.json", entries)], 2, text)
    result, report = verify(runner, "--case", FEW, "--expect", write("known.json", [entry]))
    unexpected = [name for name, one in results_of(report).items() if one.get("unexpected_pass")]
    runner.check("an unexpected pass is reported", unexpected and all(n.startswith("half ") for n in unexpected)
                 and "unexpectedly passed" in result.output, unexpected)
    out_of_range = {**entry, "driver_from": "99.1"}
    runner.check("nothing is stale", report["stale"] == [] and "stale" not in result.output)
    result, report = verify(runner, "--case", FEW, "--expect", write("range.json", [entry, out_of_range]), "--junit", "stale.xml",
                            "--html", "stale.html")
    text = "entry 2 of --expect is stale: no result of 'cpu' is 'half' (to see)"
    runner.check("an entry that means no driver is stale", result.status == 0 and report["stale"] == [{**out_of_range, "entry": 2}]
                 and text in result.output.splitlines(), report["stale"])
    outputs.known(runner, source, report, text)
    of_library = {**entry, "driver_from": "0.0.1", "driver_to": "1.99"}  # not the digits of an instruction set
    _, report = verify(runner, "--case", FEW, "--expect", write("range.json", [of_library]))
    runner.check("the CPU's driver is the library", any(one.get("unexpected_pass") for one in results_of(report).values()))
    _, report = verify(runner, "--case", FEW, "--expect", write("range.json", [out_of_range]))
    runner.check("other drivers are not meant", not any(one.get("unexpected_pass") for one in results_of(report).values()))


def test_resume(runner, _source):
    _, whole = verify(runner, "--case", FEW, name="resumed.json")
    path = runner.path("resumed.json")
    cut = json.loads(path.read_text())
    kept = cut["devices"][0]["results"][:3]
    for one in kept:
        one["text"] = "from before"
    cut["devices"][0]["results"] = kept
    cut["complete"] = False
    path.write_text(json.dumps(cut))
    result, again = verify(runner, "--case", FEW, "--resume", name="resumed.json")
    results = again["devices"][0]["results"]
    runner.check("resumed", result.status == 0 and again["complete"] and len(results) == len(whole["devices"][0]["results"])
                 and [one.get("text") for one in results[:4]] == ["from before"] * 3 + [None])
    hashes = [[(one["name"], one["sha256"]) for one in report["devices"][0]["results"]] for report in (whole, again)]
    runner.check("in the same order, with the same bits", hashes[0] == hashes[1])
    runner.check("nothing half written is left", not [name for name in runner.names() if name.startswith("resumed.json.")])
    runner.expect("another seed cannot resume", ["verify", "--device", "cpu", "--case", FEW, "--seed", "3", "--json", path,
                                                 "--resume"], 2, "no report of this build with these options")
    path.write_text("{")
    runner.expect("half a report cannot be resumed", ["verify", "--device", "cpu", "--json", path, "--resume"], 2,
                  "is not JSON")
    runner.expect("resume what", ["verify", "--device", "cpu", "--resume"], 2, "needs --json")


def main(arguments):
    shims = {"--shim": "", "--vulkan-shim": ""}
    for option in shims:
        if option in arguments:
            at = arguments.index(option)
            shims[option] = str(pathlib.Path(arguments[at + 1]).resolve())
            del arguments[at:at + 2]
    parts = {"report": test_report, "options": test_options, "terminal": test_terminal, "progress": test_progress,
             "known": test_known, "resume": test_resume,
             "resumed": lambda runner, _source: resumed.test(runner, verify),
             "interrupted": lambda runner, source: interrupted.test(runner, verify, source),
             "outputs": lambda runner, source: outputs.test(runner, verify, source),
             "maps": lambda runner, source: maps.test(runner, verify, source),
             "strangers": lambda runner, _source: strangers.test(runner, verify),
             "programs": lambda runner, source: programs.test(runner, verify, source),
             "folders": lambda runner, source: folders.test(runner, verify, source),
             "hostile": lambda runner, source: hostile.test(runner, verify, source),
             "compiled": lambda runner, source: compiled.test(runner, verify, source),
             "effects": lambda runner, _source: effects.test(runner, verify, shims["--shim"]),
             "bad": lambda runner, _source: bad_devices.test(runner, verify, *shims.values())}
    if len(arguments) < 2 or any(part not in parts for part in arguments[2:]):
        print(__doc__)
        return 2
    source = pathlib.Path(arguments[1])
    os.environ.pop("ROPE2D_REQUIRE_DEVICES", None)  # others answer for it
    runner = Runner(arguments[0], source / "tests" / "golden")
    for part in arguments[2:] or parts:
        parts[part](runner, source)
    return runner.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

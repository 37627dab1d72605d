# SPDX-License-Identifier: MIT
"""`rope2d verify --resume` that asks for other devices and cases than the file has: nothing of the file goes without a word,
and what failed in it fails."""
import json
import os
import shutil


def test(runner, verify):
    kept(runner, verify)
    fewer(runner, verify)
    foreign_words(runner, verify)


def results(report, device=0):
    return [(one["name"], one["verdict"]) for one in report["devices"][device]["results"]]


def write(runner, name, report):
    runner.path(name).write_text(json.dumps(report))


def kept(runner, verify):
    """Another --case, and another --device."""
    name, first = "kept.json", ["--case", "half f32:f32 buffer,odd_gaps f32:f32*"]
    _, whole = verify(runner, *first, name=name)
    own = whole["devices"][0]
    write(runner, name, {**whole, "devices": [own, {**own, "device": "another:0"}]})
    result, report = verify(runner, "--case", "rows f32:f32*", "--resume", name=name)
    names = [one for one, _ in results(report)]
    runner.check("cases that are not asked for stay, in their order", result.status == 0 and {one for one, _ in results(whole)}
                 < set(names) and names[0].startswith("half ") and any(one.startswith("rows ") for one in names), names)
    runner.check("so do devices, and the report says so", [one["device"] for one in report["devices"]] == ["cpu:0", "another:0"]
                 and results(report, 1) == results(whole) and report["skips"] == [
                     {"what": "another:0", "why": "not run this time: its results are those that --resume found"}], report["skips"])
    for device, text in ((0, "FAIL cpu:0: cases failed"), (1, "FAIL another:0: cases failed")):
        changed = json.loads(json.dumps(report))
        changed["devices"][device]["results"][0].update(verdict="failed", tier="none")
        write(runner, name, changed)
        result, again = verify(runner, "--case", "rows f32:f32*", "--resume", name=name)
        runner.check(f"what failed stays a failure: {text}", result.status == 1 and not again["passed"] and text in result.output)
        known = [{"device": changed["devices"][device]["device"], "case": "half", "reason": "to see"}]
        write(runner, "known.json", known)
        result, again = verify(runner, "--case", "rows f32:f32*", "--resume", "--expect", runner.path("known.json"), name=name)
        runner.check("and can be known", result.status == 0 and again["passed"], result.output)
        result, again = verify(runner, "--case", "rows f32:f32*", "--resume", name=name)
        runner.check("but not for good", result.status == 1 and text in result.output)
    changed = json.loads(json.dumps(report))
    changed["devices"][0]["leaving"] = "signal 6"
    changed["compiled"] = {"compilers": [], "results": [{"name": "x", "verdict": "failed"}], "controls": [], "skips": []}
    write(runner, name, changed)
    result, again = verify(runner, *first, "--resume", name=name)
    runner.check("so do a bad end and what did not compile", result.status == 1 and "FAIL x" in result.output
                 and "FAIL cpu:0: a process ended badly" in result.output and again["devices"][0]["leaving"] == "signal 6")


def fewer(runner, verify):
    """A folder of --cases that is not there any more, and a driver that is another."""
    folder, name = runner.path("fewer"), "fewer.json"
    for case in ("a", "b"):
        shutil.copytree(runner.golden / "su_canonical", folder / case)
    options = ["--cases", folder, "--case", "golden/*"]
    _, whole = verify(runner, *options, name=name)
    whole["devices"][0]["results"][0].update(verdict="failed", tier="none")
    write(runner, name, whole)
    shutil.rmtree(folder / "a")
    result, report = verify(runner, *options, "--resume", name=name)
    runner.check("a case that is gone keeps failing", result.status == 1 and sorted(results(report)) == [
        ("golden/a f32:f32 buffer", "failed"), ("golden/b f32:f32 buffer", "passed")], results(report))
    whole["devices"][0]["driver"] = "another"
    write(runner, name, whole)
    result, report = verify(runner, *options, "--resume", name=name)
    runner.check("of another driver nothing is kept, and that is said", result.status == 0 and len(results(report)) == 1
                 and "skip cpu:0: its driver is another than in what --resume found, of which nothing is kept" in result.output)


def foreign_words(runner, verify):
    """Folders whose names are no UTF-8: a report is that of its own alone."""
    folders = [os.fsdecode(b"cases\xff"), os.fsdecode(b"cases\xfe")]
    try:
        for one in folders:
            shutil.copytree(runner.golden / "su_canonical", runner.path(one) / "a")
    except OSError:
        runner.skip("names that are no UTF-8", "this system has none")
        return
    options = ["--case", "golden/*", "--cases"]
    verify(runner, *options, folders[0], name="foreign_words.json")
    again, _ = verify(runner, *options, folders[0], "--resume", name="foreign_words.json")
    other, _ = verify(runner, *options, folders[1], "--resume", name="foreign_words.json")
    runner.check("--resume knows a folder whose name is no UTF-8", again.status == 0, again.errors)
    runner.check("and no other", other.status == 2 and "no report of this build with these options" in other.errors, other.errors)

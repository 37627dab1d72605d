# SPDX-License-Identifier: MIT
"""Programs as devices (--exec) and golden folders (--cases)."""
import os
import shlex
import shutil
import sys

FEW = "half,two_angles,unrotated_ranges,rows,special_values,preset/dinov3"
GOLDEN = "golden/dinov3,golden/pixtral_hf,golden/lightglue"

# The example runner, but for the case "half", where it does what its first argument says.
BAD = """import json, os, pathlib, runpy, signal, sys, time
import numpy
how, runner, case, out = sys.argv[1:]
is_half = json.loads((pathlib.Path(case) / "case.json").read_text())["name"] == "half"
if is_half and how == "crash":
    os.kill(os.getpid(), signal.SIGABRT)
if how == "hang always":
    time.sleep(600)
if is_half and how == "hang":
    time.sleep(600)
if is_half and how == "exit":
    sys.exit("no such device")
sys.argv = [runner, case, out]
runpy.run_path(runner, run_name="__main__")
path = pathlib.Path(out) / "k_out.npy"
if is_half and how == "missing":
    path.unlink()
if is_half and how == "shape":
    numpy.save(path, numpy.load(path)[:, :-1])
if is_half and how == "wrong":
    numpy.save(path, -numpy.load(path))
if is_half and how == "near":
    numpy.save(path, numpy.nextafter(numpy.load(path), numpy.float32(9)))
"""


def has_numpy():
    import importlib.util
    return importlib.util.find_spec("numpy") is not None


def test(runner, verify, source):
    golden(runner, verify, source)
    for name, command, text in (("no {case}", "runner {out}", "must have {case} and {out}"), ("no {out}", "{case}", "must have"),
                                ("quotes", "runner \"{case}\" {out}", "no quotes")):
        runner.expect(f"--exec with {name}", ["verify", "--exec", command], 2, text)
    statuses(runner)
    if not has_numpy():
        runner.skip("programs", "numpy is missing, which the example runner is written in")
        return
    example(runner, source)
    bad(runner, source)


def golden(runner, verify, source):
    folder = source.resolve() / "tests" / "golden"
    result, report = verify(runner, "--cases", folder, "--case", GOLDEN)
    results = report["devices"][0]["results"]
    runner.check("golden cases on the CPU", result.status == 0 and len(results) == 3 and all(
        one["tier"] == "bit-exact" and "within" in one["text"] for one in results), results)
    broken = runner.path("broken")
    broken.mkdir()
    (broken / "case.json").write_text("{")
    result, report = verify(runner, "--cases", broken, "--case", "golden/*")
    runner.check("a folder that cannot be read fails", result.status == 1 and
                 [one["verdict"] for one in report["devices"][0]["results"]] == ["failed"])
    runner.expect("no such folder", ["verify", "--device", "cpu", "--cases", "nowhere"], 2, "nowhere: No such file")


def statuses(runner):
    """What a shell's exit status says of a command: 128 and more are signals, as far as there are so many."""
    for command, verdict, text in (("exit 255", "failed", "exit status 255"), ("exit 128", "failed", "exit status 128"),
                                   ("sh -c 'kill -SEGV $$'; exit $?", "crashed", "exit status 139"),
                                   ("kill -KILL $$", "crashed", "signal 9")):
        _, device = run(runner, f"{command} # {{case}} {{out}}", "--case", "half", name="status.json")
        got = [(one["verdict"], text in one["text"]) for one in device["results"]]
        runner.check(f"a program's end: {command}", got == [(verdict, True)], device["results"])


def run(runner, command, *options, name="program.json"):
    import json
    path = runner.path(name)
    result = runner.run("verify", "--exec", command, "--json", path, *options)
    report = json.loads(path.read_text()) if path.exists() else {"devices": [{"results": [], "controls": []}]}
    return result, report["devices"][0]


def example(runner, source):
    folder = runner.path("it's a folder")  # the shell must take it for one word
    folder.mkdir()
    os.environ["TMPDIR"] = str(folder)
    program = shlex.quote(str(source.resolve() / "examples" / "verify_runner.py"))
    command = f"{shlex.quote(sys.executable)} {program} {{case}} {{out}}"
    result, device = run(runner, command, "--cases", source.resolve() / "tests" / "golden", "--case", FEW + "," + GOLDEN)
    names = [one["name"].split()[0] for one in device["results"]]
    runner.check("the example runner is exact", result.status == 0 and device["tier"] == "bit-exact" and
                 names == ["half", "unrotated_ranges", "rows", "two_angles", "special_values", "preset/dinov3",
                           *sorted(GOLDEN.split(","))], names)
    runner.check("controls are made for it, too", len(device["controls"]) == 6)
    shutil.copytree(source / "tests" / "golden" / "dinov3", folder / "dinov3")
    result, _ = run(runner, f"cd / && {command}", "--cases", os.path.relpath(folder / "dinov3", runner.folder), "--case", "golden/*")
    runner.check("a program elsewhere finds a folder", result.status == 0, result.errors)
    shutil.rmtree(folder / "dinov3")
    runner.check("nothing is left of its folders", not list(folder.iterdir()), list(folder.iterdir()))
    del os.environ["TMPDIR"]


def hanging(runner, command):
    """After three hangs nothing more is tried."""
    result, device = run(runner, command.replace("HOW", "'hang always'"), "--case", "half,rows", "--time-limit", "1", name="always.json")
    got = [one["verdict"] for one in device["controls"] + device["results"]]
    runner.check("a program that always hangs is given up", result.status == 1 and got == ["hung"] * 3 + ["no verdict"] * (len(got) - 3)
                 and len(got) > 6, got)


def bad(runner, source):
    path = runner.path("bad_runner.py")
    path.write_text(BAD)
    example_path = source.resolve() / "examples" / "verify_runner.py"
    hanging(runner, " ".join(map(shlex.quote, [sys.executable, str(path)])) + f" HOW {shlex.quote(str(example_path))} {{case}} {{out}}")
    for how, verdict, tier, text in (("crash", "crashed", None, ""), ("hang", "hung", None, "no answer"),
                                     ("exit", "failed", None, "no such device"),
                                     ("missing", "failed", None, "k_out.npy is not there"),
                                     ("shape", "failed", None, "does not have the shape"),
                                     ("wrong", "failed", "none", "outside the oracle's bound"),
                                     ("near", "passed", "bounded", None)):
        if runner.is_quick and how not in ("crash", "wrong"):
            continue
        command = " ".join(map(shlex.quote, [sys.executable, str(path), how, str(example_path)])) + " {case} {out}"
        limit = "4" if how == "hang" else "60"
        result, device = run(runner, command, "--case", "half,rows", "--time-limit", limit, name=f"{how}.json")
        got = {one["name"].split()[0]: one for one in device["results"]}
        # Controls stand on the case "half", too, and are not caught where the program gives nothing.
        runner.check(f"a program that does {how}", got.get("half", {}).get("verdict") == verdict
                     and got["half"].get("tier") == tier and got["rows"]["verdict"] == "passed"
                     and (text is None or (text in got["half"]["text"] and result.status == 1)), got.get("half"))

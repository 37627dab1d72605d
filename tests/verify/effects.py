# SPDX-License-Identifier: MIT
"""What variations, loads and excuses do: by numbers that are counted where it is done, and by what is judged of them."""
import json
import os
import subprocess

from bad_devices import find_device

ALIKE = "half f16:f16"
OTHER = "odd_gaps f16:f16"
CASES = f"{ALIKE}*,{OTHER}*"
CHANGED = "texture, minimum limits or offsets change bits"
NOT_RECORDED = "the outputs' hash is not the recorded one"
UNSPLIT = "minimum limits split nothing"


def test(runner, verify, shim):
    _, report = verify(runner, "--case", CASES, "--repeat", "4", name="effects.json")
    on_device(runner, report, "cpu")
    for backend in ("vulkan", "opencl"):
        device = find_device(runner, backend)
        if device is None:
            runner.skip(f"variations on {backend}", "there is no such device")
            continue
        result, report = verify(runner, "--case", CASES, "--repeat", "2", device=device, name="effects.json")
        runner.check(f"{device} passes", result.status == 0, result.output)
        on_device(runner, report, device)
        splits(runner, report, device)
    if shim and (device := find_device(runner, "opencl")):
        counted(runner, verify, shim, device)
    else:
        runner.skip("counted dispatches", "there is no OpenCL device, or no shim")
    runs_are_told(runner)
    judgements(runner, verify)


def by_variation(report):
    found = {}
    for one in report["devices"][0]["results"]:
        if one["name"].startswith(ALIKE):
            words = one["name"].split()
            found.setdefault(words[3] if len(words) > 3 else "plain", one)
    return found


def on_device(runner, report, device):
    """Offsets as the library was given them, and how often and beside what a case ran."""
    found = by_variation(report)
    runner.check(f"{device}: tensors lie beside boundaries", [found[f"{where}-boundary"]["offsets"] for where in ("before", "behind")]
                 == [[254, 254], [258, 258]], found)
    runs = report["options"]["repeat"]
    results = report["devices"][0]["results"]
    runner.check(f"{device}: every other run has a load", all(
        (told := one.get("repeats")) and told["runs"] == runs and told["loaded"] == runs // 2
        and told["load_runs"] >= told["loaded"] for one in results), results)
    if "bound-at-alignment" in found:
        alignment = max(4, report["devices"][0]["limits"]["buffer_offset_alignment"])
        at, beside = (found[f"bound-{where}-alignment"]["offsets"] for where in ("at", "beside"))
        runner.check(f"{device}: bindings lie at an odd multiple, and beside it", all(
            offset % alignment == 0 and offset // alignment % 2 for offset in at)
            and sorted({offset % alignment for offset in beside}) == sorted({2, alignment - 2}), (alignment, at, beside))


def splits(runner, report, device):
    found = by_variation(report)
    plain, least = found["plain"], found["minimum-limits"]
    runner.check(f"{device}: minimum limits split", least["dispatches"] >= least["least_dispatches"] > plain["dispatches"] >= 1
                 and least["sha256"] == plain["sha256"], (plain, least))
    variations = report["devices"][0]["variations"]
    runner.check(f"{device}: splits are counted", variations["split"] == variations["divisible"] >= 1, variations)


def counted(runner, verify, shim, device):
    """What the report says was dispatched reached the driver, and a load's besides."""
    os.environ.update(ROPE2D_OPENCL_LOADER=shim, ROPE2D_SHIM="log")
    lines, dispatches = {}, {}
    for what, options in {"plain": ["--case", f"{ALIKE} buffer,{ALIKE} texture"], "split": ["--case", f"{ALIKE} * minimum-limits"],
                          "loaded": ["--case", f"{ALIKE} buffer,{ALIKE} texture", "--repeat", "2"]}.items():
        result, report = verify(runner, "--in-process", *options, device=device, name="counted.json")
        lines[what] = sum(line.isdigit() for line in result.errors.splitlines())
        dispatches[what] = sum(one["dispatches"] for one in report["devices"][0]["results"])
    for variable in ("ROPE2D_OPENCL_LOADER", "ROPE2D_SHIM"):
        del os.environ[variable]
    runner.check("the driver gets the pieces", dispatches["split"] > 1 and lines["split"] > dispatches["split"]
                 and lines["split"] - lines["plain"] >= (dispatches["split"] - dispatches["plain"]) // 2, (lines, dispatches))
    runner.check("the driver gets the load", lines["loaded"] - lines["plain"] >= 2 * dispatches["plain"], (lines, dispatches))


def runs_are_told(runner):
    """A line comes after each of several runs, from which the time limit counts: of a case, and of a golden one."""
    for name in (f"{ALIKE} buffer", "golden/su_canonical f32:f32 buffer"):
        lines = worker(runner, name, 5)
        runner.check(f"{name}: each further run is told", sum("run_ended" in line for line in lines) == 4
                     and sum("result" in line for line in lines) == 1, lines)


def worker(runner, name, repeat):
    """What a child says that is given this task."""
    reading, writing = os.pipe()
    arguments = [runner.program, "verify-worker", "0", "0", "1", "20260729", str(repeat), runner.golden]
    with subprocess.Popen(["bash", "-c", 'exec 3>&"$0"; exec "$@"', str(writing), *arguments], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, pass_fds=[writing]) as process:
        os.close(writing)
        process.stdin.write((json.dumps([0, name]) + "\n").encode())
        process.stdin.close()
        with open(reading, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]


def judgements(runner, verify):
    """Reports that are gone on with, whose results were changed: what is judged of them, and what an excuse excuses."""
    _, whole = verify(runner, "--case", CASES, name="judged.json")
    runner.path("excuse.json").write_text(json.dumps([{"device": "cpu", "case": f"{OTHER}*,{ALIKE}*", "reason": "known"}]))

    def judge(what, change, problems):
        report = json.loads(json.dumps(whole))
        change({one["name"]: one for one in report["devices"][0]["results"]})
        runner.path("judged.json").write_text(json.dumps(report))
        result, report = verify(runner, "--case", CASES, "--resume", "--expect", runner.path("excuse.json"), name="judged.json")
        got = [one["text"] for one in report["problems"]]
        runner.check(f"judged: {what}", got == problems and result.status == (1 if problems else 0), (got, result.output))

    def alike(results):
        return [one for name, one in results.items() if name.startswith(ALIKE)]

    def fail_other(results):
        for name, one in results.items():
            if name.startswith(OTHER):
                one.update(verdict="failed", tier="none")

    def bound_other(results):
        for name, one in results.items():
            if name.startswith(OTHER):
                one.update(tier="bounded", sha256="1" * 64)

    def set_of(number, **values):
        def change(results):
            for one in alike(results)[:number] if number > 0 else alike(results)[number:]:
                one.update(values)
        return change

    def both(*changes):
        return lambda results: [change(results) for change in changes]

    other, everywhere = set_of(-1, sha256="2" * 64), set_of(99, sha256="2" * 64)
    judge("nothing changed", lambda results: None, [])
    judge("an excused failure", fail_other, [])
    judge("results that are not exact may differ", bound_other, [])
    for name, change, problem in (("a variation's bits", other, CHANGED), ("a case's bits", everywhere, NOT_RECORDED)):
        judge(name, change, [problem])
        judge(f"{name}, beside an excused failure", both(change, fail_other), [problem])
        judge(f"{name}, beside one that is not exact", both(change, bound_other), [problem])
        judge(f"{name}, excused", both(change, set_of(99, verdict="failed")), [])
    judge("nothing was split", set_of(-1, least_dispatches=3, dispatches=1), [UNSPLIT])
    judge("it was split", set_of(-1, least_dispatches=3, dispatches=3), [])

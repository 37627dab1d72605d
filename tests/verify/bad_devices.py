# SPDX-License-Identifier: MIT
"""Devices that crash, hang and get lost on one case: `opencl_shim.c` and `vulkan_shim.c` make them from one that does not."""
import json
import math
import os
import time

# Cases in the order in which they run. One with a dispatch of a size of its own fails, or makes the next one fail: which
# has one is up to the kernels and the library's self-test.
CASES = ("half", "odd_half_split", "one_column", "odd_tokens", "dense")

# Cases in place, each with another of the same structure, whose plans make the same dispatches for their self-test.
IN_PLACE = (("in_place", "half"), ("odd_half_split_in_place", "odd_half_split"), ("in_place_odd_gaps", "odd_gaps"))


def pattern(*cases):
    """Without variations: one with minimum limits makes dispatches of several sizes."""
    return ",".join(f"{case} f32:f32 {table}" for case in cases for table in ("buffer", "texture"))


def sizes(runner, device, cases, what="log"):
    """The sizes of all dispatches, those of self-tests as well; or the hashes of what is compiled."""
    os.environ["ROPE2D_SHIM"] = what
    result = runner.run("verify", "--device", device, "--in-process", "--case", cases)
    return {line for line in result.errors.splitlines() if line.isdigit()}


def find_sizes(runner, device, what="log"):
    """For each case that has one, a size, or a build, that no other has. And seconds after which a task hangs: as long as the
    slowest of these runs took, each of which has many tasks."""
    found, limit = {}, 3
    for case in CASES:
        begun = time.monotonic()
        found[case] = sizes(runner, device, pattern(case), what)
        limit = max(limit, math.ceil(time.monotonic() - begun))
    own = {case: sorted(found[case] - set().union(*(found[other] for other in CASES if other != case))) for case in CASES}
    return {case: size[0] for case, size in own.items() if size}, limit


def find_device(runner, backend):
    result = runner.run("devices", "--json")
    names = [one["device"] for one in json.loads(result.output)["devices"] if one["backend"] == backend]
    return names[0] if names else None


def verdicts(report):
    return {one["name"]: one["verdict"] for one in report["devices"][0]["results"]}


def test(runner, verify, shim, vulkan_shim):
    if vulkan_shim and (device := find_device(runner, "vulkan")):
        os.environ["ROPE2D_VULKAN_LOADER"] = vulkan_shim
        compilers(runner, verify, device, "pipeline")
        for variable in ("ROPE2D_SHIM", "ROPE2D_VULKAN_LOADER"):
            del os.environ[variable]
    else:
        runner.skip("bad pipelines", "there is no Vulkan device, or no shim")
    if not shim or not (device := find_device(runner, "opencl")):
        runner.skip("bad devices", "there is no OpenCL device, or no shim")
        return
    os.environ["ROPE2D_OPENCL_LOADER"] = shim
    own, limit = find_sizes(runner, device)
    if not runner.check("cases have dispatches of their own", len(own) >= 2, own):
        return
    case, size = list(own.items())[-1]
    early, trigger = list(own.items())[0]
    all_cases = pattern(*CASES)
    for what, verdict, text in (("crash", "crashed", "signal 6"), ("hang", "hung", f"no answer for {limit} s"),
                                ("lose", "lost", "DEVICE_LOST")):
        if runner.is_quick and what != "crash":
            continue
        os.environ["ROPE2D_SHIM"] = f"{what}:{size}"
        patience = ["--time-limit", limit] if what == "hang" else []
        result, report = verify(runner, "--case", all_cases, *patience, device=device, name=f"{what}.json")
        got = verdicts(report)
        bad = {name for name, one in got.items() if one != "passed"}
        runner.check(f"{what}: the case alone is blamed", result.status == 1 and bad and all(
            name.startswith(case) and got[name] == verdict for name in bad) and len(bad) < len(got) and
            text in result.output, got)
        runner.check(f"{what}: the device goes on", report["devices"][0].get("error") is None
                     and all(c["verdict"] == "passed" for c in report["devices"][0]["controls"]))
        if what == "crash":
            known(runner, verify, device, all_cases, case, bad)
    if not runner.is_quick:
        stuck(runner, verify, device, early, own[early], limit)
    compilers(runner, verify, device, "build")
    flaky(runner, verify, device)
    os.environ["ROPE2D_SHIM"] = f"late:{trigger}"
    result, report = verify(runner, "--case", all_cases, device=device, name="late.json")
    late = {one["name"]: one for one in report["devices"][0]["results"] if one["verdict"] != "passed"}
    runner.check("late: found by halves", result.status == 1 and late and all(
        one["verdict"] == "crashed" and f'only after "{early} ' in one["text"] for one in late.values()), late)
    os.environ["ROPE2D_SHIM"] = "list:1"
    result, report = verify(runner, "--case", "half f32:f32*", device="cpu,opencl:0", name="list.json")
    runner.check("a driver that crashes when listed is named", result.status == 3 and "listed its devices ended: signal 6"
                 in result.errors, result.errors)
    runner.expect("and is not listed for others", ["verify", "--case", "half f32:f32*", "--device", "cpu"], 0)
    os.environ.update(VK_DRIVER_FILES="/nowhere", VK_ICD_FILENAMES="/nowhere")
    result, report = verify(runner, "--case", "half f32:f32*", device="all", name="list.json")
    runner.check("and hides no other", result.status == 1 and [one["device"] for one in report["devices"]] == ["cpu:0"]
                 and report["problems"][0]["device"] == "opencl" and verdicts(report) == {"half f32:f32 buffer": "passed"},
                 report["problems"])
    for variable in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "ROPE2D_SHIM", "ROPE2D_OPENCL_LOADER"):
        del os.environ[variable]


def compilers(runner, verify, device, kind):
    """A driver's compiler that crashes or hangs on the kernels of one case."""
    own, limit = find_sizes(runner, device, f"log-{kind}s")
    if not runner.check("cases have kernels of their own", own):
        return
    case, build = list(own.items())[0]
    for what, verdict, text in ((f"{kind}-crash", "crashed", "signal 6"), (f"{kind}-hang", "hung", f"no answer for {limit} s")):
        if runner.is_quick and verdict == "hung":
            continue
        os.environ["ROPE2D_SHIM"] = f"{what}:{build}"
        patience = ["--time-limit", limit] if verdict == "hung" else []
        result, report = verify(runner, "--case", pattern(*CASES), *patience, device=device, name=f"{what}.json")
        got = verdicts(report)
        bad = {name for name, one in got.items() if one != "passed"}
        runner.check(f"{what}: the case alone is blamed, and the rest goes on", result.status == 1 and bad and all(
            name.startswith(case) and got[name] == verdict for name in bad) and len(bad) < len(got) and text in result.output
            and report["complete"], got)


def stuck(runner, verify, device, case, size, limit):
    """A device that never answers again: what comes later has no verdict, and a run that goes on begins there."""
    path = runner.path("stuck")
    os.environ["ROPE2D_SHIM"] = f"stick:{size}:{path}"
    options = ["--case", pattern(*CASES), "--time-limit", limit]
    result, report = verify(runner, *options, device=device, name="stuck.json")
    got = verdicts(report)
    names = list(got)
    first = next(index for index, name in enumerate(names) if got[name] != "passed")
    runner.check("stuck: the case hangs, and what comes later has no verdict", result.status == 1
                 and names[first].startswith(case) and got[names[first]] == "hung" and len(names) > first + 3
                 and all(got[name] == "no verdict" for name in names[first + 1:])
                 and "does not answer any more" in result.output, got)
    path.unlink()
    os.environ["ROPE2D_SHIM"] = ""
    result, report = verify(runner, *options, "--resume", device=device, name="stuck.json")
    again = verdicts(report)
    runner.check("stuck: what had no verdict is run later", again[names[first]] == "hung" and all(
        again[name] == "passed" for name in names if name != names[first]), again)


def flaky(runner, verify, device):
    """Dispatches that do nothing but the first time: in place, where the inputs are then still there."""
    for case, like in IN_PLACE:
        own = sorted(sizes(runner, device, pattern(case)) - sizes(runner, device, pattern(like)))
        if own:
            break
    if not runner.check("a case in place has a dispatch of its own", own):
        return
    os.environ["ROPE2D_SHIM"] = f"flaky:{own[0]}"
    result, report = verify(runner, "--case", pattern(case, like), "--repeat", "2", device=device, name="flaky.json")
    got = verdicts(report)
    bad = {name for name, one in got.items() if one == "non-repeatable"}
    runner.check("flaky: another run has other bits", result.status == 1 and bad and all(
        name.startswith(case + " ") for name in bad) and all(got[name] == "passed" for name in got if name.startswith(like + " ")),
        got)


def known(runner, verify, device, cases, case, bad):
    """A crash that is known is no failure, on this device alone."""
    entry = {"device": device, "case": case, "reason": "the shim crashes"}
    path = runner.path("known_crash.json")
    path.write_text(json.dumps([entry]))
    result, report = verify(runner, "--case", cases, "--expect", path, device=device, name="known.json")
    expected = {one["name"] for one in report["devices"][0]["results"] if "expected" in one}
    runner.check("a known crash passes", result.status == 0 and expected == bad and "(expected: the shim crashes)"
                 in result.output, expected)
    entry["device"] = "another device"
    path.write_text(json.dumps([entry]))
    result, _ = verify(runner, "--case", cases, "--expect", path, device=device, name="known.json")
    runner.check("on another device it would be a failure", result.status == 1)

# SPDX-License-Identifier: MIT
"""Devices that crash, hang and get lost on one case: `opencl_shim.c` makes them from one that does not."""
import json
import os

CASE = "one_column f32:f32*"  # whose dispatch has a size of its own
LATE = "odd_gaps f32:f32*"  # another, before it
OTHERS = "half f32:f32*," + LATE


def sizes(runner, device, cases):
    """The sizes of all dispatches, those of self-tests as well."""
    os.environ["ROPE2D_SHIM"] = "log"
    result = runner.run("verify", "--device", device, "--in-process", "--case", cases)
    return {line for line in result.errors.splitlines() if line.isdigit()}


def find_device(runner):
    result = runner.run("devices", "--json")
    names = [one["device"] for one in json.loads(result.output)["devices"] if one["backend"] == "opencl"]
    return names[0] if names else None


def verdicts(report):
    return {one["name"]: one["verdict"] for one in report["devices"][0]["results"]}


def test(runner, verify, shim):
    if not shim or not (device := find_device(runner)):
        runner.skip("bad devices", "there is no OpenCL device, or no shim")
        return
    os.environ["ROPE2D_OPENCL_LOADER"] = shim
    others = sizes(runner, device, OTHERS)
    own = sorted(sizes(runner, device, CASE) - others)
    if not runner.check("the case has a dispatch of its own", own and others, (own, others)):
        return
    all_cases = OTHERS + "," + CASE
    for what, verdict, text in (("crash", "crashed", "signal 6"), ("hang", "hung", "no answer for 3 s"),
                                ("lose", "lost", "DEVICE_LOST")):
        if runner.is_quick and what != "crash":
            continue
        os.environ["ROPE2D_SHIM"] = f"{what}:{own[0]}"
        result, report = verify(runner, "--case", all_cases, "--time-limit", "3", device=device, name=f"{what}.json")
        got = verdicts(report)
        bad = {name for name, one in got.items() if one != "passed"}
        runner.check(f"{what}: the case alone is blamed", result.status == 1 and bad and all(
            name.startswith("one_column") and got[name] == verdict for name in bad) and len(bad) < len(got) and
            text in result.output, got)
        runner.check(f"{what}: the device goes on", report["devices"][0].get("error") is None
                     and all(c["verdict"] == "passed" for c in report["devices"][0]["controls"]))
        if what == "crash":
            known(runner, verify, device, all_cases, bad)
    os.environ["ROPE2D_SHIM"] = f"flaky:{own[0]}"
    result, report = verify(runner, "--case", all_cases, "--repeat", "2", device=device, name="flaky.json")
    got = verdicts(report)
    flaky = {name for name, one in got.items() if one != "passed"}
    runner.check("flaky: another run has other bits", result.status == 1 and flaky and all(
        name.startswith("one_column") and got[name] == "non-repeatable" for name in flaky), got)
    trigger = sorted(sizes(runner, device, LATE) - sizes(runner, device, "half f32:f32*,one_column f32:f32*"))
    if not runner.check("another case has one, too", trigger):
        return
    os.environ["ROPE2D_SHIM"] = f"late:{trigger[0]}"
    result, report = verify(runner, "--case", all_cases, device=device, name="late.json")
    late = {one["name"]: one for one in report["devices"][0]["results"] if one["verdict"] != "passed"}
    runner.check("late: found by halves", result.status == 1 and late and all(
        one["verdict"] == "crashed" and "only after \"odd_gaps" in one["text"] for one in late.values()), late)
    for variable in ("ROPE2D_SHIM", "ROPE2D_OPENCL_LOADER"):
        del os.environ[variable]


def known(runner, verify, device, cases, bad):
    """A crash that is known is no failure, on this device alone."""
    entry = {"device": device, "case": "one_column", "reason": "the shim crashes"}
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

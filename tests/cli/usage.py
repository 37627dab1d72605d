# SPDX-License-Identifier: MIT
"""Verbs, options, help, exit statuses and devices."""
import json
import os
import platform

VERBS = ("devices", "apply", "check", "demo", "bench", "plot", "plot-data")
WRONG_WORDS = [
    (["aply"], "did you mean apply?"),
    (["chekc"], "did you mean check?"),
    (["device"], "did you mean devices?"),
    (["dmeo"], "did you mean demo?"),
    (["--hepl"], "did you mean --help?"),
    (["--vesion"], "did you mean --version?"),
    (["zzzzzzzz"], "there is no verb 'zzzzzzzz'"),
    (["devices", "--jsn"], "--json"),
    (["apply", "--gird", "2x2"], "did you mean --grid?"),
    (["apply", "--head-q", "2"], "did you mean --heads-q?"),
    (["apply", "--pos", "p.npy"], "did you mean --positions?"),
    (["apply", "-q", "q.npy"], "did you mean --q?"),
    (["apply", "--frequencies=1"], "apply has no option --frequencies"),
    (["apply", "--pairing", "interleave"], "did you mean interleaved?"),
    (["apply", "--layout", "bhdn"], "did you mean bhnd?"),
    (["apply", "--dtype", "fp16"], "did you mean f16?"),
    (["apply", "--axes", "zz"], "must be yx|xy"),
    (["check", "--devise", "cpu"], "did you mean --device?"),
    (["check", "--tabel", "buffer"], "did you mean --table?"),
    (["demo", "--rnus", "3"], "did you mean --runs?"),
    (["bnech"], "did you mean bench?"),
    (["bench", "--qiuck"], "did you mean --quick?"),
    (["bench", "--towre", "sam2"], "did you mean --tower?"),
    (["bench", "--tower", "sam3"], "did you mean sam2?"),
    (["bench", "--element", "f32,fp16"], "did you mean f16?"),
    (["bench", "--table", "bufer"], "did you mean buffer?"),
    (["bench", "--pairing", "halves"], "did you mean half?"),
    (["bench", "--in-place", "yse"], "did you mean yes?"),
    (["bench", "--device", "vulcan:0"], "did you mean vulkan?"),
]
WRONG_USAGE = [
    ([], "a verb is missing"),
    (["devices", "all"], "takes no 'all'"),
    (["devices", "--json=1"], "takes no value"),
    (["check"], "needs a FOLDER"),
    (["check", "no-such-folder"], "no-such-folder"),
    (["apply", "--q"], "--q needs a value"),
    (["apply", "--q="], "--q needs a value"),
    (["apply", "q.npy"], "takes no 'q.npy'"),
    (["apply", "--grid", "2x2", "--base", "1"], "--q is missing"),
    (["apply", "--q", "q.npy", "--base", "1"], "--grid and --positions"),
    (["apply", "--q", "q.npy", "--grid", "2x2", "--positions", "p.npy", "--base", "1"], "--grid and --positions"),
    (["apply", "--q", "q.npy", "--grid", "2x2"], "--base and --freqs"),
    (["apply", "--q", "q.npy", "--grid", "2x2", "--base", "1", "--freqs", "f.npy"], "--base and --freqs"),
    (["apply", "--q", "q.npy", "--positions", "p.npy", "--base", "1", "--axes", "xy"], "--axes"),
    (["apply", "--q", "q.npy", "--grid", "2x2", "--base", "1", "--out-k", "k.npy"], "must have --k"),
    (["apply", "--q", "q.npy", "--k", "k.npy", "--grid", "2x2", "--base", "1", "--unrotated-k", "0:1"],
     "--positions-k"),
    (["demo", "a", "b"], "one FOLDER"),
    (["demo", "--grid", "64"], "HEIGHTxWIDTH"),
    (["demo", "--heads", "0"], "from 1 to"),
    (["demo", "--runs", "many"], "from 1 to"),
    (["bench", "cpu"], "takes no 'cpu'"),
    (["bench", "--quick", "--full"], "one of them"),
    (["bench", "--tower", "sam2,"], "--tower sam2,: must be all, or of qwen2vl"),
    (["bench", "--tower", ",sam2"], "must be all, or of"),
    (["bench", "--tokens", "0"], "numbers from 1 to 1048576"),
    (["bench", "--tokens", "64,many"], "numbers from 1 to 1048576"),
    (["bench", "--tokens", "1048577"], "numbers from 1 to 1048576"),
    (["bench", "--tokens", "64,"], "numbers from 1 to 1048576"),
    (["bench", "--threads", "0"], "numbers from 1 to 256"),
    (["bench", "--seconds", "none"], "from 1 to 86400"),
    (["bench", "--seconds", "0"], "from 1 to 86400"),
    (["bench", "--passes", "0"], "whole number from 1 to 9"),
    (["bench", "--passes", "2.5"], "whole number from 1 to 9"),
    (["bench", "--again", "9"], "--again 9: must be a whole number from 0 to 8"),
    (["bench", "--passes", "4", "--again", "6"], "--again 6: must be a whole number from 0 to 5"),
    (["bench", "--plot", "picture.pdf"], ".svg or .png"),
    (["bench", "--device", "cpu,"], "--device cpu,: nothing stands beside a comma"),
    (["bench", "--device", "cpu,all"], "--device all: must stand alone"),
]


def check_help(runner):
    result = runner.expect("help", ["--help"], 0, "usage: rope2d", "exit status", *VERBS)
    runner.check("help goes to stdout", not result.errors, result.errors)
    runner.expect("version", ["--version"], 0, "rope2d ")
    for verb in VERBS:
        runner.expect(f"help of {verb}", [verb, "--help"], 0, f"usage: rope2d {verb}", "options:", "exit status")
        runner.expect(f"help of {verb} among others", [verb, "x", "-h"], 0, f"usage: rope2d {verb}")
    runner.expect("help of apply", ["apply", "--help"], 0, "--q FILE", "--grid HxW", "--positions-k FILE", "--heads-k",
                  "--unrotated", "interleaved|half|segment-half", "bnhd|bhnd|nhd|bnc", "forward|inverse|transpose")


def check_wrong_usage(runner):
    for arguments, text in WRONG_WORDS + WRONG_USAGE:
        result = runner.expect(f"usage {arguments}", arguments, 2, text)
        runner.check(f"usage {arguments} on stderr", not result.output, result.output)


def check_devices(runner):
    table = runner.expect("devices", ["devices"], 0, "device", "cpu:0", "driver")
    result = runner.expect("devices as JSON", ["devices", "--json"], 0)
    found = json.loads(result.output)
    keys = {"device", "backend", "index", "name", "vendor", "driver", "api", "is_software", "has_textures",
            "default_table", "max_buffer_range", "memory_bytes"}
    for device in found["devices"]:
        runner.check(f"JSON of {device.get('device')}", keys <= device.keys(), f"lacks {keys - device.keys()}")
        runner.check(f"table has {device['device']}", device["device"] in table.output, table.output)
        runner.check(f"{device['device']} has a name", device["name"] != "" and device["api"] != "", str(device))
    listed = {device["backend"] for device in found["devices"]}
    for backend in ("vulkan", "opencl"):
        if backend not in listed:
            runner.skip(backend, found["missing"].get(backend, "no device"))


def check_missing_devices(runner):
    folder = runner.golden / "su_canonical"
    for device, text in (("cpu:7", "index must be below 1"), ("vulkan:99", "vulkan:99"), ("opencl:99", "opencl:99")):
        result = runner.expect(f"no device {device}", ["check", folder, "--device", device], 3, device, text)
        runner.check(f"no device {device}: checks nothing", "passed" not in result.output, result.output)
    for device, text in (("vulcan:0", "did you mean vulkan?"), ("gpu", "must be all, cpu"), ("vulkan:x", "vulkan:x"),
                         ("cpu,", "must be"), ("auto", "must be all, cpu")):
        runner.expect(f"wrong device {device}", ["check", folder, "--device", device], 2, text)
    runner.expect("auto among others", ["apply", "--q", folder / "q.npy", "--out-q", "q.npy", "--grid", "5x7", "--base", "100",
                                        "--device", "auto,cpu"], 2, "--device auto: must stand alone")


def check_no_drivers(runner):
    """A machine without any: the CPU is left, and what is missing is said."""
    folder = runner.golden / "su_canonical"
    result = runner.expect("devices without drivers", ["devices", "--json"], 0, without_drivers=True)
    found = [device["device"] for device in json.loads(result.output)["devices"]]
    runner.check("devices without drivers: the CPU alone", found == ["cpu:0"], str(found))
    for device in ("vulkan:0", "opencl"):
        result = runner.expect(f"{device} without drivers", ["check", folder, "--device", device], 3,
                               f"--device {device}", without_drivers=True)
        runner.check(f"{device} without drivers: says one thing", result.errors.count("\n") == 1, result.errors)
    runner.expect("all without drivers", ["check", folder, "--device", "all"], 0, "1 passed, 0 failed, 0 skipped",
                  without_drivers=True)
    runner.expect("auto without drivers", ["apply", "--q", folder / "q.npy", "--out-q", "q.npy", "--grid", "5x7", "--base",
                                           "100"], 0, "device cpu:0", "no GPU was found", without_drivers=True)
    runner.path("q.npy").unlink(missing_ok=True)


def check_other_drivers(runner):
    """What --device does not name is not loaded: it may be slow, or broken."""
    if platform.libc_ver()[0] != "glibc":
        runner.skip("drivers that nobody asks for", "only glibc's loader says what it opens")
        return
    loaders = {"vulkan": "libvulkan.so", "opencl": "libOpenCL.so"}
    there = [f"{backend}:0" for backend in loaders if f"{backend}:0" in runner.devices]
    for device in ("cpu", *there, *(f"cpu,{device}" for device in there)):
        os.environ["LD_DEBUG"] = "files"
        runs = [runner.run("check", runner.golden / "su_canonical", "--device", device),
                runner.run("verify", "--in-process", "--case", "half f32:f32*", "--device", device)]
        del os.environ["LD_DEBUG"]
        for result in runs:
            opened = [backend for backend, loader in loaders.items() if f"file={loader}" in result.errors]
            runner.check(f"--device {device} loads no other driver", result.status == 0 and "file=libc.so" in result.errors
                         and opened == [name for name in loaders if name in device], f"{result.status}, {opened}")


def test(runner):
    check_help(runner)
    check_wrong_usage(runner)
    check_devices(runner)
    check_missing_devices(runner)
    check_no_drivers(runner)
    check_other_drivers(runner)

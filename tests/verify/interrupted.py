# SPDX-License-Identifier: MIT
"""Signals that end `rope2d verify`: nothing goes on behind it, nothing lies about, and --resume goes on."""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

# A program that says where it is and never ends, with a child of its own.
SLEEPER = """import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""
LIMIT = 60  # seconds that anything here may take


def wait_for(what):
    """Until it is true, or too late."""
    until = time.monotonic() + LIMIT
    while not (found := what()) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def is_alive(process):
    """Zombies are none of it: who reaps orphans takes its time."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def children(process):
    """Of Linux, whose /proc tells."""
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def heed():
    """What runs in the background of a shell ignores SIGINT."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(runner, *options, **environment):
    return subprocess.Popen([runner.program, "verify", *map(str, options)], cwd=runner.folder, preexec_fn=heed, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment})


def read(path):
    return json.loads(path.read_text()) if path.exists() else {"devices": [], "complete": None, "passed": None}


def count_results(path):
    return sum(len(device["results"]) for device in read(path)["devices"][:1])


def test(runner, verify, _source):
    if not pathlib.Path("/proc/self/task").exists():
        runner.skip("signals", "this system has no /proc")
        return
    workers(runner, verify)
    killed(runner)
    programs(runner)


def workers(runner, verify):
    """Ended by a signal in the middle of a batch."""
    for name, number, times in (("SIGINT", signal.SIGINT, 1), ("SIGTERM, twice, as timeout(1) does", signal.SIGTERM, 2)):
        path = runner.path(f"ended{number}.json")
        pages = {form: runner.path(f"ended{number}.{form}") for form in ("junit", "html")}
        with start(runner, "--device", "cpu", "--json", path,
                   *(word for form, page in pages.items() for word in (f"--{form}", page))) as process:
            # Lines come from a worker that has opened its device.
            there = wait_for(lambda: count_results(path) and children(process.pid))
            for _ in range(times):
                process.send_signal(number)
            output, errors = process.communicate(timeout=LIMIT)
        report = read(path)
        kept = report["devices"][0]["results"] if report["devices"] else []
        runner.check(f"{name} ends it as a signal does, and says so", process.returncode == -number and not output
                     and f"interrupted: {path} has the results so far" in errors, (process.returncode, errors))
        runner.check(f"{name} ends its worker", there and not any(map(is_alive, there)), there)
        for form, page in pages.items():
            text = page.read_text() if page.exists() else ""
            runner.check(f"{name}: {form} says that it was interrupted", "interrupted: not every case was run" in text
                         and kept and all(one["name"] in text for one in kept), len(text))
        said = [problem["text"] for problem in report.get("problems", [])]
        runner.check(f"{name}: the JSON says that it was interrupted", said == ["interrupted: not every case was run"], said)
        runner.check(f"{name} leaves what was done", kept and not report["complete"] and not report["passed"]
                     and all(one["verdict"] == "passed" for one in kept), len(kept))
    if not kept:
        return
    # What lies in the file for devices that are not reached again must not go.
    report["devices"].append({**report["devices"][0], "device": "another:0"})
    path.write_text(json.dumps(report))
    before = len(kept)
    with start(runner, "--device", "cpu", "--json", path, "--resume") as process:
        wait_for(lambda: count_results(path) > before)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT)
    names = [device["device"] for device in json.loads(path.read_text())["devices"]]
    runner.check("a resumed report keeps its other devices", names == ["cpu:0", "another:0"], names)
    for one in kept:
        one["text"] = "from before"
    report["devices"][0]["results"] = kept
    path.write_text(json.dumps(report))
    result, whole = verify(runner, "--resume", name=path.name)
    texts = [one.get("text") for one in whole["devices"][0]["results"]]
    runner.check("--resume goes on", result.status == 0 and whole["complete"] and texts[:before] == ["from before"] * before
                 and len(texts) > before and not any(texts[before:]), (before, len(texts)))
    runner.check("nothing lies beside the report", not [name for name in runner.names() if name.startswith(f"{path.name}.")])


def killed(runner):
    """Nobody can see to anything: what there is then was saved by time, before a batch of 160 was done."""
    path = runner.path("killed.json")
    with start(runner, "--device", "cpu", "--json", path) as process:
        there = wait_for(lambda: count_results(path) and children(process.pid))
        count = count_results(path)
        process.kill()
        process.communicate(timeout=LIMIT)
    runner.check("results are saved by time, too", 0 < count < 160, count)
    runner.check("a worker without anybody to tell ends", wait_for(lambda: not any(map(is_alive, there))), there)


def programs(runner):
    """The command of --exec, what it started, and the folder that it was given."""
    path, told = runner.path("sleeper.py"), runner.path("told")
    path.write_text(SLEEPER)
    folder = runner.path("for programs")
    folder.mkdir()
    command = f"{shlex.join([sys.executable, str(path), str(told)])} {{case}} {{out}}; true"
    with start(runner, "--exec", command, "--case", "half", "--json", runner.path("exec.json"), TMPDIR=str(folder)) as process:
        there = wait_for(lambda: told.exists() and told.read_text().split())
        made = list(folder.iterdir())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
    runner.check("the command had a folder", len(made) == 1 and len(there) == 2, (made, there))
    runner.check("the command ends with what it started", process.returncode == -signal.SIGINT
                 and not any(map(is_alive, there)), (process.returncode, there))
    runner.check("its folder is removed", not list(folder.iterdir()), list(folder.iterdir()))
    report = json.loads(runner.path("exec.json").read_text())["devices"][0]
    runner.check("what was ended has no verdict", not report["controls"] and not report["results"], report["controls"])

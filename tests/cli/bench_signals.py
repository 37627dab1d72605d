# SPDX-License-Identifier: MIT
"""Signals that end `rope2d bench`: it ends as they say, and neither a folder nor a process stays behind."""
import os
import pathlib
import signal
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "verify"))
from interrupted import LIMIT, children, heed, is_alive, wait_for

LONG = ["--quick", "--tower", "qwen2vl", "--tokens", "64", "--seconds", "60", "--pairing", "half"]


def ignore():
    """As nohup does."""
    heed()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def start(runner, folder, device, before=heed):
    folder.mkdir(exist_ok=True)
    return subprocess.Popen([runner.program, "bench", *LONG, "--device", device], cwd=runner.folder, preexec_fn=before,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)})


def inside(folder):
    return sorted(path.name for path in folder.glob("*/*"))


def below(process):
    """The process that measures, and one that makes a plan for it."""
    measuring = children(process.pid)
    return measuring + [child for one in measuring for child in children(one)]


def end(runner, name, process, folder, number, expected=None):
    """Sends it, and looks at what there is then."""
    expected = expected or number
    workers = below(process)
    process.send_signal(number)
    errors = process.communicate(timeout=LIMIT)[1].decode()
    runner.check(f"{name}: the signal is the exit status", process.returncode == -expected, f"{process.returncode} {errors}")
    runner.check(f"{name}: no folder stays", not list(folder.iterdir()), f"{list(folder.iterdir())} {inside(folder)}")
    runner.check(f"{name}: no process goes on", not any(map(is_alive, workers)), str(workers))
    runner.check(f"{name}: nothing is said", errors == "", errors)


def check_signals(runner, devices):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        folder = runner.path(f"ended by {number}")
        with start(runner, folder, "cpu") as process:
            runner.check(f"bench, {number}: has a folder", wait_for(lambda: list(folder.iterdir())), "")
            end(runner, f"bench, {number}", process, folder, number)
    for device in devices:
        name, folder = f"bench {device}", runner.path(f"ended {device}".replace(":", "-"))
        with start(runner, folder, device) as process:
            # It has a folder for the files of plans beside its drivers'.
            runner.check(f"{name}: makes a plan in another process", wait_for(lambda: len(inside(folder)) == 2 and len(below(process)) == 2), "")
            end(runner, f"{name}, in a plan", process, folder, signal.SIGTERM)
        with start(runner, folder, device) as process:
            wait_for(lambda: b"equal" in process.stdout.readline() or process.poll() is not None)
            end(runner, f"{name}, in a rotation", process, folder, signal.SIGINT)
    check_others(runner)


def check_others(runner):
    """A reader that has gone, and a signal that is ignored."""
    folder = runner.path("no reader")
    with start(runner, folder, "cpu") as process:
        process.stdout.close()
        errors = process.stderr.read().decode()
        process.wait(timeout=LIMIT)
    runner.check("bench without a reader ends by it", process.returncode == -signal.SIGPIPE, f"{process.returncode} {errors}")
    runner.check("and leaves no folder", not list(folder.iterdir()), str(list(folder.iterdir())))
    folder = runner.path("killed")
    with start(runner, folder, "cpu") as process:
        workers = wait_for(lambda: below(process))
        process.kill()
        process.communicate(timeout=LIMIT)
    runner.check("without whoever waits for it nothing goes on", wait_for(lambda: not any(map(is_alive, workers))), str(workers))
    folder = runner.path("ignored")
    with start(runner, folder, "cpu", ignore) as process:
        wait_for(lambda: list(folder.iterdir()))
        process.send_signal(signal.SIGHUP)
        runner.check("what is ignored stays so", process.stdout.readline() and process.poll() is None, str(process.returncode))
        end(runner, "bench, SIGHUP ignored", process, folder, signal.SIGTERM)

# SPDX-License-Identifier: MIT
"""Operations on files that the command line does (docs/soak.md says which) fail in turn, by `file_shim.c`: it ends with an
error that names the file, or with everything as it should be; no file is half written, and none is left over."""
import errno
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import sys

import numpy as np

CASE = "lightglue"
MOST = 2000  # of a command
# What is asked of a file may be asked in vain, and what was only read may be closed in vain.
HARMLESS = ("stat", "lstat", "fstat", "close")
# What is left over then is named, and nothing else is wrong.
REMOVES = ("remove", "unlink", "unlinkat", "rmdir", "renameat", "openat", "fdopendir")
VERIFY = ["verify", "--device", "cpu", "--in-process", "--case"]
# A program for --exec, whose own operations do not fail: what another has answered to each case.
REPLAY = """#!/bin/sh
name=$2/$(cat "$3"/case.json "$3"/*.npy | sha256sum | cut -c 1-16)
if [ "$1" = record ]; then
    {python} {runner} "$3" "$4" && mkdir -p "$name" && cp "$4"/*.npy "$name"
else
    cp "$name"/*.npy "$4"
    mkdir -p "$4/more/and more"
fi
"""


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def heed():
    """What runs in the background of a shell ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Faults:
    def __init__(self, runner):
        self.runner = runner
        self.points = 0
        self.temporary = runner.path("faults") / "tmp"

    def run(self, folder, arguments, number, code, variables, before=None):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir()
        for name, text in self.old.items():
            (folder / name).write_text(text)
        shim = {"LD_PRELOAD": self.runner.file_shim, "ROPE2D_FILES_UNDER": str(self.runner.path("faults")),
                "ROPE2D_FILES_FAIL": str(number), "ROPE2D_FILES_CODE": str(code), "TMPDIR": str(self.temporary), **variables}
        variables_before = dict(os.environ)
        os.environ.update(shim)
        result = self.runner.run(*arguments, without_drivers="cpu" in arguments or "--device" not in arguments,
                                 before=before)
        os.environ.clear()
        os.environ.update(variables_before)
        return result, re.search(r"^file_shim: (\w+) (.*)\n", result.errors, re.MULTILINE)

    def check(self, what, arguments, files=(), step=1, is_whole=lambda name, data: False, again=(), **variables):
        """`files` are written below the folder `out`, over older ones; those of `again` several times. is_whole says of other
        contents whether they are good all the same."""
        runner, folder = self.runner, self.runner.path("faults") / "out"
        self.old = files if isinstance(files, dict) else dict.fromkeys(files, "old")
        self.is_whole, self.again = is_whole, again
        result, _ = self.run(folder, arguments, 0, 0, variables)
        right = contents(folder)
        self.last_line = result.output.splitlines()[-1:]
        if not runner.check(f"{what}: nothing fails", result.status == 0 and set(files) <= set(right), list(right)):
            return
        reads, number = [], 1
        while number < MOST:
            result, failed = self.run(folder, arguments, number, errno.EIO, variables)
            if not failed:
                break
            self.judge(f"{what}: {failed[1]} {failed[2]}", result, failed, False, right)
            if failed[1] == "read":
                reads.append(number)
            number += step
        runner.check(f"{what}: operations fail until there are no more, and then it passes", 2 < number < MOST
                     and result.status == 0 and self.is_right(contents(folder), right), number)
        for number in reads:
            result, failed = self.run(folder, arguments, number, 0, variables)
            self.judge(f"{what}: {failed[1]} {failed[2]} ends", result, failed, True, right)

    def interrupt(self, what, arguments, files, step=1):
        """A signal before each operation: files of `out` are whole, old or not there, and nothing lies beside them."""
        folder, number, wrong = self.runner.path("faults") / "out", 1, []
        self.old = dict.fromkeys(files, "old")
        result, _ = self.run(folder, arguments, 0, 0, {})
        right = contents(folder)
        while number < MOST:
            result, failed = self.run(folder, arguments, number, -signal.SIGINT, {}, heed)
            if not failed:
                break
            found = contents(folder)
            if result.status != -signal.SIGINT or any(data not in (right.get(name), self.old.get(name, "none").encode())
                                                      for name, data in found.items()):
                wrong.append((failed[0], result.status, sorted(found)))
            number += step
        self.points += number // step
        self.runner.check(f"{what}: a signal leaves nothing half written", number > step and result.status == 0 and not wrong, wrong[:3])

    def is_right(self, found, right):
        return set(found) == set(right) and all(data == right[name] or self.is_whole(name, data) for name, data in found.items())

    def judge(self, what, result, failed, is_end, right):
        self.points += 1
        said = result.errors.replace(failed[0], "", 1)
        folder = self.runner.path("faults") / "out"
        named_left = [path for place in (folder, self.temporary) for path in place.iterdir() if f"{path}: stays" in said]
        found = {name: data for name, data in contents(folder).items() if folder / name not in named_left}
        all_left = [path for path in self.temporary.iterdir() if path not in named_left]
        path = pathlib.Path(re.sub(r"\.\w{6,8}$", "", failed[2]))
        named = str(path) in said
        if result.status == 0:  # a file may end where its end was read, and what is written again may fail once
            is_removed = failed[1] in REMOVES or (failed[1] == "readdir" and self.temporary in path.parents)
            is_removed |= failed[1] == "mkdir" and path.is_dir()
            is_harmless = is_end or is_removed or failed[1] in HARMLESS or (named and path.name in self.again)
            self.runner.check(f"{what}: harmless, and all is right", is_harmless and self.is_right(found, right)
                              and result.output.splitlines()[-1:] == self.last_line and not all_left, [*found, *all_left])
            return
        self.runner.check(f"{what}: the path is named", result.status in (1, 2, 3) and named, result.status)
        half = [name for name, bytes_ in found.items() if not self.is_whole(name, bytes_)
                and bytes_ not in (right.get(name), self.old.get(name, "").encode())]
        self.runner.check(f"{what}: nothing is half written or left over", not half and all(
            name in found for name in self.old), half or list(found))
        self.runner.check(f"{what}: no temporary folder is left", not all_left, all_left)


def verified(runner, faults):
    """What rope2d verify reads and writes of its own, and the folders that it makes for a program."""
    out = runner.path("faults") / "out"
    outputs = ["--json", out / "v.json", "--junit", out / "v.xml", "--html", out / "v.html"]
    known = runner.path("faults") / "known.json"
    known.write_text(json.dumps([{"device": "cpu", "case": "half", "reason": "to see"}]))
    faults.check("verify's reports", [*VERIFY, "half f32:f32 buffer", "--expect", known, *outputs], ("v.json", "v.xml", "v.html"),
                 is_whole=is_report, again=("v.json",))
    before = json.loads((out / "v.json").read_text())
    before["devices"][0]["results"][0]["text"] = "from before"
    faults.check("verify --resume", [*VERIFY, "half f32:f32 buffer,half f32:f16 buffer", "--json", out / "v.json", "--resume"],
                 {"v.json": json.dumps(before)}, is_whole=is_report, again=("v.json",))
    replay, store = runner.path("faults") / "replay", runner.path("answers")
    example = runner.golden.parent.parent / "examples/verify_runner.py"
    replay.write_text(REPLAY.format(python=shlex.quote(sys.executable), runner=shlex.quote(str(example))))
    program = f"env -u LD_PRELOAD sh {shlex.quote(str(replay))} %s {shlex.quote(str(store))} {{case}} {{out}}"
    runner.expect("answers for a program", [*VERIFY, "half f32:f32 buffer", "--exec", program % "record"], 0)
    faults.check("verify --exec", [*VERIFY, "half f32:f32 buffer", "--exec", program % "replay"],
                 step=83 if runner.is_quick else 23)
    faults.check("verify removes --exec's folders", [*VERIFY, "half f32:f32 buffer", "--exec", program % "replay"],
                 step=61 if runner.is_quick else 11, ROPE2D_FILES_NAMES=" ".join((*REMOVES, "readdir", "")))


def drawn(runner, faults):
    """Pictures, by Python's own operations as well, and the numbers of the bench."""
    out = runner.path("faults") / "out"
    if "matplotlib is missing" in runner.run("plot", "axes", "--folder", "axes").errors:
        runner.skip("file faults of pictures", "matplotlib is missing")
    else:
        faults.check("plot", ["plot", "axes", "--preset", "su", "--format", "both", "--folder", out], ("axes.svg", "axes.png"),
                     step=3 if runner.is_quick else 1)
    faults.check("bench", ["bench", "--quick", "--device", "cpu", "--tower", "sam2", "--tokens", "64", "--element", "f32",
                           "--threads", "1", "--in-place", "yes", "--pairing", "half", "--seconds", "1",
                           "--json", out / "b.json"], ("b.json",),
                 step=4 if runner.is_quick else 1, is_whole=is_bench, again=("rope2d-XXXXXX",))


def is_bench(name, data):
    """Other times each time."""
    try:
        return name == "b.json" and "targets" in json.loads(data)
    except ValueError:
        return False


def is_report(name, data):
    """Of verify, which is written again and again while cases are run."""
    try:
        return name == "v.json" and json.loads(data)["format"] == "rope2d-verify"
    except ValueError:
        return False


def test(runner):
    if not runner.file_shim:
        runner.skip("file faults", "there is no shim")
        return
    faults = Faults(runner)
    runner.path("faults").mkdir()
    q, case, report, out = (runner.path("faults") / name for name in ("q.npy", "cases", "r.json", "out"))
    np.save(q, np.ones((1, 4, 2, 8), np.float32))
    shutil.copytree(runner.golden / CASE, case / CASE)
    runner.expect("a report", ["verify", "--device", "cpu", "--case", "half f32:f32 buffer", "--json", report], 0)
    apply = ["apply", "--q", q, "--k", q, "--grid", "2x2", "--base", "100", "--out-q", out / "q.npy", "--out-k", out / "k.npy"]
    faults.check("apply", [*apply, "--device", "cpu"], ("q.npy", "k.npy"))
    faults.check("check", ["check", case, "--device", "cpu"])
    faults.check("merge", ["report", "merge", report, report, "--json", out / "m.json", "--html", out / "m.html"],
                 ("m.json", "m.html"))
    faults.check("emit", ["emit", out], step=9)
    faults.interrupt("merge", ["report", "merge", report, report, "--json", out / "m.json", "--html", out / "m.html"],
                     ("m.json", "m.html"), step=2 if runner.is_quick else 1)
    faults.interrupt("apply", [*apply, "--device", "cpu"], ("q.npy", "k.npy"), step=4 if runner.is_quick else 1)
    faults.interrupt("emit", ["emit", out], (), step=61 if runner.is_quick else 17)
    verified(runner, faults)
    drawn(runner, faults)
    if not runner.is_quick:
        faults.check("verify", ["verify", "--device", "cpu", "--case", "half f32:f32 buffer", "--in-process", "--cases", case])
    for device in [one for one in runner.devices if one.startswith("opencl")][:1]:
        shutil.copytree(runner.golden.parent.parent / "shaders", runner.path("faults") / "shaders")
        faults.check("kernels of a folder", [*apply, "--device", device], ("q.npy", "k.npy"),
                     ROPE2D_SHADERS=str(runner.path("faults") / "shaders"), step=3)
    print(f"{faults.points} operations on files failed in turn")

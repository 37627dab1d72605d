# SPDX-License-Identifier: MIT
"""Every operation on a file that the command line does fails in turn, by `file_shim.c`: it ends with an error that names
the file, or with everything as it should be; no file is half written, and none is left over."""
import errno
import os
import pathlib
import re
import shutil

import numpy as np

CASE = "lightglue"
MOST = 400  # of a command
# Whether there is a file may be asked in vain, and what was only read may be closed in vain.
HARMLESS = ("stat", "close")


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Faults:
    def __init__(self, runner):
        self.runner = runner
        self.points = 0

    def run(self, folder, arguments, number, code, variables):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in self.old:
            (folder / name).write_text("old")
        shim = {"LD_PRELOAD": self.runner.file_shim, "ROPE2D_FILES_UNDER": str(self.runner.path("faults")),
                "ROPE2D_FILES_FAIL": str(number), "ROPE2D_FILES_CODE": str(code), **variables}
        os.environ.update(shim)
        result = self.runner.run(*arguments, without_drivers="cpu" in arguments or "--device" not in arguments)
        for name in shim:
            del os.environ[name]
        return result, re.search(r"^file_shim: (\w+) (.*)\n", result.errors, re.MULTILINE)

    def check(self, what, arguments, files=(), step=1, **variables):
        """`files` are written below the folder `out`, over older ones."""
        runner, folder = self.runner, self.runner.path("faults") / "out"
        self.old = files
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
                     and result.status == 0 and contents(folder) == right, number)
        for number in reads:
            result, failed = self.run(folder, arguments, number, 0, variables)
            self.judge(f"{what}: {failed[1]} {failed[2]} ends", result, failed, True, right)

    def judge(self, what, result, failed, is_end, right):
        found = contents(self.runner.path("faults") / "out")
        self.points += 1
        if result.status == 0:  # a file may end where its end was read
            self.runner.check(f"{what}: harmless, and all is right", (is_end or failed[1] in HARMLESS) and found == right
                              and result.output.splitlines()[-1:] == self.last_line, list(found))
            return
        said = result.errors.replace(failed[0], "", 1)
        path = pathlib.Path(re.sub(r"\.\w{6}$", "", failed[2]))
        # A folder whose cases nobody can see has none.
        named = str(path) in said or (failed[1] == "stat" and str(path.parent.parent) in said)
        self.runner.check(f"{what}: the path is named", result.status in (1, 2, 3) and named, result.status)
        half = [name for name, bytes_ in found.items() if bytes_ not in (right.get(name), b"old")]
        self.runner.check(f"{what}: nothing is half written or left over", not half and all(
            name in found for name in self.old), half or list(found))


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
    if not runner.is_quick:
        faults.check("verify", ["verify", "--device", "cpu", "--case", "half f32:f32 buffer", "--in-process", "--cases", case])
    for device in [one for one in runner.devices if one.startswith("opencl")][:1]:
        shutil.copytree(runner.golden.parent.parent / "shaders", runner.path("faults") / "shaders")
        faults.check("kernels of a folder", [*apply, "--device", device], ("q.npy", "k.npy"),
                     ROPE2D_SHADERS=str(runner.path("faults") / "shaders"), step=3)
    print(f"{faults.points} operations on files failed in turn")

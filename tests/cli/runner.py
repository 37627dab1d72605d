# SPDX-License-Identifier: MIT
"""Runs the command line, and counts what held. A failure names the command that reproduces it."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

# Software devices that interpret kernels are slow.
TIME_LIMIT = 600
NOBODY = 65534


def as_nobody():
    """For `before`: root may read and write everywhere."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)


class Result:
    def __init__(self, command, status, output, errors):
        self.command, self.status, self.output, self.errors = command, status, output, errors


class Runner:
    def __init__(self, program, golden):
        self.program = str(pathlib.Path(program).resolve())
        self.golden = pathlib.Path(golden).resolve()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rope2d-cli-"))
        self.is_quick = os.environ.get("ROPE2D_QUICK") == "1"
        self.passed = self.failed = self.skipped = 0
        self.last = None
        self.file_shim = ""
        self.devices = []
        self.has_textures = {}

    def run(self, *arguments, before=None, without_drivers=False, limit=TIME_LIMIT):
        """Runs rope2d in the test's folder; `before` is called in the child. One that hangs is killed."""
        changed = {}
        if without_drivers:
            changed = {name: str(self.folder / "no-drivers")
                       for name in ("VK_ICD_FILENAMES", "VK_DRIVER_FILES", "OCL_ICD_VENDORS")}
            changed["VK_ADD_DRIVER_FILES"] = ""
        command = [self.program, *map(str, arguments)]
        try:
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=limit,
                                  preexec_fn=before, env={**os.environ, **changed}, check=False)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(command, -9, "", f"no end within {limit} s")
        shown = [f"{name}={value}" for name, value in changed.items()]
        self.last = Result(["env", *shown, *command] if shown else command, done.returncode, done.stdout, done.stderr)
        return self.last

    def check(self, name, holds, detail=""):
        if holds:
            self.passed += 1
            return True
        self.failed += 1
        print(f"FAIL {name}: {detail}")
        if self.last:
            print(f"     cd {self.folder} && {shlex.join(self.last.command)}")
            print(f"     exit status {self.last.status}")
            for line in (self.last.output + self.last.errors).splitlines()[-12:]:
                print("     | " + line)
        return False

    def skip(self, name, why):
        self.skipped += 1
        print(f"skip {name}: {why}")

    def expect(self, name, arguments, status, *texts, **how):
        """Runs, and expects a status and texts in what is printed. A crash is no status that is expected."""
        result = self.run(*arguments, **how)
        printed = result.output + result.errors
        missing = [text for text in texts if text not in printed]
        self.check(name, result.status == status and not missing,
                   f"exit status {result.status} for {status}" + (f", without {missing}" if missing else ""))
        return result

    def path(self, name):
        return self.folder / name

    def names(self):
        """What lies in the folder, to see that nothing half written does."""
        return sorted(path.name for path in self.folder.iterdir())

    def find_devices(self):
        result = self.run("devices", "--json")
        found = json.loads(result.output)["devices"]
        self.devices = [device["device"] for device in found]
        self.has_textures = {device["device"]: device["has_textures"] for device in found}
        described = [" ".join(str(value) for value in device.values()).lower() for device in found]
        for required in filter(None, os.environ.get("ROPE2D_REQUIRE_DEVICES", "").split(",")):
            if required == "oclgrind":  # interprets kernels, too slowly for this; test_opencl answers for it
                continue
            self.check(f"required device {required}", any(required.lower() in text for text in described),
                       f"not among {self.devices}")

    def finish(self):
        if self.failed:
            print(f"kept for another look: {self.folder}")
        else:
            shutil.rmtree(self.folder)
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed or not self.passed else 0

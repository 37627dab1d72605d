# SPDX-License-Identifier: MIT
"""What strangers leave: files that are none, and what programs of --exec leave behind. Nothing hangs or crashes."""
import os
import shutil

LIMIT = 3  # seconds that anything here may take, on a slow machine


def test(runner, _verify, source):
    pipes(runner, source.resolve() / "tests" / "golden" / "lightglue")


def pipes(runner, golden):
    """Pipes that nobody writes to, in the place of each kind of file that is read."""
    pipe = runner.path("a pipe")
    os.mkfifo(pipe)
    run = ["verify", "--device", "cpu", "--case", "half f32:f32 buffer", "--in-process"]
    for name, options in (("--expect", [*run, "--expect", pipe]), ("--resume", [*run, "--json", pipe, "--resume"]),
                          ("report merge", ["report", "merge", pipe])):
        runner.expect(f"{name} of a pipe", options, 2, str(pipe), "is not a regular file", limit=LIMIT)
    for name in ("case.json", "q.npy", "freqs.npy"):
        case = runner.path(f"pipe as {name}")
        shutil.copytree(golden, case)
        (case / name).unlink()
        os.mkfifo(case / name)
        runner.expect(f"check of a case whose {name} is a pipe", ["check", case, "--device", "cpu"], 2,
                      f"{case / name}: is not a regular file", limit=LIMIT)
    for name, command in (("pipes", "mkfifo {out}/q_out.npy {out}/k_out.npy; : {case}"),
                          ("devices", "ln -s /dev/zero {out}/q_out.npy; ln -s /dev/zero {out}/k_out.npy; : {case}")):
        runner.expect(f"a program that leaves {name}", ["verify", "--exec", command, "--case", "half", "--cases", golden], 1,
                      "is not a regular file", "half f32:f32 buffer: failed: q_out.npy", limit=LIMIT)

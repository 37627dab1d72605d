# SPDX-License-Identifier: MIT
"""What strangers leave: files that are none, and what programs of --exec leave behind. Nothing hangs or crashes."""
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

import interrupted

LIMIT = 120  # seconds that anything here may take, on a slow machine


def test(runner, _verify, source):
    pipes(runner, source.resolve() / "tests" / "golden" / "lightglue")
    lines(runner)
    folders(runner)
    reader_gone(runner)
    errors_unread(runner)


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


def lines(runner):
    """A program has a time limit as a whole, whatever it writes and wherever, and ends as a whole."""
    for name, what in (("writes to descriptor 3", "echo >&3"), ("prints", "echo something; echo something >&2")):
        command = f"n=0; while [ $n -lt 60 ]; do {what}; sleep 0.5; n=$((n+1)); done; : {{case}} {{out}}"
        began = time.monotonic()
        runner.expect(f"a program that {name} has a time limit", ["verify", "--exec", command, "--case", "half", "--time-limit", "1"],
                      1, "no answer for 1 s", limit=LIMIT)
        runner.check(f"a program that {name} is ended in time", time.monotonic() - began < 20, time.monotonic() - began)
    runner.expect("a program has no descriptor 3", ["verify", "--exec", "echo >&3 || exit 5; : {case} {out}", "--case", "half"],
                  1, "exit status 5", limit=LIMIT)
    told = runner.path("background")
    for name, where in (("", ""), (" with ends of its own", " >/dev/null 2>&1 </dev/null")):
        command = f"sleep 300{where} & echo $! >>{shlex.quote(str(told))}; : {{case}} {{out}}"
        runner.expect(f"a program that leaves a process{name} is done", ["verify", "--exec", command, "--case", "half"], 1,
                      "q_out.npy is not there", limit=LIMIT)
        left = [process for process in told.read_text().split() if interrupted.is_alive(process)]
        runner.check(f"a process{name} that a program leaves is ended", not left, left)


# Folders in folders, beside files, links and names that removing might want; the links lead outside.
NESTED = """import os, sys
out, kept = sys.argv[1:]
for name in ("lifted-0", "lifted-1"):
    os.mkdir(os.path.join(out, name))
    open(os.path.join(out, name, "file"), "w").close()
open(os.path.join(out, "lifted-2"), "w").close()
os.symlink(kept, os.path.join(out, "link"))
os.chdir(out)
for i in range(3000):
    os.mkdir("a")
    if i % 100 == 0:
        os.mkdir("b")
        os.mkdir("b/c")
        os.symlink(kept, "b/c/link")
        os.symlink("nowhere", "b/link")
    os.chdir("a")
"""
LOCKED = "mkdir -p {out}/a/b && chmod 0 {out}/a; : {case}"


def folders(runner):
    program, kept, place = (runner.path(name) for name in ("nested.py", "kept", "for nested"))
    program.write_text(NESTED)
    for folder in (kept, place):
        folder.mkdir()
    (kept / "file").write_text("kept")
    once = f"mkdir {shlex.quote(str(runner.path('once')))} || exit 1"  # making them takes its time
    command = f"{once}; {shlex.join([sys.executable, str(program)])} {{out}} {shlex.quote(str(kept))}; : {{case}}"
    replaced = f"rmdir {{out}} && ln -s {shlex.quote(str(kept))} {{out}}; : {{case}}"
    moved = f"rm -r {{case}} && ln -s {shlex.quote(str(kept))} {{case}}; : {{out}}"
    os.environ["TMPDIR"] = str(place)
    for name, what in (("3,000 folders in one another", command), ("a link in the place of its folder", replaced),
                       ("a link in the place of the case", moved)):
        result = runner.expect(f"a program that leaves {name}", ["verify", "--exec", what, "--case", "half", "--cases",
                                                                 runner.golden / "lightglue"], 1, "q_out.npy", limit=LIMIT)
        runner.check(f"{name}: all is removed, and nothing else", not list(place.iterdir()) and "stays" not in result.errors
                     and (kept / "file").read_text() == "kept", list(place.iterdir()))
    locked(runner, place)
    del os.environ["TMPDIR"]


def locked(runner, place):
    """Somebody who may do anything finds nothing that stays."""
    before = (lambda: os.setuid(65534)) if os.getuid() == 0 else None
    runner.folder.chmod(0o755)
    place.chmod(0o777)
    try:
        usable = runner.run("--version", before=before).status == 0
    except (OSError, subprocess.SubprocessError):
        usable = False
    if not usable:
        runner.skip("a folder that stays", "nobody else can run the program")
        return
    result = runner.run("verify", "--exec", LOCKED, "--case", "half", before=before, limit=LIMIT)
    left = list(place.iterdir())
    runner.check("a folder that stays is named", result.status == 1 and left and all(
        f"{folder}: stays" in result.errors for folder in left), left)
    for folder in left:
        subprocess.run(["chmod", "-R", "u+rwx", folder], check=True)
        shutil.rmtree(folder)


def errors_unread(runner):
    """A message that nobody reads interrupts a run, and leaves no folder of its program's."""
    own_folder, page = runner.path("unread_tmp"), runner.path("unread_errors.html")
    own_folder.mkdir()
    end, own = os.pipe()
    os.close(end)
    done = subprocess.run([runner.program, "verify", "--exec", ": {case} {out}", "--case", "half", "--html", str(page)],
                          stdout=subprocess.PIPE, stderr=own, check=False, timeout=LIMIT,
                          env={**os.environ, "TMPDIR": str(own_folder)})
    os.close(own)
    runner.check("errors unread: it ends as the signal does", done.returncode == -signal.SIGPIPE, done.returncode)
    runner.check("errors unread: no folder stays", not list(own_folder.iterdir()), list(own_folder.iterdir()))
    runner.check("errors unread: the page says so", page.exists() and "interrupted: not every case was run" in page.read_text())


def reader_gone(runner):
    """Nobody reads what is printed: every file is whole, and the exit status tells."""
    files = {form: runner.path(f"unread.{form}") for form in ("json", "junit", "html")}
    bad = runner.path("bad cases")  # a line for each is more than any buffer holds
    for i in range(150):
        (bad / f"{i} {60 * 'x'}").mkdir(parents=True)
        (bad / f"{i} {60 * 'x'}" / "case.json").write_text("{")
    command = [runner.program, "verify", "--device", "cpu", "--case", "golden/*", "--cases", str(bad), "--in-process",
               *(str(word) for form, path in files.items() for word in (f"--{form}", path))]
    for name, is_ignored, status in (("SIGPIPE", False, -signal.SIGPIPE), ("an ignored SIGPIPE", True, 1)):
        end, own = os.pipe()
        os.close(end)
        done = subprocess.run(command, stdout=own, stderr=subprocess.PIPE, text=True, check=False, timeout=LIMIT,
                              restore_signals=not is_ignored)
        os.close(own)
        texts = {form: path.read_text() if path.exists() else "" for form, path in files.items()}
        runner.check(f"{name}: files are whole", '"complete":\ttrue' in texts["json"] and texts["junit"].endswith("</testsuites>\n")
                     and texts["html"].rstrip().endswith("</html>"), {form: text[-40:] for form, text in texts.items()})
        runner.check(f"{name}: the exit status tells", done.returncode == status
                     and (not is_ignored or "stdout: cannot be written" in done.stderr), (done.returncode, done.stderr))
        for path in files.values():
            path.unlink(missing_ok=True)

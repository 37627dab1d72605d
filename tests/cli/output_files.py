# SPDX-License-Identifier: MIT
"""Everything that the command line writes: a disk that is full, a folder that is not there or may not be written to, and
a place that is no file are errors that name the path, and nothing half written stays. No name in a shared folder can be
guessed, and nothing is written through a link that somebody else has put there."""
import importlib.util
import os
import resource
import shutil
import signal
import stat

import numpy as np

from runner import as_nobody

def no_large_files(limit=100):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def writers(runner):
    """What writes a file, and the arguments before its path."""
    np.save(runner.path("q.npy"), np.ones((1, 4, 2, 8), np.float32))
    runner.expect("a report", ["verify", "--device", "cpu", "--case", "half f32:f32*", "--json", "r.json"], 0)
    apply = ["apply", "--q", "q.npy", "--grid", "2x2", "--base", "100", "--device", "cpu", "--out-q"]
    verify = ["verify", "--device", "cpu", "--case", "half f32:f32*"]
    bench = ["bench", "--quick", "--device", "cpu", "--tower", "sam2", "--tokens", "64", "--element", "f32", "--pairing", "half",
             "--in-place", "yes", "--threads", "1", "--seconds", "1"]
    found = {"out.npy": apply, "out.json": [*verify, "--json"], "out.xml": [*verify, "--junit"],
             "out.html": [*verify, "--html"], "merged.json": ["report", "merge", "r.json", "--json"],
             "merged.html": ["report", "merge", "r.json", "--html"], "emitted": ["emit"], "bench.json": [*bench, "--json"]}
    if importlib.util.find_spec("matplotlib"):
        found["picture"] = ["plot", "angles", "--preset", "sam-2", "--folder"]
    else:
        runner.skip("pictures", "matplotlib is missing")
    return found


FOLDERS = ("emitted", "picture")


def leftovers(runner, folder):
    return [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]


def check_failures(runner, name, command):
    """The commands fail with 2 and the path, and leave an older file as it was."""
    full = runner.path("full")
    full.mkdir()
    target = full / name
    if name not in FOLDERS:
        target.write_text("old")
    before = leftovers(runner, full)
    runner.expect(f"{name}: no room", [*command, target], 2, str(target), "File too large",
                  before=lambda: no_large_files(20000 if name == "picture" else 100))  # its numbers fit
    runner.check(f"{name}: no room: nothing half written", leftovers(runner, full) == before, leftovers(runner, full))
    if name not in FOLDERS:
        runner.check(f"{name}: no room: the old one stays", target.read_text() == "old")
        runner.expect(f"{name}: no folder", [*command, full / "none" / name], 2, str(full / "none" / name), "No such file")
        runner.expect(f"{name}: a device", [*command, "/dev/full"], 2, "/dev/full", "not a regular file")
        runner.check(f"{name}: a device stays one", stat.S_ISCHR(os.stat("/dev/full").st_mode))
        target.unlink()
    else:
        runner.path("a_file").write_text("")
        runner.expect(f"{name}: no folder", [*command, runner.path("a_file")], 2, str(runner.path("a_file")))
    check_read_only(runner, name, command, target)
    full.chmod(0o755)
    shutil.rmtree(full)


def check_read_only(runner, name, command, target):
    os.chmod(runner.folder, 0o755)
    os.chmod(target.parent, 0o555)
    runner.expect(f"{name}: read-only", [*command, target], 2, str(target), "Permission denied", before=as_nobody)
    runner.check(f"{name}: read-only: nothing", leftovers(runner, target.parent) == [])


def check_links(runner):
    """Somebody else's links in a shared folder, under the names that process numbers would give: none is followed."""
    shared = runner.path("shared")
    shared.mkdir()
    victim = runner.path("victim")
    victim.write_text("precious")
    command = ["report", "merge", "r.json", "--json", shared / "merged.json"]

    def plant():  # in the child: its number is known to nobody better
        for suffix in (f".{os.getpid()}.part", ".part", ".tmp", ""):
            os.symlink(victim, shared / f"merged.json{suffix}")

    runner.expect("links", command, 0, before=plant)
    runner.check("links: the victim stays", victim.read_text() == "precious")
    runner.check("links: the name is a file now", not (shared / "merged.json").is_symlink())
    mode = stat.S_IMODE((shared / "merged.json").stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    runner.check("rights are those of any new file", mode == 0o666 & ~mask, oct(mode))


def check_same(runner):
    """Two outputs, or an output and what another option reads, on one path: refused before anything is done."""
    np.save(runner.path("k.npy"), np.ones((1, 4, 2, 8), np.float32))
    np.save(runner.path("positions.npy"), np.zeros((4, 2), np.float32))
    os.link(runner.path("k.npy"), runner.path("k_linked.npy"))
    (runner.path("expect.json")).write_text("[]")
    (runner.path("inside")).mkdir()
    apply = ["apply", "--q", "q.npy", "--k", "k.npy", "--base", "100", "--device", "cpu"]
    grid = [*apply, "--grid", "2x2"]
    verify = ["verify", "--device", "cpu", "--full"]
    merge = ["report", "merge", "r.json"]
    cases = {"two outputs of verify": ([*verify, "--json", "s", "--html", "./s"], "--html ./s: is the file that --json writes"),
             "two more": ([*verify, "--junit", "s", "--html", "inside/../s"], "is the file that --junit writes"),
             "what --expect reads": ([*verify, "--expect", "expect.json", "--junit", "expect.json"], "that --expect reads"),
             "a report that is merged": ([*merge, "--json", "r.json"], "--json r.json: is the file that merge reads"),
             "two outputs of merge": ([*merge, "--json", "m", "--html", "m"], "--html m: is the file that --json writes"),
             "two outputs of bench": (["bench", "--json", "s.svg", "--plot", "s.svg"], "--plot s.svg: is the file that --json"),
             "k as q's output": ([*grid, "--out-q", "k.npy"], "--out-q k.npy: is the file that --k reads"),
             "k as q's output, linked": ([*grid, "--out-q", "k_linked.npy"], "is the file that --k reads"),
             "positions as k's output": ([*apply, "--positions", "positions.npy", "--out-k", "positions.npy"],
                                         "is the file that --positions reads"),
             "q and k on one": ([*grid, "--out-q", "s.npy", "--out-k", "s.npy"], "is the file that --out-q writes")}
    before = {name: runner.path(name).read_bytes() for name in runner.names() if runner.path(name).is_file()}
    for name, (command, text) in cases.items():
        runner.expect(f"one path: {name}", command, 2, text)
    after = {name: runner.path(name).read_bytes() for name in runner.names() if runner.path(name).is_file()}
    runner.check("one path: nothing is written", before == after, sorted(after))
    runner.expect("a tensor's result in its own place", [*grid, "--out-q", "q.npy", "--out-k", "k.npy"], 0)
    runner.expect("a merged report", [*merge, "--json", "m.json"], 0)
    runner.expect("a merged report again", ["report", "merge", "m.json"], 2, "m.json: is merged")
    runner.expect("no folder, told before the work", [*verify, "--html", "none/page.html"], 2, "none/page.html", "No such file")


def check_stdout(runner):
    for arguments in (["--help"], ["devices", "--json"], ["presets"], ["emit", "--list"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            runner.expect(f"stdout is full: {arguments[0]}", arguments, 2, "stdout: cannot be written",
                          before=lambda: os.dup2(full.fileno(), 1))


def test(runner):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and so would what it starts
    for name, command in writers(runner).items():
        check_failures(runner, name, command)
    check_links(runner)
    check_same(runner)
    check_stdout(runner)

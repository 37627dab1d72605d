# SPDX-License-Identifier: MIT
"""Golden folders of --cases: names, shapes, repetition; and reports and lists that are more than they should be."""
import json
import shlex
import shutil
import struct
import sys

from runner import as_nobody

# A program that gives what the folder has recorded, and does what its first argument says with it.
COPIER = """import pathlib, struct, sys
how, count, case, out = sys.argv[1:]
calls = pathlib.Path(count)
called = len(calls.read_text()) if calls.exists() else 0
for name in ("q_out.npy", "k_out.npy"):
    data = (pathlib.Path(case) / name).read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    if how == "flat":
        text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({(len(data) - 10 - length) // 4},), }}"
        data = data[:10] + text.ljust(length - 1).encode() + b"\\n" + data[10 + length:]
    if how == "flaky" and called == 1:
        data = data[:-4] + bytes([data[-4] ^ 1]) + data[-3:]
    if how == "leaves" and called == 1:
        sys.exit("no more")
    (pathlib.Path(out) / name).write_bytes(data)
calls.write_text("x" * (called + 1))
"""


def test(runner, verify, _source):
    cut(runner, verify)
    words(runner, verify)
    programs(runner)
    shifted(runner)
    unseen(runner)
    more(runner, verify)
    foreign(runner, verify)
    readable(runner)


def spoil(path):
    path.write_bytes(path.read_bytes()[:-4] + struct.pack("<f", 1e9))


def verdicts(report):
    return [(one["name"].rsplit(" ", 2)[0], one["verdict"]) for one in report["devices"][0]["results"]]


def cut(runner, verify):
    """Names that are equal as far as they are kept: a folder does not get the verdict of another."""
    folder = runner.path("cut")
    # The third is no name where names are UTF-8, as on macOS.
    names = [b"a" * 85 + b"1", b"a" * 85 + b"2", b"b" if sys.platform == "darwin" else b"b\xff", b"b?", b"c~",
             b"d" * 79 + "\u00e9".encode()]
    for name in names:
        shutil.copytree(runner.golden / "su_canonical", folder / name.decode(errors="surrogateescape"))
    wrong = [names[1], names[3]]
    for name in wrong:
        spoil(folder / name.decode() / "q_out.npy")
    options = ["--cases", folder, "--case", "golden/*"]
    first, report = verify(runner, *options, name="cut.json")
    got = verdicts(report)
    runner.check("every folder has a name of its own", first.status == 1 and len({name for name, _ in got}) == len(names)
                 and [verdict for _, verdict in got].count("failed") == 2, got)
    again, resumed = verify(runner, *options, "--resume", name="cut.json")
    runner.check("--resume gives no folder another's verdict", again.status == 1 and verdicts(resumed) == got, verdicts(resumed))
    for one in report["devices"][0]["results"]:
        one["text"] = "from before"
    runner.path("cut.json").write_text(json.dumps(report))
    _, resumed = verify(runner, *options, "--resume", name="cut.json")
    runner.check("and runs none again", [one["text"] for one in resumed["devices"][0]["results"]] == ["from before"] * len(names))


def words(runner, verify):
    """Names of several words, and of words that mean something in other names."""
    folder = runner.path("words")
    for name, case in (("my model a", "su_canonical"), ("my model b", "dinov3"), ("my f32:f32 buffer minimum-limits", "flux1")):
        shutil.copytree(runner.golden / case, folder / name)
    options = ["--cases", folder, "--case", "golden/my *"]
    result, report = verify(runner, *options)
    device = report["devices"][0]
    runner.check("folders with blanks in their names are not compared with one another", result.status == 0
                 and len(device["results"]) == 3 and device["variations"]["compared"] == 0 and not device["variations"]["other_bits"], device["variations"])
    found = [one["device"] for one in json.loads(runner.run("devices", "--json").output)["devices"] if one["has_textures"]]
    if not found:
        runner.skip("golden folders in textures", "there is no device with textures")
        return
    result, report = verify(runner, *options, device=found[-1], name="textures.json")
    device = report["devices"][0]
    runner.check("but each with itself in a texture", result.status == 0 and len(device["results"]) == 6
                 and device["variations"]["compared"] == 3 and not device["variations"]["other_bits"], device["variations"])


def programs(runner):
    """A program's outputs have the inputs' shapes, and are the same each time."""
    script = runner.path("copier.py")
    script.write_text(COPIER)
    for how, repeat, calls, verdict, text in (
            ("plain", 3, 3, "passed", "within"), ("flat", 1, 1, "failed", "q_out.npy does not have the shape of q.npy"),
            ("flaky", 3, 2, "non-repeatable", "run 2 of 3: other bits than the first"),
            ("leaves", 3, 1, "non-repeatable", "run 2 of 3: "), ("flaky", 1, 1, "passed", "within")):
        count, path = runner.path(f"{how}{repeat}.calls"), runner.path(f"{how}{repeat}.json")
        command = shlex.join([sys.executable, str(script), how, str(count)]) + " {case} {out}"
        runner.run("verify", "--exec", command, "--cases", runner.golden / "su_canonical", "--case", "golden/*", "--repeat", repeat,
                   "--json", path)
        one = json.loads(path.read_text())["devices"][0]["results"][0]
        runner.check(f"a golden case, {how}, --repeat {repeat}", len(count.read_text()) == calls and one["verdict"] == verdict
                     and text in one["text"], (one, count.read_text()))
    runner.expect("golden cases are repeated on a device", ["verify", "--device", "cpu", "--cases", runner.golden / "su_canonical",
                                                            "--case", "golden/*", "--repeat", "3"], 0, "1 passed")


def more(runner, verify):
    """JSON with something behind it is none."""
    entry = [{"device": "cpu", "case": "half", "reason": "to see"}]
    few = ["--device", "cpu", "--case", "half f32:f32 buffer"]
    verify(runner, *few[2:])
    report = runner.path("report.json").read_text()
    case = runner.path("more")
    for name, behind, status in (("another list", " []", 2), ("anything", "\nGARBAGE", 2), ("a zero byte", "\0", 2),
                                 ("white space", " \t\r\n\n", 0)):
        for what, text, options in (("known", json.dumps(entry), ["verify", *few, "--expect"]),
                                    ("merged", report, ["report", "merge"]),
                                    ("resumed", report, ["verify", *few, "--resume", "--json"])):
            path = runner.path(f"{what}.json")
            path.write_bytes((text + behind).encode())
            runner.expect(f"{name} behind what is {what}", [*options, path], status, *[f"{path}: is not JSON"] * (status == 2))
        shutil.rmtree(case, ignore_errors=True)
        shutil.copytree(runner.golden / "su_canonical", case)
        with open(case / "case.json", "ab") as file:
            file.write(behind.encode())
        runner.expect(f"{name} behind case.json", ["check", case, "--device", "cpu"], status, *["is not JSON at"] * (status == 2))


def shifted(runner):
    """A folder that comes or goes while cases run does not give its verdict to another."""
    folder, script = runner.path("shifted"), runner.path("copier.py")
    for name in ("a", "b", "c"):
        shutil.copytree(runner.golden / "su_canonical", folder / name)
    spoil(folder / "b" / "q_out.npy")
    shutil.copytree(runner.golden / "su_canonical", runner.path("later"))
    command = "; ".join((shlex.join(["mv", "-T", str(runner.path("later")), str(folder / "0")]), shlex.join(["rm", "-rf", str(folder / "c")]),
                         shlex.join([sys.executable, str(script), "plain", str(runner.path("shifted.calls"))]) + " {case} {out}"))
    runner.run("verify", "--exec", command, "--cases", folder, "--case", "golden/*", "--json", "shifted.json")
    got = [(one["name"].split()[0], one["verdict"], one["text"]) for one in
           json.loads(runner.path("shifted.json").read_text())["devices"][0]["results"]]
    runner.check("folders that come and go", [one[:2] for one in got] == [("golden/a", "passed"), ("golden/b", "failed"),
                                                                         ("golden/c", "failed")]
                 and got[2][2] == "the folder of cases does not have it any more", got)


def unseen(runner):
    """What cannot be looked into fails, and is not left out."""
    folder = runner.path("unseen")
    for name in ("good", "closed"):
        shutil.copytree(runner.golden / "su_canonical", folder / name)
    options = ["verify", "--device", "cpu", "--cases", folder, "--case", "golden/*"]
    runner.folder.chmod(0o755)
    (folder / "closed").chmod(0)
    runner.expect("a folder that may not be entered", options, 1, "golden/closed f32:f32 buffer: failed", "1 passed, 1 failed",
                  before=as_nobody)
    shutil.rmtree(folder / "closed")
    (folder / "link").mkdir()
    (folder / "link" / "case.json").symlink_to("nowhere")
    (folder / "README").write_text("is none")
    runner.expect("a case.json that is a link to nothing", options, 1, "golden/link f32:f32 buffer: failed", "1 passed, 1 failed")


def foreign(runner, verify):
    """A report to go on from with devices that are not here."""
    options = ["--case", "half f32:f32 buffer", "--quick"]
    _, report = verify(runner, *options, name="foreign.json")
    path = runner.path("foreign.json")
    own = report["devices"][0]
    strange = [{**own, "device": f"strange:{number}"} for number in range(255)]
    bare = [{"device": f"strange:{number}"} for number in range(100000)]

    def resume(devices):
        path.write_text(json.dumps({**report, "devices": devices}))
        return runner.run("verify", "--device", "cpu", *options, "--resume", "--json", path, limit=60)
    runner.check("many devices are gone on from", resume([own, *strange]).status == 0
                 and len(json.loads(path.read_text())["devices"]) == 256)
    runner.check("one that has nothing fails", resume([own, bare[0]]).status == 1
                 and "FAIL strange:0: no case was executed" in runner.last.output)
    refused = resume([own, *bare])
    runner.check("too many are refused", refused.status == 2 and "has 100001 devices: must be at most 256" in refused.errors)


def readable(runner):
    """A file that is there but cannot be read is not written anew."""
    path = runner.path("circle.json")
    path.symlink_to("circle.json")
    runner.expect("a link to itself is not taken as missing", ["verify", "--device", "cpu", "--case", "half f32:f32 buffer", "--json",
                                                               path, "--resume"], 2, "circle.json: ")
    runner.check("and stays", path.is_symlink())

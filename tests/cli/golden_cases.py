# SPDX-License-Identifier: MIT
"""rope2d check and demo: every golden case on every device, and cases that must fail."""
import json
import os
import re
import shlex
import shutil
import subprocess

import numpy as np

from runner import as_nobody

# Recorded outputs in fp32 are followed this closely when the angle is formed in fp32.
FP32_LIMIT = 4e-6
LINE = re.compile(r"^ok   (\S+) +(\S+) +(\S+) +within (\S+) of")


def last_counts(result):
    found = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", result.output.rstrip().split("\n")[-1])
    return tuple(map(int, found.groups())) if found else None


def check_all(runner):
    folders = sorted(path.parent for path in runner.golden.glob("*/case.json"))
    is_fp32 = {folder.name: json.loads((folder / "case.json").read_text())["io_dtype"] == "float32"
               for folder in folders}
    for device in runner.devices:
        chosen = folders[::5] if runner.is_quick and device != "cpu:0" else folders
        result = runner.expect(f"golden on {device}", ["check", *chosen, "--device", device, "--tables"], 0)
        expected = len(chosen) * (2 if runner.has_textures[device] else 1)
        runner.check(f"golden on {device}: counts", last_counts(result) == (expected, 0, 0), str(last_counts(result)))
        for line in filter(None, map(LINE.match, result.output.splitlines())):
            name, where, table, largest = line.groups()
            if is_fp32[name]:
                runner.check(f"{name} on {where} {table}", float(largest) <= FP32_LIMIT,
                             f"{largest} from what was recorded, above {FP32_LIMIT}")
    twice = runner.expect("a device named twice", ["check", runner.golden / "dinov3", "--device", "cpu,cpu:0"], 0)
    once = runner.expect("named once", ["check", runner.golden / "dinov3", "--device", "cpu"], 0)
    runner.check("a device named twice runs once", twice.output == once.output, twice.output)
    result = runner.expect("a folder of cases", ["check", runner.golden], 0)
    runner.check("a folder of cases: all of them", last_counts(result) == (len(folders), 0, 0), str(last_counts(result)))


def copied(runner, name, case="su_canonical"):
    folder = runner.path(name)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(runner.golden / case, folder)
    return folder


def edit_array(folder, name, edit):
    array = np.ascontiguousarray(np.load(folder / name))
    np.save(folder / name, edit(array))


def edit_json(folder, edit):
    case = json.loads((folder / "case.json").read_text())
    edit(case)
    (folder / "case.json").write_text(json.dumps(case))


def one_element(array):
    array.flat[17] += np.float32(0.01)
    return array


def infinite(array):
    array.flat[0] = np.inf
    return array


def half_split(case):
    pairs = len(case["pair_lo"])
    case["pair_lo"], case["pair_hi"] = list(range(pairs)), list(range(pairs, 2 * pairs))


def check_wrong_conventions(runner):
    """What a user gets wrong must be seen, and the line that is printed must show it again."""
    edits = {
        "one element": lambda folder: edit_array(folder, "q_out.npy", one_element),
        "one element of k": lambda folder: edit_array(folder, "k_out.npy", one_element),
        "sign": lambda folder: edit_array(folder, "freqs.npy", lambda freqs: -freqs),
        "axes swapped": lambda folder: edit_array(folder, "positions.npy", lambda p: np.ascontiguousarray(p[:, ::-1])),
        "pairing": lambda folder: edit_json(folder, half_split),
        "NaN": lambda folder: edit_array(folder, "q_out.npy", lambda q: q * np.float32("nan")),
    }
    for name, edit in edits.items():
        folder = copied(runner, "wrong")
        edit(folder)
        result = runner.expect(f"wrong {name}", ["check", "wrong"], 1, "FAIL wrong", "what was recorded", "batch 0, token")
        runner.check(f"wrong {name}: counted", last_counts(result) == (0, 1, 0), str(last_counts(result)))
        lines = [line.strip() for line in result.output.splitlines() if line.startswith("     rope2d check ")]
        if runner.check(f"wrong {name}: a line that repeats it", len(lines) == 1, result.output):
            again = runner.run(*shlex.split(lines[0])[1:])
            runner.check(f"wrong {name}: repeated", again.status == 1, lines[0])


def check_bad_cases(runner):
    edits = [
        ("no JSON", 2, "is not JSON", lambda f: (f / "case.json").write_text("{'a': 1}")),
        ("not an object", 2, "one JSON object", lambda f: (f / "case.json").write_text("[]")),
        ("layout", 2, "layout must be", lambda f: edit_json(f, lambda c: c.update(layout="NHWC"))),
        ("no heads", 2, "heads_q must be", lambda f: edit_json(f, lambda c: c.pop("heads_q"))),
        ("other heads", 2, "has 2 heads: must be 3", lambda f: edit_json(f, lambda c: c.update(heads_k=3))),
        ("fraction", 2, "head_dim must be", lambda f: edit_json(f, lambda c: c.update(head_dim=64.5))),
        ("other head_dim", 2, "head_dim's 32", lambda f: edit_json(f, lambda c: c.update(head_dim=32))),
        ("zero axes", 2, "n_axes is 0", lambda f: edit_json(f, lambda c: c.update(n_axes=0))),
        ("negative channel", 2, "pair_lo must be", lambda f: edit_json(f, lambda c: c["pair_lo"].__setitem__(0, -1))),
        ("pairs differ", 2, "as long as pair_lo", lambda f: edit_json(f, lambda c: c["pair_hi"].pop())),
        ("range", 2, "unrotated_tokens must be", lambda f: edit_json(f, lambda c: c.update(unrotated_tokens=[[3, 1]]))),
        ("no tolerance", 2, "verify.tolerance", lambda f: edit_json(f, lambda c: c["verify"].pop("tolerance"))),
        ("no q", 2, "NPY_ERROR_OPEN", lambda f: (f / "q.npy").unlink()),
        ("q truncated", 2, "NPY_ERROR_TRUNCATED", lambda f: (f / "q.npy").write_bytes((f / "q.npy").read_bytes()[:-4])),
        ("recorded shape", 2, "must have the shape of q.npy", lambda f: edit_array(f, "q_out.npy", lambda q: q[:, :1])),
        ("positions' shape", 2, "positions.npy: shape", lambda f: edit_array(f, "positions.npy", lambda p: p[:-1])),
        ("freqs' shape", 2, "freqs.npy: shape", lambda f: edit_array(f, "freqs.npy", lambda p: p[..., :-1])),
        ("channel twice", 2, "ROPE2D_ERROR_PAIRING",
         lambda f: edit_json(f, lambda c: c["pair_lo"].__setitem__(0, c["pair_hi"][0]))),
        ("infinite frequency", 2, "ROPE2D_ERROR_FREQUENCY",
         lambda f: edit_array(f, "freqs.npy", infinite)),
    ]
    for name, status, text, edit in edits:
        edit(copied(runner, "bad"))
        result = runner.expect(f"bad case: {name}", ["check", "bad", runner.golden / "dinov3"], status, text, "ok   dinov3")
        runner.check(f"bad case: {name}: counted", last_counts(result) == (1, 1, 0), str(last_counts(result)))
    runner.path("empty").mkdir()
    large = runner.path("large")
    large.mkdir()
    with open(large / "case.json", "wb") as file:
        file.truncate((16 << 20) + 1)
    runner.expect("a large case", ["check", large], 2, "must have at most 16777216 bytes")
    runner.expect("no case", ["check", "empty"], 2, "holds no case.json")


def check_unseen(runner):
    """What cannot be looked into is no folder without a case."""
    folder = runner.path("unseen")
    for name in ("good", "closed"):
        copied(runner, f"unseen/{name}")
    runner.folder.chmod(0o755)
    (folder / "closed").chmod(0)
    runner.expect("a folder that may not be entered", ["check", folder], 2, "ok   good", "FAIL closed", "1 passed, 1 failed",
                  f"{folder}/closed/case.json: Permission denied", before=as_nobody)
    shutil.rmtree(folder / "closed")
    (folder / "link").mkdir()
    (folder / "link" / "case.json").symlink_to("nowhere")
    (folder / "gone").symlink_to("nowhere")
    (folder / "README").write_text("is none")
    (folder / "empty").mkdir()
    runner.expect("links that lead nowhere", ["check", folder], 2, "ok   good", "FAIL link", "FAIL gone", "1 passed, 2 failed",
                  f"{folder}/link/case.json: No such file")


def check_loud_names(runner):
    """A folder's name neither speaks to the terminal, nor makes lines, nor is a command in the line that repeats a failure."""
    folder = copied(runner, "evil\x1b[31mX")
    shown = runner.expect("loud: agrees", ["check", folder.name], 0, "ok   evil?[31mX").output
    edit_array(folder, "q_out.npy", one_element)
    shown += runner.expect("loud: fails", ["check", folder.name], 1, "FAIL evil?[31mX", "rope2d check 'evil?[31mX' ").output
    (folder / "q.npy").unlink()
    result = runner.expect("loud: cannot be read", ["check", folder.name], 2, "FAIL evil?[31mX")
    forged = os.fsdecode(b"x\nok   forged cpu:0 \x9b1m\xe2\x82 \xc2\x9b1m \xe2\x82\xac")
    runner.expect("loud: no line and no byte that is no text", ["check", copied(runner, forged).name], 0,
                  "ok   x?ok   forged cpu:0 ?1m?? ??1m \u20ac cpu:0 ")
    runner.check("loud: lines are ours", [line[:6] for line in runner.last.output.splitlines()] == ["      ", "ok   x", "1 passe"[:6]],
                 repr(runner.last.output))
    runner.expect("loud: nor in an error", ["check", "x\nrope2d: forged"], 2, "rope2d: x?rope2d: forged: ")
    folder = copied(runner, "c;touch pwned;'x'")
    edit_array(folder, "q_out.npy", one_element)
    result = runner.expect("loud: a command for a name", ["check", folder.name], 1)
    line = next(one for one in result.output.splitlines() if one.startswith("     rope2d check "))
    runner.check("loud: it is quoted", shlex.split(line)[2] == folder.name, line)
    again = subprocess.run(["sh", "-c", "rope2d() { " + shlex.quote(runner.program) + ' "$@"; }; ' + line], cwd=runner.folder,
                           capture_output=True, text=True, check=False)
    runner.check("loud: and repeats the failure, and no more", again.returncode == 1 and "FAIL c;touch" in again.stdout
                 and "pwned" not in runner.names(), again)
    runner.check("loud: nothing but text is printed", "\x1b" not in shown + result.output + result.errors, repr(shown))


def check_demo(runner):
    small = ["--grid", "6x8", "--heads", "3", "--runs", "1"]
    folder = runner.golden / "qwen2vl_vision"
    for device in runner.devices:
        runner.expect(f"demo on {device}", ["demo", folder, *small, "--device", device], 0, device, "agrees", "equal",
                      "plain copy", "Every device agreed")
    runner.expect("demo on all", ["demo", folder, *small], 0, *runner.devices)
    wrong = copied(runner, "wrong", "qwen2vl_vision")
    edit_array(wrong, "q_out.npy", one_element)
    runner.expect("demo that disagrees", ["demo", wrong, *small, "--device", "cpu"], 1, "DISAGREES", "Not every device")
    runner.expect("demo with odd blocks", ["demo", folder, "--grid", "7x8"], 2, "multiple", "blocks of 2")
    runner.expect("demo of three axes", ["demo", runner.golden / "flux1", *small], 2, "2 axes")


def test(runner):
    check_all(runner)
    check_wrong_conventions(runner)
    check_bad_cases(runner)
    check_unseen(runner)
    check_loud_names(runner)
    check_demo(runner)

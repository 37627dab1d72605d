#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: seeds.py PROGRAM: reports that the program rope2d writes, cut short, as seeds for `report` and `resume`.

Of each list a few entries stay; for `resume` what the target itself puts in goes. Written anew when the form of
reports changes.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent / "seeds"
ENTRIES, ROWS, COLUMNS = 3, 2, 4
COPIES = "cp {case}/q.npy {out}/q_out.npy && cp {case}/k.npy {out}/k_out.npy"  # turns nothing: other bits
EXPECTED = [{"device": "cpu", "case": "half*", "reason": "it passes", "driver_from": "1.2", "driver_to": "99.0.1"},
            {"device": "cpu:0", "case": "*e*p*l*c*t f32*", "reason": "none of this name was run"},
            {"device": "exec", "case": "half*,interleaved f32:f32 buffer", "reason": "it turns nothing"}]
EXPECTS, IS_NEW, IS_FOREIGN, COMPILES, REQUIRES = 1, 2, 4, 8, 16  # fuzz_resume.c; as letters, from '@'


def verify(program, *options):
    """A report, from a folder of its own, whatever its verdict."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "e.json").write_text(json.dumps(EXPECTED))
        subprocess.run([program, "verify", "--quick", *options, "--json", "r.json"], cwd=folder, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads((path / "r.json").read_text())


def cut(value, key=""):
    if isinstance(value, dict):
        return {name: cut(one, name) for name, one in value.items()}
    if isinstance(value, list):
        most = {"rows": ROWS, "": COLUMNS}.get(key, ENTRIES)
        return [cut(one) for one in value[::max(1, len(value) // most)][:most]]
    return "Linux x86_64" if key == "system" else value


def for_resume(report):
    """Without what the target puts in; the devices are the CPU, since it looks for no other."""
    report = {key: value for key, value in report.items() if key not in ("build", "options", "sources", "complete")}
    report["devices"] = [{"device": "cpu:0"} | {key: value for key, value in device.items()
                                                if key not in ("device", "name", "driver", "limits", "outputs")}
                         for device in report["devices"]]
    return report


def text_of(value):
    return json.dumps(value, separators=(",", ":")).encode()


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    cpu = ["--device", "cpu", "--case", "half f32*,half bf16*,signed_zeros*"]
    reports = {
        "cpu": verify(program, *cpu),
        "expected": verify(program, *cpu, "--expect", "e.json", "--require", "cpu:100"),
        "other_bits": verify(program, "--case", "half,interleaved", "--exec", COPIES, "--expect", "e.json"),
        "no_outputs": verify(program, "--case", "half", "--exec", "true {case} {out}"),
        "compiled": verify(program, "--compile-only"),
    }
    kinds = {"cpu": 0, "expected": EXPECTS | REQUIRES, "other_bits": EXPECTS, "no_outputs": 0, "compiled": COMPILES}
    for target in "report", "resume":
        (FOLDER / target).mkdir(parents=True, exist_ok=True)
    for name, report in reports.items():
        report = cut(report)
        (FOLDER / "report" / f"{name}.json").write_bytes(text_of(report))
        (FOLDER / "resume" / name).write_bytes(bytes([ord("@") + kinds[name]]) + text_of(EXPECTED) + b"\0" +
                                               text_of(for_resume(report)))
    whole = text_of(cut(reports["cpu"]))
    (FOLDER / "resume/foreign").write_bytes(bytes([ord("@") + IS_FOREIGN]) + b"[]\0" + whole)
    (FOLDER / "resume/stale").write_bytes(bytes([ord("@") + EXPECTS + IS_NEW]) + text_of(EXPECTED))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Kernels for hardware that is not here (--compile): what is read in machine code, what the report says, and that a
kernel which fuses, or does not compile, fails it."""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys

import interrupted
import outputs

# What a listing may hold, and what it counts as: (dialect, line, fused, mixed).
LINES = (
    ("amd", "\tv_fma_f32 v0, v1, v2, v3", 1, 0), ("amd", "\tv_fmac_f32_e32 v0, v1, v2", 1, 0),
    ("amd", "  v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", 1, 0), ("amd", "\tv_fma_mixlo_f16 v0, v1, v2, v3", 1, 1),
    ("amd", "\tv_mad_mixlo_f16 v0, v1, v2, v3", 0, 1), ("amd", "\tv_dot2_f32_f16 v0, v1, v2, v3", 1, 1),
    ("amd", "\tv_mad_u32_u24 v0, v1, v2, v3", 0, 0), ("amd", "\tv_mul_f32_e32 v0, v1, v2 ; v_fma_f32", 0, 0),
    ("amd", "\tv_mad_f32 v0, v1, v2, v3", 0, 0),
    ("ptx", "\tfma.rn.f32 \t%f1, %f2, %f3, %f4;", 1, 0), ("ptx", "@%p1 mul.f32 %f1, %f2, %f3;", 1, 0),
    ("ptx", "\tadd.ftz.f32 \t%f1, %f2, %f3;", 1, 0), ("ptx", "\tadd.rn.f32 \t%f1, %f2, %f3;", 0, 0),
    ("ptx", "\tmad.lo.s32 \t%r1, %r2, %r3, %r4;", 0, 0), ("ptx", "\tadd.rn.f32.f16 \t%f1, %h2, %f3;", 0, 1),
    ("intel", "        mad (16|M0)  r1.0<1>:f  r2.0<1;0>:f r3.0<1;0>:f r4.0<1>:f {Compacted} // $1", 1, 0),
    ("intel", "(W)     mad (1|M0)   r1.2<1>:ud r2.2<0;0>:ud r3.0<0;0>:uw 0x60:uw {I@1} // $2", 0, 0),
    ("intel", "(~f0.1) add (16|M0)  r1.0<1>:hf r2.0<1;0>:f r3.0<1;0>:f // $3", 0, 1),
    ("intel", "        mov (8|M0)   r8.0<1>:hf r28.0<1;1,0>:f // $4", 0, 0),
)

# A rope2d whose OpenCL kernels were meddled with.
MEDDLER = """#!/bin/sh
if [ "$1" = emit ]; then {program} emit "$2" && sed -i 's/{old}/{new}/' "$2/opencl/rope2d.cl"; else exec {program} "$@"; fi
"""


def tool_folder(source):
    return source.resolve() / "tools" / "compile"


def test(runner, verify, source):
    listings(runner, source)
    emitted = runner.path("emitted")
    runner.run("emit", emitted)
    if not (emitted / "spirv").exists() or not (emitted / "opencl").exists():
        runner.skip("compiled kernels", "built without Vulkan or without OpenCL")
        return
    reported(runner, verify, source)
    missing(runner, verify)
    pythonless(runner, source)
    ended(runner)
    meddled(runner, source)
    for option, value in (("--device", "cpu"), ("--case", "half"), ("--cases", runner.golden), ("--repeat", "1")):
        runner.expect(f"--compile-only with {option}", ["verify", "--compile-only", "--quick", option, value], 2, "runs nothing")


def listings(runner, source):
    sys.path.insert(0, str(tool_folder(source)))
    import machine_code
    count = {"amd": machine_code.count_amd, "ptx": machine_code.count_ptx, "intel": machine_code.count_intel}
    wrong = [(line, found) for dialect, line, fused, mixed in LINES if (found := count[dialect](f"{line}\n")) and
             (found["instructions"], found["fused"], found["mixed"]) != (1, fused, mixed)]
    runner.check("instructions are told apart", not wrong, wrong)
    divisions(runner, count["intel"], (source / "tests/verify/intel_division.txt").read_text())


def divisions(runner, count, listing):
    """Divisions of integers that the compiler made are none of the kernel's, and excuse nothing beside them."""
    found = count(listing)
    runner.check("a division of integers is told", (found["fused"], found.get("of_division")) == (0, 11), found)
    rotation = "        mad (16|M0) r46.0<1>:f -acc2.0<1;0>:f r16.0<1;0>:f r86.0<1>:f\n"
    for what, text, fused in (("a rotation after it", listing + rotation, 1),
                              ("a rotation before it", rotation + listing, 1),
                              ("a sum in the place of a difference", re.sub(r"-(r2\.0<1>)", r"\1", listing), 1),
                              ("a factor that is no quotient", re.sub(r"(mov .* r46\.0<1>:f +r42\.0<1;1,0>):ud", r"\1:f", listing), 2),
                              ("another constant", listing.replace("0xB4C00000", "0x3F800000"), 11),
                              ("a reciprocal of something else", listing.replace("r14.1<0;1,0>:ud", "r14.1<0;1,0>:f"), 5),
                              ("a divisor that is read anew", re.sub(r"(.* mad .*-r2\.0<0>.*\n)", r"send (16|M0) r2 r9 // rd:1\n\1",
                                                                    listing, count=1), 2)):
        found = count(text)
        runner.check(f"{what} is a fusion", found["fused"] == fused, found)


def reported(runner, verify, source):
    result = runner.run("verify", "--compile-only", "--quick", "--json", runner.path("compiled.json"), "--html",
                        runner.path("compiled.html"), "--junit", runner.path("compiled.xml"))
    report = json.loads(runner.path("compiled.json").read_text())
    compiled = report["compiled"]
    if not compiled["results"]:
        runner.skip("compiled kernels", "none of the compilers is here")
        return
    runner.check("kernels compile", result.status == 0 and report["passed"] and report["devices"] == [], result.output)
    runner.check("and are never called passed", {one["verdict"] for one in compiled["results"]} == {"compiled"}
                 and result.output.splitlines()[-1] == "0 passed, 0 failed, 0 skipped")
    runner.check("registers, spills and instructions are shown", all(
        one["instructions"] > 50 and one["fused"] == one["mixed"] == 0 for one in compiled["results"]) and all(
        one["registers"] > 0 and one["spills"] == 0 for one in compiled["results"] if one["compiler"] in ("RADV", "ocloc")))
    runner.check("nothing of a lane is in memory", all(one.get("scratch", 0) == 0 for one in compiled["results"]), [
        (one["target"], one["kernel"]) for one in compiled["results"] if one.get("scratch", 0)])
    targets = {one["target"] for one in compiled["results"]}
    runner.check("every target has a control", all(any(f" {target}: " in one["name"] for one in compiled["controls"])
                                                   for target in targets), targets)
    text = runner.path("compiled.html").read_text()
    runner.check("the page holds them", json.loads(text.split('id="reports">', 1)[1].split("</script>", 1)[0]) == report)
    if chromium := outputs.find_chromium(runner, "compiled kernels in a browser"):
        wanted = [one for one in compiled["results"] if one["kernel"].startswith("single") and "f32" in one["kernel"]]
        dom = outputs.browse(runner, chromium, "compiled.html", "#compiled=single%20f32")
        runner.check("and filters them", f"{len(wanted)} of {len(compiled['results'])} kernels" in dom
                     and f"{len(compiled['controls'])} of {len(compiled['controls'])} controls caught" in dom, len(wanted))
    outputs.fits_schema(runner, source, "what was compiled", report)
    if outputs.has_junitparser(runner, "compiled kernels in JUnit"):
        import junitparser
        suite = next(one for one in junitparser.JUnitXml.fromfile(str(runner.path("compiled.xml")))
                     if one.name == "compiled, not run")
        names = [case.name for case in suite if not case.result]
        runner.check("junitparser reads them", names == [one["name"] for one in compiled["controls"] + compiled["results"]]
                     and suite.tests == len(names) + len(compiled["skips"]) and suite.failures == 0, names[:3])


def missing(runner, verify):
    """Without their programs in the path compilers are skips, and the report says so."""
    folder = runner.path("path")
    folder.mkdir()
    (folder / "python3").symlink_to(os.path.realpath(sys.executable))
    before, os.environ["PATH"] = os.environ["PATH"], str(folder)
    try:
        result, report = verify(runner, "--compile", "--quick", "--case", "half f32:f32*", name="bare.json")
    finally:
        os.environ["PATH"] = before
    skips = {one["what"]: one["why"] for one in report["compiled"]["skips"]}
    runner.check("missing compilers are listed", result.status == 0 and "ocloc is not in the path" in skips.get("ocloc", "")
                 and "spirv-val" in skips and "skip ocloc: " in result.output, skips)
    runner.check("and nothing of them is compiled", not any(one["compiler"] != "RADV" for one in report["compiled"]["results"]))


def pythonless(runner, source):
    """Without python3 nothing is compiled, which is a skip; what is run is reported all the same."""
    folder = runner.path("no programs")
    folder.mkdir()
    forms = {form: runner.path(f"pythonless.{form}") for form in ("json", "junit", "html")}
    options = [word for form, path in forms.items() for word in (f"--{form}", path)]
    before, os.environ["PATH"] = os.environ["PATH"], str(folder)
    try:
        result = runner.run("verify", "--device", "cpu", "--compile", "--quick", "--case", "half f32:f32 buffer", *options)
        alone = runner.run("verify", "--compile-only", "--quick")
    finally:
        os.environ["PATH"] = before
    report = json.loads(forms["json"].read_text())
    skip = {"what": "compilers", "why": "python3, which starts them, is not in the path"}
    runner.check("without python3 the rest is reported", result.status == 0 and report["complete"] and skip in report["skips"]
                 and f"skip compilers: {skip['why']}" in result.output and "1 passed" in result.output
                 and "half f32:f32" in forms["junit"].read_text() and "python3, which" in forms["html"].read_text(), report["skips"])
    outputs.fits_schema(runner, source, "what was not compiled", report)
    runner.check("and fails where nothing else is", alone.status == 1 and "FAIL no case was executed" in alone.output, alone.output)


def ended(runner):
    """The folder of the tool does not stay behind it, even where nobody asks it to end."""
    folder, told = runner.path("for compilers"), runner.path("for compilers") / "told"
    (folder / "path").mkdir(parents=True)
    (folder / "tmp").mkdir()
    python = folder / "path" / "python3"  # main.py's arguments: PROGRAM --folder FOLDER ...
    python.write_text(f'#!/bin/sh\n/bin/mkdir -p "$4/kernels" && echo x >{shlex.quote(str(told))} && exec /bin/sleep 600\n')
    python.chmod(0o755)
    with interrupted.start(runner, "--compile-only", "--quick", PATH=str(folder / "path"), TMPDIR=str(folder / "tmp")) as process:
        there = interrupted.wait_for(told.exists) and list((folder / "tmp").glob("*/kernels"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=interrupted.LIMIT)
    runner.check("an interruption leaves no kernels", process.returncode == -signal.SIGINT and len(there) == 1
                 and not list((folder / "tmp").iterdir()), (there, list((folder / "tmp").iterdir())))


def meddled(runner, source):
    """Lines of the tool for kernels that fuse, and for some that are no OpenCL C."""
    if not shutil.which("clang-15") and not shutil.which("ocloc"):
        runner.skip("meddled kernels", "there is no OpenCL compiler")
        return
    for what, old, new, text in (("fuses", "turned = a - b;", "turned = fma(c, lo, -b);", "multiply and add at once"),
                                 ("does not compile", "__kernel void", "__kernel nothing", "error")):
        if runner.is_quick and what != "fuses":
            continue
        program = runner.path("meddler")
        program.write_text(MEDDLER.format(program=shlex.quote(str(pathlib.Path(runner.program).resolve())), old=old, new=new))
        program.chmod(0o755)
        done = subprocess.run([sys.executable, "-B", tool_folder(source) / "main.py", program, "--quick"], capture_output=True,
                              text=True, check=False, timeout=300)
        results = [one["result"] for one in map(json.loads, done.stdout.splitlines()) if "result" in one]
        bad = [one for one in results if one["compiler"] in ("ocloc", "clang amdgcn", "clang nvptx64")]
        runner.check(f"a kernel that {what} fails", bad and all(one["verdict"] == "failed" and text in one["text"] for one in bad),
                     bad[:2])
        runner.check("and no other does", all(one["verdict"] == "compiled" for one in results if one not in bad))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the bench on every device with a case or two, and look at what it says, never at how fast it was.

usage: test_bench.py ROPE2D GOLDEN [SHIM]   SHIM: an OpenCL loader that reads back wrong results
"""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

from bench_signals import check_signals
from runner import Runner

TINY = ["--quick", "--tower", "sam2", "--tokens", "64", "--seconds", "1", "--pairing", "half"]
TURNS = ("turns_interleaved", "turns_half", "turns_out_of_place_interleaved", "turns_out_of_place_half")
BASELINES = ("driver_copy", "copy", "scale", "limit_in_place", "limit_out_of_place")

QUICK_BYTES = 256 << 20
MOST_LAST_CACHES = 256 << 20  # of as many as processors
LEAST_CPU_BYTES = 1 << 30
# Of the table that is printed: tower, tokens, type, pairing, table, where.
ROW = r"^(\w+) +(\d+) (\w+) +(half|interleaved) +(buffer|texture) +((?:in|out)(?: L2| \*)?) +[\d.]+ "


def read(runner, name):
    return json.loads((runner.folder / name).read_text(encoding="utf-8"))


def check_timing(runner, name, timing):
    spread = timing.get("host_seconds", {})
    runner.check(f"{name}: quartiles are in order",
                 0 < spread.get("least", 0) <= spread["low"] <= spread["median"] <= spread["high"], str(timing))
    runner.check(f"{name}: several runs and a rate", timing["runs"] >= 5 and timing["gb_per_s"] > 0, str(timing))


def check_group(runner, group):
    name = f"{group['device']} {group['element']}"
    for baseline in BASELINES:
        check_timing(runner, f"{name} {baseline}", group[baseline])
    for variants in ("copies", "scales", "limits_in_place", "limits_out_of_place"):
        names = [variant["name"] for variant in group[variants]]
        runner.check(f"{name} {variants}: three, all different", len(set(names)) == 3, str(names))
    turns = [[variant["name"] for variant in group[variants]] for variants in TURNS if group[variants] and group[variants][0]["name"]]
    if group["device"].startswith("vulkan") or group["device_name"].startswith("pthread"):  # PoCL's name
        runner.check(f"{name}: turns, three of each, all different", bool(turns) and all(len(set(names)) == 3 for names in turns), str(turns))
    best = max(variant["timing"]["gb_per_s"] for variant in group["copies"])
    runner.check(f"{name}: the best copy counts", group["copy"]["gb_per_s"] == best, str(group["copy"]))
    for row in group["rows"]:
        place = f"{name} {row['table']} {'in place' if row['in_place'] else 'out of place'}"
        if runner.check(f"{place}: equal", row["equal"] is True, str(row)):
            check_timing(runner, place, row["timing"])
            runner.check(f"{place}: ratios", row["of_copy"] > 0 and row["of_scale"] > 0 and row["of_limit"] > 0, str(row))


def check_once(runner, once):
    name = f"{once['device']} once"
    runner.check(f"{name}: equal", once["equal"] is True, str(once))
    for key in ("plan_cold", "plan_warm", "plan_warm_untested", "plan_warm_f16", "plan_warm_f16_untested", "plan_in_memory", "plan_again", "positions", "first_apply", "next_apply"):
        runner.check(f"{name}: {key}", once.get(key, 0) > 0, str(once))
    is_cpu = once["device"].startswith("cpu")
    runner.check(f"{name}: a copy kernel's first run", is_cpu or once.get("first_run_bare", -1) >= 0, str(once))
    issue = {"cpu": None, "vulkan": "record", "opencl": "enqueue"}[once["device"].split(":")[0]]
    runner.check(f"{name}: {issue}", not issue or once.get(issue, 0) > 0, str(once))


def check_accounts(runner, where, found):
    """Each row of a target is counted once."""
    for target in found["targets"]:
        name = f"{where}: {target['what']}"
        runner.check(f"{name}: measured or why not", ("met" in target) == target["measured"] and target["where"], str(target))
        if target["measured"]:
            counts = [target[f"rows_{which}"] for which in ("met", "explained", "unexplained")]
            runner.check(f"{name}: met if all its rows are", sum(counts) == target["rows"] > 0 and target["met"] == (counts[1:] == [0, 0]), str(target))
            runner.check(f"{name}: a row with something to gain is named", ("unexplained" in target) == (counts[2] > 0), str(target))
            runner.check(f"{name}: and every such row", len(target["left"]) == counts[2] and
                         (not counts[2] or target["unexplained"] in target["left"]), str(target))
            least = target["target"].startswith("at least")
            beyond = [row for row in target["left"] if "reached" in row and
                      (row["reached"] < target["limit"] if least else row["reached"] > target["limit"])]
            runner.check(f"{name}: some of them beyond reach", target["rows_beyond"] == len(beyond), str(target))


def check_counts(runner, found):
    """The counts of a target from the rows."""
    target = next(target for target in found["targets"] if target["what"] == "CPU, f32, in place, inside L2")
    rows = [row for group in found["groups"] if group["in_core_cache"] and not group["one_kernel"] and group["element"] == "f32"
            for row in group["rows"] if row["in_place"]]
    missed = [row for row in rows if row["of_scale"] < 0.75]
    left = [row for row in missed if row["of_limit"] < 0.95]
    beyond = [row for row in left if row["of_scale"] < 0.75 * row["of_limit"]]
    expected = [len(rows), len(rows) - len(missed), len(missed) - len(left), len(left), len(beyond)]
    keys = ("rows", "rows_met", "rows_explained", "rows_unexplained", "rows_beyond")
    runner.check("rows are counted", rows and [target[key] for key in keys] == expected, f"{target} {expected}")
    if left:
        worst = min(left, key=lambda row: row["of_limit"])["of_scale"]
        runner.check("the row with most to gain", abs(target["unexplained"]["value"] - worst) < 1e-9, f"{target} {worst}")


def check_caches(runner, where, output, is_quick=True):
    """Buffers are as many as exceed the caches, but with --quick 256 MiB at most, and each row says which it is."""
    found = read(runner, "bench.json")
    machine = found["machine"]
    caches = max(machine["last_cache"], min(machine["last_cache"] * machine["processors"], MOST_LAST_CACHES))
    expected = []
    for group in found["groups"]:
        name = f"{where}: {group['tower']}, {group['tokens']} {group['element']}"
        wanted = QUICK_BYTES if not group["is_software"] else caches * (4 if where.startswith("cpu") else 2)
        most = min(wanted, QUICK_BYTES) if is_quick else max(wanted, LEAST_CPU_BYTES if where.startswith("cpu") else 0)
        buffers = group["sets"] * group["bytes"]
        is_past = buffers >= wanted and not group["in_core_cache"]
        runner.check(f"{name}: no more buffers than that", buffers - group["bytes"] <= most, str(buffers))
        runner.check(f"{name}: past the caches or not", group["past_caches"] == is_past, f"{buffers} of {wanted}")
        mark = " L2" if group["in_core_cache"] else "" if is_past else " *"
        expected += [[group["tower"], str(group["tokens"]), group["element"], row["pairing"], row["table"],
                      ("in" if row["in_place"] else "out") + mark] for row in group["rows"]]
    rows = [list(row) for row in re.findall(ROW, output, re.MULTILINE)]
    runner.check(f"{where}: rows that do not exceed the caches are marked", sorted(rows) == sorted(expected), f"{rows} {expected}")
    return {row[-1] for row in rows}


def check_marks(runner):
    """On every machine rows with the mark; without --quick also rows without it, where the memory is there."""
    half = ["--pairing", "half", "--threads", "1", "--device", "cpu", "--json", "bench.json", "--seconds", "1"]
    result = runner.expect("bench of buffers", ["bench", *half, "--quick", "--tower", "sam2", "--tokens", "1,64", "--element", "f16"], 0)
    if result.status == 0:
        runner.check("the smallest fit a cache", {"in *", "out *", "in L2"} <= check_caches(runner, "cpu:0", result.output), result.output)
    if runner.is_quick:
        return
    result = runner.expect("bench of all buffers", ["bench", *half, "--tower", "dinov3", "--tokens", "64", "--element", "f32"], 0)
    if result.status == 0:
        check_caches(runner, "cpu:0", result.output, is_quick=False)


def check_device(runner, where):
    # The CPU has two cases, and a busy one must not run out of time between them.
    longer = ["--seconds", "60"] if where == "cpu:0" else []
    result = runner.expect(f"bench {where}", ["bench", *TINY, *longer, "--element", "f16", "--threads", "1", "--device", where,
                                              "--json", "bench.json"], 0, "equal", "target", "not measured")
    if result.status != 0:
        return
    found = read(runner, "bench.json")
    groups = found["groups"]
    runner.check(f"{where}: one size, and in the cache of the CPU again", len(groups) == (2 if where == "cpu:0" else 1),
                 str(len(groups)))
    tables = 2 if runner.has_textures[where] else 1
    runner.check(f"{where}: every table, in place or not", all(len(group["rows"]) == 2 * tables for group in groups),
                 str(groups))
    for group in groups:
        check_group(runner, group)
    for once in found["once"]:
        check_once(runner, once)
    if "llvmpipe" in found["once"][0]["device_name"] and where.startswith("vulkan"):
        kernels = {row["kernel"] for group in groups for row in group["rows"]}
        runner.check(f"{where}: the device's own conversions", all(name.endswith("_native") for name in kernels), str(kernels))
    lines = [line for line in result.output.splitlines() if re.search(r" equal( \(normal\))?$", line)]
    runner.check(f"{where}: a line of the table for each row", len(lines) == sum(len(g["rows"]) for g in groups),
                 result.output)
    check_accounts(runner, where, found)
    check_caches(runner, where, result.output)


def check_passes(runner):
    """Several passes count each case once, and say how far they are apart."""
    result = runner.expect("bench in passes", ["bench", *TINY, "--seconds", "8", "--passes", "2", "--again", "2", "--element", "f16",
                                               "--threads", "1", "--device", "cpu", "--json", "passes.json"], 0, "pass 1 of 4", "pass 2 of 4")
    if result.status != 0:
        return
    found = read(runner, "passes.json")
    runner.check("nothing of these is left, and nothing goes again", "pass 3 of 4" not in result.output and found["again"] == 0,
                 result.output)
    sizes = [(group["tokens"], group["in_core_cache"]) for group in found["groups"]]
    runner.check("each case once", found["passes"] == 2 and len(found["once"]) == 1 and len(set(sizes)) == len(sizes) > 0, str(sizes))
    rows = [row for group in found["groups"] for row in group["rows"]]
    runner.check("rows of two passes, but of a busy machine", any(row.get("passes") == 2 for row in rows), str(rows))
    for row in rows:
        for ratio in ("of_copy", "of_driver_copy", "of_scale", "of_limit"):
            least, most = row.get(f"{ratio}_range", [row[ratio]] * 2)
            runner.check(f"{sizes}: {ratio} is between the passes'", 0 < least <= row[ratio] <= most, str(row))


def check_kernels(runner):
    """Every kernel of this processor, each equal, and none twice."""
    for seconds in ("10", "60"):  # a busy machine leaves some out, and has more time then
        result = runner.expect(f"bench of the kernels in {seconds} s", [
            "bench", *TINY, "--seconds", seconds, "--element", "f32,f16", "--threads", "1", "--device", "cpu", "--kernels",
            "--json", "kernels.json"], 0, "equal")
        if result.status != 0:
            return
        found = read(runner, "kernels.json")
        if found["left_out"] == 0:
            break
    check_accounts(runner, "kernels", found)
    check_counts(runner, found)
    rows = [(row["kernel"], group["in_core_cache"]) for group in found["groups"] if group["one_kernel"]
            for row in group["rows"] if row["equal"] and row["of_scale"] > 0]
    names = {kernel for kernel, _ in rows}
    unequal = [row["kernel"] for group in found["groups"] if group["one_kernel"] for row in group["rows"] if not row["equal"]]
    runner.check("kernels: each is given a tower that suits it", not unequal, str(unequal))
    runner.check("kernels: each in the cache and from memory", len(rows) == 2 * len(names) == len(set(rows)), str(rows))
    if platform.machine() in ("x86_64", "AMD64"):
        runner.check("kernels: SSE2's are there", {"half_f32_sse2", "interleaved_f32_sse2"} <= names, str(names))


def make_up_targets(runner):
    """A run's numbers with two targets that no run has."""
    found = read(runner, "kernels.json")
    common = {"what": "made up", "target": "at least 0.9", "measured": True, "met": False, "limit": 0.9, "worst": 0.25, "median": 0.5,
              "reached": 0.26, "rows": 13, "rows_met": 7, "rows_explained": 2, "rows_unexplained": 4, "rows_beyond": 3,
              "where": "slowest"}
    left = [{"value": 0.375, "reached": 0.8125, "where": "place"}, {"value": 0.25, "reached": 0.26, "where": "slowest"}]
    found["targets"] += [{**common, "unexplained": left[0], "left": left},
                         {**common, "what": "bare", "unexplained": {"value": 1.5, "where": "slowest"}}]
    (runner.folder / "kernels.json").write_text(json.dumps(found), encoding="utf-8")


def check_report(runner):
    """The tables of the pages are made of these numbers, and the text around them stays."""
    make_up_targets(runner)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    pages = [runner.folder / name for name in ("performance.md", "performance_sizes.md")]
    for page in pages:
        shutil.copy(root / "docs" / page.name, page)
    before = [page.read_text(encoding="utf-8").split("<!-- measured: ") for page in pages]
    done = subprocess.run([sys.executable, "-B", root / "tools" / "bench-report", "--json", runner.folder / "kernels.json",
                           "--docs", runner.folder], capture_output=True, text=True, check=False)
    after = [page.read_text(encoding="utf-8").split("<!-- measured: ") for page in pages]
    runner.check("the report is written", done.returncode == 0, done.stderr)
    runner.check("the report keeps what is around its tables", [(old[0], old[2]) for old in before] == [(new[0], new[2]) for new in after])
    names = {target["what"] for target in read(runner, "kernels.json")["targets"]}
    runner.check("the report has every target", all(f"| {name} |" in after[0][1] for name in names), after[0][1])
    counts = "| at least 0.9 | 13 | 7 | 2 | 4 | 3 | 0.25 | 0.5 | 0.26 | misses by 0.65: slowest |"
    runner.check("the report accounts for every row", f"| made up {counts} 0.375 of 0.8125: place |" in after[0][1] and
                 f"| bare {counts} 1.5 of an unknown limit: the same row |" in after[0][1], after[0][1])
    runner.check("the report names what is left", all(f"| made up | {row} |" in after[0][1] for row in ("place | 0.375 | 0.8125", "slowest | 0.25 | 0.26")),
                 after[0][1])
    runner.check("the report has the kernels and the sizes", "half_f32" in after[0][1] and
                 re.search(r"\| sam2 \| 64( \*)? \|", after[1][1]) is not None, after[1][1])  # *: they fit a cache


def run_worker(runner, where, cache, mode="tested"):
    """The process that makes a warm plan: its exit status, and the seconds that it tells."""
    command = ["sh", "-c", 'exec "$@" 3>&1 >/dev/null', "sh", runner.program, "bench-worker", where, "f32", mode, str(cache)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, [float(word) for word in done.stdout.split()]


def check_parts(runner, where):
    """The driver's part of a plan is a part of it, and what is cold leaves no cache."""
    cache = runner.folder / f"none-{where.replace(':', '-')}"
    for mode in ("cold", "bare", "parts"):
        for _ in range(8):  # the first of two runs takes longer, unless a busy machine lets the second wait
            status, times = run_worker(runner, where, cache, mode)
            if mode != "bare" or status != 0 or times[:1] > [0]:
                break
        runner.check(f"{where}: {mode}: three times", status == 0 and len(times) == 3 and times[0] > 0, f"{status} {times}")
        runner.check(f"{where}: {mode}: of the whole a part", len(times) == 3 and times[1] <= times[0], str(times))
        runner.check(f"{where}: {mode}: who leaves a cache", cache.exists() == (mode == "parts"), str(times))


def check_cache_is_taken(runner, where):
    """What is timed as warm has the cache that another process left: a damaged one is refused."""
    cache = runner.folder / f"cache-{where.replace(':', '-')}"
    status, times = run_worker(runner, where, cache)
    runner.check(f"{where}: a process leaves a cache", status == 0 and len(times) == 3 and cache.exists(), str(times))
    if where.startswith("opencl"):
        runner.check(f"{where}: with the plan's program", cache.exists() and cache.stat().st_size > 1024, str(times))
    status, times = run_worker(runner, where, cache)
    runner.check(f"{where}: the next takes it", status == 0 and len(times) == 3 and times[0] > 0, str(times))
    if cache.exists():
        data = bytearray(cache.read_bytes())
        data[-1] ^= 1
        cache.write_bytes(data)
    status, times = run_worker(runner, where, cache)
    runner.check(f"{where}: a damaged one is not taken", status == 2 and not times, f"{status} {times}")


def check_wrong_results(runner, shim):
    """One bit is wrong, and there is no number."""
    os.environ["ROPE2D_OPENCL_LOADER"] = os.path.realpath(shim)
    result = runner.expect("bench of wrong results", ["bench", *TINY, "--element", "f32", "--table", "buffer", "--device",
                                                      "opencl:0", "--json", "wrong.json"], 1, "no number:",
                           "elements differ from the portable path's")
    del os.environ["ROPE2D_OPENCL_LOADER"]
    if result.status != 1:
        return
    found = read(runner, "wrong.json")
    rows = [row for group in found["groups"] for row in group["rows"]]
    refused = [once for once in found["once"] if not once["equal"]]
    runner.check("wrong results: counted", len(rows) == 2 and found["refused"] == 2 + len(refused), str(found["refused"]))
    for once in refused:
        runner.check("wrong results: no time of applies", not {"first_apply", "next_apply", "positions"} & set(once), str(once))
    for row in rows:
        runner.check("wrong results: no timing", row["equal"] is False and "timing" not in row and "of_copy" not in row,
                     str(row))
    runner.check("wrong results: no target is met by them",
                 all(not target["measured"] for target in found["targets"] if "copy kernel" in target["target"]),
                 str(found["targets"]))


def check_no_textures(runner):
    """A device without rows of what was asked for is named."""
    for table, is_said in (("texture", True), ("buffer,texture", False)):
        result = runner.expect(f"bench of {table}", ["bench", *TINY, "--element", "f32", "--threads", "1", "--device", "cpu",
                                                     "--table", table], 0)
        runner.check(f"bench of {table}: says whether there are any rows", is_said ==
                     ("--table texture: cpu:0 has no textures" in result.errors) == (" equal" not in result.output), result.errors)


def check_folder(runner):
    """What drivers and caches write goes to TMPDIR alone, and does not stay there."""
    folder = runner.path("temporary")
    folder.mkdir()
    os.environ["TMPDIR"] = str(folder)
    runner.expect("TMPDIR", ["bench", *TINY, "--element", "f32", "--threads", "1", "--device", "cpu"], 0)
    runner.check("nothing stays in TMPDIR", not list(folder.iterdir()), list(folder.iterdir()))
    os.environ["TMPDIR"] = str(folder / "missing")
    runner.expect("TMPDIR is asked first", ["bench", *TINY, "--device", "cpu"], 3, "missing/rope2d-")
    del os.environ["TMPDIR"]


def check_plot(runner):
    for ending in ("svg", "png"):
        name = f"roofline.{ending}"
        result = runner.run("bench", *TINY, "--element", "f32", "--threads", "1", "--device", "cpu", "--plot", name)
        if "matplotlib is missing" in result.errors:
            runner.skip(name, "matplotlib is missing")
            continue
        path = runner.folder / name
        runner.check(f"{name} is drawn", result.status == 0 and path.exists() and path.stat().st_size > 4000,
                     result.errors)


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__)
        return 2
    runner = Runner(arguments[0], arguments[1])
    runner.find_devices()
    first_ones = [device for device in runner.devices if device.endswith(":0")]
    for device in first_ones if runner.is_quick else runner.devices:
        check_device(runner, device)
    others = [device for device in runner.devices if not device.startswith("cpu")]
    for device in others[:1] + others[-1:]:
        check_cache_is_taken(runner, device)
        check_parts(runner, device)
    if len(arguments) == 3 and "opencl:0" in runner.devices:
        check_wrong_results(runner, arguments[2])
    else:
        runner.skip("wrong results", "no OpenCL device, or no loader to stand in for")
    check_marks(runner)
    check_passes(runner)
    check_no_textures(runner)
    check_folder(runner)
    check_signals(runner, others[:1] + others[-1:])
    check_kernels(runner)
    check_report(runner)
    check_plot(runner)
    return runner.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

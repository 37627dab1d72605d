# SPDX-License-Identifier: MIT
"""What `rope2d verify` and `rope2d report merge` write, read by programs that are not ours: jsonschema, junitparser,
an HTML parser and, where it is installed, Chromium without a window."""
import copy
import html.parser
import importlib.util
import json
import os
import re
import shutil
import subprocess
import zlib

FEW = "half f32:f32*,odd_gaps,preset/dinov3,special_values f16:f16*"
# What a driver or a file could be called, and what becomes of it where somebody forgets to escape.
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">&lt;b&gt;\"'"


def test(runner, verify, source):
    result, report = verify(runner, "--case", FEW, "--html", "page.html", "--junit", "junit.xml")
    runner.check("all is written", result.status == 0 and {"page.html", "junit.xml"} <= set(runner.names()))
    merged = merge(runner, report)
    schema(runner, source, report, merged)
    junit(runner, report)
    pages(runner, report, merged)
    devices(runner, verify, source)
    refusals(runner)


def devices(runner, verify, source):
    """What an API says of a device is in the report, and fits the schema."""
    found = json.loads(runner.run("devices", "--json").output)["devices"]
    for backend, facts in (("vulkan", ("driver_name", "conformance_version", "r32g32b32a32_sfloat_features")),
                           ("opencl", ("language_version",))):
        # The last: SwiftShader, which is slow, comes first.
        names = [one["device"] for one in found if one["backend"] == backend]
        if not names:
            runner.skip(f"facts of {backend}", "there is no device")
            continue
        result, report = verify(runner, "--case", "half f16:f16*", device=names[-1], name="device.json")
        device = report["devices"][0]
        runner.check(f"{backend}: versions, limits and modes", result.status == 0 and device["driver_version"] and
                     device["api_version"] and len(device["float_controls"]) >= 5 and device["float_modes_enabled"] and
                     device["limits"]["max_group_size"] >= 1 and all(device[fact] for fact in facts), list(device))
        runner.check(f"{backend}: both tables have the same bits", not device["has_textures"] or
                     device["variations"]["compared"] >= 1 and device["variations"]["other_bits"] == [])
        fits_schema(runner, source, f"the report of {backend}", report)
        bound(runner, verify, backend, names[-1])


def bound(runner, verify, backend, device):
    """Buffers of the caller's, at the device's own alignment and beside it, have the bits of all others."""
    result, report = verify(runner, "--quick", "--case", "half f16:f16*,odd_half_split f32:f32*", device=device, name="bound.json")
    results = report["devices"][0]["results"]
    tiers = {one["name"].split()[-1]: one.get("tier") for one in results if " bound-" in one["name"]}
    runner.check(f"{backend}: buffers at the device's alignment", result.status == 0
                 and tiers == {"bound-at-alignment": "bit-exact", "bound-beside-alignment": "bit-exact"}
                 and report["devices"][0]["variations"]["compared"] >= 4
                 and report["devices"][0]["limits"]["buffer_offset_alignment"] >= 1, tiers)


def hostile(report):
    """A report whose every name is markup, and one of whose cases failed."""
    other = copy.deepcopy(report)
    device = other["devices"][0]
    device["name"] = device["vendor"] = device["driver"] = HOSTILE
    device["results"][0].update(name=HOSTILE, verdict="failed", text=HOSTILE)
    device["limits"][HOSTILE] = 1
    other["problems"] = [{"device": HOSTILE, "text": HOSTILE}]
    other["passed"] = False
    return other


def merge(runner, report):
    runner.path("other.json").write_text(json.dumps(hostile(report)))
    result = runner.expect("merged", ["report", "merge", "report.json", "other.json", "--json", "merged.json", "--html",
                                      "merged.html"], 1, "report.json", "other.json: did not pass")
    loud = copy.deepcopy(report)
    loud["devices"][0]["name"] = "\x1b]0;taken\x07\x1b[2J\u009b1m"
    runner.path("loud.json").write_text(json.dumps(loud))
    said = runner.expect("names do not speak to a terminal", ["report", "merge", "loud.json", "no\x1b[2J.json"], 2, "no?[2J.json")
    runner.path("no\x1b[2Jname.json").write_text(json.dumps({**report, "passed": False}))
    said = said.output + said.errors + runner.expect("nor in a verdict", ["report", "merge", "no\x1b[2Jname.json"], 1,
                                                     "no?[2Jname.json: did not pass").output
    said += runner.expect("nor in a line", ["report", "merge", "loud.json"], 0, "?]0;taken").output
    runner.check("no control character is printed", not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", said), repr(said))
    hashes = re.findall(r"[0-9a-f]{16} \(", result.output)
    runner.check("equal outputs are seen", len(hashes) == 2 and len(set(hashes)) == 1, hashes)
    return json.loads(runner.path("merged.json").read_text())


def find_chromium(runner, what, is_long=False):
    """Its path, and a skip that is counted where it is missing; so are those below. What takes long is for runs that are not
    quick: a page is the same however the program was built."""
    if is_long and runner.is_quick:
        runner.skip(what, "ROPE2D_QUICK is set")
        return None
    if not (path := shutil.which("chromium")):
        runner.skip(what, "chromium is missing")
    return path


def has_junitparser(runner, what):
    if importlib.util.find_spec("junitparser") is None:
        runner.skip(what, "python3-junitparser is missing")
        return False
    return True


def fits_schema(runner, source, what, report):
    """The schema's validator, None without jsonschema."""
    if importlib.util.find_spec("jsonschema") is None:
        runner.skip(f"{what} and the schema", "python3-jsonschema is missing")
        return None
    import jsonschema
    validator = jsonschema.Draft202012Validator(json.loads((source / "docs/verify.schema.json").read_text()))
    errors = [f"{list(error.absolute_path)}: {error.message[:200]}" for error in validator.iter_errors(report)]
    context = [sub.message[:200] for error in validator.iter_errors(report) for sub in error.context or []]
    runner.check(f"{what} is what the schema says", not errors, (errors[:3], context[:6]))
    return validator


def schema(runner, source, report, merged):
    validator = fits_schema(runner, source, "a report", report)
    fits_schema(runner, source, "a merge of reports", merged)
    if not validator:
        return
    spoiled = copy.deepcopy(report)
    spoiled["devices"][0]["results"][0]["verdict"] = "fine"
    runner.check("the schema refuses what it must", not validator.is_valid(spoiled))


def junit(runner, report):
    if not has_junitparser(runner, "JUnit"):
        return
    import junitparser
    xml = junitparser.JUnitXml.fromfile(str(runner.path("junit.xml")))
    suites = list(xml)
    device = report["devices"][0]
    names = [case.name for case in suites[0]]
    runner.check("junitparser reads every case", names == [one["name"] for one in device["controls"] + device["results"]]
                 and suites[0].tests == len(names) and suites[0].failures == suites[0].errors == 0, names[:3])
    result = runner.run("verify", "--device", "cpu", "--case", "half", "--require", "cpu:9999", "--junit", "failed.xml")
    failed = [case for suite in junitparser.JUnitXml.fromfile(str(runner.path("failed.xml"))) for case in suite if case.result]
    runner.check("what fails the report is a failure", result.status == 1 and len(failed) == 1
                 and "9999 are required" in failed[0].result[0].message, failed)


def known(runner, source, report, text):
    """A stale entry of --expect is in every output."""
    fits_schema(runner, source, "what is stale", report)
    if has_junitparser(runner, "what is stale in JUnit"):
        import junitparser
        skipped = [case.result[0].message for suite in junitparser.JUnitXml.fromfile(str(runner.path("stale.xml")))
                   for case in suite if case.result]
        runner.check("JUnit XML tells what is stale", skipped == [text], skipped)
    if chromium := find_chromium(runner, "what is stale in a browser"):
        dom = browse(runner, chromium, "stale.html", "")
        runner.check("the page tells what is stale", '<span class="odd">stale</span> entry 2 of --expect: no result of <code>cpu</code> is '
                     "<code>half</code> (to see)" in dom, dom.count("stale"))


class Page(html.parser.HTMLParser):
    """Elements and attributes that a browser would see."""
    def __init__(self):
        super().__init__()
        self.elements, self.addresses = [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "data", "action")]


def pages(runner, report, merged):
    for name, data in (("page.html", report), ("merged.html", merged)):
        text = runner.path(name).read_text()
        page = Page()
        page.feed(text)
        runner.check(f"{name} holds two scripts and loads nothing", page.elements.count("script") == 2
                     and page.elements.count("img") == 0 and page.addresses == ["data:,"], page.addresses)
        embedded = text.split('id="reports">', 1)[1].split("</script>", 1)[0]
        runner.check(f"{name} holds the report", json.loads(embedded) == data)
    chromium = find_chromium(runner, "pages in a browser")
    if not chromium:
        return
    cases = len(report["devices"][0]["results"]) + len(report["devices"][0]["controls"])
    dom = browse(runner, chromium, "page.html", "")
    runner.check("every case has a row", shown_rows(dom) == cases and f"{cases} of {cases} cases" in dom, shown_rows(dom))
    runner.check("maps are drawn", dom.count("<canvas") >= 2)
    dom = browse(runner, chromium, "page.html", "#filter=odd_gaps%20f16&sort=2")
    wanted = [one["name"] for one in report["devices"][0]["results"] if "odd_gaps" in one["name"] and "f16" in one["name"]]
    runner.check("it filters", wanted and f"{len(wanted)} of {cases} cases" in dom and shown_rows(dom) == len(wanted), len(wanted))
    order = [float(text) for text in re.findall(r'<td class="number">([\d.]+)</td>', browse(runner, chromium, "page.html", "#sort=2")
             .split("<h2>Cases</h2>")[1].split("</table>")[0])]
    runner.check("it sorts", len(order) == cases and order == sorted(order) and order[0] < order[-1], order)
    themes(runner, chromium)
    dom = browse(runner, chromium, "merged.html", "#verdict=failed")
    runner.check("it filters by verdict", f"1 of {cases + 1} cases" in dom)
    title = re.search(r"<title>(.*?)</title>", dom).group(1)
    runner.check("markup stays text", title == "rope2d verify" and "<img" not in dom
                 and "&lt;/script&gt;&lt;script&gt;" in dom, title)


def first_pixel(path):
    """Of a PNG of 8 bits, which begins with a row whose filter changes nothing before the first pixel."""
    data, packed = path.read_bytes()[8:], b""
    while data:
        length = int.from_bytes(data[:4], "big")
        packed += data[8:8 + length] if data[4:8] == b"IDAT" else b""
        data = data[12 + length:]
    return tuple(zlib.decompress(packed)[1:4])


def themes(runner, chromium):
    """The page follows the reader's system."""
    for theme, options, colour in (("light", [], (255, 255, 255)),
                                   ("dark", ["--blink-settings=preferredColorScheme=0", "--force-dark-mode"], (0x15, 0x18, 0x1c))):
        picture = runner.path(f"{theme}.png")
        browse(runner, chromium, "page.html", "#filter=half", [*options, "--hide-scrollbars", f"--screenshot={picture}"])
        runner.check(f"a {theme} page", first_pixel(picture) == colour, first_pixel(picture))


def shown_rows(dom):
    table = dom.split("<h2>Cases</h2>")[1].split("</table>")[0].split("<tbody>")[1]
    return len(re.findall(r"<tr>", table))


def browse(runner, chromium, name, fragment, options=("--dump-dom",)):
    """The page as the browser has built it; a message on its console is a failure."""
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={runner.path('browser')}",
               "--enable-logging=stderr", "--v=0", *options, runner.path(name).as_uri() + fragment]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    runner.check(f"{name}{fragment}: no message on the console", done.returncode == 0 and not messages, messages[:3])
    return done.stdout


def refusals(runner):
    runner.path("not.json").write_text("nothing")
    runner.path("other_format.json").write_text('{"format": "another", "format_version": 1, "devices": []}')
    runner.path("deep.json").write_text("[" * 5000)
    for name, text in (("not.json", "is not JSON"), ("other_format.json", "is no report"), ("deep.json", "is not JSON"),
                       ("missing.json", "No such file")):
        runner.expect(f"merge refuses {name}", ["report", "merge", "report.json", name, "--html", "none.html"], 2, text)
    runner.check("nothing is written then", "none.html" not in runner.names())
    runner.expect("merge what", ["report", "merge"], 2, "needs 'merge' and the files")
    runner.expect("a folder that is not there", ["report", "merge", "report.json", "--html", "no/such/page.html"], 2,
                  "cannot be written")

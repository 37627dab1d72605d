# SPDX-License-Identifier: MIT
"""The page of a merge with a stranger's report, in Chromium: whatever stands in the place of any one field, nothing is thrown,
and the rows of the other machine are there."""
import copy
import html
import json
import re

import outputs

# The last cannot be made a text or a number by asking it.
VALUES = (5, None, [], {}, "x", {"toString": 5})
MOST = 2  # entries of a list, and of an object that has many of one kind
MANY = ("limits", "classes", "float_controls", "counts")

# Builds each page in a frame of its own, where scripts run while they are written; sorts, chooses and points; and reads it.
DRIVER = """<!doctype html><link rel="icon" href="data:,"><pre id="told"></pre>
<script type="application/json" id="given">GIVEN</script>
<script>
const {page, merged, places, values} = JSON.parse(document.getElementById("given").textContent);
let thrown;
function look(reports) {
  const frame = document.body.appendChild(document.createElement("iframe")), own = frame.contentDocument;
  const all = query => [...own.querySelectorAll(query)];
  thrown = [];
  frame.contentWindow.tell = text => { thrown.push(String(text)); };
  own.open();
  own.write("<script>window.onerror = window.tell;</" + "script>" + page[0] + JSON.stringify(reports).replace(/</g, "\\\\u003c")
            + page[1]);
  own.close();
  all("th button").forEach(one => one.click());
  for (const one of all("select"))
    one.dispatchEvent(new Event("change"));
  for (const one of all("canvas")) {
    const box = one.getBoundingClientRect();
    one.dispatchEvent(new MouseEvent("mousemove", {clientX: box.left + 1, clientY: box.top + 1}));
  }
  const texts = all("td:first-child, summary").map(one => one.textContent).filter(text => text.startsWith("good")).sort();
  const result = {thrown, texts};
  frame.remove();
  return result;
}
const whole = look(merged), wanted = JSON.stringify(whole.texts), bad = [];
for (const place of places)
  for (const value of values) {
    const reports = structuredClone(merged);
    let at = reports.reports[1].report;
    for (const key of place.slice(0, -1))
      at = at[key];
    at[place.at(-1)] = value;
    const seen = look(reports);
    if (seen.thrown.length || JSON.stringify(seen.texts) !== wanted)
      bad.push(`${place.join(".")} = ${JSON.stringify(value)}: ${seen.thrown}, ${seen.texts.length} of ${whole.texts.length}`);
  }
document.getElementById("told").textContent = JSON.stringify({...whole, bad});
</script>"""


def stranger(report):
    """Has every field that the page reads, and some that a device or a kernel has not."""
    other = copy.deepcopy(report)
    device = other["devices"][0]
    device.update(file="x", report="x", label="x", leaving="x")
    first = {"case": "x", "place": "x", "got": "x", "expected": "x"}
    device["classes"] = {"normal": {**device["classes"]["normal"], "first": first}, "x": {"cases": 1}}
    device["float_controls"] = {"x": True}
    device["results"].append({**device["results"][0], "name": "failed", "verdict": "failed", "text": "x"})
    device["results"][0].update(name="known", expected="x", unexpected_pass=True)
    other["devices"].append({"device": "vulkan:0", "name": "x", "error": "x"})
    other["problems"] = [{"device": "x", "text": "x"}]
    other["stale"] = [{"entry": 1, "device": "x", "case": "x", "reason": "x"}]
    other["skips"] = [{"what": "x", "why": "x"}]
    other["compiled"] = {"compilers": [{"name": "x", "version": "x"}], "skips": [{"what": "x", "why": "x"}],
                         "controls": [{"name": "x", "verdict": "x", "text": "x"}],
                         "results": [{"file": "x", "name": "x", "compiler": "x", "target": "x", "kernel": "x", "verdict": "x",
                                      "text": "x", "registers": 1, "spills": 0, "scratch": 0, "instructions": 2, "fused": 0,
                                      "mixed": 0}]}
    return other


def places(value, at=()):
    """The way to everything in a report, but to the report itself."""
    entries = []
    if isinstance(value, dict):
        entries = list(value.items())[:MOST if at and at[-1] in MANY else None]
    elif isinstance(value, list):
        entries = list(enumerate(value))[:MOST]
    return ([list(at)] if at else []) + [place for key, one in entries for place in places(one, (*at, key))]


def test(runner, verify):
    chromium = outputs.find_chromium(runner, "strangers' reports in a browser", is_long=True)
    if not chromium:
        return
    _, report = verify(runner, "--case", "half f32:f32*", name="good.json")
    other = stranger(report)
    for one in report["devices"][0]["results"] + report["devices"][0]["controls"]:
        one["name"] = "good " + one["name"]
    for name, one in (("good.json", report), ("stranger.json", other)):
        runner.path(name).write_text(json.dumps(one))
    runner.run("report", "merge", "good.json", "stranger.json", "--json", "both.json", "--html", "both.html")
    page, rest = runner.path("both.html").read_text().split('id="reports">', 1)
    merged = json.loads(runner.path("both.json").read_text())
    given = {"page": [page + 'id="reports">', "</script>" + rest.split("</script>", 1)[1]], "merged": merged,
             "places": places(merged["reports"][1]["report"]), "values": VALUES}
    runner.path("strangers.html").write_text(DRIVER.replace("GIVEN", json.dumps(given).replace("<", "\\u003c")))
    dom = outputs.browse(runner, chromium, "strangers.html", "")
    told = json.loads(html.unescape(re.search(r'<pre id="told">(.*?)</pre>', dom, re.S).group(1) or "null"))
    if not runner.check("every page was built", told is not None, dom[:400]):
        return
    names = [one["name"] for one in report["devices"][0]["results"] + report["devices"][0]["controls"]]
    runner.check("a stranger's report: the other machine is there", not told["thrown"] and len(names) > 5
                 and set(names) < set(told["texts"]), told)
    runner.check(f"with something else in each of {len(given['places'])} fields, nothing is thrown and nothing goes",
                 len(given["places"]) > 90 and not told["bad"], (len(told["bad"]), told["bad"][:8]))

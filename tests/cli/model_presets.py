# SPDX-License-Identifier: MIT
"""rope2d presets, and rope2d apply --preset against what models returned."""
import json

import numpy as np

# Recorded outputs in fp32 are followed this closely in the model's own order of operations.
FP32_LIMIT = 4e-6

# Golden case: what a user says.
CASES = {
    "dinov3_bf16_periods": "dinov3 --grid 5x7 --unrotated 0:5 --layout bhnd",
    "llama4_vision": "llama-4-vision --grid 5x5 --unrotated 25:26",
    "flux1": "flux.1 --prompt text:5,image:4x6 --layout bhnd",
    "qwen25vl_vision_window": "qwen2.5-vl-vision --grid 10x10 --layout nhd",
    "qwen2vl_mrope_llm": "qwen2-vl --prompt text:5,image:6x8,text:4,image:4x6,text:3 --layout bhnd",
    "sam2_cross_memory": "sam-2 --grid 4x4 --prompt-k image:4x4,image:4x4,still:4 --layout bhnd",
    "ltx_video": "ltx-video --grid 2x3x5 --layout bnc --heads-q 2 --heads-k 2",
    "vjepa2_3d_MISFIT": "v-jepa-2 --grid 2x4x5 --layout bhnd",
    "ropevit_mixed": "rope-vit-mixed --grid 5x7 --unrotated 0:1 --freqs freqs.npy --layout bhnd",
    "lightglue": "lightglue --positions positions.npy --freqs freqs.npy --layout bhnd",
    "lucidrains_axial_lang": "lucidrains-axial --grid 5x7 --rotary-dim 64 --layout bhnd",
}


def list_presets(runner):
    result = runner.expect("presets", ["presets"], 0, "dinov3", "unproven", "proven by golden cases")
    presets = json.loads(runner.expect("presets as JSON", ["presets", "--json"], 0).output)
    names = [preset["name"] for preset in presets]
    lines = result.output.splitlines()
    runner.check("presets: a line each", [line.split()[0] for line in lines[1:-1]] == names, str(len(lines)))
    proof = [preset["proven_by"] if preset["is_proven"] else f"unproven: {preset['source']}" for preset in presets]
    runner.check("presets: golden cases or the source", all(map(str.endswith, lines[1:-1], proof)), str(proof))
    runner.check("presets: names differ", len(set(names)) == len(names), str(names))
    cases = {path.parent.name for path in runner.golden.glob("*/case.json")}
    proofs = " ".join(preset["proven_by"] for preset in presets if preset["is_proven"]).split()
    runner.check("presets: every golden case proves one", sorted(proofs) == sorted(cases), str(set(proofs) ^ cases))
    page = (runner.golden.parents[1] / "docs" / "presets.md").read_text()
    for preset in presets:
        name = preset["name"]
        row = next((line for line in page.splitlines() if line.startswith(f"| `{name}` | {preset['title']} |")), "")
        proof = preset["proven_by"].split()
        runner.check(f"docs/presets.md: {name}", row and all(word in row for word in proof), row)
        runner.expect(f"presets {name}", ["presets", name], 0, preset["title"], preset["source"])
        shown = json.loads(runner.expect(f"presets {name} as JSON", ["presets", name, "--json"], 0).output)
        if preset["is_learned"]:
            continue
        channels = sorted(shown["pair_lo"] + shown["pair_hi"])
        runner.check(f"presets {name}: channels", channels == list(range(shown["rotary_dim"])), str(channels))
        shape = np.shape(shown["freqs"])
        runner.check(f"presets {name}: frequencies",
                     shape == (len(shown["axes"]), max(shown["heads"], 1), shown["rotary_dim"] // 2), str(shape))
    for case in ("dinov3", "croco_dust3r", "pixtral_hf", "vjepa2_3d_MISFIT"):
        golden = json.loads((runner.golden / case / "case.json").read_text())
        name = next(preset["name"] for preset in presets if case in preset["proven_by"].split())
        shown = json.loads(runner.run("presets", name, "--json").output)
        same = [shown[key] == golden[key] for key in ("pair_lo", "pair_hi")]
        freqs = np.array([shown["freqs"]] + ([shown["freqs_hi"]] if "freqs_hi" in shown else []), np.float32)
        same.append(np.array_equal(freqs.reshape(-1), np.load(runner.golden / case / "freqs.npy").reshape(-1)))
        runner.check(f"presets {name}: as {case}", all(same), str(same))


def refuse(runner):
    before = runner.names()
    folder = runner.golden / "dinov3"
    apply = ["apply", "--q", folder / "q.npy", "--layout", "bhnd", "--device", "cpu"]
    runner.expect("a preset that is none", ["presets", "qwen2vl"], 2, "did you mean qwen2-vl?")
    runner.expect("two presets", ["presets", "su", "dinov3"], 2, "takes one name")
    grid = ["--grid", "5x7"]
    for name, arguments, text in (
            ("an unknown preset", ["--preset", "dinov4", *grid], "did you mean dinov3?"),
            ("a preset without places", ["--preset", "dinov3"], "must say where the tokens are"),
            ("a grid and a prompt", ["--preset", "dinov3", *grid, "--prompt", "image:5x7"], "where the tokens are"),
            ("a preset and a pairing", ["--preset", "dinov3", *grid, "--pairing", "half"], "--preset says them"),
            ("a prompt without a preset", ["--prompt", "image:5x7", "--base", "100"], "must have --preset"),
            ("a prompt that is none", ["--preset", "dinov3", "--prompt", "picture:5x7"], "must be still:N"),
            ("a prompt with text", ["--preset", "dinov3", "--prompt", "text:5,image:5x7"], "takes none"),
            ("too few tokens", ["--preset", "dinov3", *grid], "must have the 40 of q"),
            ("stills in the middle", ["--preset", "dinov3", *grid, "--unrotated", "3:5"], "only first and last"),
            ("a head that does not fit", ["--preset", "v-jepa-2", "--grid", "2x4x5", "--rotary-dim", "62"], "axis_pairs"),
            ("frequencies for a formula", ["--preset", "dinov3", *grid, "--unrotated", "0:5", "--freqs",
                                           folder / "freqs.npy"], "shares its frequencies"),
            ("no frequencies to learn", ["--preset", "rope-vit-mixed", *grid], "params.learned")):
        runner.expect(name, [*apply, *arguments], 2, text)
    runner.check("refusals leave nothing", runner.names() == before, str(runner.names()))


def rotate(runner):
    for case, words in CASES.items():
        folder = runner.golden / case
        given = [file for file in ("freqs.npy", "positions.npy") if file in words]
        for file in given:  # some are stored by columns
            np.save(runner.path(file), np.ascontiguousarray(np.load(folder / file)))
        arguments = ["apply", "--q", folder / "q.npy", "--k", folder / "k.npy", "--out-q", "q.npy", "--out-k", "k.npy",
                     "--device", "cpu", "--model-fp32", "--preset", *words.split()]
        if runner.expect(f"{case} by its preset", arguments, 0).status != 0:
            continue
        for name in ("q", "k"):
            recorded = np.load(folder / f"{name}_out.npy")
            out = np.load(runner.path(f"{name}.npy"))
            off = np.abs(out.astype(np.float64) - recorded).max()
            runner.check(f"{case} by its preset: {name}", off <= FP32_LIMIT, f"{off:.3g} off")
            runner.path(f"{name}.npy").unlink()


def test(runner):
    list_presets(runner)
    refuse(runner)
    rotate(runner)

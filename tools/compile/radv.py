# SPDX-License-Identifier: MIT
"""AMD's Vulkan driver compiles for GPUs that are not here; nothing is ever submitted to it."""
import json
import os
import pathlib
import struct

import machine_code
from kernels import CONTROL, KERNELS, vulkan_constants
from tool import Missing, complaint, control, find, result, run

NAME = "RADV"
FAMILIES = ["polaris10", "vega10", "raven", "renoir", "stoney", "navi10", "navi21", "gfx1036", "gfx1100"]
QUICK = ["navi21"]
# Where contraction is a fused instruction: others have one that rounds the product.
FUSING = ("navi21", "gfx1036", "gfx1100")
# Where the sum of two fp32 values is known to be fused with its conversion to fp16.
MIXING = ("navi10", "navi21", "gfx1036", "gfx1100")
OP_DECORATE, NO_CONTRACTION, HEADER_WORDS = 71, 42, 5
MIXED = """#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 4, std430) readonly buffer In { float from[]; };
layout(set = 0, binding = 5, std430) buffer Out { float16_t to[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    precise float sum = from[i] + from[i + 1u];
    to[i] = float16_t(sum);
}
"""


def driver():
    found = sorted(pathlib.Path("/usr/share/vulkan/icd.d").glob("radeon_icd*.json"))
    if not found:
        raise Missing("RADV is not here: no radeon_icd*.json in /usr/share/vulkan/icd.d")
    return found[0]


def variants(program, module, family, kernels):
    """What the driver says of each kernel; Missing when it does not know the family."""
    environment = dict(os.environ, RADV_FORCE_FAMILY=family, VK_ICD_FILENAMES=str(driver()), VK_DRIVER_FILES=str(driver()))
    environment["MESA_SHADER_CACHE_DISABLE"] = "true"
    done = run([program, "verify-worker", "compile", module, *(":".join(map(str, vulkan_constants(k))) for k in kernels)],
               env=environment)
    if done.returncode == 77:
        raise Missing(complaint(done))
    if done.returncode != 0:
        raise RuntimeError(complaint(done))
    return [json.loads(line) for line in done.stdout.splitlines()]


def facts(found):
    counted = machine_code.count_amd(found["code"])
    return {"registers": found.get("VGPRs", 0), "scalar_registers": found.get("SGPRs", 0),
            "spills": found.get("Spilled VGPRs", 0) + found.get("Spilled SGPRs", 0),
            "scratch": found.get("Scratch size", 0), "instructions": found.get("Instructions", counted["instructions"]),
            **{key: counted[key] for key in ("fused", "mixed", "unfused")}}


def without_precise(module):
    """A module in which a driver may contract what it likes."""
    words = struct.unpack(f"<{len(module) // 4}I", module)
    kept, at = list(words[:HEADER_WORDS]), HEADER_WORDS
    while at < len(words):
        count = words[at] >> 16
        if not (words[at] & 0xffff == OP_DECORATE and words[at + 2] == NO_CONTRACTION):
            kept += words[at:at + count]
        at += max(count, 1)
    return struct.pack(f"<{len(kept)}I", *kept)


def family_results(job, family):
    for vector in (1, 0):
        kernels = [kernel for kernel in job.kernels if kernel.vector == vector]
        module = job.folder / "spirv" / ("rope2d_vector.spv" if vector else "rope2d_single.spv")
        try:
            found = variants(job.program, module, family, kernels)
            yield from ({"result": result(NAME, family, kernel.name, facts(one))} for kernel, one in zip(kernels, found))
        except RuntimeError as error:
            yield {"result": result(NAME, family, "vector" if vector else "single", {}, str(error))}


def controls(job, family):
    loose = job.folder / "loose.spv"
    loose.write_bytes(without_precise((job.folder / "spirv/rope2d_vector.spv").read_bytes()))
    try:
        caught = facts(variants(job.program, loose, family, [CONTROL])[0])
        if family in FUSING:
            yield {"control": control(NAME, family, "arithmetic that may be contracted", caught["fused"] > 0)}
        if family not in MIXING:
            return
        source = job.folder / "mixed.comp"
        source.write_text(MIXED)
        done = run([find("glslc"), "--target-env=vulkan1.1", "-O0", "-o", source.with_suffix(".spv"), source])
        if done.returncode != 0:
            raise RuntimeError(complaint(done))
        caught = facts(variants(job.program, source.with_suffix(".spv"), family, [KERNELS[0]])[0])
        yield {"control": control(NAME, family, "a sum in mixed precision", caught["mixed"] > 0)}
    except RuntimeError as error:
        yield {"control": control(NAME, family, "controls", False, str(error))}
    except Missing as error:
        yield {"skip": {"what": f"{NAME} {family}: a control", "why": str(error)}}


def targets(is_quick):
    driver()
    return QUICK if is_quick else FAMILIES


def version(job):
    del job
    return run(["dpkg-query", "-W", "-f", "mesa-vulkan-drivers ${Version}", "mesa-vulkan-drivers"]).stdout or "unknown"


def compile_for(job, target):
    yield from family_results(job, target)
    yield from controls(job, target)

# SPDX-License-Identifier: MIT
"""spirv-val judges the embedded modules for each version of Vulkan; spirv-dis shows that no arithmetic may be contracted."""
import machine_code
from radv import without_precise
from tool import complaint, control, find, result, run

NAME = "spirv-val"
TARGETS = ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"]


def targets(is_quick):
    del is_quick
    find("spirv-val")
    find("spirv-dis")
    return TARGETS


def version(job):
    del job
    lines = run(["spirv-val", "--version"]).stdout.splitlines()
    return lines[0] if lines else "unknown"


def facts(path):
    return machine_code.spirv_faults(run(["spirv-dis", "--raw-id", path]).stdout)


def compile_for(job, target):
    for module in sorted((job.folder / "spirv").glob("*.spv")):
        done = run(["spirv-val", "--target-env", target, module])
        yield {"result": result(NAME, target, module.stem, facts(module), complaint(done) if done.returncode else "")}
    whole = (job.folder / "spirv/rope2d_vector.spv").read_bytes()
    cut, loose = job.folder / "cut.spv", job.folder / "loose.spv"
    cut.write_bytes(whole[:-4])  # the end of its last function
    loose.write_bytes(without_precise(whole))
    yield {"control": control(NAME, target, "a module without its end", run(["spirv-val", "--target-env", target, cut]).returncode != 0)}
    yield {"control": control(NAME, target, "arithmetic that may be contracted", facts(loose)["fused"] > 0)}

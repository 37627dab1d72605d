# SPDX-License-Identifier: MIT
"""What one element costs in a kernel's machine code, as a lane sees it: a vector unit of one head, or a single pair."""
import re

from kernels import EIGHT, ONE_RUN, TWO_HEADS
from machine_code import INTEL_LINE, strip

KINDS = ("products and sums", "choices", "loads and stores", "other of vectors", "scalar")


def elements(kernel, twice):
    """Of a lane: 16 bytes of lo and of hi, or one pair; with any of the flags `twice` as many again."""
    return 2 if not kernel.vector else 16 if kernel.flags & twice else 8


def amd_elements(kernel):
    """Vulkan's lanes, which may have one run of eight in the place of two."""
    return elements(kernel, 0 if kernel.flags & ONE_RUN else EIGHT)


LABEL = re.compile(r"\s*(BB\d+):").match
JUMP = re.compile(r"branch\w* .*?(BB\d+)").search


def amd_executed(code, slots):
    """The instructions of a lane: of two tensors it jumps over the other's, which is the longest stretch that ends in a jump."""
    lines = code.splitlines()
    labels = {found[1]: at for at, found in enumerate(map(LABEL, lines)) if found}
    jumps = ((at, labels.get(found[1], 0)) for at, found in enumerate(map(JUMP, lines)) if found)
    apart = [(at + 1, to) for at, to in jumps if to > at + 1 and strip(lines[to - 1]).startswith("s_branch")]
    first, last = max(apart, key=lambda span: span[1] - span[0], default=(0, 0)) if slots == 2 else (0, 0)
    return [line for line in map(strip, lines[:first] + lines[last:]) if line]


def amd(found, kernel):
    """Instructions, inverse throughput and latency, the driver's estimates of cycles, for one element."""
    executed = len(amd_executed(found["code"], kernel.slots)) if kernel.vector else found["Instructions"]
    return [value / amd_elements(kernel) for value in (executed, found["Inverse Throughput"], found["Latency"])]


def amd_parts(found, kernel):
    """The instructions for one element, by what they are for."""
    names = [line.split()[0] for line in amd_executed(found["code"], kernel.slots)]
    patterns = (r"v_(mul|add|sub|mad|mac)\w*_f32", r"v_cndmask", r"buffer_(load|store)|image_", r"v_")
    counts = [sum(bool(re.match(pattern, name)) for name in names) for pattern in patterns]
    counts[3] -= counts[0] + counts[1]
    return [count / amd_elements(kernel) for count in counts + [len(names) - sum(counts)]]


def intel(listing, kernel):
    """Instructions for one element of 16 lanes, whatever the width that the compiler has chosen, and that width."""
    lines = [line.split("//")[0].rstrip() for line in listing.splitlines()]
    executed = sum(bool(INTEL_LINE.match(line)) and not line.endswith(":") for line in lines)
    width = max((int(found[1]) for found in re.finditer(r"\((\d+)\|M0\)", "\n".join(lines))), default=16)
    return executed * 16 / width / elements(kernel, EIGHT | TWO_HEADS), width

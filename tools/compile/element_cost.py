# SPDX-License-Identifier: MIT
"""What one element costs in a kernel's machine code, as a lane sees it that rotates 8 heads."""
import re

from kernels import EIGHT
from machine_code import INTEL_LINE, strip

ROUNDS = 8  # of the loop over heads: what AMD's driver assumes for its own figures
KINDS = ("products and sums", "choices", "loads and stores", "other in the loop", "once per lane")


def elements(kernel):
    """Of one round: 16 bytes of lo and of hi, or one pair."""
    return 2 if not kernel.vector else 16 if kernel.flags & EIGHT else 8


def rounds(kernel):
    return ROUNDS if kernel.vector else 1


def longest_loop(lines, label, jump):
    """First and last line of the longest stretch that a jump goes back over; none: two equal ones."""
    labels = {found[1]: at for at, found in enumerate(map(label, lines)) if found}
    jumps = ((at, jump(line)) for at, line in enumerate(lines))
    spans = [(labels[found[1]], at) for at, found in jumps if found and labels.get(found[1], at) < at]
    return max(spans, key=lambda span: span[1] - span[0], default=(0, 0))


LABEL = re.compile(r"\s*(BB\d+):").match
JUMP = re.compile(r"branch\w* .*?(BB\d+)").search


def amd_loop(code):
    lines = code.splitlines()
    first, last = longest_loop(lines, LABEL, JUMP)
    return lines[first:last]


def amd_other_tensor(code):
    """How many instructions a lane jumps over: those for the other tensor of two, a loop of its own and what comes before it."""
    lines = code.splitlines()
    labels = {found[1]: at for at, found in enumerate(map(LABEL, lines)) if found}
    jumps = [(at, labels[found[1]]) for at, found in enumerate(map(JUMP, lines)) if found and found[1] in labels]
    loops = [(to, at) for at, to in jumps if to < at]
    outer = [loop for loop in loops if not any(other[0] <= loop[0] and loop[1] <= other[1] and other != loop for other in loops)]
    one, other = sorted(sorted(outer, key=lambda loop: loop[1] - loop[0])[-2:])
    at, to = max((at, to) for at, to in jumps if at < one[0] and one[1] < to <= other[0])
    return sum(bool(strip(line)) for line in lines[at + 1:to])


def once_of_amd(found, kernel):
    return found["Instructions"] - len(amd_loop(found["code"])) - (amd_other_tensor(found["code"]) if kernel.slots == 2 else 0)


def amd(found, kernel):
    """Instructions, inverse throughput and latency, the driver's estimates of cycles, for one element."""
    times, count = rounds(kernel), elements(kernel)
    executed = once_of_amd(found, kernel) + times * len(amd_loop(found["code"])) if kernel.vector else found["Instructions"]
    return [value / (times * count) for value in (executed, found["Inverse Throughput"], found["Latency"])]


def amd_parts(found, kernel):
    """The instructions for one element, by what they are for."""
    names = [line.split()[0] for line in map(strip, amd_loop(found["code"])) if line]
    counts = [sum(bool(re.match(pattern, name)) for name in names)
              for pattern in (r"v_(mul|add|sub|mad|mac)\w*_f32", r"v_cndmask", r"buffer_(load|store)|image_")]
    counts.append(len(amd_loop(found["code"])) - sum(counts))
    return [count / elements(kernel) for count in counts] + [once_of_amd(found, kernel) / (ROUNDS * elements(kernel))]


def intel(listing, kernel):
    """Instructions for one element of 16 lanes, whatever the width that the compiler has chosen, and that width."""
    lines = [line.split("//")[0].rstrip() for line in listing.splitlines()]
    is_instruction = [bool(INTEL_LINE.match(line)) and not line.endswith(":") for line in lines]
    first, last = longest_loop(lines, re.compile(r"(\w+):$").match, re.compile(r"\b(?:jmpi|while)\b.*?(_\w+)").search)
    width = max((int(found[1]) for found in re.finditer(r"\((\d+)\|M0\)", "\n".join(lines))), default=16)
    looped = sum(is_instruction[first:last + 1]) if kernel.vector and last > first else 0
    executed = sum(is_instruction) + (rounds(kernel) - 1) * looped
    return executed * 16 / width / (rounds(kernel) * elements(kernel)), width

# SPDX-License-Identifier: MIT
"""Which kernels are compiled: a selection in which every type, pairing, table and form of shaders/ comes up."""
import collections

TWO_ANGLES, HEAD_TABLE, ONE_AXIS, INTERLEAVED, EIGHT, FACTORED, TEXTURE, TWO_SLOTS = 1, 2, 4, 8, 32, 64, 128, 256
CONVERTS = 512  # f16 by the device itself
RUN_AXIS = 32768
OPENCL_FLAGS = 127 | RUN_AXIS  # Vulkan's kernels have more
F32, F16, BF16 = 0, 1, 2

Kernel = collections.namedtuple("Kernel", "name vector source to flags")

KERNELS = [
    Kernel("vector f32:f32 half buffer", 1, F32, F32, ONE_AXIS),
    Kernel("vector f32:f32 half texture", 1, F32, F32, ONE_AXIS | TEXTURE),
    Kernel("vector f32:f32 interleaved buffer", 1, F32, F32, INTERLEAVED),
    Kernel("vector f32:f32 interleaved texture", 1, F32, F32, INTERLEAVED | TEXTURE),
    Kernel("vector f16:f16 half buffer", 1, F16, F16, ONE_AXIS | EIGHT),
    Kernel("vector f16:f16 interleaved texture", 1, F16, F16, INTERLEAVED | EIGHT | TEXTURE),
    Kernel("vector bf16:bf16 half buffer", 1, BF16, BF16, ONE_AXIS | EIGHT),
    Kernel("vector bf16:bf16 interleaved texture", 1, BF16, BF16, INTERLEAVED | EIGHT | TEXTURE),
    Kernel("vector f32:f16 half two-tensors", 1, F32, F16, TWO_SLOTS),
    Kernel("vector f16:f32 half buffer", 1, F16, F32, ONE_AXIS),
    Kernel("vector f32:f32 two-angles", 1, F32, F32, TWO_ANGLES),
    Kernel("vector f32:f32 factored", 1, F32, F32, FACTORED),
    Kernel("vector f32:f32 per-head", 1, F32, F32, HEAD_TABLE),
    Kernel("single f32:f32 buffer", 0, F32, F32, 0),
    Kernel("single f16:f16 buffer", 0, F16, F16, 0),
    Kernel("single bf16:bf16 texture", 0, BF16, BF16, TEXTURE),
    Kernel("single f32:f16 factored", 0, F32, F16, FACTORED),
    Kernel("single f16:bf16 two-angles", 0, F16, BF16, TWO_ANGLES),
    Kernel("vector f16:f16 half buffer native", 1, F16, F16, ONE_AXIS | EIGHT | CONVERTS),
    Kernel("vector f16:f16 interleaved texture native", 1, F16, F16, INTERLEAVED | EIGHT | TEXTURE | CONVERTS),
    Kernel("vector f32:f16 half two-tensors native", 1, F32, F16, TWO_SLOTS | CONVERTS),
]
# More of the same, for tables of what an element costs: verify's answer is the same for these as for those above.
MORE_KERNELS = [
    Kernel("vector f16:f16 half texture", 1, F16, F16, ONE_AXIS | EIGHT | TEXTURE),
    Kernel("vector f16:f16 interleaved buffer", 1, F16, F16, INTERLEAVED | EIGHT),
    Kernel("vector bf16:bf16 half texture", 1, BF16, BF16, ONE_AXIS | EIGHT | TEXTURE),
    Kernel("vector bf16:bf16 interleaved buffer", 1, BF16, BF16, INTERLEAVED | EIGHT),
    Kernel("vector f32:f32 two-angles texture", 1, F32, F32, TWO_ANGLES | TEXTURE),
    Kernel("vector f32:f32 factored texture", 1, F32, F32, FACTORED | TEXTURE),
    Kernel("vector f32:f32 per-head texture", 1, F32, F32, HEAD_TABLE | TEXTURE),
    Kernel("vector f16:f16 half two-angles", 1, F16, F16, TWO_ANGLES | EIGHT),
    Kernel("vector f16:f16 half factored", 1, F16, F16, FACTORED | EIGHT),
    Kernel("vector f16:f16 half texture native", 1, F16, F16, ONE_AXIS | EIGHT | TEXTURE | CONVERTS),
    Kernel("vector f16:f16 interleaved buffer native", 1, F16, F16, INTERLEAVED | EIGHT | CONVERTS),
]
QUICK = [KERNELS[i] for i in (0, 4, 13)]
CONTROL = KERNELS[0]  # the one that controls are made of


def opencl_options(kernel):
    """As src/opencl/program.c builds it."""
    return ["-cl-std=CL1.2", f"-DR_IN={kernel.source}u", f"-DR_OUT={kernel.to}u", f"-DR_VECTOR={kernel.vector}",
            f"-DR_FLAGS={kernel.flags & OPENCL_FLAGS}u", f"-DR_TEXTURE={int(kernel.flags & TEXTURE != 0)}"]

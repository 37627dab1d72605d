# SPDX-License-Identifier: MIT
"""Which kernels are compiled: a selection in which every type, pairing, table and form of shaders/ comes up, all of them such as
plans take on a GPU (tests/test_listed_kernels.py)."""
import collections

TWO_ANGLES, HEAD_TABLE, ONE_AXIS, INTERLEAVED, LONE, EIGHT, FACTORED, TEXTURE, TWO_SLOTS = 1, 2, 4, 8, 16, 32, 64, 128, 256
CONVERTS = 512  # f16 by the device itself
RUN_AXIS = 32768
PAIR_AXIS = 65536
TWO_HEADS = 131072  # OpenCL's alone
ONE_RUN = 262144  # Vulkan's alone
OPENCL_FLAGS = 127 | RUN_AXIS | PAIR_AXIS | TWO_HEADS  # Vulkan's kernels have more
F32, F16, BF16 = 0, 1, 2
EIGHTS = EIGHT | RUN_AXIS  # all of a run turns by the same axis, which may be another run's
ODD = EIGHT | ONE_RUN | TWO_HEADS  # of these OpenCL has two heads of fours alone, and Vulkan the others

# Slots: tensors of a dispatch in Vulkan; a GPU has two, but for one at Vulkan's minimum of storage buffers.
Kernel = collections.namedtuple("Kernel", "name vector source to flags slots", defaults=(2,))

# Of halves a unit of eight pairs may have two axes, where an axis' pairs are no multiple of eight (Qwen2-VL's 20, Flux' 28): "two-axes".
# Interleaved, a unit has two runs from two places. Llama 4's 11 runs are all alone in Vulkan and fours in OpenCL: "odd". Of
# an odd number of pairs to an axis (Wan 2.1's 21) neighbours turn by axes of their own: "pair-axes". Halves that are no multiple of eight
# (Llama 4's 44) have runs of four, and in OpenCL a lane has two heads' of these where they are of 16 bits: "fours".
KERNELS = [
    Kernel("vector f32:f32 half buffer", 1, F32, F32, ONE_AXIS),
    Kernel("vector f32:f32 half texture", 1, F32, F32, ONE_AXIS | TEXTURE),
    Kernel("vector f32:f32 half one-tensor", 1, F32, F32, ONE_AXIS, 1),
    Kernel("vector f32:f32 interleaved buffer", 1, F32, F32, INTERLEAVED),
    Kernel("vector f32:f32 interleaved texture", 1, F32, F32, INTERLEAVED | TEXTURE),
    Kernel("vector f16:f16 half buffer", 1, F16, F16, ONE_AXIS | EIGHTS),
    Kernel("vector f16:f16 half two-axes", 1, F16, F16, EIGHTS),
    Kernel("vector f16:f16 interleaved texture", 1, F16, F16, INTERLEAVED | EIGHTS | TEXTURE),
    Kernel("vector bf16:bf16 half buffer", 1, BF16, BF16, ONE_AXIS | EIGHTS),
    Kernel("vector bf16:bf16 half two-axes", 1, BF16, BF16, EIGHTS),
    Kernel("vector bf16:bf16 interleaved texture", 1, BF16, BF16, INTERLEAVED | EIGHTS | TEXTURE),
    Kernel("vector bf16:bf16 interleaved odd", 1, BF16, BF16, INTERLEAVED | ODD),
    Kernel("vector f16:f16 half fours", 1, F16, F16, TWO_HEADS),
    Kernel("vector f32:f32 half pair-axes", 1, F32, F32, PAIR_AXIS),
    Kernel("vector f16:f16 interleaved pair-axes", 1, F16, F16, INTERLEAVED | EIGHT | PAIR_AXIS),
    Kernel("vector bf16:bf16 half pair-axes texture", 1, BF16, BF16, EIGHT | PAIR_AXIS | TEXTURE),
    Kernel("vector f32:f16 half buffer", 1, F32, F16, ONE_AXIS),
    Kernel("vector f16:f32 half buffer", 1, F16, F32, ONE_AXIS),
    Kernel("vector f32:f32 two-angles", 1, F32, F32, TWO_ANGLES | ONE_AXIS),
    Kernel("vector f32:f32 factored", 1, F32, F32, FACTORED | HEAD_TABLE | ONE_AXIS),
    Kernel("vector f32:f32 per-head", 1, F32, F32, HEAD_TABLE | ONE_AXIS),
    Kernel("single f32:f32 buffer", 0, F32, F32, 0),
    Kernel("single f16:f16 buffer", 0, F16, F16, 0),
    Kernel("single bf16:bf16 texture", 0, BF16, BF16, TEXTURE),
    Kernel("single f32:f16 factored", 0, F32, F16, FACTORED | HEAD_TABLE),
    Kernel("single f16:bf16 two-angles", 0, F16, BF16, TWO_ANGLES),
    Kernel("vector f16:f16 half buffer native", 1, F16, F16, ONE_AXIS | EIGHTS | CONVERTS),
    Kernel("vector f16:f16 interleaved texture native", 1, F16, F16, INTERLEAVED | EIGHTS | TEXTURE | CONVERTS),
    Kernel("vector f32:f16 half buffer native", 1, F32, F16, ONE_AXIS | CONVERTS),
]
# More of the same, for tables of what an element costs: verify's answer is the same for these as for those above.
MORE_KERNELS = [
    Kernel("vector f16:f16 half texture", 1, F16, F16, ONE_AXIS | EIGHTS | TEXTURE),
    Kernel("vector f16:f16 interleaved buffer", 1, F16, F16, INTERLEAVED | EIGHTS),
    Kernel("vector bf16:bf16 half texture", 1, BF16, BF16, ONE_AXIS | EIGHTS | TEXTURE),
    Kernel("vector bf16:bf16 interleaved buffer", 1, BF16, BF16, INTERLEAVED | EIGHTS),
    Kernel("vector bf16:bf16 half fours", 1, BF16, BF16, TWO_HEADS),
    Kernel("vector f16:f16 half fours native", 1, F16, F16, TWO_HEADS | CONVERTS),
    Kernel("vector f32:f32 interleaved pair-axes", 1, F32, F32, INTERLEAVED | PAIR_AXIS),
    Kernel("vector f16:f16 half pair-axes", 1, F16, F16, EIGHT | PAIR_AXIS),
    Kernel("vector bf16:bf16 interleaved pair-axes", 1, BF16, BF16, INTERLEAVED | EIGHT | PAIR_AXIS),
    Kernel("vector bf16:bf16 half pair-axes", 1, BF16, BF16, EIGHT | PAIR_AXIS),
    Kernel("vector f16:f16 interleaved odd", 1, F16, F16, INTERLEAVED | ODD),
    Kernel("vector f16:f16 interleaved pair-axes native", 1, F16, F16, INTERLEAVED | EIGHT | PAIR_AXIS | CONVERTS),
    Kernel("vector f32:f32 two-angles texture", 1, F32, F32, TWO_ANGLES | ONE_AXIS | TEXTURE),
    Kernel("vector f32:f32 factored texture", 1, F32, F32, FACTORED | HEAD_TABLE | ONE_AXIS | TEXTURE),
    Kernel("vector f32:f32 per-head texture", 1, F32, F32, HEAD_TABLE | ONE_AXIS | TEXTURE),
    Kernel("vector f16:f16 half two-angles", 1, F16, F16, TWO_ANGLES | ONE_AXIS | EIGHTS),
    Kernel("vector f16:f16 half factored", 1, F16, F16, FACTORED | HEAD_TABLE | ONE_AXIS | EIGHTS),
    Kernel("vector f16:f16 half two-axes native", 1, F16, F16, EIGHTS | CONVERTS),
    Kernel("vector f16:f16 half texture native", 1, F16, F16, ONE_AXIS | EIGHTS | TEXTURE | CONVERTS),
    Kernel("vector f16:f16 interleaved buffer native", 1, F16, F16, INTERLEAVED | EIGHTS | CONVERTS),
]
QUICK = [kernel for kernel in KERNELS if kernel.name in ("vector f32:f32 half buffer", "vector f16:f16 half buffer", "single f32:f32 buffer")]
CONTROL = KERNELS[0]  # the one that controls are made of


def vulkan_constants(kernel):
    """As src/vulkan/pipeline.c has them."""
    slots = TWO_SLOTS if kernel.slots == 2 else 0
    return [128 if kernel.vector else 64, kernel.source, kernel.to, kernel.flags & ~TWO_HEADS | slots]


def is_opencl(kernel):
    """Of kernels that Vulkan alone has, one has a twin that differs in nothing else."""
    return kernel.slots == 2 and not kernel.flags & CONVERTS


def opencl_options(kernel):
    """As src/opencl/program.c builds it."""
    flags = kernel.flags & OPENCL_FLAGS & ~(EIGHT if kernel.flags & ONE_RUN else 0)
    return ["-cl-std=CL1.2", f"-DR_IN={kernel.source}u", f"-DR_OUT={kernel.to}u", f"-DR_VECTOR={kernel.vector}",
            f"-DR_FLAGS={flags}u", f"-DR_TEXTURE={int(kernel.flags & TEXTURE != 0)}"]

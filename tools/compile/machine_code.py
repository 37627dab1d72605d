# SPDX-License-Identifier: MIT
"""What a listing of machine code says: how many instructions, which of them multiply and add at once, and which take
values of one precision and give another of it without rounding in between."""
import re

from division import Division

# AMD: v_fma_f32, v_fmac_f32, v_fmaak_f32, v_pk_fma_f32, v_fma_mix_f32, v_dot2_f32_f16. Not v_mad_f32 and v_mac_f32 of older
# families, which round the product, as a multiplication and an addition do, and flush subnormals: they are counted apart.
AMD_FUSED = re.compile(r"^v_(pk_)?fma[a-z]*(_legacy)?_(f16|f32|f64)|^v_fma_mix|^v_dot\d\w*_f")
AMD_UNFUSED = re.compile(r"^v_(mad|mac)[a-z]*(_legacy)?_(f16|f32)")
# A product with an f16, to which -0 is added, is nothing but that product.
AMD_PRODUCT = re.compile(r"^v_(fma|mad)_mix_f32\b.*,\s*(neg\(0\)|-0)(\s|$)")
AMD_MIXED = re.compile(r"^v_(fma|mad)_mix|^v_dot\d\w*_f32_(f|bf)16")
# NVIDIA's PTX: an addition or multiplication without .rn is one that ptxas may fuse; mad and fma are.
PTX_FUSED = re.compile(r"^(fma|mad)\.[a-z.]*(f16|f32|f64|bf16)|^(add|sub|mul)\.(ftz\.|sat\.)*(f16|f32|f64|bf16)")
PTX_MIXED = re.compile(r"^(add|sub|mul|fma|mad)\.[a-z.]*f32\.(f16|bf16)")
# Intel: the types are those of operands, such as mad (16|M0) r1.0<1>:hf r2.0<1;0>:f r3.0<1;0>:f r4.0<1>:f.
INTEL_LINE = re.compile(r"^\s*(?:\([^)]*\)\s*)?([a-z][a-z0-9_.]*)\s")
INTEL_TYPES = re.compile(r":(f|hf|bf|df)\b")
INTEL_MULTIPLY_ADD = re.compile(r"^(mad|madm|mac|dp4a?|dpas|pln|lrp)(\.|$)")
INTEL_ARITHMETIC = re.compile(r"^(add3?|mul|mad|madm|mac)(\.|$)")


def strip(line):
    """Without comments, predicates and labels."""
    line = re.split(r"//|;", line)[0].strip()
    return "" if line.endswith(":") or line.startswith(".") else re.sub(r"^@!?%\w+\s+", "", line)


def count_amd(text):
    lines = [line for line in map(strip, text.splitlines()) if re.match(r"[a-z]+_\w+(\s|$)", line)]
    names = [line.split()[0] for line in lines if not AMD_PRODUCT.match(line)]
    return {"instructions": len(lines), "fused": sum(bool(AMD_FUSED.match(name)) for name in names),
            "mixed": sum(bool(AMD_MIXED.match(name)) for name in names),
            "unfused": sum(bool(AMD_UNFUSED.match(name)) for name in names)}


def count_ptx(text):
    names = [line.split()[0] for line in map(strip, text.splitlines()) if re.match(r"[a-z]+[\w.]*[\s;]?", line)
             and not line.startswith(("ret_", "(", ")", "{", "}"))]
    return {"instructions": len(names), "fused": sum(bool(PTX_FUSED.match(name)) for name in names),
            "mixed": sum(bool(PTX_MIXED.match(name)) for name in names)}


def count_intel(text):
    found = {"instructions": 0, "fused": 0, "mixed": 0}
    division = Division()
    for whole in text.splitlines():
        line = whole.split("//")[0].rstrip()
        name = INTEL_LINE.match(line)
        if not name or line.endswith(":"):
            continue
        types = set(INTEL_TYPES.findall(line))
        found["instructions"] += 1
        divides = division.take(name[1], whole)
        if types and INTEL_MULTIPLY_ADD.match(name[1]):
            # Some families divide integers in double, which the kernels do not have.
            kind = "of_division" if divides or "df" in types else "fused"
            found[kind] = found.get(kind, 0) + 1
        found["mixed"] += bool(len(types - {"df"}) > 1 and INTEL_ARITHMETIC.match(name[1]))
    return found


def spirv_faults(text):
    """Of a disassembled module: float arithmetic that a driver may contract, and Fma, which is contracted."""
    exact = set(re.findall(r"OpDecorate (%\w+) NoContraction", text))
    arithmetic = re.findall(r"(%\w+) = Op(?:FAdd|FSub|FMul|FNegate|VectorTimesScalar|Dot)\b", text)
    fused = len(re.findall(r"OpExtInst %\w+ %\w+ Fma\b", text)) + sum(name not in exact for name in arithmetic)
    return {"instructions": len(re.findall(r"^\s*(?:%\w+ = )?Op\w+", text, re.M)), "fused": fused, "mixed": 0}

# SPDX-License-Identifier: MIT
"""Which multiply-adds of an Intel listing divide integers, told by what their operands come from.

Where there is no division of integers, the compiler makes it in float, from a reciprocal that is a little too small:

    reciprocal = math.inv(divisor), then reciprocal += reciprocal * SHRINK    a multiply-add
    quotient = the integer part of dividend * reciprocal
    rest = dividend - quotient * divisor                                      a multiply-add for each half of their bits

Dividend, divisor and quotient are integers made float. One reciprocal serves all lanes where the divisor is uniform, so
that the number of multiply-adds says nothing.
"""
import re

SHRINK = "0xB4C00000"
REGISTER = r"-?(?:r|acc)\d+(?:\.\d+)?"
OPERANDS = re.compile(rf"\((\d+)\|M\d+\)\s+({REGISTER})<\d+>:([a-z]+)\s+(.*)")
OPERAND = re.compile(rf"({REGISTER})<[\d;,]*>:([a-z]+)|(0x[0-9A-Fa-f]+):([a-z]+)")
READ = re.compile(r"\(\d+\|M\d+\)\s+r(\d+)\s.*\brd:(\d+)")
SIZES = {"b": 1, "ub": 1, "w": 2, "uw": 2, "hf": 2, "bf": 2, "q": 8, "uq": 8, "df": 8}
WHOLE, SMALL, RECIPROCAL, PRODUCT, QUOTIENT, WHOLE_QUOTIENT = range(6)


class Division:
    """Is given a listing line by line, and knows what registers hold of a division."""

    def __init__(self):
        self.holds = {}

    def _forget(self, first, count):
        self.holds = {name: what for name, what in self.holds.items()
                      if name[0] == "a" or not first <= int(name[1:].split(".")[0]) < first + count}

    def _overwritten(self, name, lanes, kind):
        self.holds.pop(name, None)
        if lanes > 1 and name[0] == "r":
            self._forget(int(name[1:].split(".")[0]), max(1, lanes * SIZES.get(kind, 4) // 32))

    def _result(self, name, to, sources):
        """What an instruction's result is of a division, and None where it is nothing of it."""
        held = [self.holds.get(text.lstrip("-")) for text, _ in sources]
        kinds = {kind for _, kind in sources}
        if name == "mov" and len(sources) == 1:
            if sources[0] == (SHRINK, "f"):
                return SMALL
            if to == "f" and kinds == {"ud"}:
                return WHOLE_QUOTIENT if held == [QUOTIENT] else WHOLE
            return QUOTIENT if to == "ud" and held == [PRODUCT] else None
        if to != "f" or kinds != {"f"}:
            return None
        if name == "mul":
            return PRODUCT if WHOLE in held and RECIPROCAL in held else None
        if name == "mad" and held == [RECIPROCAL, SMALL, RECIPROCAL] and sources[0] == sources[2]:
            return RECIPROCAL
        return RECIPROCAL if name == "math.inv" and held == [WHOLE] else None

    def take(self, name, line):
        """True where this instruction is a multiply-add of a division."""
        read = READ.search(line)
        if read:
            self._forget(int(read[1]), int(read[2]))
        found = OPERANDS.search(line.split("//")[0])
        if not found:
            return False
        lanes, target, to = int(found[1]), found[2], found[3]
        sources = [(one[0] or one[2], one[1] or one[3]) for one in OPERAND.findall(found[4])]
        result = self._result(name, to, sources)
        is_rest = (name == "mad" and to == "f" and [kind for _, kind in sources] == ["f"] * 3
                   and [self.holds.get(text) for text, _ in sources[:2]] == [WHOLE, WHOLE_QUOTIENT]
                   and sources[2][0].startswith("-") and self.holds.get(sources[2][0][1:]) == WHOLE)
        self._overwritten(target, lanes, to)
        if result is not None:
            self.holds[target] = result
        return is_rest or (name == "mad" and result == RECIPROCAL)

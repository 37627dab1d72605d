# SPDX-License-Identifier: MIT
"""The encoder of src/unpack.h, which describes what is written here.

tokens(words): the words of a SPIR-V module as bytes, small where they can be.
pack(data, before): data in fewer bytes, for a decoder that has `before` already.
"""

import math

PROBABILITY_BITS = 11
ADAPTATION = 4
MIN_COPY = 2
LONGEST_COPY = 1023
NEAR_LIMIT = 128  # distances from the newest number that take one byte

LITERAL_SETS = 8  # by the highest three bits of the byte before


def token(value):
    """Seven bits to a byte, the lowest first; the eighth says that more follow."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tokens(words):
    out = b"".join(map(token, words[:5]))
    bound, newest, at = words[3], 0, 5
    while at < len(words):
        count, opcode = words[at] >> 16, words[at] & 0xFFFF
        if count == 0 or at + count > len(words):
            raise ValueError("an instruction that ends outside its module")
        out += token(opcode) + token(count)
        for place, word in enumerate(words[at + 1 : at + count], 1):
            back = newest + 1 - word
            if place == 1 and count > 2:
                out += token(word)
            else:
                out += token(back if 0 <= back < NEAR_LIMIT else word + NEAR_LIMIT)
            if word == newest + 1 or (place == 2 and newest < word < bound):
                newest = word
        at += count
    return bytes(out)


class RangeEncoder:
    """Writes decisions; each has a model, which is an estimate that follows what it sees."""

    def __init__(self):
        self.low = 0
        self.range = 0xFFFFFFFF
        self.out = bytearray()
        self.bits = 0.0  # that decisions have taken

    def bit(self, models, at, bit):
        odds = models[at] / (1 << PROBABILITY_BITS)
        self.bits -= math.log2(1 - odds if bit else odds)
        bound = (self.range >> PROBABILITY_BITS) * models[at]
        if bit:
            self.low += bound
            self.range -= bound
            models[at] -= models[at] >> ADAPTATION
        else:
            self.range = bound
            models[at] += ((1 << PROBABILITY_BITS) - models[at]) >> ADAPTATION
        if self.low >> 32:
            self.low &= 0xFFFFFFFF
            self._carry()
        while self.range < 1 << 24:
            self.out.append(self.low >> 24)
            self.low = (self.low << 8) & 0xFFFFFFFF
            self.range <<= 8

    def _carry(self):
        at = len(self.out) - 1
        while self.out[at] == 0xFF:
            self.out[at] = 0
            at -= 1
        self.out[at] += 1

    def literal(self, models, likely, expected, byte):
        """`expected`: 256 plus the byte that a copy would have gone on with, or 0."""
        seen = 1
        for shift in range(7, -1, -1):
            bit, guess = byte >> shift & 1, expected >> shift
            if guess >> 1 == seen:
                self.bit(likely, guess % 2 * 256 + seen, bit)
            else:
                self.bit(models, seen, bit)
            seen = seen * 2 + bit

    def number(self, models, value):
        """At least 1: how many bits follow the first, then these, the highest first."""
        bits = value.bit_length() - 1
        for at in range(bits):
            self.bit(models, at, 1)
        self.bit(models, bits, 0)
        seen = 1
        for at in range(bits - 1, -1, -1):
            bit = value >> at & 1
            self.bit(models, 32 + bits * 8 + seen if seen < 8 else 256 + at, bit)
            seen = seen * 2 + bit

    def finish(self):
        self.out += self.low.to_bytes(4, "big")
        return bytes(self.out.rstrip(b"\0"))  # the decoder reads zeros past the end


def matching(data, at, distance):
    """How many bytes repeat, at most LONGEST_COPY."""
    length, step = 0, (LONGEST_COPY + 1) // 2
    source = at - distance
    while step:
        here = data[at + length : at + length + step]
        if len(here) == step and data[source + length : source + length + step] == here:
            length += step
        step //= 2
    return length


def copies(data, start):
    """For each position from start on: [(length, distance)], a longer one only where it lies farther back."""
    found = [[] for _ in data]
    for key_size, most in ((MIN_COPY, 8), (4, 16), (8, 32)):
        chains = {}
        for at in range(len(data) - key_size + 1):
            chain = chains.setdefault(data[at : at + key_size], [])
            if at >= start:
                longest = max((length for length, _ in found[at]), default=MIN_COPY - 1)
                for source in reversed(chain[-most:]):
                    if longest >= LONGEST_COPY:
                        break
                    length = matching(data, at, at - source)
                    if length > longest:
                        found[at].append((length, at - source))
                        longest = length
            chain.append(at)
    return found


class Prices:
    """What steps take, in bits: estimates, and what was seen of them before."""

    def __init__(self):
        self.seen = {}

    def add(self, kind, bits):
        taken, times = self.seen.get(kind, (0.0, 0))
        self.seen[kind] = taken + bits, times + 1

    def _price(self, kind, estimate):
        taken, times = self.seen.get(kind, (0.0, 0))
        return (taken + estimate / 2) / (times + 0.5)

    def literal(self, byte):
        return self._price(("literal", byte), 6.5)

    def length(self, number):
        return self._price(("length", min(number, 40)), 1.2 * math.log2(number))

    def again(self):
        return self._price("again", 2.0)

    def distance(self, distance):
        return self._price(("distance", distance.bit_length()), 3.5 + 1.1 * distance.bit_length())


def parse(data, start, found, prices):
    """The steps, (length, distance) or (1, 0) for a literal, that write data[start:] cheaply."""
    literals = [prices.literal(byte) for byte in range(256)]
    lengths = [0.0, *map(prices.length, range(1, LONGEST_COPY))]
    distances = [prices.distance(1 << bits >> 1) for bits in range(len(data).bit_length() + 1)]
    again = prices.again()
    cost = [math.inf] * (len(data) + 1)
    came_by = [None] * (len(data) + 1)
    last = [0] * (len(data) + 1)
    cost[start] = 0.0

    def offer(at, length, distance, price):
        if cost[at] + price < cost[at + length]:
            cost[at + length] = cost[at] + price
            came_by[at + length] = (length, distance)
            last[at + length] = distance or last[at]

    for at in range(start, len(data)):
        offer(at, 1, 0, literals[data[at]])
        choices = [(length, distance, distances[distance.bit_length()]) for length, distance in found[at]]
        if last[at]:
            choices.append((matching(data, at, last[at]), last[at], again))
        for length, distance, price in choices:
            for take in {length, *range(MIN_COPY, min(length, 20))} if length >= MIN_COPY else ():
                offer(at, take, distance, price + lengths[take - MIN_COPY + 1])
    steps = []
    at = len(data)
    while at > start:
        steps.append(came_by[at])
        at -= came_by[at][0]
    return steps[::-1]


def write(whole, at, steps):
    """What steps from `at` on become, and what they took."""
    coder, prices = RangeEncoder(), Prices()
    fresh = 1 << (PROBABILITY_BITS - 1)
    kinds, again, literals = [fresh] * 2, [fresh] * 2, [[fresh] * 256 for _ in range(LITERAL_SETS)]
    likely = [fresh] * 512
    lengths, distances = [fresh] * 288, [fresh] * 288
    last, copied = 0, 0
    for length, distance in steps:
        before = coder.bits
        coder.bit(kinds, copied, distance != 0)
        if distance == 0:
            models = literals[whole[at - 1] * LITERAL_SETS // 256 if at else 0]
            coder.literal(models, likely, 256 + whole[at - last] if copied else 0, whole[at])
            prices.add(("literal", whole[at]), coder.bits - before)
        else:
            coder.bit(again, copied, distance == last)
            if distance != last:
                coder.number(distances, distance)
            prices.add("again" if distance == last else ("distance", distance.bit_length()), coder.bits - before)
            before = coder.bits
            coder.number(lengths, length - MIN_COPY + 1)
            prices.add(("length", min(length - MIN_COPY + 1, 40)), coder.bits - before)
            last = distance
        copied = int(distance != 0)
        at += length
    return coder.finish(), prices


def pack(data, before=b""):
    whole, start = bytes(before) + bytes(data), len(before)
    found = copies(whole, start)
    packed, prices = b"", Prices()
    for attempt in range(8):
        again, prices = write(whole, start, parse(whole, start, found, prices))
        packed = again if attempt == 0 or len(again) < len(packed) else packed
    return packed

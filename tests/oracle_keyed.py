"""Hashing with a key once more, slow and obvious: section 11 of the specification, as it runs.

Imports nothing of fastlsh. Polynomials over GF(2) are Python integers.
"""

from functools import cache
from hashlib import blake2b

import oracle

M64 = 2**64 - 1


def carryless(a, b):
    product = 0
    for i in range(b.bit_length()):
        if b >> i & 1:
            product ^= a << i
    return product


def remainder(a, b):
    while a.bit_length() >= b.bit_length():
        a ^= b << (a.bit_length() - b.bit_length())
    return a


def is_irreducible(p):
    """Rabin's test, for the degree 64: x^(2^64) = x, and no factor of x^(2^32) - x is one of p."""
    power, powers = 2, []
    for _ in range(64):
        power = remainder(carryless(power, power), p)
        powers.append(power)
    a, b = p, powers[31] ^ 2
    while b:
        a, b = b, remainder(a, b)
    return a == 1 and powers[63] == 2


class Keyed:
    """The functions of one key."""

    def __init__(self, secret):
        self.root = blake2b(secret, digest_size=64, person=b"fastlsh root").digest()
        self.fingerprint = blake2b(key=self.root, digest_size=16, person=b"fastlsh public")
        self.fingerprint = self.fingerprint.hexdigest()
        count = 1
        while not is_irreducible(2**64 | self.numbers(b"fastlsh modulus", count)[-1]):
            count += 1
        self.modulus = 2**64 | self.numbers(b"fastlsh modulus", count)[-1]
        self.add, self.first, self.second = self.numbers(b"fastlsh mixer", 3)
        summands = self.numbers(b"fastlsh summands", 527)
        self.low = summands[:256]
        self.middle = [0, *summands[256:511]]
        self.top = [0, *summands[511:]]
        self.window_hash = cache(self.window_hash)
        self.characters_hash = cache(self.characters_hash)

    def numbers(self, purpose, count, message=b""):
        stream = b""
        while len(stream) < 8 * count:
            block = message + (len(stream) // 64).to_bytes(8, "little")
            stream += blake2b(block, key=self.root, person=purpose).digest()
        return [int.from_bytes(stream[8 * i : 8 * i + 8], "little") for i in range(count)]

    def summand(self, c):
        return self.low[c % 256] ^ self.middle[c // 256 % 256] ^ self.top[c // 65536]

    def polynomial(self, values):
        h = 0
        for value in values:
            h = remainder(h << 1, self.modulus) ^ value
        return h

    def finish(self, h, units):
        h = (h + units * 0x6A09E667F3BCC909 + self.add) & M64
        h = (h ^ h >> 33) * (self.first | 1) & M64
        h = (h ^ h >> 33) * (self.second | 1) & M64
        return h ^ h >> 33

    def characters_hash(self, characters):
        points = characters if isinstance(characters, bytes) else map(ord, characters)
        return self.finish(self.polynomial(map(self.summand, points)), len(characters))

    def words_hash(self, words):
        return self.finish(self.polynomial(map(self.characters_hash, words)), len(words))

    def window_hash(self, window):
        if isinstance(window, tuple):
            return self.words_hash(window)
        return self.characters_hash(window)

    def functions(self, count, seed=1):
        drawn = self.numbers(b"fastlsh permute", count, seed.to_bytes(8, "little"))
        return [(number % 2**32 | 1, number >> 32) for number in drawn]

    def signature(self, hashes, num_perm=128, seed=1, scheme="affine32"):
        xs = {oracle.fold(h) for h in hashes}
        if scheme == "fss":
            return oracle.fss(xs, self.functions(num_perm + oracle.ROUNDS, seed))
        functions = self.functions(num_perm, seed)
        return [
            min([(a * x + b) & oracle.M32 for x in xs], default=oracle.M32) for a, b in functions
        ]

"""fastlsh once more, slow and obvious: the specification in a form that runs.

Imports nothing of fastlsh. Sets of substrings, Python integers, dictionaries.
"""

import math
from collections import defaultdict
from functools import cache, lru_cache
from itertools import combinations

M32 = 2**32 - 1
M64 = 2**64 - 1
CHARACTER_BASE = 0x243F6A8885A308D5  # pi after the point, the low three bits 5
WORD_BASE = 0xB7E151628AED2A6D  # e after the point, likewise
REMEMBERED = 64
ROUNDS = 8

# ---- from text to shingle hashes


def fmix32(h):
    h = (h ^ h >> 16) * 0x85EBCA6B & M32
    h = (h ^ h >> 13) * 0xC2B2AE35 & M32
    return h ^ h >> 16


def fmix64(h):
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & M64
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & M64
    return h ^ h >> 33


@lru_cache(1 << 16)
def mix_code_point(c):
    h = (c + 1) * 0x9E3779B97F4A7C15 & M64
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93 & M64
    return h ^ h >> 32


def polynomial(values, base):
    h = 0
    for value in values:
        h = (h * base + value) & M64
    return h


def finish(h, units):
    return fmix64((h + units * 0x6A09E667F3BCC909) & M64)


def characters_hash(characters):
    """Hash a str by its code points, bytes by their bytes."""
    points = characters if isinstance(characters, bytes) else map(ord, characters)
    return finish(polynomial(map(mix_code_point, points), CHARACTER_BASE), len(characters))


word_hash = lru_cache(1 << 14)(characters_hash)


def words_hash(words):
    return finish(polynomial(map(word_hash, words), WORD_BASE), len(words))


def units_of(text, unit):
    """Return the units of a text: a str, bytes, or a tuple of words."""
    if text is None:
        return ""
    if unit == "byte":
        return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    text = text.decode() if isinstance(text, bytes) else text
    return tuple(text.split()) if unit == "word" else text


def windows(units, size):
    """Return every window in order; too few units are one window, none is none."""
    return [units[i : i + size] for i in range(max(len(units) - size, 0) + 1)] if units else []


@cache
def window_hash(window):
    return words_hash(window) if isinstance(window, tuple) else characters_hash(window)


# ---- from shingle hashes to signatures and band keys


def fold(h):
    return fmix32((h & M32) ^ fmix32(h >> 32))


def mt19937(seed):
    """Yield the outputs of Matsumoto and Nishimura's init_genrand(seed), genrand_int32()."""
    state = [seed]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + i) & M32)
    while True:
        for i in range(624):
            y = state[i] & 0x80000000 | state[(i + 1) % 624] & 0x7FFFFFFF
            state[i] = state[(i + 397) % 624] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)
        for y in state:
            y ^= y >> 11
            y ^= y << 7 & 0x9D2C5680
            y ^= y << 15 & 0xEFC60000
            yield y ^ y >> 18


@cache
def affine32(num_perm, seed):
    """Return the pairs (a, b)."""
    draw = mt19937(seed)
    a = [2 * (next(draw) & 0x7FFFFFFF) + 1 for _ in range(num_perm)]
    return [(a_j, next(draw)) for a_j in a]


def signature(hashes, num_perm=128, seed=1, scheme="affine32"):
    return list(_signature(frozenset(hashes), num_perm, seed, scheme))


@lru_cache(2048)  # documents are alike, and each is asked for with every instruction set
def _signature(hashes, num_perm, seed, scheme):
    xs = {fold(h) for h in hashes}
    if scheme == "fss":
        return fss(xs, affine32(num_perm + ROUNDS, seed))
    return [min([(a * x + b) & M32 for x in xs], default=M32) for a, b in affine32(num_perm, seed)]


def fss(xs, functions):
    """Throw every element into one slot in each round; then fill what is empty."""
    own, rounds = functions[:-ROUNDS], functions[-ROUNDS:]
    slots = [[] for _ in own]
    for x in xs:
        for number, (a, b) in enumerate(rounds):
            slot, rank = divmod(fmix32((a * x + b) & M32) * len(own), 2**32)
            slots[slot].append(2**32 - 2 ** (32 - number) + (rank >> number + 1))
    row = [min(values, default=M32) for values in slots]
    for j, (a, b) in enumerate(own):
        if xs and row[j] == M32:
            row[j] = 2**32 - 2 ** (32 - ROUNDS) + (min((a * x + b) & M32 for x in xs) >> ROUNDS)
    return row


def band_key(values, band):
    h = (band + 1) * 0x9E3779B97F4A7C15 & M64
    for value in values:
        h = (h ^ value) * 0xD6E8FEB86659FD93 & M64
        h ^= h >> 32
    return fmix64(h) or 1


def band_keys(signatures, bands, rows):
    """Return keys[band][document]; 0 for an empty document."""
    return [
        [
            0 if set(row) == {M32} else band_key(row[band * rows : (band + 1) * rows], band)
            for row in signatures
        ]
        for band in range(bands)
    ]


def candidate_pairs(signatures, bands, rows):
    pairs = set()
    for band in range(bands):
        buckets = defaultdict(list)
        for d, row in enumerate(signatures):
            if set(row) != {M32}:
                buckets[tuple(row[band * rows : (band + 1) * rows])].append(d)
        for bucket in buckets.values():
            pairs.update(combinations(bucket, 2))
    return sorted(pairs)


# ---- choosing bands and rows


def probability(similarity, bands, rows):
    return 1 - (1 - similarity**rows) ** bands


def choose(threshold, num_perm, recall):
    """Return (bands, rows): the most rows, then the fewest bands; None if there are none."""
    for rows in range(num_perm, 0, -1):
        for bands in range(1, num_perm // rows + 1):
            if probability(threshold, bands, rows) >= recall:
                return bands, rows
    return None


# ---- similarity and the two main jobs


def jaccard(a, b):
    return len(a & b) / len(a | b) if a and b else 0.0


def containment(a, b):
    return len(a & b) / len(a) if a and b else 0.0


class Oracle:
    """A collection with its sets and signatures; shingles of the texts `ignore` are in no set."""

    def __init__(
        self, texts, unit="char", size=9, num_perm=128, seed=1, scheme="affine32", ignore=()
    ):
        self.units = [units_of(text, unit) for text in texts]
        self.texts = [units_of(text, "char") for text in texts]
        ignored = {window for text in ignore for window in windows(units_of(text, unit), size)}
        self.sets = [set(windows(units, size)) - ignored for units in self.units]
        self.signatures = [
            signature(map(window_hash, shingles), num_perm, seed, scheme) for shingles in self.sets
        ]

    def similarity(self, a, b, verify="exact"):
        if verify == "none":
            return math.nan
        if verify == "exact":
            return jaccard(self.sets[a], self.sets[b])
        return self.equal(a, b) / len(self.signatures[a])

    def equal(self, a, b):
        return sum(x == y for x, y in zip(self.signatures[a], self.signatures[b], strict=True))

    def near_duplicates(self, threshold, bands, rows, verify="exact"):
        """Return [(left, right, similarity)]."""
        found = [
            (a, b, self.similarity(a, b, verify))
            for a, b in candidate_pairs(self.signatures, bands, rows)
        ]
        return [pair for pair in found if not pair[2] < threshold]

    def priority_order(self, keep, fixed):
        """Return the documents by priority; the first `fixed` ones are before all others."""
        rest = range(fixed, len(self.units))
        if keep == "first":
            keep = [0] * len(rest)
        elif keep == "last":
            keep = rest
        elif keep == "longest":
            keep = [len(self.units[d]) for d in rest]
        by_priority = sorted(rest, key=lambda d: -keep[d - fixed])
        return [*range(fixed), *by_priority]

    def deduplicate(
        self, threshold, bands, rows, keep="first", fixed=0, max_candidates=1000, verify="exact",
        contained=None,
    ):  # fmt: skip
        """Return ({document: (proof or itself, similarity)}, limited documents).

        The first `fixed` documents are the ones of `against`. With `contained`, a document goes if
        that share of its shingles is in the kept one.
        """
        buckets = defaultdict(list)  # (band, values) -> kept documents
        original = {}  # text -> the first document with it
        result = {}
        limited = []
        for d in self.priority_order(keep, fixed):
            if not self.sets[d]:
                result[d] = (d, 1.0)
                continue
            first = original.setdefault(self.texts[d], d)
            if first != d:
                proof, similarity = result[first]
                result[d] = (proof, math.nan if verify == "none" else similarity)
                continue
            row = self.signatures[d]
            mine = [(b, *row[b * rows : (b + 1) * rows]) for b in range(bands)]
            shared = defaultdict(int)
            for bucket in mine:
                for kept in buckets[bucket][:REMEMBERED]:
                    shared[kept] += 1
            clipped = any(len(buckets[bucket]) > REMEMBERED for bucket in mine)
            rank = {kept: place for place, kept in enumerate(result)}
            chosen = sorted(shared, key=lambda c: (-shared[c], -self.equal(d, c), rank[c]))
            clipped |= len(chosen) > max_candidates
            chosen = sorted(chosen[:max_candidates], key=rank.get) if d >= fixed else []
            for candidate in chosen:
                if contained is None:
                    similarity, least = self.similarity(d, candidate, verify), threshold
                else:
                    similarity, least = containment(self.sets[d], self.sets[candidate]), contained
                if not similarity < least:
                    result[d] = (candidate, similarity)
                    break
            else:
                result[d] = (d, 1.0)
                if clipped and d >= fixed:
                    limited.append(d - fixed)
                for bucket in mine:
                    buckets[bucket].append(d)
        return result, limited

"""An index once more, slow and obvious: a dictionary of lists, and each answer by comparing all."""

import collections
import functools
import math
import random

import oracle

M32 = 2**32 - 1
KINDS = ["memory", "sqlite", "sqlite, many runs"]
"""The kinds of an index that need no server."""
TEXTS = [f"document {d % 7} of some length and then {d // 7}" for d in range(60)]


def texts_alike(n, seed=0):
    """Return texts in families, and two that are empty."""
    draw = random.Random(seed)
    base = ["".join(draw.choices("abcdef ü", k=60)) for _ in range(n // 3 + 1)]
    return [draw.choice(base) + draw.choice(["", "", "x", "yz" * 10]) for _ in range(n)] + ["", ""]


def batch(index):
    with index.batch():
        index.insert_many(["p", "q"], TEXTS[5:7])
        index.remove(3)


OPERATIONS = {
    "insert": lambda index: index.insert("new", TEXTS[0]),
    "replace": lambda index: index.insert(2, TEXTS[9], on_known="replace"),
    "unique": lambda index: index.insert_unique(["u", "v"], ["an unlike text", TEXTS[0]]).tolist(),
    "remove": lambda index: index.remove(4),
    "batch": batch,
    "query": lambda index: index.query_many(TEXTS[:3]),
    "in": lambda index: [name in index for name in (3, 99, "new")],
    "list": list,
    "len": len,
    "signature": lambda index: index.signature(1).tolist(),
    "copy": lambda index: list(index.copy()),
}
"""Calls of an index with the first of `TEXTS`, whose ids are their numbers."""
CHANGES = ("insert", "replace", "unique", "remove", "batch")


class Model:
    """Documents are signatures (lists of int), and with sets also sets of shingle hashes."""

    def __init__(self, threshold, bands, rows, verify="signature"):
        self.threshold, self.bands, self.rows, self.verify = threshold, bands, rows, verify
        self.documents = {}
        self.limited = 0
        self.match = None
        self._buckets = {}

    def __deepcopy__(self, memo):
        """Copy all that changes: a document does not."""
        other = Model(self.threshold, self.bands, self.rows, self.verify)
        other.documents, other.limited = dict(self.documents), self.limited
        other._buckets = dict(self._buckets)
        return other

    def insert(self, name, document, on_known="raise"):
        if name in self.documents and on_known == "raise":
            raise ValueError(name)
        self.documents.pop(name, None)
        self.documents[name] = document

    def insert_unique(self, name, document, max_candidates=1000):
        shared = collections.Counter()
        limited = False
        mine = self.buckets(document)
        common = {n: mine & self.buckets_of(n) for n in self.documents}
        common = {n: buckets for n, buckets in common.items() if buckets}
        for bucket in mine:
            members = [n for n, buckets in common.items() if bucket in buckets]
            shared.update(members[: oracle.REMEMBERED])
            limited |= len(members) > oracle.REMEMBERED
        place = {n: i for i, n in enumerate(self.documents)}
        equal = {
            n: sum(x == y for x, y in zip(document[0], self.documents[n][0], strict=True))
            for n in shared
        }
        chosen = sorted(shared, key=lambda n: (-shared[n], -equal[n], place[n]))[:max_candidates]
        limited |= len(shared) > max_candidates
        similarities = {n: self.similarity(document, self.documents[n]) for n in chosen}
        alike = [n for n, s in similarities.items() if not s < self.threshold]  # NaN: they are
        self.match = min(alike, key=place.get, default=None)
        new = not alike
        if new:
            self.insert(name, document)
            self.limited += limited
        return new

    def remove(self, name):
        del self.documents[name]

    def buckets(self, document):
        """Return what a document shares with others of its buckets: (band, values)."""
        return buckets_of(tuple(document[0]), self.bands, self.rows)

    def buckets_of(self, name):
        """Return the same of one that is there, once it is computed."""
        document = self.documents[name]
        known, buckets = self._buckets.get(name, (None, None))
        if known is not document:
            buckets = self.buckets(document)
            self._buckets[name] = document, buckets
        return buckets

    def similarity(self, a, b):
        if self.verify == "none":
            return math.nan
        if self.verify == "exact":
            return oracle.jaccard(a[1], b[1])
        return sum(x == y for x, y in zip(a[0], b[0], strict=True)) / len(a[0])

    def query(self, document, limit=None):
        mine = self.buckets(document)
        found = [
            (name, self.similarity(document, other))
            for name, other in self.documents.items()
            if not mine.isdisjoint(self.buckets_of(name))
        ]
        found = [pair for pair in found if not pair[1] < self.threshold]
        if self.verify != "none":
            found.sort(key=lambda pair: -pair[1])  # stable: of equals the earlier first
        return found[:limit]


@functools.lru_cache(4096)
def buckets_of(row, bands, rows):
    if set(row) == {M32}:
        return frozenset()
    return frozenset((band, *row[band * rows : (band + 1) * rows]) for band in range(bands))


def same(found, expected):
    """Whether two lists of answers are equal, NaN included."""
    return [(i, None if s != s else s) for i, s in found] == [
        (i, None if s != s else s) for i, s in expected
    ]

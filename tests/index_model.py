"""An index once more, slow and obvious: a dictionary of lists, and each answer by comparing all."""

import math

import oracle

M32 = 2**32 - 1


class Model:
    """Documents are signatures (lists of int), and with sets also sets of shingle hashes."""

    def __init__(self, threshold, bands, rows, verify="signature"):
        self.threshold, self.bands, self.rows, self.verify = threshold, bands, rows, verify
        self.documents = {}

    def insert(self, name, document, on_known="raise"):
        if name in self.documents and on_known == "raise":
            raise ValueError(name)
        self.documents.pop(name, None)
        self.documents[name] = document

    def insert_unique(self, name, document):
        new = not self.query(document)
        if new:
            self.insert(name, document)
        return new

    def remove(self, name):
        del self.documents[name]

    def shares_a_band(self, a, b):
        if set(a) == {M32} or set(b) == {M32}:
            return False
        cuts = [slice(i * self.rows, (i + 1) * self.rows) for i in range(self.bands)]
        return any(a[cut] == b[cut] for cut in cuts)

    def similarity(self, a, b):
        if self.verify == "none":
            return math.nan
        if self.verify == "exact":
            return oracle.jaccard(a[1], b[1])
        return sum(x == y for x, y in zip(a[0], b[0], strict=True)) / len(a[0])

    def query(self, document, limit=None):
        found = [
            (name, self.similarity(document, other))
            for name, other in self.documents.items()
            if self.shares_a_band(document[0], other[0])
        ]
        found = [pair for pair in found if not pair[1] < self.threshold]
        if self.verify != "none":
            found.sort(key=lambda pair: -pair[1])  # stable: of equals the earlier first
        return found[:limit]


def same(found, expected):
    """Whether two lists of answers are equal, NaN included."""
    return [(i, None if s != s else s) for i, s in found] == [
        (i, None if s != s else s) for i, s in expected
    ]

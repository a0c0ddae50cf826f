"""Sketches for the tests of the datasketch indexes, and what these indexes should answer."""

import numpy as np


class Sketch:
    """What an index looks at in a MinHash."""

    def __init__(self, hashvalues, scheme="affine32"):
        self.hashvalues = np.asarray(hashvalues)
        self.scheme = scheme
        self.seed = 1

    def __len__(self):
        return len(self.hashvalues)


class Weighted:
    """What an index looks at in a WeightedMinHash: two integers for each minimum, no scheme."""

    def __init__(self, hashvalues):
        self.hashvalues = np.asarray(hashvalues, np.int64)

    def __len__(self):
        return len(self.hashvalues)


def sketches(n, num_perm=32, dtype=np.uint32, values=4, seed=0):
    """Return n sketches; the fewer values, the more bands meet."""
    numbers = np.random.default_rng(seed).integers(0, values, (n, num_perm))
    return [Sketch(row.astype(dtype)) for row in numbers]


def band_key(values):
    """Return the key of a band as datasketch makes it."""
    return bytes(values.byteswap().data)


class Model:
    """An index in slow and obvious Python: sets in dicts, as datasketch has it."""

    def __init__(self, b, r):
        self.b, self.r = b, r
        self.bands = {}

    def cut(self, sketch):
        values = sketch.hashvalues
        return [band_key(values[i * self.r : (i + 1) * self.r]) for i in range(self.b)]

    def insert(self, key, sketch):
        self.bands.setdefault(key, []).append(self.cut(sketch))

    def query(self, sketch):
        cut = self.cut(sketch)
        return {
            key
            for key, rows in self.bands.items()
            if any(a == b for row in rows for a, b in zip(row, cut, strict=True))
        }

    def buckets(self, band):
        found = {}
        for key, rows in self.bands.items():
            for row in rows:
                found.setdefault(row[band], set()).add(key)
        return found

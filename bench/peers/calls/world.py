"""What the calls of datasketch and of its drop-in are made with."""

from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

NUM_PERM, THRESHOLD = 128, 0.8
PARAMS = (9, 13)
"""What datasketch chooses for this threshold, in 10 milliseconds."""
FEW = 50
"""Number of further keys, for what is inserted and removed."""


class World:
    """The objects of one library, for rows with a certain number of keys.

    Parameters
    ----------
    library
        ``datasketch``, or ``fastlsh.compat.datasketch``.
    n
        Number of keys of an index, or of elements of a set.
    """

    def __init__(self, library: ModuleType, n: int) -> None:
        self.library, self.n = library, n
        self.names = [f"key {i}" for i in range(n)]
        self.few = [f"new {i}" for i in range(FEW)]
        self.tokens = [b"token %d" % i for i in range(n)]
        self.sets = [[b"token %d" % (i + j) for j in range(10)] for i in range(n)]

    @cached_property
    def _all_sketches(self) -> list[Any]:
        # Every fifth sketch has a near-duplicate.
        rng = np.random.default_rng(0)
        rows = rng.integers(0, 2**32, (self.n + FEW, NUM_PERM), np.uint32)
        for i in range(0, len(rows) - 1, 5):
            rows[i + 1] = np.where(rng.random(NUM_PERM) < 0.1, rows[i + 1], rows[i])
        empty = self.library.MinHash(NUM_PERM)
        sketches = [empty.copy() for _ in rows]
        for sketch, values in zip(sketches, rows, strict=True):
            sketch.hashvalues = values
        return sketches

    @property
    def sketches(self) -> list[Any]:
        """The sketches of `names`."""
        return self._all_sketches[: self.n]

    @property
    def new(self) -> list[Any]:
        """The sketches of `few`."""
        return self._all_sketches[self.n :]

    @cached_property
    def sketch(self) -> Any:
        """A sketch of some elements."""
        result = self.library.MinHash(NUM_PERM)
        result.update_batch(self.tokens[:20])
        return result

    @cached_property
    def other(self) -> Any:
        """A sketch of elements that `sketch` has in part."""
        result = self.library.MinHash(NUM_PERM)
        result.update_batch(self.tokens[10:20])
        return result

    def empty_index(self, **options: Any) -> Any:
        """Return an index without keys."""
        return self.library.MinHashLSH(num_perm=NUM_PERM, params=PARAMS, **options)

    def filled(self, looked: bool = False, **options: Any) -> Any:
        """Return an index with all keys, `looked`: into whose storages somebody has looked."""
        index = self.empty_index(**options)
        for name, sketch in zip(self.names, self.sketches, strict=True):
            index.insert(name, sketch)
        if looked:
            index.get_counts()
        return index

    @cached_property
    def index(self) -> Any:
        """An index with all keys."""
        return self.filled()

    @cached_property
    def looked(self) -> Any:
        """Such an index, into whose storages somebody has looked."""
        return self.filled(looked=True)

    @cached_property
    def forest(self) -> Any:
        """A forest with all keys."""
        forest = self.library.MinHashLSHForest(NUM_PERM)
        for name, sketch in zip(self.names, self.sketches, strict=True):
            forest.add(name, sketch)
        forest.index()
        return forest

    @cached_property
    def entries(self) -> list[tuple[str, Any, int]]:
        """Keys with sketches and 20 different sizes, for an ensemble."""
        pairs = zip(self.names, self.sketches, strict=True)
        return [(name, sketch, 10 + i % 20) for i, (name, sketch) in enumerate(pairs)]

    def empty_ensemble(self) -> Any:
        """Return an ensemble without keys."""
        return self.library.MinHashLSHEnsemble(THRESHOLD, NUM_PERM, num_part=4, m=4)

    @cached_property
    def ensemble(self) -> Any:
        """An ensemble with all keys."""
        ensemble = self.empty_ensemble()
        ensemble.index(self.entries)
        return ensemble

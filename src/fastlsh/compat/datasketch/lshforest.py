"""MinHashLSHForest: the k keys most similar to a query, probably."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.compat.datasketch.params import Sketch, band_key, check_scheme


class MinHashLSHForest:
    """An index of sketches for the `k` most similar keys.

    Sketches are cut into `l` parts. The keys are sorted by each part, so that those that agree
    with a query in the first minima of a part lie together; the prefix is shortened until there
    are enough keys.

    Parameters
    ----------
    num_perm
        Length of the sketches.
    l
        Number of parts (prefix trees).

    Attributes
    ----------
    l, k
        Number of parts, and minima of each.
    hashtables
        For each part, a dict from its bytes to lists of keys.
    hashranges
        (start, end) of each part.
    keys
        From each key to the bytes of its parts.
    sorted_hashtables
        For each part, its bytes, sorted: what `index` makes.

    Raises
    ------
    ValueError
        An argument below 1, or more parts than minima.

    Examples
    --------
    >>> from fastlsh.compat.datasketch import MinHash
    >>> sketch = MinHash()
    >>> sketch.update_batch([b"a", b"few", b"tokens"])
    >>> forest = MinHashLSHForest()
    >>> forest.add("first", sketch)
    >>> forest.index()
    >>> forest.query(sketch, 1)
    ['first']
    """

    _minhash_scheme: str | None = None  # learned from the first key

    def __init__(self, num_perm: int = 128, l: int = 8) -> None:  # noqa: E741 - datasketch's name
        if l <= 0 or num_perm <= 0:
            raise ValueError(f"num_perm and l must be positive, got {num_perm} and {l}")
        if l > num_perm:
            raise ValueError(f"l cannot be greater than num_perm, got {l} and {num_perm}")
        self.l = l
        self.k = int(num_perm / l)
        self.hashtables: list[defaultdict[bytes, list[Any]]] = [defaultdict(list) for _ in range(l)]
        self.hashranges = [(i * self.k, (i + 1) * self.k) for i in range(l)]
        self.keys: dict[Any, list[bytes]] = {}
        self.sorted_hashtables: list[list[bytes]] = [[] for _ in range(l)]

    def add(self, key: Hashable, minhash: Sketch) -> None:
        """Add a key with its sketch; it is found after the next `index`.

        Raises
        ------
        ValueError
            The key is there, or the sketch is too short or of another scheme.
        """
        self._minhash_scheme = self._check(minhash)
        if key in self.keys:
            raise ValueError(f"The given key has already been added: {key!r}")
        self.keys[key] = [band_key(minhash.hashvalues[i:j]) for i, j in self.hashranges]
        for part, hashtable in zip(self.keys[key], self.hashtables, strict=True):
            hashtable[part].append(key)

    def index(self) -> None:
        """Make all keys added so far searchable."""
        self.sorted_hashtables = [sorted(hashtable) for hashtable in self.hashtables]

    def query(self, minhash: Sketch, k: int) -> list[Any]:
        """Return at most `k` keys, in no order.

        Ask for some times more, and take the best by similarity: that finds more of the true ones.

        Raises
        ------
        ValueError
            k below 1, or a sketch that is too short or of another scheme.
        """
        if k <= 0:
            raise ValueError(f"k must be positive, got {k}")
        self._check(minhash)
        keys: dict[Any, None] = {}
        for r in range(self.k, 0, -1):
            for key in self._query(minhash, r, self.l):
                keys[key] = None
                if len(keys) >= k:
                    return list(keys)
        return list(keys)

    def get_minhash_hashvalues(self, key: Hashable) -> NDArray[Any]:
        """Return the minima of a key: uint32, or uint64 where the schemes have 64 bits.

        Raises
        ------
        KeyError
            The key is unknown.
        ValueError
            It has no such minima: it came with a weighted sketch.
        """
        if key not in self.keys:
            raise KeyError(f"The provided key does not exist in the LSHForest: {key}")
        parts = self.keys[key]
        sizes = {len(part) for part in parts}
        if sizes not in ({4 * self.k}, {8 * self.k}):
            raise ValueError(
                f"stored parts of {sorted(sizes)} bytes are not {self.k} values of 4 or 8 bytes"
            )
        dtype = np.uint32 if sizes == {4 * self.k} else np.uint64
        return np.frombuffer(b"".join(parts), dtype).byteswap()

    def is_empty(self) -> bool:
        """Return whether no key can be found; keys can after `index`."""
        return any(len(table) == 0 for table in self.sorted_hashtables)

    def __contains__(self, key: Hashable) -> bool:
        """Return whether the key was added."""
        return key in self.keys

    def _query(self, minhash: Sketch, r: int, b: int) -> Iterator[Any]:
        """Yield the keys that agree in the first `r` minima of a part; `b` is only checked."""
        if not 0 < r <= self.k or not 0 < b <= self.l:
            raise ValueError(
                f"parameter outside range: r={r} of {self.k} minima, b={b} of {self.l} parts"
            )
        tables = zip(self.hashranges, self.sorted_hashtables, self.hashtables, strict=True)
        for (start, _), parts, hashtable in tables:
            prefix = band_key(minhash.hashvalues[start : start + r])
            i = bisect_left(parts, prefix)
            while i < len(parts) and parts[i].startswith(prefix):
                yield from hashtable[parts[i]]
                i += 1

    def _check(self, minhash: Sketch) -> str | None:
        if len(minhash) < self.k * self.l:
            raise ValueError(
                f"The num_perm of MinHash out of range: {len(minhash)}, at least {self.k * self.l}"
            )
        return check_scheme(self._minhash_scheme, minhash)

"""MinHashLSH: keys of sketches that are probably similar to a query."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from fastlsh.compat.datasketch.index import Index, Storages, Tables
from fastlsh.compat.datasketch.params import Sketch, choose_bands
from fastlsh.compat.datasketch.params import optimal_param as _optimal_param

S = TypeVar("S", bound="_Session")


class _Session:
    """Gathers commands of an index, and sends them whenever there are `buffer_size`."""

    def __init__(self, lsh: Index, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size

    def __enter__(self: "S") -> "S":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Send the gathered commands."""
        self.lsh._engine.empty_buffers()


class MinHashLSHInsertionSession(_Session):
    """Inserts into an index; made by `MinHashLSH.insertion_session`."""

    def insert(self, key: Hashable, minhash: Sketch, check_duplication: bool = True) -> None:
        """Insert a key with its sketch, as `MinHashLSH.insert` does."""
        self.lsh._insert(key, minhash, check_duplication, buffer=True)


class MinHashLSHDeletionSession(_Session):
    """Removes from an index; made by `MinHashLSH.deletion_session`."""

    def remove(self, key: Hashable) -> None:
        """Remove a key, as `MinHashLSH.remove` does."""
        self.lsh._remove(key, buffer=True)


__all__ = [
    "MinHashLSH",
    "MinHashLSHDeletionSession",
    "MinHashLSHInsertionSession",
    "_optimal_param",  # others import it from here
]


class MinHashLSH(Index):
    """An index of sketches: the keys whose similarity to a query is probably above a threshold.

    Sketches are cut into `b` bands of `r` minima; a query finds the keys that agree with it in all
    minima of a band. With Jaccard similarity s that has the probability 1 - (1 - s^r)^b. Nothing
    is verified: the answer contains less similar keys and lacks some similar ones.

    Parameters
    ----------
    threshold
        Jaccard similarity, 0 to 1, for which `b` and `r` are chosen.
    num_perm
        Length of the sketches.
    weights
        (false positives, false negatives), summing to 1: how bad each is when `b` and `r` are
        chosen. Equal weights miss many pairs at the threshold itself; (0.1, 0.9) misses few.
    params
        (b, r) instead of a choice.
    storage_config
        None or ``{"type": "dict"}``: in memory. ``{"type": "redis", "basename": b"...",
        "redis": {"host": ..., "port": ...}}``: in Redis, with datasketch's layout, under the
        prefix `basename` (random if absent); two indexes with one prefix are one.
    prepickle
        Store ``pickle.dumps(key, 4)`` instead of the key; by default in Redis only, which holds
        bytes alone.
    hashfunc
        From the bytes of a band to a shorter key. In memory it saves nothing: bands are compact.

    Attributes
    ----------
    h, b, r
        Length of sketches, number of bands, minima of a band.
    hashranges
        (start, end) of each band.
    keys, hashtables
        Storages; see the notes.

    Raises
    ------
    ValueError
        An argument out of range; fewer than two bands.

    Notes
    -----
    In memory, a key costs about 4 b (r + 1) bytes for the minima and 6 to 12 for each band, where
    datasketch takes five to six times as much. The first call that needs the buckets themselves
    (`hashtables`, the values in `keys`, `get_counts`, `get_subset_counts`, buffered queries) moves
    all keys to dictionaries, which takes less time than the insertions saved. From then on, the
    index takes as much memory as datasketch's. The length of `keys`, its keys and whether it
    contains one are known without dictionaries.

    A key that was inserted twice
    (``check_duplication=False``) is removed with all its sketches; datasketch leaves the second in
    its buckets.

    Examples
    --------
    >>> from fastlsh.compat.datasketch import MinHash
    >>> sketch = MinHash()
    >>> sketch.update_batch([b"a", b"few", b"tokens"])
    >>> lsh = MinHashLSH(threshold=0.8)
    >>> lsh.insert("first", sketch)
    >>> lsh.query(sketch)
    ['first']
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self.b, self.r = choose_bands(threshold, num_perm, weights, params)
        self.h = num_perm
        config = storage_config or {"type": "dict"}
        self.prepickle = config["type"] == "redis" if prepickle is None else prepickle
        if not isinstance(config.get("basename", b""), (bytes, bytearray)):
            raise TypeError(f"basename must be bytes, got {config['basename']!r}")
        self._require_bytes_keys = config["type"] != "dict" and not self.prepickle
        self.hashfunc = hashfunc
        self.hashranges = [(i * self.r, (i + 1) * self.r) for i in range(self.b)]
        self._buffer_size = 50000
        if config["type"] == "dict" and hashfunc is None:
            self._engine = Tables(self.b, self.r)
        else:
            self._engine = Storages(self.b, self.r, config, hashfunc)

    def insert(self, key: Hashable, minhash: Sketch, check_duplication: bool = True) -> None:
        """Insert a key with its sketch.

        Parameters
        ----------
        key
            Anything hashable; in Redis without `prepickle`, bytes.
        minhash
            Its sketch, `h` minima of the scheme of the others.
        check_duplication
            Raise if the key is there. Otherwise it is found by both sketches.

        Raises
        ------
        ValueError
            The key is there, or the sketch has another length or scheme.
        TypeError
            The storage needs bytes.
        """
        self._insert(key, minhash, check_duplication)

    def query(self, minhash: Sketch) -> list[Any]:
        """Return the keys that share a band with the sketch, each once, in no order."""
        if len(minhash) != self.h or getattr(minhash, "scheme", None) != self._minhash_scheme:
            self._check(minhash)
        return self._loaded(self._engine.query(minhash.hashvalues, self.b))

    def add_to_query_buffer(self, minhash: Sketch) -> None:
        """Look up the buckets of a sketch, for `collect_query_buffer` to answer.

        In memory, a bucket that has keys by now goes on changing until it has none: what is
        collected are the keys that it has then. Redis answers now.
        """
        self._check(minhash)
        self._storages().add_to_query_buffer(minhash.hashvalues)

    def collect_query_buffer(self) -> list[Any]:
        """Return the keys that all buffered queries found, and forget these queries."""
        if isinstance(self._engine, Tables):
            return []
        key_sets = [set().union(*buckets) for buckets in self._engine.collect_query_buffer()]
        return self._loaded(set.intersection(*key_sets)) if key_sets else []

    def remove(self, key: Hashable) -> None:
        """Remove a key; ValueError if it is not there."""
        self._remove(key)

    def merge(self, other: "MinHashLSH", check_overlap: bool = False) -> None:
        """Insert all keys of another index of the same `h`, `b` and `r`.

        Raises
        ------
        ValueError
            Other parameters, type or scheme, or, with `check_overlap`, a key that both have.
        """
        self._merge(other, check_overlap)

    def insertion_session(self, buffer_size: int = 50000) -> MinHashLSHInsertionSession:
        """Return a context manager that inserts; Redis gets its commands in bundles."""
        return MinHashLSHInsertionSession(self, buffer_size)

    def deletion_session(self, buffer_size: int = 50000) -> MinHashLSHDeletionSession:
        """Return a context manager that removes; Redis gets its commands in bundles."""
        return MinHashLSHDeletionSession(self, buffer_size)

    def __contains__(self, key: Hashable) -> bool:
        """Return whether the key is there."""
        return self._stored(key) in self._engine

    def is_empty(self) -> bool:
        """Return whether no key is there."""
        return self._engine.is_empty()

    def get_counts(self) -> list[dict[Any, int]]:
        """Return for each band how many keys each of its buckets has."""
        return [table.itemcounts() for table in self.hashtables]

    def get_subset_counts(self, *keys: Hashable) -> list[dict[Any, int]]:
        """Return for each band how many of the given keys each of its buckets has."""
        counts: list[dict[Any, int]] = [{} for _ in range(self.b)]
        for band_keys in self.keys.getmany(*[self._stored(key) for key in set(keys)]):
            for i, count in enumerate(counts):
                for one in set(band_keys[i :: self.b]):
                    count[one] = count.get(one, 0) + 1
        return counts

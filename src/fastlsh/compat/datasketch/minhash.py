"""MinHash with datasketch's interface and numbers."""

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh._kernels import Permutations
from fastlsh.compat.datasketch import elements, state
from fastlsh.compat.datasketch.elements import HashFunction
from fastlsh.compat.datasketch.hashfunc import sha1_hash32, sha1_hash64
from fastlsh.compat.datasketch.schemes import SCHEMES, check_scheme, draw

GpuMode = Literal["disable", "detect", "always"]
SchemeName = Literal["affine32", "affine64", "legacy"]

MAX_NUM_PERM = 2**32
BATCH_SETS = 1024
BATCH_ELEMENTS = 1 << 16

DEFAULT_HASHFUNC: dict[str, HashFunction] = {
    "affine32": sha1_hash32,
    "affine64": sha1_hash64,
    "legacy": sha1_hash32,
}


class MinHash:
    """The minima of `num_perm` hash functions over a set: datasketch.MinHash, to the bit.

    Parameters
    ----------
    num_perm
        How many functions, 1 to 2**32; taken from `hashvalues` where they are given.
    seed
        Draws the functions: 0 to 2**32 - 1.
    gpu_mode
        "disable" and "detect" compute here; "always" makes `update_batch` raise, for there is
        no GPU code.
    hashfunc
        From an element to an integer of 32 bits, with "affine64" of 64. Default: SHA-1, whose
        elements are bytes. A function that returns its argument, ``lambda x: x``, is not called
        by `update_batch` and `bulk`: arrays of ready hashes go through at full speed.
    hashobj
        Deprecated and without effect.
    hashvalues, permutations
        The state of another MinHash; `scheme` must then be given.
    scheme
        "affine32" (default), "affine64", or "legacy" of datasketch before 2.0. Sketches of
        different schemes do not compare.

    Raises
    ------
    ValueError
        An argument out of range, or state without its scheme.

    Examples
    --------
    >>> sketch = MinHash(num_perm=4)
    >>> sketch.update_batch([b"hello", b"world"])
    >>> sketch.hashvalues.tolist()
    [625790555, 194865109, 3904131391, 1324736089]
    """

    __slots__ = ("__dict__", "__weakref__", "_compiled")

    scheme: str
    seed: Any
    num_perm: int
    hashfunc: HashFunction
    hashvalues: NDArray[Any]
    permutations: Any
    _gpu_mode: str
    _compiled: Permutations
    __hash__: Any

    def __init__(
        self,
        num_perm: int = 128,
        seed: SupportsIndex | None = 1,
        gpu_mode: GpuMode = "disable",
        hashfunc: HashFunction | None = None,
        hashobj: object = None,
        hashvalues: ArrayLike | None = None,
        permutations: Any = None,
        scheme: SchemeName | str | None = None,
    ) -> None:
        if scheme is None:
            if hashvalues is not None or permutations is not None:
                raise ValueError(
                    "hashvalues and permutations need their scheme: the scheme of the MinHash that "
                    "they are from, 'legacy' if that was made by datasketch before 2.0"
                )
            scheme = "affine32"
        self.scheme = check_scheme(scheme)
        if hashvalues is not None:
            num_perm = len(hashvalues)  # type: ignore[arg-type]
        if not 1 <= num_perm <= MAX_NUM_PERM:
            raise ValueError(f"num_perm must be between 1 and {MAX_NUM_PERM}, got {num_perm}")
        self.seed = seed
        self.num_perm = num_perm
        self.hashfunc = DEFAULT_HASHFUNC[scheme] if hashfunc is None else hashfunc
        if not callable(self.hashfunc):
            raise ValueError(f"hashfunc must be callable, got {hashfunc!r}")
        if hashobj is not None:
            warnings.warn("hashobj has no effect: use hashfunc", DeprecationWarning, stacklevel=2)
        if hashvalues is None:
            self.hashvalues = self._no_hashvalues(num_perm)
        else:
            self.hashvalues = state.hash_values(hashvalues, scheme)
        if permutations is None:
            self._compiled = draw(scheme, num_perm, seed)
            self.permutations = self._compiled.coefficients
        else:
            self.permutations = state.permutations(permutations, scheme)
        if len(self.permutations[0]) != num_perm:
            raise ValueError(
                f"permutations must be as many as hashvalues, {num_perm}, "
                f"got {len(self.permutations[0])}"
            )
        self._gpu_mode = gpu_mode

    # ---- the set grows

    def update(self, b: Any) -> None:
        """Add one element.

        Parameters
        ----------
        b
            What `hashfunc` takes; bytes by default.
        """
        row = self._row()
        functions = self._functions()
        hashfunc = self.hashfunc
        if hashfunc is DEFAULT_HASHFUNC[self.scheme] and isinstance(b, bytes):
            functions.add_token(b, row)
        else:
            functions.add_hashes(elements.to_hashes([hashfunc(b)], self.scheme), row)
        self.hashvalues = row

    def update_batch(self, b: Iterable[Any]) -> None:
        """Add many elements: as `update` for each, many times faster.

        Parameters
        ----------
        b
            What `hashfunc` takes, each; with ``hashfunc=lambda x: x`` also an array of integers.

        Raises
        ------
        ValueError
            A hash does not fit the scheme.
        RuntimeError
            `gpu_mode` is "always".
        """
        hashes = elements.hash_set(self.hashfunc, b, self.scheme)
        if not len(hashes):
            return
        if self._gpu_mode == "always":
            raise RuntimeError("gpu_mode='always', but there is no GPU code: use 'detect'")
        row = self._row()
        self._functions().add_hashes(hashes, row)
        self.hashvalues = row

    def merge(self, other: "MinHash") -> None:
        """Add the set of another MinHash of the same scheme, seed and length."""
        self._check_same(other, "merge")
        self.hashvalues = np.minimum(other.hashvalues, self.hashvalues)

    def clear(self) -> None:
        """Make the set empty again."""
        self.hashvalues = self._no_hashvalues(len(self))

    # ---- what it tells

    def jaccard(self, other: "MinHash") -> float:
        """Estimate the Jaccard similarity to another set: the share of equal hash values.

        Raises
        ------
        ValueError
            The schemes, the seeds or the lengths differ.
        """
        self._check_same(other, "compare")
        equal = np.count_nonzero(self.hashvalues == other.hashvalues)
        return float(equal) / float(len(self))

    def count(self) -> float:
        """Estimate the number of different elements (Cohen 1994)."""
        shares = self.hashvalues / float(SCHEMES[self.scheme].largest)
        return float(len(self)) / np.sum(shares) - 1.0

    def digest(self) -> NDArray[Any]:
        """Return a copy of the hash values."""
        return self.hashvalues.copy()

    def is_empty(self) -> bool:
        """Return whether all hash values are those of the empty set."""
        return bool((self.hashvalues == SCHEMES[self.scheme].largest).all())

    def __len__(self) -> int:
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, MinHash)
            and self.scheme == other.scheme
            and self.seed == other.seed
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    # ---- others are made of it

    def copy(self) -> "MinHash":
        """Return a MinHash of the same set that grows on its own."""
        return self._with(self.digest())

    @classmethod
    def union(cls, *mhs: "MinHash") -> "MinHash":
        """Return the MinHash of the union of at least two sets.

        Raises
        ------
        ValueError
            Fewer than two; or the schemes, the seeds or the lengths differ.
        """
        if len(mhs) < 2:
            raise ValueError(f"union needs at least 2 MinHash, got {len(mhs)}")
        first = mhs[0]
        for other in mhs[1:]:
            first._check_same(other, "unite")
        return cls(
            seed=first.seed,
            gpu_mode=first._gpu_mode,  # type: ignore[arg-type]
            hashfunc=first.hashfunc,
            hashvalues=np.minimum.reduce([m.hashvalues for m in mhs]),
            permutations=first.permutations,
            scheme=first.scheme,
        )

    @classmethod
    def bulk(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> list["MinHash"]:
        """Return the MinHash of each set.

        Parameters
        ----------
        b
            Sets of what `hashfunc` takes; with ``hashfunc=lambda x: x`` also arrays of integers.
        **minhash_kwargs
            Of the constructor.
        """
        empty = cls(**minhash_kwargs)
        if type(empty) is not MinHash or empty._gpu_mode == "always":
            return list(cls.generator(b, **minhash_kwargs))
        result: list[MinHash] = []
        batch: list[Iterable[Any]] = []
        size = 0
        for one in b:
            batch.append(one if hasattr(one, "__len__") else list(one))
            size += len(batch[-1])  # type: ignore[arg-type]
            if size >= BATCH_ELEMENTS or len(batch) == BATCH_SETS:
                result += empty._each(batch)
                batch, size = [], 0
        return result + empty._each(batch)

    @classmethod
    def generator(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> Iterator["MinHash"]:
        """Yield the MinHash of each set, taking one at a time; parameters as in `bulk`."""
        empty = cls(**minhash_kwargs)
        for one in b:
            sketch = empty.copy()
            sketch.update_batch(one)
            yield sketch

    # ---- pickle

    def __getstate__(self) -> Any:
        # What datasketch's own class has, so that either reads what the other writes.
        return {**self.__dict__, "_a_gpu": None, "_b_gpu": None}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update({"scheme": "legacy", "_gpu_mode": "disable"} | state)
        for name in ("_a_gpu", "_b_gpu"):
            self.__dict__.pop(name, None)

    # ---- inside

    def _no_hashvalues(self, num_perm: int) -> NDArray[Any]:
        kind = SCHEMES[self.scheme]
        return np.full(num_perm, kind.largest, kind.dtype)

    def _row(self) -> NDArray[Any]:
        """Return a copy of the hash values that a kernel may write."""
        dtype = SCHEMES[self.scheme].dtype
        values = self.hashvalues
        return values.copy() if values.dtype is dtype else np.array(values, dtype)

    def _functions(self) -> Permutations:
        """Return the permutations for the kernels, made again if the attribute was changed."""
        try:
            if self._compiled.coefficients is self.permutations:
                return self._compiled
        except AttributeError:
            pass
        self._compiled = Permutations(SCHEMES[self.scheme].kernel, self.permutations)
        return self._compiled

    def _with(self, hashvalues: NDArray[Any]) -> "MinHash":
        """Return a MinHash like this one with other hash values, which it keeps."""
        result = object.__new__(MinHash)
        result.__dict__.update(self.__dict__)
        result._compiled = self._functions()
        result.hashvalues = hashvalues
        return result

    def _each(self, sets: list[Iterable[Any]]) -> list["MinHash"]:
        """Return a copy of this MinHash for each set, with its elements added."""
        hashes, offsets = elements.hash_sets(self.hashfunc, sets, self.scheme)
        rows = np.tile(self._row(), (len(sets), 1))
        self._functions().add_hashes(hashes, rows.ravel(), offsets)
        return [self._with(row.copy()) for row in rows]

    def _check_same(self, other: "MinHash", verb: str) -> None:
        for name, ours, theirs in (
            ("permutation schemes", self.scheme, getattr(other, "scheme", None)),
            ("seeds", self.seed, other.seed),
            ("numbers of permutation functions", len(self), len(other)),
        ):
            if ours != theirs:
                raise ValueError(f"cannot {verb} MinHash with different {name}: {ours}, {theirs}")

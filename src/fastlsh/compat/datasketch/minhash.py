"""MinHash with datasketch's interface and numbers."""

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh._kernels.compat._compat import Permutations
from fastlsh.compat.datasketch import sketch as elements
from fastlsh.compat.datasketch import state
from fastlsh.compat.datasketch.hashfunc import DEFAULT_HASHFUNC, HashFunction
from fastlsh.compat.datasketch.hashfunc import fmix as _fmix  # noqa: F401  (as it is there)
from fastlsh.compat.datasketch.params import checked_scheme, draw
from fastlsh.compat.datasketch.sketch import STEP, GrowingSketch, no_hash_values

GpuMode = Literal["disable", "detect", "always"]
SchemeName = Literal["affine32", "affine64", "legacy"]

MAX_NUM_PERM = 2**32
BATCH_SETS = 1024
BATCH_ELEMENTS = 1 << 16


class MinHash(GrowingSketch):
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
    [625790555, 194865109, 1355773502, 1324736089]
    """

    num_perm: int

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
        self.scheme = checked_scheme(scheme)
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
            self.hashvalues = no_hash_values(scheme, num_perm)
        else:
            self.hashvalues = state.hash_values(hashvalues, scheme)
        if permutations is None:
            self._compiled = draw(scheme, num_perm, seed)
            self.permutations = self._compiled.coefficients
        else:
            self.permutations = state.permutations(permutations, scheme)
        if len(self.permutations[0]) != len(self.hashvalues):
            raise ValueError(
                f"permutations must be as many as hashvalues, {num_perm}, "
                f"got {len(self.permutations[0])}"
            )
        self._gpu_mode = gpu_mode

    # ---- others are made of it

    def copy(self) -> "MinHash":
        """Return a MinHash of the same set that grows on its own."""
        return self._with(self.digest(), self._functions())

    @classmethod
    def union(cls, *mhs: "MinHash") -> "MinHash":
        """Return the MinHash of the union of at least two sets.

        Raises
        ------
        ValueError
            Fewer than two; or the schemes, the seeds or the lengths differ.
        """
        values = cls._united(mhs)
        first = mhs[0]
        return cls(
            seed=first.seed,
            gpu_mode=first._gpu_mode,  # type: ignore[arg-type]
            hashfunc=first.hashfunc,
            hashvalues=values,
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
        batch: list[Any] = []
        size, limit = 0, min(BATCH_ELEMENTS, STEP // len(empty) + 1)
        for one in b:
            batch.append(one if isinstance(one, (list, tuple, np.ndarray)) else list(one))
            size += len(batch[-1])
            if size >= limit or len(batch) == BATCH_SETS:
                result += empty._each(batch)
                batch, size = [], 0
        return result + empty._each(batch)

    @classmethod
    def generator(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> Iterator["MinHash"]:
        """Yield the MinHash of each set, taking one at a time; parameters as in `bulk`."""
        empty = cls(**minhash_kwargs)
        for one in b:
            yield empty._updated(one)

    # ---- pickle

    def __getstate__(self) -> Any:
        # What datasketch's own class has, so that either reads what the other writes.
        saved = self.__dict__.copy()
        saved["_a_gpu"] = saved["_b_gpu"] = None
        return saved

    def __setstate__(self, saved: Any) -> None:
        attributes = self.__dict__
        attributes.update(saved)
        attributes.setdefault("scheme", "legacy")
        attributes.setdefault("_gpu_mode", "disable")
        attributes.pop("_a_gpu", None)
        attributes.pop("_b_gpu", None)

    # ---- inside

    def _with(self, hashvalues: NDArray[Any], functions: Permutations) -> "MinHash":
        """Return a MinHash like this one with other hash values, which it keeps."""
        result = object.__new__(MinHash)
        result.scheme = self.scheme
        result.seed = self.seed
        result.num_perm = self.num_perm
        result.hashfunc = self.hashfunc
        result.hashvalues = hashvalues
        result.permutations = self.permutations
        result._gpu_mode = self._gpu_mode
        result._compiled = functions
        return result

    def _updated(self, items: Iterable[Any]) -> "MinHash":
        """Return a copy with elements added."""
        result = self.copy()
        result.update_batch(items)
        return result

    def _each(self, sets: list[Any]) -> list["MinHash"]:
        """Return a copy of this MinHash for each set, with its elements added."""
        # One set may be large, and is then added step by step.
        hashed = elements.hash_sets(self.hashfunc, sets, self.scheme) if len(sets) > 1 else None
        if hashed is None:
            return [self._updated(one) for one in sets]
        hashes, offsets = hashed
        rows = np.tile(self._row(), (len(sets), 1))
        functions = self._functions()
        functions.add_hashes(hashes, rows.ravel(), offsets)
        return [self._with(row.copy(), functions) for row in rows]

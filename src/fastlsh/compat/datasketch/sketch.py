"""The base of all sketches: compare, count, merge, and add elements."""

import inspect
from collections.abc import Iterable, Sequence
from itertools import chain
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.compat._compat import Permutations, called_hashes, sha1_hashes
from fastlsh.compat.datasketch.hashfunc import (
    DEFAULT_HASHFUNC,
    HashFunction,
    fmix,
    sha1_hash32,
    sha1_hash64,
)
from fastlsh.compat.datasketch.params import SCHEMES
from fastlsh.compat.datasketch.state import numbers
from fastlsh.parallel import batches

_IDENTITY = (lambda x: x).__code__
_OTHER_KINDS = (
    inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
)  # fmt: skip


def is_identity(hashfunc: HashFunction) -> bool:
    """Return whether a function only returns its argument, as ``lambda x: x`` does.

    Users pass ready hashes with such a function, so the calls can be saved.
    """
    if type(hashfunc) is not FunctionType:
        return False
    code = hashfunc.__code__
    return (
        code.co_argcount == 1
        and code.co_kwonlyargcount == 0
        and not code.co_flags & _OTHER_KINDS
        and code.co_code == _IDENTITY.co_code
    )


def hash_set(
    hashfunc: HashFunction, elements: Iterable[Any], scheme: str
) -> NDArray[Any] | list[Any]:
    """Hash the elements of one set.

    Parameters
    ----------
    hashfunc
        Returns an integer for an element.
    elements
        The set; an array of integers is taken as it is if `hashfunc` is the identity.
    scheme
        The scheme, whose width decides which integers are in range.

    Returns
    -------
    ndarray of the scheme's type, (n,)
        If not all hashes are integers in range, a list of the unchanged hashes, for `permuted`.
    """
    if isinstance(elements, np.ndarray) and _are_hashes([elements]) and is_identity(hashfunc):
        return np.ascontiguousarray(elements, SCHEMES[scheme].dtype)
    hashes, odd = _hash_list(hashfunc, elements, scheme)
    return hashes if odd is None else [*hashes.tolist(), odd[0], *map(hashfunc, odd[1])]


def hash_sets(
    hashfunc: HashFunction, sets: Sequence[Any], scheme: str
) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Hash the elements of many sets, each with a length.

    Returns
    -------
    hashes, offsets
        Set d has hashes[offsets[d]:offsets[d + 1]]. None if not all are integers in range.
    """
    offsets = np.zeros(len(sets) + 1, np.int64)
    offsets[1:] = list(map(len, sets))
    np.cumsum(offsets, out=offsets)
    if set(map(type, sets)) == {np.ndarray} and _are_hashes(sets) and is_identity(hashfunc):
        return np.concatenate(sets, dtype=SCHEMES[scheme].dtype, casting="unsafe"), offsets
    hashes, odd = _hash_list(hashfunc, chain.from_iterable(sets), scheme)
    return (hashes, offsets) if odd is None else None


def _are_hashes(arrays: Sequence[NDArray[Any]]) -> bool:
    return {array.ndim for array in arrays} == {1} and {a.dtype.kind for a in arrays} <= {"i", "u"}


def _hash_list(
    hashfunc: HashFunction, elements: Iterable[Any], scheme: str
) -> tuple[NDArray[Any], tuple[Any, list[Any]] | None]:
    """Return the hashes before the first that is out of range, and that hash with the rest."""
    dtype = SCHEMES[scheme].dtype
    if hashfunc is sha1_hash32 or (hashfunc is sha1_hash64 and scheme == "affine64"):
        tokens = list(elements)  # a list of our own: other threads cannot change it
        hashes = np.empty(len(tokens), np.uint32 if hashfunc is sha1_hash32 else np.uint64)
        if sha1_hashes(tokens, hashes):
            return hashes.astype(dtype, copy=False), None
        elements = tokens
    values = elements if type(elements) is list else list(elements)
    hashes = np.empty(len(values), dtype)
    call = None if is_identity(hashfunc) else hashfunc
    done, value = called_hashes(call, values, hashes)
    if done == len(values):
        return hashes, None
    return hashes[:done], (value, values[done + 1 :])


def permuted(values: list[Any], functions: Permutations, scheme: str) -> NDArray[Any]:
    """Permute the hashes of a batch that are not all integers in range: (n, num_perm).

    With datasketch's own formulas, so that numpy gives the same values or the same errors.

    Raises
    ------
    ValueError
        A hash does not fit the scheme (OverflowError with "legacy").
    """
    a, b = functions.coefficients
    if scheme == "legacy":
        hashes = np.array(numbers(values, SCHEMES[scheme].dtype), ndmin=2).T
        return _legacy(hashes * a + b)
    sums: NDArray[Any] = fmix(_converted(values, scheme), 8 * a.itemsize).reshape(-1, 1) * a + b
    return sums


def permuted_one(value: Any, functions: Permutations, scheme: str) -> NDArray[Any]:
    """Permute one hash that is no integer in range; see `permuted`."""
    a, b = functions.coefficients
    if scheme == "legacy":
        if isinstance(value, int):
            numbers([value], SCHEMES[scheme].dtype)
        return _legacy(a * value + b)
    sums: NDArray[Any] = a * fmix(_converted([value], scheme), 8 * a.itemsize) + b
    return sums


def _legacy(sums: NDArray[Any]) -> NDArray[Any]:
    values: NDArray[Any] = np.bitwise_and(sums % np.uint64(2**61 - 1), np.uint64(2**32 - 1))
    return values


def _converted(values: list[Any], scheme: str) -> NDArray[Any]:
    dtype = SCHEMES[scheme].dtype
    try:
        return numbers(values, dtype)
    except OverflowError as error:
        bits = 8 * dtype.itemsize
        raise ValueError(
            f"hashfunc must return integers of {bits} bits with scheme {scheme!r}: {error}; "
            "scheme='affine64' takes 64-bit hashes"
        ) from error


class Sketch:
    """Hash values with the scheme and the seed of their functions."""

    scheme: str
    seed: Any
    hashvalues: NDArray[Any]
    __hash__: Any

    def jaccard(self, other: "Sketch") -> float:
        """Estimate the Jaccard similarity to another set: the share of equal hash values.

        Raises
        ------
        ValueError
            The schemes, the seeds or the lengths differ.
        """
        if (
            getattr(other, "scheme", None) != self.scheme
            or other.seed != self.seed
            or len(self) != len(other)
        ):
            raise different("compare", self, other)
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
            and isinstance(other, Sketch)
            and self.scheme == other.scheme
            and self.seed == other.seed
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    def merge(self, other: "Sketch") -> None:
        """Add the set of another sketch of the same scheme, seed and length."""
        if (
            getattr(other, "scheme", None) != self.scheme
            or other.seed != self.seed
            or len(self) != len(other)
        ):
            raise different("merge", self, other)
        self.hashvalues = np.minimum(other.hashvalues, self.hashvalues)

    def clear(self) -> None:
        """Make the set empty again."""
        self.hashvalues = no_hash_values(self.scheme, len(self))

    @staticmethod
    def _united(sketches: Sequence["Sketch"]) -> NDArray[Any]:
        """Return the hash values of the union of at least two sets."""
        if len(sketches) < 2:
            raise ValueError(f"union needs at least 2 MinHash, got {len(sketches)}")
        first = sketches[0]
        length, seed, scheme = len(first), first.seed, first.scheme
        for one in sketches[1:]:
            if one.seed != seed or len(one) != length or one.scheme != scheme:
                raise different("unite", first, one)
        values: NDArray[Any] = np.minimum.reduce([one.hashvalues for one in sketches])
        return values


def different(verb: str, one: Sketch, other: Sketch) -> ValueError:
    """Return an error that names the difference between two sketches."""
    for name, ours, theirs in (
        ("permutation schemes", one.scheme, getattr(other, "scheme", None)),
        ("seeds", one.seed, getattr(other, "seed", None)),
    ):
        if ours != theirs:
            return ValueError(f"cannot {verb} MinHash with different {name}: {ours}, {theirs}")
    return ValueError(
        f"cannot {verb} MinHash with different numbers of permutation functions: "
        f"{len(one)}, {len(other)}"
    )


def no_hash_values(scheme: str, num_perm: int) -> NDArray[Any]:
    """Return the hash values of the empty set."""
    kind = SCHEMES[scheme]
    return np.full(num_perm, kind.largest, kind.dtype)


STEP = 1 << 26
"""Permutations in one call, about a tenth of a second, so that Ctrl-C is answered soon."""


class GrowingSketch(Sketch):
    """A sketch with its hash function and permutations, to which elements can be added."""

    __slots__ = ("_compiled",)  # not part of the pickled state

    hashfunc: HashFunction
    permutations: Any
    _gpu_mode: str
    _compiled: Permutations

    def update(self, b: Any) -> None:
        """Add one element.

        Parameters
        ----------
        b
            An element that `hashfunc` takes; bytes by default.
        """
        if self.hashfunc is not DEFAULT_HASHFUNC[self.scheme] or type(b) is not bytes:
            hashes = hash_set(self.hashfunc, [b], self.scheme)
            if isinstance(hashes, list):
                values = permuted_one(hashes[0], self._functions(), self.scheme)
                self.hashvalues = np.minimum(values, self.hashvalues)
            else:
                self._add(hashes)
            return
        row = self._row()
        self._functions().add_token(b, row)
        self.hashvalues = row

    def update_batch(self, b: Iterable[Any]) -> None:
        """Add many elements: the same as `update` for each, but many times faster.

        Parameters
        ----------
        b
            Elements that `hashfunc` takes; an array of integers with ``hashfunc=lambda x: x``.

        Raises
        ------
        ValueError
            A hash does not fit the scheme.
        RuntimeError
            `gpu_mode` is "always".
        """
        if isinstance(b, (list, tuple, bytes)) and not b:
            return
        hashes = hash_set(self.hashfunc, b, self.scheme)
        if not len(hashes):
            return
        if self._gpu_mode == "always":
            raise RuntimeError("gpu_mode='always', but there is no GPU code: use 'detect'")
        if isinstance(hashes, list):
            values = permuted(hashes, self._functions(), self.scheme)
            self.hashvalues = np.minimum(self.hashvalues, values.min(axis=0))
        else:
            self._add(hashes)

    def _add(self, hashes: NDArray[Any]) -> None:
        row = self._row()
        functions = self._functions()
        for start, stop in batches(len(hashes), max(STEP // len(row), 1)):
            functions.add_hashes(hashes[start:stop], row)
        self.hashvalues = row

    def _row(self) -> NDArray[Any]:
        """Return a copy of the hash values that a kernel may write."""
        dtype = SCHEMES[self.scheme].dtype
        values = self.hashvalues
        return values.copy() if values.dtype is dtype else np.array(values, dtype)

    def _functions(self) -> Permutations:
        """Return the permutations for the kernels, which follow the attribute if it was changed."""
        try:
            if self._compiled.coefficients is self.permutations:
                return self._compiled
        except AttributeError:  # unpickled
            pass
        self._compiled = Permutations(SCHEMES[self.scheme].kernel, self.permutations)
        return self._compiled

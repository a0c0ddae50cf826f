"""Hashing the elements of sets, many at a time."""

import inspect
from collections.abc import Iterable, Sequence
from itertools import chain
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Permutations, called_hashes, sha1_hashes
from fastlsh.compat.datasketch.hashfunc import HashFunction, fmix, sha1_hash32, sha1_hash64
from fastlsh.compat.datasketch.schemes import SCHEMES
from fastlsh.compat.datasketch.state import numbers

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

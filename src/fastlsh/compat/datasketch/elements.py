"""Elements of sets to element hashes, many at a time."""

import inspect
from collections.abc import Iterable, Sequence
from itertools import chain
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import called_hashes, sha1_hashes
from fastlsh.compat.datasketch.hashfunc import HashFunction, sha1_hash32, sha1_hash64
from fastlsh.compat.datasketch.schemes import SCHEMES
from fastlsh.compat.datasketch.state import numbers

_IDENTITY = (lambda x: x).__code__
_OTHER_KINDS = (
    inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
)  # fmt: skip


def is_identity(hashfunc: HashFunction) -> bool:
    """Return whether a function does nothing but return its one argument, as ``lambda x: x``.

    That is how hashes are passed that are ready, so the calls can be saved.
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


def hash_set(hashfunc: HashFunction, elements: Iterable[Any], scheme: str) -> NDArray[Any]:
    """Hash the elements of one set.

    Parameters
    ----------
    hashfunc
        From an element to an integer.
    elements
        The set; an array of integers is taken as it is if `hashfunc` is the identity.
    scheme
        The integers must fit its width.

    Returns
    -------
    ndarray of the scheme's type, (n,)

    Raises
    ------
    ValueError
        A hash does not fit the scheme (OverflowError with "legacy", as in datasketch).
    """
    if isinstance(elements, np.ndarray) and _are_hashes([elements]) and is_identity(hashfunc):
        return np.ascontiguousarray(elements, SCHEMES[scheme].dtype)
    return _hash_list(hashfunc, elements, scheme)


def hash_sets(
    hashfunc: HashFunction, sets: Sequence[Any], scheme: str
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Hash the elements of many sets, each with a length.

    Returns
    -------
    hashes, offsets
        Set d has hashes[offsets[d]:offsets[d + 1]].
    """
    offsets = np.zeros(len(sets) + 1, np.int64)
    offsets[1:] = list(map(len, sets))
    np.cumsum(offsets, out=offsets)
    if set(map(type, sets)) == {np.ndarray} and _are_hashes(sets) and is_identity(hashfunc):
        return np.concatenate(sets, dtype=SCHEMES[scheme].dtype, casting="unsafe"), offsets
    return _hash_list(hashfunc, chain.from_iterable(sets), scheme), offsets


def _are_hashes(arrays: Sequence[NDArray[Any]]) -> bool:
    return {array.ndim for array in arrays} == {1} and {a.dtype.kind for a in arrays} <= {"i", "u"}


def _hash_list(hashfunc: HashFunction, elements: Iterable[Any], scheme: str) -> NDArray[Any]:
    dtype = SCHEMES[scheme].dtype
    if hashfunc is sha1_hash32 or (hashfunc is sha1_hash64 and scheme == "affine64"):
        tokens = list(elements)  # a list of our own: other threads cannot change it
        hashes = np.empty(len(tokens), np.uint32 if hashfunc is sha1_hash32 else np.uint64)
        if sha1_hashes(tokens, hashes):
            return hashes.astype(dtype, copy=False)
        elements = tokens
    values = elements if type(elements) is list else list(elements)
    hashes = np.empty(len(values), dtype)
    call = None if is_identity(hashfunc) else hashfunc
    done, value = called_hashes(call, values, hashes)
    if done == len(values):
        return hashes
    rest = values[done + 1 :]
    return _converted([*hashes[:done].tolist(), value, *map(hashfunc, rest)], scheme)


def _converted(values: list[Any], scheme: str) -> NDArray[Any]:
    """Return hashes that are not all integers in range, as numpy converts them."""
    dtype = SCHEMES[scheme].dtype
    try:
        return numbers(values, dtype).ravel()
    except OverflowError as error:
        if scheme == "legacy":
            raise
        bits = 8 * dtype.itemsize
        raise ValueError(
            f"hashfunc must return integers of {bits} bits with scheme {scheme!r}: {error}; "
            "scheme='affine64' takes 64-bit hashes"
        ) from error

"""Elements of sets to element hashes, many at a time."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import integer_hashes, sha1_hashes
from fastlsh.compat.datasketch.hashfunc import sha1_hash32, sha1_hash64
from fastlsh.compat.datasketch.schemes import SCHEMES

HashFunction = Callable[[Any], Any]

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
        A hash does not fit the scheme.
    """
    if _is_ready(elements) and is_identity(hashfunc):
        return np.ascontiguousarray(elements, SCHEMES[scheme].dtype)
    return _hash_list(hashfunc, list(elements), scheme)


def hash_sets(
    hashfunc: HashFunction, sets: Sequence[Iterable[Any]], scheme: str
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Hash the elements of many sets.

    Returns
    -------
    hashes, offsets
        Set d has hashes[offsets[d]:offsets[d + 1]].
    """
    ends = [0]
    if all(map(_is_ready, sets)) and is_identity(hashfunc):
        for elements in sets:
            ends.append(ends[-1] + len(elements))  # type: ignore[arg-type]
        hashes = np.concatenate(sets, dtype=SCHEMES[scheme].dtype, casting="unsafe")  # type: ignore[arg-type]
    else:
        together: list[Any] = []
        for elements in sets:
            together.extend(elements)
            ends.append(len(together))
        hashes = _hash_list(hashfunc, together, scheme)
    return hashes, np.array(ends, np.int64)


def to_hashes(values: list[Any], scheme: str) -> NDArray[Any]:
    """Return what a hash function has returned as an array of the scheme's type.

    Raises
    ------
    ValueError
        A value does not fit (OverflowError with "legacy", as in datasketch).
    """
    dtype = SCHEMES[scheme].dtype
    hashes = np.empty(len(values), dtype)
    if integer_hashes(values, hashes):
        return hashes
    try:
        return np.array(values, dtype).ravel()
    except OverflowError as error:
        if scheme == "legacy":
            raise
        bits = 8 * dtype.itemsize
        raise ValueError(
            f"hashfunc must return integers of {bits} bits with scheme {scheme!r}, but {error}; "
            "scheme='affine64' takes 64-bit hashes"
        ) from error


def _is_ready(elements: Iterable[Any]) -> bool:
    return isinstance(elements, np.ndarray) and elements.ndim == 1 and elements.dtype.kind in "iu"


def _hash_list(hashfunc: HashFunction, elements: list[Any], scheme: str) -> NDArray[Any]:
    dtype = SCHEMES[scheme].dtype
    if hashfunc is sha1_hash32 or (hashfunc is sha1_hash64 and scheme == "affine64"):
        hashes = np.empty(len(elements), np.uint32 if hashfunc is sha1_hash32 else np.uint64)
        if sha1_hashes(elements, hashes):
            return hashes.astype(dtype, copy=False)
    return to_hashes(elements if is_identity(hashfunc) else list(map(hashfunc, elements)), scheme)

"""The two functions behind `MinHasher.fingerprint`, as lsh 0.3.0 has them, defects included."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.compat._compat import murmur_minima
from fastlsh._kernels.text._texts import spans_of_list

__all__ = ["minhash_32", "minhash_64"]


def minhash_64(
    c_str: bytes, strlen: int, seeds: NDArray[np.uint32], char_ngram: int
) -> NDArray[np.uint64]:
    """Return the minima of MurmurHash3_x64_128's first half, uint64 (k,).

    Parameters
    ----------
    c_str, strlen
        The text and how many of its bytes count.
    seeds
        uint32 (k,).
    char_ngram
        Bytes of a shingle.

    Raises
    ------
    ValueError
        `strlen` is not between 0 and the length of the text.
    """
    return _minima(c_str, strlen, seeds, char_ngram, np.uint64)


def minhash_32(
    c_str: bytes, strlen: int, seeds: NDArray[np.uint32], char_ngram: int
) -> NDArray[np.uint32]:
    """Return the minima of MurmurHash3_x86_32, uint32 (k,); see `minhash_64`."""
    return _minima(c_str, strlen, seeds, char_ngram, np.uint32)


def _minima(
    text: bytes, length: int, seeds: NDArray[np.uint32], size: int, dtype: type[np.integer[Any]]
) -> NDArray[Any]:
    if not 0 <= length <= len(text):
        raise ValueError(f"strlen must lie between 0 and {len(text)}, got {length}")
    fingerprint = np.empty((1, len(seeds)), dtype)
    murmur_minima(spans_of_list([text[:length]], 0, True), size, seeds, fingerprint, True)
    result: NDArray[Any] = fingerprint[0]
    return result

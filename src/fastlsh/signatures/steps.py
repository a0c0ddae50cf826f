"""Signing: a scheme of hash functions, and the minima of a batch in steps.

Each call of a kernel is short enough for Ctrl-C, however long a text is.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.minhash import _signatures
from fastlsh.arguments import check_choice, check_integer
from fastlsh.keyed import Key
from fastlsh.parallel import batches, batches_by_work
from fastlsh.parameters import SCHEMES
from fastlsh.texts import Gathered, Hashing, Texts, lengths_of

BATCH_CHARACTERS = 1 << 19
MAX_BATCH = 1 << 14


class Scheme(NamedTuple):
    """A scheme with the functions a[j] * x + b[j] mod 2^32, a[j] odd, that it works with."""

    kernel: int
    """By the name that the kernels have for it."""
    a: NDArray[np.uint32]
    b: NDArray[np.uint32]
    """uint32 (num_perm,), one function for each value; for "fss" one more for each round."""


def draw_scheme(scheme: str, num_perm: int, seed: int, key: Key | None = None) -> Scheme:
    """Draw the functions of a scheme.

    Parameters
    ----------
    scheme
        "affine32", whose coefficients are those that datasketch 2.0 draws from the same seed; or
        "fss", which draws as many more as it has rounds.
    num_perm
        How many values a signature has, 1 to 65,535.
    seed
        0 to 2^32 - 1, of the Mersenne Twister MT19937 (docs/signature-spec.md).
    key
        The functions are derived from it and the seed instead.

    Raises
    ------
    TypeError, ValueError
        A number that is no integer or out of range, or an unknown scheme; the message names the
        known ones.
    """
    check_choice(scheme, "scheme")
    num_perm = check_integer(num_perm, "num_perm")
    seed = check_integer(seed, "seed")
    functions = num_perm + (_signatures.ROUNDS if scheme == "fss" else 0)
    drawn = _drawn(functions, seed) if key is None else key.functions(functions, seed)
    return Scheme(SCHEMES[scheme], *drawn)


@lru_cache(16)
def _drawn(functions: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return a and b, which cannot be written to: all hashers with this seed share them."""
    # The stream of RandomState is frozen by numpy's policy (NEP 19).
    draw = np.random.RandomState(seed)
    half = draw.randint(0, 2**31, functions, np.uint32)
    a, b = half * np.uint32(2) + np.uint32(1), draw.randint(0, 2**32, functions, np.uint32)
    for array in (a, b):
        array.flags.writeable = False
    return a, b


class BandKeys(NamedTuple):
    """Room for the keys of the first bands."""

    rows: int
    keys: NDArray[np.uint64]
    """uint64 (bands, n)."""


def batch_size(texts: Texts) -> int:
    """Return how many documents make about half a million characters, by a sample."""
    n = len(texts)
    if n < 2:
        return 1
    sample = np.arange(min(n, 64)) * n // min(n, 64)
    lengths = lengths_of(texts.take(sample, True))
    return int(np.clip(BATCH_CHARACTERS // (int(lengths.mean()) + 1), 1, MAX_BATCH))


STEP = 1 << 31
"""Functions evaluated in one call: 0.1 s with AVX-512, 0.3 s with SSE4.2."""

VALUE = 128
"""What each value of a signature costs in such evaluations, besides."""

FSS_VALUE = 256
"""And with "fss" ..."""

FSS_UNIT = 350
"""... where so many stand for each shingle, at worst."""

SLICE = 1024
"""Values that are made at a time where a long text is read once for each slice of a signature."""


Signatures = NDArray[np.uint32]
Keys = NDArray[np.uint64] | None


def _sign(
    hashing: Hashing | None,
    gathered: Gathered,
    functions: Scheme,
    out: Signatures,
    rows: int = 0,
    keys: Keys = None,
) -> None:
    """Sign a batch in one call of a kernel. Parameters as in `signing_steps`."""
    units, offsets = gathered
    if hashing is None:
        assert offsets is not None
        _signatures.hash_signatures(units, offsets, *functions, out)
        return
    unit, size, prepared = hashing
    if offsets is None:
        _signatures.signatures(units, unit, size, *functions, out, rows, keys, prepared)
    else:
        _signatures.token_signatures(units, offsets, size, *functions, out, rows, keys, prepared)


def signing_steps(
    hashing: Hashing | None,
    gathered: Gathered,
    lengths: NDArray[np.int64],
    functions: Scheme,
    out: Signatures,
    rows: int = 0,
    keys: Keys = None,
) -> Iterator[None]:
    """Sign a batch, step by step.

    Parameters
    ----------
    hashing
        Of the shingler; None: the units of the batch are hashes already.
    gathered, lengths
        The batch, and the code points (bytes, tokens) of each document, int64 (n,).
    functions, out
        The scheme; uint32 (n, num_perm), written.
    rows, keys
        Band keys to write as well, uint64 (bands, n), or None.
    """
    if _work(functions, int(lengths.sum()), len(lengths), out.shape[1]) <= STEP:
        _sign(hashing, gathered, functions, out, rows, keys)  # nearly always
        return
    work = np.asarray(_work(functions, lengths, 1, out.shape[1]))
    for first, last in batches_by_work(work, STEP, len(work)):
        signed = out[first:last]
        keys_of_batch = None if keys is None else keys[:, first:last]
        if work[first] <= STEP:
            batch = gathered.part(first, last)
            _sign(hashing, batch, functions, signed, rows, keys_of_batch)
            yield
            continue
        if hashing is None or gathered.has_windows(hashing.unit):
            length = int(lengths[first])
            yield from _by_windows(hashing, gathered, first, length, functions, signed)
        else:
            yield from _by_slices(hashing, gathered.part(first, last), functions, signed)
        if keys_of_batch is not None:
            _signatures.band_keys(signed, 0, rows, keys_of_batch)


def _work(functions: Scheme, units: Any, documents: int, k: int) -> Any:
    """Return how many evaluations it costs, at most, to sign documents of so many units."""
    if functions.kernel == _signatures.AFFINE32:
        return (units + VALUE * documents) * k
    # What few shingles leave empty is filled by a function for each value.
    return units * FSS_UNIT + documents * (FSS_VALUE + k // 16) * k


def _by_windows(
    hashing: Hashing | None,
    gathered: Gathered,
    document: int,
    length: int,
    functions: Scheme,
    out: Signatures,
) -> Iterator[None]:
    """Sign a long document: the signature of a union is the elementwise minimum."""
    per_unit = out.shape[1] if functions.kernel == _signatures.AFFINE32 else FSS_UNIT
    overlap = 0 if hashing is None else hashing.size - 1
    room = max(STEP // per_unit, 64 * overlap, 1)  # what is read twice is to be little
    row = np.empty_like(out)
    out.fill(0xFFFFFFFF)
    for begin, end in batches(max(length - overlap, 1), room):
        window = gathered.window(document, begin, min(end + overlap, length))
        _sign(hashing, window, functions, row)
        np.minimum(out, row, out=out)
        yield


def _by_slices(
    hashing: Hashing, document: Gathered, functions: Scheme, out: Signatures
) -> Iterator[None]:
    """Sign a long document of words, which is cut into words anew for each slice of values."""
    k = out.shape[1]
    if functions.kernel != _signatures.AFFINE32 or k < 2 * SLICE:
        _sign(hashing, document, functions, out)
        return
    for first, last in batches(k, SLICE):
        row = np.empty((1, last - first), np.uint32)
        slice_functions = functions._replace(a=functions.a[first:last], b=functions.b[first:last])
        _sign(hashing, document, slice_functions, row)
        out[:, first:last] = row
        yield

"""Signing in steps: each call of a kernel is short enough for Ctrl-C, however long a text is."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.minhash import _signatures
from fastlsh._kernels.text import _plans
from fastlsh.parallel import batches, batches_by_work
from fastlsh.signatures.schemes import Scheme
from fastlsh.texts import Gathered, Hashing, Texts, lengths_of

BATCH_CHARACTERS = 1 << 19
MAX_BATCH = 1 << 14


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
    mean = int(lengths_of(texts.take(sample, True)).mean())
    return int(np.clip(BATCH_CHARACTERS // (mean + 1), 1, MAX_BATCH))


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


class Kernel(NamedTuple):
    """A kernel that signs a batch in one call."""

    sign: Callable[..., None]
    """Called with a batch, a scheme, where to write signatures, and, for keys: rows, and where."""
    overlap: int | None
    """Units that two windows of a text must share; None: it cannot be cut into windows."""


def of_texts(hashing: Hashing) -> Kernel:
    """Sign texts by their shingles."""
    unit, size, prepared = hashing

    def sign(
        gathered: Gathered, functions: Scheme, out: Signatures, rows: int = 0, keys: Keys = None
    ) -> None:
        _signatures.signatures(gathered.units, unit, size, *functions, out, rows, keys, prepared)

    whole = unit not in (_plans.CHARACTERS, _plans.TOKEN_IDS)
    return Kernel(sign, None if whole else size - 1)


def of_tokens(hashing: Hashing) -> Kernel:
    """Sign tokens by their shingles."""
    size, prepared = hashing.size, hashing.prepared

    def sign(
        gathered: Gathered, functions: Scheme, out: Signatures, rows: int = 0, keys: Keys = None
    ) -> None:
        assert gathered.offsets is not None
        _signatures.token_signatures(
            gathered.units, gathered.offsets, size, *functions, out, rows, keys, prepared
        )

    return Kernel(sign, size - 1)


def of_hashes() -> Kernel:
    """Sign ready hashes."""

    def sign(gathered: Gathered, functions: Scheme, out: NDArray[np.uint32]) -> None:
        assert gathered.offsets is not None
        _signatures.hash_signatures(gathered.units, gathered.offsets, *functions, out)

    return Kernel(sign, 0)


def signing_steps(
    kernel: Kernel,
    gathered: Gathered,
    lengths: NDArray[np.int64],
    functions: Scheme,
    out: NDArray[np.uint32],
    rows: int = 0,
    keys: NDArray[np.uint64] | None = None,
) -> Iterator[None]:
    """Sign a batch, step by step.

    Parameters
    ----------
    kernel
        Signs a batch.
    gathered, lengths
        The batch, and the code points (bytes, tokens) of each document, int64 (n,).
    functions, out
        The scheme; uint32 (n, num_perm), written.
    rows, keys
        Band keys to write as well, uint64 (bands, n), or None.
    """
    band_arguments: tuple[Any, ...] = () if keys is None else (rows, keys)
    if _work(functions, int(lengths.sum()), len(lengths), out.shape[1]) <= STEP:
        kernel.sign(gathered, functions, out, *band_arguments)  # nearly always
        return
    work = np.asarray(_work(functions, lengths, 1, out.shape[1]))
    for first, last in batches_by_work(work, STEP, len(work)):
        signed = out[first:last]
        if keys is not None:
            band_arguments = rows, keys[:, first:last]
        if work[first] <= STEP:
            kernel.sign(gathered.part(first, last), functions, signed, *band_arguments)
            yield
            continue
        if kernel.overlap is None:
            yield from _by_slices(kernel, gathered.part(first, last), functions, signed)
        else:
            length = int(lengths[first])
            yield from _by_windows(kernel, gathered, first, length, functions, signed)
        if keys is not None:
            _signatures.band_keys(signed, 0, rows, keys[:, first:last])


def _work(functions: Scheme, units: Any, documents: int, k: int) -> Any:
    """Return how many evaluations it costs, at most, to sign documents of so many units."""
    if functions.kernel == _signatures.AFFINE32:
        return (units + VALUE * documents) * k
    # What few shingles leave empty is filled by a function for each value.
    return units * FSS_UNIT + documents * (FSS_VALUE + k // 16) * k


def _by_windows(
    kernel: Kernel,
    gathered: Gathered,
    document: int,
    length: int,
    functions: Scheme,
    out: NDArray[np.uint32],
) -> Iterator[None]:
    """Sign a long document: the signature of a union is the elementwise minimum."""
    per_unit = out.shape[1] if functions.kernel == _signatures.AFFINE32 else FSS_UNIT
    overlap = kernel.overlap or 0
    room = max(STEP // per_unit, 64 * overlap, 1)  # what is read twice is to be little
    row = np.empty_like(out)
    out.fill(0xFFFFFFFF)
    for begin, end in batches(max(length - overlap, 1), room):
        kernel.sign(gathered.window(document, begin, min(end + overlap, length)), functions, row)
        np.minimum(out, row, out=out)
        yield


def _by_slices(
    kernel: Kernel, document: Gathered, functions: Scheme, out: NDArray[np.uint32]
) -> Iterator[None]:
    """Sign a long document of words, which is cut into words anew for each slice of values."""
    k = out.shape[1]
    if functions.kernel != _signatures.AFFINE32 or k < 2 * SLICE:
        kernel.sign(document, functions, out)
        return
    for first, last in batches(k, SLICE):
        row = np.empty((1, last - first), np.uint32)
        slice_functions = functions._replace(a=functions.a[first:last], b=functions.b[first:last])
        kernel.sign(document, slice_functions, row)
        out[:, first:last] = row
        yield

"""Band keys: which values of a signature are compared as one; sorted in short parts."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastlsh._kernels.minhash import _signatures
from fastlsh.banding import LSHParams
from fastlsh.parallel import batches, run_batches, thread_count

PART = 1 << 21
"""Rows that are sorted at a time: 0.1 to 0.2 s."""

CHUNK = 1 << 19
"""Rows that are dealt out at a time."""

SAMPLE = 1 << 16
"""Keys that tell where parts begin."""

KeyColumns = tuple[NDArray[Any], ...]


class RowBlocks:
    """Blocks of rows, which are joined and sorted in the end.

    Parameters
    ----------
    types
        Of the columns. Keys, the values of the first one, should differ, mostly.
    """

    def __init__(self, *types: DTypeLike) -> None:
        self._types = types
        self._blocks: list[KeyColumns] = []

    def append(self, *columns: NDArray[Any]) -> None:
        """Add rows: equally long arrays."""
        self._blocks.append(columns)

    def take(self) -> KeyColumns:
        """Take all rows out, as they were added."""
        blocks, self._blocks = self._blocks, []
        return _joined_columns(blocks, self._types)

    def take_sorted(self) -> KeyColumns:
        """Take all rows out, ascending by the first column.

        Memory: what the blocks take, the result, and no more but for one part.
        """
        blocks, self._blocks = self._blocks, []
        total = sum(len(block[0]) for block in blocks)
        if total <= PART:
            joined = _joined_columns(blocks, self._types)
            del blocks
            return _sorted(joined)
        parts = _dealt(blocks, _splitters(blocks, total))
        result = tuple(np.empty(total, kind) for kind in self._types)
        end = 0
        for part in parts:
            columns = _sorted(_joined_columns(part, self._types))
            part.clear()
            start, end = end, end + len(columns[0])
            for column, values in zip(result, columns, strict=True):
                column[start:end] = values
        return result


def _joined_columns(blocks: list[KeyColumns], types: tuple[DTypeLike, ...]) -> KeyColumns:
    return tuple(
        np.concatenate([np.empty(0, kind), *(block[number] for block in blocks)])
        for number, kind in enumerate(types)
    )


def _sorted(columns: KeyColumns) -> KeyColumns:
    if len(columns) == 1:
        columns[0].sort()
        return columns
    order = np.argsort(columns[0])
    return tuple(column[order] for column in columns)


def _splitters(blocks: list[KeyColumns], total: int) -> NDArray[Any]:
    """Return the first keys of all parts but the first, by a sample."""
    stride = max(total // SAMPLE, 1)
    seen, sample = 0, []
    for key, *_ in blocks:
        sample.append(key[-seen % stride :: stride])
        seen += len(key)
    ascending = np.sort(np.concatenate(sample))
    parts = -(-total // PART)
    return ascending[np.arange(1, parts) * len(ascending) // parts]


def _dealt(blocks: list[KeyColumns], splitters: NDArray[Any]) -> list[list[KeyColumns]]:
    """Deal the rows out to their parts; empties the list."""
    parts: list[list[KeyColumns]] = [[] for _ in range(len(splitters) + 1)]
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        for start, stop in batches(len(block[0]), CHUNK):
            key = block[0][start:stop]
            part = np.searchsorted(splitters, key, "right").astype(np.uint16)
            order = np.argsort(part, kind="stable")  # 16 bits: linear
            columns = [column[start:stop][order] for column in block]
            ends = np.cumsum(np.bincount(part, minlength=len(parts)))
            for rows, first, last in zip(parts, [0, *ends.tolist()], ends.tolist(), strict=False):
                if first < last:
                    rows.append(tuple(column[first:last] for column in columns))
    return parts


KEYS_BATCH = 1 << 15
"""At most so many documents' keys are made at a time ..."""

VALUES_BATCH = 1 << 26
"""... of so many values: about a tenth of a second."""

BANDS_BATCH = 128
"""At least so many bands are made at a time, and no more of them than ..."""

KEYS_ROOM = 1 << 23
"""... so many keys of all documents: the first to write into memory waits until it is cleared."""

MAX_DOCUMENTS = 2**31 - 1


def check_signatures(signatures: Any) -> NDArray[np.uint32]:
    """Return the signatures, uint32 (n, num_perm), aligned and C-contiguous, or raise."""
    if not isinstance(signatures, np.ndarray) or signatures.dtype != np.uint32:
        kind = getattr(signatures, "dtype", type(signatures).__name__)
        raise TypeError(f"signatures must be an array of uint32, got {kind}")
    if signatures.ndim != 2 or signatures.shape[1] < 1:
        raise ValueError(f"signatures must have shape (n, num_perm), got {signatures.shape}")
    if len(signatures) > MAX_DOCUMENTS:
        raise ValueError(f"at most {MAX_DOCUMENTS:,} documents, got {len(signatures):,}")
    return np.require(signatures, np.uint32, ["C", "A"])


def check_bands(signatures: NDArray[np.uint32], params: LSHParams) -> None:
    """Raise TypeError for no `LSHParams`, and ValueError if the bands do not fit the signatures."""
    if not isinstance(params, LSHParams):
        raise TypeError(f"params must be LSHParams(bands, rows), got {type(params).__name__}")
    if params.bands * params.rows > signatures.shape[1]:
        raise ValueError(
            f"{params.bands} bands of {params.rows} rows need {params.bands * params.rows} values, "
            f"signatures have {signatures.shape[1]}"
        )


def make_keys(
    signatures: NDArray[np.uint32], first: int, rows: int, out: NDArray[np.uint64], threads: int
) -> None:
    """Write the keys of the bands from `first` on into `out`, uint64 (bands, n)."""

    def work(start: int, stop: int) -> None:
        _signatures.band_keys(signatures[start:stop], first, rows, out[:, start:stop])

    values = len(out) * (rows + 8)  # to finish a key and to write it costs something, too
    batch = min(KEYS_BATCH, max(VALUES_BATCH // values, 1))
    run_batches(work, batches(len(signatures), batch), threads)


def band_keys(
    signatures: NDArray[np.uint32], params: LSHParams, *, threads: int | None = None
) -> NDArray[np.uint64]:
    """Return the key of each document in each band.

    Parameters
    ----------
    signatures
        uint32 (n, num_perm).
    params
        Bands and rows, bands * rows <= num_perm.
    threads
        Number of threads; by default all usable processors. It never changes the result.

    Returns
    -------
    ndarray of uint64, shape (bands, n)
        Two keys are equal if the values in that band are equal (docs/signature-spec.md, section
        6). The key 0 marks an empty document, which is in no bucket.

    Raises
    ------
    TypeError, ValueError
        The signatures have another type or shape, or too few values, or `params` is no
        `LSHParams`.

    Examples
    --------
    >>> import fastlsh
    >>> signatures = fastlsh.MinHasher().signatures(["some text", "some text", ""])
    >>> keys = band_keys(signatures, LSHParams(17, 7))
    >>> bool((keys[:, 0] == keys[:, 1]).all()), int(keys[0, 2])
    (True, 0)
    """
    signatures = check_signatures(signatures)
    check_bands(signatures, params)
    n = len(signatures)
    keys = np.empty((params.bands, n), np.uint64)
    threads = thread_count(threads)
    for first, last in batches(params.bands, max(BANDS_BATCH, KEYS_ROOM // max(n, 1))):
        make_keys(signatures, first, params.rows, keys[first:last], threads)
    return keys


def empty_documents(signatures: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the documents without a shingle, int64: their row is all ones."""
    suspects = np.flatnonzero(signatures[:, 0] == 0xFFFFFFFF)
    empty: NDArray[np.int64] = suspects[(signatures[suspects] == 0xFFFFFFFF).all(axis=1)]
    return empty

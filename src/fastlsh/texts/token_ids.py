"""Documents of token ids, and the tokens of a tokenizer.json."""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh._kernels.text._texts import Spans, spans_of_ids
from fastlsh.arrays import offsets_of
from fastlsh.errors import InputError
from fastlsh.texts.pieces import Texts, lengths_of


class TokenizerFile:
    """A function from a text to where its tokens begin and end there.

    Parameters
    ----------
    path
        A file tokenizer.json, as the package tokenizers writes it. Truncation and padding are
        turned off, and no special tokens are added.

    Raises
    ------
    InputError
        The package is missing, the file cannot be read, or its tokens depend on chance.
    """

    def __init__(self, path: str) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise InputError(path, "tokenizers need a package: pip install tokenizers") from None
        try:
            data = Path(path).read_bytes()
            dropout = (json.loads(data).get("model") or {}).get("dropout")
            self._tokenizer = Tokenizer.from_buffer(data)
        except OSError as error:
            raise InputError(path, str(error.strerror)) from error
        except Exception as error:  # the package raises plain ones
            raise InputError(path, f"is no tokenizer.json: {error}") from error
        if dropout:
            raise InputError(
                path,
                f"has a dropout of {dropout}, so its tokens are not the same in each call:"
                " passages need a tokenizer that is deterministic",
            )
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._digest = sha256(data).hexdigest()

    def __repr__(self) -> str:
        """Return a text that is the same for the same tokenizer: a work directory has it."""
        return f"TokenizerFile({self._digest[:32]})"

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return the bounds of the tokens in code points."""
        # A lone surrogate has no UTF-8; "?" is as long.
        encoded = text.encode("utf-8", "replace").decode()
        encoding = self._tokenizer.encode(encoded, add_special_tokens=False)
        return encoding.offsets


EXPECTED = "expected token ids: whole numbers from 0 to 2**64 - 1"


class TokenIds(Texts):
    """Documents of token ids in two arrays, for ``Shingler("token", size)``.

    Parameters
    ----------
    values
        The ids of all documents, one after the other: a one-dimensional array of integers >= 0.
        They are not copied, and must not change while they are in use.
    offsets
        Integers (n + 1,), not decreasing: document d has values[offsets[d]:offsets[d + 1]].

    Raises
    ------
    TypeError, ValueError
        `values` or `offsets` have another type or shape. A negative id is found when it is read;
        the message names the document.

    Examples
    --------
    >>> import fastlsh
    >>> documents = fastlsh.TokenIds([7, 8, 9, 7, 8, 9, 5], [0, 3, 7])
    >>> fastlsh.jaccard([7, 8, 9], [7, 8, 9, 5], fastlsh.Shingler("token", 2))
    0.6666666666666666
    """

    def __init__(self, values: ArrayLike, offsets: ArrayLike) -> None:
        ids = np.asarray(values)
        if ids.size == 0:
            ids = np.empty(0, np.int64)
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            raise TypeError(f"values are {ids.dtype} of {ids.ndim} dimensions, {EXPECTED}")
        bounds = np.asarray(offsets)
        if bounds.ndim != 1 or len(bounds) < 1 or bounds.dtype.kind not in "iu":
            raise TypeError(
                f"offsets must be integers (n + 1,), got {bounds.dtype} of shape {bounds.shape}"
            )
        self._signed = ids.dtype.kind == "i"
        self._ids = np.require(ids, ids.dtype.newbyteorder("="), ["C", "A"])
        self._offsets = np.require(bounds, np.int64, ["C", "A"])
        inside = self._offsets[0] >= 0 and self._offsets[-1] <= len(ids)
        if not inside or (np.diff(self._offsets) < 0).any():
            raise ValueError(f"offsets must ascend from 0 to at most {len(ids)}, the number of ids")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield the ids of each document."""
        for start, stop in pairwise(self._offsets.tolist()):
            yield self._ids[start:stop]

    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans:
        """Gather the given documents."""
        return spans_of_ids(
            self._ids.view(np.uint8), self._ids.itemsize, self._signed, self._offsets, documents
        )


def are_token_ids(documents: Sequence[Any]) -> bool:
    """Tell by the first document that has anything whether a list is one of token ids."""
    for document in documents:
        if isinstance(document, np.ndarray):
            return document.dtype.kind not in "USO"
        if not isinstance(document, (list, tuple)):
            if document is None:
                continue
            return False
        if document:
            return isinstance(document[0], (Number, np.generic, list, tuple)) or document[0] is None
    return any(isinstance(document, (list, tuple)) for document in documents)


def ids_of_lists(documents: Sequence[Any]) -> TokenIds:
    """Return a list of lists (arrays) of ids as one array; None is an empty document."""
    arrays = [_ids_of(document, i) for i, document in enumerate(documents)]
    offsets = offsets_of(np.array([len(array) for array in arrays], np.int64))
    filled = [array for array in arrays if len(array)]
    if any(array.dtype == np.uint64 for array in filled):
        filled = [array.astype(np.uint64) for array in filled]
    return TokenIds(np.concatenate(filled) if filled else [], offsets)


def missing_as_ids(spans: Spans) -> Spans:
    """Return documents that are all missing as token ids; texts are returned as they are."""
    has_text = lengths_of(spans).any()
    return spans if has_text else ids_of_lists([None] * len(spans)).spans(0, len(spans))


def _ids_of(document: Any, number: int) -> NDArray[Any]:
    if document is None:
        return np.empty(0, np.int64)
    try:
        array = np.asarray(document)
    except ValueError:  # lists of different lengths
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise TypeError(f"document {number} is nested or not a list, {EXPECTED}")
    if len(array) == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        whole = (int, np.integer)
        no_integers = [x for x in document if not isinstance(x, whole) or isinstance(x, bool)]
        if no_integers:
            raise TypeError(f"document {number} has a token that is {no_integers[0]!r}, {EXPECTED}")
        array = np.array(document, object)  # below and above 2**63, which numpy made floats
    if array.min() < 0:
        raise ValueError(f"document {number} has the token id {array.min()}: ids are not negative")
    if array.dtype == object and array.max() >= 2**64:
        raise ValueError(f"document {number} has the token id {array.max()}, {EXPECTED}")
    return array.astype(np.uint64) if array.dtype == object else array


def ids_of_arrow(column: Any) -> TokenIds:
    """Return an Arrow column of lists of integers, without a copy if it has one chunk.

    Raises
    ------
    ImportError
        There is no pyarrow.
    TypeError, ValueError
        It holds something else; or a null among the ids. A null list is an empty document.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(column, (pa.Array, pa.ChunkedArray)):
        column = pa.table(column).column(0) if _is_table(column) else pa.chunked_array(column)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    values: list[NDArray[Any]] = []
    lengths: list[NDArray[Any]] = []
    for chunk in chunks:
        ids = chunk.flatten()
        if not pa.types.is_integer(ids.type):
            raise TypeError(f"the lists of the Arrow column hold {ids.type}, {EXPECTED}")
        counts = pc.fill_null(pc.list_value_length(chunk), 0).to_numpy(zero_copy_only=False)
        if ids.null_count:
            first = int(np.flatnonzero(np.asarray(ids.is_null()))[0])
            document = int(np.searchsorted(np.cumsum(counts), first, "right"))
            document += sum(len(length) for length in lengths)
            raise ValueError(f"document {document} has a null among its tokens, {EXPECTED}")
        values.append(ids.to_numpy())
        lengths.append(counts)
    offsets = offsets_of(np.concatenate([np.empty(0, np.int64), *lengths]))
    ids = values[0] if len(values) == 1 else np.concatenate(values or [np.empty(0, np.int64)])
    return TokenIds(ids, offsets)


def _is_table(column: Any) -> bool:
    return hasattr(column, "column_names") or hasattr(column, "columns")

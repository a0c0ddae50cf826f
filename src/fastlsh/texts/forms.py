"""A list, an array, an Arrow column: each gives the spans of a batch of its texts, for a kernel."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._plans import CHARACTERS, TOKEN_IDS, ShinglePlan, token_hashes
from fastlsh._kernels.text._texts import (
    ArrowColumn,
    Spans,
    TextColumn,
    TextColumns,
    merged,
    spans_of_list,
)
from fastlsh.arguments import check_ordered
from fastlsh.parallel import batches
from fastlsh.texts.pieces import Pieces, Texts, lengths_of
from fastlsh.texts.token_ids import (
    TokenIds,
    are_token_ids,
    ids_of_arrow,
    ids_of_lists,
    missing_as_ids,
)

Result = TypeVar("Result")

BATCH_TOKENS = 1 << 16
"""Their hashes stay in the cache."""


class Hashing(NamedTuple):
    """How shingles are hashed, as arguments of the kernels."""

    unit: int
    """By the number that the kernels have for it."""
    size: int
    prepared: ShinglePlan | None = None
    """With a key, or without some words or shingles."""


class Gathered(NamedTuple):
    """The texts of a batch, ready for a kernel."""

    units: Any
    """The texts, `Spans`; or tokens, uint64, of which document d has those from offsets[d] on."""
    offsets: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.units) if self.offsets is None else len(self.offsets) - 1

    def part(self, first: int, last: int) -> "Gathered":
        """Return the documents first ... last - 1, read in place."""
        if self.offsets is None:
            return Gathered(self.units.part(first, last), None)
        return Gathered(self.units, self.offsets[first : last + 1])

    def has_windows(self, unit: int) -> bool:
        """Return whether documents can be read in parts, by the number of the unit."""
        # The words of a text are not cut yet: a window might begin within one.
        return self.offsets is not None or unit in (CHARACTERS, TOKEN_IDS)

    def window(self, document: int, begin: int, end: int) -> "Gathered":
        """Return the code points (bytes, tokens) begin ... end - 1 of a document as the only one.

        Only where it `has_windows`.
        """
        if self.offsets is None:
            return Gathered(self.units.window(document, begin, end), None)
        return Gathered(self.units, self.offsets[document] + np.array([begin, end]))

    def lengths(self) -> NDArray[np.int64]:
        """Return the code points (bytes, tokens) of each document, int64 (n,)."""
        if self.offsets is not None:
            return np.diff(self.offsets)
        return lengths_of(self.units)


def gather_tokens(
    documents: list[Sequence[str | bytes]],
    first: int = 0,
    numbers: NDArray[np.int64] | None = None,
    prepared: ShinglePlan | None = None,
) -> Gathered:
    """Gather ready tokens; errors name the document, counted from `first` or in `numbers`."""
    offsets = np.empty(len(documents) + 1, np.int64)
    return Gathered(token_hashes(documents, offsets, first, numbers, prepared), offsets)


def tokens_batch(documents: list[Any]) -> int:
    """Return how many documents have about `BATCH_TOKENS` tokens, by a sample."""
    sample = documents[:: len(documents) // 64 + 1]
    lengths = [len(document) for document in sample if hasattr(document, "__len__")]
    return max(BATCH_TOKENS * len(lengths) // (sum(lengths) + 1), 1) if lengths else 1


class ListTexts(Texts):
    """Texts in a list of str, bytes (UTF-8) and None (empty)."""

    def __init__(self, documents: list[Any]) -> None:
        self._documents = documents

    def __len__(self) -> int:
        return len(self._documents)

    def spans(self, start: int, stop: int, as_bytes: bool = False) -> Spans:
        """Gather the documents start ... stop - 1."""
        # The slice holds the references while the GIL is released.
        return spans_of_list(self._documents[start:stop], start, as_bytes)

    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans:
        """Gather the given documents."""
        chosen = documents.tolist()
        return spans_of_list([self._documents[i] for i in chosen], 0, as_bytes, chosen)


class JoinedTexts(Texts):
    """Two collections, one after the other."""

    def __init__(self, head: Texts, tail: Texts) -> None:
        self.parts = (head, tail)

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans:
        """Gather the given documents."""
        head, tail = self.parts
        in_tail = documents >= len(head)
        spans = head.take(documents[~in_tail], as_bytes)
        others = tail.take(documents[in_tail] - len(head), as_bytes)
        if spans.tokens != others.tokens:
            spans, others = missing_as_ids(spans), missing_as_ids(others)
        return merged(spans, others, in_tail.view(np.uint8))


class NormalizedTexts(Texts):
    """Texts after a function of Python, which is called once for each, when it is read first."""

    def __init__(self, texts: Texts, normalize: Callable[[str], str]) -> None:
        self._texts = texts
        self._normalize = normalize
        self._results: list[str | None] = [None] * len(texts)

    def __len__(self) -> int:
        return len(self._results)

    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans:
        """Gather the given documents."""
        chosen, results = documents.tolist(), self._results
        missing = [i for i in chosen if results[i] is None]
        if missing:
            spans = self._texts.take(np.array(missing, np.int64))
            if spans.tokens:  # token ids, which the shingler refuses
                return spans
            for i, text in zip(missing, spans.strings(), strict=True):
                results[i] = self._normalize(text)
        return spans_of_list([results[i] for i in chosen], 0, as_bytes)


def is_normalized(texts: Texts) -> bool:
    """Return whether the function `normalize` has been, or will be, called for all texts."""
    # isinstance takes microseconds where a class is derived from a protocol.
    if type(texts) is JoinedTexts:
        return all(map(is_normalized, texts.parts))
    return type(texts) is NormalizedTexts


def joined_texts(head: Texts, tail: Texts) -> Texts:
    """Return two collections as one, the documents of `head` first."""
    return JoinedTexts(head, tail) if len(head) else tail


class NamedTexts(Texts):
    """Texts of an argument that is not the first one: errors about one of them name it."""

    def __init__(self, texts: Texts, name: str) -> None:
        self._texts, self._name = texts, name

    def __len__(self) -> int:
        return len(self._texts)

    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans:
        """Gather the given documents."""
        return named(self._name, self._texts.take, documents, as_bytes)

    def spans(self, start: int, stop: int, as_bytes: bool = False) -> Spans:
        """Gather the documents start ... stop - 1, in place if these texts can be read so."""
        return named(self._name, self._texts.spans, start, stop, as_bytes)


def named(name: str, function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function whose errors are about an argument of this name, and say so."""
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        if type(error) not in (TypeError, ValueError) or str(error).startswith(name):
            raise
        raise type(error)(f"{name}: {error}") from None


def as_texts(texts: Any, name: str = "texts") -> Texts:
    """Return `texts` behind the interface `Texts`, without copying a text.

    Parameters
    ----------
    texts
        A sequence or iterable of str, bytes (UTF-8) or None; a numpy array of str, bytes,
        StringDType (missing = empty) or objects; anything that speaks the Arrow PyCapsule
        protocol (pyarrow, polars, pandas, DuckDB...) with one string or binary column,
        nulls = empty. Or documents of token ids: `TokenIds`, lists or arrays of integers, an
        array of two dimensions, an Arrow column of lists (with pyarrow).
    name
        What messages call the argument; those about one of the texts do so where it is not the
        first argument, "texts".

    Raises
    ------
    TypeError
        Not a collection of texts, or a table with several columns.
    """
    # isinstance takes microseconds where a class is derived from a protocol.
    if name == "texts" or (type(texts) is not list and isinstance(texts, _COLLECTIONS)):
        return _texts_of(texts, name)
    return NamedTexts(named(name, _texts_of, texts, name), name)


def _texts_of(texts: Any, name: str) -> Texts:
    if isinstance(texts, (list, tuple)):
        return _of_list(list(texts))  # of our own: the caller may change his meanwhile
    if isinstance(texts, (str, bytes, bytearray, memoryview)):
        raise TypeError(
            f"{name} must be a collection of texts, got one {type(texts).__name__}: "
            "wrap it in a list"
        )
    texts = check_ordered(texts, name)
    if isinstance(texts, _COLLECTIONS):
        return texts
    if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
        try:
            return ArrowColumn(texts)
        except TypeError as error:
            if not any(f"of type {name}," in str(error) for name in LISTS):
                raise
            return ids_of_arrow(texts)
        except ImportError:  # pandas needs pyarrow for this
            if not hasattr(texts, "isna"):
                raise
    if isinstance(texts, np.ndarray) and texts.ndim == 2 and texts.dtype.kind in "iu":
        return TokenIds(texts.ravel(), np.arange(len(texts) + 1) * texts.shape[1])
    if isinstance(texts, np.ndarray):
        if texts.ndim != 1 or texts.dtype.kind not in "USOT":
            raise TypeError(
                f"{name} is an array of {texts.dtype} with {texts.ndim} dimensions, "
                "expected one dimension of str, bytes or objects"
            )
        documents = texts.tolist()
        if hasattr(texts.dtype, "na_object"):  # StringDType: whatever it is, it is a missing text
            missing = texts.dtype.na_object
            missing = missing if isinstance(missing, str) else None  # pandas.NA is not compared
            documents = [t if isinstance(t, str) and t != missing else None for t in documents]
        return _of_list(documents)
    if hasattr(texts, "isna") and hasattr(texts, "to_numpy"):  # a pandas Series
        values = texts.to_numpy(dtype=object, copy=True)
        values[np.asarray(texts.isna())] = None
        return _texts_of(values, name)
    if not isinstance(texts, Iterable):
        raise TypeError(f"{name} must be a collection of texts, got {type(texts).__name__}")
    return _of_list(list(texts))


_COLLECTIONS = (
    ArrowColumn, JoinedTexts, ListTexts, NamedTexts, NormalizedTexts, Pieces, TextColumn,
    TextColumns, TokenIds,
)  # fmt: skip
"""Collections behind the interface `Texts` already."""

LISTS = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
"""The types of lists in Arrow."""


def _of_list(documents: list[Any]) -> Texts:
    return ids_of_lists(documents) if are_token_ids(documents) else ListTexts(documents)


def ids_of_words(texts: Any) -> list[NDArray[np.uint64] | None]:
    """Return documents of token ids, read from a file as words of digits, as arrays of numbers."""
    return [None if t is None else np.array(t.split(), np.uint64) for t in plain_strings(texts)]


def plain_strings(texts: Any, name: str = "texts") -> list[str | None]:
    """Return a collection of texts as strings; raises what `as_texts` does."""
    if isinstance(texts, list) and all(text is None or type(text) is str for text in texts):
        return list(texts)
    collection = as_texts(texts, name)
    strings: list[str | None] = []
    for start, stop in batches(len(collection), 4096):
        spans = collection.spans(start, stop)
        if spans.tokens:
            raise TypeError("token ids have no lines: give texts")
        strings += spans.strings()
    return strings

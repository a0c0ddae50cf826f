"""Which spans of texts were removed, and the texts without them."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import covered_length
from fastlsh.banding import LSHParams
from fastlsh.parallel import plural
from fastlsh.results.table import CountedResult, Row, RowTable, kept_names, named


def piece_name(by: str, window: int = 1) -> str:
    """Return how a line, paragraph, sentence or a window of these is called."""
    return by if window == 1 else f"{window}-{by} window"


@dataclass(eq=False, repr=False)
class CutTexts(RowTable[Row]):
    """Texts from which spans were removed, and for each span where it stays.

    A table with a row for each removed span, and an iterable of its rows.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "document", "start", "end", "kept_document", "against_document", "kept_start", "kept_end",
    )  # fmt: skip
    ID_COLUMNS = (("id", "ids", "against_ids"), ("kept_id", "ids", "against_ids"))

    texts: list[str | None]
    removed: InitVar[NDArray[np.int64]]
    kept: InitVar[NDArray[np.int64]]
    _: KW_ONLY
    emptied: NDArray[np.int64]
    n_against: InitVar[int]
    ids: Sequence[Any] | None = None
    against_ids: Sequence[Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(
        self, removed: NDArray[np.int64], kept: NDArray[np.int64], n_against: int
    ) -> None:
        self.document, self.start, self.end = np.ascontiguousarray(removed.T)
        number, self.kept_start, self.kept_end = np.ascontiguousarray(kept.T)
        outside = number < n_against  # the documents of `against` are counted before the others
        self.kept_document = np.where(outside, -1, number - n_against)
        self.against_document = np.where(outside, number, -1)
        self.documents = len(self.texts)
        self.characters = covered_length(self.document, self.start, self.end)

    @property
    def changed(self) -> NDArray[np.int64]:
        """The numbers of the documents from which something was removed, int64, ascending."""
        return np.unique(self.document)

    @property
    def id(self) -> list[Any]:
        """The id of each span's document; its number if no ids were given."""
        return named(self.document, self.ids)

    @property
    def kept_id(self) -> list[Any]:
        """The id of the document with the kept span; its number if no ids were given.

        A document of `against` without an id is called "against:3", by its number there.
        """
        kept, against = self.kept_document, self.against_document
        return kept_names(kept, against, self.ids, self.against_ids)

    @property
    def n_removed(self) -> int:
        """How many spans are removed."""
        return len(self)


@dataclass(eq=False, repr=False)
class LineDeduplication(CountedResult, CutTexts[tuple[Any, int, int, Any, float]]):
    r"""The texts without repeated lines, and for each removed span the kept span that it repeats.

    It is a table with a row for each removed span, and an iterable of (id, start, end, kept_id,
    similarity). Positions are code points of the original texts: ``texts[document][start:end]``
    is the removed line, without its line end. With `window`, a span is a removed window, and spans
    may overlap.

    Attributes
    ----------
    texts : list of str
        The texts after the removal, in the order of the input.
    document, start, end : ndarray of int64, shape (m,)
        The removed spans, ascending.
    kept_document, kept_start, kept_end : ndarray of int64, shape (m,)
        The first occurrence of each, which is kept; it may be in the same document.
        `kept_document` is -1 where it is in a document of `against`.
    against_document : ndarray of int64, shape (m,)
        The number of that document in `against`; -1 for all other spans.
    similarity : ndarray of float64, shape (m,)
        1 for equal spans; otherwise as in `Deduplication`.
    emptied : ndarray of int64
        The numbers of the documents that have become empty, ascending.
    by : str
        "line", "paragraph" or "sentence".
    threshold : float
        1 if only equal ones were removed.
    documents, spans : int
        How many documents were read, and how many lines, paragraphs or sentences, or windows
        of these, they have.
    characters : int
        How many code points the removed spans cover.
    limited : int
        How many spans were kept without being compared with every candidate.
    ids, against_ids : sequence or None
        The ids, if they were given.
    params : LSHParams or None
        The bands and rows that found the candidates; None for a threshold of 1.
    options : dict
        The keyword arguments that the result came from, apart from the collections:
        ``deduplicate_lines(texts, **result.options)`` gives the same.

    Examples
    --------
    >>> import fastlsh
    >>> result = fastlsh.deduplicate_lines(["Menu\nA page", "Menu\nAnother page"])
    >>> result.texts
    ['Menu\nA page', 'Another page']
    >>> list(result)
    [(1, 0, 4, 0, 1.0)]
    """

    COLUMNS = (*CutTexts.COLUMNS, "similarity")
    ROW = ("id", "start", "end", "kept_id", "similarity")

    similarity: NDArray[np.float64]
    _: KW_ONLY
    by: str
    threshold: float
    spans: int
    limited: int = 0
    params: LSHParams | None = None

    @property
    def name(self) -> str:
        """What is removed: the value of `by`, or windows of these."""
        return piece_name(self.by, self.options.get("window", 1))

    @property
    def n_kept(self) -> int:
        """How many spans are kept."""
        return self.spans - self.n_removed

    def __repr__(self) -> str:
        return (
            f"<LineDeduplication: {len(self):,} of {self.spans:,} {self.name}s removed from"
            f" {len(self.changed):,} of {plural(self.documents, 'document')}>"
        )


@dataclass(eq=False, repr=False)
class SpanDeduplication(CutTexts[tuple[Any, int, int, Any, int]]):
    """The texts without repeated passages, and for each removed span where it stays.

    It is a table with a row for each removed span, and an iterable of (id, start, end, kept_id,
    kept_start). Positions are code points of the original texts: ``texts[document][start:end]`` is
    what was removed. Spans of the same cut follow each other if they stay at different places.

    Attributes
    ----------
    texts, document, start, end, against_document, emptied, ids, against_ids
        As in `LineDeduplication`.
    kept_document, kept_start, kept_end : ndarray of int64, shape (m,)
        Where the same span stays; it may be in the same document. `kept_document` is -1 where that
        is in a document of `against`. `kept_start` and `kept_end` are -1 for what lies between two
        cuts (`merge_gap`), and stays nowhere.
    common : ndarray of int64, shape (n, 3)
        Document, start and end of the passages that stay although they occurred before, because
        they occur in more than `max_share` of the documents.
    dropped : ndarray of int64
        The numbers of the documents that lost something, and of which fewer than `keep_least`
        units remain, ascending.
    documents, characters : int
        How many documents were read, and how many code points were removed.
    options : dict
        The keyword arguments that the result came from, apart from the collections:
        ``deduplicate_spans(texts, **result.options)`` gives the same.

    Examples
    --------
    >>> import fastlsh
    >>> result = fastlsh.deduplicate_spans(["a licence of words", "a licence of words, again"], 10)
    >>> result.texts
    ['a licence of words', ', again']
    >>> list(result)
    [(1, 0, 18, 0, 0)]
    """

    ROW = ("id", "start", "end", "kept_id", "kept_start")

    _: KW_ONLY
    common: NDArray[np.int64]
    dropped: NDArray[np.int64]

    def __repr__(self) -> str:
        length = plural(self.characters, "character")
        documents = plural(self.documents, "document")
        return (
            f"<SpanDeduplication: {plural(len(self), 'span')} of {length} removed"
            f" from {len(self.changed):,} of {documents}>"
        )

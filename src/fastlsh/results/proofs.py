"""Why documents were removed."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import plural
from fastlsh.results.arrow import Column
from fastlsh.results.table import RowTable

AGAINST = "against:"
"""What the name of a document of `against` begins with where it has no id."""


def named(numbers: NDArray[np.int64], ids: Sequence[Any] | None) -> list[Any]:
    """Return the ids of some documents; their numbers if there are no ids."""
    plain: list[Any] = numbers.tolist()
    return plain if ids is None else [ids[number] for number in plain]


@dataclass(eq=False, repr=False)
class Proofs(RowTable):
    """One row for each removed document: the kept one that it duplicates, and their similarity.

    Also a table for everything that reads Arrow, and a sequence of (id, kept_id, similarity).

    Attributes
    ----------
    document : ndarray of int64, shape (m,)
        The numbers of the removed documents, ascending.
    kept_document : ndarray of int64, shape (m,)
        The number of the kept one, in `against` if `against` says so, else in the collection.
    against : ndarray of bool, shape (m,)
        Whether the kept document is one of `against`.
    similarity : ndarray of float64, shape (m,)
        As in `Deduplication`.
    ids, against_ids : sequence or None
        The ids, if they were given.
    measure : str
        What tables call `similarity`: "containment" if the rule of removal was "contained".

    Examples
    --------
    >>> import fastlsh
    >>> proofs = fastlsh.deduplicate(["known"], against=["known"], ids=["a"]).proofs()
    >>> for removed, kept, similarity in proofs:
    ...     print(removed, kept, similarity)
    a against:0 1.0
    """

    ROWS = ("document", "kept_document", "against", "similarity")

    document: NDArray[np.int64]
    kept_document: NDArray[np.int64]
    against: NDArray[np.bool_]
    similarity: NDArray[np.float64]
    _: KW_ONLY
    ids: Sequence[Any] | None = None
    against_ids: Sequence[Any] | None = None
    measure: str = "similarity"

    @property
    def id(self) -> list[Any]:
        """The ids of the removed documents; their numbers if no ids were given."""
        return named(self.document, self.ids)

    @property
    def kept_id(self) -> list[Any]:
        """The ids of the kept documents; their numbers if no ids were given.

        A document of `against` without an id is called "against:3", by its number there.
        """
        return kept_names(self.kept_document, self.against, self.ids, self.against_ids)

    def __len__(self) -> int:
        return len(self.document)

    def __iter__(self) -> Iterator[tuple[Any, Any, float]]:
        return zip(self.id, self.kept_id, self.similarity.tolist(), strict=True)

    def __repr__(self) -> str:
        return f"<Proofs: {plural(len(self), 'removed document')}>"

    def _columns(self, rows: slice = slice(None)) -> dict[str, Column]:
        document, kept, against = self.document[rows], self.kept_document[rows], self.against[rows]
        columns: dict[str, Column] = {
            "document": document,
            "kept_document": kept,
            "against": against,
            self.measure: self.similarity[rows],
        }
        if self.ids is not None or self.against_ids is not None:
            columns["id"] = named(document, self.ids)
            columns["kept_id"] = kept_names(kept, against, self.ids, self.against_ids)
        return columns


def kept_names(
    kept: NDArray[np.int64],
    against: NDArray[np.bool_],
    ids: Sequence[Any] | None,
    against_ids: Sequence[Any] | None,
) -> list[Any]:
    """Return the ids of kept documents, of which some are documents of `against`."""
    own = iter(named(kept[~against], ids))
    if against_ids is None:
        others: Iterator[Any] = (f"{AGAINST}{number}" for number in kept[against].tolist())
    else:
        others = iter(named(kept[against], against_ids))
    return [next(others if outside else own) for outside in against.tolist()]

"""The texts from which lines or passages are removed, and the reference collection."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from fastlsh.arguments import check_ids
from fastlsh.index import Index
from fastlsh.texts import plain_strings


class CutCollections(NamedTuple):
    """Texts that lose what an earlier text has; those of `against` count as earlier than all."""

    documents: list[str | None]
    against: list[str | None]
    ids: Sequence[Any] | None
    against_ids: Sequence[Any] | None

    @classmethod
    def of(
        cls,
        texts: Iterable[Any],
        against: Iterable[Any] | None = None,
        ids: Sequence[Any] | None = None,
        against_ids: Sequence[Any] | None = None,
        *,
        lose: str = "lines",
    ) -> "CutCollections":
        """Check the arguments of a function by which texts lose lines, or what `lose` says."""
        documents = plain_strings(texts)
        ids = check_ids(ids, len(documents))
        if isinstance(against, Index):
            raise TypeError(
                f"against must be texts: an index holds documents, and not their {lose}"
            )
        others = [] if against is None else plain_strings(against)
        return cls(documents, others, ids, check_ids(against_ids, len(others), "against_ids"))

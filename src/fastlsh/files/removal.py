"""Which documents of a cluster are written, and what is counted of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_integer
from fastlsh.arrays import rounded
from fastlsh.index import Counted
from fastlsh.results import ClusterCounts, Removals, stays


@dataclass(frozen=True)
class Removal:
    """Which documents of a cluster are written, and with which columns."""

    keep: str
    """"first", "last" or "longest"; no matter where documents have priorities."""
    max_candidates: int
    annotate: bool
    max_copies: int | None
    """Of each cluster; None: any number."""
    copies_per: tuple[str, int] | None
    """A column, and how many documents of a cluster with one value of it."""
    source: str | None
    """The column of which the different values in each cluster are counted."""
    counts: tuple[str, ...]
    """The columns that are summed over each cluster."""

    @classmethod
    def of(
        cls,
        keep: str,
        max_candidates: int,
        annotate: bool,
        max_copies: int | None,
        copies_per: tuple[str, int] | None,
        source: str | None,
        count: str | Sequence[str],
        *,
        has_clusters: bool,
    ) -> "Removal":
        """Check the arguments of `deduplicate_files`."""
        if annotate and (max_copies not in (None, 1) or copies_per is not None):
            name = "max_copies" if copies_per is None else "copies_per"
            raise ValueError(f"{name} has no effect with annotate=True, which writes all rows")
        counts = (count,) if isinstance(count, str) else tuple(count)
        if (source is not None or counts) and not annotate and not has_clusters:
            name = "count" if source is None else "source"
            raise ValueError(
                f"{name}= needs a table to add a column to: give annotate=True or clusters="
            )
        for name in {"size", "sources"}.intersection(counts):
            raise ValueError(f"count={name!r} would give a second column cluster_{name}: rename it")
        if copies_per is not None:
            if not (isinstance(copies_per, tuple) and len(copies_per) == 2):
                raise TypeError(f"copies_per must be a column and a number, got {copies_per!r}")
            check_integer(copies_per[1], "copies_per")
        elif max_copies is None:
            max_copies = 1
        if max_copies is not None:
            check_integer(max_copies, "max_copies")
        return cls(
            keep, check_integer(max_candidates, "max_candidates"), annotate, max_copies,
            copies_per, source, counts,
        )  # fmt: skip

    @property
    def keeps_one(self) -> bool:
        """Whether one document of each cluster is written."""
        return self.max_copies == 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns by whose values documents are distinguished."""
        per = () if self.copies_per is None else (self.copies_per[0],)
        return tuple(dict.fromkeys((*per, *(() if self.source is None else (self.source,)))))

    @property
    def counted(self) -> Counted:
        """What an index counts."""
        return Counted(self.source, self.counts)

    @property
    def note(self) -> str:
        """What a report says of further copies; empty if there are none."""
        limits = []
        if self.copies_per is not None:
            column, number = self.copies_per
            limits.append(f"up to {number} for each value of {column!r}")
        elif self.max_copies == 1:
            return ""
        if self.max_copies is not None:
            limits.append(f"up to {self.max_copies} documents")
        return f"of each cluster, {' and '.join(limits)} are written"

    def counts_of(
        self, removals: Removals, labels: Mapping[str, Any], numbers: Mapping[str, Any]
    ) -> ClusterCounts:
        """Return the counts of all clusters, given the columns of the documents of the inputs."""
        sources = None if self.source is None else labels[self.source]
        return ClusterCounts(
            removals, sources, {name: rounded(numbers[name]) for name in self.counts}
        )

    def further_copies(
        self, removals: Removals, copy: Any, labels: Mapping[str, Any]
    ) -> NDArray[np.bool_]:
        """Return which of the removed documents stay as further copies; see `stays`."""
        if self.copies_per is None:
            return stays(removals, copy, self.max_copies)
        column, number = self.copies_per
        return stays(removals, copy, self.max_copies, labels[column], number)

    @property
    def description(self) -> dict[str, Any]:
        """What the answer depends on, as JSON values by name."""
        per = self.copies_per and list(self.copies_per)
        return {
            "keep": self.keep, "max_candidates": self.max_candidates,
            "max_copies": self.max_copies, "annotate": self.annotate, "copies_per": per,
            "source": self.source, "count": list(self.counts),
        }  # fmt: skip

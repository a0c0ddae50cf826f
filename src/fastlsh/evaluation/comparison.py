"""Several evaluations of the same texts, side by side."""

from collections.abc import Iterator
from dataclasses import dataclass

from fastlsh.evaluation.result import Evaluation
from fastlsh.evaluation.table import number, share_and_interval
from fastlsh.html import escaped

COLUMNS = ("candidates", "pairs found", "recall", "predicted")


@dataclass(frozen=True)
class Comparison:
    """Several evaluations of the same texts.

    Attributes
    ----------
    evaluations : tuple of Evaluation
        Iteration and `len` are those of this tuple.
    """

    evaluations: tuple[Evaluation, ...]

    def __len__(self) -> int:
        return len(self.evaluations)

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self.evaluations)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table."""
        return f"<pre>{escaped(str(self))}</pre>"


def columns_of(result: Evaluation) -> tuple[str, ...]:
    """Return the cells of an evaluation below `COLUMNS`."""
    return (
        f"{result.candidates.total:,}",
        f"{result.recall.hits:,}",
        share_and_interval(result.recall),
        number(result.predicted_recall),
    )

"""`compare_bandings`: what several bandings find with the same signatures."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastlsh.banding import LSHParams
from fastlsh.evaluation.measure import evaluate_each
from fastlsh.evaluation.result import Evaluation, documents_line, number, share_and_interval
from fastlsh.html import escaped
from fastlsh.keywords import made, shares, taken
from fastlsh.parallel import RunOptions, aligned, plural
from fastlsh.parameters import SearchParams
from fastlsh.texts import with_key

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import SearchAndRunKeywords

COLUMNS = ("bands x rows", "candidates", "pairs found", "recall", "predicted")


@dataclass(frozen=True)
class BandingComparison:
    """The evaluations of several bandings of the same signatures; ``print()`` shows a table.

    Attributes
    ----------
    evaluations : tuple of Evaluation
        In the order of the bandings. Iteration and `len` are those of this tuple.
    """

    evaluations: tuple[Evaluation, ...]

    def __len__(self) -> int:
        return len(self.evaluations)

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self.evaluations)

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluations as plain values, for JSON.

        Examples
        --------
        >>> import fastlsh
        >>> texts = ["some text", "some text"]
        >>> compared = fastlsh.compare_bandings(texts, bandings=[(16, 8), (32, 4)])
        >>> [each["bands"] for each in compared.to_dict()["bandings"]]
        [16, 32]
        """
        return {"bandings": [evaluation.to_dict() for evaluation in self.evaluations]}

    def __str__(self) -> str:
        first = self.evaluations[0]
        pairs = first.recall.total
        lines = [
            documents_line(first),
            f"{first.num_perm} values ({first.scheme}, seed {first.seed}),"
            f" threshold {first.threshold:g}, verify {first.verify}",
            f"{plural(pairs, 'pair')} reach{'es' * (pairs == 1)} the threshold",
            "",
            *aligned([COLUMNS, *map(_row, self.evaluations)]),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table."""
        return f"<pre>{escaped(str(self))}</pre>"


def _row(result: Evaluation) -> tuple[str, ...]:
    return (
        f"{result.params.bands} x {result.params.rows}",
        f"{result.candidates.total:,}",
        f"{result.recall.hits:,}",
        share_and_interval(result.recall),
        number(result.predicted_recall),
    )


@shares(
    SearchParams.of, RunOptions.of, command="evaluate", refused="bandings", optional={"num_perm"}
)
def compare_bandings(
    texts: Iterable[Any],
    threshold: float = 0.8,
    *,
    bandings: Iterable[tuple[int, int] | LSHParams],
    ids: Sequence[Any] | None = None,
    max_pairs: int = 100_000_000,
    sample: int | None = None,
    lowest: float | None = None,
    **keywords: "Unpack[SearchAndRunKeywords]",
) -> BandingComparison:
    """Measure what several bandings of the same signatures find in the given texts.

    The signatures are computed, and all pairs are found exactly, only once.

    Parameters
    ----------
    bandings
        Pairs (bands, rows), at least one. All of them use the same number of hash functions,
        bands times rows, which is the default of `num_perm`; otherwise, their recalls could not be
        compared.
    texts, threshold, ids, max_pairs, sample, lowest
        As in `evaluate`.

    Returns
    -------
    BandingComparison

    Raises
    ------
    TypeError, ValueError, TooManyPairsError
        As `evaluate`.

    Examples
    --------
    >>> texts = [f"{'the same beginning of all ' * 2}{i}" for i in range(20)]
    >>> for result in compare_bandings(texts, 0.8, bandings=[(8, 16), (32, 4)]):
    ...     print(result.params, result.recall.hits, "of", result.recall.total)
    LSHParams(bands=8, rows=16) 156 of 190
    LSHParams(bands=32, rows=4) 190 of 190
    """
    shapes = [shape if isinstance(shape, LSHParams) else LSHParams(*shape) for shape in bandings]
    used = {shape.bands * shape.rows: shape for shape in shapes}
    if len(used) != 1:
        raise ValueError(_disagreement(used))
    search = taken(SearchParams.of, keywords)
    if search.get("num_perm") is None:
        search["num_perm"] = min(used)
    if search.get("ignore") is not None:  # which may be read only once
        shingler = with_key(search.get("shingler"), search.get("key"))
        search.update(shingler=shingler.ignoring(search.pop("ignore")))
    searches = [
        SearchParams.of(threshold, bands=shape.bands, rows=shape.rows, **search) for shape in shapes
    ]
    results = evaluate_each(
        texts, searches, ids=ids, sample=sample, lowest=lowest, max_pairs=max_pairs,
        options=made(RunOptions.of, keywords),
    )  # fmt: skip
    return BandingComparison(tuple(results))


def _disagreement(used: dict[int, LSHParams]) -> str:
    if not used:
        return "bandings must have at least one pair (bands, rows), got none"
    numbers = ", ".join(f"{s.bands} x {s.rows} uses {total}" for total, s in used.items())
    return f"bandings must use the same number of hash functions, but {numbers}"

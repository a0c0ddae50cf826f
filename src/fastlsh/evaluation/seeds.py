"""`compare_seeds`: how much an answer depends on the choice of the hash functions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastlsh.arguments import check_integer
from fastlsh.evaluation.comparison import COLUMNS, Comparison, columns_of
from fastlsh.evaluation.measure import evaluate_each
from fastlsh.evaluation.table import aligned, documents_line, number
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunOptions
from fastlsh.parameters import REMOVAL_ONLY, SearchParams

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import SearchAndRunKeywords


@dataclass(frozen=True)
class SeedComparison(Comparison):
    """The evaluations of one search with several seeds; ``print()`` shows a table.

    Attributes
    ----------
    evaluations : tuple of Evaluation
        In the order of the seeds. Iteration and `len` are those of this tuple.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluations as plain values, for JSON.

        Examples
        --------
        >>> import fastlsh
        >>> compared = fastlsh.compare_seeds(["some text", "some text"], seeds=2)
        >>> [each["seed"] for each in compared.to_dict()["seeds"]]
        [1, 2]
        """
        return {"seeds": [each.to_dict() for each in self.evaluations]}

    def __str__(self) -> str:
        first = self.evaluations[0]
        recalls = [each.recall.value for each in self.evaluations]
        lines = [
            documents_line(first),
            f"{first.params.bands} bands x {first.params.rows} rows ({first.scheme}), threshold"
            f" {first.threshold:g}, verify {first.verify}",
            f"{first.recall.total:,} pairs reach the threshold",
            "",
            *aligned(
                [("seed", *COLUMNS), *((str(e.seed), *columns_of(e)) for e in self.evaluations)]
            ),
            "",
            f"recall: {number(sum(recalls) / len(recalls))} on average, {number(min(recalls))} to"
            f" {number(max(recalls))}",
        ]
        return "\n".join(lines)


@shares(SearchParams.of, RunOptions.of, without=REMOVAL_ONLY)
def compare_seeds(
    texts: Iterable[Any],
    threshold: float = 0.8,
    *,
    seeds: int = 5,
    ids: Sequence[Any] | None = None,
    max_pairs: int = 100_000_000,
    sample: int | None = None,
    lowest: float | None = None,
    **keywords: "Unpack[SearchAndRunKeywords]",
) -> SeedComparison:
    """Measure what a search finds in the given texts with several seeds.

    The recall that the parameters promise is that of an average seed. All pairs are found exactly
    only once, and a sample is the same for all seeds.

    Parameters
    ----------
    seeds
        How many, at least 1: from `seed` on.
    texts, threshold, ids, max_pairs, sample, lowest
        As in `evaluate`.

    Returns
    -------
    SeedComparison

    Raises
    ------
    TypeError, ValueError, TooManyPairsError
        As `evaluate`.

    Examples
    --------
    >>> texts = [f"{'the same beginning of all ' * 2}{i}" for i in range(20)]
    >>> for result in compare_seeds(texts, 0.8, seeds=2, bands=8, rows=8, num_perm=64):
    ...     print(result.seed, result.recall.hits, "of", result.recall.total)
    1 190 of 190
    2 190 of 190
    """
    first = made(SearchParams.of, keywords, threshold)
    count = check_integer(seeds, "seeds")
    if first.seed + count > 2**32:
        raise ValueError(f"{count} seeds from {first.seed} on go beyond the largest, 2**32 - 1")
    results = evaluate_each(
        texts, [replace(first, seed=first.seed + n) for n in range(count)], ids=ids, sample=sample,
        lowest=lowest, max_pairs=max_pairs, options=made(RunOptions.of, keywords),
    )  # fmt: skip
    return SeedComparison(tuple(results))

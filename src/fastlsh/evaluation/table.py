"""An `Evaluation` as a table of plain text."""

import math
from collections.abc import Iterator

from fastlsh.evaluation.data import EvaluationData, SimilarityBin
from fastlsh.evaluation.shares import Share
from fastlsh.parallel import plural

FOUND = ("similarity", "pairs", "candidates", "predicted", "rmse/ideal")
ANSWERED = ("similarity", "recall", "precision")


def as_table(result: EvaluationData) -> str:
    """Return lines of at most 80 columns: what was evaluated, each bin twice, the whole."""
    params = result.params
    predicted = "predicted" if result.verify != "signature" else "as candidates predicted"
    lines = [
        documents_line(result),
        f"{params.bands} bands x {params.rows} rows of {result.num_perm} values"
        f" ({result.scheme}, seed {result.seed})",
        f"threshold {result.threshold:g}, verify {result.verify}",
        "",
        *aligned([FOUND, *map(_found, result.bins)]),
        "",
        *aligned([ANSWERED, *_answered(result)]),
        "",
        f"recall {share_and_interval(result.recall)} of {plural(result.recall.total, 'pair')},"
        f" {predicted} {number(result.predicted_recall)}",
        f"precision {share_and_interval(result.precision)}"
        f" of {plural(result.precision.total, 'pair')}",
        f"{plural(result.candidates.total, 'candidate')},"
        f" {result.candidates.total - result.candidates.hits:,} of them compared needlessly",
        f"estimates from {result.lowest:g} on: bias {_signed(result.estimator.bias)},"
        f" rmse {number(result.estimator.rmse)} (ideal {number(result.estimator.ideal)})",
        ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in result.seconds.items()),
    ]
    return "\n".join(lines)


def documents_line(result: EvaluationData) -> str:
    """Return how many documents were evaluated."""
    if not result.is_sample:
        return f"{plural(result.documents, 'document')}, {result.empty:,} empty"
    return (
        f"a sample of {result.documents:,} of {plural(result.collection, 'document')}"
        f" (seed {result.seed}), {result.empty:,} empty"
    )


def _found(each: SimilarityBin) -> tuple[str, ...]:
    error = each.estimator
    return (
        _similarity(each),
        f"{each.candidates.total:,}",
        share_and_interval(each.candidates),
        number(each.predicted),
        number(error.rmse / error.ideal, 2) if error.pairs and error.ideal else "-",
    )


def _answered(result: EvaluationData) -> Iterator[tuple[str, ...]]:
    for each in result.bins:
        expected = each.low >= result.threshold  # below it an answer has nothing to find
        recall, precision = (
            share_and_interval(each.recall) if expected else "-",
            share_and_interval(each.precision),
        )
        if (recall, precision) != ("-", "-"):
            yield _similarity(each), recall, precision


def _similarity(each: SimilarityBin) -> str:
    return f"{each.low:g}" if each.low == each.high else f"{each.low:g} to {each.high:g}"


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Return a line per row, with the cells of each column right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def share_and_interval(share: Share) -> str:
    """Return a share with its 95 % interval, or a dash for the share of nothing."""
    if not share.total:
        return "-"
    low, high = share.interval
    decimals = 4
    if share.hits < share.total:  # what is counted and not all does not look like 1
        decimals = max(4, math.ceil(math.log10(share.total / (share.total - share.hits))))
    return f"{number(share.value, decimals)} ({number(low)} to {number(high)})"


def number(value: float, decimals: int = 4) -> str:
    """Return a number with some decimals; a very small one in scientific notation."""
    if math.isnan(value):
        return "-"
    if 0 < value < 0.001:
        return f"{value:.1e}"
    return f"{value:.{decimals}f}"


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.5f}"

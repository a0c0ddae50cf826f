"""An `Evaluation` as a table of plain text."""

import math
from collections.abc import Iterator

from fastlsh.evaluation.data import EvaluationData, SimilarityBin
from fastlsh.evaluation.shares import Share

FOUND = ("similarity", "pairs", "candidates", "predicted", "rmse/ideal")
ANSWERED = ("similarity", "recall", "precision")


def as_table(result: EvaluationData) -> str:
    """Return lines of at most 80 columns: what was evaluated, each bin twice, the whole."""
    params = result.params
    predicted = "predicted" if result.verify != "signature" else "as candidates predicted"
    lines = [
        _documents(result),
        f"{params.bands} bands x {params.rows} rows of {result.num_perm} values"
        f" ({result.scheme}, seed {result.seed})",
        f"threshold {result.threshold:g}, verify {result.verify}",
        "",
        *_aligned([FOUND, *map(_found, result.bins)]),
        "",
        *_aligned([ANSWERED, *_answered(result)]),
        "",
        f"recall {_share(result.recall)} of {result.recall.total:,} pairs,"
        f" {predicted} {_number(result.predicted_recall)}",
        f"precision {_share(result.precision)} of {result.precision.total:,} pairs",
        f"{result.candidates.total:,} candidates,"
        f" {result.candidates.total - result.candidates.hits:,} of them compared needlessly",
        f"estimates from {result.lowest:g} on: bias {_signed(result.estimator.bias)},"
        f" rmse {_number(result.estimator.rmse)} (ideal {_number(result.estimator.ideal)})",
        ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in result.seconds.items()),
    ]
    return "\n".join(lines)


def _documents(result: EvaluationData) -> str:
    if not result.is_sample:
        return f"{result.documents:,} documents, {result.empty:,} empty"
    return (
        f"a sample of {result.documents:,} of {result.collection:,} documents"
        f" (seed {result.seed}), {result.empty:,} empty"
    )


def _found(each: SimilarityBin) -> tuple[str, ...]:
    error = each.estimator
    return (
        _similarity(each),
        f"{each.candidates.total:,}",
        _share(each.candidates),
        _number(each.predicted),
        _number(error.rmse / error.ideal, 2) if error.pairs and error.ideal else "-",
    )


def _answered(result: EvaluationData) -> Iterator[tuple[str, ...]]:
    for each in result.bins:
        expected = each.low >= result.threshold  # below it an answer has nothing to find
        recall, precision = _share(each.recall) if expected else "-", _share(each.precision)
        if (recall, precision) != ("-", "-"):
            yield _similarity(each), recall, precision


def _similarity(each: SimilarityBin) -> str:
    return f"{each.low:g}" if each.low == each.high else f"{each.low:g} to {each.high:g}"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _share(share: Share) -> str:
    if not share.total:
        return "-"
    low, high = share.interval
    decimals = 4
    if share.hits < share.total:  # what is counted and not all does not look like 1
        decimals = max(4, math.ceil(math.log10(share.total / (share.total - share.hits))))
    return f"{_number(share.value, decimals)} ({_number(low)} to {_number(high)})"


def _number(value: float, decimals: int = 4) -> str:
    if math.isnan(value):
        return "-"
    if 0 < value < 0.001:
        return f"{value:.1e}"
    return f"{value:.{decimals}f}"


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.5f}"

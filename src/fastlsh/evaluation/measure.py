"""`evaluate` and `compare_bandings`: near_duplicates measured against the exact join."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids, check_integer, check_number
from fastlsh.banding import LSHParams
from fastlsh.candidates import RowBlocks, split_codes
from fastlsh.errors import TooManyPairsError
from fastlsh.evaluation.count import Answer, Truth, counted, example_rows, sampled
from fastlsh.evaluation.result import BandingComparison, Evaluation
from fastlsh.keywords import made, shares, taken
from fastlsh.parallel import RunOptions, Stopwatch
from fastlsh.parameters import SearchParams
from fastlsh.results import Pairs
from fastlsh.search import exact_codes, warn_of_short_documents
from fastlsh.stages import Signed, part_of, sign, verified_pairs
from fastlsh.texts import as_texts, with_key

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import SearchAndRunKeywords


@shares(SearchParams.of, RunOptions.of, command="evaluate")
def evaluate(
    texts: Iterable[Any],
    threshold: float = 0.8,
    *,
    ids: Sequence[Any] | None = None,
    max_pairs: int = 100_000_000,
    sample: int | None = None,
    lowest: float | None = None,
    **keywords: "Unpack[SearchAndRunKeywords]",
) -> Evaluation:
    """Measure how many of the existing pairs `near_duplicates` finds in the given texts.

    All pairs are found exactly (`exact_pairs`) and compared with the candidates and the answer
    of `near_duplicates` with the same parameters.

    Parameters
    ----------
    texts, threshold, ids
        As in `near_duplicates`.
    max_pairs
        Raise if more pairs than this are candidates, or reach `lowest`.
    sample
        The number of documents to evaluate, drawn at random by `seed`; by default all, or 20,000
        if there are more. The sample contains the square of that share of all pairs.
    lowest
        Similarity from which all pairs are found exactly, which shows the S-curve below the
        threshold; by default three quarters of it. The exact join takes longer the lower it is.

    Returns
    -------
    Evaluation

    Raises
    ------
    TypeError, ValueError, TooManyPairsError
        As `near_duplicates`.

    Examples
    --------
    >>> texts = [f"{'the same beginning of all ' * 2}{i}" for i in range(20)]
    >>> result = evaluate(texts, 0.8)
    >>> result.recall.hits, result.recall.total, result.precision.value
    (190, 190, 1.0)
    """
    params = made(SearchParams.of, keywords, threshold)
    (result,) = evaluate_each(
        texts, [params], ids=ids, sample=sample, lowest=lowest, max_pairs=max_pairs,
        options=made(RunOptions.of, keywords),
    )  # fmt: skip
    return result


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


def evaluate_each(
    texts: Iterable[Any],
    searches: Sequence[SearchParams],
    *,
    ids: Sequence[Any] | None,
    sample: int | None,
    lowest: float | None,
    max_pairs: int,
    options: RunOptions,
) -> list[Evaluation]:
    """Evaluate searches that differ in their bands and rows only.

    The signatures are computed, and all pairs are found exactly, only once.
    """
    params = searches[0]
    max_pairs = check_integer(max_pairs, "max_pairs")
    lowest = check_number(0.75 * params.threshold if lowest is None else lowest, "lowest")
    if not 0.0 < lowest <= params.threshold:
        raise ValueError(f"lowest must be above 0 and at most the threshold, got {lowest}")
    if sample is not None:
        sample = check_integer(sample, "sample")
    collection = as_texts(texts)
    ids = check_ids(ids, len(collection))
    chosen, documents = sampled(collection, sample, params.seed)
    chosen = params.shingler.prepared(chosen)
    shared = Stopwatch()
    with shared("signatures"):
        signed = sign(chosen, params, options)
    clocks = [Stopwatch(shared) for _ in searches]
    warn_of_short_documents(signed.short, signed.empty, 0, params.shingler)
    try:
        answers = [
            _answer(replace(signed, params=search), max_pairs, clock)
            for search, clock in zip(searches, clocks, strict=True)
        ]
        with shared("exact join"):
            (code, similarity), _ = exact_codes(chosen, lowest, params.shingler, max_pairs, options)
    except TooManyPairsError as error:
        raise TooManyPairsError(
            f"{len(chosen):,} documents have more candidates or pairs than "
            f"max_pairs={max_pairs:,}: evaluate fewer of them with sample=, or raise max_pairs"
        ) from error
    truth = Truth(code, similarity, signed.estimates(*split_codes(code)))
    empty = len(signed.empty)
    results = []
    for search, answer, clock in zip(searches, answers, clocks, strict=True):
        counts, missing = counted(answer, truth, search, lowest, len(chosen) - empty)

        def pairs(rows: NDArray[np.int64], params: LSHParams = search.lsh) -> Pairs:
            left, right = split_codes(code[rows])
            return Pairs(
                documents[left], documents[right], similarity[rows], ids=ids, params=params,
                documents=len(collection), empty=empty,
            )  # fmt: skip

        evaluation = Evaluation(
            threshold=search.threshold, params=search.lsh, num_perm=search.num_perm,
            seed=search.seed, scheme=search.scheme, verify=search.verify, documents=len(chosen),
            collection=len(collection), empty=empty, lowest=lowest, missed=pairs(missing),
            examples=pairs(np.sort(example_rows(similarity, lowest))), shingler=params.shingler,
            **counts._asdict(), seconds={**clock, "exact join": shared["exact join"]},
        )  # fmt: skip
        results.append(evaluation)
    return results


def _answer(signed: Signed, max_pairs: int, clock: Stopwatch) -> Answer:
    """Return all candidates, and of each the similarity that `near_duplicates` goes by."""
    with clock("candidates"):
        part = part_of(signed)
    blocks = RowBlocks(np.int64, np.float64, np.bool_)
    for block in verified_pairs(part, max_pairs, clock):
        blocks.append(*block)
    code, reported, passes = blocks.take_sorted()
    if signed.params.verify == "none":
        reported = signed.estimates(*split_codes(code))
    return Answer(code, reported, passes)

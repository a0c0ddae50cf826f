"""`evaluate`: near_duplicates measured against the exact join."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fastlsh._kernels import BY_SETS, BY_SIGNATURE
from fastlsh.candidates import candidate_blocks, empty_documents, joined_blocks, pair_keys
from fastlsh.errors import TooManyPairsError, check_integer, check_number
from fastlsh.evaluation.count import Answer, Truth, counted
from fastlsh.evaluation.result import Evaluation
from fastlsh.evaluation.sample import sampled
from fastlsh.parallel import Progress, ProgressOption, Stopwatch
from fastlsh.parameters import Settings, check_ids
from fastlsh.results import Pairs
from fastlsh.search import exact_keys
from fastlsh.sets import ShingleSets, estimate_jaccard
from fastlsh.stages import Signed
from fastlsh.texts import Shingler, Texts, as_texts


def evaluate(
    texts: Iterable[Any],
    threshold: float = 0.8,
    *,
    ids: Sequence[Any] | None = None,
    shingler: Shingler | None = None,
    num_perm: int = 128,
    seed: int = 1,
    recall: float = 0.98,
    bands: int | None = None,
    rows: int | None = None,
    scheme: str = "affine32",
    verify: str = "exact",
    threads: int | None = None,
    max_pairs: int = 100_000_000,
    progress: ProgressOption = False,
    sample: int | None = None,
    lowest: float | None = None,
) -> Evaluation:
    """Measure what `near_duplicates` finds of what there is, on the texts themselves.

    All pairs are found exactly (`exact_pairs`) and compared with the candidates and the answer
    of `near_duplicates` with the same parameters.

    Parameters
    ----------
    texts, threshold, ids, shingler, num_perm, recall, bands, rows, scheme, verify
        As in `near_duplicates`.
    seed
        Of the hash functions and of the sample.
    threads
        How many; default: the processors this process may use. They never change the result, but
        for `seconds`.
    max_pairs
        Raise if more pairs are candidates, or reach `lowest`.
    progress
        True: a line on stderr. Or a function of (stage, done, total).
    sample
        Evaluate so many documents, drawn at random. Default: all if there are at most 20,000,
        else 20,000. Of all pairs, the square of that share is in the sample.
    lowest
        Similarity from which all pairs are found exactly, to see the S-curve below the threshold;
        default three quarters of it. The lower, the longer the exact join takes.

    Returns
    -------
    Evaluation

    Raises
    ------
    TypeError, ValueError
        An unsuitable argument, or a document of another type (the message names it).
    TooManyPairsError
        More pairs than `max_pairs`.

    Examples
    --------
    >>> texts = [f"{'the same beginning of all ' * 2}{i}" for i in range(20)]
    >>> result = evaluate(texts, 0.8)
    >>> result.recall.hits, result.recall.total, result.precision.value
    (190, 190, 1.0)
    """
    settings = Settings.of(
        threshold, shingler=shingler, num_perm=num_perm, seed=seed, recall=recall, bands=bands,
        rows=rows, scheme=scheme, verify=verify, threads=threads,
    )  # fmt: skip
    check_integer(max_pairs, "max_pairs", 0)
    lowest = check_number(0.75 * settings.threshold if lowest is None else lowest, "lowest")
    if not 0.0 < lowest <= settings.threshold:
        raise ValueError(f"lowest must be above 0 and at most the threshold, got {lowest}")
    collection = as_texts(texts)
    ids = check_ids(ids, len(collection))
    chosen, documents = sampled(collection, sample, seed)
    told = Progress(progress)
    clock = Stopwatch()
    hasher = settings.hasher
    with clock("signatures"):
        signed = Signed.of(chosen, hasher, settings.params, told)
    try:
        answer = _answer(chosen, signed, settings, max_pairs, told, clock)
        with clock("exact join"):
            (key, similarity), _ = exact_keys(
                chosen, lowest, hasher.shingler, hasher.threads, max_pairs, told
            )
    except TooManyPairsError as error:
        raise TooManyPairsError(
            f"{len(chosen):,} documents have more candidates or pairs than "
            f"max_pairs={max_pairs:,}: evaluate fewer of them with sample, or raise max_pairs"
        ) from error
    estimate = estimate_jaccard(
        signed.signatures, (key >> 32, key & 0xFFFFFFFF), threads=hasher.threads
    )
    empty = len(empty_documents(signed.signatures))
    counts = counted(
        answer, Truth(key, similarity, estimate), settings, lowest, len(chosen) - empty
    )
    missing = counts.missing
    return Evaluation(
        threshold=settings.threshold,
        params=settings.params,
        num_perm=hasher.num_perm,
        seed=hasher.seed,
        scheme=scheme,
        verify=verify,
        documents=len(chosen),
        collection=len(collection),
        empty=empty,
        lowest=lowest,
        bins=counts.bins,
        recall=counts.recall,
        predicted_recall=counts.predicted_recall,
        precision=counts.precision,
        candidates=counts.candidates,
        estimator=counts.estimator,
        missed=Pairs(
            documents[key[missing] >> 32],
            documents[key[missing] & 0xFFFFFFFF],
            similarity[missing],
            ids=ids,
            params=settings.params,
            documents=len(collection),
            empty=empty,
        ),
        seconds=dict(clock),
    )


def _answer(
    texts: Texts,
    signed: Signed,
    settings: Settings,
    max_pairs: int,
    progress: Progress,
    clock: Stopwatch,
) -> Answer:
    """Return all candidates, and of each the similarity that `near_duplicates` goes by."""
    signatures, hasher = signed.signatures, settings.hasher
    with clock("candidates"):
        near = signed.neighbours(settings.params, None, hasher.threads)
        blocks = candidate_blocks(signatures, settings.params, near, max_pairs=max_pairs)
    documents = near.documents
    sets = ShingleSets(texts, hasher.shingler, documents, signed.lengths[documents], hasher.threads)
    advance = progress.stage("verified", len(documents))
    found = []
    done = 0
    while True:
        with clock("candidates"):
            block = next(blocks, None)
            if block is None:
                break
            left, right = block
            key = pair_keys(documents[left], documents[right])
        with clock("verification"):
            if settings.verify == BY_SETS:
                reported = sets.similarities(left, right, settings.threshold)
            else:
                pairs = documents[left], documents[right]
                reported = estimate_jaccard(signatures, pairs, threads=hasher.threads)
        found.append((key, reported))
        reached = int(right[-1]) + 1 if len(right) else done
        advance(reached - done)
        done = reached
    advance(len(documents) - done)
    key, reported = joined_blocks(found)
    if settings.verify in (BY_SETS, BY_SIGNATURE):
        return Answer(key, reported, reported >= settings.threshold)
    return Answer(key, reported, np.ones(len(key), np.bool_))

"""Decide: part by part, by the very functions that memory uses; and the answer of all parts."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import TextColumn
from fastlsh.arrays import settled
from fastlsh.errors import InputError, TooManyPairsError
from fastlsh.files.answers import EstimatedPair, FoundPair, Proof, rows_of, with_also
from fastlsh.files.budget import BASE
from fastlsh.files.disk.gather import all_gathered
from fastlsh.files.disk.gathered import GatheredTexts, PartTexts, starts_of
from fastlsh.files.disk.write import check_comparable
from fastlsh.files.requests import PairSearch
from fastlsh.files.run.records import ANSWER, KEPT
from fastlsh.files.run.run import Run
from fastlsh.files.run.workdir import save_blocks
from fastlsh.parallel import amount
from fastlsh.stages import Part, decide_part, find_crossing, find_pairs, united_matches
from fastlsh.texts import as_texts

ECHOES = "answer-echoes.npy"
"""The stretches that were found while documents were signed: an answer beside those of parts."""

LARGE = BASE + (60 << 20)
PER_LARGE = 150
"""Bytes of memory that a part in mapped files takes, and for each of its documents: measured."""

WINDOW, LEAST_WINDOW = 1 << 20, 1 << 10
"""Rows of the answer that are brought in order at a time, of all parts and of each at least."""


class GatheredPart(NamedTuple):
    """A part as it was gathered."""

    rows: NDArray[Any]
    texts: TextColumn
    also: TextColumn | None
    """The second texts; None: there are none."""
    scratch: Path | None
    """Where arrays go that are too large for the memory; None: none is."""


def decide_parts(run: Run, texts: GatheredTexts, keep: str | None, max_candidates: int) -> None:
    """Decide on the documents of each part that has not been worked on yet.

    Parameters
    ----------
    keep
        "first", "last" or "longest"; None: the priorities that were gathered.
    max_candidates
        As for `deduplicate`.
    """

    def decide(part: GatheredPart) -> tuple[NDArray[Any], NDArray[np.int64]]:
        order: dict[str, Any] = {"keep": keep}
        if keep is None:
            order = {"priority": settled(np.ascontiguousarray(part.rows["priority"]))}
        numbers = np.ascontiguousarray(part.rows["number"])
        answer = decide_part(
            prepared_texts(run, part), numbers, run.params, **order,
            against=numbers < run.summary.n_against, max_candidates=max_candidates,
            within=_groups(run, part), threads=run.options.threads, scratch=part.scratch,
            also=part.also,
        )  # fmt: skip
        gone = answer.kept_number != answer.number
        columns = (answer.number, answer.kept_number, answer.similarity, answer.copy_number)
        also = None if answer.also is None else answer.also[gone]
        proofs = rows_of(Proof, *(column[gone] for column in columns), also=also)
        return proofs, answer.number[answer.limited]

    each_part(run, texts, decide, "decisions")


def _groups(run: Run, part: GatheredPart) -> NDArray[np.uint64] | None:
    """Return the group of each document of a part; None: all are of one."""
    return None if run.request.within is None else np.ascontiguousarray(part.rows["group"])


def prepared_texts(run: Run, part: GatheredPart) -> Any:
    """Return the texts of a part, to be normalised once if all of them fit into the memory."""
    if int(part.rows["size"].sum()) > run.budget.prepared:
        return part.texts
    return run.params.shingler.prepared(as_texts(part.texts))


def pairs_of_parts(run: Run, texts: GatheredTexts, search: PairSearch) -> None:
    """Find the pairs of each part that has not been worked on yet.

    Raises
    ------
    TooManyPairsError
        There are more than `max_pairs`, in a part or in all together.
    """
    n_pairs = 0  # by this process; in the end all are counted

    def find(part: GatheredPart) -> tuple[NDArray[Any], NDArray[np.int64]]:
        nonlocal n_pairs
        numbers = np.ascontiguousarray(part.rows["number"])
        documents = Part.of(
            prepared_texts(run, part), numbers, run.params, run.options.threads, part.scratch,
            part.also,
        )  # fmt: skip
        search_part = partial(find_pairs, max_pairs=search.max_pairs)
        if run.first_input:
            search_part = partial(
                find_crossing, max_pairs=search.max_pairs, best=search.best,
                n_against=int(np.searchsorted(numbers, run.summary.n_against)),
                one_to_one=search.one_to_one,
            )  # fmt: skip
        pairs = documents.pairs(search_part, estimates=search.estimates, within=_groups(run, part))
        n_pairs += len(pairs.left)
        check_pairs(n_pairs, search.max_pairs)
        kind = EstimatedPair if search.estimates else FoundPair
        columns = pairs[: 4 if search.estimates else 3]
        return rows_of(kind, *columns, also=pairs.also), np.empty(0, np.int64)

    each_part(run, texts, find, "comparing")


def check_pairs(n_pairs: int, max_pairs: int) -> None:
    """Raise TooManyPairsError if there are more pairs than are wanted."""
    if n_pairs > max_pairs:
        raise TooManyPairsError(
            f"there are at least {n_pairs:,} pairs, more than max_pairs={max_pairs:,}: "
            "deduplicate instead, which is linear in the number of documents, or"
            " raise the limit"
        )


def answer_rows(run: Run) -> int:
    """Return how many rows the answers of all parts have together."""
    return sum(len(run.work.load(name)) for name in _answers(run))


def limited_documents(run: Run) -> int:
    """Return how many documents were kept without a comparison with every candidate."""
    names = [f"limited-{part_name(number)}.npy" for number in range(run.linked.parts)]
    return sum(len(run.work.load(name)) for name in names)


def answers(run: Run) -> Iterator[NDArray[Any]]:
    """Yield the rows of all parts, `Proof` or alike, in order of (left, right), piece by piece.

    Those of a `Match` are in order of (left, begin).

    Raises
    ------
    InputError
        The rows of a part are not in this order.
    """
    names = _answers(run)
    parts = [run.work.load(name) for name in names]
    window = max(WINDOW // max(len(parts), 1), LEAST_WINDOW)
    at = [0] * len(parts)
    while any(start < len(part) for start, part in zip(at, parts, strict=True)):
        for name, part, start in zip(names, parts, at, strict=True):
            if not _is_in_order(part[max(start - 1, 0) : start + window]):
                reason = f"its rows are not sorted: {run.work.start_over}"
                raise InputError(run.work / name, reason)
        # No part's next rows go beyond this one.
        last = min(
            _order(part[min(start + window, len(part)) - 1])
            for start, part in zip(at, parts, strict=True)
            if start < len(part)
        )
        stops = [
            start + _rows_until(part[start : start + window], last)
            for part, start in zip(parts, at, strict=True)
        ]
        rows = np.concatenate(
            [part[start:stop] for part, start, stop in zip(parts, at, stops, strict=True)]
        )
        at = stops
        order = match_order(rows) if is_match(rows) else np.argsort(rows["left"], kind="stable")
        yield rows[order]


def _is_in_order(rows: NDArray[Any]) -> bool:
    """Whether rows are sorted as those of a part are."""
    left = rows["left"]
    then = rows["begin"] if is_match(rows) else left
    rising = (left[1:] > left[:-1]) | ((left[1:] == left[:-1]) & (then[1:] >= then[:-1]))
    return bool(rising.all())


def _order(row: Any) -> tuple[int, int]:
    """Return what the rows of all parts are brought in order by."""
    return int(row["left"]), int(row["begin"]) if is_match(row) else 0


def _rows_until(rows: NDArray[Any], last: tuple[int, int]) -> int:
    """Return how many of these sorted rows are not behind one."""
    left, begin = last
    stop = int(np.searchsorted(rows["left"], left, "right"))
    if not is_match(rows):
        return stop
    start = int(np.searchsorted(rows["left"], left))
    return start + int(np.searchsorted(rows["begin"][start:stop], begin, "right"))


def _answers(run: Run) -> list[str]:
    names = [ECHOES, *map(answer_name, range(run.linked.parts))]
    return [name for name in names if run.work.has(name)]


def drop_answers(run: Run) -> None:
    """Remove the answers of the parts, which are of no further use."""
    limited = [f"limited-{part_name(number)}.npy" for number in range(run.linked.parts)]
    run.work.drop(*_answers(run), *limited)


def each_part(
    run: Run,
    texts: GatheredTexts,
    work: Callable[[GatheredPart], tuple[NDArray[Any], NDArray[np.int64]]],
    stage: str,
) -> None:
    """Work on each part that has no answer yet, and save what the function returns.

    That is its answer, `Proof` or alike, and the documents that were limited.
    """
    all_gathered(run)
    units = run.part.share(range(run.linked.parts))
    advance = run.options.progress.stage(stage, len(units))
    for number in units:
        name = part_name(number)
        if not run.work.has(answer_name(number)):
            part = texts.part(number)
            rows = part.rows
            check_comparable(run, rows, part.data)
            large = len(rows) > 2 * run.budget.part
            if large:
                more = ", a higher threshold= or a larger num_perm="
                run.tell(
                    f"part {number} has {len(rows):,} documents, among them a family that does not"
                    " fit into the memory: it is processed in memory-mapped files, which takes"
                    f" longer{_needed(run, len(rows))}. Longer shingles (size=)"
                    f"{'' if run.params.partitions else more} would divide it"
                )
            folder = run.work.path if large else None
            answer, limited = work(GatheredPart(rows, *_texts(part), folder))
            run.work.save(f"limited-{name}.npy", limited)
            run.work.save(answer_name(number), answer)
        advance(1)


def _needed(run: Run, documents: int) -> str:
    """Return what to say of the memory that a part takes in spite of its files, if it is much."""
    size = LARGE + documents * PER_LARGE
    if size <= run.budget.memory:
        return ""
    return f" and about {amount(size)} of memory, more than the {amount(run.budget.memory)} given"


def answer_name(number: int) -> str:
    """Return the name of the answer of a part."""
    return f"answer-{part_name(number)}.npy"


def part_name(number: int) -> str:
    """Return what tells the files of a part from those of others."""
    return f"{number:06}"


def _texts(part: PartTexts) -> tuple[TextColumn, TextColumn | None]:
    """Return the texts of a part, and its second texts, each of which follows its first one."""
    sizes = np.ascontiguousarray(part.rows["size"])
    starts = starts_of(part.rows)
    texts = TextColumn(part.data, starts, sizes, part.strict)
    if "also" not in (part.rows.dtype.names or ()):
        return texts, None
    also = np.ascontiguousarray(part.rows["also"])
    return texts, TextColumn(part.data, starts + sizes, also, part.strict)


def answer_of_all_parts(
    run: Run,
    kind: Any = Proof,
    reduced: Callable[[Iterator[NDArray[Any]]], Iterator[NDArray[Any]]] = iter,
) -> NDArray[Any]:
    """Return the rows of all parts, `Proof` or another kind, sorted by (left, right), mapped.

    `reduced` may take the blocks of rows in this order, and yield fewer rows.
    """
    if not run.work.has(ANSWER):
        with run.work.replacing(ANSWER) as temporary:
            kind = kind if run.request.read.also is None else with_also(kind)
            save_blocks(temporary, kind, reduced(answers(run)))
    return run.work.load(ANSWER)


def kept_documents(run: Run, proofs: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each document of the inputs, without those of `against`, is kept; mapped."""
    if not run.work.has(KEPT):
        kept = np.ones(run.summary.documents - run.summary.n_against, np.bool_)
        kept[proofs["left"] - run.summary.n_against] = False
        run.work.save(KEPT, kept)
    return run.work.load(KEPT)


Match = np.dtype([(name, np.int64) for name in ("left", "begin", "end", "right", "kept_begin")])
"""Dtype of a stretch of a document that occurred before, as the kernel `repeats` finds it."""

NarrowMatch = np.dtype([(name, np.uint32) for name in Match.names or ()])
"""A `Match` in half of the bytes, if its numbers allow that."""


def is_match(rows: Any) -> bool:
    """Return whether rows, or a row, are a `Match`, narrow or not."""
    return bool(rows.dtype.names == Match.names)


def sorted_matches(matches: NDArray[np.int64]) -> NDArray[Any]:
    """Return matches, int64 (m, 5), by document and begin; `NarrowMatch` if possible."""
    narrow = int(matches.max(initial=0)) < 1 << 32
    kind, number = (NarrowMatch, np.uint32) if narrow else (Match, np.int64)
    rows = np.ascontiguousarray(matches, number).view(kind).reshape(-1)
    return rows[match_order(rows)]


def match_order(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return the order of matches, by document and begin."""
    if rows.dtype == NarrowMatch:  # one key: rows that are in order in part take less time
        return np.argsort(rows["left"].astype(np.uint64) << 32 | rows["begin"], kind="stable")
    return np.lexsort((rows["begin"], rows["left"]))


def united(blocks: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Yield the matches of all parts in order, with those united that are one stretch."""
    last = np.empty((0, 5), np.int64)
    for block in blocks:
        rows = np.ascontiguousarray(block, Match).view(np.int64).reshape(-1, 5)
        rows = united_matches(np.concatenate([last, rows]))
        last = rows[-1:]  # which may go on in the next block
        yield rows[:-1].view(Match).reshape(-1)
    yield last.view(Match).reshape(-1)

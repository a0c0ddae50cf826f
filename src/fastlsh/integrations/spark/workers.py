"""What runs in the Python workers of Spark: functions from Arrow batches to Arrow batches.

They are made on the driver, with everything they need, and sent to the executors.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh import stages
from fastlsh.errors import TooManyPairsError
from fastlsh.integrations.spark.columns import BAD_TEXT, REPEATED
from fastlsh.integrations.spark.parts import whole_families
from fastlsh.parameters import SearchParams

Worker = Callable[[Iterable[Any]], Iterator[Any]]

ROWS = 10_000
"""Of a batch that goes back to Spark."""

UNITED = 1 << 22
"""So many documents of a task are united before their families leave it; up to 0.5 GB."""


def signer(params: SearchParams) -> Worker:
    """Return a worker from (number, problem, text) to (key, number), a row for each band.

    One more row has the number as its key, so that documents with the same number meet. What is
    wrong with a document becomes a row with its number as the key, and a code below 0.
    """

    def sign(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            number = np.asarray(batch.column(0))
            problem = np.asarray(batch.column(1), np.int64)
            text = batch.column(2)
            try:
                keys = stages.sign_batch(text, params, threads=1).keys.view(np.int64)
            except (TypeError, ValueError):
                wrong = _not_utf8(text)
                if not wrong.any():
                    raise  # from a function of the user's
                problem = np.where(wrong & (problem == 0), BAD_TEXT, problem)
                keys = np.zeros((0, len(number)), np.int64)
            band, row = np.nonzero(keys)
            yield _batch(
                key=np.concatenate([keys[band, row], number, number[problem < 0]]),
                number=np.concatenate([number[row], number, problem[problem < 0]]),
            )

    return sign


def _not_utf8(column: Any) -> NDArray[np.bool_]:
    """Return which texts of an Arrow column are not UTF-8."""

    def wrong(text: bytes | None) -> bool:
        try:
            (text or b"").decode()
        except UnicodeDecodeError:
            return True
        return False

    texts = column.cast("binary").to_pylist()
    return np.fromiter(map(wrong, texts), np.bool_, len(texts))


def link(batches: Iterable[Any]) -> Iterator[Any]:
    """Turn (key, number), sorted, into links (later, earlier); few of them say the same twice.

    A row (number, code) passes on what is wrong with a document: also that its number occurs
    twice, which mostly means that its id does.
    """
    state, union, seen = None, stages.UnionFind(), 0
    last: tuple[int, int] | None = None
    for batch in batches:
        key, number = np.asarray(batch.column(0)), np.asarray(batch.column(1))
        if not len(key):
            continue
        repeated = np.zeros(len(key), np.bool_)
        repeated[1:] = (key[1:] == key[:-1]) & (number[1:] == number[:-1])
        repeated[0] = last == (int(key[0]), int(number[0]))
        last = int(key[-1]), int(number[-1])
        problem = number < 0
        reported = np.unique(number[repeated & ~problem])
        if problem.any() or len(reported):
            yield _batch(
                later=np.concatenate([key[problem], reported]),
                earlier=np.concatenate([number[problem], np.full(len(reported), REPEATED)]),
            )
        good = ~(problem | repeated)
        links, state = stages.link_sorted(key[good], number[good], state)
        union.unite(*links)
        seen += len(links.later)
        if seen > UNITED:
            yield from _joined(union)
            union, seen = stages.UnionFind(), 0
    yield from _joined(union)


def _joined(union: stages.UnionFind) -> Iterator[Any]:
    """Yield the links that are enough for the same families."""
    number, family = union.families()
    apart = number != family
    for start in range(0, len(number), ROWS):
        part = slice(start, start + ROWS)
        yield _batch(later=number[part][apart[part]], earlier=family[part][apart[part]])


def decider(
    params: SearchParams, keep: str | None, max_candidates: int, part: int, spill: int
) -> Worker:
    """Return a worker from rows of whole families to what is removed, and what is limited.

    Parameters
    ----------
    params, max_candidates
        Of the search.
    keep
        A word; None: the priorities are in the column "priority".
    part, spill
        As in `whole_families`.

    Returns
    -------
    function
        From (family, fixed, id, text[, priority]), sorted by family, then with `fixed` first,
        then by id, to (id, kept_id, similarity, against, limited).
    """

    def decide(batches: Iterable[Any]) -> Iterator[Any]:
        for rows in whole_families(batches, part, spill):
            fixed = rows["fixed"].to_numpy()
            order: dict[str, Any] = {"keep": keep}
            if keep is None:
                order = {"priority": rows["priority"].to_numpy()}
            answer = stages.decide_part(
                rows["text"], np.arange(len(rows)), params, against=fixed, **order,
                max_candidates=max_candidates, threads=1,
            )  # fmt: skip
            reported = np.flatnonzero((answer.kept_number != answer.number) | answer.limited)
            for start in range(0, len(reported), ROWS):
                chosen = reported[start : start + ROWS]
                kept = answer.kept_number[chosen]
                yield _batch(
                    id=_taken(rows["id"], chosen),
                    kept_id=_taken(rows["id"], kept),
                    similarity=answer.similarity[chosen],
                    against=fixed[kept],
                    limited=answer.limited[chosen],
                )

    return decide


def pairer(params: SearchParams, max_pairs: int, part: int, spill: int) -> Worker:
    """Return a worker from rows of whole families, as `decider` takes them, to their pairs."""

    def pair(batches: Iterable[Any]) -> Iterator[Any]:
        for rows in whole_families(batches, part, spill):
            try:
                pairs = stages.find_pairs_of_part(
                    rows["text"], np.arange(len(rows)), params, max_pairs=max_pairs, threads=1
                )
            except TooManyPairsError as error:
                first = rows["id"][0].as_py()
                raise TooManyPairsError(f"{error} (in the part from id {first!r} on)") from None
            for start in range(0, len(pairs.left), ROWS):
                chosen = slice(start, start + ROWS)
                yield _batch(
                    left_id=_taken(rows["id"], pairs.left[chosen]),
                    right_id=_taken(rows["id"], pairs.right[chosen]),
                    similarity=pairs.similarity[chosen],
                )

    return pair


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    """Return some values of an Arrow column as one array."""
    import pyarrow

    taken = column.take(pyarrow.array(rows))
    return taken.combine_chunks() if isinstance(taken, pyarrow.ChunkedArray) else taken


def _batch(**columns: Any) -> Any:
    """Return an Arrow batch of arrays."""
    import pyarrow

    arrays = [
        pyarrow.array(column) if isinstance(column, np.ndarray) else column
        for column in columns.values()
    ]
    return pyarrow.record_batch(arrays, names=list(columns))

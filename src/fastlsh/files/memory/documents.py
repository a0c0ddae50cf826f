"""The engine in memory: read everything, search, write; also of rows in groups."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import TextColumn
from fastlsh.arrays import offsets_of
from fastlsh.files.annotations import RowAnnotations
from fastlsh.files.answers import Deduplicated, Proof, Removals, left_out, rows_of
from fastlsh.files.plan import OutputPlan, RemovalRules
from fastlsh.files.requests import ReadBudget, Request
from fastlsh.files.run.records import NOTHING, Summary
from fastlsh.files.saved_index import DIFFERENT, DIFFERENT_ADDED, kept_of, save_index
from fastlsh.index import (
    Arrivals,
    Counted,
    Index,
    check_counted,
    count_of_names,
    found_texts,
    published,
    refusal_of_id,
)
from fastlsh.io import (
    Added,
    Collection,
    Ids,
    Replacements,
    replacing_together,
    take,
    write_rows,
    write_text,
)
from fastlsh.parallel import RunOptions, Stopwatch, plural
from fastlsh.reporting import report_page
from fastlsh.results import (
    Deduplication,
)
from fastlsh.search import deduplicate_texts
from fastlsh.texts import ids_of_words


def run_deduplication(
    request: Request,
    budget: ReadBudget,
    targets: OutputPlan,
    removal: RemovalRules,
    notes: Mapping[str, str],
    clock: Stopwatch,
    index: Index | None = None,
) -> Deduplicated:
    """Read the files, remove the near-duplicates, and write what is asked for.

    Parameters
    ----------
    request
        The files, and what is searched for.
    budget
        What reading may take.
    targets
        What is written.
    removal
        Which documents stay, and with which columns.
    notes
        For the page.
    clock
        Takes the time of each stage.
    index
        Its documents are those of `against`, and the kept documents are inserted into it, together
        with the outputs.
    """
    how, n_against = threads_and_progress(request.run), None
    if index is not None:
        n_against = len(index)
        has_table = removal.annotate or targets.clusters is not None
        counted = check_counted(index, removal.counted, is_required=not has_table)
    with clock("reading"):
        collection, others = read_both(request, budget)
        if request.saves_ids:
            collection.ids.check(refusal_of_id)
        if targets.index is not None:
            collection.ids.check_different(DIFFERENT)
        if index is not None:
            collection.ids.check_different(DIFFERENT_ADDED)
    rows, of_row = collection, np.arange(len(collection))
    if request.group is not None:
        collection, of_row = grouped(collection, request.group, request.read.join_with)
        others, _ = grouped(others, request.group, request.read.join_with)
    priority = collection.numbers.get(request.read.priority or "")
    signatures: list[NDArray[np.uint32]] = []
    result = deduplicate_texts(
        collection.texts, request.search, request.run,
        against=others.texts if index is None else index, keep=removal.keep, priority=priority,
        max_candidates=removal.max_candidates, within=request.groups(collection.labels),
        against_within=request.groups(others.labels) if request.against else None,
        on_signed=None if targets.index is None else signatures.append,
    )  # fmt: skip
    if index is not None:
        others = _of_index(index, result, with_texts=targets.report is not None)
    before = len(others)
    proofs = _proofs(result, before, with_copies=not removal.keeps_one)
    inputs = range(before, before + len(collection))
    removals = Removals(proofs, inputs, removal, collection.labels, collection.numbers)
    stays = np.ones(len(collection), np.bool_)
    stays[removals.left_out["left"] - before] = False
    ids = others.ids + collection.ids
    annotations = removals.annotations(request.search, ids)
    change = None if index is None else _counted(index, removals, ids, collection, counted)
    with _appearing(index, change) as together:
        with clock("writing"):
            removals.write_tables(
                targets, request.search, ids, together,
                has_against=bool(request.against) or index is not None,
            )  # fmt: skip
            kept = stays
            added: Added | None = annotations
            if annotations is not None:
                kept = np.ones_like(stays)
                if request.group is not None:
                    added = RowAnnotations(annotations, of_row)
            if targets.output is not None:
                write_rows(
                    rows, kept[of_row], targets.output, convert=targets.convert, added=added,
                    together=together, **how,
                )  # fmt: skip
        if targets.index is not None:
            with clock("saving the index"):
                documents = kept_of(collection, result.kept, *signatures)
                save_index(
                    targets.index, request.search, request.run.threads, documents, together,
                    removals.count_in,
                )  # fmt: skip
        if targets.report is not None:
            seconds = {"reading": clock["reading"], **result.seconds, "writing": clock["writing"]}
            page = _page(result, collection, others, notes, seconds)
            write_text(targets.report, page, together)
    clock.update(result.seconds)
    summary = summary_of(
        collection, others, n_against, empty=result.empty,
        missing_priorities=result.missing_priorities,
    )  # fmt: skip
    removed = len(removals.left_out)
    return Deduplicated(summary, removed, result.limited, len(proofs) - removed)


def summary_of(
    collection: Collection, others: Collection, n_against: int | None = None, **counts: Any
) -> Summary:
    """Return the counts of what was read; `counts` are those that the search has found.

    `n_against` is the number of documents of `against`; None: those in `others`.
    """
    both = (others, collection)
    n_against = len(others) if n_against is None else n_against
    reasons = [(e.path, e.reason, e.row) for side in both for e in side.skipped_reasons]
    return NOTHING._replace(
        documents=n_against + len(collection), n_against=n_against, files=collection.files_read,
        skipped=sum(side.skipped for side in both), reasons=reasons[:10],
        repeated=sum(side.repeated_ids for side in both),
        repeated_example=next(filter(None, (side.repeated_example for side in both)), ""),
        slow=sum(side.slow_rows for side in both), **counts,
    )  # fmt: skip


def _appearing(
    index: Index | None, change: Callable[[], None] | None
) -> AbstractContextManager[Replacements]:
    """Let outputs appear together, and with a change of the index if there is one."""
    if index is None or change is None:
        return replacing_together()
    return published(index, change)


def _counted(
    index: Index, removals: Removals, ids: Ids, collection: Collection, what: Counted
) -> Callable[[], None]:
    """Return what inserts the kept documents, and counts for each what has come.

    `ids` are those of the documents of the index that decided, and of the inputs.
    """
    proofs, (start, stop) = removals.proofs, (removals.inputs.start, removals.inputs.stop)
    head = np.arange(start, stop)
    head[proofs["left"] - start] = proofs["right"]
    chosen = np.flatnonzero(head == np.arange(start, stop))
    new = collection.ids.take(chosen), take(collection.texts, chosen)
    came = np.arange(len(head)) if what else proofs["left"] - start
    heads, of = np.unique(head[came], return_inverse=True)
    names, is_new = ids.take(heads), (heads >= start) & bool(what)
    arrivals = Arrivals.of(what, came, of.reshape(-1), collection.labels, collection.numbers)

    def change() -> None:
        check_counted(index, what)
        index.insert_many(*new)
        count_of_names(index, what, names, is_new, arrivals)

    return change


def _of_index(index: Index, result: Deduplication, *, with_texts: bool) -> Collection:
    """Return the documents of the index that decided; texts only of those that were kept."""
    ids = list(result.against_ids or ())
    texts: list[Any] = [None] * len(ids)
    if with_texts:
        numbers = np.unique(result.against_index[result.against_index >= 0]).tolist()
        for number, text in zip(
            numbers, found_texts(index, [ids[n] for n in numbers]), strict=True
        ):
            texts[number] = text
    others = Collection(texts)
    others.ids.add("", ids, np.arange(len(ids)))
    return others


def read_both(request: Request, budget: ReadBudget) -> tuple[Collection, Collection]:
    """Read the reference collection, whose documents are the first ones, and the inputs."""
    how = threads_and_progress(request.run)
    others = Collection()
    if request.against:
        others = budget.read(request.against, request.read_against, mixed=True, **how)
    collection = budget.read(request.inputs, request.read, group=request.group, mixed=True, **how)
    if request.search.shingler.unit == "token":  # that of an index
        collection.texts = ids_of_words(collection.texts)
    return collection, others


def threads_and_progress(options: RunOptions) -> dict[str, Any]:
    """Return how files are read and written, as keyword arguments."""
    return {"threads": options.threads, "progress": options.progress.function}


def _proofs(result: Deduplication, before: int, *, with_copies: bool) -> NDArray[Any]:
    """Return the rows of `Proof`, of documents that are numbered behind those of `against`."""
    gone = result.removed
    outside = result.against_index[gone]
    kept = np.where(outside < 0, before + result.kept_index[gone], outside)
    copy = result.copy_number[gone] if with_copies else 0
    return rows_of(Proof, before + gone, kept, result.similarity[gone], copy)


def _page(
    result: Deduplication,
    collection: Collection,
    against: Collection,
    lines: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    bad = left_out(collection.skipped + against.skipped)
    before = {
        name: lines[name] for name in ("input", "limit", "reference collection") if name in lines
    }
    return report_page(
        result,
        collection.texts,
        against.texts,
        collection.ids,
        against.ids,
        f"Deduplication of {plural(len(collection), 'document')}",
        {**before, **bad, **lines},
        seconds,
    )


def grouped(
    collection: Collection, group: str, join_with: str
) -> tuple[Collection, NDArray[np.int64]]:
    """Join the texts of the rows that have one value of a column, which their ids are, too.

    Parameters
    ----------
    collection
        The rows, which lose their texts.
    group
        The column.
    join_with
        Stands between the texts of a group, in the order of the rows; empty ones are left out.

    Returns
    -------
    Collection, numpy.ndarray of int64
        A document for each group, in the order of their first rows, with the same files; and the
        number of the document of each row.
    """
    labels = collection.labels.get(group, np.empty(0, np.uint64))  # of no files there are none
    _, first, of_value = np.unique(labels, return_index=True, return_inverse=True)
    by_first = np.argsort(first)
    of_row = np.argsort(by_first)[of_value.reshape(-1)]
    order = np.argsort(of_row, kind="stable")
    pieces: list[bytes] = []
    sizes = np.zeros(len(first), np.int64)
    between = join_with.encode("utf-8", "surrogatepass")
    for document, text in _encoded(collection, order, of_row):
        for piece in (between, text) if sizes[document] else (text,):
            pieces.append(piece)
            sizes[document] += len(piece)
    collection.texts = None
    data = np.frombuffer(b"".join(pieces), np.uint8)
    strict = all(piece == piece.decode("utf-8", "ignore").encode() for piece in pieces)
    if not strict:
        data = _with_joined_surrogates(data, sizes)
    ids = Ids()
    ids.add("", collection.ids.take(first[by_first]), np.arange(len(first)))
    texts = TextColumn(data, offsets_of(sizes)[:-1], sizes, strict)
    return replace(collection, texts=texts, ids=ids), of_row


def _encoded(
    collection: Collection, order: NDArray[np.int64], of_row: NDArray[np.int64]
) -> Iterator[tuple[int, bytes]]:
    """Yield the texts that are not empty, by document, each with its document."""
    for row in order.tolist():
        if text := collection.text(row):
            yield int(of_row[row]), text.encode("utf-8", "surrogatepass")


def _with_joined_surrogates(data: NDArray[np.uint8], sizes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Make one character of two surrogates that joining has brought together; sizes change, too."""
    joined = []
    for number, (start, size) in enumerate(
        zip(offsets_of(sizes).tolist(), sizes.tolist(), strict=False)
    ):
        text = data[start : start + size].tobytes().decode("utf-8", "surrogatepass")
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        joined.append(text.encode("utf-8", "surrogatepass"))
        sizes[number] = len(joined[-1])
    return np.frombuffer(b"".join(joined), np.uint8)

"""The engine in memory: the pairs of a collection, all of them, or those with another one."""

import numpy as np

from fastlsh.files.annotations import blocks_of
from fastlsh.files.answers import PairsFound, PairTables, left_out, named_files, write_components
from fastlsh.files.budget import longest_row
from fastlsh.files.memory.documents import (
    grouped,
    read_both,
    summary_of,
    threads_and_progress,
)
from fastlsh.files.requests import PairSearch, ReadBudget, Request
from fastlsh.io import Collection, replacing_together, write_text
from fastlsh.parallel import Stopwatch, plural
from fastlsh.reporting import PairFiles, ReportedDocuments, pairs_page
from fastlsh.results import Matches, Pairs, count_in_pairs
from fastlsh.search import exact_pairs, matches_of_texts, pairs_of_texts
from fastlsh.stages import characters_of
from fastlsh.texts import as_texts


def run_pairs(
    request: Request, budget: ReadBudget, search: PairSearch, clock: Stopwatch
) -> PairsFound:
    """Read the files, find all pairs or those with a document of `against`, and write them."""
    with clock("reading"):
        collection, others = read_both(request, budget)
        if request.group is not None:
            collection, _ = grouped(collection, request.group, request.read.join_with)
            others, _ = grouped(others, request.group, request.read.join_with)
    with clock("search"):
        pairs = _found(request, search, collection, others)
    before = len(others)
    if isinstance(pairs, Pairs):
        left, right = pairs.left, pairs.right
    else:
        left, right = before + pairs.document, pairs.against
    ids = others.ids + collection.ids
    tables = PairTables(
        ids, left, right, pairs.similarity, pairs.estimate, lambda _: blocks_of(others, collection)
    )
    with replacing_together() as together:
        with clock("writing"):
            if search.components is not None and isinstance(pairs, Pairs):
                write_components(search.components, ids, pairs.components(), together)
            tables.write(search, request.search, longest_row(budget.memory), together)
        if search.page is not None:
            page = _page(request, search, clock, pairs, collection, others)
            write_text(search.page, page, together)
    inside = count_in_pairs(left, right, range(before, before + len(collection)))
    return PairsFound(summary_of(collection, others, empty=pairs.empty), len(pairs), inside)


def _found(
    request: Request, search: PairSearch, collection: Collection, others: Collection
) -> Pairs | Matches:
    params, within = request.search, request.groups(collection.labels)
    if request.against:
        return matches_of_texts(
            collection.texts, others.texts, params, request.run, best=search.best,
            one_to_one=search.one_to_one, max_pairs=search.max_pairs, estimates=search.estimates,
            within=within, against_within=request.groups(others.labels),
        )  # fmt: skip
    if search.exact:
        return exact_pairs(
            collection.texts, params.threshold, shingler=params.shingler,
            max_pairs=search.max_pairs, **threads_and_progress(request.run),
        )  # fmt: skip
    return pairs_of_texts(
        collection.texts, params, request.run, max_pairs=search.max_pairs,
        estimates=search.estimates, within=within,
    )  # fmt: skip


def _page(
    request: Request,
    search: PairSearch,
    clock: Stopwatch,
    pairs: Pairs | Matches,
    collection: Collection,
    others: Collection,
) -> str:
    texts, ids = (others.texts, others.ids) if request.against else (None, None)
    skipped = collection.skipped + others.skipped
    params = request.search
    documents = ReportedDocuments(collection.texts, texts, collection.ids, ids, params.shingler)
    outputs = {} if search.output is None else {"pairs": search.output}
    notes = {**left_out(skipped), **named_files(request, "other collection", outputs)}
    title = f"Pairs of {plural(len(collection), 'document')}"
    files = None
    if request.group is None:
        both = [collection, others] if request.against else [collection]
        parts = [part for side in both for part in side.parts]
        files = PairFiles(
            [part.source.path for part in parts],
            np.repeat(np.arange(len(parts)), [part.documents for part in parts]),
            np.concatenate([
                characters_of(as_texts(side.texts), params.shingler, request.run) for side in both
            ]),
        )  # fmt: skip
    table = search.output or "the standard output"
    return pairs_page(
        pairs, documents, params.threshold, title, notes, clock, search.most, table, files
    )

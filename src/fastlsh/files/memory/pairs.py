"""The engine in memory: the pairs of a collection, all of them, or those with another one."""

import numpy as np

from fastlsh.files.annotations import blocks_of, columns_of_both
from fastlsh.files.budget import longest_row
from fastlsh.files.memory.documents import (
    grouped,
    left_out,
    named_files,
    threads_and_progress,
)
from fastlsh.files.requests import PairSearch, ReadBudget, Request
from fastlsh.io import Collection, Lookup, Replacements, pair_columns, write_table
from fastlsh.parallel import Stopwatch, plural
from fastlsh.reporting import PairFiles, ReportedDocuments, pairs_page
from fastlsh.results import Matches, Pairs
from fastlsh.search import exact_pairs, matches_of_texts, pairs_of_texts
from fastlsh.stages import characters_of
from fastlsh.texts import as_texts


def run_pairs(
    request: Request,
    budget: ReadBudget,
    search: PairSearch,
    together: Replacements,
    clock: Stopwatch,
) -> tuple[Pairs, Collection]:
    """Read the files, find all pairs, and write them."""
    with clock("reading"):
        how = threads_and_progress(request.run)
        collection = budget.read(
            request.inputs, request.read, mixed=True, group=request.group, **how
        )
        if request.group is not None:
            collection, _ = grouped(collection, request.group, request.read.join_with)
    params = request.search
    with clock("search"):
        if search.exact:
            pairs = exact_pairs(
                collection.texts, params.threshold, shingler=params.shingler,
                max_pairs=search.max_pairs, **how,
            )  # fmt: skip
        else:
            pairs = pairs_of_texts(
                collection.texts, params, request.run, max_pairs=search.max_pairs,
                estimates=search.estimates, within=request.groups(collection.labels),
            )  # fmt: skip
    with clock("writing"):
        if search.components is not None:
            numbers = {"id": np.arange(len(collection)), "component": pairs.components()}
            table = {name: Lookup(collection.ids, which) for name, which in numbers.items()}
            write_table(search.components, table, together)
        sides = pairs.left, pairs.right
        measure = params.pair_measure
        columns = pair_columns(
            collection.ids, *sides, pairs.similarity, pairs.estimate, measure=measure
        )
        max_row = longest_row(budget.memory)
        columns |= columns_of_both(search.columns, *sides, max_row, lambda _: blocks_of(collection))
        write_table(search.output, columns, together)
    return pairs, collection


def run_matches(
    request: Request,
    budget: ReadBudget,
    search: PairSearch,
    together: Replacements,
    clock: Stopwatch,
) -> tuple[Matches, Collection, Collection]:
    """Read the files, find the pairs of an input and a document of `against`, and write them."""
    with clock("reading"):
        how = threads_and_progress(request.run)
        others = budget.read(request.against, request.read_against, mixed=True, **how)
        collection = budget.read(
            request.inputs, request.read, mixed=True, group=request.group, **how
        )
        if request.group is not None:
            collection, _ = grouped(collection, request.group, request.read.join_with)
            others, _ = grouped(others, request.group, request.read.join_with)
    with clock("search"):
        matches = matches_of_texts(
            collection.texts, others.texts, request.search, request.run, best=search.best,
            one_to_one=search.one_to_one, max_pairs=search.max_pairs, estimates=search.estimates,
            within=request.groups(collection.labels), against_within=request.groups(others.labels),
        )  # fmt: skip
    with clock("writing"):
        ids, sides = others.ids + collection.ids, (len(others) + matches.document, matches.against)
        measure = request.search.pair_measure
        columns = pair_columns(ids, *sides, matches.similarity, matches.estimate, measure=measure)
        max_row, both = longest_row(budget.memory), (others, collection)
        columns |= columns_of_both(search.columns, *sides, max_row, lambda _: blocks_of(*both))
        write_table(search.output, columns, together)
    return matches, collection, others


def page_of_pairs(
    request: Request,
    search: PairSearch,
    clock: Stopwatch,
    pairs: Pairs | Matches,
    collection: Collection,
    others: Collection | None = None,
) -> str:
    """Return the page about the pairs that were found."""
    texts, ids, skipped = None, None, collection.skipped
    if others is not None:
        texts, ids, skipped = others.texts, others.ids, skipped + others.skipped
    params = request.search
    documents = ReportedDocuments(collection.texts, texts, collection.ids, ids, params.shingler)
    outputs = {} if search.output is None else {"pairs": search.output}
    notes = {**left_out(skipped), **named_files(request, "other collection", outputs)}
    title = f"Pairs of {plural(len(collection), 'document')}"
    files = None
    if request.group is None:
        both = [collection] if others is None else [collection, others]
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

"""The engine in memory: the pairs of a collection, all of them, or those with another one."""

from fastlsh.files.memory.documents import (
    left_out,
    named_files,
    threads_and_progress,
    with_against,
)
from fastlsh.files.memory.grouped import grouped
from fastlsh.files.reading import ReadBudget
from fastlsh.files.requests import PairSearch, Request
from fastlsh.io import Collection, Replacements, pair_columns, write_table
from fastlsh.parallel import Stopwatch
from fastlsh.reporting import ReportedDocuments, pairs_page
from fastlsh.results import Matches, Pairs
from fastlsh.search import exact_pairs, matches_of_texts, pairs_of_texts


def run_pairs(
    request: Request,
    budget: ReadBudget,
    output: str | None,
    wanted: PairSearch,
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
            collection, _ = grouped(collection, request.read.join_with)
    search = request.search
    with clock("search"):
        if wanted.exact:
            found = exact_pairs(
                collection.texts, search.threshold, shingler=search.shingler,
                max_pairs=wanted.max_pairs, **how,
            )  # fmt: skip
        else:
            found = pairs_of_texts(
                collection.texts, search, request.run, max_pairs=wanted.max_pairs,
                estimates=wanted.estimates, within=request.groups(collection.labels),
            )  # fmt: skip
    with clock("writing"):
        columns = pair_columns(
            collection.ids, found.left, found.right, found.similarity, found.estimate
        )
        write_table(output, columns, together)
    return found, collection


def run_matches(
    request: Request,
    budget: ReadBudget,
    output: str | None,
    wanted: PairSearch,
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
            collection, _ = grouped(collection, request.read.join_with)
            others, _ = grouped(others, request.read.join_with)
    with clock("search"):
        found = matches_of_texts(
            collection.texts, others.texts, request.search, request.run, best=wanted.best,
            max_pairs=wanted.max_pairs, estimates=wanted.estimates,
            within=request.groups(collection.labels), against_within=request.groups(others.labels),
        )  # fmt: skip
    with clock("writing"):
        ids, of_against = with_against(collection, others, found.against, found.against)
        columns = pair_columns(ids, found.document, of_against, found.similarity, found.estimate)
        write_table(output, columns, together)
    return found, collection, others


def page_of_pairs(
    request: Request,
    output: str | None,
    clock: Stopwatch,
    found: Pairs | Matches,
    collection: Collection,
    others: Collection | None = None,
) -> str:
    """Return the page about the pairs that were found."""
    texts, ids, skipped = None, None, collection.skipped
    if others is not None:
        texts, ids, skipped = others.texts, others.ids, skipped + others.skipped
    search = request.search
    documents = ReportedDocuments(collection.texts, texts, collection.ids, ids, search.shingler)
    outputs = {} if output is None else {"pairs": output}
    notes = {**left_out(skipped), **named_files(request, "other collection", outputs)}
    title = f"Pairs of {len(collection):,} documents"
    return pairs_page(found, documents, search.threshold, title, notes, clock)

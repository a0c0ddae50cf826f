"""The engine in memory: the pairs of a collection, all of them, or those with another one."""

from fastlsh.files.memory.documents import threads_and_progress, with_against
from fastlsh.files.reading import ReadBudget
from fastlsh.files.requests import PairSearch, Request
from fastlsh.io import Collection, pair_columns, write_table
from fastlsh.parallel import Stopwatch
from fastlsh.results import Matches, Pairs
from fastlsh.search import exact_pairs, matches_of_texts, pairs_of_texts


def run_pairs(
    request: Request,
    budget: ReadBudget,
    output: str | None,
    wanted: PairSearch,
    clock: Stopwatch,
) -> tuple[Pairs, Collection]:
    """Read the files, find all pairs, and write them."""
    with clock("reading"):
        how = threads_and_progress(request.run)
        collection = budget.read(request.inputs, request.read, mixed=True, **how)
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
                estimates=wanted.estimates,
            )  # fmt: skip
    with clock("writing"):
        columns = pair_columns(
            collection.ids, found.left, found.right, found.similarity, found.estimate
        )
        write_table(output, columns)
    return found, collection


def run_matches(
    request: Request,
    budget: ReadBudget,
    output: str | None,
    wanted: PairSearch,
    clock: Stopwatch,
) -> tuple[Matches, Collection, Collection]:
    """Read the files, find the pairs of an input and a document of `against`, and write them."""
    with clock("reading"):
        how = threads_and_progress(request.run)
        collection = budget.read(request.inputs, request.read, mixed=True, **how)
        others = budget.read(request.against, request.read_against, mixed=True, **how)
    with clock("search"):
        found = matches_of_texts(
            collection.texts, others.texts, request.search, request.run, best=wanted.best,
            max_pairs=wanted.max_pairs, estimates=wanted.estimates,
        )  # fmt: skip
    with clock("writing"):
        ids, of_against = with_against(collection, others, found.against, found.against)
        columns = pair_columns(ids, found.document, of_against, found.similarity, found.estimate)
        write_table(output, columns)
    return found, collection, others

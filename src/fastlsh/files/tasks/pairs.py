"""Pairs of near-duplicates in files: the same answer in memory and on disk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_integer
from fastlsh.files.annotations import Cells, Reread, blocks_of
from fastlsh.files.answers import (
    EstimatedPair,
    FoundPair,
    PairsFound,
    PairTables,
    left_out,
    named_files,
    write_components,
)
from fastlsh.files.disk.decide import answer_of_all_parts, answer_rows, check_pairs, pairs_of_parts
from fastlsh.files.disk.gathered import as_json, gathered_texts
from fastlsh.files.estimate import check_exact_fits
from fastlsh.files.execution import Search, search_stages
from fastlsh.files.held import Held
from fastlsh.files.plan import EngineChoice, prepared, select_engine
from fastlsh.files.requests import (
    SHARED,
    Engine,
    EngineOptions,
    PairSearch,
    Path,
    ReadBudget,
    Request,
    paths,
    search_params,
)
from fastlsh.files.results import FilePairs, counts_of, shared_fields
from fastlsh.files.run.manifest import OUTPUT_PATH
from fastlsh.files.run.records import Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Ended, Stage, check_pair_stage
from fastlsh.io import (
    SPLIT,
    STANDARD,
    Paths,
    Values,
    check_target,
    recover_outputs,
    replacing_together,
    table_format,
    values_in_path,
    write_text,
)
from fastlsh.keywords import Prepared, checkable, shares
from fastlsh.parallel import Stopwatch, plural
from fastlsh.parameters import SearchParams
from fastlsh.reporting import About, PairFiles, ReportedDocuments, check_report, pairs_page
from fastlsh.results import Matches, Pairs, components_of, count_in_pairs
from fastlsh.search import check_best, exact_pairs, matches_of_texts, pairs_of_texts
from fastlsh.stages import characters_of
from fastlsh.texts import as_texts

if TYPE_CHECKING:
    from fastlsh.files.requests import FilePairKeywords
    from fastlsh.keywords import Unpack


MOST = 1000
"""Pairs that a report shows, if nothing else is said."""


@shares(*SHARED, command="pairs")
@checkable
def near_duplicate_files(
    inputs: Paths,
    output: Path | None,
    threshold: float = 0.8,
    *,
    against: Paths = (),
    best: bool = False,
    one_to_one: bool = False,
    exact: bool = False,
    max_pairs: int = 100_000_000,
    within: str | None = None,
    group: str | None = None,
    also: str | None = None,
    estimates: bool = False,
    columns: str | Sequence[str] = (),
    components: Path | None = None,
    report: Path | None = None,
    most: int | None = None,
    **keywords: "Unpack[FilePairKeywords]",
) -> Prepared[FilePairs]:
    """Find all pairs of near-duplicates in files of any size.

    The answer is that of `fastlsh.near_duplicates` for the documents of all inputs, to the bit,
    with either engine.

    Parameters
    ----------
    inputs, threshold
        As in `deduplicate_files`.
    output
        A table of the pairs: id_a, id_b and jaccard (.tsv .csv .jsonl .parquet); None: TSV on the
        standard output.
    against
        Files of another collection: only the pairs of a document of `inputs`, id_a, and a document
        of this collection, id_b, are written, in the order of the former. The answer is that of
        `fastlsh.matches`.
    best
        With `against`: for each document of `inputs`, only the most similar document of `against`,
        the first one of equally similar documents.
    one_to_one
        With `against`: each document of both collections is in one pair at most, as in
        `fastlsh.matches`.
    exact
        Whether every pair is found, as by `fastlsh.exact_pairs`: in memory, and without bands. If
        about more than `memory` would be needed, ValueError, unless `engine` is "memory".
    max_pairs
        Raise instead of writing more pairs.
    within
        A column: only documents with the same value are compared, as in `deduplicate_files`.
    group
        A column: rows with the same value are one document, as in `deduplicate_files`.
    also
        A column of a second text of each document, such as the answer to a question: a pair counts
        only if these are similar, too, as for `fastlsh.near_duplicates`. Null is an empty text,
        which is similar to none. The files of `against` must have it, too. The table has their
        similarity as also_jaccard.
    estimates
        Whether the table has a column ``estimate``: the share of equal minima of each pair, to be
        compared with its exact similarity.
    columns
        Columns of the files, which the table gets behind its own from the rows of both documents:
        ``title`` as ``title_a`` and ``title_b``. The files are read again for them.
    components
        A table of all documents: id, and component, the id of the first document of its connected
        component. See `Pairs.components`. Not with `against`.
    report
        An HTML file that shows how many pairs there are, how similar they are, how many are between
        which files, and the most similar pairs with their differences: in memory only.
    most
        How many pairs the report shows. Default: 1000.

    Returns
    -------
    FilePairs
        Counts and times.

    Raises
    ------
    InputError, TypeError, ValueError
        As in `deduplicate_files`.
    TooManyPairsError
        There are more pairs than `max_pairs`.

    Examples
    --------
    >>> import json
    >>> with open("pages.jsonl", "w") as file:
    ...     for text in ("some text", "some text", "another text"):
    ...         print(json.dumps({"text": text}), file=file)
    >>> done = near_duplicate_files("pages.jsonl", "pairs.tsv")
    >>> done.documents, done.n_pairs
    (3, 1)
    """
    params, tokens = search_params(threshold, keywords)
    if most is not None and report is None:
        raise ValueError("most= is the number of pairs in a report: give report=")
    names = (columns,) if isinstance(columns, str) else tuple(dict.fromkeys(map(str, columns)))
    written = [None if path is None else paths([path])[0] for path in (output, components, report)]
    shown = MOST if most is None else check_integer(most, "most")
    search = PairSearch(
        check_integer(max_pairs, "max_pairs"), estimates, best, exact, one_to_one, names, shown,
        *written,
    )  # fmt: skip
    request = Request.of(
        inputs, against, params, keywords, within=within, group=group, tokens=tokens, also=also
    )
    _check_search(search, request)
    return prepared(
        request, search.output or STANDARD, lambda request: _planned(request, search),
        lambda request, choice: PairTask(search, Stopwatch()).result(request, choice),
        twice=request.engine.engine is Engine.DISK or bool(names),
    )  # fmt: skip


def _check_search(search: PairSearch, request: Request) -> None:
    """Raise ValueError if what is asked for contradicts itself."""
    check_pair_stage(request.engine.stage, "a search for pairs")
    check_best(search.best, search.one_to_one, request.search)
    if (search.best or search.one_to_one) and not request.against:
        name = "best" if search.best else "one_to_one"
        raise ValueError(f"{name}=True chooses pairs with another collection: give against=")
    if search.components is not None and request.against:
        raise ValueError("components= divides one collection: leave out against=")
    if search.columns and request.group is not None:
        raise ValueError("group= makes documents of several rows, which have no columns=")
    if "id" in search.columns:
        raise ValueError("columns= need not have 'id': the table has id_a and id_b")
    if search.page is not None:
        _check_in_memory("report=", request.engine)
    if not search.exact:
        return
    if request.against:
        raise ValueError("exact=True finds the pairs of one collection, not those with against=")
    if request.within is not None:
        raise ValueError("exact=True compares all documents, and has no groups: leave out within=")
    if request.read.also is not None:
        raise ValueError("exact=True compares one text of each document: leave out also=")
    if search.estimates:
        raise ValueError("exact=True makes no signatures, which estimates=True needs")
    _check_in_memory("exact=True", request.engine)


def _check_in_memory(what: str, engine: EngineOptions) -> None:
    """Raise ValueError if something that works in memory only is to work on disk."""
    if engine.engine is Engine.DISK:
        raise ValueError(f"{what} works in memory only, got engine='disk'")
    for name in ("work", "keep_work", "restart"):
        if getattr(engine, name):
            raise ValueError(f"{name}= has no effect with {what}, which works in memory only")


def _planned(request: Request, search: PairSearch) -> EngineChoice:
    """Find the files, check the outputs, and choose the engine."""
    page = search.page
    sources, before = request.input_files(), request.against_files()
    run_paths = request.run_paths(sources, before)
    run_paths.writes("output", STANDARD if search.output is None else search.output)
    run_paths.writes("components", search.components)
    run_paths.writes("report", page)
    run_paths.deletes("work", request.engine.work_of(search.output))
    run_paths.check()
    if request.engine.recovers_outputs:
        recover_outputs(search.tables)
    for table in search.tables:
        table_format(table)
        check_target(table)
    if page is not None:
        recover_outputs([page])
        check_report(page)
    request.check_used(sources, before)
    sources = [*before, *sources]
    for source in sources if search.columns else ():
        absent = [name for name in search.columns if name not in values_in_path(source)]
        if source.format in ("txt", *SPLIT) and absent:
            raise source.error(f"plain text has no column {absent[0]!r}")
    if search.exact or page is not None:
        what = "an exact search works" if search.exact else "a report on pairs is written"
        reason = f"memory ({what} there only)"
        if search.exact:
            check_exact_fits(request, sources)
        return EngineChoice(
            reason,
            None,
            ReadBudget.of(request.engine.memory, None, rows_written=bool(search.columns)),
        )
    return select_engine(
        request, sources, len(before), search.output or STANDARD,
        rows_written=bool(search.columns),
    )  # fmt: skip


@dataclass(frozen=True)
class PairTask(Search[PairsFound]):
    """A search for pairs."""

    search: PairSearch
    clock: Stopwatch

    kind = "pairs"
    found = PairsFound

    def result(self, request: Request, choice: EngineChoice) -> FilePairs:
        """Search and write; return what was found, with the counts and times."""
        search = self.search
        more = {"max_pairs": search.max_pairs, "best": search.best, "one_to_one": search.one_to_one}
        shared = shared_fields(request, choice, self.clock, **more)
        if search.exact:
            kept = {name: shared["parameters"][name] for name in ("threshold", "shingler", *more)}
            shared |= {
                "params": None, "recall_at_threshold": 1.0, "parameters": {**kept, "exact": True},
            }  # fmt: skip
        counts = self.find(request, choice)
        summary = counts.summary
        return FilePairs(
            documents=summary.documents - summary.n_against, n_pairs=counts.pairs,
            documents_in_pairs=counts.documents_in_pairs, empty=summary.empty,
            **counts_of(summary), **shared,
        )  # fmt: skip

    def in_memory(self, held: Held) -> PairsFound:
        """Search in the documents in memory, and write."""
        search = self.search
        with self.clock("search"):
            pairs = _found(held, search)
        if isinstance(pairs, Pairs):
            left, right = pairs.left, pairs.right
        else:
            left, right = held.inputs.start + pairs.document, pairs.against
        tables = PairTables(
            held.ids, left, right, pairs.similarity, pairs.estimate,
            lambda _: blocks_of(held.others, held.collection), pairs.also_similarity,
        )  # fmt: skip
        return self._written(
            tables, held.summary(empty=pairs.empty), held.request.search, held.max_row,
            lambda: held.ids, lambda: _page(held, self.search, self.clock, pairs),
        )  # fmt: skip

    def _written(
        self,
        tables: PairTables,
        summary: Summary,
        params: SearchParams,
        max_row: int,
        ids: Callable[[], Values],
        page: Callable[[], str] = str,
    ) -> PairsFound:
        """Write what is asked for; return what was found.

        `ids` returns those of all documents, and `page` the page, which only a run in memory has.
        """
        search, left, right = self.search, tables.left, tables.right
        with replacing_together() as together:
            with self.clock("writing"):
                if search.components is not None:
                    component = components_of(left, right, summary.documents)
                    write_components(search.components, ids(), component, together)
                tables.write(search, params, max_row, together)
            if search.page is not None:
                write_text(search.page, page(), together)
        inside = count_in_pairs(left, right, range(summary.n_against, summary.documents))
        return PairsFound(summary, len(left), inside)

    def decided(self, _: Request) -> dict[str, Any]:
        """Return all that the answer depends on, besides the request."""
        names = ("max_pairs", "estimates", "best", "one_to_one")
        return {name: getattr(self.search, name) for name in names}

    @property
    def outputs(self) -> dict[str, str | None]:
        """Where everything is written, as it was given."""
        return {OUTPUT_PATH: self.search.output, "components": self.search.components}

    def stages(self, run: Run) -> list[Stage]:
        """Return the table of the stages of a run on disk."""
        search = self.search

        @self.clock("decisions")
        def decide() -> None:
            pairs_of_parts(run, gathered_texts(run), search)

        def finish() -> Ended:
            with self.clock("writing"):
                check_pairs(answer_rows(run), search.max_pairs)
                pairs = answer_of_all_parts(run, EstimatedPair if search.estimates else FoundPair)
                also = pairs["also"] if run.request.read.also is not None else None
            tables = PairTables(
                gathered_texts(run), pairs["left"], pairs["right"], pairs["similarity"],
                pairs["estimate"] if search.estimates else None, partial(_reread, run), also,
            )  # fmt: skip
            found = self._written(
                tables, run.summary, run.params, run.budget.row, partial(_ids, run)
            )
            return Ended(found, search.tables)

        return search_stages(run, self.clock, decide, finish)


def _found(held: Held, search: PairSearch) -> Pairs | Matches:
    request, params, texts = held.request, held.request.search, held.collection.texts
    if request.against:
        return matches_of_texts(
            texts, held.others.texts, params, request.run, best=search.best,
            one_to_one=search.one_to_one, max_pairs=search.max_pairs, estimates=search.estimates,
            within=held.within, against_within=held.against_within, also=held.collection.also,
            against_also=held.others.also,
        )  # fmt: skip
    if search.exact:
        return exact_pairs(
            texts, params.threshold, shingler=params.shingler, max_pairs=search.max_pairs,
            **held.threads_and_progress,
        )  # fmt: skip
    return pairs_of_texts(
        texts, params, request.run, max_pairs=search.max_pairs, estimates=search.estimates,
        within=held.within, also=held.collection.also,
    )  # fmt: skip


def _page(held: Held, search: PairSearch, clock: Stopwatch, pairs: Pairs | Matches) -> str:
    request, params, collection = held.request, held.request.search, held.collection
    both = [collection, held.others]
    documents = ReportedDocuments(held.reported, params.shingler)
    outputs = {} if search.output is None else {"pairs": search.output}
    notes = {**left_out(held.skipped), **named_files(request, "other collection", outputs)}
    files = None
    if request.group is None:
        parts = [part for side in both for part in side.parts]
        files = PairFiles(
            [part.source.path for part in parts],
            np.repeat(np.arange(len(parts)), [part.documents for part in parts]),
            np.concatenate([
                characters_of(as_texts(side.texts), params.shingler, request.run) for side in both
            ]),
        )  # fmt: skip
    table = search.output or "the standard output"
    about = About(f"Pairs of {plural(len(collection), 'document')}", notes, clock)
    return pairs_page(pairs, documents, params.threshold, about, search.most, table, files)


def _reread(run: Run, numbers: NDArray[np.int64]) -> Iterator[Reread]:
    """Read the blocks again that have some documents."""
    records = [
        record for record in run.blocks
        if np.diff(np.searchsorted(numbers, (record.first, record.stop)))
    ]  # fmt: skip
    for record, block in run.reread(records, all_columns=True):
        yield Reread(record.first, record.documents, run.sources[record.source], block)


def _ids(run: Run) -> Cells:
    """Read the ids of all documents again."""
    numbers = np.arange(run.summary.documents)
    return Cells(numbers, _ids_as_json(run), integers=run.summary.integers)


def _ids_as_json(run: Run) -> Iterator[list[bytes]]:
    tell = run.byte_progress("writing")
    for record, block in run.reread(run.blocks):
        documents, source = block.documents(), run.sources[record.source]
        yield as_json(documents.ids, source.path, documents.rows)
        tell(source, record.extent)
    tell.end()

"""Removal of repeated passages from files: the same answer in memory and on disk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import sorted_range
from fastlsh.files.annotations import SpanColumns
from fastlsh.files.answers import CutPassages, SpansFound, left_out
from fastlsh.files.answers import notes as notes_of
from fastlsh.files.budget import BASE, per_passage
from fastlsh.files.cutting import SpanCutting, WithoutSpans
from fastlsh.files.disk.decide import (
    ECHOES,
    GatheredPart,
    Match,
    answer_of_all_parts,
    drop_answers,
    each_part,
    sorted_matches,
    united,
)
from fastlsh.files.disk.gathered import GatheredTexts, IdsOfPieces, gathered_texts
from fastlsh.files.disk.link import echoes_of, first_pieces
from fastlsh.files.disk.write import writing_tables
from fastlsh.files.estimate import first_documents
from fastlsh.files.execution import Search, check_memory, search_stages
from fastlsh.files.held import Held
from fastlsh.files.plan import EngineChoice, OutputPlan, RequestedOutputs, plan_removal, prepared
from fastlsh.files.requests import SHARED, FileKeywords, Path, Request
from fastlsh.files.results import FileSpanDeduplication, counts_of, shared_fields, warn_if_none_left
from fastlsh.files.run.records import KEPT, BlockRecord
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Ended, Stage
from fastlsh.io import Block, Paths, Replacements, replacing_together, write_text
from fastlsh.keywords import Prepared, checkable, made, shares
from fastlsh.parallel import Stopwatch, batches, mapped_in, ordered_map
from fastlsh.parameters import SearchParams
from fastlsh.reporting import Excerpt
from fastlsh.search import CutCollections, check_length, cut_passages, warn_of_short_passages
from fastlsh.stages import (
    CutKeywords,
    CutRules,
    characters_of,
    cut_rows,
    kept_units,
    moved_rows,
    removed_spans,
    repeated_contexts,
    too_short,
    whole_matches,
    with_gaps,
    without_common,
)
from fastlsh.texts import (
    Shingler,
    Texts,
    UnitTexts,
    as_texts,
    check_traceable,
    counts_originals,
    joined_texts,
    original_spans,
    splits_characters,
)

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack


TOKENISED = 64
"""So many documents are tokenised twice, before all others are read."""

BATCH = 1 << 18
"""Removed passages that are worked on at a time."""

CUT = "cut.npy"

TRACED = "traced.npy"

COMMON = "common.json"


class FileSpanKeywords(CutKeywords, FileKeywords, total=False):
    """The shared keyword arguments of `deduplicate_span_files`, for type checkers."""


@shares(CutRules.of, *SHARED[1:], command="dedup", refused="span")
@checkable
def deduplicate_span_files(
    inputs: Paths,
    output: Path | None = None,
    min_length: int = 500,
    *,
    against: Paths = (),
    shingler: Shingler | None = None,
    convert_to: str | None = None,
    removed: Path | None = None,
    report: Path | None = None,
    annotate: bool = False,
    **keywords: "Unpack[FileSpanKeywords]",
) -> Prepared[FileSpanDeduplication]:
    """Remove every passage that occurred before from files of any size.

    The answer is that of `fastlsh.deduplicate_spans` for the documents of all inputs, to the bit,
    with either engine.

    Parameters
    ----------
    inputs, output, convert_to
        As in `deduplicate_files`. Every row is written, with all that it has besides its text, but
        for those that `keep_least` drops.
    min_length, shingler
        As in `deduplicate_spans`.
    against
        Files of a reference collection: passages that occur in them are removed, too. They count
        as earlier than all inputs, and nothing of them is written.
    removed
        A table of the removed spans: id, start, end (in code points of the original text),
        kept_id and kept_start; if `against` is given, also against: whether kept_id is the id of
        a document there. What lies between two cuts (`merge_gap`) has a kept_start of -1.
    report
        A page about the run (.html): what was removed most often, with its context, and how much of
        each file.
    annotate
        Every row is written as it came, with the column repeated_spans: where the cuts would
        begin and end, as "[[25,256],[300,420]]", or null.

    Returns
    -------
    FileSpanDeduplication
        Counts, times and paths.

    Raises
    ------
    InputError, TypeError, ValueError
        As in `deduplicate_files`.

    Notes
    -----
    Work directory: 8 bytes for each 240 characters, up to 60 if they are repeated, and the text of
    repeated passages with up to `min_length` characters around each. Memory on disk, besides what
    `memory` allows: about 150 bytes for each document, and for each repetition of the passage that
    is repeated most often.

    Examples
    --------
    >>> import json
    >>> with open("pages.jsonl", "w") as file:
    ...     for text in ("a licence of words", "a licence of words, again"):
    ...         print(json.dumps({"text": text}), file=file)
    >>> done = deduplicate_span_files("pages.jsonl", "clean.jsonl", 10)
    >>> done.n_removed, done.characters
    (1, 18)
    """
    plain = check_traceable(shingler)
    cutting = SpanCutting("span", check_length(min_length), plain)
    rules = made(CutRules.of, keywords)
    if annotate and (rules.join or rules.keep_least):
        raise ValueError("join and keep_least have no effect with annotate=True: no text is cut")
    search = SearchParams.of(shingler=plain, rule="equal")
    request = Request.of(inputs, against, search, keywords, cutting=cutting)
    requested = RequestedOutputs(output, convert_to, removed, report=report)

    def task(request: Request, targets: OutputPlan) -> Spans:
        return Spans(targets, cutting, rules, annotate, notes_of(request, targets), Stopwatch())

    return prepared(
        request, output,
        lambda request: plan_removal(request, requested, annotate=annotate),
        lambda request, planned: task(request, planned[0]).result(request, planned[1]),
        ended=lambda result: warn_if_none_left(request, result.documents, result.written),
    )  # fmt: skip


def _check_tokenizer(run: Run, shingler: Shingler) -> None:
    """Raise, before a file is written, if the tokens of the first documents cannot be used."""
    if shingler.tokenizer is None or run.stage not in (None, "sign"):
        return
    for source in run.sources:
        documents = first_documents(source, run.request.engine.memory)
        if documents is not None and len(documents):
            texts = as_texts(documents.texts)
            UnitTexts.of(shingler, shingler.plain_texts(texts, 0, min(len(texts), TOKENISED)))
            return


@dataclass(frozen=True)
class Spans(Search[SpansFound]):
    """A removal of repeated passages."""

    targets: OutputPlan
    """What is written."""
    cutting: SpanCutting
    rules: CutRules
    annotate: bool
    """Whether rows get a column instead of losing passages."""
    notes: Mapping[str, str]
    """For the page."""
    clock: Stopwatch

    kind = "spans"
    found = SpansFound

    def result(self, request: Request, choice: EngineChoice) -> FileSpanDeduplication:
        """Search and write; return what was found, with the counts, times and paths."""
        min_length = self.cutting.min_length
        if choice.run is not None:  # in memory, nothing is written before all texts are compared
            _check_tokenizer(choice.run, self.cutting.shingler)
        shared = shared_fields(request, choice, self.clock, min_length=min_length)
        shared["parameters"] |= asdict(self.rules)
        shared["min_length"] = min_length
        for name in ("threshold", "params", "recall_at_threshold"):  # of a search for similar texts
            del shared[name]
        counts = self.find(request, choice)
        return FileSpanDeduplication(
            documents=counts.documents, written=counts.documents - counts.dropped,
            common=counts.common, changed=counts.changed, dropped=counts.dropped,
            n_removed=counts.removed, characters=counts.characters,
            characters_read=counts.summary.characters,
            **{**counts_of(counts.summary), "against_documents": counts.against}, **shared,
            outputs=self.targets.outputs(counts.summary.files),
        )  # fmt: skip

    def in_memory(self, held: Held) -> SpansFound:
        """Search in the documents in memory, and write."""
        request, collection, others = held.request, held.collection, held.others
        cutting, before = self.cutting, len(others)
        with self.clock("search"):
            cut = cut_passages(
                CutCollections.of(collection.texts, others.texts), cutting.min_length,
                cutting.shingler, self.rules, request.run,
            )  # fmt: skip
        passages = CutPassages(
            np.column_stack([cut.removed, cut.kept]), before, len(cut.common), len(cut.dropped),
            self.rules, held.ids,
        )  # fmt: skip
        kept = np.ones(len(collection), np.bool_)
        kept[cut.dropped - before] = False
        changed, added = None, None
        if self.annotate:
            added = SpanColumns(cut.removed, before)
        else:
            changed = {number - before: text for number, text in cut.texts.items()}
        files = [(part.source.path, part.documents) for part in collection.parts]
        with self.clock("writing"), replacing_together() as together:
            held.write_rows(self.targets, kept, together, texts=changed, added=added)
            self._write(
                passages, files, partial(_excerpts_of_texts, held), held.skipped, together,
                has_against=bool(request.against),
            )  # fmt: skip
        characters = characters_of(as_texts(collection.texts), cutting.shingler, request.run)
        summary = held.summary(characters=int(characters.sum()))
        return passages.counts(summary, len(collection))

    def _write(
        self,
        passages: CutPassages,
        files: Sequence[tuple[str, int]],
        excerpts: Callable[[NDArray[np.int64]], list[Excerpt]],
        skipped: int,
        together: Replacements,
        *,
        has_against: bool,
    ) -> None:
        """Write the table and the page.

        Parameters
        ----------
        passages
            What is removed.
        files
            The name of each input, and how many documents it has.
        excerpts
            Returns stretches of documents, given the number, begin and end of each.
        skipped
            How many rows were left out.
        together
            What the files appear with.
        has_against
            Whether there is a reference collection.
        """
        targets = self.targets
        passages.write_table(targets, together, has_against=has_against)
        if targets.report is not None:
            page = passages.page(
                self.cutting, files, excerpts, {**self.notes, **left_out(skipped)}, self.clock
            )  # fmt: skip
            write_text(targets.report, page, together)

    def decided(self, _: Request) -> dict[str, Any]:
        """Return all that the answer depends on, besides the request."""
        return {
            "min_length": self.cutting.min_length, **asdict(self.rules), "annotate": self.annotate,
        }  # fmt: skip

    @property
    def outputs(self) -> dict[str, str | None]:
        """Where everything is written, as it was given."""
        return self.targets.all_paths

    def stages(self, run: Run) -> list[Stage]:
        """Return the table of the stages of a run on disk."""
        cutting, rules, annotate = self.cutting, self.rules, self.annotate

        @cache
        def numbering() -> _Numbering:
            characters = sum(segment.counts["characters"] for segment in run.segments)
            warn_of_short_passages(cutting.min_length, characters, cutting.shingler.unit)
            return _numbering(run)

        @cache
        def passages() -> CutPassages:
            rows = run.work.load(TRACED)
            _check_memory(run, len(rows), rules)
            common = run.work.read(COMMON)["common"]
            dropped = int(np.count_nonzero(~run.work.load(KEPT)))
            ids = IdsOfPieces(gathered_texts(run), numbering().pieces)
            return CutPassages(rows, numbering().n_against, common, dropped, rules, ids)

        @cache
        def left() -> WithoutSpans:
            rows, kept = passages().rows, run.work.load(KEPT)
            added = SpanColumns(rows[:, :3]) if annotate else None
            cut = rows[:0] if annotate else rows
            return WithoutSpans(np.flatnonzero(~kept), cut, rules.join, added)

        @self.clock("decisions")
        def decide() -> None:
            n_whole = rules.n_whole(numbering().n_against)
            _decide(run, gathered_texts(run), numbering(), n_whole)

        @self.clock("tracing")
        def merge() -> None:
            if not run.work.has(KEPT):
                rows = _cut(run, numbering(), rules)
                _trace(run, numbering(), rows, rules, cutting.min_length)

        @self.clock("writing")
        def finish() -> Ended:
            summary, documents = run.summary, numbering().documents - numbering().n_against
            with writing_tables(run, self.targets, left()) as together:
                self._write(
                    passages(), _documents_of_inputs(run), partial(_excerpts, run, numbering()),
                    summary.skipped, together, has_against=run.first_input > 0,
                )  # fmt: skip
            outputs = self.targets.all_outputs(summary.files)
            return Ended(passages().counts(summary, documents), outputs)

        return search_stages(run, self.clock, decide, finish, self.targets, merge, left)


def _excerpts_of_texts(held: Held, places: NDArray[np.int64]) -> list[Excerpt]:
    """Return stretches of documents, by the numbers of these."""
    texts = joined_texts(as_texts(held.others.texts), as_texts(held.collection.texts))
    strings = (texts.take(row).strings()[0] for row in places[:, :1])
    bounds = places[:, 1:].tolist()
    return [Excerpt.of(text, *place) for text, place in zip(strings, bounds, strict=True)]


class _Numbering(NamedTuple):
    """How documents are numbered, those of `against` first, beside the contexts."""

    pieces: NDArray[np.int64]
    """int64 (documents + 1,): the number of the first context of each."""
    n_against: int

    @property
    def documents(self) -> int:
        """How many there are."""
        return len(self.pieces) - 1


def _numbering(run: Run) -> _Numbering:
    of_against = (record for record in run.blocks if record.source < run.first_input)
    return _Numbering(first_pieces(run), sum(record.uncut for record in of_against))


def _decide(run: Run, texts: GatheredTexts, numbering: _Numbering, n_whole: int) -> None:
    """Compare the contexts of each part that has not been worked on yet.

    The first `n_whole` documents lose nothing.
    """
    assert run.cutting is not None
    length, nothing = run.cutting.min_length, np.empty(0, np.int64)

    def compare(part: GatheredPart) -> tuple[NDArray[Any], NDArray[np.int64]]:
        number = np.ascontiguousarray(part.rows["number"])
        document = np.searchsorted(numbering.pieces, number, "right") - 1
        begin = np.ascontiguousarray(part.rows["begin"])
        contexts = as_texts(part.texts).spans(0, len(number))
        shingler = run.params.shingler
        repeats = repeated_contexts(
            contexts, document, begin, length, run.options,
            words=shingler if shingler.unit == "word" else None,
        )  # fmt: skip
        return sorted_matches(repeats[repeats[:, 0] >= n_whole]), nothing

    each_part(run, texts, compare, "comparing")
    if not run.work.has(ECHOES):
        echoes = echoes_of(run)
        run.work.save(ECHOES, sorted_matches(echoes[echoes[:, 0] >= n_whole]))


def _trace(
    run: Run, numbering: _Numbering, rows: NDArray[np.int64], rules: CutRules, min_length: int
) -> None:
    """Find the places of what goes in the original texts, and the documents that go."""
    of_all = numbering.documents, numbering.n_against
    rows, common = without_common(rows, *of_all, rules.max_share, min_length)
    if rules.moves_ends(run.params.shingler):
        rows = _changed(run, numbering, rows, partial(moved_rows, rules))
    rows = with_gaps(rows, common, rules.merge_gap)
    rows, dropped = _traced(run, numbering, rows, rules.keep_least)
    kept = np.ones(numbering.documents, np.bool_)
    kept[dropped] = False
    run.work.save(TRACED, rows)
    run.work.write(COMMON, {"common": len(common)})
    run.work.save(KEPT, kept)  # the last one: nothing of this is done again


def _check_memory(run: Run, passages: int, rules: CutRules) -> None:
    """Raise ValueError if a stage that is a process of its own has too little memory for them."""
    if run.stage is not None:
        needed = BASE + per_passage(rules, run.params.shingler)[run.stage] * passages
        check_memory(run, needed, f"{run.stage} {passages:,} passages")


def _cut(run: Run, numbering: _Numbering, rules: CutRules) -> NDArray[np.int64]:
    """Return what goes from the normalised texts and where it stays, int64 (m, 5), mapped."""
    if not run.work.has(CUT):
        matches = answer_of_all_parts(run, Match, united)
        if run.stage is None:  # else late processes may still read them
            drop_answers(run)
        _check_memory(run, len(matches), rules)
        rows = np.ascontiguousarray(matches).view(np.int64).reshape(-1, 5)
        if splits_characters(run.params.shingler):
            rows = _changed(run, numbering, rows, whole_matches)
        run.work.save(CUT, cut_rows(rows, numbering.documents, mapped_in(run.work.path)))
    return run.work.load(CUT)


def _changed(
    run: Run, numbering: _Numbering, rows: NDArray[np.int64], change: Callable[..., Any]
) -> NDArray[np.int64]:
    """Return rows as `whole_matches` or `moved_rows` change those of each block, read once more."""

    def of_block(texts: Texts, start: int, chosen: slice) -> NDArray[np.int64]:
        changed: NDArray[np.int64] = change(texts, run.params.shingler, rows[chosen], start)
        return changed

    return np.concatenate([rows[:0], *_of_blocks(run, numbering, rows, rows[:, 0], of_block)])


def _traced(
    run: Run, numbering: _Numbering, rows: NDArray[np.int64], keep_least: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the same rows in the original texts, and the documents that go as a whole.

    Each row also has the end of where it stays. Reads the documents that lose something, and those
    where it stays, once more if it must.
    """
    shingler = run.params.shingler
    nothing = np.empty(0, np.int64)
    traced = mapped_in(run.work.path)((len(rows), 6), np.int64)
    for start, stop in batches(len(rows), BATCH):
        traced[start:stop, :5] = rows[start:stop]
        traced[start:stop, 5] = kept_units(rows[start:stop])[:, 1]
    if not len(rows) or (not keep_least and counts_originals(shingler)):
        return traced, nothing
    by_source = np.argsort(rows[:, 3], kind="stable")
    sources = rows[by_source, 3]

    def of_block(texts: Texts, start: int, chosen: slice) -> NDArray[np.int64]:
        traced[chosen, 1:3] = removed_spans(texts, shingler, rows[chosen], start)
        moved = by_source[slice(*np.searchsorted(sources, (start, start + len(texts))))]
        number, units = rows[moved, 3] - start, kept_units(rows[moved])
        traced[moved, 4:] = original_spans(texts, shingler, number, units)
        return start + too_short(texts, shingler, rows[chosen] - (start, 0, 0, 0, 0), keep_least)

    dropped = _of_blocks(run, numbering, rows, rows[:, (0, 3)], of_block)
    whole = traced[:, 1] < traced[:, 2]  # else the next row has the character
    return traced[whole], np.concatenate([nothing, *dropped])


def _of_blocks(
    run: Run,
    numbering: _Numbering,
    rows: NDArray[np.int64],
    documents: NDArray[np.int64],
    work: Callable[[Texts, int, slice], NDArray[np.int64]],
) -> list[NDArray[np.int64]]:
    """Read the blocks with wanted documents again, and return what a function returns of each.

    It takes their texts, the number of the first one, and which rows cut these texts.
    """
    many = np.zeros(numbering.documents + 1, np.int64)
    many[documents + 1] = 1
    np.cumsum(many, out=many)
    used = [
        record for record in run.blocks
        if many[record.stop_uncut] > many[record.first_uncut]
    ]  # fmt: skip

    def of_block(item: tuple[BlockRecord, Block]) -> NDArray[np.int64]:
        record, block = item
        texts, start = as_texts(block.documents().texts), record.first_uncut
        return work(texts, start, sorted_range(rows[:, 0], start, start + len(texts)))

    return list(ordered_map(run.reread(used), of_block, run.options.threads))


def _excerpts(run: Run, numbering: _Numbering, places: NDArray[np.int64]) -> list[Excerpt]:
    """Read stretches of documents, by the numbers of these."""
    order = np.argsort(places[:, 0], kind="stable")
    chosen = places[order]
    excerpts: list[Any] = [None] * len(places)

    def of_block(texts: Texts, start: int, chosen_rows: slice) -> NDArray[np.int64]:
        for row in range(chosen_rows.start, chosen_rows.stop):
            number, begin, end = chosen[row].tolist()
            (text,) = texts.take(np.array([number - start])).strings()
            excerpts[order[row]] = Excerpt.of(text, begin, end)
        return chosen[:0, 0]

    _of_blocks(run, numbering, chosen, chosen[:, 0], of_block)
    return excerpts


def _documents_of_inputs(run: Run) -> list[tuple[str, int]]:
    """Return the name of each input, and how many documents it has."""
    of_files = np.zeros(len(run.sources), np.int64)
    for record in run.blocks:
        of_files[record.source] += record.uncut
    names = [source.path for source in run.sources]
    return [*zip(names, of_files.tolist(), strict=True)][run.first_input :]

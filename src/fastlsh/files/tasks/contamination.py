"""Decontamination of files: the stages of a run that finds evaluation items, and links nothing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.errors import InputError
from fastlsh.files.cutting import WithoutSpans
from fastlsh.files.disk.segments import SegmentWriter
from fastlsh.files.disk.sign import REASONS, BlockWork, cut_file, sign_units
from fastlsh.files.disk.write import units_written, write_outputs
from fastlsh.files.evaluation_items import ItemFiles
from fastlsh.files.execution import Task, execute, table_of, units_signed
from fastlsh.files.plan import OutputPlan
from fastlsh.files.requests import Request
from fastlsh.files.results import FileDecontamination
from fastlsh.files.run.manifest import OUTPUT_PATH, check_unchanged, fingerprints, plain_shingler
from fastlsh.files.run.records import SAMPLE, BlockRecord
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import CONTAMINATION_STAGES, OF_DECONTAMINATION, Ended, Stage
from fastlsh.files.run.workdir import save_array
from fastlsh.io import (
    ALL_BYTES,
    AddedColumns,
    Block,
    Ids,
    Limit,
    Lookup,
    Replacements,
    contamination_columns,
    replacing_together,
    texts_of_ids,
    write_table,
)
from fastlsh.parallel import Stopwatch, ordered_map
from fastlsh.results import Boilerplate, NotSearched
from fastlsh.search import (
    ContaminationParams,
    boilerplate_of,
    cuts_of,
    grams_of_items,
    items_in,
    most_contained,
    not_searched,
    without_boilerplate,
)
from fastlsh.stages import Containments, ItemGrams, Matches, Tally, matches_in
from fastlsh.texts import as_texts


class Findings(NamedTuple):
    """What documents contain."""

    containments: Containments
    ids: list[Any]
    """Of the document of each row of `containments`; None: it has none."""
    rows: NDArray[np.int64]
    """int64: the row of that document in its file; in a range of a file, counted from there."""
    cuts: NDArray[np.int64]
    """int64 (m, 3): what is cut out of which document."""
    dropped: NDArray[np.int64]
    """int64, ascending: documents that go as a whole."""

    def behind(self, start: int, rows: int = 0) -> "Findings":
        """Return the same if so many documents, and rows of the file, are before the first one."""
        moved = self.containments._replace(document=self.containments.document + start)
        cuts, dropped = np.add(self.cuts, (start, 0, 0)), self.dropped + start
        return Findings(moved, self.ids, self.rows + rows, cuts, dropped)

    @classmethod
    def joined(cls, parts: "Sequence[Findings]") -> "Findings":
        """Return those of all parts, in their order."""
        none = np.empty(0, np.int64)
        return cls(
            Containments.joined([part.containments for part in parts]),
            [name for part in parts for name in part.ids],
            np.concatenate([none, *(part.rows for part in parts)]),
            np.concatenate([np.empty((0, 3), np.int64), *(part.cuts for part in parts)]),
            np.concatenate([none, *(part.dropped for part in parts)]),
        )


class FoundBlock(NamedTuple):
    """A block's share of a segment."""

    record: BlockRecord
    findings: Findings
    errors: list[InputError]
    next_row: int


_ARRAYS = ("document", "item", "grams", "run", "spans", "rows", "cuts", "dropped")


class FindingsWriter(SegmentWriter[FoundBlock]):
    """Writes what consecutive blocks contain; documents are counted in the segment."""

    def _saved(self, folder: Path) -> dict[str, Any]:
        starts = np.cumsum([0, *(part.record.documents for part in self._parts)]).tolist()
        found = Findings.joined(
            [part.findings.behind(n) for part, n in zip(self._parts, starts, strict=False)]
        )
        arrays = *found.containments, *found[2:]
        for name, array in zip(_ARRAYS, arrays, strict=True):
            save_array(folder / f"{name}.npy", array)
        return {"ids": found.ids}


def findings_of(run: Run) -> Findings:
    """Return what all documents contain; ids are ``FILE:ROW`` where a file has none."""
    parts = []
    for segment in run.segments:
        arrays = [np.array(run.work.load(f"{segment.name}/{name}.npy")) for name in _ARRAYS]
        found = Findings(Containments(*arrays[:5]), segment.counts["ids"], *arrays[5:])
        parts.append(found.behind(segment.first, segment.rows_before))
    findings = Findings.joined(parts)
    blocks = run.block_starts.searchsorted(findings.containments.document, "right") - 1
    ids = [
        f"{run.sources[run.blocks[block].source].path}:{row}" if name is None else name
        for name, block, row in zip(
            findings.ids, blocks.tolist(), findings.rows.tolist(), strict=True
        )
    ]
    return findings._replace(ids=ids)


def found_in_block(
    grams: ItemGrams, params: ContaminationParams, run: Run, source: int, block: Block
) -> FoundBlock:
    """Find items in the documents of a block."""
    documents = block.documents()
    documents.check(skip=run.skip)
    texts = as_texts(documents.texts)
    containments = items_in(grams, texts, matches_in(grams, texts, 0, len(texts)), params)
    found = Findings.joined([])
    if len(containments.item):
        ids = Ids()
        ids.add("", documents.ids, documents.rows)
        rows = documents.rows[containments.document]
        cuts, dropped = cuts_of(texts, containments, params)
        found = Findings(containments, ids.take(containments.document), rows, cuts, dropped)
    bad = tuple(error.row or 1 for error in documents.bad)
    record = BlockRecord(source, block.extent, len(documents), bad, 0, len(documents))
    return FoundBlock(record, found, documents.bad, block.next_row)


SAMPLED_FILES = 100
"""The most files whose beginnings are searched for boilerplate."""


def sample_of_files(run: Run, grams: ItemGrams, params: ContaminationParams) -> tuple[Tally, int]:
    """Count the n-grams in a sample: documents at the beginnings of files; and how many these are.

    Each of the files gives as many, of very many files some that are evenly spread. With a limit,
    the first documents are the sample. The work directory keeps what was counted.
    """
    if run.work.has(SAMPLE):
        saved = np.array(run.work.load(SAMPLE))
        if len(saved) != 2 * len(grams.reasons) + 1:
            raise InputError(run.work / SAMPLE, f"the file is damaged: {run.work.start_over}")
        return Tally(*saved[1:].reshape(2, -1)), int(saved[0])
    tally = Tally.empty(grams)
    total = 0

    def beginnings() -> Iterator[Block]:
        if run.limit is not None:
            first = Limit(min(run.limit, params.sample))
            for number in range(len(run.sources)):
                if first.reached:
                    return
                yield from first.first(cut_file(run, number, None, ALL_BYTES))
            return
        files = np.unique(np.linspace(0, len(run.sources) - 1, SAMPLED_FILES).astype(np.int64))
        for number in files.tolist():
            per_file = Limit(-(-params.sample // len(files)))
            yield from per_file.first(cut_file(run, number, None, ALL_BYTES))

    def match(block: Block) -> tuple[int, list[Matches]]:
        texts = as_texts(block.documents().texts)
        return len(texts), list(matches_in(grams, texts, 0, len(texts)))

    sampled = beginnings() if params.boilerplate_share is not None else iter(())
    with closing(ordered_map(sampled, match, run.options.threads)) as blocks:
        for count, of_block in blocks:
            total += count
            for matches in of_block:
                tally.add(grams, matches)
    run.work.save(SAMPLE, np.concatenate([[total], tally.documents, tally.alone]).astype(np.int64))
    return tally, total


class ContaminationColumns:
    """The columns that tell in the row of each document which item it contains most of.

    Parameters
    ----------
    found
        The items in all documents.
    share
        float64 (n,): how much of an item each row of it has.
    ids
        The ids of the items.
    """

    TYPES: ClassVar[dict[str, str]] = {
        "contaminated_by": "string", "contamination_share": "double", "contamination_run": "int64",
    }  # fmt: skip

    def __init__(
        self, containments: Containments, share: NDArray[np.float64], ids: Sequence[Any]
    ) -> None:
        first = most_contained(containments, share)
        self._document, self._item = containments.document[first], containments.item[first]
        self._share, self._run, self._ids = share[first], containments.run[first], ids

    def __call__(self, start: int, stop: int) -> AddedColumns:
        """Return the columns of the documents from `start` to `stop` - 1."""
        rows = slice(*np.searchsorted(self._document, (start, stop)))
        names: list[str | None] = [None] * (stop - start)
        share, run = np.zeros(stop - start), np.zeros(stop - start, np.int64)
        positions = self._document[rows] - start
        share[positions], run[positions] = self._share[rows], self._run[rows]
        ids = texts_of_ids([self._ids[item] for item in self._item[rows].tolist()])
        for document, name in zip(positions.tolist(), ids, strict=True):
            names[document] = name
        columns = (names, share.tolist(), run.tolist())
        return AddedColumns(self.TYPES, dict(zip(self.TYPES, columns, strict=True)))


_COUNTS = (
    "documents", "contaminated", "written", "dropped", "changed", "n_hits", "items", "items_found",
    "skipped",
)  # fmt: skip
_LISTS = ("not_searched", "boilerplate", "skipped_reasons", "outputs")
"""What a run has found; after another stage than the last, zeros and nothing."""


@dataclass(frozen=True)
class Decontamination(Task):
    """A decontamination of files."""

    run: Run
    is_kept: bool
    """Whether there is a work directory for a run that goes on; if not, it is a temporary one."""
    items: ItemFiles
    fields: list[str] | None
    """The names of the fields of items, as they were given."""
    item_id: str | None
    targets: OutputPlan | None
    hits: str | None
    params: ContaminationParams
    clock: Stopwatch

    kind = "decontaminate"
    first = OF_DECONTAMINATION[0]
    mends = False

    @cached_property
    def grams(self) -> ItemGrams:
        """The n-grams of the items; raises InputError if no item can be searched."""
        grams = grams_of_items(self.items.items, self.params)
        _check_searchable(grams, self.items)
        return grams

    def decided(self, _: Request) -> dict[str, Any]:
        """Return what the answer depends on."""
        params = {field.name: getattr(self.params, field.name) for field in fields(self.params)}
        evals = self.items.sources if self.is_kept else []  # a pipe can be read once
        return {
            **params, "fields": self.fields, "item_id": self.item_id,
            "evals": fingerprints(evals, len(evals)),
        }  # fmt: skip

    @property
    def outputs(self) -> dict[str, str | None]:
        """Where everything is written, as it was given: alike for all processes of one run."""
        output = None if self.targets is None else self.targets.output
        convert = None if self.targets is None else self.targets.convert
        return {OUTPUT_PATH: output, "convert_to": convert, "hits": self.hits}

    @property
    def folder(self) -> OutputPlan | None:
        """The outputs of a directory, if they appear before everything else, some together."""
        has_folder = self.targets is not None and self.targets.folders
        return self.targets if has_folder and self.is_kept else None

    def result(self) -> FileDecontamination:
        """Find and write, or go on where a run before was ended."""
        with self.clock("items"):
            assert self.grams
        if self.is_kept:
            self.run.tell(f"decontaminating in {self.run.work.path}")
        ended = execute(self.run, self)
        found: dict[str, Any] = dict.fromkeys(_COUNTS, 0) | dict.fromkeys(_LISTS, ())
        found |= {"rule": self.params.rule} if ended is None else ended.found
        lists = {name: list(found[name]) for name in _LISTS}
        lists["not_searched"] = [NotSearched(*item) for item in found["not_searched"]]
        lists["boilerplate"] = [Boilerplate(*gram) for gram in found["boilerplate"]]
        return FileDecontamination(**{**found, **lists, "seconds": self.clock})

    def stages(self, run: Run) -> list[Stage]:
        """Return the table of the stages of a run on disk."""
        params, targets, clock = self.params, self.targets, self.clock

        @cache
        @clock("sample")
        def sample() -> tuple[Tally, int]:
            return sample_of_files(run, self.grams, params)

        @cache
        def grams() -> ItemGrams:
            return without_boilerplate(self.grams, *sample(), params)

        @cache
        def findings() -> Findings:
            for segment in run.segments if not run.skip else ():  # but rows were skipped before
                for path, reason, row in segment.counts["reasons"]:
                    raise InputError(path, reason, row and row + segment.rows_before)
            return findings_of(run)

        @clock("finding")
        def find() -> None:
            found = partial(found_in_block, grams(), params)
            sign_units(run, BlockWork(found, FindingsWriter, "decontaminating"))

        def write_rows(plan: OutputPlan, together: Replacements | None = None) -> None:
            check_unchanged(run.work, run.sources[: _files_read(run)])
            containments, added = findings().containments, None
            if params.rule == "annotate":
                share = containments.grams / grams().sizes[containments.item]
                added = ContaminationColumns(containments, share, self.items.ids)
            dropped = unique(findings().dropped)
            left = WithoutSpans(dropped, findings().cuts, params.join, added)
            write_outputs(run, plan, left, together)

        @clock("writing")
        def write() -> None:
            if self.folder is not None:
                write_rows(self.folder)

        @clock("writing")
        def finish() -> Ended:
            with replacing_together() as together:
                if self.hits is not None:
                    write_table(self.hits, _hits(findings(), grams(), self.items), together)
                if targets is not None and self.folder is None:
                    write_rows(targets, together)
            found = _found(self, run, findings(), grams(), sample()[0])
            tables = [] if self.hits is None else [self.hits]
            return Ended(found, [*found["outputs"], *tables])

        makes: dict[str, Callable[[], Any]]
        makes = {"sample": sample, "find": find, "write": write, "finish": finish}
        units = {"find": units_signed(run)}
        if self.folder is not None:
            units["write"] = units_written(run, self.folder)
        return table_of(CONTAMINATION_STAGES, makes, units)


def _files_read(run: Run) -> int:
    """Return how many files were reached: all, unless there is a limit."""
    return run.blocks[-1].source + 1 if run.blocks else 0


def _check_searchable(grams: ItemGrams, items: ItemFiles) -> None:
    if not grams.sizes.any():
        raise InputError(
            items.sources[0].path,
            "no evaluation item can be searched: each has too few words, or only n-grams that more"
            " items share than max_items allows",
        )


def _hits(findings: Findings, grams: ItemGrams, items: ItemFiles) -> dict[str, Any]:
    pairs = findings.containments
    row = pairs.spans[:, 0]
    item = pairs.item[row]
    return contamination_columns(
        Lookup(findings.ids, row), Lookup(items.files, item), Lookup(items.ids, item),
        (pairs.grams / grams.sizes[pairs.item])[row], pairs.run[row],
        Lookup(items.items.names, pairs.spans[:, 1]), pairs.spans[:, 2], pairs.spans[:, 3],
    )  # fmt: skip


def _found(
    task: Decontamination, run: Run, findings: Findings, grams: ItemGrams, tally: Tally
) -> dict[str, Any]:
    """Return the fields of the result."""
    containments, items = findings.containments, task.items
    documents, dropped = run.signed, len(findings.dropped)
    reasons = [
        InputError(path, reason, row and row + segment.rows_before)
        for segment in run.segments
        for path, reason, row in segment.counts["reasons"]
    ]
    return {
        "documents": documents,
        "contaminated": len(np.unique(containments.document)),
        "written": 0 if task.targets is None else documents - dropped,
        "dropped": dropped,
        "changed": len(np.unique(findings.cuts[:, 0])),
        "n_hits": len(containments.spans),
        "items": items.items.n_items,
        "items_found": len(np.unique(containments.item)),
        "not_searched": not_searched(grams, items.ids),
        "boilerplate": boilerplate_of(grams, tally),
        "rule": task.params.rule,
        "skipped": sum(len(record.bad) for record in run.blocks),
        "skipped_reasons": [str(reason) for reason in reasons[:REASONS]],
        "outputs": [] if task.targets is None else task.targets.outputs(_files_read(run)),
        "parameters": {**asdict(task.params), "shingler": plain_shingler(task.params.shingler)},
    }

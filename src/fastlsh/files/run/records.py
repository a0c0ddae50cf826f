"""What a work directory says of a run: its blocks, their segments, and the counts of all."""

from typing import Any, NamedTuple

from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import BlockExtent

SIGNED = "signed.json"
"""Counts of all documents, when every file has been signed."""

LINKED = "linked.json"
"""Counts of all families, when all documents have been linked."""
GATHERED = "gathered.json"
"""Nothing, when all texts have been gathered."""
ANSWER = "answer.npy"
"""The answer of all parts."""
KEPT = "kept.npy"
"""Whether each document of the inputs is kept."""
DOCUMENT_FILES = "document-files.json"
"""How many files of documents there are that were made of rows, and how many of `against`."""
DOCUMENTS_MADE = "grouped.json"
"""Nothing, when one process has made all of these files, and needs the rows no more."""
SAMPLE = "sample.npy"
"""Which n-grams the sample has: how many documents these are, then both rows of a tally."""


class BlockRecord(NamedTuple):
    """The record of a block that has been signed."""

    source: int
    extent: BlockExtent
    documents: int
    """Or pieces of these, where they are cut: what is numbered."""
    bad: tuple[int, ...]
    """Rows left out."""
    text: int
    """Bytes of the texts, about."""
    uncut: int
    """Documents, whether they are cut or not."""
    first: int = 0
    """The number of the first document, or piece."""
    first_uncut: int = 0
    """The number of the first document, where pieces are not counted."""

    @property
    def stop(self) -> int:
        """The number of the document, or piece, behind the last one."""
        return self.first + self.documents

    @property
    def stop_uncut(self) -> int:
        """The same, where pieces are not counted."""
        return self.first_uncut + self.uncut

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self.extent.stop - self.extent.start


class Before(NamedTuple):
    """What is counted before a segment."""

    documents: int = 0
    uncut: int = 0
    rows: int = 0
    """Rows of its file before its unit."""


class Segment(NamedTuple):
    """The record of the sorted keys of consecutive blocks."""

    name: str
    blocks: list[BlockRecord]
    last: bool
    """Whether it completes its unit."""
    bands: list[int]
    """A checksum of the keys of each band, or of the minima of each hash function."""
    next_row: int
    """The number of the row behind its last block."""
    rows_before: int
    """Rows of its file before its unit, in which `counts` counts rows."""
    counts: dict[str, Any]
    """What is counted of its documents, for a `Summary`."""

    @property
    def first(self) -> int:
        """The number of its first document."""
        return self.blocks[0].first

    @property
    def stop(self) -> int:
        """The number of the document behind its last one."""
        return self.blocks[-1].stop

    @property
    def documents(self) -> int:
        """How many documents it has."""
        return self.stop - self.first

    def before(self, rows: int) -> Before:
        """Return what is counted before the segment that follows."""
        return Before(self.stop, self.blocks[-1].stop_uncut, rows)


def segment_name(unit: int, number: int) -> str:
    """Return the name of a segment in the work directory."""
    return f"segment-{unit:06}-{number:06}"


def read_segment(work: WorkDirectory, name: str, before: Before) -> Segment:
    """Read the record of a segment, with numbers that count what is before it."""
    saved = work.read(f"{name}/blocks.json")
    records = []
    first, first_uncut, rows = before
    for source, (index, start, stop, row, check), documents, bad, text, uncut in saved.pop(
        "blocks"
    ):
        extent, left_out = (
            BlockExtent(index, start, stop, row + rows, check),
            tuple(rows + row for row in bad),
        )
        record = BlockRecord(source, extent, documents, left_out, text, uncut, first, first_uncut)
        first, first_uncut = record.stop, record.stop_uncut
        records.append(record)
    last, bands, next_row = (saved.pop(column) for column in ("last", "bands", "next_row"))
    return Segment(name, records, last, bands, next_row + rows, rows, saved)


class Summary(NamedTuple):
    """Counts and properties of all documents."""

    documents: int
    n_against: int
    """Those of `against`, which come first."""
    empty: int
    """Of the others; lines, paragraphs and sentences that are not compared count, too."""
    against_filled: int
    """Documents of `against` with a unit."""
    skipped: int
    reasons: list[tuple[str, str, int | None]]
    repeated: int
    """Documents with the id of an earlier one."""
    repeated_example: str
    """One of these ids, and the files that have it."""
    segments: list[int]
    """How many segments each unit has."""
    integers: bool
    """Whether all ids are integers of 64 bits."""
    text: int
    """Bytes of all texts, about."""
    files: int
    """Those that were read, without those of `against`: all unless there is a limit."""
    slow: int
    """Rows of JSON lines that the json module has read."""
    characters: int
    """Of the documents of the inputs, where passages are looked for."""
    short: int
    """Documents with fewer units than a shingle, without those of `against`."""
    against_short: int
    """The same, of those of `against`."""
    missing_priorities: int
    """Documents of the inputs without a priority, if there is a column of these."""

    @property
    def not_empty(self) -> int:
        """Documents with a unit, without those of `against`."""
        return self.documents - self.n_against - self.empty


NOTHING = Summary(0, 0, 0, 0, 0, [], 0, "", [], False, 0, 0, 0, 0, 0, 0, 0)
"""Of a stage that does not end the run."""


class Linked(NamedTuple):
    """What families there are."""

    n_linked: int
    """Documents that share a bucket with another one."""
    families: int
    largest: int
    parts: int

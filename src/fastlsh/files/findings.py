"""What documents of files contain of evaluation items, block by block and file by file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.io import COLUMNAR, InputFile
from fastlsh.stages import Found

REASONS = 10
"""Bad rows whose reasons are kept."""


class BlockFindings(NamedTuple):
    """What a block of documents contains."""

    found: Found
    ids: list[Any]
    """Of the document of each row of `found`; None: it has none."""
    rows: NDArray[np.int64]
    """int64: the row of that document in its file; in a range of a file, counted from there."""
    cuts: NDArray[np.int64]
    """int64 (m, 3): what is cut out of which document."""
    dropped: NDArray[np.int64]
    """int64, ascending: documents that go as a whole."""

    def behind(self, start: int) -> "BlockFindings":
        """Return the same if the first document of the block has this number."""
        moved = self.found._replace(document=self.found.document + start)
        return BlockFindings(
            moved, self.ids, self.rows, np.add(self.cuts, (start, 0, 0)), self.dropped + start
        )

    @classmethod
    def joined(cls, blocks: "Sequence[BlockFindings]") -> "BlockFindings":
        """Return those of all blocks, in their order."""
        return cls(
            Found.joined([block.found for block in blocks]),
            [name for block in blocks for name in block.ids],
            np.concatenate([NOTHING.rows, *(block.rows for block in blocks)]),
            np.concatenate([NOTHING.cuts, *(block.cuts for block in blocks)]),
            np.concatenate([NOTHING.dropped, *(block.dropped for block in blocks)]),
        )


_NONE = np.empty(0, np.int64)
NOTHING = BlockFindings(Found.joined([]), [], _NONE, np.empty((0, 3), np.int64), _NONE)


@dataclass(frozen=True)
class Findings:
    """What consecutive files, or a range of one, contain, and where their rows are."""

    first: int
    """The number of the first file."""
    parts: list[InputFile]
    contents: BlockFindings
    """Documents are counted from the first one of these files."""
    skipped: int
    reasons: list[InputError]
    next_row: int
    """The number of the row behind the last one, as rows are counted in the last file."""

    def ids(self) -> list[Any]:
        """Return the ids of the documents of `found`; ``FILE:ROW`` where a file has none."""
        contents = self.contents
        ends = np.cumsum([part.documents for part in self.parts])
        files = np.searchsorted(ends, contents.found.document, "right")
        rows = zip(contents.ids, files.tolist(), contents.rows.tolist(), strict=True)
        return [
            f"{self.parts[file].source.path}:{row}" if name is None else name
            for name, file, row in rows
        ]

    def behind(self, rows: int) -> "Findings":
        """Return those of a range of a file if so many of its rows are before the range."""
        (part,) = self.parts
        return Findings(
            self.first,
            [
                replace(
                    part,
                    extents=[each._replace(row=each.row + rows) for each in part.extents],
                    bad=[row + rows for row in part.bad],
                )
            ],
            self.contents._replace(rows=self.contents.rows + rows),
            self.skipped,
            [
                InputError(each.path, each.reason, each.row and each.row + rows)
                for each in self.reasons
            ],
            self.next_row + rows,
        )

    @property
    def documents(self) -> int:
        """How many there are."""
        return sum(part.documents for part in self.parts)

    @classmethod
    def joined(cls, some: "Sequence[Findings]") -> "Findings":
        """Return those of consecutive files, or ranges of files, as one."""
        parts: list[InputFile] = []
        every: list[Findings] = []
        for each in some:
            if every and each.first < every[0].first + len(parts):  # the next range of the file
                if each.parts[0].source.format not in COLUMNAR:
                    each = each.behind(every[-1].next_row - 1)
                parts[-1] = parts[-1].followed_by(each.parts[0])
            else:
                parts += each.parts
            every.append(each)
        starts = np.cumsum([0, *(each.documents for each in every)]).tolist()
        return cls(
            every[0].first,
            parts,
            BlockFindings.joined(
                [each.contents.behind(start) for each, start in zip(every, starts, strict=False)]
            ),
            sum(each.skipped for each in every),
            [reason for each in every for reason in each.reasons][:REASONS],
            every[-1].next_row,
        )

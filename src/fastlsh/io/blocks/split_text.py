"""Plain text of several documents: one in each line, or in each paragraph."""

from contextlib import suppress
from itertools import compress
from typing import Any

import numpy as np

from fastlsh._kernels import TextColumn
from fastlsh.errors import InputError
from fastlsh.io.blocks.added import json_tails
from fastlsh.io.blocks.checks import Bytes
from fastlsh.io.blocks.contract import AddedColumns, BlockExtent, Flags, NewTexts
from fastlsh.io.blocks.cutting import Format
from fastlsh.io.blocks.lines import CR, LF, Indices, Lines
from fastlsh.io.blocks.plain import as_json
from fastlsh.io.blocks.rows import Parsed, RowBlock

_BLANK = np.isin(np.arange(256), list(b" \t\r\n\v\f"))
"""Bytes of which blank lines consist."""


class SplitText(Format):
    """The formats ``lines`` and ``paragraphs``; blank lines are no documents, but divide them."""

    def split(self, data: Bytes, last: bool) -> Lines:
        """Find the lines; or the paragraphs, each with the blank lines behind it."""
        lines = super().split(data, last)
        return lines if self.source.format == "lines" else _paragraphs(data, lines, last)

    def block(
        self, extent: BlockExtent, data: Bytes, lines: Lines, bad: Indices | None
    ) -> "SplitBlock":
        """Make a block."""
        return SplitBlock(self.source, self.head, extent, data, lines, bad)


def _with_ink(data: Bytes, lines: Lines) -> Flags:
    """Return whether each line has more than blanks; there is a line."""
    inked: Flags = np.logical_or.reduceat(~_BLANK[data[: lines.end]], lines.bounds[:-1])
    return inked


def _paragraphs(data: Bytes, lines: Lines, last: bool) -> Lines:
    if not len(lines):
        return lines
    filled = _with_ink(data, lines)
    # A paragraph begins where a line with ink follows one without; the first, at the first line.
    begins = np.flatnonzero(filled & ~np.concatenate(([False], filled[:-1])))
    begins = np.concatenate(([0], begins[1:])).astype(np.int64)
    count = lines.count
    if last:
        bounds = np.append(lines.bounds[begins], lines.end)
    else:  # the last one may go on
        bounds, count = lines.bounds[begins], int(begins[-1])
        begins = begins[:-1]
    return Lines(bounds, begins, count)


class SplitBlock(RowBlock):
    """Some lines or paragraphs; an id is ``FILE:ROW``."""

    _delimiter = "\n"

    def _is_refused(self, rows: Indices) -> bool:
        return self.source.format == "paragraphs"

    def rows(
        self, kept: Flags, texts: NewTexts | None = None, added: AddedColumns | None = None
    ) -> memoryview | bytes:
        """Return rows as they came; a blank line ends each paragraph. See `Block`."""
        found = super().rows(kept, texts)
        if self.source.format == "lines" or not len(found):
            return found
        tail = bytes(found[-4:])
        if tail.endswith((b"\n\n", b"\n\r\n")):
            return found
        end = b"\r\n" if tail.endswith(b"\r\n") else self.head.row_end or b"\n"
        return bytes(found) + self.head.missing_end(found) + end

    def as_json(self, kept: Flags, added: AddedColumns | None = None) -> bytes:
        """Return documents as lines of JSON."""
        found = self.documents(kept)
        numbers = found.rows.tolist()
        tails = [b""] * len(kept) if added is None else json_tails(added, plain=False)
        chosen = compress(tails, kept.tolist())
        return b"".join(
            as_json(f"{self.source.path}:{number}", text, tail)
            for number, text, tail in zip(numbers, found.texts, chosen, strict=True)
        )

    def _not_blank(self) -> Indices:
        if not len(self._lines):
            return np.empty(0, np.int64)
        return np.flatnonzero(_with_ink(self._data, self._lines))

    def _parse(self, rows: Indices) -> Parsed:
        if self.source.format == "lines":
            with suppress(UnicodeDecodeError):
                str(self._data.data, "utf-8")
                return Parsed(self._whole_lines(rows), None, [])
        return self._one_by_one(rows)

    def _whole_lines(self, rows: Indices) -> TextColumn:
        """Return lines as they lie in the block, without their ends."""
        data, bounds = self._data, self._lines.bounds
        starts, stops = bounds[rows], bounds[rows + 1]
        ended = data[stops - 1] == LF
        stops -= ended
        stops -= ended & (stops > starts) & (data[stops - 1] == CR)
        return TextColumn(data, starts, stops - starts)

    def _one_by_one(self, rows: Indices) -> Parsed:
        texts: list[Any] = []
        bad: list[InputError] = []
        for number, raw in self._records(rows):
            try:
                self.check(number, raw)
                texts.append(self._text(raw))
            except InputError as error:  # noqa: PERF203
                bad.append(error)
        return Parsed(texts, None, bad)

    def _text(self, raw: str) -> str:
        if self.source.format == "lines":
            return raw.removesuffix("\r\n" if raw.endswith("\r\n") else "\n")
        lines = raw.split("\n")
        ended = not lines[-1].strip(" \t\r\v\f")
        while not lines[-1].strip(" \t\r\v\f"):
            lines.pop()
        while not lines[0].strip(" \t\r\v\f"):  # those at the beginning of the file
            lines.pop(0)
        return "\n".join(lines).removesuffix("\r" if ended else "")

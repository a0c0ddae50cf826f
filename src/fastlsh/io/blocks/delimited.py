"""CSV and TSV, and plain text of several documents: rows cut by a delimiter."""

import csv
import io
import math
from collections.abc import Iterable
from contextlib import suppress
from itertools import compress
from typing import Any

import numpy as np

from fastlsh._kernels.rows._rows import COLUMNS, delimited_fields
from fastlsh._kernels.text._texts import TextColumn
from fastlsh.errors import InputError
from fastlsh.io.blocks.contract import AddedColumns, BlockExtent, Bytes, Flags, NewTexts
from fastlsh.io.blocks.cutting import Format
from fastlsh.io.blocks.lines import (
    CR,
    ENDS,
    LF,
    Indices,
    Lines,
    as_json,
    delimited_lines,
    fields_of_any_size,
)
from fastlsh.io.blocks.rows import Parsed, RowBlock
from fastlsh.io.blocks.writing import delimited_tails, fields_as_row, json_tails
from fastlsh.io.record_texts import joined_texts
from fastlsh.io.sources import Source

Fields = list[str] | csv.Error
ADVICE = "; quotes=False takes quotes as text"


class DelimitedColumns:
    """The columns of a file, once they are known.

    Parameters
    ----------
    source : Source
        The file.

    Attributes
    ----------
    names : tuple of str
        All of them.
    texts : list of int
        Which are the text.
    id : int or None
        Which they are.
    numbers, labels : dict of str to int
        Which the columns of `Options.counts` and `Options.labels` are.
    priority : int or None
        Which it is, if it is there; `absent` says so if it is not.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names: tuple[str, ...] | None = None
        self.texts: list[int] = []
        self.id: int | None = None
        self.numbers: dict[str, int] = {}
        self.priority: int | None = None
        self.absent = ""
        self.labels: dict[str, int] = {}

    @property
    def width(self) -> int:
        """How many there are."""
        return len(self.names or ())

    def choose(self, fields: Fields, row: int) -> None:
        """Name the columns after the header, or by numbers as many as a row has."""
        options = self.source.options
        names = self._fields(fields, row)
        if not options.header:
            names = [str(i + 1) for i in range(len(names))]
        default_text = "text" if options.header else names[-1]
        default_id = "id" if options.header else "1"
        self.names = tuple(names)
        self.texts = [self._column(row, name) for name in options.texts(default_text)]
        if options.id is not None:
            self.id = self._column(row, options.id)
        elif default_id in names and (
            options.header or default_id not in {names[i] for i in self.texts}
        ):
            self.id = self._column(row, default_id)
        self.numbers = {name: self._column(row, name) for name in options.counts}
        optional = filter(names.__contains__, self.source.optional)
        self.labels = {name: self._column(row, name) for name in (*options.labels, *optional)}
        if options.priority in names:
            self.priority = self._column(row, options.priority)
        elif options.priority is not None:
            self.absent = self.source.missing("column", options.priority, names)

    def check(self, fields: Fields, row: int) -> list[str]:
        """Return the fields of a row, or raise."""
        fields = self._fields(fields, row)
        if len(fields) != self.width:
            raise self.source.error(f"{len(fields)} fields instead of {self.width}", row)
        for name, at in self.numbers.items():
            self.number(fields[at], name, row)
        return fields

    def text(self, fields: list[str]) -> str:
        """Return the text of a row."""
        if len(self.texts) == 1:
            return fields[self.texts[0]]
        return joined_texts((fields[i] for i in self.texts), self.source.options.join_with)

    def number(self, field: str, name: str, row: int | None) -> int | float:
        """Return a field as a number."""
        try:
            number = float(field)
            if "_" in field or math.isnan(number):
                raise ValueError
            plain = field.strip().lstrip("+-")
            exact = int(field) if plain.isdecimal() else number
        except ValueError:
            raise self.source.error(f"{name!r} is {field[:40]!r}, not a number", row) from None
        if isinstance(exact, int) and not -(1 << 63) <= exact < 1 << 63:
            raise self.source.error(f"{name!r} is too large a number", row)
        return exact

    def _fields(self, fields: Fields, row: int) -> list[str]:
        if isinstance(fields, list):
            return fields
        advice = ADVICE if "expected after" in str(fields) else ""
        raise self.source.error(str(fields) + advice, row)

    def _column(self, row: int, name: str) -> int:
        names = self.names or ()
        count = names.count(name)
        if count > 1:
            raise self.source.error(f"{count} columns are named {name!r}", row)
        if count == 0:
            raise self.source.error(self.source.missing("column", name, names), row)
        return names.index(name)


class Delimited(Format):
    """The formats `.csv` and `.tsv`.

    Without a header the columns are named ``1``, ``2``...: the text is the last one, the id the
    first if there are two or more.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source, (*ENDS, b"\r"))
        options = source.options
        self.begun = False
        self.columns = DelimitedColumns(source)
        self.delimiter = source.delimiter
        self.quoting: Any = csv.QUOTE_MINIMAL if options.quotes else csv.QUOTE_NONE

    def split(self, data: Bytes, last: bool) -> Lines:
        """Find the rows."""
        return delimited_lines(data, last, self.delimiter, self.source.options.quotes)

    def begin(self, data: Bytes, lines: Lines, row: int) -> int:
        """Take the names of the columns from the header, or count them in the first good row."""
        header = self.source.options.header
        block = self.block(BlockExtent(0, 0, 0, row, 0), data, lines, None)
        for index in block.filled.tolist():
            ((number, raw),) = block.records(np.array([index]))
            fields = self.fields_of_row(raw)
            if header:
                block.check(number, raw)
            elif isinstance(fields, csv.Error):
                continue
            self.columns.choose(fields, number)
            self.head.layout = self.columns.names
            self.begun = True
            if not header:
                return 0
            self.head.header = raw.encode()
            return int(index) + 1
        return len(lines) if header else 0

    def end(self, rest: Bytes, lines: Lines, row: int) -> None:
        """Raise if there is no header, or a quote is open."""
        if lines.is_open:  # it took all rows that follow
            raise self.source.error(f"a quote is never closed{ADVICE}", row)
        if self.source.options.header and not self.begun:
            raise self.source.error("no header")

    def fields(self, text: str) -> list[list[str]]:
        """Return the fields of rows; of blank lines none, or an empty list."""
        lines = io.StringIO(text, newline="")
        with fields_of_any_size():
            return list(
                csv.reader(lines, delimiter=self.delimiter, quoting=self.quoting, strict=True)
            )

    def fields_of_row(self, raw: str) -> Fields:
        """Return the fields of one row, or what the csv module says against it."""
        try:
            return self.fields(raw)[0]
        except csv.Error as error:
            return error

    def block(
        self, extent: BlockExtent, data: Bytes, lines: Lines, bad: Indices | None
    ) -> "DelimitedBlock":
        """Make a block."""
        return DelimitedBlock(self, extent, data, lines, bad)


class DelimitedBlock(RowBlock):
    """Some rows."""

    def __init__(
        self, kind: Delimited, extent: BlockExtent, data: Bytes, lines: Lines, bad: Indices | None
    ) -> None:
        super().__init__(kind.source, kind.head, extent, data, lines, bad)
        self._kind = kind
        self._delimiter = kind.delimiter

    def _not_blank(self) -> Indices:
        bounds, data = self._lines.bounds, self._data
        start, last = bounds[:-1], bounds[1:] - 1
        # What ends a line stands alone on a blank one: one byte of it, or both.
        alone = (last == start) & ((data[start] == LF) | (data[start] == CR))
        both = (last == start + 1) & (data[start] == CR) & (data[last] == LF)
        return np.flatnonzero(~(alone | both))

    def _parse(self, rows: Indices) -> Parsed:
        return self._by_kernel(rows) or self._one_by_one(rows)

    def _is_refused(self, rows: Indices) -> bool:
        # Texts of several columns are joined as objects of Python.
        return len(self._kind.columns.texts) > 1 or self._by_kernel(rows) is None

    def _by_kernel(self, rows: Indices) -> Parsed | None:
        """Parse rows without an object for each field; None if one of them is bad or unusual."""
        columns, kind = self._kind.columns, self._kind
        places = (*columns.texts, *columns.numbers.values(), *columns.labels.values())
        places += tuple(at for at in (columns.id, columns.priority) if at is not None)
        if not columns.texts or len(places) > COLUMNS or not "\0" < kind.delimiter < "\x80":
            return None  # the columns are not known yet, or the kernel does not read them
        bounds, members = self._lines.bounds, np.zeros((2 * len(places), len(rows)), np.int64)
        out = np.empty(int((bounds[rows + 1] - bounds[rows]).sum()), np.uint8)
        used, is_ascii = delimited_fields(
            self._data, bounds, rows, kind.delimiter.encode(), self.source.options.quotes,
            columns.width, places, out, members,
        )  # fmt: skip
        if used < 0:
            return None
        if 2 * used < len(out):
            out = out[:used].copy()
        fields = {at: TextColumn(out, *members[2 * i : 2 * i + 2]) for i, at in enumerate(places)}
        try:
            if not is_ascii:
                str(self._data.data, "utf-8")
            texts: Any = fields[columns.texts[0]]
            if len(columns.texts) > 1:
                values = zip(*(fields[at].to_pylist() for at in columns.texts), strict=True)
                texts = [joined_texts(row, self.source.options.join_with) for row in values]
            return Parsed(
                texts,
                None if columns.id is None else fields[columns.id],
                [],
                {n: self._numbers(fields[at].to_pylist(), n) for n, at in columns.numbers.items()},
                {name: fields[at].to_pylist() for name, at in columns.labels.items()},
                None if columns.priority is None else fields[columns.priority],
                columns.absent,
            )
        except (UnicodeDecodeError, InputError):
            return None

    def _columns_of(self, rows: list[list[str]], bad: list[InputError]) -> Parsed:
        """Return the columns of good rows, given their fields."""
        columns = self._kind.columns
        return Parsed(
            [columns.text(fields) for fields in rows],
            None if columns.id is None else [fields[columns.id] for fields in rows],
            bad,
            {
                name: self._numbers((fields[at] for fields in rows), name)
                for name, at in columns.numbers.items()
            },
            {n: [fields[at] for fields in rows] for n, at in columns.labels.items()},
            None if columns.priority is None else [fields[columns.priority] for fields in rows],
            columns.absent,
        )

    def _numbers(self, fields: Iterable[Any], name: str) -> list[int | float]:
        return [self._kind.columns.number(field, name, 0) for field in fields]

    def _values(
        self, rows: Indices, texts: list[str], ends: Indices
    ) -> tuple[Indices, list[bytes]]:
        kind, values = self._kind, []
        starts, stops = self._lines.bounds[rows], self._lines.bounds[rows + 1]
        each = zip(self.records(rows), texts, (stops - ends).tolist(), strict=True)
        for (number, raw), text, behind in each:
            fields = kind.fields(raw)[0]
            fields[kind.columns.texts[0]] = text
            try:
                row = fields_as_row(fields, raw, kind.delimiter, self.source.options.quotes)
            except ValueError as error:
                raise self.source.error(str(error), number) from None
            encoded = row.encode()
            values.append(encoded[: len(encoded) - behind])
        return np.column_stack([starts, ends]), values

    def _tails(self, added: AddedColumns, good: Indices) -> tuple[list[bytes], Indices]:
        starts, ends = self._lines.bounds[good], self._lines.bounds[good + 1]
        while (more := (ends > starts) & np.isin(self._data[ends - 1], (CR, LF))).any():
            ends = ends - more
        return delimited_tails(added, self.source), ends

    def _one_by_one(self, rows: Indices) -> Parsed:
        kind = self._kind

        def fields(number: int, raw: str) -> list[str]:
            return kind.columns.check(kind.fields_of_row(raw), number)

        parsed = [*self._each(rows, fields)]
        good = [row for row in parsed if not isinstance(row, InputError)]
        return self._columns_of(good, [row for row in parsed if isinstance(row, InputError)])


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
        written = super().rows(kept, texts)
        if self.source.format == "lines" or not len(written):
            return written
        tail = bytes(written[-4:])
        if tail.endswith((b"\n\n", b"\n\r\n")):
            return written
        end = b"\r\n" if tail.endswith(b"\r\n") else self.head.row_end or b"\n"
        return bytes(written) + self.head.missing_end(written) + end

    def as_json(self, kept: Flags, added: AddedColumns | None = None) -> bytes:
        """Return documents as lines of JSON."""
        documents = self.documents(kept)
        numbers = documents.rows.tolist()
        tails = [b""] * len(kept) if added is None else json_tails(added, plain=False)
        chosen = compress(tails, kept.tolist())
        return b"".join(
            as_json(f"{self.source.path}:{number}", text, tail)
            for number, text, tail in zip(numbers, documents.texts, chosen, strict=True)
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
        parsed = [*self._each(rows, lambda _, raw: self._text(raw))]
        texts: list[str | None] = [text for text in parsed if isinstance(text, str)]
        return Parsed(texts, None, [row for row in parsed if isinstance(row, InputError)])

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

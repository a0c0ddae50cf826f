"""CSV and TSV; a row may span lines, blank lines are no rows."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fastlsh._kernels import COLUMNS, TextColumn, delimited_fields
from fastlsh.errors import InputError
from fastlsh.io.blocks.added import delimited_tails
from fastlsh.io.blocks.checks import Bytes
from fastlsh.io.blocks.contract import AddedColumns, BlockExtent
from fastlsh.io.blocks.csv_columns import ADVICE, Columns, Fields
from fastlsh.io.blocks.cutting import Format
from fastlsh.io.blocks.lines import CR, ENDS, LF, Indices, Lines, delimited, fields_of_any_size
from fastlsh.io.blocks.new_texts import fields_as_row
from fastlsh.io.blocks.rows import Parsed, RowBlock
from fastlsh.io.sources import Source


class Delimited(Format):
    """The formats `.csv` and `.tsv`.

    Without a header the columns are named ``1``, ``2``...: the text is the last one, the id the
    first if there are two or more.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source, (*ENDS, b"\r"))
        options = source.options
        self.begun = False
        self.columns = Columns(source)
        self.delimiter = source.delimiter
        self.quoting: Any = csv.QUOTE_MINIMAL if options.quotes else csv.QUOTE_NONE
        self._split = delimited(self.delimiter, options.quotes)

    def split(self, data: Bytes, last: bool) -> Lines:
        """Find the rows."""
        return self._split(data, last)

    def begin(self, data: Bytes, lines: Lines, row: int) -> int:
        """Take the names of the columns from the header, or count them in the first good row."""
        header = self.source.options.header
        block = self.block(BlockExtent(0, 0, 0, row, 0), data, lines, None)
        for index in block.filled.tolist():
            number, raw, fields = next(block.parsed(np.array([index])))
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

    def fields(self, text: str, *, plain: bool = False) -> list[list[str]]:
        """Return the fields of rows; of blank lines none, or an empty list.

        Parameters
        ----------
        text
            The rows.
        plain
            Whether each line is a row, and ends with a line feed.
        """
        lines = text.split("\n") if plain else io.StringIO(text, newline="")
        with fields_of_any_size():
            return list(
                csv.reader(lines, delimiter=self.delimiter, quoting=self.quoting, strict=True)
            )

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
        return self._by_kernel(rows) or self._together(rows) or self._one_by_one(rows)

    def _is_refused(self, rows: Indices) -> bool:
        return self._by_kernel(rows) is None

    def _by_kernel(self, rows: Indices) -> Parsed | None:
        """Parse rows without an object for each field; None if one of them is bad or unusual."""
        columns, kind = self._kind.columns, self._kind
        wanted = (*columns.texts, *columns.numbers.values(), *columns.labels.values())
        wanted += tuple(at for at in (columns.id, columns.priority) if at is not None)
        if len(columns.texts) != 1 or len(wanted) > COLUMNS or not "\0" < kind.delimiter < "\x80":
            return None
        bounds, members = self._lines.bounds, np.zeros((2 * len(wanted), len(rows)), np.int64)
        out = np.empty(int((bounds[rows + 1] - bounds[rows]).sum()), np.uint8)
        used, is_ascii = delimited_fields(
            self._data, bounds, rows, kind.delimiter.encode(), self.source.options.quotes,
            columns.width, wanted, out, members,
        )  # fmt: skip
        if used < 0:
            return None
        if 2 * used < len(out):
            out = out[:used].copy()
        fields = {at: TextColumn(out, *members[2 * i : 2 * i + 2]) for i, at in enumerate(wanted)}
        try:
            if not is_ascii:
                str(self._data.data, "utf-8")
            return Parsed(
                fields[columns.texts[0]],
                None if columns.id is None else fields[columns.id],
                [],
                {n: self._numbers(fields[at].to_pylist(), n) for n, at in columns.numbers.items()},
                {name: fields[at].to_pylist() for name, at in columns.labels.items()},
                None if columns.priority is None else fields[columns.priority],
                columns.absent,
            )
        except (UnicodeDecodeError, InputError):
            return None

    def _together(self, rows: Indices) -> Parsed | None:
        """Parse rows at once; None if one of them is bad."""
        columns = self._kind.columns
        try:
            text = self._text(rows)
            found = [fields for fields in self._reader(text) if fields]
        except (UnicodeDecodeError, csv.Error):
            return None
        if len(found) != len(rows) or set(map(len, found)) != {columns.width}:
            return None
        try:
            return self._columns_of(found, [])
        except InputError:
            return None

    def _columns_of(self, found: list[list[str]], bad: list[InputError]) -> Parsed:
        """Return the columns of good rows, given their fields."""
        columns = self._kind.columns
        return Parsed(
            [columns.text(fields) for fields in found],
            None if columns.id is None else [fields[columns.id] for fields in found],
            bad,
            {
                name: self._numbers((fields[at] for fields in found), name)
                for name, at in columns.numbers.items()
            },
            {n: [fields[at] for fields in found] for n, at in columns.labels.items()},
            None if columns.priority is None else [fields[columns.priority] for fields in found],
            columns.absent,
        )

    def _numbers(self, fields: Iterable[Any], name: str) -> list[int | float]:
        return [self._kind.columns.number(field, name, 0) for field in fields]

    def _text(self, rows: Indices) -> str:
        view, bounds = self._data.data, self._lines.bounds
        if len(rows) == len(self.filled):
            return str(view, "utf-8")
        spans = zip(bounds[rows].tolist(), bounds[rows + 1].tolist(), strict=True)
        return str(b"".join([view[start:stop] for start, stop in spans]), "utf-8")

    def _reader(self, text: str) -> list[list[str]]:
        plain = self._lines.count == len(self._lines) and "\r" not in text
        return self._kind.fields(text, plain=plain)

    def _values(
        self, rows: Indices, texts: list[str], ends: Indices
    ) -> tuple[Indices, list[bytes]]:
        kind, values = self._kind, []
        starts, stops = self._lines.bounds[rows], self._lines.bounds[rows + 1]
        each = zip(self._records(rows), texts, (stops - ends).tolist(), strict=True)
        for (_, raw), text, behind in each:
            fields = self._reader(raw)[0]
            fields[kind.columns.texts[0]] = text
            row = fields_as_row(fields, raw, kind.delimiter, self.source.options.quotes).encode()
            values.append(row[: len(row) - behind])
        return np.column_stack([starts, ends]), values

    def _tails(self, added: AddedColumns, good: Indices) -> tuple[list[bytes], Indices]:
        starts, ends = self._lines.bounds[good], self._lines.bounds[good + 1]
        while (more := (ends > starts) & np.isin(self._data[ends - 1], (CR, LF))).any():
            ends = ends - more
        return delimited_tails(added, self.source), ends

    def _one_by_one(self, rows: Indices) -> Parsed:
        found = []
        bad = []
        for number, raw, fields in self.parsed(rows):
            try:
                self.check(number, raw)
                found.append(self._kind.columns.check(fields, number))
            except InputError as error:  # noqa: PERF203
                bad.append(error)
        return self._columns_of(found, bad)

    def parsed(self, rows: Indices) -> Iterator[tuple[int, str, Fields]]:
        """Yield the numbers, texts and fields of rows, one by one."""
        for number, raw in self._records(rows):
            try:
                yield number, raw, self._reader(raw)[0]
            except csv.Error as error:  # noqa: PERF203
                yield number, raw, error

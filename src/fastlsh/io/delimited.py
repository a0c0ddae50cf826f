"""CSV and TSV."""

import csv
from collections.abc import Iterator

from fastlsh.io.streams import Record, TextReader

# The csv module keeps a limit for the whole process; this fits a C long everywhere.
_FIELD_LIMIT = 2**31 - 1
_ADVICE = "; --no-quotes takes quotes as text"


class Delimited(TextReader):
    """Reader of ``.csv`` and ``.tsv``; a record may span lines, blank lines are no rows.

    Without a header the columns are named ``1``, ``2``...: the text is the last one, the id the
    first if there are two or more.
    """

    newline = ""  # line ends inside quotes are text and come unchanged

    def records(self) -> Iterator[Record]:
        """Yield the rows below the header."""
        options = self.source.options
        records = self._split()
        if options.header:
            head = next(records, None)
            if head is None:
                raise self.source.error("no header")
            self.check(head)
            self._choose(head, self._fields(head))
            self.header = head.raw
        for record in records:
            if self.layout is None and isinstance(record.fields, list):
                self._choose(record, [str(i + 1) for i in range(len(record.fields))])
            yield record

    def parse(self, record: Record) -> tuple[str, str | None]:
        """Return the text and the id of a row; the id is None if there is no such column."""
        self.check(record)
        fields = self._fields(record)
        width = len(self.layout or ())
        if len(fields) != width:
            raise self.source.error(f"{len(fields)} fields instead of {width}", record.row)
        return fields[self._text], None if self._id is None else fields[self._id]

    def _split(self) -> Iterator[Record]:
        options = self.source.options
        seen: list[str] = []
        row = 1

        def lines() -> Iterator[str]:
            for line in self.lines():
                seen.append(line)
                yield line

        reader = csv.reader(
            lines(),
            delimiter=options.delimiter or ("\t" if self.source.format == "tsv" else ","),
            quoting=csv.QUOTE_MINIMAL if options.quotes else csv.QUOTE_NONE,
            strict=True,
        )
        while True:
            limit = csv.field_size_limit(_FIELD_LIMIT)
            fields: list[str] | Exception
            try:
                fields = next(reader)
            except csv.Error as error:
                if "unexpected end" in str(error):  # it took all rows that follow
                    raise self.source.error(f"a quote is never closed{_ADVICE}", row) from None
                fields = error
            except StopIteration:
                return
            finally:
                csv.field_size_limit(limit)
            if fields:
                yield Record(row, "".join(seen), fields)
            row += len(seen)
            seen.clear()

    def _fields(self, record: Record) -> list[str]:
        if isinstance(record.fields, list):
            return record.fields
        reason = str(record.fields)
        advice = _ADVICE if "expected after" in reason else ""
        raise self.source.error(reason + advice, record.row)

    def _choose(self, record: Record, names: list[str]) -> None:
        options = self.source.options
        default_text = "text" if options.header else names[-1]
        default_id = "id" if options.header else "1"
        self.layout = tuple(names)
        self._text = self._column(record, options.text or default_text)
        if options.id is not None:
            self._id: int | None = self._column(record, options.id)
        elif default_id in names and (options.header or names[self._text] != default_id):
            self._id = self._column(record, default_id)
        else:
            self._id = None

    def _column(self, record: Record, name: str) -> int:
        names = self.layout or ()
        count = names.count(name)
        if count > 1:
            raise self.source.error(f"{count} columns are named {name!r}", record.row)
        if count == 0:
            there = ", ".join(map(repr, names))
            raise self.source.error(f"no column {name!r} (there is: {there})", record.row)
        return names.index(name)

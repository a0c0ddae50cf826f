"""Which fields of CSV are the text, the id, numbers and labels."""

import csv
import math

from fastlsh.io.record_texts import joined
from fastlsh.io.sources import Source

Fields = list[str] | csv.Error
ADVICE = "; quotes=False takes quotes as text"


class Columns:
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
        there = filter(names.__contains__, self.source.optional)
        self.labels = {name: self._column(row, name) for name in (*options.labels, *there)}
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
        return joined((fields[i] for i in self.texts), self.source.options.join_with)

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

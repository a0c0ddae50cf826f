"""Rows of CSV, with the same bytes on every Python."""

import csv
import io
from collections.abc import Sequence


def csv_text(rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    """Return rows of CSV, each with a line feed at its end; cells are quoted where they must be."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    if "\r" not in text.getvalue():
        return text.getvalue()
    # Not every Python quotes a carriage return that does not end its lines.
    return "".join([csv_row(cells, delimiter) for cells in rows])


def csv_row(cells: Sequence[str], delimiter: str = ",") -> str:
    """Return a row as `csv_text` does, in less memory than the csv module takes for a long cell."""
    every = [*cells] == [""] or any("\r" in cell for cell in cells)
    special = delimiter, '"', "\n"
    parts: list[str] = []
    for cell in cells:
        if every or any(mark in cell for mark in special):
            parts += ('"', cell.replace('"', '""'), '"', delimiter)
        else:
            parts += (cell, delimiter)
    parts[-1:] = "\n"
    return "".join(parts)

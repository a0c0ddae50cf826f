"""Rows of CSV, with the same bytes on every Python."""

import csv
import io
from collections.abc import Sequence


def csv_text(rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    """Return rows of CSV, each with a line feed at its end; cells are quoted where they must be."""
    text = io.StringIO(newline="")
    plain = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    plain.writerows(rows)
    if "\r" not in text.getvalue():
        return text.getvalue()
    # Not every Python quotes a carriage return that does not end its lines.
    text.seek(0)
    text.truncate()
    quoted = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
    return text.getvalue()

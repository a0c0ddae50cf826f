"""CSV has the same bytes on every Python, and is read again as it was."""

import csv
import io

from hypothesis import example, given
from hypothesis import strategies as st

from fastlsh.io.table_columns import csv_row, csv_text

CELLS = st.text(st.sampled_from("a, \"'\r\n\t;é"), max_size=4)
ROWS = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n)))


@given(ROWS, st.sampled_from(",;\t"))
@example([["a\rb", "c"], ["d", "e"]], ",")
def test_it_is_read_as_it_was(rows, delimiter):
    text = csv_text(rows, delimiter)
    assert text == "".join(csv_row(cells, delimiter) for cells in rows)
    assert [*csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)] == rows


def test_a_carriage_return_is_quoted():
    assert csv_text([["a\rb", "c"], ["d", "e f"], ['g"', ""]]) == '"a\rb","c"\nd,e f\n"g""",\n'

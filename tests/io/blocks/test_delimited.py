"""CSV and plain text in blocks: what Python takes apart line by line, wherever it is cut."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastlsh.io import InputError, expand
from fastlsh.io.blocks.reading import read_blocks, reread_blocks
from fastlsh.io.sources import Options
from rows_oracle import csv_rows
from strategies import share

PIECES = [
    b"a", b"b", b",", b",", b'"', b'"', b'""', b"\n", b"\n", b"\r\n", b"\r", b" ", b"\xc3\xa9",
    b"\xff", b"\t", b'"c,d"', b'"e\nf"', b'"g""h"', b',"', b'",', b'\n"', b'"\n', b"\x0b",
]  # fmt: skip
FILES = st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("blocks") / "a.csv"


def of(path, data, **options):
    path.write_bytes(data)
    return expand(path, options=Options(**options))[0]


def expected(data, quotes, delimiter):
    """Return (row, text, id, raw) of the good rows, the bad rows, and what ends the file."""
    good, bad, width, end = [], [], None, None
    try:
        for row, raw, fields in csv_rows(data, delimiter=delimiter, quotes=quotes):
            if width is None and isinstance(fields, list):
                width = len(fields)
            text = raw.isascii() or b"\xff" not in raw.encode("utf-8", "surrogateescape")
            if isinstance(fields, list) and len(fields) == width and text:
                identity = fields[0] if width > 1 else None
                good.append((row, fields[-1], identity, raw))
            else:
                bad.append(row)
    except ValueError as error:
        end = str(error).partition(":")[0]
    return good, bad, end


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize(("quotes", "delimiter"), [(True, ","), (False, ","), (True, "\xe9")])
@share(2)
@given(data=FILES)
@example(data=b'a,b\n"c\n"d"e\nf,g\n')
@example(data=b'5" x,b\n6" y,c\n"z",d\n')
@example(data=b'"a\n"",b",c\n"d')
@example(data=b'a,b\r"c\r\n",d\re,f')
def test_as_row_by_row(path, size, quotes, delimiter, data):
    source = of(path, data, header=False, quotes=quotes, delimiter=delimiter)
    rows, bad, end = expected(data, quotes, delimiter)
    good, refused, extents, ended = [], [], [], None
    try:
        for block in read_blocks(source, size):
            documents = block.documents()
            ids = documents.ids or [None] * len(documents)
            good += zip(documents.rows.tolist(), documents.texts, ids, strict=True)
            refused += [error.row for error in documents.bad]
            extents.append((block.extent, len(documents)))
    except InputError as error:
        ended = f"row {error.row}"
    assert (good, refused, ended) == ([row[:3] for row in rows], bad, end)
    raws = []
    for (_, count), block in zip(
        extents, reread_blocks(source, [p for p, _ in extents], bad), strict=True
    ):
        raws.append(bytes(block.rows(np.ones(count, bool))))
        assert block.documents(np.ones(count, bool)).texts == [
            row[1] for row in rows[sum(n for _, n in extents[: len(raws) - 1]) :][:count]
        ]
    assert b"".join(raws) == "".join(row[3] for row in rows).encode()


def test_a_header_is_of_the_first_row_that_is_not_blank(path):
    for size in (1, 1 << 20):
        blocks = list(read_blocks(of(path, b'\n\n"id",text\n1,a\n'), size))
        assert blocks[0].head.layout == ("id", "text")
        assert blocks[0].head.header == b'"id",text\n'
        assert [each for block in blocks for each in block.documents().ids] == ["1"]
        assert blocks[0].extent.row == 4


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("1_0", "'q' is '1_0', neither a number nor a date"),
        ("x", "'q' is 'x', neither a number nor a date"),
        ("2024-02-30", "'q' is '2024-02-30', neither a number nor a date"),
        ("-" + "9" * 54, "'q' is too large a number: priorities have at most 53 digits"),
    ],
)
def test_priority(path, field, reason):
    data = f"q,text\n1,a\n{field},b\n-2,c\n"
    (block,) = read_blocks(of(path, data.encode(), priority="q"))
    documents = block.documents()
    assert documents.numbers["q"].tolist() == [1, -2]
    assert [error.reason for error in documents.bad] == [reason]
    (block,) = read_blocks(of(path, b"q,text\n1,a\n2.5,c\n", priority="q"))
    assert block.documents().numbers["q"].tolist() == [1.0, 2.5]
    data = b"q,text\n1,a\n,b\nnan,c\n"
    (block,) = read_blocks(of(path, data, priority="q"))
    assert np.isnan(block.documents().numbers["q"]).tolist() == [False, True, True]
    assert block.documents().priorities == (3, 2, "numbers", "")
    (block,) = read_blocks(of(path, data, priority="z"))
    assert np.isnan(block.documents().numbers["z"]).all()
    said = "no column 'z' (there is: 'q', 'text')"
    assert block.documents().priorities == (3, 3, "", said)
    with pytest.raises(InputError, match="no column 'z'"):
        list(read_blocks(of(path, data, counts=("z",))))


def test_a_limit_of_the_csv_module_is_lifted_and_put_back(path):
    import csv

    data = b'id,text\n1,"' + b"x" * 200_000 + b'"\n'
    (block,) = read_blocks(of(path, data))
    assert len(block.documents().texts[0]) == 200_000
    assert csv.field_size_limit() == 131_072


# --- lines and paragraphs of plain text

BLANKS = " \t\r\v\f"


def split_documents(data, split, path, size):
    """Return the row and the text of each document, and the rows that are bad."""
    source = of(path.with_suffix(".txt"), data, split=split)
    found = [block.documents() for block in read_blocks(source, size)]
    good = [pair for each in found for pair in zip(each.rows.tolist(), each.texts, strict=True)]
    return good, [error.row for each in found for error in each.bad]


@given(st.text(st.sampled_from("ab\xe9 \t\r\v\n"), max_size=30), st.sampled_from([1, 7, 1 << 20]))
def test_lines(path, text, size):
    *lines, last = text.split("\n")  # a return that no line feed follows is text
    lines = [*(line.removesuffix("\r") for line in lines), last]
    expected = [(row, line) for row, line in enumerate(lines, 1) if line.strip(BLANKS)]
    assert split_documents(text.encode(), "lines", path, size) == (expected, [])


@given(st.text(st.sampled_from("ab\xe9 \t\r\v\n"), max_size=30), st.sampled_from([1, 7, 1 << 20]))
def test_paragraphs(path, text, size):
    lines = text.split("\n")
    filled = groupby(lines, lambda line: bool(line.strip(BLANKS)))
    expected = ["\n".join(group).removesuffix("\r") for has_ink, group in filled if has_ink]
    if lines[-1].strip(BLANKS) and text.endswith("\r"):  # which no line feed follows
        expected[-1] += "\r"
    good, bad = split_documents(text.encode(), "paragraphs", path, size)
    assert ([text for _, text in good], bad) == (expected, [])


def test_a_line_that_is_no_text_is_bad(path):
    good, bad = split_documents(b"one\nt\xffo\nthr\xc3\xa9e\n", "lines", path, 1 << 20)
    assert good == [(1, "one"), (3, "thr\xe9e")]
    assert bad == [2]

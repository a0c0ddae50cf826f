"""Lines and paragraphs of plain text, as Python takes them apart."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.io import expand
from fastlsh.io.blocks.reading import read_blocks
from fastlsh.io.sources import ReadOptions

BLANKS = " \t\r\v\f"


def documents(data, split, put_in, size):
    """Return the row and the text of each document, and the rows that are bad."""
    (put_in / "a.txt").write_bytes(data)
    (source,) = expand([put_in / "a.txt"], None, ReadOptions(split=split))
    found = [block.documents() for block in read_blocks(source, size)]
    good = [pair for each in found for pair in zip(each.rows.tolist(), each.texts, strict=True)]
    return good, [error.row for each in found for error in each.bad]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("split")


@given(st.text(st.sampled_from("ab\xe9 \t\r\v\n"), max_size=30), st.sampled_from([1, 7, 1 << 20]))
def test_lines(folder, text, size):
    *lines, last = text.split("\n")  # a return that no line feed follows is text
    lines = [*(line.removesuffix("\r") for line in lines), last]
    expected = [(row, line) for row, line in enumerate(lines, 1) if line.strip(BLANKS)]
    assert documents(text.encode(), "lines", folder, size) == (expected, [])


@given(st.text(st.sampled_from("ab\xe9 \t\r\v\n"), max_size=30), st.sampled_from([1, 7, 1 << 20]))
def test_paragraphs(folder, text, size):
    lines = text.split("\n")
    filled = groupby(lines, lambda line: bool(line.strip(BLANKS)))
    expected = ["\n".join(group).removesuffix("\r") for has_ink, group in filled if has_ink]
    if lines[-1].strip(BLANKS) and text.endswith("\r"):  # which no line feed follows
        expected[-1] += "\r"
    good, bad = documents(text.encode(), "paragraphs", folder, size)
    assert ([text for _, text in good], bad) == (expected, [])


def test_a_line_that_is_no_text_is_bad(folder):
    good, bad = documents(b"one\nt\xffo\nthr\xc3\xa9e\n", "lines", folder, 1 << 20)
    assert good == [(1, "one"), (3, "thr\xe9e")]
    assert bad == [2]

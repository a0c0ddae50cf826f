"""Ranges of a file: together they have its rows, each once, wherever they begin."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastlsh import InputError
from fastlsh.io import ByteRange, Options, Source, is_divisible, read_blocks, reread_blocks
from fastlsh.io.blocks.reading import with_row_of_file
from files import put_table

PIECES = ["a", "bc", "\u2603 d", "", " ", "e" * 40, '"f', "g,h"]
ENDS = ["\n", "\r\n", "\r", "\n\n", ""]
OPTIONS = {
    "jsonl": Options(),
    "lines": Options(split="lines"),
    "csv": Options(text="text", id=None, quotes=False),
    "tsv": Options(header=False, quotes=False),
}


def written(folder, kind, rows, mark):
    """Write rows, each with its line end; return the source of the file."""
    text = "".join(piece + end for piece, end in rows)
    if kind == "jsonl":
        text = "".join(
            (f'{{"text": "{piece}"}}' if piece.strip(' "') else piece.strip('"')) + (end or "\n")
            for piece, end in rows
            if '"' not in piece and end != "\r"
        )
    elif kind == "csv":
        text = "\n\r\ntext,b\n" + text
    path = folder / f"file.{kind}"
    path.write_bytes(b"\xef\xbb\xbf" * mark + text.encode())
    return Source(str(path), kind, None, OPTIONS[kind])


def edges_of(source, draw):
    with open(source.path, "rb") as file:
        size = len(file.read())
    inner = sorted({each for each in draw if 4 <= each < size})
    return [ByteRange(*each) for each in itertools.pairwise([0, *inner, None])]


def found_in(source, within, size):
    """Return (row, text) of the good documents of a range, its bad rows, and how many it has."""
    good, bad, extents = [], [], []
    for index, block in enumerate(read_blocks(source, size, within=within)):
        assert block.extent.index == index
        documents = block.documents()
        good += zip(documents.rows.tolist(), list(documents.texts), strict=True)
        bad += [(error.row, error.reason) for error in documents.bad]
        extents.append(block.extent)
    assert extents
    again = [
        row
        for block in reread_blocks(source, extents, [row for row, _ in bad])
        for row in block.documents().rows.tolist()
    ]
    assert again == [row for row, _ in good]
    return good, bad, block.next_row - 1


def found_or_refused(source, ranges, size):
    """Return the same of each range, or why the file cannot be read."""
    try:
        return [found_in(source, each, size) for each in ranges]
    except InputError as error:
        return error.reason


@pytest.mark.parametrize("kind", OPTIONS)
@given(data=st.data(), mark=st.booleans(), size=st.sampled_from([5, 64, 1 << 16]))
@settings(max_examples=settings().max_examples)
def test_ranges_have_the_rows_of_the_file(tmp_path_factory, kind, data, mark, size):
    rows = data.draw(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(ENDS))))
    source = written(tmp_path_factory.mktemp("ranges"), kind, rows, mark)
    assert is_divisible(source)
    ranges = edges_of(source, data.draw(st.lists(st.integers(4, 300), max_size=6)))
    whole = found_or_refused(source, [ByteRange(0, None)], size)
    if isinstance(whole, str):  # there is no header, or no row has a column
        assert found_or_refused(source, ranges, size) == whole
        return
    before, good, bad = 0, [], []
    for each in ranges:
        found = found_in(source, each, size)
        good += [(row + before, text) for row, text in found[0]]
        bad += [(row + before, reason) for row, reason in found[1]]
        if found[1]:
            error = with_row_of_file(source, each, source.error("bad", found[1][0][0]))
            assert error.row == found[1][0][0] + before
        before += found[2]
    assert (good, bad) == whole[0][:2]


@pytest.mark.parametrize(
    ("kind", "compression", "options"),
    [
        ("jsonl", "gz", Options()), ("jsonl", None, Options(encoding="utf-16")),
        ("csv", None, Options()), ("txt", None, Options()), ("arrow", None, Options()),
        ("paragraphs", None, Options(split="paragraphs")),
    ],
)  # fmt: skip
def test_what_is_not_divided(kind, compression, options):
    assert not is_divisible(Source("file", kind, compression, options))


def test_row_groups_go_to_the_range_in_which_they_begin(tmp_path):
    path = tmp_path / "file.parquet"
    texts = [f"text {n}" * (n % 7) for n in range(100)]
    put_table(path, [{"text": text} for text in texts], row_group_size=9)
    source = Source(str(path), "parquet", None, Options())
    size = path.stat().st_size
    for parts in (1, 2, 5, 40):
        edges = [size * part // parts for part in range(parts)]
        found = []
        for start, stop in itertools.pairwise([*edges, None]):
            extents = []
            for block in read_blocks(source, 500, within=ByteRange(start, stop)):
                documents = block.documents()
                found += zip(documents.rows.tolist(), documents.texts.to_pylist(), strict=True)
                extents.append(block.extent)
            assert extents[0].start in range(0, 101, 9) or extents[0].start == 100
            assert [block.extent for block in reread_blocks(source, extents)] == extents
            assert sum(len(block.documents()) for block in reread_blocks(source, extents)) == (
                extents[-1].stop - extents[0].start
            )
        assert found == list(enumerate(texts, 1))

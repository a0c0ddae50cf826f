"""Arrays of JSON in blocks: their elements are rows as lines would be, and come back so."""

import gzip
import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastlsh.errors import InputError
from fastlsh.io import Limit, Options, expand
from fastlsh.io.blocks.contract import AddedColumns, ArrayError
from fastlsh.io.blocks.jsonl import ArrayBlock
from fastlsh.io.blocks.reading import is_divisible, read_blocks, reread_blocks
from fastlsh.io.blocks.writing import maybe_array
from fastlsh.io.streams import is_array

SPACE = st.sampled_from(["", "", " ", "\n", "\r\n", "\t\n  ", "\n\n"])
STRINGS = st.sampled_from(
    [
        '"a"',
        '"]"',
        '"},{"',
        '"\\""',
        '"\\\\"',
        '"[\\n,"',
        '"é\U0001f600"',
        '"' + "long, " * 20 + '"',
    ]
)
VALUES = st.recursive(
    STRINGS | st.sampled_from(["null", "1.50", "-0", "1E+2", "true", "[]", "{}"]),
    lambda inner: st.builds(
        lambda space, items: f"[{space}" + f"{space},{space}".join(items) + f"{space}]",
        SPACE,
        st.lists(inner, max_size=3),
    ),
    max_leaves=5,
)
OBJECTS = st.builds(
    lambda space, text, more: (
        f'{{{space}"text"{space}:{space}{text}'
        + "".join(f'{space},{space}"x{n}": {each}' for n, each in enumerate(more))
        + f"{space}}}"
    ),
    SPACE,
    STRINGS,
    st.lists(VALUES, max_size=3),
)
ROWS = st.lists(st.one_of(OBJECTS, OBJECTS, OBJECTS, VALUES), max_size=8)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("arrays") / "a.json"


def of(path, data, **options):
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    (source,) = expand([path], None, Options(**options))
    return source


def array(rows, space):
    return f"{space}[{space}" + f"{space},{space}".join(rows) + f"{space}]{space}"


def flat(row):
    return row.replace("\n", " ").replace("\r", " ")


class Kept:
    """A writer that remembers what it was given."""

    def __init__(self):
        self.data = b""

    def write(self, piece):
        self.data += piece


@pytest.mark.parametrize("size", [1, 40, 1 << 20])
@given(rows=ROWS, space=SPACE, mark=st.booleans(), seed=st.integers(0, 9))
@example(rows=[], space="", mark=False, seed=0)
def test_elements_are_rows(path, size, rows, space, mark, seed):
    whole = array(rows, space)
    source = of(path, "\ufeff" * mark + whole)
    assert json.loads(whole) == [json.loads(row) for row in rows]
    blocks = list(read_blocks(source, size))
    good, bad = [], []
    for block in blocks:
        documents = block.documents()
        good += zip(documents.rows.tolist(), documents.texts, strict=True)
        bad += [error.row for error in documents.bad]
    values = [json.loads(row) for row in rows]
    expected = [
        (n, value["text"]) for n, value in enumerate(values, 1) if isinstance(value, dict) and value
    ]
    assert good == expected
    assert bad == sorted({*range(1, len(rows) + 1)} - {n for n, _ in expected})
    for before, after in pairwise(blocks):
        assert (before.extent.stop, before.next_row) == (after.extent.start, after.extent.row)
        rest = next(read_blocks(source, size, after=before.extent))
        assert (rest.extent.start, rest.extent.row) == (after.extent.start, after.extent.row)
    kept = np.random.default_rng(seed).random(len(good)) < 0.7
    chosen = [rows[n - 1] for (n, _), keep in zip(good, kept, strict=True) if keep]
    lines, elements, done = b"", Kept(), 0
    with maybe_array(elements, True) as writer:
        for block in reread_blocks(source, [block.extent for block in blocks], bad):
            wanted = kept[done:][: len(block.documents())]
            done += len(wanted)
            lines += bytes(block.rows(wanted))
            writer.write(block.rows_with_breaks(wanted))
    assert lines.decode() == "".join(f"{flat(row)}\n" for row in chosen)
    assert elements.data.decode() == "[" + "".join(
        f"{',' * (n > 0)}\n{row}" for n, row in enumerate(chosen)
    ) + "\n]\n"  # fmt: skip


WAYS = '{"a":\n{"text":\n"old"},\r\n "n": 1}', '{"a": {"text" : "old", "\\u0062": 2}}'


@pytest.mark.parametrize("key", ["a.text", "text"])
def test_new_texts_and_columns_leave_all_else_as_it_was(path, key):
    rows = list(WAYS) if key == "a.text" else ['{"text"\n:"old"}', '{\n"\\u0062":1, "text": "old"}']
    (block,) = read_blocks(of(path, array(rows, "\n"), text=key))
    assert block.documents().texts.to_pylist() == ["old", "old"]
    added = AddedColumns({"m": "int64"}, {"m": [7, 8]})
    found = Kept()
    with maybe_array(found, True) as writer:
        writer.write(block.rows_with_breaks(np.ones(2, bool), {0: 'n"w', 1: "\u00e9"}, added))
    new = [rows[0].replace('"old"', '"n\\"w"'), rows[1].replace('"old"', '"\\u00e9"')]
    ends = [f'{row[: row.rindex("}")]}, "m": {m}}}' for row, m in zip(new, (7, 8), strict=True)]
    assert found.data.decode() == f"[\n{ends[0]},\n{ends[1]}\n]\n"


def refusals(source, size, *, skip):
    """Return the rows that are left out, and the error that ends the reading."""
    left_out = []
    try:
        for block in read_blocks(source, size):
            documents = block.documents()
            documents.check(skip=skip)
            left_out += [error.row for error in documents.bad]
    except InputError as error:
        return left_out, str(error).removeprefix(f"{source.path}: ")
    return left_out, None


GOOD = '{"text": "a"}'
SKIPPED = [
    (f"[{GOOD},\n17]", 2, "a number, not an object; the row begins at byte 17"),
    (f'[{GOOD},["x"], {GOOD}]', 2, "an array, not an object; the row begins at byte 16"),
    (
        f'[{{"id": 1}}, {GOOD}]',
        1,
        "no key 'text' (there is: 'id'); text= names another key; the row begins at byte 2",
    ),
    (
        f"\ufeff [{GOOD}, {{}}]",
        2,
        "no key 'text' (there is: none); text= names another key; the row begins at byte 21",
    ),
    (b'[{"text": "\xff"}]', 1, "not utf-8: byte 0xff at character 11; if the file has another"),
    ("[" + "[" * 200_000 + "]" * 200_000 + "]", 1, "nested too deeply; the row begins at byte 2"),
]
BROKEN = [
    (f'[{GOOD}, {{"text": }}]', "row 2: not JSON: Expecting value at column 10; the row"),
    (f"[{GOOD},]", "row 2: not JSON: Expecting value at column 1; the row begins at byte 16"),
    (f"[{GOOD},,{GOOD}]", "row 2: not JSON: Expecting value at column 1"),
    (f"[,{GOOD}]", "row 1: not JSON: Expecting value at column 1"),
    (f"[{GOOD} {GOOD}]", "row 1: not JSON: Extra data at column 15"),
    (f'[{GOOD}, {{"text": ["a"}}, {GOOD}]', "row 2: not JSON: Expecting ',' delimiter at column"),
    (f'[{{"text": "a\nb"}}, {GOOD}]', "row 1: not JSON: "),
    (f"[{GOOD}", "row 1: the file ends behind byte 14, before the end of the array"),
    (f"[{GOOD}, \n", "row 2: the file ends behind byte 17, before the end of the array"),
    (f'[{GOOD}, {{"text": "b', "row 2: the file ends behind byte 27, before the end of the array"),
    ("[", "row 1: the file ends behind byte 1, before the end of the array"),
    (f"[{GOOD}]\n x", "byte 18 is behind the end of the array: a file has one array"),
    (f"[{GOOD}]\n[{GOOD}]", "byte 17 is behind the end of the array: a file has one array"),
    ("[]]", "byte 3 is behind the end of the array"),
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_errors_of_rows_and_of_syntax(path, size):
    for data, row, reason in SKIPPED:
        source = of(path, data)
        assert refusals(source, size, skip=True) == ([row], None)
        assert refusals(source, size, skip=False)[1].startswith(f"row {row}: {reason}"), data
    for data, reason in BROKEN:
        source = of(path, data)
        for skip in (True, False):
            assert refusals(source, size, skip=skip)[1].startswith(reason), (data, skip)


def test_the_first_error_counts_and_a_limit_is_before_a_later_one(path):
    source = of(path, f"[{GOOD}, {GOOD}, 1, {GOOD} 2, {GOOD}]")
    assert refusals(source, 1 << 20, skip=False)[1].startswith("row 3: a number")
    assert refusals(source, 1 << 20, skip=True)[1].startswith("row 4: not JSON: Extra data")
    blocks = list(Limit(2).first(read_blocks(source)))
    assert [len(block.documents()) for block in blocks] == [2]
    blocks[0].documents().check(skip=False)
    extents = [block.extent for block in blocks]
    assert len(next(reread_blocks(source, extents)).documents()) == 2
    (error,) = [e for e in next(read_blocks(source)).documents().bad if isinstance(e, ArrayError)]
    assert error.row == 4


@pytest.mark.parametrize("before", ["", "\ufeff", " \r\n\t", "\ufeff \n", "\n" * 200_000])
def test_the_first_character_decides(path, before):
    for data, rows in ((f"[{GOOD}]", 1), (f"{GOOD}\n{GOOD}\n", 2), ("[ ]", 0), ("", 0)):
        source = of(path, before + data)
        assert is_array(source) == data.startswith("[")
        assert is_divisible(source) != data.startswith("[")
        (block,) = read_blocks(source)
        assert isinstance(block, ArrayBlock) == data.startswith("[")
        assert len(block.documents()) == rows


def test_other_encodings_and_compressions(path):
    data = array(['{"text": "\u00e9"}', '{"text":\n"b"}'], "\n").encode("utf-16")
    (block,) = read_blocks(of(path, data, encoding="utf-16"))
    assert block.documents().texts.to_pylist() == ["\u00e9", "b"]
    packed = path.with_name("a.json.gz")
    packed.write_bytes(gzip.compress(f"[{GOOD}, {GOOD}]".encode())[:-12])
    (source,) = expand([packed])
    assert "truncated" in refusals(source, 1 << 20, skip=True)[1]


@pytest.mark.parametrize("data", ['{"data": [%s]}', '{\n "version": 2,\n "data": [\n  %s\n ]\n}'])
def test_rows_inside_an_object_are_pointed_at(path, data):
    source = of(path, data % GOOD)
    reason = refusals(source, 1 << 20, skip=False)[1]
    assert reason.startswith("row 1: n")
    assert reason.endswith("; the rows may be in 'data': give a file that is this array alone")
    chat = '{"conversations": [{"from": "human", "value": "x"}]}\n'
    assert "rows may be" not in refusals(of(path, chat), 1 << 20, skip=False)[1]
    assert "rows may be" not in refusals(of(path, GOOD + "\n" + data % GOOD), 9, skip=False)[1]


@pytest.mark.parametrize("size", [9, 1 << 20])
def test_objects_over_several_lines_are_told_apart(path, size):
    text = '{\r\n "text": "a"\r\n}\r\n{\n "text": "b"\n}\n'
    reason = refusals(of(path, text), size, skip=False)[1]
    assert reason.startswith("row 1: not JSON: ")
    assert reason.endswith(
        "; an object over several lines must be in an array, or else be one line"
    )
    assert "several lines" not in refusals(of(path, '{"text": "a"\n}'), 1 << 20, skip=False)[1]

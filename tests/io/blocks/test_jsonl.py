"""JSON lines in blocks: exactly what a reader line by line takes and refuses."""

import json
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastlsh._kernels.text._texts import TextColumn
from fastlsh.io import as_list, expand
from fastlsh.io.blocks.reading import read_blocks, reread_blocks
from fastlsh.io.sources import Options
from rows_oracle import json_rows
from strategies import share

# --- awkward lines: of values that parsers see in different ways, and of broken ones

SCALARS = [
    "1", "-0", "0", "-1", "1.0", "-0.0", "1e5", "1E-400", "1e400", "-1e999", "NaN", "Infinity",
    "-Infinity", "true", "false", "null", "18446744073709551615", "18446744073709551616",
    "-9223372036854775808", "-9223372036854775809", "9" * 400, "9" * 4300, "9" * 4301,
    "9" * 5000 + ".5", "9007199254740993.0", "2.2250738585072011e-308", "1.7976931348623159e308",
    "0.1", "01", "1.", ".5", "+1", "-", "1e", "0x1", "nul", "TRUE", "",
]  # fmt: skip
STRINGS = [
    '"a"', '""', '"b c"', '"é"', '"\U0001f600"', '"\ufeff"', '"\x7f"', '"\u2028"', '"\\u00e9"',
    '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00\\ud83d"', '"\\u0000"', '"\\x"', '"\\u12"', '"\\"',
    '"\x01"', '"\t"', '"', "'a'", '"\\/\\b\\f\\n\\r\\t\\\\\\""',
]  # fmt: skip
OTHERS = ["[]", "{}", "[1,]", '{"a":1,}', "[[]]", '{"text":"in"}', '[{"id":1}]', "[1 2]"]
VALUES = st.one_of(*map(st.sampled_from, (SCALARS, STRINGS, OTHERS)))
KEYS = st.sampled_from(
    ['"text"', '"id"', '"text"', '"id"', '"x"', '"te\\u0078t"', '"TEXT"', '""', "text", '"\\ud800"']
)
SPACE = st.sampled_from(["", "", "", " ", "\t", "\r", "  ", "\x0b", "\xa0", "\ufeff"])
MEMBERS = st.lists(st.tuples(KEYS, VALUES), max_size=4)


@st.composite
def objects(draw):
    members = ",".join(f"{key}:{value}" for key, value in draw(MEMBERS))
    return draw(SPACE) + "{" + members + draw(st.sampled_from(["}", "}", "}", "}", "", "}}"]))


GOOD = st.builds(
    lambda text, identity: json.dumps({"id": identity, "text": text}),
    st.text(max_size=5),
    st.one_of(st.none(), st.integers(), st.text(max_size=3), st.floats(), st.booleans()),
)
BYTES = st.sampled_from([b"\xff", b"\xed\xa0\x80", b'{"text": "\xff"}', b'{"text":"", "x":"\xe9"}'])
LINES = st.one_of(GOOD, GOOD, objects(), SPACE, VALUES, BYTES).map(
    lambda line: line if isinstance(line, bytes) else line.encode("utf-8", "surrogatepass")
)
FILES = st.builds(
    lambda found, end, last: end.join(found) + (end if last else b""),
    st.lists(LINES, max_size=6),
    st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n"]),
    st.booleans(),
).filter(lambda data: not data.lstrip().startswith(b"["))  # which would be an array


def expected(data, options):
    """Return (row, text, id) of the good rows, and the numbers of the bad ones."""
    good, bad = [], []
    for row, _, value in json_rows(data):
        key = options.id or "id"
        right = isinstance(value, dict) and "text" in value
        right = right and (isinstance(value["text"], (str, type(None))) or value["text"] == [])
        right = right and not isinstance(value.get(key), (list, dict))
        right = right and (options.id is None or value.get(key) is not None)
        if right:
            text = "" if value["text"] == [] else value["text"]  # a chat without messages
            good.append((row, text, value.get(key)))
        else:
            bad.append(row)
    return good, bad


def found(source, size):
    good, bad = [], []
    for block in read_blocks(source, size):
        documents = block.documents()
        ids = [None] * len(documents) if documents.ids is None else as_list(documents.ids)
        good += zip(documents.rows.tolist(), documents.texts, ids, strict=True)
        bad += [error.row for error in documents.bad]
    return good, bad


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("blocks") / "a.jsonl"


def of(path, data, **options):
    path.write_bytes(data)
    return expand(path, options=Options(**options))[0]


@pytest.mark.parametrize("size", [1, 40, 1 << 20])
@pytest.mark.parametrize("key", [None, "id", "x"])
@share(2)
@given(data=FILES)
@example(data=b'{"text":"a"} {"text":"b"}\n{"text":"c"}\n')
@example(data=b'{"text":\n"a"}\n{"text":"b"}{"text":"c"}\n')
@example(data=b'{"x":\n{"text":"a"}}\n{"text":"b"}{"text":"c"}\n')
@example(data=b'{"text":"a","text":1}\n{"text":1,"text":"a"}\n{"text":"a","id":[],"id":2}\n')
@example(data=b'{"text":"a","x":' + b"1" * 4301 + b"}\n")
@example(data=b'{"text":"a","x":' + b"[" * 2000 + b"]" * 2000 + b"}\n")
@example(data=b"\xef\xbb\xbf\n" + b'{"text":"a"}\n')
@example(data=b'{"text":"a"}\n' * 3 + b'\xef\xbb\xbf{"text":"a"}\n')
def test_as_line_by_line(path, size, key, data):
    source = of(path, data, id=key)
    answer = expected(data, source.options)
    assert repr(found(source, size)) == repr(answer)  # so that 1, 1.0 and true differ, NaN not


def test_the_kernel_reads_what_is_usual(path):
    rows = [{"id": i, "text": "é" * i, "more": {"a": [i]}} for i in range(100)]
    data = "".join(json.dumps(row, ensure_ascii=i % 2 > 0) + "\n" for i, row in enumerate(rows))
    source = of(path, data.encode())
    (block,) = read_blocks(source)
    block._one_by_one = None  # would be called otherwise
    documents = block.documents()
    assert isinstance(documents.texts, TextColumn)
    assert documents.ids.dtype == np.int64
    assert documents.ids.tolist() == list(range(100))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "-2"], np.array([1, -2])),
        (['"a"', '"\\u00e9"'], ["a", "é"]),
        (["null", "null"], None),
        (["1", "null"], [1, None]),
        (['"a"', "1", "2.5", "true", "1e999", "12345678901234567890"],
         ["a", 1, 2.5, True, math.inf, 12345678901234567890]),
        (['"a"', '"\\ud800"'], ["a", "\ud800"]),
        (["1", "NaN"], [1, math.nan]),
    ],
)  # fmt: skip
def test_ids_of_one_type_are_a_column(path, values, expected):
    data = "".join(f'{{"text": "", "id": {value}}}\n' for value in values)
    (block,) = read_blocks(of(path, data.encode()))
    ids = block.documents().ids
    if expected is None or isinstance(expected, np.ndarray):
        assert type(ids) is type(expected)
    else:
        assert isinstance(ids, TextColumn) is (expected == ["a", "é"])
    assert repr(None if ids is None else as_list(ids)) == repr(
        None if expected is None else as_list(expected)
    )


def test_texts_and_chats_beside_unusual_ones(path):
    lines = [
        '{"title":"a","chat":[{"role":"user","content":"b"},{"role":"x","content":"-"}],"n":1}',
        '{"title":null,"chat":[{"role":"user","content":[{"type":"text","text":"c"}]}],"n":2}',
        '{"title":"","chat":null,"n":3}',
        '{"title":"a","chat":"b","n":4}',
        '{"title":"\\ud800","chat":[],"n":5}',
        '{"title":"d","chat":[{"role":"user"}],"n":6}',
        '{"title":"e","n":7}',
    ]
    options = {"text": ("title", "chat"), "join_with": " | ", "roles": ("user",), "counts": ("n",)}
    (block,) = read_blocks(of(path, "\n".join(lines).encode(), **options))
    documents = block.documents()
    assert list(documents.texts) == ["a | b", "c", "", "\ud800"]
    assert documents.numbers["n"].tolist() == [1, 2, 3, 5]
    assert documents.slow == 5
    assert [str(error).partition("row ")[2] for error in documents.bad] == [
        "4: 'title' is a string, not an array of messages with roles",
        "6: message 1 of 'chat' has no 'content'",
        "7: no key 'chat' (there is: 'title', 'n')",
    ]


def test_an_unusual_row_costs_only_itself(path):
    lines = [b'{"text":"a","id":%d}' % i for i in range(10)]
    lines[3], lines[7] = b'{"te\\u0078t":"b","id":3}', b'{"text":"\\udfff","id":7}'
    lines[5] = b'{"text":1}'
    (block,) = read_blocks(of(path, b"\n".join(lines)))
    documents = block.documents()
    assert list(documents.texts) == ["a", "a", "a", "b", "a", "a", "\udfff", "a", "a"]
    assert documents.ids == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert [error.row for error in documents.bad] == [6]
    chosen = block.documents(np.arange(9) % 2 > 0)
    assert (list(chosen.texts), as_list(chosen.ids)) == (["a", "b", "a", "a"], [1, 3, 6, 8])


@pytest.mark.parametrize(
    "keys",
    [
        {"text": "id"}, {"text": "\udcff"}, {"text": "q", "priority": "q"},
        {"text": ("q", "id"), "join_with": "-" * 99}, {"text": ("q", "id"), "join_with": "\udcff"},
    ],
)  # fmt: skip
def test_keys_that_the_kernel_does_not_take(path, keys):
    name = keys["text"][0] if isinstance(keys["text"], tuple) else keys["text"]
    line = json.dumps({name: "" if isinstance(keys["text"], tuple) else "a", "id": "a"}) + "\n"
    good, bad = found(of(path, line.encode(), **keys), 100)
    assert (good, bad) == (([], [1]) if "priority" in keys else ([(1, "a", "a")], []))


# --- priority


@pytest.mark.parametrize(
    ("values", "expected", "bad"),
    [
        (["1", "2", "-3"], np.array([1, 2, -3]), []),
        (["1", "2.5"], np.array([1.0, 2.5]), []),
        (["9223372036854775807", "0"], np.array([2**63 - 1, 0]), []),
        (["9223372036854775808", "0"], np.array([2.0**63, 0]), []),
        (["1", '"x"', "{}", "[]", "9" * 400, '"2024-02-30"', "2"], np.array([1.0, 2]), range(2, 7)),
        (['"7"', '"-0.5"', "true"], np.array([7, -0.5, 1]), []),
        (["1e400", "-Infinity"], np.array([np.inf, -np.inf]), []),
        # An integer is exact, or refused.
        (["1", "9" * 308, "9" * 320], np.array([1.0]), [2, 3]),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_priority(path, values, expected, bad, size):
    data = "".join(f'{{"text": "a", "q": {value}}}\n' for value in values) + "\n"
    source = of(path, data.encode(), priority="q")
    blocks = [block.documents() for block in read_blocks(source, size)]
    numbers = np.concatenate([each.numbers["q"] for each in blocks])
    assert numbers.tolist() == expected.tolist()
    assert size == 1 or numbers.dtype == expected.dtype
    assert [error.row for each in blocks for error in each.bad] == list(bad)


def test_priority_that_is_absent(path):
    (block,) = read_blocks(of(path, b'{"text": "a"}\n', priority="q"))
    documents = block.documents()
    assert np.isnan(documents.numbers["q"]).tolist() == [True]
    assert documents.priorities == (1, 1, "", "no key 'q'")
    lines = [{"text": "a", "q": None}, {"text": "a"}, {"text": "a", "q": 3}, {"q": 1}, {"q": 2.5}]
    data = "".join(json.dumps({"text": "b", **line}) + "\n" for line in lines)
    (block,) = read_blocks(of(path, data.encode().replace(b"2.5", b"NaN"), priority="q"))
    documents = block.documents()
    assert [None if q != q else q for q in documents.numbers["q"].tolist()] == [
        None, None, 3, 1, None,
    ]  # fmt: skip
    assert (documents.slow, documents.bad) == (0, [])
    assert documents.priorities == (5, 3, "numbers", "")


# --- rows


@pytest.mark.parametrize("size", [1, 40, 1 << 20])
@given(data=FILES, seed=st.integers(0, 2**32 - 1))
def test_rows_come_back_as_they_were(path, size, data, seed):
    source = of(path, data)
    raws = {row: raw for row, raw, _ in json_rows(data)}
    extents, rows, bad = [], [], []
    for block in read_blocks(source, size):
        documents = block.documents()
        extents.append(block.extent)
        rows.append(documents.rows)
        bad += [error.row for error in documents.bad]
    rng = np.random.default_rng(seed)
    for block, numbers in zip(reread_blocks(source, extents, bad), rows, strict=True):
        kept = rng.random(len(numbers)) < rng.random()
        raw = "".join(raws[row] for row in numbers[kept].tolist())
        assert bytes(block.rows(kept)) == raw.encode()
        chosen = block.documents(kept)
        assert chosen.rows.tolist() == numbers[kept].tolist()
        assert len(chosen.texts) == len(chosen)
        assert not chosen.bad


def test_flags_must_fit(path):
    (block,) = read_blocks(of(path, b'{"text": "a"}\n{"text": 1}\n'))
    with pytest.raises(ValueError, match="2 flags for 1 documents"):
        block.rows(np.ones(2, bool))

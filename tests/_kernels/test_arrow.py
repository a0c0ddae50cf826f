"""Arrow structures of producers that make mistakes are refused; those handed out are complete."""

import ctypes
from datetime import datetime

import numpy as np
import pytest

from arrow_structures import IGNORED, Producer, Stream, StreamProducer, array, schema
from fastlsh._kernels.text._texts import ArrowColumn, arrow_stream
from refusals import refuses


def texts(schema, array):
    column = ArrowColumn(Producer(schema, array))
    return column.spans(0, len(column)).strings()


def int32(*numbers):
    return np.array(numbers, np.int32)


def int64(*numbers):
    return np.array(numbers, np.int64)


def plain(**fields):
    return array(2, None, int32(0, 3, 5), b"abcde", **fields)


def views(view, *buffers, **fields):
    words = np.array(view, np.int32)
    return array(1, None, words, *buffers, int64(*(len(b) for b in buffers)), **fields)


def test_what_is_right():
    assert texts(schema(b"u"), plain()) == ["abc", "de"]
    assert texts(schema(b"+s", schema(b"u")), array(2, None, children=[plain()])) == ["abc", "de"]
    assert texts(schema(b"u"), array(0, None, None, None)) == []
    assert texts(schema(b"u"), array(1, None, int32(0, 0), None)) == [""]
    assert texts(schema(b"n"), array(2)) == ["", ""]
    assert texts(schema(b"vu"), views([13, 0, 0, 2], b"..a long text, yes")) == ["a long text, "]


def test_buffers_need_not_be_aligned():
    offsets = np.frombuffer(b"." + int32(0, 3, 5).tobytes(), np.uint8)[1:]
    assert texts(schema(b"u"), array(2, None, offsets, b"abcde")) == ["abc", "de"]
    offsets = np.frombuffer(b"." + int64(0, 3, 5).tobytes(), np.uint8)[1:]
    assert texts(schema(b"U"), array(2, None, offsets, b"abcde")) == ["abc", "de"]


@pytest.mark.parametrize("name", [None, b"\xff", b""])
def test_several_columns_whatever_their_names(name):
    columns = [schema(b"u", name=name), schema(b"u")]
    with pytest.raises(TypeError, match=r"the table has 2 columns \(.?, text\)"):
        texts(schema(b"+s", *columns), plain())


WRONG_SCHEMAS = {
    "no format": schema(b"u", format=None),
    "no column": schema(b"+s"),
    "no children": schema(b"+s", schema(b"u"), children=None),
    "a child is missing": schema(b"+s", None),
    "one of two is missing": schema(b"+s", schema(b"u"), None),
    "fewer than none": schema(b"+s", n_children=-1),
    "released": schema(b"u", release=None),
    "a dictionary without format": schema(b"i", dictionary=schema(b"u", format=None)),
    "a dictionary of dictionaries": schema(
        b"i", dictionary=schema(b"i", dictionary=schema(b"u"))
    ),
    "indices that are none": schema(b"u", dictionary=schema(b"u")),
    "numbers": schema(b"l"),
    "a table in a table": schema(b"+s", schema(b"+s", schema(b"u"))),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_SCHEMAS.values(), ids=WRONG_SCHEMAS.keys())
def test_a_wrong_schema(wrong):
    refuses((TypeError, ValueError), r"Arrow|the table has", texts, wrong, plain())


TEXT, TABLE = schema(b"u"), schema(b"+s", schema(b"u"))
LARGE, VIEW, CATEGORY = schema(b"U"), schema(b"vu"), schema(b"i", dictionary=schema(b"u"))

WRONG_ARRAYS = {
    "released": (TEXT, plain(release=None)),
    "negative length": (TEXT, plain(length=-1)),
    "negative offset": (TEXT, plain(offset=-1)),
    "length beyond all memory": (TEXT, plain(length=2**62)),
    "length and offset beyond 64 bits": (TEXT, plain(length=2**63 - 1, offset=2**63 - 1)),
    "too few buffers": (TEXT, plain(n_buffers=2)),
    "negative buffers": (TEXT, plain(n_buffers=-1)),
    "no buffers": (TEXT, plain(buffers=None)),
    "no offsets": (TEXT, array(2, None, None, b"abcde")),
    "no bytes": (TEXT, array(2, None, int32(0, 3, 5), None)),
    "negative start": (TEXT, array(2, None, int32(-50, 3, 5), b"abcde")),
    "offsets that go back": (TEXT, array(2, None, int32(0, 5, 3), b"abcde")),
    "an offset beyond the last": (TEXT, array(2, None, int32(0, 2**30, 5), b"abcde")),
    "a negative end": (TEXT, array(2, None, int32(0, 0, -1), b"abcde")),
    "64 bits: beyond the last": (LARGE, array(2, None, int64(0, 2**62, 5), b"abcde")),
    "64 bits: negative": (LARGE, array(2, None, int64(-(2**62), 3, 5), b"abcde")),
    "table: no children": (TABLE, array(2, None, n_children=1)),
    "table: a child is missing": (TABLE, array(2, None, children=[None])),
    "table: several children": (TABLE, array(2, None, children=[plain(), plain()])),
    "table: no buffers": (TABLE, array(2, children=[plain()])),
    "table: longer than its column": (TABLE, array(3, None, children=[plain()])),
    "table: moved beyond its column": (TABLE, array(2, None, children=[plain()], offset=1)),
    "view: negative length": (VIEW, views([-1, 0, 0, 0], b"a long text, yes")),
    "view: negative buffer": (VIEW, views([13, 0, -1, 0], b"a long text, yes")),
    "view: no such buffer": (VIEW, views([13, 0, 1, 0], b"a long text, yes")),
    "view: negative start": (VIEW, views([13, 0, 0, -1], b"a long text, yes")),
    "view: beyond its buffer": (VIEW, views([13, 0, 0, 4], b"a long text, yes")),
    "view: longer than its buffer": (VIEW, views([2**31 - 1, 0, 0, 0], b"a long text, yes")),
    "view: no sizes": (VIEW, array(1, None, int32(13, 0, 0, 0), b"a long text, yes", None)),
    "view: a buffer is missing": (
        VIEW, array(1, None, int32(13, 0, 0, 0), None, int64(16))
    ),
    "category: no dictionary": (CATEGORY, array(1, None, int32(0))),
    "category: no indices": (CATEGORY, array(1, None, None, dictionary=plain())),
    "category: too few buffers": (CATEGORY, array(1, None, dictionary=plain())),
    "category: index too large": (CATEGORY, array(1, None, int32(2), dictionary=plain())),
    "category: negative index": (CATEGORY, array(1, None, int32(-1), dictionary=plain())),
    "category: a wrong dictionary": (
        CATEGORY, array(1, None, int32(0), dictionary=plain(n_buffers=0))
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "wrong"), WRONG_ARRAYS.values(), ids=WRONG_ARRAYS.keys())
def test_a_wrong_array(kind, wrong):
    refuses(ValueError, r"Arrow|dictionary index", texts, kind, wrong)


def test_an_array_is_read_once():
    producer = Producer(schema(b"u"), plain())
    assert len(ArrowColumn(producer)) == 2
    refuses(ValueError, "read already", ArrowColumn, producer)


def test_a_stream_without_functions():
    refuses(ValueError, "has no functions", ArrowColumn, StreamProducer(Stream(release=IGNORED)))
    refuses(ValueError, "read already", ArrowColumn, StreamProducer(Stream()))


@pytest.mark.parametrize("message", [None, b"it broke"])
def test_a_stream_that_fails(message):
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    fail = function(lambda *_: 5)
    tell = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(
        lambda _: ctypes.cast(message, ctypes.c_void_p).value
    )
    stream = Stream(release=IGNORED)
    stream.get_schema = stream.get_next = ctypes.cast(fail, ctypes.c_void_p)
    if message:
        stream.get_last_error = ctypes.cast(tell, ctypes.c_void_p)
    expected = message.decode() if message else "5"
    with pytest.raises(ValueError, match=f"reading the Arrow stream failed: {expected}"):
        ArrowColumn(StreamProducer(stream))


# ---- types


def test_categories_without_values_are_nulls():
    kind = schema(b"c", dictionary=schema(b"g"))
    nothing = array(0, None, None)
    nulls = array(3, b"\0", np.full(3, -1, np.int8), dictionary=nothing, null_count=3)
    assert texts(kind, nulls) == ["", "", ""]
    numbers = array(1, None, np.zeros(1, np.int8), dictionary=array(1, None, np.ones(1)))
    refuses(TypeError, "is of type float64, expected strings", texts, kind, numbers)


def test_types_of_other_columns_are_named():
    pa = pytest.importorskip("pyarrow")
    day = datetime(2026, 1, 1)
    for values, called in (
        (pa.array([1]), "int64"), (pa.array([1.5], pa.float32()), "float32"),
        (pa.array([True]), "boolean"), (pa.array([day]), "timestamp"), (pa.array([["a"]]), "list"),
        (pa.array([day - day]), "format 'tDu'"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=f"the Arrow column is of type {called}, expected"):
            ArrowColumn(values).spans(0, 1)


@pytest.mark.parametrize("kind", ["float64", "int64", "null", "string"])
def test_categories_without_values_from_pyarrow(kind):
    pa = pytest.importorskip("pyarrow")
    codes, values = pa.nulls(3, pa.int8()), pa.array([], kind)
    column = ArrowColumn(pa.DictionaryArray.from_arrays(codes, values))
    assert column.spans(0, 3).strings() == ["", "", ""]


# ---- what is handed out


LETTERS = np.frombuffer(b"abc", np.uint8)


@pytest.mark.parametrize(
    ("form", "buffers", "rows", "match"),
    [
        ("l", [int64(1)], -1, "length -1"),
        ("l", [int64(1)], 2**60, "length"),
        ("l", [int64(1)], 2, "has 8 bytes, expected 16"),
        ("g", [np.ones(1, np.float32)], 1, "has 4 bytes, expected 8"),
        ("b", [np.zeros(1, np.uint8)], 9, "has 1 bytes, expected 2"),
        ("U", [int64(0), LETTERS], 1, "offsets of column"),
        ("U", [int64(0, 4), LETTERS], 1, "offsets of column"),
        ("U", [int64(-1, 3), LETTERS], 1, "offsets of column"),
        ("U", [int64(0, 3, 2), LETTERS], 2, "offsets of column"),
        ("U", [int64(0, 3)], 1, "has 1 buffers"),
        ("u", [int64(0, 3), LETTERS], 1, "format 'u'"),
    ],
)
def test_columns_that_are_not_what_they_say(form, buffers, rows, match):
    refuses(ValueError, match, arrow_stream, [("x", form, buffers)], rows)


def test_columns_of_every_format():
    pa = pytest.importorskip("pyarrow")

    class Table:
        def __arrow_c_stream__(self, requested_schema=None):
            columns = [
                ("l", "l", [int64(1, 2)]), ("g", "g", [np.array([0.5, 1.5])]),
                ("b", "b", [np.array([2], np.uint8)]), ("U", "U", [int64(0, 1, 3), LETTERS]),
            ]  # fmt: skip
            return arrow_stream(columns, 2)

    found = pa.table(Table())
    found.validate(full=True)
    assert found.to_pydict() == {
        "l": [1, 2], "g": [0.5, 1.5], "b": [False, True], "U": ["a", "bc"]
    }  # fmt: skip

"""Lines of JSON: what the kernel takes is what the json module finds; what is wrong it refuses."""

import contextlib
import csv
import io
import json
import math
import re
import struct
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastlsh._kernels.rows import _rows
from fastlsh._kernels.text import _texts
from fastlsh.io.blocks.jsonl import JsonRows
from fastlsh.io.sources import Options, Source
from rows_oracle import json_with_text
from strategies import share

KEYS = (b"text", b"id", b"p")


def bounds_of(lines):
    return np.cumsum([0, *map(len, lines)])


def encoded(lines, ended):
    """Return the bytes of lines, of which the last one may have no end."""
    lines = [
        line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line for line in lines
    ]
    return lines if ended or not lines else [*lines[:-1], lines[-1].removesuffix(b"\n")]


def read(isa, lines, keys=KEYS, rows=None, labels=3, texts=1, join_with=b"", roles=None):
    """Return for each line what was found: None, or all members, with TOKENs as bytes."""
    keys = tuple(key for n, key in enumerate(keys) if n <= texts or key is not None)
    labels, count = min(labels, len(keys)), len(keys) - texts + 1
    data = np.frombuffer(b"".join(lines), np.uint8)
    bounds = bounds_of(lines)
    rows = np.arange(len(lines)) if rows is None else rows
    size = int(np.diff(bounds)[rows].sum()) + _rows.PADDING
    size += len(rows) * (texts - 1) * len(join_with)
    kinds = np.full((count, len(rows)), 99, np.uint8)
    members = np.full((2 * count, len(rows)), -7)
    out = np.full(size + 100, 0xA5, np.uint8)
    used = isa.json_lines(
        data, bounds, rows, keys, labels, out[:size], kinds, members, texts, join_with, roles
    )
    assert used <= size - _rows.PADDING
    assert (out[size:] == 0xA5).all()
    bytes_of = out.tobytes()

    def member(kind, start, size):
        if kind in (_rows.STRING, _rows.TOKEN, _rows.LONG_REAL):
            piece = bytes_of[start : start + size]
            return piece.decode() if kind == _rows.STRING else piece
        if kind == _rows.INTEGER:
            return start
        if kind == _rows.REAL:
            return struct.unpack("d", struct.pack("q", start))[0]
        return None

    return [
        None
        if kinds[0, i] == _rows.REFUSED
        else tuple(
            member(kinds[m, i], *members[2 * m : 2 * m + 2, i].tolist()) for m in range(count)
        )
        for i in range(len(rows))
    ]


def expected(line, keys):
    """Return the values of the keys: text, id, priority, labels; or why the line is refused."""
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        return error
    if not isinstance(value, dict):
        return "no object"
    text, identity, priority, *labels = (value.get(key and key.decode()) for key in keys)
    if keys[0].decode() not in value or not isinstance(text, (str, type(None))):
        return "no text"
    if any(isinstance(each, (list, dict)) for each in (identity, *labels)):
        return "no scalar"
    if keys[2] and (type(priority) not in (int, float) or math.isnan(priority)):
        return "no priority"
    return text, identity, priority, *labels


def agrees(found, right):
    if isinstance(found, bytes):
        found = json.loads(found)
    return repr(found) == repr(right)  # 1, 1.0, true, -0.0 and NaN are told apart


def is_usual(line, right, keys):
    """Whether a line that json takes must not be refused."""
    brackets = depth = 0
    for c in line:
        depth += (c in b"[{") - (c in b"]}")
        brackets = max(brackets, depth)
    digits = max(map(len, re.findall(rb"\d+", line)), default=0)
    text, identity, priority, *labels = right
    strings = map(str, (text, identity, *labels))
    plain = priority is None or type(priority) is float or abs(priority) < 2**63
    names = [
        name.encode("utf-8", "replace") for name, _ in json.loads(line, object_pairs_hook=list)
    ]
    names = [name for name in names if name in {*KEYS, *keys}]
    return (
        len(names) == len(set(names)) and brackets < 60 and digits < 600 and plain
        and not any("\ud800" <= c <= "\udfff" for string in strings for c in string)
        and not (isinstance(priority, float) and b"Infinity" in line)
        and not any(b"\\" in part for part in line.split(b":")[:-1])
    )  # fmt: skip


def check(isa, lines, keys):
    for line, found in zip(lines, read(isa, lines, keys), strict=True):
        right = expected(line, keys)
        if found is None:
            assert not isinstance(right, tuple) or not is_usual(line, right, keys), line
        else:
            assert isinstance(right, tuple), (line, found, right)
            assert all(map(agrees, found, right)), (line, found, right)


# --- awkward lines

NUMBERS = [
    "0", "-0", "1", "-1", "12", "-9223372036854775808", "9223372036854775807",
    "9223372036854775808", "-9223372036854775809", "18446744073709551615", "99999999999999999999",
    "9" * 30, "9" * 640, "9" * 641, "1" * 4301, "0.0", "-0.0", "1.5", "-2.25", "0.1", "1e5", "1E+5",
    "1e-5", "123456789012345e22", "1234567890123456e22", "1e22", "1e23", "1e-22", "1e-23", "1e400",
    "1e0000000005", "9007199254740993.0", "2.2250738585072011e-308", "1.7976931348623159e308",
    "0.30000000000000004", "3" * 700 + ".5", "0." + "0" * 40 + "1", "-", "+1", "01", "-01", "1.",
    ".5", "1e", "1e+", "1.e5", "1.5.5", "0x1", "1_0", "NaN", "-NaN", "Infinity", "-Infinity",
    "-Infinit", "Infinit", "nan", "true", "false", "null", "tru", "nul", "True", "falsee",
]  # fmt: skip
CHARACTERS = [
    "a", "b c", "é", "ÿ", "中", "文字", "\U0001f600", "\ufeff", "\x7f", "\u2028", "\\u00e9",
    "\\u4E2d", "\\ud83d\\ude00", "\\uD83D\\uDE00", "\\ud83d", "\\ude00", "\\ud83dx",
    "\\ud83d\\u0041", "\\u0000", "\\uFFFF", "\\n", "\\t", "\\\\", "\\/", '\\"', "\\b\\f\\r", "\\x",
    "\\u12", "\\u12g4", "\\", "\x01", "\t", "\x1f", "\x00", '"', "'", "x" * 63, "y" * 64, "z" * 65,
    "é" * 40, "中" * 40,
]  # fmt: skip
STRINGS = st.lists(st.sampled_from(CHARACTERS), max_size=6).map(lambda c: f'"{"".join(c)}"')
SOUND = st.text(max_size=90).map(json.dumps) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=90
).map(lambda text: json.dumps(text, ensure_ascii=False))
SPACE = st.sampled_from([""] * 6 + [" ", "\t", "\r", "  ", "\x0b", "\xa0"])
SCALARS = st.sampled_from(NUMBERS) | STRINGS | SOUND


def joined(values, brackets):
    return st.builds(
        lambda found, a, b: brackets[0] + a + ",".join(found) + b + brackets[1],
        st.lists(values, max_size=3), SPACE, SPACE,
    )  # fmt: skip


NAMES = st.sampled_from([
    '"text"', '"text"', '"id"', '"p"', '"x"', '""', '"te\\u0078t"', '"Text"', "text", '"\\ud800"',
    "1",
])  # fmt: skip


def members(values):
    return st.builds(
        lambda name, a, b, value: f"{name}{a}:{b}{value}", NAMES | SOUND, SPACE, SPACE, values
    )


VALUES = st.recursive(
    SCALARS,
    lambda inner: joined(inner, "[]") | joined(members(inner), "{}"),
    max_leaves=6,
)
OBJECTS = joined(members(VALUES), "{}")
TEXT = st.builds(lambda text: f'"text":{text}', SOUND | STRINGS)


@st.composite
def rows(draw):
    """A row that is mostly sound: several members, the text among them."""
    inner = draw(st.lists(members(VALUES), max_size=3))
    inner.insert(draw(st.integers(0, len(inner))), draw(TEXT))
    if draw(st.booleans()):
        inner.append(f'"p":{draw(st.sampled_from(NUMBERS))}')
    if draw(st.booleans()):
        inner.append(f'"x":{draw(SCALARS)}')
    row = draw(SPACE) + "{" + ",".join(inner) + "}" + draw(SPACE)
    return row + draw(st.sampled_from(["", "", "", "", "}", "]", ",", "{}", "x"]))


@st.composite
def messages(draw):
    """A message of a chat, mostly sound."""
    role, content = draw(st.sampled_from([("role", "content")] * 3 + [("from", "value")]))
    who = draw(st.sampled_from(['"user"', '"user"', '"tool"', "null", '"us\\u0065r"', "1"]))
    inner = [f'"{role}":{who}', f'"{content}":{draw(SOUND | STRINGS | st.just("null"))}']
    names = st.sampled_from(["role", "content", "from", "value", "x"])
    extra = st.tuples(names, SCALARS | VALUES).map(lambda pair: f'"{pair[0]}":{pair[1]}')
    inner += draw(st.lists(extra, max_size=draw(st.integers(0, 1))))
    return "{" + draw(SPACE) + ",".join(draw(st.permutations(inner))) + draw(SPACE) + "}"


CHATS = joined(messages(), "[]")


@st.composite
def records(draw):
    """A row with several texts and chats, mostly sound."""
    inner = draw(st.lists(members(VALUES), max_size=1))
    for name in draw(st.permutations(["text", "t"])):
        inner.append(f'"{name}":{draw(CHATS | CHATS | SOUND | STRINGS | st.just("null"))}')
    return draw(SPACE) + "{" + ",".join([*inner, '"id":"a"', '"x":1']) + "}"


@st.composite
def damaged(draw, rows=rows):
    """Bytes of a row, some of them changed."""
    row = bytearray(draw(rows()).encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(row)))
        some = [
            b"\xff", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80",
        ]  # fmt: skip
        row[at : at + draw(st.integers(0, 2))] = draw(st.sampled_from([*some, b"", b'"', b"\\"]))
    return bytes(row)


LINES = (
    (rows() | OBJECTS | VALUES).map(lambda row: row.encode("utf-8", "surrogatepass"))
    | damaged()
    | st.binary(max_size=12)
).map(lambda line: line.replace(b"\n", b"") + b"\n")


@share(2)
@given(lines=st.lists(LINES, min_size=1, max_size=5), ended=st.booleans())
@example(lines=[b'{"text":"' + b"a" * n + b'"}\n' for n in range(50, 80)], ended=False)
@example(lines=[b'{"text":"' + b"a" * n + b'\\n"}\n' for n in range(50, 80)], ended=True)
@example(
    lines=[b'{"text":"' + b"a" * n + "中é".encode() + b'"}\n' for n in range(50, 80)], ended=True
)
@example(lines=[b'{"text":"' + b"a" * n + b"\xe4\xb8" + b'"}\n' for n in range(50, 80)], ended=True)
@example(lines=[b'{"text":"' + b"a" * n + b"\xe4\xb8" for n in range(50, 80)], ended=True)
@example(lines=[b'{"text":"a","text":"b"}\n', b'{"text":1,"text":"b"}\n'], ended=True)
@example(lines=[b'{"text":"a","id":"x","id":2}\n', b'{"text":"a","id":2,"id":null}\n'], ended=True)
@example(lines=[b'{"text":"a",\n', b'"id":1}\n', b'{"text":\n', b'"b"}\n'], ended=True)
@example(lines=[b'\xef\xbb\xbf{"text":"a"}\n', b'{"text":"a"}\r\n', b"\n", b"\r\n"], ended=True)
@example(
    lines=[
        b'{"text":"a","x":' + b"[" * n + b"]" * n + b"}\n" for n in (1, 63, 64, 65, 66, 500, 2000)
    ],
    ended=True,
)
@example(lines=[b'{"text":"a","x":' + b'{"a":[' * 40 + b"]}" * 40 + b"}\n"], ended=True)
def test_as_the_json_module(isa, lines, ended):
    lines = encoded(lines, ended)
    for keys in (KEYS, (b"text", b"id", None), (b"text", None, None), (*KEYS, b"x")):
        check(isa, lines, keys)


RECORDS = (
    (records().map(lambda row: row.encode("utf-8", "surrogatepass")) | damaged(records))
    .map(lambda line: line.replace(b"\n", b"") + b"\n")
)  # fmt: skip


@pytest.mark.parametrize("texts", [("text",), ("t", "text")])
@share(2)
@given(
    lines=st.lists(RECORDS, min_size=1, max_size=5), join_with=st.sampled_from(["", "\n", "é" * 8]),
    roles=st.sampled_from([None, ("user",), ("nobody", "tool", "user")]), ended=st.booleans(),
)  # fmt: skip
def test_texts_and_chats_as_the_json_module(isa, texts, lines, join_with, roles, ended):
    lines = encoded(lines, ended)
    source = Source("a.jsonl", "jsonl", None, Options(texts, join_with, roles, labels=("x",)))
    keys = *(name.encode() for name in texts), b"id", b"x"
    how = {"texts": len(texts), "labels": len(texts) + 1, "join_with": join_with.encode()}
    how["roles"] = tuple(role.encode() for role in roles or ())
    for line, found in zip(lines, read(isa, lines, keys, **how), strict=True):
        if found is None:  # it is the json module that reads the line
            continue
        if "x" in json.loads(line):
            text, identity, (label,) = JsonRows(source).parse(1, line.decode())
            assert found[0] == text, line
            assert all(map(agrees, found[1:], (identity, label))), line


def test_usual_chats_are_not_refused(isa):
    chats = [
        '[{"role":"user","content":"a"},{"content":"","role":"user"},{"role":"user","content":"b"}]',
        '[ { "from" : "user" , "value" : "a" , "n" : [1] } , {"value":null,"from":"user"} ]',
        '[{"role":"tool","content":"x"},{"role":"user","content":"x","content":"a\\u00e9"}]',
        "[]",
        "null",
        '"string"',
    ]
    lines = [f'{{"text":{chat},"x":0,"t":"t"}}\n'.encode() for chat in chats]
    joined_with = {"join_with": b"--", "roles": ()}
    one = read(isa, lines, (b"text", None), **joined_with)
    assert one == [("a--b", None), ("a", None), ("x--aé", None), ("", None), (None, None),
                   ("string", None)]  # fmt: skip
    some = read(isa, lines, (b"text", None), join_with=b"--", roles=(b"user",))
    assert some == [*one[:2], ("aé", None), *one[3:5], None]  # a string has no roles
    two = read(isa, lines, (b"t", b"text", b"id"), texts=2, **joined_with)
    texts = ["t--a--b", "t--a", "t--x--aé", "t", "t", "t--string"]
    assert two == [(text, None) for text in texts]


@pytest.mark.parametrize(
    "chat",
    [
        "[1]", "[null]", "[[]]", "[{}]", '[{"role":"user"}]', '[{"content":"a"}]',
        '[{"role":null,"content":"a"}]', '[{"role":"user","content":1}]',
        '[{"role":"user","content":[]}]', '[{"role":"us\\u0065r","content":"a"}]',
        '[{"r\\u006fle":"user","content":"a"}]', '[{"role":"user","value":"a"}]',
        '[{"role":"user","content":"a"}', '[{"role":"user","content":"a"},]', "[,]", "[",
        '[{"role":"user","content":"a"', '[{"role":"user","content":"', '[{"role', "[{",
    ],
)  # fmt: skip
def test_other_chats_are_refused(isa, chat):
    lines = [f'{{"text":{chat}{end}'.encode() for end in ("}\n", "}", "\n", "")]
    assert read(isa, lines, (b"text", None), roles=()) == [None] * 4
    assert read(isa, lines[:1], (b"text", None)) == [None]


@given(value=st.floats(allow_nan=False) | st.integers(-(2**70), 2**70), seed=st.integers(0, 3))
def test_numbers_to_the_bit(isa, value, seed):
    form = [repr, "{:.3f}".format, "{:.12e}".format, "{:.20g}".format][seed]
    written = form(value).encode()
    (found,) = read(isa, [b'{"text":"","p":' + written + b"}\n"])
    if found is None:
        assert abs(value) >= 2**63
    else:
        assert agrees(found[2], json.loads(written))


@pytest.mark.parametrize("length", range(60, 70))
def test_every_place_of_a_wrong_byte(isa, length):
    wrong = [
        b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80", b"\x80", b"\xe4\xb8", b"\xff", b"\xc3(", b"\xe2\x82(",
    ]  # fmt: skip
    right = [
        b"\xc2\x80", b"\xe0\xa0\x80", b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xf0\x90\x80\x80",
        b"\xf4\x8f\xbf\xbf", b"\xc3\xbf", b"\xef\xbf\xbf",
    ]  # fmt: skip
    for behind in (b"", b"b", "é".encode() * 70):
        lines = [b'{"text":"' + b"a" * length + each + behind + b'"}\n' for each in wrong + right]
        found = read(isa, lines, (b"text", None, None))
        assert found[: len(wrong)] == [None] * len(wrong)
        texts = [(b"a" * length + each + behind).decode() for each in right]
        assert [each and each[0] for each in found[len(wrong) :]] == texts


def test_some_of_the_lines_in_any_order(isa):
    lines = [b'{"text":"%d"}\n' % i for i in range(40)]
    order = np.random.default_rng(1).permutation(40)[:20]
    found = read(isa, lines, (b"text", None, None), order)
    assert [each[0] for each in found] == [str(i) for i in order]


@given(st.text(st.sampled_from("a\r\n"), max_size=80), st.booleans(), st.booleans())
def test_line_bounds(text, last, returns):
    data = np.frombuffer(text.encode(), np.uint8)
    found = _rows.line_bounds(data, last, returns=returns)
    lines = io.StringIO(text, newline="" if returns else "\n").readlines()
    if lines and not last and not lines[-1].endswith("\n"):  # a line feed, or more, may follow
        lines.pop()
    assert found.tolist() == bounds_of(lines).tolist()


CLOSED, BROKEN = 1, 2
PIECES = [*'"\\,{}[] :1', "\n", "\r", "\x01", '\\"', "a" * 70, '"b"', '{"c": ["]", {}]}', "é" * 40]
ARRAYS = st.lists(st.sampled_from([*PIECES, "[" * 70 + "]" * 70]), max_size=14).map("".join)
"""Bytes behind the bracket of an array."""


def elements_of(data):
    """Return where elements end, and what has ended the array, byte by byte."""
    ends, brackets, complete, quoted = [], [], False, 0
    for at, byte in enumerate(data):
        c = chr(byte)
        if quoted == 2:
            quoted = 1
        elif quoted and (byte < 32 or c in '"\\'):
            if byte < 32:
                return [*ends, at + 1], BROKEN
            quoted = 2 if c == "\\" else 0
            complete = not quoted and not brackets
        elif quoted:
            continue
        elif not brackets and c in ",]":
            ends.append(at + 1)
            complete = False
            if c == "]":
                return ends, CLOSED
        elif (complete and c not in " \t\r\n") or (c in "]}" and brackets[-1:] != [c]):
            return [*ends, at + 1], BROKEN
        elif c in "[{":
            brackets.append("]" if c == "[" else "}")
        elif c in "]}":
            brackets.pop()
            complete = not brackets
        elif c == '"':
            quoted = 1
    return ends, 0


@given(ARRAYS, st.integers(0, 400))
def test_element_bounds(text, cut):
    data = np.frombuffer(text.encode(), np.uint8)
    scan = np.zeros(5, np.int64)
    found = _rows.element_bounds(data, scan)
    assert (found[1:].tolist(), scan[0]) == elements_of(data.tolist())
    scan[:] = 0  # in two parts
    first = _rows.element_bounds(data[:cut], scan)[1:]
    second = _rows.element_bounds(data[cut:], scan)[1:] + cut
    assert [*first, *second] == found[1:].tolist()


@given(ARRAYS.map(lambda text: f" {text}"), st.sampled_from([(32, 32), (11, 12)]))
def test_element_lines(text, breaks):
    data = np.frombuffer(text.encode(), np.uint8)
    bounds = _rows.element_bounds(data, np.zeros(5, np.int64))
    bounds = bounds[len(bounds) > 2 :]  # behind the first row
    lines, found = _rows.element_lines(data, bounds, *breaks)
    expected = []
    for start, stop in pairwise(bounds.tolist()):
        piece = data[start:stop].tobytes()
        piece = (piece[:-1] if piece[-1:] in (b",", b"]") else piece).strip(b" \t\r\n")
        expected.append(piece.translate(bytes.maketrans(b"\n\r", bytes(breaks))) + b"\n")
    assert lines.tobytes() == b"".join(expected)
    assert found.tolist() == bounds_of(expected).tolist()


HIDDEN = st.sampled_from(
    ["ab", "é", '"ab"', '"é"', '"b', '"', "\\u0061", "\\u002f", "\\n", "}", " "]
)


@given(
    lines=st.lists(st.tuples(st.integers(0, 140), st.lists(HIDDEN, max_size=3)), max_size=5),
    names=st.sampled_from([("ab",), ("b", "é", "ab"), ("",), ()]), lowest=st.sampled_from("52\0"),
    ended=st.booleans(), spread=st.integers(0, 70),
)  # fmt: skip
def test_object_ends(isa, lines, names, lowest, ended, spread):
    texts = ["." * before + ("-" * spread).join(hidden) + "}\n" for before, hidden in lines]
    data = encoded(texts, ended)
    bounds, whole = bounds_of(data), np.frombuffer(b"".join(data), np.uint8)
    ends, doubtful = np.zeros(len(data), np.int64), np.full(len(data), 9, np.uint8)
    wanted = tuple(name.encode() for name in names)
    isa.object_ends(whole, bounds, np.arange(len(data)), wanted, ord(lowest), ends, doubtful)
    assert ends.tolist() == [bounds[i] + line.rindex(b"}") for i, line in enumerate(data)]
    escape = {"5": r"\\u00[5-7]", "2": r"\\u00[2-7]", "\0": r"\\"}[lowest]
    expected = [
        any(f'"{name}"' in text for name in names) or bool(re.search(escape, text))
        for text in texts
    ]
    assert doubtful.tolist() == expected


@given(st.lists(st.tuples(*3 * [st.binary(max_size=9)]), max_size=9), st.integers(0, 2**32 - 1))
def test_lines_with_tails(lines, seed):
    order = np.random.default_rng(seed).permutation(len(lines))
    bounds = np.cumsum([0, *(len(before + behind) for before, _, behind in lines)])
    ends = bounds[:-1] + [len(before) for before, _, _ in lines]
    tails = [lines[i][1] for i in order]
    found = _rows.lines_with_tails(
        np.frombuffer(b"".join(before + behind for before, _, behind in lines), np.uint8), bounds,
        order, ends.astype(np.int64)[order], np.frombuffer(b"".join(tails), np.uint8),
        bounds_of(tails),
    )  # fmt: skip
    assert found == b"".join(b"".join(lines[i]) for i in order)


PLACED = [
    '{"text": "a", "n": 1}', '{"text":"a","text" :\t"b"}',
    ' {"a": {"text": 1}, "text": [{"b": "}"}]} ',
    '{"text": "\\ud800 \\" \\\\"}', '{"é": "☃", "text": null}', '{"text": NaN, "a": "é"}',
    '{"n":-1e3,"text":""}',
]  # fmt: skip
UNPLACED = [
    "{}", "[]", '{"a": "text"}', '{"te\\u0078t": 1}', '{"text": 1, "te\\u0078t": 2}',
    '{"text": "a"', '{"text": "a"}}', '{"text": \'a\'}', '{"text" "a"}',
    '{"a": {"text": 1}}', "", '{"text": "a",}',
]  # fmt: skip


@given(
    lines=st.lists(st.sampled_from([*PLACED, *UNPLACED]), max_size=8), ended=st.booleans(),
    spread=st.integers(0, 70), seed=st.integers(0, 99),
)  # fmt: skip
@example(lines=[*PLACED, *UNPLACED], ended=True, spread=0, seed=0)
def test_value_places(isa, lines, ended, spread, seed):
    data = encoded([f"{' ' * spread}{line}\n" for line in lines], ended)
    bounds, order = bounds_of(data), np.random.default_rng(seed).permutation(len(data))
    whole = b"".join(data)
    places, plain = np.full((len(data), 2), -7), np.zeros(len(data), np.uint8)
    plain[::2] = 1
    before = plain.copy()
    isa.value_places(np.frombuffer(whole, np.uint8), bounds, order, b"text", places, plain)
    for n, row in enumerate(order.tolist()):
        if lines[row] in UNPLACED:
            assert places[n, 0] == -1
            assert plain[n] == before[n]
            continue
        start, stop = places[n].tolist()
        raw = data[row].decode()
        new = raw[: len(whole[bounds[row] : start].decode())] + '"X"'
        new += whole[stop : bounds[row + 1]].decode()
        assert new == json_with_text(raw, "text", "X", plain=True)
        assert plain[n] == (before[n] or raw.isascii())


@given(st.lists(st.tuples(st.text(st.characters(), max_size=9), st.booleans()), max_size=6))
@example([('\x7f\x1f\x00 \b\t\n\f\r"\\/\x80\xff', plain) for plain in (False, True)])
@example([("\u0800\ud7ff\ue000\uffff\x7f", plain) for plain in (False, True)])
@example([("\U00010000\U0010ffff\u07ff\x7f", plain) for plain in (False, True)])
@example([("é\ud800", False), ("\ud83d\ude00 é", False), ("\udfff\U0001f600", True), ("é", False)])
def test_json_strings(texts):
    offsets = np.zeros(len(texts) + 1, np.int64)
    plain = np.array([plain for _, plain in texts], np.uint8)
    spans = _texts.spans_of_list([text for text, _ in texts])
    found = _rows.json_strings(spans, plain, offsets)
    expected = []
    for text, escapes in texts:
        surrogate = any("\ud800" <= c <= "\udfff" for c in text)
        expected.append(json.dumps(text, ensure_ascii=escapes or surrogate).encode())
    assert found == b"".join(expected)
    assert offsets.tolist() == bounds_of(expected).tolist()


def test_every_character_as_a_json_string():
    text = "".join(map(chr, range(0x110000)))
    for each in (text[:256], text[:0xD800], text[0xE000:0x10000], text):
        for plain in (0, 1):
            flags, offsets = np.array([plain], np.uint8), np.zeros(2, np.int64)
            found = _rows.json_strings(_texts.spans_of_list([each]), flags, offsets)
            escapes = bool(plain) or each is text
            assert found == json.dumps(each, ensure_ascii=escapes).encode()


@given(st.lists(st.tuples(st.binary(max_size=5), st.booleans()), max_size=12), st.integers(0, 3))
def test_chosen_lines(lines, before):
    data = b"." * before + b"".join(line for line, _ in lines)
    bounds = before + np.cumsum([0, *(len(line) for line, _ in lines)])
    chosen = np.array([kept for _, kept in lines], np.uint8)
    found = _rows.chosen_lines(np.frombuffer(data, np.uint8), bounds, chosen)
    assert found == b"".join(line for line, kept in lines if kept)


FIELDS = st.text(st.sampled_from('ab",;\n\r\0\xe9\u20ac'), max_size=4)


@given(
    st.lists(st.lists(FIELDS, min_size=1, max_size=3), max_size=4), st.booleans(), st.booleans(),
    st.sampled_from(["\n", "\r\n", "\r", ""]),
)  # fmt: skip
def test_delimited_fields(table, written, quotes, end):
    quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    if written:  # by the csv module, so that most rows are usual
        rows = []
        for fields in table:
            csv.writer(line := io.StringIO(newline="")).writerow(fields)
            rows.append(line.getvalue().removesuffix("\r\n") + end)
    else:
        rows = [",".join(fields) + end for fields in table]
    data = [row.encode() for row in rows]
    width = len(table[0]) if table else 1
    read = []
    for row in rows:
        reader = csv.reader(io.StringIO(row, newline=""), strict=True, quoting=quoting)
        with contextlib.suppress(csv.Error):
            read += [fields for fields in reader if fields]
    whole = np.frombuffer(b"".join(data), np.uint8)
    bounds = bounds_of(data)
    out, members = np.zeros(len(whole), np.uint8), np.zeros((6, len(rows)), np.int64)
    columns = width - 1, 0, width - 1
    used, is_ascii = _rows.delimited_fields(
        whole, bounds, np.arange(len(rows)), b",", quotes, width, columns, out, members
    )
    assert is_ascii == b"".join(data).isascii() or used < 0
    usual = len(read) == len(rows) and all(len(fields) == width for fields in read)
    if used < 0:
        assert written <= ("\0" in "".join(rows) or not usual)
        return
    assert usual
    for row, fields in enumerate(read):
        for place, column in enumerate(columns):
            start, size = members[2 * place : 2 * place + 2, row]
            assert out[start : start + size].tobytes().decode() == fields[column]

"""A sound call of every `def` of the compiled kernels, for tests that spoil its arguments.

`CASES` maps the name of a function, method or class to a function that returns what is called
and its arguments by name. Names of arguments that begin with an underscore are arrays that an
object holds: whoever spoils them writes into them.
"""

import threading

import numpy as np

from fastlsh._kernels.candidates import _candidates
from fastlsh._kernels.common import _common
from fastlsh._kernels.compat import _compat
from fastlsh._kernels.index import _index
from fastlsh._kernels.minhash import _signatures
from fastlsh._kernels.passages import _passages
from fastlsh._kernels.rows import _rows
from fastlsh._kernels.sets import _sets
from fastlsh._kernels.text import _normal, _plans, _texts
from fastlsh._kernels.text._texts import spans_of_list
from fastlsh.texts import TokenIds

TEXTS = ["the quick brown fox jumps", "", "jumps over the lazy dog", "naïve ☃ \U0001f600 text"]
INT32, INT64 = np.int32, np.int64
UINT8, UINT32, UINT64 = np.uint8, np.uint32, np.uint64


def case(call, **arguments):
    """Return a function that returns what is called, and copies of arrays that may be written."""

    def made():
        return call, {
            name: value.copy() if isinstance(value, np.ndarray) and value.flags.writeable else value
            for name, value in arguments.items()
        }

    return made


def spans(as_bytes=False):
    return spans_of_list(TEXTS, as_bytes=as_bytes)


def some_ids():
    values = np.array([5, 2**17, 3, 2**40, 0], INT64)
    places = np.array([0, 2, 2, 3, 5])
    return _texts.spans_of_ids(values.view(UINT8), 8, True, places, np.arange(4))


def lines():
    return spans_of_list(["one\ntwo\n\nthree", None, "☃ four\r\nfive\n", "\n\U0001f600"])


def some_lines():
    return np.array([[0, 4, 7], [2, 0, 6], [2, 8, 12], [3, 1, 2]])


def functions(k=8):
    draw = np.random.default_rng(1)
    return draw.integers(0, 2**32, k, UINT32) | UINT32(1), draw.integers(0, 2**32, k, UINT32)


def sign():
    a, b = functions()
    out, keys = np.zeros((4, 8), UINT32), np.zeros((2, 4), UINT64)
    return {"scheme": 0, "a": a, "b": b, "out": out, "rows": 3, "keys": keys}


def steps():
    characters = np.array([33, 46, 0x1F600], UINT32)
    return {
        "form": "NFKC", "lowercase": True, "numbers": True, "punctuation": "space",
        "characters": characters, "accents": True, "blanks": "collapse",
    }  # fmt: skip


def normaliser():
    return _normal.Normaliser(**steps())


def signatures():
    return _signatures.signatures, {"spans": spans(), "unit": 0, "size": 5, **sign()}


def token_signatures():
    offsets = np.array([0, 3, 3, 9, 10])
    return _signatures.token_signatures, {
        "tokens": np.arange(1, 11, dtype=UINT64), "offsets": offsets, "size": 2, **sign()
    }  # fmt: skip


def hash_signatures():
    arguments = {"hashes": np.arange(9, dtype=UINT64), "offsets": np.array([0, 3, 3, 9, 9])}
    some = sign()
    return _signatures.hash_signatures, {
        **arguments,
        **{n: some[n] for n in ("scheme", "a", "b", "out")},
    }


def shingle_sets():
    return _sets.shingle_sets, {
        "units": spans(), "offsets": None, "unit": 0, "size": 5,
        "out": np.zeros(400, UINT64), "start": np.arange(0, 401, 100),
        "count": np.zeros(4, INT64), "unique": True, "thinned": False,
    }  # fmt: skip


SECRET = np.random.default_rng(3).integers(0, 2**64, 531, UINT64) | UINT64(1)


def keyed(unit, size):
    return _plans.ShinglePlan(unit, size, SECRET)


def with_plan(case, unit, size):
    def made():
        call, arguments = case()
        return call, {**arguments, "prepared": keyed(unit, size)}

    return made


def shingle_sets_of_tokens():
    call, arguments = shingle_sets()
    tokens = {"units": np.arange(1, 11, dtype=UINT64), "offsets": np.array([0, 3, 3, 9, 10])}
    return call, {**arguments, **tokens, "unit": 1}


def made_sets():
    call, arguments = shingle_sets()
    call(**arguments)
    return {
        "hashes": arguments["out"],
        "start": arguments["start"][:4],
        "count": arguments["count"],
    }


def set_jaccard():
    pairs = {"left": np.array([0, 1, 2]), "right": np.array([2, 3, 3])}
    return _sets.set_jaccard, {**made_sets(), **pairs, "threshold": 0.1, "out": np.zeros(3)}


def number_jaccard():
    pairs = {"left": np.array([0, 1, 2]), "right": np.array([2, 3, 4])}
    return _sets.number_jaccard, {**sets_of_five(), **pairs, "threshold": 0.1, "out": np.zeros(3)}


def lists():
    """Return five lists of numbers, as `Numbers.replace` takes and leaves them."""
    values = np.random.default_rng(3).integers(0, 500, 200).astype(UINT64)
    return {"lists": values, "start": np.arange(0, 200, 40), "count": np.full(5, 20)}


def pack_numbers():
    outputs = {"place": np.zeros(5, INT64), "size": np.zeros(5, INT64)}
    return _sets.pack_numbers, {**lists(), "out": np.zeros(205, UINT64), **outputs}


def agreement():
    pairs = {"left": np.array([0, 1, 2]), "right": np.array([2, 3, 3])}
    return _sets.agreement, {"signatures": np.ones((4, 8), UINT32), **pairs, "out": np.zeros(3)}


def murmur_minima():
    return _compat.murmur_minima, {
        "spans": spans(True), "size": 5, "seeds": np.arange(6, dtype=UINT32),
        "out": np.zeros((4, 6), UINT32), "sentinel": False,
    }  # fmt: skip


def permutations(scheme=2):
    return _compat.Permutations, {
        "scheme": scheme, "coefficients": np.arange(1, 13, dtype=UINT64).reshape(2, 6)
    }  # fmt: skip


def add_token():
    call, arguments = permutations()
    return call(**arguments).add_token, {"token": b"token", "row": np.ones(6, UINT64)}


def add_hashes():
    call, arguments = permutations()
    return call(**arguments).add_hashes, {
        "hashes": np.arange(40, dtype=UINT64), "rows": np.ones(12, UINT64),
        "offsets": np.array([0, 17, 40]),
    }  # fmt: skip


def tables():
    """Return tables with room for 6 documents, of which 3 are there, with sets."""
    kernel = _index.BandTables(8, 2, 3, True)
    kernel.reserve(6, 40, 1.0)
    for band in range(2):
        kernel.resize_table(band, 12)
    kernel.append(**inserted())
    kernel.switch(0, np.empty(0, INT64))
    return kernel


def tables_over():
    return _index.BandTables.over, {
        "signatures": np.arange(48, dtype=UINT32).reshape(6, 8) // 16,
        "slots": [np.zeros(12, UINT64) for _ in range(2)],
        "links": [np.zeros(6, UINT32) for _ in range(2)],
        "rows": 3, "hashes": np.arange(40, dtype=UINT64),
        "offsets": np.array([0, 4, 8, 12, 12, 12, 12]),
    }  # fmt: skip


def method_of_tables(name, more):
    return lambda: (getattr(tables(), name), more())


def inserted():
    given = asked()
    return {name: given[name] for name in ("signatures", "hashes", "offsets", "first", "last")}


def asked():
    return {
        "signatures": np.arange(24, dtype=UINT32).reshape(3, 8) // 8,
        "hashes": np.arange(20, dtype=UINT64), "offsets": np.array([0, 6, 12, 20]),
        "first": 0, "last": 3, "mode": 0, "threshold": 0.2,
    }  # fmt: skip


def query():
    return {
        **asked(), "limit": 2, "out": np.zeros((9, 2)), "counts": np.zeros(3, INT64),
        "halt": np.zeros(1, UINT8),
    }  # fmt: skip


def packed_room():
    size = np.zeros(4, INT64)
    _texts.packed_sizes(spans(), size)
    offsets = np.concatenate([[0], np.cumsum(size)])
    return {"offsets": offsets, "words": np.zeros(offsets[-1], UINT64)}


def packed_texts():
    room = packed_room()
    _texts.pack_texts(spans(), **room)
    return room


def texts_asked():
    """Return `asked` for packed texts; all of them share a bucket."""
    held = packed_texts()
    return {
        **asked(), "signatures": np.ones((4, 8), UINT32), "hashes": held["words"],
        "offsets": held["offsets"], "last": 4, "mode": 3,
    }  # fmt: skip


def tables_of_texts():
    kernel = _index.BandTables(8, 2, 3, True)
    kernel.reserve(9, 90, 1.0)
    for band in range(2):
        kernel.resize_table(band, 12)
    given = texts_asked()
    kernel.append(**{n: given[n] for n in ("signatures", "hashes", "offsets", "first", "last")})
    kernel.switch(0, np.empty(0, INT64))
    return kernel


def query_of_texts():
    return tables_of_texts().query, {
        **query(), **texts_asked(), "counts": np.zeros(4, INT64),
        "reader": _index.TextReader(0, 5),
    }  # fmt: skip


def unique_of_texts():
    return tables_of_texts().insert_unique, {
        **texts_asked(), "own": 4, "limit": 2, "fresh": np.zeros(4, UINT8),
        "matches": np.zeros(4, INT64),
        "reader": _index.TextReader(0, 5),
    }  # fmt: skip


def keeper():
    return _candidates.Keeper, {
        "root": np.array([[0, -1], [0, 1], [0, 1], [-1, 1], [-1, -1]], INT32),
        "signatures": np.ones((6, 8), UINT32), "document": np.array([1, 2, 3, 0, 5]),
        "fixed": np.zeros(5, UINT8), "threshold": 0.1, "mode": 0, "limit": 2,
        "role": np.array([[0, 0], [1, 2], [2, 1], [0, 3], [0, 0]], UINT8),
    }  # fmt: skip


def method_of_keeper(name, more):
    def case():
        _, given = keeper()
        kernel = _candidates.Keeper(**given)
        kernel.settle(0, 2, **sets_of_five(), **decided(2))
        held = {f"_{n}": a for n, a in given.items() if isinstance(a, np.ndarray)}
        return getattr(kernel, name), {**held, "first": 2, "last": 5, **more()}

    return case


def require():
    _, given = keeper()
    kernel = _candidates.Keeper(**given)
    return kernel.require, {**sets_of_five(), "threshold": 0.1}


def sets_of_five():
    _, arguments = pack_numbers()
    end = _sets.pack_numbers(**arguments)
    words = arguments["out"][:end].copy()
    return {"words": words, "start": arguments["place"], "count": arguments["size"]}


def decided(n):
    return {"hit": np.full(n, -1, INT32), "similarity": np.zeros(n), "unsure": np.zeros(n, UINT8)}


def candidates():
    return {"out": np.zeros(9, INT32), "offsets": np.zeros(4, INT64)}


def first_hits():
    outputs = decided(3)
    del outputs["unsure"]
    found = {"candidates": np.array([0, 1, 0, 1], INT32), "offsets": np.array([0, 2, 3, 4])}
    return {**found, **sets_of_five(), **outputs}


def link():
    keys = np.random.default_rng(4).integers(0, 2**64, 9, UINT64)
    keys[3:6] = keys[:3]
    return _candidates.link, {
        "keys": keys, "table": np.zeros(18, INT32), "later": np.zeros(9, INT32),
        "earlier": np.zeros(9, INT32),
    }  # fmt: skip


PREVIOUS = np.array([-1, 0, -1, 1, 2, 3], INT32)


def emit_pairs():
    return _candidates.emit_pairs, {
        "signatures": np.ones((6, 8), UINT32), "rows": 3, "documents": np.arange(6),
        "previous": np.stack([PREVIOUS, PREVIOUS]), "at": np.array([0, 0, -1]), "stop": 6,
        "left": np.zeros(9, INT32), "right": np.zeros(9, INT32), "room": 0,
        "asks": np.array([0, 0, 0, 1, 0, 1], np.uint8),
    }  # fmt: skip


def share_first():
    return _candidates.share_first, {
        "signatures": np.ones((6, 8), UINT32), "rows": 3, "bands": 2, "documents": np.arange(6),
        "left": np.array([0, 1, 2]), "right": np.array([5, 4, 3]), "band": np.array([0, 1, 0]),
        "first": np.zeros(3, np.uint8),
    }  # fmt: skip


def inverted():
    return {
        "numbers": np.array([3, 1, 0, 2, 1, 3, 3], UINT32), "begin": np.array([0, 2, 4, 7]),
        "start": np.array([0, 2, 4, 7]), "threshold": 0.4, "lists": np.array([0, 1, 3, 4, 7]),
        "postings": np.zeros(7, INT32), "elements": np.zeros(7, UINT32),
    }  # fmt: skip


def joined():
    given = inverted()
    _sets.invert(**given)
    kept = {n: given[n] for n in ("start", "elements", "lists", "threshold")}
    return {
        "size": np.array([2, 2, 3]),
        **kept,
        "postings": given["postings"][: given["lists"][-1]],
    }


def pairs():
    given = joined()
    held = {f"_{n}": a for n, a in given.items() if isinstance(a, np.ndarray)}
    return _sets.SetJoin(**given).pairs, {
        **held, "at": np.array([0]), "last": 3, "scratch": np.zeros((2, 3), INT32),
        "left": np.zeros(5, INT32), "right": np.zeros(5, INT32), "similarity": np.zeros(5),
    }  # fmt: skip


def ids():
    data = np.frombuffer(b"oneonetwothree", UINT8).copy()
    return {
        "data": data,
        "offsets": np.array([0, 3, 6, 9, 14]),
        "n": 4,
        "table": np.zeros(9, UINT64),
    }


def find_id():
    given = ids()
    _index.link_ids(**given)
    return _index.find_id, {**given, "wanted": b"two"}


def key_buckets():
    buckets = _compat.KeyBuckets(2, 3)
    for key in range(40):
        buckets.insert(key, np.arange(key // 2, key // 2 + 6, dtype=UINT64))
    return buckets


def method_of_keys(name, **arguments):
    return lambda: (getattr(key_buckets(), name), dict(arguments))


class Column:
    """Speaks the Arrow protocol, as its arguments say."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema=None):
        return self.capsule


def stream():
    offsets = np.array([0, 3, 3, 5])
    return _texts.arrow_stream([("text", "U", [offsets, np.frombuffer(b"onetw", UINT8)])], 3)


def column(name=None, **arguments):
    def case():
        if name is None:
            return lambda capsule: _texts.ArrowColumn(Column(capsule)), {"capsule": stream()}
        return getattr(_texts.ArrowColumn(Column(stream())), name), dict(arguments)

    return case


def of_spans(name, **arguments):
    return lambda: (getattr(spans(), name), dict(arguments))


REPEATED = ["one two three four", "a two three b", "two three two three"]


def winnow():
    return _passages.winnow, {
        "texts": spans_of_list(REPEATED), "length": 8, "gram": 3, "keys": np.zeros(40, UINT64),
        "rows": np.zeros((40, 4), INT64), "echoes": np.zeros((2, 5), INT64),
    }  # fmt: skip


def repeats():
    _, given = winnow()
    count, _ = _passages.winnow(**given)
    rows, (_, group) = given["rows"][:count], np.unique(given["keys"][:count], return_inverse=True)
    order = np.argsort(group, kind="stable")
    columns = [rows[order], rows[order, 0], np.zeros(count, INT64)]
    return _passages.repeats, {
        "texts": given["texts"], "occurrences": np.column_stack(columns),
        "groups": np.append(np.flatnonzero(np.diff(group[order], prepend=-1)), count),
        "length": 8, "out": np.zeros((20, 5), INT64),
    }  # fmt: skip


def cuts():
    matches = np.array([[1, 2, 11, 0, 4], [2, 0, 9, 0, 4], [2, 9, 18, 1, 2]])
    return _passages.cuts, {"matches": matches, "texts": 3, "out": np.zeros((9, 5), INT64)}


GRAMS = np.array([[0, 0, 3], [0, 1, 3], [1, 0, 3], [2, 0, 2]])


def hash_grams():
    return _passages.hash_grams, {
        "texts": spans_of_list(REPEATED), "unit": _plans.WORDS, "grams": GRAMS.copy(),
        "mask": 2**64 - 1, "out": np.zeros(4, UINT64),
    }  # fmt: skip


def gram_table():
    _, given = hash_grams()
    _passages.hash_grams(**given)
    beginnings = np.zeros(1, UINT64)
    _passages.hash_grams(given["texts"], _plans.WORDS, np.array([[2, 0, 2]]), 2**64 - 1, beginnings)
    return _passages.GramTable, {
        "size": 3, "hashes": given["out"], "numbers": np.arange(4),
        "is_shorter": np.array([0, 0, 0, 1], UINT8), "least": 2, "shorter": np.array([2]),
        "beginnings": beginnings, "mask": 2**64 - 1,
    }  # fmt: skip


def find_grams():
    made, given = gram_table()
    return made(**given).find, {
        "texts": spans_of_list(REPEATED), "unit": _plans.WORDS, "out": np.zeros((9, 3), INT64),
    }  # fmt: skip


def words_of_each(texts):
    counts, places = (
        np.zeros(len(texts), INT64),
        np.zeros((len("".join(texts)) + len(texts), 2), INT64),
    )
    count = _plans.word_places(spans_of_list(texts), _plans.WORDS, counts, places)
    return places[:count].copy(), np.append(0, np.cumsum(counts))


def spans_of_numbers(texts):
    numbers = TokenIds(np.concatenate(texts).astype(UINT32), np.cumsum([0, *map(len, texts)]))
    return numbers.spans(0, len(texts))


def word_hashes():
    bounds, starts = words_of_each(REPEATED)
    return _passages.word_hashes, {
        "texts": spans_of_list(REPEATED), "starts": starts, "bounds": bounds, "bits": 2**64 - 1,
        "out": np.zeros(len(bounds), UINT64),
    }  # fmt: skip


def word_numbers():
    _, given = word_hashes()
    return _passages.WordNumbers, {**given, "out": np.zeros(len(given["out"]), UINT32)}


def find_words():
    made, given = word_numbers()
    return made(**given).find, {name: value for name, value in given.items() if name != "bits"}


def extend_grams():
    rows = np.array([[0, 0, 2, 0, 2], [0, 1, 0, 1, 3], [2, 0, 0, 2, 2], [2, 0, 1, 1, 2]])
    return _passages.extend_grams, {
        "texts": spans_of_numbers([[1, 2, 3, 4], [], [2, 3, 1]]),
        "others": spans_of_numbers([[3, 4, 2, 3], [0, 1, 2, 3]]), "rows": rows,
        "runs": np.zeros((4, 5), INT64), "run_of": np.zeros(4, INT64),
    }  # fmt: skip


def extend_grams_of_repeats():
    call, arguments = extend_grams()
    places = np.array([0, 1, 2, 3, 0, 1, 2, 3])
    arguments |= {"other_starts": np.array([0, 4, 8]), "other_ahead": np.zeros(8, INT64)}
    return call, {**arguments, "other_first": places}


def repeat_grams():
    return _passages.repeat_grams, {
        "texts": spans_of_numbers([[1, 2, 1], [], [3]]), "starts": np.array([0, 3, 3, 4]),
        "first": np.zeros(4, INT64), "size": 1, "ahead": np.zeros(4, INT64),
    }  # fmt: skip


def json_lines():
    lines = [b'{"text": "one", "id": 1}\n', b'{"id": "\\u00e9", "text": "\xc3\xa9"}\n', b"{}\n"]
    data = np.frombuffer(b"".join(lines), UINT8)
    return _rows.json_lines, {
        "data": data, "bounds": np.cumsum([0, *map(len, lines)]), "rows": np.array([2, 0, 1]),
        "keys": (b"text", b"id"), "labels": 2, "out": np.zeros(len(data) + _rows.PADDING, UINT8),
        "kinds": np.zeros((2, 3), UINT8), "members": np.zeros((4, 3), INT64),
    }  # fmt: skip


def json_lines_of_chats():
    lines = [
        b'{"text": [{"role": "a", "content": "a"}, {"role": "b", "content": "\xc3\xa9"}],'
        b'"t": ""}\n',
        b'{"t": "one", "text": [{"from": "b", "value": "\\u00e9"}]}',
    ]
    data = np.frombuffer(b"".join(lines), UINT8)
    return _rows.json_lines, {
        "data": data, "bounds": np.cumsum([0, *map(len, lines)]), "rows": np.array([1, 0]),
        "keys": (b"t", b"text", None), "labels": 3, "texts": 2, "join_with": b"\n",
        "roles": (b"b", b"c"), "out": np.zeros(len(data) + 2 + _rows.PADDING, UINT8),
        "kinds": np.zeros((2, 2), UINT8), "members": np.zeros((4, 2), INT64),
    }  # fmt: skip


def object_ends():
    lines = [b'{"a": {"b": 1}}\n', b'{"ab": "\\u0061"} \n', b'{"": 1}']
    data = np.frombuffer(b"".join(lines), UINT8)
    return _rows.object_ends, {
        "data": data, "bounds": np.cumsum([0, *map(len, lines)]), "rows": np.array([2, 0, 1]),
        "names": (b"b", b"a\xc3\xa9"), "lowest": 53, "ends": np.zeros(3, INT64),
        "doubtful": np.zeros(3, UINT8),
    }  # fmt: skip


def value_places():
    lines = [b'{"a": {"b": 1}}\n', b'{"ab": "\\u0061", "b": [2]} \n', b'{"b": "\xc3\xa9"}']
    return _rows.value_places, {
        "data": np.frombuffer(b"".join(lines), UINT8), "bounds": np.cumsum([0, *map(len, lines)]),
        "rows": np.array([2, 0, 1]), "key": b"b", "places": np.zeros((3, 2), INT64),
        "plain": np.zeros(3, UINT8),
    }  # fmt: skip


def lines_with_tails():
    return _rows.lines_with_tails, {
        "data": np.frombuffer(b"one\ntwo\nthree", UINT8), "bounds": np.array([0, 4, 8, 13]),
        "rows": np.array([2, 0]), "ends": np.array([13, 3]), "tails": np.frombuffer(b"ab", UINT8),
        "tail_bounds": np.array([0, 0, 2]),
    }  # fmt: skip


def delimited_fields():
    data = np.frombuffer(b'1,one,"a ""b"""\n\n2,"t\n,w",\r\n', UINT8)
    return _rows.delimited_fields, {
        "data": data, "bounds": np.array([0, 16, 17, 28]), "rows": np.array([2, 0]),
        "delimiter": b",", "quotes": True, "width": 3, "columns": (1, 0, 1),
        "out": np.zeros(len(data), UINT8), "members": np.zeros((6, 2), INT64),
    }  # fmt: skip


def text_column():
    data = np.frombuffer("one\u2603 two".encode(), UINT8)
    start, size = np.array([0, 7, 3, 0]), np.array([3, 3, 3, -1])
    return {"data": data, "start": start, "size": size, "strict": True}


def a_text_column():
    return _texts.TextColumn(**text_column())


def text_columns():
    return _texts.TextColumns([a_text_column(), a_text_column()])


CASES = {
    "hash_grams": hash_grams, "GramTable": gram_table, "GramTable.find": find_grams,
    "extend_grams": extend_grams, "extend_grams/repeats": extend_grams_of_repeats,
    "repeat_grams": repeat_grams,
    "json_lines": json_lines, "json_lines/chats": json_lines_of_chats,
    "delimited_fields": delimited_fields, "object_ends": object_ends,
    "lines_with_tails": lines_with_tails, "value_places": value_places,
    "json_strings": case(_rows.json_strings, texts=spans(), plain=np.array([0, 1, 0, 1], UINT8),
        offsets=np.zeros(5, INT64)),
    "line_bounds": case(_rows.line_bounds, data=np.frombuffer(b"one\r\n\ntwo", UINT8), last=True,
        returns=True),
    "chosen_lines": case(_rows.chosen_lines, data=np.frombuffer(b"one\n\ntwo\n", UINT8),
        bounds=np.array([0, 4, 5, 9]), chosen=np.array([1, 0, 1], UINT8)),
    "element_bounds": case(_rows.element_bounds, data=np.frombuffer(b'{"a": [1]},\n2]', UINT8),
        scan=np.zeros(5, INT64)),
    "element_lines": case(_rows.element_lines, data=np.frombuffer(b' {"a":\r\n1} ,2]', UINT8),
        bounds=np.array([0, 12, 14]), feed=11, back=12),
    "TextColumn": lambda: (_texts.TextColumn, text_column()),
    "TextColumn.__len__": case(a_text_column().__len__),
    "TextColumn.to_pylist": case(a_text_column().to_pylist),
    "TextColumn.packed": case(a_text_column().packed),
    "TextColumn.chosen": case(a_text_column().chosen, rows=np.array([3, 0, 0])),
    "TextColumn.spans": case(a_text_column().spans, start=1, stop=3, as_bytes=True),
    "TextColumn.take": case(a_text_column().take, documents=np.array([3, 0, 2]), as_bytes=False),
    "TextColumns": case(_texts.TextColumns, columns=[a_text_column()]),
    "TextColumns.__len__": case(text_columns().__len__),
    "TextColumns.chosen": case(text_columns().chosen, rows=np.array([7, 0, 1, 2])),
    "TextColumns.spans": case(text_columns().spans, start=1, stop=7, as_bytes=True),
    "TextColumns.take": case(text_columns().take, documents=np.array([7, 0, 6]), as_bytes=False),
    "winnow": winnow, "repeats": repeats, "cuts": cuts,
    "word_hashes": word_hashes, "WordNumbers": word_numbers, "WordNumbers.find": find_words,
    "signatures": signatures, "token_signatures": token_signatures,
    "hash_signatures": hash_signatures, "shingle_sets": shingle_sets,
    "shingle_sets/tokens": shingle_sets_of_tokens, "set_jaccard": set_jaccard,
    "number_jaccard": number_jaccard, "pack_numbers": pack_numbers, "agreement": agreement,
    "Numbers": case(_sets.Numbers),
    "Numbers.__len__": case(_sets.Numbers().__len__),
    "Numbers.clear": case(_sets.Numbers().clear),
    "Numbers.replace": lambda: (_sets.Numbers().replace, lists()),
    "Numbers.replace/families": lambda: (_sets.Numbers().replace, {
        **lists(), "families": np.array([0, 2, 5]),
    }),
    "murmur_minima": murmur_minima,
    "text_hashes": case(_plans.text_hashes, spans=spans(), out=np.zeros(4, UINT64)),
    "token_hashes": case(_plans.token_hashes, documents=[["a", b"b"], [], ("c", "d" * 30)],
        offsets=np.zeros(4, INT64), first=0, ids=None),
    "sha1_hashes": case(_compat.sha1_hashes, tokens=[b"a", b"b" * 70], hashes=np.zeros(2, UINT32)),
    "called_hashes": case(_compat.called_hashes, hashfunc=hash, elements=[1, 2, 3],
        hashes=np.zeros(3, UINT64)),
    "band_keys": case(_signatures.band_keys, signatures=np.ones((4, 8), UINT32), first=0, rows=3,
        out=np.zeros((2, 4), UINT64)),
    "Permutations": permutations, "Permutations.add_token": add_token,
    "Permutations.add_hashes": add_hashes,
    **{
        kind: lambda kind=kind: (getattr(_index, kind), {
            "num_perm": 8, "bands": 2, "rows": 3, "with_sets": True,
        }) for kind in ("TableMemory", "BandTables")
    },
    "BandTables.over": tables_over,
    **{
        name: method_of_tables(name.partition(".")[2], more) for name, more in {
            "TableMemory.reserve": lambda: {"count": 9, "words": 9, "spare": 1.25},
            "TableMemory.shrink": dict,
            "TableMemory.resize_table": lambda: {"band": 1, "size": 30},
            "TableMemory.crowded_band": lambda: {"first": 0, "count": 1, "share": 0.8},
            "TableMemory.slots": lambda: {"band": 1}, "TableMemory.used": lambda: {"band": 1},
            "TableMemory.read": lambda: {"number": 0, "start": 8, "out": np.zeros(40, UINT8)},
            "TableMemory.write": lambda: {"number": 0, "start": 8, "data": np.zeros(40, UINT8)},
            "BandTables.append": inserted,
            "BandTables.insert_unique": lambda: {
                **asked(), "own": 3, "limit": 2, "fresh": np.zeros(3, UINT8),
                "matches": np.zeros(3, INT64),
            },
            "BandTables.switch": lambda: {"first": 3, "gone": np.array([1]), "limited": 1},
            "BandTables.remove": lambda: {"number": 1},
            "BandTables.begin_compact": lambda: {"ids": None}, "BandTables.go_on": dict,
            "BandTables.complete": lambda: {"n": 3, "ids": None},
            "BandTables.is_live": lambda: {"number": 2},
            "BandTables.copy_rows": lambda: {
                "numbers": np.array([2, 0]), "out": np.zeros((2, 8), UINT32),
            },
            "BandTables.query": query,
        }.items()
    },
    "TextReader": case(_index.TextReader, unit=0, size=5),
    "TextReader/keyed": lambda: (
        _index.TextReader, {"unit": 0, "size": 5, "prepared": keyed(0, 5)}
    ),
    "ShinglePlan": case(_plans.ShinglePlan, unit=8, size=9, secret=SECRET),
    "ShinglePlan/ignored": case(_plans.ShinglePlan, unit=1, size=2,
        ignored=np.arange(7, dtype=UINT64)),
    "ShinglePlan/words": case(_plans.ShinglePlan, unit=1, size=2, secret=SECRET,
        words=np.arange(9, dtype=UINT64)),
    "signatures/keyed": with_plan(signatures, 0, 5),
    "token_hashes/keyed": lambda: (_plans.token_hashes, {
        "documents": [["a", b"b"], [], ("c", "d" * 30)], "offsets": np.zeros(4, INT64),
        "prepared": keyed(1, 1),
    }),
    "token_signatures/keyed": with_plan(token_signatures, 1, 2),
    "shingle_sets/keyed": with_plan(shingle_sets, 0, 5),
    "BandTables.query/texts": query_of_texts,
    "BandTables.insert_unique/texts": unique_of_texts,
    "packed_sizes": case(_texts.packed_sizes, spans=spans(), out=np.zeros(4, INT64)),
    "pack_texts": lambda: (_texts.pack_texts, {**packed_room(), "spans": spans()}),
    "spans_of_packed": lambda: (
        lambda **given: _texts.spans_of_packed(**given).strings(),
        {**packed_texts(), "documents": np.array([3, 0, 1]), "tokens": False},
    ),
    "Keeper": keeper, "Keeper.candidates": method_of_keeper("candidates", candidates),
    "Keeper.first_hits": method_of_keeper("first_hits", first_hits), "Keeper.require": require,
    "Keeper.settle": method_of_keeper("settle", lambda: {**sets_of_five(), **decided(3)}),
    "link": link, "emit_pairs": emit_pairs, "share_first": share_first,
    "chain_depths": case(_candidates.chain_depths, previous=PREVIOUS.copy(),
        totals=np.zeros(3, INT64)),
    "roots": case(_candidates.roots, previous=PREVIOUS[None].copy(), first=0, last=6,
        root=np.zeros((6, 1), INT32)),
    "unite": case(_candidates.unite, parent=np.arange(6, dtype=INT32), left=np.array([0, 3], INT32),
        right=np.array([2, 5], INT32)),
    "families": case(_candidates.families, parent=np.array([0, 0, 1, 3], INT32)),
    "numbers_of": case(_sets.numbers_of, known=np.array([5, 2**63], UINT64),
        number=np.array([1, 0], UINT32), directory=np.array([0, 1, 2]),
        hashes=np.array([5, 6, 2**63], UINT64), out=np.zeros(3, UINT32)),
    "invert": lambda: (_sets.invert, inverted()),
    "Hold": lambda: (_common.Hold, {"lock": threading.RLock()}),
    "Transaction": case(_common.Transaction, work=object()),
    "SetJoin": lambda: (_sets.SetJoin, joined()), "SetJoin.pairs": pairs,
    "link_ids": lambda: (_index.link_ids, ids()), "find_id": find_id,
    "answer_lists": case(_index.answer_lists, names=["a", "b", "c"], found=np.ones((3, 2)),
        counts=np.array([2, 0, 1]), alike=None),
    "KeyBuckets.__len__": method_of_keys("__len__"), "KeyBuckets.kind": method_of_keys("kind"),
    "KeyBuckets.__contains__": lambda: (lambda key: key in key_buckets(), {"key": 3}),
    "KeyBuckets.nbytes": method_of_keys("nbytes"), "KeyBuckets.close": method_of_keys("close"),
    "KeyBuckets.distinct_keys": method_of_keys("distinct_keys"),
    "KeyBuckets.contents": method_of_keys("contents"),
    "KeyBuckets": case(_compat.KeyBuckets, bands=2, rows=3),
    "KeyBuckets.insert": lambda: (key_buckets().insert, {
        "key": "new", "hashvalues": np.arange(6, dtype=UINT64), "unique": True,
    }),
    "KeyBuckets.query": lambda: (key_buckets().query, {
        "hashvalues": np.arange(6, dtype=UINT64), "bands": 2,
    }),
    "KeyBuckets.remove": method_of_keys("remove", key=3),
    "ArrowColumn": column(), "ArrowColumn.__len__": column("__len__"),
    "ArrowColumn.spans": column("spans", start=0, stop=3, as_bytes=False),
    "ArrowColumn.take": case(_texts.ArrowColumn(Column(stream())).take, documents=np.array([2, 0]),
        as_bytes=False),
    "arrow_stream": case(_texts.arrow_stream,
        columns=[("n", "l", [np.arange(3)]), ("b", "b", [np.zeros(1, UINT8)])], length=3),
    "Spans": lambda: (_texts.Spans, {}), "Spans.__len__": of_spans("__len__"),
    "Spans.strings": of_spans("strings"),
    "Spans.part": case(spans().part, first=1, last=3),
    "Spans.window": case(spans().window, i=2, begin=3, end=9),
    "Spans.lengths": case(spans().lengths, out=np.zeros(4, INT64)),
    "Spans.equal": case(spans().equal, other=spans(), out=np.zeros(4, UINT8)),
    "spans_of_list": case(spans_of_list, documents=["a", b"b", None, "☃", b"\xe2\x98\x83"], first=0,
        as_bytes=False, ids=None),
    "spans_of_ids": case(_texts.spans_of_ids, values=np.arange(9, dtype=np.int32).view(UINT8),
        width=4, signed=True, offsets=np.array([0, 3, 3, 9]), documents=np.array([2, 0, 1])),
    "signatures/ids": lambda: (_signatures.signatures, {
        "spans": some_ids(), "unit": 8, "size": 2, **sign(),
    }),
    "Spans.equal/ids": case(some_ids().equal, other=some_ids(), out=np.zeros(4, UINT8)),
    "merged": case(_texts.merged, zeros=spans_of_list(["a", "b"]), ones=spans_of_list(["c"]),
        choice=np.array([0, 1, 0], UINT8)),
    "cut_pieces": case(_texts.cut_pieces, spans=lines(), paragraphs=False,
        out=np.zeros((4, 3), INT64)),
    "windows_of": case(_texts.windows_of, spans=lines(), places=some_lines()),
    "column_of": case(_texts.column_of, texts=lines()),
    "remainders": case(_texts.remainders, spans=lines(), places=some_lines(), paragraphs=True),
    "word_counts": case(_plans.word_counts, spans=spans_of_list(TEXTS[2:]), unit=7, size=2, most=1,
        counts=np.zeros(2, INT64), prepared=None),
    "word_places": case(_plans.word_places, spans=spans_of_list(TEXTS[2:]), unit=7,
        counts=np.zeros(2, INT64), out=np.zeros((50, 2), INT64)),
    "Normaliser": lambda: (_normal.Normaliser, steps()),
    "Normaliser.normalised": case(normaliser().normalised, spans=spans()),
    "Normaliser.traced": case(normaliser().traced, spans=spans_of_list(TEXTS[3:])),
    "instruction_sets": case(_common.instruction_sets),
}  # fmt: skip

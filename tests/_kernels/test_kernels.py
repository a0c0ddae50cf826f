"""Every kernel of every instruction set against the oracle, at sizes around the lanes."""

import functools
import random
from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from combinations import covering
from fastlsh import Key
from fastlsh._kernels.minhash._signatures import AFFINE32, FSS
from fastlsh._kernels.text._plans import (
    ALPHANUMERIC,
    CHARACTERS,
    TOKEN_IDS,
    WITH_EMPTY,
    WORDS,
    token_hashes,
)
from fastlsh._kernels.text._texts import spans_of_ids, spans_of_list
from oracle_keyed import Keyed
from refusals import refuses
from strategies import ALPHABETS, LETTERS, any_text, share, text_of

SHINGLES = [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 511, 512, 513, 2047, 2049]
NUM_PERMS = [1, 2, 15, 16, 17, 63, 64, 65, 100, 128, 129]
SIZES = [1, 2, 5, 9, 50, 70]
SECRET = bytes(range(32))
KEYED = Keyed(SECRET)
KEY = Key(SECRET)
KEYS = [None, KEY]


@pytest.fixture(params=["affine32", "fss"])
def scheme(request):
    return request.param


def functions(scheme, num_perm, seed=1):
    extra = oracle.ROUNDS if scheme == "fss" else 0
    pairs = np.array(oracle.affine32(num_perm + extra, seed), np.uint32)
    kernel = {"affine32": AFFINE32, "fss": FSS}[scheme]
    return kernel, np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def signatures(isa, texts, unit, size, num_perm, scheme):
    out = np.full((len(texts), num_perm), 7, np.uint32)
    isa.signatures(spans_of_list(texts), unit, size, *functions(scheme, num_perm), out)
    return out


def window_hashes(isa, units, unit, size, unique=False, key=None, offsets=None, thinned=False):
    """Return the hashes of the shingles of each text, or of the tokens between offsets."""
    if offsets is None:
        lengths = np.empty(len(units), np.int64)
        units.lengths(lengths)
    else:
        lengths = np.diff(offsets)
    start = np.concatenate([[0], np.cumsum(lengths + 1)])
    out = np.zeros(start[-1], np.uint64)
    count = np.empty(len(lengths), np.int64)
    plan = key and key.plan(unit, size)
    isa.shingle_sets(
        units, offsets, unit, size, out, start, count, unique, thinned=thinned, prepared=plan
    )
    return [out[s : s + c].tolist() for s, c in zip(start, count, strict=False)]


@functools.cache  # for each of the instruction sets
def in_order(text, unit, size, key=None):
    window_hash = KEYED.window_hash if key else oracle.window_hash
    return [window_hash(w) for w in oracle.windows(oracle.units_of(text, unit), size)]


SPACES = "\t\n\x0b\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
NO_SPACES = "\x08\x0e\x1b!\x84\x9f\xa1\u167f\u1681\u180e\u1fff\u200b\u2027\u202a\ufeff"

split_texts = st.text(st.sampled_from(LETTERS + SPACES + NO_SPACES) | st.characters(), max_size=300)
encodable = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
tokens = st.one_of(st.text(LETTERS, max_size=24), encodable.map(str.encode))


class Odd(str):
    """A subclass, whose characters Python stores apart from the object."""

    __slots__ = ()


def test_no_shingle_is_left_out_for_want_of_room(isa):
    texts = ["ab", "".join(map(chr, range(0x4E00, 0x4E00 + 1300)))]  # none of them repeats
    lists = [list("ab"), [f"w{number}" for number in range(1300)]]
    offsets = np.empty(3, np.int64)
    tokens = token_hashes(lists, offsets)
    start, count = np.array([0, 2, 1302]), np.empty(2, np.int64)
    ways = {"unique": True}, {"unique": False}, {"thinned": True}
    inputs = (spans_of_list(texts), None, CHARACTERS), (tokens, offsets, WORDS)
    for document, lack, way, texts_or_tokens in product((0, 1), (0, 1, 2, 700), ways, inputs):
        room = start.copy()
        room[document + 1 :] -= lack
        out = np.full(room[-1] + 9, 7, np.uint64)
        call = partial(isa.shingle_sets, *texts_or_tokens, 1, out, room, count, **way)
        if lack == 0:
            call()
        elif room[document + 1] >= room[document]:
            refuses(ValueError, f"document {document} of the batch", call)
        assert (out[room[-1] :] == 7).all()


@pytest.mark.parametrize(("name", "size", "key"), covering(ALPHABETS, SIZES, KEYS))
def test_character_shingles(isa, name, size, key):
    alphabet = ALPHABETS[name]
    texts = [text_of(n + size - 1, alphabet) for n in SHINGLES]
    texts += [text_of(n, alphabet) for n in range(size + 6)]
    expected = [sorted(in_order(text, "char", size, key)) for text in texts]
    found = window_hashes(isa, spans_of_list(texts), CHARACTERS, size, key=key)
    assert [sorted(hashes) for hashes in found] == expected
    found = window_hashes(isa, spans_of_list(texts), CHARACTERS, size, unique=True, key=key)
    assert found == [sorted(set(hashes)) for hashes in expected]


@pytest.mark.parametrize(
    ("name", "size", "key"), covering(ALPHABETS, [1, 2, 9, 16, 33, 63, 64, 70], KEYS)
)
def test_word_shingles(isa, name, size, key):
    alphabet = ALPHABETS[name]
    texts = [text_of(4 * n, alphabet) for n in SHINGLES] + [" ", "\n a", "a ", " \t "]
    texts += [" ".join(text_of(3, "abc", i) for i in range(n + size - 1)) for n in SHINGLES]
    texts += [" ".join(text_of(n, "abé") for n in range(50))]
    expected = [in_order(text, "word", size, key) for text in texts]
    assert window_hashes(isa, spans_of_list(texts), WORDS, size, key=key) == expected


@given(st.lists(split_texts, max_size=3), st.integers(1, 4))
def test_words_of_any_text(isa, collection, size):
    found = window_hashes(isa, spans_of_list(collection), WORDS, size)
    assert found == [in_order(text, "word", size) for text in collection]


@pytest.mark.parametrize("letter", ["a", "é", "я", "中", "😀", "\U00020000"])
def test_words_of_every_length_and_place(isa, letter):
    # Across the masks of 64 units, and the tables of 10 bytes.
    collection = [
        " " * before + letter * length + after
        for before, length in product([*range(4), *range(52, 68)], range(28))
        for after in ("", " ", " b")
    ]
    collection += [letter * n + " " + letter * 200 + "\n" + letter for n in range(120, 136)]
    found = window_hashes(isa, spans_of_list(collection), WORDS, 1)
    assert found == [in_order(text, "word", 1) for text in collection]


@pytest.mark.parametrize(
    ("size", "count"), covering([1, 2, 255, 256, 257, 600], [255, 256, 257, 513, 1100])
)
def test_more_words_than_are_found_at_a_time(isa, size, count):
    draw = random.Random(count)
    words = ["".join(draw.choices("abcя", k=draw.randint(1, 3))) for _ in range(count)]
    text = " ".join(words) + " " * (count % 3)
    found = window_hashes(isa, spans_of_list([text]), WORDS, size)
    assert found == [in_order(text, "word", size)]


@pytest.mark.parametrize("last", [0xFF, 0xFFFF, 0x10FFFF])
def test_every_code_point_splits_as_in_python(isa, last):
    points = range(last + 1) if last < 0x10000 else [*range(0xFF00, 0x20100), 0xE0020, last]
    text = "".join(f"a{chr(c)}" for c in points)
    assert ord(max(text)) == last
    found = window_hashes(isa, spans_of_list([text]), WORDS, 1)[0]
    assert len(found) == len(text.split())
    assert set(found) == {oracle.words_hash((word,)) for word in set(text.split())}


def token_rows(isa, documents, size=1):
    offsets = np.empty(len(documents) + 1, np.int64)
    return window_hashes(isa, isa.token_hashes(documents, offsets), WORDS, size, offsets=offsets)


@given(st.lists(st.lists(tokens, max_size=5), max_size=5), st.integers(1, 3))
def test_any_tokens(isa, documents, size):
    plain = [
        tuple(t.decode() if isinstance(t, bytes) else t for t in document) for document in documents
    ]
    expected = [[oracle.words_hash(w) for w in oracle.windows(d, size)] for d in plain]
    assert token_rows(isa, documents, size) == expected


def test_tokens_of_every_length(isa):
    for letter in "aéя中😀":
        words = [letter * n + "z" for n in range(40)] + [""]
        expected = [oracle.words_hash((word,)) for word in words]
        for document in (words, list(map(str.encode, words)), list(map(Odd, words))):
            assert token_rows(isa, [document]) == [expected]


@pytest.mark.parametrize("size", [1, 3, 9])
def test_byte_shingles(isa, size):
    texts = [text_of(n, alphabet) for n in (0, 1, 3, 40, 600) for alphabet in ALPHABETS.values()]
    texts += [b"", b"\xff\xfe\0\x80", b"plain bytes", bytes(range(256)) * 9]
    found = window_hashes(isa, spans_of_list(texts, 0, True), CHARACTERS, size)
    for text, hashes in zip(texts, found, strict=True):
        assert sorted(hashes) == sorted(in_order(text, "byte", size))


def test_thinned_hashes_are_the_same_set_in_the_order_of_the_text(isa):
    texts = ["", "abcabcabc", "a" * 500, "".join(map(chr, range(300))) * 3, "xyz" * 7000]
    spans = spans_of_list(texts)
    thinned = window_hashes(isa, spans, CHARACTERS, 2, thinned=True)
    for text, every, some in zip(
        texts, window_hashes(isa, spans, CHARACTERS, 2), thinned, strict=True
    ):
        assert set(some) == set(every)
        remaining = iter(every)
        assert all(h in remaining for h in some)  # a subsequence
        assert len(some) < len(every) / 2 or len(text) < 10


@pytest.mark.parametrize("num_perm", NUM_PERMS)
def test_signatures(isa, scheme, num_perm):
    size = 5
    texts = [text_of(n + size - 1 if n else 0, ALPHABETS["ucs-2"]) for n in SHINGLES if n < 600]
    found = signatures(isa, texts, CHARACTERS, size, num_perm, scheme)
    for text, row in zip(texts, found.tolist(), strict=True):
        assert row == oracle.signature(in_order(text, "char", size), num_perm, 1, scheme)


@pytest.mark.parametrize("n", [2047, 2048, 2049])
def test_signatures_of_many_shingles(isa, scheme, n):
    text = text_of(n + 8, ALPHABETS["ucs-4"])
    found = signatures(isa, [text], CHARACTERS, 9, 65, scheme)[0].tolist()
    assert found == oracle.signature(in_order(text, "char", 9), 65, 1, scheme)


@pytest.mark.parametrize("unit", [CHARACTERS, WORDS])
@pytest.mark.parametrize("distinct", [1, 2, 10, 40])
def test_signatures_of_long_texts_of_few_shingles(isa, scheme, distinct, unit):
    # More than the rounds can fill from, read again and again.
    words = [f"word{i:04}" for i in range(distinct)]
    text = "".join(f"{words[i % distinct]} " for i in range(3000))
    found = signatures(isa, [text, text[:7]], unit, 1, 300, scheme).tolist()
    for part, row in zip((text, text[:7]), found, strict=True):
        hashes = in_order(part, "char" if unit == CHARACTERS else "word", 1)
        assert row == oracle.signature(hashes, 300, 1, scheme)


def test_signatures_of_10_000_functions(isa, scheme):
    texts = ["", "x", text_of(40, "abc"), text_of(40, ALPHABETS["ucs-4"])]
    found = signatures(isa, texts, CHARACTERS, 9, 10_000, scheme)
    for text, row in zip(texts, found.tolist(), strict=True):
        assert row == oracle.signature(in_order(text, "char", 9), 10_000, 1, scheme)


@pytest.mark.parametrize("dtype", [np.uint64, np.uint32])
@pytest.mark.parametrize("num_perm", [1, 16, 65, 128])
def test_signatures_of_hashes(isa, scheme, dtype, num_perm):
    draw = np.random.default_rng(0)
    top = np.iinfo(dtype).max
    offsets = np.concatenate([[0], np.cumsum([n for n in SHINGLES if n < 600])])
    hashes = draw.integers(0, top, offsets[-1], dtype, endpoint=True)
    hashes[:3] = 0, 1, top
    out = np.empty((len(offsets) - 1, num_perm), np.uint32)
    isa.hash_signatures(hashes, offsets, *functions(scheme, num_perm), out)
    for i, row in enumerate(out.tolist()):
        part = hashes[offsets[i] : offsets[i + 1]].tolist()
        assert row == oracle.signature(part, num_perm, 1, scheme)


def test_token_signatures(isa, scheme):
    documents = [
        [],
        ["a"],
        ["a", "b", ""],
        ["é", "中 中", "😀", "\0"],
        ["x"] * 700,
        list("abcdefgh"),
    ]
    offsets = np.empty(len(documents) + 1, np.int64)
    tokens = isa.token_hashes(documents, offsets)
    assert offsets.tolist() == [0, 0, 1, 4, 8, 708, 716]
    for size in (1, 2, 5, 900):
        out = np.empty((len(documents), 33), np.uint32)
        isa.token_signatures(tokens, offsets, size, *functions(scheme, 33), out)
        for document, row in zip(documents, out.tolist(), strict=True):
            hashes = [oracle.words_hash(w) for w in oracle.windows(tuple(document), size)]
            assert row == oracle.signature(hashes, 33, 1, scheme)


@pytest.mark.parametrize("bands", [1, 3, 5])
def test_keys_made_with_the_signatures(isa, scheme, bands):
    texts = ["", *(text_of(n, "abcdef") for n in (1, 9, 40, 700)), ""]
    spans = spans_of_list(texts)
    how = functions(scheme, 33)
    out = np.empty((len(texts), 33), np.uint32)
    room = np.full((bands, len(texts) + 3), 7, np.uint64)
    isa.signatures(spans, CHARACTERS, 9, *how, out, 6, room[:, 2:-1])
    assert room[:, 2:-1].tolist() == oracle.band_keys(out.tolist(), bands, 6)
    assert (room[:, [0, 1, -1]] == 7).all()
    offsets = np.arange(len(texts) + 1)
    tokens = isa.token_hashes([[text] for text in texts], offsets)
    isa.token_signatures(tokens, offsets, 1, *how, out, 6, room[:, 2:-1])
    assert room[:, 2:-1].tolist() == oracle.band_keys(out.tolist(), bands, 6)


@functools.cache
def distinct_hashes(text):
    return sorted(map(oracle.characters_hash, set(oracle.windows(text, 9))))


@pytest.mark.exhaustive
def test_sets_of_large_and_repetitive_texts(isa):
    texts = [
        text_of(100_000, "abcdefghijklmnopqrstuvwxyz"),  # beyond one sorting table
        "a" * 100_000,
        "ab" * 20_000 + text_of(40_000, "xy"),
    ]
    found = window_hashes(isa, spans_of_list(texts), CHARACTERS, 9, unique=True)
    for text, hashes in zip(texts, found, strict=True):
        assert hashes == distinct_hashes(text)


@pytest.mark.parametrize("rows", [1, 2, 7, 16, 17, 64])
def test_band_keys(isa, rows):
    draw = np.random.default_rng(0)
    values = draw.integers(0, 2**32, (9, 130), np.uint32)
    values[3] = 2**32 - 1
    values[4, :-1] = 2**32 - 1  # not empty
    values[5] = 0
    bands = 130 // rows
    room = np.full((bands, 12), 7, np.uint64)
    out = room[:, 2:-1]
    isa.band_keys(values, 0, rows, out)
    expected = oracle.band_keys(values.tolist(), bands, rows)
    assert out.tolist() == expected
    assert (room[:, [0, 1, -1]] == 7).all()
    assert set(out[:, 3].tolist()) == {0}
    if bands > 1:
        tail = np.empty((bands - 1, 9), np.uint64)
        isa.band_keys(values, 1, rows, tail)
        assert tail.tolist() == expected[1:]


def test_the_key_of_a_document_is_never_zero(isa):
    # Two values whose key in band 49 would be 0, which means "empty": found by inversion.
    values = np.zeros((1, 100), np.uint32)
    values[0, 98:] = 3382742617, 2200441
    out = np.empty((1, 1), np.uint64)
    isa.band_keys(values, 49, 2, out)
    assert out.tolist() == [[1]] == [[oracle.band_key(values[0, 98:].tolist(), 49)]]


@pytest.mark.parametrize("num_perm", [1, 7, 15, 16, 17, 63, 64, 65, 128, 129, 10_000])
def test_agreement(isa, num_perm):
    draw = np.random.default_rng(0)
    values = draw.integers(0, 3, (5, num_perm), np.uint32)
    left, right = (np.array(side) for side in zip(*[(0, 1), (2, 2), (4, 3)], strict=True))
    out = np.empty(3)
    isa.agreement(values, left, right, out)
    expected = [(values[a] == values[b]).mean() for a, b in zip(left, right, strict=True)]
    assert out.tolist() == expected


def uneven(draw, n):
    """Return hashes that crowd in some places, so that parts of two sets differ in size."""
    ends = [(0, 2**64), (0, 2**60), (2**63, 2**63 + 2**58), (2**64 - 200, 2**64)]
    return [draw.randrange(*draw.choice(ends)) for _ in range(n)] + [0, 2**64 - 1]


@pytest.mark.parametrize("size", [100, 700])
def test_jaccard_of_sets(isa, size):
    draw = random.Random(0)
    universe = sorted(set(uneven(draw, size + 20)))
    sets = []
    for n in [0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 64, size]:
        n = min(n, len(universe))
        first = draw.randint(0, len(universe) - n)
        sets += [set(draw.sample(universe, n)), set(universe[:n]), set(universe[first : first + n])]
    count = np.array([len(s) for s in sets])
    start = np.concatenate([[0], np.cumsum(count)[:-1]])
    hashes = np.array([h for s in sets for h in sorted(s)], np.uint64)
    left, right = (side.ravel().copy() for side in np.mgrid[: len(sets), : len(sets)])
    exact = [oracle.jaccard(sets[a], sets[b]) for a, b in zip(left, right, strict=True)]
    out = np.empty(len(left))
    for threshold in [0.0, 1e-9, 0.2, 1 / 3, 0.5, 0.8, 1.0, *sorted(set(exact))[1:]]:
        isa.set_jaccard(hashes, start, count, left, right, threshold, out)
        assert out.tolist() == [j if j >= threshold else -1.0 for j in exact]


def test_equal_texts_have_equal_hashes(isa):
    texts = ["", "a", "b", "ab", "é", "中", "😀", "a\0", "\0", "a" * 1000, "a" * 999, "é" * 8]
    out = np.empty(2 * len(texts), np.uint64)
    isa.text_hashes(spans_of_list([text.encode() for text in texts] + texts), out)
    here, there = np.split(out, 2)
    assert np.array_equal(here, there)
    assert len(set(here.tolist())) == len(texts)
    assert 0 not in here


# ---- with a key


@pytest.mark.parametrize("alphabet", ["жя", "я«a", "я😀a", "я\U0002000ba"])
def test_words_of_all_lengths_wherever_the_text_begins(isa, alphabet):
    text = " ".join(text_of(n, alphabet, n) for n in [*range(1, 25), *range(12, 0, -1)])
    spans = spans_of_list([text])
    for begin in range(30):
        found = window_hashes(isa, spans.window(0, begin, len(text)), WORDS, 1, key=KEY)
        assert found == [in_order(text[begin:], "word", 1, KEY)]
        found = window_hashes(isa, spans_of_list([text[begin:]]), WORDS, 2, key=KEY)
        assert found == [in_order(text[begin:], "word", 2, KEY)]


@pytest.mark.parametrize("unit", [CHARACTERS, WORDS])
def test_code_points_of_every_plane(isa, unit):
    edges = [edge + step for edge in range(0, 0x110000, 0x10000) for step in (-1, 0, 0x8765)]
    text = "".join(map(chr, edges[1:])) + chr(0x10FFFF)
    texts = [text, " ".join(text), text[:4]]
    found = window_hashes(isa, spans_of_list(texts), unit, 2, key=KEY)
    name = "word" if unit == WORDS else "char"
    for text, hashes in zip(texts, found, strict=True):
        assert sorted(hashes) == sorted(in_order(text, name, 2, KEY))


def test_empty_words_are_words(isa):
    found = window_hashes(isa, spans_of_list(["a,,b, c"]), ALPHANUMERIC | WITH_EMPTY, 2, key=KEY)
    words = ["a", "", "b", "", "c"]
    assert found == [[KEYED.words_hash(pair) for pair in pairwise(words)]]


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("size", [1, 3, 11])
def test_token_ids_are_words_of_their_digits(isa, width, size):
    edges = [0, 7, 10, 99, 127, 2**16 - 1, 2**17 - 1, 2**17, 10**9 + 7, 10**10, 2**32 - 1, 2**63]
    edges += [2**64 - 1, 10**19]
    ids = np.array([i for i in edges * 3 if i < 2 ** (8 * width)], f"u{width}")
    offsets = np.array([0, 1, len(ids)])
    spans = spans_of_ids(ids.view(np.uint8), width, False, offsets, np.arange(2))
    found = window_hashes(isa, spans, TOKEN_IDS, size, key=KEY)
    for begin, end, hashes in zip(offsets, offsets[1:], found, strict=False):
        words = tuple(str(i) for i in ids[begin:end])
        assert hashes == [KEYED.window_hash(w) for w in oracle.windows(words, size)]


@pytest.mark.parametrize("size", [1, 2, 9])
def test_tokens_with_a_key(isa, size):
    words = ["", "a", "é", "я", "😀", b"bytes", "na\xefve".encode(), "x" * 10, "x" * 11, "y" * 99]
    offsets = np.empty(3, np.int64)
    plan = KEY.plan(WORDS, size)
    tokens = isa.token_hashes([words, words[:1]], offsets, prepared=plan)
    out = np.empty((2, 20), np.uint32)
    a, b = KEY.functions(20, 1)
    isa.token_signatures(tokens, offsets, size, 0, a, b, out, prepared=plan)
    for document, row in zip([words, words[:1]], out.tolist(), strict=True):
        units = tuple(w.decode() if isinstance(w, bytes) else w for w in document)
        hashes = {KEYED.window_hash(w) for w in oracle.windows(units, size)}
        assert row == KEYED.signature(hashes, 20)


@pytest.mark.parametrize("num_perm", [1, 64, 100])
def test_signatures_with_a_key(isa, scheme, num_perm):
    texts = [text_of(n + 4 if n else 0, ALPHABETS["ucs-2"]) for n in SHINGLES if n < 600]
    kernel = {"affine32": isa.AFFINE32, "fss": isa.FSS}[scheme]
    a, b = KEY.functions(num_perm + (oracle.ROUNDS if scheme == "fss" else 0), 3)
    out = np.empty((len(texts), num_perm), np.uint32)
    plan = KEY.plan(CHARACTERS, 5)
    isa.signatures(spans_of_list(texts), CHARACTERS, 5, kernel, a, b, out, prepared=plan)
    for text, row in zip(texts, out.tolist(), strict=True):
        assert row == KEYED.signature(in_order(text, "char", 5, KEY), num_perm, 3, scheme)


@share(4)
@given(st.lists(any_text, max_size=6), st.sampled_from(["char", "word"]), st.integers(1, 12))
def test_all_instruction_sets_agree_with_the_oracle(isa, texts, unit, size):
    number = {"char": CHARACTERS, "word": WORDS}[unit]
    found = window_hashes(isa, spans_of_list(texts), number, size, key=KEY)
    for text, hashes in zip(texts, found, strict=True):
        assert sorted(hashes) == sorted(in_order(text, unit, size, KEY))

"""Ignored texts: their shingles belong to the set of no document."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from fastlsh import Key, MinHasher, Shingler
from fastlsh._kernels.minhash._signatures import AFFINE32
from fastlsh._kernels.text._plans import CHARACTERS, WORDS
from fastlsh._kernels.text._texts import spans_of_list
from kernel_cases import functions
from refusals import refuses
from strategies import any_text, shinglers, wide

KEY = Key(bytes(range(32)))
COLLECTION = st.lists(wide | st.none(), max_size=4)


def hashes_of(shingler, texts):
    return {number for text in texts for number in shingler.hashes(text).tolist()}


def that_stay(shingler, document):
    """Return the different shingles of a document that are not ignored, as texts."""
    windows = zip(shingler.shingles(document), shingler.are_ignored(document), strict=True)
    return {str(window) for window, is_ignored in windows if not is_ignored}


@given(any_text, COLLECTION, shinglers)
def test_the_set_is_that_of_the_oracle(text, ignored, how):
    windows = [
        {*oracle.windows(oracle.units_of(each, how["unit"]), how["size"])}
        for each in (text, *ignored)
    ]
    left = windows[0] - set().union(*windows[1:])
    shingler = Shingler(**how).ignoring(ignored)
    assert shingler.hashes(text).tolist() == sorted(map(oracle.window_hash, left))
    assert shingler.shingles(text) == Shingler(**how).shingles(text)
    assert len(that_stay(shingler, text)) == len(left)


OTHERS = [
    {"unit": "char", "size": 4, "lowercase": True, "collapse_whitespace": True},
    {"unit": "word", "size": 2, "words": "alphanumeric", "empty_words": True},
    {"unit": "word", "size": 2, "words": "unicode", "strip_accents": True},
    {"unit": "word", "size": 1, "stop_words": ["a", "b"]},
    {"unit": "word", "size": 2, "tokenizer": str.split},
    {"unit": "byte", "size": 3, "normalize": str.upper},
    {"unit": "token", "size": 2},
]


def texts_of(unit, seed=0):
    """Return an ignored text, and documents of every length that share parts of it."""
    draw = np.random.default_rng(seed)
    words = np.array(
        [*"abcdé中", "Words", "w\U0001f600", "x-y", "", "the"] + [f"w{i}" for i in range(60)]
    )
    if unit == "token":
        sheet = draw.integers(0, 40, 300).tolist()
        return sheet, [sheet, [], sheet[:1], [*sheet[50:200], 7, 7, 7, *sheet[:9]], [1, 2, 3]]
    sheet = " ".join(draw.choice(words, 900))
    documents = [sheet, "", sheet[:1], sheet[100:2000] + " ".join(draw.choice(words, 500)), "a b a"]
    return sheet, [*documents, " ".join(draw.choice(words, 3000))]


@pytest.mark.parametrize("how", OTHERS, ids=str)
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "key"])
def test_sets_and_signatures_are_those_without_the_ignored_hashes(how, key):
    plain = Shingler(**how, key=key)
    sheet, documents = texts_of(how["unit"])
    shingler = plain.ignoring([sheet])
    left = [sorted(hashes_of(plain, [d]) - hashes_of(plain, [sheet])) for d in documents]
    assert [shingler.hashes(d).tolist() for d in documents] == left
    assert left[0] == []
    offsets = np.cumsum([0, *map(len, left)])
    hashes = np.concatenate([np.array(each, np.uint64) for each in left])
    for scheme in ("affine32", "fss"):
        hasher = MinHasher(70, scheme=scheme, shingler=shingler)
        assert (hasher.signatures(documents) == hasher.from_hashes(hashes, offsets)).all()
    for document, each in zip(documents, left, strict=True):
        assert len(that_stay(shingler, document)) == len(each)


@pytest.mark.parametrize("unit", [CHARACTERS, WORDS])
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "key"])
def test_each_instruction_set_leaves_out_the_same_shingles(isa, unit, key):
    sheet, documents = texts_of("word", 1)
    size = 9 if unit == CHARACTERS else 2
    plain = Shingler("char" if unit == CHARACTERS else "word", size, key=key)
    prepared = plain.ignoring([sheet]).hashing.prepared
    spans = spans_of_list(documents)
    a, b = functions(20)
    found, expected = (np.empty((len(documents), 20), np.uint32) for _ in range(2))
    isa.signatures(spans, unit, size, AFFINE32, a, b, found, prepared=prepared)
    left = [sorted(hashes_of(plain, [d]) - hashes_of(plain, [sheet])) for d in documents]
    hashes = np.concatenate([np.array(each, np.uint64) for each in left])
    offsets = np.cumsum([0, *map(len, left)])
    isa.hash_signatures(hashes, offsets, AFFINE32, a, b, expected)
    assert (found == expected).all()
    room = np.arange(len(documents) + 1) * 30_000
    out, count = np.empty(room[-1], np.uint64), np.empty(len(documents), np.int64)
    isa.shingle_sets(spans, None, unit, size, out, room, count, prepared=prepared)
    assert [out[start : start + n].tolist() for start, n in zip(room, count, strict=False)] == left


def test_many_shingles_are_ignored():
    draw = np.random.default_rng(3)
    sheet = " ".join(map(str, draw.integers(0, 10**9, 200_000)))
    shingler = Shingler("word", 1).ignoring([sheet])
    assert len(shingler.ignored) > 199_000
    assert shingler.hashes(sheet).size == 0
    assert shingler.hashes(sheet + " x").size == 1


def test_the_same_shingles_are_equal():
    one, other = (
        Shingler().ignoring(texts) for texts in (["a sheet of paper"], ["a sheet of paper"] * 2)
    )
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert pickle.loads(pickle.dumps(one)).ignored.digest == one.ignored.digest
    assert one != Shingler()
    assert one != Shingler().ignoring(["another sheet"])
    assert one.ignoring(["another sheet"]) == Shingler().ignoring(
        ["another sheet", "a sheet of paper"]
    )
    assert one.ignoring([]) == one
    assert "IgnoredShingles 8," in repr(one.ignored)
    with pytest.raises(ValueError, match="read-only"):
        one.ignored.hashes[0] = 0


@pytest.mark.parametrize("change", [{"size": 5}, {"key": KEY}, {"unit": "word"}], ids=str)
def test_other_shingles_are_refused(change):
    with pytest.raises(ValueError, match=r"ignored: .* unit, size or key .* ignore= instead"):
        replace(Shingler().ignoring(["a sheet of paper"]), **change)


def test_shingles_of_tokens_are_those_of_words():
    tokens = Shingler("token", 2).ignoring([[7, 8, 9]])
    assert replace(tokens, unit="word") == Shingler("word", 2).ignoring(["7 8 9"])


@pytest.mark.parametrize("texts", ["a sheet", b"a sheet"])
def test_one_text_is_refused(texts):
    refuses(TypeError, "ignore: document 1 is of type int", Shingler().ignoring, ["a text", 5])
    refuses(TypeError, "ignore must be a collection of texts, got one", Shingler().ignoring, texts)

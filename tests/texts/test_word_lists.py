"""Stop words and vocabularies: the words that are left out before shingles form."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
from combinations import larger
from fastlsh import Key, MinHasher, Shingler
from fastlsh._kernels.minhash._signatures import AFFINE32
from fastlsh._kernels.text._plans import WORDS, ShinglePlan
from fastlsh._kernels.text._texts import spans_of_list
from files import get, put, put_rows
from kernel_cases import functions
from refusals import refuses

WORD = st.text("aßΩ😀", min_size=1, max_size=4) | st.sampled_from(["x" * 9, "x" * 40])
LISTED = st.sets(WORD, min_size=1, max_size=6)
SPACED = st.lists(WORD | st.sampled_from([" ", "\n", "\u2003"]), max_size=60).map(" ".join)
KEY = Key(bytes(range(32)))


def left(text, words, keeps):
    """Return the text without the words that are left out, as the oracle of this step."""
    return " ".join(word for word in text.split() if (word in words) == keeps)


def with_list(words, keeps, **options):
    return Shingler("word", **{"vocabulary" if keeps else "stop_words": words}, **options)


@given(SPACED, LISTED, st.booleans(), st.integers(1, 3), st.sampled_from([None, KEY]))
def test_shingles_are_those_of_the_words_that_stay(text, words, keeps, size, key):
    shingler = with_list(words, keeps, size=size, key=key)
    plain, rest = Shingler("word", size, key=key), left(text, words, keeps)
    assert shingler.shingles(text) == plain.shingles(rest)
    assert shingler.hashes(text).tolist() == plain.hashes(rest).tolist()
    for scheme in ("affine32", "fss"):
        found, expected = (
            MinHasher(16, shingler=each, scheme=scheme).signatures([one])
            for each, one in [(shingler, text), (plain, rest)]
        )
        assert (found == expected).all()


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "key"])
def test_each_instruction_set_leaves_out_the_same_words(isa, keeps, key):
    words = [f"w{i}" for i in range(90)] + ["ä", "Ω" * 12, "😀😀"]
    listed = words[::3]
    draw = np.random.default_rng(0)
    texts = [" ".join(draw.choice(words, n)) for n in (0, 1, 2, 63, 64, 65, 700, 5000)]
    shingler, plain = with_list(listed, keeps, size=2, key=key), Shingler("word", 2, key=key)
    found, expected = (np.empty((len(texts), 20), np.uint32) for _ in range(2))
    a, b = functions(20)
    isa.signatures(
        spans_of_list(texts), WORDS, 2, AFFINE32, a, b, found, prepared=shingler.hashing.prepared
    )
    rest = spans_of_list([left(text, listed, keeps) for text in texts])
    isa.signatures(rest, WORDS, 2, AFFINE32, a, b, expected, prepared=plain.hashing.prepared)
    assert (found == expected).all()


@pytest.mark.parametrize("size", larger(5_000, 50_000))
def test_a_large_vocabulary(size):
    words = [f"{i:x}" for i in range(size)]
    shingler = Shingler("word", 1, vocabulary=words)
    assert len(shingler.hashes(" ".join(words))) == size
    assert not len(shingler.hashes(" ".join(f"{word}." for word in words[:1000])))


def test_words_are_normalised_like_the_texts():
    shingler = Shingler("word", 1, lowercase=True, strip_accents=True, stop_words=["The", "Café"])
    assert shingler.shingles("THE cafe latte") == ["latte"]
    assert shingler.stop_words == ("Café", "The")
    cut = Shingler("word", 1, words="alphanumeric", empty_words=True, stop_words=["(a)"[1]])
    assert cut.shingles("a,b") == ["b"]


def test_a_document_of_stop_words_is_empty():
    shingler = Shingler("word", 1, stop_words=["the", "a"])
    texts = ["the the", "the the", "a king", "king the"]
    assert list(fastlsh.near_duplicates(texts, shingler=shingler)) == [(2, 3, 1.0)]
    assert fastlsh.deduplicate(texts, shingler=shingler).kept.tolist() == [True, True, True, False]
    assert fastlsh.jaccard("the", "the", shingler) == 0.0


def test_order_and_repetitions_of_the_list_mean_nothing():
    one, other = (Shingler("word", 1, stop_words=words) for words in (["b", "a", "b"], {"a", "b"}))
    assert one == other
    assert hash(one) == hash(other)
    assert Shingler("word", 1, stop_words=[]) == Shingler("word", 1)
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert again.shingles("b the a") == ["the"]


def test_an_explanation_marks_the_words_that_stay():
    shingler = Shingler("word", 2, stop_words=["the"])
    explained = fastlsh.explain("the king the land of", "king land", shingler=shingler)
    assert (explained.shingles_a, explained.shared) == (2, 1)
    assert "without 1 stop words" in str(explained)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"unit": "char", "stop_words": ["a"]}, ValueError, 'stop_words needs unit="word"'),
        ({"tokenizer": str.split, "vocabulary": ["a"]}, ValueError, "and no tokenizer"),
        ({"stop_words": "the"}, TypeError, "stop_words must be a list of words, got str"),
        ({"stop_words": 7}, TypeError, "stop_words must be a list of words, got int"),
        ({"stop_words": ["a", b"b"]}, TypeError, "an element of type bytes, expected str"),
        ({"vocabulary": []}, ValueError, "vocabulary has no words"),
        ({"vocabulary": ["a b"]}, ValueError, "'a b', which is not one word but 2"),
        ({"stop_words": [""]}, ValueError, "'', which is not one word but 0"),
        ({"stop_words": ["a"], "vocabulary": ["b"]}, ValueError, "give one of them"),
    ],
)
def test_bad_lists(options, error, message):
    refuses(error, message, Shingler, **{"unit": "word", "size": 1, **options})


def test_a_plan_has_words_only_with_a_unit_of_words():
    with pytest.raises(ValueError, match="a list of words needs a unit of words, got 8"):
        ShinglePlan(8, 1, None, np.zeros(1, np.uint64))
    refuses(ValueError, "size must be at least 1", ShinglePlan, WORDS, 0)
    assert ShinglePlan(WORDS, 1, None, np.zeros(1, np.uint64)) is not None


UNIT = ["--unit", "word", "--size", "1"]


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize(
    ("option", "left"), [("--stop-words", [0, 2, 3, 4]), ("--vocabulary", [0, 1, 2, 4])]
)
def test_the_command(run, engine, option, left):
    put("stop.txt", "the a\nof\n")
    texts = ["the king of a land", "king land", "the the", "the the", "another"]
    rows = get(put_rows("in.jsonl", *({"text": text} for text in texts))).splitlines()
    run.done("dedup", "in.jsonl", "-o", "out.jsonl", *UNIT, option, "stop.txt", "--engine", engine)
    assert get("out.jsonl").splitlines() == [rows[i] for i in left]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "stop.txt: No such file or directory"),
        (b"ros\xe9", "stop.txt: is not valid UTF-8: unexpected end of data at byte 3"),
        (b"a,b", "--stop-words has 'a,b', which is not one word but 2 after normalisation"),
    ],
)
def test_a_bad_file_of_words(run, content, line):
    put_rows("in.jsonl", {"text": "a"})
    if content is not None:
        put("stop.txt", content)
    options = [*UNIT, "--words", "alphanumeric", "--stop-words", "stop.txt"]
    assert line in run.refused("pairs", "in.jsonl", *options)

"""What a document is a set of."""

import dataclasses
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
import oracle
from combinations import larger
from fastlsh import MinHasher, Shingler
from fastlsh.texts import as_texts
from refusals import refuses
from strategies import any_text, shinglers


def expected_hashes(text, unit="char", size=9):
    windows = oracle.windows(oracle.units_of(text, unit), size)
    return sorted(set(map(oracle.window_hash, windows)))


@given(any_text, shinglers)
def test_hashes_are_those_of_the_windows(text, options):
    hashes = Shingler(**options).hashes(text)
    assert hashes.dtype == np.uint64
    assert hashes.tolist() == expected_hashes(text, **options)


@given(any_text, shinglers)
def test_shingles_are_the_windows_in_order(text, options):
    units = oracle.units_of(text, options["unit"])
    expected = oracle.windows(units, options["size"])
    if options["unit"] == "word":
        expected = [" ".join(window) for window in expected]
    assert Shingler(**options).shingles(text) == expected


@given(st.binary(max_size=30), st.integers(1, 5))
def test_any_bytes_are_bytes(data, size):
    shingler = Shingler("byte", size)
    assert shingler.shingles(data) == oracle.windows(data, size)
    assert shingler.hashes(data).tolist() == expected_hashes(data, "byte", size)


ALL_ARGUMENTS = [
    {"unit": "word", "size": 2, "lowercase": True, "stop_words": ["THE", "ä"]},
    {"unit": "word", "size": 1, "strip_accents": True, "vocabulary": ["é", "the"]},
    {"unit": "word", "size": 2, "key": fastlsh.Key(bytes(range(32))), "stop_words": ["the"]},
    {"unit": "word", "size": 2, "words": "alphanumeric", "empty_words": True, "numbers": "0"},
    {"unicode_form": "NFKC", "collapse_whitespace": True},
    {"punctuation": "remove", "punctuation_characters": "-1", "remove_whitespace": True},
    {"unit": "byte", "size": 3, "lowercase": True},
    {"size": 3, "lowercase": True, "ignored": Shingler(size=3).ignoring(["the end"]).ignored},
    {"unit": "word", "size": 2, "normalize": str.swapcase, "tokenizer": str.splitlines},
]


def test_without_its_steps_a_shingler_has_all_else():
    names = {field.name for field in dataclasses.fields(Shingler)}
    assert {name for each in ALL_ARGUMENTS for name in each} == names
    texts = ["The the  Ä É café - the-end 42 ﬁne, e", "the", "", "Ä é e THE", " -1 the é"]
    for arguments in ALL_ARGUMENTS:
        shingler = Shingler(**arguments)
        plain = shingler.without_steps
        assert not plain.normalises
        normal = shingler.plain_texts(as_texts(texts), 0, len(texts)).strings()
        normal = [text.encode("latin-1") for text in normal] if plain.unit == "byte" else normal
        for text, normalised in zip(texts, normal, strict=True):
            assert plain.shingles(normalised) == shingler.shingles(text), arguments
            assert plain.hashes(normalised).tolist() == shingler.hashes(text).tolist(), arguments
        assert plain.without_steps == plain


def test_units_are_counted_as_they_are_cut():
    texts = ["", " ", "a", "the", " the a, the", ",", ",,a", "\u2003é☃ 𝔘", "a b " * 700, "x" * 3000]
    cuts = [each for each in ALL_ARGUMENTS if each.get("unit") == "word"]
    for arguments in [{}, {"unit": "byte"}, {"unit": "word"}, *cuts]:
        shingler = Shingler(**{**arguments, "size": 1})
        units = [len(shingler.shingles(text)) for text in texts]
        for most in (1, 3, 10**6):
            plain = shingler.plain_texts(as_texts(texts), 0, len(texts))
            counts = shingler.unit_counts(plain, most).tolist()
            assert [min(count, most) for count in counts] == [min(n, most) for n in units]


@pytest.mark.parametrize("unit", ["char", "word", "byte"])
def test_empty(unit):
    for text in ("", b"", None, *[" \t\n"] * (unit == "word")):
        assert Shingler(unit).shingles(text) == []
        assert Shingler(unit).hashes(text).tolist() == []


@pytest.mark.parametrize("size", [5, 6, 100, 10**6, 2**31 - 1])
def test_a_short_text_is_its_own_shingle(size):
    assert Shingler(size=size).shingles("abcd") == ["abcd"]
    assert Shingler(size=size).hashes("abcd").tolist() == [oracle.characters_hash("abcd")]
    words = [oracle.words_hash(["a", "b", "c"])]
    assert Shingler("word", size).hashes("a b c").tolist() == words


def test_a_short_text_is_not_a_padded_one():
    texts = ["a", "\0a", "a\0", "\0\0a", "aa", "a "]
    assert len({int(Shingler(size=9).hashes(text)[0]) for text in texts}) == len(texts)


@pytest.mark.parametrize("step", larger(64, 1))
def test_words_split_at_every_white_space_of_python(step):
    # One word per code point: no space means one word, a space two.
    marks = [chr(c) for c in [*range(0x4000), *range(0x4000, sys.maxunicode + 1, step)]]
    split = MinHasher(1, shingler=Shingler("word", 1)).signatures([f"x{mark}" for mark in marks])
    alone = MinHasher(1, shingler=Shingler("word", 1)).signatures(["x"])
    found = {marks[i] for i in np.flatnonzero(split[:, 0] == alone[0, 0])}
    assert found == {mark for mark in marks if mark.isspace()}
    assert found == {mark for mark in marks if not mark.split()}


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"lowercase": True}, str.lower),
        ({"remove_whitespace": True}, lambda t: "".join(t.split())),
        ({"collapse_whitespace": True}, lambda t: " ".join(t.split())),
        ({"unicode_form": "NFC"}, lambda t: unicodedata.normalize("NFC", t)),
        ({"unicode_form": "NFKD"}, lambda t: unicodedata.normalize("NFKD", t)),
        ({"normalize": lambda t: t.replace("a", "bb")}, lambda t: t.replace("a", "bb")),
        (
            {"normalize": lambda t: t + "\u212b A", "unicode_form": "NFD", "lowercase": True,
             "remove_whitespace": True},
            lambda t: "".join(unicodedata.normalize("NFD", t + "\u212b A").lower().split()),
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("unit", ["char", "word", "byte"])
def test_normalisation(options, same, unit):
    if unit == "word" and "remove_whitespace" in options:
        with pytest.raises(ValueError, match="remove_whitespace would make one word of each text"):
            Shingler(unit, 3, **options)
        return
    texts = ["", "Ab C\u0301 é\u0130", " a  B\u3000c\n", "ﬁ \u212b", "😀 A\0a", "\ud800 Aa"]
    shingler = Shingler(unit, 3, **options)
    for text in texts:
        assert shingler.shingles(text) == Shingler(unit, 3).shingles(same(text))
        assert shingler.hashes(text).tolist() == expected_hashes(same(text), unit, 3)
    hasher = MinHasher(16, shingler=shingler)
    plain = MinHasher(16, shingler=Shingler(unit, 3))
    expected = plain.signatures([same(text) for text in texts])
    assert np.array_equal(hasher.signatures(texts), expected)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_tokenizer(size):
    def tokenizer(text):
        return text.split(",") if text else []

    def bytes_of(text):
        return [word.encode() for word in tokenizer(text)]

    for text in ("a,b,c,d", "", ",", "é,中,😀,a b", "x"):
        windows = oracle.windows(tuple(tokenizer(text)), size)
        for function in (tokenizer, bytes_of):
            shingler = Shingler("word", size, tokenizer=function)
            assert shingler.shingles(text) == [" ".join(window) for window in windows]
            assert shingler.hashes(text).tolist() == sorted(set(map(oracle.words_hash, windows)))
    assert fastlsh.jaccard("a,b,c", "c,b,a,d", Shingler("word", 1, tokenizer=tokenizer)) == 0.75


@pytest.mark.parametrize(
    "options",
    [
        {"size": 0}, {"size": 2**31}, {"tokenizer": str.split}, {"punctuation_characters": ".,"},
        {"words": "alphanumeric"}, {"words": "unicode"}, {"empty_words": True},
        {"empty_words": True, "words": "unicode", "unit": "word"},
        {"empty_words": True, "unit": "word"},
        {"words": "alphanumeric", "unit": "word", "tokenizer": str.split},
        {"remove_whitespace": True, "collapse_whitespace": True},
        {"remove_whitespace": True, "unit": "word"},
        {"punctuation_characters": ["."], "punctuation": "space"}, {"ignored": 5},
    ],
)  # fmt: skip
def test_bad_options(options):
    refuses((TypeError, ValueError), next(iter(options)), Shingler, **options)

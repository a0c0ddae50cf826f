"""The kernels with a key against the oracle, on every instruction set."""

import functools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from combinations import covering
from fastlsh import Key
from fastlsh._kernels.text._plans import (
    ALPHANUMERIC,
    CHARACTERS,
    TOKEN_IDS,
    WITH_EMPTY,
    WORDS,
    ShinglePlan,
)
from fastlsh._kernels.text._texts import spans_of_ids, spans_of_list
from oracle_keyed import Keyed
from refusals import refuses
from strategies import ALPHABETS, any_text, share, text_of

SECRET = bytes(range(32))
KEY = Key(SECRET)
KEYED = Keyed(SECRET)
SHINGLES = [0, 1, 7, 8, 9, 15, 16, 17, 511, 512, 513, 2049]


def window_hashes(isa, spans, unit, size, unique=False):
    lengths = np.empty(len(spans), np.int64)
    spans.lengths(lengths)
    start = np.concatenate([[0], np.cumsum(lengths + 1)])
    out = np.zeros(start[-1], np.uint64)
    count = np.empty(len(spans), np.int64)
    isa.shingle_sets(
        spans, None, unit, size, out, start, count, unique, prepared=KEY.plan(unit, size)
    )
    return [out[s : s + c].tolist() for s, c in zip(start, count, strict=False)]


@functools.cache  # for each of the instruction sets
def in_order(text, unit, size):
    units = oracle.units_of(text, unit)
    return [KEYED.window_hash(w) for w in oracle.windows(units, size)]


@pytest.mark.parametrize(("name", "size"), covering(ALPHABETS, [1, 2, 5, 9, 70]))
def test_character_shingles(isa, name, size):
    alphabet = ALPHABETS[name]
    texts = [text_of(n + size - 1, alphabet) for n in SHINGLES]
    texts += [text_of(n, alphabet) for n in range(size + 6)]
    found = window_hashes(isa, spans_of_list(texts), CHARACTERS, size)
    expected = [sorted(in_order(text, "char", size)) for text in texts]
    assert [sorted(hashes) for hashes in found] == expected
    found = window_hashes(isa, spans_of_list(texts), CHARACTERS, size, unique=True)
    assert found == [sorted(set(hashes)) for hashes in expected]


@pytest.mark.parametrize(
    ("name", "size"), covering(ALPHABETS, [1, 2, 8, 9, 16, 17, 32, 33, 63, 64, 70])
)
def test_word_shingles(isa, name, size):
    alphabet = ALPHABETS[name]
    texts = [text_of(4 * n, alphabet) for n in SHINGLES[:-1]] + [" ", "\n a", "a ", " \t "]
    texts += [" ".join(text_of(3, "abc", i) for i in range(n + size - 1)) for n in SHINGLES]
    texts += [" ".join(text_of(n, "abé") for n in range(50))]
    found = window_hashes(isa, spans_of_list(texts), WORDS, size)
    assert found == [in_order(text, "word", size) for text in texts]


@pytest.mark.parametrize("alphabet", ["жя", "я«a", "я😀a", "я\U0002000ba"])
def test_words_of_all_lengths_wherever_the_text_begins(isa, alphabet):
    text = " ".join(text_of(n, alphabet, n) for n in [*range(1, 25), *range(12, 0, -1)])
    spans = spans_of_list([text])
    for begin in range(30):
        found = window_hashes(isa, spans.window(0, begin, len(text)), WORDS, 1)
        assert found == [in_order(text[begin:], "word", 1)]
        found = window_hashes(isa, spans_of_list([text[begin:]]), WORDS, 2)
        assert found == [in_order(text[begin:], "word", 2)]


@pytest.mark.parametrize("unit", [CHARACTERS, WORDS])
def test_code_points_of_every_plane(isa, unit):
    edges = [edge + step for edge in range(0, 0x110000, 0x10000) for step in (-1, 0, 0x8765)]
    text = "".join(map(chr, edges[1:])) + chr(0x10FFFF)
    texts = [text, " ".join(text), text[:4]]
    found = window_hashes(isa, spans_of_list(texts), unit, 2)
    name = "word" if unit == WORDS else "char"
    for text, hashes in zip(texts, found, strict=True):
        assert sorted(hashes) == sorted(in_order(text, name, 2))


def test_empty_words_are_words(isa):
    found = window_hashes(isa, spans_of_list(["a,,b, c"]), ALPHANUMERIC | WITH_EMPTY, 2)
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
    found = window_hashes(isa, spans, TOKEN_IDS, size)
    for begin, end, hashes in zip(offsets, offsets[1:], found, strict=False):
        words = tuple(str(i) for i in ids[begin:end])
        assert hashes == [KEYED.window_hash(w) for w in oracle.windows(words, size)]


@pytest.mark.parametrize("size", [1, 2, 9])
def test_tokens(isa, size):
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


@pytest.mark.parametrize("scheme", ["affine32", "fss"])
@pytest.mark.parametrize("num_perm", [1, 64, 100])
def test_signatures(isa, scheme, num_perm):
    texts = [text_of(n + 4 if n else 0, ALPHABETS["ucs-2"]) for n in SHINGLES if n < 600]
    kernel = {"affine32": isa.AFFINE32, "fss": isa.FSS}[scheme]
    a, b = KEY.functions(num_perm + (oracle.ROUNDS if scheme == "fss" else 0), 3)
    out = np.empty((len(texts), num_perm), np.uint32)
    plan = KEY.plan(CHARACTERS, 5)
    isa.signatures(spans_of_list(texts), CHARACTERS, 5, kernel, a, b, out, prepared=plan)
    for text, row in zip(texts, out.tolist(), strict=True):
        assert row == KEYED.signature(in_order(text, "char", 5), num_perm, 3, scheme)


@share(4)
@given(st.lists(any_text, max_size=6), st.sampled_from(["char", "word"]), st.integers(1, 12))
def test_all_instruction_sets_agree_with_the_oracle(isa, texts, unit, size):
    number = {"char": CHARACTERS, "word": WORDS}[unit]
    found = window_hashes(isa, spans_of_list(texts), number, size)
    for text, hashes in zip(texts, found, strict=True):
        assert sorted(hashes) == sorted(in_order(text, unit, size))


def test_refusals(isa):
    secret = np.ones(531, np.uint64)
    refuses(ValueError, "530 numbers, expected 531", ShinglePlan, CHARACTERS, 9, secret[:-1])
    refuses(ValueError, "must be odd", ShinglePlan, CHARACTERS, 9, secret * np.uint64(2))
    refuses(ValueError, "at least 1", ShinglePlan, CHARACTERS, 0, secret)
    with pytest.raises(ValueError, match="the plan is for unit 0 and size 9, not for 1 and 9"):
        isa.TextReader(WORDS, 9, ShinglePlan(CHARACTERS, 9, secret))

"""Winnowing and repeated windows, kernel by kernel, against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh._kernels.passages import _passages
from fastlsh._kernels.text._texts import spans_of_list
from kernel_cases import CASES, words_of_each
from refusals import refuses

texts = st.lists(st.text("abc☃😀", max_size=40), max_size=5)


def winnowed(collection, length, gram, room=500):
    keys, rows = np.zeros(room, np.uint64), np.zeros((room, 4), np.int64)
    echoes = np.zeros((room, 5), np.int64)
    count, echo_count = _passages.winnow(
        spans_of_list(collection), length, gram, keys, rows, echoes
    )
    return keys[:count], rows[:count], echoes[:echo_count]


@given(texts, st.integers(1, 9), st.integers(1, 9))
def test_each_window_has_one_key_which_equal_windows_share(collection, length, gram):
    gram = min(gram, length)
    keys, rows, echoes = winnowed(collection, length, gram)
    of_window, of_gram = {}, {}
    for key, (text, position, first, last) in zip(keys.tolist(), rows.tolist(), strict=True):
        for begin in range(first, last + 1):
            assert begin <= position <= begin + length - gram
            window = collection[text][begin : begin + length]
            assert of_window.setdefault(window, (key, position - begin)) == (key, position - begin)
            assert of_gram.setdefault(collection[text][position : position + gram], key) == key
    own = [(t, b) for t, _, first, last in rows.tolist() for b in range(first, last + 1)]
    echoed = [
        (t, b) for t, begin, end, *_ in echoes.tolist() for b in range(begin, end - length + 1)
    ]
    every = [(t, b) for t, text in enumerate(collection) for b in range(len(text) - length + 1)]
    assert sorted(own + echoed) == every
    for text, begin, end, source, at in echoes.tolist():
        assert source == text
        assert begin - at >= length
        assert collection[text][begin:end] == collection[text][at : at + end - begin]


def test_keys_are_spread_evenly():
    """The smallest of many hashes have zeros in front, and disk keeps the first bits of keys."""
    draw = np.random.default_rng(2)
    keys, *_ = winnowed(["".join(draw.choice(list("abcdef"), 60_000))], 500, 50, 10_000)
    assert len(keys) > 200
    assert 0.4 < np.mean(keys >= 2**63) < 0.6
    assert 0.4 < np.mean(keys & np.uint64(2**62) > 0) < 0.6


def test_what_does_not_fit_is_counted():
    draw = np.random.default_rng(1)
    collection = ["".join(draw.choice(list("abcdef"), 300)), "ab" * 300]
    keys, _, echoes = winnowed(collection, 20, 5)
    assert len(keys) > 20
    assert len(echoes) == 1
    nothing = np.zeros(3, np.uint64), np.zeros((3, 4), np.int64), np.zeros((0, 5), np.int64)
    counted = _passages.winnow(spans_of_list(collection), 20, 5, *nothing)
    assert counted == (len(keys), 1)
    assert (nothing[0] == keys[:3]).all()
    _, given = CASES["repeats"]()
    found = _passages.repeats(**given)
    assert found > 1
    assert _passages.repeats(**{**given, "out": np.zeros((1, 5), np.int64)}) == found
    _, given = CASES["cuts"]()
    assert _passages.cuts(**given) == 3
    assert _passages.cuts(**{**given, "out": np.zeros((2, 5), np.int64)}) == -1


@pytest.mark.parametrize(("name", "read"), [("repeats", "occurrences"), ("cuts", "matches")])
def test_what_is_read_is_not_written(name, read):
    call, given = CASES[name]()
    rows = given[read].copy()
    shared = given[read].reshape(-1)[: len(rows) * 5].reshape(-1, 5)
    with pytest.raises(ValueError, match=f"out(,| and) .*{read}.* must not share memory"):
        call(**{**given, "out": shared})
    assert (given[read] == rows).all()


@pytest.mark.parametrize("length", [2**50, 2**61, 2**63 - 1])
def test_windows_longer_than_every_text_take_no_memory(length):
    call, given = CASES["winnow"]()
    assert call(**{**given, "length": length}) == (0, 0)
    call, given = CASES["repeats"]()
    nothing = {"occurrences": np.zeros((0, 6), np.int64), "groups": np.zeros(1, np.int64)}
    assert call(**{**given, **nothing, "length": length}) == 0


def test_occurrences_out_of_order():
    call, given = CASES["repeats"]()
    groups = np.diff(given["groups"])
    start = given["groups"][np.argmax(groups)]
    rows = given["occurrences"].copy()
    rows[[start, start + 1]] = rows[[start + 1, start]]
    with pytest.raises(ValueError, match=f"occurrence {start + 1} is not behind"):
        call(**{**given, "occurrences": rows})


words = st.lists(st.lists(st.text("abcd☃😀", min_size=1, max_size=9), max_size=9), max_size=5)


@given(words, st.sampled_from([0, 1, 2**64 - 1]))
def test_words_have_hashes_and_numbers(collection, bits):
    documents = [" ".join(document) for document in collection]
    bounds, starts = words_of_each(documents)
    hashes, numbers = np.zeros(len(bounds), np.uint64), np.zeros(len(bounds), np.uint32)
    spans = spans_of_list(documents)
    _passages.word_hashes(spans, starts, bounds, bits, hashes)
    unique = _passages.word_numbers(spans, starts, bounds, hashes, numbers)
    every, first = [word for document in collection for word in document], {}
    assert numbers.tolist() == [first.setdefault(word, len(first)) for word in every]
    of_word = dict(zip(every, hashes.tolist(), strict=True))
    assert hashes.tolist() == [of_word[word] for word in every]
    assert unique == (len(set(of_word.values())) == len(first))


def test_many_words():
    every = [f"{number % 5000:x}" for number in range(12_000)]
    documents = [" ".join(every)]
    bounds, starts = words_of_each(documents)
    hashes, numbers = np.zeros(len(bounds), np.uint64), np.zeros(len(bounds), np.uint32)
    spans = spans_of_list(documents)
    _passages.word_hashes(spans, starts, bounds, 2**64 - 1, hashes)
    assert _passages.word_numbers(spans, starts, bounds, hashes, numbers)
    assert numbers.tolist() == [number % 5000 for number in range(12_000)]
    assert len(set(hashes.tolist())) == 5000

    call, given = CASES["word_hashes"]()
    given["bounds"][0] = 0, 10_000
    refuses(IndexError, "word 0 has the code points 0 to 10000 of", call, **given)

"""Winnowing, repeated windows, n-grams and common runs, kernel by kernel, against plain Python."""

import itertools
import time
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastlsh._kernels.passages import _passages
from fastlsh._kernels.passages._passages import GramTable, extend_grams, hash_grams, repeat_grams
from fastlsh._kernels.text._plans import CHARACTERS, WORDS
from fastlsh._kernels.text._texts import spans_of_list
from kernel_cases import CASES, spans_of_numbers, words_of_each

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


@pytest.mark.parametrize("length", [2**50, 2**61, 2**63 - 1])
def test_windows_longer_than_every_text_take_no_memory(length):
    call, given = CASES["winnow"]()
    assert call(**{**given, "length": length}) == (0, 0)
    call, given = CASES["repeats"]()
    nothing = {"occurrences": np.zeros((0, 6), np.int64), "groups": np.zeros(1, np.int64)}
    assert call(**{**given, **nothing, "length": length}) == 0


words = st.lists(st.lists(st.text("abcd☃😀", min_size=1, max_size=9), max_size=9), max_size=5)


@example(collection=[[f"{number % 5000:x}" for number in range(12_000)]], bits=2**64 - 1)
@given(words, st.sampled_from([0, 1, 2**64 - 1]))
def test_words_have_hashes_and_numbers(collection, bits):
    documents = [" ".join(document) for document in collection]
    bounds, starts = words_of_each(documents)
    hashes, numbers = np.zeros(len(bounds), np.uint64), np.zeros(len(bounds), np.uint32)
    spans = spans_of_list(documents)
    _passages.word_hashes(spans, starts, bounds, bits, hashes)
    words = _passages.WordNumbers(spans, starts, bounds, bits, numbers)
    every, first = [word for document in collection for word in document], {}
    assert numbers.tolist() == [first.setdefault(word, len(first) + 1) for word in every]
    of_word = dict(zip(every, hashes.tolist(), strict=True))
    assert hashes.tolist() == [of_word[word] for word in every]
    assert words.have_unique_hashes == (len(set(of_word.values())) == len(first))
    others = [document.replace("a", "b").replace("c", "a") for document in documents]
    bounds, starts = words_of_each(others)
    numbers = np.zeros(len(bounds), np.uint32)
    words.find(spans_of_list(others), starts, bounds, numbers)
    assert numbers.tolist() == [first.get(word, 0) for text in others for word in text.split()]


# ---- n-grams

spaced = st.lists(st.text("abé☃😀 ", max_size=30), max_size=5)
ALL = 2**64 - 1


def units_of(text, unit):
    return list(text) if unit == CHARACTERS else text.split()


def windows(collection, unit, size):
    """Return (text, place, units) of every window."""
    return [
        (number, place, tuple(units[place : place + size]))
        for number, units in enumerate(units_of(text, unit) for text in collection)
        for place in range(len(units) - size + 1)
    ]


def hashed(collection, unit, rows, mask=ALL):
    out = np.zeros(len(rows), np.uint64)
    grams = np.array([(t, p, len(w)) for t, p, w in rows], np.int64).reshape(-1, 3)
    hash_grams(spans_of_list(collection), unit, grams, mask, out)
    return out


@given(spaced, spaced, st.sampled_from([CHARACTERS, WORDS]), st.integers(1, 5), st.integers(1, 5))
def test_a_table_finds_what_is_in_it(items, collection, unit, size, least):
    least = min(least, size)
    rows = sorted(row for n in range(least, size + 1) for row in windows(items, unit, n))
    hashes = hashed(items, unit, rows)
    one_of_each = {}
    for row, value in zip(rows, hashes.tolist(), strict=True):
        assert one_of_each.setdefault(value, row)[2] == row[2]
    kept = list(one_of_each.values())
    lengths = np.array([len(row[2]) for row in kept], np.int64)
    beginnings = [(text, place, units[:least]) for text, place, units in kept if len(units) < size]
    table = GramTable(
        size, np.array(list(one_of_each), np.uint64), np.arange(len(kept)),
        (lengths < size).astype(np.uint8), least, np.unique(lengths[lengths < size]),
        hashed(items, unit, beginnings), ALL,
    )  # fmt: skip
    out = np.zeros((400, 3), np.int64)
    count = table.find(spans_of_list(collection), unit, out)
    numbers = {row[2]: number for number, row in enumerate(kept)}
    expected = [
        (text, place, numbers[units])
        for n in range(least, size + 1)
        for text, place, units in windows(collection, unit, n)
        if units in numbers
    ]
    assert sorted(map(tuple, out[:count].tolist())) == sorted(expected)
    few = np.zeros((min(count, 1), 3), np.int64)
    assert table.find(spans_of_list(collection), unit, few) == count


def test_long_texts_are_found_block_by_block():
    words = [f"w{number}" for number in range(5000)]
    items, collection = [" ".join(words[4000:4013])], [" ".join(words)] * 2
    value = hashed(items, WORDS, windows(items, WORDS, 13))
    table = GramTable(
        13, value, np.array([7]), np.zeros(1, np.uint8), 5, np.empty(0, np.int64),
        np.empty(0, np.uint64), ALL,
    )  # fmt: skip
    out = np.zeros((2, 3), np.int64)
    assert table.find(spans_of_list(collection), WORDS, out) == 2
    assert out.tolist() == [[0, 4000, 7], [1, 4000, 7]]


def test_many_sizes_cost_little_more_than_the_longest():
    text = ["a " * 3000]
    beginning = hashed(text, WORDS, [(0, 0, ("a",) * 5)])

    def cost(sizes):
        table = GramTable(
            500, np.ones(1, np.uint64), np.zeros(1, np.int64), np.ones(1, np.uint8), 5, sizes,
            beginning, ALL,
        )  # fmt: skip
        texts, out, times = spans_of_list(text), np.zeros((1, 3), np.int64), []
        for _ in range(5):
            start = time.process_time()
            table.find(texts, WORDS, out)
            times.append(time.process_time() - start)
        return min(times)

    assert cost(np.arange(5, 500)) < 50 * cost(np.array([499]))


def periods(units, most):
    """Texts of repeated pieces, and pieces of these."""
    pieces = st.lists(st.tuples(st.text(units, min_size=1, max_size=4), st.integers(1, 9)))
    joined = pieces.map(lambda some: " ".join("".join(piece * n for piece, n in some)))
    return st.lists(joined.map(lambda text: text[:90]), max_size=most)


repeated = spaced | periods("ab", 3)


def first_grams(text, size):
    grams = list(zip(*(text[i:] for i in range(size)), strict=False))
    return [grams.index(gram) for gram in grams] + [-1] * (len(text) - len(grams))


@given(repeated, repeated, st.integers(1, 4))
def test_runs_are_the_longest_common_ones(one, other, size):
    units = [[text.split() for text in side] for side in (one, other)]
    first = [first_grams(text, size) for text in units[1]]
    rows = [
        (t, o, a, b, size) for t, left in enumerate(units[0]) for o, right in enumerate(units[1])
        for a in range(len(left) - size + 1) for b in range(len(right) - size + 1)
        if first[o][b] == b
    ]  # fmt: skip
    if not rows:
        return
    table = np.array(rows)
    runs, run_of = np.zeros((len(rows), 5), np.int64), np.zeros(len(rows), np.int64)
    firsts = np.array([place for text in first for place in text], np.int64)
    ahead = np.zeros_like(firsts)
    number = defaultdict(itertools.count().__next__)
    given = [spans_of_numbers([[number[word] for word in text] for text in side]) for side in units]
    starts = np.cumsum([0, *map(len, units[1])])
    repeat_grams(given[1], starts, firsts, size, ahead)
    assert extend_grams(*given, table, runs, run_of) <= len(rows)
    equal = run_of >= 0
    count = extend_grams(*given, table, runs, run_of, starts, firsts, ahead)
    assert (equal == (run_of >= 0)).all()
    assert count == len({number for number in run_of.tolist() if number >= 0})
    for (t, o, a, b, n), number in zip(rows, run_of.tolist(), strict=True):
        left, right = units[0][t], units[1][o]
        assert (number >= 0) == (left[a : a + n] == right[b : b + n])
        if number < 0:
            continue
        text, there, begin, other_begin, length = runs[number].tolist()
        assert (text, there, begin - other_begin) == (t, o, a - b)
        assert begin <= a
        assert a + n <= begin + length
        end, other_end = begin + length, other_begin + length
        assert left[begin:end] == right[other_begin:other_end]
        assert not (begin and other_begin) or left[begin - 1] != right[other_begin - 1]
        ends = end == len(left) or other_end == len(right)
        assert ends or left[end] != right[other_end]

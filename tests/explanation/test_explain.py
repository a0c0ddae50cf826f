"""fastlsh.explain: figures and places, against sets of substrings."""

import re
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
from fastlsh import LSHParams, MinHasher, Shingler, band_keys, estimate_jaccard, explain, jaccard
from fastlsh.explanation.matching import Pairing, unit_numbers, window_numbers
from fastlsh.explanation.units import units_of
from refusals import refuses
from strategies import any_text, by_text, narrow, shinglers, wide

SMALL = {"threshold": 0.5, "bands": 10, "rows": 2, "num_perm": 20}
similar = st.tuples(narrow, narrow, narrow, narrow).map(lambda t: ("".join(t[:3]), "".join(t[1:])))
pairs_of_texts = st.one_of(similar, st.tuples(wide, wide), st.tuples(any_text, any_text))


def windows_of(text, shingler):
    return oracle.windows(oracle.units_of(text, shingler.unit), shingler.size)


def covered_units(windows, shared, size, n):
    return {u for i, w in enumerate(windows) if w in shared for u in range(i, min(i + size, n))}


# ---- figures


@given(pairs_of_texts, shinglers)
def test_figures_are_those_of_the_sets(texts, how):
    shingler = Shingler(**how)
    found = explain(*texts, shingler=shingler, **SMALL)
    a, b = (set(windows_of(text, shingler)) for text in texts)
    assert (found.shingles_a, found.shingles_b, found.shared) == (len(a), len(b), len(a & b))
    assert found.similarity == (len(a & b) / len(a | b) if a & b else 0)
    assert found.similarity == jaccard(*texts, shingler)
    assert found.containment_a == (len(a & b) / len(a) if a else 0)
    assert found.containment_b == (len(a & b) / len(b) if b else 0)
    signatures = MinHasher(20, shingler=shingler).signatures(texts)
    assert found.estimate == estimate_jaccard(signatures, [(0, 1)])[0]
    rows = signatures.reshape(2, 10, 2)
    expected = np.flatnonzero((rows[0] == rows[1]).all(axis=1)).tolist() if a and b else []
    assert found.matching_bands == expected
    assert found.found == bool(expected)
    assert found.probability == LSHParams(10, 2).probability(found.similarity)
    assert found.is_duplicate == (found.similarity >= 0.5)


@pytest.mark.parametrize("scheme", ["affine32", "fss"])
def test_parameters_reach_the_signatures(scheme):
    texts = ["one text that is long enough, or nearly", "one text that is long enough, nearly so"]
    found = explain(*texts, threshold=0.6, num_perm=64, seed=5, recall=0.9, scheme=scheme)
    assert found.params == LSHParams.for_threshold(0.6, 64, recall=0.9)
    signatures = MinHasher(64, seed=5, scheme=scheme).signatures(texts)
    keys = band_keys(signatures, found.params)
    assert found.matching_bands == np.flatnonzero(keys[:, 0] == keys[:, 1]).tolist()
    assert (found.num_perm, found.seed, found.scheme) == (64, 5, scheme)


def test_wrong_arguments_and_texts():
    refuses(ValueError, "threshold", explain, "a", "b", threshold=0)
    refuses(ValueError, "together", explain, "a", "b", bands=3)
    refuses(TypeError, "shingler", explain, "a", "b", shingler=3)
    refuses(TypeError, "document 1", explain, "a", 3)
    refuses(ValueError, "document 0", explain, b"\xff", "b")


@pytest.mark.parametrize("empty", ["", None, b""])
@pytest.mark.parametrize("unit", ["char", "word", "byte"])
def test_an_empty_document_is_like_nothing(empty, unit):
    for texts in ((empty, "one two three"), (empty, empty)):
        found = explain(*texts, shingler=Shingler(unit, 2))
        assert (found.similarity, found.containment_a, found.estimate) == (0, 0, 0)
        assert (found.found, found.is_duplicate) == (False, False)
        assert [found.matching_bands, found.spans, found.covered_a, found.covered_b] == [[]] * 4
        assert found.reason == "Not found: a document without a shingle is similar to nothing."


def test_the_reasons():
    text = "the quick brown fox jumps over the lazy dog, and so on and on "
    assert explain(text, text).reason == (
        "Found: 17 of 17 bands match; at similarity 1 a pair is found with probability 1."
    )
    other = text.replace("quick", "fast")
    assert explain(text, other).reason.startswith("Compared, but below the threshold 0.8: ")
    strict = {"bands": 1, "rows": 60}
    assert explain(text, other, **strict).reason.startswith("Not found, and below the threshold")
    assert explain(text, other, threshold=0.5, **strict).reason.startswith(
        "Not found although the threshold 0.5 is reached: none of 1 bands matches; at similarity 0."
    )


# ---- places


@given(pairs_of_texts, shinglers)
def test_covered_is_what_shared_shingles_cover(texts, how):
    shingler = Shingler(**how)
    found = explain(*texts, shingler=shingler, **SMALL)
    windows = [windows_of(text, shingler) for text in texts]
    shared = set(windows[0]) & set(windows[1])
    sides = (found.a, found.covered_a), (found.b, found.covered_b)
    for text, (shown, covered), each in zip(texts, sides, windows, strict=True):
        n = len(oracle.units_of(text, shingler.unit))
        expected = covered_units(each, shared, shingler.size, n)
        if shingler.unit == "word":
            places = [match.span() for match in re.finditer(r"\S+", text)]
        else:
            places = [(i, i + 1) for i in range(n)]
        inside = {p for start, stop in covered for p in range(start, stop)}
        assert {i for i, (start, stop) in enumerate(places) if start in inside} == expected
        assert all(inside.isdisjoint(range(*places[i])) for i in set(range(n)) - expected)
        borders = [p for place in covered for p in place]
        assert borders == sorted(set(borders))
        assert not covered or (borders[0] >= 0 and borders[-1] <= len(shown))


@given(pairs_of_texts, shinglers)
def test_spans_agree_and_pair_one_to_one(texts, how):
    shingler = Shingler(**how)
    found = explain(*texts, shingler=shingler, **SMALL)
    shared = set(windows_of(texts[0], shingler)) & set(windows_of(texts[1], shingler))
    inside_a = {p for start, stop in found.covered_a for p in range(start, stop)}
    inside_b = {p for start, stop in found.covered_b for p in range(start, stop)}
    paired_a, paired_b = [], []
    for span in found.spans:
        left, right = found.a[span.a_start : span.a_stop], found.b[span.b_start : span.b_stop]
        units = oracle.units_of(left, shingler.unit)
        assert units == oracle.units_of(right, shingler.unit)
        assert set(oracle.windows(units, shingler.size)) <= shared
        assert inside_a.issuperset(range(span.a_start, span.a_stop))
        assert inside_b.issuperset(range(span.b_start, span.b_stop))
        if shingler.unit != "word":
            count = max(len(left) - shingler.size, 0) + 1
            paired_a += range(span.a_start, span.a_start + count)
            paired_b += range(span.b_start, span.b_start + count)
    assert len(paired_a) == len(set(paired_a))
    assert len(paired_b) == len(set(paired_b))
    assert found.spans == sorted(found.spans)
    assert bool(found.spans) == bool(shared)


numbers = st.lists(st.integers(0, 6), max_size=30).map(lambda v: np.array(v, np.int64))


@given(numbers, numbers)
def test_pairing(a, b):
    pairing = Pairing(a, b)
    pairs = [(i, j) for i, j in enumerate(pairing.of_a) if j >= 0]
    assert pairs == sorted((i, j) for j, i in enumerate(pairing.of_b) if i >= 0)
    assert all(a[i] == b[j] for i, j in pairs)
    # Nothing is left that could be paired, and what occurs once in both has its only partner.
    for kind in range(7):
        at_a, at_b = np.flatnonzero(a == kind), np.flatnonzero(b == kind)
        used = sum(int(a[i]) == kind for i, _ in pairs)
        assert used == min(len(at_a), len(at_b))
        if len(at_a) == len(at_b) == 1:
            assert (at_a[0], at_b[0]) in pairs
    runs = pairing.runs()
    assert [(r.a + t, r.b + t) for r in runs for t in range(r.length)] == pairs
    # Maximal: one more would be no pair.
    assert not any((r.a + r.length, r.b + r.length) in pairs for r in runs)


@given(numbers, numbers, st.integers(1, 20))
def test_windows_have_equal_numbers_where_they_are_equal(a, b, size):
    got_a, got_b = window_numbers(a, b, size)
    expected = [oracle.windows(tuple(side.tolist()), size) for side in (a, b)]
    assert (len(got_a), len(got_b)) == tuple(map(len, expected))
    got = [*got_a.tolist(), *got_b.tolist()]
    windows = [*expected[0], *expected[1]]
    assert all(0 <= number < max(len(got), 1) + 1 for number in got)
    assert len(set(zip(got, windows, strict=True))) == len(set(got)) == len(set(windows))


@pytest.mark.parametrize("size", [1, 2, 3, 8, 9, 31, 32, 33, 1000])
def test_large_alphabets_are_numbered_anew_in_time(size):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2**31, 3000)
    a, b = unit_numbers(a, np.concatenate([a[1000:], a[:1500]]))
    got_a, got_b = window_numbers(a, b, size)
    assert np.array_equal(got_a[1000:], got_b[: 2000 - size + 1])
    assert len(np.unique(np.concatenate([got_a, got_b]))) == 3001 - size + size - 1


def test_moved_and_repeated_passages_are_paired_as_a_reader_would():
    first, second = "Here is the first paragraph. ", "A second one, quite different. "
    found = explain(first + second, second + first)
    n, m = len(first), len(second)
    assert found.spans == [(0, n, m, m + n), (n, n + m, 0, m)]
    # The second copy in b stays as it is, though the first one was changed.
    b = first.replace("first", "vast") + first
    assert explain(first + first, b).spans == [(0, 12, 0, 12), (15, 58, 14, 57)]
    # The longest run of what repeats.
    assert explain("ab" * 20, "ba" * 30).spans == [(0, 40, 1, 41)]


# ---- normalisation


def normalised(text, shingler):
    """What `Shingler` makes of a text."""
    if shingler.lowercase:
        text = text.lower()
    if shingler.remove_whitespace:
        text = "".join(text.split())
    elif shingler.collapse_whitespace:
        text = " ".join(text.split())
    return text


flags = st.sampled_from(
    [
        {"lowercase": lower, blanks: True}
        for lower in (False, True)
        for blanks in ("lowercase", "remove_whitespace", "collapse_whitespace")
    ]
)
mixed_text = st.text("aAİßé \t\n\u3000😀Ⅷ", max_size=20)


@given(mixed_text, flags, st.sampled_from(["char", "word", "byte"]))
def test_normalised_units_are_traced_back(text, how, unit):
    assume(unit != "word" or "remove_whitespace" not in how)
    shingler = Shingler(unit, 3, **how)
    units = units_of(text, shingler)
    expected = normalised(text, shingler)
    assert units.is_original
    if unit == "word":
        assert units.values == expected.split()
        assert units.text == text
    elif unit == "char":
        assert "".join(map(chr, units.values)) == expected
        assert units.text == text
    else:
        assert bytes(units.values.astype(np.uint8)) == expected.encode()
        assert units.text == text.encode()
    start, stop = units.start.tolist(), units.stop.tolist()
    assert start == sorted(start)
    assert stop == sorted(stop)
    for value, i, j in zip(units.values, start, stop, strict=True):
        piece = units.text[i:j]
        if unit == "word":
            assert normalised(piece, shingler) == value
        elif unit == "char":
            assert chr(value) in (normalised(piece, shingler) or " ")
        else:
            piece = piece.decode("utf-8", "surrogateescape")  # one byte, where nothing changes
            assert value in (normalised(piece, shingler) or " ").encode("utf-8", "surrogateescape")


SPACED, LOWER = "The  Quick\n\tbrown FOX", "the quick brown fox!"
COMPOSED = "café au lait"
STEPS = {"numbers": "0", "punctuation": "space", "strip_accents": True}
TRACED = [
    (SPACED, LOWER, Shingler(size=4, lowercase=True, collapse_whitespace=True), (0, 21, 0, 19)),
    (SPACED, LOWER, Shingler(size=4, lowercase=True, remove_whitespace=True), (0, 21, 0, 19)),
    (SPACED, LOWER, Shingler("word", 2, lowercase=True), (0, 17, 0, 15)),
    ("İstanbul Ortaköy", "i̇stanbul Ortaköy", Shingler(lowercase=True), (0, 16, 0, 17)),
    ("naïve café", "NAÏVE CAFÉ", Shingler("byte", 3, lowercase=True), (0, 12, 0, 12)),
    (COMPOSED, unicodedata.normalize("NFD", COMPOSED), Shingler(size=4, unicode_form="NFC"),
     (0, 12, 0, 13)),
    ("Élan -- 12.50 kg, (sold)", "elan 7 kg sold", Shingler("word", 2, lowercase=True, **STEPS),
     (0, 23, 0, 14)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "shingler", "span"), TRACED, ids=by_text)
def test_spans_of_normalised_texts_show_the_documents(a, b, shingler, span):
    found = explain(a, b, shingler=shingler)
    shown = [text.encode() if shingler.unit == "byte" else text for text in (a, b)]
    assert ([found.a, found.b], found.original) == (shown, True)
    assert found.spans == [span]


def test_empty_words_are_words():
    code = Shingler("word", 1, words="ascii_alphanumeric", empty_words=True)
    assert explain("a::b", "b::a", shingler=code).similarity == 1.0


def test_what_cannot_be_traced_back_is_shown_normalised():
    dropped = Shingler(size=2, normalize=lambda text: text.replace("-", ""))
    found = explain("a-b-c", "abc", shingler=dropped)
    assert (found.a, found.covered_a, found.original) == ("abc", [(0, 3)], False)
    cut = Shingler("word", 1, tokenizer=lambda text: [t.encode() for t in text.split("/")])
    found = explain("x/yy/z", "yy/w", shingler=cut)
    assert (found.a, found.original) == ("x yy z", False)
    assert found.spans == [(2, 4, 0, 2)]
    assert "tokens" in str(found)


def test_bytes():
    raw = Shingler("byte", 2)
    found = explain(b"\xff\xfeabc", "éabc\ud800", shingler=raw)
    assert (found.a, found.b) == (b"\xff\xfeabc", b"\xc3\xa9abc\xed\xa0\x80")
    assert found.spans == [(2, 5, 2, 5)]
    assert r"[-\xff\xfe-]abc" in str(found)
    assert explain("café au lait".encode(), "café au lait").similarity == 1


# ---- cost


def lines_run(work):
    """Count the lines of fastlsh.explanation that run."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if not frame.f_globals.get("__name__", "").startswith("fastlsh.explanation"):
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def worst_cases(n):
    rng = np.random.default_rng(0)
    noise = "".join(map(chr, rng.integers(97, 100, n)))
    return {
        "one letter": ("a" * n, "a" * n),
        "one letter, and a difference": ("a" * n, "a" * (n // 2) + "b" + "a" * n),
        "two phases": ("ab" * (n // 2), "ba" * n),
        "three letters": (noise, noise[::-1]),
        "copies": (noise[:50] * (n // 50), noise[1:50] * (n // 49)),
    }


@pytest.mark.parametrize("case", worst_cases(100))
def test_linear_where_everything_repeats(case):
    counts = [
        lines_run(lambda: explain(*worst_cases(n)[case], shingler=Shingler(size=5)))  # noqa: B023
        for n in (1_000, 6_000)
    ]
    assert counts[0] < 40 * 1_000
    assert counts[1] < 40 * 6_000

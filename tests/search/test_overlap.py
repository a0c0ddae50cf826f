"""`overlap`: the counts and the orders of a slow definition."""

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
from combinations import covering
from fastlsh import Overlap, Shingler, matches, overlap
from fastlsh.stages import added_up, near_sets
from fastlsh.stages.overlap import Shared
from shards import rows_of

SURE = {"num_perm": 128, "bands": 64, "rows": 2}
"""A pair at .5 is missed once in 10^8."""

NAMES = [f"set {number}" for number in range(20)]
TEXTS = st.lists(
    st.lists(st.sampled_from(["one", "two", "three", "four", "é☃𝔘"]), max_size=4).map(" ".join),
    max_size=6,
)


def alike(left, right, threshold):
    """Whether two texts are near-duplicates: their sets of 3 characters."""
    a, b = (
        {text[i : i + 3] for i in range(max(1, len(text) - 2))} if text else set()
        for text in (left, right)
    )
    return bool(a and b) and len(a & b) / len(a | b) >= threshold


def counted(data_sets, threshold):
    """Return the documents and the characters that are shared, by the definition."""
    n = len(data_sets)
    documents, characters = np.zeros((n, n), int), np.zeros((n, n), int)
    for i, own in enumerate(data_sets):
        for j, others in enumerate(data_sets):
            for place, text in enumerate(own):
                if any(
                    alike(text, other, threshold)
                    for at, other in enumerate(others)
                    if (i, place) != (j, at)
                ):
                    documents[i, j] += 1
                    characters[i, j] += len(text)
    return documents, characters


@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
@given(st.lists(TEXTS, min_size=2, max_size=4))
def test_counts_are_those_of_the_definition(data_sets):
    found = overlap(
        dict(zip(NAMES, data_sets, strict=False)), 0.5, shingler=Shingler("char", 3), **SURE
    )
    documents, characters = counted(data_sets, 0.5)
    assert found.shared_documents.tolist() == documents.tolist()
    assert found.shared_characters.tolist() == characters.tolist()
    assert found.documents.tolist() == list(map(len, data_sets))
    assert found.characters.tolist() == [sum(map(len, texts)) for texts in data_sets]
    assert found.empty == sum(not text for texts in data_sets for text in texts)


@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
@pytest.mark.parametrize(
    ("seed", "sizes"),
    covering(range(3), [(1, 1, 1, 1), (7, 3, 50, 40), (64, 16, 2_000, 1 << 20)]),
)
def test_documents_that_share_many_buckets(monkeypatch, seed, sizes):
    for name, size in zip(("ROOM", "SEARCHES", "LENGTH", "ENTRIES"), sizes, strict=True):
        monkeypatch.setattr(near_sets, name, size)
    draw = random.Random(seed)
    words = [f"w{number}" for number in range(25)]
    texts = [
        " ".join(draw.sample(words, 8 + draw.randrange(4)) if draw.random() < 0.5 else words[:11])
        + " end" * draw.randrange(2)
        for _ in range(90)
    ]
    data_sets = [[] for _ in range(6)]
    for number, text in enumerate(texts):
        data_sets[min(draw.randrange(6), draw.randrange(6))].append(text + f" {number % 40}")
    found = overlap(
        dict(zip(NAMES, data_sets, strict=False)), 0.5, shingler=Shingler("char", 3), **SURE
    )
    documents, characters = counted(data_sets, 0.5)
    assert found.shared_documents.tolist() == documents.tolist()
    assert found.shared_characters.tolist() == characters.tolist()
    assert 0 < documents.sum() < 6 * len(texts)


def test_documents_that_are_alike_are_compared_a_few_times():
    texts = [f"one template of notices that many data sets have, number {n}" for n in range(9_000)]
    data_sets = {"a": texts[:3_000], "b": texts[3_000:6_000], "c": texts[6_000:]}
    found = overlap(data_sets, max_pairs=10 * len(texts))
    assert found.shared_documents.tolist() == [[3_000] * 3] * 3


def cut(seed, n, borders):
    texts = [row["text"] or "" for row in rows_of(seed, n)]
    return [texts[a:b] for a, b in zip([0, *borders], [*borders, n], strict=True)]


@pytest.mark.parametrize("verify", ["exact", "signature", "none"])
def test_counts_are_those_of_the_pairs_that_are_found(verify):
    data_sets = cut(31, 300, [90, 120, 200])
    how = {"threshold": 0.6, "verify": verify}
    found = overlap(dict(zip("abcd", data_sets, strict=True)), **how)
    pairs = fastlsh.near_duplicates([text for each in data_sets for text in each], **how)
    of = np.repeat(range(4), list(map(len, data_sets)))
    has = {
        (int(x), int(of[y]))
        for a, b in zip(pairs.left, pairs.right, strict=True)
        for x, y in ((a, b), (b, a))
    }
    expected = np.zeros((4, 4), int)
    for document, other in has:
        expected[of[document], other] += 1
    assert found.shared_documents.tolist() == expected.tolist()
    assert expected.min() > 0


def test_lost_is_what_matches_find_in_the_data_sets_before():
    data_sets = dict(zip("abcd", cut(32, 240, [60, 150, 170]), strict=True))
    found = overlap(data_sets, 0.6)
    for order in permutations("abcd"):
        expected = [0]
        for place in range(1, 4):
            before = [text for name in order[:place] for text in data_sets[name]]
            expected.append(len({d for d, *_ in matches(data_sets[order[place]], before, 0.6)}))
        assert found.lost(order) == expected


def random_counts(draw, n, most=40):
    """Return counts of at most so many rows; few rows connect few data sets."""
    rows = [
        (draw.randrange(n), draw.randrange(1, 1 << n), draw.randrange(1, 9), draw.randrange(99))
        for _ in range(draw.randrange(most))
    ]
    return added_up(np.array(rows, Shared))


@pytest.mark.parametrize("seed", range(20))
def test_no_order_loses_less(seed):
    draw = random.Random(seed)
    n = draw.randrange(2, 7)
    counts = random_counts(draw, n, draw.choice([4, 40]))
    if seed % 2:  # of two others at most
        counts["others"] = [1 << draw.randrange(n) | 1 << draw.randrange(n) for _ in counts]
        counts = added_up(counts)
    many = np.full(n, 400)
    found = Overlap(NAMES[:n], many, many, counts, empty=0, params=None)
    for measure in ("documents", "characters"):
        best = found.best_order(measure)
        losses = [sum(found.lost(order, measure)) for order in permutations(NAMES[:n])]
        assert best.optimal
        assert best.lost == found.lost(best.names, measure)
        assert sum(best.lost) == min(losses)
        first = next(
            order for order, lost in zip(permutations(NAMES[:n]), losses, strict=True)
            if lost == min(losses)
        )  # fmt: skip
        assert best.names == list(first)


def test_of_many_data_sets_the_order_is_found_step_by_step():
    draw = random.Random(1)
    many = np.full(20, 400)
    found = Overlap(NAMES, many, many, random_counts(draw, 20), empty=0, params=None)
    best = found.best_order()
    assert not best.optimal
    assert sorted(best.names) == sorted(NAMES)
    assert best.lost == found.lost(best.names)
    assert sum(best.lost) < sum(found.lost(NAMES))
    last = {
        name: found.lost([*(other for other in NAMES if other != name), name])[-1]
        for name in NAMES
    }  # fmt: skip
    assert last[best.names[-1]] == min(last.values())


def test_data_sets_that_share_nothing_do_not_matter_to_each_other():
    texts = {name: [f"a text of two sets, {number // 2}"] for number, name in enumerate(NAMES)}
    texts[NAMES[3]] *= 5
    best = overlap(texts, 1.0).best_order()
    assert best.optimal
    assert best.names == [NAMES[0], NAMES[1], NAMES[3], NAMES[2], *NAMES[4:]]
    assert sum(best.lost) == 10


def test_16_data_sets_are_few():
    texts = {name: [f"the very same text of every set, {number % 4}"] for number, name in
             enumerate(NAMES[:16])}  # fmt: skip
    best = overlap(texts, 1.0).best_order()
    assert best.optimal
    assert best.names == NAMES[:16]
    assert sum(best.lost) == 12


def test_copies_make_no_pairs():
    text = "the same text in many documents of both data sets"
    found = overlap({"a": [text] * 30_000, "b": [text, f"{text}!"] * 20_000}, max_pairs=10)
    assert found.shared_documents.tolist() == [[30_000, 30_000], [40_000, 40_000]]


def test_64_data_sets():
    names = [f"{number}" for number in range(64)]
    found = overlap({name: ["one text that all data sets have"] for name in names})
    assert (found.shared_documents == 1 - np.eye(64, dtype=int)).all()
    assert sum(found.best_order().lost) == 63


@pytest.mark.parametrize(
    ("data_sets", "message"),
    [
        ({}, "2 to 64 data sets, got 0"),
        ({"a": ["text"]}, "2 to 64 data sets, got 1"),
        ({f"{n}": ["text"] for n in range(65)}, "2 to 64 data sets, got 65"),
    ],
)
def test_too_few_and_too_many(data_sets, message):
    with pytest.raises(ValueError, match=message):
        overlap(data_sets)


def test_bad_arguments():
    found = overlap({"a": ["some text"], "b": []})
    with pytest.raises(ValueError, match="order must have each data set once: a, b"):
        found.lost(["a", "a"])
    with pytest.raises(ValueError, match="measure must be one of documents, characters"):
        found.best_order("bytes")
    with pytest.raises(ValueError, match="counts characters, which token ids do not have"):
        overlap({"a": [[1, 2]], "b": [[1]]}, shingler=Shingler("token", 2))
    with pytest.raises(fastlsh.TooManyPairsError, match="max_pairs=1"):
        overlap({"a": [f"a long text that is alike, {n}" for n in range(9)], "b": []}, max_pairs=1)


def test_the_table():
    found = overlap({"a": ["some text", "other"], "b": ["some text"]})
    assert len(found) == 4
    assert repr(found) == "<Overlap: 2 data sets of 3 documents>"
    columns = found.columns()
    assert list(zip(*map(list, columns.values()), strict=True)) == [
        ("a", "a", 0, 2, 0, 14), ("a", "b", 1, 2, 9, 14),
        ("b", "a", 1, 1, 9, 9), ("b", "b", 0, 1, 0, 9),
    ]  # fmt: skip

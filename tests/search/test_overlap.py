"""`overlap`: the counts of a slow definition."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
from combinations import covering
from fastlsh import Shingler, overlap
from fastlsh.stages import near_sets
from shards import rows_of

SURE = {"num_perm": 128, "bands": 64, "rows": 2}
"""A pair at .5 is missed once in 10^8."""

NAMES = [f"set {number}" for number in range(6)]
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


def check(data_sets):
    """Compare the counts with the definition, and return the result."""
    found = overlap(
        dict(zip(NAMES, data_sets, strict=False)), 0.5, shingler=Shingler("char", 3), **SURE
    )
    documents, characters = counted(data_sets, 0.5)
    assert found.shared_documents.tolist() == documents.tolist()
    assert found.shared_characters.tolist() == characters.tolist()
    assert found.documents.tolist() == list(map(len, data_sets))
    assert found.characters.tolist() == [sum(map(len, texts)) for texts in data_sets]
    assert found.empty == sum(not text for texts in data_sets for text in texts)
    return found


@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
@given(st.lists(TEXTS, min_size=2, max_size=4))
def test_counts_are_those_of_the_definition(data_sets):
    check(data_sets)


@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
@pytest.mark.parametrize(
    ("seed", "sizes"), covering(range(3), [(1, 1, 1, 1), (7, 3, 50, 40), (64, 16, 2_000, 1 << 20)])
)
def test_documents_that_share_many_buckets(monkeypatch, seed, sizes):
    for name, size in zip(("ROOM", "SEARCHES", "LENGTH", "ENTRIES"), sizes, strict=True):
        monkeypatch.setattr(near_sets, name, size)
    draw = random.Random(seed)
    words = [f"w{number}" for number in range(25)]
    texts = [
        " ".join(draw.sample(words, 8 + draw.randrange(4)) if draw.random() < 0.5 else words[:11])
        + " end" * draw.randrange(2)
        for _ in range(40)
    ]
    data_sets = [[] for _ in range(6)]
    for number, text in enumerate(texts):
        data_sets[min(draw.randrange(6), draw.randrange(6))].append(text + f" {number % 40}")
    assert 0 < check(data_sets).shared_documents.sum() < 6 * len(texts)


def test_documents_that_are_alike_are_compared_a_few_times():
    texts = [f"one template of notices that many data sets have, number {n}" for n in range(9_000)]
    data_sets = {"a": texts[:3_000], "b": texts[3_000:6_000], "c": texts[6_000:]}
    found = overlap(data_sets, max_pairs=10 * len(texts))
    assert found.shared_documents.tolist() == [[3_000] * 3] * 3


@pytest.mark.parametrize("verify", ["exact", "signature", "none"])
def test_counts_are_those_of_the_pairs_that_are_found(verify):
    texts = [row["text"] or "" for row in rows_of(31, 300)]
    data_sets = texts[:90], texts[90:120], texts[120:200], texts[200:]
    how = {"threshold": 0.6, "verify": verify}
    found = overlap(dict(zip("abcd", data_sets, strict=True)), **how)
    pairs = fastlsh.near_duplicates(texts, **how)
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


def test_copies_make_no_pairs():
    text = "the same text in many documents of both data sets"
    found = overlap({"a": [text] * 30_000, "b": [text, f"{text}!"] * 20_000}, max_pairs=10)
    assert found.shared_documents.tolist() == [[30_000, 30_000], [40_000, 40_000]]
    found = overlap({f"{number}": ["one text that all data sets have"] for number in range(64)})
    assert (found.shared_documents == 1 - np.eye(64, dtype=int)).all()


def test_the_table():
    found = overlap({"a": ["some text", "other"], "b": ["some text"]})
    assert len(found) == 4
    assert repr(found) == "<Overlap: 2 data sets of 3 documents>"
    columns = found.columns()
    assert list(zip(*map(list, columns.values()), strict=True)) == [
        ("a", "a", 0, 2, 0, 14), ("a", "b", 1, 2, 9, 14),
        ("b", "a", 1, 1, 9, 9), ("b", "b", 0, 1, 0, 9),
    ]  # fmt: skip

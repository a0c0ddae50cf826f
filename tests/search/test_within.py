"""Groups: the answer is that of the documents of each group by themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
from fastlsh.candidates import Linker, keys_apart, links
from fastlsh.stages import SearchParams, decide_part, find_pairs_of_part
from refusals import refuses
from strategies import bandings, collections, few_letters, share, thresholds

GROUPS = st.sampled_from(["en", "de", 3, 3.0, -1, True, b"en"])
"""True is 1; 3 and 3.0 are one value."""


@st.composite
def grouped(draw):
    texts = draw(collections())
    return texts, draw(st.lists(GROUPS, min_size=len(texts), max_size=len(texts)))


def rows_of(labels):
    """Return the documents of each group."""
    found = {}
    for number, label in enumerate(labels):
        found.setdefault(label, []).append(number)
    return found.values()


SIMILAR = st.builds(
    lambda banding, threshold: {
        "bands": banding[0], "rows": banding[1], "num_perm": 16, "threshold": threshold,
    },
    bandings, thresholds,
)  # fmt: skip
CONTAINED = st.sampled_from([0.6, 0.8, 1.0]).map(
    lambda share: {
        "num_perm": 24, "recall": 0.7, "containment": share, "rule": "contained",
        "search": "containment",
    }
)  # fmt: skip


@few_letters
@given(
    grouped(), SIMILAR | CONTAINED | st.just({"rule": "equal"}),
    st.sampled_from(["first", "last", "longest"]),
)  # fmt: skip
def test_documents_are_decided_within_their_group(collection, how, keep):
    """Each group is decided on by itself, in stages, too."""
    texts, labels = collection
    if "containment" in how:
        parts = [(text or "")[len(text or "") // 3 :] for text in texts]
        texts, labels = texts + parts, labels * 2
    how = {**how, "shingler": fastlsh.Shingler("char", 3)}
    found = fastlsh.deduplicate(texts, keep=keep, within=labels, **how)
    for rows in rows_of(labels):
        alone = fastlsh.deduplicate([texts[row] for row in rows], keep=keep, **how)
        assert found.kept_index[rows].tolist() == [rows[i] for i in alone.kept_index.tolist()]
        assert found.similarity[rows].tolist() == alone.similarity.tolist()
    part = decide_part(texts, range(len(texts)), SearchParams.of(**how), keep=keep, within=labels)
    assert part.kept_number.tolist() == found.kept_index.tolist()


@few_letters
@share(2)
@given(grouped(), bandings, thresholds)
def test_pairs_are_of_one_group(collection, banding, threshold):
    texts, labels = collection
    how = {"bands": banding[0], "rows": banding[1], "num_perm": 16}
    shingler = fastlsh.Shingler("char", 3)
    every = fastlsh.near_duplicates(texts, threshold, shingler=shingler, **how)
    expected = [pair for pair in every if labels[pair[0]] == labels[pair[1]]]
    found = fastlsh.near_duplicates(texts, threshold, shingler=shingler, within=labels, **how)
    assert list(found) == expected
    params = SearchParams.of(threshold, shingler=shingler, **how)
    part = find_pairs_of_part(texts, range(len(texts)), params, within=labels)
    assert part.left.tolist() == found.left.tolist()
    assert part.right.tolist() == found.right.tolist()
    half = len(texts) // 2
    crossing = fastlsh.matches(
        texts[half:], texts[:half], threshold, shingler=shingler, within=labels[half:],
        against_within=labels[:half], **how,
    )  # fmt: skip
    assert sorted((a, d + half) for d, a, _ in crossing) == [
        (a, d) for a, d, _ in expected if a < half <= d
    ]


def test_a_reference_collection_has_groups():
    text = "some text that is long enough to be compared with others"
    found = fastlsh.deduplicate(
        [text, text, text], against=[text], within=["a", "b", "b"], against_within=["a"]
    )
    assert found.kept.tolist() == [False, True, False]
    assert found.against_index.tolist() == [0, -1, -1]
    for wrong in ({"within": ["a"] * 3}, {"against_within": ["a"]}):
        refuses(ValueError, "within", fastlsh.deduplicate, [text] * 3, against=[text], **wrong)


@pytest.mark.parametrize("make", ["list", "array", "numbers", "pyarrow", "pandas", "polars"])
def test_forms_of_groups(make):
    labels = ["a", "b", "a", "b"]
    if make == "array":
        labels = np.array(labels)
    elif make == "numbers":
        labels = np.array([1, 2, 1, 2], np.uint8)
    elif make == "pyarrow":
        labels = pytest.importorskip("pyarrow").chunked_array([["a", "b"], ["a", "b"]])
    elif make in ("pandas", "polars"):
        labels = pytest.importorskip(make).Series(labels)
    pairs = fastlsh.near_duplicates(["the same text"] * 4, within=labels)
    assert [(left, right) for left, right, _ in pairs] == [(0, 2), (1, 3)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, np.int64(1)), ("en", np.str_("en")), (1.5, np.float32(1.5)), (True, np.True_), (2, 2.0),
        (2**63, np.uint64(2**63)), (2**64 - 1, np.uint64(2**64 - 1)),
    ],
)  # fmt: skip
def test_equal_values_are_one_group(first, second):
    texts = ["the quick brown fox jumps over"] * 2
    for values in ([first, second], [second, first]):
        assert fastlsh.deduplicate(texts, within=values).kept.tolist() == [True, False]
        assert len(fastlsh.near_duplicates(texts, within=values)) == 1
    known = fastlsh.deduplicate(
        texts, within=[first] * 2, against=texts[:1], against_within=np.array([second])
    )
    assert not known.kept.any()
    assert fastlsh.deduplicate(texts).cluster_sources([first, second]).tolist() == [1, 1]


def test_null_is_a_group():
    texts, within = ["the quick brown fox"] * 5, ["None", None, "a", None, "a"]
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    missing = pandas.Series(
        [pandas.NA if each is None else each for each in within], dtype="string"
    )
    for values in (within, tuple(within), missing, arrow.array(within)):
        kept = fastlsh.deduplicate(texts, within=values).kept.tolist()
        assert kept == [True, True, True, False, False]


def test_keys_that_become_equal_by_accident_are_told_apart():
    keys = np.array([5, 7, 5, 0, 7, 5], np.uint64)
    # Which group brings the key 7 where 5 is.
    apart = np.uint64(pow(int(links.APART), -1, 2**64))
    other = np.uint64((int(np.uint64(5) ^ np.uint64(7)) * int(apart)) % 2**64)
    groups = np.array([0, other, 0, 0, other, 0], np.uint64)
    assert len(set(keys_apart(keys, groups)[keys != 0].tolist())) == 1
    (later, earlier), empty = links._link_apart(Linker(6), keys, groups)
    assert (later.tolist(), earlier.tolist(), empty) == ([2, 4, 5], [0, 1, 2], 1)

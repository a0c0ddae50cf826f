"""Parts of whole families, however they were gathered, answer what the whole collection does."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastlsh import (
    MinHasher,
    Shingler,
    TooManyPairsError,
    candidate_pairs,
    deduplicate,
    near_duplicates,
)
from fastlsh.stages import SearchParams, decide_part, find_pairs_of_part, sign_batch
from refusals import refuses
from stages_engine import parts_of
from strategies import (
    as_options,
    bandings,
    collections,
    few_letters,
    hashings,
    narrow,
    priorities,
    shinglers,
    thresholds,
    verifications,
    wide,
)

pytestmark = few_letters


def given_numbers(n, wide_ones):
    return np.arange(n) * 2**40 + 2**33 if wide_ones else np.arange(n)


def check_decisions(texts, against, keep, most, parts, cut, known, wide_ones, **options):
    """Compare an engine of so many parts with `deduplicate`, to the bit; return what that says."""
    fixed = np.array(against[: len(texts)], bool)
    keep = keep if isinstance(keep, str) else np.array(keep[: len(texts)], float)
    ours, theirs = np.flatnonzero(~fixed), np.flatnonzero(fixed)
    result = deduplicate(
        [texts[i] for i in ours], against=[texts[i] for i in theirs],
        **as_options(keep if isinstance(keep, str) else keep[ours]), max_candidates=most,
        **options,
    )  # fmt: skip
    params, numbers = SearchParams.of(**options), given_numbers(len(texts), wide_ones)
    proof, similarity = np.arange(len(texts)), np.ones(len(texts))
    limited = np.zeros(len(texts), bool)
    for chosen, said in parts_of(cut, texts, numbers, params, parts, known):
        answer = decide_part(
            [texts[i] for i in chosen], numbers[chosen], params, against=fixed[chosen],
            **as_options(keep if isinstance(keep, str) else keep[chosen]),
            max_candidates=most, batch=said, threads=1,
        )  # fmt: skip
        assert answer.number.tolist() == numbers[chosen].tolist()
        proof[chosen] = np.searchsorted(numbers, answer.kept_number)
        similarity[chosen] = answer.similarity
        limited[chosen] = answer.limited
    of_ours = result.kept_index >= 0
    expected = np.empty(len(ours), np.int64)
    expected[of_ours] = ours[result.kept_index[of_ours]]
    expected[~of_ours] = theirs[result.against_index[~of_ours]]
    assert proof[ours].tolist() == expected.tolist()
    assert similarity[ours].tobytes() == result.similarity.tobytes()
    assert np.flatnonzero(limited[ours]).tolist() == result.limited_documents.tolist()
    assert proof[theirs].tolist() == theirs.tolist()
    return result


def by_similarity(banding, shingler, hashing):
    bands, rows = banding
    how = {"num_perm": 16, "bands": bands, "rows": rows, "shingler": Shingler(**shingler)}
    return how | hashing


def by_containment(containment, shingler):
    how = {"rule": "contained", "containment": containment, "shingler": Shingler(**shingler)}
    return how | {"search": "containment", "num_perm": 24, "recall": 0.5}


rules = verifications.map(lambda verify: {"verify": verify}) | st.sampled_from(
    [{"rule": "contained", "containment": containment} for containment in (0.4, 1.0)]
)
searches = st.one_of(
    st.tuples(st.builds(by_similarity, bandings, shinglers, hashings), rules, thresholds).map(
        lambda drawn: {**drawn[0], **drawn[1], "threshold": drawn[2]}
    ),
    st.builds(by_containment, st.sampled_from([0.5, 0.8, 1.0]), shinglers),
)
beginnings = st.integers(1, 60).map(lambda size: ("ab cd e " * 8)[:size])
divisions = st.tuples(
    st.lists(st.booleans(), min_size=24, max_size=24), priorities, st.sampled_from([1, 2, 1000]),
    st.sampled_from([1, 2, 7]), st.integers(0, 99), st.booleans(), st.booleans(),
)  # fmt: skip
"""Which documents are of `against`, who stays, the most candidates, and how an engine divides."""


@given(collections(narrow | wide | beginnings), searches, divisions)
def test_decisions(texts, search, division):
    check_decisions(texts, *division, **search)


@settings(max_examples=settings().max_examples * 4 // 3)
@given(
    collections(narrow | wide), thresholds, bandings, verifications, shinglers, hashings,
    st.sampled_from([1, 2, 7]), st.integers(0, 99), st.booleans(), st.booleans(),
)  # fmt: skip
def test_pairs(texts, threshold, banding, verify, shingler, hashing, parts, seed, known, wide_ones):
    options = {**by_similarity(banding, shingler, hashing), "verify": verify}
    params = SearchParams.of(threshold, **options)
    expected = near_duplicates(texts, threshold, estimates=True, **options)
    numbers = given_numbers(len(texts), wide_ones)
    find = partial(find_pairs_of_part, params=params, estimates=True, threads=1)
    found = [
        find([texts[i] for i in chosen], numbers[chosen], batch=said)
        for chosen, said in parts_of(seed, texts, numbers, params, parts, known)
    ]
    for pairs in found:
        assert (np.lexsort((pairs.right, pairs.left)) == np.arange(len(pairs.left))).all()
    assert not any(pairs.also for pairs in found)
    columns = (np.concatenate(column) for column in zip(*(p[:4] for p in found), strict=True))
    left, right, similarity, estimate = columns
    order = np.lexsort((right, left))
    assert estimate[order].tolist() == expected.estimate.tolist()
    assert left[order].tolist() == numbers[expected.left].tolist()
    assert right[order].tolist() == numbers[expected.right].tolist()
    assert similarity[order].tobytes() == expected.similarity.tobytes()


def test_the_large_collections(corpus):
    _, texts, _ = corpus
    texts = texts[::3]
    for keep in ("first", "longest"):
        division = [False] * len(texts), keep, 1000, 7, 1, keep == "first", False
        assert len(check_decisions(texts, *division, threshold=0.8).removed) > 100


def test_an_arrow_column_of_a_part():
    pa = pytest.importorskip("pyarrow")
    texts = ["the quick brown fox jumps", None, "the quick brown fox jumped", ""]
    params = SearchParams.of(0.7)
    part = decide_part(
        pa.chunked_array([texts[:1], texts[1:]]), pa.array([3, 4, 2**62, 2**63 - 1]), params,
        against=pa.array([False, False, True, False]), priority=pa.array([1.5, 0, None, 3]),
    )  # fmt: skip
    assert part.kept_number.tolist() == [2**62, 4, 2**62, 2**63 - 1]
    assert part.limited.tolist() == [False] * 4


def test_priorities_are_those_of_the_same_rows():
    texts = ["the quick brown fox jumps", "another text", "the quick brown fox jumped"]
    params = SearchParams.of(0.7)
    for against, keep, kept in [
        ([False, True, False], [1, 9, 2], [12, 11, 12]),
        ([True, False, False], [np.nan, 2, 9], [10, 11, 10]),
        ([False, False, True], [9, 2, np.nan], [12, 11, 12]),
        ([False, False, False], [9, 2, 1], [10, 11, 10]),
    ]:
        part = decide_part(texts, [10, 11, 12], params, against=against, priority=keep)
        assert part.kept_number.tolist() == kept


PARAMS = SearchParams.of(0.8, num_perm=16, bands=4, rows=2)
TEXTS = ["one of three texts", "two of three texts", "two of three texts"]
SIGNED = sign_batch(TEXTS, PARAMS, signatures=True)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"numbers": [1, 3, 2]}, ValueError, "numbers must ascend: row 2 has 2 after 3"),
        ({"numbers": [1, 3, 3]}, ValueError, "numbers must ascend: row 2 has 3 after 3"),
        ({"numbers": [-1, 3, 4]}, ValueError, "from 0 to 2.63 - 1, got -1 in row 0"),
        ({"numbers": np.array([1, 2, 2**63], np.uint64)}, ValueError, "in row 2"),
        ({"numbers": [1, 2]}, ValueError, "numbers has 2 elements, expected 3"),
        ({"numbers": [1.0, 2.0, 3.0]}, TypeError, "numbers must be a column of integers"),
        ({"texts": ["one", 2, "three"]}, TypeError, "1"),
        ({"params": 0.8}, TypeError, "params must be SearchParams, got float"),
        ({"batch": SIGNED._replace(signatures=None)}, ValueError, "signatures=True"),
        ({"batch": SIGNED._replace(keys=SIGNED.keys[1:])}, ValueError, r"keys of shape \(3, 3\)"),
        ({"batch": SIGNED._replace(keys=SIGNED.keys.view(np.int64))}, TypeError, "uint64"),
        ({"batch": SIGNED._replace(text_hashes=SIGNED.text_hashes[:2])}, ValueError, "text_hash"),
        ({"batch": SIGNED._replace(signatures=SIGNED.signatures[:, 1:])}, ValueError, "(3, 16)"),
        (
            {"batch": sign_batch([*TEXTS[:1], "another", "text"], PARAMS, signatures=True)},
            ValueError, "the text of row 1 differs",
        ),
        ({"threads": 0}, ValueError, "threads"),
        ({"against": [True, False]}, ValueError, "against must hold True or False"),
        ({"against": [1, 0, 0]}, ValueError, "against must hold True or False"),
        ({"keep": "none"}, ValueError, "keep must be one of"),
        ({"priority": [1, 2]}, ValueError, "priority must hold one number or date for each of"),
        ({"priority": [None, "b", "c"]}, ValueError, "priority of document 1: 'b', neither"),
        ({"max_candidates": 0}, ValueError, "max_candidates"),
    ],
)  # fmt: skip
def test_refused(change, error, message):
    arguments = {"texts": TEXTS, "numbers": [1, 2, 3], "params": PARAMS, "batch": SIGNED}
    decides = {"against", "keep", "priority", "max_candidates"} & change.keys()
    for function in (decide_part,) if decides else (decide_part, find_pairs_of_part):
        function(**arguments)
        refuses(error, message, function, **{**arguments, **change})


def test_pairs_that_are_refused():
    by_containment = SearchParams.of(0.8, rule="contained")
    refuses(ValueError, "rule must be 'jaccard'", find_pairs_of_part, ["one"], [0], by_containment)
    for texts in (TEXTS, ["", *TEXTS[:1] * 2]):
        with pytest.raises(TooManyPairsError, match=r"max_pairs=0.* document 2001") as caught:
            find_pairs_of_part(texts, [1000, 2001, 3002], PARAMS, max_pairs=0)
        assert pickle.loads(pickle.dumps(caught.value)).document == 2001


def test_families_are_what_candidates_connect():
    texts = ["".join(chr(97 + i % 7 + j) for j in range(12)) + f" {i * i}" for i in range(60)]
    params = SearchParams.of(0.5, num_perm=16, bands=4, rows=4)
    signatures = MinHasher(16).signatures(texts)
    parts = list(parts_of(3, texts, np.arange(60), params, 60))
    together = {tuple(chosen) for chosen, _ in parts if len(chosen)}
    pairs = candidate_pairs(signatures, params.lsh)
    assert len(pairs)
    assert len(together) > 1
    for left, right, _ in pairs:
        assert sum(left in part and right in part for part in together) == 1
    assert sum(map(len, together)) == len({*pairs.left, *pairs.right})

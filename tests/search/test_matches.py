"""The pairs between two collections are those of near_duplicates that have a document of each."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import Matches, Shingler, TooManyPairsError, exact_jaccard, matches, near_duplicates
from refusals import refuses
from strategies import collections, few_letters, little_room, verifications

SMALL = {"num_perm": 24, "bands": 8, "rows": 3, "shingler": Shingler(size=2)}
ONE = "the quick brown fox jumps over the lazy dog"


def expected(texts, against, threshold, **options):
    """Return (document, against, similarity) of all pairs of both collections together."""
    n = len(against)
    found = near_duplicates(list(against) + list(texts), threshold, **options)
    return sorted((b - n, a, s) for a, b, s in found if a < n <= b)


def best_of(pairs):
    best = {}
    for document, other, similarity in pairs:
        if document not in best or similarity > best[document][1]:
            best[document] = other, similarity
    return [(document, *best[document]) for document in sorted(best)]


def same(found, pairs):
    return repr(list(found)) == repr(pairs)  # NaN, too


@few_letters
@given(
    collections(), collections(), st.sampled_from([0.3, 0.6, 1.0]), verifications,
    st.sampled_from([None, 1, 4, 9]), st.integers(1, 3),
)  # fmt: skip
def test_pairs_of_both(texts, against, threshold, verify, batch, threads):
    options = {**SMALL, "verify": verify}
    pairs = expected(texts, against, threshold, **options)
    with little_room(batch):
        assert same(matches(texts, against, threshold, threads=threads, **options), pairs)
        if verify != "none":
            assert same(matches(texts, against, threshold, best=True, **options), best_of(pairs))


def test_many_copies_inside_of_a_collection_are_not_compared():
    """Half a million pairs inside of each collection would be more than the limit."""
    texts, against = [ONE] * 1000 + ["other"], ["something"] * 1000 + [ONE + "!"]
    found = matches(texts, against, 0.8, max_pairs=1000)
    assert len(found) == 1000
    assert set(found.against.tolist()) == {1000}
    near = [ONE + str(number) for number in range(1000)]
    assert len(matches(near, [ONE], 0.8, max_pairs=1000)) == 1000
    refuses(TooManyPairsError, "max_pairs=999", matches, near, [ONE], 0.8, max_pairs=999)
    copies = [ONE] * 40, [ONE] * 40, 0.8
    refuses(TooManyPairsError, "max_pairs=1,000", matches, *copies, max_pairs=1000)
    assert len(matches([ONE] * 40, [ONE] * 40, 0.8, max_pairs=1000, best=True)) == 40


def test_the_result_names_both_sides():
    found = matches(
        [ONE, "x", ONE + "!"], ["y", ONE], 0.8, ids=["a", "b", "c"], against_ids=["p", "q"],
        estimates=True,
    )  # fmt: skip
    assert found.id == ["a", "c"]
    assert found.against_id == ["q", "q"]
    (first, second) = found
    assert first == found[0] == ("a", "q", 1.0)
    assert second[:2] == ("c", "q")
    assert second[2] == exact_jaccard([ONE + "!", ONE], ([0], [1]))[0]
    assert isinstance(found[1:], Matches)
    assert list(found[1:]) == [second]
    assert found.estimate[0] == 1.0
    assert (found.documents, found.against_documents, found.empty) == (3, 2, 0)
    assert repr(found) == "<Matches: 2 pairs of 3 documents against 2>"
    assert "<th>against_id</th>" in found._repr_html_()
    pa = pytest.importorskip("pyarrow")
    assert pa.table(found).to_pylist()[0] == {
        "document": 0, "against": 1, "similarity": 1.0, "estimate": 1.0, "id": "a",
        "against_id": "q",
    }  # fmt: skip


def test_bad_arguments():
    given = {"best": True, "verify": "none"}
    refuses(ValueError, "best=True needs similarities", matches, [ONE], [ONE], **given)
    assert math.isnan(matches([ONE], [ONE], verify="none").similarity[0])
    refuses(ValueError, "against_ids", matches, [ONE], [ONE], against_ids=["a", "b"])
    refuses(TypeError, "document 1", matches, [ONE], [ONE, 3])

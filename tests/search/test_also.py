"""Second texts: two documents count as similar only if these are similar, too."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
from fastlsh.stages import SearchParams, decide_part, find_pairs_of_part, sign_batch
from oracle import containment, jaccard, units_of, windows
from refusals import refuses
from strategies import collections, few_letters, little_room, share, thresholds

EVERY = {"num_perm": 16, "bands": 16, "rows": 1, "shingler": fastlsh.Shingler("char", 3)}
"""A band for each value: nearly all texts with something in common share a bucket."""


@st.composite
def two_texts(draw):
    """Two texts for each document; many of them are equal, some are empty."""
    texts, others = draw(collections()), draw(collections())
    chosen = st.sampled_from([*others, "", None])
    return texts, draw(st.lists(chosen, min_size=len(texts), max_size=len(texts)))


def sets_of(texts):
    return [set(windows(units_of(text or "", "char"), 3)) for text in texts]


def candidates_of(texts):
    """Return the pairs of texts that share a bucket, which no second text changes."""
    found = fastlsh.near_duplicates(texts, 0.1, verify="none", **EVERY)
    return {*zip(found.left.tolist(), found.right.tolist(), strict=True)}


class TwoSets:
    """The sets of both texts, in pure Python."""

    def __init__(self, texts, also, measure, least, also_least):
        self.sets, self.second = sets_of(texts), sets_of(also)
        self.candidates = candidates_of(texts)
        self.measure, self.least, self.also_least = measure, least, also_least

    def similarities(self, document, other):
        """Return both similarities if both are large enough, else None."""
        if (*sorted((document, other)),) not in self.candidates:
            return None
        one = self.measure(self.sets[document], self.sets[other])
        two = self.measure(self.second[document], self.second[other])
        empty = not self.second[document] or not self.second[other]
        return None if empty or one < self.least or two < self.also_least else (one, two)

    def pairs(self):
        every = combinations(range(len(self.sets)), 2)
        return [(*pair, *both) for pair in every if (both := self.similarities(*pair))]

    def proofs(self, order, fixed):
        """Return of each document the kept one and both similarities, in the order of priority."""
        kept, proofs = [], {}
        for document in order:
            heads = [] if document in fixed else kept
            found = ((head, self.similarities(document, head)) for head in heads)
            head, both = next((pair for pair in found if pair[1]), (document, (1.0, 1.0)))
            proofs[document] = head, *both
            if head == document:
                kept.append(document)
        return [proofs[document] for document in range(len(self.sets))]


@few_letters
@share(3)
@given(two_texts(), thresholds, thresholds | st.none(), st.sampled_from([None, 1, 3]))
def test_pairs_are_those_of_the_oracle(collection, threshold, least, batch):
    texts, also = collection
    oracle = TwoSets(texts, also, jaccard, threshold, threshold if least is None else least)
    with little_room(batch):
        found = fastlsh.near_duplicates(texts, threshold, also=also, also_threshold=least, **EVERY)
    columns = found.left, found.right, found.similarity, found.also_similarity
    assert [*zip(*(column.tolist() for column in columns), strict=True)] == oracle.pairs()
    params = SearchParams.of(threshold, also_threshold=least, **EVERY)
    part = find_pairs_of_part(texts, range(len(texts)), params, also=also)
    assert part.left.tolist() == found.left.tolist()
    assert part.also.tolist() == found.also_similarity.tolist()


@few_letters
@share(3)
@given(
    two_texts(), st.sampled_from(["jaccard", "contained"]), thresholds, thresholds | st.none(),
    st.booleans(), st.integers(0, 9), st.sampled_from([None, 1, 3]),
)  # fmt: skip
def test_the_greedy_step_asks_both(collection, rule, least, also_least, last, n, batch):
    texts, also = collection
    n = min(n, len(texts))  # of against
    contained = rule == "contained"
    how = {**EVERY, "rule": rule, "also_threshold": also_least}
    how |= {"threshold": 0.1, "containment": least} if contained else {"threshold": least}
    measure = containment if contained else jaccard
    oracle = TwoSets(texts, also, measure, least, least if also_least is None else also_least)
    order = range(n, len(texts))
    expected = oracle.proofs([*range(n), *(order[::-1] if last else order)], range(n))
    keep = "last" if last else "first"
    with little_room(batch):
        found = fastlsh.deduplicate(
            texts[n:], against=texts[:n], also=also[n:], against_also=also[:n], keep=keep, **how
        )
    kept = np.where(found.against_index < 0, found.kept_index + n, found.against_index)
    columns = kept, found.similarity, found.also_similarity
    assert [*zip(*(column.tolist() for column in columns), strict=True)] == expected[n:]
    params = SearchParams.of(**how)
    part = decide_part(
        texts, range(len(texts)), params, against=np.arange(len(texts)) < n, also=also, keep=keep,
        batch=sign_batch(texts, params, signatures=True),
    )  # fmt: skip
    columns = part.kept_number, part.similarity, part.also
    assert [*zip(*(column.tolist() for column in columns), strict=True)] == expected


@few_letters
@share(3)
@given(two_texts(), thresholds, st.sampled_from(["all", "best", "one_to_one"]), st.integers(0, 9))
def test_matches_are_chosen_among_pairs_that_count(collection, threshold, which, n):
    texts, also = collection
    n = min(n, len(texts))
    chosen = {} if which == "all" else {which: True}
    found = fastlsh.matches(
        texts[n:], texts[:n], threshold, also=also[n:], against_also=also[:n], **chosen, **EVERY
    )
    oracle = TwoSets(texts, also, jaccard, threshold, threshold)
    crossing = [pair for pair in oracle.pairs() if pair[0] < n <= pair[1]]
    rows = zip(
        found.document.tolist(), found.against.tolist(), found.similarity.tolist(),
        found.also_similarity.tolist(), strict=True,
    )  # fmt: skip
    rows = [(against, document + n, one, two) for document, against, one, two in rows]
    if which == "all":
        assert sorted(rows) == crossing
        return
    expected, used = [], set()
    for pair in sorted(crossing, key=lambda pair: (-pair[2], pair[1], pair[0])):
        sides = {pair[1], pair[0]} if which == "one_to_one" else {pair[1]}
        if not sides & used:
            used |= sides
            expected.append(pair)
    assert sorted(rows) == sorted(expected)


@pytest.mark.parametrize("verify", ["signature", "none"])
def test_second_texts_are_compared_exactly_however_the_first_ones_are(verify):
    texts = ["the same question, asked again"] * 3
    also = ["an answer to the question", "an answer to the question!", "something else entirely"]
    found = fastlsh.near_duplicates(texts, also=also, also_threshold=0.9, verify=verify)
    assert [*zip(found.left, found.right, strict=True)] == [(0, 1)]
    assert found.also_similarity.tolist() == [fastlsh.jaccard(*also[:2])]
    kept = fastlsh.deduplicate(texts, also=also, also_threshold=0.9, verify=verify)
    assert kept.kept_index.tolist() == [0, 0, 2]


def test_equal_documents_are_removed_however_many_share_the_first_text():
    """A bucket remembers 64 kept documents: copies of later ones are found without it."""
    texts = ["one question for all of the answers"] * 400
    also = [f"answer number {number * 7919:08} of many" for number in range(200)] * 2
    found = fastlsh.deduplicate(texts, also=also, also_threshold=1.0)
    assert found.kept_index.tolist() == [*range(200)] * 2


def test_pairs_by_second_texts_are_within_groups():
    texts, also = ["the same text"] * 4, ["the same answer"] * 4
    found = fastlsh.near_duplicates(texts, also=also, within=[1, 2, 1, 2])
    assert [*zip(found.left, found.right, strict=True)] == [(0, 2), (1, 3)]


def test_results_have_a_column_of_the_second_texts():
    pytest.importorskip("pyarrow")
    texts, also = ["some text here"] * 2, ["an answer", "an answer!"]
    how = {"also": also, "also_threshold": 0.4}
    result = fastlsh.deduplicate(texts, **how)
    assert result.options["also_threshold"] == 0.4
    assert result.proofs().to_arrow().to_pydict()["also_similarity"] == [0.5]
    assert fastlsh.near_duplicates(texts, **how).to_arrow().column_names[-1] == "also_similarity"
    again = fastlsh.deduplicate(texts, result.threshold, **result.options)
    assert again.kept_index.tolist() == result.kept_index.tolist() == [0, 0]
    assert "also_similarity" not in fastlsh.near_duplicates(texts).to_arrow().column_names


@pytest.mark.parametrize(("message", "function", "more"), [
    ("also_threshold= is for the second texts: give also=",
        fastlsh.deduplicate, {"also_threshold": 0.5}),
    ("also must hold 2 texts, got 1",
        fastlsh.near_duplicates, {"also": ["one"]}),
    ("against_also is for the documents of against: give also, too",
        fastlsh.deduplicate, {"against_also": ["one"], "against": ["one"]}),
    ("against_also must hold 1 text, got 0",
        fastlsh.deduplicate, {"also": ["a", "b"], "against": ["one"]}),
    ("also_threshold must be above 0 and at most 1, got 0",
        fastlsh.near_duplicates, {"also": ["a", "b"], "also_threshold": 0}),
    ("rule='equal' compares one text of each document: leave out also",
        fastlsh.deduplicate, {"also": ["a", "b"], "rule": "equal"}),
    ("also needs the texts of against, not an index",
        fastlsh.deduplicate, {"also": ["a", "b"], "against": fastlsh.Index()}),
])  # fmt: skip
def test_refused(message, function, more):
    refuses(ValueError, message, function, ["some text", "some text"], **more)


@pytest.mark.parametrize(
    "function", [fastlsh.evaluate, fastlsh.Index, fastlsh.Index.open, fastlsh.exact_pairs]
)
def test_other_functions_have_no_second_texts(function):
    refuses(TypeError, "also_threshold", function, ["some text"], also_threshold=0.5)

"""The page about an evaluation."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import Shingler, evaluate
from fastlsh.evaluation.count import EXAMPLES, example_rows, similarity_steps
from report_page import NASTY, family, words

WORDS = Shingler("word", 1)
TEXTS = [*family("alpha", 30), *family("beta", 3, 6), "alpha0 alpha1", "alpha0 alpha1", ""]


@given(st.lists(st.floats(0.3, 1)), st.sampled_from([0.3, 0.25, 0.15]))
def test_each_step_has_examples(values, lowest):
    similarity = np.array(values)
    rows = example_rows(similarity, lowest)
    steps = [*similarity_steps(lowest), 2.0]
    assert len(set(rows.tolist())) == len(rows)
    for low, high in pairwise(steps):
        there = [value for value in values if low <= value < high]
        shown = [value for value in similarity[rows].tolist() if low <= value < high]
        assert len(shown) == min(len(there), EXAMPLES)
        if len(there) > 1:
            assert (min(shown), max(shown)) == (min(there), max(there))


def test_recall_and_examples_of_each_step(page):
    ids = [f"id-{n}" for n in range(len(TEXTS))]
    result = evaluate(TEXTS, 0.8, lowest=0.45, shingler=WORDS, ids=ids)
    seen = page(result, TEXTS)
    rows = seen.tables["Recall by similarity"][1:]
    assert [row[0] for row in rows] == [
        "0.45 to 0.5", "0.5 to 0.6", "0.6 to 0.7", "0.7 to 0.8", "0.8 to 0.9", "0.9 to 1", "1"
    ]  # fmt: skip
    bins = result.bins[1:]
    steps = pairwise([*similarity_steps(0.45), 2.0])
    for (_, pairs, found, _), (low, high) in zip(rows, steps, strict=True):
        own = [each for each in bins if low <= each.low < high]
        total = sum(each.candidates.total for each in own)
        assert pairs == str(total)
        if total:
            assert found == f"{sum(each.candidates.hits for each in own) / total:.4f}"
        else:
            assert found == "-"
    assert sum(int(row[1]) for row in rows) == sum(each.candidates.total for each in bins)
    told = words(seen.sections["How similar pairs look"])
    assert len(result.examples) > 3
    for left, right, similarity in result.examples:
        assert f"{left} and {right} {similarity:.4f}" in told
    assert "Similarity 1 1 pair, 1.0000 of them found" in told
    assert any("changed" in each for each in seen.marked)


def test_a_sample_names_documents_of_the_collection(page):
    result = evaluate(TEXTS, 0.8, sample=20, shingler=WORDS)
    told = words(page(result, TEXTS).sections["How similar pairs look"])
    for left, right, similarity in result.examples:
        assert result.examples.documents == len(TEXTS)
        assert f"document {left} and document {right} {similarity:.4f}" in told


@pytest.mark.parametrize("texts", [[], ["one text of some length"], [NASTY, NASTY + "x"]], ids=len)
def test_small_collections(page, texts):
    assert "Recall by similarity" in page(evaluate(texts), texts).sections


def test_texts_of_another_evaluation(page):
    with pytest.raises(ValueError, match="texts has 1 documents, but the result has 2"):
        page(evaluate(["some text", "some text"]), ["some text"])

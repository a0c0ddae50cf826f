"""Results as sequences, their short forms, and libraries that are not there."""

import sys

import pytest

import fastlsh
from fastlsh import Pairs, deduplicate, evaluate, explain, near_duplicates

TEXTS = [f"a text that many others resemble, number {i % 4} of all" for i in range(12)]


def test_pairs():
    pairs = near_duplicates(TEXTS, 0.6, ids=[f"d{i}" for i in range(12)], estimates=True)
    everything = list(pairs)
    assert len(everything) > 20
    assert [pairs[i] for i in range(len(pairs))] == everything
    assert (pairs[-1], pairs[-len(pairs)]) == (everything[-1], everything[0])
    some = pairs[3:9:2]
    assert isinstance(some, Pairs)
    assert list(some) == everything[3:9:2]
    assert some.estimate.tolist() == pairs.estimate[3:9:2].tolist()
    assert (some.documents, some.params) == (12, pairs.params)
    for index in (len(pairs), -len(pairs) - 1):
        with pytest.raises(IndexError):
            pairs[index]
    with pytest.raises(TypeError):
        pairs["d1"]


def test_proofs():
    proofs = deduplicate(TEXTS, 0.6, against=TEXTS[:1]).proofs()
    everything = list(proofs)
    assert [proofs[i] for i in range(len(proofs))] == everything
    assert list(proofs[::-1]) == everything[::-1]


def test_a_notebook_shows_what_was_removed():
    shown = deduplicate(TEXTS, 0.6)._repr_html_()
    assert "documents kept" in shown
    assert "kept_document" in shown


def test_short_forms():
    evaluation, explanation = evaluate(TEXTS, 0.6), explain(TEXTS[0], TEXTS[1], threshold=0.6)
    assert repr(evaluation).startswith("<Evaluation of 12 documents at 0.6: recall 1.0000, prec")
    assert repr(explanation).startswith("<Explanation: duplicates, similarity 0.")
    assert max(len(repr(evaluation)), len(repr(explanation))) < 100


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_library_that_is_not_installed(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    pairs = near_duplicates(TEXTS, 0.6)
    with pytest.raises(
        ModuleNotFoundError, match=f"{library} is not installed: pip install {library}$"
    ):
        getattr(pairs, f"to_{library}")()


def test_only_what_is_public_is_listed():
    listed = {name for name in dir(fastlsh) if not name.startswith("_")}
    assert listed - set(fastlsh.__all__) == {"evaluation", "explanation", "files", "reporting"}

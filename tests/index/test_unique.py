"""`insert_unique` decides as `deduplicate` does, to the same limits."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import strategies
from combinations import covering, every
from fastlsh import Index, Shingler, deduplicate
from fastlsh.index import tables
from index_model import KINDS, Model

pytestmark = strategies.few_letters
VERIFY = ["signature", "exact", "none"]
CUTS = (7, 100, 101)


def in_parts(index, texts, cuts=(), max_candidates=1000):
    """Insert texts in several calls, ids their numbers; return which were new."""
    ends = [0, *sorted(cuts), len(texts)]
    new = []
    for start, end in pairwise(ends):
        new += index.insert_unique(
            range(start, end), texts[start:end], max_candidates=max_candidates
        ).tolist()
    return new


def assert_equal_to_deduplicate(
    texts, threshold, cuts=(), max_candidates=1000, make=Index, **parameters
):
    expected = deduplicate(
        texts, threshold, keep="first", max_candidates=max_candidates, **parameters
    )
    with make(threshold, **parameters) as index:
        assert in_parts(index, texts, cuts, max_candidates) == expected.kept.tolist()
        assert list(index) == expected.selected.tolist()
        assert index.limited == expected.limited
    return expected


def different(texts):
    """Texts without copies; None and "" are no texts."""
    return list(dict.fromkeys(text for text in texts if text))


def crowd(n, seed=0):
    """Texts that have much in common and little of their own: few buckets, few near-duplicates."""
    draw = random.Random(seed)
    shared = "what all of these have in common"
    return [
        f"{shared} {draw.randrange(n):04d} {draw.randrange(10**6):06d} {i % 90:04d}"
        for i in range(n)
    ]


@pytest.mark.parametrize("verify", VERIFY)
@given(data=st.data())
def test_texts_of_any_kind(verify, data):
    """Copies, too, are what `deduplicate` says, unless a limit cuts in."""
    texts = data.draw(strategies.collections(st.one_of(strategies.narrow, strategies.wide)))
    cuts = data.draw(st.lists(st.integers(0, len(texts)), max_size=3))
    bands, rows = data.draw(strategies.bandings)
    most = data.draw(st.sampled_from([1000, 1, 2, 3]))
    if most < 1000:
        texts, cuts = different(texts), ()
    expected = assert_equal_to_deduplicate(
        texts, data.draw(strategies.thresholds), cuts, most, verify=verify, num_perm=bands * rows,
        bands=bands, rows=rows, shingler=Shingler(size=data.draw(st.integers(1, 4))),
    )  # fmt: skip
    assert not expected.limited or most < 1000


@pytest.mark.parametrize(
    ("most", "how"), covering([1, 3, 20, 1000], [("signature", 0.8, ()), ("exact", 0.62, CUTS)])
)
def test_more_documents_than_a_bucket_offers(backend, most, how):
    verify, threshold, cuts = how
    texts = crowd(110)
    expected = assert_equal_to_deduplicate(
        texts, threshold, cuts, most, backend, verify=verify, num_perm=16, bands=8, rows=1,
        shingler=Shingler(size=4),
    )  # fmt: skip
    assert expected.limited
    assert expected.removed.size


def decided(texts, threshold, verify, most):
    """Return the model after all texts, which of them were new, and the first document alike."""
    truth = oracle.Oracle(texts, size=4, num_perm=8)
    sets = [set(map(oracle.window_hash, shingles)) for shingles in truth.sets]
    model = Model(threshold, 4, 2 if verify == "none" else 1, verify)
    new, matches = [], []
    for d, document in enumerate(zip(truth.signatures, sets, strict=True)):
        new.append(model.insert_unique(d, document, most))
        matches.append(model.match)
    return model, new, matches


@pytest.mark.parametrize(("verify", "most"), covering(VERIFY, [1, 3, 1000]))
def test_the_slow_model_says_the_same(isa, verify, most, monkeypatch):
    monkeypatch.setattr(tables, "BandTables", isa.BandTables)
    monkeypatch.setattr(tables, "TextReader", isa.TextReader)
    texts = crowd(160, 1)
    model, new, _ = decided(texts, 0.8, verify, most)
    index = Index(
        0.8, verify=verify, num_perm=8, bands=4, rows=model.rows, shingler=Shingler(size=4)
    )
    assert in_parts(index, texts, (50,), most) == new
    assert index.limited == model.limited
    assert model.limited or verify == "none"


@pytest.mark.parametrize(
    ("verify", "backend", "most"), covering(VERIFY, [*KINDS, "redis"], [1, 3, 1000]),
    indirect=["backend"],
)  # fmt: skip
def test_the_first_document_that_is_alike_is_named(backend, verify, most):
    texts = [*crowd(100, 3), None]
    texts += [text and text + draw for text, draw in zip(texts, "xyz" * 40, strict=False)]
    model, new, matches = decided(texts, 0.7, verify, most)
    parameters = {"num_perm": 8, "bands": 4, "rows": model.rows, "shingler": Shingler(size=4)}
    with backend(0.7, verify=verify, **parameters) as index:
        for start, stop in ((0, 60), (60, len(texts))):
            found = index.insert_unique(
                range(start, stop), texts[start:stop], max_candidates=most, with_matches=True
            )
            assert found[0].tolist() == new[start:stop]
            assert found[1] == matches[start:stop]
    assert len(set(matches)) > 10
    expected = deduplicate(texts, 0.7, verify=verify, max_candidates=most, **parameters)
    if verify != "none" and not expected.limited:
        kept = expected.kept_index.tolist()
        assert matches == [None if kept[d] == d else kept[d] for d in range(len(texts))]


@pytest.mark.parametrize("verify", ["signature", "exact"])
def test_removed_documents_are_not_among_those_of_a_bucket(backend, verify):
    """What is left of the index is what `deduplicate` has as `against`."""
    texts = crowd(400, 2)
    known, asked = texts[:200], texts[200:270]
    parameters = {"num_perm": 16, "bands": 8, "rows": 1, "shingler": Shingler(size=4)}
    index = backend(0.8, verify=verify, **parameters)
    index.insert_many(range(200), known)
    gone = [d for d in range(150) if d % 3]  # of the first 64 in most buckets
    for d in gone:
        index.remove(d)
    if not backend.stored:
        assert index._backend.kernel.dead == len(gone)  # they are in the way
    left = [text for d, text in enumerate(known) if d not in gone]
    expected = deduplicate(asked, 0.8, against=left, verify=verify, **parameters)
    assert index.insert_unique(range(200, 270), asked).tolist() == expected.kept.tolist()
    assert index.limited == expected.limited > 0


def test_real_texts_in_number(corpus):
    _, texts, _ = corpus
    found = assert_equal_to_deduplicate(texts, 0.8, (5000,), shingler=Shingler(size=5))
    assert found.removed.size
    assert not found.limited


@pytest.mark.parametrize("most", every(3, [1, 70, 200, 500, 600, 1000]))
def test_early_comparisons_do_not_change_an_answer(most):
    """Where a limit might leave some out, the best are chosen first."""
    draw = random.Random(5)
    shared = [f"a common part {part} " for part in range(6)]
    texts = ["".join(draw.sample(shared, 4)) + f"{draw.randrange(400):03d}" * 2 for _ in range(900)]
    parameters = {"num_perm": 16, "bands": 8, "rows": 1, "shingler": Shingler(size=4)}
    for threshold in (0.6, 0.8, 0.95):
        assert_equal_to_deduplicate(different(texts), threshold, (300,), most, **parameters)


def test_a_copy_that_a_limit_keeps_from_its_original(backend):
    """The one difference to `deduplicate`, which looks for copies before anything else."""
    texts = crowd(120, 3)
    parameters = {"num_perm": 8, "bands": 1, "rows": 1, "shingler": Shingler(size=4)}
    kept = deduplicate(texts, 1.0, **parameters)
    assert kept.kept.all()
    again = [*texts, *texts]
    assert deduplicate(again, 1.0, **parameters).selected.tolist() == list(range(120))
    index = backend(1.0, verify="exact", **parameters)
    new = index.insert_unique(range(240), again)
    assert new[:120].all()
    copies = np.flatnonzero(new[120:])
    assert 0 < len(copies) < 120
    assert index.limited == kept.limited + len(copies)  # none of them unseen
    assert (copies >= oracle.REMEMBERED).all()


def test_max_candidates_is_checked_before_anything_is_done(backend):
    index = backend()
    for wrong in (0, -1, 2.5, "3", True, None):
        with pytest.raises((TypeError, ValueError), match="max_candidates must be"):
            index.insert_unique(["a"], [5], max_candidates=wrong)
    assert index.insert_unique(["a"], ["text"], max_candidates=10**30).tolist() == [True]


def test_limited_is_of_what_came_in_since_then(backend, tmp_path):
    texts = crowd(200, 4)
    index = backend(0.9, num_perm=8, bands=4, rows=1, shingler=Shingler(size=4))
    assert index.limited == 0
    index.insert_unique(range(200), texts, max_candidates=1)
    before = index.limited
    assert before > 0
    with pytest.raises(ValueError, match="given twice"):
        index.insert_unique(["x", "x"], texts[:2], max_candidates=1)
    index.insert_many([200], texts[:1])
    index.compact()
    assert index.limited == before
    index.save(tmp_path / "index")
    assert Index.load(tmp_path / "index").limited == index.copy().limited == 0

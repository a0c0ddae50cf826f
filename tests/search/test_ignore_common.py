"""`ignore_common=`: shingles that are in many documents, of templates that nobody has to know."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
import oracle
from fastlsh import Index, Shingler
from fastlsh.parallel import RunOptions
from fastlsh.stages import Sample, SearchParams, common, ignoring_common, sign_batch
from refusals import refuses
from strategies import shinglers, wide


def filled(templates, fillings, seed=0):
    """Return documents of templates in any order, and a few with nearly the same filling."""
    draw = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(draw.choices(letters, k=draw.randint(3, 9))) for _ in range(3000)]

    def text(n):
        return " ".join(draw.choices(vocabulary, k=n))

    documents = []
    for head, tail in [(text(60), text(60)) for _ in range(templates)]:
        documents += [(head, text(12), tail) for _ in range(fillings)]
    draw.shuffle(documents)
    copies = [(head, f"{filling} too", tail) for head, filling, tail in documents[:20]]
    return [[" ".join(parts) for parts in each] for each in (documents, copies)]


@pytest.mark.parametrize("fillings", [40, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_the_survivors_are_the_fillings_not_the_templates(fillings):
    originals, copies = filled(50, fillings)
    share = 0.5 / 50
    without = fastlsh.deduplicate(originals, 0.7)
    assert without.kept.sum() < 100
    result = fastlsh.deduplicate([*originals, *copies], 0.7, ignore_common=share)
    n = len(originals)
    assert np.flatnonzero(~result.kept).tolist() == list(range(n, n + 20))
    pairs = fastlsh.near_duplicates([*originals, *copies], 0.7, ignore_common=share)
    assert [(a, b) for a, b, _ in pairs] == [(number, n + number) for number in range(20)]


@given(st.lists(wide, max_size=12), shinglers, st.sampled_from([0.1, 0.25, 0.5, 1.0]), st.data())
def test_what_is_ignored_is_counted(texts, how, share, data):
    shingler = Shingler(**how)
    params = SearchParams.of(shingler=shingler, ignore_common=share)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=3)))
    blocks = [texts[a:b] for a, b in zip([0, *cuts], [*cuts, len(texts)], strict=True)]
    sets = [{*oracle.windows(oracle.units_of(text, how["unit"]), how["size"])} for text in texts]
    expected = {
        oracle.window_hash(window)
        for window in set().union(*sets)
        if sum(window in each for each in sets) > Fraction(share) * len(texts)
    }
    for characters in (0, 1 << 23):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(common, "CHARACTERS", characters)
            sample = Sample(lambda: blocks, len(texts))
            found = ignoring_common(params, sample, RunOptions.of(1))
        assert found.ignore_common is None
        ignored = found.shingler.ignored
        assert {*(() if ignored is None else ignored.hashes.tolist())} == expected


def test_a_share_is_compared_as_it_is_written():
    """0.29 * 100 is a little less than 29 in floating point; 29 / 100 is 0.29."""
    texts = ["aa" if number < 29 else f"{number} b" for number in range(100)]
    pairs = [
        len(fastlsh.near_duplicates(texts, 0.5, shingler=Shingler("word", 1), ignore_common=share))
        for share in (0.28, 0.29)
    ]
    assert pairs == [0, 29 * 28 // 2]


def test_the_sample_is_drawn_by_document_number(monkeypatch):
    monkeypatch.setattr(common, "SAMPLE", 7)
    texts = [str(number) for number in range(25)]
    for size in (1, 4, 25):
        blocks = [texts[start : start + size] for start in range(0, 25, size)]
        (chunk,) = Sample(lambda blocks=blocks: blocks, 25).chunks(Shingler())
        assert chunk.spans(0, 7).strings() == [str(i * 25 // 7) for i in range(7)]
    assert list(Sample(list, 0).chunks(Shingler())) == []


def test_with_texts_to_ignore():
    texts = ["the same words here, a", "the same words here, b", "other words"]
    both = fastlsh.deduplicate(texts, 0.5, ignore=["other words"], ignore_common=0.5)
    assert both.kept.all()
    assert both.empty == 1


def test_token_ids():
    draw = np.random.default_rng(0)
    template = draw.integers(0, 50_000, 100).tolist()
    documents = [template + draw.integers(0, 50_000, 30).tolist() for _ in range(20)]
    documents.append(documents[4])
    shingler = Shingler("token", 3)
    result = fastlsh.deduplicate(documents, 0.5, shingler=shingler, ignore_common=0.5)
    assert np.flatnonzero(~result.kept).tolist() == [20]


ASKED = {"ignore_common": 0.5}
REFUSED = [
    lambda: Index(**ASKED), lambda: fastlsh.evaluate([], **ASKED),
    lambda: fastlsh.matches([], [], **ASKED), lambda: sign_batch([], SearchParams.of(**ASKED)),
]  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_refused_where_the_collection_is_not_known(call):
    refuses((ValueError, TypeError), "ignore_common", call)


def test_an_index_that_is_opened_does_not_take_it(tmp_path):
    Index(0.5).save(tmp_path / "seen.index")
    for function in (Index.load, Index.open):
        with pytest.raises(TypeError, match="unexpected keyword argument 'ignore_common'"):
            function(tmp_path / "seen.index", **ASKED)


@pytest.mark.parametrize("share", [0, 1.1, -1, "a"])
def test_a_share_is_above_0_and_at_most_1(share):
    refuses((ValueError, TypeError), "ignore_common", fastlsh.deduplicate, [], ignore_common=share)


def test_refused_for_equal_texts_and_lines():
    refuses(ValueError, "rule='jaccard'", fastlsh.deduplicate, [], rule="equal", ignore_common=0.5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'ignore_common'"):
        fastlsh.deduplicate_lines([], threshold=0.5, ignore_common=0.5)


def test_any_bytes():
    texts = [b"\xff\xfe template " + bytes([number] * 9) for number in range(128, 150)]
    shingler = Shingler("byte", 4)
    result = fastlsh.deduplicate(texts, 0.1, shingler=shingler, ignore_common=0.5)
    assert result.kept.all()
    assert not fastlsh.deduplicate(texts, 0.1, shingler=shingler).kept[1:].any()

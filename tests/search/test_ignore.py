"""`ignore=`: what everybody shares makes no documents alike, in memory, in an index, in pieces."""

import pickle
import random
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
import oracle
from fastlsh import Index, Key, Shingler
from fastlsh.stages import SearchParams, sign_batch
from refusals import refuses
from strategies import bandings, share, shinglers, thresholds, wide

KEY = Key(bytes(range(32)))
COPIES = [*range(88, 100)]
"""The essays that `essays` has copied from others."""


def essays(seed=0, count=100, planted=12, words=150):
    """Return essays that begin with a sheet, the pairs that were planted, and the sheet."""
    draw = random.Random(seed)
    vocabulary = [
        "".join(draw.choices("abcdefghijklmnoprstu", k=draw.randint(2, 9))) for _ in range(2000)
    ]

    def text(n):
        return " ".join(draw.choices(vocabulary, k=n))

    sheet, own = text(words), [text(120) for _ in range(count - planted)]
    sources = draw.sample(range(len(own)), planted)
    for source in sources:
        copied = own[source].split()
        for place in draw.sample(range(len(copied)), 6):
            copied[place] = draw.choice(vocabulary)
        own.append(" ".join(copied))
    pairs = [(source, count - planted + i) for i, source in enumerate(sources)]
    return [f"{sheet}\n\n{text}" for text in own], sorted(pairs), sheet


def test_a_sheet_that_all_essays_begin_with():
    texts, planted, sheet = essays()
    found = fastlsh.near_duplicates(texts, 0.5, ignore=[sheet])
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == planted
    assert len(fastlsh.near_duplicates(texts, 0.25)) > 4000
    result = fastlsh.deduplicate(texts, 0.5, ignore=iter([sheet]))
    assert np.flatnonzero(~result.kept).tolist() == COPIES
    exact = fastlsh.exact_pairs(texts, 0.5, shingler=Shingler().ignoring([sheet]))
    assert exact.similarity.tolist() == found.similarity.tolist()


@share(2)
@given(
    st.lists(wide, max_size=12), st.lists(wide, max_size=3), shinglers, thresholds, bandings,
    st.sampled_from(["first", "last", "longest"]),
)  # fmt: skip
def test_the_answer_is_that_of_the_oracle(texts, ignored, how, threshold, banding, keep):
    bands, rows = banding
    slow = oracle.Oracle(texts, **how, num_perm=16, ignore=ignored)
    same = {"num_perm": 16, "bands": bands, "rows": rows, "shingler": Shingler(**how)}
    found = fastlsh.near_duplicates(texts, threshold, **same, ignore=ignored)
    pairs = [(int(a), int(b), float(s)) for a, b, s in found]
    assert pairs == slow.near_duplicates(threshold, bands, rows)
    result = fastlsh.deduplicate(texts, threshold, **same, keep=keep, ignore=ignored)
    expected, _ = slow.deduplicate(threshold, bands, rows, keep)
    assert result.kept_index.tolist() == [expected[d][0] for d in range(len(texts))]
    assert result.empty == sum(not each for each in slow.sets)


@pytest.mark.parametrize("more", [
    {"key": KEY}, {"scheme": "fss"}, {"verify": "signature"},
    {"shingler": Shingler("word", 2, lowercase=True)},
    {"rule": "contained", "containment": 0.8},
    {"rule": "contained", "containment": 0.8, "search": "containment"},
], ids=str)  # fmt: skip
def test_every_search_ignores_the_sheet(more):
    texts, _, sheet = essays(1)
    result = fastlsh.deduplicate(texts, 0.5, ignore=[sheet], **more)
    assert np.flatnonzero(~result.kept).tolist() == COPIES


def test_a_document_with_nothing_else_is_empty():
    texts, _, sheet = essays()
    texts = [sheet, texts[0], sheet, "", sheet]
    result = fastlsh.deduplicate(texts, 0.5, ignore=[sheet])
    assert result.kept.all()
    assert result.empty == 4
    assert len(fastlsh.near_duplicates(texts, 0.5, ignore=[sheet])) == 0


@pytest.mark.filterwarnings("default:[0-9,]+ of [0-9,]+ ")
def test_short_documents_that_are_ignored_are_empty_and_not_short():
    for function in (fastlsh.deduplicate, fastlsh.near_duplicates, fastlsh.exact_pairs):
        ignore = {"shingler": Shingler().ignoring(["short"])}
        with warnings.catch_warnings(record=True) as found:
            assert function(["short"] * 9, 0.8, **ignore).empty == 9
        assert not found
    params = SearchParams.of(ignore=["short"])
    signed = sign_batch(["short", "brief", ""], params)
    assert signed.short.tolist() == [False, True, False]


def test_evaluate_and_compare_bandings():
    texts, planted, sheet = essays()
    assert fastlsh.evaluate(texts, 0.5, ignore=[sheet]).recall.total == len(planted)
    both = fastlsh.compare_bandings(texts, 0.5, bandings=[(32, 4), (64, 2)], ignore=iter([sheet]))
    assert [each.recall.total for each in both] == [len(planted)] * 2


def test_token_ids():
    draw = np.random.default_rng(0)
    sheet = draw.integers(0, 50_000, 300)
    own = [draw.integers(0, 50_000, 100) for _ in range(20)]
    own.append(own[3])
    documents = [np.concatenate([sheet, ids]) for ids in own]
    shingler = Shingler("token", 3)
    found = fastlsh.near_duplicates(documents, 0.5, shingler=shingler, ignore=[sheet])
    assert [(a, b) for a, b, _ in found] == [(3, 20)]


def test_near_lines():
    texts, planted, sheet = essays()
    lines = [text.split("\n\n") for text in texts]
    documents = ["\n".join(both) for both in lines]
    result = fastlsh.deduplicate_lines(documents, threshold=0.5, ignore=[sheet])
    expected = ["\n".join(both) for both in lines]
    for _, copy in planted:
        expected[copy] = sheet + "\n"
    assert [text.rstrip("\n") for text in result.texts] == [t.rstrip("\n") for t in expected]


@pytest.mark.parametrize("name", ["seen.index", "seen.db"])
def test_an_index_keeps_what_is_ignored(tmp_path, name):
    texts, planted, sheet = essays()
    place, reopen = tmp_path / name, Index.load if name == "seen.index" else Index.open
    index = Index(0.5, ignore=[sheet])
    index.insert_many(range(88), texts[:88])
    found = index.query_many(texts[88:])
    assert [[name for name, _ in each] for each in found] == [
        [source] for source, _ in sorted(planted, key=lambda pair: pair[1])
    ]
    (index.save if name == "seen.index" else index.copy_to)(place)
    shingler = Shingler().ignoring([sheet])
    for expected in (
        {}, {"ignore": iter([sheet])}, {"shingler": Shingler()}, {"shingler": shingler},
        {"shingler": Shingler(), "ignore": [sheet]},
    ):  # fmt: skip
        with reopen(place, **expected) as index:
            assert index.query_many(texts[88:]) == found
            assert index.search_params.shingler == shingler
            assert pickle.loads(pickle.dumps(index)).query_many(texts[88:]) == found
    other = Shingler().ignoring([texts[0]])
    for expected, shown in (
        ({"ignore": [texts[0]]}, other.ignored.digest), ({"ignore": []}, "none"),
        ({"shingler": other}, other.ignored.digest),
    ):  # fmt: skip
        refuses(ValueError, f"is {shingler.ignored.digest}, not {shown}", reopen, place, **expected)


def test_an_index_as_a_reference_must_ignore_the_same():
    texts, _, sheet = essays()
    index = Index(0.5, ignore=[sheet])
    index.insert_many(range(88), texts[:88])
    result = fastlsh.deduplicate(texts[88:], 0.5, ignore=[sheet], against=index)
    assert not result.kept.any()
    digest = Shingler().ignoring([sheet]).ignored.digest
    for other in ({}, {"ignore": [texts[0]]}, {"ignore_common": 0.9}):
        with pytest.raises(ValueError, match=f"other texts to ignore: .* {digest}, not"):
            fastlsh.deduplicate(texts[88:], 0.5, **other, against=index)


def test_an_index_that_ignores_nothing_refuses_texts(tmp_path):
    Index(0.5).save(tmp_path / "seen.index")
    with pytest.raises(ValueError, match="the digest of their shingles is none, not "):
        Index.load(tmp_path / "seen.index", ignore=["a sheet of paper"])


def test_an_index_of_token_ids(tmp_path):
    documents = [[*range(200), *range(500 * number, 500 * number + 99)] for number in range(1, 9)]
    index = Index(0.5, shingler=Shingler("token", 3), ignore=[[*range(200)]])
    index.insert_many(range(8), documents)
    index.save(tmp_path / "seen.index")
    index = Index.load(tmp_path / "seen.index", ignore=[[*range(200)]])
    assert index.query([*range(200), *range(1000, 1100)]) == [(1, 0.99)]
    with pytest.raises(ValueError, match="ignore= does not suit the shingler of the index"):
        Index.load(tmp_path / "seen.index", ignore=["a text"])
    with pytest.raises(TypeError, match="collection of texts, got one str"):
        Index.load(tmp_path / "seen.index", ignore="a text")


def test_the_explanation_leaves_out_what_is_ignored():
    texts, planted, sheet = essays()
    one, other = (texts[number] for number in planted[0])
    why = fastlsh.explain(one, other, threshold=0.5, ignore=[sheet])
    assert (
        why.similarity == next(iter(fastlsh.near_duplicates([one, other], 0.5, ignore=[sheet])))[2]
    )
    assert why.ignored == Shingler().hashes(sheet).size
    assert all(span.a_start >= len(sheet) - 9 for span in why.spans)
    assert why.ignored_a[0] == (0, len(sheet))
    text, page = str(why), why.to_html()
    assert f"[={sheet[:160]}" in text
    assert "[= ignored =]" in text
    assert f"without {why.ignored:,} shingles" in page
    assert '<span class="hidden">ignored</span>' in page
    nothing = fastlsh.explain(sheet, sheet, threshold=0.5, ignore=[sheet])
    assert (nothing.shingles_a, nothing.similarity, nothing.found, nothing.spans) == (
        0,
        0.0,
        False,
        [],
    )
    assert nothing.to_dict()["ignored_b"] == [(0, len(sheet))]
    without = fastlsh.explain(one, other, threshold=0.5)
    assert "ignored" not in without.to_dict()


@pytest.mark.parametrize("unit", ["char", "word", "byte"])
@given(a=wide, b=wide, ignored=wide)
def test_an_explanation_counts_the_sets(unit, a, b, ignored):
    shingler = Shingler(unit, 2)
    why = fastlsh.explain(a, b, shingler=shingler, ignore=[ignored])
    plain = [{*shingler.ignoring([ignored]).hashes(text).tolist()} for text in (a, b)]
    assert (why.shingles_a, why.shingles_b) == tuple(map(len, plain))
    assert why.shared == len(plain[0] & plain[1])
    str(why), why.to_html()


def ignoring(ignore):
    return {"shingler": Shingler().ignoring(ignore)}


REFUSED = [
    (lambda texts: fastlsh.deduplicate([], rule="equal", ignore=texts), "rule='jaccard'"),
    (lambda texts: fastlsh.deduplicate_lines([], ignore=texts), "is for a threshold below 1"),
    (lambda texts: fastlsh.deduplicate_lines([], **ignoring(texts)), "no effect"),
    (lambda texts: fastlsh.deduplicate_spans([], **ignoring(texts)), "no effect"),
    (lambda texts: fastlsh.decontaminate([], ["b"], **ignoring(texts)), "no effect"),
]


@pytest.mark.parametrize(("call", "reason"), REFUSED)
def test_refused_where_it_has_no_effect(call, reason):
    refuses(ValueError, reason, call, ["a sheet of paper"])


def test_one_text_is_refused():
    with pytest.raises(TypeError, match="ignore must be a collection of texts, got one str"):
        fastlsh.deduplicate(["a"], ignore="a sheet")


def test_token_ids_are_refused_for_texts():
    refuses(TypeError, "token ids", fastlsh.deduplicate, ["a"], ignore=[[1, 2]])

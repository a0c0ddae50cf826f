"""An index with the rule "contained" and a search by containment: the answers of `deduplicate`."""

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
import strategies
from combinations import covering
from fastlsh import Index, Shingler, deduplicate
from fastlsh.index import location_of
from index_model import KINDS
from refusals import refuses

RULE = {"rule": "contained", "search": "containment"}
SMALL = {"num_perm": 24, "recall": 0.7, "shingler": Shingler(size=3)}
LETTERS = "abcdefghijklmnopqrstuvwxyz     "
LONG = ["".join(random.Random(d).choices(LETTERS, k=400)) for d in range(3)]

slices = st.builds(
    lambda text, start, size: text[start : start + size],
    st.sampled_from(LONG),
    st.integers(0, 399),
    st.sampled_from([2, 4, 8, 16, 30, 60, 120, 250, 400]),
)
texts_of_any_length = st.lists(st.builds("".join, st.lists(slices, max_size=3)), max_size=12)
containments = st.sampled_from([0.6, 0.8, 1.0])


def holds(asked, texts, containment):
    """Return what `deduplicate` finds against each text alone: (number, share), best first."""
    given = {"containment": containment, **RULE, **SMALL}
    answers = []
    for text in asked:
        found = []
        for d, other in enumerate(texts):
            result = deduplicate([text], against=[other], **given)
            if not result.kept[0]:
                found.append((d, result.similarity[0]))
        answers.append(sorted(found, key=lambda each: (-each[1], each[0])))
    return answers


@strategies.share(8)
@given(data=st.data())
def test_queries_after_any_changes(backend, data):
    """Whatever was inserted, replaced and removed: what is found is what each pair says."""
    containment = data.draw(containments)
    held = {}
    with backend(containment=containment, **RULE, **SMALL) as index:
        for _ in range(data.draw(st.integers(1, 3))):
            texts = data.draw(texts_of_any_length)
            names = data.draw(
                st.lists(st.integers(0, 20), min_size=len(texts), max_size=len(texts))
            )
            index.insert_many(names, texts, on_known="replace")
            for name, text in zip(names, texts, strict=True):
                held.pop(name, None)
                held[name] = text
            for name in data.draw(st.lists(st.integers(0, 20), max_size=4)):
                assert index.discard(name) == (held.pop(name, None) is not None)
            if data.draw(st.booleans()):
                index.compact()
        assert list(index) == list(held)
        asked = data.draw(texts_of_any_length)[:4] + list(held.values())[:2]
        names = list(held)
        expected = [
            [(names[d], share) for d, share in each]
            for each in holds(asked, list(held.values()), containment)
        ]
        assert index.query_many(asked) == expected
        if asked:
            assert index.query(asked[0], limit=1) == expected[0][:1]


@strategies.share(4)
@given(data=st.data())
def test_against_an_index(backend, data):
    known, new = data.draw(texts_of_any_length), data.draw(texts_of_any_length)
    params = {"containment": data.draw(containments), **RULE, **SMALL}
    keep = data.draw(st.sampled_from(["first", "longest"]))
    expected = deduplicate(new, against=known, keep=keep, **params)
    with backend(**params) as index:
        index.insert_many(range(len(known)), known)
        result = deduplicate(new, against=index, keep=keep, **params)
    assert result.kept.tolist() == expected.kept.tolist()
    assert result.similarity.tolist() == expected.similarity.tolist()
    proofs = [result.against_ids[i] if i >= 0 else -1 for i in result.against_index]
    assert proofs == expected.against_index.tolist()


@strategies.share(4)
@given(data=st.data())
def test_insert_unique(backend, data):
    """Documents that no earlier one contains, in any number of calls."""
    texts = data.draw(texts_of_any_length) + data.draw(texts_of_any_length)
    params = {"containment": data.draw(containments), **RULE, **SMALL}
    cut = data.draw(st.integers(0, len(texts)))
    expected = deduplicate(texts, keep="first", **params)
    with backend(**params) as index:
        new = index.insert_unique(range(cut), texts[:cut]).tolist()
        new += index.insert_unique(range(cut, len(texts)), texts[cut:]).tolist()
        assert new == expected.kept.tolist()
        assert list(index) == expected.selected.tolist()
    assert not expected.limited


@pytest.mark.filterwarnings("ignore::fastlsh.errors.RecallWarning")
@pytest.mark.parametrize(
    ("limits", "backend"),
    covering([(1.0, 1000), (0.7, 1000), (0.7, 20)], [*KINDS, "redis"]),
    indirect=["backend"],
)
def test_full_buckets(backend, limits):
    """More than 64 documents of a bucket, and more candidates than are compared."""
    containment, max_candidates = limits
    draw = random.Random(1)
    texts = [
        "what all of these have in common " + "".join(draw.choices(LETTERS, k=k))
        for k in (8, 20)
        for _ in range(90)
    ]
    texts += [text[:-3] + "end" for text in texts[::7]]
    draw.shuffle(texts)
    params = {"containment": containment, **RULE, **SMALL}
    expected = deduplicate(texts, keep="first", max_candidates=max_candidates, **params)
    assert expected.limited
    with backend(**params) as index:
        new = index.insert_unique(range(100), texts[:100], max_candidates=max_candidates).tolist()
        new += index.insert_unique(
            range(100, len(texts)), texts[100:], max_candidates=max_candidates
        ).tolist()
        assert new == expected.kept.tolist()
        assert index.limited == expected.limited
        against = {"keep": "first", "max_candidates": max_candidates, **params}
        known = [texts[d] for d in expected.selected]
        asked = [text[:-1] for text in texts[:60]] + texts[60:90]
        plain = deduplicate(asked, against=known, **against)
        result = deduplicate(asked, against=index, **against)
        assert result.kept.tolist() == plain.kept.tolist()
        assert result.similarity.tolist() == plain.similarity.tolist()


def test_saved_in_every_way(tmp_path):
    """The answers stay the same, and what is expected of a saved index is checked."""
    texts = [text[: 400 // k] for k in (1, 3, 20) for text in LONG] + ["", LONG[0]]
    asked = [text[20:60] for text in LONG] + texts[3:]
    params = {"containment": 0.8, **RULE, **SMALL}
    index = Index(**params)
    index.insert_many(range(len(texts)), texts)
    expected = index.query_many(asked)
    assert sum(map(bool, expected)) > 5
    index.save(tmp_path / "one.index")
    index.copy_to(tmp_path / "one.db")
    copies = [
        Index.load(tmp_path / "one.index"),
        Index.load(
            tmp_path / "one.index", mmap=True, check=True, rule="contained", containment=0.8
        ),
        pickle.loads(pickle.dumps(index)),
        index.copy(),
        Index.open(tmp_path / "one.db", **params),
        pickle.loads(pickle.dumps(Index.load(tmp_path / "one.index", mmap=True))),
    ]
    for each in copies:
        assert each.query_many(asked) == expected
        assert each.search_params == index.search_params
        assert each.signature(0).tolist() == index.signature(0).tolist()
        each.close()
    merged = Index(**params)
    merged.merge(index)
    assert merged.query_many(asked) == expected
    by_sets = Index(
        **{**params, "shingler": Shingler("word", 1, tokenizer=lambda text: list(text))}
    )
    by_sets.insert_many(range(3), ["abc", "abcdefgh", "xyz"])
    assert by_sets.query("abcd") == [(1, 1.0)]


def test_an_index_keeps_the_bands_that_its_recall_chose(backend):
    if not backend.stored:
        pytest.skip("an index in memory is not opened")
    jaccard = {"num_perm": 24, "shingler": Shingler(size=3), "threshold": 0.7}
    for search in (jaccard, {**RULE, "num_perm": 24, "containment": 0.8, "threshold": None}):
        index = backend(recall=0.7, **search)
        index.insert(1, "a text")
        where = location_of(index)
        for recall in (0.7, 0.699, 0.5, 0.99, None):
            with Index.open(where, **{**search, "recall": recall}) as again:
                assert again.search_params == index.search_params
                assert list(again) == [1]
        for recall, error in ((1.5, ValueError), ("0.9", TypeError)):
            refuses(error, "recall must", Index.open, where, **{**search, "recall": recall})


def test_what_is_refused(tmp_path):
    plain, contained = Index(**SMALL), Index(**RULE, **SMALL)
    refuses(ValueError, "rule must be 'jaccard' or 'contained' for an index", Index, rule="equal")
    refuses(ValueError, "has search='containment', not 'jaccard'", plain.merge, contained)
    for difference, against, how in (
        ("search='jaccard', not 'containment'", plain, RULE),
        ("search='containment', not 'jaccard'", contained, {}),
        (r"containment=1\.0, not 0\.8", contained, {**RULE, "containment": 0.8}),
    ):
        refuses(ValueError, difference, deduplicate, ["a text"], against=against, **how, **SMALL)
    with pytest.raises(ValueError, match=r"is below that of the index, 1, .* a lower containment"):
        contained.query("a text", threshold=0.9)
    nowhere = tmp_path / "nowhere"
    with pytest.raises(FileNotFoundError, match="there is no index: give a containment to create"):
        Index.open(nowhere, **RULE)
    with Index.open(nowhere, containment=0.9, **RULE) as index:
        assert index.threshold == 0.9


def test_the_rule_with_a_search_by_similarity(backend):
    """Only what decides is another: of the documents with a band in common, those that contain."""
    params = {"rule": "contained", "containment": 0.9, "shingler": Shingler(size=3)}
    texts = [text[: 400 - cut] for text in LONG for cut in (0, 10, 100)]
    with backend(0.6, **params) as index:
        index.insert_many(range(9), texts)
        found = index.query_many(texts)
        shares = fastlsh.containment(texts, texts)
        assert shares.tolist() == [1.0] * 9
        assert [name for name, _ in found[2]] == [0, 1, 2]
        assert [name for name, _ in found[0]] == [0, 1]
        assert found[0][1][1] == fastlsh.containment(texts[:1], texts[1:2], params["shingler"])[0]

"""deduplicate against the oracle; and against an index, as against its texts."""

import inspect
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from combinations import covering
from fastlsh import Index, Key, LSHParams, MinHasher, Shingler, deduplicate
from refusals import refuses
from strategies import (
    as_options,
    bandings,
    collections,
    few_letters,
    hashings,
    little_room,
    narrow,
    priorities,
    shinglers,
    thresholds,
    verifications,
    wide,
)

pytestmark = few_letters


def check(result, truth, *search, fixed=0, **options):
    """Compare decisions with those of the oracle, whose first `fixed` documents are `against`."""
    decided, limited = truth.deduplicate(*search, fixed=fixed, **options)
    against, kept = result.against_index, result.kept_index
    assert ((against >= 0) == (kept < 0)).all()
    proofs = np.where(against >= 0, against, kept + fixed).tolist()
    found = list(zip(proofs, result.similarity.tolist(), strict=True))
    assert repr(found) == repr([decided[fixed + d] for d in range(result.documents)])  # NaN, too
    assert result.limited_documents.tolist() == sorted(limited)
    assert result.limited == len(limited)


@settings(max_examples=3 * settings().max_examples)
@given(
    collections(narrow | wide, 40), st.none() | collections(max_size=8), thresholds, bandings,
    verifications | st.sampled_from([0.1, 1 / 3, 0.5, 0.7, 1.0]), priorities,
    st.sampled_from([1, 1, 2, 3, 1000]), shinglers, hashings, st.integers(1, 3),
    st.sampled_from([None, 1, 3, 50]),
)  # fmt: skip
def test_equal_to_the_oracle(
    texts, against, threshold, banding, rule, keep, most, shingler, hashing, threads, batch
):
    """By similarity, verified in each way, or by the share of a document that is contained."""
    keep = keep if isinstance(keep, str) else keep[: len(texts)]
    bands, rows = banding
    how = {"verify": rule}, {"verify": rule}
    if not isinstance(rule, str):
        how = {"rule": "contained", "containment": rule}, {"contained": rule}
    with little_room(batch):
        result = deduplicate(
            texts, threshold, against=against and iter(against), max_candidates=most,
            **as_options(keep), **how[0], shingler=Shingler(**shingler), num_perm=16, bands=bands,
            rows=rows, threads=threads, **hashing,
        )  # fmt: skip
    known = against or []
    truth = oracle.Oracle([*known, *texts], **shingler, num_perm=16, **hashing)
    if (keep, shingler["unit"]) == ("longest", "word"):  # the length in characters counts
        keep = [len(text or "") for text in texts]
    options = {"keep": keep, "max_candidates": most, **how[1]}
    check(result, truth, threshold, bands, rows, fixed=len(known), **options)
    assert result.empty == sum(not units for units in truth.units[len(known) :])
    assert result.params == LSHParams(bands, rows)
    assert result.threshold == threshold


@pytest.mark.parametrize(("most", "size"), covering([1, 3, 20, 1000], [4, 9]))
def test_more_kept_documents_than_a_bucket_remembers(most, size):
    # Half of each text is shared: many meet in a bucket, few are near-duplicates.
    shared = "what all of these have in common"
    texts = [f"{shared} {i * 7919 % 1000:03d} {i * i:06d} {i % 90:04d}" for i in range(120)]
    truth = oracle.Oracle(texts, size=size, num_perm=8)
    for block in (1, 5, 1024):
        with little_room(block, 1 << 15):
            result = deduplicate(
                texts, 0.8, shingler=Shingler(size=size), num_perm=8, bands=4, rows=1,
                max_candidates=most,
            )  # fmt: skip
        assert result.limited
        check(result, truth, 0.8, 4, 1, max_candidates=most)


class FewestEqualFirst(oracle.Oracle):
    """Prefers the candidates with the fewest equal minima: wrong."""

    def equal(self, a, b):
        return -super().equal(a, b)


@pytest.mark.parametrize("most", [1, 2])
def test_with_as_many_shared_bands_the_more_equal_minima_count(most):
    # 4 of 64 minima make the bands, so that candidates are often level.
    draw = random.Random(0)
    base = draw.choices("abcdefgh", k=40)
    texts = []
    for _ in range(80):
        edited = [draw.choice("abcdefgh") if draw.random() < 0.12 else c for c in base]
        texts.append("".join(edited))
    result = deduplicate(
        texts, 0.6, shingler=Shingler(size=2), num_perm=64, bands=4, rows=1, max_candidates=most
    )
    truth = oracle.Oracle(texts, size=2, num_perm=64)
    wrong = FewestEqualFirst(texts, size=2, num_perm=64)
    case = {"threshold": 0.6, "bands": 4, "rows": 1, "max_candidates": most}
    assert truth.deduplicate(**case) != wrong.deduplicate(**case)
    check(result, truth, **case)


def test_contained_loses_nothing():
    short = "the beginning of a text that another one quotes in full"
    long = short + ", and this is what that other one adds to it, which is about as long"
    changed = short.replace("another", "no other")
    options = {"threshold": 0.3, "num_perm": 1928, "rule": "contained", "keep": "longest"}
    found = deduplicate([short, long, changed, short], ids="abcd", **options)
    assert list(found.proofs()) == [("a", "b", 1.0), ("d", "b", 1.0)]
    assert list(found.seconds) == ["signatures", "identical documents", "decisions"]
    assert (found.rule, found.containment, found.threshold) == ("contained", 1.0, 0.3)
    # In the order of the input the short one is kept, and the long one is not in it.
    assert deduplicate([short, long], 0.3, rule="contained", num_perm=1928).kept.all()
    less = deduplicate([short, long, changed], containment=0.7, ids="abc", **options)
    share = len(shingles(changed) & shingles(long)) / len(shingles(changed))
    assert 0.7 < share < 1
    assert list(less.proofs()) == [("a", "b", 1.0), ("c", "b", share)]
    again = deduplicate([short, long, changed], less.threshold, ids="abc", **less.options)
    assert list(again.proofs()) == list(less.proofs())
    higher = less.rethreshold(0.99)
    assert list(higher.proofs()) == [("a", "b", 1.0)]
    assert (higher.containment, higher.threshold) == (0.99, 0.3)
    again = deduplicate([short, long, changed], higher.threshold, ids="abc", **higher.options)
    assert list(again.proofs()) == list(higher.proofs())
    refuses(ValueError, r"between 0\.99 \(of this result\)", higher.rethreshold, 0.98)


def shingles(text):
    return set(oracle.windows(text, 9))


def test_priorities_of_any_kind_decide_who_stays():
    texts = ["the very same text", "the very same text", "the very same text.", "unlike"]
    for priority, kept in (
        ([0, 1, 0, 0], 1), (np.array([0, 0, 9, 0], np.uint8), 2), ([0.5, 0.5, -1.0, np.inf], 0),
        ([False, True, True, False], 1),
    ):  # fmt: skip
        assert deduplicate(texts, 0.8, priority=priority).selected.tolist() == [kept, 3]


def test_every_argument_is_in_the_options():
    texts = ["Guten Tag allerseits", "Guten Tag allerseits", "Guten Tag allerseits!", "", "Tag"]
    left_out = {"texts", "threshold", "against", "ids", "against_ids", "against_within", "key"}
    left_out |= {"against_also", "threads", "progress"}  # the last two never change an answer
    left_out |= {"ignore", "ignore_common"}  # what they ignore is in the shingler, as the key is
    names = inspect.signature(deduplicate).parameters.keys() - left_out
    known = {"against": texts[:1], "against_within": ["de"]}
    for arguments, more in (
        ({"keep": "last"}, {}),
        ({"priority": [1, 3, 2, 5, 4]}, {}),
        ({"within": ["de", "nl", "de", "nl", "nl"]}, {}),
        ({"within": np.array([1, 2, 2, 1, 1])}, {}),
        ({"within": iter("abaab")}, {}),
        ({"within": ["de", "nl", "de", "nl", "nl"]}, known),
        ({"rule": "contained", "containment": 0.9}, {}),
        ({"rule": "contained", "search": "containment", "recall": 0.9}, {}),
        ({"rule": "equal", "within": list("abaab")}, {}),
        ({"also": iter(["one", "two", "one", "", "two"]), "also_threshold": 0.5}, {}),
        ({"also": texts}, {"against": texts[:1], "against_also": ["Guten Tag"]}),
        ({"shingler": Shingler(size=4), "num_perm": 64, "seed": 3, "scheme": "fss"}, {}),
        ({"ignore": ["Guten Tag allerseits"]}, {}),
        ({"ignore_common": 0.5}, {"against": texts[:1]}),
    ):
        result = deduplicate(texts, 0.7, **arguments, **more)
        assert all(seconds >= 0 for seconds in result.seconds.values())
        if arguments.get("rule") != "equal":  # which takes no parameters of shingles
            assert names <= {*result.options, "recall", "search"}  # recall: by bands and rows
        again = deduplicate(texts, result.threshold, **result.options, **more)
        assert again.kept.tolist() == result.kept.tolist(), arguments
        assert again.against_index.tolist() == result.against_index.tolist(), arguments
        assert again.similarity.tolist() == result.similarity.tolist(), arguments


# ---- against an index


SMALL = {"num_perm": 24, "bands": 8, "rows": 3, "shingler": Shingler(size=4, lowercase=True)}
KNOWN = [f"Document {d % 7} of some LENGTH and then {d // 7}" for d in range(60)]
NEW = ["document 3 of some length and then 2", "a new one", "A NEW ONE", "", KNOWN[5] + "!"]


def same_decisions(result, expected, texts=True):
    """Without texts a copy is not told from what is as like it, so the proof may be another."""
    assert result.kept.tolist() == expected.kept.tolist()
    if texts:
        assert result.kept_index.tolist() == expected.kept_index.tolist()
        assert result.similarity.tolist() == expected.similarity.tolist()
        assert result.against_index.tolist() == expected.against_index.tolist()


@pytest.mark.parametrize("verify", ["exact", "signature", "none"])
def test_an_index_in_memory_and_one_of_saved_signatures(verify):
    expected = deduplicate(NEW, 0.6, against=KNOWN, verify=verify, **SMALL)
    assert not expected.kept.all()
    index = Index(0.6, verify=verify, **SMALL)
    index.insert_many(range(60), KNOWN)
    exact = verify == "exact"
    signatures = MinHasher(24, shingler=SMALL["shingler"]).signatures(KNOWN)
    saved = Index(0.6, verify=verify, **SMALL)
    saved.insert_many(range(60), KNOWN if exact else None, signatures=signatures)
    for each in (index, saved):
        same_decisions(deduplicate(NEW, 0.6, against=each, verify=verify, **SMALL), expected, exact)


def test_documents_are_not_signed_again(monkeypatch):
    index = Index(0.6, **SMALL)
    index.insert_many(range(60), KNOWN)
    signed = []
    sign = MinHasher.sign
    monkeypatch.setattr(
        MinHasher, "sign", lambda self, texts, *a, **k: signed.append(len(texts)) or sign(
            self, texts, *a, **k
        )
    )  # fmt: skip
    deduplicate(NEW, 0.6, against=index, **SMALL)
    assert signed == [len(NEW)]


SHINGLERS = [
    Shingler("word", 2, lowercase=True, stop_words=["The", "a"]),
    Shingler("word", 1, vocabulary=["fox", "dog", "quick", "brown", "cat"]),
    Shingler("word", 2, strip_accents=True, stop_words=["é"], key=Key(bytes(range(32)))),
    Shingler("word", 1, words="ascii_alphanumeric", empty_words=True, lowercase=True),
    Shingler("byte", 3, punctuation="space", collapse_whitespace=True),
]


def test_every_argument_of_a_shingler_counts(tmp_path):
    known = ["the quick brown FOX jumps over a dog", "é A cat, e the cat", "the a of and to cat"]
    new = ["quick brown FOX jumps over dog", "A cat, é the cat", "the a of and to dog", "the a"]
    by_bands = {"num_perm": 32, "bands": 32, "rows": 1}
    contained = {"rule": "contained", "search": "containment", "containment": 0.8}
    for number, shingler in enumerate(SHINGLERS):
        for rule in (by_bands, contained) if number == 0 else (by_bands,):
            search = {"shingler": shingler, **rule}
            expected = deduplicate(new, 0.4, against=known, against_ids=range(3), **search)
            assert expected.n_removed, (shingler, rule)
            indexes = [Index(0.4, **search)]
            if number < 2 and rule is by_bands:
                indexes.append(Index.open(tmp_path / f"{number}.index", 0.4, **search))
            for index in indexes:
                index.insert_many(range(3), known)
                result = deduplicate(new, 0.4, against=index, **search)
                proofs = [(a, int(b), s) for a, b, s in result.proofs()]
                assert proofs == list(expected.proofs()), (shingler, rule)
                index.close()

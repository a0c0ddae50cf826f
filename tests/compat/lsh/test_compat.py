"""`fastlsh.compat.lsh`: the surface of lsh 0.3.0, and each of its defects, absent and on demand."""

import gc
import json
import pickle
import sys
import weakref
from ast import literal_eval

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastlsh
from fastlsh.compat.lsh import cache, cMinhash, minhash
from fastlsh.compat.lsh.cache import Cache
from fastlsh.compat.lsh.minhash import MinHasher
from lsh_sequences import RECORD, RECORDED, answers, sequence
from murmur import fingerprint
from refusals import refuses

TEXT = "Jang MC Min Chul is a Protoss player from South Korea"
NEAR = "Jang MC Min Chul is a Protoss player from North Korea"
OTHER = "Something else altogether, on geese and their habits."


def filled(texts, hasher=None, num_bands=20):
    result = Cache(hasher or MinHasher(100, 5, 1), num_bands)
    for doc_id, text in enumerate(texts):
        result.add_doc(text, doc_id)
    return result


# ---- fingerprints


def test_seeds_are_drawn_as_there():
    # The first of RandomState(1).randint(0, 1e6, 5).
    assert MinHasher(5, random_state=1)._seeds.tolist() == [128037, 491755, 470924, 791624, 491263]
    generator = np.random.RandomState(1)
    assert (MinHasher(5, random_state=generator)._seeds == MinHasher(5)._seeds).all()
    assert (MinHasher(5, random_state=generator)._seeds != MinHasher(5)._seeds).any()
    given_seeds = MinHasher(np.array([3, 2**32 - 1]))
    assert given_seeds._seeds.dtype == np.uint32
    assert given_seeds.num_seeds == 2


GOLDEN = {  # what lsh 0.3.0 gives: (hashbytes, char_ngram)
    (4, 5): [2254577768, 2205526649, 2225461862, 2162999542, 2157317889],
    (4, 20): [2343246669, 2173119136, 2198280577, 2148035502, 2204277281],
    (8, 5): [
        276839805089882449, 274882842388872923, 702552193028689320, 296323212905843417,
        448688933725243145,
    ],
    (8, 20): [
        21862140595353482, 797968701988854405, 929338845147808072, 816789826925569297,
        1405033689542024601,
    ],
}  # fmt: skip


@pytest.mark.parametrize(("hashbytes", "char_ngram"), GOLDEN)
def test_golden(hashbytes, char_ngram):
    for strict in (False, True):
        hasher = MinHasher(5, char_ngram, 1, hashbytes, strict=strict)
        assert hasher.fingerprint(TEXT).tolist() == GOLDEN[hashbytes, char_ngram]


@pytest.mark.parametrize("hashbytes", [4, 8])
def test_fingerprints(hashbytes):
    hasher = MinHasher(20, 5, 7, hashbytes)
    expected = fingerprint(TEXT.encode(), hasher._seeds.tolist(), 5, hasher.dtype.type)
    assert hasher.fingerprint(TEXT).tolist() == expected
    assert hasher.fingerprint(TEXT.encode()).tolist() == expected
    many = hasher.fingerprints([TEXT, b"", None, "\u0416\U0001f40e\u00e9", NEAR], threads=2)
    assert many[0].tolist() == expected
    assert many[3].tolist() == hasher.fingerprint("\u0416\U0001f40e\u00e9".encode()).tolist()
    assert (many[1] == np.iinfo(hasher.dtype).max).all()
    hasher.fingerprint.cache_clear()


def test_the_functions_below():
    seeds = MinHasher(20, 5, 7)._seeds
    for function, hashbytes in ((cMinhash.minhash_32, 4), (cMinhash.minhash_64, 8)):
        strict = MinHasher(seeds, 5, hashbytes=hashbytes, strict=True)
        text = TEXT.encode()
        assert function(text, 30, seeds, 5).tolist() == strict.fingerprint(text[:30]).tolist()
        refuses(ValueError, "strlen", function, text, len(text) + 1, seeds, 5)


def test_bad_arguments():
    refuses(ValueError, "hashbytes must be 4, 8 or 16, got 5", MinHasher, 10, hashbytes=5)
    with pytest.raises(NotImplementedError):
        MinHasher(10, hashbytes=16)
    for arguments in ((0,), (10, 0), (np.array([[1]]),), (np.array([1.5]),), (np.array([-1]),)):
        refuses(ValueError, r"seeds|char_ngram", MinHasher, *arguments)
    refuses(ValueError, "Seed must be", MinHasher, np.array([1, 2]), random_state=-1)
    for num_bands in (2.0, "2", None, [2]):
        refuses(TypeError, "integer", Cache, MinHasher(10), num_bands)
    hasher = MinHasher(10)
    refuses(TypeError, "got int", hasher.fingerprint, 3)
    refuses(TypeError, "document 1 is of type int", hasher.fingerprints, ["a", 3])
    refuses(ValueError, "10 integers", hasher.jaccard, TEXT, np.zeros(9, np.uint64))
    refuses(ValueError, "10 integers", Cache(hasher).add_fingerprint, np.zeros(11, np.uint64), 0)


def test_what_the_estimate_estimates():
    hasher = MinHasher(4000, 5, 1)
    a, b = ({t[i : i + 5] for i in range(len(t) - 4)} for t in (TEXT, NEAR))
    truth = len(a & b) / len(a | b)
    error = 4.2 * (truth * (1 - truth) / 4000) ** 0.5
    assert abs(hasher.jaccard(TEXT, NEAR) - truth) < error
    # lsh compares sets of values, which is J / (2 - J).
    strict = MinHasher(4000, 5, 1, strict=True)
    assert strict.jaccard(TEXT, NEAR) < truth - error
    assert abs(strict.jaccard(TEXT, NEAR) - truth / (2 - truth)) < error
    both = [set(hasher.fingerprint(t).tolist()) for t in (TEXT, NEAR)]
    assert hasher.jaccard(*both) == strict.jaccard(TEXT, NEAR)


# ---- the cache


def test_cache():
    docs = filled([TEXT, NEAR, OTHER, TEXT])
    assert len(docs) == 4
    assert docs
    assert docs.get_duplicates_of(TEXT) >= {0, 1, 3}
    assert docs.get_duplicates_of(doc_id=2) == {2}
    assert docs.get_duplicates_of(TEXT, min_jaccard=0.99) == {0, 3}
    assert docs.is_duplicate(NEAR)
    assert not docs.is_duplicate("Nothing of the kind is here")
    assert docs.get_all_duplicates() == {(0, 1), (0, 3), (1, 3)}
    assert docs.get_all_duplicates(min_jaccard=0.99) == {(0, 3)}
    assert docs.filter_candidates([(0, 1), (3, 0)], 0.99) == {(3, 0)}
    docs.remove_doc(TEXT)
    assert set(docs.fingerprints) == {1, 2}
    docs.remove_id(1)
    with pytest.raises(KeyError):
        docs.remove_id(1)
    refuses(ValueError, "in the cache", docs.get_duplicates_of, doc_id=1)
    docs.clear()
    assert docs.get_all_duplicates() == set()


@pytest.mark.parametrize("num_bands", [-1, 0, 3, 101])
def test_bands_must_divide(num_bands):
    refuses(AssertionError, "must divide", Cache, MinHasher(100), num_bands)


@given(st.lists(st.text("ab", max_size=12), max_size=12), st.sampled_from([None, 0.2, 0.5, 1.0]))
def test_all_duplicates_are_those_of_the_buckets(texts, least):
    hasher = MinHasher(24, 3, 1, 4)
    docs = filled(texts, hasher, 8)
    expected = set()
    for i, j in np.argwhere(np.triu(np.ones((len(texts), len(texts))), 1)).tolist():
        a, b = docs.fingerprints[i], docs.fingerprints[j]
        shared = (a.reshape(8, 3) == b.reshape(8, 3)).all(axis=1).any()
        if texts[i] and texts[j] and shared and (least is None or hasher.jaccard(a, b) > least):
            expected.add((i, j))
    found = docs.get_all_duplicates(least)
    assert found == expected
    assert set(found) == expected
    assert len(found) == len(expected)
    assert all(pair in found for pair in expected)
    assert (1, 0) not in found
    assert [] not in found


def test_the_pairs_are_a_set():
    found = filled([TEXT, TEXT, OTHER]).get_all_duplicates()
    assert isinstance(found, cache.DuplicatePairs)
    assert found | {(5, 6)} == {(0, 1), (5, 6)} == found.union([(5, 6)])
    assert type(found & {(0, 1)}) is set
    assert found.copy() == found.intersection({(0, 1)}) == {(0, 1)} == found - set()
    assert found.difference(found) == set()
    assert found.issubset([(0, 1), (5, 6)])
    assert not found.issubset([(5, 6)])
    assert found.issuperset([(0, 1)])
    assert not found.issuperset([(0, 1), (1, 0)])
    assert found.symmetric_difference([(0, 1), (5, 6)]) == {(5, 6)}
    assert found.groups == [[0, 1], [2]]
    assert repr(found) == "<1 duplicate pairs>"


def test_identical_documents_take_no_room_for_their_pairs():
    docs = Cache(MinHasher(100, 5, 1))
    one = docs.hasher.fingerprint(TEXT)
    for doc_id in range(20_000):
        docs.add_fingerprint(one, doc_id)
    found = docs.get_all_duplicates(min_jaccard=0.9)
    assert len(found) == 20_000 * 19_999 // 2
    assert (3, 19_999) in found
    assert next(iter(found)) == (0, 1)


def test_pickles():
    docs = pickle.loads(pickle.dumps(filled([TEXT, NEAR, OTHER])))
    assert docs.get_all_duplicates() == {(0, 1)}
    # As lsh has it: other keys, and no word of strict.
    state = dict(docs.__dict__)
    state["bins"] = [{hash(key): ids for key, ids in band.items()} for band in docs.bins]
    theirs = Cache.__new__(Cache)
    theirs.__setstate__(state)
    assert theirs.get_duplicates_of(TEXT) == docs.get_duplicates_of(TEXT)


# ---- the defects: absent, and there with strict=True


def hashers(**more):
    return MinHasher(100, 5, 1, **more), MinHasher(100, 5, 1, strict=True, **more)


def test_sentinel():
    for hashbytes, sentinel in ((4, 2**32 - 1), (8, 2**63 - 1)):
        ours, strict = hashers(hashbytes=hashbytes)
        one, other = (strict.fingerprint(text) for text in ("geese", "ducks"))
        assert 30 < (one == sentinel).sum() < 70
        assert 10 < (one == other).sum() < 45  # of nothing in common
        assert ours.jaccard("geese", "ducks") == 0.0
        kept = one != sentinel
        assert (ours.fingerprint("geese")[kept] == one[kept]).all()


def test_short_texts():
    for hashbytes in (4, 8):
        ours, strict = hashers(hashbytes=hashbytes)
        assert (strict.fingerprint("a") == strict.fingerprint("b")).all()
        assert ours.jaccard("a", "b") == 0.0
        assert ours.jaccard("a", "a") == 1.0


def test_empty_texts_are_no_duplicates():
    docs = filled(["", "", TEXT])
    assert docs.get_all_duplicates() == set()
    assert not docs.is_duplicate("")
    assert docs.hasher.jaccard("", "") == 0.0
    assert 0 in docs.fingerprints
    docs.remove_doc("")
    assert set(docs.fingerprints) == {2}
    assert filled(["", ""], hashers()[1]).get_all_duplicates() == {(0, 1)}


def test_min_jaccard_filters():
    ours, strict = (filled([TEXT, NEAR], hasher, 50) for hasher in hashers())
    assert ours.get_all_duplicates(min_jaccard=0.95) == set()
    assert ours.get_duplicates_of(TEXT, min_jaccard=0.95) == {0}
    assert strict.get_all_duplicates(min_jaccard=0.95) == {(0, 1)}
    assert strict.get_duplicates_of(TEXT, min_jaccard=0.95) == {0, 1}
    assert strict.hasher.jaccard(*strict.fingerprints.values()) == 1.0


@pytest.mark.parametrize("strict", [False, True])
def test_what_calls_leave_behind(strict):
    def buckets(docs):
        return sum(map(len, docs.bins))

    hasher = hashers()[strict]
    asked, removed, cleared, again = (filled([TEXT], hasher) for _ in range(4))
    assert not asked.is_duplicate(OTHER)
    assert buckets(asked) - buckets(again) == 20 * strict
    removed.remove_id(0)
    assert buckets(removed) == 20 * strict
    cleared.clear()
    assert len(cleared) == strict
    again.add_doc(OTHER, 0)
    assert again.get_duplicates_of(TEXT) == ({0} if strict else set())


@pytest.mark.parametrize("reused", [False, True])
def test_remove_doc_reads_the_fingerprints(reused):
    # With strict, an id stays in the buckets of its earlier text, and `clear` empties them only.
    docs = filled([TEXT], hashers()[1])
    if reused:
        docs.add_doc(OTHER, 0)
        docs.remove_id(0)
        docs.remove_doc(TEXT)
        assert docs.get_duplicates_of(TEXT) == {0}
    else:
        docs.clear()
        with pytest.raises(KeyError):
            docs.remove_doc(TEXT)


def test_seeds_of_nobody():
    assert (MinHasher(9)._seeds == MinHasher(9)._seeds).all()
    assert (MinHasher(9, strict=True)._seeds != MinHasher(9, strict=True)._seeds).any()


def test_a_misspelt_option():
    with pytest.warns(UserWarning, match=r"ignores bands: it has num_bands=10"):
        Cache(MinHasher(100), bands=20)
    Cache(MinHasher(100, strict=True), bands=20)


class Text(str):
    """A str that can be weakly referenced."""


def test_texts_are_not_kept_alive():
    text = Text(TEXT)
    watched = weakref.ref(text)
    MinHasher(9).fingerprint(text)
    del text
    gc.collect()
    assert watched() is None or sys.implementation.name != "cpython"


# ---- beside fastlsh's own answer


def test_the_example_collection(examples):
    lines = (examples / "notices.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    docs = Cache(MinHasher(200, 9, 1), num_bands=50)
    for i, row in enumerate(rows):
        docs.add_doc(row["text"], i)
    shingler = fastlsh.Shingler(unit="byte", size=9)
    texts = [row["text"] for row in rows]
    truth = fastlsh.near_duplicates(texts, 0.9, shingler=shingler, recall=0.9999)
    expected = set(zip(truth.left.tolist(), truth.right.tolist(), strict=True))
    assert len(expected) > 40
    assert expected <= set(docs.get_all_duplicates())
    assert minhash.MinHasher is MinHasher


# ---- random sequences of calls: a strict drop-in answers, and fails, as lsh 0.3.0


def test_the_recorded_answers_of_lsh():
    lines = RECORD.read_text("ascii").splitlines()
    assert len(lines) == RECORDED
    for line in lines:
        hasher, num_bands, calls, expected = literal_eval(line)
        assert answers("fastlsh.compat.lsh", hasher, num_bands, calls, strict=True) == expected, (
            hasher,
            num_bands,
        )


@settings(max_examples=100)
@given(st.data())
def test_the_answers_of_lsh(data):
    pytest.importorskip("lsh.cMinhash", reason="lsh 0.3.0 is built from its source, with Cython")

    class Drawn:
        def choice(self, values):
            return values[data.draw(st.integers(0, len(values) - 1))]

    drawn = sequence(Drawn())
    assert answers("fastlsh.compat.lsh", *drawn, strict=True) == answers("lsh", *drawn), drawn

"""`against` may be an index: the answer is that of plain texts."""

import pytest

import strategies
from fastlsh import Index, Key, MinHasher, Shingler, deduplicate
from refusals import refuses

pytestmark = strategies.few_letters
SMALL = {"num_perm": 24, "bands": 8, "rows": 3, "shingler": Shingler(size=4, lowercase=True)}
KNOWN = [f"Document {d % 7} of some LENGTH and then {d // 7}" for d in range(60)]
NEW = ["document 3 of some length and then 2", "a new one", "A NEW ONE", "", KNOWN[5] + "!"]


def same(result, expected, texts=True):
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
        same(deduplicate(NEW, 0.6, against=each, verify=verify, **SMALL), expected, exact)


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


def test_what_does_not_suit():
    index = Index(0.6, **SMALL)
    plain = Index(0.6, verify="signature", **SMALL)
    for error, said, options in (
        (TypeError, "has its own ids", {"against": index, "against_ids": [1]}),
        (ValueError, "has seed=1, the search 2", {"against": index, "seed": 2}),
        (ValueError, 'keeps no texts.*only verify="signature"', {"against": plain}),
        (ValueError, "not an index", {"against": index, "within": [1] * len(NEW)}),
    ):
        refuses(error, said, deduplicate, NEW, 0.6, **{**SMALL, **options})


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

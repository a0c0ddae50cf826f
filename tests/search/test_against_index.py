"""`against` may be an index, or come with saved signatures: the answer is that of plain texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fastlsh import Index, MinHasher, Shingler, deduplicate

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


@strategies.share(3)
@given(data=st.data())
def test_an_index_on_disk(tmp_path_factory, data):
    texts = data.draw(strategies.collections(st.one_of(strategies.narrow, strategies.wide)))
    cut = data.draw(st.integers(0, len(texts)))
    threshold = data.draw(strategies.thresholds)
    known, new = texts[:cut], texts[cut:]
    keep = data.draw(st.sampled_from(["first", "last", "longest"]))
    expected = deduplicate(new, threshold, against=known, keep=keep, **SMALL)
    with Index.open(tmp_path_factory.mktemp("index") / "index", threshold, **SMALL) as index:
        index.insert_many(range(cut), known)
        result = deduplicate(new, threshold, against=index, keep=keep, **SMALL)
        assert result.kept.tolist() == expected.kept.tolist()
        assert result.similarity.tolist() == expected.similarity.tolist()
        proofs = [result.against_ids[i] if i >= 0 else -1 for i in result.against_index]
        assert proofs == expected.against_index.tolist()


@pytest.mark.parametrize("verify", ["exact", "signature", "none"])
def test_an_index_in_memory_and_saved_signatures(verify):
    expected = deduplicate(NEW, 0.6, against=KNOWN, verify=verify, **SMALL)
    assert not expected.kept.all()
    index = Index(0.6, verify=verify, **SMALL)
    index.insert_many(range(60), KNOWN)
    texts = verify == "exact"
    same(deduplicate(NEW, 0.6, against=index, verify=verify, **SMALL), expected, texts)
    signatures = MinHasher(24, shingler=SMALL["shingler"]).signatures(KNOWN)
    given = {"against_signatures": signatures, "verify": verify, **SMALL}
    same(deduplicate(NEW, 0.6, against=KNOWN, **given), expected, texts)
    if verify != "exact":
        same(deduplicate(NEW, 0.6, **given), expected, False)


def test_documents_are_not_signed_again(monkeypatch):
    signatures = MinHasher(24, shingler=SMALL["shingler"]).signatures(KNOWN)
    signed = []
    sign = MinHasher.sign
    monkeypatch.setattr(
        MinHasher, "sign", lambda self, texts, *a, **k: signed.append(len(texts)) or sign(
            self, texts, *a, **k
        )
    )  # fmt: skip
    deduplicate(NEW, 0.6, against=KNOWN, against_signatures=signatures, **SMALL)
    assert signed == [len(NEW)]


def test_what_does_not_suit():
    signatures = MinHasher(24, shingler=SMALL["shingler"]).signatures(KNOWN)
    index = Index(0.6, **SMALL)
    plain = Index(0.6, verify="signature", **SMALL)
    for error, said, options in (
        (ValueError, 'only verify="signature"', {"against_signatures": signatures}),
        (ValueError, "60 against_signatures for 5 documents", {
            "against_signatures": signatures, "against": NEW}),
        (ValueError, "of 20 values do not suit num_perm=24", {
            "against_signatures": signatures[:, :20].copy()}),
        (TypeError, "has its own signatures", {
            "against": index, "against_signatures": signatures}),
        (TypeError, "has its own ids", {"against": index, "against_ids": [1]}),
        (ValueError, "has seed=1, the search 2", {"against": index, "seed": 2}),
        (ValueError, 'keeps no texts.*only verify="signature"', {"against": plain}),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            deduplicate(NEW, 0.6, **{**SMALL, **options})

"""Mutation tests of the kit: fastlsh with one planted fault each, which the named check finds."""

import numpy as np
import pytest

from bench import conformance
from bench.conformance import Fastlsh, Verdict
from fastlsh import MinHasher

TRIALS = 500
SOUND = MinHasher(threads=1)
ERRORS = {Verdict.FAILED, Verdict.ERROR}


class Filtered(Fastlsh):
    """fastlsh with what an index drops by the estimate, so that every check applies."""

    def filtered(self, left, right, minimum):
        return self.candidates(left, right) & (self.estimates(left, right) >= minimum)


class Of(Filtered):
    """Whatever it does differently follows from the signatures."""

    def estimates(self, left, right):
        left, right = self.signatures(left), self.signatures(right)
        return (left == right).mean(axis=1) * (left != 2**32 - 1).any(axis=1)


class FewBits(Of):
    def signatures(self, documents):
        return super().signatures(documents) & 3


class DeadValue(Of):
    def signatures(self, documents):
        result = super().signatures(documents)
        result[:, 77] = 5
        return result


class HalfRepeated(Of):
    def signatures(self, documents):
        result = super().signatures(documents)
        result[:, 64:] = result[:, :64]
        return result


class TwoAlike(Of):
    def signatures(self, documents):
        result = super().signatures(documents)
        result[:, 101] = result[:, 3] ^ np.uint32(0x5555)
        return result


class Positions(Of):
    """What rensa's rho does with long lists: it looks at some places only."""

    def signatures(self, documents):
        return super().signatures([text[:96] for text in documents])


class Multiset(Of):
    def signatures(self, documents):
        return super().signatures([text + str(len(text)) for text in documents])


class LostUpdates:
    """A bucket sketch whose vector lanes overwrite each other, as in an AVX-512 FastSketchLSH."""

    name, shingle_size, lanes = "lost updates", None, 8

    def signatures(self, documents):
        return np.array([self.sketch(document) for document in documents])

    def sketch(self, document):
        hashes = SOUND.from_tokens([[element] for element in document])[:, 0].astype(np.int64)
        sketch = np.full(64, 2**40, np.int64)
        for place in range(0, len(hashes), self.lanes):
            some = hashes[place : place + self.lanes]
            less = some < sketch[some % 64]
            sketch[some[less] % 64] = some[less]  # of two lanes with one bucket, the last one wins
        return sketch


class Scalar(LostUpdates):
    def sketch(self, document):
        hashes = SOUND.from_tokens([[element] for element in document])[:, 0].astype(np.int64)
        sketch = np.full(64, 2**40, np.int64)
        np.minimum.at(sketch, hashes % 64, hashes)
        return sketch


class FirstElement(Of):
    def signatures(self, documents):
        result = super().signatures(documents)
        first = super().signatures([text[:9] for text in documents])
        result[:, 12] = first[:, 12]
        return result


class EmptyAlike(Filtered):
    def candidates(self, left, right):
        keys = self.band_keys(self.signatures([*left, *right]))
        return (keys[: len(left)] == keys[len(left) :]).any(axis=1)


class EmptyRaises(Filtered):
    def signatures(self, documents):
        if "" in documents:
            raise ValueError("empty document")
        return super().signatures(documents)


class ShortAlike(Of):
    def signatures(self, documents):
        return super().signatures([text if len(text) >= 9 else "short" for text in documents])


class Unseeded(Of):
    calls = 0

    def signatures(self, documents):
        self.calls += 1
        return MinHasher(seed=self.calls, threads=1).signatures(documents)


class ByPlace(Of):
    """The last document of an odd batch is left to another kernel."""

    def signatures(self, documents):
        result = super().signatures(documents)
        if len(result) % 2 and len(result) > 1:
            result[-1] ^= np.uint32(1)
        return result


class SumKeys(Filtered):
    """datasketch's MinHashLSHBloom."""

    def band_keys(self, signatures):
        used = signatures[:, : self.bands * self.rows].astype(np.uint64)
        return used.reshape(len(used), self.bands, self.rows).sum(axis=2) % np.uint64(2**61 - 1)


class PolynomialKeys(Filtered):
    def band_keys(self, signatures):
        used = signatures[:, : self.bands * self.rows].astype(np.uint64)
        powers = np.uint64(1_000_003) ** np.arange(self.rows, dtype=np.uint64)
        return (used.reshape(len(used), self.bands, self.rows) * powers).sum(axis=2)


class ChainedKeys(Filtered):
    def band_keys(self, signatures):
        return np.bitwise_xor.accumulate(super().band_keys(signatures), axis=1)


class OneBandTwice(Filtered):
    def band_keys(self, signatures):
        keys = super().band_keys(signatures).copy()
        keys[:, 9] = keys[:, 4]
        return keys


class LooseBands(Filtered):
    def candidates(self, left, right):
        left, right = self.signatures(left), self.signatures(right)
        equal = (left == right).reshape(len(left), self.bands, self.rows)
        empty = (left == 2**32 - 1).all(axis=1)
        return equal[:, :, 1:].all(axis=2).any(axis=1) & ~empty


class Chance(Filtered):
    def candidates(self, left, right):
        lucky = np.array([hash(text) % 50 == 0 and bool(text) for text in left])
        return super().candidates(left, right) | lucky & np.array([len(t) > 900 for t in left])


class NeverFilters(Filtered):
    """mattilyra/lsh: the estimate in front of the filter is always 1."""

    def filtered(self, left, right, minimum):
        return self.candidates(left, right)


class DropsAll(Filtered):
    def filtered(self, left, right, minimum):
        return np.zeros(len(left), bool)


FAULTS = {
    FewBits: "bias", DeadValue: "each value", HalfRepeated: "variance",
    TwoAlike: "independent values", Positions: "order and repetition",
    Multiset: "order and repetition", LostUpdates: "order and repetition",
    FirstElement: "union is minimum", EmptyAlike: "empty documents",
    EmptyRaises: "empty documents", ShortAlike: "short documents", Unseeded: "same values again",
    ByPlace: "same values again", SumKeys: "band key collisions",
    PolynomialKeys: "band key avalanche", ChainedKeys: "band key avalanche",
    OneBandTwice: "independent bands", LooseBands: "S-curve", Chance: "S-curve",
    NeverFilters: "filter", DropsAll: "filter",
}  # fmt: skip


def planted(fault):
    return fault() if issubclass(fault, LostUpdates) else fault(SOUND, name=fault.__name__)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found_by_its_check(fault):
    report = conformance.check(planted(fault), checks=[FAULTS[fault]], trials=TRIALS)
    assert report[FAULTS[fault]].verdict in ERRORS, report
    assert not report.conforms


def test_every_check_finds_a_fault():
    assert {*FAULTS.values()} == {*conformance.CHECKS}


@pytest.mark.parametrize("scheme", ["affine32", "fss"])
def test_without_a_fault_everything_passes(scheme):
    report = conformance.check(Filtered(MinHasher(scheme=scheme, threads=1)), trials=TRIALS)
    assert {finding.verdict for finding in report.findings} == {Verdict.PASSED}, report
    assert report.conforms


def test_a_bucket_sketch_without_the_fault_passes_in_any_order():
    report = conformance.check(Scalar(), checks=["order and repetition"])
    assert report["order and repetition"].verdict is Verdict.PASSED


class Words:
    """Sets of elements, signatures only."""

    name, shingle_size = "words", None

    def signatures(self, documents):
        return SOUND.from_tokens(documents)


class Estimating:
    """Estimates only."""

    name, shingle_size, num_perm = "estimates", None, 128

    def estimates(self, left, right):
        left, right = SOUND.from_tokens(left), SOUND.from_tokens(right)
        return (left == right).mean(axis=1) * (left != 2**32 - 1).any(axis=1)


@pytest.mark.parametrize(("adapter", "applicable"), [(Words(), 8), (Estimating(), 5)])
def test_missing_parts_are_not_praised(adapter, applicable):
    report = conformance.check(adapter, trials=100)
    verdicts = [finding.verdict for finding in report.findings]
    assert verdicts.count(Verdict.NOT_APPLICABLE) == len(conformance.CHECKS) - applicable
    assert verdicts.count(Verdict.PASSED) == applicable
    assert not conformance.check(adapter, checks=["filter", "S-curve"]).conforms


def test_a_wrong_answer_is_a_verdict_and_a_wrong_adapter_an_error():
    class Wrong(Words):
        def signatures(self, documents):
            return super().signatures(documents).astype(float)

    report = conformance.check(Wrong(), checks=["bias"], trials=100)
    assert report["bias"].verdict is Verdict.ERROR
    assert "expected integers" in report["bias"].text
    with pytest.raises(TypeError, match="neither signatures nor estimates"):
        conformance.check(type("Thing", (), {"name": "thing", "shingle_size": None})())
    with pytest.raises(ValueError, match="checks must be of bias,"):
        conformance.check(Words(), checks=["no such"])

"""Packed signatures and their estimates."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from fastlsh import MinHasher, Pairs, estimate_jaccard_packed, pack_signatures
from refusals import refuses

BITS = [1, 2, 4, 8]


def packed_slowly(row, bits):
    """One signature as bytes, bit by bit."""
    if all(value == 2**32 - 1 for value in row):
        return [255] * -(-len(row) * bits // 8)
    number = sum((oracle.fmix32(v) % 2**bits) << bits * j for j, v in enumerate(row))
    return list(number.to_bytes(-(-len(row) * bits // 8), "little"))


def estimated_slowly(a, b, bits):
    full = 2**32 - 1
    if set(a) == {full} or set(b) == {full}:
        return 0.0
    pairs = [(oracle.fmix32(x) % 2**bits, oracle.fmix32(y) % 2**bits)
             for x, y in zip(a, b, strict=True)]  # fmt: skip
    share = sum(x == y for x, y in pairs) / len(pairs)
    return (share - 0.5**bits) / (1 - 0.5**bits)


@given(
    st.sampled_from(BITS), st.integers(64, 75), st.integers(0, 5), st.integers(0, 99),
    st.sampled_from([1, 200, 1 << 22]),
)  # fmt: skip
def test_equal_to_the_oracle(bits, num_perm, n, seed, room):
    draw = np.random.default_rng(seed)
    signatures = draw.integers(0, 3, (n, num_perm)).astype(np.uint32)
    signatures[draw.random(n) < 0.2] = 0xFFFFFFFF
    pairs = draw.integers(0, max(n, 1), (20 if n else 0, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastlsh.sets.packed.VALUES", room)
        packed = pack_signatures(signatures, bits)
        found = estimate_jaccard_packed(packed, pairs, num_perm=num_perm, bits=bits)
    assert packed.dtype == np.uint8
    rows = signatures.tolist()
    assert packed.tolist() == [packed_slowly(row, bits) for row in rows]
    expected = [estimated_slowly(rows[a], rows[b], bits) for a, b in pairs]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("scheme", ["affine32", "fss"])
@pytest.mark.parametrize(("size", "common"), [(20, 15), (400, 40), (400, 320)])
def test_estimates_are_unbiased(bits, scheme, size, common):
    # 40 pairs of sets with 512 minima each: |z| < 4.2, also where a set has few elements, whose
    # minima have low bits in common without mixing.
    trials, num_perm = 40, 512
    draw = np.random.default_rng(0)
    hashes = draw.integers(0, 2**64, (trials, 2 * size - common), np.uint64)
    sets = np.concatenate([hashes[:, :size], hashes[:, -size:]], axis=1).reshape(-1)
    offsets = np.arange(2 * trials + 1) * size
    packed = pack_signatures(MinHasher(num_perm, scheme=scheme).from_hashes(sets, offsets), bits)
    pairs = np.arange(2 * trials).reshape(-1, 2)
    found = estimate_jaccard_packed(packed, pairs, num_perm=num_perm, bits=bits)
    similarity = common / (2 * size - common)
    share = similarity + (1 - similarity) * 0.5**bits
    error = np.sqrt(share * (1 - share) / num_perm) / (1 - 0.5**bits)
    assert abs(found.mean() - similarity) < 4.2 * error / np.sqrt(trials)
    assert 0.6 * error < found.std() < 1.4 * error


def test_pairs_of_a_result():
    packed = pack_signatures(MinHasher(64).signatures(["one text", "one text", ""]), 2)
    assert packed.shape == (3, 16)
    assert packed[2].tolist() == [255] * 16
    pairs = Pairs(np.array([0, 0, 2]), np.array([1, 2, 2]), np.full(3, np.nan))
    found = estimate_jaccard_packed(packed, pairs, num_perm=64, bits=2)
    assert found.tolist() == [1.0, 0.0, 0.0]


def test_refusals():
    signatures, packed = np.zeros((2, 64), np.uint32), np.zeros((2, 8), np.uint8)
    estimate = partial(estimate_jaccard_packed, num_perm=64)
    refuses(ValueError, "bits must be 1, 2, 4 or 8, got 3", pack_signatures, signatures, 3)
    refuses(ValueError, "must be at least 64", pack_signatures, signatures[:, :63])
    refuses(TypeError, "uint32", pack_signatures, signatures.astype(float))
    refuses(TypeError, "uint8", estimate, signatures, [])
    refuses(ValueError, "72 minima of 1 bits take 9 bytes", estimate, packed, [], num_perm=72)
    refuses(IndexError, "outside the 2 documents", estimate, packed, [(0, 2)])


GOLDEN = ["32539affd8009101", "2c0fa711666bdd5f", "b0cebfcc93a6cd89", "00ebdeecdfbbbc4c"]


def test_packed_signatures_never_change():
    signatures = np.arange(64, dtype=np.uint32)[None] * np.uint32(0x9E3779B1)
    assert [pack_signatures(signatures, bits).tobytes()[:8].hex() for bits in BITS] == GOLDEN

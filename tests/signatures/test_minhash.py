"""Signatures."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from fastlsh import MinHasher, Shingler, estimate_jaccard
from fastlsh.parallel import batches
from refusals import refuses
from strategies import any_text, little_room, shinglers

EMPTY = 2**32 - 1
schemes = st.sampled_from(["affine32", "fss"])


@settings(max_examples=2 * settings().max_examples)
@given(
    st.lists(any_text, max_size=12), shinglers, st.integers(1, 40), st.integers(0, 2**32 - 1),
    schemes, st.sampled_from([1, 2, 5]), st.sampled_from([None, 1, 2, 7]),
)  # fmt: skip
def test_equal_to_the_oracle(texts, options, num_perm, seed, scheme, threads, batch):
    how = {"seed": seed, "scheme": scheme}
    hasher = MinHasher(num_perm, shingler=Shingler(**options), threads=threads, **how)
    truth = oracle.Oracle(texts, **options, num_perm=num_perm, **how)
    with little_room(batch):
        assert hasher.signatures(texts).tolist() == truth.signatures


def test_the_default_is_nine_characters_128_functions_seed_1():
    text = "the quick brown fox jumps over the lazy dog"
    assert MinHasher().signatures([text]).tolist() == oracle.Oracle([text]).signatures


def test_known_values_of_datasketch_2():
    # datasketch 2.0: MinHash(num_perm=4, seed=1).update(b"hello"). Never changes.
    element = np.frombuffer(hashlib.sha1(b"hello").digest()[:4], "<u4").astype(np.uint32)
    found = MinHasher(4).from_hashes(element, [0, 1])
    assert found.tolist() == [[625790555, 194865109, 3904131391, 1324736089]]


@pytest.mark.parametrize("num_perm", [1, 7, 128, 1000])
@pytest.mark.parametrize("n", [1, 30, 300, 3000, 30_000])
def test_the_signature_of_a_union_of_many_is_the_minimum(n, num_perm):
    hashes = np.random.default_rng(n).integers(0, 2**64, 2 * n, np.uint64)
    hasher = MinHasher(num_perm, scheme="fss")
    a, b = hasher.from_hashes(hashes, [0, n, 2 * n])
    assert np.array_equal(hasher.from_hashes(hashes, [0, 2 * n])[0], np.minimum(a, b))


@given(st.lists(any_text, max_size=6), shinglers, schemes)
def test_from_hashes_of_the_shingle_hashes_is_the_same(texts, options, scheme):
    shingler = Shingler(**options)
    hasher = MinHasher(20, shingler=shingler, scheme=scheme)
    hashes = [shingler.hashes(text) for text in texts]
    offsets = np.cumsum([0, *map(len, hashes)])
    found = hasher.from_hashes(np.concatenate([np.empty(0, np.uint64), *hashes]), offsets)
    assert np.array_equal(found, hasher.signatures(texts))


def test_hashes_in_other_memory_orders():
    hasher = MinHasher(16)
    small = np.array([0, 1, 5, 2**32 - 1], np.uint32)
    found = hasher.from_hashes(small, [0, 1, 4])
    assert np.array_equal(found, hasher.from_hashes(small.astype(np.uint64), [0, 1, 4]))
    assert found[0].tolist() == [b for _, b in oracle.affine32(16, 1)]  # fmix32(0) = 0
    hashes = np.arange(100, dtype=np.uint64)
    expected = hasher.from_hashes(hashes[::2].copy(), [0, 20, 50])
    misaligned = np.frombuffer(b"x" + hashes[::2].tobytes(), np.uint8)[1:].view(np.uint64)
    readonly = hashes[::2].copy()
    readonly.flags.writeable = False
    for form in (hashes[::2], misaligned, readonly):
        assert np.array_equal(hasher.from_hashes(form, [0, 20, 50]), expected)
    forms = [np.array([0, 20, 50], kind) for kind in ("u1", "i2", "i4", "u4", "u8", ">i8")]
    for offsets in (*forms, np.array([0, 9, 20, 9, 50])[::2], (0, 20, 50)):
        assert np.array_equal(hasher.from_hashes(readonly, offsets), expected)
    found = hasher.from_hashes(hashes, [3, 3, 7])  # which may lie anywhere
    assert (found[0] == EMPTY).all()
    assert np.array_equal(found[1], hasher.from_hashes(hashes[3:7], [0, 4])[0])


def test_from_tokens_is_words_of_size_one():
    texts = ["a b c", "é 中 中", "", "😀"]
    words = MinHasher(20, shingler=Shingler("word", 1)).signatures(texts)
    tokens = [text.split() for text in texts]
    assert np.array_equal(MinHasher(20).from_tokens(tokens), words)
    as_bytes = [[word.encode() for word in document] for document in tokens]
    assert np.array_equal(MinHasher(20).from_tokens(iter(as_bytes)), words)


def test_signatures_are_written_to_out():
    texts = ["one text", "another text"]
    wide_array = np.zeros((2, 16), np.uint32)
    assert MinHasher(16).signatures(texts, out=wide_array) is wide_array
    assert np.array_equal(wide_array, MinHasher(16).signatures(texts))
    assert MinHasher(16).from_tokens([["a"], []], out=wide_array) is wide_array
    assert (wide_array[1] == EMPTY).all()
    nothing = np.empty(0, np.uint64), [0, 0, 0]
    assert MinHasher(16).from_hashes(*nothing, out=wide_array) is wide_array
    assert (wide_array == EMPTY).all()
    room = np.zeros(40, np.uint64)
    out = room.view(np.uint32)[-32:].reshape(2, 16)
    for hashes in (room, room.view(np.uint32)):
        refuses(
            ValueError, "out must not share memory with hashes", MinHasher(16).from_hashes, hashes,
            [0, 1, 2], out,
        )  # fmt: skip
    offsets = room[-3:].view(np.int64)
    expected = MinHasher(16).from_hashes(np.ones(2, np.uint64), offsets)
    assert np.array_equal(MinHasher(16).from_hashes(np.ones(2, np.uint64), offsets, out), expected)


def test_what_another_thread_changes_is_never_a_place(monkeypatch):
    hasher, hashes = MinHasher(16), np.arange(5, dtype=np.uint64)
    offsets, left = np.array([0, 3, 5]), np.array([0, 1])
    signatures = hasher.from_hashes(hashes, offsets)
    for module, array, call in [
        ("signatures.minhasher", offsets, lambda: hasher.from_hashes(hashes, offsets)),
        ("sets.similarity", left, lambda: estimate_jaccard(signatures, (left, np.array([1, 1])))),
    ]:
        expected = call()
        monkeypatch.setattr(
            f"fastlsh.{module}.batches", lambda *n, array=array: array.fill(2**44) or batches(*n)
        )
        assert np.array_equal(call(), expected)


def test_shapes():
    for none in ([], (), iter([]), np.empty(0, object)):
        assert MinHasher(7).signatures(none).shape == (0, 7)
    for num_perm in (1, 10_000, 65_535):
        found = MinHasher(num_perm).signatures(["a short text", ""])
        assert (found.shape, found.dtype) == ((2, num_perm), np.uint32)
    assert "num_perm=64" in repr(MinHasher(64))

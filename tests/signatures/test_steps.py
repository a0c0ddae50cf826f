"""Signing in steps: whatever is cut, the same signatures."""

import numpy as np
import pytest

from combinations import every
from fastlsh import MinHasher, Shingler
from fastlsh._kernels.minhash import _signatures
from fastlsh.signatures import BandKeys, steps
from fastlsh.texts import as_texts
from strategies import by_text

LETTERS = np.random.default_rng(0).integers(97, 103, 6000).astype("u1").tobytes().decode()
TEXTS = [
    "",
    "ab",
    LETTERS[:700],
    "é" + LETTERS[:4000],
    LETTERS[:50],
    "я" + LETTERS,
    None,
    LETTERS[::-1],
]
SCHEMES = ["affine32", "fss"]


@pytest.mark.parametrize("num_perm", every(3, [1, 100, 2500], 1))
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "shingler",
    [
        Shingler(),
        Shingler(size=1),
        Shingler("byte", 300),
        Shingler("word", 2, normalize=lambda text: text.replace("c", " ")),
        Shingler("word", 3, tokenizer=list),
    ],
    ids=by_text,
)
def test_long_texts_in_steps(shingler, scheme, num_perm, monkeypatch):
    hasher = MinHasher(num_perm, shingler=shingler, scheme=scheme, threads=2)
    rows = min(num_perm, 3)

    def signed():
        lengths = np.empty(len(TEXTS), np.int64)
        keys = np.empty((num_perm // rows, len(TEXTS)), np.uint64)
        found = hasher.sign(as_texts(TEXTS), lengths=lengths)
        gathered, out = shingler.gather(as_texts(TEXTS), 0, len(TEXTS)), np.empty_like(found)
        for _ in hasher.sign_gathered(gathered, lengths, out, BandKeys(rows, keys)):
            pass
        return found, out, lengths, keys

    expected = signed()
    monkeypatch.setattr(steps, "STEP", 300 * num_perm)
    calls = _recorded(monkeypatch)
    for found, wanted in zip(signed(), expected, strict=True):
        assert np.array_equal(found, wanted)
    assert len(calls) > 5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_tokens_and_hashes_in_steps(scheme, monkeypatch):
    hasher = MinHasher(64, scheme=scheme)
    tokens = [list(text or "") for text in TEXTS]
    hashes = np.random.default_rng(1).integers(0, 2**63, 30_000, np.uint64)
    offsets = np.array([0, 7, 7, 20_000, 30_000])
    expected = hasher.from_tokens(tokens), hasher.from_hashes(hashes, offsets)
    monkeypatch.setattr(steps, "STEP", 1000 * 64)
    calls = _recorded(monkeypatch)
    found = hasher.from_tokens(tokens), hasher.from_hashes(hashes, offsets)
    assert all(map(np.array_equal, found, expected))
    assert len(calls) > 30


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_step_has_so_much_work_at_most(scheme, monkeypatch):
    most = 1 << 21
    monkeypatch.setattr(steps, "STEP", most)
    calls = _recorded(monkeypatch)
    hasher = MinHasher(256, scheme=scheme, threads=1)
    hasher.signatures(["short"] * 5000 + [LETTERS * 20] * 3 + ["short"] * 100)
    assert sum(documents for documents, _ in calls) > 5103
    for documents, characters in calls:
        if scheme == "affine32":
            assert (characters + 128 * documents) * 256 <= most + (8 + 128) * 256
        else:
            assert characters * 350 + 256 * 256 * documents <= most + (9 * 350 + 256 * 256)


@pytest.mark.parametrize("offsets", [[0, 20, 10], [5, 900_001], [-1, 3]])
def test_bad_offsets_are_refused_as_ever(offsets, monkeypatch):
    monkeypatch.setattr(steps, "STEP", 10)
    with pytest.raises(ValueError, match="offsets must"):
        MinHasher(16, threads=1).from_hashes(np.arange(1000, dtype=np.uint64), offsets)


def _recorded(monkeypatch):
    """Return a list that gets (documents, units) of each call of a kernel that signs."""
    calls = []

    def recorder(kernel):
        def sign(units, offsets, *arguments, **named):
            if isinstance(offsets, np.ndarray):
                calls.append((len(offsets) - 1, int(offsets[-1] - offsets[0])))
            else:
                lengths = np.empty(len(units), np.int64)
                units.lengths(lengths)
                calls.append((len(units), int(lengths.sum())))
            return kernel(units, offsets, *arguments, **named)

        return sign

    for name in ("signatures", "token_signatures", "hash_signatures"):
        monkeypatch.setattr(_signatures, name, recorder(getattr(_signatures, name)))
    return calls

"""The kernel of MurmurHash3 against MurmurHash3 in slow and obvious Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import covering
from fastlsh._kernels.compat import _compat
from fastlsh._kernels.text import _texts
from murmur import fingerprint, x64_128, x86_32

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 15, 16, 17, 23, 24, 31, 32, 33, 50]
WIDTHS = [1, 15, 16, 17, 31, 32, 33, 48, 65]


def minima(module, texts, size, seeds, dtype, sentinel=False):
    out = np.empty((len(texts), len(seeds)), dtype)
    spans = _texts.spans_of_list(texts, 0, True)
    module.murmur_minima(spans, size, np.array(seeds, np.uint32), out, sentinel)
    return out.tolist()


def bytes_of(n, seed=1):
    return np.random.default_rng(seed).integers(0, 256, n, np.uint8).tobytes()


def test_the_oracle_gives_the_published_hashes():
    # From the verification procedure of SMHasher: hashes of keys 0, 0 1, 0 1 2, ... hashed again.
    hashes = b"".join(x86_32(bytes(range(i)), 256 - i).to_bytes(4, "little") for i in range(256))
    assert x86_32(hashes, 0) == 0xB0F57EE3
    whole = b"".join(
        b"".join(half.to_bytes(8, "little") for half in x64_128(bytes(range(i)), 256 - i))
        for i in range(256)
    )
    assert x64_128(whole, 0)[0] & 0xFFFFFFFF == 0x6384BA69


@pytest.mark.parametrize(("dtype", "size"), covering([np.uint32, np.uint64], SIZES))
def test_sizes(isa, size, dtype):
    seeds = [0, 1, 999_999, 2**31, 2**32 - 1]
    lengths = [0, 1, size - 1, size, size + 1, size + 14, size + 15, size + 16, size + 40]
    texts = [bytes_of(n, size) for n in lengths] + [b"ab" * 40, b"\0" * 30]
    for sentinel in (False, True):
        expected = [fingerprint(t, seeds, size, dtype, sentinel) for t in texts]
        assert minima(isa, texts, size, seeds, dtype, sentinel) == expected
    text = bytes_of(90)
    for k in WIDTHS:  # of so many seeds
        seeds = range(7, 7 + k)
        assert minima(isa, [text], size, seeds, dtype) == [fingerprint(text, seeds, size, dtype)]


# Across the pieces in which a text is done, of which a part is one; and so many windows under one
# seed that the least hashes may have equal upper halves.
LONG = [(size, 3 * 2048 + 100, 33, 700) for size in (5, 8, 9, 40)] + [(4, 60_000, 16, 34)]


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize(("size", "length", "k", "step"), LONG)
def test_long_texts_are_the_minimum_of_their_parts(isa, size, length, k, step, dtype):
    signed = np.int32 if dtype is np.uint32 else np.uint64
    texts = [bytes_of(length, seed) for seed in range(3)]
    whole = np.array(minima(isa, texts, size, range(k), dtype), dtype).view(signed)
    for text, row in zip(texts, whole, strict=True):
        parts = [text[i : i + step + size - 1] for i in range(0, length - size + 1, step)]
        rows = np.array(minima(isa, parts, size, range(k), dtype), dtype).view(signed)
        assert (rows.min(axis=0) == row).all()


@given(
    st.lists(st.binary(max_size=60), max_size=4),
    st.integers(1, 40),
    st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=20),
    st.booleans(),
    st.sampled_from([np.uint32, np.uint64]),
)
def test_any(texts, size, seeds, sentinel, dtype):
    expected = [fingerprint(t, seeds, size, dtype, sentinel) for t in texts]
    assert minima(_compat, texts, size, seeds, dtype, sentinel) == expected


def test_no_texts_and_a_huge_size(isa):
    seeds = np.arange(4, dtype=np.uint32)
    isa.murmur_minima(_texts.spans_of_list([]), 5, seeds, np.empty((0, 4), np.uint64))
    text = b"shorter than a window"
    assert minima(isa, [text], 2**62, [7], np.uint64) == [[x64_128(text, 7)[0]]]
